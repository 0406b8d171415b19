"""``vjp`` without ``argnums``: integers stay integers beside floats, and have no cotangent."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import ADError, grad, vjp


def power(x, n):
    y = x
    for _ in range(n - 1):
        y = y * x
    return y if isinstance(n, int) else 2.0 * y


def test_numbers_of_iterations_stay_integers():
    value, pullback = vjp(power, 2.0, 3)
    assert value == 8.0
    assert pullback(1.0) == (12.0, None)


def test_subscripts_flags_and_texts_stay_what_they_are():
    def f(x, i, up, how):
        return x[i] * 2.0 if up and how == "twice" else x[0]

    value, pullback = vjp(f, np.arange(4.0), 2, True, "twice")
    assert value == 4.0
    bar, *others = pullback(1.0)
    np.testing.assert_array_equal(bar, [0.0, 0.0, 2.0, 0.0])
    assert others == [None, None, None]


def test_integers_alone_are_differentiated():
    value, pullback = vjp(lambda x, y: x * y, 2, 3)
    assert (value, pullback(1.0)) == (6.0, (3.0, 2.0))


def test_inside_argnums_are_asked_for():
    def unnamed(x):
        return vjp(power, x, 3)[1](1.0)[0]

    def named(x):
        return vjp(power, x, 3, argnums=0)[1](1.0)

    with pytest.raises(ADError, match="argnums=0"):
        grad(unnamed)(2.0)
    assert grad(named)(2.0) == 12.0
