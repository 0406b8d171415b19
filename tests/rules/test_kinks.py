"""What the rules return where the derivative is one-sided, infinite or does not exist."""

import builtins
import math
import operator

import numpy as np
import pytest

from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.testing import rule_function

INF = math.inf


def cotangents(function, *args, dy=1.0):
    rule = REGISTRY.find(function, tuple(type(x) for x in args))
    _, pullback = rule_function(rule)(*args)
    return pullback(dy)


@pytest.mark.parametrize(("function", "args", "expected"), [
    (math.sqrt, (0.0,), INF),
    (math.cbrt, (0.0,), INF),
    (math.asin, (1.0,), INF),
    (math.asin, (-1.0,), INF),
    (math.acos, (1.0,), -INF),
    (math.acosh, (1.0,), INF),
    (math.fabs, (0.0,), 0.0),
    (math.atan2, (0.0, 0.0), (0.0, 0.0)),
    (math.hypot, (0.0, 0.0), (0.0, 0.0)),
    (math.hypot, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    (math.copysign, (0.0, 2.0), (0.0, 0.0)),
    (math.pow, (0.0, 0.0), (0.0, 0.0)),
    (math.pow, (0.0, 0.5), (INF, 0.0)),
    (math.pow, (0.0, 1.5), (0.0, 0.0)),
    (math.fmod, (6.0, 2.0), (1.0, -3.0)),
    (builtins.abs, (0.0,), 0.0),
    (builtins.max, (1.0, 1.0), (0.5, 0.5)),
    (builtins.min, (2.0, 2.0), (0.5, 0.5)),
    (builtins.max, (3.0, 1.0, 3.0, 3.0), (1 / 3, 0.0, 1 / 3, 1 / 3)),
    (builtins.max, ([4.0, 4.0, 4.0, 4.0],), [0.25, 0.25, 0.25, 0.25]),
    (builtins.sorted, ([2.0, 1.0, 2.0],), [20.0, 10.0, 30.0]),
    (operator.pow, (0.0, 2), 0.0),
    (operator.pow, (0.0, 1), 1.0),
    (operator.pow, (0.0, 0), 0.0),
    (operator.pow, (-3.0, 3), 27.0),
    (operator.pow, (0.0, 0.0), (0.0, 0.0)),
    (operator.pow, (0.0, 0.5), (INF, 0.0)),
    (operator.pow, (0.0, 2.5), (0.0, 0.0)),
    (operator.pow, (0.0, 1.0), (1.0, 0.0)),
    (operator.mod, (6.0, 2.0), (1.0, -3.0)),
], ids=lambda value: value.__name__ if callable(value) else None)
def test_python_scalars(function, args, expected):
    dy = [10.0, 20.0, 30.0] if function is sorted else 1.0
    assert cotangents(function, *args, dy=dy) == expected


def test_exponent_has_no_slope_where_the_base_is_negative():
    assert math.isnan(cotangents(operator.pow, -2.0, 2.0)[1])
    assert math.isnan(cotangents(math.pow, -2.0, 2.0)[1])
    assert cotangents(operator.pow, -2.0, 2.0)[0] == -4.0


def test_array_powers_at_zero():
    x = np.array([0.0, 0.0, 4.0, -2.0])
    y = np.array([2.5, 0.0, 0.5, 2.0])
    dx, dy = cotangents(operator.pow, x, y)
    np.testing.assert_array_equal(dx, [0.0, 0.0, 0.25, -4.0])
    np.testing.assert_array_equal(dy, [0.0, 0.0, 2.0 * np.log(4.0), np.nan])


@pytest.mark.parametrize(("exponent", "slope"), [(2.0, 0.0), (2.5, 0.0), (1.0, 1.0), (0.0, 0.0)])
def test_array_to_scalar_power_at_zero(exponent, slope):
    dx, dy = cotangents(operator.pow, np.zeros(2), exponent, dy=np.ones(2))
    np.testing.assert_array_equal(dx, [slope, slope])
    assert dy == 0.0


@pytest.mark.parametrize("exponent", [0.5, 0.25])
def test_array_root_has_infinite_slope_at_zero(exponent):
    with np.errstate(divide="ignore"):
        dx, _ = cotangents(operator.pow, np.zeros(2), exponent, dy=np.ones(2))
    np.testing.assert_array_equal(dx, [INF, INF])


@pytest.mark.parametrize("x", [np.zeros(2), np.zeros(2, complex)], ids=["real", "complex"])
def test_abs_of_array_at_zero(x):
    np.testing.assert_array_equal(cotangents(builtins.abs, x, dy=np.ones(2)), [0.0, 0.0])


def test_hypot_of_huge_coordinates():
    np.testing.assert_allclose(cotangents(math.hypot, 3e200, 4e200), (0.6, 0.8))


def test_asinh_slope_of_huge_argument_does_not_vanish():
    assert cotangents(math.asinh, 1e200) == pytest.approx(1e-200)
