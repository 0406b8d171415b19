"""Polynomials, histograms, sets, eigenvalues and other functions of NumPy as programs use them."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev, polynomial

from adcompiler import MissingRuleError, grad, vjp
from tests.lanes import one_in
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25, 1.25])
P = np.array([1.0, -0.5, 0.75])
X = np.array([0.0, 0.3, 0.55, 0.9, 1.4])
M = np.sin(np.arange(9.0)).reshape(3, 3) + np.diag([1.0, 2.0, 3.5])


@programs(V, P)
def algebra_of_polynomials(p, q):
    total = np.polyadd(np.polymul(p, q), np.polysub(p, q))
    quotient, remainder = np.polydiv(total, q)
    return np.sum(quotient**2) + np.sum(np.polyval(remainder, p) * np.polyval(quotient, 0.5))


@programs(V[:4], P)
def leading_zeros(p, q):
    shifted = p * np.array([0.0, 0.0, 1.0, 1.0])
    return np.sum(np.polymul(shifted, q) ** 2) + np.sum(np.trim_zeros(shifted) ** 3)


@programs(V, 0.5)
def calculus_of_polynomials(p, c):
    upper = np.polyint(p, 2, k=[c, 1.0])
    return np.polyval(upper, 1.5) - np.polyval(np.polyder(p), c) + np.sum(np.poly(p))


@programs(X, V)
def fits(x, y):
    coefficients = np.polyfit(x, y, 2, w=1.0 + x)
    return np.sum(coefficients**2) + np.sum(polynomial.polyfit(x, y, 1))


@programs(np.array([1.0, -6.5, 11.0, -6.0]))
def real_roots(p):
    r = np.sort(np.roots(p).real)
    return r[0] * r[2] + r[1]


@programs(np.array([1.0, 0.5, 2.0, 0.75]))
def modulus_of_roots(p):
    return np.sum(np.abs(np.roots(p)) ** 2 * (np.roots(p).imag >= 0.0))


@programs(X, P, M)
def series(x, c, d):
    cheb = chebyshev.chebval(x, c) * np.polynomial.legendre.legval(x, c)
    grid = polynomial.polyval2d(x, 2.0 * x, d)
    more = np.polynomial.hermite.hermval(x, c) + np.polynomial.laguerre.lagval(x, c)
    return np.sum(cheb + grid) + np.sum(more * polynomial.polyval(x, polynomial.polymul(c, c)))


@programs(M)
def spectrum(a):
    w = np.linalg.eigvals(a)
    return np.sum(np.abs(w) ** 2) + np.max(w.real)


@programs(np.array([[0.5, -1.5], [1.25, 0.25]]))
def damping(a):
    w, v = np.linalg.eig(a)
    return np.sum(w.real**2 - w.imag**2) + np.sum(np.abs(v) ** 4 * [[1.0, 2.0], [0.5, 1.5]])


@programs(M)
def attributes_of_eig(a):
    result = np.linalg.eig(a)
    return np.sum(np.abs(result.eigenvectors) ** 3) + np.sum(np.abs(result.eigenvalues))


@programs(M)
def condition_numbers(a):
    return np.linalg.cond(a) + np.linalg.cond(a, 1) + np.linalg.cond(a, "fro")


@programs(M + np.eye(3), V[:3])
def tensor_equations(a, b):
    x = np.linalg.tensorsolve(a.reshape(3, 1, 3), b.reshape(3, 1))
    return np.sum(x**2) + np.sum(np.linalg.tensorinv(a, ind=1) ** 2)


@programs(V, X)
def correlations(x, y):
    table = np.corrcoef(np.stack((x, y, x * y)))
    return table[0, 1] + table[1, 2] ** 2 + np.corrcoef(x, y)[0, 1] * np.cov(x, y)[0, 1]


@programs(np.abs(V), X)
def weighted_covariance(weights, x):
    return np.sum(np.cov(x, x**2, aweights=weights, fweights=[1, 2, 1, 1, 3]) ** 2)


@programs(np.abs(V))
def weighted_histograms(weights):
    counts, edges = np.histogram(X, bins=3, weights=weights)
    shares, _ = np.histogram(X, bins=[0.0, 0.5, 2.0], weights=weights, density=True)
    plane, _, _ = np.histogram2d(X, V, bins=2, weights=weights, density=True)
    return np.sum(counts**2) + np.sum(shares**3) + np.sum(plane**2) + edges[1]


@programs(V)
def density_of_data(x):
    density, edges = np.histogram(x, bins=3, density=True)
    return np.sum(density**2) + edges[1] * edges[2]


@programs(V, X)
def sets(x, y):
    joined = np.union1d(x, y)
    rest = np.setdiff1d(joined, [7.5])
    return np.sum(rest**2 * np.arange(len(rest))) + np.sum(np.setxor1d(x, y + 0.01) ** 3)


IS_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def of_numpy_2(*points):
    """As ``programs``, for those that call what NumPy 1.26 has not."""
    return programs(*points) if IS_2 else lambda function: function


@of_numpy_2(V)
def unique_values(x):
    twice = np.concatenate((x, x))
    result = np.unique_all(twice)
    return np.sum(result.values**2 * result.counts) + np.sum(np.unique(x) ** 2)


@programs(M)
def pads_with_statistics(x):
    a = np.pad(x, 1, mode="maximum")
    b = np.pad(x, ((2, 0), (0, 1)), "median")
    c = np.pad(x[0], (1, 2), mode="minimum", stat_length=2)
    return np.sum(a**2) + np.sum(b**2) + np.sum(c**2) + np.sum(np.pad(x, 1, "empty")[1:-1, 1:-1])


@programs(0.3, V, P)
def interpolates_periodically(t, x, values):
    return np.sum(np.interp(x * t, np.array([0.1, 0.7, 1.6]), values, period=1.25 + t))


@programs(M[:, :2])
def full_singular_vectors(a):
    u, s, vh = np.linalg.svd(a)
    rest = u[:, 2:] @ u[:, 2:].T
    return np.sum(s**3) + np.sum(rest**2 * M) + np.sum((u[:, :2] * s) @ vh * a)


@programs(M[:2])
def rest_of_the_row_space(a):
    vh = np.linalg.svd(a)[2]
    return np.sum((vh[2:].T @ vh[2:]) * M)


UPPER = {"upper": True} if IS_2 else {}


@programs(M)
def hermitian_and_upper(a):
    s = a + a.T
    u = np.linalg.cholesky(s @ s.T + np.eye(3), **UPPER)
    return np.sum(u**2 * M) + np.sum(np.linalg.pinv(s, hermitian=True) * M) + np.sum(
        np.linalg.svd(s, hermitian=True)[1] ** 2)


@of_numpy_2(V, 0.5)
def statistics_with_options(x, m):
    total = np.var(x, correction=1) + np.std(x, mean=np.array([m])) + np.median(
        2.0 * x, overwrite_input=True)
    mean, weight = np.average(x, weights=x**2, returned=True)
    return total + mean * weight + np.nanmax(x, initial=1.0) * m + np.sum(
        np.ediff1d(x, to_begin=m) ** 2)


@programs(V, X)
def derivatives_on_a_grid(f, x):
    return np.sum(np.gradient(f, x, edge_order=2) ** 2) + np.sum(np.gradient(f, x[1]) ** 2)


@pytest.mark.parametrize("case", one_in(2, programs), ids=str)
def test_program(case):
    programs.check(case)


def test_root_of_a_quadratic_equation():
    """``x**2 + b x + c`` has the root ``(-b + sqrt(d)) / 2``, d the discriminant."""
    b, c = -3.0, 1.0
    gradient = grad(lambda p: np.max(np.roots(p)))(np.array([1.0, b, c]))
    root = (-b + np.sqrt(b * b - 4.0 * c)) / 2.0
    np.testing.assert_allclose(gradient, -np.array([root**2, root, 1.0]) / (2.0 * root + b))


def test_repeated_root_has_an_infinite_derivative():
    with np.errstate(all="ignore"):
        gradient = grad(lambda p: np.sum(np.roots(p).real))(np.array([1.0, 0.0, 0.0]))
    assert not np.any(np.isfinite(gradient))


def test_trace_and_determinant_from_eigenvalues():
    np.testing.assert_allclose(
        grad(lambda a: np.sum(np.linalg.eigvals(a)).real)(M), np.eye(3), atol=1e-13)
    det = np.linalg.det(M)
    np.testing.assert_allclose(
        grad(lambda a: np.prod(np.linalg.eig(a)[0]).real)(M), det * np.linalg.inv(M).T, rtol=1e-12)


def test_correlation_of_a_variable_with_itself_is_constant():
    np.testing.assert_allclose(grad(lambda x: np.corrcoef(x, 2.0 * x)[0, 1])(V), 0.0, atol=1e-15)
    np.testing.assert_allclose(grad(lambda x: np.corrcoef(x, x[::-1])[1, 1])(V), 0.0, atol=1e-15)


def test_counts_are_constant():
    assert not np.any(grad(lambda x: np.sum(np.histogram(x, bins=2)[0]) + 0.0 * x[0])(V))
    with pytest.raises(MissingRuleError, match="no derivative with respect to its argument `sample`"):
        vjp(lambda x: np.histogramdd(x, bins=2)[0], M)


def test_a_diagonal_matrix_of_a_list_is_written_into(monkeypatch):
    def of_list(x):
        D = np.diag([x[0], x[1]])
        D[0, 1] = x[2]
        return np.sum(D @ D)

    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    a, b, c = 1.2, 0.7, 1.9
    wanted = np.array([2.0 * a + c, 2.0 * b + c, a + b])
    np.testing.assert_allclose(grad(of_list)(np.array([a, b, c])), wanted, rtol=1e-14)
