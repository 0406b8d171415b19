"""Trajectories in forward mode and to higher orders."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import integrate

from adcompiler import (
    grad, hessian, jacfwd, jacobian, jvp, value_and_grad,
)
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

trapezoid = getattr(np, "trapezoid", None) or np.trapz  # NumPy 1 has the other name


@dataclass(frozen=True)
class Force:
    size: float
    rate: float


FINE = {"rtol": 1e-10, "atol": 1e-12}
P = np.array([0.8, 1.3, 0.4])


def pendulum(t, y, p):
    return np.array([y[1], -p[0] * np.sin(y[0]) - p[2] * y[1] + 0.1 * np.cos(p[1] * t)])


SPAN = (0.0, 1.5)
SWINGS = {
    "RK45": lambda p: np.sum(integrate.solve_ivp(
        pendulum, SPAN, p[:2], args=(p,), **FINE).y[:, -1] ** 2 * p[1:]),
    "RK23": lambda p: np.sum(integrate.solve_ivp(
        pendulum, SPAN, p[:2], "RK23", args=(p,), rtol=1e-7, atol=1e-9).y[:, -1] ** 2),
    "DOP853": lambda p: np.sum(integrate.solve_ivp(
        pendulum, SPAN, p[:2], "DOP853", args=(p,), **FINE).y[:, -1] ** 2),
    "Radau": lambda p: np.sum(integrate.solve_ivp(
        pendulum, SPAN, p[:2], "Radau", args=(p,), rtol=1e-8, atol=1e-9).y[:, -1] ** 2),
    "BDF": lambda p: np.sum(integrate.solve_ivp(
        pendulum, SPAN, p[:2], "BDF", args=(p,), rtol=1e-7, atol=1e-8).y[:, -1] ** 2),
    "LSODA": lambda p: np.sum(integrate.solve_ivp(
        pendulum, SPAN, p[:2], "LSODA", args=(p,), rtol=1e-9, atol=1e-10).y[:, -1] ** 2),
}


@pytest.mark.parametrize("name", one_in(6, SWINGS))
def test_methods(name):
    rough = name in ("RK23", "BDF")
    agrees(SWINGS[name], P, tol=3e-4 if rough else 3e-6, h=1e-3 if rough else 1e-4)


@pytest.mark.thorough
def test_ends_and_times_of_outputs_move():
    def f(p):
        sol = integrate.solve_ivp(
            lambda t, y: [-p[0] * y[0] * t, y[0] * y[1]], (0.1 * p[1], p[2] + 1.0), [p[0], 0.5],
            t_eval=np.array([0.3, 0.6, 1.0]) * p[1], **FINE)
        return np.sum(sol.y * np.array([1.0, 2.0, 3.0])) + np.sum(sol.t**2)

    def ends(p):
        span = 0.1 * p[1], p[2] + 1.0
        sol = integrate.solve_ivp(lambda t, y: -p[0] * y * t, span, p[:1], **FINE)
        return sol.y[0, -1] * sol.t[-1] + sol.t[0] ** 2

    agrees(f, P, h=1e-4)
    agrees(ends, P, h=1e-4)


@pytest.mark.thorough
def test_backwards_in_time():
    agrees(lambda p: integrate.solve_ivp(
        lambda t, y: p[0] * y + t * p[1], (1.0, -p[2]), p[:1], **FINE).y[0, -1], P, h=1e-4)


def test_odeint():
    def f(p):
        y = integrate.odeint(
            lambda y, t, w: np.array([y[1], -w["k"] * y[0] ** 3]), p[:2],
            np.array([0.1, 0.5, 1.0]) * p[2], ({"k": p[1]},), **FINE)
        return np.sum(y[1:] ** 2)

    agrees(f, P, h=1e-4, tol=3e-6)


def test_a_number_as_state_and_parameter():
    def f(a):
        return integrate.odeint(lambda y, t: a * y, a, np.array([0.0, 0.7]), **FINE)[1, 0]

    t, a, y = 0.7, 0.6, np.exp(0.7 * 0.6)
    assert f(a) == pytest.approx(a * y)
    assert jvp(f, (a,), (1.0,))[1] == pytest.approx((1.0 + a * t) * y, rel=1e-7)
    assert grad(grad(f))(a) == pytest.approx((2.0 * t + a * t * t) * y, rel=1e-6)


def growth(t, y):
    return 40.0 * np.cos(20.0 * t) * y + y * y


@pytest.mark.parametrize("f", one_in(2, [
    lambda y0: integrate.solve_ivp(growth, (0.0, 1.0), y0).y[0, -1],
    lambda y0: integrate.solve_ivp(growth, (0.0, 1.0), y0, method="Radau").y[0, -1],
]), ids=["explicit", "implicit"])
def test_an_equilibrium_says_nothing_of_the_steps_that_its_variations_need(f):
    wanted = np.exp(2.0 * np.sin(20.0))
    t = np.linspace(0.0, 1.0, 20001)
    inner = trapezoid(np.exp(2.0 * np.sin(20.0 * t)), t)
    zero = np.zeros(1)
    assert jvp(f, (zero,), (np.ones(1),))[1] == pytest.approx(wanted, rel=1e-5)
    assert hessian(f)(zero)[0, 0] == pytest.approx(2.0 * wanted * inner, rel=1e-4)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:invalid value encountered in subtract:RuntimeWarning")
def test_a_stiff_equation():
    """BDF of SciPy subtracts storage that it has not written yet, and does not read the result."""
    def f(p):
        sol = integrate.solve_ivp(
            lambda t, y: [-1e4 * p[0] * (y[0] - np.cos(p[1] * t)), y[0] - p[2] * y[1] ** 3],
            (0.0, 1.0), [p[2], 1.0], method="BDF", rtol=1e-6, atol=1e-8)
        return np.sum(sol.y[:, -1])

    agrees(f, P, tol=3e-4, h=1e-2)


def test_jacobians_of_all_outputs():
    A = np.array([[0.0, 1.0], [-2.0, -0.3]])

    def f(y0):
        return integrate.odeint(lambda y, t: A @ y, y0, np.array([0.0, 0.5, 1.0]), **FINE)

    y0 = np.array([1.0, -0.5])
    wanted = np.stack([f(e) for e in np.eye(2)], -1)
    np.testing.assert_allclose(jacfwd(f)(y0), wanted, atol=1e-7)
    np.testing.assert_allclose(jacobian(f)(y0), wanted, atol=1e-7)


def test_what_has_no_derivative():
    def late(p):
        return integrate.solve_ivp(lambda t, y: p * y * y, (0.0, 3.0), np.ones(1)).y[0, -1]

    with pytest.raises(ValueError, match="integration failed"):
        jvp(late, (1.0,), (1.0,))
    with pytest.raises(TypeError, match="complex trajectory"):
        jvp(lambda p: abs(integrate.solve_ivp(
            lambda t, y: 1j * p * y, (0.0, 1.0), np.ones(1) * (1 + 0j)).y[0, -1]), (1.0,), (1.0,))

    def f(p):
        return integrate.odeint(lambda y, t: p * y, 1.0, np.array([0.0, 0.7]))[1, 0]

    g = f
    for _ in range(5):
        g = grad(g)
    with pytest.raises(UncoveredError, match="up to the order 4"):
        g(0.3)
    value, _ = value_and_grad(f)(0.3)
    assert value == f(0.3)


@pytest.mark.parametrize("rate, method", one_in(3, [
    (10.0, "RK45"), (50.0, "RK45"), (300.0, "RK45"),
    (10.0, "LSODA"), (50.0, "LSODA"), (300.0, "LSODA"),
]))
def test_parameters_that_act_faster_than_the_solution_moves(rate, method):
    """At 0 the forcing is not seen by the solution, nor by its adjoint."""
    wanted = (np.sin(10.0 * rate) - rate * (np.cos(10.0 * rate) - np.exp(-10.0))) / (1.0 + rate**2)

    def end(p):
        return integrate.solve_ivp(
            lambda t, y: -y + p["size"] * np.sin(rate * t), (0.0, 10.0), np.ones(1), method,
            rtol=1e-6, atol=1e-8).y[0, -1]

    assert grad(end)({"size": 0.0})["size"] == pytest.approx(wanted, abs=2e-6)
    _, along = jvp(end, ({"size": 0.0},), ({"size": 1.0},))
    assert along == pytest.approx(wanted, abs=2e-6)


def test_fields_of_an_instance_that_act_faster_than_the_solution_moves():
    wanted = (np.sin(500.0) - 50.0 * (np.cos(500.0) - np.exp(-10.0))) / 2501.0

    def end(force):
        return integrate.solve_ivp(
            lambda t, y, force: -y + force.size * np.sin(force.rate * t), (0.0, 10.0), np.ones(1),
            args=(force,), rtol=1e-6, atol=1e-8).y[0, -1]

    force = Force(0.0, 50.0)
    assert grad(end)(force).size == pytest.approx(wanted, abs=2e-6)
    assert jvp(end, (force,), (Force(1.0, 0.0),))[1] == pytest.approx(wanted, abs=2e-6)
    assert force == Force(0.0, 50.0)


def test_parameters_that_act_in_a_moment_only():
    def end(p, q):
        return integrate.solve_ivp(
            lambda t, y, p: -y + p * np.exp(-1e4 * (t - 0.7) ** 2) * np.array([1.0, q]),
            (0.0, 2.0), np.ones(2), args=(p,), rtol=1e-8, atol=1e-10).y.sum(axis=0)[-1]

    t = np.linspace(0.5, 0.9, 40001)
    wanted = trapezoid(np.exp(-1e4 * (t - 0.7) ** 2 - (2.0 - t)), t) * 3.0
    assert grad(end)(0.0, 2.0) == pytest.approx(wanted, rel=1e-6)
    assert jvp(end, (0.0, 2.0), (1.0, 0.0))[1] == pytest.approx(wanted, rel=1e-5)
