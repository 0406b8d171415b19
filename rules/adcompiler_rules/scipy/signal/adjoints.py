"""Rules of the runtime's adjoints for SciPy's filters: for tangents and second derivatives.

An adjoint is linear in the cotangent, and its own adjoint is the filter that it came from.
"""

import numpy as np
import scipy.signal

from adcompiler.rulekit import call, rrule
from adcompiler_rules.kernels.scipy_signal import (
    filtfilt_adjoint, in_full, lfilter_adjoints, lfilter_tangent, part_of_full, planar_adjoints,
    planar_product, sosfilt_adjoints, sosfilt_tangent, turned, upfirdn_adjoints,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal

SOS = np.array([[2.0, 1.0, -1.0, 1.0, 0.3, 0.1], [1.0, 0.5, 2.0, 1.0, -0.4, 0.2]])
B, A = np.array([0.5, 0.3, -0.2]), np.array([1.5, -0.4, 0.3])


@rrule(in_full, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6), (4,), (3,), "full", (0,)),
    call(rng.normal(size=(4, 2)), (4, 2), (3, 2), "same", (0, 1)),
    call(rng.normal(size=(4, 2)), (4, 2), (2, 2), "later", (0,)),
    call(complex_normal(rng, 3), (5,), (3,), "valid", (0,)),
])
def in_full_rule(g, shape, other, mode, axes):
    def in_full_pullback(dy):
        return like(part_of_full(dy, shape, other, mode, axes), g)

    return in_full(g, shape, other, mode, axes), in_full_pullback


@rrule(part_of_full, wrt=("full",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6), (4,), (3,), "full", (0,)),
    call(rng.normal(size=(6, 3)), (4, 2), (3, 2), "same", (0, 1)),
    call(complex_normal(rng, 7), (5,), (3,), "valid", (0,)),
])
def part_of_full_rule(full, shape, other, mode, axes):
    def part_of_full_pullback(dy):
        return like(in_full(dy, shape, other, mode, axes), full)

    return part_of_full(full, shape, other, mode, axes), part_of_full_pullback


@rrule(turned, wrt=("x",), domain=lambda rng: [
    call(rng.normal(size=4), None), call(complex_normal(rng, 2, 3), (1,)),
])
def turned_rule(x, axes):
    def turned_pullback(dy):
        return like(turned(dy, axes), x)

    return turned(x, axes), turned_pullback


@rrule(lfilter_adjoints, wrt=("gy", "gz"), domain=lambda rng: [
    call(rng.normal(size=5), None, B, A, x := rng.normal(size=5), -1, None,
         scipy.signal.lfilter(B, A, x)),
    call(rng.normal(size=5), rng.normal(size=2), B, A, x, -1, rng.normal(size=2),
         scipy.signal.lfilter(B, A, x)),
    call(rng.normal(size=(1, 2)), rng.normal(size=(2, 2)), B, A, np.ones((1, 2)), 0,
         np.zeros((2, 2)), np.ones((1, 2))),
])
def lfilter_adjoints_rule(gy, gz, b, a, x, axis, zi, y):
    value = lfilter_adjoints(gy, gz, b, a, x, axis, zi, y)

    def lfilter_adjoints_pullback(dots):
        state = None if zi is None else dots[3]
        y_dot, zf_dot = lfilter_tangent(dots[0], dots[1], dots[2], state, b, a, x, axis, y)
        return like(y_dot, gy), None if gz is None else like(zf_dot, gz)

    return value, lfilter_adjoints_pullback


@rrule(sosfilt_adjoints, wrt=("gy", "gz"), domain=lambda rng: [
    call(rng.normal(size=5), None, SOS, rng.normal(size=5), -1, None),
    call(rng.normal(size=(4, 1)), rng.normal(size=(2, 2, 1)), SOS, rng.normal(size=(4, 1)), 0,
         rng.normal(size=(2, 2, 1))),
])
def sosfilt_adjoints_rule(gy, gz, sos, x, axis, zi):
    value = sosfilt_adjoints(gy, gz, sos, x, axis, zi)

    def sosfilt_adjoints_pullback(dots):
        state = None if zi is None else dots[2]
        y_dot, zf_dot = sosfilt_tangent(dots[0], dots[1], state, sos, x, axis, zi)
        return like(y_dot, gy), None if gz is None else like(zf_dot, gz)

    return value, sosfilt_adjoints_pullback


