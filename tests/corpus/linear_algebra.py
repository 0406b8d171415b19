"""Factorisations and functions of matrices, as in textbooks and Fortran translations."""

import math

import numpy as np

from tests.corpus.program import Program

# -- LU -------------------------------------------------------------------------------------------


def lu_outer_products(A):
    """Return the logarithm of the determinant by right-looking LU, a rank-1 update at a time."""
    A = A.copy()
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return np.sum(np.log(np.abs(np.diag(A))))


def lu_scalar_loops(A):
    """Return the factors of LU in one matrix, which overwrites the argument."""
    n = len(A)
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return A


def lu_doolittle(A, b):
    """Solve Ax = b with separate factors L and U, found row by row."""
    n = len(b)
    L = np.eye(n)
    U = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            s = 0.0
            for k in range(i):
                s += L[i, k] * U[k, j]
            U[i, j] = A[i, j] - s
        for j in range(i + 1, n):
            s = 0.0
            for k in range(i):
                s += L[j, k] * U[k, i]
            L[j, i] = (A[j, i] - s) / U[i, i]
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[i] - L[i, :i] @ y[:i]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]
    return x @ x


def lu_crout_columns(A):
    """Factorise column by column (left-looking), and return the sum of squares of both factors."""
    n = A.shape[0]
    LU = np.array(A)
    for j in range(n):
        column = LU[:, j]
        for k in range(j):
            column[k + 1 :] -= column[k] * LU[k + 1 :, k]
        column[j + 1 :] /= column[j]
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += LU[i, j] ** 2
    return total


def lu_partial_pivoting(A, b):
    """Solve Ax = b by Gaussian elimination with row exchanges, in place."""
    A = A.copy()
    x = b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            x[[k, p]] = x[[p, k]]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            x[i] -= factor * x[k]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] -= A[i, j] * x[j]
        x[i] /= A[i, i]
    return x


def exchange_rows(A, i, j):
    row = A[i].copy()
    A[i] = A[j]
    A[j] = row


def eliminate_below(A, k):
    for i in range(k + 1, A.shape[0]):
        row = A[i]
        row -= row[k] / A[k, k] * A[k]


def determinant_by_elimination(A):
    """Return the determinant; helpers exchange rows and eliminate, and return nothing."""
    U = A.copy()
    n = U.shape[0]
    sign = 1.0
    for k in range(n - 1):
        largest = k
        for i in range(k + 1, n):
            if abs(U[i, k]) > abs(U[largest, k]):
                largest = i
        if largest != k:
            exchange_rows(U, k, largest)
            sign = -sign
        eliminate_below(U, k)
    determinant = sign
    for k in range(n):
        determinant *= U[k, k]
    return determinant


def determinant_of_lists(rows):
    """Return the determinant of a matrix given as a list of arrays, exchanging the list's items."""
    rows = [row.copy() for row in rows]
    n = len(rows)
    determinant = 1.0
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if p != k:
            rows[k], rows[p] = rows[p], rows[k]
            determinant = -determinant
        determinant = determinant * rows[k][k]
        for i in range(k + 1, n):
            rows[i] -= rows[i][k] / rows[k][k] * rows[k]
    return determinant


def gauss_jordan_inverse(A):
    """Return the inverse, made in an augmented matrix."""
    n = A.shape[0]
    W = np.zeros((n, 2 * n))
    W[:, :n] = A
    W[:, n:] = np.eye(n)
    for k in range(n):
        p = k + int(np.argmax(np.abs(W[k:, k])))
        if p != k:
            W[[k, p], :] = W[[p, k], :]
        W[k] /= W[k, k]
        for i in range(n):
            if i != k:
                W[i] -= W[i, k] * W[k]
    return W[:, n:]


def gauss_jordan_in_place(A):
    """Invert without extra storage (A becomes its inverse), and return the trace."""
    n = A.shape[0]
    for k in range(n):
        pivot = A[k, k]
        A[k, k] = 1.0
        A[k, :] /= pivot
        for i in range(n):
            if i == k:
                continue
            factor = A[i, k]
            A[i, k] = 0.0
            A[i, :] -= factor * A[k, :]
    return np.trace(A)


def iterative_refinement(A, b, steps):
    """Solve with LU, then improve the solution with residuals."""
    n = len(b)
    LU = A.copy()
    for k in range(n):
        LU[k + 1 :, k] /= LU[k, k]
        LU[k + 1 :, k + 1 :] -= LU[k + 1 :, k : k + 1] * LU[k : k + 1, k + 1 :]
    x = np.zeros(n)
    for _ in range(steps):
        r = b - A @ x
        for i in range(1, n):
            r[i] -= LU[i, :i] @ r[:i]
        for i in range(n - 1, -1, -1):
            r[i] -= LU[i, i + 1 :] @ r[i + 1 :]
            r[i] /= LU[i, i]
        x += r
    return np.sum(np.sin(x))


