"""How long a tuple is and how many axes an array has may depend on values: not on stand-ins."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from adcompiler import hessian, jvp, value_and_grad, vjp


def repeated(x: float, n: int) -> Any:
    items = (x,) * n
    return len(items) * x + sum(items)


def repeated_from_the_left(x: float, n: int) -> Any:
    items = n * (x, x * x)
    return len(items) * x + sum(items)


def repeated_in_place(x: float, n: int) -> Any:
    items = (x,)
    items *= n
    return len(items) * x + sum(items)


def repeated_constant(x: float, n: int) -> Any:
    return len((1,) * n) * x


def repeated_and_longer(x: float, n: int) -> Any:
    items = (x,) * n + (x * x,)
    return items[-1] * len(items)


def repeated_and_cut(x: float, n: int) -> Any:
    items = ((x,) * n)[1:]
    return sum(items) * len(items)


def repeated_in_a_dict(x: float, n: int) -> Any:
    table = {"a": (x,) * n}
    return sum(table["a"]) * len(table["a"])


def product_of_lengths(items: Any) -> Any:
    return sum(items) * len(items)


def repeated_as_an_argument(x: float, n: int) -> Any:
    return product_of_lengths((x,) * n)


def counted(*items: Any) -> Any:
    return sum(items) * len(items)


def repeated_as_arguments(x: float, n: int) -> Any:
    return counted(*(x,) * n)


def repeated_and_numbered(x: float, n: int) -> Any:
    total = x
    for k, item in enumerate((x,) * n):
        total += k * item
    for item, weight in zip((x,) * n, itertools.count(1)):
        total += weight * item
    return total


def axes_of_zeros(x: float, n: int) -> Any:
    return np.zeros((2,) * n).size * x + np.ones([2] * n).ndim * x


def axes_of_a_reshape(x: float, n: int) -> Any:
    return np.reshape(np.arange(2.0**n), (2,) * n).ndim * x


def places(x: float, n: int) -> Any:
    return len(np.unravel_index(0, (2,) * max(n, 1))) * x


def new_axes(x: float, n: int) -> Any:
    return np.zeros(5)[(None,) * n].ndim * x


def least_axes(x: float, n: int) -> Any:
    return np.array([1.0, 2.0], ndmin=n).ndim * x


def axes_summed_over(x: float, n: int) -> Any:
    return np.tensordot(np.ones((2, 2, 2)), np.ones((2, 2, 2)), n).ndim * x


def splits(x: float, n: int) -> Any:
    return len(np.array_split(np.arange(6), max(n, 1))) * x


def indices(x: float, n: int) -> Any:
    return len(np.indices((2,) * n)) * x + len(np.ix_(*[[0, 1]] * n)) * x


BY_COUNT = [
    repeated, repeated_from_the_left, repeated_in_place, repeated_constant, repeated_and_longer,
    repeated_and_cut, repeated_in_a_dict, repeated_as_an_argument, repeated_and_numbered,
    axes_of_zeros, axes_of_a_reshape, places, new_axes, least_axes, axes_summed_over, splits,
    indices,
]


def check(f: Any, *args: Any) -> None:
    x, rest = args[0], args[1:]
    step = 1e-6
    slope = (f(x + step, *rest) - f(x - step, *rest)) / (2 * step)
    value, gradient = value_and_grad(f)(*args)
    assert value == pytest.approx(f(*args), rel=1e-14)
    assert gradient == pytest.approx(slope, rel=1e-6, abs=1e-9)
    value, along = jvp(f, args, (1.0, *[None] * len(rest)))
    assert (value, along) == (pytest.approx(f(*args)), pytest.approx(slope, rel=1e-6, abs=1e-9))
    value, pullback = vjp(f, *args, argnums=(0,))
    assert value == pytest.approx(f(*args), rel=1e-14)
    assert pullback(1.0)[0] == pytest.approx(slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("f", BY_COUNT, ids=lambda f: f.__name__)
def test_counts(f: Any, n: int) -> None:
    check(f, 1.5, n)


@pytest.mark.parametrize("n", [1, 3])
def test_tuples_as_arguments(n: int) -> None:
    check(repeated_as_arguments, 1.5, n)


def kept_axes(x: float, keep: bool) -> Any:
    return np.sum(np.ones((2, 2)), keepdims=keep).ndim * x + x


def more_results(x: float, more: bool) -> Any:
    found = np.unique(np.ones(3), return_counts=more)
    return x * len(found) * len(np.linspace(0.0, 1.0, 5, retstep=more))


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("f", [kept_axes, more_results], ids=lambda f: f.__name__)
def test_flags(f: Any, flag: bool) -> None:
    check(f, 1.5, flag)


def letters(x: float, text: str) -> Any:
    return len(tuple(text)) * x


@pytest.mark.parametrize("text", ["", "a", "abc"])
def test_texts(text: str) -> None:
    check(letters, 1.5, text)


def repeated_sines(x: float, n: int) -> Any:
    return sum(math.sin(k * item) for k, item in enumerate((x,) * n))


def test_second_derivatives() -> None:
    wanted = -math.sin(0.7) - 4.0 * math.sin(1.4)
    assert hessian(repeated_sines)(0.7, 3) == pytest.approx(wanted, rel=1e-12)
