"""``argnums=None`` and ``argnums=...``: all arguments."""

import numpy as np
import pytest

from adcompiler import (
    ADError, batched_vjp, fmad, grad, hessian, hessian_sparsity, jacfwd, jacobian,
    jacobian_sparsity, jacrev, jvp, linearize, source, sparse_hessian, sparse_jacobian,
    value_and_grad, vjp,
)


def f(x, y, z=2.0):
    return x * y * y + z * x


@pytest.mark.parametrize("argnums", [None, ...])
def test_all_arguments(argnums):
    assert grad(f, argnums)(3.0, 4.0, 5.0) == (21.0, 24.0, 3.0)
    assert value_and_grad(f, argnums=argnums)(3.0, 4.0, 5.0) == (63.0, (21.0, 24.0, 3.0))

    @grad(argnums=argnums)
    def decorated(x, /, *rest, scale):
        return x * rest[0] * scale

    assert decorated(2.0, 3.0, scale=4.0) == (12.0, (8.0,), 6.0)
    assert grad(lambda x, **k: x * k["y"], argnums=argnums)(2.0, y=3.0) == (3.0,)


@pytest.mark.parametrize("argnums", [None, ...])
def test_jacobians_and_hessians(argnums):
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for operator in (jacobian, jacfwd, jacrev):
        dx, dy = operator(lambda x, y: x * y * y, argnums)(x, y)
        np.testing.assert_array_equal(dx, np.diag(y * y))
        np.testing.assert_array_equal(dy, np.diag(2.0 * x * y))
    rows = hessian(lambda x, y: np.sum(x * y * y), argnums)(x, y)
    np.testing.assert_array_equal(rows[0][1], np.diag(2.0 * y))
    np.testing.assert_array_equal(rows[1][1], np.diag(2.0 * x))


def test_operators_that_are_called_with_the_arguments():
    def product(x, n):
        return x**n

    x = np.array([1.0, 2.0])
    value, (dx, dn) = vjp(product, x, 3, argnums=...)[0], vjp(product, x, 3, argnums=...)[1](x)
    np.testing.assert_array_equal(value, [1.0, 8.0])
    np.testing.assert_allclose((*dx, dn), (3.0, 24.0, 16.0 * np.log(2.0)))
    assert vjp(product, x, 3)[1](x)[1] is None
    _, along = jvp(product, (2.0, 3.0), (1.0, 0.0), argnums=...)
    assert along == 12.0
    assert linearize(product, 2.0, 3.0, argnums=...)[1](1.0, 0.0) == 12.0
    _, pull = batched_vjp(product, 2.0, 3.0, argnums=...)
    np.testing.assert_array_equal(pull(np.ones(2))[0], [12.0, 12.0])


@pytest.mark.parametrize("argnums", [None, ...])
def test_sparse_derivatives_and_patterns(argnums):
    def product(x, y):
        return x * y

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    np.testing.assert_array_equal(
        sparse_jacobian(product, argnums)(x, y).toarray(), [[3.0, 0, 1.0, 0], [0, 4.0, 0, 2.0]])
    dense = sparse_hessian(lambda x, y: np.sum(x * y), argnums)(x, y).toarray()
    np.testing.assert_array_equal(dense, np.roll(np.eye(4), 2, 0))
    assert hessian_sparsity(lambda x, y: np.sum(x * y), x, y, argnums=argnums).nnz == 4
    assert jacobian_sparsity(product, x, y, argnums=...).shape == (2, 4)


class Scaled:
    def __init__(self, k):
        self.k = k

    def product(self, x, y):
        return self.k * x * y


def test_methods():
    assert grad(Scaled(2.0).product, argnums=...)(3.0, 4.0) == (8.0, 6.0)


def test_forward_mode_and_text():
    assert fmad(f, None)(3.0, 4.0, 5.0) == (21.0, 24.0, 3.0)
    assert "return x_bar, y_bar, x" in source(f, 3.0, 4.0, 5.0, argnums=...)


def test_compiled_code_asks_for_them_by_position():
    with pytest.raises(ADError, match="write argnums="):
        grad(lambda x: grad(f, argnums=None)(x, x, x)[0])(1.5)