# -- Cholesky and LDL^T ---------------------------------------------------------------------------


def cholesky_rows(A):
    """Return the lower Cholesky factor, row by row (Cholesky-Banachiewicz)."""
    n = len(A)
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def cholesky_columns(A):
    """Overwrite the lower triangle by the Cholesky factor, column by column."""
    n = A.shape[0]
    for j in range(n):
        A[j, j] = np.sqrt(A[j, j])
        A[j + 1 :, j] /= A[j, j]
        for k in range(j + 1, n):
            A[k:, k] -= A[k:, j] * A[k, j]


def gaussian_log_likelihood(covariance, y):
    """Return the log density of y under a normal law, by a Cholesky factor made in place."""
    L = covariance.copy()
    cholesky_columns(L)
    n = len(y)
    z = y.copy()
    log_det = 0.0
    for i in range(n):
        z[i] -= np.dot(L[i, :i], z[:i])
        z[i] /= L[i, i]
        log_det += np.log(L[i, i])
    return -0.5 * z @ z - log_det - 0.5 * n * math.log(2.0 * math.pi)


def cholesky_blocks(A, size):
    """Return the sum of all elements of the Cholesky factor, made in blocks."""
    L = np.tril(A)
    n = L.shape[0]
    for start in range(0, n, size):
        stop = min(start + size, n)
        corner = L[start:stop, start:stop]
        for j in range(stop - start):
            corner[j, j] = np.sqrt(corner[j, j] - np.sum(corner[j, :j] ** 2))
            for i in range(j + 1, stop - start):
                corner[i, j] = (corner[i, j] - corner[i, :j] @ corner[j, :j]) / corner[j, j]
        if stop < n:
            panel = L[stop:, start:stop]
            for j in range(stop - start):
                panel[:, j] -= panel[:, :j] @ corner[j, :j]
                panel[:, j] /= corner[j, j]
            L[stop:, stop:] -= np.tril(panel @ panel.T)
    return np.sum(L)


def ldl_solve(A, b):
    """Solve a symmetric system by LDL^T."""
    n = len(b)
    L = np.eye(n)
    d = np.zeros(n)
    for j in range(n):
        d[j] = A[j, j] - np.sum(L[j, :j] ** 2 * d[:j])
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.sum(L[i, :j] * L[j, :j] * d[:j])) / d[j]
    x = b.copy()
    for i in range(n):
        for j in range(i):
            x[i] -= L[i, j] * x[j]
    x /= d
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= L[j, i] * x[j]
    return x


def rank_one_update(L, v):
    """Update a Cholesky factor of A to that of A + vv^T by rotations; writes into both."""
    n = len(v)
    for k in range(n):
        r = math.hypot(L[k, k], v[k])
        c = r / L[k, k]
        s = v[k] / L[k, k]
        L[k, k] = r
        if k + 1 < n:
            L[k + 1 :, k] = (L[k + 1 :, k] + s * v[k + 1 :]) / c
            v[k + 1 :] = c * v[k + 1 :] - s * L[k + 1 :, k]
    return np.sum(L * L[::-1])


# -- QR -------------------------------------------------------------------------------------------


