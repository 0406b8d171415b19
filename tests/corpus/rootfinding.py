"""Equations and minima: Newton and its relatives, brackets, descent written out."""

import math

import numpy as np

from tests.corpus.program import Program


def newton_with_line_search(a, b):
    """Solve a small system; a step is halved until the residual falls."""

    def residual(x):
        return np.array([x[0] ** 3 + x[1] - a, x[1] ** 3 - x[0] + b])

    x = np.array([1.0, 0.5])
    r = residual(x)
    for _ in range(25):
        if np.linalg.norm(r) < 1e-13:
            break
        J = np.array([[3 * x[0] ** 2, 1.0], [-1.0, 3 * x[1] ** 2]])
        step = -np.linalg.solve(J, r)
        t = 1.0
        while np.linalg.norm(residual(x + t * step)) > (1 - 1e-4 * t) * np.linalg.norm(r):
            t /= 2
            if t < 1e-8:
                break
        x = x + t * step
        r = residual(x)
    return x


def broyden_good(c, iterations=12):
    """Broyden's method; the inverse Jacobian is updated in place."""

    def f(x):
        return np.array([np.cos(x[1]) * 0.5 - x[0] + c[0], np.sin(x[0]) * 0.5 - x[1] + c[1]])

    x = np.zeros(2)
    H = -np.eye(2)
    fx = f(x)
    for _ in range(iterations):
        dx = -H @ fx
        if np.linalg.norm(dx) < 1e-13:
            break
        x = x + dx
        f_new = f(x)
        df = f_new - fx
        Hdf = H @ df
        H += np.outer(dx - Hdf, dx @ H) / (dx @ Hdf)
        fx = f_new
    return x


def bisection_then_newton(a, rate):
    """A bracket found by doubling, some halvings, and Newton's method for the rest."""

    def g(x):
        return x * math.exp(rate * x) - a

    low, high = 0.0, 0.3
    while g(high) < 0.0:
        high *= 2.0
    for _ in range(4):
        middle = 0.5 * (low + high)
        if g(middle) < 0.0:
            low = middle
        else:
            high = middle
    x = 0.5 * (low + high)
    for _ in range(20):
        slope = math.exp(rate * x) * (1.0 + rate * x)
        dx = g(x) / slope
        x -= dx
        if abs(dx) < 1e-14:
            break
    return x


def secant_root(e, mean_anomaly):
    """Kepler's equation by the secant method."""

    def f(E):
        return E - e * math.sin(E) - mean_anomaly

    x0, x1 = mean_anomaly, mean_anomaly + e
    f0, f1 = f(x0), f(x1)
    while abs(f1) > 1e-13 and abs(f1 - f0) > 0.0:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
    return x1


def regula_falsi_steps(a, b, level, steps=6):
    """The Illinois variant: the end that stays twice counts half."""
    fa, fb = a**3 - level, b**3 - level
    side = 0
    x = a
    for _ in range(steps):
        x = (fa * b - fb * a) / (fa - fb)
        fx = x**3 - level
        if fx * fb > 0:
            b, fb = x, fx
            if side == -1:
                fa /= 2
            side = -1
        else:
            a, fa = x, fx
            if side == 1:
                fb /= 2
            side = 1
    return x


def golden_section_minimum(c, d, rounds=5):
    """A few golden-section steps, then the vertex of a parabola through three points."""
    ratio = (math.sqrt(5.0) - 1.0) / 2.0

    def f(x):
        return c * x**4 - d * x + math.cos(x)

    a, b = 0.0, 2.0
    x1, x2 = b - ratio * (b - a), a + ratio * (b - a)
    f1, f2 = f(x1), f(x2)
    for _ in range(rounds):
        if f1 < f2:
            b, x2, f2 = x2, x1, f1
            x1 = b - ratio * (b - a)
            f1 = f(x1)
        else:
            a, x1, f1 = x1, x2, f2
            x2 = a + ratio * (b - a)
            f2 = f(x2)
    m = 0.5 * (a + b)
    fa, fm, fb = f(a), f(m), f(b)
    return m + 0.25 * (b - a) * (fa - fb) / (fa - 2.0 * fm + fb)


