"""Least squares without negative numbers."""

import numpy as np
import pytest
from scipy import optimize

from adcompiler import grad, hessian, jacfwd, jacobian, value_and_grad

A = np.array([[1.0, 0.2, -0.5], [0.3, 1.0, 0.4], [0.5, -0.5, 1.0], [0.1, 0.7, 0.2]])
B = np.array([1.0, 0.8, -0.6, 0.5])


def solution(A, b):
    return optimize.nnls(A, b)[0]


def test_the_solution_moves_with_what_is_free():
    x = solution(A, B)
    free = x > 0.0
    assert free.tolist() == [True, True, False]
    expected = np.zeros((3, 4))
    expected[free] = np.linalg.pinv(A[:, free])
    for transform in (jacobian, jacfwd):
        np.testing.assert_allclose(transform(solution, argnums=1)(A, B), expected, atol=1e-12)


def test_the_matrix_and_the_residual():
    def f(A, b):
        x, norm = optimize.nnls(A, b)
        return np.sum(np.sin(x)) + norm**2

    value, (A_bar, b_bar) = value_and_grad(f, argnums=(0, 1), fallback="refuse")(A, B)
    assert value == pytest.approx(f(A, B), rel=1e-14)
    rng = np.random.default_rng(0)
    dA, db, h = rng.normal(size=A.shape), rng.normal(size=4), 1e-6
    along = (f(A + h * dA, B + h * db) - f(A - h * dA, B - h * db)) / (2 * h)
    assert np.sum(A_bar * dA) + b_bar @ db == pytest.approx(along, rel=1e-7)
    second = hessian(lambda b: np.sum(solution(A, b) ** 3))(B)
    differences = np.stack([
        (grad(lambda b: np.sum(solution(A, b) ** 3))(B + 1e-6 * e)
         - grad(lambda b: np.sum(solution(A, b) ** 3))(B - 1e-6 * e)) / 2e-6 for e in np.eye(4)])
    np.testing.assert_allclose(second, differences, atol=1e-7)


def test_all_at_the_bound():
    bar = grad(lambda b: np.sum(solution(np.abs(A), b)))(-np.abs(B))
    np.testing.assert_array_equal(bar, np.zeros(4))


def test_a_solution_that_only_touches_the_bound_is_refused():
    b = A[:, :2] @ np.array([0.5, 0.25])  # of which the residual is 0, and every slope with it
    with pytest.raises(ValueError, match="whether it stays 0 is not determined"):
        grad(lambda b: np.sum(solution(A, b)))(b)
    twice = A[:, [0, 1, 0]]
    with pytest.raises(ValueError, match="not determined"):
        grad(lambda b: np.sum(solution(twice, b)))(B)
