"""``np.r_`` and ``np.c_``, and what ``np.broadcast`` tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad, hessian, jacfwd, jacobian, jacobian_sparsity

X = np.array([0.3, 0.5, 2.0])
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: np.r_[x, x * 2.0],
    "columns": lambda x: np.c_[x, x * x],
    "numbers between": lambda x: np.r_[x[0], 1, x[1:]],
    "a matrix and a column": lambda x: np.c_[np.outer(x, x), x],
    "a slice": lambda x: np.r_[0:3] * x,
    "equally spaced": lambda x: np.r_[x[0] : x[2] : 4j],
    "columns of numbers": lambda x: np.c_[x[0], x[1]],
    "lists": lambda x: np.r_[[x[0], 0], [0, x[1]]],
    "of one another": lambda x: np.r_[np.c_[x, x], [[0, 1.0]]],
    "of whole numbers": lambda x: np.c_[np.array([1, 2, 3]), x],
    "one number": lambda x: np.r_[x[0]],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_concatenators(name: str) -> None:
    function = FUNCTIONS[name]
    step = 1e-6
    wanted = np.stack([
        (function(X + step * along) - function(X - step * along)) / (2 * step)
        for along in np.eye(3)], axis=-1)
    found = jacobian(function)(X)
    np.testing.assert_allclose(found, wanted, atol=1e-8)
    np.testing.assert_allclose(jacfwd(function)(X), wanted, atol=1e-8)
    pattern = jacobian_sparsity(function, X).toarray().reshape(wanted.shape)
    assert np.all(pattern | (wanted == 0.0))


def test_second_order_and_dtypes() -> None:
    def curved(x: Any) -> Any:
        return np.sum(np.c_[x, x * x] ** 2 * np.r_[1, 2])

    np.testing.assert_allclose(hessian(curved)(X), np.diag(2.0 + 24.0 * X * X))

    def single(x: Any) -> Any:
        return np.sum(np.r_[x, 1, 2.5])

    assert grad(single)(X.astype(np.float32)).dtype == np.float32
    assert jacobian(lambda x: np.r_[x, 1])(X.astype(np.float32)).dtype == np.float32


def test_directives_are_refused() -> None:
    with pytest.raises(ADError, match=r"test_concatenators\.py|_index_tricks"):
        jacobian(lambda x: np.r_["0,2", x, x])(X)


def test_broadcast_tells_a_shape() -> None:
    def first(x: Any, y: Any) -> Any:
        both = np.broadcast(x, y)
        out = np.zeros(both.shape)
        out[...] = x * y
        return np.sum(out) * both.size * both.ndim * both.nd

    y = np.array([[2.0], [3.0]])
    np.testing.assert_allclose(grad(first)(X, y), np.full(3, 5.0 * 6 * 4))


def test_broadcast_is_run_over() -> None:
    def paired(x: Any, y: Any) -> Any:
        return sum(a * b * b for a, b in np.broadcast(x, y))

    def looped(x: Any, y: Any) -> Any:
        total = 0.0
        for a, b in np.broadcast(x, y):
            total += a * b * b
        return total

    y = np.array([[2.0], [3.0]])
    for function in (paired, looped):
        np.testing.assert_allclose(grad(function)(X, y), np.full(3, 13.0))
