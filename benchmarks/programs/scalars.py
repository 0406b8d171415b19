"""Formulas of a few Python floats, and short iterations of such."""

from __future__ import annotations

import math

from benchmarks.program import Program, numbers


def black_scholes(spot, strike, volatility, rate, maturity):
    """Return the price of a European call option."""
    deviation = volatility * math.sqrt(maturity)
    d1 = math.log(spot / strike) / deviation + rate * maturity / deviation + 0.5 * deviation
    d2 = d1 - deviation
    n1 = 0.5 * (1.0 + math.erf(d1 / 1.4142135623730951))
    n2 = 0.5 * (1.0 + math.erf(d2 / 1.4142135623730951))
    return spot * n1 - strike * math.exp(-rate * maturity) * n2


def gravity(x1, y1, x2, y2, mass):
    """Return the potential energy of two bodies, and of each in a harmonic trap."""
    distance = math.sqrt((x1 - x2) ** 2 + (y1 - y2) ** 2)
    return x1**2 + y1**2 + x2**2 + y2**2 - mass / distance


def product(x, y, z):
    """Return a formula that costs nothing itself: what is left is the cost of the call."""
    return x * y + z


def newton_root(a):
    """Return the square root of ``a`` by Newton's iteration."""
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def logistic_map(x, r, steps):
    """Return the state of the logistic map after some steps."""
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def pendulum(angle, speed, steps):
    """Return the angle of a pendulum after steps of the symplectic Euler method."""
    for _ in range(steps):
        speed = speed - 0.01 * math.sin(angle)
        angle = angle + 0.01 * speed
    return angle


def continued_fraction(x, steps):
    """Return a continued fraction of the tangent, from its end."""
    value = 0.0
    for k in range(steps, 0, -1):
        value = x * x / (2.0 * k + 1.0 - value)
    return x / (1.0 - value)


def simpson(a, b, steps):
    """Return the integral of a bell by Simpson's rule."""
    h = (b - a) / steps
    total = math.exp(-a * a) + math.exp(-b * b)
    for k in range(1, steps):
        t = a + k * h
        total += (4.0 if k % 2 else 2.0) * math.exp(-t * t)
    return total * h / 3.0


def lorenz(x, y, z, steps):
    """Return a coordinate of Lorenz's system after steps of the midpoint method."""
    h = 0.005
    for _ in range(steps):
        u = x + 0.5 * h * 10.0 * (y - x)
        v = y + 0.5 * h * (x * (28.0 - z) - y)
        w = z + 0.5 * h * (x * y - 8.0 / 3.0 * z)
        x = x + h * 10.0 * (v - u)
        y = y + h * (u * (28.0 - w) - v)
        z = z + h * (u * v - 8.0 / 3.0 * w)
    return x


STEPS, FIVE = (100, 1_000, 10_000), (0, 1, 2, 3, 4)
PROGRAMS = (
    Program(black_scholes, lambda *_: (100.0, 105.0, 0.2, 0.03, 0.75), (1,), FIVE, same_text=True),
    Program(gravity, lambda *_: (0.1, 0.2, 1.3, 0.9, 2.0), (1,), FIVE, same_text=True),
    Program(product, lambda *_: (1.5, 2.5, 3.5), (1,), (0, 1, 2), same_text=True),
    Program(newton_root, lambda *_: (7.0,), (1,)),
    Program(logistic_map, numbers(0.3, 3.2), STEPS, (0, 1)),
    Program(pendulum, numbers(0.5, 0.1), STEPS, (0, 1)),
    Program(continued_fraction, numbers(0.7), STEPS),
    Program(simpson, numbers(-0.5, 1.5), STEPS, (0, 1)),
    Program(lorenz, numbers(1.0, 1.0, 1.0), (10, 50, 200), (0, 1, 2)),
)
