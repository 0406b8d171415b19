"""Adjoints of reductions and scans that need loops, sorting or writes; opaque to the compiler.

Every function is pure. ``axis`` means what it means to NumPy: ``None``, an integer or a tuple;
inside, the reduced axes are moved to the end and flattened into one, the *lane*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.broadcasting import project
from adcompiler.runtime.adjoints.shaping import like

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""

# --- choosing among arrays ------------------------------------------------------------------------


def select_adjoint(dy: Any, condlist: Sequence[Any], choices: int) -> tuple[list[Any], Any]:
    """Return what of ``dy`` goes to each of the choices of ``np.select``, and to the default.

    Where several conditions hold, the first takes it. The results have the shape of ``dy``.
    """
    rest = np.ones(np.shape(dy), dtype=bool)
    shares = []
    for condition in condlist[:choices]:
        shares.append(np.where(rest & condition, dy, 0.0))
        rest &= np.logical_not(condition)
    return shares, np.where(rest, dy, 0.0)


def choose_adjoint(dy: Any, a: Any, choices: Any, mode: str) -> Any:
    """Return the adjoint of ``np.choose(a, choices, mode=mode)`` in ``choices``."""
    if mode == "wrap":
        a = np.mod(a, len(choices))
    elif mode == "clip":
        a = np.clip(a, 0, len(choices) - 1)
    parts = [
        project(np.where(np.equal(a, k), dy, 0.0), choice) for k, choice in enumerate(choices)
    ]
    return np.stack(parts) if isinstance(choices, np.ndarray) else type(choices)(parts)


# --- lanes ----------------------------------------------------------------------------------------


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes that a reduction removes, non-negative and sorted."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(i % ndim if ndim else 0 for i in axes))[: max(ndim, 0)]


def _to_lanes(a: Any, axis: Any) -> Any:
    """Return ``a`` with the reduced axes moved to the end and flattened into one."""
    a = np.asarray(a)
    axes = _axes(axis, a.ndim)
    a = np.moveaxis(a, axes, range(a.ndim - len(axes), a.ndim))
    kept = a.shape[: a.ndim - len(axes)]
    return a.reshape(*kept, int(np.prod(a.shape[len(kept):])))


def _from_lanes(lanes: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Undo ``_to_lanes`` for an array that had this shape."""
    axes = _axes(axis, len(shape))
    kept = tuple(n for i, n in enumerate(shape) if i not in axes)
    lanes = lanes.reshape(kept + tuple(shape[i] for i in axes))
    return np.moveaxis(lanes, range(len(kept), len(shape)), axes)