@rrule(filtfilt_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=8), B, A, 8, -1, "odd", 3),
    call(rng.normal(size=(6, 2)), B, A, 6, 0, "even", 2),
    call(complex_normal(rng, 6), B, A, 6, 0, None, 0),
])
def filtfilt_adjoint_rule(g, b, a, n, axis, padtype, edge):
    def filtfilt_adjoint_pullback(dx):
        return like(scipy.signal.filtfilt(b, a, dx, axis, padtype, edge), g)

    return filtfilt_adjoint(g, b, a, n, axis, padtype, edge), filtfilt_adjoint_pullback


@rrule(upfirdn_adjoints, wrt=("g", "h", "x"), domain=lambda rng: [
    call(rng.normal(size=6), rng.normal(size=4), rng.normal(size=5), 2, 2, -1),
    call(rng.normal(size=(2, 7)), rng.normal(size=3), rng.normal(size=(2, 5)), 1, 1, 1),
    call(complex_normal(rng, 3), complex_normal(rng, 3), complex_normal(rng, 4), 1, 2, 0),
])
def upfirdn_adjoints_rule(g, h, x, up, down, axis):
    """The cotangents of a product."""
    def upfirdn_adjoints_pullback(dots):
        dh, dx = dots[0], dots[1]
        dg = scipy.signal.upfirdn(dh, x, up, down, axis)
        dg = dg + scipy.signal.upfirdn(h, dx, up, down, axis)
        moved_h, _ = upfirdn_adjoints(g, h, dx, up, down, axis)
        _, moved_x = upfirdn_adjoints(g, dh, x, up, down, axis)
        return like(dg, g), like(moved_h, h), like(moved_x, x)

    return upfirdn_adjoints(g, h, x, up, down, axis), upfirdn_adjoints_pullback


@rrule(planar_adjoints, wrt=("g", "x", "kernel"), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(2, 2)), "same", "symm",
         0),
    call(rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(2, 2)), "later",
         "fill", 0.5),
    call(rng.normal(size=(2, 3)), rng.normal(size=(2, 2)), rng.normal(size=(3, 4)), "valid",
         "wrap", 0),
    call(complex_normal(rng, 3, 4), complex_normal(rng, 2, 3), complex_normal(rng, 2, 2), "full",
         "wrap", 0),
])
def planar_adjoints_rule(g, x, kernel, mode, boundary, fill):
    """The cotangents of a product; ``fill`` stands around ``x``, and does not move."""
    def planar_adjoints_pullback(dots):
        dx, dk = dots[0], dots[1]
        dg = planar_product(dx, kernel, mode, boundary, 0)
        dg = dg + planar_product(x, dk, mode, boundary, fill)
        moved_x, _ = planar_adjoints(g, x, dk, mode, boundary, fill)
        _, moved_k = planar_adjoints(g, dx, kernel, mode, boundary, 0)
        return like(dg, g), like(moved_x, x), like(moved_k, kernel)

    return planar_adjoints(g, x, kernel, mode, boundary, fill), planar_adjoints_pullback


@rrule(planar_product, wrt=("x", "kernel"), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), rng.normal(size=(2, 2)), "later", "symm", 0),
    call(rng.normal(size=(2, 2)), rng.normal(size=(3, 4)), "valid", "wrap", 0),
    call(complex_normal(rng, 2, 3), complex_normal(rng, 2, 2), "full", "fill", 0.5),
])
def planar_product_rule(x, kernel, mode, boundary, fill):
    def planar_product_pullback(dy):
        dx, dk = planar_adjoints(dy, x, kernel, mode, boundary, fill)
        return like(dx, x), like(dk, kernel)

    return planar_product(x, kernel, mode, boundary, fill), planar_product_pullback
