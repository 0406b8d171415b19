"""Krylov methods and eigenvalue iterations."""

import math

import numpy as np

from tests.corpus.program import Program

# -- eigenvalues ----------------------------------------------------------------------------------


def power_iteration(A, steps):
    """Return an estimate of the largest eigenvalue; the vector is normalised in place."""
    v = np.ones(A.shape[0])
    value = 0.0
    for _ in range(steps):
        v[:] = A @ v
        value = math.sqrt(v @ v)
        v /= value
    return value


def inverse_iteration(A, shift, steps):
    """Return the Rayleigh quotient after some inverse iterations with a fixed shift."""
    n = A.shape[0]
    M = A.copy()
    for i in range(n):
        M[i, i] -= shift
    x = np.zeros(n)
    x[0] = 1.0
    for _ in range(steps):
        x = np.linalg.solve(M, x)
        x /= np.linalg.norm(x)
    return x @ A @ x


def subspace_iteration(A, steps):
    """Return the Ritz matrix of two vectors, kept orthonormal by hand."""
    Q = np.eye(A.shape[0])[:, :2].copy()
    for _ in range(steps):
        Q[:] = A @ Q
        Q[:, 0] /= np.linalg.norm(Q[:, 0])
        Q[:, 1] -= (Q[:, 0] @ Q[:, 1]) * Q[:, 0]
        Q[:, 1] /= np.linalg.norm(Q[:, 1])
    return Q.T @ A @ Q


def deflated_powers(A, count, steps):
    """Return several eigenvalues of a symmetric matrix, subtracting each one found."""
    B = A.copy()
    n = B.shape[0]
    values = np.zeros(count)
    for k in range(count):
        v = np.linspace(1.0, 2.0, n)
        for _ in range(steps):
            w = B @ v
            v = w / np.linalg.norm(w)
        values[k] = v @ B @ v
        B -= values[k] * np.outer(v, v)
    return values


def lanczos(A, start, steps):
    """Return diagonal and off-diagonal of the tridiagonal matrix, without reorthogonalisation."""
    alpha = np.zeros(steps)
    beta = np.zeros(steps)
    previous = np.zeros_like(start)
    q = start / np.linalg.norm(start)
    for j in range(steps):
        r = A @ q
        if j > 0:
            r -= beta[j - 1] * previous
        alpha[j] = q @ r
        r -= alpha[j] * q
        beta[j] = np.linalg.norm(r)
        previous, q = q, r / beta[j]
    return alpha, beta


def arnoldi(A, start, steps):
    """Return the Hessenberg matrix of the Krylov space."""
    n = len(start)
    Q = np.zeros((n, steps + 1))
    H = np.zeros((steps + 1, steps))
    Q[:, 0] = start / np.sqrt(np.sum(start**2))
    for k in range(steps):
        Q[:, k + 1] = A @ Q[:, k]
        for j in range(k + 1):
            H[j, k] = np.dot(Q[:, j], Q[:, k + 1])
            Q[:, k + 1] -= H[j, k] * Q[:, j]
        H[k + 1, k] = np.sqrt(np.sum(Q[:, k + 1] ** 2))
        Q[:, k + 1] /= H[k + 1, k]
    return H


def rotate(S, p, q, c, s):
    n = S.shape[0]
    for i in range(n):
        left, right = S[i, p], S[i, q]
        S[i, p] = c * left - s * right
        S[i, q] = s * left + c * right
    for i in range(n):
        upper, lower = S[p, i], S[q, i]
        S[p, i] = c * upper - s * lower
        S[q, i] = s * upper + c * lower


def jacobi_eigenvalues(A, sweeps):
    """Return the diagonal after cyclic Jacobi sweeps over a symmetric matrix."""
    S = 0.5 * (A + A.T)
    n = S.shape[0]
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                theta = 0.5 * math.atan2(2.0 * S[p, q], S[q, q] - S[p, p])
                rotate(S, p, q, math.cos(theta), math.sin(theta))
    return np.diag(S).copy()


def qr_eigenvalues(A, steps):
    """Return the diagonal after QR steps by rotations: R is formed, then RQ, in one matrix."""
    H = A.copy()
    n = H.shape[0]
    for _ in range(steps):
        rotations = []
        for k in range(n - 1):
            r = np.hypot(H[k, k], H[k + 1, k])
            c, s = H[k, k] / r, H[k + 1, k] / r
            G = np.array([[c, s], [-s, c]])
            H[k : k + 2, :] = G @ H[k : k + 2, :]
            rotations.append(G)
        for k in range(n - 1):
            H[:, k : k + 2] = H[:, k : k + 2] @ rotations[k].T
    return np.diagonal(H).copy()


