"""Rules for SciPy's functions of matrices.

The derivative ``L(a, e)`` of a function of a matrix, its Frechet derivative, has the adjoint
``L(a^H, .)`` (N. J. Higham, Functions of Matrices, 2008, chapter 3). Where there is no formula of
its own it is the corner of ``f([[a, e], [0, a]]) = [[f(a), L(a, e)], [0, f(a)]]`` (R. Mathias,
A chain rule for matrix functions and applications, 1996).
"""

import numpy as np
import scipy.linalg

from adcompiler.rulekit import call, frule, rrule
from adcompiler_rules.kernels.scipy_expm import expm_adjoint, expm_kept, expm_value
from adcompiler_rules.kernels.scipy_logm import logarithm, logm_adjoint, power_adjoint
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import BATCHES, complex_normal, positive, regular


def beside(a, e):
    """Return the block matrix ``[[a, e], [0, a]]``."""
    above = np.concatenate((a, e), -1)
    return np.concatenate((above, np.concatenate((np.zeros_like(a), a), -1)), -2)


def corner(blocks, n):
    """Return the upper right block of ``n`` rows."""
    return blocks[..., :n, n:]


def adjoint(a):
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


@rrule(scipy.linalg.expm, primal_note="keeps a Pade approximant of a degree of its own choice",
       domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(0.001 * rng.normal(size=(3, 3))),
    call(0.1 * rng.normal(size=(2, 2))),
    call(0.3 * rng.normal(size=(4, 4))),
    call(12.0 * rng.normal(size=(3, 3))),
    call(complex_normal(rng, 3, 3)),
    call(np.triu(rng.normal(size=(3, 3)), 1)),
    call(rng.normal(size=(2, 3, 3))),
    call(np.zeros((2, 2))),
    call(rng.normal(size=(1, 1))),
    call(rng.normal(size=(3, 3)).T),
    call([[0.5, 1.5], [2.5, 0.5]]),
])
def expm(A):
    if np.ndim(A) < 2:
        raise NotImplementedError("scipy.linalg.expm has a rule for matrices")
    kept = expm_kept(A)
    y = expm_value(kept, A)

    def expm_pullback(dy):
        return like(expm_adjoint(kept, A, dy), A)

    return y, expm_pullback


@rrule(scipy.linalg.expm_frechet, wrt=("A", "E"), domain=lambda rng: [
    call(rng.normal(size=(3, 3)), rng.normal(size=(3, 3))),
    call(complex_normal(rng, 2, 2), rng.normal(size=(2, 2)), compute_expm=False),
])
def expm_frechet(A: np.ndarray, E: np.ndarray, method=None, compute_expm=True, check_finite=True):
    """It is a block of an exponential, of which the derivative is known."""
    y = scipy.linalg.expm_frechet(A, E, method, compute_expm, check_finite)

    def expm_frechet_pullback(dy):
        de = dy[1] if compute_expm else dy
        first = dy[0] if compute_expm else np.zeros_like(de)
        above = np.concatenate((first, de), -1)
        both = beside(np.asarray(A), np.asarray(E))
        moved = expm_adjoint(
            expm_kept(both), both, np.concatenate((above, np.zeros_like(above)), -2)
        )
        n = np.shape(A)[0]
        return like(moved[:n, :n] + moved[n:, n:], A), like(moved[:n, n:], E)

    return y, expm_frechet_pullback


ESTIMATES = "draws random vectors where it estimates norms"


@rrule(scipy.linalg.logm, wrt=("A",), primal_note=ESTIMATES, domain=lambda rng: [
    call(positive(rng, 3, 3)),
    call(regular(rng, 3, 3) + 2.0 * np.eye(3)),
    call(regular(rng, 3, 3) + 2.0 * np.eye(3) + 1j * rng.normal(size=(3, 3))),
])
def logm(A: np.ndarray):
    if np.ndim(A) != 2:
        raise NotImplementedError("scipy.linalg.logm has a rule for single matrices")
    y = scipy.linalg.logm(A)

    def logm_pullback(dy):
        return like(logm_adjoint(A, dy), A)

    return y, logm_pullback


