"""Subscripts of arrays of all kinds."""

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25, 1.25])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.5
T = np.arange(24.0).reshape(2, 3, 4) / 11 - 1.0


@programs(V, 2)
def integers(x, i):
    return x[0] * x[-1] + x[i] * x[i - 1] * x[-i]


@programs(V, 1, 4)
def slices(x, i, j):
    return np.sum(x[i:j] * x[: j - i]) + np.sum(x[::2]) * np.sum(x[-2:]) + np.sum(x[i::2] ** 2)


@programs(V)
def negative_steps(x):
    return np.sum(x[::-1] * x) + np.sum(x[3:0:-2] ** 2) + x[::-1][0] ** 2


@programs(V, 2)
def negative_step_variable(x, k):
    return np.sum(x[::-k] ** 2)


@programs(V)
def slices_beyond_the_end(x):
    return np.sum(x[2:100] ** 2) + np.sum(x[5:]) + np.sum(x[-100:2] ** 3)


@programs(M, 1)
def two_axes(m, i):
    return m[0, 1] * m[i, -1] + np.sum(m[i] * m[0]) + np.sum(m[:, i] ** 2) + np.sum(m[1:, :2] ** 2)


@programs(M)
def chained(m):
    return m[0][1] * m[2][3] + np.sum(m[1:][0]) + m[:, 1][2] ** 2


@programs(V)
def newaxis(x):
    return np.sum(x[:, None] * x[np.newaxis, :] ** 2) + np.sum(x[None] * 2.0)


@programs(T)
def ellipsis(t):
    return np.sum(t[..., 0] ** 2) + np.sum(t[0, ...] ** 2) + np.sum(t[..., None, 1:2] ** 3)


@programs(T, 1)
def mixed(t, i):
    return np.sum(t[i, :, ::2] ** 2) + np.sum(t[:, i, -1] ** 2) + t[0, i, 2] * t[1, 2, i]


@programs(V)
def integer_array(x):
    i = np.array([0, 2, 2, -1, 0])
    return np.sum(x[i] * np.arange(5.0)) + np.sum(x[i] ** 2)


@programs(V)
def list_index(x):
    return np.sum(x[[0, 2, 2]] * np.array([1.0, 2.0, 3.0])) + np.sum(x[[3, 1]] ** 2)


@programs(M)
def integer_array_of_rows(m):
    i = np.array([[0, 2], [2, 2]])
    return np.sum(m[i] ** 2) + np.sum(m[:, [0, 0, 3]] ** 3)


@programs(M)
def two_integer_arrays(m):
    rows, cols = np.array([0, 2, 2, 0]), np.array([1, 3, 3, 1])
    return np.sum(m[rows, cols] * np.arange(1.0, 5.0)) + np.sum(m[np.ix_([0, 1], [2, 2])] ** 2)


@programs(T)
def arrays_and_slices(t):
    i = np.array([0, 1, 1])
    return np.sum(t[i, :, 1] ** 2) + np.sum(t[:, i, 1:3] ** 2) + np.sum(t[i, i] ** 2)


@programs(V)
def boolean_mask(x):
    mask = x > 0.0
    return np.sum(x[mask] ** 2) * np.sum(x[~mask]) + np.sum(x[x > 100.0])


@programs(M)
def boolean_masks(m):
    rows = np.array([True, False, True])
    return np.sum(m[m > 0.0] ** 2) + np.sum(m[rows] ** 2) + np.sum(m[rows, 1:] ** 2)


@programs(M)
def mask_on_one_axis(m):
    keep = np.array([True, False, True, True])
    return np.sum(m[:, keep] ** 2) + np.sum(m[1, keep] ** 3)


@programs(V)
def tuple_variable(x):
    m = x[:4].reshape(2, 2)
    where = (0, 1)
    parts = (slice(None), 0)
    return m[where] ** 2 + np.sum(m[parts] ** 2)


@programs(V, slice(1, 4))
def slice_object(x, s):
    return np.sum(x[s] ** 2) + np.sum(x[slice(0, 2)] ** 3)


@programs(V)
def index_from_data(x):
    i = int(np.argmax(x))
    j = np.argmin(x)
    return x[i] ** 2 * x[j] + np.sum(x[np.argsort(x)] * np.arange(5.0))


@programs(V)
def index_in_loop(x):
    order = [3, 0, 3]
    total = 0.0
    for i in order:
        total = total + x[i] * x[i + 1]
    return total


@programs(V)
def windows(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum(x[2:] * x[1:-1] * x[:-2])


@programs(V)
def zero_dimensional_subscript(x):
    y = np.sum(x * x, keepdims=True)
    z = y[0]
    return z * x[()][0] + y[...][0]


@programs(np.array(1.5))
def zero_dimensional_array(x):
    return x[()] * x + x[...] ** 2


@programs(V)
def float_slices_of_slices(x):
    y = x[1:]
    z = y[1:]
    y = z * y[:3]
    return np.sum(y * z)


@programs(M)
def transposed_subscripts(m):
    return m.T[1, 2] * m[2, 1] + np.sum(m.T[1:] ** 2) + np.sum(m.reshape(-1)[::3] ** 2)


@programs(M)
def boolean_scalar_index(m):
    return np.sum(m[:, np.array([1])] ** 2) + np.sum(m[np.array(1)] ** 2)


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
