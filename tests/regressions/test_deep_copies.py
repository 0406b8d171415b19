"""``copy.deepcopy``: what is written into a copy is not seen in what was copied."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from adcompiler.runtime.aliases import AliasedError
from tests.language.check import check

X = np.array([1.0, 2.0, 3.0])


class Plain:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


@dataclasses.dataclass
class Record:
    a: Any
    b: Any


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


class Named(NamedTuple):
    a: Any
    b: Any


class Shallow:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __deepcopy__(self, memo: Any) -> Any:
        return Shallow(self.a, self.b)


@pytest.mark.parametrize("make", [Plain, Record, Slots, Named])
def test_instances(make: Callable[[Any, Any], Any]) -> None:
    def element(x):
        p = make(x * 1.0, x * 2.0)
        c = copy.deepcopy(p)
        c.b[0] = 5.0
        return np.sum(c.b * p.b)

    def in_place(x):
        p = make(x * 1.0, x * 2.0)
        c = copy.deepcopy(p)
        b = c.b
        b += 1.0
        return np.sum(c.b * p.b * p.a)

    def inside(x):
        p = make(make(x, x * 3.0), [x * 2.0, x + 1.0])
        c = copy.deepcopy(p)
        c.a.b[0] = 7.0
        c.b[1][1] = 4.0
        return np.sum(c.a.b * p.a.b) + np.sum(c.b[1] * p.b[1])

    for function in (element, in_place, inside):
        check(function, X)


def test_instances_that_are_given() -> None:
    def given(p):
        c = copy.deepcopy(p)
        c.a[0] = 5.0
        c.b["k"].append(2.0)
        return np.sum(c.a * p.a) * sum(c.b["k"]) + len(p.b["k"])

    p = Plain(X.copy(), {"k": [1.0, 2.0]})
    bar = grad(given)(p)
    assert np.array_equal(p.a, X) and p.b == {"k": [1.0, 2.0]}
    assert np.array_equal(bar.a, [5.0 * 5.0, 20.0, 30.0])
    assert bar.b == {"k": [18.0, 18.0]}


def test_classes_that_say_how_they_are_copied_are_refused() -> None:
    def shared(x):
        p = Shallow(x * 1.0, x * 2.0)
        c = copy.deepcopy(p)
        c.b[0] = 5.0
        return np.sum(c.b * p.b)

    with pytest.raises(UnsupportedError, match=r"deepcopy\(\) is given an instance of Shallow"):
        grad(shared)(X)


TWICE: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "made tuple": (lambda x: written(copy.deepcopy((x, x)), x), lambda x: x),
    "made list": (lambda x: written(copy.deepcopy([x, x]), x), lambda x: x),
    "made instance": (lambda x: written(copy.deepcopy(Plain(x, x)), x), lambda x: x),
    "given tuple": (lambda t: written(copy.deepcopy(t), t[0]), lambda x: (x, x)),
    "given list": (lambda t: written(copy.deepcopy(t), t[0]), lambda x: [x, x]),
    "given dict": (lambda d: written(copy.deepcopy(d), d[0]), lambda x: {0: x, 1: x}),
    "given instance": (lambda p: written(copy.deepcopy(p), p.a), lambda x: Plain(x, x)),
}


def written(c: Any, x: Any) -> Any:
    first, second = (c.a, c.b) if isinstance(c, Plain) else (c[0], c[1])
    first[0] = 5.0
    return np.sum(second * x)


@pytest.mark.parametrize("name", TWICE)
def test_one_object_in_two_places_is_never_taken_for_two(name: str) -> None:
    function, make = TWICE[name]
    assert function(make(X.copy())) == 5.0 + 4.0 + 9.0
    with pytest.raises(AliasedError, match="makes a deep copy of what holds one array"):
        grad(function)(make(X.copy()))


def test_views_that_overlap_are_copied_apart() -> None:
    def overlapping(x):
        c = copy.deepcopy((x[1:], x[:-1]))
        c[0][0] = 5.0
        return np.sum(c[1] * x[1:]) + np.sum(c[0])

    check(overlapping, X)
