"""Operators between numbers, arrays, sequences, and instances of classes that have their own.

Which side decides is as in Python and NumPy: the left operand's class first, unless it leaves it to
the other; NumPy's numbers leave the repeating of a sequence to the sequence.
"""

from __future__ import annotations

import collections
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.errors import RecordedWarning

X = np.array([0.3, 0.7, 1.4, 0.5])


class Items(list[Any]):
    """A list with operators of its own."""

    def __mul__(self, k: Any) -> Any:
        return Items(v * k for v in self)

    def __sub__(self, k: Any) -> Any:
        return NotImplemented

    def __rsub__(self, k: Any) -> Any:
        return 7.0 * k

    def __matmul__(self, other: Any) -> Any:
        return sum(a * b for a, b in zip(self, other, strict=True))


class Row:
    """A sequence that NumPy would make an array of, with operators of its own."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __getitem__(self, i: Any) -> Any:
        return self.items[i]

    def __len__(self) -> int:
        return len(self.items)

    def __mul__(self, k: Any) -> Any:
        return Row(*(v * k for v in self.items))

    def __rmul__(self, k: Any) -> Any:
        return 11.0 * k

    def __iadd__(self, k: Any) -> Any:
        self.items = tuple(v + k for v in self.items)
        return self

    def __truediv__(self, k: Any) -> Any:
        return NotImplemented


class Pair(tuple[Any, ...]):
    """A tuple whose sum is not a longer one."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return Pair(a + b for a, b in zip(self, other, strict=True))


class Before:
    """Comes before arrays."""

    __array_priority__ = 100

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __getitem__(self, i: Any) -> Any:
        return self.items[i]

    def __len__(self) -> int:
        return len(self.items)

    def __rmul__(self, k: Any) -> Any:
        return 11.0 * k


class Thing:
    """Has operators, an array, a sum and a real part."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __mul__(self, k: Any) -> Any:
        return self.a * 3.0 * k

    def __rmul__(self, k: Any) -> Any:
        return self.a * 5.0 * k

    def __neg__(self) -> Any:
        return self.a * 2

    def __abs__(self) -> Any:
        return self.a**2

    def __float__(self) -> float:
        return float(self.a) * 9

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.a * 2)

    def sum(self) -> Any:
        return self.a * 4

    @property
    def real(self) -> Any:
        return self.a * 6


class Weight:
    """Has operators on both sides."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def __mul__(self, k: Any) -> Any:
        return k * self.w

    def __add__(self, k: Any) -> Any:
        return k + self.w * 2

    __radd__ = __add__


def total(value: Any) -> Any:
    """Return the sum of the items of a value, each by its place; a number as it is."""
    return sum(value[i] * (i + 1) for i in range(len(value))) if hasattr(value, "__len__") else value


