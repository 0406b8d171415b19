"""Branches that compute the same numbers are computed once, unless a write comes between them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adcompiler import grad, jvp, source


def angle(y, x):
    return math.atan2(y, x) * 3.0


def read_twice(x, c):
    first = x[0] * x[0] if c > 0.0 else x[1]
    second = x[0] * x[0] if c > 0.0 else x[1]
    return first * second


def read_before_and_after(x, c):
    y = x * 1.0
    first = y[0] * y[0] if c > 0.0 else y[1]
    y[0] = 3.0 * y[2]
    y[1] = y[2] * y[2]
    second = y[0] * y[0] if c > 0.0 else y[1]
    return first * second


def other_arms(x, c):
    first = x[0] * x[0] if c > 0.0 else x[1]
    second = x[1] if c > 0.0 else x[0] * x[0]
    third = x[0] * x[1] if c > 0.0 else x[1]
    return first * second * third


def arrays_that_are_written(x, c):
    first = x * 2.0 if c > 0.0 else x * 3.0
    second = x * 2.0 if c > 0.0 else x * 3.0
    first[0] = 5.0 * x[1]
    return np.sum(first * second)


def types_that_differ(x, c):
    first = 1 if c > 0.0 else 2
    second = 1.0 if c > 0.0 else 2.0
    return x[0] / (first // 2 + second)


def nested(x, c):
    total = 0.0
    for k in range(3):
        total = total + ((x[k] if x[k] > 0.0 else -x[k]) if c > 0.0 else x[0])
        total = total * ((x[k] if x[k] > 0.0 else -x[k]) if c > 0.0 else x[0])
    return total


def inner_results_that_differ(x, c):
    if c > 0.0:
        if x[0] > 0.0:
            a, b, d = x[0], x[1], x[2]
        else:
            a, b, d = x[1], x[2], x[0]
        e = a * b
        first = e + d * d
    else:
        first = x[0]
    if c > 0.0:
        if x[0] > 0.0:
            a, b, d = x[0], x[1], x[2]
        else:
            a, b, d = x[1], x[2], x[0]
        e = a * b
        second = e + e * e
    else:
        second = x[0]
    return first * second


def test_partials_of_an_angle_share_what_they_compute():
    text = source(angle, 1.0, 2.0, argnums=(0, 1))
    assert text.count("math.hypot(") == 1
    assert text.count("if ") == 1
    assert grad(angle, argnums=(0, 1))(3.0, 4.0) == pytest.approx((0.48, -0.36), rel=1e-15)
    assert grad(angle, argnums=(0, 1))(0.0, 0.0) == (0.0, 0.0)


PROGRAMS = [
    read_twice, read_before_and_after, other_arms, arrays_that_are_written, types_that_differ,
    nested, inner_results_that_differ,
]


@pytest.mark.parametrize("c", [1.0, -1.0])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_differs_is_computed_apart(f, c):
    x, h = np.array([0.7, -1.3, 0.4]), 1e-5
    steps = np.eye(3) * h
    wanted = [(8.0 * (f(x + d, c) - f(x - d, c)) - f(x + 2 * d, c) + f(x - 2 * d, c)) / (12 * h)
              for d in steps]
    np.testing.assert_allclose(grad(f)(x, c), wanted, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (x, c), (np.arange(3.0), 0.0))[1],
                               np.dot(wanted, np.arange(3.0)), rtol=1e-8, atol=1e-9)


def test_equal_reads_are_one():
    assert source(read_twice, np.ones(3), 1.0, argnums=0).count("if c > 0.0:\n") == 1
