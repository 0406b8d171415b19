"""What a function that is compiled on its own calls may write a derivative where none is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from adcompiler import UnsupportedError, grad, jvp, vjp

X = np.array([2.0, 3.0, 4.0])


def matrix_in_a_loop(x):
    a = sp.lil_matrix((3, 3))
    for k in range(3):
        a.setdiag(x[k : k + 1], k)
    return np.sum(spsolve(a.tocsc(), np.ones(3)))


def filled(a, x, k):
    if k < len(x):
        a[k, k] = x[k]
        filled(a, x, k + 1)


def matrix_in_a_recursion(x):
    a = sp.dok_matrix((3, 3))
    filled(a, x, 0)
    return np.sum(spsolve(a.tocsc(), np.ones(3)))


def numbers_in_a_loop(x):
    a = sp.lil_matrix((3, 3))
    for k in range(3):
        a[k, k] = float(k + 1)
    return np.sum(spsolve(a.tocsc(), np.ones(3)) * x)


REFUSED = r"`setdiag` of a lil_matrix|a recursive call writes into a container"


@pytest.mark.parametrize("function", [matrix_in_a_loop, matrix_in_a_recursion])
def test_matrices_that_are_filled_are_refused(function: Any) -> None:
    for derive in (
        lambda: grad(function)(X), lambda: vjp(function, X), lambda: jvp(function, (X,), (X,)),
    ):
        with pytest.raises(UnsupportedError, match=REFUSED):
            derive()


def test_what_carries_no_derivative_may_be_written() -> None:
    assert np.allclose(grad(numbers_in_a_loop)(X), [1.0, 1.0 / 2.0, 1.0 / 3.0])
