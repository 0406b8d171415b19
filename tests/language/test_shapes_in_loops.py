"""Arrays that loops carry keep their shapes where those from in front of the loop are equal.

One check in front of the loop then replaces those in it; where it fails, stretched arrays are
differentiated by the general form.
"""

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.testing import check_grads
from tests.lanes import one_in


def reaction(u, v, n):
    for _ in range(n):
        around = np.roll(u, 1, 0) + np.roll(u, -1, axis=1)
        uvv = u * v * v
        u, v = u + 0.1 * (around - 2.0 * u) - uvv, v + uvv - 0.1 * v
    return np.sum(u * u + v)


def forced(u, force, n):
    for _ in range(n):
        u = u - 0.1 * u * force
        for _ in range(2):
            u = u + 0.1 * force * np.flip(u)
    return np.sum(u * u)


def biased(u, b, n):
    for _ in range(n):
        u = np.tanh(u + b)
    return np.sum(u * u)


def until(u, v, n):
    while n > 0:
        u, v = v * np.sin(u), u
        if n == 2:
            break
        n = n - 1
    return np.sum(u) + np.sum(v * v)


def reshaped(u, v, n):
    for _ in range(n):
        u = u[1:] * v[0]
        v = np.concatenate((v, v[:1]))
    return np.sum(u) * np.sum(v)


def outer(u, v, n):
    w = v
    for _ in range(n):
        w = w * v + u
    return np.sum(w * w)


RNG = np.random.default_rng(7)
A, B = RNG.uniform(0.2, 0.8, (2, 3, 4))
COLUMN, ROW = A[:, :1].copy(), A[:1].copy()


@pytest.mark.parametrize(("function", "one_check"), [
    (reaction, "same_shape(u.shape, v.shape)"), (forced, "same_shape(u.shape, force.shape)"),
    (until, "same_shape(u.shape, v.shape)"),
])
def test_one_check_stands_in_front(function, one_check):
    text = ad.grad(function, (0, 1)).source_for(A, B, 3)
    assert text.count(one_check) == text.count("same_shape(") == 1
    assert "unbroadcast" not in text
    assert ".shape" not in text.replace(one_check, "")


def test_fewer_axes_are_the_last_ones():
    text = ad.grad(biased, (0, 1)).source_for(A, B[0], 3)
    assert text.count("same_extent(u.shape[1], b.shape[0])") == 1
    assert "unbroadcast" not in text


STRETCHED = [
    (A, B), (A, ROW), (COLUMN, A), (ROW, COLUMN), (A, COLUMN), (ROW, A), (A[:0], B[:0]),
    (A.T, B.T), (A, 0.5), (A[:, ::-2], B[:, ::2]), (A[0], B[0]), (A, B[0]), (B[0], A),
]


@pytest.mark.parametrize("function, n, u, v", one_in(5, [
    (function, n, u, v) for function in (reaction, forced, until, outer) for n in (0, 1, 4)
    for u, v in STRETCHED]))
def test_stretched_arrays_too(function, u, v, n):
    if function is reaction and np.ndim(u) < 2:
        return
    check_grads(lambda u, v: function(u, v, n), (u, v), order=1)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_second_order_and_other_shapes_in_each_iteration(n):
    check_grads(lambda u, v: reshaped(u, v, n), (A[0], B[0]), order=2)
    check_grads(lambda u, v: reaction(u, v, n), (A[:2, :2], B[:2, :2]), order=2)
    check_grads(lambda u, b: biased(u, b, n), (A[:2, :3], B[0, :3]), order=2)


def test_the_same_derivative_takes_equal_and_stretched_arrays():
    derivative = ad.grad(forced, (0, 1))
    for u, force in [(A, B), (A, ROW), (COLUMN, B), (A, B)]:
        u_bar, force_bar = derivative(u, force, 2)
        assert u_bar.shape == u.shape and force_bar.shape == force.shape
        wanted = ad.jvp(lambda u, f: forced(u, f, 2), (u, force), (u, force))[1]
        assert np.isclose(np.sum(u_bar * u) + np.sum(force_bar * force), wanted)