def characteristic_polynomial(diagonal, off, shift):
    """Return the characteristic polynomial of a tridiagonal matrix by its recurrence."""
    n = len(diagonal)
    p = np.ones(n + 1)
    p[1] = diagonal[0] - shift
    for i in range(1, n):
        p[i + 1] = (diagonal[i] - shift) * p[i] - off[i - 1] ** 2 * p[i - 1]
    return p[n]


# -- linear systems -------------------------------------------------------------------------------


def conjugate_gradients(A, b, steps):
    """Return the iterate after a fixed number of steps; all vectors are updated in place."""
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rho = r @ r
    for _ in range(steps):
        q = A @ p
        alpha = rho / (p @ q)
        x += alpha * p
        r -= alpha * q
        rho_old = rho
        rho = r @ r
        p *= rho / rho_old
        p += r
    return x


def preconditioned_gradients(A, b, tolerance):
    """Return the solution by Jacobi-preconditioned conjugate gradients, until converged."""
    A = 0.5 * (A + A.T)
    inverse_diagonal = 1.0 / np.diag(A)
    x = np.zeros(len(b))
    r = np.array(b)
    z = inverse_diagonal * r
    p = np.array(z)
    rz = r @ z
    residuals = [np.linalg.norm(r)]
    while residuals[-1] > tolerance:
        Ap = A @ p
        alpha = rz / (p @ Ap)
        x[:] += alpha * p
        r[:] -= alpha * Ap
        z[:] = inverse_diagonal * r
        beta = (r @ z) / rz
        rz = r @ z
        p[:] = z + beta * p
        residuals.append(np.linalg.norm(r))
    return np.sum(np.tanh(x))


def bicgstab(A, b, steps):
    """Return the squared norm of the iterate of BiCGSTAB."""
    x = np.zeros_like(b)
    r = b - A @ x
    shadow = r.copy()
    p = r.copy()
    rho = shadow @ r
    for _ in range(steps):
        v = A @ p
        alpha = rho / (shadow @ v)
        s = r - alpha * v
        t = A @ s
        omega = (t @ s) / (t @ t)
        x += alpha * p + omega * s
        r = s - omega * t
        rho_new = shadow @ r
        beta = rho_new / rho * alpha / omega
        p -= omega * v
        p *= beta
        p += r
        rho = rho_new
    return x @ x


def gmres(A, b, steps):
    """Return the residual norm of GMRES, with Givens rotations applied as columns arrive."""
    n = len(b)
    V = np.zeros((steps + 1, n))
    H = np.zeros((steps + 1, steps))
    cosines = np.zeros(steps)
    sines = np.zeros(steps)
    g = np.zeros(steps + 1)
    g[0] = np.linalg.norm(b)
    V[0] = b / g[0]
    for k in range(steps):
        w = A @ V[k]
        for j in range(k + 1):
            H[j, k] = w @ V[j]
            w -= H[j, k] * V[j]
        H[k + 1, k] = np.linalg.norm(w)
        V[k + 1] = w / H[k + 1, k]
        for j in range(k):
            upper = cosines[j] * H[j, k] + sines[j] * H[j + 1, k]
            H[j + 1, k] = -sines[j] * H[j, k] + cosines[j] * H[j + 1, k]
            H[j, k] = upper
        r = math.hypot(H[k, k], H[k + 1, k])
        cosines[k], sines[k] = H[k, k] / r, H[k + 1, k] / r
        H[k, k] = r
        H[k + 1, k] = 0.0
        g[k + 1] = -sines[k] * g[k]
        g[k] *= cosines[k]
    y = np.zeros(steps)
    for i in range(steps - 1, -1, -1):
        y[i] = (g[i] - H[i, i + 1 :] @ y[i + 1 :]) / H[i, i]
    return np.sum((V[:steps].T @ y) ** 2) + abs(g[steps])


def steepest_descent(A, b, steps):
    """Return the history of the energy, collected in a list."""
    x = np.zeros(len(b))
    energies = []
    for _ in range(steps):
        r = b - A @ x
        x += (r @ r) / (r @ (A @ r)) * r
        energies.append(0.5 * x @ A @ x - b @ x)
    return np.array(energies)


def kaczmarz(A, b, sweeps):
    """Project onto the hyperplane of one row after the other."""
    m, n = A.shape
    x = np.zeros(n)
    for _ in range(sweeps):
        for i in range(m):
            row = A[i]
            x += (b[i] - row @ x) / (row @ row) * row
    return x


