"""Sparse derivatives, and others along many tangents, by native loops."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, jacfwd, jacobian, sparse_hessian, sparse_jacobian
from adcompiler.dispatch import calling
from adcompiler.runtime.batches import along_each

pytestmark = pytest.mark.usefixtures("plain_loops")


def chained(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += (1.0 - x[i]) ** 2 + 100.0 * (x[i + 1] - x[i] ** 2) ** 2
    return total


def rates(u, n, k):
    """Neighbours on a ring, by elements; the loop over them is one over a tuple of integers."""
    v = np.zeros(2 * n)
    for i in range(n):
        around = 0.0
        for j in ((i + 1) % n, (i - 1) % n):
            around += u[j] - u[i]
        v[i] = u[i] * u[i] * u[n + i] + k * around
        v[n + i] = math.sin(u[i]) - u[n + i]
    return v


def joined(u):
    x, y = u[:3], u[3:]
    return np.concatenate([x * y, y[1:] * y[:-1], x])


def arrow(x, scale):
    v = np.empty(len(x))
    v[0] = np.sum(x * x)
    for i in range(1, len(x)):
        v[i] = scale * x[i] * x[0]
    return v


def two(x, y):
    v = np.empty(len(x))
    for i in range(len(x)):
        v[i] = x[i] * y[i - 1]
    return v


JACOBIANS: dict[Any, tuple[Any, ...]] = {
    rates: (np.linspace(0.1, 1.2, 12), 6, 0.7),
    joined: (np.linspace(0.1, 1.2, 6),),
    arrow: (np.linspace(0.1, 1.2, 8), 2.0),
}


@pytest.mark.parametrize("function", JACOBIANS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("kind", ["auto", "column", "row", "bidirectional"])
def test_jacobians_are_the_same(function: Any, kind: str) -> None:
    args = JACOBIANS[function]
    expected = sparse_jacobian(function, kind=kind)(*args)
    found = sparse_jacobian(function, kind=kind, backend="native")(*args)
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.data, expected.data)


@pytest.mark.parametrize("kind", ["star", "acyclic", "column"])
def test_hessians_are_the_same(kind: str) -> None:
    x = np.linspace(-1.0, 1.5, 9)
    expected = sparse_hessian(chained, kind=kind)(x)
    found = sparse_hessian(chained, kind=kind, backend="native")(x)
    assert np.allclose(found.toarray(), expected.toarray(), rtol=1e-13, atol=0.0)


def test_of_two_arguments() -> None:
    x, y = np.array([0.5, 1.5, -0.5]), np.array([2.0, 0.25, 1.0])
    expected = sparse_jacobian(two, (0, 1))(x, y)
    found = sparse_jacobian(two, (0, 1), backend="native")(x, y)
    assert np.array_equal(found.toarray(), expected.toarray())


def test_all_seeds_are_computed_by_one_call_of_loops() -> None:
    args = JACOBIANS[rates]
    native = sparse_jacobian(rates, kind="column", backend="native")
    native(*args)
    module = native.fixed.compiled_for(*args).__globals__
    (name,) = (name for name in module if name.endswith("_loops_together"))
    run, calls = module[name], []

    def counting(*given: Any) -> Any:
        calls.append(given[-1].shape)
        return run(*given)

    module[name] = counting
    native(*args)
    assert calls == [(12, native.structure(*args).coloring.column_count)]


def test_large_arrays_of_all_seeds_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    args = JACOBIANS[rates]
    expected = sparse_jacobian(rates, kind="column")(*args)
    monkeypatch.setattr(calling, "MOST_TOGETHER", 30)
    native = sparse_jacobian(rates, kind="column", backend="native")
    count = native.structure(*args).coloring.column_count
    for _ in range(3):
        assert np.allclose(native(*args).toarray(), expected.toarray(), rtol=1e-14)
    assert count == 4
    assert [number for number, _ in native.last.constants] == [2, 2]
    assert native.last.constants[0][1][0].shape == (2, 12)


def divided(x):
    v = np.empty(len(x))
    for i in range(len(x)):
        v[i] = x[i] / x[i - 1]
    return v


def test_where_loops_give_up_python_computes_seed_by_seed() -> None:
    x = np.array([1.0, 0.0, 2.0])
    with np.errstate(all="ignore"):
        expected = jacfwd(divided)(x)
        found = jacfwd(divided, backend="native")(x)
    assert np.array_equal(found, expected, equal_nan=True)


def test_what_writes_into_its_argument_gets_copies() -> None:
    def run(x: Any, x_dot: Any) -> Any:
        x[0] += 1.0
        return x[0], x[0] * x_dot

    x = np.array([1.0])
    value, along = along_each(run, (x,), (np.array([[1.0], [2.0]]),))
    assert value == 2.0 == x[0]
    assert np.array_equal(along, [[2.0], [4.0]])


def written(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * x[i]
    return x[1:] * 2.0


@pytest.mark.parametrize("make", [jacfwd, jacobian])
@pytest.mark.parametrize("count", [3, 12])
def test_what_writes_into_its_arguments(make: Any, count: int) -> None:
    results = []
    for backend in ("python", "native"):
        x = np.linspace(0.5, 1.5, count)
        results.append((make(written, backend=backend)(x), x))
    (expected, left), (got, other) = results
    assert np.allclose(got, expected, rtol=1e-14, atol=0)
    assert np.array_equal(left, other)


def by_name(x):
    return np.array([float(str(len(x))) * x[0]])


def test_what_has_no_loops_is_refused_before_it_runs() -> None:
    with pytest.raises(UnsupportedError, match="native backend has nothing"):
        sparse_jacobian(by_name, backend="native")(np.ones(2))


def test_the_backend_is_kept_by_pickle() -> None:
    again = pickle.loads(pickle.dumps(sparse_hessian(chained, backend="native")))
    assert again.backend == "native"


def test_a_backend_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="backend 'cuda' is not one of"):
        sparse_jacobian(chained, backend="cuda")


def test_the_source_is_that_of_the_python_backend() -> None:
    args = JACOBIANS[rates]
    found = sparse_jacobian(rates, backend="native").source_for(*args)
    assert found == sparse_jacobian(rates).source_for(*args)


def test_a_given_pattern_of_other_rows_is_refused() -> None:
    def squares(x):
        y = np.zeros(len(x) + 1)
        for i in range(len(x)):
            y[i] = x[i] * x[i]
        return y

    x = np.arange(1.0, 4.0)
    for backend in ("python", "native"):
        for height in (3, 5):
            jacobian = sparse_jacobian(
                squares, pattern=np.eye(height, 3), check=False, backend=backend)
            with pytest.raises(ValueError, match="row"):
                jacobian(x)
