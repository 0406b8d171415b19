"""Loops inside of one another find together what they write; what is kept apart is settled apart."""

from __future__ import annotations

import numpy as np

from adcompiler import grad


def positive_squares(t, n):
    if n <= 0:
        return sum((k + 1) * sum([a * a for a in t if a > -0.2 and a < 0.9]) for k in range(2))
    return t[0] * positive_squares(np.tanh(t), n - 1)


def test_a_function_that_is_compiled_apart_in_a_loop_has_its_own_loops_settled() -> None:
    def loss(x, v):
        x += np.sin(sum((k + 1) * positive_squares(np.full((3,), v), 0) for k in range(2)))
        return x + positive_squares(np.array([x, 2.0 * v, 0.3]), 2)

    x, v = -0.485, 0.295
    wanted = (loss(x, v + 1e-6) - loss(x, v - 1e-6)) / 2e-6
    assert abs(grad(loss, argnums=1)(x, v) - wanted) <= 1e-7 * (1.0 + abs(wanted))


def test_types_and_writes_that_only_the_innermost_loop_shows() -> None:
    def loss(x, n):
        total, y = 0, [1, 2]
        for _ in range(n):
            for _ in range(n):
                for i in range(n):
                    total = total + y[i] * x
                    y[i] = y[i] * x
                y = [y[1], y[0]]
        return total + y[0]

    def plain(x):
        return loss(x, 2)

    x = 1.1
    wanted = (plain(x + 1e-6) - plain(x - 1e-6)) / 2e-6
    assert abs(grad(loss)(x, 2) - wanted) <= 1e-6 * (1.0 + abs(wanted))
