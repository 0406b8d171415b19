"""Each rewrite of the optimiser, before and after; and code that it must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adcompiler.analyses.purity import Purity
from adcompiler.backends.python.free_names import settle
from adcompiler.backends.python.lower import FunctionLowering
from adcompiler.backends.python.printer.source import emit_source
from adcompiler.backends.python.references import References
from adcompiler.frontend.functions import lower
from adcompiler.ir.nodes import Block, Function, Param
from adcompiler.optimise.passes import PASSES
from adcompiler.products.specialised import specialise
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of

ARRAY = np.linspace(0.5, 1.5, 3)
MATRIX = np.ones((2, 3))
SQUARE = np.array([[1.0, 2.0], [3.0, 5.0]])
REWRITES = dict(PASSES)


def rewritten(
    function: Callable[..., Any], arguments: tuple[Any, ...], *passes: str, sweep: bool = False
) -> list[str]:
    """Return the lines of a function's body after specialisation and the passes named.

    With ``sweep`` the body counts as part of a reverse sweep, where values may round anew.
    """
    unit = Unit()
    typed = specialise(unit, lower(function), function, [type_of(a) for a in arguments])  # type: ignore[arg-type]
    statements = typed.statements
    if sweep:
        statements = tuple(replace(s, origin=s.origin.reversed()) for s in statements)  # type: ignore[union-attr, type-var]
    block = Block(statements, (typed.value,))
    purity = Purity(unit.type, unit.definition)
    for name in ("dead_code", *passes, "dead_code"):
        block = REWRITES[name](block, unit, purity)
    made = Function("f", tuple(Param(p, 1) for p in typed.params), block, typed.origin)
    lowered = FunctionLowering(made, unit, References(unit), purity).lower()
    settle([], [lowered])
    text = emit_source(lowered)
    return [line.strip() for line in text.splitlines()[1:] if not line.strip().startswith("#")]


def times_one(x): return x * 1.0
def one_times(x): return 1.0 * x
def times_minus_one(x): return x * -1.0
def over_one(x): return x / 1.0
def twice_negated(x): return -(-x)
def plus_negative(x, y): return x + -y
def minus_negative(x, y): return x - -y
def negative_plus(x, y): return -x + y
def negative_factor(x, y): return (-x) * y
def over_negative(x, y): return x / (-y)
def times_inverse(x, y): return x * (1.0 / y)
def filled_times(x): return np.full_like(x, 2.0) * x
def filled_scaled(x): return np.full_like(x, 2.0) * 3.0
def filled_negated(x): return -np.full_like(x, 2.0)
def filled_sum(x): return np.sum(np.full_like(x, 2.0))
def size_of_sum(x): return (x + x).size
def stretched_times(X): return np.broadcast_to(np.sum(X, axis=1, keepdims=True), X.shape) * X
def factor_out(x, y, c): return c * x - c * (x * y)
def turned_twice(X, Y): return X.T.T * Y
def product_turned(X, P): return (P @ X.T).T
def product_of_neither(X, P): return (P @ X).T
def factor_in_front(X, P): return X @ P + X @ P.T
def factor_behind(X, P): return P @ X - P.T @ X
def gram_sweep(X, P): return X @ P + (P @ X.T).T
def other_factors(X, P): return X @ P + P @ X
def factor_of_vectors(X, x, y): return X @ x + X @ y
def product_read_again(X, P):
    product = X @ P
    return product + X @ P.T, product
def negative_summed(X): return (-X).sum(axis=0)
def negative_summed_from(X): return (-X).sum(axis=0, initial=2.0)


ALGEBRA = [
    (times_one, (ARRAY,), ["return x"]),
    (one_times, (0.5,), ["return x"]),
    (times_minus_one, (ARRAY,), ["return -x"]),
    (over_one, (0.5,), ["return x"]),
    (twice_negated, (ARRAY,), ["return x"]),
    (plus_negative, (ARRAY, ARRAY), ["return x - y"]),
    (minus_negative, (0.5, 1.5), ["return x + y"]),
    (negative_plus, (ARRAY, ARRAY), ["return y - x"]),
    (negative_factor, (ARRAY, ARRAY), ["return -(x * y)"]),
    (over_negative, (0.5, 1.5), ["return -(x / y)"]),
    (times_inverse, (ARRAY, ARRAY), ["return x / y"]),
    (filled_times, (ARRAY,), ["return 2.0 * x"]),
    (filled_scaled, (ARRAY,), ["return np.full_like(x, 6.0)"]),
    (filled_negated, (ARRAY,), ["return np.full_like(x, -2.0)"]),
    (filled_sum, (ARRAY,), ["return 2.0 * x.size"]),
    (size_of_sum, (ARRAY,), ["return x.size"]),
    (stretched_times, (MATRIX,), ["return np.sum(X, axis=1, keepdims=True) * X"]),
]


@pytest.mark.parametrize(
    ("function", "arguments", "after"), ALGEBRA, ids=[row[0].__name__ for row in ALGEBRA]
)
def test_algebra(function: Any, arguments: Any, after: list[str]) -> None:
    assert rewritten(function, arguments, sweep=True) != after
    assert rewritten(function, arguments, "algebra", "algebra_again", sweep=True) == after


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (times_inverse, (ARRAY, ARRAY)),
        (factor_out, (ARRAY, ARRAY, 0.5)),
        (filled_sum, (ARRAY,)),
        (times_one, (ARRAY,)),  # the result is an array of its own
        (twice_negated, (ARRAY,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_values_of_the_program_itself_are_not_touched(function: Any, arguments: Any) -> None:
    assert rewritten(function, arguments, "algebra", "algebra_again") == rewritten(
        function, arguments
    )


def integer_times_one(n): return n * 1.0
def product(x, y): return x * y
def integer_over_one(n): return n / 1
def shared_inverse(x, y):
    inverse = 1.0 / y
    return x * inverse + inverse
def filled_other(x, y): return np.full_like(x, 2.0) * y
def filled_single(x): return np.full_like(x, np.float64(2.0)) * x
def filled_integers(n): return np.full_like(n, 2.5) * n


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (integer_times_one, (3,)),  # the result is a float, the operand is not
        (integer_over_one, (3,)),
        (product, (ARRAY, ARRAY)),
        (filled_other, (ARRAY, MATRIX)),  # the result has the shape of neither operand alone
        (filled_single, (ARRAY.astype(np.float32),)),  # the result would become float64
        (filled_integers, (np.arange(3),)),  # the fill is cut to an integer
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_algebra_leaves_alone(function: Any, arguments: Any) -> None:
    assert rewritten(function, arguments, "algebra", "algebra_again") == rewritten(
        function, arguments
    )


@pytest.mark.parametrize(
    ("function", "arguments", "after"),
    [
        (turned_twice, (MATRIX, MATRIX), "return X * Y"),
        (product_turned, (SQUARE, SQUARE), "return X @ P.T"),
        (factor_in_front, (SQUARE, SQUARE), "return X @ (P + P.T)"),
        (factor_behind, (SQUARE, SQUARE), "return (P - P.T) @ X"),
        (gram_sweep, (MATRIX.T, SQUARE), "return X @ (P + P.T)"),
        (negative_summed, (MATRIX,), "return -X.sum(axis=0)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_products_of_matrices(function: Any, arguments: Any, after: str) -> None:
    before = rewritten(function, arguments, "algebra", "algebra_again")
    assert before == rewritten(function, arguments)
    lines = rewritten(function, arguments, "algebra", "algebra_again", sweep=True)
    assert lines == [after]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (product_of_neither, (SQUARE, SQUARE)),
        (other_factors, (SQUARE, SQUARE)),
        (factor_of_vectors, (SQUARE, ARRAY[:2], ARRAY[:2])),
        (product_read_again, (SQUARE, SQUARE)),
        (gram_sweep, (MATRIX.T, SQUARE.astype(np.float32))),
        (negative_summed_from, (MATRIX,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_products_that_stay_as_they_are(function: Any, arguments: Any) -> None:
    assert rewritten(function, arguments, "algebra", "algebra_again", sweep=True) == rewritten(
        function, arguments, sweep=True)


def test_a_shared_inverse_is_not_divided_by_again() -> None:
    lines = rewritten(shared_inverse, (ARRAY, ARRAY), "algebra", "algebra_again", sweep=True)
    assert lines == ["inverse = 1.0 / y", "return x * inverse + inverse"]


def test_a_common_number_is_factored_out() -> None:
    lines = rewritten(factor_out, (ARRAY, ARRAY, 0.5), "algebra", "algebra_again", sweep=True)
    assert lines == ["return c * (x - x * y)"]


def same_twice(x, y): return np.sin(x * y) + np.cos(y * x)
def fresh_twice(n): return [0.0] * n, [0.0] * n


def test_equal_expressions_are_computed_once() -> None:
    assert rewritten(same_twice, (0.5, 1.5), "common_subexpressions") == [
        "product = x * y", "return np.sin(product) + np.cos(product)",
    ]


def test_new_storage_is_made_each_time() -> None:
    assert rewritten(fresh_twice, (3,), "common_subexpressions") == [
        "return [0.0] * n, [0.0] * n"
    ]


def unused(x):
    y = np.sin(x)
    total = 0.0
    for i in range(3):
        total = total + x
        y = y * x
    return total


def test_carried_values_that_nobody_reads_are_dropped() -> None:
    assert rewritten(unused, (0.5,)) == [
        "total = 0.0", "for _ in range(3):", "total = total + x", "return total",
    ]


def effects(x):
    print(x)
    np.sin(x)
    return x


def test_effects_are_kept_and_pure_calls_dropped() -> None:
    assert rewritten(effects, (0.5,)) == ["print(x)", "return x"]


def branch_twice(x):
    if x > 0.0:
        y = x * 2.0
    else:
        y = x * 3.0
    return y


def two_branches(x, flag):
    a = np.sin(x) if flag else np.cos(x)
    if flag:
        b = a * 2.0
    else:
        b = a * 3.0
        print(b)
    return b


def test_branches_on_one_condition_become_one() -> None:
    assert rewritten(two_branches, (0.5, True), "join_branches") == [
        "if flag:", "b = np.sin(x) * 2.0", "return b", "b = np.cos(x) * 3.0", "print(b)",
        "return b",
    ]


def effect_between(x, flag):
    if flag:
        print("first")
    print(x)
    if flag:
        print("second")
    return x


def test_branches_are_not_moved_past_effects() -> None:
    lines = rewritten(effect_between, (0.5, True), "join_branches")
    assert lines == rewritten(effect_between, (0.5, True))
    assert lines.index("print(x)") == lines.index('print("first")') + 1


def constant_carried(x, n):
    y = x
    total = 0.0
    for _ in range(n):
        y = y if n > 100 else y  # noqa: RUF034
        total = total + y
    return total


def test_carried_values_that_never_change_are_not_carried() -> None:
    assert rewritten(constant_carried, (0.5, 3), "algebra", "algebra_again") == [
        "total = 0.0", "for _ in range(n):", "total = total + x", "return total",
    ]
