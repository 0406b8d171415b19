"""Patterns that are nearly full are told with their lines, and bounded before memory is taken."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adcompiler import (
    UnsupportedError, hessian_sparsity, jacobian_sparsity, sparse_hessian, sparse_jacobian,
)
from adcompiler.errors import FullPatternWarning

X = np.linspace(0.0, 1.0, 1200)


def normalised(x):
    w = np.exp(x)
    y = w / np.sum(w)
    return y * 2.0


def sorted_steps(x):
    order = np.argsort(x)
    return np.diff(x[order])


def squared_sum(x):
    return np.sum(x * x) + np.sum(x) ** 2


def banded(x):
    return np.sum((x[1:] - x[:-1]) ** 4)


def warned(make: Any, f: Any, x: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        make(f).structure(x)
    assert all(one.category is FullPatternWarning for one in found)
    assert all(one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


def test_the_lines_that_make_a_pattern_full() -> None:
    for make, f, line in (
        (sparse_jacobian, normalised, "y = w / np.sum(w)"),
        (sparse_jacobian, sorted_steps, "return np.diff(x[order])"),
        (sparse_hessian, squared_sum, "return np.sum(x * x) + np.sum(x) ** 2"),
    ):
        (message,) = warned(make, f, X)
        assert "100 % of all" in message
        assert message.endswith(line)
        assert warned(make, f, X[:50]) == []
    assert warned(sparse_hessian, banded, X) == []


def test_memory_is_bounded() -> None:
    x = np.ones(20_000)
    for of, f in ((jacobian_sparsity, normalised), (hessian_sparsity, squared_sum)):
        with pytest.raises(UnsupportedError, match=r"would take \d+ GiB(.|\n)*pattern=\.\.\."):
            of(f, x)


def filled_by_elements(x):
    matrix = sp.lil_matrix((len(x), len(x)))
    matrix.setdiag(x)
    return matrix.tocsr() @ x


def test_refusals_name_the_users_line() -> None:
    with pytest.raises(UnsupportedError) as refused:
        jacobian_sparsity(filled_by_elements, np.ones(4))
    text = str(refused.value)
    assert "matrix.setdiag(x)" in text
    assert text.startswith(__file__)
    assert "coo_array((np.array(values), (rows, columns))" in text
