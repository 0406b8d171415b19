"""``argnums=None`` and ``argnums=...``: all arguments."""

import numpy as np
import pytest

from adcompiler import (
    ADError, fmad, grad, hessian, jacfwd, jacobian, jacrev, source, value_and_grad,
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
