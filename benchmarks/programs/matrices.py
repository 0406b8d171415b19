"""Jacobians and Hessians, dense and sparse."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.program import Program, normal


def layers(x, A, B):
    """Return what two layers of tanh units give."""
    return np.tanh(B @ np.tanh(A @ x)) * x


def oscillator_step(x):
    """Return a chain of oscillators after one step, number by number."""
    n = len(x)
    y = np.zeros(n)
    for i in range(1, n - 1):
        y[i] = x[i] + 0.1 * (x[i + 1] - 2.0 * x[i] + x[i - 1]) - 0.1 * x[i] ** 3
    return y


def hand(angles, points):
    """Return where points on fingers are: each is turned by the angles of all joints before it.

    ``angles`` is (fingers * 4,), ``points`` is (4, m, 3): the points of each bone.
    """
    found = []
    for finger in range(len(angles) // 4):
        turn, place = np.eye(3), np.zeros(3)
        for joint in range(4):
            c, s = np.cos(angles[4 * finger + joint]), np.sin(angles[4 * finger + joint])
            axis = np.array([[c, -s, 0.0 * c], [s, c, 0.0 * c], [0.0 * c, 0.0 * c, 1.0 + 0.0 * c]])
            tilt = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])
            turn = turn @ axis @ tilt
            found.append((points[joint] @ turn.T + place).ravel())
            place = place + turn @ np.array([0.0, 0.0, 1.0])
    return np.concatenate(found)


def rosenbrock_hessian(x):
    """Return Rosenbrock's function in slices."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_hessian_loop(x):
    """Return Rosenbrock's function, number by number."""
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def logistic_hessian(w, X, y):
    """Return the mean cross-entropy of a logistic model with a ridge."""
    return np.mean(np.logaddexp(0.0, -y * (X @ w))) + 0.05 * np.sum(w * w)


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


def classified(r, n):
    """Return a logistic model of ``n`` numbers, and 500 observations."""
    return r.normal(size=n), r.normal(size=(500, n)), np.where(r.random(500) > 0.5, 1.0, -1.0)


def matrix(r, n):
    """Return the weights of two layers, and a point."""
    return r.normal(size=n), r.normal(size=(n, n)) / 10.0, r.normal(size=(n, n)) / 10.0


def fingers(r, n):
    """Return the angles of five fingers, and ``n`` points on each bone."""
    return r.normal(size=20), r.normal(size=(4, n, 3))


J, H, SJ, SH = "jacobian", "hessian", "sparse jacobian", "sparse hessian"
PROGRAMS = (
    Program(layers, matrix, (10, 50, 200), derivative=J, same_text=True),
    Program(oscillator_step, normal(1.0), (10, 50, 200), derivative=J),
    Program(hand, fingers, (5, 30, 130), derivative=J, same_text=True),
    Program(rosenbrock_hessian, normal(1.0), (10, 50, 200), derivative=H, same_text=True),
    Program(rosenbrock_hessian_loop, normal(1.0), (10, 50, 200), derivative=H),
    Program(logistic_hessian, classified, (5, 20, 80), derivative=H, same_text=True),
    Program(bundle_adjustment, pictures, (20, 200, 2_000), derivative=SJ, same_text=True),
    Program(bundle_adjustment_loop, pictures, (20, 60, 200), derivative=SJ),
    Program(brusselator, grid, (6, 25, 100), derivative=SJ, same_text=True),
    Program(brusselator_loop, grid, (6, 12, 25), derivative=SJ),
    Program(chained, normal(1.0), (10, 1_000, 100_000), derivative=SH, same_text=True),
    Program(chained_loop, normal(1.0), (10, 100, 1_000), derivative=SH),
    Program(band, normal(1.0), (100, 10_000, 100_000), derivative=SJ, same_text=True),
    Program(arrow, normal(1.0), (100, 1_000, 10_000), derivative=SJ, same_text=True),
)
