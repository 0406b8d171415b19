"""NumPy's numbers take subscripts that make axes: their cotangents are sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import hessian, jacfwd, jacobian, jacrev, sparse_hessian, taylor
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


# Axes of what has none are left away when types are known, and counted behind those of seeds.


def distance(a: Any, b: Any) -> Any:
    return np.sum((a - b) ** 2, axis=-1)


def largest(x: Any) -> Any:
    return np.max(x[0] * x[1], axis=0) * x[2]


def product(x: Any) -> Any:
    return np.prod(x[0] * x[1], axis=0) * x[2]


def scanned(x: Any) -> Any:
    return np.cumsum(x[0] * x[1], axis=0)[0] * x[2]


def repeated(x: Any) -> Any:
    return np.repeat(np.asarray(x[0] * x[1]), 3, axis=0)[1] * x[2]


def softmax(x: Any) -> Any:
    e = np.exp(x[0] * x[1] - np.max(x[0] * x[1], axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) * x[0] * x[1] * x[2]


def by_methods(x: Any) -> Any:
    return (x[0] * x[1]).sum(-1) * np.asarray(x[2]).max(axis=0)


def of_ufuncs(x: Any) -> Any:
    sums = np.add.reduce(x[0] * x[1], axis=-1) * np.logaddexp.reduce(np.asarray(x[2]))
    return sums * np.multiply.reduce(np.asarray(1.0), axis=0)


def in_a_shape_of_a_list(x: Any) -> Any:
    rows = np.outer(x, x)[:1, :2].reshape([2, 1])
    return np.sum(np.ones(4).reshape([2, 2]) * rows * x[2]) / 2 - x[0] ** 2 * x[2]


@pytest.mark.parametrize("of", [
    hessian, lambda f: hessian(f, mode="adj_adj"), lambda f: jacrev(jacrev(f)),
    lambda f: lambda x: sparse_hessian(f)(x).toarray(),
])
def test_axes_of_numbers_under_seeds(of: Any) -> None:
    x = np.array([0.3, 0.7, 1.1])
    wanted = [[0.0, 1.1, 0.7], [1.1, 0.0, 0.3], [0.7, 0.3, 0.0]]
    for f in (largest, product, scanned, repeated, softmax, by_methods, of_ufuncs,
              in_a_shape_of_a_list):
        np.testing.assert_allclose(of(f)(x), wanted, rtol=1e-12, atol=1e-12, err_msg=f.__name__)
    found = of(lambda x: distance(x[0], x[1]) * x[2])(x)
    np.testing.assert_allclose(found, [[2.2, -2.2, -0.8], [-2.2, 2.2, 0.8], [-0.8, 0.8, 0.0]])


def test_jacobians_of_arrays_without_axes() -> None:
    for x in (np.array(0.7), np.asarray(0.7, dtype=np.float32)):
        for of in (jacobian, jacrev, jacfwd):
            found = of(lambda x: np.asarray(np.sum(x) * x))(x)
            assert np.shape(found) == ()
            np.testing.assert_allclose(found, 1.4, rtol=1e-6)
            np.testing.assert_allclose(of(of(lambda x: np.asarray(x * x * x)))(x), 4.2, rtol=1e-6)


def test_series_of_sums_of_numbers() -> None:
    _, found = taylor(lambda x: np.sum(x * x, axis=-1, keepdims=True), (0.7,), ([1.0, 0.0, 0.0],))
    np.testing.assert_allclose(found, [1.4, 1.0, 0.0])
