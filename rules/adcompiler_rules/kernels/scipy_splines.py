"""Images seen as splines: values between the pixels, their slopes, and the adjoint of both.

SciPy's ``map_coordinates`` and its relatives put a spline through the pixels and evaluate it at
places. The value is linear in the pixels and smooth in the places. Here the same spline is
evaluated, with any of its derivatives (``slopes``, one order per axis), so that derivatives of
derivatives stay within a few functions. ``places`` has one array for each axis that is interpolated
along, counted in pixels; an image may have further axes behind them, which are carried along.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

COVERED_WITH = "scipy.ndimage"
"""The module whose rules come with those of these functions."""

PADDED = ("nearest", "grid-constant")
"""Modes without an exact filter: SciPy goes on with the image for some pixels instead."""
PADDING = 12
SHORT = 80
"""Up to how many pixels the filter's matrix is made. The ends of longer axes do not meet."""
MIRRORED = ("constant", "wrap", "mirror", "grid-constant")
"""Modes whose filter, and whose spline, see the image mirrored about its outermost pixels."""


def padding(order: int, mode: str, prefilter: bool) -> int:
    """Return by how many pixels SciPy extends an image at each border before it is filtered."""
    return PADDING if prefilter and order > 1 and mode in PADDED else 0


def coefficients(
    x: Any, ndim: int, order: int, mode: str, cval: Any, prefilter: bool
) -> Any:
    """Return the coefficients of the spline through an image, along its first ``ndim`` axes."""
    x = np.asarray(x)
    x = x.astype(np.result_type(x, np.float64), copy=False)
    if not prefilter or order < 2:
        return x
    n = padding(order, mode, prefilter)
    widths = [(n, n)] * ndim + [(0, 0)] * (x.ndim - ndim)
    if mode == "grid-constant":
        x = np.pad(x, widths, mode="constant", constant_values=cval)
    elif mode == "nearest":
        x = np.pad(x, widths, mode="edge")
    for axis in range(ndim):
        x = ndimage.spline_filter1d(x, order, axis, np.result_type(x), mode)
    return x


def filter_adjoint(g: Any, order: int, axis: int, mode: str) -> Any:
    """Return the cotangent of the array for ``scipy.ndimage.spline_filter1d``.

    The filter is symmetric, but where the image is mirrored about its outermost pixels: those count
    half in what it is symmetric for. SciPy's own filter starts not quite so along short axes, where
    its matrix is transposed instead.
    """
    g = np.asarray(g)
    g = g.astype(np.result_type(g, np.float64), copy=False)
    n = g.shape[axis]
    if order < 2 or n < 2:
        return g
    if n <= SHORT:
        matrix = ndimage.spline_filter1d(np.eye(n), order, 0, np.float64, mode)
        return np.moveaxis(np.tensordot(g, matrix, (axis, 0)), -1, axis)
    if mode not in MIRRORED:
        return ndimage.spline_filter1d(g, order, axis, g.dtype, mode)
    weights = np.ones([g.shape[axis] if k == axis % g.ndim else 1 for k in range(g.ndim)])
    np.moveaxis(weights, axis, 0)[[0, -1]] = 0.5
    return weights * ndimage.spline_filter1d(g / weights, order, axis, g.dtype, mode)


def coefficients_adjoint(
    g: Any, ndim: int, order: int, mode: str, prefilter: bool
) -> Any:
    """Return the cotangent of an image, of that of its ``coefficients``."""
    if not prefilter or order < 2:
        return g
    n = padding(order, mode, prefilter)
    for axis in range(ndim):
        g = filter_adjoint(g, order, axis, mode)
        if n:
            g = np.moveaxis(g, axis, 0)
            inner = np.copy(g[n:-n])
            if mode == "nearest" and len(inner):
                inner[0] += np.sum(g[:n], 0)
                inner[-1] += np.sum(g[-n:], 0)
            g = np.moveaxis(inner, 0, axis)
    return g


def into_image(x: Any, n: int, mode: str) -> tuple[Any, Any]:
    """Return where in an axis of ``n`` pixels places beyond it are read, and the slope of that.

    The slope is nan where nothing is read: the place has a constant value.
    """
    moving = np.ones(np.shape(x))
    if mode in ("grid-wrap", "grid-constant", "nearest"):
        return x, moving
    if mode == "constant":
        outside = (x < 0) | (x > n - 1)
        return np.where(outside, 0.0, x), np.where(outside, np.nan, moving)
    if n <= 1:
        return np.zeros(np.shape(x)), np.zeros(np.shape(x))
    outside = (x < 0) | (x > n - 1)
    if mode == "wrap":
        turned = np.where(x < 0, (n - 1) - np.mod(-x, n - 1), np.mod(x, n - 1))
        return np.where(outside, turned, x), moving
    if mode == "mirror":
        turned, last = np.mod(x, 2 * n - 2), 2 * n - 2
        back = np.where(x < 0, turned > n - 1, turned >= n)
    else:
        turned, last = np.mod(x, 2 * n), 2 * n - 1
        back = turned >= n
    turned, moving = np.where(back, last - turned, turned), np.where(back, -1.0, 1.0)
    return np.where(outside, turned, x), np.where(outside, moving, 1.0)


