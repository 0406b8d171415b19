"""Adjoints of SciPy's smoothing filters that are linear in the signal."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import savgol_coeffs, savgol_filter, sosfilt_zi

from adcompiler_rules.kernels.scipy_ndimage import along_axis_adjoint
from adcompiler_rules.kernels.scipy_signal import padded_ends, sosfilt_adjoints

COVERED_WITH = "scipy.signal"
"""The module whose rules come with those of these functions."""


def savgol_adjoint(
    g: Any, window: int, polyorder: int, deriv: int, delta: float, axis: int, mode: str
) -> Any:
    """Return the cotangent of the signal for ``scipy.signal.savgol_filter``.

    ``interp`` takes the ends from polynomials through the first and last ``window`` samples: what
    the filter makes of an identity matrix of that size.
    """
    weights = savgol_coeffs(window, polyorder, deriv=deriv, delta=delta)[::-1]
    origin = -((window + 1) % 2)
    if mode != "interp":
        return along_axis_adjoint(g, weights, axis, mode, origin)
    g = np.moveaxis(np.asarray(g), axis, 0)
    half = window // 2
    inside = np.array(g)
    inside[:half] = inside[len(g) - half :] = 0.0
    around = along_axis_adjoint(inside, weights, 0, "constant", origin)
    ends = savgol_filter(np.eye(window), window, polyorder, deriv, delta, 0)
    around[:window] += np.tensordot(ends[:half].T, g[:half], 1)
    around[len(g) - window :] += np.tensordot(
        ends[window - half :].T, g[len(g) - half :], 1
    )
    return np.moveaxis(around, 0, axis)


def sections_edge(sos: Any) -> int:
    """Return by how many samples ``scipy.signal.sosfiltfilt`` goes on beyond either end."""
    sos = np.asarray(sos)
    idle = min(np.count_nonzero(sos[:, 2] == 0), np.count_nonzero(sos[:, 5] == 0))
    return 3 * (2 * len(sos) + 1 - int(idle))


def sosfiltfilt_adjoint(
    g: Any, sos: Any, n: int, axis: int, padtype: str | None, edge: int
) -> Any:
    """Return the cotangent of ``n`` samples for ``sosfiltfilt`` that pads by ``edge``.

    Each run starts in the steady state for its first sample, ``zi`` times that sample.
    """
    zi, g = np.conj(sosfilt_zi(sos)), np.moveaxis(g, axis, -1)
    ends = np.zeros((*g.shape[:-1], edge), g.dtype)
    g = np.concatenate((ends, g, ends), -1)
    start = np.zeros((len(zi), *g.shape[:-1], 2), g.dtype)
    for _ in range(2):
        _, moved, states = sosfilt_adjoints(
            g[..., ::-1], None, sos, np.zeros_like(g), -1, start
        )
        moved[..., 0] += np.einsum("s...k,sk->...", states, zi)
        g = moved
    left, right = padded_ends(n, padtype, edge)
    inside = g[..., edge : edge + n] + g[..., :edge] @ left + g[..., edge + n :] @ right
    return np.moveaxis(inside, -1, axis)
