"""Powers in both arguments, at the exponents that have formulas of their own, to second order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian, jvp
from adcompiler.testing import check_grads
from tests.lanes import one_in

FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "operator": lambda x, k: x**k, "power": np.power, "float_power": np.float_power,
    "scaled": lambda x, k: (1.5 * x) ** (0.5 * k + 0.5 * k),
}
BASES: dict[str, Any] = {"float": 1.3, "numpy": np.float64(1.3), "array": np.array([1.3, 0.7])}
KINDS: dict[str, Callable[[float], Any]] = {
    "float": float, "numpy": np.float64, "array": lambda k: np.array([k]),
    "arrays": lambda k: np.array([k, k + 0.5]),
}


@pytest.mark.parametrize("form, base, kind", one_in(5, itertools.product(FORMS, BASES, KINDS)))
def test_second_order_in_base_and_exponent(form: str, base: str, kind: str) -> None:
    for exponent in (2.0, 0.5, -1.0, 1.0, 0.0, 3.0, 2.5):
        found = check_grads(FORMS[form], (BASES[base], KINDS[kind](exponent)), order=2, rtol=1e-8)
        assert len(found) == 6


def test_math_pow() -> None:
    for exponent in (2.0, 0.5, -1.0, 1.0, 0.0, 3.0, 2.5):
        check_grads(math.pow, (1.3, exponent), order=2, rtol=1e-8)


@pytest.mark.parametrize(
    "function", [lambda x, k: np.sum(x**k), lambda x, k: np.sum(np.power(x, k))])
def test_at_base_zero(function: Callable[[Any, Any], Any]) -> None:
    zero = np.array([0.0, 1.0])
    slope = grad(function, (0, 1))
    for exponent, wanted in ((0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 0.0)):
        for kind in (float, np.float64):
            by_base, by_exponent = slope(zero, kind(exponent))
            assert by_base.tolist() == [wanted, exponent] and by_exponent == 0.0
    by_base, _ = slope(zero, np.array([0.0, 2.0]))
    assert by_base.tolist() == [0.0, 2.0]


def test_common_exponents_that_are_written_out_save_the_second_power() -> None:
    text = grad(lambda x: np.sum(x**0.5)).source_for(np.ones(2))
    assert "return 0.5 / x**0.5" in text


def test_an_exponent_that_is_an_argument_has_its_mixed_derivative() -> None:
    def weighted(x: Any, k: Any) -> Any:
        return np.sum(np.tanh(x) ** k)

    x, k = np.array([0.3, 0.4]), np.float64(2.0)
    t = np.tanh(x)
    wanted = (1 - t * t) * (t + 2 * t * np.log(t))
    mixed = jvp(grad(weighted), (x, k), (None, np.float64(1.0)))[1]
    assert np.allclose(mixed, wanted, rtol=1e-13)
    assert np.allclose(hessian(weighted, (0, 1))(x, k)[0][1], wanted, rtol=1e-13)
