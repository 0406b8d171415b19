"""The adjoints of ``np.pad``, which pads one axis after the other. Every function is pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.broadcasting import unbroadcast
from adcompiler.runtime.adjoints.shaping import like, pad_widths
from adcompiler_rules.kernels.gathering import take_adjoint

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def pad_adjoint(
    g: Any,
    shape: tuple[int, ...],
    pad_width: Any,
    mode: str = "constant",
    reflect_type: str = "even",
    stat_length: Any = None,
) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.pad(x, pad_width, mode)``.

    Modes: constant, edge, linear_ramp, mean, reflect, symmetric and wrap.
    """
    lengths = np.broadcast_to(np.asarray(stat_length), (len(shape), 2))
    for axis, width in _last_axis_first(pad_width, len(shape)):
        n = shape[axis]
        if mode in ("constant", "linear_ramp", "mean"):
            first, core, last = _parts(g, axis, width)
            core = core.copy()
            if mode == "linear_ramp":
                core[:1] += _weighted(first, _ramp(width[0]))
                core[n - 1 :] += _weighted(last, _ramp(width[1])[::-1])
            elif mode == "mean":
                counts = [n if count is None else min(count, n) for count in lengths[axis]]
                core[: counts[0]] += first.sum(0) / counts[0]
                core[n - counts[1] :] += last.sum(0) / counts[1]
            g = np.moveaxis(core, 0, axis)
        else:
            g = _mirrored_adjoint(g, axis, n, width, mode, reflect_type)
    return g


def pad_values_adjoint(
    g: Any, shape: tuple[int, ...], pad_width: Any, mode: str, values: Any
) -> Any:
    """Return the cotangent of the ``constant_values`` or ``end_values`` of ``np.pad``."""
    collected = np.zeros((len(shape), 2), g.dtype)
    rest = g
    for axis, width in _last_axis_first(pad_width, len(shape)):
        first, _, last = _parts(rest, axis, width)
        if mode == "linear_ramp":
            first = _weighted(first, 1.0 - _ramp(width[0]))
            last = _weighted(last, 1.0 - _ramp(width[1])[::-1])
        collected[axis] = first.sum(), last.sum()
        rest = pad_adjoint(
            rest, rest.shape[:axis] + (shape[axis],) + rest.shape[axis + 1 :], {axis: width}, mode
        )
    return like(unbroadcast(collected, np.shape(values)), values)


def pad_linear(
    x: Any,
    pad_width: Any,
    mode: str = "constant",
    reflect_type: str = "even",
    stat_length: Any = None,
) -> Any:
    """Return ``np.pad(x, pad_width, mode)`` with constants and end values zero."""
    options: dict[str, Any] = {}
    if mode in ("reflect", "symmetric"):
        options["reflect_type"] = reflect_type
    elif mode == "mean":
        options["stat_length"] = stat_length
    return np.pad(x, pad_width, mode=mode, **options)  # type: ignore[call-overload]


def _parts(g: Any, axis: int, width: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Return what stands before, in, and after the padded array along ``axis``, moved in front."""
    rows = np.moveaxis(g, axis, 0)
    stop = rows.shape[0] - width[1]
    return rows[: width[0]], rows[width[0] : stop], rows[stop:]


def _ramp(width: int) -> Any:
    """Return the weights of the edge in the padding before it, from the far end."""
    return np.arange(width) / max(width, 1)


def _weighted(rows: Any, weights: Any) -> Any:
    return np.tensordot(weights.astype(rows.dtype), rows, 1)


def _last_axis_first(pad_width: Any, ndim: int) -> list[tuple[int, tuple[int, int]]]:
    """Return the padded axes and their widths, against the order in which they are padded."""
    widths = enumerate(pad_widths(pad_width, ndim))
    return [(axis, width) for axis, width in widths if any(width)][::-1]


def _mirrored_adjoint(
    g: Any, axis: int, n: int, width: tuple[int, int], mode: str, reflect_type: str
) -> Any:
    """Return the adjoint along one axis of the modes that repeat elements; ``n`` is its length."""
    shape = g.shape[:axis] + (n,) + g.shape[axis + 1 :]
    positions = pad_linear(np.arange(n), width, mode)
    if reflect_type == "even" or mode not in ("reflect", "symmetric") or n == 1:
        return take_adjoint(g, shape, positions, axis)
    sign, first, last = _odd_weights(n, width, mode, positions)
    rows = np.moveaxis(g, axis, -1)
    core = np.moveaxis(
        take_adjoint(rows * sign, rows.shape[:-1] + (n,), positions, -1), -1, 0
    )
    core[0] += rows @ first
    core[-1] += rows @ last
    return np.moveaxis(core, 0, axis).astype(g.dtype, copy=False)


def _odd_weights(n: int, width: tuple[int, int], mode: str, positions: Any) -> tuple[Any, Any, Any]:
    """Return the weights of an odd reflection, read off the padding of 0, 1, 2... and its squares.

    The padded array is ``sign * x[positions] + first * x[0] + last * x[n - 1]``, and the weights
    add up to one.
    """
    ramp = np.arange(n, dtype=np.float64)
    linear = pad_linear(ramp, width, mode, "odd")
    square = pad_linear(ramp * ramp, width, mode, "odd")
    curvature = positions * (positions - (n - 1.0))
    inside = curvature != 0
    sign = np.where(inside, (square - (n - 1) * linear) / np.where(inside, curvature, 1.0), 1.0)
    last = (linear - sign * positions) / (n - 1)
    return sign, 1.0 - sign - last, last


def windows_adjoint(g: Any, shape: tuple[int, ...], window_shape: Any, axis: Any) -> Any:
    """Return the adjoint of ``sliding_window_view(x, window_shape, axis)`` for ``x`` of a shape.

    ``g`` has the axes of ``x``, shortened, and behind them those of the window.
    """
    sizes = window_shape if isinstance(window_shape, tuple) else (window_shape,)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    total = np.zeros(shape, g.dtype)
    for offsets in np.ndindex(*sizes):
        part = [slice(0, n) for n in g.shape[: len(shape)]]
        for k, offset in zip(axes, offsets, strict=True):
            part[k] = slice(part[k].start + offset, part[k].stop + offset)
        total[tuple(part)] += g[(..., *offsets)]
    return total
