"""Sparse Jacobians and Hessians."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.program import Program, normal


def bundle_adjustment(unknowns, cameras, camera, point):
    """Return where each observation's camera sees its point; pinholes of 7 numbers."""
    poses = unknowns[: 7 * cameras].reshape(cameras, 7)[camera]
    points = unknowns[7 * cameras :].reshape(-1, 3)[point]
    turns = poses[:, :3]
    angle = np.sqrt(np.sum(turns * turns, axis=1))[:, None]
    axis = turns / angle
    along = np.sum(points * axis, axis=1)[:, None]
    turned = (np.cos(angle) * points + np.sin(angle) * np.cross(axis, points)
              + (1.0 - np.cos(angle)) * along * axis)
    seen = turned + poses[:, 3:6]
    focal = np.exp(poses[:, 6])
    return np.concatenate([focal * seen[:, 0] / seen[:, 2], focal * seen[:, 1] / seen[:, 2]])


def bundle_adjustment_loop(unknowns, cameras, camera, point):
    """Return the same, observation by observation, number by number."""
    m = len(camera)
    out = np.zeros(2 * m)
    for k in range(m):
        p, q = 7 * camera[k], 7 * cameras + 3 * point[k]
        a, b, c = unknowns[p], unknowns[p + 1], unknowns[p + 2]
        x, y, z = unknowns[q], unknowns[q + 1], unknowns[q + 2]
        angle = math.sqrt(a * a + b * b + c * c)
        a, b, c = a / angle, b / angle, c / angle
        s, t = math.sin(angle), math.cos(angle)
        along = (1.0 - t) * (x * a + y * b + z * c)
        u = t * x + s * (b * z - c * y) + along * a + unknowns[p + 3]
        v = t * y + s * (c * x - a * z) + along * b + unknowns[p + 4]
        w = t * z + s * (a * y - b * x) + along * c + unknowns[p + 5]
        focal = math.exp(unknowns[p + 6])
        out[k] = focal * u / w
        out[m + k] = focal * v / w
    return out


def brusselator(u, n):
    """Return the rates of change of two substances on an n x n grid."""
    x, y = u[: n * n].reshape(n, n), u[n * n :].reshape(n, n)
    around_x = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1)
    around_y = np.roll(y, 1, 0) + np.roll(y, -1, 0) + np.roll(y, 1, 1) + np.roll(y, -1, 1)
    dx = 1.0 + x * x * y - 4.4 * x + 10.0 * (around_x - 4.0 * x)
    dy = 3.4 * x - x * x * y + 10.0 * (around_y - 4.0 * y)
    return np.concatenate([dx.ravel(), dy.ravel()])


def brusselator_loop(u, n):
    """Return the rates of change, element by element."""
    m = n * n
    out = np.zeros(2 * m)
    for i in range(n):
        for j in range(n):
            k = i * n + j
            x, y = u[k], u[m + k]
            lx, ly = -4.0 * x, -4.0 * y
            for q in ((i + 1) % n * n + j, (i - 1) % n * n + j, i * n + (j + 1) % n,
                      i * n + (j - 1) % n):
                lx += u[q]
                ly += u[m + q]
            out[k] = 1.0 + x * x * y - 4.4 * x + 10.0 * lx
            out[m + k] = 3.4 * x - x * x * y + 10.0 * ly
    return out