@rrule(scipy.linalg.sqrtm, wrt=("A",), kink="infinite where a singular value is zero",
       domain=lambda rng: [
    call(positive(rng, 3, 3)),
    call(regular(rng, 3, 3) + 2.0 * np.eye(3)),
    call(regular(rng, 3, 3) + 2.0 * np.eye(3) + 1j * rng.normal(size=(3, 3))),
])
def sqrtm(A):
    """``y y = a`` moves as ``dy y + y dy = da``, a Sylvester equation."""
    if np.ndim(A) != 2:
        raise NotImplementedError("scipy.linalg.sqrtm has a rule for single matrices")
    y = scipy.linalg.sqrtm(A)

    def sqrtm_pullback(dy):
        yH = adjoint(y)
        return like(scipy.linalg.solve_sylvester(yH, yH, dy), A)

    return y, sqrtm_pullback


@rrule(scipy.linalg.fractional_matrix_power, wrt=("A", "t"), primal_note=ESTIMATES,
       domain=lambda rng: [
    call(positive(rng, 3, 3), 0.3),
    call(regular(rng, 3, 3) + 2.0 * np.eye(3), -1.4),
    call(regular(rng, 2, 2) + 2.0 * np.eye(2) + 1j * rng.normal(size=(2, 2)), 0.5),
])
def fractional_matrix_power(A: np.ndarray, t):
    """With respect to the exponent the derivative is ``log(a) a^t``."""
    if np.ndim(A) != 2:
        raise NotImplementedError(
            "scipy.linalg.fractional_matrix_power has a rule for single matrices"
        )
    y = scipy.linalg.fractional_matrix_power(A, t)

    def fractional_matrix_power_pullback(dy):
        dA = power_adjoint(A, t, dy)
        dt = np.sum(np.conj(logarithm(A) @ y) * dy)
        return like(dA, A), like(dt, t)

    return y, fractional_matrix_power_pullback


@rrule(scipy.linalg.signm, wrt=("A",), kink="the signs of the eigenvalues are taken as constant",
       domain=lambda rng: [
    call(np.diag([2.5, -1.5, 3.5]) + 0.3 * rng.normal(size=(3, 3))),
])
def signm(A: np.ndarray):
    """``n dy + dy n = da - y da y`` with ``n = a y`` (Higham 2008, theorem 5.3)."""
    if np.ndim(A) != 2:
        raise NotImplementedError("scipy.linalg.signm has a rule for single matrices")
    y = scipy.linalg.signm(A)

    def signm_pullback(dy):
        yH = adjoint(y)
        nH = adjoint(A @ y)
        z = scipy.linalg.solve_sylvester(nH, nH, dy)
        return like(z - yH @ z @ yH, A)

    return y, signm_pullback


def samples_of_entire(rng):
    """Return matrices for functions that are smooth everywhere."""
    return [
        call(rng.normal(size=(3, 3))),
        call(0.5 * complex_normal(rng, 2, 2)),
        *([call(rng.normal(size=(2, 3, 3)))] if BATCHES else []),
    ]


def samples_near_zero(rng):
    """Return matrices for functions with poles."""
    return [call(0.4 * rng.normal(size=(3, 3)))]


def analytic(function, domain):
    """Register the rules of a power series with real coefficients."""

    @rrule(function, domain=domain)
    def rule(A: np.ndarray):
        y = function(A)

        def analytic_pullback(dy):
            both = beside(adjoint(A), dy)
            return like(corner(function(both), np.shape(A)[-1]), A)

        return y, analytic_pullback

    @frule(function)
    def forward(primals, tangents):
        n = np.shape(primals[0])[-1]
        y = function(primals[0])
        both = function(beside(np.asarray(primals[0]), np.asarray(tangents[0])))
        return y, like(corner(both, n), primals[0])


for entire in (scipy.linalg.sinm, scipy.linalg.cosm, scipy.linalg.sinhm, scipy.linalg.coshm):
    analytic(entire, samples_of_entire)
for meromorphic in (scipy.linalg.tanm, scipy.linalg.tanhm):
    analytic(meromorphic, samples_near_zero)
