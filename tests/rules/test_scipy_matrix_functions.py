"""Functions of matrices: against SciPy's Frechet derivative, closed forms, Hermitian moves."""

import numpy as np
import pytest
import scipy.linalg

from adcompiler import grad, source, vjp

NILPOTENT = np.array([[0.0, 1.0], [0.0, 0.0]])


def inner(a, b):
    return float(np.sum(np.real(np.conj(a) * b)))


def test_expm_of_a_nilpotent_matrix():
    y, pullback = vjp(scipy.linalg.expm, NILPOTENT)
    assert y.tolist() == [[1.0, 1.0], [0.0, 1.0]]
    # <dy, L(a, i)> for each unit dy: L(a, i) = [[1, 1], [0, 1]]
    found = [[inner(pullback(np.outer(u, v))[0], np.eye(2)) for v in np.eye(2)] for u in np.eye(2)]
    np.testing.assert_allclose(found, [[1.0, 1.0], [0.0, 1.0]], atol=1e-15)


@pytest.mark.parametrize("size", [1e-3, 0.05, 0.2, 0.7, 3.0, 40.0])
@pytest.mark.parametrize("imaginary", [0.0, 1.0])
def test_adjoint_of_expm_is_the_derivative_at_the_adjoint(size, imaginary):
    rng = np.random.default_rng(1)
    a = size * (rng.normal(size=(4, 4)) + 1j * imaginary * rng.normal(size=(4, 4)))
    a = a if imaginary else a.real
    a -= np.max(np.linalg.eigvals(a).real) * np.eye(4)
    dy = rng.normal(size=(4, 4)).astype(a.dtype)
    y, pullback = vjp(scipy.linalg.expm, a)
    np.testing.assert_allclose(y, scipy.linalg.expm(a), rtol=1e-11, atol=1e-13)
    expected = scipy.linalg.expm_frechet(np.conj(a.T), dy, compute_expm=False)
    np.testing.assert_allclose(pullback(dy)[0], expected, rtol=1e-9, atol=1e-12)


def test_expm_of_a_stack_is_that_of_each_matrix():
    a = np.random.default_rng(2).normal(size=(2, 3, 4, 4))
    a *= np.array([0.01, 1.0, 20.0])[:, None, None]
    dy = np.random.default_rng(3).normal(size=a.shape)
    y, pullback = vjp(scipy.linalg.expm, a)
    (da,) = pullback(dy)
    for place in np.ndindex(2, 3):
        one, pull = vjp(scipy.linalg.expm, a[place])
        np.testing.assert_array_equal(y[place], one)
        np.testing.assert_array_equal(da[place], pull(dy[place])[0])


def test_triangular_matrices_of_great_norm_are_not_scaled_too_often():
    a = np.array([[1.0, 1e6], [0.0, -1.0]])
    y, _ = vjp(scipy.linalg.expm, a)
    np.testing.assert_allclose(y, [[np.e, 1e6 * np.sinh(1.0)], [0.0, 1.0 / np.e]], rtol=1e-13)


@pytest.mark.parametrize("a", [np.zeros((0, 0)), np.zeros((0, 3, 3)), np.zeros((2, 0, 0))])
def test_expm_of_nothing(a):
    y, pullback = vjp(scipy.linalg.expm, a)
    assert y.shape == pullback(y)[0].shape == a.shape


def test_nan_passes_through_expm():
    a = np.array([[np.nan, 0.0], [1.0, 2.0]])
    with np.errstate(all="ignore"):
        y, pullback = vjp(scipy.linalg.expm, a)
        assert np.isnan(y).any()
        assert np.isnan(pullback(np.ones((2, 2)))[0]).any()


def test_pade_quantities_are_computed_once():
    text = source(scipy.linalg.expm, NILPOTENT, mode="vjp")
    assert text.count("expm_kept(") == 1
    assert text.count("expm_adjoint(") == 1
    assert "scipy.linalg.expm(" not in text


def test_real_logarithm_of_a_complex_result_has_a_real_gradient():
    a = np.array([[1.0, 0.5], [0.25, -2.0]])  # an eigenvalue is negative: the logarithm is complex

    def f(a):
        return np.sum(np.abs(scipy.linalg.logm(a)) ** 2)

    da = grad(f)(a)
    v = np.array([[0.3, -0.2], [0.7, 0.1]])
    slope = (f(a + 1e-5 * v) - f(a - 1e-5 * v)) / 2e-5
    assert da.dtype == np.float64
    assert inner(da, v) == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("solver", ["solve_continuous_are", "solve_discrete_are"])
@pytest.mark.parametrize("imaginary", [0.0, 1.0])
def test_riccati_equations_move_with_hermitian_weights(solver, imaginary):
    rng = np.random.default_rng(4)

    def normal(*shape):
        return rng.normal(size=shape) + (1j * rng.normal(size=shape) if imaginary else 0.0)

    def hermitian(n):
        a = normal(n, n)
        return a + np.conj(a.T)

    solve = getattr(scipy.linalg, solver)
    weights = [hermitian(3) + 9.0 * np.eye(3), hermitian(2) + 9.0 * np.eye(2)]
    given = [normal(3, 3), normal(3, 2), *weights]
    moves = [normal(3, 3), normal(3, 2), hermitian(3), hermitian(2)]
    y, pullback = vjp(lambda a, b, q, r: solve(a, b, q, r), *given, argnums=(0, 1, 2, 3))
    dy = normal(*y.shape)
    bars = pullback(dy)
    for i, (bar, move) in enumerate(zip(bars, moves, strict=True)):
        ends = []
        for step in (1e-5, -1e-5):
            moved = list(given)
            moved[i] = given[i] + step * move
            ends.append(solve(*moved))
        assert inner(bar, move) == pytest.approx(inner(dy, (ends[0] - ends[1]) / 2e-5), rel=2e-6)
