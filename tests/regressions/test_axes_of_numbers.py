"""NumPy's numbers take subscripts that make axes: their cotangents are sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import hessian, jacfwd, jacrev
from tests.language.check import check


def scaled_rows(x: Any) -> Any:
    length = np.linalg.norm(x, axis=-1)
    return np.sum(x / length[..., None] * np.arange(x.size).reshape(x.shape))


def mean_as_array(x: Any) -> Any:
    mean = np.mean(x, axis=0)
    return np.sum(mean[..., None] * np.arange(3.0) * mean)


def element_as_array(x: Any) -> Any:
    first = x[0]
    return np.sum(first[..., np.newaxis] ** 2) + np.sum(first[None, None]) * first


def every_subscript(x: Any) -> Any:
    total = x.sum()
    return np.sum(total[None] ** 2 * total[()] * total[...] * total[True] * total[None, ...])


def with_axis(x: Any) -> Any:
    return x[..., None]


def in_helper(x: Any) -> Any:
    return np.sum(with_axis(np.sum(x)) * with_axis(np.dot(x, x)))


@pytest.mark.parametrize("f", [
    scaled_rows, mean_as_array, element_as_array, every_subscript, in_helper,
], ids=lambda f: f.__name__)
def test_vectors(f: Any) -> None:
    check(f, np.array([1.0, 2.0, 0.5]))


def test_rows_by_the_same_function() -> None:
    check(scaled_rows, np.array([[1.0, 2.0, 0.5], [0.3, 1.0, 2.0]]))


def product_as_array(x: Any) -> Any:
    return np.sum((x[0] * x[1])[..., None] * x[0] * np.ones(2))


@pytest.mark.parametrize("mode", ["fwd_adj", "adj_adj", "adj_fwd", "fwd_fwd"])
def test_hessians(mode: str) -> None:
    found = hessian(product_as_array, mode=mode)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, [[8.0, 4.0], [4.0, 0.0]], rtol=1e-12)


@pytest.mark.parametrize("of", [jacrev, jacfwd])
def test_jacobians(of: Any) -> None:
    found = of(lambda x: np.mean(x)[..., None] * np.arange(3.0))(np.ones(2))
    np.testing.assert_allclose(found, np.outer(np.arange(3.0), [0.5, 0.5]), rtol=1e-12)
