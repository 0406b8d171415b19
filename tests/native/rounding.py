"""How far results of two backends may be apart: not at all, unless BLAS adds some of their terms.

In which order BLAS adds, and whether it rounds products, depends on the processor.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.native.test_backends_agree import same

BY_BLAS = re.compile(r" @ |\b(?:dot|vdot|inner|matmul|tensordot|einsum|norm)\(")
"""What is written in emitted text where BLAS adds, or may."""


def agree(got: Any, expected: Any, text: str, terms: int) -> bool:
    """Say whether results of two backends are the same, those of emitted text bit by bit.

    Where the text has products that BLAS computes, sums of so many terms may differ as
    docs/native.md says, by ``2 terms`` units in the last place.
    """
    if BY_BLAS.search(text) is None:
        return same(got, expected)
    if isinstance(expected, tuple):
        return type(got) is tuple and len(got) == len(expected) and all(
            agree(a, b, text, terms) for a, b in zip(got, expected, strict=True))
    if type(got) is not type(expected) or np.shape(got) != np.shape(expected):
        return False
    scale = np.max(np.abs(expected), initial=0.0)
    distance = np.max(np.abs(np.subtract(got, expected)), initial=0.0)
    return bool(distance <= 2 * terms * np.finfo(float).eps * scale)
