"""``np.ascontiguousarray`` of an array that does not lie in C order is a copy."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from adcompiler import UnsupportedError, grad, value_and_grad
from tests.language.check import Cases

programs = Cases()
X = np.array([0.3, -0.5, 1.2, 0.7])


@programs(X)
def of_windows(x):
    w = np.ascontiguousarray(sliding_window_view(x * 1.0, 2))
    w[1, 0] = x[0] ** 2
    return np.sum(w**2)


@programs(X)
def of_rows(x):
    y = np.ascontiguousarray(np.broadcast_to(x * 1.0, (2, 4)))
    y[1, 0] = x[0] ** 2
    return y * y


@programs(X.reshape(2, 2))
def under_the_same_name(x):
    x = np.ascontiguousarray(x.T)
    x[0, 1] = 3.0 * x[1, 0]
    return x * x


@programs(X)
def in_a_loop(x):
    total = 0.0
    for k in range(2):
        y = np.ascontiguousarray((x * (k + 1.0)).reshape(2, 2).T)
        y[0] *= y[1]
        total = total + np.sum(y, axis=0)
    return total


@programs(X)
def read_only(x):
    return np.ascontiguousarray(x.reshape(2, 2).T) @ np.ascontiguousarray(x[:2])


@pytest.mark.parametrize("case", programs, ids=str)
def test_programs(case):
    programs.check(case)


def seen_or_not(x):
    y = (x * 1.0).reshape(2, 2).T
    z = np.ascontiguousarray(y)
    z[0, 1] = 5.0
    return np.sum(y**2)


def test_a_write_that_is_seen_or_not_is_refused():
    """It was taken to be seen, and the value was another one than Python's."""
    with pytest.raises(UnsupportedError, match="may share storage"):
        value_and_grad(seen_or_not)(X)
    assert np.array_equal(
        grad(lambda x: np.sum(np.ascontiguousarray(x.reshape(2, 2).T) ** 2))(X), 2.0 * X)
