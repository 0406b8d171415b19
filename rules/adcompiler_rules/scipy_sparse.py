"""Rules for products and solutions with sparse arrays that are constant."""

import inspect

import adcompiler_rules.scipy.sparse_entries  # noqa: F401
import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from adcompiler.rulekit import call, facts, non_differentiable, rrule
from adcompiler_rules.scipy.facts import state_facts
from adcompiler.runtime.sparse.solving import adjoint_product, sparse_factors, sparse_solution
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal

FORMATS = ("csr", "csc", "coo", "bsr", "dia")


def sparse(rng, rows, columns, form="csr", kind="array"):
    """Return a sparse array, or matrix, a third of whose elements are zero."""
    values = rng.normal(size=(rows, columns))
    dense = np.where(rng.uniform(size=(rows, columns)) < 0.35, 0.0, values)
    return getattr(scipy.sparse, f"{form}_{kind}")(dense)


def regular(rng, n, form="csc"):
    """Return a sparse array that is far from singular."""
    return getattr(scipy.sparse, f"{form}_array")(sparse(rng, n, n).toarray() + 4.0 * np.eye(n))


def methods(name):
    """Return the functions that define a method of sparse arrays and matrices."""
    classes = [getattr(scipy.sparse, f"{form}_{kind}")
               for form in (*FORMATS, "lil", "dok") for kind in ("array", "matrix")]
    return tuple(dict.fromkeys(getattr(cls, name) for cls in classes))


def product_samples(rng):
    """Return sparse arrays and matrices of every format with vectors and matrices."""
    return [
        *[call(sparse(rng, 3, 4, form), rng.normal(size=4)) for form in FORMATS],
        *[call(sparse(rng, 3, 4, form), rng.normal(size=(4, 2))) for form in FORMATS],
        call(sparse(rng, 3, 4, "csr", "matrix"), rng.normal(size=4)),
        call(sparse(rng, 3, 3) * (1.0 + 2.0j), complex_normal(rng, 3)),
        call(sparse(rng, 3, 3) * (1.0 + 2.0j), rng.normal(size=3)),
    ]


@rrule(*methods("__matmul__"), *methods("dot"), wrt=("other",), linear=(1,),
       domain=product_samples)
def matmul(self, other):
    y = scipy.sparse.csr_array.__matmul__(self, other)

    def matmul_pullback(dy):
        return like(adjoint_product(self, dy), other)

    return y, matmul_pullback


@rrule(*methods("__rmatmul__"), wrt=("other",), linear=(1,), domain=lambda rng: [
    call(sparse(rng, 3, 4), rng.normal(size=3)),
    call(sparse(rng, 3, 4, "csc"), rng.normal(size=(2, 3))),
    call(sparse(rng, 3, 3) * (1.0 + 2.0j), complex_normal(rng, 3)),
])
def rmatmul(self, other: np.ndarray):
    """``other @ self`` is the transpose of ``self.T @ other.T``."""
    y = scipy.sparse.csr_array.__rmatmul__(self, other)

    def rmatmul_pullback(dy):
        return like(np.transpose(adjoint_product(self.T, np.transpose(dy))), other)

    return y, rmatmul_pullback


# --- systems --------------------------------------------------------------------------------------


@rrule(scipy.sparse.linalg.spsolve, wrt=("b",), primal_note="keeps the factors of SuperLU",
       domain=lambda rng: [
    call(regular(rng, 4), rng.normal(size=4)),
    call(regular(rng, 4, "csr"), rng.normal(size=(4, 2))),
    call(regular(rng, 3) * (1.0 + 0.5j), complex_normal(rng, 3)),
    call(regular(rng, 3), rng.normal(size=(3, 1))),
])
def spsolve(A, b: np.ndarray, permc_spec=None, use_umfpack=True):
    """One factorisation serves both systems; a single column gives a vector."""
    factors = sparse_factors(A, b)
    y = sparse_solution(factors, b)
    if np.ndim(b) == 2 and np.shape(b)[1] == 1:
        y = np.ravel(y)

    def spsolve_pullback(dy):
        return like(np.reshape(sparse_solution(factors, dy, "H"), np.shape(b)), b)

    return y, spsolve_pullback


TAKES_RTOL = "rtol" in inspect.signature(scipy.sparse.linalg.cg).parameters
"""Whether the tolerance is given so, as from SciPy 1.12 on; before, it is ``tol``."""


def solver_samples(rng):
    """Return symmetric positive definite systems, with a small tolerance."""
    a = sparse(rng, 4, 4).toarray()
    system = scipy.sparse.csr_array(a @ a.T + 2.0 * np.eye(4))
    tolerance = {"rtol": 1e-14} if TAKES_RTOL else {"tol": 1e-14, "atol": 0.0}
    return [call(system, rng.normal(size=4), **tolerance)]


def adjoint_of_system(A):
    """Return the conjugate transpose of a matrix, dense or sparse."""
    return np.transpose(np.conj(A)) if isinstance(A, np.ndarray) else A.conj().T


