"""Geometry and robotics: rotations, cameras, curves, meshes, arms."""

import math

import numpy as np

from tests.corpus.program import Program


def quaternion_multiply(p, q):
    w1, x1, y1, z1 = p
    w2, x2, y2, z2 = q
    return (
        w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
        w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
        w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
    )


def rotate_by_quaternion(q, v):
    norm = math.sqrt(sum(c * c for c in q))
    q = tuple(c / norm for c in q)
    conjugate = (q[0], -q[1], -q[2], -q[3])
    _, x, y, z = quaternion_multiply(quaternion_multiply(q, (0.0, *v)), conjugate)
    return np.array([x, y, z])


def quaternion_integration(omega, q0, dt=0.1):
    """Attitude from a series of angular rates, normalised after each step."""
    q = q0 / np.linalg.norm(q0)
    for w in omega:
        Omega = np.zeros((4, 4))
        Omega[0, 1:] = -w
        Omega[1:, 0] = w
        Omega[1, 2], Omega[1, 3], Omega[2, 3] = w[2], -w[1], w[0]
        Omega[2, 1], Omega[3, 1], Omega[3, 2] = -w[2], w[1], -w[0]
        q = q + 0.5 * dt * Omega @ q
        q /= np.linalg.norm(q)
    return q


def slerp_angle(q0, q1, t):
    q0, q1 = q0 / np.linalg.norm(q0), q1 / np.linalg.norm(q1)
    dot = q0 @ q1
    if dot < 0:
        q1, dot = -q1, -dot
    if dot > 0.9995:
        result = q0 + t * (q1 - q0)
        return result / np.linalg.norm(result)
    angle = np.arccos(dot)
    return (np.sin((1 - t) * angle) * q0 + np.sin(t * angle) * q1) / np.sin(angle)


def rodrigues(r):
    theta = np.sqrt(r @ r)
    if theta < 1e-12:
        return np.eye(3)
    k = r / theta
    K = np.zeros((3, 3))
    K[0, 1], K[0, 2] = -k[2], k[1]
    K[1, 0], K[1, 2] = k[2], -k[0]
    K[2, 0], K[2, 1] = -k[1], k[0]
    return np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * K @ K


def euler_to_matrix_trace(roll, pitch, yaw, target):
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    Ry = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    Rz = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    R = Rz @ Ry @ Rx
    return np.sum((R - target) ** 2)


def reprojection_error(rotation, translation, focal, distortion, points, pixels):
    R = rodrigues(rotation)
    error = 0.0
    for i in range(len(points)):
        X, Y, Z = R @ points[i] + translation
        x, y = X / Z, Y / Z
        r2 = x * x + y * y
        radial = 1 + distortion[0] * r2 + distortion[1] * r2 * r2
        u = focal * radial * x
        v = focal * radial * y
        error += (u - pixels[i][0]) ** 2 + (v - pixels[i][1]) ** 2
    return error / len(points)


def bundle_adjustment_residuals(cameras, points, observations):
    """Residuals of all observations, two entries each, in a preallocated vector."""
    residuals = np.zeros(2 * len(observations))
    for k, (camera, point, u, v) in enumerate(observations):
        params = cameras[camera]
        p = rodrigues(params[:3]) @ points[point] + params[3:6]
        f, k1 = params[6], params[7]
        x, y = -p[0] / p[2], -p[1] / p[2]
        scale = f * (1.0 + k1 * (x**2 + y**2))
        residuals[2 * k] = scale * x - u
        residuals[2 * k + 1] = scale * y - v
    return residuals


def iterative_closest_point(source, target, steps=2):
    """Point-to-point alignment in the plane: nearest neighbours, then the best rotation."""
    moved = source.copy()
    for _ in range(steps):
        matched = np.empty_like(moved)
        for i, p in enumerate(moved):
            matched[i] = target[np.argmin(((target - p) ** 2).sum(axis=1))]
        a = moved - moved.mean(axis=0)
        b = matched - matched.mean(axis=0)
        angle = np.arctan2(
            np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]),
            np.sum(a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1]),
        )
        R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        moved = a @ R.T + matched.mean(axis=0)
    return np.sum((moved - matched) ** 2)


def de_casteljau(points, t):
    work = points.copy()
    n = len(work)
    for level in range(1, n):
        for i in range(n - level):
            work[i] = (1 - t) * work[i] + t * work[i + 1]
    return work[0]


def bezier_length(points, segments=8):
    """Length of a polyline on a Bezier curve; points are a list of pairs."""

    def at(t):
        level = [(x, y) for x, y in points]
        while len(level) > 1:
            level = [
                ((1 - t) * a[0] + t * b[0], (1 - t) * a[1] + t * b[1])
                for a, b in zip(level[:-1], level[1:])
            ]
        return level[0]

    length = 0.0
    previous = at(0.0)
    for s in range(1, segments + 1):
        current = at(s / segments)
        length += math.hypot(current[0] - previous[0], current[1] - previous[1])
        previous = current
    return length


