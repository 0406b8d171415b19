"""Weights of SciPy's rules for integrals of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate


def simpson_weights(shape: tuple[int, ...], x: Any, dx: float, axis: int) -> Any:
    """Return an array that ``scipy.integrate.simpson`` multiplies samples of ``shape`` by.

    An even number of samples has Simpson's rule up to the last but one, and for the last interval
    the parabola through the last three (K. V. Cartwright, Simpson's rule cumulative integration
    with MS Excel and irregularly-spaced data, 2017). Of complex places the real part counts. Axes
    that are all alike have length one.
    """
    n = shape[axis]
    if x is None:
        h = np.full(n - 1, float(dx))
    elif np.ndim(x) == 1:
        h = np.diff(np.real(x))
    else:
        h = np.diff(np.moveaxis(np.real(x), axis, -1))
    h = h if h.dtype.kind == "f" else h.astype(float)
    weights = np.zeros((*h.shape[:-1], n), h.dtype)
    if n == 2:
        weights += 0.5 * h
    else:
        pairs = n - 1 if n % 2 else n - 2
        first, second = h[..., 0:pairs:2], h[..., 1:pairs:2]
        both = first + second
        weights[..., 0:pairs:2] += both / 6.0 * (2.0 - second / first)
        weights[..., 1:pairs:2] += both**3 / (6.0 * first * second)
        weights[..., 2 : pairs + 1 : 2] += both / 6.0 * (2.0 - first / second)
        if n % 2 == 0 and n > 2:
            a, b = h[..., -2], h[..., -1]
            weights[..., -1] += (2.0 * b**2 + 3.0 * a * b) / (6.0 * (a + b))
            weights[..., -2] += (b**2 + 3.0 * a * b) / (6.0 * a)
            weights[..., -3] -= b**3 / (6.0 * a * (a + b))
    full = weights.reshape((1,) * (len(shape) - weights.ndim) + weights.shape)
    return np.moveaxis(full, -1, axis)


def sample_weights(integral: Any, y: Any, axis: int) -> Any:
    """Return the weights of samples along an axis in an integral, for a distance of one."""
    return integral(np.eye(np.shape(y)[axis]))


def cumulative_weights(count: int, x: Any) -> Any:
    """Return the weights of samples in the integrals up to each of them but the first."""
    return np.ascontiguousarray(integrate.cumulative_simpson(np.eye(count), x=x).T)
