"""What a recording hands out, and what objects in C keep of it."""

from __future__ import annotations

import functools

import numpy as np

from adcompiler import value_and_grad, vjp


def test_a_view_of_constants_is_an_array_of_its_own() -> None:
    def viewed(x):
        numbers = np.arange(4.0)
        view = numbers.view()
        view.shape = (2, 2)
        view[0] = x
        return numbers[0] * numbers[1] + view[1, 1]

    x = np.array([2.0, 5.0])
    value, gradient = value_and_grad(viewed, backend="record")(x)
    assert value == viewed(x) == 13.0
    np.testing.assert_array_equal(gradient, [5.0, 2.0])


def test_an_inner_function_may_keep_its_results() -> None:
    def remembered(x):
        @functools.lru_cache(None)
        def term(n):
            return x[n] if n < 2 else term(n - 1) * 0.5 + term(n - 2) * x[n]

        return term(3) + term(2)

    x = np.array([0.3, 0.7, 1.4, 0.5])
    value, gradient = value_and_grad(remembered, backend="record")(x)
    expected = [(remembered(x + h) - remembered(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    assert value == remembered(x)
    np.testing.assert_allclose(gradient, expected, atol=1e-9)


def test_an_exception_keeps_the_value_that_it_is_made_with() -> None:
    class Over(Exception):
        def __init__(self, by):
            super().__init__(by)
            self.by = by

    def limited(x):
        total = 0.0
        for v in x:
            try:
                if v > x[0]:
                    raise Over(v - x[0])
                total += v
            except Over as over:
                total += over.by**2 * over.args[0]
        return total

    x = np.array([0.5, 0.2, 1.5])
    value, gradient = value_and_grad(limited, backend="record")(x)
    assert value == limited(x) == 0.5 + 0.2 + 1.0
    np.testing.assert_allclose(gradient, [1.0 - 3.0, 1.0, 3.0])


def test_what_is_given_empty_has_an_empty_cotangent() -> None:
    def filled(x, items, table):
        for _ in range(3):
            items.extend([x, x * x])
        table["a"] = x
        return sum(items) + table["a"]

    value, pullback = vjp(filled, 2.0, [], {}, argnums=(0, 1, 2), backend="record")
    assert value == 20.0
    assert pullback(1.0) == (16.0, [], {})
