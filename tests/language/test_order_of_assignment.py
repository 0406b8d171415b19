"""The targets of an assignment are assigned from left to right, each after what stands before it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad

X = np.array([0.3, 0.7, 1.4, 0.5])


class Node:
    def __init__(self, v: Any, after: Any = None) -> None:
        self.v = v
        self.after = after


@contextlib.contextmanager
def given(value: Any) -> Iterator[Any]:
    yield value


def place_after_name(x: Any) -> Any:
    items, i = [x[0], x[1], x[2]], 0
    i, items[i] = 1, x[3]
    items[i], i = x[2] * 2, 0
    return items[0] * items[1] + i


def attribute_before_name(x: Any) -> Any:
    node = Node(x[0])
    node.v, node = x[1], Node(node.v * x[2])
    return node.v


def reversed_links(x: Any) -> Any:
    head = None
    for v in x:
        head = Node(v, head)
    done, node = None, head
    while node is not None:
        node.after, done, node = done, node, node.after
    total, k = 0.0, 1
    while done is not None:
        total += done.v * k
        done, k = done.after, k + 1
    return total


def targets_of_a_loop(x: Any) -> Any:
    items, k = [0.0, 0.0], 0
    for items[k], k in [(x[0], 1), (x[1], 0)]:
        pass
    return items[0] - 2 * items[1]


def targets_of_with(x: Any) -> Any:
    node = Node(1.0)
    with given(x[0]) as node.v, given(node.v * x[1]) as w:
        return node.v * w


def nested(x: Any) -> Any:
    (p, q), [r, *s] = (x[0], x[1]), x[1:]
    r, (p, q), s[0] = q, (s[1], r), p
    return p + 2 * q + 3 * r + 4 * s[0] + 5 * s[1]


def chain(x: Any) -> Any:
    items, i = [x[0], x[1], x[2]], 0
    i = items[i] = 2
    items[0] = items[1] = items[2] * x[3]
    return items[0] + items[1] * items[2] * i


def the_same_entry_twice(x: Any) -> Any:
    table: dict[str, Any] = {}
    table["a"], table["b"], table["a"] = x[0], x[1], x[2]
    return table["a"] * table["b"]


def name_then_its_item(x: Any) -> Any:
    a = [x[0], x[1]]
    b = a
    a[0], b = b[1], [x[2]]
    b, a[1] = a, x[3]
    return a[0] * a[1] + b[0]


PROGRAMS: tuple[Callable[[Any], Any], ...] = (
    place_after_name, attribute_before_name, reversed_links, targets_of_a_loop, targets_of_with,
    nested, chain, the_same_entry_twice, name_then_its_item,
)


@pytest.mark.parametrize("backend", ["python", "record"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.filterwarnings("ignore::adcompiler.errors.RecordedWarning")
def test_targets_are_assigned_in_order(program: Any, backend: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")  # links that may be None are handed down
    expected = [(program(X + h) - program(X - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    value, gradient = value_and_grad(program, backend=backend)(X)
    assert value == pytest.approx(program(X), rel=1e-14)
    np.testing.assert_allclose(gradient, expected, atol=1e-8)
