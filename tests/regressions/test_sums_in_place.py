"""Cotangents that start as a value of the program are not summed up in its place."""

import numpy as np
import pytest
from adcompiler import grad

X = np.array([0.47, -0.71, 0.33])


def read_in_each_iteration(x, n=4):
    h = np.zeros((n + 1, 3))
    c = np.zeros((n + 1, 3))
    half = x * 0.5
    for t in range(n + 1):
        h[n - t] = x.copy()
        c[t] = np.sin(half)
    return np.sum(h**2) + np.sum(c**2) + np.sum(half * x)


def read_by_an_inner_loop(x, n=4):
    h = np.zeros((n + 1, 3))
    h[:] = x
    half = x * 0.5
    for t in range(n):
        h[n - t] += np.sin(half)
        for k in range(2):
            h[k] = h[k] * 1.01 + x * 0.01
    return np.sum(h**2) + np.sum(half * x)


def read_by_a_condition(x):
    half, t, total = x * 0.5, 0, 0.0
    h = np.zeros((6, 3))
    while np.sum(half * half) * (t + 1.0) < 2.0 and t < 6:
        h[5 - t] = x * 1.5
        t += 1
    return total + np.sum(h**2) + np.sum(half * x)


@pytest.mark.parametrize("f", [read_in_each_iteration, read_by_an_inner_loop, read_by_a_condition])
def test_what_loops_read_is_not_written_into(f):
    wanted = [(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    assert grad(f)(X) == pytest.approx(np.array(wanted), rel=1e-7)
