"""Functions of libraries: what their results depend on, element by element."""

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse as sp
import scipy.sparse.linalg
import scipy.special
import scipy.stats

from adcompiler import UnsupportedError, hessian_sparsity, jacobian_sparsity
from tests.sparsity.check import dense_jacobian, missing, pairs, rows

trapezoid = getattr(np, "trapezoid", None) or np.trapz  # NumPy 1 has the other name

RNG = np.random.default_rng(3)
LOWER = np.tril(RNG.uniform(0.5, 1.5, (4, 4)))
BIDIAGONAL = np.diag(np.full(4, 2.0)) + np.diag(np.ones(3), -1)
BLOCKS = np.kron(np.eye(2), np.array([[2.0, 1.0], [1.0, 3.0]]))
PATH = sp.csc_array(BIDIAGONAL)
STACK = RNG.uniform(0.5, 1.5, (2, 3, 3)) + 3.0 * np.eye(3)
FOUR = np.array([0.3, 1.2, 2.1, 2.9])
UP_TO = [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}]
FROM = [{0, 1, 2, 3}, {1, 2, 3}, {2, 3}, {3}]
PAIRS = [{0, 1}, {0, 1}, {2, 3}, {2, 3}]
NEAR = [{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3}]
EACH = [{0}, {1}, {2}, {3}]


def by_line(count, length):
    """Return the rows of a function each result of which depends on all of its line."""
    return [{i * length + k for k in range(length)} for i in range(count) for _ in range(length)]


