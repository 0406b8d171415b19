"""Arguments of classes that derive from built-in ones, with attributes: what they hold carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler import grad


class Degrees(float):
    def __new__(cls, value: float, name: str) -> Degrees:
        made = float.__new__(cls, value)
        made.name = name  # type: ignore[attr-defined]
        return made


class Row(list[float]):
    name: str


class Table(dict[str, float]):
    name: str


class Pair(tuple[float, ...]):
    name: str


class Phase(complex):
    name: str


def named(value: Any) -> Any:
    value.name = "q"
    return value


CASES: list[tuple[Any, Callable[[Any], Any], Any]] = [
    (lambda: Degrees(3.0, "a"), lambda x: x * x, 6.0),
    (lambda: named(Row([1.0, 2.0])), lambda x: x[0] * x[1], [2.0, 1.0]),
    (lambda: named(Table({"a": 2.0})), lambda x: x["a"] ** 2, {"a": 4.0}),
    (lambda: named(Pair((1.0, 2.0))), lambda x: x[0] * x[1], (2.0, 1.0)),
    (lambda: named(Phase(1.0 + 2.0j)), lambda x: (x * x).real, 2.0 - 4.0j),
]


def test_attributes_make_no_constant_of_what_an_argument_holds() -> None:
    for make, function, wanted in CASES:
        for backend in ("python", "record"):
            for _ in range(2):
                found = grad(function, backend=backend)(make())
                assert found == wanted, (type(make()), backend)
    row = named(Row([1.0, 2.0]))
    assert grad(lambda x: x[0] * len(x.name), backend="record")(row) == [1.0, 0.0]
    assert np.array_equal(row, [1.0, 2.0])
