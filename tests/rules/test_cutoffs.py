"""Pseudo-inverses and least squares whose cutoff drops singular values that are not 0."""

import numpy as np
import pytest
import scipy.linalg

from adcompiler import grad, hvp, jvp
from tests.lanes import one_in
from tests.rules.agreement import agrees

RNG = np.random.default_rng(0)


def of_singular_values(*values, rows=4):
    """Return a matrix with these singular values."""
    u, v = (np.linalg.qr(RNG.normal(size=(n, n)))[0] for n in (rows, len(values)))
    return u[:, :len(values)] @ np.diag(values) @ v.T


A = of_singular_values(1.0, 0.6, 0.05)
STACK = np.stack([A, of_singular_values(1e-6, 1e-7, 3e-9), of_singular_values(2.0, 1.5, 1.0)])
W, B, X = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2))
SIDE = RNG.normal(size=A.shape)
FUNCTIONS = {
    "numpy.pinv": lambda a: np.sum(W * np.linalg.pinv(a, 0.2)),
    "scipy.pinv": lambda a: np.sum(W * scipy.linalg.pinv(a, rtol=0.2)),
    "scipy.pinv of little": lambda a: np.sum(W * scipy.linalg.pinv(a, atol=0.8)),
    "numpy.pinv, wide": lambda a: np.sum(W.T * np.linalg.pinv(np.transpose(a), 0.2)),
    "numpy.pinv, Hermitian": lambda a: np.sum(
        W[:, :3] * np.linalg.pinv(np.transpose(a) @ a, 0.02, True)),
    "scipy.pinvh": lambda a: np.sum(
        W[:, :3] * scipy.linalg.pinvh(np.transpose(a) @ a, rtol=0.02)),
    "numpy.lstsq": lambda a: np.sum(X * np.linalg.lstsq(a, B, rcond=0.2)[0]),
    "scipy.lstsq": lambda a: np.sum(X * scipy.linalg.lstsq(a, B, 0.2)[0]),
}


def differences(f, a):
    found = np.zeros_like(a)
    for i in np.ndindex(a.shape):
        step = np.zeros_like(a)
        step[i] = 1e-6
        found[i] = (f(a + step) - f(a - step)) / 2e-6
    return found


@pytest.mark.parametrize("f", one_in(2, FUNCTIONS.values()), ids=FUNCTIONS)
def test_what_is_dropped_turns_what_is_kept(f):
    slope = grad(f)
    np.testing.assert_allclose(slope(A), differences(f, A), atol=1e-7)
    assert jvp(f, (A,), (SIDE,))[1] == pytest.approx(np.sum(slope(A) * SIDE), rel=1e-9)
    wanted = (slope(A + 1e-5 * SIDE) - slope(A - 1e-5 * SIDE)) / 2e-5
    np.testing.assert_allclose(hvp(f, A, SIDE), wanted, atol=1e-5)


def test_each_matrix_of_a_stack_has_a_cutoff_of_its_own():
    def f(stack):
        return np.sum(W * np.linalg.pinv(stack, 0.2))

    found = grad(f)(STACK)
    for one, a in zip(found, STACK, strict=True):
        size = np.linalg.norm(a, 2)
        wanted = differences(FUNCTIONS["numpy.pinv"], a / size) / size**2
        np.testing.assert_allclose(one, wanted, rtol=1e-6, atol=1e-6 * np.max(abs(wanted)))


def test_nothing_is_kept_and_matrices_are_empty():
    assert not grad(lambda a: np.sum(W * np.linalg.pinv(a)))(np.zeros((4, 3))).any()
    assert not grad(lambda a: np.sum(W * np.linalg.pinv(a, 2.0)))(A).any()
    assert grad(lambda a: np.sum(np.linalg.pinv(a)))(np.zeros((0, 3))).shape == (0, 3)


def test_complex_and_single_precision():
    z = A + 0.2j * SIDE
    agrees(lambda t: np.sum(np.real(np.linalg.pinv(z + t * SIDE, 0.2) ** 2)), 0.1)
    single = grad(FUNCTIONS["numpy.pinv"])(A.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, grad(FUNCTIONS["numpy.pinv"])(A), atol=1e-4)


def test_values_that_are_nearly_0_keep_what_they_had():
    a = np.vander(np.linspace(0.0, 1.0, 9), 8)  # the condition number is 1e6
    v = np.random.default_rng(1).normal(size=(8, 9))
    y = np.linalg.pinv(a)
    n = a - a @ y @ a
    assert np.linalg.norm(n) < 1e-8
    wanted = -y.T @ v @ y.T + (np.eye(9) - a @ y) @ v.T @ y @ y.T
    found = grad(lambda a: np.sum(v * np.linalg.pinv(a)))(a)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8 * np.max(abs(wanted)))
