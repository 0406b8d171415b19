"""Everyday calls of libraries that once raised from the inside of the compiler."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.integrate

from adcompiler import UnsupportedError, grad, hessian, jvp, value_and_grad, vjp
from tests.lanes import one_in
from tests.language.check import check


def test_norms_with_respect_to_several_arguments() -> None:
    assert grad(math.hypot, argnums=(0, 1))(3.0, 4.0) == pytest.approx((0.6, 0.8), rel=1e-15)
    assert vjp(math.hypot, 3.0, 4.0)[1](1.0) == pytest.approx((0.6, 0.8), rel=1e-15)
    assert jvp(math.hypot, (3.0, 4.0), (1.0, 1.0)) == pytest.approx((5.0, 1.4), rel=1e-15)


def normalised_cross(m: Any, a: Any) -> Any:
    h = np.cross(m, a)
    h /= np.sqrt(np.sum(h * h))
    return h[0] * m[1] + h[2]


def scaled_cross(m: Any, a: Any) -> Any:
    h = np.cross(m, a)
    h /= 2.0
    return np.sum(h * h)


@pytest.mark.parametrize("f", [normalised_cross, scaled_cross])
def test_cross_products_are_written_in_place(f: Any) -> None:
    check(f, np.array([1.0, 2.0, 0.5]), np.array([0.3, 0.1, 0.9]))


def decay_of_a_number(k: float) -> Any:
    found = scipy.integrate.odeint(lambda y, t: -k * y[0], 1.0, np.array([0.0, 0.5]))
    return found[1, 0]


def test_right_hand_sides_that_return_numbers() -> None:
    value, slope = value_and_grad(decay_of_a_number)(1.3)
    assert value == pytest.approx(math.exp(-0.65), rel=1e-6)
    assert slope == pytest.approx(-0.5 * math.exp(-0.65), rel=1e-6)


def three_operands(a: Any, b: Any, c: Any) -> Any:
    return np.sum(np.einsum("ij,jk,k->i", a, b, c) ** 2)


def test_three_operands_of_einsum() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4) / 5.0
    c = np.arange(4.0) + 1.0
    rng = np.random.default_rng(3)
    along = [rng.normal(size=x.shape) for x in (a, b, c)]
    wanted = sum(
        np.sum(g * d) for g, d in zip(
            grad(three_operands, argnums=(0, 1, 2))(a, b, c), along, strict=True)
    )
    found = jvp(three_operands, (a, b, c), tuple(along))[1]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    check(three_operands, a, b, c, tol=1e-6)


def with_items(x: Any) -> Any:
    table = {"a": x[0], "b": x[1]}
    total = 0.0
    for key, value in table.items():
        total = total + value * value * table[key]
    return total


def with_stores(x: Any) -> Any:
    table = {}
    for i in range(2):
        table[i] = x[i] * x[i]
    total = 0.0
    for key in table:
        total = total + table[key] * x[key]
    return total


@pytest.mark.parametrize("f, mode", one_in(3, itertools.product(
    [with_items, with_stores], [None, "fwd_adj", "adj_adj", "adj_fwd", "fwd_fwd"])))
def test_hessians_of_loops_over_dicts(f: Any, mode: str | None) -> None:
    x = np.array([1.0, 2.0])
    try:
        found = hessian(f, mode=mode)(x)
    except UnsupportedError:
        assert f is with_stores and mode in ("fwd_adj", "adj_adj")
    else:
        np.testing.assert_allclose(found, np.diag(6.0 * x), rtol=1e-12)


def bound_under_a_flag(x: float, flag: bool) -> Any:
    if flag:
        k = x * 2.0
    y = x
    for _ in range(2):
        if flag:
            y = y * k
    return y


def unbound_without_the_flag(x: float, flag: bool) -> Any:
    if flag:
        k = 2
    return x * k


def test_names_that_are_bound_under_a_flag() -> None:
    for flag in (True, False):
        check(bound_under_a_flag, 1.5, flag)
    check(unbound_without_the_flag, 1.5, True)
    with pytest.raises(UnboundLocalError, match="'k'"):
        value_and_grad(unbound_without_the_flag)(1.5, False)


def paired(x: Any) -> Any:
    return sum(a * b for a, b in zip((v * v for v in x), x, strict=True))


def test_pairs_of_a_generator_and_a_list() -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(grad(paired)(x), 3.0 * x**2, rtol=1e-12)
