"""Systems and products of matrices of which it is known which elements are zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu, spsolve

from adcompiler import hessian_sparsity, jacobian, jacobian_sparsity

X = np.array([1.5, 2.0, 3.0, 5.0])
N = len(X)


def of_two(x: Any) -> Any:
    return np.diag(x) + np.diag(x[:1], 3)


PROGRAMS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "inverse of a diagonal": (lambda x: np.linalg.inv(np.diag(x)), N),
    "SciPy's": (lambda x: scipy.linalg.inv(np.diag(x)), N),
    "solution": (lambda x: np.linalg.solve(np.diag(x), np.ones(N)), N),
    "solution of several": (lambda x: np.linalg.solve(np.diag(x), np.ones((N, 2))), 2 * N),
    "solution by SciPy": (lambda x: scipy.linalg.solve(np.diag(x), np.ones(N)), N),
    "triangular": (
        lambda x: scipy.linalg.solve_triangular(np.diag(x), np.ones(N), lower=True), N),
    "side": (lambda x: np.linalg.solve(np.diag(np.ones(N) * x[0]), x), 2 * N - 1),
    "product": (lambda x: np.diag(x) @ np.diag(x + 1.0), N),
    "product with a vector": (lambda x: np.diag(x) @ x[::-1], 2 * N),
    "scaled": (lambda x: np.linalg.inv(2.0 * -np.diag(x).T / 3.0), N),
    "power": (lambda x: np.linalg.matrix_power(np.diag(x), 3), N),
    "both sides": (
        lambda x: np.linalg.inv(np.diag(x)) @ np.diag(x**2) @ np.linalg.inv(np.diag(x)), N),
    "antidiagonal": (lambda x: np.linalg.inv(np.diag(x)[::-1].copy()), N * N * N),
    "two connected": (lambda x: np.linalg.inv(of_two(x)), 10),
    "symmetric": (lambda x: scipy.linalg.solve(
        np.diag(x) + np.diag(x[:3], -1), x, lower=True, assume_a="sym"), N * N),
    "transposed": (lambda x: scipy.linalg.solve(np.diag(x), x, transposed=True), N * N),
    "sum with what is not zero": (lambda x: np.linalg.inv(np.diag(x) + 0.1), N * N * N),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["global", "local"])
def test_patterns(name: str, mode: str) -> None:
    function, entries = PROGRAMS[name]
    pattern = jacobian_sparsity(function, X, mode=mode).toarray()
    dense = jacobian(function)(X).reshape(pattern.shape)
    assert not np.any((dense != 0.0) & ~pattern)
    assert pattern.sum() == entries


def test_two_variables() -> None:
    def product(x: Any) -> Any:
        return np.diag(x[:N]) @ np.diag(x[N:])

    assert jacobian_sparsity(product, np.ones(2 * N)).nnz == 2 * N


def test_second_order() -> None:
    def total(x: Any) -> Any:
        return np.sum(np.linalg.inv(np.diag(x))) + np.sum(np.linalg.solve(np.diag(x), np.ones(N)))

    np.testing.assert_array_equal(hessian_sparsity(total, X).toarray(), np.eye(N, dtype=bool))


PLACES = np.array([[0, 1, 1, 2, 3], [1, 0, 1, 2, 3]])


def entries_at(x: Any, places: Any) -> Any:
    return sp.csc_matrix((np.concatenate([x[:1] * 2.0, x]), places), shape=(N, N))


SPARSE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "diagonal": (
        lambda x: spsolve(sp.csc_matrix((x, (np.arange(N), np.arange(N)))), np.ones(N)), N),
    "blocks": (lambda x: spsolve(entries_at(x, PLACES), np.ones(N)), 6),
    "blocks and sides": (lambda x: splu(entries_at(x, PLACES)).solve(x[::-1]), 12),
    "transposed": (lambda x: splu(entries_at(x, PLACES)).solve(x[::-1], "T"), 12),
    "one block": (
        lambda x: spsolve(sp.diags([x, x[1:]], [0, -1], format="csc"), x), N * N),
}


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("mode", ["global", "local"])
def test_sparse_systems(name: str, mode: str) -> None:
    function, entries = SPARSE[name]
    pattern = jacobian_sparsity(function, X, mode=mode).toarray()
    dense = jacobian(function)(X)
    assert not np.any((np.abs(dense) > 1e-12) & ~pattern)
    assert pattern.sum() == entries


def test_what_is_written_into_is_not_known_to_be_zero() -> None:
    def written(x: Any) -> Any:
        a = np.diag(x)
        a[0, 1] = 1.0
        a[1, 0] += x[3]
        return np.linalg.inv(a)

    pattern = jacobian_sparsity(written, X).toarray()
    dense = jacobian(written)(X).reshape(pattern.shape)
    assert not np.any((dense != 0.0) & ~pattern)


def test_loops_and_branches_forget_zeros_that_do_not_last() -> None:
    def grown(x: Any) -> Any:
        a = np.diag(x)
        found = x * 0.0
        while np.sum(a) < 100.0:
            found = found + np.linalg.solve(a, np.ones(N))
            a = a + 1.0
        return found

    def chosen(x: Any) -> Any:
        a = np.diag(x) if x[0] > 1.0 else np.diag(x) + 0.5
        return np.linalg.inv(a)

    for function in (grown, chosen):
        assert jacobian_sparsity(function, X).toarray().all()
    pattern = jacobian_sparsity(chosen, X, mode="local").toarray()
    assert pattern.sum() == N


def test_unit_diagonals_count() -> None:
    def shifted(x: Any) -> Any:
        return scipy.linalg.solve_triangular(
            np.diag(x[1:], -1), x, lower=True, unit_diagonal=True)

    pattern = jacobian_sparsity(shifted, X).toarray()
    assert not np.any((jacobian(shifted)(X) != 0.0) & ~pattern)
