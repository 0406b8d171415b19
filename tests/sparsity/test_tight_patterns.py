"""Patterns of programs that pick, fill and mask have the entries that occur, and few others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adcompiler import grad, hessian_sparsity, jacobian, jacobian_sparsity
from tests.sparsity.check import missing

N = 10
LINKS = np.eye(N) + np.diag(np.ones(N - 1), 1) + np.diag(np.ones(N - 1), -1)
ORDERS = (np.eye(N) + np.diag(np.full(N - 1, 2), 1)).astype(int)


def masked_store(x):
    y = np.zeros_like(x)
    m = x > 0.5
    y[m] = x[m] ** 2 * 2.0
    return y


def store_where_nonzero(x):
    y = np.zeros_like(x)
    i = np.nonzero(x > 0.5)[0]
    y[i] = np.sin(x[i]) * x[i]
    return y


def added_where(x):
    y = x.copy()
    i = np.where(x > 0.5)[0]
    y[i] += x[i] ** 3
    return y


def sorted_and_back(x):
    order = np.argsort(x)
    y = np.empty_like(x)
    y[order] = x[order] ** 2
    return y


def two_masks(x):
    y = x**2
    m = x < 0.3
    y[m] = np.exp(y[m]) * x[m]
    y[~m] = np.sqrt(x[~m])
    return y


def masked_constants(x):
    y, m = x**3, x > 0.4
    y[m] = x[m] * ORDERS[0][m] + 1.0
    return y


def assembled(x):
    stiffness = np.zeros((N, N))
    for i in range(N - 1):
        e = np.array([i, i + 1])
        stiffness[np.ix_(e, e)] += x[i] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return stiffness @ x


def assembled_by_elements(x):
    stiffness = np.zeros((N, N))
    for i in range(N - 1):
        stiffness[i, i] += x[i]
        stiffness[i, i + 1] -= x[i]
        stiffness[i + 1, i] -= x[i]
    return stiffness @ x


def power_flow(x):
    v, angle = x, 0.3 * x
    apart = angle[:, None] - angle[None, :]
    return np.sum(LINKS * v[:, None] * v[None, :] * np.cos(apart), axis=1)


def rates(x):
    return np.prod(x**ORDERS, axis=1)


def exact(x):
    return LINKS[0] * x**2


# programs whose results depend on more than the element at hand


def written_index(x):
    i = np.argsort(x)
    i[0] = 3
    t = x[i]
    i[1] = 2
    y = np.zeros_like(x)
    y[i] = t
    return y


def reversed_there(x):
    y, m = x.copy(), x > 0.4
    y[m] = x[::-1][m]
    return y


def written_parts(x):
    m = x > 0.4
    w = x[m]
    w[0] = x[-1]
    y = x * 0.0
    y[m] = w
    return y


def longer_picks(x):
    i = np.argsort(x)
    return x[i] * np.concatenate([x[::-1], x])[i]


def overwritten_first(x):
    m = x > 0.4
    t = x[m]
    x = x[::-1] * 2.0
    y = x * 0.0
    y[m] = t + x[m]
    return y


CASES = [
    (masked_store, N), (store_where_nonzero, N), (added_where, N), (sorted_and_back, N),
    (two_masks, N), (masked_constants, N), (assembled, 3 * N - 2), (assembled_by_elements, None),
    (power_flow, 3 * N - 2), (rates, 2 * N - 1), (exact, 2), (written_index, None),
    (reversed_there, 2 * N), (written_parts, None), (longer_picks, None),
    (overwritten_first, 2 * N),
]
POINTS = [
    np.linspace(0.1, 1.0, N), np.ones(N), np.array([0.5, 0.2, 0.9] * 3 + [0.3]),
    np.linspace(1.0, 0.1, N),
]


def summed(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def total(x):
        return np.sum(f(x) ** 2) + np.sum(f(x))

    return total


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_first_derivatives() -> None:
    for f, entries in CASES:
        pattern = jacobian_sparsity(f, POINTS[0])
        for x in POINTS if f is written_parts else (*POINTS, np.zeros(N)):
            assert missing(pattern, np.nan_to_num(jacobian(f)(x))) == [], f.__name__
        assert entries is None or pattern.nnz == entries, f.__name__


def test_second_derivatives() -> None:
    for f, entries in CASES:
        total = summed(f)
        pattern = hessian_sparsity(total, POINTS[0])
        for x in POINTS:
            assert missing(pattern, jacobian(grad(total))(x)) == [], f.__name__
        assert entries != N or pattern.nnz == N, f.__name__
    assert hessian_sparsity(lambda x: np.sum(rates(x)), POINTS[0]).nnz == 3 * (N - 1)
    assert hessian_sparsity(lambda x: np.sum(x ** ORDERS[0]), POINTS[0]).nnz == 1


def test_local_patterns_of_powers() -> None:
    x = np.where(np.arange(N) == 4, 0.0, 1.0)
    for f in (rates, exact):
        pattern = jacobian_sparsity(f, x, mode="local")
        assert missing(pattern, jacobian(f)(x)) == []
    assert jacobian_sparsity(rates, x, mode="local").nnz == 2 * N - 4


INNER = np.arange(N - 1)
ROWS = np.concatenate([INNER, INNER, INNER + 1, INNER + 1])
COLUMNS = np.concatenate([INNER, INNER + 1, INNER, INNER + 1])


def diagonal_product(x):
    i = np.arange(N)
    return sp.csr_matrix((x**2, (i, i)), shape=(N, N)) @ x


def stiffness_product(x):
    k = 1.0 + (x[1:] - x[:-1]) ** 2
    values = np.concatenate([k, -k, -k, k])
    return sp.coo_matrix((values, (ROWS, COLUMNS)), shape=(N, N)).tocsr() @ x


def product_with_columns(x):
    i = np.arange(N)
    return (sp.csr_matrix((x, (i, i)), shape=(N, N)) @ np.stack([x[::-1], x], 1)).ravel()


def test_products_with_sparse_matrices_of_variables() -> None:
    for f, first, second in (
        (diagonal_product, N, N), (stiffness_product, 3 * N - 2, 3 * N - 2),
        (product_with_columns, 3 * N, 2 * N),
    ):
        weights = np.linspace(1.0, 2.0, f(POINTS[0]).size)

        def weighted(x, f=f, weights=weights):
            return weights @ f(x)

        for x in POINTS:
            assert missing(jacobian_sparsity(f, x), jacobian(f)(x)) == []
            assert missing(hessian_sparsity(weighted, x), jacobian(grad(weighted))(x)) == []
        assert jacobian_sparsity(f, POINTS[0]).nnz == first, f.__name__
        assert hessian_sparsity(weighted, POINTS[0]).nnz == second, f.__name__
