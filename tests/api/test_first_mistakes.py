"""What newcomers write first, and users of other systems: the message says what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adcompiler
from adcompiler import (
    derivative, elementwise_grad, grad, hessian, hvp, jacobian, jacobian_sparsity, jvp, linearize,
    sparse_hessian, value_and_grad, vhp, vjp,
)

X = np.array([1.0, 2.0, 3.0])


def energy(x: Any) -> Any:
    return np.sum(x**2)


@pytest.mark.parametrize("operator", [
    grad, value_and_grad, hessian, jacobian, sparse_hessian, elementwise_grad, derivative,
])
def test_arguments_of_the_function_are_for_what_an_operator_returns(operator: Any) -> None:
    name = operator.__name__
    with pytest.raises(TypeError) as caught:
        operator(energy, X)
    assert str(caught.value).startswith(
        f"{name}(energy) returns a function: write {name}(energy)(x). What else it takes, argnum")
    assert str(caught.value).endswith("not an array of dtype float64 and shape (3,)")
    with pytest.raises(TypeError, match=r"not a float$"):
        operator(energy, 1.5)
    with pytest.raises(TypeError, match=rf"^{name} takes a function, not a float64: write "):
        operator(energy(X))


def test_what_argnums_may_be_is_taken() -> None:
    def weighted(a: Any, b: Any) -> Any:
        return np.sum(a * b)

    choices: tuple[Any, ...] = (np.int64(1), "b", (0, 1), [0, 1], ("a", 1), None, ...)
    for argnums in choices[:2]:
        assert np.array_equal(grad(weighted, argnums)(X, 2.0 * X), X)
    for argnums in choices[2:]:
        found = grad(weighted, argnums)(X, 2.0 * X)
        assert [list(part) for part in found] == [[2.0, 4.0, 6.0], [1.0, 2.0, 3.0]]


GIVEN: Any = (X, X)
CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: jvp(energy, *GIVEN), "write jvp(f, (x,), (v,)); the arguments are an array"),
    (lambda: vjp(energy), "vjp takes the arguments, too: write vjp(energy, x)"),
    (lambda: linearize(energy), "linearize takes the arguments, too: write linearize(energy, x)"),
    (lambda: jacobian_sparsity(energy), "write jacobian_sparsity(energy, x)"),
]


@pytest.mark.parametrize(("call", "said"), CALLS)
def test_operators_at_arguments_say_how_they_take_them(call: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert said in str(caught.value)


@pytest.mark.parametrize(("name", "said"), [
    ("jit", "; nothing has to be compiled by hand; compiled(f) and backend='native' make"),
    ("custom_vjp", "; rrule registers"), ("stop_grad", "; stop_gradient(x) is x"),
    ("gradient", "; grad(f)(x) is the gradient"), ("jacobain", "; did you mean 'jacobian'?"),
    ("value_and_gradient", "; did you mean 'value_and_grad'?"), ("xyzzy", "'xyzzy'"),
    ("hessian_vector_product", "; hvp(f, x, v) is that product"), ("make_vjp", "; vjp(f, x)"),
])
def test_names_of_other_systems_lead_to_those_of_this_one(name: str, said: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(adcompiler, name)
    begin = f"module 'adcompiler' has no attribute '{name}'"
    assert str(caught.value).startswith(begin)
    assert said in str(caught.value)
    assert hasattr(adcompiler, name) is False
    hint = str(caught.value).removeprefix(begin)
    with pytest.raises(ImportError) as importing:
        exec(f"from adcompiler import {name}")
    assert f"cannot import name '{name}' from 'adcompiler'" in str(importing.value)
    assert str(importing.value).endswith(hint or ")")
    assert (type(importing.value), importing.value.name) == (ImportError, "adcompiler")


@pytest.mark.parametrize("operator", [hvp, vhp])
def test_products_with_hessians_say_which_argument_they_differentiate(operator: Any) -> None:
    def weighted(a: Any, b: Any) -> Any:
        return np.sum(a**2 * b**3)

    for word in ("argnums", "argnum"):
        with pytest.raises(TypeError) as caught:
            operator(weighted, X, X, X, **{word: 1})
        assert str(caught.value) == (
            f"{operator.__name__} takes no {word}: {operator.__name__}(f, x, v, ...) "
            "differentiates the first argument; for another one write "
            "hessian(f, argnums=1).as_linear_operator(x, y) @ v")
    found = hessian(weighted, argnums=1).as_linear_operator(X, 2.0 * X) @ X
    assert np.allclose(found, 6.0 * X**2 * 2.0 * X * X, rtol=1e-14)

    def numbered(a: Any, argnums: Any) -> Any:
        return argnums * np.sum(a**2)

    assert np.array_equal(operator(numbered, X, X, argnums=3.0), 6.0 * X)

    def anything(a: Any, **given: Any) -> Any:
        return given["argnums"] * np.sum(a**2)

    assert np.array_equal(operator(anything, X, X, argnums=3.0), 6.0 * X)
