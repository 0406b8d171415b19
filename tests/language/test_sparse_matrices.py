"""Sparse matrices that are made of values which carry a derivative, and their systems."""

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from adcompiler import (
    ADError, MissingRuleError, UnsupportedError, grad, hessian, jacobian, sparse_jacobian,
    value_and_grad, vjp,
)
from adcompiler.runtime.sparse import solving as scipy_sparse
from tests.language.modes import Programs, agrees_in_every_mode, agrees_to_first_order, in_turn

N = 5
ROWS = np.array([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4])
COLUMNS = np.array([0, 1, 2, 3, 4, 1, 2, 3, 4, 0, 4])
X = np.array([3.0, 2.5, 4.0, 3.5, 5.0, 0.5, -0.7, 0.3, 0.9, -0.2, 0.25])
B = np.array([1.0, -2.0, 0.5, 3.0, 1.5])
LAPLACE = sp.diags([np.ones(N - 1), -2.0 * np.ones(N), np.ones(N - 1)], [-1, 0, 1], format="csr")
GRADIENT = sp.csr_matrix(np.diff(np.eye(N), axis=0))
NEW = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 12)
CSC, CSR = (sp.csc_array, sp.csr_array) if NEW else (sp.csc_matrix, sp.csr_matrix)
"""Classes of what SciPy solves: 1.11 takes no arrays of which it chose the indices itself."""
MASS = sp.csc_array(np.diag([2.0, 1.0, 1.0, 1.0, 2.0]))
programs = Programs()


@programs
def coordinates_by_columns(x):
    A = sp.csc_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    y = sla.spsolve(A, B * x[0])
    return np.sum(y * y)


@programs
def coordinates_by_rows(x):
    A = sp.csr_matrix((x * x, (ROWS, COLUMNS)))
    return np.sum(np.sin(0.1 * (A @ (B * x[1])))) + np.sum(A.T @ B * x[:5])


@programs
def coordinates_converted(x):
    A = sp.coo_matrix((x, (ROWS, COLUMNS)), shape=(N, N), dtype=float).tocsr().tocsc()
    lu = sla.splu(A)
    y = lu.solve(B)
    return np.sum(y * lu.solve(y, "T")) + np.sum(lu.solve(np.outer(B, x[:2]), trans="H") ** 2)


@programs
def arrays_and_their_sums(x):
    A = sp.csc_array((x, (ROWS, COLUMNS)), shape=(N, N))
    C = sp.coo_array((x[:5], (ROWS[:5], COLUMNS[:5])), shape=(N, N))
    S = A - 0.5 * C + A.T / x[3]
    return np.sum(sla.spsolve(S.tocsc(), B) * S.sum(axis=0)) + S.sum() + np.sum(S.sum(axis=1) ** 3)


if not NEW:
    programs.remove(arrays_and_their_sums)


@programs
def a_solver_that_is_kept(x):
    solve = sla.factorized(CSR((x, (ROWS, COLUMNS)), shape=(N, N)).tocsc())
    y = B
    for _ in range(3):
        y = solve(y)
    return np.sum(y)


@programs
def implicit_steps(x):
    u = x[:5]
    A = sp.eye(N, format="csc") - 0.1 * x[5] * LAPLACE
    for _ in range(3):
        u = sla.spsolve(A, u)
    return np.sum(u * u)


@programs
def a_matrix_for_each_step(x):
    u = x[:5]
    for _ in range(2):
        A = sp.identity(N, format="csc") + sp.diags(0.1 * u * u) - x[5] * LAPLACE
        u = sla.spsolve(A.tocsc(), u)
    return np.sum(u * u)


@programs
def diagonals_of_many_forms(x):
    A = sp.diags([x[5:9], x[:5], x[6:10]], [-1, 0, 1])
    D = sp.diags(x[:5]) + sp.diags([x[:5], x[5:10]], [0, 1])
    T = sp.diags([-x[5], 4.0 * x[6], x[7]], [-1, 0, 1], shape=(N, N), format="csr")
    return np.sum(A @ B) + np.sum(sla.spsolve((A + T).tocsc(), D @ B)) + np.sum(A.diagonal(1))


