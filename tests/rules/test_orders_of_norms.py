"""Norms as functions of their order."""

import numpy as np
import pytest

from adcompiler import grad, hessian, jvp
from adcompiler.errors import ADError
from tests.rules.agreement import agrees

X = np.array([0.7, -1.3, 2.1, 0.0])
TABLE = np.random.default_rng(0).normal(size=(2, 3, 4))


@pytest.mark.parametrize("p", [3.0, 2.0, 1.0, 1.5, 0.5])
def test_vectors_at_every_order(p):
    agrees(lambda p: np.linalg.norm(X, p), p)
    agrees(lambda p: np.sum(np.linalg.norm(TABLE, p, axis=1, keepdims=True) ** 2), p)
    if hasattr(np.linalg, "vector_norm"):  # NumPy 2
        agrees(lambda p: np.linalg.vector_norm(X, ord=p), p)
        agrees(lambda p: np.sum(np.linalg.vector_norm(TABLE, axis=(0, 2), ord=p) ** 2), p)


def test_negative_orders():
    agrees(lambda p: np.linalg.norm(X[:3], p), -1.5)
    with np.errstate(divide="ignore"):
        assert grad(lambda p: np.linalg.norm(X, p))(-1.5) == 0.0


@pytest.mark.parametrize("p", [3.0, 2.0, 1.0])
def test_order_and_elements_together(p):
    z = np.array([p, 0.7, -1.3, 2.1])
    agrees(lambda z: np.linalg.norm(z[1:], z[0]), z, order=1)
    h = 1e-5

    def f(p, x):
        return np.linalg.norm(x, p)

    blocks = hessian(f, argnums=(0, 1))(p, z[1:])
    slope = grad(f, argnums=1)
    wanted = (slope(p + h, z[1:]) - slope(p - h, z[1:])) / (2 * h)
    np.testing.assert_allclose(blocks[0][1], wanted, atol=1e-8)
    np.testing.assert_allclose(blocks[1][0], wanted, atol=1e-8)


def test_orders_at_which_norms_do_not_move():
    for p in (np.inf, -np.inf, 0.0):
        assert grad(lambda p: np.linalg.norm(X, p))(p) == 0.0
        assert jvp(lambda p: np.linalg.norm(X, p), (p,), (1.0,))[1] == 0.0
        if hasattr(np.linalg, "vector_norm"):  # NumPy 2
            assert jvp(lambda p: np.linalg.vector_norm(X, ord=p), (p,), (1.0,))[1] == 0.0
    assert grad(lambda p: np.linalg.norm(np.zeros(3), p))(3.0) == 0.0
    assert grad(lambda p: np.linalg.norm(np.array([-2.5]), p))(3.0) == 0.0


def test_complex_and_single_precision():
    agrees(lambda p: np.linalg.norm(np.array([1.0 + 2.0j, 0.5j]), p), 3.0)
    single = grad(lambda p: np.linalg.norm(X.astype(np.float32), p))(np.float32(3.0))
    assert single == pytest.approx(grad(lambda p: np.linalg.norm(X, p))(3.0), rel=1e-5)
    assert grad(lambda p: np.linalg.norm(X, p))(3) == grad(lambda p: np.linalg.norm(X, p))(3.0)


def test_norms_of_matrices_have_no_derivative_in_their_order():
    with pytest.raises(ADError, match="no derivative in their order"):
        grad(lambda p: np.linalg.norm(TABLE[0], p))(2.0)
    assert grad(lambda p: np.linalg.norm(TABLE[0], p))(np.inf) == 0.0
