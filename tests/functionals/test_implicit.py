"""Solutions of equations and minima: derivatives by the implicit function theorem."""

import math

import numpy as np
import pytest
from scipy import optimize

from adcompiler import UnsupportedError, grad, source, value_and_grad, vjp
from adcompiler_rules import implicit
from tests.language.check import check

EXACT = {"rel": 1e-12}
POWER = 3.0


def cube_root(p):
    """The derivative of the cube root of ``p``."""
    return p ** (1.0 / 3.0), p ** (-2.0 / 3.0) / 3.0


def equation(x, p):
    return x**3 - p


def slope(x, p):
    return 3.0 * x**2


def curvature(x, p):
    return 6.0 * x


SOLVERS = {
    "brentq": lambda p: optimize.brentq(equation, 0.0, 9.0, args=(p,)),
    "brenth": lambda p: optimize.brenth(equation, 0.0, 9.0, args=(p,), xtol=1e-13),
    "bisect": lambda p: optimize.bisect(equation, 0.0, 9.0, args=(p,)),
    "ridder": lambda p: optimize.ridder(equation, 0.0, 9.0, args=p),
    "toms748": lambda p: optimize.toms748(equation, 0.0, 9.0, args=(p,), k=2),
    "newton": lambda p: optimize.newton(equation, 1.0, slope, args=(p,)),
    "secant": lambda p: optimize.newton(equation, 1.0, args=(p,)),
    "halley": lambda p: optimize.newton(equation, 1.0, slope, args=(p,), fprime2=curvature),
    "root_scalar": lambda p: optimize.root_scalar(equation, args=(p,), bracket=(0.0, 9.0)).root,
    "root_scalar newton": lambda p: optimize.root_scalar(
        equation, args=(p,), x0=1.0, fprime=slope, method="newton").root,
    "captured": lambda p: optimize.brentq(lambda x: x**POWER - p, 0.0, 9.0),
    "fsolve": lambda p: optimize.fsolve(equation, 1.0, args=p)[0],
    "fsolve slope": lambda p: optimize.fsolve(
        lambda x: x[0] ** 3 - p, [1.0], fprime=lambda x: [[3.0 * x[0] ** 2]])[0],
    "root": lambda p: optimize.root(equation, [1.0], args=(p,), tol=1e-13).x[0],
    "root lm": lambda p: optimize.root(equation, np.ones(1), args=p, method="lm", tol=1e-14).x[0],
    "fixed_point": lambda p: optimize.fixed_point(lambda x: (2.0 * x + p / x**2) / 3.0, 1.5),
    "fixed_point iteration": lambda p: optimize.fixed_point(
        lambda x, q: (2.0 * x + q / x**2) / 3.0, 1.5, args=(p,), method="iteration"),
    "least_squares": lambda p: optimize.least_squares(
        equation, 1.0, args=(p,), xtol=1e-15, ftol=1e-15, gtol=1e-15).x[0],
}


@pytest.mark.parametrize("name", SOLVERS)
def test_the_slope_of_a_cube_root(name):
    value, found = value_and_grad(SOLVERS[name])(2.0)
    wanted_value, wanted = cube_root(2.0)
    assert value == SOLVERS[name](2.0)  # the library's own answer
    assert value == pytest.approx(wanted_value, rel=1e-9)
    assert found == pytest.approx(wanted, rel=1e-8)
    assert type(found) is float


def test_derivatives_go_to_arguments_and_to_what_is_captured_and_only_there():
    def f(p, q, start):
        x = optimize.brentq(lambda x, q: x * q + math.exp(x) - p, -start, start, args=(q,))
        return x * x * p

    value, (p_bar, q_bar, start_bar) = value_and_grad(f, argnums=(0, 1, 2))(3.0, 0.5, 4.0)
    x = math.sqrt(value / 3.0)
    dx = 1.0 / (0.5 + math.exp(x))
    assert p_bar == pytest.approx(x * x + 6.0 * x * dx, **EXACT)
    assert q_bar == pytest.approx(-6.0 * x * x * dx, **EXACT)
    assert start_bar == 0.0


def test_a_solver_in_a_loop_and_in_a_branch():
    def f(p):
        total = p
        for k in range(1, 4):
            if k != 2:
                total += optimize.brentq(lambda x, k, c: x**k - c, 0.0, 50.0, args=(k, total))
        return total

    check(f, 2.5, tol=1e-6)