def classical_gram_schmidt(A):
    """Return R of A = QR."""
    m, n = A.shape
    Q = np.empty((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = A[:, j].copy()
        for k in range(j):
            R[k, j] = Q[:, k] @ A[:, j]
            v -= R[k, j] * Q[:, k]
        R[j, j] = np.sqrt(v @ v)
        Q[:, j] = v / R[j, j]
    return R


def modified_gram_schmidt(A):
    """Orthonormalise the columns in place, through views."""
    n = A.shape[1]
    for j in range(n):
        q = A[:, j]
        q /= np.linalg.norm(q)
        for k in range(j + 1, n):
            column = A[:, k]
            column -= (q @ column) * q
    return A


def householder_least_squares(A, b):
    """Return the residual of least squares by Householder reflections of A and b."""
    R = A.copy()
    y = b.copy()
    m, n = R.shape
    for k in range(n):
        v = R[k:, k].copy()
        v[0] += math.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        y[k:] -= 2.0 * v * (v @ y[k:])
    residual = 0.0
    for i in range(n, m):
        residual += y[i] ** 2
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (y[i] - R[i, i + 1 : n] @ x[i + 1 :]) / R[i, i]
    return residual + 0.1 * np.sum(x**2)


def givens_qr(A):
    """Return R, by rotations of two rows at a time."""
    R = A.copy()
    m, n = R.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            a, b = R[i - 1, j], R[i, j]
            r = math.sqrt(a * a + b * b)
            c, s = a / r, b / r
            for k in range(j, n):
                upper, lower = R[i - 1, k], R[i, k]
                R[i - 1, k] = c * upper + s * lower
                R[i, k] = c * lower - s * upper
    return R[:n]


def hessenberg_reduction(A):
    """Return the upper Hessenberg form H = Q^T A Q by reflections from both sides."""
    H = A.copy()
    n = H.shape[0]
    for k in range(n - 2):
        x = H[k + 1 :, k]
        v = x.copy()
        v[0] = v[0] + np.sign(x[0]) * np.sqrt(np.sum(x * x))
        scale = 2.0 / (v @ v)
        H[k + 1 :, :] -= scale * np.outer(v, v @ H[k + 1 :, :])
        H[:, k + 1 :] -= scale * np.outer(H[:, k + 1 :] @ v, v)
    return H


# -- functions of matrices ------------------------------------------------------------------------


def expm_scaling_squaring(A, squarings, terms):
    """Return the trace of exp(A) by a Taylor series of A / 2**squarings, squared again."""
    n = A.shape[0]
    scaled = A / 2.0**squarings
    result = np.eye(n)
    term = np.eye(n)
    for k in range(1, terms):
        term = term @ scaled / k
        result += term
    for _ in range(squarings):
        result[:] = result @ result
    return np.trace(result)


def newton_schulz_inverse(A, steps):
    """Return the inverse by the iteration X <- X (2I - AX), with buffers that are reused."""
    X = A.T / (np.sum(np.abs(A), axis=0).max() * np.sum(np.abs(A), axis=1).max())
    R = np.empty_like(A)
    for _ in range(steps):
        R[...] = -(A @ X)
        R[np.arange(len(A)), np.arange(len(A))] += 2.0
        X = X @ R
    return X


def denman_beavers_square_root(A, steps):
    """Return the square root of a matrix; both sequences are kept in one array."""
    n = A.shape[0]
    pair = np.zeros((2, n, n))
    pair[0] = A
    pair[1] = np.eye(n)
    for _ in range(steps):
        inverses = [np.linalg.inv(pair[0]), np.linalg.inv(pair[1])]
        pair[0] += inverses[1]
        pair[1] += inverses[0]
        pair *= 0.5
    return pair[0]


# -- samples ---------------------------------------------------------------------------------------


def matrix(rng, n=5):
    return rng.normal(size=(n, n))


def dominant(rng, n=5):
    return rng.normal(size=(n, n)) + 2.0 * n * np.eye(n)


def positive(rng, n=5):
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)


PROGRAMS = (
    Program(lu_outer_products, lambda rng: (dominant(rng),)),
    Program(lu_scalar_loops, lambda rng: (dominant(rng),)),
    Program(lu_doolittle, lambda rng: (dominant(rng), rng.normal(size=5)), (0, 1)),
    Program(lu_crout_columns, lambda rng: (dominant(rng),)),
    Program(lu_partial_pivoting, lambda rng: (matrix(rng), rng.normal(size=5)), (0, 1)),
    Program(determinant_by_elimination, lambda rng: (matrix(rng),)),
    Program(determinant_of_lists, lambda rng: (list(matrix(rng)),)),
    Program(gauss_jordan_inverse, lambda rng: (matrix(rng) + 3.0 * np.eye(5),)),
    Program(gauss_jordan_in_place, lambda rng: (dominant(rng),)),
    Program(iterative_refinement, lambda rng: (dominant(rng), rng.normal(size=5), 2), (0, 1)),
    Program(cholesky_rows, lambda rng: (positive(rng),)),
    Program(gaussian_log_likelihood, lambda rng: (positive(rng), rng.normal(size=5)), (0, 1)),
    Program(cholesky_blocks, lambda rng: (positive(rng, 7), 3)),
    Program(ldl_solve, lambda rng: (positive(rng), rng.normal(size=5)), (0, 1)),
    Program(
        rank_one_update,
        lambda rng: (np.linalg.cholesky(positive(rng)), rng.normal(size=5)),
        (0, 1),
    ),
    Program(classical_gram_schmidt, lambda rng: (rng.normal(size=(6, 4)),)),
    Program(modified_gram_schmidt, lambda rng: (rng.normal(size=(6, 4)),)),
    Program(
        householder_least_squares,
        lambda rng: (rng.normal(size=(7, 3)), rng.normal(size=7)),
        (0, 1),
    ),
    Program(givens_qr, lambda rng: (rng.normal(size=(5, 3)),)),
    Program(hessenberg_reduction, lambda rng: (matrix(rng),)),
    Program(expm_scaling_squaring, lambda rng: (0.5 * matrix(rng), 4, 8)),
    Program(newton_schulz_inverse, lambda rng: (dominant(rng), 6)),
    Program(denman_beavers_square_root, lambda rng: (positive(rng, 4), 5)),
)
