"""Sparse derivatives in the forms that solvers ask for: formats, triangles, Lagrangians."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse as sp

from adcompiler import (
    ADError, grad, hessian, jacobian, jacobian_sparsity, lagrangian, sparse_hessian,
    sparse_jacobian, value_and_sparse_jacobian,
)
from adcompiler.interop import ipopt
from tests.sparsity.check import missing

N = 7
X = np.linspace(0.5, 2.0, N)
FORMATS = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}


def flow(x, k):
    inner = k * x[1:-1] * (x[2:] - x[:-2])
    return np.concatenate([[np.sum(x**2)], inner, x[-2:] ** 2])


def energy(x, k):
    return np.sum((x[1:] - k * x[:-1] ** 2) ** 2) + x[0] * x[-1]


def test_jacobians_in_every_format() -> None:
    for form, cls in FORMATS.items():
        for kind in ("column", "row", "bidirectional", "auto"):
            derivative = sparse_jacobian(flow, kind=kind, format=form)
            rows, columns = derivative.coordinates(X, 1.5)
            buffer = np.empty(rows.size)
            for x in (X, 2.0 * X, np.zeros(N)):
                dense = jacobian(flow)(x, 1.5)
                found = derivative(x, 1.5)
                assert type(found) is cls
                assert np.allclose(found.toarray(), dense)
                assert derivative.values(x, 1.5, out=buffer) is buffer
                assert np.allclose(sp.coo_array((buffer, (rows, columns))).toarray(), dense)
                assert np.array_equal(derivative.values(x, 1.5), buffer)
            assert derivative(3.0 * X, 1.5, out=found) is found
            assert np.allclose(found.toarray(), jacobian(flow)(3.0 * X, 1.5))
            with pytest.raises(ValueError, match="out has other nonzeros"):
                derivative(X, 1.5, out=sp.eye_array(N, format=form))
            with pytest.raises(ValueError, match=r"or a vector of \d+ numbers"):
                derivative.values(X, 1.5, out=np.empty(3))


def test_triangles_of_hessians() -> None:
    parts = {"lower": np.tril, "upper": np.triu, None: np.asarray}
    for form, cls in FORMATS.items():
        for kind in ("star", "acyclic", "column"):
            for triangle, part in parts.items():
                derivative = sparse_hessian(energy, kind=kind, format=form, triangle=triangle)
                for x in (X, -X, np.zeros(N)):
                    found, dense = derivative(x, 0.7), part(hessian(energy)(x, 0.7))
                    assert type(found) is cls
                    assert np.allclose(found.toarray(), dense)
                rows, columns = derivative.coordinates(X, 0.7)
                assert triangle != "lower" or np.all(rows >= columns)
                assert found.nnz == rows.size == (3 * N if triangle is None else 2 * N)
                text = derivative.source_for(X, 0.7)
                space: dict[str, Any] = {}
                exec(str(text), space)
                again = space["energy_sparse_hessian"](X, 0.7)
                assert type(again) is cls
                assert np.allclose(again.toarray(), derivative(X, 0.7).toarray())


def test_triangles_with_patterns_that_are_given() -> None:
    whole = np.tril(hessian(energy)(X, 0.7)) != 0
    derivative = sparse_hessian(energy, pattern=whole, triangle="lower", format="coo")
    assert np.allclose(derivative(X, 0.7).toarray(), np.tril(hessian(energy)(X, 0.7)))
    whole[3, 2] = False
    with pytest.raises(ADError, match="lacks nonzeros"):
        sparse_hessian(energy, pattern=whole, triangle="lower")(X, 0.7)


def test_other_words_are_refused() -> None:
    for options in ({"format": "dia"}, {"triangle": "left"}, {"mode": "near"}):
        with pytest.raises(ValueError, match="is not one of"):
            sparse_hessian(energy, **options)
    with pytest.raises(ValueError, match="whatever the mode"):
        sparse_jacobian(flow, pattern=np.eye(N), mode="local")


def gated(x):
    return np.concatenate([x[1:] * x[:-1], [x[0] if x[0] > 1.0 else x[1]]])


def test_local_patterns() -> None:
    derivative = sparse_jacobian(gated, mode="local")
    for x, nonzeros in ((X, 2 * N - 1), (np.zeros(N), 1), (X + 1.0, 2 * N - 1),
                        (np.where(np.arange(N) == 2, 1.0, 0.0), 3)):
        dense = jacobian(gated)(x)
        assert missing(derivative.structure(x).pattern, dense) == []
        found = derivative(x)
        assert np.allclose(found.toarray(), dense)
        assert found.nnz == nonzeros
        assert np.allclose(derivative(x).toarray(), dense)
    second = sparse_hessian(lambda x: np.sum(x**3), mode="local")
    assert [second(x).nnz for x in (X, np.zeros(N))] == [N, 0]


def test_value_with_jacobian() -> None:
    for kind in ("column", "row"):
        both = value_and_sparse_jacobian(flow, kind=kind, format="csc")
        for x in (X, 2.0 * X):
            value, matrix = both(x, 1.5)
            assert np.array_equal(value, flow(x, 1.5))
            assert np.allclose(matrix.toarray(), jacobian(flow)(x, 1.5))
        assert both(X, 1.5, out=matrix)[1] is matrix
        assert np.allclose(both.values(X, 1.5), both(X, 1.5)[1].data)


def limits(x, k):
    return np.stack([np.prod(x[:3]), k * x @ x, x[-1]])


def test_lagrangians() -> None:
    made = pickle.loads(pickle.dumps(lagrangian(energy, limits, format="coo", triangle="lower")))
    rows, columns = made.hessian_coordinates(X, 0.7)
    buffer = np.empty(rows.size)
    for x in (X, -X, np.zeros(N)):
        assert made.value(x, 0.7) == energy(x, 0.7)
        assert np.allclose(made.gradient(x, 0.7), grad(energy)(x, 0.7))
        value, gradient = made.value_and_gradient(x, 0.7)
        assert np.isclose(value, energy(x, 0.7))
        assert np.allclose(gradient, grad(energy)(x, 0.7))
        assert np.allclose(made.constraints(x, 0.7), limits(x, 0.7))
        assert np.allclose(made.jacobian(x, 0.7).toarray(), jacobian(limits)(x, 0.7))
        assert np.allclose(made.jacobian_values(x, 0.7), made.jacobian(x, 0.7).data)
        for sigma, v in ((1.0, np.zeros(3)), (0.0, np.ones(3)), (0.3, np.array([1.0, 0.0, -2.0]))):
            dense = sigma * hessian(energy)(x, 0.7) + np.tensordot(
                v, jacobian(jacobian(limits))(x, 0.7), 1)
            assert made.hessian_values(x, v, 0.7, sigma=sigma, out=buffer) is buffer
            found = sp.coo_array((buffer, (rows, columns)), shape=(N, N)).toarray()
            assert np.allclose(found, np.tril(dense))
            assert np.allclose(made.hessian(x, v, 0.7, sigma=sigma).toarray(), np.tril(dense))


def test_lagrangians_without_constraints() -> None:
    made = lagrangian(energy)
    assert np.allclose(made.hessian(X, [], 0.7, sigma=2.0).toarray(), 2.0 * hessian(energy)(X, 0.7))
    assert made.constraints(X, 0.7).size == 0
    with pytest.raises(ValueError, match="no constraints"):
        made.jacobian(X, 0.7)


def hs71(x):
    return x[0] * x[3] * np.sum(x[:3]) + x[2]


def hs71_limits(x):
    return np.array([np.prod(x), np.dot(x, x)])


def test_problems_for_ipopt() -> None:
    problem = ipopt.problem(hs71, hs71_limits, [1.0, 5.0, 5.0, 1.0])
    assert (problem.n, problem.m) == (4, 2)
    rows, columns = problem.jacobianstructure()
    lower = problem.hessianstructure()
    assert np.all(lower[0] >= lower[1])
    for x in (np.array([1.0, 4.7, 3.8, 1.4]), np.array([1.0, 5.0, 5.0, 1.0]), np.zeros(4)):
        assert problem.objective(x) == hs71(x)
        assert np.allclose(problem.gradient(x), grad(hs71)(x))
        assert np.allclose(problem.constraints(x), hs71_limits(x))
        dense = sp.coo_array((problem.jacobian(x), (rows, columns)), shape=(2, 4)).toarray()
        assert np.allclose(dense, jacobian(hs71_limits)(x))
        v = np.array([0.5, -1.0])
        dense = 2.0 * hessian(hs71)(x) + np.tensordot(v, jacobian(jacobian(hs71_limits))(x), 1)
        found = sp.coo_array((problem.hessian(x, v, 2.0), lower), shape=(4, 4)).toarray()
        assert np.allclose(found, np.tril(dense))
    assert ipopt.problem(hs71, None, np.ones(4)).jacobianstructure()[0].size == 0


def test_lagrangians_beside_a_solver_of_scipy() -> None:
    made = lagrangian(hs71, hs71_limits)
    limits = so.NonlinearConstraint(
        made.constraints, [25.0, 40.0], [np.inf, 40.0], jac=made.jacobian,
        hess=lambda x, v: made.hessian(x, v, sigma=0.0))
    found = so.minimize(
        made.value, np.array([1.0, 5.0, 5.0, 1.0]), jac=made.gradient,
        hess=lambda x: made.hessian(x, np.zeros(2)), constraints=[limits],
        bounds=[(1.0, 5.0)] * 4, method="trust-constr")
    assert np.isclose(found.fun, 17.0140173, rtol=1e-4)


def test_patterns_are_sparse_arrays() -> None:
    assert isinstance(jacobian_sparsity(flow, X, 1.0), sp.csr_array)
