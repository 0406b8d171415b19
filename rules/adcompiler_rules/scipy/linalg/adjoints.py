"""Rules of the runtime's adjoints for ``scipy.linalg``: for tangents and second derivatives.

An adjoint is linear in the cotangent, and its own adjoint is the derivative that it came from.
"""

import numpy as np
import scipy.linalg

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler_rules.kernels.scipy_expm import expm_adjoint, expm_kept, expm_value
from adcompiler_rules.kernels.scipy_logm import logm_adjoint, power_adjoint
from adcompiler_rules.kernels.scipy_solvers import (
    banded_outer, banded_product, banded_transpose, mirrored, mirrored_adjoint, permutation_of,
    toeplitz_adjoint,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal, positive

non_differentiable(expm_kept)
non_differentiable(permutation_of, typed_as=lambda pivots, rows: np.arange(rows))


def adjoint(a):
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def triangle_samples(rng):
    """Return matrices of which one triangle counts."""
    return [
        call(rng.normal(size=(3, 3)), True, False), call(rng.normal(size=(3, 3)), False, True),
        call(complex_normal(rng, 3, 3), True, True), call(complex_normal(rng, 3, 3), False, False),
    ]


@rrule(mirrored, wrt=("a",), domain=triangle_samples)
def mirrored_rule(a, lower, hermitian):
    def mirrored_pullback(dy):
        return like(mirrored_adjoint(dy, lower, hermitian), a)

    return mirrored(a, lower, hermitian), mirrored_pullback


@rrule(mirrored_adjoint, wrt=("g",), domain=triangle_samples)
def mirrored_adjoint_rule(g, lower, hermitian):
    def mirrored_adjoint_pullback(dy):
        return like(mirrored(dy, lower, hermitian), g)

    return mirrored_adjoint(g, lower, hermitian), mirrored_adjoint_pullback


@rrule(toeplitz_adjoint, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4))), call(complex_normal(rng, 3, 2)),
])
def toeplitz_adjoint_rule(g):
    def toeplitz_adjoint_pullback(dy):
        return like(scipy.linalg.toeplitz(dy[0], dy[1]), g)

    return toeplitz_adjoint(g), toeplitz_adjoint_pullback


@rrule(banded_transpose, wrt=("ab",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(4, 5)), 2, 1), call(complex_normal(rng, 2, 3), 0, 1),
])
def banded_transpose_rule(ab, lower, upper):
    def banded_transpose_pullback(dy):
        return like(banded_transpose(dy, upper, lower), ab)

    return banded_transpose(ab, lower, upper), banded_transpose_pullback


@rrule(banded_outer, wrt=("x", "y"), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=5), rng.normal(size=5), 2, 1),
    call(rng.normal(size=(4, 2)), rng.normal(size=(4, 2)), 0, 2),
    call(complex_normal(rng, 3), complex_normal(rng, 3), 1, 4),
])
def banded_outer_rule(x, y, lower, upper):
    def banded_outer_pullback(g):
        dx = banded_product(g, np.conj(y), lower, upper)
        dy = banded_product(banded_transpose(g, lower, upper), np.conj(x), upper, lower)
        return like(dx, x), like(dy, y)

    return banded_outer(x, y, lower, upper), banded_outer_pullback


@rrule(banded_product, wrt=("ab", "x"), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=(4, 5)), rng.normal(size=5), 2, 1),
    call(complex_normal(rng, 3, 4), complex_normal(rng, 4, 2), 0, 2),
])
def banded_product_rule(ab, x, lower, upper):
    def banded_product_pullback(dy):
        adjoint = np.conj(banded_transpose(ab, lower, upper))
        dab = banded_outer(dy, np.conj(x), lower, upper)
        return like(dab, ab), like(banded_product(adjoint, dy, upper, lower), x)

    return banded_product(ab, x, lower, upper), banded_product_pullback


def beside(a, e):
    """Return the block matrix ``[[a, e], [0, a]]``."""
    above = np.concatenate((a, e), -1)
    return np.concatenate((above, np.concatenate((np.zeros_like(a), a), -1)), -2)


def in_corner(g):
    """Return the block matrix ``[[0, g], [0, 0]]``."""
    return beside(np.zeros_like(g), g)


def of_blocks(moved):
    """Return the cotangents of ``a`` and ``e``, from that of ``beside(adjoint(a), e)``."""
    n = np.shape(moved)[-1] // 2
    both = moved[..., :n, :n] + moved[..., n:, n:]
    return adjoint(both), moved[..., :n, n:]


@rrule(expm_value, wrt=("a",), domain=lambda rng: [
    call(expm_kept(np.eye(3)), rng.normal(size=(3, 3))),
])
def expm_value_rule(kept, a):
    def expm_value_pullback(dy):
        return like(expm_adjoint(kept, a, dy), a)

    return expm_value(kept, a), expm_value_pullback


@rrule(expm_adjoint, wrt=("a", "dy"), domain=lambda rng: [
    call(expm_kept(np.eye(3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))),
    call(expm_kept(np.eye(2)), 4.0 * complex_normal(rng, 2, 2), complex_normal(rng, 2, 2)),
    call(expm_kept(np.eye(3)), rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 3))),
])
def expm_adjoint_rule(kept, a, dy):
    """``L(a, e)`` is the conjugate transpose of ``L(a^H, e^H)``, and a corner of an exponential."""
    def expm_adjoint_pullback(g):
        def a_cotangent():
            both = beside(adjoint(np.asarray(a)), np.asarray(dy))
            moved = expm_adjoint(expm_kept(both), both, in_corner(g))
            return like(of_blocks(moved)[0], a)

        return a_cotangent, like(adjoint(expm_adjoint(kept, a, adjoint(g))), dy)

    return expm_adjoint(kept, a, dy), expm_adjoint_pullback


@rrule(logm_adjoint, wrt=("a", "dy"), domain=lambda rng: [
    call(positive(rng, 3, 3), rng.normal(size=(3, 3))),
    call(positive(rng, 3, 3) + 0.3j, complex_normal(rng, 3, 3)),
])
def logm_adjoint_rule(a, dy):
    def logm_adjoint_pullback(g):
        def a_cotangent():
            both = beside(adjoint(np.asarray(a)), np.asarray(dy))
            return like(of_blocks(logm_adjoint(both, in_corner(g)))[0], a)

        return a_cotangent, like(adjoint(logm_adjoint(a, adjoint(g))), dy)

    return logm_adjoint(a, dy), logm_adjoint_pullback


@rrule(power_adjoint, wrt=("a", "dy"), domain=lambda rng: [
    call(positive(rng, 3, 3), 0.4, rng.normal(size=(3, 3))),
    call(positive(rng, 3, 3) + 0.3j, -1.2, complex_normal(rng, 3, 3)),
])
def power_adjoint_rule(a, t, dy):
    def power_adjoint_pullback(g):
        def a_cotangent():
            both = beside(adjoint(np.asarray(a)), np.asarray(dy))
            return like(of_blocks(power_adjoint(both, np.conj(t), in_corner(g)))[0], a)

        return a_cotangent, like(adjoint(power_adjoint(a, t, adjoint(g))), dy)

    return power_adjoint(a, t, dy), power_adjoint_pullback
