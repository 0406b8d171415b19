"""Elliptic problems on grids, by relaxation: loops over points, slices, colours, levels."""

import numpy as np

from tests.corpus.program import Program


def jacobi_1d(f, steps):
    """Relax -u'' = f with two arrays that change places."""
    n = len(f)
    h = 1.0 / (n - 1)
    u = np.zeros(n)
    new = np.zeros(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            new[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i])
        u, new = new, u
    return np.sum(u * u)


def jacobi_2d(u, f, steps):
    """Relax Poisson's equation with slices; the boundary values are those of the argument."""
    h2 = 1.0 / (u.shape[0] - 1) ** 2
    old = u.copy()
    new = u.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = 0.25 * (
            old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + h2 * f[1:-1, 1:-1]
        )
        old, new = new, old
    return old


def jacobi_3d(u, steps):
    """Smooth a box of values, with all right-hand sides complete before the write."""
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] = (
            u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
            + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
            + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
        ) / 6.0
    return np.sum(u**3)


def weighted_jacobi(u, f, omega, steps):
    """Relax with damping; the residual has an array of its own that is filled anew."""
    residual = np.zeros_like(u)
    for _ in range(steps):
        residual[1:-1] = f[1:-1] + u[:-2] - 2.0 * u[1:-1] + u[2:]
        u += 0.5 * omega * residual
    return np.sqrt(np.sum(residual**2))


def gauss_seidel_1d(u, f, sweeps):
    """Relax forwards and backwards (symmetric Gauss-Seidel), in place."""
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
        for i in range(n - 2, 0, -1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
    return u


def gauss_seidel_2d(u, f, sweeps):
    """Relax point by point, and return the energy."""
    u = u.copy()
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    dx = u[1:, :] - u[:-1, :]
    dy = u[:, 1:] - u[:, :-1]
    return 0.5 * np.sum(dx * dx) + 0.5 * np.sum(dy * dy) - np.sum(f * u)


def sor_2d(u, omega, sweeps):
    """Relax Laplace's equation by successive over-relaxation; differentiable in omega, too."""
    rows, columns = u.shape
    change = 0.0
    for _ in range(sweeps):
        change = 0.0
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                update = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j]
                u[i, j] += 0.25 * omega * update
                change += update * update
    return change


def sor_matrix(A, b, omega, sweeps):
    """Relax a system given by a matrix."""
    n = len(b)
    x = np.zeros(n)
    for _ in range(sweeps):
        for i in range(n):
            sigma = A[i, :i] @ x[:i] + A[i, i + 1 :] @ x[i + 1 :]
            x[i] += omega * ((b[i] - sigma) / A[i, i] - x[i])
    return x


def smooth_colour(u, f, colour):
    for i in range(1, u.shape[0] - 1):
        start = 1 + (i + colour) % 2
        row = u[i, start:-1:2]
        row[:] = 0.25 * (
            u[i - 1, start:-1:2] + u[i + 1, start:-1:2]
            + u[i, start - 1 : -2 : 2] + u[i, start + 1 :: 2]
            + f[i, start:-1:2]
        )


def red_black_rows(u, f, sweeps):
    """Relax the two colours in turn; a helper writes into strided views of the rows."""
    v = u.copy()
    for _ in range(sweeps):
        smooth_colour(v, f, 0)
        smooth_colour(v, f, 1)
    return v


def red_black_mask(u, sweeps):
    """Relax the two colours with index arrays."""
    rows, columns = u.shape
    i, j = np.meshgrid(np.arange(1, rows - 1), np.arange(1, columns - 1), indexing="ij")
    for _ in range(sweeps):
        for colour in (0, 1):
            chosen = (i + j) % 2 == colour
            a, b = i[chosen], j[chosen]
            u[a, b] = 0.25 * (u[a - 1, b] + u[a + 1, b] + u[a, b - 1] + u[a, b + 1])
    return np.mean(u**2)


def line_relaxation(u, f, sweeps):
    """Solve each row exactly by elimination, with its neighbours kept fixed."""
    rows, columns = u.shape
    n = columns - 2
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            right = f[i, 1:-1] + u[i - 1, 1:-1] + u[i + 1, 1:-1]
            right[0] += u[i, 0]
            right[-1] += u[i, -1]
            diagonal = np.full(n, 4.0)
            for k in range(1, n):
                diagonal[k] -= 1.0 / diagonal[k - 1]
                right[k] += right[k - 1] / diagonal[k - 1]
            right[-1] /= diagonal[-1]
            for k in range(n - 2, -1, -1):
                right[k] = (right[k] + right[k + 1]) / diagonal[k]
            u[i, 1:-1] = right
    return u


def variable_coefficients(k, source, sweeps):
    """Relax -(k u')' = f with harmonic means of the conductivities at the faces."""
    n = len(k)
    u = np.zeros(n)
    faces = np.empty(n - 1)
    faces[:] = 2.0 * k[:-1] * k[1:] / (k[:-1] + k[1:])
    for _ in range(sweeps):
        for i in range(1, n - 1):
            west, east = faces[i - 1], faces[i]
            u[i] = (west * u[i - 1] + east * u[i + 1] + source[i]) / (west + east)
    return faces[0] * (u[1] - u[0])


