"""Shapes known or checked to be equal: compiling ends, gradients have the shape of arguments."""

import numpy as np
import pytest

from adcompiler import grad

ROWS = np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]])


@pytest.mark.parametrize("mean", [np.array([0.5, -2.0]), np.array([0.5])])
def test_mean_that_is_moved_by_the_mean_of_what_it_is_subtracted_from(mean):
    def spread(X, mean):
        mean = mean + X.mean(axis=0)
        return np.sum((X - mean) ** 2)

    X_bar, mean_bar = grad(spread, argnums=(0, 1))(ROWS, mean)
    # X - X.mean(axis=0) sums to zero, so that only -mean is left of the sum over the rows
    np.testing.assert_allclose(X_bar, 2.0 * (ROWS - ROWS.mean(axis=0)), atol=1e-14)
    wanted = np.full(2, 6.0) * mean
    np.testing.assert_allclose(mean_bar, wanted if mean.size == 2 else [wanted.sum()])


@pytest.mark.parametrize("c", [np.array([1.0, 2.0, 3.0]), np.array([2.0])])
def test_array_without_a_column_times_itself(c):
    def product(X, c):
        Z = X - c[:, None]
        return np.sum(Z * X)

    X_bar, c_bar = grad(product, argnums=(0, 1))(ROWS, c)
    np.testing.assert_allclose(X_bar, 2.0 * ROWS - c[:, None])
    wanted = -ROWS.sum(axis=1)
    np.testing.assert_allclose(c_bar, wanted if c.size == 3 else [wanted.sum()])


def test_rest_of_an_array_that_is_stretched_over_it():
    def product(x):
        return np.sum(x[1:] * x)

    # of two elements: x1 * x0 + x1 * x1
    np.testing.assert_allclose(grad(product)(np.array([3.0, 5.0])), [5.0, 3.0 + 10.0])


@pytest.mark.parametrize("axis", [0, 1])
def test_part_of_an_array_beside_a_mean_that_is_stretched(axis):
    def f(X):
        mean = X.mean(axis=axis, keepdims=True)
        return np.sum(mean * mean) + np.sum(X[1:])

    wanted = np.broadcast_to(ROWS.mean(axis=axis, keepdims=True) * 2.0 / ROWS.shape[axis], (3, 2))
    np.testing.assert_allclose(grad(f)(ROWS), wanted + [[0.0], [1.0], [1.0]])
