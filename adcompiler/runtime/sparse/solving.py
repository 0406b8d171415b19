"""Solutions and products of sparse arrays for the sweep: with one factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

COVERED_WITH = "scipy.sparse"
"""The module whose rules come with those of these functions."""


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """The LU factors of a sparse array. They do not change, and SuperLU's cannot be copied."""

    lu: Any
    dtype: Any

    def __deepcopy__(self, memo: dict[int, Any]) -> Factors:
        return self


def adjoint_product(a: Any, dy: Any) -> Any:
    """Return ``a^H dy`` of a sparse array or matrix as an array."""
    return np.asarray(a.conj().T @ dy)


def sparse_factors(a: Any, b: Any) -> Factors:
    """Return the LU factors of a sparse array, in the precision of the system ``a y = b``."""
    dtype = np.result_type(a.dtype, b, np.float32)
    return Factors(lu_factors(a.tocsc().astype(dtype)), dtype)


def lu_factors(a: Any) -> Any:
    """Return what ``splu`` gives of a CSC matrix; SciPy 1.11 wants its indices to be ints of C."""
    if a.indices.dtype != np.intc and a.nnz <= np.iinfo(np.intc).max:
        places = a.indices.astype(np.intc), a.indptr.astype(np.intc)
        a = scipy.sparse.csc_matrix((a.data, *places), shape=a.shape)
    return splu(a)


def sparse_solution(factors: Factors, b: Any, trans: str = "N") -> Any:
    """Return the solution of the system, or (``H``) of its conjugate transpose, for dense ``b``."""
    b = np.asarray(b)
    dtype = factors.dtype
    if np.iscomplexobj(b) and dtype.kind != "c":  # real factors: one solution for each part
        real, imaginary = (factors.lu.solve(np.ascontiguousarray(part, dtype), trans)
                           for part in (b.real, b.imag))
        return real + 1j * imaginary
    return factors.lu.solve(np.ascontiguousarray(b, dtype), trans)
