"""Jacobians and Hessians that are called again: nothing is copied, and nothing is shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import hessian, jacfwd, jacobian
from adcompiler.dispatch import written
from adcompiler.dispatch.calling import PushforwardOfEach

A = np.random.default_rng(0).normal(size=(4, 3))


def squares(x, M):
    return M @ (x * x)


def scaled(x, M):
    x *= 2.0
    return M @ x


def same(x, M):
    return x


def views(x, M):
    return M[0] * x


def stretched(x, M):
    return np.ones((2, 3)) * x


def number(x, M):
    return np.sum(x * x)


def pair(x, M):
    return x * x, {"sum": np.sum(x)}


def jacobians_of(function: Any, x: Any, M: Any) -> list[Any]:
    """Return what three calls of one Jacobian return, the last at another point."""
    make = jacfwd(function)
    return [make(x, M), make(x, M), make(2.0 * x, M)]


@pytest.mark.parametrize("function", [squares, scaled, same, views, stretched, number, pair])
def test_calls_agree(function: Any) -> None:
    x = np.array([0.5, -1.0, 2.0])
    kept, kept_A = x.copy(), A.copy()
    first, second, third = jacobians_of(function, x, A)
    fresh = jacfwd(function)(2.0 * x, A)
    for one, other in ((first, second), (third, fresh)):
        for a, b in zip(flat(one), flat(other), strict=True):
            assert np.array_equal(a, b) and a.shape == b.shape and a.dtype == b.dtype
    assert np.array_equal(x, kept) and np.array_equal(A, kept_A)


def flat(tree: Any) -> list[np.ndarray]:
    """Return the arrays in a tree."""
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    return [a for part in tree for a in flat(part)] if isinstance(tree, tuple) else [tree]


@pytest.mark.parametrize("function", [squares, scaled, same, views, stretched])
def test_results_are_the_callers_own(function: Any) -> None:
    x, M = np.array([0.5, -1.0, 2.0]), A.copy()
    make = jacfwd(function)
    expected = make(x, M).copy()
    for _ in range(3):
        found = make(x, M)
        assert np.array_equal(found, expected)
        assert not np.may_share_memory(found, x) and not np.may_share_memory(found, M)
        found[...] = np.nan


def test_arguments_are_copied_where_they_may_be_written_into(monkeypatch: Any) -> None:
    x, count = np.array([0.5, -1.0, 2.0]), []
    real = written.own

    def counting(value: Any) -> Any:
        count.append(value)
        return real(value)

    monkeypatch.setattr(written, "own", counting)
    for function, copies in ((squares, 0), (scaled, 2)):
        make = jacfwd(function)
        make(x, A)
        count.clear()
        make(x, A)
        assert len(count) == copies


def test_lists_are_copied() -> None:
    def of_list(x, rows):
        rows[0] = rows[0] * 2.0
        return x * rows[0]

    make, x = jacfwd(of_list), np.array([0.5, -1.0])
    for _ in range(3):
        rows = [np.array([1.0, 2.0])]
        assert np.array_equal(make(x, rows), np.diag([2.0, 4.0]))
        assert np.array_equal(rows[0], [1.0, 2.0])


def test_other_shapes_and_kinds_come_in_between() -> None:
    make = jacobian(lambda x: x * x)
    for x in (np.ones(3), np.ones(3), np.ones(2), 2.0, np.ones((2, 2)), np.ones(3),
              np.ones(3, np.float32), np.ones(4)):
        expected = np.reshape(np.diag(np.ravel(2.0 * np.asarray(x))), 2 * np.shape(x))
        found = make(x)
        assert np.array_equal(found, expected) and np.asarray(found).dtype == np.asarray(x).dtype
    with pytest.raises(TypeError, match="complex"):
        make(np.ones(3) * 1j)


def test_a_result_that_becomes_complex_is_refused() -> None:
    def turned(x, by):
        return x * by

    make = jacfwd(turned)
    make(np.ones(2), 1.0)
    make(np.ones(2), 1.0)
    with pytest.raises(TypeError, match="complex"):
        make(np.ones(2), 1j)


def test_tangents_of_another_shape_are_refused() -> None:
    push = jacfwd(squares).pushed(np.ones(3), A)
    assert isinstance(push, PushforwardOfEach) and not push.writes
    assert jacfwd(scaled).pushed(np.ones(3), A).writes
    with pytest.raises(ValueError, match="one axis more"):
        push(np.ones((2, 4)))


def test_hessians_are_the_callers_own() -> None:
    make, x = hessian(lambda x: np.sum(x**3)), np.array([1.0, 2.0])
    for _ in range(3):
        found = make(x)
        assert np.array_equal(found, np.diag(6.0 * x))
        found[...] = np.nan


def by_name(x, *, k, m=2.0):
    return np.sum(x**2 * k**3) * m


def test_hessians_in_parameters_that_are_given_by_name_only():
    x, k = np.array([1.0, 2.0]), np.array([0.5, 1.5])
    of_k, mixed, of_x = 12.0 * x**2 * k, 12.0 * x * k**2, 4.0 * k**3
    for mode in (None, "fwd_adj", "fwd_fwd", "adj_fwd", "adj_adj"):
        options = {} if mode is None else {"mode": mode}
        np.testing.assert_allclose(hessian(by_name, "k", **options)(x, k=k), np.diag(of_k))
        np.testing.assert_allclose(hessian(by_name, **options)(x, k=k), np.diag(of_x))
    found = hessian(by_name, argnums=("x", "k"))(x, k=k)
    for row, wanted in zip(found, ((of_x, mixed), (mixed, of_k)), strict=True):
        for block, entries in zip(row, wanted, strict=True):
            np.testing.assert_allclose(block, np.diag(entries))
    (_, of_km), (_, of_m) = hessian(by_name, argnums=("k", "m"))(x, k=k, m=3.0)
    np.testing.assert_allclose(of_km, 3.0 * x**2 * k**2)
    assert of_m == 0.0
