"""Patterns that ``facts`` states of functions whose code is not followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import (
    ADError, facts, hessian_sparsity, jacobian, jacobian_sparsity, rrule, sparse_jacobian,
)

X = np.linspace(1.0, 2.0, 5)


def neighbours(shape: tuple[int, ...]) -> Any:
    return np.eye(shape[0]) + np.eye(shape[0], k=1)


@pytest.fixture
def hidden() -> Any:
    """Return a function that no source tells of, with a rule and a pattern."""
    namespace: dict[str, Any] = {"np": np}
    exec("def hidden(x):\n    return x * np.append(x[1:], 1.0)\n", namespace)
    function = namespace["hidden"]

    @rrule(function)
    def hidden_rule(x: Any) -> Any:
        def hidden_pullback(dy: Any) -> Any:
            dx = dy * np.append(x[1:], 1.0)
            dx[1:] += dy[:-1] * x[:-1]
            return dx

        return function(x), hidden_pullback

    return function


def test_a_pattern_by_shapes(hidden: Any) -> None:
    def program(x: Any) -> Any:
        return hidden(x) ** 2

    assert jacobian_sparsity(program, X).nnz == 25
    facts(hidden, pattern=neighbours)
    pattern = jacobian_sparsity(program, X).toarray()
    np.testing.assert_array_equal(pattern, np.eye(5) + np.eye(5, k=1) > 0)
    assert jacobian_sparsity(program, X, mode="local").nnz == 9
    np.testing.assert_allclose(
        sparse_jacobian(program)(X).toarray(), jacobian(program)(X), rtol=1e-13)
    second = hessian_sparsity(lambda x: np.sum(hidden(x)), X)
    assert second.nnz == 13


def test_a_matrix_and_the_wrong_shape(hidden: Any) -> None:
    facts(hidden, pattern=np.triu(np.ones((5, 5))))
    assert jacobian_sparsity(lambda x: hidden(x), X).nnz == 15
    with pytest.raises(ADError, match="has shape"):
        jacobian_sparsity(lambda x: hidden(x), X[1:])