def test_systems_of_equations():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(4, 4)) + 4.0 * np.eye(4), rng.normal(size=4)

    def solve(A, b):
        return optimize.root(lambda x: A @ x - b, np.zeros(4), tol=1e-13).x

    x, pullback = vjp(solve, A, b)
    g = rng.normal(size=4)
    m = np.linalg.solve(A.T, g)
    A_bar, b_bar = pullback(g)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9)
    np.testing.assert_allclose(b_bar, m, rtol=1e-9)
    np.testing.assert_allclose(A_bar, -np.outer(m, np.linalg.solve(A, b)), rtol=1e-9)


@pytest.mark.parametrize("method", ["hybr", "krylov", "df-sane"])
def test_nonlinear_systems_with_lists_and_jacobians(method):
    def f(p, q):
        def residual(x):
            return [x[0] + 0.1 * x[1] ** 2 - p, x[1] + 0.1 * np.sin(x[0]) * q]

        sol = optimize.root(residual, [1.0, 1.0], method=method, tol=1e-12)
        return sol.x[0] * sol.x[1] + sol.fun[0] + 0.0 * sol.success

    check(f, 0.7, 1.2, tol=1e-6)

    def with_jacobian(p):
        def both(x):
            return np.array([x[0] ** 2 - p, x[1] - x[0]]), np.array([[2 * x[0], 0.0], [-1.0, 1.0]])

        return optimize.root(both, np.ones(2), jac=True, tol=1e-13).x[1]

    assert grad(with_jacobian)(2.0) == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-9)


def test_many_unknowns_are_solved_for_without_a_jacobian(monkeypatch):
    weights = np.cos(np.arange(30.0))

    def f(p):
        x = optimize.fsolve(lambda x: x + 0.1 * np.roll(x, 1) ** 3 - p * weights, np.zeros(30))
        return np.sum(x * x)

    dense = grad(f)(1.3)
    monkeypatch.setattr(implicit, "DENSE", 10)
    assert grad(f)(1.3) == pytest.approx(dense, rel=1e-9)
    check(f, 1.3, tol=1e-6)


def test_a_fixed_point_of_vectors_and_a_root_of_each_element():
    def f(p, w):
        x = optimize.fixed_point(lambda x: 0.3 * np.cos(w @ x) * p, np.zeros(3), method="iteration")
        return np.sum(x * x)

    rng = np.random.default_rng(1)
    check(f, 1.2, rng.normal(size=(3, 3)), tol=1e-6)

    def roots(p):
        return np.sum(optimize.newton(lambda x: x**3 - p, np.ones(3)))

    p = np.array([2.0, 3.0, 4.0])
    np.testing.assert_allclose(grad(roots)(p), p ** (-2 / 3) / 3, rtol=1e-8)


def test_a_complex_root():
    def f(p):
        z = optimize.newton(lambda z: z * z + p, 0.5 + 1.0j, tol=1e-14)
        return z.imag

    assert grad(f)(2.0) == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-10)


def test_as_many_equations_as_unknowns_are_needed():
    def f(p):
        return optimize.root(lambda x: np.array([x[0] - p, x[0] - p]), [0.0], method="lm").x[0]

    with pytest.raises(ValueError, match="2 equations in 1 unknowns"):
        grad(f)(1.0)


# -- minima ----------------------------------------------------------------------------------------


def test_a_quadratic_minimum():
    rng = np.random.default_rng(2)
    half = rng.normal(size=(3, 3))
    A, b = half @ half.T + np.eye(3), rng.normal(size=3)

    def f(A, b):
        sol = optimize.minimize(
            lambda x: 0.5 * x @ A @ x - b @ x, np.zeros(3), jac=lambda x: A @ x - b, tol=1e-13)
        return sol.x

    x, pullback = vjp(f, A, b)
    g = rng.normal(size=3)
    A_bar, b_bar = pullback(g)
    m = np.linalg.solve(A, g)
    np.testing.assert_allclose(b_bar, m, rtol=1e-8)
    symmetric = -0.5 * (np.outer(m, x) + np.outer(x, m))
    np.testing.assert_allclose(0.5 * (A_bar + A_bar.T), symmetric, rtol=1e-7)


