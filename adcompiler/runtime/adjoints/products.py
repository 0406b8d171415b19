"""Products of vectors of three components, which loops compute too."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.broadcasting import StretchedError

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def in_space(a: Any, b: Any) -> None:
    """Raise StretchedError unless two arrays are of vectors of three components."""
    if not np.shape(a)[-1:] == np.shape(b)[-1:] == (3,):
        raise StretchedError("vectors of two components are multiplied by np.cross")


def crossed(a: Any, b: Any) -> Any:
    """Return ``np.cross(a, b)`` of arrays of vectors of three components."""
    return np.cross(a, b)