def pixels_read(index: Any, n: int, mode: str) -> Any:
    """Return which pixels stand for those beyond the border; -1 for a constant."""
    if mode == "grid-constant":
        return np.where((index < 0) | (index >= n), -1, index)
    if mode == "nearest" or n <= 1:
        return np.clip(index, 0, n - 1)
    if mode == "grid-wrap":
        return np.mod(index, n)
    if mode in MIRRORED:
        index = np.mod(index, 2 * n - 2)
        return np.where(index > n - 1, 2 * n - 2 - index, index)
    index = np.mod(index, 2 * n)
    return np.where(index > n - 1, 2 * n - 1 - index, index)


def spline_weights(u: Any, order: int, slope: int) -> list[Any]:
    """Return the weights of the ``order + 1`` coefficients about a place, or their derivatives.

    ``u`` is how far the place is behind the knot before it. (de Boor, A Practical Guide to Splines,
    chapter X, for knots at distance one.)
    """
    if slope > order:
        return [np.zeros(np.shape(u))] * (order + 1)
    weights = [np.ones(np.shape(u))]
    for n in range(1, order - slope + 1):
        before: list[Any] = [0.0, *weights]
        after: list[Any] = [*weights, 0.0]
        weights = [((u + n - j) * a + (j + 1 - u) * b) / n
                   for j, (a, b) in enumerate(zip(before, after, strict=True))]
    for _ in range(slope):
        before, after = [0.0, *weights], [*weights, 0.0]
        weights = [a - b for a, b in zip(before, after, strict=True)]
    return weights


def readings(
    x: Any, n: int, order: int, mode: str, slope: int
) -> tuple[list[Any], list[Any], Any]:
    """Return the pixels along an axis that places read, their weights, and who reads none."""
    inside, moving = into_image(x, n, mode)
    lowest = np.floor(inside if order % 2 else inside + 0.5)
    u = inside - lowest + (0.0 if order % 2 else 0.5)
    first = lowest.astype(np.int64) - order // 2
    nothing = np.isnan(moving)
    turned = np.where(nothing, 0.0, moving) ** slope
    weights = [w * turned for w in spline_weights(u, order, slope)]
    return [pixels_read(first + j, n, mode) for j in range(order + 1)], weights, nothing


def terms(places: Any, shape: Sequence[int], order: int, mode: str, slopes: Sequence[int]) -> Any:
    """Return each coefficient that places read, as ``(index, weight)``, and where they read none.

    An index is into the axes that are interpolated along, as one; -1 is a constant.
    """
    places = np.asarray(places, np.float64)
    ndim = len(places)
    axes = [readings(x, n, order, mode, slope)
            for x, n, slope in zip(places, shape[:ndim], slopes, strict=True)]
    nothing = np.any([axis[2] for axis in axes], 0)
    found = []
    for taps in itertools.product(range(order + 1), repeat=ndim):
        index, weight, beyond = 0, 1.0, False
        for tap, n, (pixels, weights, _) in zip(taps, shape[:ndim], axes, strict=True):
            index = index * n + pixels[tap]
            weight = weight * weights[tap]
            beyond = beyond | (pixels[tap] < 0)
        found.append((np.where(beyond, -1, index), weight))
    return found, nothing


def sampled(
    x: Any, places: Any, order: int, mode: str, cval: Any, prefilter: bool, slopes: Sequence[int]
) -> Any:
    """Return the spline through an image at ``places``, or a derivative of it."""
    ndim = len(places)
    c = coefficients(x, ndim, order, mode, cval, prefilter)
    shifted = np.asarray(places) + padding(order, mode, prefilter)
    found, nothing = terms(shifted, c.shape, order, mode, slopes)
    rest = (1,) * (c.ndim - ndim)
    flat = c.reshape(-1, *c.shape[ndim:])
    y = np.zeros((*shifted.shape[1:], *c.shape[ndim:]), np.result_type(c, cval))
    for index, weight in found:
        beyond = np.reshape(index < 0, (*index.shape, *rest))
        y += np.reshape(weight, (*index.shape, *rest)) * np.where(beyond, cval, flat[index])
    outside = 0.0 if any(slopes) else cval
    return np.where(np.reshape(nothing, (*nothing.shape, *rest)), outside, y)


