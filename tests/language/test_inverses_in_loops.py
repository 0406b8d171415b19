"""``g / y`` is ``g * z`` in a sweep where the loop saves ``z = 1 / y``, and writes into neither."""

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.testing import check_grads

X = np.array([0.3, 0.7, -0.2])


def sigmoids(x, n):
    total = 0.0
    for i in range(n):
        z = 1.0 / (1.0 + np.exp(-x * (i + 1)))
        total = total + np.sum(z * x)
    return total


def written_into(x, n):
    total = 0.0
    for i in range(n):
        t = 1.0 + np.exp(x * (i + 1))
        z = 1.0 / t
        w = x / t
        z[0] = w[1] * 2.0
        total = total + np.sum(z * w * z)
        x = x + 0.1 * z
    return total


def both_written_into(x, n):
    y, total = np.ones_like(x), 0.0
    for _ in range(n):
        t = y + x * x
        z = 1.0 / t
        total = total + np.sum(z * x / t)
        z *= 0.5
        t += z
        y = y + z * t
    return total + np.sum(y)


def where_it_is_large(x, n):
    total = 0.0
    for _ in range(n):
        t = x * x + 0.5
        z = np.divide(1.0, t, out=np.zeros_like(t), where=t > 0.6)
        total = total + np.sum(z * x / t)
    return total


@pytest.mark.parametrize("function", [
    sigmoids, written_into, both_written_into, where_it_is_large])
def test_derivatives_of_all_orders(function):
    check_grads(lambda x: function(x, 3), (X,), order=2)
    np.testing.assert_allclose(
        ad.grad(function)(X, 3), ad.grad(function, backend="record")(X, 3), rtol=1e-13)
    np.testing.assert_allclose(
        ad.jacobian(ad.grad(function))(X, 3), ad.hessian(function)(X, 3), rtol=1e-11, atol=1e-14)


def test_what_is_saved_is_the_inverse():
    text = ad.grad(sigmoids).source_for(X, 3)
    assert " / " in text and " / " not in text.split("# reverse of")[1]
