"""SciPy's functions in forward mode and twice: tangents, and Hessians times vectors."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse

from adcompiler import MissingRuleError, UnsupportedError, grad, jvp

RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 3)) + 4.0 * np.eye(3)
S = A @ A.T
B = RNG.normal(size=3)
SPARSE = scipy.sparse.csr_array(A)
SPLINE = scipy.interpolate.CubicSpline(np.arange(5.0), np.sin(np.arange(5.0)))

BOTH = {
    "solve": (lambda a: scipy.linalg.solve(a, B), A),
    "numpy solve": (lambda a: np.linalg.solve(a, B), A),
    "cholesky": (lambda a: scipy.linalg.cholesky(a, lower=True), S),
    "sqrtm": (lambda a: scipy.linalg.sqrtm(a), S),
    "eigvalsh": (lambda a: scipy.linalg.eigvalsh(a), S),
    "expm": (lambda a: scipy.linalg.expm(0.3 * a), A),
    "expm of several": (lambda a: scipy.linalg.expm(np.stack((0.2 * a, 0.01 * a @ a))), A),
    "expm of complex": (lambda a: scipy.linalg.expm((0.2 + 0.3j) * a), A),
    "logm": (lambda a: scipy.linalg.logm(a), S),
    "fractional power": (lambda a: scipy.linalg.fractional_matrix_power(a, -0.7), S),
    "norm": (lambda a: np.linalg.norm(a, 2) * np.linalg.norm(a, "nuc"), A),
    "rotate": (lambda a: scipy.ndimage.rotate(a, 30.0), A),
    "expm_frechet": (lambda a: scipy.linalg.expm_frechet(0.3 * a, A, compute_expm=False), A),
    "solve_triangular": (lambda a: scipy.linalg.solve_triangular(a, B, lower=True), A),
    "toeplitz": (lambda c: scipy.linalg.toeplitz(c), B),
    "convolve": (lambda x: scipy.signal.convolve(x, B, "same"), B),
    "gaussian_filter": (lambda x: scipy.ndimage.gaussian_filter(x, 0.8), A),
    "sparse product": (lambda x: SPARSE @ x, B),
    "spline": (lambda x: SPLINE(x), np.array([0.4, 1.3, 2.7])),
}
TANGENTS = {
    **BOTH,
    "lfilter": (lambda x: scipy.signal.lfilter([1.0, 0.2], [1.0, 0.3], x), B),
}


def loss_of(f):
    return lambda x: np.sum(np.sin(np.real(f(x))))


@pytest.mark.parametrize("name", TANGENTS)
def test_tangents(name):
    f, x = TANGENTS[name]
    loss, v = loss_of(f), np.random.default_rng(2).normal(size=x.shape)
    _, tangent = jvp(loss, (x,), (v,))
    assert tangent == pytest.approx((loss(x + 1e-6 * v) - loss(x - 1e-6 * v)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("name", BOTH)
def test_hessian_times_vector(name):
    f, x = BOTH[name]
    gradient, v = grad(loss_of(f)), np.random.default_rng(2).normal(size=x.shape)
    found = grad(lambda x: np.sum(gradient(x) * v))(x)
    expected = (gradient(x + 1e-5 * v) - gradient(x - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["lfilter"])
def test_second_derivatives_without_a_rule_are_refused(name):
    f, x = TANGENTS[name]
    gradient = grad(loss_of(f))
    with pytest.raises((MissingRuleError, UnsupportedError), match=r"no rule|no derivative"):
        grad(lambda x: np.sum(gradient(x)))(x)
