"""Rules of the runtime's adjoints for SciPy's filters: for tangents and second derivatives.

An adjoint is linear in the cotangent, and its own adjoint is the filter that it came from.
"""

import numpy as np
import scipy.signal

from adcompiler.rulekit import call, rrule
from adcompiler.runtime.scipy_signal import (
    in_full, lfilter_adjoints, lfilter_tangent, part_of_full, turned,
)
from adcompiler.runtime.shaping import like
from adcompiler_rules.scipy_samples import complex_normal

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
