"""Distances between points: SciPy's values, and derivatives in the points and the parameters."""

import numpy as np
import pytest
from scipy.spatial import distance

from adcompiler import grad, jvp
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3))
W = np.array([0.5, 2.0, 1.3])
VI = np.diag([1.0, 2.0, 0.5]) + 0.2
METRICS = [
    lambda f, *xs: f(*xs), lambda f, *xs: f(*xs, "euclidean", w=W),
    lambda f, *xs: f(*xs, "sqeuclidean"), lambda f, *xs: f(*xs, "sqeuclidean", w=W),
    lambda f, *xs: f(*xs, "cityblock"), lambda f, *xs: f(*xs, metric="cityblock", w=W),
    lambda f, *xs: f(*xs, "chebyshev"), lambda f, *xs: f(*xs, "minkowski", p=3),
    lambda f, *xs: f(*xs, "minkowski", p=1.5, w=W), lambda f, *xs: f(*xs, "canberra"),
    lambda f, *xs: f(*xs, "canberra", w=W), lambda f, *xs: f(*xs, "braycurtis"),
    lambda f, *xs: f(*xs, "braycurtis", w=W), lambda f, *xs: f(*xs, "cosine"),
    lambda f, *xs: f(*xs, "cosine", w=W), lambda f, *xs: f(*xs, "correlation"),
    lambda f, *xs: f(*xs, "correlation", w=W), lambda f, *xs: f(*xs, "seuclidean"),
    lambda f, *xs: f(*xs, "seuclidean", V=W), lambda f, *xs: f(*xs, "mahalanobis"),
    lambda f, *xs: f(*xs, "mahalanobis", VI=VI), lambda f, *xs: f(*xs, "m"),
    lambda f, *xs: f(*xs, "cos"),
]
WEIGHTS = np.cos(np.arange(20.0)).reshape(4, 5)


@pytest.mark.parametrize("measured", one_in(3, METRICS))
def test_all_pairs_of_two_sets(measured):
    agrees(lambda x: np.sum(WEIGHTS * measured(distance.cdist, x, B) ** 2), A)
    agrees(lambda x: np.sum(WEIGHTS * measured(distance.cdist, A, x)), B, order=1)


@pytest.mark.parametrize("measured", METRICS)
def test_all_pairs_of_one_set(measured):
    weights, points = np.sin(np.arange(36.0)), np.concatenate((A, B))
    agrees(lambda x: np.sum(weights * measured(distance.pdist, x)), points, order=1)


def test_derivatives_in_parameters():
    agrees(lambda p: np.sum(WEIGHTS * distance.cdist(A, B, "minkowski", p=p)), 2.5)
    agrees(lambda w: np.sum(WEIGHTS * distance.cdist(A, B, "euclidean", w=w)), W)
    agrees(lambda v: np.sum(WEIGHTS * distance.cdist(A, B, "seuclidean", V=v)), W)
    agrees(lambda m: np.sum(WEIGHTS * distance.cdist(A, B, "mahalanobis", VI=m)), VI)


def test_metrics_by_variable_and_by_function():
    def by_name(x):
        total = 0.0
        for metric in ("cityblock", "euclidean", "cosine"):
            total += np.sum(distance.cdist(x, B, metric) ** 2)
        return total

    def by_function(x):
        return np.sum(distance.cdist(x, B, lambda u, v: np.sum((u - v) ** 4)))

    agrees(by_name, A, order=1)
    agrees(by_function, A)
    agrees(lambda x: np.sum(distance.pdist(x, distance.sqeuclidean)), A)


@pytest.mark.parametrize("measured", [
    lambda f, *xs: f(*xs), lambda f, *xs: f(*xs, "sqeuclidean"),
    lambda f, *xs: f(*xs, "cityblock"), lambda f, *xs: f(*xs, "minkowski", p=3),
    lambda f, *xs: f(*xs, "chebyshev"), lambda f, *xs: f(*xs, "canberra"),
    lambda f, *xs: f(*xs, "mahalanobis", VI=VI),
])
def test_points_that_coincide_have_the_derivative_zero(measured):
    agrees(lambda x: np.sum(measured(distance.cdist, x, x) ** 2), A, order=1)
    twin = np.concatenate((A[:1], A[:1]))
    assert not grad(lambda x: np.sum(measured(distance.pdist, x)))(twin).any()


def test_square_and_condensed_forms():
    weights = np.cos(np.arange(16.0)).reshape(4, 4)

    def square(x):
        return np.sum(weights * distance.squareform(distance.pdist(x)) ** 3)

    def condensed(x):
        whole = distance.squareform(distance.pdist(x))
        return np.sum(distance.squareform(whole) ** 2)

    agrees(square, A)
    agrees(condensed, A)
    agrees(lambda x: np.sum(distance.squareform(x)), np.empty(0), order=1)
    assert grad(lambda x: np.sum(distance.squareform(x)[0]))(np.ones(3)).tolist() == [1, 1, 0]


def test_types_and_sizes():
    single = A.astype(np.float32)
    found = grad(lambda x: np.sum(distance.cdist(x, B)))(single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, grad(lambda x: np.sum(distance.cdist(x, B)))(A), rtol=1e-5)
    assert grad(lambda x: np.sum(distance.cdist(x, B)))(np.empty((0, 3))).shape == (0, 3)
    assert grad(lambda x: np.sum(distance.pdist(x)))(A[:1]).tolist() == [[0.0, 0.0, 0.0]]
    listed = jvp(lambda a: np.sum(distance.cdist([[a, 0.0]], [[0.0, 1.0]])), (1.0,), (1.0,))
    assert listed[1] == pytest.approx(np.sqrt(0.5))


def test_what_has_no_derivative_is_refused():
    with pytest.raises(UncoveredError, match="metric="):
        grad(lambda x: np.sum(distance.cdist(x, B, "jaccard")))(A)
    with pytest.raises(UncoveredError, match="without out="):
        grad(lambda x: np.sum(distance.cdist(x, B, out=np.empty((4, 5)))))(A)
    with pytest.raises(ValueError, match="2-dimensional"):
        grad(lambda x: np.sum(distance.cdist(x, B)))(A[0])
    with pytest.raises(ValueError, match="same number of columns"):
        grad(lambda x: np.sum(distance.cdist(x, B[:, :2])))(A)
