"""Second derivatives of norms of matrices by their singular values."""

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.errors import ADError
from tests.language.modes import agrees_in_every_mode

X = np.array([0.7, 1.3, 0.4, 1.9, 0.2, -0.5])


def norm_of(order, shape, axis):
    def function(x):
        a = np.reshape(x, shape)
        return np.sum(np.linalg.norm(a, order, axis=axis) * np.sum(x[:2]))

    return function


@pytest.mark.parametrize("order", [2, -2, "nuc", 1, np.inf])
@pytest.mark.parametrize(("shape", "axis"), [((2, 3), (0, 1)), ((3, 2), (1, 0))])
def test_real(order, shape, axis):
    agrees_in_every_mode(norm_of(order, shape, axis), X)


def complex_matrix(x):
    a = x[:3][:, None] * np.exp(1j * np.outer(x[3:], x[:2]))
    return np.linalg.norm(a, 2) + np.linalg.norm(a, "nuc") + np.linalg.norm(a, -2) * x[0]


def several_matrices(x):
    a = np.stack([np.reshape(x, (2, 3)), np.reshape(x, (2, 3)) ** 2])
    return np.sum(np.linalg.norm(a, 2, axis=(1, 2)) ** 2 + np.linalg.norm(a, "nuc", axis=(2, 1)))


@pytest.mark.parametrize("function", [complex_matrix, several_matrices])
def test_complex_and_several(function):
    agrees_in_every_mode(function, X)


@pytest.mark.parametrize("order", [None, 2, -2, "fro"])
def test_condition_numbers(order):
    def function(x):
        return np.linalg.cond(np.outer(x[:3], x[3:]) + np.diag(x[:3]) * 3.0, order)

    agrees_in_every_mode(function, X)


def test_what_is_not_known():
    def summed(x):
        return np.linalg.norm(x * (1.0 + 1j), 1)

    with pytest.raises(ADError, match="no second derivative"):
        grad(lambda x: np.sum(grad(summed)(x) ** 2))(np.reshape(X, (2, 3)))