def aligned_shape(shape: tuple[int, ...], whole: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """Return the shape in which weights for ``axis`` broadcast against an array of shape ``whole``.

    Weights have the array's shape, or one number for each place along ``axis``.
    """
    if shape == whole:
        return whole
    axes = axis if isinstance(axis, tuple) else (axis,)
    aligned = [1] * len(whole)
    for i, n in zip(axes, shape, strict=True):
        aligned[i] = n
    return tuple(aligned)


# --- products -------------------------------------------------------------------------------------


def product_of_others(a: Any, axis: Any) -> Any:
    """Return, for each element of ``a``, the product of the others along ``axis``; no division."""
    lanes = _to_lanes(a, axis)
    one = np.ones_like(lanes[..., :1])
    before = np.cumprod(np.concatenate((one, lanes[..., :-1]), axis=-1), axis=-1)
    after = np.cumprod(np.concatenate((one, lanes[..., :0:-1]), axis=-1), axis=-1)[..., ::-1]
    others = before[..., : lanes.shape[-1]] * after[..., : lanes.shape[-1]]
    return _from_lanes(others, np.shape(a), axis)


def cumprod_adjoint(dy: Any, a: Any, axis: int) -> Any:
    """Return the adjoint of ``np.cumprod(a, axis)``, by Horner's scheme; no division.

    ``da[i] = prod(a[:i]) * s[i]`` with ``s[i] = dy[i] + a[i + 1] * s[i + 1]``.
    """
    a = np.moveaxis(np.asarray(a), axis, 0)
    dy = np.moveaxis(dy, axis, 0)
    da = np.zeros(a.shape, np.result_type(a, dy))
    slope = np.zeros_like(da[:1])
    for i in reversed(range(len(a))):
        slope = dy[i] + (np.conj(a[i + 1]) * slope if i + 1 < len(a) else 0.0)
        da[i] = slope
    da[1:] *= np.conj(np.cumprod(a[:-1], axis=0))
    return np.moveaxis(da, 0, axis)


def cumprod_tangent(v: Any, a: Any, axis: int) -> Any:
    """Return the derivative of ``np.cumprod(a, axis)`` as ``a`` moves along ``v``."""
    _, tangents = _cumprod_sweep(np.moveaxis(v, axis, 0), np.moveaxis(a, axis, 0))
    return np.moveaxis(tangents[1:], 0, axis)


def cumprod_curvature(v: Any, a: Any, dy: Any, axis: int) -> Any:
    """Return the gradient in ``a`` of ``<dy, cumprod_tangent(v, a, axis)>``."""
    v, a, dy = np.moveaxis(v, axis, 0), np.moveaxis(a, axis, 0), np.moveaxis(dy, axis, 0)
    products, tangents = _cumprod_sweep(v, a)
    da = np.zeros_like(tangents[1:])
    slope, tangent_slope = np.zeros_like(tangents[0]), np.zeros_like(tangents[0])
    for i in reversed(range(len(a))):
        tangent_slope = tangent_slope + dy[i]
        da[i] = tangent_slope * np.conj(tangents[i]) + slope * np.conj(products[i])
        slope = slope * np.conj(a[i]) + tangent_slope * np.conj(v[i])
        tangent_slope = tangent_slope * np.conj(a[i])
    return np.moveaxis(project(da, a), 0, axis)


def product_of_others_adjoint(dy: Any, a: Any, axis: Any) -> Any:
    """Return the adjoint of ``product_of_others(a, axis)``; no division."""
    lanes = _to_lanes(a, axis)
    last = np.zeros_like(lanes)
    last[..., -1:] = 1.0
    da = cumprod_curvature(np.conj(_to_lanes(dy, axis)), lanes, last, -1)
    return _from_lanes(da, np.shape(a), axis)


def _cumprod_sweep(v: Any, a: Any) -> tuple[Any, Any]:
    """Return the products of the first 0, 1, ... rows of ``a``, and their derivatives along v."""
    shape = (len(a) + 1, *a.shape[1:])
    products = np.ones(shape, np.result_type(a, v))
    tangents = np.zeros_like(products)
    for i in range(len(a)):
        tangents[i + 1] = tangents[i] * a[i] + products[i] * v[i]
        products[i + 1] = products[i] * a[i]
    return products, tangents


# --- order statistics -----------------------------------------------------------------------------


def quantile_adjoint(
    dy: Any, a: Any, q: Any, axis: Any, keepdims: bool, method: str, skip_nan: bool
) -> Any:
    """Return the adjoint of ``np.quantile(a, q, axis, method=method, keepdims=keepdims)`` in ``a``.

    A quantile is ``(1 - t) * u + t * v`` with u, v the two order statistics next to it: these get
    the shares ``1 - t`` and ``t`` of ``dy``. ``skip_nan`` stands for ``np.nanquantile``.
    """
    lanes = _to_lanes(a, axis)
    places, shares = _quantile_weights(lanes, q, method, skip_nan)
    da = np.zeros(lanes.shape, np.result_type(lanes, dy))
    dy = np.reshape(dy, places.shape[1:])
    kept = np.ix_(*(range(n) for n in lanes.shape[:-1]))
    for place, share in zip(places, shares, strict=True):
        for k in range(len(place)):
            da[(*kept, place[k])] += share[k] * dy[k]
    return _from_lanes(da, np.shape(a), axis)


def quantile_tangent(
    v: Any, a: Any, q: Any, axis: Any, keepdims: bool, method: str, skip_nan: bool
) -> Any:
    """Return the derivative of ``np.quantile(a, q, axis, ...)`` as ``a`` moves along ``v``."""
    lanes = _to_lanes(a, axis)
    places, shares = _quantile_weights(lanes, q, method, skip_nan)
    v = np.broadcast_to(_to_lanes(v, axis), (places.shape[1], *lanes.shape))
    total = sum(
        share * np.take_along_axis(v, place[..., None], axis=-1)[..., 0]
        for place, share in zip(places, shares, strict=True)
    )
    if keepdims:
        axes = _axes(axis, np.ndim(a))
        kept = tuple(1 if i in axes else n for i, n in enumerate(np.shape(a)))
    else:
        kept = lanes.shape[:-1]
    return np.reshape(total, np.shape(q) + kept)[()]


def weighted_places(y: Any, a: Any, axis: Any, weights: Any) -> Any:
    """Return the place in ``a``, in C order, of each quantile ``y`` of weighted numbers.

    Such a quantile is one of the numbers: the first one that it equals and that has a weight.
    """
    lanes, shape = _to_lanes(a, axis), np.shape(a)
    weights = np.asarray(weights)
    if weights.shape == shape:
        weights = _to_lanes(weights, axis)
    else:  # of the reduced axes alone
        order = np.argsort([i % len(shape) for i in axis] if isinstance(axis, tuple) else [axis])
        weights = np.ravel(np.transpose(weights, order))
    found = np.reshape(y, (-1, *lanes.shape[:-1], 1))
    hits = (lanes == found) | (np.isnan(lanes) & np.isnan(found))
    which = np.argmax(hits * (1 + (weights > 0.0)), axis=-1)
    places = _to_lanes(np.reshape(np.arange(np.size(a)), shape), axis)
    places = np.broadcast_to(places, (*which.shape, lanes.shape[-1]))
    return np.reshape(np.take_along_axis(places, which[..., np.newaxis], -1), np.shape(y))


RANKS = {
    "linear": (1.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
}
"""The methods of which a quantile is continuous in ``q``, with their alpha and beta."""


def quantile_slope(
    v: Any, a: Any, q: Any, axis: Any, keepdims: bool, method: str, skip_nan: bool
) -> Any:
    """Return the derivative in ``q`` of ``quantile_tangent(v, a, q, ...)``, of the same shape.

    With ``a`` for ``v`` it is that of the quantile itself: the distance of the two elements that
    it is between, times how fast its rank moves.
    """
    lanes = _to_lanes(a, axis)
    (low, high), rate = _quantile_steps(lanes, q, method, skip_nan)
    v = np.broadcast_to(_to_lanes(v, axis), (len(rate), *lanes.shape))
    gap = np.take_along_axis(v, high, -1) - np.take_along_axis(v, low, -1)
    kept = lanes.shape[:-1]
    if keepdims:
        axes = _axes(axis, np.ndim(a))
        kept = tuple(1 if i in axes else n for i, n in enumerate(np.shape(a)))
    slope = np.where(rate == 0.0, 0.0, rate * np.sum(gap, -1))
    return np.reshape(slope, np.shape(q) + kept)[()]


def quantile_slope_adjoint(
    dy: Any, a: Any, q: Any, axis: Any, keepdims: bool, method: str, skip_nan: bool
) -> Any:
    """Return the adjoint of ``quantile_slope(v, a, q, axis, ...)`` in ``v``."""
    lanes = _to_lanes(a, axis)
    (low, high), rate = _quantile_steps(lanes, q, method, skip_nan)
    da = np.zeros(lanes.shape, np.result_type(lanes, dy, rate))
    shares = rate * np.reshape(dy, rate.shape)
    kept = np.ix_(*(range(n) for n in lanes.shape[:-1]))
    for k, share in enumerate(shares):
        for sign, place in ((1.0, high), (-1.0, low)):
            if place.shape[-1]:
                da[(*kept, place[k, ..., 0])] += sign * share
    return _from_lanes(da, np.shape(a), axis)


def _quantile_steps(
    lanes: Any, q: Any, method: str, skip_nan: bool
) -> tuple[tuple[Any, Any], Any]:
    """Return the places of the elements below and above quantiles, and how fast their ranks move.

    The places have a last axis of one place, or of none where there are not two elements. A rank
    moves by ``n + 1 - alpha - beta`` (Hyndman and Fan, Sample Quantiles in Statistical Packages,
    The American Statistician 50, 1996), not beyond the last ones, and not by methods that choose
    an element.
    """
    missing = np.isnan(lanes)
    n = lanes.shape[-1]
    counts = n - np.count_nonzero(missing, axis=-1) if skip_nan else np.full(lanes.shape[:-1], n)
    q = np.reshape(q, (-1, *(1,) * counts.ndim))
    alpha, beta = RANKS.get(method, (0.0, 0.0))
    rank = counts * q + alpha + q * (1.0 - alpha - beta) - 1.0
    still = (rank < 0.0) | (rank > counts - 1) | (counts < 2) | (method not in RANKS)
    rate = np.where(still, 0.0, counts + 1.0 - alpha - beta)
    if not skip_nan:
        rate = np.where(np.any(missing, axis=-1), np.nan, rate)
    if n < 2:
        nothing = np.zeros((*rate.shape, 0), dtype=np.intp)
        return (nothing, nothing), rate
    low = np.clip(np.floor(rank), 0, np.maximum(counts - 2, 0)).astype(np.intp)[..., None]
    order = np.broadcast_to(np.argsort(lanes, axis=-1, kind="stable"), (*rate.shape, n))
    both = np.take_along_axis(order, low, -1), np.take_along_axis(order, low + 1, -1)
    return both, rate


def _quantile_weights(lanes: Any, q: Any, method: Any, skip_nan: bool) -> tuple[Any, Any]:
    """Return two places per quantile and lane, and their weights: of shape (2, q, ...).

    Where a quantile stands among n sorted numbers is the quantile, by the same method, of the
    ranks 0 ... n - 1.
    """
    q = np.ravel(q)
    n = lanes.shape[-1]
    if skip_nan:
        order = np.argsort(lanes, axis=-1, kind="stable")
        counts = np.count_nonzero(~np.isnan(lanes), axis=-1)
        ranks = np.zeros((len(q), *counts.shape))
        for count in np.unique(counts[counts > 0]):
            at = np.quantile(np.arange(float(count)), q, method=method)
            ranks = np.where(counts == count, at.reshape(-1, *(1,) * counts.ndim), ranks)
        known = counts > 0
    else:
        at = np.quantile(np.arange(float(n)), q, method=method)
        ranks = np.broadcast_to(at.reshape(-1, *(1,) * (lanes.ndim - 1)),
                                (len(q), *lanes.shape[:-1]))
        needed = np.unique(np.concatenate((np.floor(at), np.ceil(at))).astype(np.intp))
        order = np.argpartition(lanes, needed, axis=-1)
        known = np.ones(lanes.shape[:-1], dtype=bool)
    low = np.floor(ranks)
    places = np.stack((low, np.ceil(ranks))).astype(np.intp)
    shares = np.stack((1.0 - (ranks - low), ranks - low)) * known
    order = np.broadcast_to(order, (2, len(q), *order.shape))
    return np.take_along_axis(order, places[..., None], axis=-1)[..., 0], shares


# --- finite differences ---------------------------------------------------------------------------


def gradient_adjoint(
    dy: Any, shape: tuple[int, ...], spacing: Sequence[Any], axis: Any, edge_order: int
) -> Any:
    """Return the adjoint of ``np.gradient(f, *spacing, axis=axis, edge_order=edge_order)`` in f.

    ``dy`` is one array, or a sequence of one per axis; ``shape`` is that of f.
    """
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 1 and not isinstance(dy, (tuple, list)):
        dy = (dy,)
    steps = tuple(spacing) if len(spacing) == len(axes) else (tuple(spacing) or (1.0,)) * len(axes)
    parts = [
        _gradient_adjoint_along(part, step, i, edge_order)
        for part, step, i in zip(dy, steps, axes, strict=True)
    ]
    return sum(parts[1:], parts[0])


def _gradient_adjoint_along(dy: Any, step: Any, axis: int, edge_order: int) -> Any:
    """Return the adjoint of one of the derivatives: its differences, transposed."""
    g = np.moveaxis(dy, axis, -1)
    n = g.shape[-1]
    step = np.conj(step)
    h = np.diff(step) if np.ndim(step) else np.full(n - 1, step)
    h = h if h.dtype.kind == "c" else h.astype(g.real.dtype)
    left, right = h[:-1], h[1:]
    inner = g[..., 1:-1]
    df = np.zeros(g.shape, np.result_type(g, h))
    df[..., :-2] -= inner * (right / (left * (left + right)))
    df[..., 2:] += inner * (left / (right * (left + right)))
    if np.ndim(step):
        df[..., 1:-1] += inner * ((right - left) / (left * right))
    for end, weights in _edge_weights(h, edge_order):
        for place, weight in weights:
            df[..., place] += weight * g[..., end]
    return np.moveaxis(df, -1, axis)


def _edge_weights(h: Any, edge_order: int) -> list[tuple[int, list[tuple[int, Any]]]]:
    """Return for either end the places and weights of its one-sided difference."""
    if edge_order == 1:
        return [(0, [(0, -1.0 / h[0]), (1, 1.0 / h[0])]),
                (-1, [(-2, -1.0 / h[-1]), (-1, 1.0 / h[-1])])]

    def quadratic(near: Any, far: Any) -> tuple[Any, Any, Any]:
        both = near + far
        return -(near + both) / (near * both), both / (near * far), -near / (far * both)

    first = quadratic(h[0], h[1])
    last = quadratic(h[-1], h[-2])
    return [(0, [(i, w) for i, w in enumerate(first)]),
            (-1, [(-1 - i, -w) for i, w in enumerate(last)])]


def spacing_adjoint(
    dy: Any, f: Any, spacing: Sequence[Any], axis: Any, edge_order: int
) -> tuple[Any, ...]:
    """Return the adjoint of ``np.gradient(f, *spacing)`` in the steps, or places, of the points."""
    if not spacing:
        return ()
    f = np.asarray(f)
    axes = range(f.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 1 and not isinstance(dy, (tuple, list)):
        dy = (dy,)
    steps = tuple(spacing) * (len(axes) if len(spacing) < len(axes) else 1)
    parts = [
        _spacing_adjoint_along(part, f, step, i, edge_order)
        for part, step, i in zip(dy, steps, axes, strict=True)
    ]
    if len(spacing) < len(axes):
        return (project(sum(parts[1:], parts[0]), spacing[0]),)
    return tuple(like(part, step) for part, step in zip(parts, spacing, strict=True))


def _spacing_adjoint_along(dy: Any, f: Any, step: Any, axis: int, edge_order: int) -> Any:
    """Return the adjoint in the step of one axis, or in the places along it."""
    if np.ndim(step) == 0:
        options: Any = {"axis": axis, "edge_order": edge_order}
        slope = np.gradient(f.astype(np.result_type(f, step)), step, **options)
        return -np.sum(dy * np.conj(slope / step))
    g, f = np.moveaxis(dy, axis, -1), np.moveaxis(f, axis, -1)
    h = np.diff(step)
    dh = np.zeros(h.shape, np.result_type(g, h, f))

    def collect(place: slice, dy: Any, rate: Any) -> None:
        product = dy * np.conj(rate)
        dh[place] += product.sum(tuple(range(product.ndim - 1)))

    left, right = h[:-1], h[1:]
    low, middle, high = f[..., :-2], f[..., 1:-1], f[..., 2:]
    across = (high - low) / (left + right) ** 2
    collect(slice(None, -1), g[..., 1:-1], across - (middle - low) / left**2)
    collect(slice(1, None), g[..., 1:-1], across - (high - middle) / right**2)
    n = h.size
    for sign, end, near, far in ((1, 0, 0, 1), (-1, n, n - 1, n - 2)):
        edge, inner = f[..., end : end + 1], f[..., end + sign : end + sign + 1]
        place, slope = slice(near, near + 1), g[..., end : end + 1]
        rate = sign * (edge - inner) / h[place] ** 2
        if edge_order == 2:
            outer = f[..., end + 2 * sign : end + 2 * sign + 1]
            beyond = slice(far, far + 1)
            whole = sign * (edge - outer) / (h[place] + h[beyond]) ** 2
            collect(beyond, slope, sign * (outer - inner) / h[beyond] ** 2 + whole)
            rate = rate + whole
        collect(place, slope, rate)
    zero = np.zeros(1, dh.dtype)
    return -np.diff(dh, prepend=zero, append=zero)


# --- matrix norms ---------------------------------------------------------------------------------


def matrix_norm_adjoint(dy: Any, x: Any, ord: Any, axis: tuple[int, int], keepdims: bool) -> Any:
    """Return the adjoint of ``np.linalg.norm(x, ord, axis, keepdims)`` for the matrix norms.

    ``ord`` is 1, -1, inf, -inf (sums of absolute values, ties share), 2, -2 (singular values) or
    'nuc' (their sum: the gradient is U V^H; K. B. Petersen, *The Matrix Cookbook*).
    """
    m = np.moveaxis(np.asarray(x), axis, (-2, -1))
    if keepdims:
        dy = np.squeeze(dy, axis)
    dy = np.expand_dims(dy, (-2, -1))
    if ord in ("nuc", 2, -2):
        u, _, vh = np.linalg.svd(m, full_matrices=False)
        if ord == 2:
            u, vh = u[..., :, :1], vh[..., :1, :]
        elif ord == -2:
            u, vh = u[..., :, -1:], vh[..., -1:, :]
        dm = dy * (u @ vh)
    else:
        size = np.abs(m)
        sums = np.sum(size, axis=-2 if abs(ord) == 1 else -1, keepdims=True)
        extreme = np.max if ord > 0 else np.min
        tied = sums == extreme(sums, axis=(-2, -1), keepdims=True)
        count = np.sum(tied, axis=(-2, -1), keepdims=True, dtype=sums.dtype)
        dm = np.where(tied, dy / count, 0.0) * (m / np.where(size == 0.0, 1.0, size))
    return np.moveaxis(dm, (-2, -1), axis)


def matrix_norm_curvature(v: Any, x: Any, ord: Any, axis: tuple[int, int]) -> Any:
    """Return the second derivative of ``np.linalg.norm(x, ord, axis)`` along ``v``.

    First-order perturbation of singular vectors gives that of a singular value, and with the
    differences of singular values in its denominators cancelled that of their sum, the polar factor
    (N. J. Higham, *Functions of Matrices*, section 8). Sums of absolute values have none.
    """
    m, e = (np.moveaxis(np.asarray(a), axis, (-2, -1)) for a in (x, v))
    if ord not in ("nuc", 2, -2):
        return np.zeros_like(x)  # of real matrices
    u, s, vh = np.linalg.svd(m, full_matrices=False)
    uh, w = np.conj(np.swapaxes(u, -1, -2)), np.conj(np.swapaxes(vh, -1, -2))
    inner = uh @ e @ w
    left, right = e @ w - u @ inner, uh @ e - inner @ vh
    if ord == "nuc":
        skew = inner - np.conj(np.swapaxes(inner, -1, -2))
        moved = u @ (skew / (s[..., :, None] + s[..., None, :])) @ vh
        moved = moved + (left / s[..., None, :]) @ vh + u @ (right / s[..., :, None])
    else:
        k = 0 if ord == 2 else s.shape[-1] - 1
        size = s[..., k : k + 1]
        column, row = inner[..., :, k], np.conj(inner[..., k, :])
        gaps = size**2 - s**2
        gaps[..., k] = 1.0
        along_u, along_v = (size * column + s * row) / gaps, (size * row + s * column) / gaps
        along_u[..., k] = 0.25 * (column - row)[..., k] / size[..., 0]
        along_v[..., k] = -along_u[..., k]
        du = np.matmul(u, along_u[..., None]) + left[..., :, k : k + 1] / size[..., None]
        dv = np.conj(np.swapaxes(np.matmul(w, along_v[..., None]), -1, -2))
        dv = dv + right[..., k : k + 1, :] / size[..., None]
        moved = du @ vh[..., k : k + 1, :] + u[..., :, k : k + 1] @ dv
    return np.moveaxis(moved, (-2, -1), axis)
