"""A part of an argument, a global or a captured object that is stored into another part of it.

The holder is copied before it is written, as the caller has it. What was read out of it before that
is read from the copy: a part of the caller's own must not get into the copy, which is written into.
Where one object may be in two places in the end, a write into it is refused.
"""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import ADError, grad, hessian, jacfwd, value_and_grad, vjp
from tests.state import check_state


class Pair:
    """A holder of two arrays."""

    def __init__(self):
        self.u, self.w, self.z = np.arange(3.0), np.ones(3), np.ones(3) * 2


def entries():
    return {"u": np.arange(3.0), "w": np.ones(3), "z": np.ones(3) * 2}


def items():
    return [np.arange(3.0), np.ones(3), np.ones(3) * 2]


def rows():
    return [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def nested():
    return {"a": {"u": np.arange(3.0)}, "b": {"w": np.ones(3)}}


def lists():
    return [[np.arange(3.0)], [np.ones(3)]]


def swapped_entries(d, x):
    d["u"], d["w"] = d["w"], d["u"]
    d["u"][0] = x
    return np.sum(d["u"] ** 2) + 10 * np.sum(d["w"])


def swapped_items(s, x):
    kept = s[0]
    s[0] = s[1]
    s[1] = kept
    s[1][0] = x
    s[0][1] = x * x
    return np.sum(s[0] ** 2) + 10 * np.sum(s[1])


def swapped_attributes(o, x):
    o.u, o.w = o.w, o.u
    o.u[0] = x
    return np.sum(o.u**2) + 10 * np.sum(o.w)


def swapped_in_a_loop(o, x):
    for i in range(3):
        o.u, o.w = o.w, o.u
        o.u[0] = x * i + o.u[0]
    return np.sum(o.u**2) + 10 * np.sum(o.w)


def swapped_rows(s, x):
    s[0], s[1] = s[1], s[0]
    s[0][1] = x * s[1][0]
    s[1][2] += x * x
    return sum(s[0]) * x + sum(s[1])


def rotated(o, x):
    o.u, o.w, o.z = o.w, o.z, o.u
    o.z[0] = x
    o.w[1] = x * x
    return np.sum(o.u**2) + 2 * np.sum(o.w**2) + 3 * np.sum(o.z**2)


def leapfrog(o, x):
    for _ in range(3):
        o.z[1:] = 2 * o.w[1:] - o.u[:-1] + x
        kept = o.u
        o.u = o.w
        o.w = o.z
        o.z = kept
    return np.sum(o.w**2)


def moved(o, x):
    o.w = o.u
    o.u = np.zeros(3)
    o.u[0] = x * x
    o.w[1] = x
    return np.sum(o.u**2) + 10 * np.sum(o.w)


def moved_in_a_loop(d, x):
    for _ in range(2):
        d["w"] = d["u"]
        d["u"] = d["u"] * x
        d["u"][0] = x
    return np.sum(d["u"] ** 2) + 2 * np.sum(d["w"] ** 2)


def popped_and_appended(s, x):
    first = s.pop(0)
    s.append(first)
    s[-1][0] = x
    return np.sum(s[0]) + 10 * np.sum(s[2] ** 2)


def appended_inside(s, x):
    s[0].append(np.zeros(2))
    s[0][0][0] = x
    return np.sum(s[0][0] ** 2) + np.sum(s[1][0])


RIGHT = (
    (swapped_entries, entries), (swapped_items, items), (swapped_attributes, Pair),
    (swapped_in_a_loop, Pair), (swapped_rows, rows), (rotated, Pair), (leapfrog, Pair),
    (moved, Pair), (moved_in_a_loop, entries), (popped_and_appended, items),
    (appended_inside, lists),
)


def stored_twice(d, x):
    d["w"] = d["u"]
    d["w"][0] = x
    return np.sum(d["u"]) + 10 * np.sum(d["w"])


def stored_under_a_new_key(d, x):
    d["v"] = d["u"]
    d["v"][0] = x
    return np.sum(d["u"] ** 2)


def stored_by_update(d, x):
    d.update(w=d["u"])
    d["u"][0] = x
    return np.sum(d["w"] ** 2)


def attribute_twice(o, x):
    o.w = o.u
    o.w[0] = x
    return np.sum(o.u) + 10 * np.sum(o.w)


def item_appended(s, x):
    s.append(s[0])
    s[3][0] = x
    return np.sum(s[0] ** 2)


def view_stored(d, x):
    d["w"] = d["u"][1:]
    d["w"][0] = x
    return np.sum(d["u"] ** 2)


def reshaped_stored(d, x):
    d["w"] = d["u"].reshape(3, 1)
    d["u"][0] = x
    return np.sum(d["w"] ** 2)


def added_in_place(d, x):
    d["w"] = d["u"]
    d["w"] += x
    return np.sum(d["u"] ** 2)


def stored_on_one_path(d, x):
    if x > 1.0:
        d["w"] = d["u"]
    d["w"][0] = x
    return np.sum(d["u"] ** 2) + np.sum(d["w"])


def stored_by_a_loop(d, x):
    for i in range(3):
        d["w"] = d["u"]
        d["w"][i] = x * i
    return np.sum(d["u"] ** 2)


def stored_from_inside(d, x):
    d["b"]["w"] = d["a"]["u"]
    d["b"]["w"][0] = x
    return np.sum(d["a"]["u"] ** 2)


def whole_stored(d, x):
    d["b"] = d["a"]
    d["b"]["u"][0] = x * x
    return np.sum(d["a"]["u"] ** 2)


def list_inside_stored(s, x):
    s[1][0] = s[0][0]
    s[1][0][0] = x
    return np.sum(s[0][0] ** 2)


REFUSED = (
    (stored_twice, entries), (stored_under_a_new_key, entries), (stored_by_update, entries),
    (attribute_twice, Pair), (item_appended, items), (view_stored, entries),
    (reshaped_stored, entries), (added_in_place, entries), (stored_on_one_path, entries),
    (stored_by_a_loop, entries), (stored_from_inside, nested), (whole_stored, nested),
    (list_inside_stored, lists),
)


def slope(function, make, x=1.7, h=1e-6):
    return (function(make(), x + h) - function(make(), x - h)) / (2 * h)


def check(function, make):
    value, derivative = function(make(), 1.7), slope(function, make)
    found = check_state(function, value_and_grad(function, argnums=1), (make(), 1.7), True)
    np.testing.assert_allclose(found, (value, derivative), rtol=1e-6, err_msg=function.__name__)

    def pulled(holder, x):
        left, pullback = vjp(function, holder, x)
        return left, pullback(1.0)[1]

    found = check_state(function, pulled, (make(), 1.7), False)
    np.testing.assert_allclose(found, (value, derivative), rtol=1e-6, err_msg=function.__name__)
    np.testing.assert_allclose(
        jacfwd(function, argnums=1)(make(), 1.7), derivative, rtol=1e-6)


def test_parts_that_change_places_are_those_of_the_copy():
    for function, make in RIGHT:
        check(function, make)


def test_second_derivatives_where_parts_change_places():
    for function, make in RIGHT[1:4]:
        h = 1e-3
        above, below = (slope(function, make, 1.7 + d, 1e-4) for d in (h, -h))
        wanted = (above - below) / (2 * h)
        np.testing.assert_allclose(
            hessian(function, argnums=1)(make(), 1.7), wanted, rtol=1e-4, atol=1e-5)


def test_writes_into_what_may_be_in_two_places_are_refused():
    for function, make in REFUSED:
        for operator in (value_and_grad, hessian):
            derivative = operator(function, argnums=1)

            def refused(holder, x, derivative=derivative):
                with pytest.raises(ADError):
                    derivative(holder, x)

            check_state(lambda holder, x: None, refused, (make(), 1.7), True)


TABLE = entries()


def swapped_globals(x):
    TABLE["u"], TABLE["w"] = TABLE["w"], TABLE["u"]
    TABLE["u"][0] = x
    return np.sum(TABLE["u"] ** 2) + 10 * np.sum(TABLE["w"])


def captured():
    """Return functions that write into what they captured, and a helper that two of them call."""
    table, counts = entries(), np.zeros(2)

    def swaps(x):
        table["u"], table["w"] = table["w"], table["u"]
        table["u"][0] = x
        return np.sum(table["u"] ** 2) + 10 * np.sum(table["w"])

    def twice(x):
        table["w"] = table["u"]
        table["w"][0] = x
        return np.sum(table["u"] ** 2)

    def helper(x):
        counts[0] = x
        counts[1] += 1.0
        return counts[0] * x * counts[1]

    return swaps, twice, helper


def test_globals_and_captured_objects():
    swaps, twice, helper = captured()

    def calls(x):
        return helper(x) + 3 * helper(2 * x)

    def loops(x):
        for _ in range(3):
            x = 0.1 * helper(x)
        return x

    for function in (swapped_globals, swaps, calls, loops):
        def left(x, function=function):
            return check_state(function, lambda x: function(x), (x,), True)

        h = 1e-6
        value, derivative = left(1.7), (left(1.7 + h) - left(1.7 - h)) / (2 * h)
        found = check_state(function, value_and_grad(function), (1.7,), True)
        np.testing.assert_allclose(found, (value, derivative), rtol=1e-6)
    for function in (twice, lambda x: twice(x)):
        with pytest.raises(ADError, match="one object in two places"):
            grad(function)(1.7)


def test_second_derivatives_of_functions_that_write_what_helpers_captured_are_refused():
    _, twice, helper = captured()
    for function in (lambda x: twice(x), lambda x: helper(x) + 3 * helper(2 * x)):
        with pytest.raises(ADError, match="which is not one of its arguments"):
            hessian(function)(1.7)
