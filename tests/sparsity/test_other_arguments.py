"""Patterns hold for all values of floating arguments that are not differentiated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg as la

from adcompiler import grad, hessian_sparsity, jacobian, jacobian_sparsity, sparse_hessian
from adcompiler import sparse_jacobian
from adcompiler.api.sparse import structures
from tests.sparsity.check import missing

N = 5


def constraints(x):
    return np.stack([x[0] ** 2 * x[1], np.sin(x[1] * x[2]), x[3] ** 3, x[4] * x[0], x[2]])


def by_product(x, v, t):
    return v @ constraints(x)


def by_sum(x, v, t):
    return np.sum(v * constraints(x))


def by_loop(x, v, t):
    total = 0.0
    for i in range(len(x) - 1):
        total += v[i] * x[i] * x[i + 1] * t
    return total


def by_einsum(x, v, t):
    return np.einsum("i,ij,j", v, np.outer(x, np.sqrt(1.0 + v * v + t * t)), x)


def underflowing(x, v, t):
    return np.exp(-1e5 * np.abs(t) * np.arange(5.0)) @ (v * x**2)


def piecewise(x, v, t):
    return np.maximum(v, 0.0) @ x**2 + np.minimum(t, 0.0) * x[0] * x[1] + np.sign(t) * x[3] * x[4]


def powers(x, v, t):
    return np.sum(np.abs(x) ** (v + t))


def by_helper(x, v, t):
    def weighted(w, y):
        return w * y

    return sum(weighted(a, b) for a, b in zip(v, constraints(x), strict=True))


def by_list(x, v, t):
    weights = [t * a for a in v]
    weights.append(t)
    return weights[0] * x[0] * x[1] + weights[-1] * x[3] ** 2 + weights[2] * x[4] * x[2]


def compared_with_inputs(x, v, t):
    return x[0] * x[1] if x[2] > t else v[0] * x[3] ** 2


def normed(x, v, t):
    return np.linalg.norm(v) * x[0] * x[1] + np.linspace(0.0, t, 5) @ x**2


INDEPENDENT = [
    by_product, by_sum, by_loop, by_einsum, underflowing, piecewise, powers, by_helper, by_list,
    compared_with_inputs, normed,
]


def branching(x, v, t):
    return v @ constraints(x) if t > 0.25 else v @ x**2


def indexing(x, v, t):
    return v[0] * x[0] ** 2 + x[int(3 * t)] * x[1] * v[int(t)]


def looping(x, v, t):
    total = 0.0
    while t > 0.0:
        total = total + v @ constraints(x) * t
        t = t - 0.4
    return total


def tabled(x, v, t):
    return np.interp(t, np.linspace(0.0, 1.0, 5), x * x * v)


def selecting(x, v, t):
    return np.sum(np.where(v > t, x[::-1] * x, x**2))


def caught(x, v, t):
    try:
        return math.log(t - 0.2) * x[0] * x[1]
    except ValueError:
        return v[0] * x[2] ** 2


LOOKED_AT = [branching, indexing, looping, tabled, selecting, caught]
VALUES = [
    (np.zeros(N), 0.0), (np.ones(N), 0.3), (np.linspace(-1.0, 1.0, N), 0.9),
    (np.array([0.0, 2.0, 0.0, 0.0, 1.0]), -0.2), (np.full(N, 1e3), 0.25),
]
POINTS = [np.linspace(0.3, 1.4, N), np.zeros(N), np.ones(N)]


def dense_hessian(f: Any, x: Any, *others: Any) -> Any:
    with np.errstate(all="ignore"):
        return jacobian(grad(f))(x, *others)


def test_second_derivatives_for_all_values_of_multipliers() -> None:
    for f in INDEPENDENT:
        hessian = sparse_hessian(f)
        first = hessian.structure(POINTS[0], *VALUES[0])
        assert first.pattern.nnz, f.__name__
        for others in VALUES:
            structure = hessian.structure(POINTS[0], *others)
            assert structure.coloring is first.coloring, f.__name__
            for x in POINTS[:1] if f in (powers, by_einsum) else POINTS:
                dense = dense_hessian(f, x, *others)
                assert missing(structure.pattern, dense) == [], f.__name__
                assert np.allclose(hessian(x, *others).toarray(), dense), f.__name__
    nonzeros = [hessian_sparsity(f, POINTS[0], *VALUES[0]).nnz for f in (by_product, by_sum)]
    assert nonzeros == [10, 10]


def test_values_that_decide_something_are_looked_at() -> None:
    for f in LOOKED_AT:
        hessian = sparse_hessian(f)
        for others in VALUES * 2:
            if f is indexing and others[1] < 0.0:
                continue
            for x in POINTS:
                dense = dense_hessian(f, x, *others)
                assert missing(hessian.structure(x, *others).pattern, dense) == [], f.__name__
                assert np.allclose(hessian(x, *others).toarray(), dense), f.__name__


def test_multipliers_are_generic_where_another_argument_is_looked_at() -> None:
    hessian, x = sparse_hessian(branching), POINTS[0]
    structures = [hessian.structure(x, v, t) for v, t in (
        (np.zeros(N), 0.5), (np.ones(N), 0.5), (np.ones(N), 0.75), (np.zeros(N), 0.0))]
    assert [one.pattern.nnz for one in structures] == [10, 10, 10, 5]
    assert structures[0].coloring is structures[2].coloring


def test_nothing_is_found_again_when_values_change(monkeypatch: Any) -> None:
    found = []
    real = structures.watched_pattern

    def counting(*args: Any) -> Any:
        found.append(args)
        return real(*args)

    monkeypatch.setattr(structures, "watched_pattern", counting)
    hessian, x = sparse_hessian(by_product), POINTS[0]
    for k in range(40):
        v = np.cos(k * np.arange(N))
        assert np.allclose(hessian(x, v, 0.1 * k).toarray(), dense_hessian(by_product, x, v, 0.0))
    assert len(found) == 1


def scaled(x, K):
    return K @ (x * x)


def solved(x, K):
    return la.solve_triangular(K, x * x, lower=True)


def weighted(x, options):
    return options["K"] @ x**2 * options["w"] + x[options["k"]]


def test_zeros_of_matrices_are_structure() -> None:
    x, K = POINTS[0], np.diag(np.ones(N)) + np.diag(np.ones(N - 1), -1)
    for f in (scaled, solved):
        derivative = sparse_jacobian(f)
        sizes = []
        for matrix in (K, 3.0 * K, np.diag(np.arange(1.0, N + 1)), K):
            structure = derivative.structure(x, matrix)
            sizes.append(structure.pattern.nnz)
            dense = jacobian(f)(x, matrix)
            assert missing(structure.pattern, dense) == []
            assert np.allclose(derivative(x, matrix).toarray(), dense)
        assert sizes == ([9, 9, 9, 9] if f is scaled else [15, 15, 5, 15])
    assert jacobian_sparsity(scaled, x, np.zeros((N, N))).nnz == N * N


def test_floating_numbers_in_containers() -> None:
    derivative, x = sparse_jacobian(weighted), POINTS[0]
    for k, w in ((0, 0.0), (1, 1.0), (0, 2.0)):
        options = {"K": np.diag(np.arange(1.0, N + 1)), "w": w, "k": k}
        structure = derivative.structure(x, options)
        assert structure.pattern.nnz == 2 * N - 1
        dense = jacobian(weighted)(x, options)
        assert np.allclose(derivative(x, options).toarray(), dense)
