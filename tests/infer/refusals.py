"""What tests of refusals have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adcompiler import MissingRuleError, UnsupportedError, grad
from adcompiler.errors import LocatedError


def refused(function: Callable[..., Any], *args: Any) -> LocatedError:
    """Return the error that refuses the gradient of a function."""
    with pytest.raises((MissingRuleError, UnsupportedError)) as caught:
        grad(function)(*args)
    assert isinstance(caught.value, LocatedError)
    return caught.value


def cause_of(function: Callable[..., Any], *args: Any) -> tuple[str, str, str]:
    """Return why a function is refused, the text of the line that it is blamed on, and the hint."""
    (finding,) = refused(function, *args).findings
    assert finding.cause is not None
    at = finding.cause
    return at.problem, at.text.strip()[: at.width + 40], finding.hint