def chebyshev_semi_iteration(A, b, low, high, steps):
    """Solve with Chebyshev's iteration for a spectrum in [low, high]; three vectors rotate."""
    centre, radius = 0.5 * (high + low), 0.5 * (high - low)
    x_old = np.zeros_like(b)
    x = b / centre
    x_new = np.empty_like(b)
    omega = 2.0
    for _ in range(steps):
        omega = 1.0 / (1.0 - 0.25 * omega * (radius / centre) ** 2)
        x_new[:] = omega * ((b - A @ x) / centre + x - x_old) + x_old
        x_old, x, x_new = x, x_new, x_old
    return x


def anderson_mixing(A, b, steps):
    """Solve x = b - Ax with a memory of two iterates, kept in lists."""
    x = np.zeros_like(b)
    iterates, residuals = [], []
    for _ in range(steps):
        f = b - A @ x - x
        iterates.append(x.copy())
        residuals.append(f)
        if len(iterates) > 2:
            iterates.pop(0)
            residuals.pop(0)
        if len(iterates) == 1:
            x = x + 0.5 * f
        else:
            df = residuals[1] - residuals[0]
            weight = (residuals[1] @ df) / (df @ df)
            x = (1.0 - weight) * (iterates[1] + f) + weight * (iterates[0] + residuals[0])
    return x @ x


# -- nonlinear systems ----------------------------------------------------------------------------


def newton_system(p, steps):
    """Return the root of two equations; the Jacobian is filled in element by element."""
    x = np.array([1.0, 1.0])
    J = np.zeros((2, 2))
    F = np.zeros(2)
    for _ in range(steps):
        F[0] = x[0] ** 2 + p[0] * x[1] - 3.0
        F[1] = math.exp(0.1 * x[0]) + x[1] ** 3 - p[1]
        J[0, 0] = 2.0 * x[0]
        J[0, 1] = p[0]
        J[1, 0] = 0.1 * math.exp(0.1 * x[0])
        J[1, 1] = 3.0 * x[1] ** 2
        x -= np.linalg.solve(J, F)
    return x


def broyden(target, steps):
    """Return the root of tanh(x_i) + 0.1 x_(i-1) = target by rank-1 updates of the inverse."""
    n = len(target)
    x = np.zeros(n)
    B = np.eye(n)

    def residual(x):
        f = np.tanh(x) - target
        f[1:] += 0.1 * x[:-1]
        return f

    f = residual(x)
    for _ in range(steps):
        dx = -(B @ f)
        x += dx
        f_new = residual(x)
        By = B @ (f_new - f)
        B += np.outer(dx - By, dx @ B) / (dx @ By)
        f = f_new
    return x


def samples_of_system(rng, n=6):
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n), rng.normal(size=n)


def spread_spectrum(rng, n=5):
    """Return a symmetric matrix of eigenvalues that are far apart."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return Q @ np.diag(3.0 ** np.arange(n)) @ Q.T


def with_steps(*steps):
    return lambda rng: (*samples_of_system(rng), *steps)


PROGRAMS = (
    Program(power_iteration, lambda rng: (spread_spectrum(rng), 12)),
    Program(inverse_iteration, lambda rng: (spread_spectrum(rng), 7.5, 4), (0, 1)),
    Program(subspace_iteration, lambda rng: (spread_spectrum(rng), 6)),
    Program(deflated_powers, lambda rng: (spread_spectrum(rng), 3, 8)),
    Program(lanczos, with_steps(4), (0, 1)),
    Program(arnoldi, with_steps(4), (0, 1)),
    Program(jacobi_eigenvalues, lambda rng: (spread_spectrum(rng, 4), 3)),
    Program(qr_eigenvalues, lambda rng: (np.triu(spread_spectrum(rng, 4), -1), 4)),
    Program(
        characteristic_polynomial,
        lambda rng: (rng.normal(size=6), rng.normal(size=5), 0.3),
        (0, 1, 2),
    ),
    Program(conjugate_gradients, with_steps(4), (0, 1)),
    Program(preconditioned_gradients, with_steps(1e-6), (0, 1)),
    Program(bicgstab, with_steps(3), (0, 1)),
    Program(gmres, with_steps(4), (0, 1)),
    Program(steepest_descent, with_steps(5), (0, 1)),
    Program(kaczmarz, lambda rng: (rng.normal(size=(7, 4)), rng.normal(size=7), 3), (0, 1)),
    Program(chebyshev_semi_iteration, with_steps(4.0, 20.0, 6), (0, 1, 2, 3)),
    Program(
        anderson_mixing,
        lambda rng: (0.3 * rng.normal(size=(4, 4)), rng.normal(size=4), 5),
        (0, 1),
    ),
    Program(newton_system, lambda rng: (np.array([1.5, 2.2]) + 0.1 * rng.normal(size=2), 6)),
    Program(broyden, lambda rng: (0.4 * rng.normal(size=4), 6)),
)
