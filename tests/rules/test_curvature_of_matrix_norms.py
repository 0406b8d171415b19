"""Second derivatives of norms of matrices by their singular values."""

import functools

import numpy as np
import pytest

from adcompiler import grad, hessian, hvp, rrule, sparse_hessian, taylor
from adcompiler.errors import ADError
from tests.language.modes import MODES, agrees_in_every_mode

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


# A pullback that raises is transposed to a pushforward that raises: so does one that is zero else.


def complex_norm(x):
    return np.linalg.norm(np.array([[1 + 2j, 0.5], [3, 4 - 1j]]) * (1 + x[0]) + 1j * x[1] * x[0], 1)


SECOND = {
    "hvp": lambda f: lambda x: hvp(f, x, np.ones(2)),
    "taylor": lambda f: lambda x: taylor(f, (x,), (np.ones((2, 2)),)),
    "sparse": sparse_hessian,
    **{mode: functools.partial(hessian, mode=mode) for mode in MODES},
}


@pytest.mark.parametrize("of", SECOND)
def test_what_is_raised_is_not_lost_when_a_pullback_is_transposed(of):
    with pytest.raises(ADError, match="no second derivative"):
        SECOND[of](complex_norm)(np.array([0.3, 0.4]))


def flat(x):
    return 0.0 * x


def slope_of_flat(x):
    return 0.0 * x


def flat_rule(x):
    return flat(x), lambda dy: dy * slope_of_flat(x)


def slope_of_flat_rule(x):
    def pullback(dy):
        if x > 4.0:
            raise NotImplementedError("no second derivative beyond 4")
        return None

    return slope_of_flat(x), pullback


def test_what_is_raised_by_data_is_raised_where_it_was():
    rrule(flat)(flat_rule)  # here: modules of tests list the rules of libraries when they load
    rrule(slope_of_flat)(slope_of_flat_rule)

    def several(x):
        total = 0.0
        for k in range(3):
            if k > 0:
                total = total + flat(x * k)
        return total

    for second in (lambda x: hvp(several, x, 1.0), hessian(several), grad(grad(several))):
        assert second(0.5) == 0.0
        with pytest.raises(ADError, match="beyond 4"):
            second(3.0)