def nonlinear_relaxation(u, strength, sweeps):
    """Relax -u'' + strength u^3 = 1, with one Newton step at each point."""
    for _ in range(sweeps):
        for i in range(1, u.size - 1):
            residual = 2.0 * u[i] - u[i - 1] - u[i + 1] + strength * u[i] ** 3 - 1.0
            u[i] -= residual / (2.0 + 3.0 * strength * u[i] ** 2)
    return u.sum()


def obstacle(f, height, sweeps):
    """Relax a membrane that may not go below an obstacle (projected Gauss-Seidel)."""
    n = len(f)
    u = np.maximum(np.zeros(n), height)
    u[0] = u[-1] = 0.0
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i] = max(0.5 * (u[i - 1] + u[i + 1] + f[i]), height[i])
    return np.sum(u**2)


# -- multigrid ------------------------------------------------------------------------------------


def smooth(u, f, h, sweeps):
    for _ in range(sweeps):
        u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2] + h * h * f[1:-1:2])
        u[2:-2:2] = 0.5 * (u[1:-3:2] + u[3:-1:2] + h * h * f[2:-2:2])


def v_cycle(u, f, h):
    """Improve u in place."""
    if len(u) <= 3:
        u[1] = 0.5 * (u[0] + u[2] + h * h * f[1])
        return
    smooth(u, f, h, 2)
    residual = np.zeros_like(u)
    residual[1:-1] = f[1:-1] + (u[:-2] - 2.0 * u[1:-1] + u[2:]) / (h * h)
    coarse = residual[::2].copy()
    coarse[1:-1] *= 0.5
    coarse[1:-1] += 0.25 * (residual[1:-2:2] + residual[3::2])
    correction = np.zeros_like(coarse)
    v_cycle(correction, coarse, 2.0 * h)
    u[::2] += correction
    u[1::2] += 0.5 * (correction[:-1] + correction[1:])
    smooth(u, f, h, 2)


def multigrid(f, cycles):
    """Solve -u'' = f by V-cycles."""
    u = np.zeros_like(f)
    h = 1.0 / (len(f) - 1)
    for _ in range(cycles):
        v_cycle(u, f, h)
    return u


def two_grid_levels(f, levels):
    """Go down and up again through lists of arrays, one per level."""
    rights, solutions = [f.copy()], []
    for level in range(levels):
        u = np.zeros_like(rights[level])
        for _ in range(2):
            u[1:-1] += 0.4 * (rights[level][1:-1] + u[:-2] - 2.0 * u[1:-1] + u[2:])
        solutions.append(u)
        r = rights[level].copy()
        r[1:-1] += u[:-2] - 2.0 * u[1:-1] + u[2:]
        rights.append(4.0 * r[::2])
    for level in reversed(range(levels - 1)):
        fine, coarse = solutions[level], solutions[level + 1]
        fine[::2] += coarse
        fine[1::2] += 0.5 * (coarse[1:] + coarse[:-1])
        fine[1:-1] += 0.4 * (rights[level][1:-1] + fine[:-2] - 2.0 * fine[1:-1] + fine[2:])
    return np.sum(solutions[0] ** 2)


def grid(rng, *shape):
    return rng.normal(size=shape)


PROGRAMS = (
    Program(jacobi_1d, lambda rng: (grid(rng, 9), 6)),
    Program(jacobi_2d, lambda rng: (grid(rng, 6, 6), grid(rng, 6, 6), 4), (0, 1)),
    Program(jacobi_3d, lambda rng: (grid(rng, 4, 5, 4), 3)),
    Program(weighted_jacobi, lambda rng: (grid(rng, 9), grid(rng, 9), 0.8, 4), (0, 1, 2)),
    Program(gauss_seidel_1d, lambda rng: (grid(rng, 8), grid(rng, 8), 3), (0, 1)),
    Program(gauss_seidel_2d, lambda rng: (grid(rng, 5, 5), grid(rng, 5, 5), 3), (0, 1)),
    Program(sor_2d, lambda rng: (grid(rng, 5, 6), 1.3, 3), (0, 1)),
    Program(
        sor_matrix,
        lambda rng: (grid(rng, 5, 5) + 6.0 * np.eye(5), grid(rng, 5), 1.1, 4),
        (0, 1, 2),
    ),
    Program(red_black_rows, lambda rng: (grid(rng, 6, 7), grid(rng, 6, 7), 2), (0, 1)),
    Program(red_black_mask, lambda rng: (grid(rng, 6, 6), 2)),
    Program(line_relaxation, lambda rng: (grid(rng, 5, 6), grid(rng, 5, 6), 2), (0, 1)),
    Program(
        variable_coefficients,
        lambda rng: (rng.uniform(1.0, 3.0, size=8), grid(rng, 8), 5),
        (0, 1),
    ),
    Program(nonlinear_relaxation, lambda rng: (rng.uniform(0.0, 1.0, size=8), 0.7, 4), (0, 1)),
    Program(
        obstacle,
        lambda rng: (rng.uniform(-0.5, 0.1, size=9), rng.uniform(-1.0, -0.3, size=9), 6),
        (0, 1),
    ),
    Program(multigrid, lambda rng: (grid(rng, 17), 2)),
    Program(two_grid_levels, lambda rng: (grid(rng, 17), 3)),
)