DIAGS = getattr(sp, "diags_array", sp.diags)  # SciPy 1.11 has none for arrays


@programs
def diagonal_arrays(x):
    A = DIAGS([x[:5], x[5:9]], offsets=[0, 2], shape=(N, 6), format="csr")
    return np.sum(np.cos(A @ np.arange(6.0))) + np.sum(np.exp(0.1 * B) @ A)


@programs
def a_stiffness_of_coefficients(x):
    K = GRADIENT.T @ sp.diags(x[:4] ** 2) @ GRADIENT
    return np.sum(sla.spsolve((K + MASS).tocsc(), B) ** 2)


@programs
def products_with_matrices(x):
    A = sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    P = A * A.T
    return np.sum((P @ np.outer(B, x[:3])) ** 2) + np.sum(P * B) + P.trace()


@programs
def parts_of_a_matrix(x):
    A = sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    free = np.array([0, 2, 4])
    part = A[free][:, free]
    y = sla.spsolve(part.tocsc(), B[free])
    return np.sum(y * y) + A[4, 4] * A[0, 1] + np.sum(A[1:3, :] @ B) + A[3, 0]


@programs
def a_dense_copy(x):
    A = sp.csr_array((x, (ROWS, COLUMNS)), shape=(N, N))
    return np.linalg.det(A.toarray()) + np.sum(A.multiply(B) @ B) + np.sum((-A).dot(B) ** 2)


@programs
def compressed_rows_and_columns(x):
    minor, pointers = np.array([0, 1, 1, 2, 0, 2]), np.array([0, 2, 4, 6])
    A = sp.csr_matrix((x[:6], minor, pointers), shape=(3, 3))
    C = sp.csc_array((x[5:], minor, pointers))
    return np.sum((A @ B[:3]) * (C @ B[:3]))


@programs
def products_of_kronecker(x):
    A = sp.diags([x[:2], x[2:3]], [0, 1])
    K = sp.kron(A, sp.identity(3)) + sp.kron(np.float64(2.0) * sp.identity(2), sp.diags(x[3:6]))
    return np.sum(sla.spsolve(K.tocsc(), x[:6]))


@programs
def tables_of_diagonals(x):
    given = np.vstack([x[:5], x[5:10]])
    A = sp.spdiags(given, np.array([0, -1]), N, N)
    D = sp.dia_matrix((given, [0, 2]), shape=(N, N))
    return np.sum((A @ B) ** 2) + np.sum(D.tocsc() @ B * x[:5])


def element(A, x):
    return A @ x


def assembled(x, scale):
    return scale * sp.csr_array((x, (ROWS, COLUMNS)), shape=(N, N))


@programs
def matrices_through_functions(x):
    A = assembled(x, x[2])
    if len(x) > 3:
        A = A + assembled(x, 2.0)
    for k in range(2):
        A = A * (1.0 + 0.1 * k)
    return np.sum(element(A, B) ** 2) + A.shape[0] + (3.0 if sp.issparse(A) else 0.0)


@pytest.mark.parametrize("function, modes", in_turn(programs, every=2))
def test_programs_agree_in_every_mode(function, modes):
    agrees_in_every_mode(function, X, modes)


def a_list_of_diagonals_that_grows(x):
    parts = [x[5 - k : 10 - 2 * k] for k in range(3)]
    A = sp.diags(parts, [0, 1, 2], format="csc")
    T = sp.diags([v * v for v in x[:2]], [0, 1], shape=(N, N), format="csc")
    return np.sum(sla.spsolve(A + T, B))


def test_lists_of_diagonals():
    agrees_to_first_order(a_list_of_diagonals_that_grows, X)


def test_entries_that_cancel_keep_their_derivative():
    def f(k):
        return np.sum(sla.spsolve(sp.eye(N, format="csc") - k * LAPLACE.tocsc(), B))

    y = LAPLACE @ B
    assert grad(f)(0.0) == pytest.approx(np.sum(y), rel=1e-14)
    assert grad(lambda k: f(k * 0.0 + 1e-9))(3.0) == 0.0


