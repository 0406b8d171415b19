"""``items *= n``: the list itself gets longer, under all of its names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jacfwd, vjp

X = np.array([0.5, 1.5, 2.5])


def known(x: Any, n: int) -> Any:
    items = [x[0], x[1]]
    items *= 2
    return items[0] * items[2] + items[3] * n


def under_two_names(x: Any, n: int) -> Any:
    items = other = [x[0], x[1]]
    items *= n
    other[3] = x[2] * 2.0
    return sum(a * b for a, b in zip(items, other, strict=True))


def while_an_iterator_waits(x: Any, n: int) -> Any:
    items = [v * v for v in x]
    waiting = iter(items)
    items *= n
    return sum(waiting)


def in_a_loop(x: Any, n: int) -> Any:
    items = [v * v for v in x]
    for i in range(2):
        items *= n
        items.append(x[i])
    return sum(v * (i + 1) for i, v in enumerate(items))


def longer(items: list[Any], n: int) -> None:
    items *= n


def in_a_function(x: Any, n: int) -> Any:
    items = list(x)
    longer(items, n)
    return sum(items) * items[1]


def in_a_branch(x: Any, n: int) -> Any:
    items = [v * v for v in x]
    if x[0] > 0:
        items *= n
    return sum(items)


def of_nothing(x: Any, n: int) -> Any:
    items = [x[0]]
    items *= n - n
    return sum(items) + x[1] * len(items) + x[2] ** 2


def where_it_raises(x: Any, n: int) -> Any:
    items = [x[0], x[1]]
    try:
        items *= n + 0.5
    except TypeError:
        items.append(x[2])
    return sum(v * v for v in items)


PROGRAMS = [
    known, under_two_names, while_an_iterator_waits, in_a_loop, in_a_function, in_a_branch,
    of_nothing, where_it_raises,
]


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program: Callable[..., Any], n: int) -> None:
    wanted = [(program(X + 1e-6 * e, n) - program(X - 1e-6 * e, n)) / 2e-6 for e in np.eye(3)]
    value, pullback = vjp(program, X, n)
    assert value == program(X, n)
    np.testing.assert_allclose(pullback(1.0)[0], wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(grad(program)(X, n), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jacfwd(program)(X, n), wanted, rtol=1e-7, atol=1e-8)


def weighed(items: list[float], n: int) -> Any:
    items *= n
    return sum(v * v * (i + 1) for i, v in enumerate(items))


def test_the_caller_sees_the_list_that_is_left() -> None:
    items = [1.0, 2.0]
    value, pullback = vjp(weighed, items, 3)
    assert (value, pullback(1.0)[0]) == (57.0, [18.0, 48.0])
    assert items == [1.0, 2.0] * 3


def of_arrays(x: Any, n: int) -> Any:
    items = [x]
    items *= n
    return np.sum(items[1])


def test_lists_of_arrays_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="writes into the list"):
        grad(of_arrays)(X, 2)
