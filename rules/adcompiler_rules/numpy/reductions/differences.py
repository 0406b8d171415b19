"""Rules of differences, quadrature, interpolation and convolution along an axis."""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import Call, call, rrule
from adcompiler.runtime import project, scatter
from adcompiler_rules.kernels.reductions import gradient_adjoint, spacing_adjoint
from adcompiler.runtime.adjoints.shaping import like

# --- differences ----------------------------------------------------------------------------------


@rrule(np.diff, wrt=("a", "prepend", "append"), linear=(0, 3, 4), domain=lambda rng: [
    call(rng.normal(size=5)), call(rng.normal(size=(3, 4))), call(rng.normal(size=(3, 4)), axis=0),
    call(rng.normal(size=(3, 4)), 2, 1), call(rng.normal(size=(3, 5)), n=3),
    call(rng.normal(size=2), 0),
    call(rng.normal(size=5), prepend=0.5),
    call(rng.normal(size=(2, 3)), append=rng.normal(size=(2, 2))),
    call(rng.normal(size=(2, 3)), n=2, axis=0, prepend=0.5, append=rng.normal(size=(1, 3))),
    call(rng.normal(size=1)), call(rng.normal(size=(2, 3)) + 1j), call([0.5, 2.5, 1.0]),
])
def diff_rule(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    """Differentiate differences: the adjoint of ``diff`` is ``-diff`` between zeros."""
    y = np.diff(a, n, axis, prepend, append)

    def diff_pullback(dy):
        if n == 0:
            dwhole = dy
        elif n == 1:
            zero = np.zeros((), dy.dtype)
            dwhole = -np.diff(dy, axis=axis, prepend=zero, append=zero)
        else:
            zeros = np.zeros_like(np.take(dy, np.zeros(n, int), axis)) if np.size(dy) else 0.0
            dwhole = (-1.0) ** n * np.diff(dy, n, axis, zeros, zeros)
        dprepend, dappend = None, None
        if prepend is not np._NoValue:
            before = 1 if np.ndim(prepend) == 0 else np.shape(prepend)[axis]
            dprepend, dwhole = np.split(dwhole, [before], axis)
            dprepend = project(dprepend, prepend)
        if append is not np._NoValue:
            dwhole, dappend = np.split(dwhole, [np.shape(a)[axis]], axis)
            dappend = project(dappend, append)
        return project(dwhole, a), dprepend, dappend

    return y, diff_pullback


@rrule(np.ediff1d, wrt=("ary", "to_end", "to_begin"), linear=(0, 1, 2), domain=lambda rng: [
    call(rng.normal(size=5)), call(rng.normal(size=(2, 3))), call([0.5, 2.0, 1.5]),
    call(np.array([1.5])), call(rng.normal(size=4), 0.5), call(rng.normal(size=4), to_begin=1.5),
    call(rng.normal(size=3), rng.normal(size=2), rng.normal(size=(2, 2))),
])
def ediff1d_rule(ary, to_end=None, to_begin=None):
    y = np.ediff1d(ary, to_end, to_begin)

    def ediff1d_pullback(dy):
        first = 0 if to_begin is None else np.size(to_begin)
        last = first + max(np.size(ary) - 1, 0)
        zero = np.zeros((), dy.dtype)
        middle = -np.diff(dy[first:last], prepend=zero, append=zero)
        dend, dbegin = None, None
        if to_end is not None:
            dend = project(np.reshape(dy[last:], np.shape(to_end)), to_end)
        if to_begin is not None:
            dbegin = project(np.reshape(dy[:first], np.shape(to_begin)), to_begin)
        return like(np.reshape(middle, np.shape(ary)), ary), dend, dbegin

    return y, ediff1d_pullback


@rrule(np.gradient, wrt=("f", "*spacing"), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6)),
    call(rng.normal(size=5), rng.uniform(0.5, 1.5)), call(rng.normal(size=2), np.float64(0.7)),
    call(rng.normal(size=(3, 4)), np.array([0.5, 1.0, 2.5]), 0.5, edge_order=2),
    call(rng.normal(size=(3, 4)), 0.5, 1.5, edge_order=2),
    call(rng.normal(size=3), [0.5, 1.0, 2.0]),
    call(rng.normal(size=6), 0.5), call(rng.normal(size=2)),
    call(rng.normal(size=6), edge_order=2), call(rng.normal(size=(3, 4))), call([0.5, 2.0, 1.5]),
    call(rng.normal(size=(3, 4)), 0.5, 2), call(rng.normal(size=(3, 4)), axis=1),
    call(rng.normal(size=(3, 4)), 2, axis=(1, 0), edge_order=2), call(rng.normal(size=(3, 4, 5))),
    call(rng.normal(size=5), np.array([0.0, 0.5, 2.0, 2.5, 4.0])),
    call(rng.normal(size=5), np.array([0.0, 0.5, 2.0, 2.5, 4.0]), edge_order=2),
    call(rng.normal(size=(3, 4)), np.array([0.0, 0.5, 2.0]), 0.3),
    call(rng.normal(size=(3, 4)), axis=(-1,)), call(rng.normal(size=4) + 1j),
])
def gradient_rule(f, *spacing, axis=None, edge_order=1):
    y = np.gradient(f, *spacing, axis=axis, edge_order=edge_order)

    def gradient_pullback(dy):
        df = gradient_adjoint(dy, np.shape(f), spacing, axis, edge_order)
        return like(df, f), spacing_adjoint(dy, f, spacing, axis, edge_order)

    return y, gradient_pullback