@pytest.mark.parametrize("options", [
    {"method": "BFGS"}, {"method": "Nelder-Mead", "options": {"xatol": 1e-10, "fatol": 1e-14}},
    {"method": "CG"}, {},
])
def test_a_minimum_in_closed_form(options):
    def f(p, q):
        sol = optimize.minimize(
            lambda x, q: np.cosh(x[0] - p) + q * (x[1] - x[0]) ** 2, np.zeros(2), args=(q,),
            tol=1e-9, **options)
        return sol.x[0] * sol.x[1] + sol.fun * q

    p_bar, q_bar = grad(f, argnums=(0, 1))(0.7, 2.0)
    assert p_bar == pytest.approx(2 * 0.7, rel=1e-5)  # x = (p, p), and the value there is 1
    assert q_bar == pytest.approx(1.0, rel=1e-5)


def test_the_value_at_a_minimum_changes_as_the_function_does():
    def lowest(p):
        return optimize.minimize_scalar(lambda x: (x - p) ** 2 * 3.0 + math.sin(p)).fun

    assert grad(lowest)(0.4) == pytest.approx(math.cos(0.4), rel=1e-7)


@pytest.mark.parametrize("options", [
    {}, {"bracket": (0.0, 1.0)}, {"bounds": (-2.0, 3.0), "method": "bounded"},
])
def test_a_minimum_of_one_variable(options):
    def f(p):
        return optimize.minimize_scalar(lambda x: math.exp(x) - p * x, **options).x

    found = grad(f)(2.0)
    assert found == pytest.approx(0.5, rel=1e-5)  # x = log(p)
    assert type(found) is float


def test_a_minimum_at_the_end_of_an_interval_is_refused():
    def f(p):
        return optimize.minimize_scalar(lambda x: p * x, bounds=(0.0, 1.0), method="bounded").x

    with pytest.raises(ValueError, match="lies at an end of the interval"):
        grad(f)(2.0)


def test_least_squares_in_data_and_closed_form():
    t = np.linspace(0.0, 1.0, 6)

    def fit(y):
        sol = optimize.least_squares(lambda c, t: c[0] + c[1] * t - y, [0.0, 0.0], args=(t,))
        return sol.x[1]

    y = np.sin(3 * t)
    centred = t - t.mean()
    np.testing.assert_allclose(grad(fit)(y), centred / (centred @ centred), rtol=1e-7)

    def curved(y):  # the residual is not zero at the solution, and curves
        sol = optimize.least_squares(
            lambda c: np.exp(c[0] * t) - y, [0.0], xtol=1e-15, ftol=1e-15, gtol=1e-15)
        return sol.x[0]

    c = curved(y)
    e = np.exp(c * t)
    wanted = t * e / np.sum(t * t * e * (2 * e - y))
    np.testing.assert_allclose(grad(curved)(y), wanted, rtol=1e-6)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "message"), [
    (lambda p: optimize.brentq(equation, 0.0, 9.0, args=(p,), full_output=True)[0], "full_output"),
    (lambda p: optimize.minimize(lambda x: (x[0] - p) ** 2, [0.0], callback=print).x[0],
     "callback"),
    (lambda p: optimize.least_squares(lambda x: x - p, [0.0], loss="cauchy").x[0], "loss"),
    (lambda p: optimize.fsolve(lambda x: x - p, [0.0], full_output=1)[0][0], "full_output"),
])
def test_arguments_that_have_no_rule_are_refused(call, message):
    said = f"has no rule .unexpected argument `{message}`"
    with pytest.raises(UnsupportedError, match=said) as refused:
        grad(call)(0.5)
    assert refused.value.findings[0].file == __file__


def test_what_a_result_does_not_have_is_refused():
    with pytest.raises(UnsupportedError, match="hess_inv"):
        grad(lambda p: optimize.minimize(lambda x: (x[0] - p) ** 2, [0.0]).hess_inv[0, 0])(0.5)


def test_a_function_that_writes_or_draws_is_refused():
    rng = np.random.default_rng(0)

    def noisy(x, p):
        return x - p * rng.normal()

    with pytest.raises(UnsupportedError, match="draws random numbers"):
        grad(lambda p: optimize.brentq(noisy, -9.0, 9.0, args=(p,)))(0.5)


def test_a_solution_that_nobody_differentiates():
    def f(p, q):
        return q * optimize.brentq(equation, 0.0, 9.0, args=(p,))

    assert grad(f, argnums=1)(2.0, 1.0) == pytest.approx(cube_root(2.0)[0], rel=1e-11)
    assert "root_pullback" not in source(grad(f, argnums=1).primal, 2.0, 1.0, argnums=1)
