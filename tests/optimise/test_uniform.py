"""Sums of products of matrices: their gradients multiply by no matrix of ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.testing import check_grads

RNG = np.random.default_rng(20)


def drawn(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def matrices(A, B): return 3.0 * np.sum(A @ B)
def mean_of_dot(A, B): return np.mean(np.dot(A, B))
def scaled(A, B, c): return np.mean(c * (A @ B))
def with_vector(A, x): return np.sum(A @ x)
def from_vector(x, A): return np.sum(x @ A) * np.sum(x)
def chained(A, B, C): return np.sum(A @ B @ C)
def squared(A): return np.sum(A @ A)
def gemm(alpha, beta, C, A, B): return np.sum(alpha * A @ B + beta * C)
def atax(A, x): return np.sum((A @ x) @ A)
def bicg(A, p, r): return np.sum(r @ A) + np.sum(A @ p)
def shifted(A, x, b): return np.sum(A @ x + b)
def shifted_rows(A, B, b): return np.sum(A @ B + b)


def also_squared(A, x):
    y = A @ x
    return np.sum(y) + np.sum(y**2)


def overwritten(A, x):
    A = A.copy()
    y = A @ x
    A[0] = 0.0
    return np.sum(y) + np.sum(A)


def chosen(A, x):
    y = A @ x if x[0] > 0.0 else A @ (2.0 * x)
    return np.sum(y)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (matrices, (drawn(3, 4), drawn(4, 2))), (mean_of_dot, (drawn(3, 4), drawn(4, 2))),
    (scaled, (drawn(3, 4), drawn(4, 2), 0.7)), (with_vector, (drawn(3, 4), drawn(4))),
    (with_vector, (drawn(6, 8)[::2, ::2], drawn(4))), (from_vector, (drawn(3), drawn(3, 4))),
    (chained, (drawn(3, 4), drawn(4, 2), drawn(2, 5))), (squared, (drawn(3, 3),)),
    (gemm, (0.5, 0.7, drawn(3, 2), drawn(3, 4), drawn(4, 2))),
    (gemm, (0.5, 0.7, drawn(1, 2), drawn(3, 4), drawn(4, 2))),
    (atax, (drawn(3, 4), drawn(4))), (bicg, (drawn(3, 4), drawn(4), drawn(3))),
    (shifted, (drawn(3, 4), drawn(4), drawn(3))), (shifted, (drawn(3, 4), drawn(4), drawn(1))),
    (shifted_rows, (drawn(3, 4), drawn(4, 2), drawn(2))),
    (shifted_rows, (drawn(3, 4), drawn(4, 2), drawn(3, 1))),
    (also_squared, (drawn(3, 4), drawn(4))), (overwritten, (drawn(3, 4), drawn(4))),
    (chosen, (drawn(3, 4), np.abs(drawn(4)))), (chosen, (drawn(3, 4), -np.abs(drawn(4)))),
    (matrices, (drawn(1, 1), drawn(1, 1))),
]


@pytest.mark.parametrize("backend", ["python", "native"])
@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(
    one, "__name__", ""))
def test_gradients(
    function: Callable[..., Any], arguments: tuple[Any, ...], backend: str
) -> None:
    """The gradient by finite differences and tangents; results are arrays of the caller's own."""
    argnums = tuple(range(len(arguments)))
    check_grads(function, arguments, order=1)
    found = grad(function, argnums=argnums, backend=backend)(*arguments)
    plain = grad(function, argnums=argnums, backend="python")(*arguments)
    for given, one, other in zip(arguments, found, plain, strict=True):
        assert np.shape(one) == np.shape(given)
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-14)
        if isinstance(one, np.ndarray):
            assert one.flags.writeable
            assert not any(np.may_share_memory(one, array) for array in arguments)


@pytest.mark.parametrize("shape", [(0, 4, 2), (3, 0, 2), (3, 4, 0)])
def test_nothing_in_an_axis(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    A_bar, B_bar = grad(matrices, argnums=(0, 1))(np.ones((m, k)), np.ones((k, n)))
    np.testing.assert_array_equal(A_bar, np.full((m, k), 3.0 * n))
    np.testing.assert_array_equal(B_bar, np.full((k, n), 3.0 * m))


@pytest.mark.parametrize(("function", "arguments"), CASES[:4], ids=lambda one: getattr(
    one, "__name__", ""))
def test_nothing_is_multiplied(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What is differentiated is not computed where only its shape is asked for."""
    found = grad(function, argnums=tuple(range(2)))
    found(*arguments)
    lines = [line for line in found.source.splitlines() if not line.lstrip().startswith("#")]
    assert not [line for line in lines if "@" in line or "dot(" in line]


@pytest.mark.parametrize("function", [with_vector, matrices, mean_of_dot])
def test_operands_that_do_not_fit(function: Callable[..., Any]) -> None:
    """Python raises its own error, where it would have raised it."""
    fitting, other = (np.ones((3, 4)), np.ones(4)), (np.ones((3, 4)), np.ones(3))
    if function is not with_vector:
        fitting, other = (np.ones((3, 4)), np.ones((4, 2))), (np.ones((3, 4)), np.ones((3, 2)))
    found = grad(function, argnums=(0, 1))
    found(*fitting)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"mismatch|not aligned"):
            found(*other)
    found(*fitting)


def test_second_derivatives() -> None:
    """The gradient's text is read again: of arrays filled with rows, too."""

    def size(A, B):
        return sum(np.sum(part**2) for part in grad(matrices, argnums=(0, 1))(A, B))

    A, B = drawn(3, 4), drawn(4, 2)
    check_grads(size, (A, B), order=1)


def test_single_precision() -> None:
    A, x = drawn(3, 4).astype(np.float32), drawn(4).astype(np.float32)
    A_bar, x_bar = grad(with_vector, argnums=(0, 1))(A, x)
    assert A_bar.dtype == x_bar.dtype == np.float32
    np.testing.assert_array_equal(A_bar, np.tile(x, (3, 1)))
    np.testing.assert_allclose(x_bar, A.sum(axis=0), rtol=1e-6)
