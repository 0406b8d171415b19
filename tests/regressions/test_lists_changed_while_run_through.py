"""Loops over lists and dicts whose body changes what the loop runs over: as Python sees it."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import ADError, vjp


def slot_of_a_list(x, a, b):
    e = [a, b, a * 2.0, b * 3.0]
    s = 0.0
    for y in e:
        e[2] = a
        s += np.sum(y) * x
    return s


def slot_of_an_enumerated_list(x, a, b):
    e = [a, b, a * 2.0, b * 3.0]
    s = 0.0
    for _, y in enumerate(e):
        e[-1] = a
        y += x
        s += np.sum(y) * x
    return s


def slot_of_a_dict(x, a, b):
    e = {0: a, 1: b * 1.0, 2: a * 2.0}
    s = 0.0
    for k in e:
        e[2] = b * x
        s += np.sum(e[k]) * x
    return s


def order_of_a_list(x, a, b):
    e = [a, b * 2.0, a * 2.0, b * 3.0]
    s = 0.0
    for y in e:
        e.reverse()
        y += x
        s += np.sum(y) * x
    return s


@pytest.mark.parametrize("f", [
    slot_of_a_list, slot_of_an_enumerated_list, slot_of_a_dict, order_of_a_list,
])
def test_slots_given_other_objects(f):
    def at(x):
        return f(x, np.array([1.0, 2.0]), np.array([0.5, 0.25]))

    value, pullback = vjp(f, 0.6, np.array([1.0, 2.0]), np.array([0.5, 0.25]), argnums=0)
    assert value == at(0.6)
    np.testing.assert_allclose(pullback(1.0), (at(0.6 + 1e-6) - at(0.6 - 1e-6)) / 2e-6, rtol=1e-8)


def popped(x, e):
    s = 0.0
    for y in e:
        e.pop()
        y += x
        s += np.sum(y)
    return s


def popped_if_asked(x, e):
    s = 0.0
    for k, y in enumerate(e):
        if x > 0.0:
            e.pop()
        s += np.sum(y) * k * x
    return s


def grown(x, e):
    s = 0.0
    for y in reversed(e):
        e.insert(0, y * x)
        y += x
        s += np.sum(y)
    return s


@pytest.mark.parametrize("f", [popped, popped_if_asked, grown])
def test_lengths_that_change_are_refused(f):
    def with_list(x, a, b):
        return f(x, [a, b, a * 2.0, b * 3.0])

    with pytest.raises(ADError):
        vjp(with_list, 0.6, np.array([1.0, 2.0]), np.array([0.5, 0.25]))