def chained(x):
    """Return the chained Rosenbrock function, in slices."""
    return ((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def chained_loop(x):
    """Return the chained Rosenbrock function, term by term."""
    total = 0.0
    for i in range(len(x) - 1):
        total += (1.0 - x[i]) ** 2 + 100.0 * (x[i + 1] - x[i] ** 2) ** 2
    return total


def band(x):
    """Return a vector whose Jacobian has four diagonals."""
    return x[2:-2] ** 2 + x[:-4] * x[4:] + 3.0 * x[1:-3] ** 2


def arrow(x):
    """Return a vector whose Jacobian has a full row, a full column and a diagonal."""
    return np.concatenate([np.array([1.0]) * np.sum(x * x), x[1:] * x[0]])


def five_points(u, n):
    """Return the residual of Bratu's problem on an n x n grid, zero at the rim."""
    u = u.reshape(n, n)
    out = np.zeros((n, n))
    inner = u[1:-1, 1:-1]
    out[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner
                       + np.exp(inner) / n**2)
    return out.ravel()


def limiter(u, dx):
    """Return the rates of change of Burgers' equation, with slopes limited by minmod."""
    right = (np.roll(u, -1) - u) / dx
    left = np.roll(right, 1)
    least = np.where(np.abs(right) < np.abs(left), right, left)
    face = u + 0.5 * dx * np.where(right * left > 0.0, least, 0.0)
    flux = 0.5 * face * face
    return (np.roll(flux, 1) - flux) / dx


def elements(u, corners, area):
    """Return the residual of a diffusion whose coefficient depends on the slope, by triangles."""
    at = u[corners]
    gx, gy = at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]
    k = (1.0 + gx * gx + gy * gy) * area
    out = np.zeros(u.shape[0])
    np.add.at(out, corners, np.stack([-(gx + gy) * k, gx * k, gy * k], axis=1))
    return out


def surface(z, n):
    """Return the area of a surface over an n x n grid."""
    z = z.reshape(n, n)
    a = (z[1:, 1:] - z[:-1, :-1]) * n
    b = (z[1:, :-1] - z[:-1, 1:]) * n
    return np.sum(np.sqrt(1.0 + 0.5 * (a * a + b * b))) / n**2


def pictures(r, n):
    """Return the unknowns of 6 cameras and ``n`` points, and who sees what."""
    poses = np.concatenate([0.3 * r.normal(size=(6, 3)) + 0.1, r.normal(size=(6, 2)),
                            10.0 + r.random((6, 1)), 0.1 * r.normal(size=(6, 1))], axis=1)
    camera, point = np.divmod(np.arange(6 * n), n)
    seen = r.random(camera.size) < 0.7
    return np.concatenate([poses.ravel(), r.normal(size=3 * n)]), 6, camera[seen], point[seen]


def grid(r, n):
    """Return concentrations on an n x n grid."""
    return r.uniform(0.5, 1.5, 2 * n * n), n


def heights(r, n):
    """Return a number for each point of an n x n grid."""
    return r.normal(size=n * n), n


def waves(r, n):
    """Return ``n`` numbers, and how far they lie apart."""
    return r.normal(size=n), 1.0 / n


def triangles(r, n):
    """Return numbers on an n x n grid, the corners of its triangles, and their area."""
    first = (n * np.arange(n - 1)[:, None] + np.arange(n - 1)).ravel()
    lower = np.stack([first, first + 1, first + n], axis=1)
    upper = np.stack([first + n + 1, first + n, first + 1], axis=1)
    return r.normal(size=n * n), np.concatenate([lower, upper]), 0.5 / n**2


SJ, SH = "sparse jacobian", "sparse hessian"
PROGRAMS = (
    Program(bundle_adjustment, pictures, (20, 200, 2_000), derivative=SJ, same_text=True),
    Program(bundle_adjustment_loop, pictures, (20, 60, 200), derivative=SJ),
    Program(brusselator, grid, (6, 25, 100), derivative=SJ, same_text=True),
    Program(brusselator_loop, grid, (6, 12, 25), derivative=SJ),
    Program(chained, normal(1.0), (10, 1_000, 100_000), derivative=SH, same_text=True),
    Program(chained_loop, normal(1.0), (10, 100, 1_000), derivative=SH),
    Program(band, normal(1.0), (100, 10_000, 100_000), derivative=SJ, same_text=True),
    Program(arrow, normal(1.0), (100, 1_000, 10_000), derivative=SJ, same_text=True),
    Program(five_points, heights, (10, 60, 316), derivative=SJ),
    Program(limiter, waves, (100, 5_000, 100_000), derivative=SJ, same_text=True),
    Program(elements, triangles, (10, 60, 316), derivative=SJ),
    Program(surface, heights, (10, 60, 316), derivative=SH, same_text=True),
)
