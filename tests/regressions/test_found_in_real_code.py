"""Defects that functions of installed packages brought to light."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from adcompiler import vjp


def lengthened(x: Any, times: int) -> Any:
    y = np.array(x)
    for _ in range(times):
        y = y * 2.0
        size = len(y)
        if size == 1:
            y[0] += 3.0
        else:
            longer = np.empty((size + 1,))
            longer[0] = y[0]
            longer[1] = y[0]
            for j in range(1, size):
                longer[j + 1] = y[j] / (j + 1)
            y = longer
    return y


def test_a_shape_is_not_read_of_a_value_of_the_other_branch() -> None:
    _, pullback = vjp(lengthened, np.arange(1.0, 5.0), 1, argnums=(0,))
    np.testing.assert_allclose(pullback(np.ones(5))[0], [4.0, 1.0, 2.0 / 3.0, 0.5], rtol=1e-14)


def product_of_many(x: Any, count: int) -> Any:
    if count == 0:
        return x * x
    return product_of_many(x, count - 1) * x


def test_what_a_callee_saved_is_not_the_callers() -> None:
    x = np.array([1.0, 2.0])
    value, pullback = vjp(product_of_many, x, 2, argnums=(0,))
    x[:] = 100.0
    value[:] = 7.0
    np.testing.assert_allclose(pullback(np.ones(2))[0], [4.0, 32.0], rtol=1e-14)


def scale_rows(x: Any, factors: Any, count: int) -> Any:
    if count > 0:
        scale_rows(x, factors, count - 1)
    x *= factors[:, np.newaxis]
    return x


def test_what_a_callee_saved_of_a_written_argument_is_kept() -> None:
    x, factors = np.arange(1.0, 7.0).reshape(3, 2), np.array([2.0, 3.0, 4.0])
    _, pullback = vjp(lambda a, d: scale_rows(a, d, 0), x.copy(), factors)
    x_bar, factors_bar = pullback(np.ones((3, 2)))
    np.testing.assert_allclose(x_bar, np.repeat(factors[:, np.newaxis], 2, axis=1))
    np.testing.assert_allclose(factors_bar, np.sum(x, axis=1))


def along(x: Any, axis: int) -> Any:
    y = np.moveaxis(np.array(x), axis, 0)
    y *= 3.0
    return y


def test_an_axis_that_is_known_when_running() -> None:
    _, pullback = vjp(along, np.ones(4), 0, argnums=(0,))
    np.testing.assert_allclose(pullback(np.arange(4.0))[0], 3.0 * np.arange(4.0))


def with_more_parameters(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("check", None)
        return function(*args, **kwargs)

    signature = inspect.signature(function)
    extra = inspect.Parameter("check", inspect.Parameter.KEYWORD_ONLY, default=True)
    wrapper.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), extra]
    )
    return wrapper


@with_more_parameters
def squared(x: Any) -> Any:
    return x * x


def test_a_wrapper_that_claims_another_signature() -> None:
    _, pullback = vjp(squared, 3.0, argnums=(0,))
    assert pullback(1.0) == (6.0,)