@rrule(gradient_adjoint, wrt=("dy",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=5), (5,), (0.5,), None, 1),
    call(rng.normal(size=(3, 4)), (3, 4), (), 1, 2),
    call([rng.normal(size=(3, 4)), rng.normal(size=(3, 4))], (3, 4), (0.5, 2.0), None, 1),
])
def gradient_adjoint_rule(dy, shape, spacing, axis, edge_order):
    df = gradient_adjoint(dy, shape, spacing, axis, edge_order)

    def gradient_adjoint_pullback(v):
        slope = np.gradient(v, *spacing, axis=axis, edge_order=edge_order)
        return project(slope if isinstance(dy, np.ndarray) else type(dy)(slope), dy)

    return df, gradient_adjoint_pullback


# --- quadrature and interpolation -----------------------------------------------------------------


def trapezoid_samples(rng: np.random.Generator) -> list[Call]:
    """Return integrals along every kind of axis, over even, uneven and array-valued steps."""
    y = rng.normal(size=(3, 4))
    return [
        call(y[0]), call(y), call(y, axis=0), call(y[0], dx=0.5), call(y, None, 0.3, 0),
        call(y[0], np.sort(rng.normal(size=4))), call(y, np.sort(rng.normal(size=4))),
        call(y, np.sort(rng.normal(size=3)), axis=0), call(y, rng.normal(size=(3, 4)), axis=0),
        call(y, rng.normal(size=(3, 4))), call(y[0, :1]), call(y[0, :0]), call(y[:, :0], axis=1),
        call(y[0, :0], np.zeros(0)), call([0.5, 1.5, 1.0], dx=0.5),
        call(y[0], dx=rng.uniform(0.5, 1.0, 3)), call(y[0] + 1j * y[1]),
        call(y[0], [0.0, 0.5, 2.0, 2.5]), call(y + 1j, rng.normal(size=4)),
    ]


# np.trapz is the name in NumPy 1, which the stubs of NumPy 2 do not know.
trapezoid = np.trapezoid if hasattr(np, "trapezoid") else np.trapz  # type: ignore[attr-defined]


@rrule(trapezoid, wrt=("y", "x", "dx"), domain=trapezoid_samples)
def trapezoid_rule(y: np.ndarray, x=None, dx=1.0, axis=-1):
    """Differentiate ``sum(steps * (y[1:] + y[:-1]) / 2)``, the summed axis moved to the end."""
    out = trapezoid(y, x, dx, axis)

    def trapezoid_pullback(dout):
        heights = np.asarray(y) if axis == -1 or np.ndim(y) == 1 else np.moveaxis(y, axis, -1)
        count = np.shape(heights)[-1]
        if x is None:
            steps = dx * np.ones(max(count - 1, 0), np.asarray(dout).real.dtype)
        elif axis == -1 or np.ndim(x) == 1:
            steps = np.diff(x)
        else:
            steps = np.diff(np.moveaxis(x, axis, -1))
        none = np.zeros((*np.shape(steps)[:-1], 1), steps.dtype)
        padded = np.concatenate((none, steps, none), -1)
        slope = 0.5 * np.expand_dims(dout, -1)
        dheights = slope * np.conj(padded[..., 1:] + padded[..., :-1])[..., :count]
        dsteps = slope * np.conj(heights[..., 1:] + heights[..., :-1])
        dy = dheights if axis == -1 or np.ndim(y) == 1 else np.moveaxis(dheights, -1, axis)
        if x is None:
            return project(dy, y), None, project(dsteps, dx)
        zero = np.zeros((), dsteps.dtype)
        dlast = -np.diff(dsteps, prepend=zero, append=zero)[..., :count]
        dx_points = dlast if axis == -1 or np.ndim(x) == 1 else np.moveaxis(dlast, -1, axis)
        return project(dy, y), project(dx_points, x), None

    return out, trapezoid_pullback


