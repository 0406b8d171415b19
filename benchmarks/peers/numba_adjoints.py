"""Gradients as someone writes them by hand for numba: loops, flat tapes, nothing checked."""

from __future__ import annotations

import math

import numba
import numpy as np

compiled = numba.njit(error_model="numpy", cache=True)


@compiled
def logistic_map(x, r, steps):
    tape = np.empty(steps)
    for i in range(steps):
        tape[i] = x
        x = r * x * (1.0 - x)
    x_bar, r_bar = 1.0, 0.0
    for i in range(steps - 1, -1, -1):
        x = tape[i]
        r_bar += x_bar * x * (1.0 - x)
        x_bar = x_bar * r * (1.0 - 2.0 * x)
    return x_bar, r_bar


@compiled
def pendulum(angle, speed, steps):
    tape = np.empty(steps)
    for i in range(steps):
        tape[i] = angle
        speed = speed - 0.01 * math.sin(angle)
        angle = angle + 0.01 * speed
    angle_bar, speed_bar = 1.0, 0.0
    for i in range(steps - 1, -1, -1):
        speed_bar += 0.01 * angle_bar
        angle_bar -= 0.01 * speed_bar * math.cos(tape[i])
    return angle_bar, speed_bar


@compiled
def rosenbrock(x):
    x_bar = np.zeros_like(x)
    for i in range(x.size - 1):
        d = x[i + 1] - x[i] * x[i]
        x_bar[i + 1] += 200.0 * d
        x_bar[i] -= 400.0 * d * x[i] + 2.0 * (1.0 - x[i])
    return x_bar


@compiled
def recurrence(x, a):
    y = x.copy()
    for i in range(2, y.size):
        y[i] = a[0] * y[i - 1] + a[1] * y[i - 2] + math.sin(x[i])
    y_bar = 2.0 * y
    x_bar, a_bar = np.zeros_like(x), np.zeros(2)
    for i in range(y.size - 1, 1, -1):
        g = y_bar[i]
        a_bar[0] += g * y[i - 1]
        a_bar[1] += g * y[i - 2]
        y_bar[i - 1] += a[0] * g
        y_bar[i - 2] += a[1] * g
        x_bar[i] = g * math.cos(x[i])
    x_bar[:2] = y_bar[:2]
    return x_bar, a_bar


@compiled
def seidel(u, f, sweeps):
    u = u.copy()
    m, n = u.shape
    for _ in range(sweeps):
        for i in range(1, m - 1):
            for j in range(1, n - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    bar = 2.0 * u
    f_bar = np.zeros_like(f)
    for _ in range(sweeps):
        for i in range(m - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                g = 0.25 * bar[i, j]
                bar[i, j] = 0.0
                f_bar[i, j] += g
                bar[i - 1, j] += g
                bar[i + 1, j] += g
                bar[i, j - 1] += g
                bar[i, j + 1] += g
    return bar, f_bar


@compiled
def n_body(places, masses):
    bar, masses_bar = np.zeros_like(places), np.zeros_like(masses)
    for i in range(masses.size):
        for j in range(i):
            square = 0.0
            for k in range(3):
                square += (places[i, k] - places[j, k]) ** 2
            inverse = 1.0 / math.sqrt(square)
            masses_bar[i] -= masses[j] * inverse
            masses_bar[j] -= masses[i] * inverse
            g = masses[i] * masses[j] * inverse / square
            for k in range(3):
                d = g * (places[i, k] - places[j, k])
                bar[i, k] += d
                bar[j, k] -= d
    return bar, masses_bar


@compiled
def soft_dtw(x, y):
    n, m = x.size, y.size
    D = np.full((n + 1, m + 1), 1e10)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, d = D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]
            least = min(a, b, d)
            total = math.exp(least - a) + math.exp(least - b) + math.exp(least - d)
            D[i, j] = (x[i - 1] - y[j - 1]) ** 2 + least - math.log(total)
    bar = np.zeros((n + 1, m + 1))
    bar[n, m] = 1.0
    x_bar, y_bar = np.zeros_like(x), np.zeros_like(y)
    for i in range(n, 0, -1):
        for j in range(m, 0, -1):
            g = bar[i, j]
            d = x[i - 1] - y[j - 1]
            x_bar[i - 1] += 2.0 * g * d
            y_bar[j - 1] -= 2.0 * g * d
            soft = D[i, j] - d * d
            bar[i - 1, j] += g * math.exp(soft - D[i - 1, j])
            bar[i, j - 1] += g * math.exp(soft - D[i, j - 1])
            bar[i - 1, j - 1] += g * math.exp(soft - D[i - 1, j - 1])
    return x_bar, y_bar


@compiled
def lu(A, weights):
    A = A.copy()
    n = A.shape[0]
    tape = np.empty(n * n)
    top = 0
    for i in range(n):
        for j in range(n):
            tape[top] = A[i, j]
            top += 1
            s = 0.0
            for k in range(min(i, j)):
                s += A[i, k] * A[k, j]
            A[i, j] -= s
            if j < i:
                A[i, j] /= A[j, j]
    A_bar = weights.copy()
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, -1, -1):
            if j < i:
                A_bar[i, j] /= A[j, j]
                A_bar[j, j] -= A_bar[i, j] * A[i, j]
            top -= 1
            A[i, j] = tape[top]
            s_bar = A_bar[i, j]
            for k in range(min(i, j)):
                A_bar[i, k] -= s_bar * A[k, j]
                A_bar[k, j] -= s_bar * A[i, k]
    return A_bar


