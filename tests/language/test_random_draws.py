"""Random numbers: drawn once, where the program draws them, and recorded for the sweep."""

import numpy as np

from adcompiler import value_and_grad, vjp


def monte_carlo(x, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=5)
    total = 0.0
    for _ in range(3):
        total += np.sum(np.exp(x * rng.standard_normal(2)))
    return total + np.mean(np.exp(x * z))


def from_argument(x, rng):
    path = np.zeros(4)
    for i in range(1, 4):
        path[i] = path[i - 1] + x * rng.normal() * np.sqrt(1.0 + path[i - 1] ** 2)
    return path[-1] ** 2


def test_draws_of_a_seeded_generator():
    h = 1e-6
    value, gradient = value_and_grad(monte_carlo)(0.3, 7)
    assert value == monte_carlo(0.3, 7)
    slope = (monte_carlo(0.3 + h, 7) - monte_carlo(0.3 - h, 7)) / (2 * h)
    np.testing.assert_allclose(gradient, slope, rtol=1e-8)


def test_the_caller_s_generator_is_advanced_once():
    h = 1e-6
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    value, pullback = vjp(from_argument, 0.7, rng)
    assert value == from_argument(0.7, other)
    assert rng.bit_generator.state == other.bit_generator.state
    slope = sum(
        sign * from_argument(0.7 + sign * h, np.random.default_rng(3)) for sign in (1, -1)
    ) / (2 * h)
    np.testing.assert_allclose(pullback(1.0)[0], slope, rtol=1e-7)
    np.testing.assert_allclose(pullback(1.0)[0], slope, rtol=1e-7)
    assert rng.bit_generator.state == other.bit_generator.state