def test_complex_values_and_single_precision():
    def f(x):
        A = sp.csc_matrix((x * (1.0 + 0.5j), (ROWS, COLUMNS)), shape=(N, N))
        y = sla.splu(A).solve(B * 1j, "T") + sla.spsolve(A, B) + A.conj() @ B
        return np.sum(np.abs(y) ** 2)

    agrees_to_first_order(f, X)

    def g(x):
        return np.sum(sla.spsolve(CSC((x, (ROWS, COLUMNS)), shape=(N, N)), B))

    single = X.astype(np.float32)
    value, slope = value_and_grad(g)(single)
    assert slope.dtype == np.float32
    assert value == pytest.approx(g(single), rel=1e-6)
    np.testing.assert_allclose(slope, grad(g)(X), rtol=1e-5)


def test_one_factorisation_for_a_solution_and_its_derivatives(monkeypatch):
    made = []
    splu = scipy_sparse.splu

    def counted(matrix):
        made.append(matrix.nnz)
        return splu(matrix)

    monkeypatch.setattr(scipy_sparse, "splu", counted)

    def steps(x):
        lu = sla.splu(sp.csc_matrix((x, (ROWS, COLUMNS)), shape=(N, N)))
        y = B
        for _ in range(4):
            y = lu.solve(y)
        return y

    def one(x):
        return sla.spsolve(sp.csc_matrix((x, (ROWS, COLUMNS)), shape=(N, N)), B)

    for function, times in ((steps, 1), (one, 1)):
        grad(lambda x: np.sum(function(x) ** 2))(X)  # noqa: B023 (called at once)
        assert len(made) == times, function
        made.clear()
        jacobian(function, mode="reverse")(X)
        assert len(made) == times
        made.clear()
    value, pullback = vjp(one, X)
    pullback(value)
    pullback(B)
    assert made == [10]  # the last two entries share a place


def test_matrices_that_are_large_are_never_dense():
    n = 20_000
    where = np.arange(n)

    def f(x):
        A = sp.diags([x[1:] * 0.1, 4.0 + x, x[:-1]], [-1, 0, 1], format="csc")
        A = A + sp.csc_matrix((x, (where, where[::-1])), shape=(n, n)) * 0.01
        return np.sum(sla.spsolve(A, np.ones(n)) * (A.T @ x))

    x = np.linspace(0.5, 1.0, n)
    v = np.cos(where)
    h = 1e-6
    wanted = (f(x + h * v) - f(x - h * v)) / (2.0 * h)
    assert grad(f)(x) @ v == pytest.approx(wanted, rel=1e-6)


def test_constant_matrices_stay_those_of_scipy():
    def f(x):
        A = sp.csc_matrix((np.ones(N), (ROWS[:N], COLUMNS[:N])), shape=(N, N))
        return np.sum(sla.spsolve(A, x) ** 2)

    g = grad(f)
    np.testing.assert_allclose(g(B), 2.0 * B)
    assert "scipy.sparse.csc_matrix(" in g.source
    assert "entries" not in g.source


def test_patterns_of_products():
    def f(x):
        return sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N)) @ B

    structure = sparse_jacobian(f)(X)
    np.testing.assert_allclose(structure.toarray(), jacobian(f)(X))
    assert structure.nnz == 11


def test_matrices_are_used_as_constants_beside_varying_ones():
    def f(x):
        A = sp.csr_array((x, (ROWS, COLUMNS)), shape=(N, N))
        C = sp.csr_array((np.ones(11), (ROWS, COLUMNS)), shape=(N, N))
        largest = C.max() + C.power(2).sum() + C.nnz
        return largest * np.sum(A @ B)

    agrees_to_first_order(f, X)


