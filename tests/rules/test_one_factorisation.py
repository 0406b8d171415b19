"""A linear system is factorised once: the sweep solves with the factors of the value."""

import re

import numpy as np
import pytest
import scipy.linalg

from adcompiler import grad, source, vjp

A, B = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])


def numpy_sum(a, b):
    return np.sum(np.linalg.solve(a, b))


def scipy_sum(a, b):
    return np.sum(scipy.linalg.solve(a, b))


@pytest.mark.parametrize("f", [numpy_sum, scipy_sum])
@pytest.mark.parametrize("right", [B, np.stack((B, 2.0 * B), 1)], ids=["vector", "matrix"])
@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_emitted_code_has_one_factorisation(f, right, mode):
    text = source(f, A, right, mode=mode)
    assert len(re.findall(r"\blu_factor\(", text)) == 1
    of_adjoint = ["trans=1" in call for call in re.findall(r"\blu_solve\([^\n]*", text)]
    assert sorted(of_adjoint) == [False, True] and text.count("trans=") == 1


@pytest.mark.parametrize("f", [numpy_sum, scipy_sum])
def test_values(f):
    da, db = grad(f, argnums=(0, 1))(A, B)
    np.testing.assert_allclose(db, [0.4, 0.2], rtol=1e-14)
    np.testing.assert_allclose(da, [[-0.08, -0.24], [-0.04, -0.12]], rtol=1e-14)
    y, _ = vjp(lambda b: np.linalg.solve(A, b), B)
    np.testing.assert_allclose(y, [0.2, 0.6], rtol=1e-14)


def test_complex_systems_have_the_conjugate_transpose():
    text = source(lambda b: np.sum(np.abs(np.linalg.solve(A + 1j * A.T, b))), B + 1j, mode="vjp")
    assert "trans=2" in text


@pytest.mark.parametrize("f", [numpy_sum, scipy_sum])
@pytest.mark.filterwarnings("ignore:Diagonal number")
def test_singular_matrix_raises_as_without_derivative(f):
    with pytest.raises(np.linalg.LinAlgError):
        grad(f)(np.ones((2, 2)), B)


def test_matrix_of_lower_precision_is_factorised_in_that_of_the_result():
    a = np.array([[1.0, 0.1], [0.2, 0.7]], np.float32)
    y, pullback = vjp(np.linalg.solve, a, B, argnums=(0, 1))
    assert np.abs(a.astype(float) @ y - B).max() < 1e-15
    da, db = pullback(np.ones(2))
    assert (da.dtype, db.dtype) == (np.float32, np.float64)


def test_layout_in_memory_is_that_of_numpy():
    y, _ = vjp(np.linalg.solve, A, A.T.copy(), argnums=1)
    assert y.flags.c_contiguous


@pytest.mark.parametrize("lstsq", [
    lambda a, b: np.linalg.lstsq(a, b, rcond=None), lambda a, b: scipy.linalg.lstsq(a, b)])
def test_least_squares_of_full_rank_need_no_square_of_their_rows(lstsq):
    """The adjoint is the general one by the pseudo-inverse, without matrices of rows by rows."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))

    def f(a, b):
        x, residuals, _, s = lstsq(a, b)
        return np.sum(x**3) + np.sum(residuals**2) + s @ np.arange(3.0)

    def general(a, b):
        x = np.linalg.pinv(a) @ b
        return np.sum(x**3) + np.sum(np.sum((b - a @ x) ** 2, 0) ** 2) + (
            np.linalg.svd(a, compute_uv=False) @ np.arange(3.0))

    for found, wanted in zip(grad(f, argnums=(0, 1))(a, b), grad(general, argnums=(0, 1))(a, b),
                             strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