def descent_with_backtracking(x0, curvature, steps=6):
    def f(x):
        return 0.5 * curvature @ x**2 + np.sum(np.log(np.cosh(x)))

    x = x0.copy()
    history = []
    for _ in range(steps):
        g = curvature * x + np.tanh(x)
        t = 1.0
        while f(x - t * g) > f(x) - 0.3 * t * (g @ g):
            t *= 0.5
        x -= t * g
        history.append(f(x))
    return history[-1] + 0.1 * sum(history)


def fixed_point_cosine(a, b):
    x = 0.5
    count = 0
    while True:
        x_new = a * math.cos(x) + b
        count += 1
        if abs(x_new - x) < 1e-14 or count >= 200:
            break
        x = x_new
    return x_new


def aitken_accelerated(a):
    """Steffensen's method for x = exp(-a x)."""
    x = 0.5
    for _ in range(4):
        x1 = math.exp(-a * x)
        x2 = math.exp(-a * x1)
        denominator = x2 - 2.0 * x1 + x
        if abs(denominator) < 1e-12:
            break
        x = x - (x1 - x) ** 2 / denominator
    return x


def gauss_newton_fit(t, y, start, iterations=4):
    """Fit a decaying exponential; the Jacobian is filled column by column."""
    p = start.copy()
    J = np.empty((len(t), 2))
    for _ in range(iterations):
        e = np.exp(-p[1] * t)
        r = y - p[0] * e
        J[:, 0] = e
        J[:, 1] = -p[0] * t * e
        p += np.linalg.solve(J.T @ J + 1e-3 * np.eye(2), J.T @ r)
    return p


def levenberg_marquardt(t, y, start):
    """The damping is lowered after good steps and raised after bad ones."""
    p = start
    lam = 1.0

    def residuals(p):
        return y - p[0] * np.sin(p[1] * t)

    cost = np.sum(residuals(p) ** 2)
    for _ in range(5):
        r = residuals(p)
        J = np.column_stack([np.sin(p[1] * t), p[0] * t * np.cos(p[1] * t)])
        A = J.T @ J
        delta = np.linalg.solve(A + lam * np.diag(np.diag(A)), J.T @ r)
        trial = p + delta
        trial_cost = np.sum(residuals(trial) ** 2)
        if trial_cost < cost:
            p, cost = trial, trial_cost
            lam /= 3.0
        else:
            lam *= 2.0
    return cost + 0.1 * np.sum(p)


def lbfgs_direction(g, s_list, y_list):
    """The two-loop recursion over the stored pairs."""
    q = g.copy()
    alphas = []
    for s, y in zip(reversed(s_list), reversed(y_list)):
        alpha = (s @ q) / (y @ s)
        q -= alpha * y
        alphas.append(alpha)
    r = q * (s_list[-1] @ y_list[-1]) / (y_list[-1] @ y_list[-1])
    for s, y in zip(s_list, y_list):
        beta = (y @ r) / (y @ s)
        r += s * (alphas.pop() - beta)
    return -r


def conjugate_gradient_energy(A, b, iterations=3):
    M = A @ A.T + np.eye(len(b))
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = r @ r
    for _ in range(iterations):
        Ap = M @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        p *= rs_new / rs
        p += r
        rs = rs_new
    return 0.5 * x @ M @ x - b @ x


def nelder_mead_steps(simplex, a, steps=4):
    """Some reflections and contractions of a simplex, sorted by value at every step."""

    def f(p):
        return (p[0] - a) ** 2 + 3.0 * (p[1] + 1.0) ** 2

    points = [p.copy() for p in simplex]
    for _ in range(steps):
        points.sort(key=f)
        best, second, worst = points
        center = (best + second) / 2
        reflected = center + (center - worst)
        if f(reflected) < f(second):
            points[-1] = reflected
        else:
            points[-1] = center + 0.5 * (worst - center)
    return min(f(p) for p in points)


