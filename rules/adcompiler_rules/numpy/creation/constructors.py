"""Rules of the functions that make arrays from numbers: full, linspace, logspace, arange, ..."""

from __future__ import annotations

import numpy as np
import scipy  # its subpackages are imported when they are first asked for

from adcompiler.rulekit import Call, call, non_differentiable, rrule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.shaping import like


@rrule(np.full, wrt=("fill_value",), linear=(1,), domain=lambda rng: [
    call(3, 1.5), call((2, 3), np.float64(0.5)), call((2, 3), rng.normal(size=3)),
    call((2, 3), rng.normal(size=(2, 1))), call((0, 2), 1.5), call(2, 1.5, np.float64),
    call(2, 1 + 2j),
])
def full_rule(shape, fill_value, dtype=None, order="C"):
    y = np.full(shape, fill_value, dtype, order)

    def full_pullback(dy):
        return project(dy, fill_value)

    return y, full_pullback


@rrule(np.full_like, wrt=("fill_value",), templates=("a",), linear=(1,), domain=lambda rng: [
    call(np.zeros(3), 1.5), call(np.zeros((2, 3)), rng.normal(size=3)),
    call(np.zeros((3, 2)).T, np.float64(0.5), shape=(2, 2)), call(2.5, 1.5),
    call(np.zeros(2), 0.7, np.float64),
])
def full_like_rule(a, fill_value, dtype=None, *, shape=None):
    y = np.full_like(a, fill_value, dtype, shape=shape)

    def full_like_pullback(dy):
        return project(dy, fill_value)

    return y, full_like_pullback


def grid_samples(rng: np.random.Generator) -> list[Call]:
    """Return intervals between positive numbers and arrays, with various numbers of points."""
    low, high = rng.uniform(0.5, 1.0, (2, 3)), rng.uniform(1.5, 2.0, 3)
    return [
        call(0.5, 1.5), call(0.5, 1.5, 4), call(1.5, np.float64(0.3), 5, endpoint=False),
        call(0.5, 1.5, 1), call(0.5, 1.5, 0), call(low, high, 4), call(low, 2.5, 3, axis=-1),
        call(0.7, high, 3, axis=1), call(low[:, :1], high, 2, False), call(1, 2.5, 3),
    ]


@rrule(np.linspace, wrt=("start", "stop"), linear=(0, 1), domain=lambda rng: [
    *grid_samples(rng), call(0.5, 1.5, 4, True, True), call(0.5, 1.5, 3, False, retstep=True),
    call(np.array([0.5, 0.7]), 2.5, 4, retstep=True, axis=-1),
])
def linspace_rule(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """The points are ``(stop - start) / (num - 1)`` apart, or ``/ num`` without the end."""
    out = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)

    def linspace_pullback(dout):
        dy = dout[0] if retstep else dout
        t = np.linspace(0.0, 1.0, num, endpoint, dtype=np.real(dy).dtype)
        dstart = np.tensordot(1.0 - t, dy, (0, axis))
        dstop = np.tensordot(t, dy, (0, axis))
        if retstep:
            parts = num - 1 if endpoint else num
            dstep = dout[1] / parts if parts > 0 else 0.0 * dout[1]
            dstart, dstop = dstart - dstep, dstop + dstep
        return project(dstart, start), project(dstop, stop)

    return out, linspace_pullback


@rrule(np.logspace, wrt=("start", "stop", "base"), domain=lambda rng: [
    *grid_samples(rng), call(0.5, 1.5, 4, True, 2.5), call(0.5, np.array([1.5, 2.0]), 3, base=2.0),
])
def logspace_rule(start, stop, num=50, endpoint=True, base=10.0, *, dtype=None, axis=0):
    y = np.logspace(start, stop, num, endpoint, base, dtype, axis)

    def logspace_pullback(dy):
        t = np.linspace(0.0, 1.0, num, endpoint, dtype=np.real(dy).dtype)
        slope = like(dy * np.conj(np.log(base) * y), dy)
        dstart = np.tensordot(1.0 - t, slope, (0, axis))
        dstop = np.tensordot(t, slope, (0, axis))
        exponents = np.linspace(start, stop, num, endpoint, axis=axis)
        dbase = np.sum(dy * np.conj(exponents * y / base))
        return project(dstart, start), project(dstop, stop), project(dbase, base)

    return y, logspace_pullback


@rrule(np.geomspace, wrt=("start", "stop"), domain=grid_samples)
def geomspace_rule(start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)

    def geomspace_pullback(dy):
        t = np.linspace(0.0, 1.0, num, endpoint, dtype=np.real(dy).dtype)
        slope = dy * np.conj(y)
        dstart = np.tensordot(1.0 - t, slope, (0, axis)) / np.conj(start)
        dstop = np.tensordot(t, slope, (0, axis)) / np.conj(stop)
        return project(dstart, start), project(dstop, stop)

    return y, geomspace_pullback


@rrule(np.arange, wrt=("start", "step"), templates=("stop",), domain=lambda rng: [
    call(0.5, 3.0), call(0.5, 3.1, 0.4), call(3.5), call(2.0, -1.1, np.float64(-0.7)), call(1, 4),
], kink="the number of elements is held fixed, so the end of the range has derivative 0")
def arange_rule(start, stop=None, step=1):
    """Differentiate ``start + step * [0, 1, 2, ...]``."""
    y = np.arange(start) if stop is None else np.arange(start, stop, step)

    def arange_pullback(dy):
        if stop is None:
            dstart, dstep = 0.0, 0.0
        else:
            dstart = np.sum(dy)
            dstep = np.dot(dy, np.arange(len(dy)))
        return project(dstart, start), project(dstep, step)

    return y, arange_pullback


# --- windows --------------------------------------------------------------------------------------


def window_places(M):
    """Return what a Kaiser window of ``M`` points multiplies its parameter by at each of them."""
    middle = (M - 1) / 2.0
    return np.sqrt(1.0 - (np.arange(M) / middle - 1.0) ** 2) if M > 1 else np.ones(max(int(M), 0))


non_differentiable(window_places)


@rrule(np.kaiser, wrt=("beta",), domain=lambda rng: [
    call(3, 2.0), call(4, 0.0), call(1, 1.5), call(7, -0.6), call(0, 1.5),
])
def kaiser_rule(M, beta):
    """A quotient of Bessel functions, of ``beta`` times constants and of ``beta``."""
    y = np.kaiser(M, beta)

    def kaiser_pullback(dy):
        s = window_places(M)
        slope = (s * scipy.special.i1(beta * s) - y * scipy.special.i1(beta)) / np.i0(beta)
        return project(np.sum(dy * slope), beta)

    return y, kaiser_pullback
