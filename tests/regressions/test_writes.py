"""Programs with writes that once had wrong values, gradients or effects."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from adcompiler import value_and_grad, vjp
from adcompiler.errors import UnsupportedError


def agrees(f, *args):
    """Check value, effects on the arguments and gradients of ``f``, which returns a number."""
    places = tuple(range(len(args)))
    wanted, left = copy.deepcopy(args), copy.deepcopy(args)
    value = f(*left)
    y, pullback = vjp(f, *wanted, argnums=places)
    assert y == pytest.approx(value, rel=1e-12)
    for found, expected in zip(leaves(wanted), leaves(left), strict=True):
        assert found == pytest.approx(expected, rel=1e-12)
    bars = pullback(1.0)
    kept = copy.deepcopy(bars)
    for again, first in zip(leaves(pullback(1.0)), leaves(kept), strict=True):
        assert np.array_equal(again, first)
    joint, gradients = value_and_grad(f, argnums=places)(*copy.deepcopy(args))
    assert joint == pytest.approx(value, rel=1e-12)
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=np.shape(leaf)) for leaf in leaves(args)]
    slope = (along(f, args, directions, 1e-6) - along(f, args, directions, -1e-6)) / 2e-6
    for found in (kept, gradients):
        inner = sum(np.sum(bar * d) for bar, d in zip(leaves(found), directions, strict=True))
        assert inner == pytest.approx(slope, rel=1e-7, abs=1e-7)


def leaves(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def along(f, args, directions, step):
    moves = iter(directions)

    def moved(value):
        if isinstance(value, (tuple, list)):
            return type(value)([moved(item) for item in value])
        return value + step * next(moves)

    return f(*[moved(arg) for arg in args])


def test_an_array_in_a_tuple_of_the_caller():
    def stored(m, v):
        m[1][:] = v
        return np.sum(m[0] * m[1])

    def added(m, v):
        m[1] = m[1]
        m[1] -= v
        return np.sum(m[0] * m[1])

    def within(t, v):
        t *= v

    def called(m, v):
        within(m[1], v)
        return np.sum(m[0] * m[1] * v)

    a, b, v = np.array([1.0, -3.0, 2.0]), np.array([2.0, 0.5, 1.0]), np.array([4.0, -3.0, 2.0])
    agrees(stored, (a, b), v)
    agrees(called, (a, b), v)
    agrees(added, [a, b], v)


def test_an_in_place_operator_on_an_array_in_a_list_keeps_its_dtype():
    def f(m, v):
        m[0] *= v
        return np.sum(m[0])

    m = [np.array([1.0, 2.0], np.float32)]
    y, _ = vjp(f, m, np.array([0.1, 0.3]), argnums=(0, 1))
    assert m[0].dtype == np.float32
    assert y.dtype == np.float32


def test_a_store_through_a_method_reads_the_cotangent_before_it_is_cleared():
    def f(x, v):
        v.flat[0] = -x
        return np.sum(v * v)

    agrees(f, 1.5, np.array([[-0.2, 0.9, 0.6]]))


def test_a_reshaped_view_is_read_anew_after_its_storage_is_put_back():
    def f(v):
        c = v.copy()
        view = c.reshape(-1)
        view[2:0:-1] *= view[[0, 1]]
        return c.sum()

    agrees(f, np.array([1.4, 0.3, -0.7, 0.7]))


def test_a_view_made_outside_the_branch_that_writes():
    def f(h):
        h = h * 1.0
        t = h[:]
        if len(t) < 4:
            t[1] += np.sum(t * h)
        return np.sum(h * h)

    agrees(f, np.array([1.0, -3.0, 2.0]))


def test_buffers_that_take_turns_in_a_loop():
    def f(m):
        old, new = m.copy(), np.zeros_like(m)
        for _ in range(3):
            new[1:] = np.sin(old[:-1]) + old[1:]
            new[0] = old[0]
            old, new = new, old
        return np.sum(old * old)

    def first_one_again(m):
        old, new = m, np.zeros_like(m)
        for _ in range(2):
            new[1] = 1.0
            old, new = new, old
        return np.sum(m)

    agrees(f, np.array([-0.9, -1.3, -0.9]))
    with pytest.raises(UnsupportedError, match="may share storage"):
        value_and_grad(first_one_again)(np.array([-0.9, -1.3, -0.9]))


def test_two_names_of_a_loop_that_start_as_one_array():
    def f(m):
        old, new = m, m
        for _ in range(2):
            new = new.T
            new[1] *= old[0]
            old = old.T
        return np.sum(old)

    with pytest.raises(UnsupportedError, match="may share storage"):
        value_and_grad(f)(np.array([-0.9, -1.3, -0.9]))


def test_a_list_that_is_changed_by_position_after_its_array_was_written():
    def f(v, n):
        e = [1.0, v]
        e[1][:] *= v
        for i in range(2, n):
            e[i] = v
        return np.sum(e[1])

    def in_an_arm(v, n):
        e = [1.0, v]
        v *= 2.0
        if n > 1:
            e[n] = v * v
        return e[1].sum()

    v = np.array([0.8, 0.4, 1.4])
    assert value_and_grad(f)(v, 1) == (pytest.approx(np.sum(v * v)), pytest.approx(2.0 * v))
    assert value_and_grad(in_an_arm)(v.copy(), 1) == (
        pytest.approx(2.0 * np.sum(v)), pytest.approx([2.0, 2.0, 2.0]))


def test_a_list_that_is_changed_by_position_keeps_its_arrays():
    def f(v, n):
        v = v * 1.0
        e = [1.0, v]
        e[n] = 3.0
        v[0] *= 5.0
        return e[1].sum()

    v = np.array([0.8, 0.4, 1.4])
    value, gradient = value_and_grad(f)(v, 0)
    assert value == f(v, 0)
    np.testing.assert_array_equal(gradient, [5.0, 1.0, 1.0])


def test_arrays_put_back_into_a_list_are_not_those_that_were_saved():
    def f(v, n):
        e = [v * 3.0, v * 2.0]
        for k in range(n):
            e[k][0] *= 2.0
            e[k] = e[k] * v
        return e[1].sum() + e[0].sum()

    v = np.array([0.8, 0.4, 1.4])
    _, pullback = vjp(f, v, 2, argnums=0)
    wanted = np.array([20.0, 10.0, 10.0]) * v
    assert pullback(1.0) == pytest.approx(wanted)
    assert pullback(1.0) == pytest.approx(wanted)


def test_what_a_context_or_a_try_gives_is_written_in_a_branch():
    def after_context(v):
        with np.errstate(all="ignore"):
            y = v * 2.0
        if v[0] > 0.0:
            y[0] = v[1] ** 2
        return np.sum(y * y)

    def after_try(v):
        try:
            y = np.linalg.inv(np.outer(v, v) + np.eye(2))
        except np.linalg.LinAlgError:
            y = np.outer(v, v)
        if v[0] > 0.0:
            y[0] = v[1] ** 2
        return np.sum(y * y)

    agrees(after_context, np.array([0.8, 0.4]))
    agrees(after_try, np.array([0.8, 0.4]))


def test_the_length_of_a_list_before_it_is_given_back():
    def f(m):
        m += [sum([k for k in m if k > -1.0])]
        return sum(m)

    m = [0.4, 1.3]
    y, pullback = vjp(f, m)
    assert y == pytest.approx(3.4)
    assert m == [0.4, 1.3, pytest.approx(1.7)]
    assert pullback(1.0) == ([2.0, 2.0],)
