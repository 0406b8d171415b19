"""Loops that write into an array and go on with a part of it: rows are copied, not the array."""

import tracemalloc

import numpy as np
import pytest
from adcompiler import UnsupportedError, grad, hvp, jvp, value_and_grad, vjp

X = np.array([0.7, 1.3, 0.4])


def states(x, n=4):
    c = np.zeros((n, x.shape[0]))
    p = x
    for t in range(n):
        c[t] = np.tanh(p) * p
        p = c[t]
    return np.sum(p) + np.sum(c**2)


def two_arrays(x, n=4):
    h = np.zeros((n, x.shape[0]))
    c = np.zeros((n, x.shape[0]))
    row, cell = x, x * 0.5
    for t in range(n):
        c[t] = np.sin(row) * cell + x
        h[t] = np.tanh(c[t])
        row, cell = h[t], c[t]
    return np.sum(h[-1] ** 2) + np.mean(c) + np.sum(row * cell)


def starts_in_the_array(x, n=5):
    h = np.zeros((n, x.shape[0]))
    h[0] = x
    row = h[0]
    for t in range(1, n):
        h[t] = np.sin(row) + x * 0.3
        row = h[t]
    return np.sum(h * h) + row[0]


def in_reverse(x, n=4):
    h = np.zeros((n, x.shape[0]))
    row = x
    for t in range(n - 1, -1, -1):
        h[t] = np.exp(-row) * x
        row = h[t]
    return np.sum(h * np.arange(1.0, n + 1.0)[:, None])


def parts_of_a_row(x, n=4):
    h = np.zeros((n, 2 * x.shape[0]))
    left = x
    for t in range(n):
        both = np.concatenate([np.cos(left), left * x])
        h[t] = both
        left = h[t, 1:4]
    return np.sum(h**2) + np.sum(left)


def until(x):
    h = np.zeros((6, x.shape[0]))
    row, t = x, 0
    while t < 6 and np.sum(row) < 4.0:
        h[t] = 1.2 * row
        row = h[t]
        t += 1
    return np.sum(h) * row[1]


def nested(x, n=3):
    total = 0.0
    for k in range(2):
        h = np.zeros((n, x.shape[0]))
        row = x * (k + 1.0)
        for t in range(n):
            h[t] = np.sin(row)
            row = h[t]
        total = total + np.sum(h * row)
    return total


PROGRAMS = [states, two_arrays, starts_in_the_array, in_reverse, parts_of_a_row, until, nested]


def row_is_read_after_the_write(x, n=4):
    h = np.zeros((n, x.shape[0]))
    row = x
    for t in range(n):
        h[t % 2] = np.sin(row) + x
        h[(t + 1) % 2] = h[(t + 1) % 2] + row * 0.5
        row = h[t % 2]
    return np.sum(h * h) + np.sum(row)


def row_sees_the_write(x, n=4):
    h = np.zeros((2, x.shape[0]))
    row = x
    for t in range(n):
        before = np.sum(row)
        h[0] = np.sin(row) + x
        h[1] = row * before
        row = h[0]
    return np.sum(h * h) + np.sum(row)


def the_array_is_kept(x, n=3):
    h = np.zeros((n, x.shape[0]))
    first = h
    row = x
    for t in range(n):
        h[t] = row * x
        row = h[t]
    return np.sum(first * np.arange(9.0).reshape(3, 3)) + np.sum(row)


def a_view_from_before(x, n=3):
    h = np.zeros((n, x.shape[0]))
    top = h[0]
    row = x
    for t in range(n):
        h[t] = np.sin(row) + np.sum(top)
        row = h[t]
    return np.sum(h) + np.sum(top * top)


def rows_in_a_list(x, n=3):
    h = np.zeros((n, x.shape[0]))
    row, rows = x, []
    for t in range(n):
        h[t] = np.sin(row)
        row = h[t]
        rows.append(row)
    h[0] = 2.0 * h[0]
    return sum(np.sum(r**2) for r in rows) + np.sum(h)


def written_through_the_row(x, n=3):
    h = np.zeros((n, x.shape[0]))
    row = x.copy()
    for t in range(n):
        h[t] = np.sin(row)
        row = h[t]
        row *= 2.0
    return np.sum(h * h)


def written_after_the_loop(x, n=3):
    h = np.zeros((n, x.shape[0]))
    row = x
    for t in range(n):
        h[t] = np.sin(row)
        row = h[t]
    h[n - 1] = h[n - 1] * x
    return np.sum(row) + np.sum(h)


def of_an_argument(x, h):
    row = x
    for t in range(3):
        h[t] = np.sin(row)
        row = h[t]
    return np.sum(h * row)


LEFT = [
    the_array_is_kept, a_view_from_before, written_through_the_row,
    lambda x: of_an_argument(x, np.zeros((3, 3))),
]
REFUSED = [row_is_read_after_the_write, row_sees_the_write, rows_in_a_list, written_after_the_loop]


def differences(f, x, h=1e-6):
    return np.array([(f(x + d) - f(x - d)) / (2.0 * h) for d in h * np.eye(x.size)])


@pytest.mark.parametrize("f", [*PROGRAMS, *LEFT])
def test_derivatives(f, monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    value, slope = value_and_grad(f)(X)
    wanted = differences(f, X)
    assert value == f(X)
    assert slope == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    v = np.array([0.3, -0.2, 0.9])
    assert jvp(f, (X,), (v,))[1] == pytest.approx(wanted @ v, rel=1e-6, abs=1e-8)
    assert vjp(f, X)[1](2.0)[0] == pytest.approx(2.0 * slope, rel=1e-12)
    second = differences(lambda x: grad(f)(x) @ v, X)
    assert hvp(f, X, v) == pytest.approx(second, rel=1e-5, abs=1e-6)
    assert grad(f, backend="record")(X) == pytest.approx(slope, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("f", REFUSED)
def test_rows_that_may_see_a_write_are_recorded(f, monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    with pytest.raises(UnsupportedError, match="may share storage"):
        grad(f)(X)
    assert grad(f, backend="record")(X) == pytest.approx(differences(f, X), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("f", [states, two_arrays, starts_in_the_array, in_reverse, until])
def test_no_array_is_copied_whole(f):
    lines = [line.strip() for line in grad(f).source_for(X).splitlines() if "np.copy(" in line]
    assert not [line for line in lines if line.split(" = ")[-1] in (
        "np.copy(c)", "np.copy(h)", "np.copy(c_bar)", "np.copy(h_bar)")]


def test_no_trip():
    assert np.array_equal(grad(lambda x: states(x, 0))(X), np.ones(3))


def test_memory_grows_with_the_trips():
    gradient = grad(states)
    peaks = []
    for n in (200, 400):
        x = np.ones(50)
        gradient(x, n)
        tracemalloc.start()
        gradient(x, n)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.2 * peaks[0]


def test_gradients_of_the_argument_that_is_written():
    h = np.zeros((3, 3))
    slope = grad(of_an_argument, argnums=1)(X, h)
    assert np.array_equal(slope, np.zeros((3, 3)))
