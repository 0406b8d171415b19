"""Sparse derivatives of functions that are recorded: of a pattern that is stated, and tested."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adcompiler import UnsupportedError, jacobian, sparse_hessian, sparse_jacobian
from adcompiler.errors import RecordedWarning, WrongPatternError
from adcompiler.testing import assert_compiled

X = np.linspace(1.0, 2.0, 8)
BANDS = sp.diags([1.0, 1.0], [0, 1], shape=(7, 8))
TRIDIAGONAL = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(8, 8)).toarray()


@pytest.fixture(autouse=True)
def recording(monkeypatch: pytest.MonkeyPatch) -> None:
    """Record what is refused, as users do."""
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")


def differences(x: Any, name: str = "sin") -> Any:
    return np.__dict__[name](x[1:]) * x[:-1]


def chained(x: Any, name: str = "sin") -> Any:
    return np.sum(np.__dict__[name](x[1:]) * x[:-1])


def jacobian_of_differences(x: np.ndarray) -> np.ndarray:
    found = np.zeros((7, 8))
    i = np.arange(7)
    found[i, i] = np.sin(x[1:])
    found[i, i + 1] = np.cos(x[1:]) * x[:-1]
    return found


def hessian_of_chained(x: np.ndarray) -> np.ndarray:
    found = np.zeros((8, 8))
    i = np.arange(7)
    found[i, i + 1] = found[i + 1, i] = np.cos(x[1:])
    found[i + 1, i + 1] = -np.sin(x[1:]) * x[:-1]
    return found


def test_without_a_pattern_they_are_refused() -> None:
    for make, function in ((sparse_jacobian, differences), (sparse_hessian, chained)):
        for call in (make(function), make(function).prepare, make(function).source_for):
            with pytest.raises(UnsupportedError, match="depends on data") as caught:
                call(X)
            assert caught.value.__notes__ == [
                "A recording finds no pattern: state it by pattern=..."]


def test_with_a_pattern_they_are_those_of_the_function() -> None:
    kinds = {
        sparse_jacobian: ("auto", "column", "row", "bidirectional"),
        sparse_hessian: ("star", "acyclic", "column"),
    }
    for make, function, pattern, wanted in (
        (sparse_jacobian, differences, BANDS, jacobian_of_differences),
        (sparse_hessian, chained, TRIDIAGONAL, hessian_of_chained),
    ):
        for kind in kinds[make]:
            for backend in ("python", "record"):
                found: Any = make(function, kind=kind, pattern=pattern, backend=backend)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RecordedWarning)
                    first = found(X)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # it is told once
                    again = found(X + 1.0, out=found(X + 0.5))
                assert first.nnz == np.count_nonzero(np.asarray(sp.csr_array(pattern).toarray()))
                np.testing.assert_allclose(first.toarray(), wanted(X), atol=1e-14)
                np.testing.assert_allclose(again.toarray(), wanted(X + 1.0), atol=1e-14)
                with pytest.raises(AssertionError, match="is recorded: "):
                    assert_compiled(found, X)


def test_the_user_is_told_once_at_the_line() -> None:
    def told(x: Any) -> Any:
        return np.__dict__["sin"](x)

    found = sparse_jacobian(told, pattern=np.eye(8))
    with pytest.warns(RecordedWarning, match="told is recorded") as caught:
        found(X)
        found(X)
    assert [one.filename for one in caught] == [__file__]


def test_a_pattern_that_lacks_entries_is_found_out() -> None:
    lacking = BANDS.toarray()
    lacking[3, 4] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        for kind in ("column", "row", "bidirectional"):
            with pytest.raises(WrongPatternError, match="in row 3 the matrix"):
                sparse_jacobian(differences, kind=kind, pattern=lacking)(X)
        for kind in ("star", "acyclic", "column"):
            with pytest.raises(WrongPatternError, match="lacks nonzeros"):
                sparse_hessian(chained, kind=kind, pattern=np.eye(8))(X)
        assert sparse_jacobian(differences, pattern=lacking, check=False)(X).nnz == 13
        with pytest.raises(ValueError, match="6 rows, and the result 7 numbers"):
            sparse_jacobian(differences, kind="row", pattern=np.ones((6, 8)))(X)


def test_functions_that_write_into_arguments_are_refused_as_compiled_ones_are() -> None:
    def written(y: np.ndarray, x: Any) -> Any:
        y[:] = np.__dict__["sin"](x)
        return y * x

    y = np.zeros(8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        with pytest.raises(UnsupportedError, match="writes into its arguments"):
            sparse_jacobian(written, argnums=1, pattern=np.eye(8))(y, X)
    assert not y.any()


def test_other_types_are_compiled() -> None:
    def either(x: Any, how: Any) -> Any:
        return np.__dict__[how](x) if isinstance(how, str) else x**how

    found = sparse_jacobian(either, pattern=np.eye(8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        np.testing.assert_allclose(found(X, "sin").toarray(), np.diag(np.cos(X)), rtol=1e-14)
    assert_compiled(found, X, 3)
    np.testing.assert_allclose(found(X, 3).toarray(), jacobian(either)(X, 3), rtol=1e-14)
    np.testing.assert_allclose(found(X, "cos").toarray(), np.diag(-np.sin(X)), rtol=1e-14)
