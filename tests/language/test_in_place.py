"""In-place operators on arrays and lists: a new value where nobody sees the write, else a write."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])
M = np.arange(6.0).reshape(2, 3) / 7 - 0.3


@programs(V)
def fresh_array(x):
    h = np.zeros(3)
    h += x
    h *= x + h
    h -= 0.5
    h /= 2.0
    h **= 2
    return np.sum(h)


@programs(M)
def accumulator_in_loop(m):
    total = np.zeros(3)
    for row in m:
        total += row * row
        total *= 0.5
    return np.sum(total * total)


@programs(V)
def outer_closure(x):
    h = x * 2.0

    def total():
        return np.sum(h * h)

    h += 1.0
    return total()


@programs(V)
def result_of_an_expression(x):
    h = np.sin(x) * 2.0
    h += x
    return np.sum(h * h)


@programs(M)
def in_a_branch(m):
    h = m @ np.ones(3)
    if h[0] > -10.0:
        h += 1.0
    else:
        h -= 1.0
    return np.sum(h * h)


@programs(V)
def list_of_its_own(x):
    ys = [x[0]]
    for i in range(1, 3):
        ys += [x[i] * ys[-1]]
    return sum(ys)


@programs(V)
def through_a_helper(x):
    def normalised(y):
        z = y * 1.0
        z -= np.mean(z)
        z /= np.sum(z * z)
        return z

    return normalised(x) @ x


@programs(V)
def old_value_is_not_read_again(x):
    h = x * 2.0
    g = h * 3.0
    h += g
    return np.sum(h * g)


@programs(V)
def parameter(x):
    x += 1.0
    return np.sum(x * x)


@programs(V)
def alias_of_parameter(x):
    y = x
    y += 1.0
    return np.sum(y * y)


@programs(V)
def view_of_parameter(x):
    y = x[1:]
    y += 1.0
    return np.sum(y * y)


@programs(V)
def alias_is_read(x):
    h = x * 2.0
    old = h
    h += 1.0
    return np.sum(h * old)


@programs(V)
def view_is_read(x):
    h = x * 2.0
    head = h[:2]
    h += 1.0
    return np.sum(h) * np.sum(head)


@programs(V)
def writes_through_a_view(x):
    h = x * 2.0
    head = h[:2]
    head += 1.0
    return np.sum(h * h)


@programs(V)
def container_is_read(x):
    h = x * 2.0
    kept = [h, x]
    h += 1.0
    return np.sum(kept[0] * h)


@programs(V)
def kept_from_the_last_iteration(x):
    h = x * 1.0
    old = x * 1.0
    total = 0.0
    for _ in range(3):
        total = total + np.sum(old)
        old = h
        h += 1.0
    return total


@programs(V)
def alias_in_a_branch(x, flag=True):
    h = x * 2.0
    other = h if flag else x * 3.0
    h += 1.0
    return np.sum(h * other)


@programs(V)
def through_reshape(x):
    h = x * 2.0
    flat = h.reshape(-1)
    h += 1.0
    return np.sum(flat * flat)


def collected(x):
    h = x * 0.0
    rows = []
    for _ in range(2):
        h += x
        rows = rows + [h]
    return np.sum(rows[0] * rows[1])


GLOBAL = np.ones(3)


def global_array(x):
    g = GLOBAL
    g += 1.0
    return np.sum(g * x)


def float_into_int(x):
    h = np.zeros(3, dtype=np.int64)
    h += 1
    h = h * 1
    h += x
    return np.sum(h)


@programs(V, tol=1e-3)
def wide_into_narrow(x):
    h = np.zeros(3, dtype=np.float32)
    h += x
    return np.sum(h)


@programs([1.0, 2.0])
def argument_list(xs):
    xs += [xs[0] * xs[1]]
    return sum(xs) * xs[-1]


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


def test_a_global_array_is_written_into_once_by_each_call():
    try:
        assert np.array_equal(grad(global_array)(V), [2.0, 2.0, 2.0])
        assert np.array_equal(GLOBAL, [2.0, 2.0, 2.0])
        value, pullback = vjp(global_array, V)
        assert value == 3.0 * np.sum(V)
        assert np.array_equal(GLOBAL, [3.0, 3.0, 3.0])
        assert np.array_equal(pullback(1.0)[0], [3.0, 3.0, 3.0])
        assert np.array_equal(GLOBAL, [3.0, 3.0, 3.0])
    finally:
        GLOBAL[:] = 1.0


def test_names_that_cannot_be_told_apart_are_refused():
    for derive in (lambda: grad(collected)(V), lambda: vjp(collected, V)):
        with pytest.raises(UnsupportedError) as caught:
            derive()
        assert {finding.anchor for finding in caught.value.findings} == {"aliases"}


def test_floats_into_integers_are_refused_as_by_numpy():
    with pytest.raises(UnsupportedError, match="cannot be written into an array of int64"):
        grad(float_into_int)(V)


def test_writing_in_place_cannot_change_a_shape() -> None:
    def widened(x):
        h = np.ones(1)
        h += x
        return np.sum(h * h)

    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        widened(np.ones(3))
    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        grad(widened)(np.ones(3))
    assert grad(widened)(np.array([0.5])) == np.array([3.0])


def test_an_array_added_to_a_list_in_place_is_a_sum():
    """Python asks the array first: the list is not extended."""
    def function(x):
        row = [1.0, 2.0]
        row += x * 2.0
        return row[0] * row[1]

    x = np.array([0.3, 0.4])
    value, found = value_and_grad(function)(x)
    assert value == function(x)
    assert np.allclose(found, [2.0 * 2.8, 2.0 * 1.6], rtol=1e-14)
