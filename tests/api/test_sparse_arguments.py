"""Gradients in SciPy's sparse matrices, and what is computed of such matrices by solvers."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import linalg

from adcompiler import grad, hessian, value_and_grad
from adcompiler.errors import UnsupportedError

DENSE = np.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
B = np.array([1.0, 2.0, 3.0])
SIDES = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]])
PROGRAMS = {
    "product": lambda A: np.sum((A @ B) ** 2),
    "transpose": lambda A: np.sum((A.T @ B) ** 2 * B),
    "solution": lambda A: np.sum(linalg.spsolve(A.tocsc(), B) ** 2),
    "many right sides": lambda A: np.sum(linalg.spsolve(A.tocsc(), SIDES) ** 2),
    "factors": lambda A: np.sum(linalg.splu(A.tocsc()).solve(B) ** 2),
    "sum and diagonal": lambda A: A.sum() ** 2 + np.sum(A.diagonal() ** 3),
    "powers": lambda A: np.sum(A @ (A @ B)) + (A @ A).sum(),
    "numbers alone": lambda A: np.sum(A.data**2),
    "conjugate gradients": lambda A: np.sum(linalg.cg(A + A.T, B, atol=1e-14)[0] ** 2),
    "residuals": lambda A: np.sum(linalg.gmres(A, B, atol=1e-14)[0] ** 2),
}


def differences(f, A, h=1e-5):
    """Return central differences in the numbers that a matrix stores."""
    found = A.copy()
    for k in range(A.data.size):
        up, down = A.copy(), A.copy()
        up.data[k] += h
        down.data[k] -= h
        found.data[k] = (f(up) - f(down)) / (2 * h)
    return found


@pytest.mark.parametrize("cls", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_matrices_of_the_same_pattern(name, cls, monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    f, A = PROGRAMS[name], cls(DENSE)
    value, A_bar = value_and_grad(f)(A)
    wanted = differences(f, A)
    assert value == pytest.approx(f(A), rel=1e-12)
    assert type(A_bar) is cls
    assert np.array_equal(A_bar.indices, A.indices)
    assert np.array_equal(A_bar.indptr, A.indptr)
    np.testing.assert_allclose(A_bar.data, wanted.data, rtol=1e-6, atol=1e-8)
    assert not np.shares_memory(A_bar.indices, A.indices)


def test_a_matrix_beside_other_arguments():
    def f(scale, A, x):
        return scale * np.sum((A @ x) ** 2)

    A = sp.csr_array(DENSE)
    g = grad(f, argnums=(1, 0, 2))
    for _ in range(2):  # compiled, and found again
        A_bar, scale_bar, x_bar = g(2.0, A, B)
        np.testing.assert_allclose(A_bar.toarray(), np.where(
            DENSE != 0, 4.0 * np.outer(DENSE @ B, B), 0.0))
        assert scale_bar == pytest.approx(np.sum((DENSE @ B) ** 2))
        np.testing.assert_allclose(x_bar, 4.0 * DENSE.T @ DENSE @ B)
    other = sp.csr_array(np.array([[1.0, 0.0, 2.0]]))
    np.testing.assert_allclose(g(1.0, other, B)[0].toarray(), [[14.0, 0.0, 42.0]])
    value, aux = grad(lambda A: (np.sum(A @ B), 3), has_aux=True)(A)
    assert (value.toarray() == np.where(DENSE != 0, B, 0.0)).all()
    assert aux == 3


def test_whole_numbers_zeros_and_empty_matrices():
    with pytest.raises(TypeError, match="without a float"):
        grad(lambda A: np.sum((A @ B[:2]) ** 2))(sp.csr_array(np.array([[1, 2], [0, 3]])))
    stored = sp.csr_array((np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    np.testing.assert_allclose(grad(lambda A: np.sum((A @ B[:2]) ** 2))(stored).data, [8.0, 16.0])
    empty = sp.csr_array((2, 3))
    assert grad(lambda A: np.sum((A @ B) ** 2))(empty).nnz == 0


def made(d):
    return sp.csc_matrix((d, ([0, 1, 2, 0, 1], [0, 1, 2, 1, 0])), shape=(3, 3))


D = np.array([4.0, 5.0, 6.0, 1.0, 1.0])


@pytest.mark.parametrize("f", [
    lambda d: np.sum(made(d).sum(axis=1).A1 * B**2) * d[0],
    lambda d: np.sum(made(d).sum(0).A1 * B**2) * d[0],
    lambda d: np.sum(made(d).mean(axis=1).A1 * B**2) * d[0] + made(d).mean() ** 2,
    lambda d: np.sum(linalg.cg(made(d) + made(d).T, d[:3], atol=1e-14)[0] ** 2),
    lambda d: np.sum(linalg.gmres(made(d), B, M=np.diag(1 / D[:3]), atol=1e-14)[0] ** 2),
    lambda d: np.sum(linalg.bicgstab(made(d), B, atol=1e-14)[0] ** 2),
])
def test_sums_of_rows_and_iterative_solvers(f, monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    h = 1e-5
    wanted = [(f(D + h * e) - f(D - h * e)) / (2 * h) for e in np.eye(5)]
    np.testing.assert_allclose(grad(f)(D), wanted, rtol=1e-6, atol=1e-8)


def test_iterative_solvers_to_second_order_and_where_they_fail():
    y = linalg.spsolve(made(D), B)
    found = hessian(lambda z: np.sum(linalg.cg(made(D * z), B, atol=1e-14)[0] ** 2))(1.0)
    assert found == pytest.approx(6.0 * np.sum(y**2), rel=1e-10)
    with pytest.raises(ValueError, match="has not converged"):
        grad(lambda d: np.sum(linalg.cg(made(d), B, maxiter=1)[0]))(D)


def test_what_is_not_compiled_of_a_matrix_is_refused(monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    A = sp.csc_array(DENSE)
    for f in (lambda A: linalg.eigsh(A, k=1)[0][0], lambda A: np.sum(A.data * (A @ B)[0])):
        with pytest.raises(UnsupportedError, match=r"made here|how it uses"):
            grad(f)(A)