@rrule(np.interp, wrt=("x", "xp", "fp", "left", "right"), domain=lambda rng: [
    call(np.array([0.3, 1.7, -1.0, 5.0, 2.2]), np.array([0.0, 1.0, 2.0, 3.5]), rng.normal(size=4)),
    call(0.7, np.array([0.0, 1.0]), np.array([0.5, 2.5])),
    call(np.float64(9.0), [0.0, 1.0], [0.5, 2.5]),
    call(rng.uniform(0.1, 0.9, (2, 3)), np.array([0.0, 1.0, 2.0]), rng.normal(size=3)),
    call(np.array([-1.0, 0.3, 4.0]), np.array([0.0, 1.0, 2.0]), rng.normal(size=3), left=0.5),
    call(np.array([-1.0, 1.3, 4.0]), np.array([0.0, 1.0, 2.0]), rng.normal(size=3), right=-2.0),
    call(np.array([0.5, 1.4]), np.array([0.0, 1.0, 2.0]), rng.normal(size=3) + 1j),
], kink="at a knot the slope to its right; at both ends 0 outside")
def interp_rule(x, xp: np.ndarray, fp: np.ndarray, left=None, right=None):
    """Differentiate ``(1 - t) * fp[i] + t * fp[i + 1]`` with t, clipped, the place in segment i."""
    y = np.interp(x, xp, fp, left, right)

    def interp_pullback(dy):
        knots = np.asarray(xp)
        values = np.asarray(fp)
        i = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
        width = knots[i + 1] - knots[i]
        t = (x - knots[i]) / width
        inside = (t >= 0.0) & (t <= 1.0)
        t = np.clip(t, 0.0, 1.0)
        slope = inside * np.real(dy * np.conj(values[i + 1] - values[i])) / width
        share = dy
        if left is not None:
            share = np.where(x < knots[0], 0.0, share)
        if right is not None:
            share = np.where(x > knots[-1], 0.0, share)
        dxp = scatter((t - 1.0) * slope, i, knots) + scatter(-t * slope, i + 1, knots)
        dfp = scatter((1.0 - t) * share, i, values) + scatter(t * share, i + 1, values)
        dleft, dright = None, None
        if left is not None:
            dleft = project(np.sum(np.where(x < knots[0], dy, 0.0)), left)
        if right is not None:
            dright = project(np.sum(np.where(x > knots[-1], dy, 0.0)), right)
        return project(slope, x), project(dxp, xp), project(dfp, fp), dleft, dright

    return y, interp_pullback


# --- convolution ----------------------------------------------------------------------------------


def convolution_samples(rng: np.random.Generator) -> list[Call]:
    """Return convolutions of shorter with longer, odd with even, by every mode."""
    modes = ("full", "same", "valid")
    sizes = ((5, 3), (3, 5), (4, 2), (2, 5), (4, 4), (5, 1), (1, 4), (3, 3))
    return [
        *[call(rng.normal(size=n), rng.normal(size=m), mode) for n, m in sizes for mode in modes],
        *[call(rng.normal(size=n) + 1j * rng.normal(size=n), rng.normal(size=m) + 1j, mode=mode)
          for n, m in sizes[:2] for mode in modes],
        call(rng.normal(size=4), rng.normal(size=2)), call([0.5, 1.5, 2.5], rng.normal(size=2)),
        call(rng.normal(size=4), rng.normal(size=2) + 1j),
    ]


@rrule(np.convolve, wrt=("a", "v"), bilinear=(0, 1), domain=lambda rng: [
    *convolution_samples(rng), call(0.7, rng.normal(size=3)), call(rng.normal(size=3), 1.5),
    call(0.7, 1.5),
])
def convolve_rule(a, v, mode="full"):
    """Differentiate ``y[k] = sum(a[n] * v[k - n])``: ``da[n] = sum(dy[k] * conj(v[k - n]))``."""
    y = np.convolve(a, v, mode)

    def convolve_pullback(dy):
        short = min(np.size(a), np.size(v)) - 1
        if mode == "full":
            dfull = dy
        elif mode == "same":
            dfull = np.pad(dy, (short // 2, short - short // 2))
        else:
            dfull = np.pad(dy, short)
        da = np.correlate(dfull, v if np.ndim(v) else np.atleast_1d(v), "valid")
        dv = np.correlate(dfull, a if np.ndim(a) else np.atleast_1d(a), "valid")
        return project(da, a), project(dv, v)

    return y, convolve_pullback


@rrule(np.correlate, wrt=("a", "v"), bilinear=(0, 1), domain=convolution_samples)
def correlate_rule(a: np.ndarray, v: np.ndarray, mode="valid"):
    """Differentiate ``y[k] = sum(a[n + k] * conj(v[n]))``, a convolution with ``conj(v[::-1])``."""
    y = np.correlate(a, v, mode)

    def correlate_pullback(dy):
        short = min(np.size(a), np.size(v)) - 1
        if mode == "full":
            dfull = dy
        elif mode == "same":
            before = short // 2 if np.size(a) >= np.size(v) else (short + 1) // 2
            dfull = np.pad(dy, (before, short - before))
        else:
            dfull = np.pad(dy, short)
        da = np.convolve(dfull, v, "valid")
        dv = np.conj(np.correlate(dfull, a, "valid")[::-1])
        return project(da, a), project(dv, v)

    return y, correlate_pullback
