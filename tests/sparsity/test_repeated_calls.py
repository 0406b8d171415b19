"""Sparse derivatives that are called again look at nothing but what may have changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adcompiler import sparse_hessian, sparse_jacobian
from adcompiler.api.sparse.structure import UNKNOWN, holds_same, kept_copy
from adcompiler.api.sparse.structures import Structures
from adcompiler.sparsity.coloring.coloring import color
from adcompiler.sparsity.coloring.decompression import Decompression

SCALE = 2.0


def gathered(x, index):
    return SCALE * x[index] ** 2


def chained(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2)


X = np.linspace(0.5, 2.0, 6)


def by_hand(x: Any, index: Any, scale: float = 2.0) -> Any:
    found = np.zeros((len(index), len(x)))
    found[np.arange(len(index)), index] = 2.0 * scale * x[index]
    return found


def looked_up(monkeypatch: Any) -> list[Any]:
    """Return a list that grows when arguments are looked at in the long way."""
    calls: list[Any] = []
    real = Structures.at

    def counting(self: Any, *args: Any) -> Any:
        calls.append(args)
        return real(self, *args)

    monkeypatch.setattr(Structures, "at", counting)
    return calls


@pytest.mark.parametrize("backend", ["python", "auto"])
def test_the_second_call_finds_no_structure(backend: str, monkeypatch: Any) -> None:
    jacobian, hessian = sparse_jacobian(gathered, backend=backend), sparse_hessian(
        chained, backend=backend)
    index = np.array([3, 1, 1, 5])
    jacobian(X, index)
    dense = hessian(X).toarray()
    calls = looked_up(monkeypatch)
    for x in (X, 2.0 * X):
        assert np.array_equal(jacobian(x, index).toarray(), by_hand(x, index))
        assert np.array_equal(jacobian(x, index.copy()).toarray(), by_hand(x, index))
    assert np.array_equal(hessian(X).toarray(), dense)
    assert calls == []


def test_arguments_that_change_are_seen(monkeypatch: Any) -> None:
    jacobian, index = sparse_jacobian(gathered), np.array([3, 1, 1, 5])
    jacobian(X, index)
    calls = looked_up(monkeypatch)
    index[0] = 4  # in place
    assert np.array_equal(jacobian(X, index).toarray(), by_hand(X, index))
    for other in (np.array([0, 1]), np.array([3, 1, 1, 5]), index[::-1], index.astype(np.int32)):
        assert np.array_equal(jacobian(X, other).toarray(), by_hand(X, other))
    assert np.array_equal(jacobian(X[:5], np.array([4, 1])).toarray(), by_hand(X[:5], [4, 1]))
    assert len(calls) == 6


def test_globals_and_shapes_that_change_are_seen() -> None:
    global SCALE
    jacobian, index = sparse_jacobian(gathered), np.array([3, 1])
    try:
        for scale in (2.0, 3.0, 3.0, 0.5):
            SCALE = scale
            assert np.array_equal(jacobian(X, index).toarray(), by_hand(X, index, scale))
    finally:
        SCALE = 2.0


def test_arguments_of_other_kinds() -> None:
    jacobian, index = sparse_jacobian(gathered), np.array([3, 1])
    jacobian(X, index)
    assert np.array_equal(jacobian(x=X, index=index).toarray(), by_hand(X, index))
    assert jacobian(X.astype(np.float32), index).dtype == np.float32
    strided = np.repeat(X, 2)[::2]
    assert np.array_equal(jacobian(strided, index).toarray(), by_hand(X, index))
    with pytest.raises(TypeError):
        jacobian(X * 1j, index)
    with pytest.raises(TypeError):
        jacobian(X)


def test_results_are_the_callers_own() -> None:
    jacobian, index = sparse_jacobian(gathered), np.array([3, 1])
    for _ in range(3):
        found = jacobian(X, index)
        assert isinstance(found, sp.csr_array) and found.has_canonical_format
        assert np.array_equal(found.toarray(), by_hand(X, index))
        found.data[:] = found.indices[:] = found.indptr[:] = 0
    out = jacobian(X, index)
    assert jacobian(2.0 * X, index, out=out) is out
    assert np.array_equal(out.toarray(), by_hand(2.0 * X, index))
    with pytest.raises(ValueError, match="out has other nonzeros"):
        jacobian(X, index, out=sp.csr_array(np.eye(2, 6)))


def test_rules_that_change_are_seen() -> None:
    jacobian, index = sparse_jacobian(gathered), np.array([3, 1])
    jacobian(X, index)
    assert jacobian.last is not None
    jacobian.rules_changed()
    assert jacobian.last is None
    assert np.array_equal(jacobian(X, index).toarray(), by_hand(X, index))


@pytest.mark.parametrize(("one", "other", "same"), [
    (3, 3, True), (3, 4, False), (3, True, False), ("a", "a", True), (None, None, True),
    (np.arange(3), np.arange(3), True), (np.arange(3), np.arange(4), False),
    (np.arange(3), np.arange(3.0), False), (np.zeros(2), -np.zeros(2), False),
    (np.array([np.nan]), np.array([np.nan]), True), (np.zeros((2, 0)), np.zeros((0, 2)), False),
    (np.zeros((2, 3)), np.zeros((3, 2)), False), (np.array(1.0), np.array(1.0), True),
    (np.array(1.0), 1.0, False), (1.5, 1.5, True), (1.5, 2.5, False), (0.0, -0.0, False),
    (float("nan"), float("nan"), True), (1.0, 1, False), (1, 1.0, False),
    (1.0, np.ones(1), False), (np.arange(3), [0, 1, 2], False),
])
def test_what_holds_the_same(one: Any, other: Any, same: bool) -> None:
    assert holds_same(other, kept_copy(one)) is same


def test_what_is_not_told_apart() -> None:
    for value in ([1], (1, 2), {}, np.array([None]), np.float64(1.0), len, 1j):
        assert kept_copy(value) is UNKNOWN
    assert not holds_same(np.arange(6)[::2], kept_copy(np.arange(0, 6, 2)))


@pytest.mark.parametrize("turned", [(False,) * 3, (True,) * 3, (True, False, True)])
@pytest.mark.parametrize("kind", ["column", "star", "acyclic"])
def test_nonzeros_are_read_from_several_arrays(kind: str, turned: tuple[bool, ...]) -> None:
    n = 11
    full = np.random.default_rng(0).normal(size=(n, n))
    full = np.triu(np.tril(full + full.T, 4), -4)
    coloring = color(sp.csr_array(full != 0), kind)
    assert coloring.count > 4
    sums = coloring.column_seeds() @ full.T
    parts = np.split(sums, [1, 4])
    parts = [np.asfortranarray(part) if one else part
             for part, one in zip(parts, turned, strict=True)]
    made = Decompression(coloring)
    expected = Decompression(coloring).matrix(sums, sums)
    assert np.allclose(expected.toarray(), full)
    for given in (parts, [sums], [np.asfortranarray(sums)], parts[::1]):
        assert np.array_equal(made.matrix(given, given).toarray(), expected.toarray())


def arrow(x, weights):
    return np.concatenate([[np.sum(weights * x * x)], x[1:] * x[0]]).reshape(2, -1)


@pytest.mark.parametrize("kind", ["auto", "column", "row", "bidirectional"])
def test_rows_and_columns_again(kind: str, monkeypatch: Any) -> None:
    jacobian, weights = sparse_jacobian(arrow, kind=kind), np.arange(1.0, 7.0)

    def expected(x: Any) -> Any:
        first = 2.0 * weights * x
        rest = np.hstack([x[1:, None], x[0] * np.eye(5)])
        return np.vstack([first, rest])

    assert np.allclose(jacobian(X, weights).toarray(), expected(X))
    calls = looked_up(monkeypatch)
    for x in (X, 2.0 * X, X):
        found = jacobian(x, weights.copy())
        assert np.allclose(found.toarray(), expected(x), rtol=1e-14)
        found.data[:] = np.nan
    assert calls == []
    assert jacobian.last.structure.coloring.kind == kind or kind == "auto"
