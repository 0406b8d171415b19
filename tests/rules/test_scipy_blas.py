"""Functions of BLAS and LAPACK by name: values as SciPy's, derivatives as differences."""

import numpy as np
import pytest
from scipy.linalg import blas, get_blas_funcs, get_lapack_funcs, lapack

from adcompiler import ADError, grad, value_and_grad
from tests.lanes import one_in
from tests.rules.agreement import agrees

RNG = np.random.default_rng(7)
A = RNG.normal(size=(3, 3)) + 3.0 * np.eye(3)
B, C, V = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=3)


def positive(a):
    return a @ a.T + np.eye(3)


def by_blas(a, b):
    gemm, = get_blas_funcs(("gemm",), (a, b))
    dot = get_blas_funcs("dot", (a,))
    return np.sum(C * gemm(1.3, a, b)) * dot(a[0], b[1])


def by_lapack(a, b):
    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (a, b))
    c, info = potrf(a, lower=True)
    if info != 0:
        raise np.linalg.LinAlgError("not positive definite")
    x, info = potrs(c, b, lower=True)
    return np.sum(C * x)


def updated(x, y):
    z = y.copy()
    blas.daxpy(x, z, a=0.5)
    blas.dscal(3.0, z)
    return z @ x


def moved(x, y):
    z, w = y.copy(), np.zeros(3)
    blas.dcopy(x, w)
    blas.dswap(z, w)
    first, second = blas.drot(z, w, 0.6, 0.8)
    return (first @ second) * x[blas.idamax(V)]


PROGRAMS = {
    "dgemm": lambda a: np.sum(C * blas.dgemm(1.5, a, B)),
    "dgemm, all options": lambda a: np.sum(
        C * blas.dgemm(a[0, 0], a, a, beta=a[1, 1], c=B * a, trans_a=1, trans_b=True)),
    "dgemv": lambda a: V @ blas.dgemv(1.5, a, a[0], beta=0.5, y=a[1], trans=1),
    "ddot, dnrm2, dasum": lambda a: blas.ddot(a[0], a[1]) * blas.dnrm2(a[2]) * blas.dasum(a[0]),
    "daxpy and dscal write": lambda a: updated(a[0].copy(), a[1]),
    "dger": lambda a: np.sum(C * blas.dger(0.7, a[0], a[1], a=a)),
    "dsyrk": lambda a: np.sum(C * blas.dsyrk(1.2, a, beta=0.3, c=a * a, trans=1, lower=1)),
    "dcopy, dswap, drot, idamax": lambda a: moved(a[0], a[1]),
    "dsyr": lambda a: np.sum(C * blas.dsyr(1.2, a[0], a=a)),
    "dsyr, alone": lambda a: np.sum(C * blas.dsyr(a[1, 1], a[0], lower=1)),
    "dsyr2": lambda a: np.sum(C * blas.dsyr2(1.2, a[0], a[1], lower=1, a=a)),
    "dsyr2k": lambda a: np.sum(C * blas.dsyr2k(1.2, a, B, beta=0.3, c=a * a, trans=1)),
    "dsymv": lambda a: V @ blas.dsymv(1.2, a, a[0], beta=0.3, y=a[1], lower=1),
    "dsymv, upper": lambda a: V @ blas.dsymv(a[0, 1], a, a[0]),
    "dsymm": lambda a: np.sum(C * blas.dsymm(1.2, a, B, side=1, lower=1)),
    "dtrmv": lambda a: V @ blas.dtrmv(a, a[0], lower=1, trans=1, diag=1),
    "dtrmm": lambda a: np.sum(C * blas.dtrmm(1.2, a, B * a, side=1, trans_a=1)),
    "dtrsv": lambda a: V @ blas.dtrsv(a, a[0], lower=1, trans=1),
    "dtrsm": lambda a: np.sum(C * blas.dtrsm(1.2, a, B * a, side=1, lower=1)),
    "dtrsm, transposed": lambda a: np.sum(C * blas.dtrsm(1.2, a, B, side=1, trans_a=1, diag=1)),
    "dpotrf": lambda a: np.sum(C * lapack.dpotrf(positive(a), lower=1)[0]),
    "dpotrf, not cleaned": lambda a: np.sum(C * lapack.dpotrf(positive(a), clean=0)[0]),
    "dpotrs": lambda a: V @ lapack.dpotrs(np.triu(a), a[0])[0],
    "dposv": lambda a: np.sum(lapack.dposv(positive(a), a[0])[0]) * np.sum(
        V * lapack.dposv(positive(a), a[0], lower=1)[1]),
    "dpotri": lambda a: np.sum(C * lapack.dpotri(lapack.dpotrf(positive(a))[0])[0]),
    "dgetrf and dgetrs": lambda a: V @ lapack.dgetrs(*lapack.dgetrf(a)[:2], a[0], trans=1)[0],
    "dgetri": lambda a: np.sum(C * lapack.dgetri(*lapack.dgetrf(a)[:2])[0]),
    "dgesv": lambda a: np.sum(C * lapack.dgesv(a, B * a)[2]),
    "dtrtrs": lambda a: V @ lapack.dtrtrs(a, a[0], lower=1, trans=1, unitdiag=1)[0],
    "dtrtri": lambda a: np.sum(C * lapack.dtrtri(a, lower=1)[0]),
    "get_blas_funcs": lambda a: by_blas(a, B),
    "get_lapack_funcs": lambda a: by_lapack(positive(a), B * a),
}


@pytest.mark.parametrize("name", one_in(3, PROGRAMS))
def test_values_and_derivatives(name):
    agrees(PROGRAMS[name], A)


def test_arrays_that_blas_copies_are_refused():
    def f(x):
        y = np.repeat(x, 2)[::2]
        blas.dscal(2.0, y)
        return np.sum(y)

    with pytest.raises(NotImplementedError, match="contiguous array of float64"):
        grad(f)(np.ones(3))


@pytest.mark.parametrize("program", [
    lambda a: np.sum(blas.dgemm(1.0, a, a, overwrite_c=1)),
    lambda a: blas.ddot(a[0], a[1], n=2),
    lambda a: np.sum(get_blas_funcs(("gemm",), (a,))[0](1.0, a, a)),
])
def test_what_is_not_known_is_refused(program):
    with pytest.raises(ADError):
        grad(program)(A.astype(np.float32) if "get_blas" in str(program.__code__.co_names) else A)


def test_a_matrix_that_is_not_positive_definite_raises():
    with pytest.raises(np.linalg.LinAlgError):
        value_and_grad(lambda a: np.sum(lapack.dpotrf(a)[0]))(-A)
