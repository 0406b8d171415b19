"""Values whose cotangents are one object: what is added to one must not appear in the other."""

import math

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])


@programs(V)
def sum_of_two(v):
    y, z = v * 2.0, v * 3.0
    a, b = y[0], z[1]
    x = y + z
    return np.sum(x * x) + np.sum(x**3) + a * b


@programs(V, np.array([1.0, 2.0, 3.0]))
def sum_of_arguments(y, z):
    x = y + z
    return np.sum(x * x) + np.sum(x**3) + y[0] * z[1] * y[2]


@programs(V)
def through_reshape(v):
    y = v * 2.0
    z = y.reshape(3, 1)
    x = z.reshape(3)
    return np.sum(x * x) + x[1] ** 2 + z[0, 0] * y[2] + y[1] * y[0]


@programs(V)
def in_a_loop(v):
    y, z = v * 2.0, v * 3.0
    total = 0.0
    for i in range(3):
        x = y + z
        total = total + x[i] * y[i] + z[0] * np.sum(x)
        y, z = z * 0.5, x
    return total * y[0] * z[1]


@programs(V, True)
@programs(V, False)
def in_a_branch(v, flag):
    y = v * 2.0
    z = v * 3.0
    if flag:
        x = y + z
        y = x
    else:
        x = y
    return np.sum(x * x) * y[0] + x[1] * y[2] * z[0]


@programs(V, True)
@programs(V, False)
def read_in_one_arm(v, flag):
    y, z = v * 2.0, v * 3.0
    first = y[1] * 3.0
    second = y[0] * 5.0 if flag else 0.0
    x = y + z
    return np.sum(x * x) + first + second + z[2]


@programs(V, True)
@programs(V, False)
def read_in_one_arm_of_a_region(v, flag):
    y, z = v * 2.0, v * 3.0
    first = y[1] * 3.0
    try:
        second = y[0] * 5.0 if flag else math.sqrt(-1.0)
    except ValueError:
        second = 0.0
    x = y + z
    return np.sum(x * x) + first + second + z[2]


@programs([V, V + 1.0])
def lists_of_arrays(xs):
    a, b = xs
    c = a + b
    return np.sum(c * c) + np.sum(c) * xs[0][1] * xs[1][2] + a[0] * b[0]


@programs(V)
def same_array_twice_in_a_container(v):
    y = v * 2.0
    pair = [y, y]
    return np.sum(pair[0] * pair[1]) + pair[0][0] * pair[1][1] + y[2]


@programs(V)
def container_read_twice(v):
    table = {"a": v, "b": v * 2.0}
    x = table["a"] + table["b"]
    return np.sum(x**2) + table["a"][0] * table["b"][0] + np.sum(x) * x[1]


@programs(V)
def through_a_helper(v):
    def halves(y):
        return y * 0.5 + y, y

    p, q = halves(v)
    return p[0] * q[1] + np.sum(p + q) * np.sum((p + q) ** 2)


@programs(V)
def carried_unchanged(v):
    y = v
    z = v
    total = 0.0
    for i in range(3):
        total = total + y[i] * z[0]
        if i == 1:
            z = y
    return total + np.sum(y + z) ** 2


@programs(V)
def nested_loops(v):
    y = v * 1.0
    total = 0.0
    for i in range(2):
        for j in range(3):
            total = total + y[j] * v[i]
        y = y + v
    return total * np.sum(y)


@programs(V)
def scalars_of_arrays(v):
    total = 0.0
    for i in range(3):
        x = v + v[i]
        total = total + np.sum(x * x) * x[i]
    return total


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
