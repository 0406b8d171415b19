"""Dense Jacobians and Hessians."""

from __future__ import annotations

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


def classified(r, n):
    """Return a logistic model of ``n`` numbers, and 500 observations."""
    return r.normal(size=n), r.normal(size=(500, n)), np.where(r.random(500) > 0.5, 1.0, -1.0)


def matrix(r, n):
    """Return the weights of two layers, and a point."""
    return r.normal(size=n), r.normal(size=(n, n)) / 10.0, r.normal(size=(n, n)) / 10.0


def fingers(r, n):
    """Return the angles of five fingers, and ``n`` points on each bone."""
    return r.normal(size=20), r.normal(size=(4, n, 3))


J, H = "jacobian", "hessian"
PROGRAMS = (
    Program(layers, matrix, (10, 50, 200), derivative=J, same_text=True),
    Program(oscillator_step, normal(1.0), (10, 50, 200), derivative=J),
    Program(hand, fingers, (5, 30, 130), derivative=J, same_text=True),
    Program(rosenbrock_hessian, normal(1.0), (10, 50, 200), derivative=H, same_text=True),
    Program(rosenbrock_hessian_loop, normal(1.0), (10, 50, 200), derivative=H),
    Program(logistic_hessian, classified, (5, 20, 80), derivative=H, same_text=True),
)
