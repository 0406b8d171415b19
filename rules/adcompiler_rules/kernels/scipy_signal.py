"""Adjoints of SciPy's filters and convolutions, where one expression is not enough.

Every function is pure. Cotangents of what is complex take the conjugates of the other operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal
from scipy.signal import convolve2d, fftconvolve, lfilter, lfilter_zi

COVERED_WITH = "scipy.signal"
"""The module whose rules come with those of these functions."""

# --- convolutions ---------------------------------------------------------------------------------


def in_full(g: Any, shape: tuple[int, ...], other: tuple[int, ...], mode: str, axes: Any) -> Any:
    """Return the cotangent of the full convolution of which ``mode`` keeps a part along ``axes``.

    ``shape`` and ``other`` are those of the operands; along the other axes they are broadcast.
    ``later`` is the part of the same shape that a correlation keeps.
    """
    g = np.asarray(g)
    full = list(g.shape)
    for axis in axes:
        full[axis] = shape[axis] + other[axis] - 1
    placed = np.zeros(full, g.dtype)
    placed[part_kept(shape, other, mode, axes, g.ndim)] = g
    return placed


def part_of_full(
    full: Any, shape: tuple[int, ...], other: tuple[int, ...], mode: str, axes: Any
) -> Any:
    """Return the part of a full convolution that ``mode`` keeps: the adjoint of ``in_full``."""
    return np.array(full[part_kept(shape, other, mode, axes, full.ndim)])


def part_kept(
    shape: tuple[int, ...], other: tuple[int, ...], mode: str, axes: Any, ndim: int
) -> tuple[slice, ...]:
    """Return where the part that ``mode`` keeps stands in a full convolution."""
    part = [slice(None)] * ndim
    for axis in axes:
        n, m = shape[axis], other[axis]
        if mode == "valid":
            part[axis] = slice(min(n, m) - 1, max(n, m))
        elif mode != "full":
            first = m // 2 if mode == "later" else (m - 1) // 2
            part[axis] = slice(first, first + n)
    return tuple(part)


def turned(x: Any, axes: Any) -> Any:
    """Return the conjugate of an array, in opposite order along ``axes``."""
    return np.conj(np.flip(x, axes))


def boundary_positions(n: int, before: int, after: int, mode: str) -> Any:
    """Return which elements of ``n`` an extension by ``before`` and ``after`` repeats; -1 for none.

    ``symmetric`` repeats the end element, ``mirror`` does not.
    """
    places = np.arange(-before, n + after)
    if mode == "wrap":
        return places % n
    if mode == "nearest":
        return np.clip(places, 0, n - 1)
    if mode == "symmetric":
        places = places % (2 * n)
        return np.where(places < n, places, 2 * n - 1 - places)
    if mode == "mirror":
        period = max(2 * n - 2, 1)
        places = places % period
        return np.where(places < n, places, period - places)
    return np.where((places >= 0) & (places < n), places, -1)


def extended(x: Any, axis: int, positions: Any, fill: Any) -> Any:
    """Return the elements of ``x`` at ``positions`` along an axis, ``fill`` where there is none."""
    if not x.shape[axis]:  # nothing but what is filled in
        shape = (*x.shape[:axis], len(positions), *x.shape[axis:][1:])
        return np.full(shape, fill, x.dtype)
    taken = np.take(x, np.maximum(positions, 0), axis)
    known = (positions >= 0).reshape(-1, *(1,) * (x.ndim - 1 - axis % x.ndim))
    return taken if known.all() else np.where(known, taken, np.asarray(fill, x.dtype))


def folded(g: Any, axis: int, positions: Any, n: int) -> Any:
    """Return the sums of the cotangents of what ``extended`` took from each of ``n`` elements."""
    g = np.moveaxis(g, axis, 0)
    sums = np.zeros((n, *g.shape[1:]), g.dtype)
    inside = positions >= 0
    np.add.at(sums, positions[inside], g[inside])
    return np.moveaxis(sums, 0, axis)


def planar_adjoints(
    g: Any, x: Any, kernel: Any, mode: str, boundary: str, fill: Any
) -> tuple[Any, Any]:
    """Return the cotangents of ``x`` and ``kernel`` for ``scipy.signal.convolve2d``.

    ``mode`` may be ``later``, see ``in_full``.
    """
    x, kernel = np.asarray(x), np.asarray(kernel)
    g = in_full(g, x.shape, kernel.shape, mode, (0, 1))
    rule = {"wrap": "wrap", "symm": "symmetric"}.get(boundary, "fill")
    positions = [
        boundary_positions(n, m - 1, m - 1, "fill" if mode == "valid" else rule)
        for n, m in zip(x.shape, kernel.shape, strict=True)
    ]
    around = fftconvolve(g, turned(kernel, (0, 1)))
    around = folded(folded(around, 0, positions[0], x.shape[0]), 1, positions[1], x.shape[1])
    wide = extended(extended(x, 0, positions[0], fill), 1, positions[1], fill)
    if mode == "valid":
        wide = extended(extended(x, 0, positions[0], 0), 1, positions[1], 0)
    return around, fftconvolve(turned(wide, (0, 1)), g, "valid")


def planar_product(
    x: Any, kernel: Any, mode: str, boundary: str, fill: Any
) -> Any:
    """Return ``scipy.signal.convolve2d`` of arrays, of which ``mode`` may be ``later`` too."""
    if mode == "valid":
        boundary, fill = "fill", 0
    full = convolve2d(x, kernel, "full", boundary, fill)
    return part_of_full(full, np.shape(x), np.shape(kernel), mode, (0, 1))


# --- recursive filters ----------------------------------------------------------------------------


def lfilter_adjoints(
    gy: Any, gz: Any, b: Any, a: Any, x: Any, axis: int, zi: Any, y: Any
) -> tuple[Any, Any, Any, Any]:
    """Return the cotangents of ``b``, ``a``, ``x`` and ``zi`` for ``lfilter``.

    With ``a[0] = 1`` the output solves ``a * y = u`` up to the last sample, with ``u = b * x``
    from the state ``zi`` on; the last state is what ``u - a * y`` has behind it. So the sweep
    filters backwards in time by ``1 / a``, and correlates.
    """
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.moveaxis(np.asarray(x), axis, -1)
    y, gy = np.moveaxis(y, axis, -1), np.moveaxis(gy, axis, -1)
    first, count, n = a[0], max(len(a), len(b)) - 1, x.shape[-1]
    numerator, denominator = np.conj(b / first), np.conj(a / first)
    dtype = np.result_type(gy, numerator, denominator)
    behind = np.zeros((*y.shape[:-1], count), dtype)
    if gz is not None:
        behind += np.moveaxis(gz, axis, -1)
    gu = np.concatenate((gy.astype(dtype), behind), -1)
    for k in range(1, min(len(a), n + count)):  # the last state has -a * y in it
        gu[..., max(n - k, 0) : n] -= denominator[k] * gu[..., max(n, k) : n + k]
    gu[..., :n] = lfilter([1.0], denominator, gu[..., n - 1 :: -1] if n else gu[..., :n])[..., ::-1]
    gx = sum((numerator[k] * gu[..., k : n + k] for k in range(len(b))),
             start=np.zeros(x.shape, dtype))
    gb = np.array([np.sum(gu[..., k : n + k] * np.conj(x)) for k in range(len(b))], dtype)
    ga = np.array([-np.sum(gu[..., k : n + k] * np.conj(y)) for k in range(len(a))], dtype)
    ga[0] = -(gb @ numerator + ga[1:] @ denominator[1:])
    gzi = None
    if zi is not None:
        gzi = np.moveaxis(gu[..., :count], -1, axis)
        summed = [i for i, (m, k) in enumerate(zip(np.shape(zi), gzi.shape, strict=True)) if m < k]
        gzi = gzi.sum(tuple(summed), keepdims=True)
    return gb / np.conj(first), ga / np.conj(first), np.moveaxis(gx, -1, axis), gzi


def lfilter_tangent(
    b_dot: Any, a_dot: Any, x_dot: Any, zi_dot: Any, b: Any, a: Any, x: Any, axis: int, y: Any
) -> tuple[Any, Any]:
    """Return how signal and last state of ``lfilter`` move: the adjoint of ``lfilter_adjoints``."""
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.moveaxis(np.asarray(x), axis, -1)
    x_dot, y = np.moveaxis(x_dot, axis, -1), np.moveaxis(y, axis, -1)
    first, count, n = a[0], max(len(a), len(b)) - 1, x.shape[-1]
    b, a = b / first, a / first
    b_dot, a_dot = (b_dot - b * a_dot[0]) / first, (a_dot - a * a_dot[0]) / first
    moving = (x_dot, b_dot, a_dot, b, a, x, y, *(() if zi_dot is None else (zi_dot,)))
    u = np.zeros((*x.shape[:-1], n + count), np.result_type(*moving))
    if zi_dot is not None:
        u[..., :count] += np.moveaxis(zi_dot, axis, -1)
    for k in range(len(b)):
        u[..., k : n + k] += b[k] * x_dot + b_dot[k] * x
    for k in range(len(a)):
        u[..., k : n + k] -= a_dot[k] * y
    y_dot = lfilter([1.0], a, u[..., :n])
    for k in range(1, len(a)):
        u[..., max(n, k) : n + k] -= a[k] * y_dot[..., max(n - k, 0) : n]
    return np.moveaxis(y_dot, -1, axis), np.moveaxis(u[..., n:], -1, axis)


def sosfilt_adjoints(
    gy: Any, gz: Any, sos: Any, x: Any, axis: int, zi: Any
) -> tuple[Any, Any, Any]:
    """Return the cotangents of ``sos``, ``x`` and ``zi`` for ``sosfilt``: section by section."""
    sos, stages = np.asarray(sos), [np.asarray(x)]
    for i, section in enumerate(sos):
        start = None if zi is None else zi[i]
        y = lfilter(section[:3], section[3:], stages[-1], axis, start)
        stages.append(y if zi is None else y[0])
    gsos = np.zeros(sos.shape, np.result_type(gy, sos))
    gzi = None if zi is None else np.zeros(np.shape(zi), np.result_type(gy, zi))
    for i in range(len(sos) - 1, -1, -1):
        gb, ga, gy, state = lfilter_adjoints(
            gy, None if gz is None else gz[i], sos[i, :3], sos[i, 3:], stages[i], axis,
            None if zi is None else zi[i], stages[i + 1],
        )
        gsos[i] = np.concatenate((gb, ga))
        if gzi is not None:
            gzi[i] = state
    return gsos, gy, gzi


def sosfilt_tangent(
    sos_dot: Any, x_dot: Any, zi_dot: Any, sos: Any, x: Any, axis: int, zi: Any
) -> tuple[Any, Any]:
    """Return how signal and states of ``sosfilt`` move: the adjoint of ``sosfilt_adjoints``."""
    sos, states = np.asarray(sos), []
    x = np.asarray(x)
    for i, section in enumerate(sos):
        start = None if zi is None else zi[i]
        found = lfilter(section[:3], section[3:], x, axis, start)
        y = found if zi is None else found[0]
        x_dot, state = lfilter_tangent(
            sos_dot[i, :3], sos_dot[i, 3:], x_dot, None if zi_dot is None else zi_dot[i],
            section[:3], section[3:], x, axis, y,
        )
        states.append(state)
        x = y
    return x_dot, np.stack(states)


# --- filters that run both ways -------------------------------------------------------------------


def padded_ends(n: int, padtype: str | None, edge: int) -> tuple[Any, Any]:
    """Return the weights of elements and end elements in an extension by ``edge`` on both sides.

    ``matrix[i] @ x`` is the extension; ``odd`` takes twice the end less its mirror image.
    """
    matrix = np.zeros((n + 2 * edge, n))
    matrix[edge : edge + n] = np.eye(n)
    for i in range(edge if padtype is not None else 0):
        left, right = edge - 1 - i, edge + n + i
        if padtype == "constant":
            matrix[left, 0] = matrix[right, n - 1] = 1.0
            continue
        sign = -1.0 if padtype == "odd" else 1.0
        matrix[left, i + 1] += sign
        matrix[right, n - 2 - i] += sign
        if padtype == "odd":
            matrix[left, 0] += 2.0
            matrix[right, n - 1] += 2.0
    return matrix[:edge], matrix[edge + n :]


def filtfilt_adjoint(
    g: Any, b: Any, a: Any, n: int, axis: int, padtype: str | None, edge: int
) -> Any:
    """Return the cotangent of ``n`` samples along an axis for ``filtfilt`` that pads by ``edge``.

    Each run starts in the steady state for its first sample, ``zi`` times that sample.
    """
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    zi, g = np.conj(lfilter_zi(b, a)), np.moveaxis(g, axis, -1)
    ends = np.zeros((*g.shape[:-1], edge), g.dtype)
    g = np.concatenate((ends, g, ends), -1)
    for _ in range(2):
        g = g[..., ::-1]  # backwards in time: the later run first
        _, _, moved, states = lfilter_adjoints(
            g, None, b, a, np.zeros_like(g), -1, np.zeros((*g.shape[:-1], len(zi)), g.dtype),
            np.zeros_like(g),
        )
        moved[..., 0] += states @ zi
        g = moved
    left, right = padded_ends(n, padtype, edge)
    inside = g[..., edge : edge + n] + g[..., :edge] @ left + g[..., edge + n :] @ right
    return np.moveaxis(inside, -1, axis)


# --- other filters that are linear in the signal --------------------------------------------------


def upfirdn_adjoints(g: Any, h: Any, x: Any, up: int, down: int, axis: int) -> tuple[Any, Any]:
    """Return the cotangents of ``h`` and ``x`` for ``upfirdn`` with zeros beyond the ends."""
    h, x, g = np.asarray(h), np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(g, axis, -1)
    spread = np.zeros((*x.shape[:-1], (x.shape[-1] - 1) * up + 1), x.dtype)
    spread[..., ::up] = x
    full = np.zeros((*g.shape[:-1], spread.shape[-1] + len(h) - 1), g.dtype)
    full[..., ::down] = g
    taps = turned(h, -1).reshape((1,) * (x.ndim - 1) + (-1,))
    gx = fftconvolve(full, taps, "valid", axes=-1)[..., ::up]
    gh = fftconvolve(full, turned(spread, -1), "valid", axes=-1)
    return gh.sum(tuple(range(gh.ndim - 1))), np.moveaxis(gx, -1, axis)


def named_window(window: Any, size: int) -> Any:
    """Return a window that is given by its name."""
    return signal.get_window(window, int(size))


def resampling_plan(length: int, up: int, down: int, half: int) -> tuple[int, ...]:
    """Return the zeros before and behind a filter of ``2 * half + 1`` taps, and what is kept.

    That is the first output of ``resample_poly``, and their number.
    """
    count = -(-length * up // down)
    before = down - half % down
    first = (half + before) // down
    size = 2 * half + 1 + before
    behind = 0
    while ((length - 1) * up + size + behind - 1) // down + 1 < count + first:
        behind += 1
    return before, behind, first, count
