"""Derivatives along constant seeds: what these decide is computed once, and right at all points."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import sparse_hessian, sparse_jacobian
from adcompiler.api.sparse import structure as sparse_structure
from adcompiler.dispatch import trees
from adcompiler.dispatch import AtPoint
from tests.lanes import one_in
from tests.sparsity.check import dense_jacobian
from tests.sparsity.test_random_programs import N, source

rng = np.random.default_rng(5)


def check_points(function, points, *others, kind="column"):
    """Check one sparse Jacobian at several points, and once more at the first one."""
    derivative = sparse_jacobian(function, kind=kind)
    for x in (*points, points[0]):
        wanted = dense_jacobian(function, (x, *others), (0,)).reshape(-1, x.size)
        assert np.allclose(derivative(x, *others).toarray(), wanted, rtol=1e-12, atol=1e-12)
    return derivative


@pytest.mark.parametrize("seed", one_in(3, range(40)))
def test_random_programs_at_several_points(seed, tmp_path):
    text = source(seed)
    path = tmp_path / "random_program.py"
    path.write_text(text)
    namespace = {"np": np, "M": np.triu(np.ones((N, N))) - np.eye(N), "__name__": "random_program"}
    exec(compile(text, str(path), "exec"), namespace)
    rng = np.random.default_rng(seed)
    check_points(namespace["program"], [rng.uniform(0.1, 1.9, N) for _ in range(3)])


def rolled(x, rate, weights):
    y = 10.0 * (np.roll(x, 1) - 2.0 * x + np.roll(x, -1)) + rate * weights * x
    return y + x * x


def written(x):
    y = np.zeros(x.shape)
    y[1:] += 3.0 * x[:-1]
    y[:-1] -= x[1:] ** 2
    y += 2.0 * x
    return y


def written_twice(x):
    first = np.zeros(x.shape)
    second = first[1:]
    second += x[:-1]
    kept = first.copy()
    first *= 2.0
    second -= x[1:]
    return kept * x + first


def constant_or_not(x):
    y = np.cumsum(x)[::-1]
    if x[0] > 1.0:
        y[2] = x[1] * x[0]
    return y


def parts(x):
    return {"a": [2.0 * x[1:], x[0]], "b": (x[::2] * x[1::2], 1.0)}


def points(size=6, count=3):
    return [rng.uniform(0.5, 1.5, size) for _ in range(count)]


@pytest.mark.parametrize("function", [
    written, written_twice, constant_or_not, parts, np.diff, lambda x: x, lambda x: x[::-1],
    lambda x: np.concatenate([2.0 * x, [1.0], x * x]), lambda x: x.reshape(2, 3).T @ np.ones(2),
    lambda x: np.concatenate([[2.0 * x[0], 1.0, x[2]], x * x, [x[1]], [1, 2], np.arange(2)]),
    lambda x: np.concatenate([[], x * x]), lambda x: [x, 3.0 * x],
    lambda x: np.float64(2.0) * x[3], lambda x: np.sin(x) * x[::-1],
])
def test_functions_at_several_points(function):
    check_points(function, points())


def test_what_seeds_decide_is_computed_once_for_each_structure():
    w = np.arange(6.0)
    jacobian = check_points(rolled, points(), 0.5, w)
    found = jacobian.structure(points()[0], 0.5, w)
    (kept,) = found.constants.values()
    assert jacobian.structure(points()[0], 0.5, w) is found
    assert next(iter(found.constants.values())) is kept
    for rate, weights in ((0.25, w), (0.5, w + 1.0), (0.5, w)):
        for x in points():
            wanted = dense_jacobian(rolled, (x, rate, weights), (0,))
            assert np.allclose(jacobian(x, rate, weights).toarray(), wanted, rtol=1e-12)


def test_weights_that_are_changed_in_place_change_the_constants():
    w = np.ones(6)
    jacobian = sparse_jacobian(rolled)
    x = points()[0]
    for _ in range(3):
        assert np.allclose(
            jacobian(x, 2.0, w).toarray(), dense_jacobian(rolled, (x, 2.0, w), (0,)), rtol=1e-12)
        w[2] += 1.5


SCALE = 2.0


def scaled(x):
    return SCALE * x + x[0] * 0.5


def test_globals_are_read_at_every_call(monkeypatch):
    jacobian = sparse_jacobian(scaled)
    x = np.ones(3)
    for scale in (2.0, -1.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        wanted = scale * np.eye(3) + 0.5 * np.array([[1.0, 0.0, 0.0]] * 3)
        assert np.array_equal(jacobian(x).toarray(), wanted)


@pytest.mark.parametrize("function", [np.diff, lambda x: 2.0 * x, written, lambda x: x])
def test_matrices_share_nothing_with_one_another(function):
    jacobian = sparse_jacobian(function)
    x = points()[0]
    first, second = jacobian(x), jacobian(x)
    wanted = second.toarray()
    first.data[:] = 7.0
    first.indices[:] = 0
    first.indptr[:] = 0
    assert np.array_equal(second.toarray(), wanted)
    assert np.array_equal(jacobian(x).toarray(), wanted)
    second[0, 0] = 5.0
    second.setdiag(3.0)
    second.eliminate_zeros()
    again = jacobian(x)
    assert np.array_equal(again.toarray(), wanted)
    assert again.has_canonical_format
    again.check_format(full_check=True)


@pytest.mark.parametrize("most", [1, 12, 13, 24, 25, 1000])
def test_sweeps_of_few_seeds(most, monkeypatch):
    monkeypatch.setattr(trees, "MAX_NUMBERS", most)
    jacobian = check_points(lambda x: x * np.roll(x, 1) - np.roll(x, 5), points(12))
    found = jacobian.structure(np.ones(12))
    at_once = max(1, most // 12)
    assert len(found.constants) == -(-found.coloring.column_count // at_once)


def test_what_is_too_large_is_not_kept(monkeypatch):
    monkeypatch.setattr(sparse_structure, "MAX_KEPT_NUMBERS", 30)
    jacobian = check_points(lambda x: x * np.roll(x, 1) - np.roll(x, 5), points(12))
    found = jacobian.structure(np.ones(12))
    assert (found.constants, found.kept_seeds) == ({}, {})
    hessian = sparse_hessian(lambda x: np.sum(np.diff(x) ** 3))
    for x in points(12):
        d = np.diff(np.eye(12), axis=0)
        wanted = d.T @ np.diag(6.0 * np.diff(x)) @ d
        assert np.allclose(hessian(x).toarray(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1), (3, 3), (1, 1)])
def test_operands_that_are_stretched(sizes):
    def product(x, y):
        return x * y + 2.0 * x

    jacobian = sparse_jacobian(product, (0, 1), kind="column")
    for _ in range(3):
        x, y = (rng.uniform(0.5, 1.5, size) for size in sizes)
        by_x, by_y = np.diag(y + 2.0 + 0.0 * x), np.diag(x + 0.0 * y)
        wanted = np.hstack([
            part.sum(axis=1, keepdims=True) if size == 1 else part
            for part, size in zip((by_x, by_y), sizes, strict=True)
        ])
        assert np.allclose(jacobian(x, y).toarray(), wanted, rtol=1e-13)


def test_single_precision():
    x = np.linspace(0.5, 1.0, 5, dtype=np.float32)
    jacobian = sparse_jacobian(lambda x: x * x + 0.5 * np.roll(x, 1))
    for _ in range(2):
        found = jacobian(x)
        assert found.dtype == np.float32
        wanted = np.diag(2.0 * x) + 0.5 * np.roll(np.eye(5), 1, axis=0)
        assert np.allclose(found.toarray(), wanted, rtol=1e-6)
    assert jacobian(x.astype(float)).dtype == np.float64


def test_an_error_of_the_function_is_its_own():
    def checked(x, shift):
        if x[0] < 0.0:
            raise ArithmeticError("negative")
        return x[1:] * x[:-1] + x[shift:]

    jacobian = sparse_jacobian(checked)
    jacobian(np.ones(4), 1)
    with pytest.raises(ArithmeticError, match="negative"):
        jacobian(-np.ones(4), 1)
    with pytest.raises(ValueError, match="broadcast"):
        jacobian(np.ones(4), 2)


def test_the_value_is_not_computed_where_it_is_not_needed():
    def model(x):
        return np.exp(np.sin(x)) * 0.0 + 2.0 * x[::-1] + x * x

    jacobian = sparse_jacobian(model, kind="column")
    x = points()[0]
    assert np.allclose(jacobian(x).toarray(), dense_jacobian(model, (x,), (0,)), rtol=1e-12)
    at = jacobian.fixed(x)
    assert isinstance(at, AtPoint)
    assert not at.with_value
    text = jacobian.source_for(x)
    assert "def model_along(x, constants):" in text
    assert "def model_constants(x, x_dot):" in text


def test_lists_of_numbers_that_are_joined_have_all_seeds_at_once():
    def padded(x):
        return np.concatenate([[0.0], x[1:] * x[:-1], [2.0 * x[0], 1.0]])

    jacobian = check_points(padded, points())
    assert " for i in range(seeds)" not in jacobian.fixed.source


def test_hessians_at_several_points():
    def energy(x, k):
        d = x[1:] - x[:-1]
        return np.sum(k * d * d + d**4) + 0.5 * np.sum(x * x) + np.sum(np.cos(x) * x[::-1])

    hessian = sparse_hessian(energy)
    h = 1e-5
    for x in points(7):
        eye = np.eye(7)
        derivative = sparse_jacobian(lambda v: np.array([energy(v, 3.0)]), kind="row")
        wanted = np.array([
            (derivative(x + h * e) - derivative(x - h * e)).toarray()[0] / (2.0 * h) for e in eye
        ])
        assert np.allclose(hessian(x, 3.0).toarray(), wanted, rtol=1e-7, atol=1e-7)
