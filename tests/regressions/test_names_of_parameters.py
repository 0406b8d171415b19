"""Names that emitted code uses itself, as names of the user's parameters and variables."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special

from adcompiler import grad, jvp, value_and_grad, vjp


def scaled(x, _):
    for j in range(3):  # noqa: B007
        x = x * 1.1
    return x * _


def ends_with(x, n):
    for _ in range(n):
        x = x * 1.5
    for _, y in [(2.0, 1.0), (3.0, x)]:
        x = x + y
    return x * _


def kept(x):
    _, b = (x, 2.0)
    for i, _i in [(1, 2), (3, 4)]:  # noqa: B007
        b = b * x
    return b * _


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_an_underscore_is_a_name_like_any_other(argnums):
    bars = (1.331 * 3.0, 1.331 * 2.0)
    wanted = bars if argnums == (0, 1) else bars[argnums]
    value, found = value_and_grad(scaled, argnums)(2.0, 3.0)
    np.testing.assert_allclose(value, 1.331 * 6.0)
    np.testing.assert_allclose(found, wanted)


def test_an_underscore_in_all_modes():
    value, pullback = vjp(scaled, 2.0, 3.0)
    np.testing.assert_allclose(pullback(1.0), (3.993, 2.662))
    value, slope = jvp(scaled, (2.0, 3.0), (1.0, 1.0))
    np.testing.assert_allclose((value, slope), (7.986, 6.655))


def test_a_loop_variable_that_is_read_afterwards():
    assert value_and_grad(ends_with)(2.0, 2) == (3.0 * (2 * 4.5 + 1.0), 3.0 * 2 * 2.25)


def test_an_underscore_that_is_unpacked():
    assert value_and_grad(kept)(1.5) == (2.0 * 1.5**3, 6.0 * 1.5**2)


def test_a_parameter_that_hides_a_module():
    def f(scipy_, np_):
        return gamma(scipy_) * np_

    assert grad(hiding)(2.5) == grad(f)(2.5, 1.0)


gamma = scipy.special.gamma


def hiding(scipy):
    return gamma(scipy)


def builtin_names(list, range, zip=2.0):
    s = 0.0
    for a in [1.0, 2.0]:
        for b in (list, range):
            s = s + math.sin(a * b) * zip
    return s


def test_parameters_that_hide_builtins():
    found = grad(builtin_names, argnums=("list", "range", "zip"))(0.3, 0.7)
    slopes = [2.0 * (math.cos(t) + 2.0 * math.cos(2.0 * t)) for t in (0.3, 0.7)]
    last = sum(math.sin(a * b) for a in (1.0, 2.0) for b in (0.3, 0.7))
    np.testing.assert_allclose(found, (*slopes, last))
