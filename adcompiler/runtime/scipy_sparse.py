"""Solutions and products of sparse arrays for the sweep: with one factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import splu


def adjoint_product(a: Any, dy: Any) -> Any:
    """Return ``a^H dy`` of a sparse array or matrix as an array."""
    return np.asarray(a.conj().T @ dy)


def sparse_factors(a: Any, b: Any) -> Any:
    """Return the LU factors of a sparse array, in the precision of the system ``a y = b``."""
    return splu(a.tocsc().astype(np.result_type(a.dtype, b, np.float32)))


def sparse_solution(factors: Any, b: Any, trans: str = "N") -> Any:
    """Return the solution of the system, or (``H``) of its conjugate transpose, for dense ``b``."""
    b = np.asarray(b)
    dtype = factors.L.dtype
    if np.iscomplexobj(b) and dtype.kind != "c":  # real factors: one solution for each part
        real, imaginary = (factors.solve(np.ascontiguousarray(part, dtype), trans)
                           for part in (b.real, b.imag))
        return real + 1j * imaginary
    return factors.solve(np.ascontiguousarray(b, dtype), trans)
