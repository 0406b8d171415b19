"""``np.matrix`` made of values that are differentiated."""

import numpy as np
import pytest

from adcompiler import grad, vjp
from adcompiler.errors import ADError
from tests.lanes import one_in
from tests.rules.agreement import agrees

X = np.array([[2.0, 0.3, -0.4], [0.7, 1.8, 0.2], [-0.5, 0.6, 2.4]])
B = np.array([0.4, -1.1, 0.9])

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

PROGRAMS = {
    "product": lambda x: (np.matrix(x) * np.matrix(B).T).A1,
    "with an array": lambda x: (np.matrix(x) * x).A,
    "from an array": lambda x: (B * np.matrix(x)).A,
    "with a number": lambda x: (2.0 * np.matrix(x) * x[0, 0] / 3.0).A,
    "transpose": lambda x: (np.matrix(x).T * 2.0).A,
    "conjugate": lambda x: (np.matrix(x).H * np.matrix(x)).A,
    "inverse": lambda x: np.matrix(x).I.A,
    "solution": lambda x: (np.matrix(x).I * np.matrix(B).transpose()).getA1(),
    "sum": lambda x: (np.matrix(x) + x.T - 1.0 - np.matrix(x) * np.matrix(x)).A,
    "reflected": lambda x: (1.0 - (-np.matrix(x)) + x).A,
    "power": lambda x: (np.matrix(x) ** 3).A,
    "inverse power": lambda x: (np.matrix(x) ** -1).A,
    "all": lambda x: np.matrix(x).sum() * np.matrix(x).mean(),
    "columns": lambda x: np.matrix(x).sum(axis=0).A,
    "rows": lambda x: np.matrix(x).mean(1).A,
    "number": lambda x: np.matrix(x)[1, 2] * (np.matrix(B) * np.matrix(x) * np.matrix(B).T).item(),
    "part": lambda x: (np.matrix(x)[:, 1] * np.matrix(x)[0, :]).A,
    "rows of a list": lambda x: np.matrix([[x[0, 0], 1.0], [2.0, x[1, 1]]]).I.A,
    "at": lambda x: (np.matrix(x) @ np.matrix(x) @ x).A,
    "behind @": lambda x: (x @ np.matrix(x) - x).A,
    "row": lambda x: np.matrix(x[0]).A,
}


@pytest.mark.parametrize("name", one_in(2, PROGRAMS))
def test_values_and_derivatives(name):
    f = PROGRAMS[name]
    found, wanted = vjp(f, X)[0], f(X)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    agrees(lambda x: np.sum(f(x) * weights) ** 2, X, tol=1e-5)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.exp(np.matrix(x))),
    lambda x: np.matrix(x),
    lambda x: np.sum(np.matrix(x)),
    lambda x: np.sum(np.asarray(np.matrix(x) * x)),
    lambda x: np.linalg.det(np.matrix(x)),
    lambda x: (np.matrix(x) ** 0.5).sum(),
    lambda x: np.matrix(x[:2]).I.sum(),
    lambda x: np.matrix(x, dtype=np.float32).sum(),
    lambda x: np.sum(np.multiply(np.matrix(x), x)),
    lambda x: np.sum(x.dot(np.matrix(x))),
    lambda x: (np.matrix(x) @ B).sum(),
    lambda x: (B @ np.matrix(x)).sum(),
    lambda x: (x / np.matrix(x)).sum(),
])
def test_what_is_not_known(f):
    with pytest.raises((ADError, TypeError)):
        grad(f)(X)


def of_fresh(x):
    M = np.asmatrix(np.outer(x, x) + np.eye(3))
    return (M * M.T).sum()


def written_before(x):
    y = np.outer(x, x)
    M = np.asmatrix(y)
    y[0, 0] = x[2] * 5.0
    return (M * M).sum()


def transpose_of_shared(x):
    y = np.outer(x, x)
    M = np.asmatrix(y)
    T = M.T
    y[0, 1] = x[2] ** 3
    return (T * M).sum()


def transpose_of_copy(x):
    y = np.outer(x, x)
    M = np.matrix(y)
    T = M.T
    y[0, 1] = x[2] ** 3
    return (T * M).sum()


def part_of_shared(x):
    y = np.outer(x, x)
    M = np.matrix(y, copy=False)
    rows = M[0:2, :]
    y[0, 1] = x[2] ** 3
    return (rows * M).sum()


def written_through_array(x):
    y = np.outer(x, x)
    M = np.asmatrix(y)
    A = M.A
    A[1, 1] = x[0]
    T = M.T
    A[0, 2] = x[1]
    return (T * M).sum() + y[1, 1]


def parts_by_one_index(x):
    M = np.asmatrix(np.outer(x, x) + np.eye(3))
    total = M[-1][0, 2] * M[[0, 2]].sum() + (M[1:] * M[0].T)[1, 0]
    for i in range(3):
        total = total + (M[i] * M[i].T)[0, 0] * i
    return total


@pytest.mark.parametrize("f", [
    parts_by_one_index, of_fresh, written_before, transpose_of_shared, transpose_of_copy,
    part_of_shared, written_through_array,
])
def test_storage_that_is_shared(f, monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    x = np.array([1.2, 0.7, 1.9])
    value, _ = vjp(f, x)
    assert value == f(x)
    agrees(f, x, tol=1e-5)
