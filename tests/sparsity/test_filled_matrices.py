"""Sparse matrices that are filled element by element: patterns, first and second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from adcompiler import (
    UnsupportedError, grad, jacobian, jacobian_sparsity, sparse_hessian, sparse_jacobian,
)
from adcompiler.runtime.sparse.entries import filled_place

U = np.array([0.5, 0.8, 1.1, 0.7, 1.5])


def jacobian_by_differences(f: Any, u: Any) -> Any:
    return np.stack([(f(u + d) - f(u - d)) / 2e-6 for d in 1e-6 * np.eye(u.size)], -1)


def assembled(K, u):
    for e in range(len(u) - 1):
        k = 1.0 + u[e] ** 2
        K[e, e] += k
        K[e, e + 1] -= k
        K[e + 1, e] -= k
        K[e + 1, e + 1] = K[e + 1, e + 1] + k


def residual(u):
    K = sp.lil_matrix((len(u), len(u)))
    assembled(K, u)
    return K.tocsr() @ u


def solution(u):
    n = len(u)
    K = sp.lil_matrix((n, n), dtype=float)
    assembled(K, u)
    K[0, :] = 0.0
    K[0, 0] = 1.0
    K[-1, -1] += u[0]
    return spsolve(K.tocsc(), np.ones(n)) + K.T @ u


def of_a_dict(u):
    K = sp.dok_matrix((len(u), len(u)))
    for e in range(len(u)):
        K[e, e - 1] = u[e] * u[e - 1]
    return sp.csr_matrix(K) @ u + K @ u + np.sum(K.toarray(), axis=1) + K.diagonal()


def energy(u):
    K = sp.dok_matrix((len(u), len(u)))
    for e in range(len(u) - 1):
        K[e, e] += 1.0 + u[e] ** 2
        K[e, e + 1] += u[e]
    return np.sum((K.tocsr() @ u) ** 2)


def of_constants(u):
    K = sp.lil_matrix((len(u), len(u)))
    K.setdiag(2.0)
    K[0, 1] = 3.0
    return K.tocsr() @ u**2


def by_blocks(u):
    K = sp.lil_matrix((len(u), len(u)))
    for e in range(len(u) - 1):
        both = [e, e + 1]
        K[np.ix_(both, both)] += u[e] ** 2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return K.tocsr() @ u


def by_parts(u):
    K = sp.dok_array((len(u), len(u)))
    K[0:2, 0:2] -= np.outer(u[:2], u[:2])
    K[1, :] += u
    K[:2, 4] = u[:2]
    part = K[0:2, 0:1]
    part += np.ones((2, 1)) * u[3]
    K[2:4, 1] = part
    return K.tocsr() @ u


def unequal(u):
    K = sp.lil_matrix((len(u), len(u)))
    part = K[0:2, 0:2]
    part += np.outer(u[:2], u[:2])
    K[0, 0:4] = part
    return K.tocsr() @ u


def test_parts_are_added_to() -> None:
    for f, entries in ((by_blocks, 13), (by_parts, 14)):
        expected = jacobian_by_differences(f, U)
        assert np.sum(np.abs(expected) > 1e-6) == entries
        assert jacobian_sparsity(f, U).nnz == entries
        assert np.allclose(sparse_jacobian(f)(U).toarray(), expected, atol=1e-6)
        assert np.allclose(jacobian(f)(U), expected, atol=1e-6)
    with pytest.raises(ValueError, match="mismatch"):
        unequal(U)
    with pytest.raises(ValueError, match="broadcast"):
        jacobian(unequal)(U)


def test_element_by_element_assembly() -> None:
    for f, entries in ((residual, 13), (solution, 22), (of_a_dict, 10)):
        expected = jacobian_by_differences(f, U)
        pattern = jacobian_sparsity(f, U)
        assert pattern.nnz == entries
        assert np.all(pattern.toarray() | (np.abs(expected) < 1e-6))
        assert np.allclose(sparse_jacobian(f)(U).toarray(), expected, atol=1e-6)
        assert np.allclose(jacobian(f)(U), expected, atol=1e-6)


def test_second_derivatives_of_an_assembly() -> None:
    found = sparse_hessian(energy)(U)
    assert found.nnz == 13
    assert np.allclose(
        found.toarray(), jacobian_by_differences(grad(energy), U), atol=1e-5)


def test_scipy_makes_what_is_filled_with_constants() -> None:
    assert jacobian_sparsity(of_constants, U).nnz == 6


def outside(u):
    K = sp.lil_matrix((3, 3))
    K[len(u), 0] = u[0]
    return K.tocsr() @ u[:3]


def with_a_diagonal(u):
    K = sp.lil_matrix((len(u), len(u)))
    K.setdiag(u)
    return K.tocsr() @ u


def returned(u):
    K = sp.lil_matrix((3, 3))
    K[0, 0] = u[0]
    return K, np.sum(u)


def part_of(u):
    K = sp.lil_matrix((3, 3))
    K[0, 0] = u[0]
    return K[:2, :2] @ u[:2]


def scaled_part(u):
    K = sp.lil_matrix((3, 3))
    K[:2, :2] *= u[0]
    return K.tocsr() @ u[:3]


def test_other_uses_are_refused_in_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for f, line in ((with_a_diagonal, "K.setdiag(u)"), (returned, "K[0, 0] = u[0]")):
        with pytest.raises(UnsupportedError) as refused:
            jacobian_sparsity(f, U)
        assert line in str(refused.value)
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    for f, line in ((part_of, "return K[:2, :2] @ u[:2]"), (scaled_part, "K[:2, :2] *= u[0]")):
        with pytest.raises(UnsupportedError, match="can only be added to") as refused:
            jacobian(f)(U)
        assert line in str(refused.value)
    with pytest.raises(IndexError, match="row index"):
        jacobian_sparsity(outside, U)
    for place in ((1.5, 0), (0, np.float64(1.0))):
        with pytest.raises(TypeError):
            filled_place(*place, (3, 3))
