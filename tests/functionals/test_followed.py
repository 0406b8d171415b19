"""Solutions in forward mode and to higher orders; solvers that fail."""

import math

import numpy as np
import pytest
from scipy import optimize

from adcompiler import (
    ADError, grad, hessian, jacfwd, jet, jvp, nth_derivative, value_and_grad, vjp,
)
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

MATRIX = np.array([[3.0, 1.0], [1.0, 2.0]])
P = np.array([0.8, 1.2])
NUMBERS = {
    "brentq": lambda p: optimize.brentq(lambda z: z**3 + p[0] * z - p[1], 0.0, 3.0, xtol=1e-14),
    "args": lambda p: optimize.brenth(
        lambda z, a, b: z**3 + a * z - b, 0.0, 3.0, (p[0], p[1]), 1e-14),
    "newton": lambda p: optimize.newton(lambda z: z**3 + p[0] * z - p[1], 1.0, tol=1e-13),
    "root_scalar": lambda p: optimize.root_scalar(
        lambda z: z**3 + p[0] * z - p[1], bracket=(0.0, 3.0), xtol=1e-14).root,
    "fixed_point": lambda p: optimize.fixed_point(
        lambda z: 0.5 * np.cos(p[0] * z) + 0.1 * p[1], 0.5, xtol=1e-14),
    "minimize_scalar": lambda p: optimize.minimize_scalar(
        lambda z: (z - p[0]) ** 4 + p[1] * z**2, bracket=(-2.0, 2.0), tol=1e-14).x,
}
SYSTEMS = {
    "root": lambda p: optimize.root(
        lambda z: MATRIX @ z + z**3 * p - p, np.array([0.3, 1.0]), tol=1e-13).x,
    "fsolve": lambda p: optimize.fsolve(
        lambda z, p: MATRIX @ z + z**3 * p - p, np.array([0.3, 1.0]), (p,), xtol=1e-13),
    "newton": lambda p: optimize.newton(lambda z: z**3 + p * z - 1.0, np.ones(2), tol=1e-14),
    "fixed_point": lambda p: optimize.fixed_point(
        lambda z: 0.3 * np.cos(p * z), np.ones(2), xtol=1e-14),
}


@pytest.mark.parametrize("name", one_in(6, NUMBERS))
def test_numbers(name):
    tol = 2e-5 if name == "minimize_scalar" else 2e-6
    agrees(lambda p: NUMBERS[name](p) ** 2 * p[0], P, tol=tol, h=1e-3 if tol > 1e-5 else 1e-4)


@pytest.mark.parametrize("name", one_in(4, SYSTEMS))
def test_systems(name):
    agrees(lambda p: np.sum(SYSTEMS[name](p) ** 3 * p), P, tol=2e-6, h=1e-4)