def projected_gradient(Q, c, lower, steps=15):
    """A quadratic programme with a bound, enforced by ``np.maximum`` after each step."""
    H = Q.T @ Q + np.eye(len(c))
    x = np.zeros(len(c))
    for _ in range(steps):
        x -= 0.05 * (H @ x + c)
        x = np.maximum(x, lower)
    return 0.5 * x @ H @ x + c @ x


def sinkhorn_distance(a, b, cost, reg, iterations=8):
    K = np.exp(-cost / reg)
    u, v = np.ones_like(a), np.ones_like(b)
    for _ in range(iterations):
        u[:] = a / (K @ v)
        v[:] = b / (K.T @ u)
    plan = u[:, None] * K * v[None, :]
    return np.sum(plan * cost)


PROGRAMS = (
    Program(newton_with_line_search, lambda rng: (2.0 + rng.random(), 0.3), argnums=(0, 1)),
    Program(broyden_good, lambda rng: (0.3 * rng.normal(size=2),), argnums=0),
    Program(bisection_then_newton, lambda rng: (1.0 + rng.random(), 0.7), argnums=(0, 1)),
    Program(secant_root, lambda rng: (0.3 + 0.2 * rng.random(), 1.1), argnums=(0, 1)),
    Program(regula_falsi_steps, lambda rng: (0.6, 2.1, 2.0 + rng.random()), argnums=(0, 1, 2)),
    Program(golden_section_minimum, lambda rng: (0.6 + 0.3 * rng.random(), 1.0), argnums=(0, 1)),
    Program(
        descent_with_backtracking,
        lambda rng: (rng.normal(size=3), rng.uniform(0.5, 4.0, size=3)),
        argnums=(0, 1),
    ),
    Program(fixed_point_cosine, lambda rng: (0.5 + 0.3 * rng.random(), 0.2), argnums=(0, 1)),
    Program(aitken_accelerated, lambda rng: (0.8 + 0.5 * rng.random(),), argnums=(0,)),
    Program(
        gauss_newton_fit,
        lambda rng: (np.linspace(0.0, 2.0, 6), rng.uniform(0.5, 1.5, 6), np.array([1.0, 0.5])),
        argnums=(0, 1, 2),
    ),
    Program(
        levenberg_marquardt,
        lambda rng: (
            np.linspace(0.1, 3.0, 7),
            np.sin(1.5 * np.linspace(0.1, 3.0, 7)) + 0.1 * rng.normal(size=7),
            np.array([0.8, 1.3]),
        ),
        argnums=(1, 2),
    ),
    Program(
        lbfgs_direction,
        lambda rng: (
            rng.normal(size=3),
            [rng.uniform(0.5, 1.5, size=3) for _ in range(3)],
            [rng.uniform(0.5, 1.5, size=3) for _ in range(3)],
        ),
        argnums=(0, 1, 2),
    ),
    Program(
        conjugate_gradient_energy,
        lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=4)),
        argnums=(0, 1),
    ),
    Program(
        nelder_mead_steps,
        lambda rng: ([rng.normal(size=2) for _ in range(3)], 0.6),
        argnums=(0, 1),
    ),
    Program(
        projected_gradient,
        lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3), np.array([0.1, -0.2, 0.05])),
        argnums=(0, 1, 2),
    ),
    Program(
        sinkhorn_distance,
        lambda rng: (
            rng.uniform(0.2, 1.0, size=3),
            rng.uniform(0.2, 1.0, size=4),
            rng.uniform(0.0, 1.0, size=(3, 4)),
            0.4,
        ),
        argnums=(0, 1, 2, 3),
    ),
)
