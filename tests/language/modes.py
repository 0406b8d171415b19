"""Checks a function of one vector in every mode: derivatives of both orders, and patterns."""

import itertools

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian, jacfwd, jacobian_sparsity, jvp

MODES = ("fwd_adj", "fwd_fwd", "adj_fwd", "adj_adj")


class Programs(list):
    """Collects functions: ``@programs`` above one adds it."""

    def __call__(self, function):
        self.append(function)
        return function


def differences(f, x, h=1e-5):
    """Return central differences of ``f`` along each axis."""
    moved = [(f(x + h * e), f(x - h * e)) for e in np.eye(len(x))]
    return np.array([(after - before) / (2.0 * h) for after, before in moved])


def agrees_to_first_order(f, x, pattern=True):
    """Check gradients and tangents against differences, and that the pattern has every entry.

    Recordings have no ``pattern``.
    """
    wanted = differences(f, x)
    np.testing.assert_allclose(grad(f)(x), wanted, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(jacfwd(f)(x), wanted, rtol=1e-7, atol=1e-7)
    v = np.linspace(0.5, 1.5, len(x))
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], wanted @ v, rtol=1e-7, atol=1e-7)
    if pattern:
        entries = jacobian_sparsity(f, x).toarray().reshape(-1)
        assert np.all(entries | (grad(f)(x) == 0.0))


def in_turn(functions, every=1):
    """Return one of ``every`` so many functions with one of the modes, which take turns.

    All functions in all modes are of the second lane.
    """
    first = [
        pytest.param(f, (mode,), id=f"{f.__name__}-{mode}")
        for f, mode in zip(functions[::every], itertools.cycle(MODES), strict=False)
    ]
    return first + [
        pytest.param(f, MODES, id=f.__name__, marks=pytest.mark.thorough) for f in functions
    ]


def agrees_in_every_mode(f, x, modes=MODES, pattern=True):
    """Check the second order, too; modes that differentiate a sweep may be refused."""
    agrees_to_first_order(f, x, pattern)
    wanted = differences(grad(f), x)
    np.testing.assert_allclose(hessian(f)(x), wanted, rtol=1e-5, atol=1e-6)
    for mode in modes:
        try:
            found = hessian(f, mode=mode)(x)
        except UnsupportedError:
            assert mode.endswith("adj")  # what writes into values of several kinds
            continue
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
