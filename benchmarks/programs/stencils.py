"""Stencils by slices in one to three dimensions, and time steppers."""

from __future__ import annotations

import numpy as np

from benchmarks.program import Program


def heat_1d(u, k, steps):
    """Return the energy after steps of the heat equation in two buffers."""
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


def heat_2d(u, k, steps):
    """Return the energy after steps of the heat equation on a plate."""
    u = u.copy()
    for _ in range(steps):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (around - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def heat_3d(u, k, steps):
    """Return the energy after steps of the heat equation in a block."""
    u = u.copy()
    for _ in range(steps):
        c = u[1:-1, 1:-1, 1:-1]
        around = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
                  + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
        u[1:-1, 1:-1, 1:-1] = c + k * (around - 6.0 * c)
    return np.sum(u * u)


def wave(u, speed, steps):
    """Return the energy of a string after steps of the leapfrog method."""
    old = u.copy()
    for _ in range(steps):
        new = np.zeros_like(u)
        new[1:-1] = 2.0 * u[1:-1] - old[1:-1] + speed**2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        old, u = u, new
    return np.sum(u * u)


def burgers(u, k, steps):
    """Return the energy of a viscous fluid on a circle, upwind."""
    for _ in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        slope = np.where(u > 0.0, u - left, right - u)
        u = u - 0.1 * u * slope + k * (right - 2.0 * u + left)
    return np.sum(u * u)


def reaction(u, v, steps):
    """Return the energy of two substances that react and spread (Gray and Scott)."""
    for _ in range(steps):
        around_u = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        around_v = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1)
        uvv = u * v * v
        u, v = (u + 0.16 * (around_u - 4.0 * u) - uvv + 0.06 * (1.0 - u),
                v + 0.08 * (around_v - 4.0 * v) + uvv - 0.122 * v)
    return np.sum(u * u + v * v)


def shallow_water(h, q, steps):
    """Return the energy of water in a channel, by Lax and Friedrichs."""
    for _ in range(steps):
        flux = q * q / h + 4.9 * h * h
        h_l, h_r, q_l, q_r = np.roll(h, 1), np.roll(h, -1), np.roll(q, 1), np.roll(q, -1)
        h = 0.5 * (h_l + h_r) - 0.05 * (q_r - q_l)
        q = 0.5 * (q_l + q_r) - 0.05 * (np.roll(flux, -1) - np.roll(flux, 1))
    return np.sum(h * h + q * q)


def oscillators(x, v, steps):
    """Return the energy of a chain of oscillators after steps of Runge and Kutta's method."""
    def force(x):
        return -x - 0.2 * x**3 + 0.5 * (np.roll(x, 1) - 2.0 * x + np.roll(x, -1))

    h = 0.05
    for _ in range(steps):
        k1, l1 = v, force(x)
        k2, l2 = v + 0.5 * h * l1, force(x + 0.5 * h * k1)
        k3, l3 = v + 0.5 * h * l2, force(x + 0.5 * h * k2)
        k4, l4 = v + h * l3, force(x + h * k3)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        v = v + h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)
    return np.sum(x * x + v * v)


def substances(r, n):
    """Return two substances on a torus, and 20 steps."""
    return r.uniform(0.5, 1.0, (n, n)), r.uniform(0.0, 0.3, (n, n)), 20


def channel(r, n):
    """Return the height and the flow of water, and 50 steps."""
    return 2.0 + 0.1 * r.normal(size=n), r.normal(size=n), 50


LINE, PLATE, BLOCK, BOTH = (100, 1_000, 20_000), (20, 100, 400), (8, 24, 60), (0, 1)
PROGRAMS = (
    Program(heat_1d, lambda r, n: (r.normal(size=n), 0.2, 50), LINE, BOTH),
    Program(heat_2d, lambda r, n: (r.normal(size=(n, n)), 0.2, 20), PLATE, BOTH),
    Program(heat_3d, lambda r, n: (r.normal(size=(n, n, n)), 0.1, 10), BLOCK, BOTH),
    Program(wave, lambda r, n: (r.normal(size=n), 0.5, 50), LINE, BOTH),
    Program(burgers, lambda r, n: (r.normal(size=n), 0.2, 50), LINE, BOTH, same_text=True),
    Program(reaction, substances, (16, 64, 256), BOTH, same_text=True),
    Program(shallow_water, channel, LINE, BOTH, same_text=True),
    Program(oscillators, lambda r, n: (*r.normal(size=(2, n)), 20), LINE, BOTH, same_text=True),
)