@compiled
def cholesky(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]
    A_bar, L_bar = np.zeros((n, n)), np.zeros((n, n))
    for j in range(n - 1, -1, -1):
        for i in range(n - 1, j, -1):
            g = L_bar[i, j] / L[j, j]
            L_bar[j, j] -= g * L[i, j]
            A_bar[i, j] = g
            for k in range(j):
                L_bar[i, k] -= g * L[j, k]
                L_bar[j, k] -= g * L[i, k]
        g = 0.5 * (L_bar[j, j] + 1.0 / L[j, j]) / L[j, j]
        A_bar[j, j] = g
        for k in range(j):
            L_bar[j, k] -= 2.0 * g * L[j, k]
    return A_bar


@compiled
def tridiagonal(lower, diagonal, upper, right):
    n = diagonal.size
    c, d, x, pivots = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    pivots[0] = diagonal[0]
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivots[i] = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivots[i]
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivots[i]
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    x_bar, c_bar, d_bar = 2.0 * x, np.zeros(n), np.zeros(n)
    for i in range(n - 1):
        d_bar[i] = x_bar[i]
        c_bar[i] = -x_bar[i] * x[i + 1]
        x_bar[i + 1] -= x_bar[i] * c[i]
    d_bar[-1] = x_bar[-1]
    lower_bar, diagonal_bar = np.zeros(n), np.zeros(n)
    for i in range(n - 1, -1, -1):
        d_bar[i] /= pivots[i]
        c_bar[i] /= pivots[i]
        diagonal_bar[i] = -d_bar[i] * d[i] - c_bar[i] * c[i]
        if i:
            lower_bar[i] = -d_bar[i] * d[i - 1] - diagonal_bar[i] * c[i - 1]
            d_bar[i - 1] -= d_bar[i] * lower[i]
            c_bar[i - 1] -= diagonal_bar[i] * lower[i]
    return lower_bar, diagonal_bar, c_bar, d_bar


@compiled
def monte_carlo(spot, volatility, draws):
    paths, steps = draws.shape
    spot_bar, volatility_bar = 0.0, 0.0
    prices = np.empty(steps)
    for p in range(paths):
        price, mean = spot, 0.0
        for s in range(steps):
            price *= math.exp(-0.005 * volatility * volatility + 0.1 * volatility * draws[p, s])
            prices[s] = price
            mean += price
        if mean / steps > 1.0:
            bar = 0.0
            for s in range(steps - 1, -1, -1):
                bar += prices[s]
                volatility_bar += bar * (0.1 * draws[p, s] - 0.01 * volatility) / steps
            spot_bar += bar / (steps * spot)
    return spot_bar / paths, volatility_bar / paths


@compiled
def heat_1d(u, k, steps):
    n = u.size
    u, v = u.copy(), u.copy()
    tape = np.empty((steps, n))
    for s in range(steps):
        for i in range(1, n - 1):
            lap = u[i + 1] - 2.0 * u[i] + u[i - 1]
            tape[s, i] = lap
            v[i] = u[i] + k * lap
        u, v = v, u
    u_bar, v_bar = 2.0 * u, np.zeros(n)
    k_bar = 0.0
    for s in range(steps - 1, -1, -1):
        u_bar, v_bar = v_bar, u_bar
        for i in range(n - 2, 0, -1):
            g = v_bar[i]
            v_bar[i] = 0.0
            k_bar += g * tape[s, i]
            u_bar[i] += g - 2.0 * k * g
            u_bar[i + 1] += k * g
            u_bar[i - 1] += k * g
    return u_bar + v_bar, k_bar


@compiled
def polynomial_chain(x, y):
    x_bar, y_bar = np.empty_like(x), np.empty_like(y)
    for i in range(x.size):
        a = x[i] * y[i] + 2.0 * x[i]
        b = a * a - y[i]
        d = 1.0 + x[i] * x[i]
        c = b / d
        b_bar = a / d - 0.5 * y[i]
        a_bar = c + 2.0 * a * b_bar
        x_bar[i] = a_bar * (y[i] + 2.0) - 2.0 * x[i] * a * c / d
        y_bar[i] = a_bar * x[i] - b_bar - 0.5 * b
    return x_bar, y_bar


@compiled
def rosenbrock_hessian_loop(x):
    n = x.size
    H = np.zeros((n, n))
    for i in range(n - 1):
        H[i, i] += 1200.0 * x[i] ** 2 - 400.0 * x[i + 1] + 2.0
        H[i + 1, i + 1] += 200.0
        H[i, i + 1] = -400.0 * x[i]
        H[i + 1, i] = -400.0 * x[i]
    return H
