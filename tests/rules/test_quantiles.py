"""Quantiles as functions of ``q``: linear between ranks, constant beyond the last ones."""

import numpy as np
import pytest

from adcompiler import grad, jvp, vjp
from tests.lanes import one_in
from tests.rules.agreement import agrees

X = np.array([1.0, 4.0, 2.0, 8.0, 5.5])
TABLE = np.random.default_rng(0).normal(size=(3, 4, 5))
CONTINUOUS = ("linear", "hazen", "weibull", "median_unbiased", "normal_unbiased",
              "interpolated_inverted_cdf")
CHOOSING = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher",
            "nearest", "midpoint")
WITH_WEIGHTS = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="weights= is new in NumPy 2")


@pytest.mark.parametrize("method", one_in(3, (*CONTINUOUS, *CHOOSING)))
def test_every_method(method):
    q = np.array([0.03, 0.31, 0.57, 0.93])
    agrees(lambda q: np.sum(np.quantile(X, q, method=method) ** 3), q)
    agrees(lambda p: np.sum(np.percentile(X, p, method=method) ** 3), 100.0 * q, tol=1e-5)
    gradient = grad(lambda q: np.sum(np.quantile(X, q, method=method)))(q)
    assert gradient.any() == (method in CONTINUOUS)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_every_axis_and_shape_of_q(axis, keepdims):
    weights = np.cos(np.arange(60.0)).reshape(TABLE.shape)
    for q in (0.31, np.array([0.13, 0.71]), np.array([[0.13], [0.57]])):
        def total(q):
            found = np.quantile(TABLE, q, axis=axis, keepdims=keepdims)
            return np.sum(np.resize(weights, found.shape) * found**2)

        agrees(total, q, order=1)


def test_both_arguments_together():
    agrees(lambda x: np.quantile(x, 0.5 + 0.1 * np.sin(x[0])) ** 2, X)
    agrees(lambda t: np.sum(np.quantile(X * t, [t / 3.0, t / 2.0])), 0.7)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
def test_numbers_that_are_missing(axis):
    table = np.where(TABLE > 1.0, np.nan, TABLE)
    q = np.array([0.13, 0.71])
    agrees(lambda q: np.sum(np.nanquantile(table, q, axis=axis) ** 2), q)
    agrees(lambda p: np.sum(np.nanpercentile(table, p, axis, keepdims=True) ** 2), 100.0 * q,
           tol=1e-5)
    few = np.array([[np.nan, np.nan, 1.0], [np.nan, 2.0, 3.0]])
    agrees(lambda q: np.sum(np.nanquantile(few, q, axis=1, method="hazen") ** 2), 0.4)


def test_ends_and_ranks():
    slope = grad(lambda q: np.quantile(X, q))
    assert slope(0.0) == pytest.approx(4.0 * 1.0)
    assert slope(1.0) == pytest.approx(4.0 * 2.5)
    assert slope(0.25) == pytest.approx(4.0 * 2.0)
    assert grad(lambda q: np.quantile(X, q, method="weibull"))(0.05) == 0.0
    assert grad(lambda q: np.quantile(np.array([2.5]), q))(0.3) == 0.0
    assert grad(lambda q: np.sum(np.quantile(X, q)))(np.empty(0)).shape == (0,)
    assert jvp(lambda q: np.quantile(X, q), (np.float32(0.3),), (np.float32(1.0),))[1] == (
        pytest.approx(8.0, rel=1e-6))


def test_ties_and_missing_numbers():
    tied = np.array([1.0, 2.0, 2.0, 2.0, 3.0])
    assert grad(lambda q: np.quantile(tied, q))(0.4) == 0.0
    _, pullback = vjp(lambda q: np.quantile(np.array([1.0, np.nan, 3.0]), q), 0.4)
    assert np.isnan(pullback(1.0)[0])


@WITH_WEIGHTS
@pytest.mark.parametrize(("axis", "weights"), [
    (None, np.abs(TABLE)), (1, np.array([1.0, 3.0, 0.0, 2.0])), (-1, np.abs(TABLE)),
    ((2, 0), np.arange(15.0).reshape(5, 3)),
])
def test_weighted_numbers(axis, weights):
    q = np.array([[0.13, 0.71, 0.7]])
    given = {"axis": axis, "weights": weights, "method": "inverted_cdf"}
    agrees(lambda x: np.sum(np.quantile(x, q, **given) ** 3), TABLE)
    agrees(lambda x: np.sum(np.percentile(x, 40.0, keepdims=True, **given) ** 3), TABLE)
    assert grad(lambda q: np.sum(np.quantile(TABLE, q, **given)))(q).tolist() == [[0.0, 0.0, 0.0]]


@WITH_WEIGHTS
def test_the_number_with_a_weight_is_the_one_that_moves():
    tied, weights = np.array([2.0, 2.0, 5.0]), np.array([0.0, 2.0, 1.0])
    slope = grad(lambda x: np.quantile(x, 0.5, weights=weights, method="inverted_cdf"))(tied)
    assert slope.tolist() == [0.0, 1.0, 0.0]
    missing = np.array([1.0, np.nan, 4.0])
    given = {"weights": [1, 1, 1], "method": "inverted_cdf"}
    slope = grad(lambda x: np.nanquantile(x, 0.9, **given))(missing)
    assert slope.tolist() == [0.0, 0.0, 1.0]
