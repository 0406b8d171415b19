"""What sweeps keep of their iterations, put together behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def as_rows(vectors: Sequence[Any], length: int, dtype: Any = np.float64) -> Any:
    """Return the matrix of vectors of some length as rows, of which there may be none."""
    return np.reshape(np.array(vectors, dtype), (len(vectors), length))


__all__ = ["as_rows"]