def agrees(function: Callable[[Any], Any], monkeypatch: Any) -> None:
    """Check value and gradient, compiled or handed down, and recorded."""
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")
    expected = [(function(X + h) - function(X - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    for backend in ("python", "record"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordedWarning)
            value, gradient = value_and_grad(function, backend=backend)(X)
        assert value == pytest.approx(function(X), rel=1e-12), backend
        np.testing.assert_allclose(gradient, expected, atol=1e-7, err_msg=backend)


OPERANDS: dict[str, Callable[[Any], Any]] = {
    "a list's own": lambda x: total(Items([x[0], x[1]]) * x[2]),
    "refused by a list": lambda x: total(Items([x[0], x[1]]) - x[2]),
    "array before a list": lambda x: total(x[2] - Items([x[0], x[1]])),
    "product of a list": lambda x: total(Items([x[0], x[1]]) @ x[2:]),
    "left": lambda x: total(Row(x[0], x[1]) * x[2]),
    "number first": lambda x: total(x[2] * Row(x[0], x[1])),
    "array first": lambda x: total(x[2:] * Row(x[0], x[1])),
    "in place": lambda x: total(operator.iadd(Row(x[0], x[1]), x[2])),
    "left to the array": lambda x: total(Row(x[0], x[1]) / x[2]),
    "a tuple's own": lambda x: total(Pair((x[0], x[1])) + x[2:]),
    "before numbers": lambda x: total(x[2] * Before(x[0], x[1])),
    "before arrays": lambda x: total(x[2:] * Before(x[0], x[1])),
    "list repeated": lambda x: total([x[0], x[1]] * np.int64(2)),
    "repeated list": lambda x: total(np.int64(2) * [x[0], x[1]]),
    "tuple repeated": lambda x: total((x[0], x[1]) * np.int64(2)),
    "derived tuple repeated": lambda x: total(Pair((x[0], x[1])) * np.int64(2)),
    "deque repeated": lambda x: total(collections.deque([x[0], x[1]]) * np.int64(2)),
    "user list repeated": lambda x: total(collections.UserList([x[0], x[1]]) * np.int64(2)),
    "as an array": lambda x: x[2] * Thing(x[0]),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_the_operand_that_decides_is_pythons(name: str, monkeypatch: Any) -> None:
    agrees(OPERANDS[name], monkeypatch)


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_repeated_by_a_numpy_integer_is_compiled(kind: Any) -> None:
    def repeated(x: Any, k: Any) -> Any:
        items = kind([x[0], x[1]]) * k
        again = k * kind([x[2]])
        return items[0] * items[3] * again[1]

    gradient = value_and_grad(repeated, fallback="refuse")(X, np.int64(2))[1]
    np.testing.assert_allclose(gradient, [0.7 * 1.4, 0.3 * 1.4, 0.21, 0.0])


def thing_or(x: Any, c: float) -> Any:
    """Return an instance or a number."""
    found = Thing(x[0])
    if c > 0:
        found = x[1]
    return found


def in_a_list(x: Any, c: float) -> Any:
    return [Weight(x[0]), x[1]][0 if c < 0 else 1]


def in_a_dict(x: Any, c: float) -> Any:
    return {"a": Weight(x[0]), "b": x[1]}["a" if c < 0 else "b"]


def in_a_loop(x: Any, c: float) -> Any:
    found = 3.0
    for _ in range(int(abs(c))):
        found = Weight(x[0]) if c < 0 else found
    return found


USES: dict[str, Callable[[Any, float], Any]] = {
    "left": lambda x, c: thing_or(x, c) * x[2],
    "right": lambda x, c: x[2] * thing_or(x, c),
    "negated": lambda x, c: -thing_or(x, c),
    "absolute": lambda x, c: abs(thing_or(x, c)),
    "float": lambda x, c: float(thing_or(x, c)) * x[2],
    "method": lambda x, c: thing_or(x, c).sum(),
    "property": lambda x, c: thing_or(x, c).real * x[2],
    "array": lambda x, c: np.asarray(thing_or(x, c)) * x[1],
    "of a list": lambda x, c: x[2] + in_a_list(x, c),
    "of a dict": lambda x, c: in_a_dict(x, c) * x[2],
    "of a loop": lambda x, c: in_a_loop(x, c) + x[2],
}


@pytest.mark.parametrize("c", [1.0, -1.0])
@pytest.mark.parametrize("name", USES)
def test_what_may_be_an_instance_is_handed_down(name: str, c: float, monkeypatch: Any) -> None:
    agrees(lambda x: USES[name](x, c), monkeypatch)


def test_an_instance_that_becomes_a_number_is_handed_down(monkeypatch: Any) -> None:
    def shrunk(x: Any) -> Any:
        found: Any = Row(x[0], x[1]) * x[2]
        while hasattr(found, "__len__"):
            found = found[0] * found[1]
        return found

    agrees(shrunk, monkeypatch)


def test_an_attribute_that_may_be_missing(monkeypatch: Any) -> None:
    class Powers:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("p"):
                return lambda v: v ** int(name[1:])
            raise AttributeError(name)

    def asked(x: Any) -> Any:
        powers = Powers()
        return powers.p2(x[0]) + getattr(powers, "p3")(x[1]) + getattr(powers, "q", x[2])  # noqa: B009

    agrees(asked, monkeypatch)


STORED: dict[str, Callable[[Any, Any], Any]] = {
    "slice": lambda items, x: items.__setitem__(slice(0, 1), x[1:3] * 2),
    "slice of a class": lambda items, x: list.__setitem__(items, slice(0, 2), x * x),
    "operator": lambda items, x: operator.setitem(items, slice(0, 2), x * x),
    "extended": lambda items, x: items.extend(x * x),
}


@pytest.mark.parametrize("name", STORED)
def test_items_of_an_array_are_stored_in_a_list(name: str, monkeypatch: Any) -> None:
    def stored(x: Any) -> Any:
        items = [x[0], x[1]]
        STORED[name](items, x)
        return total(items)

    agrees(stored, monkeypatch)


TABLES: dict[str, Callable[[Any], Any]] = {
    "update": lambda x: update({}, np.array([[0, x[0]], [1, x[1] * 2]])),
    "dict": lambda x: dict(np.stack([np.arange(4.0), x * x], 1)),
    "ordered": lambda x: collections.OrderedDict(np.stack([np.arange(4.0), x * x], 1)),
    "fromkeys": lambda x: dict.fromkeys(range(3), x[0] * x[1]),
    "pairs": lambda x: update({}, zip(range(4), x * x, strict=True)),
}


def update(table: dict[Any, Any], pairs: Any) -> dict[Any, Any]:
    table.update(pairs)
    return table


@pytest.mark.parametrize("name", TABLES)
def test_entries_are_given_as_rows(name: str, monkeypatch: Any) -> None:
    agrees(lambda x: sum(v * (k + 1) for k, v in TABLES[name](x).items()), monkeypatch)