def sampled_adjoint(
    g: Any, places: Any, shape: Sequence[int], order: int, mode: str, prefilter: bool,
    slopes: Sequence[int],
) -> Any:
    """Return the cotangent of an image of that shape, for ``sampled``."""
    g = np.asarray(g)
    ndim, n = len(places), padding(order, mode, prefilter)
    wide = [*[length + 2 * n for length in shape[:ndim]], *shape[ndim:]]
    found, nothing = terms(np.asarray(places) + n, wide, order, mode, slopes)
    rest = (1,) * (len(shape) - ndim)
    around = np.zeros((int(np.prod(wide[:ndim])), *wide[ndim:]), np.result_type(g, np.float64))
    for index, weight in found:
        weight = np.where(nothing | (index < 0), 0.0, weight)
        np.add.at(around, index, np.reshape(weight, (*index.shape, *rest)) * g)
    return coefficients_adjoint(around.reshape(wide), ndim, order, mode, prefilter)


def raised(slopes: Sequence[int], axis: int) -> tuple[int, ...]:
    """Return the orders of a derivative with one more along an axis."""
    return tuple(slope + (k == axis) for k, slope in enumerate(slopes))


def places_adjoint(
    g: Any, x: Any, places: Any, order: int, mode: str, cval: Any, prefilter: bool,
    slopes: Sequence[int],
) -> Any:
    """Return the cotangent of the places, for ``sampled``."""
    rows = [
        g * np.conj(sampled(x, places, order, mode, cval, prefilter, raised(slopes, axis)))
        for axis in range(len(places))
    ]
    behind = tuple(range(np.ndim(places) - 1, np.ndim(rows[0])))
    return np.stack([np.sum(np.real(row), behind) for row in rows])


# --- where moved images are evaluated -------------------------------------------------------------


def affine_places(matrix: Any, offset: Any, shape: Sequence[int], ndim: int) -> Any:
    """Return where ``affine_transform`` evaluates an image of ``ndim`` axes, rounded as there.

    ``matrix`` has one factor per axis, or is a matrix, or one with the offset as its last column.
    """
    grid, matrix = np.indices(shape, float), np.asarray(matrix, np.float64)
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1:
        matrix, offset = matrix[:ndim, :ndim], matrix[:ndim, ndim]
    offset = np.broadcast_to(np.asarray(offset, np.float64), (ndim,))
    if matrix.ndim == 1:
        return np.stack([(o + t / m) * m for o, t, m in zip(grid, offset, matrix, strict=True)])
    rows = []
    for row, t in zip(matrix, offset, strict=True):
        place = np.zeros(tuple(shape))
        for o, m in zip(grid, row, strict=True):
            place = place + o * m
        rows.append(place + t)
    return np.stack(rows)


def affine_moved(matrix: Any, offset: Any, shape: Sequence[int]) -> Any:
    """Return how ``affine_places`` move with a matrix and an offset for each axis."""
    grid = np.indices(shape, float)
    offset = np.reshape(offset, (-1,) + (1,) * (grid.ndim - 1))
    if matrix.ndim == 1:
        return grid * np.reshape(matrix, offset.shape) + offset
    return np.tensordot(matrix[: len(offset), : len(grid)], grid, 1) + offset


def affine_adjoint(dplaces: Any, rows: Sequence[int]) -> tuple[Any, Any]:
    """Return the cotangents of the matrix, of the shape ``rows``, and of one offset per axis."""
    along = tuple(range(1, dplaces.ndim))
    grid = np.indices(dplaces.shape[1:], float)
    offset = np.sum(dplaces, along)
    if len(rows) == 1:
        return np.sum(dplaces * grid, along), offset
    matrix = np.zeros(rows)
    matrix[: len(offset), : len(grid)] = np.tensordot(dplaces, grid, (along, along))
    return matrix, offset


def zoomed_places(shape: Sequence[int], wide: Sequence[int], grid_mode: bool) -> Any:
    """Return where ``zoom`` evaluates an image of one shape for one of another."""
    less = 0 if grid_mode else 1
    rows = []
    for n, m, o in zip(shape, wide, np.indices(wide, float), strict=True):
        step = (n - less) / (m - less) if m > less else 1.0
        rows.append((o + 0.5) * step - 0.5 if grid_mode else o * step)
    return np.stack(rows)


def plane_of(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return the axes of the plane that ``rotate`` turns, in order."""
    return tuple(sorted(int(axis) % ndim for axis in axes))


def every_place(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the indices of all elements of an array, in order."""
    return list(np.ndindex(*shape))
