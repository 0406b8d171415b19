"""Functions that numba has compiled are differentiated by their Python text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian, jacobian, jacobian_sparsity, jvp, vjp

numba = pytest.importorskip("numba")
X = np.array([0.3, -0.4, 1.2])


@numba.vectorize
def bent(x: Any, y: Any) -> Any:
    return x * y if x > 0 else math.sin(x)


@numba.vectorize(["float64(float64)"])
def cubed(x: Any) -> Any:
    return x * x * x


@numba.njit
def scaled(x: Any, k: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += k * x[i] * x[i]
    return total


def test_vectorized_functions_of_arrays() -> None:
    def total(x: Any) -> Any:
        return np.sum(bent(x, 2.0 * x))

    wanted = np.where(X > 0, 4.0 * X, np.cos(X))
    np.testing.assert_allclose(grad(total)(X), wanted)
    np.testing.assert_allclose(
        hessian(total)(X), np.diag(np.where(X > 0, 4.0, -np.sin(X))), atol=1e-15)
    np.testing.assert_allclose(jacobian(cubed)(X), np.diag(3.0 * X * X))
    assert jacobian_sparsity(lambda x: cubed(x), X).nnz == 3
    np.testing.assert_allclose(jvp(cubed, (X,), (X,))[1], 3.0 * X**3)
    _, pullback = vjp(bent, X, X)
    np.testing.assert_allclose(pullback(np.ones(3))[1], np.where(X > 0, X, 0.0))


def test_vectorized_functions_of_numbers() -> None:
    assert grad(cubed)(2.0) == 12.0
    assert grad(bent, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)


class Model:
    law = staticmethod(scaled)


def test_jitted_functions_where_they_are_reached_as_data() -> None:
    np.testing.assert_allclose(grad(scaled)(X, 2.0), 4.0 * X)
    np.testing.assert_allclose(grad(lambda x: Model().law(x, 3.0))(X), 6.0 * X)
    np.testing.assert_allclose(grad(lambda x, f: f(x, 3.0))(X, scaled), 6.0 * X)
