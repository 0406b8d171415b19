"""One array or list in two places of a container that is written into there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jvp, vjp
from adcompiler.runtime import AliasedError


# -- one object in two places ----------------------------------------------------------------------


def one_array_in_two_slots(m: Any) -> Any:
    s = [q * 1.0 for q in m]
    s[0] = s[1]
    s[1][0] = 5.0
    return np.sum(s[0] ** 2) + np.sum(s[1])


def an_item_appended(m: Any) -> Any:
    s = [q * 1.0 for q in m]
    s.append(s[1])
    s[1][0] = 5.0
    return np.sum(s[-1] ** 2) + np.sum(s[1])


def shifted_in_a_loop(m: Any) -> Any:
    s = [q * 1.0 for q in m]
    for k in range(2):
        s[k] = s[k + 1]
    s[1][0] = 5.0
    return np.sum(s[0] ** 2) + np.sum(s[1]) + np.sum(s[2] ** 2)


def a_list_added_to_itself(m: Any) -> Any:
    s = [q * 1.0 for q in m]
    s += s
    s[1][0] = 5.0
    return sum([np.sum(q**2) for q in s])


def a_list_repeated(m: Any) -> Any:
    s = [q * 1.0 for q in m] * 2
    s[1][0] = 5.0
    return sum([np.sum(q**2) for q in s])


def one_array_in_a_comprehension(m: Any) -> Any:
    q = m[0] * 1.0
    s = [q for k in range(3)]
    s[1][0] = 5.0 * q[1]
    return sum([np.sum(q**2) for q in s])


def one_array_appended_in_a_loop(m: Any) -> Any:
    q = m[0] * 1.0
    s = []
    for _ in range(3):
        s.append(q)
    s[1][0] = 5.0 * m[0][1]
    return sum([np.sum(q**2) for q in s])


def one_list_in_two_slots(m: Any) -> Any:
    s = [[q * 1.0, q * 2.0] for q in m]
    s[0] = s[1]
    s[1][0][0] = 7.0
    return np.sum(s[0][0] ** 2) + np.sum(s[0][1] ** 2)


def inserted_twice(m: Any) -> Any:
    s = [q * 1.0 for q in m]
    s.insert(0, s[2])
    s[0][0] = 7.0
    s[3][1] = 8.0
    return np.sum(s[0] ** 2) + np.sum(s[3] ** 3)


def put_back_in_each_iteration(m: Any) -> Any:
    s = [q * 1.0 for q in m]
    t = s.pop()
    for _ in range(2):
        s.append(t)
    s[2][0] = 7.0
    return np.sum(s[3] ** 2)


def rows_counted_from_both_ends(m: Any) -> Any:
    a = np.array(m) * 1.0
    s = []
    for i in range(-3, 3):
        s.append(a[i])
    s[0][0] = 7.0
    return np.sum(s[3] ** 2)


@pytest.mark.parametrize("function", [
    put_back_in_each_iteration, rows_counted_from_both_ends, one_array_in_two_slots,
    an_item_appended, shifted_in_a_loop, a_list_added_to_itself,
    a_list_repeated, one_array_in_a_comprehension, one_array_appended_in_a_loop,
    one_list_in_two_slots, inserted_twice,
], ids=lambda function: function.__name__)
def test_a_write_that_two_places_see_is_not_taken_for_one(function: Callable[[Any], Any]) -> None:
    arrays = [np.full(3, 0.5), np.full(3, 0.25), np.full(3, 2.0)]
    for derivative in (grad(function), lambda m: vjp(function, m), lambda m: jvp(
        function, (m,), ([np.ones(3)] * 3,)
    )):
        with pytest.raises((AliasedError, UnsupportedError)) as caught:
            derivative(arrays)
        assert "in two places" in str(caught.value)
