"""Gradients share storage with no argument, with no cotangent and with no other, and are writable.

This holds for each function with a rule, also with options for which it gives back its argument, or
a view of it.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from adcompiler import ADError, facts, grad, rrule, vjp
from adcompiler.rulekit import REGISTRY, Call
from tests.lanes import one_in
from tests.ops.test_facts import FUNCTIONS, OPTIONS, arrays, calls_of
from tests.rules.shares import OURS
from tests.together import each

SHARING = {
    name: function for name, function in FUNCTIONS.items()
    if REGISTRY.facts(function).sharing and REGISTRY.has_rules(function)
    and not name.startswith(OURS)
}
"""Functions whose results may share storage with arguments."""


def first_calls(name: str, function: Any) -> Iterator[Call]:
    """Yield calls of a function with options that decide about storage, and a few others."""
    yield from OPTIONS.get(name, ())
    yield from list(calls_of(name, function))[:3]


def weighted(function: Any, call: Call) -> Any:
    """Return a function of weights and the first argument of a call, linear in the weights."""
    args, kwargs = call.args[1:], call.kwargs
    named = ", ".join(f"{key}={value!r}" for key, value in kwargs.items())
    given = ", ".join(["c", *map(repr, args), *([named] if named else [])])
    text = f"def weighted(x, c):\n    return np.sum(x * function({given}))\n"
    name = f"<weighted {function} {given}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np, "function": function, "__name__": "weighted"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["weighted"]


def check_own(gradient: Any, others: Any, before: Any) -> None:
    """Assert that the arrays of a gradient are writable, and nobody else's."""
    for mine in arrays(gradient):
        assert mine.flags.writeable
        for other in arrays(others):
            assert not np.shares_memory(mine, other)


@each("name", SHARING, parts=8)
def test_a_gradient_does_not_share_with_another_argument(name):
    function = SHARING[name]
    for call in first_calls(name, function):
        if not call.args or not isinstance(call.args[0], np.ndarray) or any(
            "array" in repr(arg) or "<" in repr(arg) for arg in call.args[1:]
        ):
            continue
        c = call.args[0].copy()
        with np.errstate(all="ignore"):
            try:
                shape = np.shape(function(c, *call.args[1:], **call.kwargs))
                gradient = grad(weighted(function, call))(np.ones(shape), c)
            except (ADError, TypeError, ValueError):
                continue
        check_own(gradient, c, c)


@each("name", one_in(8, SHARING), parts=2)
def test_a_pullback_gives_arrays_of_its_own(name):
    function = SHARING[name]
    for call in first_calls(name, function):
        if call.kwargs or not all(isinstance(arg, np.ndarray) for arg in call.args):
            continue
        try:
            value, pullback = vjp(function, *call.args)
        except (ADError, TypeError, ValueError):
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim:
            seed = np.ones_like(value)
            bars = pullback(seed)
            check_own(bars, [*call.args, seed, value], seed)


def halves(c):
    return c[:2]


def halves_rule(c):
    def halves_pullback(dy):
        return np.concatenate([dy, np.zeros(2)])

    return c[:2], halves_pullback


def as_given(c):
    return c


def as_given_rule(c):
    def as_given_pullback(dy):
        return dy

    return as_given(c), as_given_pullback


@pytest.fixture
def rules_of_a_third_party():
    rrule(halves)(halves_rule)
    rrule(as_given, shares="same")(as_given_rule)
    yield
    REGISTRY.remove(halves)
    REGISTRY.remove(as_given)


@pytest.mark.parametrize("function", [halves, as_given])
@pytest.mark.usefixtures("rules_of_a_third_party")
def test_a_third_party_s_rule_may_give_a_view(function):
    def weighted(x, c):
        return np.sum(x * function(c))

    c = np.arange(4.0)
    gradient = grad(weighted)(np.ones(len(function(c))), c)
    check_own(gradient, c, c)
    gradient *= 0.0
    assert np.array_equal(c, np.arange(4.0))


CASES = {
    "diff": lambda x, c: np.sum(x * np.diff(c, n=0)),
    "matrix_power": lambda x, c: np.sum(x * np.linalg.matrix_power(c, 1)),
    "asfortranarray": lambda x, c: np.sum(x * np.asfortranarray(c)),
    "nan_to_num": lambda x, c: np.sum(x * np.nan_to_num(c, copy=False)),
    "array_split": lambda x, c: np.sum(x[:2] * np.array_split(c, 2)[0]),
    "broadcast_arrays": lambda x, c: np.sum(x * np.broadcast_arrays(c, 1.0)[0]),
    "asarray_chkfinite": lambda x, c: np.sum(x * np.asarray_chkfinite(c)),
    "meshgrid": lambda x, c: np.sum(x[0] * np.meshgrid(c[0], copy=False)[0]),
    "diag": lambda x, c: np.sum(x[0] * np.diag(c)),
    "sliding_window_view": lambda x, c: np.sum(
        x[:, :2] * np.lib.stride_tricks.sliding_window_view(c, 2, 1)[:, 0]),
    "einsum": lambda x, c: np.sum(x * np.einsum(c, [0, 1], [1, 0])),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_where_a_function_gives_back_its_argument(name):
    c = np.array([[1.0, 2.0, 3.0], [0.5, 1.5, 2.5], [0.1, 0.2, 0.3]])
    before = c.copy()
    gradient = grad(CASES[name])(np.ones((3, 3)), c)
    check_own(gradient, c, c)
    gradient *= 0.0
    assert np.array_equal(c, before)


facts(halves, pure=True)


def through_diagonals(x, c):
    return np.sum(x * np.diag(np.diag(c)))


def through_the_diagonal_of_a_product(x, c):
    return np.sum(x * np.outer(c, c).diagonal())


def through_a_spread_number(x, c):
    return np.sum(x * np.broadcast_to(2.0, (2,)))


def through_spread_rows(x, c):
    return np.sum(x * np.broadcast_to(c * 2.0, (2,)))


def through_windows(x, c):
    return np.sum(x * sliding_window_view(c * 2.0, 1)[:, 0])


@pytest.mark.parametrize("f", [
    through_diagonals, through_the_diagonal_of_a_product, through_a_spread_number,
    through_spread_rows, through_windows,
])
def test_gradients_that_are_views_of_new_arrays_can_be_written_into(f):
    x, c = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    found = grad(f)(x, c)
    wanted = found.copy()
    found *= 0.0
    assert np.array_equal(vjp(f, x, c)[1](1.0)[0], wanted)
    assert np.array_equal(grad(f)(x, c), wanted)
    assert np.array_equal(c, [3.0, 4.0])
