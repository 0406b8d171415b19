"""What no rule gives the derivative of may depend on everything."""

import numpy as np
import pytest
import scipy.special as special
from adcompiler import (
    Global, Local, hessian_sparsity, jacobian_sparsity, scalar_rule, sparse_hessian,
)
from adcompiler.ops.registry import REGISTRY

x = np.array([1.2, 0.7])
WAYS = [
    {"mode": "global"}, {"mode": "local"}, {"detector": Global(tracers=True)},
    {"detector": Local(tracers=True)},
]


def incomplete(x):
    return special.gammainc(x[0], x[1])


def of_order(x):
    return special.jv(x[0], x[1])


def regularised(x):
    return special.betainc(x[0], 0.8, x[1])


def polynomial(x):
    return special.eval_laguerre(x[0], x[1])


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("function", [incomplete, of_order, regularised, polynomial])
def test_functions_of_a_parameter(function, way):
    assert jacobian_sparsity(function, x, **way).toarray().all()
    assert hessian_sparsity(function, x, **way).toarray().all()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_rule_of_the_user(way):
    def curious(a, b):
        return a * np.exp(b) + b

    scalar_rule(curious, lambda a, b: np.exp(b), None)
    try:
        found = jacobian_sparsity(lambda x: curious(x[0], x[1]), x, **way).toarray()
        curved = hessian_sparsity(lambda x: curious(x[0], x[1]), x, **way).toarray()
    finally:
        REGISTRY.remove(curious)
    assert found.tolist() == [[True, True]]
    assert curved[0].tolist() == [False, True]
    assert curved[:, 1].all()


def spectrum(x):
    return np.sum(np.abs(np.fft.rfft(x)))


def modulus(x):
    return abs(x[0] + 1j * x[1])


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_modulus_of_complex_numbers_is_curved(way):
    assert hessian_sparsity(spectrum, np.array([1.0, 2.0, 4.0, 7.0]), **way).toarray().all()
    assert hessian_sparsity(modulus, x, **way).toarray().all()
    assert not hessian_sparsity(lambda x: np.sum(np.abs(x)), x, **way).toarray().any()


def test_hessian_of_a_modulus():
    found = sparse_hessian(modulus)(x).toarray()
    a, b = x
    assert found == pytest.approx(np.array([[b * b, -a * b], [-a * b, a * a]]) / np.hypot(a, b)**3)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_geometric_sequences(way):
    found = jacobian_sparsity(lambda x: np.geomspace(x[0], x[1], 4), x, **way).toarray()
    assert found[0, 0]
    assert found[1:3].all()
    assert found[3, 1]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_arrays_without_axes_are_stored_as_numbers(way):
    def stored(x):
        y = np.zeros(2)
        y[0] = np.asarray(x[0] * x[1])
        y[1] = np.asarray(x[1])
        return y

    assert jacobian_sparsity(stored, x, **way).toarray().tolist() == [[True, True], [False, True]]
