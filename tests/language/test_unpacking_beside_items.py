"""Names that take a sequence apart, beside reads of its items by other subscripts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad

V = np.array([[1.0, 2.0], [3.0, 5.0]])


def by_negative_subscripts(x: Any, v: Any) -> Any:
    b, g = v
    a, c = v[0], v[-1]
    return x * a[0] + np.sum(b * g * c) * x


def by_two_subscripts(x: Any, v: Any) -> Any:
    a = v[1, 0]
    b, g = v
    return x * a + np.sum(b * g) * x


def by_a_truth_value(x: Any, v: Any) -> Any:
    a = v[True]
    b, g = v
    return x * np.sum(a) + np.sum(b * g) * x


def beyond_the_end(x: Any, v: Any) -> Any:
    try:
        a = v[7]
    except IndexError:
        a = v[0]
    b, g = v
    return x * np.sum(a) + np.sum(b * g) * x


def twice(x: Any, v: Any) -> Any:
    a = v[0]
    b, g = v
    return x * np.sum(a) + np.sum(a * b * g) * x


def last(x: Any, v: Any) -> Any:
    b, g = v
    a = v[-1]
    return x * np.sum(a) + np.sum(b * g) * x


@pytest.mark.parametrize("v", [V, tuple(V), list(V)], ids=["array", "tuple", "list"])
@pytest.mark.parametrize("f", [
    by_negative_subscripts, by_two_subscripts, by_a_truth_value, beyond_the_end, twice, last,
])
def test_each_name_has_its_item(f: Any, v: Any) -> None:
    if f in (by_two_subscripts, by_a_truth_value) and not isinstance(v, np.ndarray):
        v = V
    value, slope = value_and_grad(f)(2.0, v)
    assert value == f(2.0, v)
    assert slope == pytest.approx(f(1.0, v), rel=1e-12)  # all are linear in x


@pytest.mark.parametrize("f", [by_negative_subscripts, by_two_subscripts, twice, last])
def test_three_items_are_too_many(f: Any) -> None:
    three = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ValueError, match="too many values to unpack"):
        value_and_grad(f)(2.0, three)
