"""Minima under constraints: a root of the conditions of Karush, Kuhn and Tucker."""

import numpy as np
import pytest
from scipy import optimize

from adcompiler import grad, hessian, jacobian, jvp

START = np.array([0.1, 0.2])
TARGET = np.array([3.0, 4.0])
EXACT = {"method": "SLSQP", "tol": 1e-14}


def nearest(target, constraints, bounds=None):
    """Return what is nearest to ``target``; the library is given the exact slopes."""
    return optimize.minimize(
        lambda x: np.sum((x - target) ** 2), START, jac=lambda x: 2.0 * (x - target),
        constraints=constraints, bounds=bounds, **EXACT).x


def on_line(p):
    """x + p y = 1: the foot of the perpendicular from the target."""
    line = {"type": "eq", "fun": lambda x: x[0] + p * x[1] - 1.0,
            "jac": lambda x: np.array([1.0, p])}
    return nearest(TARGET, line)


def foot(p):
    return TARGET - (TARGET[0] + p * TARGET[1] - 1.0) / (1.0 + p * p) * np.array([1.0, p])


def in_disk(p):
    disk = {"type": "ineq", "fun": lambda x, r: r * r - x @ x, "jac": lambda x, r: -2.0 * x,
            "args": (p,)}
    return nearest(TARGET, [disk, {"type": "ineq", "fun": lambda x: 9.0 - x[0]}])


def in_layer(p):
    layer = optimize.NonlinearConstraint(
        lambda x: x[0] + p * x[1], -np.inf, 1.0, jac=lambda x: np.array([[1.0, p]]))
    return nearest(TARGET, (layer,))


def on_linear(p):
    return nearest(TARGET, optimize.LinearConstraint(np.array([[1.0, p]]), 1.0, 1.0))


def radial(p):
    return TARGET * p / 5.0


PROGRAMS = {
    "equality": (on_line, foot), "inequality": (in_disk, radial), "nonlinear": (in_layer, foot),
    "linear": (on_linear, foot),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_those_of_the_closed_form(name):
    f, exact = PROGRAMS[name]
    p, h = 0.8, 1e-3

    def both(p):
        x = f(p)
        return x[0] ** 2 + 2.0 * x[1]

    def closed(p):
        x = exact(p)
        return x[0] ** 2 + 2.0 * x[1]

    wanted, curvature = grad(closed)(p), hessian(closed)(p)
    differences = (both(p + h) - both(p - h)) / (2 * h)
    assert np.isclose(differences, wanted, rtol=1e-4)
    assert np.allclose(f(p), exact(p), rtol=1e-8)
    assert np.isclose(grad(both)(p), wanted, rtol=1e-7)
    assert np.isclose(jvp(both, (p,), (1.0,))[1], wanted, rtol=1e-7)
    assert np.isclose(hessian(both)(p), curvature, rtol=1e-6, atol=1e-7)
    assert np.allclose(jacobian(f)(p), jacobian(exact)(p), rtol=1e-7)


def test_several_at_once_with_bounds():
    """On x + y + z = p with z <= q: x and y share what is left."""
    def f(p, q):
        plane = {"type": "eq", "fun": lambda x: np.array([np.sum(x) - p])}
        return optimize.minimize(
            lambda x: x[0] ** 2 + 2.0 * x[1] ** 2 - 9.0 * x[2], np.array([0.1, 0.2, 0.3]),
            constraints=[plane], bounds=[(None, None), (None, None), (None, q)], **EXACT).x

    table = jacobian(f, argnums=(0, 1))(2.0, 0.5)
    assert np.allclose(table[0], [2 / 3, 1 / 3, 0.0], atol=1e-9)
    assert np.allclose(table[1], [-2 / 3, -1 / 3, 1.0], atol=1e-9)


def test_an_objective_that_is_linear_and_its_value():
    def f(p):
        return optimize.minimize(
            lambda x: -x[0] - p * x[1], START, constraints=DISK, **EXACT).fun

    assert np.isclose(grad(f)(0.75), -0.6)  # -sqrt(1 + p^2)
    assert np.isclose(hessian(f)(0.75), -(1.25**-3.0))


DISK = optimize.NonlinearConstraint(
    lambda x: x @ x, -np.inf, 1.0, jac=lambda x: np.reshape(2.0 * x, (1, 2)))


def test_interior_points_and_default_tolerances():
    def by_default(p):
        return optimize.minimize(
            lambda x: np.sum((x - TARGET) ** 2), START,
            constraints=optimize.NonlinearConstraint(lambda x: x @ x, 0.01, p * p)).x[0]

    def interior(p):
        disk = optimize.NonlinearConstraint(
            lambda x: x @ x, 0.01, p * p, jac=lambda x: np.reshape(2.0 * x, (1, 2)),
            hess=lambda x, v: 2.0 * v[0] * np.eye(2))
        return optimize.minimize(
            lambda x: np.sum((x - TARGET) ** 2), START, method="trust-constr", tol=1e-12,
            jac=lambda x: 2.0 * (x - TARGET), hess=lambda x: 2.0 * np.eye(2), constraints=disk).x[0]

    assert np.isclose(grad(by_default)(2.0), 0.6, rtol=1e-3)
    assert np.isclose(grad(interior)(2.0), 0.6, rtol=1e-4)


def at_edge(p):
    edge = {"type": "ineq", "fun": lambda x: 1.0 - x[0]}
    return nearest(np.array([p, 0.0]), edge)[0]


def at_twice_the_edge(p):
    edges = [{"type": "ineq", "fun": lambda x: 1.0 - x[0]},
             {"type": "ineq", "fun": lambda x: 2.0 - 2.0 * x[0]}]
    return nearest(np.array([p, 0.0]), edges)[0]


def stopped_early(p):
    disk = {"type": "ineq", "fun": lambda x: p - x[0] ** 4 - x[1] ** 4}
    return optimize.minimize(
        lambda x: np.sum((x - TARGET) ** 4), START, constraints=disk, options={"maxiter": 2}).x[0]


def test_what_does_not_determine_the_minimum_is_an_error():
    assert (grad(at_edge)(0.5), grad(at_edge)(2.0)) == (1.0, 0.0)
    for f, p, words in (
        (at_edge, 1.0, "lies at constraint 0, with a multiplier"),
        (at_twice_the_edge, 2.0, "depend on one another"),
        (stopped_early, 2.0, "do not hold"),
    ):
        with pytest.raises(ValueError, match=words):
            grad(f)(p)
        with pytest.raises(ValueError, match=words):
            jvp(f, (p,), (1.0,))
