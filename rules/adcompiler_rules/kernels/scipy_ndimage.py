"""Adjoints of SciPy's image filters: exact for each way of going on beyond the border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from adcompiler_rules.kernels.scipy_signal import boundary_positions, extended, folded

COVERED_WITH = "scipy.ndimage"
"""The module whose rules come with those of these functions."""

BORDERS = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "mirror", "nearest": "nearest",
    "wrap": "wrap", "grid-wrap": "wrap", "constant": "fill", "grid-constant": "fill",
}
"""What SciPy's modes are called by ``boundary_positions``."""


def each(value: Any, count: int) -> list[Any]:
    """Return a parameter for each of ``count`` axes, of one for all or a sequence."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return [value] * count
    return list(value)


def axes_of(axes: Any, ndim: int) -> list[int]:
    """Return the axes that a filter works along, none of them negative."""
    chosen = range(ndim) if axes is None else np.reshape(axes, -1)
    return [int(axis) % ndim for axis in chosen]


def borders(
    shape: tuple[int, ...], sizes: Sequence[int], mode: Any, origin: Any
) -> list[Any]:
    """Return for each axis which elements a correlation reads, beyond the border too."""
    positions = []
    for n, size, m, o in zip(
        shape, sizes, each(mode, len(shape)), each(origin, len(shape)), strict=True
    ):
        before = size // 2 + (int(o) if size > 1 else 0)  # SciPy does not filter by one element
        positions.append(boundary_positions(n, before, size - 1 - before, BORDERS.get(m, "mirror")))
    return positions


def correlate_adjoints(
    g: Any, x: Any, weights: Any, mode: Any, cval: Any, origin: Any
) -> tuple[Any, Any]:
    """Return the cotangents of ``x`` and ``weights`` for ``scipy.ndimage.correlate``.

    What each weight sees of the extended array is a part of it, as large as the result.
    """
    x, weights = np.asarray(x), np.asarray(weights)
    positions = borders(x.shape, weights.shape, mode, origin)
    wide = extended_by(x, positions, cval)
    dtype = np.result_type(g, weights if weights.dtype.kind in "fc" else np.float32)
    around = np.zeros(wide.shape, dtype)
    dweights = np.zeros(weights.shape, np.result_type(g, x))
    for place in np.ndindex(weights.shape):
        part = tuple(slice(i, i + n) for i, n in zip(place, x.shape, strict=True))
        around[part] += np.conj(weights[place]) * g
        dweights[place] = np.sum(g * np.conj(wide[part]))
    for axis, places in enumerate(positions):
        around = folded(around, axis, places, x.shape[axis])
    return around, dweights


def along_axis_adjoint(g: Any, weights: Any, axis: int, mode: str, origin: int = 0) -> Any:
    """Return the cotangent of the array for ``scipy.ndimage.correlate1d``."""
    axis, n, size = axis % g.ndim, g.shape[axis], len(weights)
    before = size // 2 + int(origin)
    positions = boundary_positions(n, before, size - 1 - before, BORDERS[mode])
    wide = np.zeros((*g.shape[:axis], n + size - 1, *g.shape[axis + 1 :]), g.dtype)
    weights = np.conj(np.asarray(weights, g.dtype if np.isrealobj(weights) else None))
    for k in range(size):
        part = (slice(None),) * axis + (slice(k, k + n),)
        wide[part] = wide[part] + weights[k] * g
    return folded(wide, axis, positions, n)


def gaussian_weights(sigma: float, order: int, truncate: float, radius: int | None) -> Any:
    """Return the weights that ``gaussian_filter1d`` correlates with, from its impulse response."""
    reach = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
    impulse = np.zeros(2 * reach + 1)
    impulse[reach] = 1.0
    response = ndimage.gaussian_filter1d(
        impulse, sigma, order=order, mode="constant", truncate=truncate, radius=radius
    )
    return response[::-1]


def gaussian_adjoint(
    g: Any, sigma: Any, order: Any, mode: Any, truncate: float, radius: Any, axes: Any
) -> Any:
    """Return the cotangent of the array for ``scipy.ndimage.gaussian_filter``."""
    chosen = axes_of(axes, g.ndim)
    count = len(chosen)
    parameters = (each(p, count) for p in (sigma, order, mode, radius))
    for axis, s, o, m, r in zip(chosen, *parameters, strict=True):
        if s > 1e-15:
            g = along_axis_adjoint(g, gaussian_weights(s, o, truncate, r), axis, m)
    return g


def uniform_adjoint(g: Any, size: Any, mode: Any, origin: Any, axes: Any) -> Any:
    """Return the cotangent of the array for ``scipy.ndimage.uniform_filter``."""
    chosen = axes_of(axes, g.ndim)
    parameters = (each(p, len(chosen)) for p in (size, mode, origin))
    for axis, s, m, o in zip(chosen, *parameters, strict=True):
        if s > 1:
            g = along_axis_adjoint(g, np.full(int(s), 1.0 / int(s)), axis, m, o)
    return g


def edge_adjoint(g: Any, axis: int, mode: Any, across: Sequence[float]) -> Any:
    """Return the cotangent of the array for ``sobel`` and ``prewitt``: smoothed ``across``."""
    modes = each(mode, g.ndim)
    axis %= g.ndim
    for other in range(g.ndim):
        if other != axis:
            g = along_axis_adjoint(g, across, other, modes[other])
    return along_axis_adjoint(g, (-1.0, 0.0, 1.0), axis, modes[axis])


def laplace_adjoint(g: Any, mode: Any, axes: Any) -> Any:
    """Return the cotangent of the array for ``scipy.ndimage.laplace``, which needs axes."""
    chosen = axes_of(axes, np.ndim(g))
    if not chosen:
        return np.array(g)
    return sum(
        (along_axis_adjoint(g, (1.0, -2.0, 1.0), axis, m)
         for axis, m in zip(chosen, each(mode, len(chosen)), strict=True)),
        start=np.zeros_like(g),
    )


def gaussian_laplace_adjoint(g: Any, sigma: Any, mode: Any, axes: Any, truncate: float) -> Any:
    """Return the cotangent of the array for ``scipy.ndimage.gaussian_laplace``."""
    chosen = axes_of(axes, np.ndim(g))
    if not chosen:
        return np.array(g)
    total = np.zeros_like(g)
    for i in range(len(chosen)):
        order = [2 if i == j else 0 for j in range(len(chosen))]
        total = total + gaussian_adjoint(g, sigma, order, mode, truncate, None, chosen)
    return total


def windows(
    shape: tuple[int, ...], size: Any, footprint: Any, mode: Any, origin: Any
) -> tuple[list[Any], list[tuple[slice, ...]]]:
    """Return which elements an array is extended by, and the places of a window.

    The places are parts of the extended array, of the given shape.
    """
    ndim = len(shape)
    window = np.ones(each(size, ndim), bool) if footprint is None else np.asarray(footprint, bool)
    parts = [
        tuple(slice(int(i), int(i) + n) for i, n in zip(place, shape, strict=True))
        for place in np.argwhere(window)
    ]
    return borders(shape, window.shape, mode, origin), parts


def extended_by(x: Any, positions: Sequence[Any], cval: Any) -> Any:
    """Return an array with the elements at ``positions`` along each of its axes."""
    for axis, places in enumerate(positions):
        x = extended(x, axis, places, cval)
    return x


def rank_choices(
    x: Any, y: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any
) -> Any:
    """Return for each place of a window where the element there equals ``y``, the one chosen."""
    x = np.asarray(x)
    positions, parts = windows(x.shape, size, footprint, mode, origin)
    wide = extended_by(x, positions, cval)
    return np.stack([wide[part] == y for part in parts])


def rank_adjoint(g: Any, chosen: Any, size: Any, footprint: Any, mode: Any, origin: Any) -> Any:
    """Return the cotangent of an array of which, for each window, one element is ``chosen``.

    Where several elements of a window equal that, they share the cotangent evenly; what stands
    beyond the border by ``cval`` takes its share away.
    """
    positions, parts = windows(g.shape, size, footprint, mode, origin)
    share = g / np.sum(chosen, 0, g.dtype)
    around = np.zeros([len(places) for places in positions], g.dtype)
    for part, here in zip(parts, chosen, strict=True):
        around[part] += np.where(here, share, 0.0)
    for axis, places in enumerate(positions):
        around = folded(around, axis, places, g.shape[axis])
    return around


def rank_tangent(d: Any, chosen: Any, size: Any, footprint: Any, mode: Any, origin: Any) -> Any:
    """Return how the elements ``chosen`` of an array move along ``d``: the mean over equal ones."""
    d = np.asarray(d)
    positions, parts = windows(d.shape, size, footprint, mode, origin)
    moved = extended_by(d, positions, 0.0)
    total = sum((np.where(here, moved[part], 0.0)
                 for part, here in zip(parts, chosen, strict=True)),
                start=np.zeros(d.shape, d.dtype))
    return total / np.sum(chosen, 0, d.dtype)


def along_one(ndim: int, axis: int, size: int, origin: int) -> tuple[list[int], list[int]]:
    """Return the sizes and origins of windows that reach along one axis only."""
    sizes, origins = [1] * ndim, [0] * ndim
    sizes[axis], origins[axis] = size, origin
    return sizes, origins
