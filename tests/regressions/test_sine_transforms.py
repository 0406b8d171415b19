"""Sine transforms whose orthogonal form is none, as in SciPy 1.11, have no rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft

from adcompiler import ADError, grad

X = np.array([0.3, -1.2, 0.7, 2.0])
TABLE = scipy.fft.dst(np.eye(3), norm="ortho")
SOUND = np.allclose(TABLE @ TABLE.T, np.eye(3))


def forward(x: Any, kind: int, norm: Any) -> Any:
    return np.sum(scipy.fft.dst(x, kind, norm=norm) * np.arange(1.0, 5.0))


def inverse(x: Any, kind: int, norm: Any) -> Any:
    return np.sum(scipy.fft.idst(x, kind, norm=norm) * np.arange(1.0, 5.0))


@pytest.mark.parametrize("function", [forward, inverse])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_sine_transforms(function: Any, kind: int, norm: Any) -> None:
    if not SOUND:
        with pytest.raises(ADError):
            grad(function)(X, kind, norm)
        return
    wanted = [function(one, kind, norm) for one in np.eye(4)]  # it is linear
    np.testing.assert_allclose(grad(function)(X, kind, norm), wanted, rtol=1e-12, atol=1e-12)
