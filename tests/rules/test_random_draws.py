"""Draws of random numbers with parameters that are differentiated."""

import copy
import random

import numpy as np
import pytest
from scipy import special, stats

from adcompiler import (
    MissingRuleError, UnsupportedError, grad, hessian, hvp, jacfwd, jacobian, jvp, value_and_grad,
)
from adcompiler_rules.kernels.random_draws import beta_slope, gamma_slope

P = np.array([1.2, 0.7])
CLASSES = [np.random.default_rng, np.random.RandomState]


def slopes(f, p, h=1e-5):
    return np.array([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(p.size)])


def same_draws(f, p, generator):
    """Assert that the value is that of a plain run, and the generator is left as by that."""
    ours, theirs = copy.deepcopy(generator), copy.deepcopy(generator)
    value, found = value_and_grad(f, fallback="refuse")(p, ours)
    assert value == f(p, theirs)
    assert ours.normal() == theirs.normal()
    recorded = copy.deepcopy(generator)
    np.testing.assert_allclose(grad(f, backend="record")(p, recorded), found, rtol=1e-12)
    again = copy.deepcopy(generator)
    f(p, again)
    assert recorded.normal() == again.normal()
    return found


SMOOTH = {
    "normal": lambda p, rng: rng.normal(p[0], p[1], 3),
    "normal_by_name": lambda p, rng: rng.normal(scale=p[1], loc=p[0], size=(2, 2)),
    "normal_of_arrays": lambda p, rng: rng.normal(p, size=(4, 2)),
    "normal_alone": lambda p, rng: rng.normal(p[0], p[1]),
    "normal_without_scale": lambda p, rng: rng.normal(p[0], 0.0 * p[1], 3),
    "normal_of_small_scale": lambda p, rng: 1e9 * (rng.normal(1e3 * p[0], 1e-9 * p[1], 3) - 1200),
    "uniform": lambda p, rng: rng.uniform(p[1], high=p[0], size=3),
    "laplace": lambda p, rng: rng.laplace(p[0], p[1], 3),
    "logistic": lambda p, rng: rng.logistic(p[0], p[1], 3),
    "gumbel": lambda p, rng: rng.gumbel(p[0], p[1], 3),
    "lognormal": lambda p, rng: rng.lognormal(p[0], p[1], 3),
    "exponential": lambda p, rng: rng.exponential(p[0], 3) * p[1],
    "exponential_of_arrays": lambda p, rng: rng.exponential(p),
    "rayleigh": lambda p, rng: rng.rayleigh(p),
    "weibull": lambda p, rng: rng.weibull(p, (3, 2)),
    "power": lambda p, rng: rng.power(p),
    "pareto": lambda p, rng: rng.pareto(p),
    "scale_of_gamma": lambda p, rng: rng.gamma(2.0, p),
}


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("name", SMOOTH)
def test_a_smooth_draw_moves_as_the_numbers_at_one_state(name, make):
    def f(p, rng):
        return np.sum(np.sin(SMOOTH[name](p, rng)) * p[1])

    def at_one_state(p):
        return f(p, make(3))

    found = same_draws(f, P, make(3))
    rough = name == "normal_of_small_scale"  # its differences are of few digits
    expected = slopes(at_one_state, P, 1e-10 if rough else 1e-5)
    if rough:
        z = make(3).normal(size=3)
        y = 1e9 * (1e3 * P[0] + 1e-9 * P[1] * z - 1200)
        expected = np.array([np.nan, np.sum(np.sin(y)) + P[1] * np.sum(np.cos(y) * z)])
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-3)
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jacfwd(f)(P, make(3)), found, rtol=1e-12)
    v = np.array([0.3, -0.8])
    value, along = jvp(at_one_state, (P,), (v,))
    assert value == at_one_state(P)
    assert along == pytest.approx(expected @ v, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", ["normal", "uniform", "lognormal", "weibull", "exponential"])
def test_second_derivatives(name):
    def f(p):
        return np.sum(np.sin(SMOOTH[name](p, np.random.default_rng(3))) * p[1])

    expected = np.array([slopes(lambda p, i=i: grad(f)(p)[i], P) for i in range(2)])
    np.testing.assert_allclose(hessian(f)(P), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(hvp(f, P, P), expected @ P, rtol=1e-5, atol=1e-7)


def test_legacy_functions_draw_from_the_global_state():
    def f(p):
        return np.sum(np.random.normal(p[0], p[1], 3) ** 2) + np.random.exponential(p[0])

    np.random.seed(5)
    expected = slopes(lambda p: (np.random.seed(5), f(p))[1], P)
    state = np.random.get_state()[1:3]
    np.random.seed(5)
    np.testing.assert_allclose(grad(f, fallback="refuse")(P), expected, rtol=1e-6)
    np.testing.assert_array_equal(np.random.get_state()[1], state[0])
    assert np.random.get_state()[2] == state[1]


# -- by the distribution function ------------------------------------------------------------------


@pytest.mark.parametrize("shape", [1e-2, 0.3, 1.0, 2.5, 40.0, 1e5])
def test_gamma_draws_keep_their_quantile(shape):
    y = np.random.default_rng(0).gamma(shape, size=200)
    y = y[y > 1e-290]
    h = 1e-4 * min(shape, np.sqrt(shape))
    below, above = special.gammainc(shape, y), special.gammaincc(shape, y)

    def at(a):
        return np.where(below < 0.5, special.gammaincinv(a, below), special.gammainccinv(a, above))

    moved = (8 * (at(shape + h) - at(shape - h)) - (at(shape + 2 * h) - at(shape - 2 * h))) / 12 / h
    np.testing.assert_allclose(gamma_slope(y, shape), moved, rtol=2e-6, atol=1e-9 * np.max(y))


@pytest.mark.parametrize(
    ("a", "b"), [(0.5, 0.5), (2.0, 3.0), (0.3, 40.0), (50.0, 0.4), (300.0, 200.0)])
def test_beta_draws_keep_their_quantile(a, b):
    y = np.random.default_rng(0).beta(a, b, size=200)
    y = y[(y > 1e-8) & (y < 1.0 - 1e-6)]  # where the inverses compared with are exact
    below, above = special.betainc(a, b, y), special.betaincc(a, b, y)

    def at(a, b):
        return np.where(
            below < 0.5, special.betaincinv(a, b, below), special.betainccinv(a, b, above))

    def moved(at, x):
        h = 1e-3 * x
        return (8 * (at(x + h) - at(x - h)) - (at(x + 2 * h) - at(x - 2 * h))) / 12 / h

    np.testing.assert_allclose(beta_slope(y, a, b), moved(lambda a: at(a, b), a), rtol=2e-6)
    np.testing.assert_allclose(-beta_slope(1 - y, b, a), moved(lambda b: at(a, b), b), rtol=2e-6)


IMPLICIT = {
    "gamma": lambda p, rng: rng.gamma(p[0], p[1], 20_000),
    "standard_gamma": lambda p, rng: rng.standard_gamma(p, (10_000, 2)),
    "chisquare": lambda p, rng: rng.chisquare(p[0], 20_000) * p[1],
    "beta": lambda p, rng: rng.beta(p[0], p[1], 20_000),
    "dirichlet": lambda p, rng: rng.dirichlet(np.array([p[0], p[1], 0.5]), 20_000)[:, :2],
    "multivariate_normal": lambda p, rng: rng.multivariate_normal(
        p, np.array([[1.0, 0.2], [0.2, 0.5]]) * p[0] + 0.3 * np.eye(2) * p[1], 20_000),
}
MEANS = {  # of squares, over all that is drawn
    "gamma": lambda p: p[0] * (p[0] + 1) * p[1] ** 2,
    "standard_gamma": lambda p: np.mean(p * (p + 1)),
    "chisquare": lambda p: p[0] * (p[0] + 2) * p[1] ** 2,
    "beta": lambda p: p[0] * (p[0] + 1) / (p[0] + p[1]) / (p[0] + p[1] + 1),
    "dirichlet": lambda p: np.mean(p * (p + 1)) / (p.sum() + 0.5) / (p.sum() + 1.5),
    "multivariate_normal": lambda p: np.mean(
        p * p + np.array([1.0, 0.5]) * p[0] + 0.3 * p[1]),
}


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("name", IMPLICIT)
def test_the_mean_of_a_derivative_is_that_of_the_mean(name, make):
    def f(p, rng):
        return np.mean(IMPLICIT[name](p, rng) ** 2)

    found = same_draws(f, P, make(0))
    expected = slopes(MEANS[name], P)
    np.testing.assert_allclose(found, expected, atol=0.04 * np.max(np.abs(expected)))


def test_second_derivatives_in_shapes_are_those_of_a_quantile():
    def f(p):
        rng = np.random.default_rng(0)
        return rng.gamma(p[0]) * p[1] + rng.beta(p[0], p[1])

    rng = np.random.default_rng(0)
    of_gamma = special.gammainc(P[0], rng.gamma(P[0]))
    of_beta = special.betainc(*P, rng.beta(*P))

    def on_quantiles(p):
        return special.gammaincinv(p[0], of_gamma) * p[1] + special.betaincinv(*p, of_beta)

    expected = np.array([slopes(lambda p, i=i: slopes(on_quantiles, p, 1e-3)[i], P, 1e-3)
                         for i in range(2)])
    np.testing.assert_allclose(hessian(f)(P), expected, rtol=1e-4, atol=1e-5)


def test_draws_of_many_variables_by_a_cholesky_factor():
    def f(p):
        rng = np.random.default_rng(2)
        cov = np.array([[1.0, 0.2], [0.2, 0.5]]) * p[0] + np.eye(2) * p[1]
        return np.sum(np.sin(rng.multivariate_normal(p, cov, 3, method="cholesky")))

    np.testing.assert_allclose(grad(f, fallback="refuse")(P), slopes(f, P), rtol=1e-6)
    np.testing.assert_allclose(jacfwd(f)(P), slopes(f, P), rtol=1e-6)


# -- effects ---------------------------------------------------------------------------------------


def test_what_draws_runs_once_for_many_tangents():
    def f(p, rng):
        return (p[0] + p[1] * rng.normal(size=3)) ** 2

    z = np.random.default_rng(0).normal(size=3)
    y = P[0] + P[1] * z
    for transform in (jacobian, jacfwd):
        rng = np.random.default_rng(0)
        found = transform(f)(P, rng)
        np.testing.assert_allclose(found, np.stack([2 * y, 2 * y * z], axis=1), rtol=1e-12)
        assert rng.normal() == np.random.default_rng(0).normal(size=4)[3]
    rng = np.random.default_rng(0)
    second = hessian(lambda p, rng: np.sum(f(p, rng)))(P, rng)
    np.testing.assert_allclose(
        second, [[6.0, 2 * np.sum(z)], [2 * np.sum(z), 2 * np.sum(z * z)]], rtol=1e-12)
    assert rng.normal() == np.random.default_rng(0).normal(size=4)[3]
    with pytest.raises(UnsupportedError, match="other numbers each time"):
        hessian(lambda p, rng: np.sum(f(p, rng)), mode="adj_fwd")(P, np.random.default_rng(0))


def test_in_loops_and_branches():
    def f(p, rng):
        x = 0.0
        for _ in range(4):
            x = rng.normal(p[0] * x + 0.1, p[1])
            if x > 0.5:
                x = x * rng.uniform(0.0, p[0])
        return x

    found = same_draws(f, P, np.random.default_rng(7))
    np.testing.assert_allclose(
        found, slopes(lambda p: f(p, np.random.default_rng(7)), P), rtol=1e-6)


def test_a_recording_leaves_the_generator_as_a_run_does():
    rng, plain = np.random.default_rng(0), np.random.default_rng(0)
    each = [grad(lambda x, rng: x * rng.normal(), backend="record")(1.0, rng) for _ in range(3)]
    np.testing.assert_array_equal(each, plain.normal(size=3))


def test_other_libraries():
    def f(p, rng):
        return np.sum(stats.norm.rvs(p[0], p[1], size=3, random_state=rng) ** 2)

    z = np.random.default_rng(0).normal(size=3)
    y = P[0] + P[1] * z
    found = grad(f, backend="record")(P, np.random.default_rng(0))
    np.testing.assert_allclose(found, [np.sum(2 * y), np.sum(2 * y * z)], rtol=1e-12)

    def g(p, rng):
        return rng.gauss(p[0], p[1]) * rng.uniform(0.0, p[0]) * rng.expovariate(p[1])

    expected = slopes(lambda p: g(p, random.Random(3)), P)
    np.testing.assert_allclose(
        grad(g, backend="record")(P, random.Random(3)), expected, rtol=1e-6)


def test_pythons_loops_that_accept_or_not_are_refused():
    for f in (lambda p, rng: rng.gammavariate(p[0], 1.0), lambda p, rng: rng.betavariate(1.0, p[1]),
              lambda p, rng: rng.vonmisesvariate(0.0, p[0])):
        for backend in ("python", "record"):
            with pytest.raises((UnsupportedError, MissingRuleError), match="derivative"):
                grad(f, backend=backend)(P, random.Random(0))
    found = grad(lambda p, rng: p[0] * rng.gammavariate(2.0, 1.0))(P, random.Random(0))
    assert found[0] == random.Random(0).gammavariate(2.0, 1.0)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "f"), [
    ("poisson", lambda p, rng: np.sum(rng.poisson(p[0], 3) * p[1])),
    ("binomial", lambda p, rng: rng.binomial(5, p[1]) * p[1]),
    ("choice", lambda p, rng: rng.choice(2, p=p / np.sum(p)) * p[1]),
    ("permutation", lambda p, rng: np.sum(rng.permutation(p) * p)),
    ("poisson", lambda p, rng: np.random.poisson(p[0]) * p[1]),
])
def test_discrete_draws_are_refused_with_a_word_on_scores(name, f):
    for backend in ("python", "record"):
        with pytest.raises((UnsupportedError, MissingRuleError), match="score function") as error:
            grad(f, backend=backend)(P, np.random.default_rng(0))
        assert f"`.{name}()`" in str(error.value)


@pytest.mark.parametrize("make", CLASSES)
def test_draws_without_a_derivative_are_refused(make):
    for f in (lambda p, rng: rng.standard_t(p[0]), lambda p, rng: rng.vonmises(p[0], p[1])):
        for backend in ("python", "record"):
            with pytest.raises((UnsupportedError, MissingRuleError), match="no derivative here"):
                grad(f, backend=backend)(P, make(0))
