"""Cotangents of ``x[:, None]`` are those of ``x`` without the axis, whatever made them."""

import numpy as np
import pytest

import adcompiler as ad
from adcompiler import rrule
from adcompiler.testing import check_grads

X, Y = np.array([0.3, 0.7]), np.arange(6.0).reshape(2, 3) / 4.0


def weighted(v, h):
    return np.sum(v[..., 0] * np.sum(h, axis=1))


def scaled(x, h):
    return weighted(x[:, None], h)


def test_a_sum_that_keeps_no_axis_is_not_taken_for_one_that_does():
    @rrule(weighted)
    def weighted_rule(v, h):
        def weighted_pullback(dy):
            wide = dy * np.broadcast_to(np.reshape(h, (2, 3, 1)), (2, 3, 1))
            return np.sum(wide, axis=1, keepdims=False), dy * np.broadcast_to(v, (2, 3))

        return weighted(v, h), weighted_pullback

    try:
        np.testing.assert_allclose(ad.grad(scaled)(X, Y), np.sum(Y, axis=1), rtol=1e-14)
    finally:
        ad.rulekit.REGISTRY.remove(weighted)


def written_afterwards(x, y):
    v = x[:, None]
    z = y[0]
    w = v + y
    return w[0, 0] * 2.0 + w[1, 1] ** 2 + np.sum(z**3)


def in_a_loop(x, y):
    total = 0.0
    for i in range(2):
        w = x[:, None] * y + x[None][:, i, None]
        total = total + w[i, 1] ** 2 + np.sum(np.sin(y[i]))
    return total


def all_of_it(x, y):
    return np.sum(x[:] * x[...] * x[None, :, None][0, :, 0]) * y[..., None][1, 2, 0]


@pytest.mark.parametrize("function", [
    scaled, written_afterwards, in_a_loop, all_of_it,
])
def test_axes_that_are_put_in_are_taken_out(function):
    check_grads(function, (X, Y), order=2)
    for one, other in zip(
        ad.grad(function, (0, 1))(X, Y), ad.grad(function, (0, 1), backend="record")(X, Y),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-14)
    jacobian = ad.jacobian(lambda x: ad.grad(function)(x, Y))(X)
    np.testing.assert_allclose(jacobian, ad.hessian(function)(X, Y), rtol=1e-12)


def test_the_gradient_is_nobody_elses():
    seed = np.ones((2, 1))
    _, pullback = ad.vjp(lambda x: x[:, None], X)
    (gradient,) = pullback(seed)
    gradient[:] = 7.0
    np.testing.assert_array_equal(seed, 1.0)
    _, pullback = ad.vjp(lambda x: x[:], X)
    seed = np.ones(2)
    (gradient,) = pullback(seed)
    gradient[:] = 7.0
    np.testing.assert_array_equal(seed, 1.0)
