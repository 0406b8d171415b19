"""Integrals and differential equations: derivatives in limits, parameters, starts and times."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.linalg import expm, expm_frechet

from adcompiler import ADError, UnsupportedError, grad, jvp, vjp
from tests.lanes import one_in
from tests.language.check import check

MATRIX = np.array([[-0.5, 1.0], [-1.2, -0.3]])
START = np.array([1.0, 0.5])
FINE = {"rtol": 1e-10, "atol": 1e-12}


# -- integrals -------------------------------------------------------------------------------------


def test_an_integral_in_its_limits_and_parameters():
    def f(a, b, p):
        value, _ = integrate.quad(lambda x, q: math.exp(-p * x) * q, a, b, args=(p,))
        return value * p

    check(f, 0.1, 1.2, 0.7)

    def g(a, b, p):
        return integrate.quad(lambda x: math.exp(-p * x), a, b)[0]

    a_bar, b_bar, p_bar = grad(g, argnums=(0, 1, 2))(0.0, 2.0, 0.7)
    assert (a_bar, b_bar) == (-1.0, math.exp(-1.4))
    e = math.exp(-1.4)
    assert p_bar == pytest.approx((2.0 * e * 0.7 - (1.0 - e)) / 0.49, rel=1e-12)


def test_an_integral_of_vectors_and_of_matrices():
    def f(p, b):
        weights = np.array([1.0, 2.0])
        return np.sum(weights * integrate.quad_vec(
            lambda x: np.array([math.exp(-p * x), p * x * x]), 0.0, b)[0])

    check(f, 1.2, 0.7)
    tangent = jvp(f, (1.2, 0.7), (1.0, 2.0))[1]
    assert tangent == pytest.approx(np.dot(grad(f, argnums=(0, 1))(1.2, 0.7), (1.0, 2.0)), rel=1e-9)

    def g(p):
        return np.sum(integrate.quad_vec(
            lambda x, q: np.outer(p, np.exp(-q * x)), 0.0, np.inf, args=(p,))[0] ** 2)

    # the integral is outer(p, 1 / p)
    p = np.array([1.0, 2.0])
    wanted = grad(lambda p: np.sum(np.outer(p, 1.0 / p) ** 2))(p)
    assert np.allclose(grad(g)(p), wanted, rtol=1e-8)
    assert jvp(g, (p,), (p * p,))[1] == pytest.approx(wanted @ (p * p), rel=1e-8)

    with pytest.raises(ADError, match="second derivative"):
        grad(grad(f))(1.2, 0.7)


def test_an_integral_to_infinity_and_one_with_array_parameters():
    gauss = grad(lambda p: integrate.quad(lambda x: math.exp(-p * x * x), -np.inf, np.inf)[0])
    assert gauss(1.3) == pytest.approx(-0.5 * math.sqrt(math.pi) * 1.3**-1.5, rel=1e-9)

    def polynomial(c):
        return integrate.quad(lambda x: c[0] + c[1] * x + c[2] * x * x, -1.0, 2.0)[0] ** 2

    c = np.array([1.0, -2.0, 0.5])
    weights = np.array([3.0, 1.5, 3.0])
    np.testing.assert_allclose(grad(polynomial)(c), 2 * (c @ weights) * weights, rtol=1e-12)


def test_limits_the_other_way_and_points_where_the_integrand_breaks():
    def f(a, p):
        return integrate.quad(lambda x: abs(x - 0.3) ** p, a, -1.0, points=[0.3])[0]

    check(f, 1.0, 1.5, tol=1e-6)


def test_points_that_depend_on_what_is_differentiated():
    def f(r):
        return integrate.quad(lambda x: abs(x - r) ** 1.5, 0.0, 1.0, points=[r])[0]

    wanted = pytest.approx(0.3**1.5 - 0.7**1.5, rel=1e-7)
    assert grad(f)(0.3) == wanted
    assert vjp(f, 0.3)[1](1.0)[0] == wanted


def test_an_integrand_that_is_an_integral():
    def f(p):
        def inner(x):
            return integrate.quad(lambda y: math.sin(x * y * p), 0.0, x)[0]

        return integrate.quad(inner, 0.0, 1.0)[0]

    h = 1e-4
    assert grad(f)(0.8) == pytest.approx((f(0.8 + h) - f(0.8 - h)) / (2 * h), rel=1e-7)


# -- trajectories ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "tolerance"), one_in(3, [
    ("RK45", 1e-8), ("DOP853", 1e-9), ("RK23", 1e-5), ("Radau", 1e-6), ("BDF", 1e-5),
    ("LSODA", 1e-6),
]))
def test_a_linear_equation_in_its_start_and_matrix(method, tolerance):
    def last(y0, A):
        rtol = 1e-10 if method in ("RK45", "DOP853") else 1e-7
        sol = integrate.solve_ivp(
            lambda t, y: A @ y, (0.0, 2.0), y0, method=method, rtol=rtol, atol=1e-10)
        return sol.y[:, -1]

    g = np.array([1.0, -2.0])
    _, pullback = vjp(last, START, MATRIX)
    y0_bar, A_bar = pullback(g)
    np.testing.assert_allclose(y0_bar, expm(2.0 * MATRIX).T @ g, rtol=tolerance, atol=tolerance)
    wanted = np.zeros((2, 2))
    for at in np.ndindex(2, 2):
        unit = np.zeros((2, 2))
        unit[at] = 2.0
        wanted[at] = g @ expm_frechet(2.0 * MATRIX, unit, compute_expm=False) @ START
    np.testing.assert_allclose(A_bar, wanted, rtol=tolerance, atol=tolerance)


def test_ends_arguments_and_closures():
    def f(y0, w, k, t0, t1):
        sol = integrate.solve_ivp(
            lambda t, y, w: [y[1], -w * np.sin(y[0]) * t * k], (t0, t1), y0, method="DOP853",
            args=(w,), **FINE)
        return sol.y[0, -1] * sol.y[1, -1] + sol.t[-1] * sol.t[0]

    check(f, START, 1.4, 0.8, 0.2, 2.0)
    check(f, START, 1.4, 0.8, 2.0, 0.2)  # backwards


def test_outputs_at_given_times():
    def f(y0, w, times):
        sol = integrate.solve_ivp(
            lambda t, y: np.array([y[1], -w * y[0]]), (0.0, 3.0), y0, t_eval=times, **FINE)
        return np.sum(sol.y[0] * sol.y[1]) + sol.t[1]

    check(f, START, 1.4, np.array([0.3, 1.0, 2.5]))
    times = np.array([0.0, 1.0, 3.0])
    y0_bar, w_bar, times_bar = grad(f, argnums=(0, 1, 2))(START, 1.4, times)
    w = math.sqrt(1.4)

    def exact(y0, w, t):
        y = y0[0] * np.cos(w * t) + y0[1] / w * np.sin(w * t)
        v = -y0[0] * w * np.sin(w * t) + y0[1] * np.cos(w * t)
        return y, v

    def total(y0, square):
        y, v = exact(y0, math.sqrt(square), times)
        return np.sum(y * v)

    h = 1e-5
    for i, bar in enumerate(y0_bar):
        step = h * np.eye(2)[i]
        wanted = (total(START + step, 1.4) - total(START - step, 1.4)) / (2 * h)
        assert bar == pytest.approx(wanted, rel=1e-7)
    wanted = (total(START, 1.4 + h) - total(START, 1.4 - h)) / (2 * h)
    assert w_bar == pytest.approx(wanted, rel=1e-7)
    y, v = exact(START, w, times)
    np.testing.assert_allclose(times_bar, v * v - 1.4 * y * y + [0, 1, 0], rtol=1e-6)


@pytest.mark.parametrize("first", [False, True])
def test_odeint(first):
    def f(y0, w, times):
        if first:
            y = integrate.odeint(
                lambda t, y, w: [y[1], -w * y[0] * t], y0, times, args=(w,), tfirst=True, **FINE)
        else:
            y = integrate.odeint(lambda y, t: [y[1], -w * y[0] * t], y0, times, **FINE)
        return np.sum(y[:, 0] * y[:, 1] ** 2)

    check(f, START, 1.4, np.array([0.1, 1.0, 2.5]), tol=1e-6)


def test_a_trajectory_inside_of_a_loop_of_a_larger_program():
    def f(p):
        y = np.array([1.0, 0.0])
        for k in range(3):
            sol = integrate.solve_ivp(lambda t, y, k=k: -p * y + k, (0.0, 0.5), y * p, **FINE)
            y = sol.y[:, -1] + y
        return y[0] * y[1]

    check(f, 0.8)


def test_a_failed_integration_has_no_derivative():
    def f(p):
        return integrate.solve_ivp(lambda t, y: p * y * y, (0.0, 3.0), np.array([1.0])).y[0, -1]

    with pytest.raises(ValueError, match="the integration failed"):
        grad(f)(1.0)


def test_what_is_not_known_of_trajectories_is_refused():
    def f(p):
        return integrate.solve_ivp(
            lambda t, y: -p * y, (0.0, 1.0), [1.0], vectorized=True).y[0, -1]

    with pytest.raises(UnsupportedError, match="unexpected argument `vectorized`"):
        grad(f)(1.0)


def test_results_that_are_not_there_are_refused():
    with pytest.raises(UnsupportedError, match="njev"):
        grad(lambda p: integrate.solve_ivp(
            lambda t, y: -p * y, (0.0, 1.0), [1.0]).njev * p)(1.0)
    with pytest.raises(UnsupportedError, match="not subscriptable"):
        grad(lambda p: integrate.solve_ivp(
            lambda t, y: -p * y, (0.0, 1.0), [1.0]).t_events[0])(1.0)


def test_singular_ends_of_the_integrands_derivative():
    def quarter(r):
        return integrate.quad(lambda x: math.sqrt(r * r - x * x), 0, r)[0]

    def quarter_by_args(r):
        return integrate.quad(lambda x, r: np.sqrt(r * r - x * x), 0, r, args=(r,))[0]

    for f in (quarter, quarter_by_args):
        assert grad(f)(1.0) == pytest.approx(math.pi / 2.0, abs=1e-9)
        assert grad(f)(3.0) == pytest.approx(1.5 * math.pi, abs=1e-9)


def test_a_constant_limit_where_the_integrand_is_infinite():
    def scaled(r):
        return integrate.quad(lambda x: r / math.sqrt(x), 0, 1)[0]

    assert grad(scaled)(3.0) == pytest.approx(2.0, abs=1e-8)
    assert grad(lambda b: integrate.quad(lambda x: 1 / math.sqrt(x), 0, b)[0])(4.0) == 0.5


def test_what_is_not_finite_is_refused_by_name():
    def from_below(a):
        return integrate.quad(lambda x: 1 / math.sqrt(x), a, 1)[0]

    def kinked(r, points=None):
        return integrate.quad(lambda x: math.sqrt(abs(x - r)), 0, 1, points=points)[0]

    with pytest.raises(ADError, match=r"integrals.py:\d+: the derivative of quad\(\) in a"):
        grad(from_below)(0.0)
    with pytest.raises(ADError, match="points="):
        grad(kinked)(0.5)
    wanted = math.sqrt(0.4) - math.sqrt(0.6)
    assert grad(kinked)(0.4, points=[0.4]) == pytest.approx(wanted, abs=2e-6)


def test_a_right_hand_side_that_returns_a_number():
    def decayed(k):
        return integrate.odeint(lambda y, t: -k * y[0], 1.0, np.array([0.0, 0.5, 1.0]))[-1, 0]

    assert grad(decayed)(1.3) == pytest.approx(-math.exp(-1.3), rel=1e-6)
    assert grad(lambda k: integrate.odeint(lambda y, t: -k, 1.0, [0.0, 2.0])[-1, 0])(1.3) == (
        pytest.approx(-2.0)
    )
