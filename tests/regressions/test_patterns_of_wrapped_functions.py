"""Sparse derivatives and patterns of functions that see how they are called."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from adcompiler import (
    Local, hessian_sparsity, jacobian_sparsity, sparse_hessian, sparse_jacobian,
)

X = np.array([0.7, 1.2, 2.1])


def tenfold(f):
    @functools.wraps(f)
    def new(*args, **kwargs):
        return 10.0 * f(*args, **kwargs) if len(args) > 1 or kwargs else f(*args, **kwargs)

    return new


def coupled(f):
    @functools.wraps(f)
    def new(*args, **kwargs):
        if len(args) > 1 or kwargs:
            return f(*args, **kwargs)
        return np.cumsum(f(*args, **kwargs))

    return new


@tenfold
def squares(x, y=2.0):
    return x * x * y


@tenfold
def cubes(x, y=2.0):
    return np.sum(x**3) * y


@coupled
def joined(x, y=2.0):
    return x * x * y


def test_sparse_jacobians_are_of_the_call_as_written():
    for kind in ("auto", "row", "column"):
        derivative = sparse_jacobian(squares, kind=kind)
        assert np.allclose(derivative(X).toarray(), np.diag(4.0 * X))
        assert np.allclose(derivative(X, 2.0).toarray(), np.diag(40.0 * X))
        assert np.allclose(derivative(X, y=3.0).toarray(), np.diag(60.0 * X))
        assert np.allclose(derivative.prepare(X)(X).toarray(), np.diag(4.0 * X))


def test_sparse_hessians_are_of_the_call_as_written():
    derivative = sparse_hessian(cubes)
    assert np.allclose(derivative(X).toarray(), np.diag(12.0 * X))
    assert np.allclose(derivative(X, 2.0).toarray(), np.diag(120.0 * X))


@pytest.mark.parametrize("options", [{}, {"mode": "local"}, {"detector": Local(tracers=True)}])
def test_patterns_are_of_the_call_as_written(options):
    lower, diagonal = np.tril(np.ones((3, 3), bool)), np.eye(3, dtype=bool)
    assert np.array_equal(jacobian_sparsity(joined, X, **options).toarray(), lower)
    assert np.array_equal(jacobian_sparsity(joined, X, 2.0, **options).toarray(), diagonal)
    assert np.array_equal(sparse_jacobian(joined).structure(X).pattern.toarray(), lower)

    @coupled
    def total(x, y=2.0):
        return np.sum(x * x * x) * y

    assert np.array_equal(hessian_sparsity(total, X, **options).toarray(), diagonal)


def test_defaults_are_those_at_the_call():
    def f(x, k=2.0):
        return x * x * k if k < 3.0 else np.cumsum(x) * k

    derivative = sparse_jacobian(f)
    assert np.allclose(derivative(X).toarray(), np.diag(4.0 * X))
    assert jacobian_sparsity(f, X).nnz == 3
    f.__defaults__ = (5.0,)
    assert np.allclose(derivative(X).toarray(), np.tril(np.full((3, 3), 5.0)))
    assert jacobian_sparsity(f, X).nnz == jacobian_sparsity(f, X, mode="local").nnz == 6
    assert jacobian_sparsity(f, X, detector=Local(tracers=True)).nnz == 6
