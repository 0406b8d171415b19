"""Patterns that the user states: used as they are, and tested."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import adcompiler
from adcompiler import ADError, color, hessian, jacobian, sparse_hessian, sparse_jacobian

X = np.linspace(1.0, 2.0, 8)


def differences(x: Any, rate: Any = 2.0) -> Any:
    return rate * (x[1:] - x[:-1]) * x[1:]


def chained(x: Any) -> Any:
    return np.sum(x[1:] ** 2 * x[:-1])


def branching(x: Any) -> Any:
    return x * x[::-1] if x[0] > 1.5 else x * x


BANDS = sp.diags([1.0, 1.0], [0, 1], shape=(7, 8))
TRIDIAGONAL = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(8, 8)).toarray()


@pytest.mark.parametrize("kind", ["auto", "column", "row", "bidirectional"])
def test_a_jacobian_has_the_pattern_that_is_given(kind: str) -> None:
    found = sparse_jacobian(differences, kind=kind, pattern=BANDS)
    np.testing.assert_allclose(found(X).toarray(), jacobian(differences)(X))
    assert found(X).nnz == 14
    wider = sparse_jacobian(differences, kind=kind, pattern=np.triu(np.ones((7, 8))))
    assert wider(X).nnz == 35
    np.testing.assert_allclose(wider(X, 3.0).toarray(), jacobian(differences)(X, 3.0))


@pytest.mark.parametrize("kind", ["star", "acyclic", "column"])
def test_a_hessian_has_the_pattern_that_is_given(kind: str) -> None:
    found = sparse_hessian(chained, kind=kind, pattern=TRIDIAGONAL)
    np.testing.assert_allclose(found(X).toarray(), hessian(chained)(X), atol=1e-12)
    assert found(X).nnz == 22


def test_a_pattern_that_lacks_nonzeros_is_found_out() -> None:
    lacking = BANDS.toarray()
    lacking[3, 4] = 0.0
    for kind in ("column", "row", "bidirectional"):
        with pytest.raises(ADError, match="in row 3 the matrix"):
            sparse_jacobian(differences, kind=kind, pattern=lacking)(X)
    diagonal = np.eye(8)
    for kind in ("star", "acyclic", "column"):
        with pytest.raises(ValueError, match="lacks nonzeros"):
            sparse_hessian(chained, kind=kind, pattern=diagonal)(X)


def test_every_matrix_is_tested() -> None:
    found = sparse_jacobian(branching, pattern=np.eye(8))
    np.testing.assert_array_equal(found(X).toarray(), np.diag(2.0 * X))
    with pytest.raises(ADError, match="lacks nonzeros"):
        found(X + 1.0)
    trusting = sparse_jacobian(branching, pattern=np.eye(8), check=False)
    assert trusting(X + 1.0).nnz == 8


def test_shapes_and_symmetry() -> None:
    with pytest.raises(ValueError, match="7 columns, and the arguments 8 numbers"):
        sparse_jacobian(differences, pattern=np.ones((7, 7)))(X)
    with pytest.raises(ValueError, match="6 rows, and the result 7 numbers"):
        sparse_jacobian(differences, kind="row", pattern=np.ones((6, 8)))(X)
    with pytest.raises(ADError, match="writes into its arguments"):
        sparse_jacobian(written, pattern=np.eye(8))(X.copy())


def written(x: Any) -> Any:
    x[0] = x[1] * 2.0
    return x * x


def test_numbers_that_are_not_finite() -> None:
    def logs(x: Any) -> Any:
        return np.log(x) * x

    x = np.array([1.0, 0.0, 2.0])
    with np.errstate(all="ignore"):
        found = sparse_jacobian(logs, pattern=np.eye(3))(x).toarray()
        assert not np.isfinite(found[1, 1]) and found[0, 0] == 1.0
        lacking = sparse_jacobian(lambda x: np.log(x) * x[::-1], pattern=np.eye(3)[::-1])
        with pytest.raises(ADError):
            lacking(x)


def test_single_precision_and_out() -> None:
    x = X.astype(np.float32)
    found = sparse_jacobian(differences, pattern=BANDS)
    J = found(x)
    assert J.dtype == np.float32
    assert found(2.0 * x, out=J) is J
    np.testing.assert_allclose(J.toarray(), jacobian(differences)(2.0 * x), rtol=1e-5)


def test_functions_that_no_pattern_is_found_of() -> None:
    def selected(x: Any) -> Any:
        return x[x > 1.0] ** 2

    with pytest.raises(ADError):
        sparse_jacobian(selected)(X[1:])
    found = sparse_jacobian(selected, pattern=np.eye(7))(X[1:])
    np.testing.assert_array_equal(found.toarray(), np.diag(2.0 * X[1:]))


def test_source_and_pickles() -> None:
    found = sparse_jacobian(differences, pattern=BANDS)
    namespace: dict[str, Any] = {}
    exec(str(found.source_for(X)), namespace)
    matrix = namespace["differences_sparse_jacobian"](X, 2.0)
    np.testing.assert_allclose(matrix.toarray(), jacobian(differences)(X))
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_allclose(again(X).toarray(), jacobian(differences)(X))


def test_color_is_public() -> None:
    assert adcompiler.color is color
    found = color(BANDS)
    assert found.count == 2 and found.columns.tolist() == [0, 1] * 4
    assert color(TRIDIAGONAL, "star").count == 3
    arrow = np.eye(6) + np.eye(6)[:1].T + np.eye(6)[:1]
    arrow[0], arrow[:, 0] = 1.0, 1.0
    assert color(arrow, "column").count == 6 and color(arrow, "bidirectional").count == 3
    seeds = found.column_seeds()
    np.testing.assert_array_equal(seeds, [[1.0, 0.0] * 4, [0.0, 1.0] * 4])


def test_rows_and_columns_of_nonzeros_are_a_pattern() -> None:
    rows, columns = np.nonzero(BANDS.toarray())
    for kind in ("auto", "column", "row", "bidirectional"):
        found = sparse_jacobian(differences, kind=kind, pattern=(rows, columns.tolist()))
        for x in (X, X[::-1]):
            np.testing.assert_allclose(found(x).toarray(), jacobian(differences)(x))
        assert found(X).nnz == 14
        np.testing.assert_allclose(
            pickle.loads(pickle.dumps(found))(X).toarray(), jacobian(differences)(X))
    last = sparse_jacobian(lambda x: np.concatenate([x[:2] ** 2, np.zeros(3)]), pattern=(
        np.array([0, 1]), np.array([0, 1])))  # rows without nonzeros at the end
    assert last(X).shape == (5, 8)
    for pattern, match in (
        ((rows[1:], columns[1:]), "lacks nonzeros"), ((rows + 1, columns), "in row 7"),
        ((rows, columns + 1), "in column 8"),
    ):
        with pytest.raises(ValueError, match=match):
            sparse_jacobian(differences, pattern=pattern)(X)
    for wrong in ((rows, columns[1:]), (rows,), (rows, columns, rows), (rows * 1.0, columns),
                  (-rows, columns), (BANDS.toarray(), BANDS.toarray())):
        with pytest.raises(ValueError, match="rows and of the columns"):
            sparse_jacobian(differences, pattern=wrong)


def test_a_triangle_of_a_hessian_is_a_pattern() -> None:
    expected = hessian(chained)(X)
    lower, upper = np.tril(TRIDIAGONAL), np.triu(TRIDIAGONAL)
    for pattern in (lower, upper, sp.csr_matrix(lower), np.nonzero(lower), np.nonzero(upper),
                    np.nonzero(TRIDIAGONAL)):
        for kind in ("star", "acyclic", "column"):
            found = sparse_hessian(chained, kind=kind, pattern=pattern)
            np.testing.assert_allclose(found(X).toarray(), expected, atol=1e-12)
            assert found(X).nnz == 22
    askew = TRIDIAGONAL.copy()
    askew[0, 5] = 1.0
    with pytest.raises(ValueError, match="symmetric"):
        sparse_hessian(chained, pattern=askew)(X)
