"""Native loops join and stack arrays, lists of numbers beside them too, as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, jacobian, sparse_jacobian
from adcompiler.errors import UnsupportedError

pytestmark = pytest.mark.usefixtures("machine_code")
X = np.linspace(0.3, 1.1, 6)


def squares(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
    return y


def ends(x):
    return np.concatenate([[0], squares(x), [1.0, x[0]]])


def ends_in_a_tuple(x):
    return np.concatenate(([x[0]], squares(x), [x[-1]]))


def grown(x):
    parts = [squares(x), [x[0]]]
    parts.append([x[1], x[2]])
    return np.concatenate(parts)


def list_that_grows(x):
    tail = [x[0]]
    parts = [squares(x), tail]
    tail.append(x[1])
    return np.concatenate(parts)


def in_a_loop(x):
    out = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        out[i] = np.sum(np.concatenate([[x[i - 1]], x[i : i + 2], [2.0]]) ** 2)
    return out


def carried(x):
    last = np.zeros(3)
    for k in range(len(x)):
        last = np.concatenate([last[1:], [x[k] ** 2]])
    return last


def beside(x):
    return np.hstack((squares(x), [x[0], 3.0]))


def stacked(x):
    y = squares(x)
    return np.stack([y[:-1], y[1:]])


def stacked_in_columns(x):
    return np.stack((squares(x), x), axis=-1)


def stacked_matrices(x):
    y = squares(x)
    return np.stack([np.outer(y, x), np.outer(x, x)], 1)


def stacked_numbers(x):
    y = squares(x)
    return np.stack([y[0], x[1], 2.0 * x[2]])


def stacked_from_a_list(x):
    return np.stack([x[i] * x[i + 1] for i in range(len(x) - 1)])


def stacked_rows(x):
    rows = []
    for i in range(len(x) - 2):
        rows.append(x[i : i + 3] * x[i])
    return np.stack(rows)


def array_of_rows(x):
    rows = []
    for i in range(len(x) - 2):
        rows.append(x[i : i + 3] * x[i])
    return np.array(rows)


def written_after(x):
    y = squares(x)
    both = np.stack([y, x])
    y[0] = 5.0
    return both * y[0]


def vertical(x):
    return np.vstack([squares(x), x])


def vertical_matrices(x):
    y = squares(x)
    return np.vstack([np.outer(y, x), np.outer(x, x)])


def horizontal_matrices(x):
    y = squares(x)
    return np.hstack([np.outer(y, x), np.outer(x, x)])


def columns(x):
    return np.column_stack([squares(x), x])


FUNCTIONS = (
    ends, ends_in_a_tuple, grown, list_that_grows, in_a_loop, carried, beside, stacked,
    stacked_in_columns, stacked_matrices, stacked_numbers, stacked_from_a_list, stacked_rows,
    array_of_rows, written_after, vertical, vertical_matrices, horizontal_matrices, columns,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_values_and_derivatives_are_those_of_python(function: Any) -> None:
    value = compiled(function)(X)
    assert value.tobytes() == function(X).tobytes()
    assert value.shape == function(X).shape
    for mode in ("forward", "reverse"):
        found = jacobian(function, mode=mode, backend="native")(X)
        expected = jacobian(function, mode=mode)(X)
        assert found.shape == expected.shape
        assert np.allclose(found, expected, rtol=1e-14, atol=0.0)
    if function is not array_of_rows and np.ndim(value) == 1:
        sparse = sparse_jacobian(function, backend="native")(X)
        assert np.allclose(sparse.toarray(), expected, rtol=1e-14, atol=0.0)


def uneven(x):
    y = squares(x)
    return np.stack([y, y[:3]])


def uneven_rows(x):
    rows = []
    for i in range(3):
        rows.append(x[: i + 1])
    return np.stack(rows)


def of_nothing(x):
    y = squares(x)
    return np.stack([y[i] for i in range(0)])


@pytest.mark.parametrize("function", [uneven, uneven_rows, of_nothing])
def test_what_numpy_raises_is_raised(function: Any) -> None:
    with pytest.raises(ValueError) as expected:
        function(X)
    for make in (compiled, lambda f: jacobian(f, backend="native")):
        with pytest.raises(ValueError) as raised:
            make(function)(X)
        assert str(raised.value) == str(expected.value)


def returned(x):
    return [squares(x), [x[0], 2.0]]


def of_float32(x):
    return np.concatenate([[x[0]], squares(x).astype(np.float32)])


def of_columns(x):
    rows = []
    for i in range(4):
        rows.append(x[i : i + 2] * x[i])
    return np.stack(rows, axis=1)


def test_numbers_beside_arrays_of_float32_are_joined_in_python() -> None:
    fast: Any = compiled(of_float32)
    found = fast(X)
    assert found.dtype == np.float64 and np.array_equal(found, of_float32(X))
    assert "calls in Python: concatenate" in fast.explain(X).backend


@pytest.mark.parametrize("function", [returned, of_columns])
def test_the_rest_is_refused(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="the native backend has nothing for this"):
        compiled(function)(X)


def sums(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return np.concatenate([[total], [total * total]])


def test_of_nothing_there_is_a_matrix_without_columns() -> None:
    for backend in ("python", "native", "auto"):
        for mode in ("auto", "forward"):
            found = jacobian(sums, backend=backend, mode=mode)(np.zeros(0))
            assert found.shape == (2, 0)
            assert found.dtype == np.float64
    assert np.allclose(jacobian(sums, backend="native")(X), [[1.0] * 6, [2.0 * X.sum()] * 6])
