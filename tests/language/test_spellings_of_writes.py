"""Every spelling of a write into an array: targets, functions and methods that write."""

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.6
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]])


# -- spellings -------------------------------------------------------------------------------------


@programs(V)
def one_value_in_two_places(x):
    y = np.zeros(4)
    z = np.zeros(4)
    y[0] = z[1] = x[0] * x[1]
    y[1:3] = z[2:] = x[2:] ** 2
    return np.sum(y * z) + np.sum(y) * z[1]


@programs(V)
def a_tuple_of_places(x):
    y = x * x
    y[0], y[3] = y[3], y[0] * x[1]
    y[1:3], (a, y[3]) = x[:2], (x[2], x[0])
    return np.sum(y * y) * a


@programs(V)
def a_swap_of_views(x):
    y = x * x
    y[:2], y[2:] = y[2:], y[:2]
    return np.sum(y * x)


@programs(V)
def a_starred_target(x):
    y = np.zeros(4)
    y[0], *rest = x
    y[1:] = rest
    return np.sum(y * y)


@programs(V)
def a_place_as_loop_variable(x):
    y = np.zeros(2)
    total = 0.0
    for y[0] in x:
        total += y[0] * y[1]
        y[1] = y[0]
    return total


@programs(V)
def the_index_first_and_once(x):
    y = x * 1.0
    i = 0
    y[(i := i + 1)] += x[0]
    y[i] *= x[1]
    return np.sum(y * y)


@programs(V)
def out_arguments(x):
    y = np.empty(4)
    np.exp(x, out=y)
    np.multiply(y, x, out=y)
    np.add(y[:2], 1.0, out=y[2:])
    z = np.sin(x, y)
    return np.sum(y * z)


@programs(V)
def out_and_where(x):
    y = x * 2.0
    np.sqrt(x, out=y, where=x > 0.0)
    return np.sum(y * y)


@programs(M)
def out_of_other_functions(m):
    y = np.empty(4)
    z = np.zeros((3, 3))
    np.sum(m, axis=0, out=y)
    np.dot(m, m.T, out=z)
    return np.sum(z) * np.sum(y * y)


@programs(V)
def copyto(x):
    y = np.zeros(4)
    np.copyto(y, x)
    np.copyto(y[1:3], x[:2] ** 2)
    return np.sum(y * y)


@programs(V)
def copyto_where(x):
    y = x * x
    np.copyto(y, 2.0 * x, where=x > 0.4)
    return np.sum(y * y)


@programs(V)
def put(x):
    y = x * x
    np.put(y, [0, 2], x[:2])
    return np.sum(y * y)


@programs(S)
def fill_diagonal(m):
    y = m * m
    np.fill_diagonal(y, m[0, 0] * 2.0)
    return np.sum(y * m)


@programs(V)
def add_at(x):
    y = np.zeros(3)
    np.add.at(y, np.array([0, 2, 2, 0]), x * x)
    np.subtract.at(y, [1, 1], x[:2])
    return np.sum(y * y)


@programs(V)
def fill(x):
    y = x * x
    z = y * x
    y.fill(x[2])
    z[1:].fill(0.5)
    return np.sum(y * z)


@programs(V)
def sort_in_place(x):
    y = x * x
    z = y * x
    y.sort()
    return np.sum(y * np.arange(4.0)) + np.sum(z * y)


@programs(M)
def sort_along_an_axis(m):
    y = np.sin(3.7 * m)
    y.sort(axis=0)
    y[:, ::-1].sort(axis=1)
    return np.sum(y * np.arange(12.0).reshape(3, 4))


@programs(V)
def partition_in_place(x):
    y = x * x
    y.partition(1)
    return y[0] * 2.0 + y[1] + np.sum(y[2:])


@programs(M)
def item_and_flat(m):
    y = m * m
    y.flat[5] = m[0, 0]
    return np.sum(y * y)


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