LINEAR = {
    "lower": (lambda x: scipy.linalg.solve_triangular(LOWER, x, lower=True), UP_TO),
    "upper": (lambda x: scipy.linalg.solve_triangular(LOWER.T, x), FROM),
    "transposed": (lambda x: scipy.linalg.solve_triangular(LOWER, x, 1, True), FROM),
    "blocks": (lambda x: np.linalg.solve(BLOCKS, x), PAIRS),
    "lower blocks": (
        lambda x: scipy.linalg.solve_triangular(np.tril(BLOCKS), x, lower=True),
        [{0}, {0, 1}, {2}, {2, 3}]),
    "banded": (
        lambda x: scipy.linalg.solve_banded((1, 0), np.array([[2.0] * 4, [1.0] * 3 + [0.0]]), x),
        UP_TO),
    "factored": (lambda x: scipy.linalg.lu_solve(scipy.linalg.lu_factor(BLOCKS), x), PAIRS),
    "cholesky": (lambda x: scipy.linalg.cho_solve(scipy.linalg.cho_factor(BLOCKS), x), PAIRS),
    "sparse": (lambda x: scipy.sparse.linalg.spsolve(PATH, x), UP_TO),
    "filter": (lambda x: scipy.signal.lfilter([0.5, 0.2], [1.0], x), [
        {0}, {0, 1}, {1, 2}, {2, 3}]),
    "recursive filter": (lambda x: scipy.signal.lfilter([0.5], [1.0, -0.3], x), UP_TO),
    "image filter": (lambda x: scipy.ndimage.correlate1d(x, [1.0, -2.0, 1.0], mode="constant"),
                     NEAR),
    "lists": (lambda x: np.stack(np.broadcast_arrays(x[0], x))[0], [{0}] * 4),
    "table": (lambda x: np.interp([0.5, 1.5, 2.5, 1.0], [0.0, 1.0, 2.0, 3.0], x),
              [{0, 1}, {1, 2}, {2, 3}, {1}]),
    "trapezoid": (lambda x: trapezoid(x.reshape(2, 2), axis=1), [{0, 1}, {2, 3}]),
    "block_diag": (lambda x: scipy.linalg.block_diag(x[:2], x[2:]).ravel(), [
        {0}, {1}, set(), set(), set(), set(), {2}, {3}]),
    "toeplitz": (lambda x: scipy.linalg.toeplitz(x)[0], EACH),
    "shift": (lambda x: np.fft.fftshift(x), [{2}, {3}, {0}, {1}]),
    "linspace": (lambda x: np.linspace(x[0], x[3], 3), [{0}, {0, 3}, {3}]),
    "constant matrix": (lambda x: np.einsum("ij,j->i", BIDIAGONAL, x), [
        {0}, {0, 1}, {1, 2}, {2, 3}]),
    "sparse product": (lambda x: PATH @ x, [{0}, {0, 1}, {1, 2}, {2, 3}]),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_functions(name):
    function, expected = LINEAR[name]
    for mode in ("global", "local"):
        assert rows(jacobian_sparsity(function, FOUR, mode=mode)) == expected
    assert rows(hessian_sparsity(lambda x: np.sum(function(x)), FOUR)) == [set()] * 4
    curved = pairs(hessian_sparsity(lambda x: np.sum(function(x) ** 2), FOUR))
    assert curved == {(i, j) for row in expected for i in row for j in row}


SIX = np.arange(1.0, 7.0).reshape(2, 3)
LINES = {
    "fft": (lambda x: np.fft.fft(x, axis=1).real, by_line(2, 3)),
    "fft of columns": (lambda x: np.fft.fft(x, axis=0).real, [
        {j, 3 + j} for _ in range(2) for j in range(3)]),
    "rfft": (lambda x: abs(scipy.fft.rfft(x)), [row for row in ({0, 1, 2}, {3, 4, 5})
                                               for _ in range(2)]),
    "dct": (lambda x: scipy.fft.dct(x), by_line(2, 3)),
    "softmax": (lambda x: scipy.special.softmax(x, axis=1), by_line(2, 3)),
    "logsumexp": (lambda x: scipy.special.logsumexp(x, axis=0), [{0, 3}, {1, 4}, {2, 5}]),
    "quantile": (lambda x: np.quantile(x, 0.3, axis=1), [{0, 1, 2}, {3, 4, 5}]),
    "quantiles": (lambda x: np.quantile(x, [0.2, 0.7], axis=1), [
        {0, 1, 2}, {3, 4, 5}, {0, 1, 2}, {3, 4, 5}]),
    "zscore": (lambda x: scipy.stats.zscore(x, axis=1), by_line(2, 3)),
    "reduce": (lambda x: np.logaddexp.reduce(x, axis=1), [{0, 1, 2}, {3, 4, 5}]),
    "distribution": (lambda x: scipy.stats.norm.cdf(x, scale=x), [{i} for i in range(6)]),
    "distribution of vectors": (
        lambda x: scipy.stats.multivariate_normal.logpdf(x, np.zeros(3), np.diag([1.0, 2.0, 3.0])),
        [set(range(6))] * 2),
    "bessel": (lambda x: scipy.special.jvp(2, x, 2), [{i} for i in range(6)]),
    "running": (lambda x: np.cumsum(x, axis=1), [
        {0}, {0, 1}, {0, 1, 2}, {3}, {3, 4}, {3, 4, 5}]),
}


@pytest.mark.parametrize("name", LINES)
def test_functions_along_axes(name):
    function, expected = LINES[name]
    for mode in ("global", "local"):
        assert rows(jacobian_sparsity(function, SIX, mode=mode)) == expected
    dense = dense_jacobian(function, (SIX,), (0,))
    assert missing(jacobian_sparsity(function, SIX), dense) == []


def test_quantiles_that_are_as_many_as_rows():
    cube = RNG.normal(size=(2, 3, 4))
    pattern = jacobian_sparsity(lambda x: np.quantile(x, [0.2, 0.5], axis=1), cube)
    assert rows(pattern) == [
        {i * 12 + j * 4 + k for j in range(3)} for _ in range(2) for i in range(2)
        for k in range(4)]


STACKED = {
    "inv": np.linalg.inv, "expm": scipy.linalg.expm, "pinv": np.linalg.pinv,
    "solve": lambda a: np.linalg.solve(a, a[..., :1]), "scipy": scipy.linalg.inv,
}
try:
    scipy.linalg.inv(np.stack((np.eye(2), np.eye(2))))
except ValueError:  # SciPy 1.11 takes one matrix
    del STACKED["scipy"]


@pytest.mark.parametrize("name", STACKED)
def test_stacks_of_matrices(name):
    found = rows(jacobian_sparsity(STACKED[name], STACK))
    half = len(found) // 2
    assert found == [set(range(9))] * half + [set(range(9, 18))] * half


def test_systems():
    b = np.array([1.0, 2.0, 3.0, 4.0])

    def lower(a, b):
        return scipy.linalg.solve_triangular(a, b, lower=True)

    triangles = [{4 * i + j for i in range(k + 1) for j in range(i + 1)} for k in range(4)]
    assert rows(jacobian_sparsity(lower, LOWER, b)) == triangles
    both = rows(jacobian_sparsity(lower, LOWER, b, argnums=(0, 1)))
    assert both == [row | {16 + i for i in range(k + 1)} for k, row in enumerate(triangles)]
    pattern = jacobian_sparsity(np.linalg.cholesky, 4.0 * np.eye(3) + 0.1)
    dense = dense_jacobian(np.linalg.cholesky, (4.0 * np.eye(3) + 0.1,), (0,))
    assert missing(pattern, dense) == [] and rows(pattern)[0] == {0} and rows(pattern)[1] == set()
    sides = rows(jacobian_sparsity(
        lambda b: np.linalg.solve(STACK, b), np.ones((2, 3, 1))))
    assert sides == [{0, 1, 2}] * 3 + [{3, 4, 5}] * 3


def test_bilinear_functions():
    def smoothed(x):
        return np.sum(scipy.signal.convolve(x[:3], x[3:]))

    pattern = jacobian_sparsity(lambda x: scipy.signal.convolve(x[:3], x[3:]), np.ones(5))
    assert rows(pattern) == [
        {0, 3}, {0, 1, 3, 4}, {1, 2, 3, 4}, {2, 4}]
    wanted = {(i, j) for i in range(3) for j in (3, 4)}
    assert pairs(hessian_sparsity(smoothed, np.ones(5))) == wanted | {(j, i) for i, j in wanted}


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize(("n", "m"), [(5, 3), (3, 5), (4, 4), (6, 2), (2, 6), (5, 4), (4, 5)])
def test_correlations(mode, n, m):
    def correlated(a, v):
        return np.correlate(a, v, mode)

    a, v = RNG.normal(size=n), RNG.normal(size=m)
    dense = dense_jacobian(correlated, (a, v), (0, 1)) != 0
    for where in ("global", "local"):
        found = jacobian_sparsity(correlated, a, v, argnums=(0, 1), mode=where)
        assert np.array_equal(found.toarray(), dense)


def test_correlations_are_valid_by_default():
    pattern = jacobian_sparsity(lambda a: np.correlate(a, [1.0, 2.0]), np.ones(4))
    assert rows(pattern) == [{0, 1}, {1, 2}, {2, 3}]


@pytest.mark.parametrize("function", [
    np.unique, lambda x: np.union1d(x, x[:2]), lambda x: np.arange(x[0], 3.0),
    lambda x: np.setdiff1d(x, [1.0]),
])
def test_results_as_many_as_values_decide(function):
    with pytest.raises(UnsupportedError, match="how many numbers"):
        jacobian_sparsity(function, np.array([0.5, 1.0, 1.0]))


def test_lists_and_defaults():
    assert rows(jacobian_sparsity(lambda x: np.pad([x[0], x[1]], 1), FOUR)) == [
        set(), {0}, {1}, set()]
    assert rows(jacobian_sparsity(lambda x: np.append(x[:2], []), FOUR)) == [{0}, {1}]
    assert rows(jacobian_sparsity(
        lambda x: np.full_like(np.zeros(2), fill_value=x[1]), FOUR)) == [{1}, {1}]
    if hasattr(np, "unstack"):  # NumPy 2.1
        assert rows(jacobian_sparsity(lambda x: np.unstack(x.reshape(2, 2), axis=1), FOUR)) == [
            {0}, {2}, {1}, {3}]
    limited = jacobian_sparsity(
        lambda x: np.max(x, initial=2.5, where=[True, True, False, True]), FOUR, mode="local")
    assert rows(limited) == [{3}]
