"""``np.r_``, ``np.c_``, ``np.ndarray`` and ``np.linspace`` with the distance of its points."""

import numpy as np
import pytest

from adcompiler import grad, value_and_grad
from adcompiler.errors import UncoveredError
from tests.rules.agreement import agrees

X = np.array([0.7, 1.3, 2.1])
WEIGHTS = np.cos(np.arange(40.0))


def weighted(y):
    return np.sum(WEIGHTS[: y.size] * np.ravel(y) ** 3)


ROWS = [
    lambda x: weighted(np.r_[x, 1.0, x[0] * 2, 0:3]),
    lambda x: weighted(np.r_[x[::-1], [x[0], 2.0]]),
    lambda x: weighted(np.r_[0.5:2.5:5j, x]),
    lambda x: weighted(np.r_[1:4, x, 5:2:-1]),
    lambda x: weighted(np.r_[x]),
    lambda x: weighted(np.r_[x[0], x[1]]),
    lambda x: weighted(np.r_[(x,) * 3]),
    lambda x: weighted(np.r_[x, 1, 2, True]),
    lambda x: weighted(np.r_[np.outer(x, x), x[None]]),
    lambda x: weighted(np.c_[x, x**2, np.ones(3)]),
    lambda x: weighted(np.c_[x]),
    lambda x: weighted(np.c_[x[None], 0, 0, x[None]]),
    lambda x: weighted(np.c_[np.outer(x, x), x]),
]


@pytest.mark.parametrize("f", ROWS)
def test_rows_and_columns(f):
    agrees(f, X, order=1, tol=1e-5)
    single = X.astype(np.float32)
    value, gradient = value_and_grad(f)(single)
    assert value.dtype == f(single).dtype
    assert gradient.dtype == np.float32


def test_second_order_of_rows_and_columns():
    agrees(lambda x: weighted(np.r_[x, x**2]), X, tol=1e-5)
    agrees(lambda x: weighted(np.c_[x, x**2, np.ones(3)]), X, tol=1e-5)


def test_arrays_made_empty():
    def filled(x):
        y = np.ndarray((3,), dtype=float)
        z = np.ndarray(shape=(3, 2))
        for i in range(3):
            y[i] = x[i] ** 2
        z[:, 0], z[:, 1] = x, y
        whole = np.ndarray(x.shape, np.float64, order="F")
        whole[:] = x
        return np.sum(z[:, 0] * z[:, 1] * whole)

    agrees(filled, X, tol=1e-5)
    with pytest.raises(UncoveredError, match="buffer"):
        grad(lambda x: np.sum(np.ndarray((3,), float, x) * x))(X)


@pytest.mark.parametrize("num", [1, 2, 5])
@pytest.mark.parametrize("endpoint", [True, False])
def test_the_distance_of_points(num, endpoint):
    def stepped(x):
        points, step = np.linspace(x[0], x[1], num, endpoint, retstep=True)
        return np.sum(points**2) * (1.0 if num == 1 and endpoint else step**2)

    agrees(stepped, X)
    agrees(lambda x: np.sum(np.linspace(x, 2.0 * x[::-1], num, retstep=True)[0] ** 2), X, order=1)