@pytest.mark.parametrize(("function", "text"), [
    (lambda x: np.sum(sp.csr_matrix((x, (ROWS, COLUMNS))).power(2) @ B), "computes of a sparse matrix"),
    (lambda x: sp.csr_array((x, (ROWS, COLUMNS))).max(), "computes of a sparse matrix"),
    (lambda x: np.sum(sp.csr_matrix((x, (ROWS, COLUMNS))).data), "`data`"),
    (lambda x: np.sum(sla.expm_multiply(sp.csr_array((x, (ROWS, COLUMNS))), B)), "computes of a sparse matrix"),
    (lambda x: np.sum(sp.csr_array(np.outer(x, x)) @ X), "csr_array"),
])
def test_what_has_no_derivative_is_refused(function, text):
    with pytest.raises((UnsupportedError, MissingRuleError), match=text):
        grad(function)(X)


def writes_the_values(x):
    A = sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    A.data *= 2.0
    return np.sum(A @ B)


def writes_an_element(x):
    A = sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    A[0, 0] = x[1]
    return np.sum(A @ B)


def scales_in_place(x):
    A = sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    C = A
    A *= x[0]
    return np.sum(C @ B)


def sets_the_shape(x):
    A = sp.coo_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    A.shape = (1, 25)
    return np.sum(A @ np.ones(25))


def sets_a_diagonal(x):
    A = sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N))
    A.setdiag(x[:5])
    return np.sum(A @ B)


def is_returned(x):
    return sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(N, N))


@pytest.mark.parametrize("function", [
    writes_the_values, writes_an_element, scales_in_place, sets_the_shape, sets_a_diagonal,
])
def test_writes_into_matrices_are_refused(function):
    with pytest.raises(ADError):
        grad(function)(X)


def test_matrices_are_not_results():
    with pytest.raises(ADError, match="csr_matrix"):
        vjp(is_returned, X)


def test_values_that_are_written_later():
    def f(x):
        v = x * 2.0
        A = sp.csr_matrix((v, (ROWS, COLUMNS)), shape=(N, N))
        y = A @ B
        v[0] = 100.0
        return np.sum(y * (A @ B))

    agrees_to_first_order(f, X)


@pytest.mark.parametrize("function", [
    lambda x: np.sum(sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(3, 3)) @ B),
    lambda x: np.sum(sp.csr_matrix((x[:4], (ROWS, COLUMNS)), shape=(N, N)) @ B),
    lambda x: np.sum(sp.diags([x, x[2:]], [0, 1]) @ np.ones(11)),
    lambda x: np.sum(sp.diags([x[:5]], [0, 1]) @ B),
    lambda x: np.sum((sp.diags(x[:3]) + sp.diags(x[:4])) @ B[:3]),
    lambda x: np.sum((sp.diags(x[:3]) @ sp.diags(x[:4])) @ B[:3]),
    lambda x: np.sum(sla.splu(sp.csc_matrix((x, (ROWS, COLUMNS)), shape=(N, 6))).solve(B)),
])
def test_errors_are_those_of_scipy(function):
    with pytest.raises(ValueError):
        function(X)
    with pytest.raises(ValueError):
        grad(function)(X)


def test_a_singular_system_is_said_to_be_so():
    def f(x):
        return np.sum(sla.splu(sp.diags(x[:3], format="csc")).solve(B[:3]))

    with pytest.raises(RuntimeError, match="singular"):
        grad(f)(np.array([1.0, 0.0, 2.0]))


def test_second_order_through_systems_and_nested_derivatives():
    def f(x):
        lu = sla.splu(sp.csc_matrix((x, (ROWS, COLUMNS)), shape=(N, N)))
        return np.sum(lu.solve(lu.solve(B)) ** 2)

    h = hessian(f)(X)
    step = 1e-5
    for k in range(3):
        e = step * np.eye(11)[k]
        wanted = (grad(f)(X + e) - grad(f)(X - e)) / (2.0 * step)
        np.testing.assert_allclose(h[k], wanted, rtol=1e-5, atol=1e-6)

    def through(s):
        return np.sum(grad(f)(X * s) ** 2)

    wanted = (through(1.0 + 1e-6) - through(1.0 - 1e-6)) / 2e-6
    assert grad(through)(1.0) == pytest.approx(wanted, rel=1e-6)
