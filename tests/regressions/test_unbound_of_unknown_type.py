"""A variable of unknown type without a value raises as in Python; None may be its value."""

import itertools

import numpy as np
import pytest

from adcompiler import jvp, vjp
from tests.lanes import one_in


def by_branches(x, n, q0):
    if n:
        q = q0
    if n > 1:
        q = x
    return q


def by_loop(x, n, q0):
    for i in range(n):
        q = q0 if i == 0 else x
    return q


def by_while(x, n, q0):
    while n > 0:
        q = x if n == 1 else q0
        n = n - 1
    return q


def by_attempt(x, n, q0):
    try:
        if n == 0:
            raise ValueError
        q = q0
        if n > 1:
            q = x
    except ValueError:
        pass
    return q


def in_loop_and_branch(x, n, q0):
    for i in range(3):
        if i < n:
            q = q0
        if i + 1 < n:
            q = x
    return q


def read_in_loop(x, n, q0):
    taken = None
    for i in range(3):
        if i >= 3 - n:
            q = q0 if i % 2 else x
        if i == 2:
            taken = q
    return taken


def deleted(x, n, q0):
    q = q0
    if n > 1:
        q = x
    if n == 0:
        del q
    return q


PROGRAMS = (
    by_branches, by_loop, by_while, by_attempt, in_loop_and_branch, read_in_loop, deleted,
)


def outcome(f, *args):
    try:
        return f(*args)
    except UnboundLocalError as error:
        return str(error)


@pytest.mark.parametrize("f, n, q0", one_in(5, itertools.product(
    PROGRAMS, range(3), [None, "text", [1.0], (1.0, 2.0), {"a": 1.0}, np.ones(2)])))
def test_what_python_gives(f, n, q0):
    expected = outcome(f, 1.5, n, q0)
    for got in (
        outcome(lambda *args: vjp(f, *args, argnums=0)[0], 1.5, n, q0),
        outcome(lambda *args: jvp(lambda x: f(x, *args[1:]), args[:1], (1.0,))[0], 1.5, n, q0),
    ):
        assert type(got) is type(expected)
        assert np.array_equal(got, expected)


@pytest.mark.parametrize("f", PROGRAMS)
def test_with_derivatives_of_what_it_may_be(f):
    assert "'q'" in outcome(lambda: vjp(f, 1.5, 0, [1.0], argnums=(0, 2))[0])
    value, pullback = vjp(f, 1.5, 2, [1.0], argnums=(0, 2))
    assert value == f(1.5, 2, [1.0])
    assert pullback(2.0 if value == 1.5 else [2.0]) == (
        (2.0, [0.0]) if value == 1.5 else (0.0, [2.0])
    )


def item_of_a_list(x, m, v, data):
    for step in (3, 1.3):
        c = v
        view = m["w"]
        view[0] += x * step
    held = [v, m["w"], 1.0]
    data[...] = held[1]
    return np.sum(c * c) + x * data[0]


def test_variable_of_a_loop_that_is_written_through_a_list():
    """The sweep copies what a write may change; a variable of a loop may be unbound by then."""
    v, data = np.array([0.4, -1.1, 0.6]), np.zeros(3)

    def f(x):
        return item_of_a_list(x, {"w": np.ones(3)}, v, data.copy())

    value, pullback = vjp(
        item_of_a_list, 0.7, {"w": np.ones(3)}, v, data, argnums=(0, 2)
    )
    assert value == f(0.7)
    x_bar, v_bar = pullback(1.0)
    assert x_bar == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-8)
    np.testing.assert_allclose(v_bar, 2.0 * v)