def test_minima_of_several_variables():
    def ridge(p):
        start = np.array([0.3, 1.0])
        return np.sum(optimize.minimize(
            lambda z: np.sum((MATRIX @ z - p) ** 2) + np.sum(z**4), start, tol=1e-12).x ** 2)

    h = 1e-4
    wanted = [(grad(ridge)(P + h * e) - grad(ridge)(P - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(hessian(ridge)(P), wanted, atol=2e-5)
    np.testing.assert_allclose(jacfwd(ridge)(P), grad(ridge)(P), atol=1e-6)


def test_systems_written_by_element_in_forward_mode():
    def f(p):
        def residual(z):
            return [3.0 * z[0] + p[0] * z[1] ** 2 - 2.0, z[1] ** 3 + p[1] * z[0] + z[1] - 1.0]

        return np.sum(optimize.root(residual, np.array([0.3, 1.0]), tol=1e-13).x ** 2)

    agrees(f, P, order=1)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_order_of_a_square_root(order):
    def root(p):
        return optimize.brentq(lambda z: z * z - p, 0.0, 9.0, xtol=1e-15)

    wanted = math.prod(0.5 - k for k in range(order)) * 2.0 ** (0.5 - order)
    f = root
    for _ in range(order):
        f = grad(f)
    assert f(2.0) == pytest.approx(wanted, rel=1e-11)
    if order == 4:
        with pytest.raises(UncoveredError, match="up to the order 4"):
            grad(f)(2.0)
    if order < 4:
        forward = root
        for _ in range(order):
            forward = lambda p, f=forward: jvp(f, (p,), (1.0,))[1]  # noqa: E731
        assert forward(2.0) == pytest.approx(wanted, rel=1e-11)


def test_the_same_solution_at_several_orders():
    def root(p):
        return optimize.brentq(lambda z: z * z - p, 0.0, 9.0, xtol=1e-15)

    def mixed(p):
        first = grad(root)
        return root(p) + first(p) + grad(first)(p) + grad(grad(first))(p)

    terms = (0.5, -0.25, 0.375, -0.9375)
    wanted = sum(c * 2.0 ** (-k - 0.5) for k, c in enumerate(terms))
    assert grad(mixed)(2.0) == pytest.approx(wanted, rel=1e-11)
    assert jvp(mixed, (2.0,), (1.0,))[1] == pytest.approx(wanted, rel=1e-11)


def test_series_of_solutions_are_right_or_refused():
    def root(p):
        return optimize.brentq(lambda z: z * z - p, 0.0, 9.0, xtol=1e-15)

    for f, start in ((root, 0), (grad(root), 1)):
        try:
            found = jet(f, 4)(2.0)
        except ADError:
            continue
        for k, value in enumerate(found, start):
            wanted = math.prod(0.5 - i for i in range(k)) * 2.0 ** (0.5 - k)
            assert value == pytest.approx(wanted, rel=1e-9)
    try:
        assert nth_derivative(root, 4)(2.0) == pytest.approx(-0.9375 * 2.0**-3.5, rel=1e-9)
    except ADError as error:
        assert "solution" in str(error)


# -- solvers that fail -----------------------------------------------------------------------------


def stuck(p):
    """A system that has no root: its first equation never vanishes."""
    return optimize.root(lambda z: z * z + p, np.array([0.3, 1.0]))


def test_a_root_that_was_not_found_has_no_derivative():
    with pytest.raises(ValueError, match="has not found a solution"):
        value_and_grad(lambda p: np.sum(stuck(p).x))(P)
    with pytest.raises(ValueError, match="has not found a solution"):
        jvp(lambda p: np.sum(stuck(p).x), (P,), (P,))
    with (
        pytest.warns(RuntimeWarning, match="good progress"),
        pytest.raises(ValueError, match="has not found a solution"),
    ):
        grad(lambda p: np.sum(optimize.fsolve(lambda z: z * z + p, np.array([0.3, 1.0]))))(P)
    with pytest.raises(ValueError, match="has not found a solution"):
        grad(lambda p: optimize.root_scalar(
            lambda z: z**3 - p, x0=9.0, fprime=lambda z: 3 * z * z, method="newton", maxiter=2
        ).root)(2.0)
    with pytest.raises(ValueError, match="has not found a solution"):
        grad(lambda p: np.sum(optimize.minimize(
            lambda z: np.sum((z - p) ** 4), 9.0 * np.ones(2), options={"maxiter": 2}).x))(P)


def test_the_value_of_what_was_not_found_is_there():
    value, pullback = vjp(lambda p: (stuck(p).success, np.sum(p)), P)
    assert value == (False, 2.0)
    assert pullback((None, 1.0))[0].tolist() == [1.0, 1.0]

    def or_else(p):
        found = stuck(p)
        return np.sum(found.x) if found.success else np.sum(p * p)

    assert grad(or_else)(P).tolist() == [1.6, 2.4]


def test_a_solver_that_complains_at_a_solution():
    def f(p):
        return np.sum(optimize.root(lambda z: z**3 - p, np.ones(2), tol=1e-300).x)

    assert not optimize.root(lambda z: z**3 - P, np.ones(2), tol=1e-300).success
    np.testing.assert_allclose(grad(f)(P), P ** (-2.0 / 3.0) / 3.0, rtol=1e-9)