if TAKES_RTOL:
    @rrule(scipy.sparse.linalg.cg, wrt=("b",), domain=solver_samples)
    def cg(A, b: np.ndarray, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
        """That of the solution: the adjoint system is solved to the same tolerance."""
        y = scipy.sparse.linalg.cg(
            A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, M=M, callback=callback
        )

        def cg_pullback(dy):
            db = scipy.sparse.linalg.cg(A, dy[0], rtol=rtol, maxiter=maxiter, M=M)[0]
            return like(db, b)

        return y, cg_pullback

    @rrule(scipy.sparse.linalg.bicgstab, wrt=("b",), domain=solver_samples)
    def bicgstab(
        A, b: np.ndarray, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None
    ):
        """That of the solution: the adjoint system is solved to the same tolerance."""
        if M is not None:
            raise NotImplementedError("scipy.sparse.linalg.bicgstab has a rule without M=")
        y = scipy.sparse.linalg.bicgstab(
            A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback
        )

        def bicgstab_pullback(dy):
            db = scipy.sparse.linalg.bicgstab(
                adjoint_of_system(A), dy[0], rtol=rtol, maxiter=maxiter)[0]
            return like(db, b)

        return y, bicgstab_pullback
else:
    @rrule(scipy.sparse.linalg.cg, wrt=("b",), domain=solver_samples)
    def cg_to_tol(A, b, x0=None, tol=1e-5, maxiter=None, M=None, callback=None, atol=None):
        """That of the solution: the adjoint system is solved to the same tolerance."""
        y = scipy.sparse.linalg.cg(A, b, x0, tol, maxiter, M, callback, atol)

        def cg_pullback(dy):
            db = scipy.sparse.linalg.cg(A, dy[0], tol=tol, maxiter=maxiter, M=M, atol=0.0)[0]
            return like(db, b)

        return y, cg_pullback

    @rrule(scipy.sparse.linalg.bicgstab, wrt=("b",), domain=solver_samples)
    def bicgstab_to_tol(A, b, x0=None, tol=1e-5, maxiter=None, M=None, callback=None, atol=None):
        """That of the solution: the adjoint system is solved to the same tolerance."""
        if M is not None:
            raise NotImplementedError("scipy.sparse.linalg.bicgstab has a rule without M=")
        y = scipy.sparse.linalg.bicgstab(A, b, x0, tol, maxiter, None, callback, atol)

        def bicgstab_pullback(dy):
            db = scipy.sparse.linalg.bicgstab(
                adjoint_of_system(A), dy[0], tol=tol, maxiter=maxiter, atol=0.0)[0]
            return like(db, b)

        return y, bicgstab_pullback


@rrule(scipy.sparse.linalg.expm_multiply, wrt=("B",), linear=(1,), domain=lambda rng: [
    call(sparse(rng, 4, 4), rng.normal(size=4)),
    call(sparse(rng, 4, 4, "csc"), rng.normal(size=(4, 2))),
])
def expm_multiply(A, B: np.ndarray, start=None, stop=None, num=None, endpoint=None, traceA=None):
    """``expm(A) B`` has the adjoint ``expm(A^H)``."""
    if start is not None or stop is not None or num is not None:
        raise NotImplementedError(
            "scipy.sparse.linalg.expm_multiply has a rule for one time, without start= and stop="
        )
    y = scipy.sparse.linalg.expm_multiply(A, B, traceA=traceA)

    def expm_multiply_pullback(dy):
        adjoint = np.transpose(np.conj(A)) if isinstance(A, np.ndarray) else A.conj().T
        return like(scipy.sparse.linalg.expm_multiply(adjoint, dy), B)

    return y, expm_multiply_pullback


# --- their adjoints -------------------------------------------------------------------------------


non_differentiable(sparse_factors)  # of a system, which is constant; of b it reads the dtype


@rrule(adjoint_product, wrt=("dy",), linear=(1,), domain=lambda rng: [
    call(sparse(rng, 3, 4), rng.normal(size=3)),
    call(sparse(rng, 3, 3) * (1.0 + 2.0j), complex_normal(rng, 3)),
])
def adjoint_product_rule(a, dy):
    def adjoint_product_pullback(g):
        return like(scipy.sparse.csr_array.__matmul__(a, g), dy)

    return adjoint_product(a, dy), adjoint_product_pullback


facts(sparse_solution, shares="none")


@rrule(sparse_solution, wrt=("b",), linear=(1,), domain=lambda rng: [
    call(sparse_factors(a := regular(rng, 4), np.zeros(4)), rng.normal(size=4)),
    call(sparse_factors(a, np.zeros(4)), rng.normal(size=(4, 2)), "H"),
    call(sparse_factors(a * (1.0 + 0.5j), np.zeros(4)), complex_normal(rng, 4)),
])
def sparse_solution_rule(factors, b, trans="N"):
    def sparse_solution_pullback(dy):
        return like(sparse_solution(factors, dy, "H" if trans == "N" else "N"), b)

    return sparse_solution(factors, b, trans), sparse_solution_pullback

state_facts("scipy.sparse.linalg")


def is_sparse(x):
    return isinstance(x, (scipy.sparse.sparray, scipy.sparse.spmatrix))


if scipy.sparse.issparse.__module__ == "scipy.sparse._base":  # SciPy 1.11: not read there
    facts(scipy.sparse.issparse, written_as=is_sparse)
