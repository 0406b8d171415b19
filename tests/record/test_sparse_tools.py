"""SciPy's sparse matrices are followed down to the numbers that they store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler import jvp, value_and_grad

ROWS, COLUMNS = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 2])
TWICE = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])
X = np.array([0.3, 0.2, 0.7])


def of(data: Any, make: Any = sp.csr_matrix, places: Any = (ROWS, COLUMNS)) -> Any:
    return make((data, places), shape=(3, 3))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "times a vector": lambda d: (of(d) @ (X * d[0]) ** 2).sum(),
    "by columns": lambda d: ((of(d, sp.csc_matrix) @ X) ** 2).sum(),
    "transposed": lambda d: ((of(d).T @ (X * d[0])) ** 2).sum(),
    "duplicates": lambda d: ((of(d, sp.coo_matrix, TWICE).tocsr() @ X) ** 2).sum(),
    "duplicates, dense": lambda d: (of(d, sp.coo_matrix, TWICE).toarray() ** 2).sum(),
    "dense by columns": lambda d: (of(d, sp.coo_matrix).toarray("F")[:, 2] ** 2).sum(),
    "sum": lambda d: (((of(d) + 2 * of(d * d, places=(COLUMNS, ROWS))) @ X) ** 2).sum(),
    "difference": lambda d: (((sp.eye(3).tocsr() - of(d)).toarray() @ X) ** 2).sum(),
    "element by element": lambda d: ((of(d).multiply(of(d * d)) @ X) ** 2).sum(),
    "times a matrix": lambda d: ((of(d) @ np.outer(X, X * d[1])) ** 2).sum(),
    "diagonals": lambda d: ((sp.diags([d[:3], d[:2]], [0, 1]).tocsr() @ X) ** 2).sum(),
    "sums of columns": lambda d: (np.asarray(of(d, sp.csr_array).sum(axis=0)) ** 2).sum(),
    "a diagonal": lambda d: (of(d).diagonal() ** 2).sum() + of(d).diagonal(1)[0] ** 3,
}


def test_derivatives_through_sparse_matrices() -> None:
    data, step = np.array([1.0, 2.0, 3.0, 0.5]), 1e-6
    for name, program in PROGRAMS.items():
        value, slope = value_and_grad(program, backend="record")(data)
        assert np.allclose(value, program(data), rtol=1e-13), name
        wanted = [(program(data + step * e) - program(data - step * e)) / (2 * step)
                  for e in np.eye(4)]
        assert np.allclose(slope, wanted, rtol=1e-7, atol=1e-7), name
        along = jvp(program, (data,), (np.ones(4),), backend="record")[1]
        assert np.allclose(along, np.sum(slope), rtol=1e-10), name
