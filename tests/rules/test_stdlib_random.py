"""Draws of the standard library's ``random`` with parameters that are differentiated."""

import copy
import random

import numpy as np
import pytest

from adcompiler import grad, hessian, jvp, value_and_grad

P = np.array([1.2, 0.7])
DRAWS = {
    "gauss": lambda p, rng: rng.gauss(p[0], p[1]) + rng.gauss(p[1], sigma=p[0]),
    "normalvariate": lambda p, rng: rng.normalvariate(p[0], p[1]),
    "lognormvariate": lambda p, rng: rng.lognormvariate(p[0], p[1]),
    "uniform": lambda p, rng: rng.uniform(p[1], p[0]),
    "expovariate": lambda p, rng: rng.expovariate(p[0]) * p[1],
    "paretovariate": lambda p, rng: rng.paretovariate(p[0]) * p[1],
    "weibullvariate": lambda p, rng: rng.weibullvariate(p[0], p[1]),
    "triangular": lambda p, rng: rng.triangular(0.1, p[0], p[1]) * rng.triangular(p[1], p[0]),
    "triangular above": lambda p, rng: rng.triangular(-p[1], p[0], -0.9 * p[1]) * p[0],
}


def in_loop(name):
    def f(p, rng):
        total = 0.0
        for k in range(4):
            total = total + DRAWS[name](p, rng) * (k + 1) * p[1]
        return total + rng.random()

    return f


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_moves_as_the_numbers_at_one_state(name):
    f, seed = in_loop(name), random.Random(7)

    def at_one_state(p):
        return f(p, random.Random(7))

    h = 1e-5
    expected = [(at_one_state(P + h * e) - at_one_state(P - h * e)) / (2 * h) for e in np.eye(2)]
    ours, theirs = copy.deepcopy(seed), copy.deepcopy(seed)
    value, found = value_and_grad(f, fallback="refuse")(P, ours)
    assert value == f(P, theirs)
    assert ours.random() == theirs.random()
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)
    recorded = grad(f, backend="record")(P, copy.deepcopy(seed))
    np.testing.assert_allclose(recorded, found, rtol=1e-9)
    assert jvp(at_one_state, (P,), (P,))[1] == pytest.approx(found @ P, rel=1e-9)
    h = 1e-4
    second = [(grad(at_one_state)(P + h * e) - grad(at_one_state)(P - h * e)) / (2 * h)
              for e in np.eye(2)]
    np.testing.assert_allclose(hessian(at_one_state)(P), second, rtol=1e-5, atol=1e-6)


def test_a_scale_that_the_numbers_do_not_show():
    found = grad(lambda s: random.Random(3).gauss(1e9, 1e-9 * s))(2.0)
    assert found == pytest.approx(1e-9 * random.Random(3).gauss(0.0, 1.0), rel=1e-12)
    found = grad(lambda s: random.Random(3).normalvariate(1e9, 1e-9 * s))(2.0)
    assert found == pytest.approx(1e-9 * random.Random(3).normalvariate(0.0, 1.0), rel=1e-12)


def test_functions_of_the_module_draw_from_its_generator():
    def f(m):
        return random.gauss(m, 2.0 * m) + random.uniform(0.0, m) + random.expovariate(m)

    random.seed(5)
    value, found = value_and_grad(f, fallback="refuse")(1.5)
    after = random.random()
    random.seed(5)
    wanted = [random.gauss(1.5, 3.0), random.uniform(0.0, 1.5), random.expovariate(1.5)]
    assert (value, after) == (sum(wanted), random.random())
    assert found == pytest.approx((wanted[0] + wanted[1] - wanted[2]) / 1.5, rel=1e-12)


@pytest.mark.filterwarnings("ignore::adcompiler.errors.RecordedWarning")
def test_chosen_items_are_those_of_the_list():
    def f(x):
        rows = [x, 3.0 * x]
        return np.sum(random.Random(1).choice(rows) * x)

    wanted = [(f(P + 1e-6 * e) - f(P - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    np.testing.assert_allclose(grad(f)(P), wanted, rtol=1e-6)
