"""Values of derivatives that are promised: of maps, subscripts, matrices, and kinks."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adcompiler
from adcompiler import grad, jvp, preprocess, sensitivity, vjp

X = np.array([1.0, 2.0, 3.0])
A = np.array([[1.0, 2.0], [3.0, 4.0]])


def square(v: Any) -> Any:
    return v * v


def test_b4_sums_of_squares() -> None:
    np.testing.assert_array_equal(grad(lambda A: np.sum(np.abs(A) ** 2))(A), 2.0 * A)


def test_b10_only_the_sensitivities_of_active_arguments_are_computed() -> None:
    def product(a: Any, b: Any) -> Any:
        return a * b

    @preprocess(product)
    def shared(y: Any, y_bar: Any, a: Any, b: Any) -> Any:
        return y_bar

    @sensitivity(product, arg=0)
    def in_a(p: Any, y: Any, y_bar: Any, a: Any, b: Any) -> Any:
        return p * b

    @sensitivity(product, arg=1)
    def in_b(p: Any, y: Any, y_bar: Any, a: Any, b: Any) -> Any:
        return p * math.cosh(a)

    assert grad(lambda a, b: product(a, b))(2.0, 3.0) == 3.0
    assert "cosh" not in str(grad(lambda a, b: product(a, b)).source_for(2.0, 3.0))
    assert "cosh" in str(grad(lambda a, b: product(a, b), argnums=1).source_for(2.0, 3.0))


@pytest.mark.parametrize(("function", "wanted"), [
    (lambda x: sum(map(square, x)), 2.0 * X),
    (lambda x: functools.reduce(lambda a, b: a * b, x), 6.0 / X),
    (lambda x: np.sum(np.vectorize(lambda v: v * v)(x)), 2.0 * X),
    (lambda x: np.mean([v * v for v in x]), 2.0 * X / 3.0),
])
def test_b14_maps_and_reductions(function: Any, wanted: Any) -> None:
    np.testing.assert_allclose(grad(function)(X), wanted, rtol=1e-15)


def test_b15_subscripts() -> None:
    np.testing.assert_array_equal(grad(lambda x: x[[0, 1, 1]].sum())(X), [1.0, 2.0, 0.0])
    np.testing.assert_array_equal(grad(lambda x: x[x > 1.5].sum())(X), [0.0, 1.0, 1.0])
    np.testing.assert_array_equal(grad(lambda x: x[::2][0] * x[-1])(X), [3.0, 0.0, 1.0])
    found = grad(lambda z: z[0, 1, 0, 0, 0, 0, 1])(np.ones((2,) * 7))
    assert found.sum() == 1.0 and found[0, 1, 0, 0, 0, 0, 1] == 1.0


def test_d8_exponentials_of_matrices() -> None:
    E = np.array([[0.0, 1.0], [0.0, 0.0]])
    value, along = jvp(scipy.linalg.expm, (E,), (np.eye(2),))
    np.testing.assert_allclose(value, [[1.0, 1.0], [0.0, 1.0]], atol=1e-15)
    np.testing.assert_allclose(along, [[1.0, 1.0], [0.0, 1.0]], atol=1e-15)
    (back,) = vjp(scipy.linalg.expm, E)[1](np.eye(2))
    np.testing.assert_allclose(back, [[1.0, 0.0], [1.0, 1.0]], atol=1e-15)


def test_d16_functions_without_a_derivative() -> None:
    np.testing.assert_array_equal(grad(lambda x: x[np.argmax(x)] ** 2)(X), [0.0, 0.0, 6.0])


def test_d21_where_there_is_no_derivative() -> None:
    assert grad(abs)(0.0) == grad(np.abs)(0.0) == 0.0
    assert grad(np.maximum, argnums=(0, 1))(1.0, 1.0) == (0.5, 0.5)
    assert grad(max, argnums=(0, 1))(1.0, 1.0) == (0.5, 0.5)
    assert grad(np.max)(np.ones(2)).tolist() == [0.5, 0.5]
    assert grad(np.ceil)(0.5) == 0.0
    with np.errstate(divide="ignore"):
        assert grad(np.cbrt)(0.0) == math.inf
    assert grad(np.linalg.norm)(np.zeros(2)).tolist() == [0.0, 0.0]


def test_public_modules_are_attributes() -> None:
    assert adcompiler.smooth.abs(0.0005, c=0.001) == 0.000375
    assert adcompiler.smooth.abs(0.0) == 0.0
    assert adcompiler.testing.in_domain(math.acos, 10.0) is False
