"""Arguments of classes of which nothing is known: refused, not differentiated to a wrong number."""

from __future__ import annotations

import array
import collections
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad, jvp, vjp

MAKERS: tuple[Callable[[], Any], ...] = (
    lambda: collections.deque([1.0, 2.0]),
    lambda: array.array("d", [1.0, 2.0]),
    lambda: memoryview(np.array([1.0, 2.0])),
    lambda: {1.0, 2.0},
    lambda: frozenset({1.0, 2.0}),
    lambda: {0: 1.0, 1: 2.0}.values(),
    lambda: {1.0: 1.0, 2.0: 2.0}.keys(),
    lambda: types.MappingProxyType({0: 1.0, 1: 2.0}),
    lambda: np.array([1.0, 2.0]).flat,
)
WHOLE = (
    *MAKERS, lambda: iter([1.0, 2.0]), lambda: (v for v in (1.0, 2.0)), lambda: map(float, "12"),
    lambda: range(3), lambda: Decimal(2), lambda: Fraction(2), lambda: closure(2.0),
    lambda: np.sin, lambda: types, lambda: dict, lambda: np.datetime64("2020-01-01"),
    lambda: np.array([1.0, 2.0], dtype=object), lambda: "a", lambda: True,
)
READS: tuple[Callable[[Any], Any], ...] = (
    lambda h: h[0] * h[1], lambda h: sum(h), lambda h: sum([v * v for v in h]),
    lambda h: np.sum(np.array(h)),
)


class Holder:
    def __init__(self, h: Any) -> None:
        self.h, self.k = h, 2.0


def closure(k: float) -> Callable[[float], float]:
    return lambda z: k * z


def is_defined(read: Callable[[Any], Any], value: Any) -> bool:
    """Say whether the plain function gives a float of it."""
    try:
        return isinstance(read(value) * 1.0, float)
    except (TypeError, KeyError):
        return False


def of_item(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda p: read(p["h"]) * p["k"]


def of_attribute(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda p: read(p.h) * p.k


def test_arguments_of_unknown_classes_are_refused() -> None:
    for make in WHOLE:
        for call in (
            lambda x: grad(lambda q: 2.0)(x), lambda x: vjp(lambda q: 2.0, x),
            lambda x: jvp(lambda q: 2.0, (x,), (x,)),
        ):
            with pytest.raises(ADError, match="cannot differentiate with respect to q"):
                call(make())


def test_parts_of_unknown_classes_are_refused_where_they_are_read() -> None:
    tried = 0
    for make in MAKERS:
        for read in READS:
            if not is_defined(read, make()):
                continue
            for function, holder in (
                (of_item(read), {"h": make(), "k": 2.0}), (of_attribute(read), Holder(make())),
            ):
                tried += 1
                with pytest.raises(ADError, match=r"argument-types|has no rule|neither a rule"):
                    grad(function)(holder)
    assert tried > 30


def test_parts_that_nobody_reads_have_no_gradient() -> None:
    for make in MAKERS:
        found = grad(lambda p: p["k"] ** 2)({"h": make(), "k": 3.0})
        assert found == {"h": None, "k": 6.0}
        instance = grad(lambda p: p.k**2)(Holder(make()))
        assert instance.h is None
        assert instance.k == 4.0


def test_unknown_items_of_mixed_lists_are_refused() -> None:
    with pytest.raises(ADError, match="argument-types"):
        grad(lambda q: q[0] * q[1][0])([2.0, collections.deque([1.0])])


def test_structures_of_derived_classes_are_differentiated() -> None:
    class Numbers(list[float]):
        pass

    assert grad(lambda q: q[0] * q[1] ** 2)(Numbers([1.0, 2.0])) == [4.0, 4.0]
    ordered = collections.OrderedDict(a=1.0, b=2.0)
    assert grad(lambda q: q["a"] * q["b"] ** 2)(ordered) == {"a": 4.0, "b": 4.0}
