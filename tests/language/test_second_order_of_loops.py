"""Every way to compute a Hessian gives that of ordinary loops: of the gradient's differences."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad, hessian
from tests.lanes import one_in

X = np.array([0.5, 1.5, 2.5, 0.7])
FORMS: dict[str, Callable[[Any], Any]] = {}


def form(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    FORMS[function.__name__] = function
    return function


@form
def generator_expression(x):
    return sum(v * v * w for v, w in zip(x, x[1:], strict=False))


@form
def groups(x):
    total = 0.0
    for _, group in itertools.groupby(range(4), key=lambda i: i // 2):
        product = 1.0
        for i in group:
            product = product * x[i]
        total += product * product
    return total


@form
def dict_comprehension(x):
    squares = {i: x[i] * x[i] for i in range(4)}
    return sum(squares[i] * squares[(i + 1) % 4] for i in squares)


@form
def memo(x):
    known = {0: x[0], 1: x[1]}
    for n in range(2, 5):
        known[n] = known[n - 1] * known[n - 2]
    return known[4]


@form
def pairs_appended(x):
    out = []
    for i, (p, q) in enumerate(zip(x, x[1:], strict=False)):
        out.append(p * q**i)
    total = 0.0
    for v in out:
        total += v * v
    return total


@form
def nested(x):
    total = 0.0
    for i in range(4):
        for j in range(i):
            total += x[i] * x[j] * math.exp(x[i] - x[j])
    return total


@form
def while_loop(x):
    y, n = x[0], 0
    while y < 20.0:
        y = y * y + x[1]
        n += 1
    return y * n


@form
def left_by_break(x):
    total = 1.0
    for v in x:
        if v > 2.0:
            break
        total *= v * v
    return total


@form
def writes(x):
    y = x * 1.0
    for i in range(1, 4):
        y[i] = y[i - 1] * y[i]
    return y[3] * y[1]


@form
def handled(x):
    total = 0.0
    for v in x:
        try:
            if v < 0.6:
                raise ValueError
            total += v**3
        except ValueError:
            total += v * v
    return total


@form
def accumulated(x):
    return sum(v * v for v in itertools.accumulate(x))


@pytest.mark.parametrize("name, mode", one_in(3, itertools.product(
    FORMS, [None, "fwd_adj", "fwd_fwd", "adj_fwd", "adj_adj"])))
def test_hessian(name: str, mode: str | None) -> None:
    gradient, step = grad(FORMS[name]), 1e-5
    wanted = [(gradient(X + step * e) - gradient(X - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(hessian(FORMS[name], mode=mode)(X), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", FORMS)
def test_gradient_of_a_gradient(name: str) -> None:
    gradient = grad(FORMS[name])
    twice = grad(lambda x: np.sum(gradient(x)))(X)
    np.testing.assert_allclose(twice, hessian(FORMS[name])(X).sum(axis=0), rtol=1e-10, atol=1e-10)


def mixed(x):
    found = {}
    for key in "ab":
        found[key] = x[0] if key == "a" else x
    y = found["b"]
    y += 1.0
    return np.sum(y)


def test_messages_name_nothing_of_the_first_derivative() -> None:
    with pytest.raises(ADError) as caught:
        hessian(mixed)(X)
    text = str(caught.value)
    assert "`+=` would write into a value of type ndarray, which was not known" in text
    assert not re.search(r"_bar\b|\btape\b|\bbuffer\b|line \d+,", text)


def test_an_operator_in_place_that_turns_out_to_write_tells_where() -> None:
    with pytest.raises(ADError, match=r"test_second_order_of_loops\.py:\d+: `\+=` would write"):
        grad(mixed)(X)


@pytest.mark.records
def test_an_operator_in_place_that_turns_out_to_write_is_recorded() -> None:
    np.testing.assert_array_equal(grad(mixed)(X), np.ones(4))
