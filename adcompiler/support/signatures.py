"""Signatures of functions, whose annotations are left alone.

From Python 3.14 on annotations are evaluated when somebody asks for them, and ``inspect.signature``
does: a name that exists for type checkers only would raise NameError. Nothing here needs their
values, so that such names stay forward references.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any


def signature(function: Callable[..., Any], *, follow_wrapped: bool = True) -> inspect.Signature:
    """Return the signature of a callable; what an annotation names need not exist.

    Raises ValueError and TypeError as ``inspect.signature`` does.
    """
    if sys.version_info >= (3, 14):
        from annotationlib import Format  # type: ignore[import-not-found, unused-ignore]

        return inspect.signature(
            function, follow_wrapped=follow_wrapped, annotation_format=Format.FORWARDREF)
    return inspect.signature(function, follow_wrapped=follow_wrapped)


__all__ = ["signature"]
