"""Sparse derivatives of derivatives: their patterns have what dense second derivatives have."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    UnsupportedError, grad, hessian, jacfwd, jacobian, jacobian_sparsity, jacrev, sparse_hessian,
    sparse_jacobian, value_and_grad, vjp,
)
from tests.lanes import one_in

X = np.array([1.3, 2.1, 0.7, 1.9])


def neighbours(x: Any) -> Any:
    return np.sum(x[1:] * x[:-1] ** 2)


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total += x[i] * math.sin(x[i + 1])
    return total


def with_writes(x: Any) -> Any:
    y = np.zeros(4)
    y[0] = x[0] * x[1]
    y[1:3] = x[2:4] ** 2
    y[3] += x[0]
    return np.sum(y * y)


def with_a_dict(x: Any) -> Any:
    table = {"a": x[0] * x[1], "b": x[2]}
    return sum(v * v for v in table.values())


def in_a_branch(x: Any) -> Any:
    if x[0] > 0.0:
        return x[1] * x[2]
    return x[3] ** 2


FIRST = {
    "grad": grad, "jacobian": jacobian, "jacfwd": jacfwd, "jacrev": jacrev,
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0)[0],
    "value_and_grad": lambda f: lambda x: value_and_grad(f)(x)[1],
}


@pytest.mark.parametrize(("name", "f"), one_in(4, itertools.product(
    FIRST, [neighbours, in_a_loop, with_writes, with_a_dict, in_a_branch])))
def test_sparse_jacobians_of_first_derivatives(name: str, f: Any) -> None:
    wanted = hessian(f)(X)
    try:
        pattern = jacobian_sparsity(FIRST[name](f), X).toarray()
    except UnsupportedError:
        assert f is in_a_branch
        return
    assert pattern.shape == (4, 4)
    assert np.all(pattern | (wanted == 0.0))
    found = sparse_jacobian(FIRST[name](f))(X).toarray()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_sparse_derivatives_of_sparse_derivatives_are_refused() -> None:
    for outer in (sparse_jacobian, sparse_hessian, grad, jacobian, hessian):
        for inner in (sparse_jacobian, sparse_hessian):
            with pytest.raises(UnsupportedError, match="inside of a function that is compiled"):
                outer(inner(neighbours))(X)


STRANGE = object()


def gives_something_else(x: Any) -> Any:
    return STRANGE


def test_results_of_which_nothing_is_known_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="a value of class object"):
        jacobian_sparsity(gives_something_else, X)


@sparse_jacobian
def decorated(x: Any) -> Any:
    return np.array([x[0] ** 2, x[1] * x[0]])


def test_sparse_derivatives_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    for made in (sparse_jacobian(grad(neighbours)), sparse_hessian(neighbours)):
        wanted = made(X).toarray()
        assert np.array_equal(pickle.loads(pickle.dumps(made))(X).toarray(), wanted)