def bspline_point(t, degree, knots, control):
    """Cox-de Boor recursion, by calling itself."""

    def basis(i, k):
        if k == 0:
            return 1.0 if knots[i] <= t < knots[i + 1] else 0.0
        left = right = 0.0
        if knots[i + k] != knots[i]:
            left = (t - knots[i]) / (knots[i + k] - knots[i]) * basis(i, k - 1)
        if knots[i + k + 1] != knots[i + 1]:
            right = (knots[i + k + 1] - t) / (knots[i + k + 1] - knots[i + 1]) * basis(i + 1, k - 1)
        return left + right

    return sum(control[i] * basis(i, degree) for i in range(len(control)))


def de_boor(x, knots, control, p=2):
    k = p
    while knots[k + 1] <= x:
        k += 1
    d = [control[j + k - p] for j in range(p + 1)]
    for r in range(1, p + 1):
        for j in range(p, r - 1, -1):
            alpha = (x - knots[j + k - p]) / (knots[j + 1 + k - r] - knots[j + k - p])
            d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
    return d[p]


def natural_cubic_spline(x, y, x_new):
    """Second derivatives from a tridiagonal system that is eliminated in place."""
    n = len(x)
    h = np.diff(x)
    diagonal = np.ones(n)
    upper, lower, rhs = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        lower[i] = h[i - 1]
        diagonal[i] = 2.0 * (h[i - 1] + h[i])
        upper[i] = h[i]
        rhs[i] = 6.0 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    for i in range(1, n):
        factor = lower[i] / diagonal[i - 1]
        diagonal[i] -= factor * upper[i - 1]
        rhs[i] -= factor * rhs[i - 1]
    m = np.zeros(n)
    for i in range(n - 2, 0, -1):
        m[i] = (rhs[i] - upper[i] * m[i + 1]) / diagonal[i]
    out = np.zeros(len(x_new))
    for k, value in enumerate(x_new):
        i = min(max(np.searchsorted(x, value) - 1, 0), n - 2)
        a = (x[i + 1] - value) / h[i]
        b = (value - x[i]) / h[i]
        out[k] = a * y[i] + b * y[i + 1]
        out[k] += ((a**3 - a) * m[i] + (b**3 - b) * m[i + 1]) * h[i] ** 2 / 6.0
    return out


KNOTS = [0.0, 0.0, 0.0, 0.4, 0.7, 1.0, 1.0, 1.0]


def camera_points(rng, n):
    return rng.normal(size=(n, 3)) + [0.0, 0.0, 5.0]


def some_cameras(rng, n):
    return np.hstack(
        [
            0.2 * rng.normal(size=(n, 6)),
            rng.uniform(0.8, 1.2, (n, 1)),
            0.1 * rng.normal(size=(n, 1)),
        ]
    )


def moved_shape(rng):
    shape = np.array([[0.0, 0.0], [2.0, 0.1], [2.2, 1.5], [0.3, 2.4], [-1.5, 1.0]])
    return 0.95 * shape + 0.1 * rng.normal(size=2) + 0.05 * rng.normal(size=shape.shape), shape


PROGRAMS = (
    Program(
        rotate_by_quaternion,
        lambda rng: (tuple(rng.normal(size=4).tolist()), rng.normal(size=3)),
        argnums=(0, 1),
    ),
    Program(
        quaternion_integration,
        lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=4)),
        argnums=(0, 1),
    ),
    Program(
        slerp_angle,
        lambda rng: (rng.normal(size=4), rng.normal(size=4), 0.3),
        argnums=(0, 1, 2),
    ),
    Program(rodrigues, lambda rng: (rng.normal(size=3),), argnums=0),
    Program(
        euler_to_matrix_trace,
        lambda rng: (*rng.normal(size=3).tolist(), rng.normal(size=(3, 3))),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        reprojection_error,
        lambda rng: (
            0.3 * rng.normal(size=3),
            0.2 * rng.normal(size=3),
            1.2,
            [0.05, -0.01],
            camera_points(rng, 4),
            [tuple(pixel) for pixel in rng.normal(size=(4, 2)).tolist()],
        ),
        argnums=(0, 1, 2, 3, 4, 5),
    ),
    Program(
        bundle_adjustment_residuals,
        lambda rng: (
            some_cameras(rng, 2),
            camera_points(rng, 3),
            [(0, 0, 0.1, 0.2), (0, 2, -0.3, 0.1), (1, 1, 0.4, -0.2), (1, 2, 0.0, 0.3)],
        ),
        argnums=(0, 1),
    ),
    Program(iterative_closest_point, moved_shape, argnums=(0, 1)),
    Program(de_casteljau, lambda rng: (rng.normal(size=(4, 2)), 0.4), argnums=(0, 1)),
    Program(
        bezier_length,
        lambda rng: ([tuple(p) for p in rng.normal(size=(4, 2)).tolist()],),
        argnums=0,
    ),
    Program(bspline_point, lambda rng: (0.55, 2, KNOTS, rng.normal(size=(5, 2))), argnums=(0, 3)),
    Program(de_boor, lambda rng: (0.55, KNOTS, rng.normal(size=5)), argnums=(0, 2)),
    Program(
        natural_cubic_spline,
        lambda rng: (
            np.array([0.0, 0.8, 1.5, 2.7, 3.2]),
            rng.normal(size=5),
            np.array([0.4, 1.1, 2.9]),
        ),
        argnums=(0, 1, 2),
    ),
)
