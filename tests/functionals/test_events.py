"""Events of ``solve_ivp``, and its interpolated solution."""

import math

import numpy as np
import pytest
from scipy import integrate

from adcompiler import UnsupportedError, grad, hessian, jacfwd, jvp, value_and_grad

FINE = {"rtol": 1e-10, "atol": 1e-12}


def fall(t, y, g):
    return [y[1], -g]


def ground(t, y, g):
    return y[0]


ground.terminal = True
ground.direction = -1


def apex(t, y, g):
    return y[1]


def drop(p):
    return integrate.solve_ivp(
        fall, (0.0, 10.0), [p[0], p[1]], args=(p[2],), events=(ground, apex), **FINE)


def slopes(f, p, h=1e-4):
    return np.array([
        (8 * (f(p + h * e) - f(p - h * e)) - (f(p + 2 * h * e) - f(p - 2 * h * e))) / (12 * h)
        for e in np.eye(p.size)])


def both_modes(f, p, expected, tol=1e-7):
    np.testing.assert_allclose(grad(f, fallback="refuse")(p), expected, rtol=tol, atol=tol)
    np.testing.assert_allclose(jacfwd(f)(p), expected, rtol=tol, atol=tol)


BALL = np.array([1.5, 2.0, 9.0])  # height, upward speed, gravity


def test_the_time_of_an_event_in_closed_form():
    h, v, g = BALL
    root = math.sqrt(v * v + 2 * g * h)

    def time(p):
        return drop(p).t_events[0][0]

    assert value_and_grad(time)(BALL)[0] == time(BALL)
    assert time(BALL) == pytest.approx((v + root) / g, rel=1e-9)
    both_modes(time, BALL, [1 / root, (1 + v / root) / g, h / (g * root) - (v + root) / g**2])


def test_states_at_events_and_the_end_of_a_terminal_one():
    h, v, g = BALL
    root = math.sqrt(v * v + 2 * g * h)
    impact = [-g / root, -v / root, -h / root]
    both_modes(lambda p: drop(p).y_events[0][0, 1], BALL, impact)
    both_modes(lambda p: drop(p).y[1, -1], BALL, impact)
    both_modes(lambda p: drop(p).t[-1] * p[2] - p[1], BALL, [
        g / root, v / root, h / root])
    both_modes(lambda p: drop(p).y_events[1][0, 0], BALL, [1.0, v / g, -v * v / (2 * g * g)])
    assert drop(BALL).y_events[0][0, 1] == value_and_grad(
        lambda p: drop(p).y_events[0][0, 1])(BALL)[0]


def bouncing(p, bounces=4):
    t, y, total = 0.0, np.array([p[0], 0.0]), 0.0
    for _ in range(bounces):
        found = integrate.solve_ivp(
            fall, (t, 20.0), y, args=(p[1],), events=ground, **FINE)
        t = found.t[-1]
        y = np.array([0.0, -p[2] * found.y[1, -1]])
        total = total + y[1]
    return t, total


def test_a_bouncing_ball_that_is_started_again_at_each_event():
    p = np.array([1.0, 9.81, 0.8])
    h, g, e = p
    fallen = math.sqrt(2 * h / g)
    series = 1 + 2 * (e + e**2 + e**3)
    both_modes(lambda p: bouncing(p)[0], p, [
        fallen * series / (2 * h), -fallen * series / (2 * g),
        fallen * 2 * (1 + 2 * e + 3 * e**2)])
    speed = math.sqrt(2 * g * h)
    powers = e + e**2 + e**3 + e**4
    both_modes(lambda p: bouncing(p)[1], p, [
        speed * powers / (2 * h), speed * powers / (2 * g),
        speed * (1 + 2 * e + 3 * e**2 + 4 * e**3)])


def swing(t, y, p):
    return [y[1], -p[0] * np.sin(y[0]) - p[1] * y[1] + 0.2 * np.cos(p[2] * t)]


SWUNG = np.array([2.0, 0.1, 1.3])


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "LSODA"])
def test_many_events_without_end_of_functions_that_are_made_here(method):
    def f(p):
        def level(t, y):
            return y[0] - 0.2 * p[1] * t

        def turned(t, y):
            return y[1] + 0.01 * t

        turned.direction = 1
        found = integrate.solve_ivp(
            lambda t, y: swing(t, y, p), (0.0, 6.0), [p[2], p[1]], method, events=[level, turned],
            rtol=1e-9, atol=1e-11)
        return (np.sum(found.t_events[0] ** 2) + np.sum(found.t_events[1])
                + np.sum(found.y_events[0][:, 1] ** 3) + np.sum(found.y_events[1])
                + found.y[0, -1])

    # What LSODA interpolates is less exact than where it steps.
    both_modes(f, SWUNG, slopes(f, SWUNG), tol=5e-5 if method == "LSODA" else 3e-6)


def test_an_end_of_a_function_that_is_made_here_and_times_that_are_asked_for():
    def f(p):
        def level(t, y):
            return y[0] - p[1]

        level.terminal = True
        found = integrate.solve_ivp(
            lambda t, y: swing(t, y, p), (0.0, 6.0), [p[2], p[1]], events=level,
            t_eval=np.array([0.05, 0.1, 0.2, 2.8]) * p[0], **FINE)
        assert found.status == 1 and found.y.shape == (2, 3)
        return np.sum(found.y[0] * found.t) + found.t_events[0][0]

    both_modes(f, SWUNG, slopes(f, SWUNG), tol=1e-6)


def test_backwards_in_time():
    def f(p):
        found = integrate.solve_ivp(
            swing, (6.0, 0.0), [p[2], p[1]], args=(p,), events=lambda t, y, p: y[0] - p[1],
            **FINE)
        assert found.t_events[0].size > 1
        return np.sum(found.t_events[0] ** 2) + found.y[1, -1]

    both_modes(f, SWUNG, slopes(f, SWUNG), tol=1e-6)


class Oscillator:
    def __init__(self, rate):
        self.rate = rate

    def slope(self, t, y):
        return [y[1], -(self.rate**2) * y[0]]

    def level(self, t, y):
        return y[0] - 0.1 * self.rate


def test_a_method_as_event():
    def f(p):
        made = Oscillator(p[0])
        found = integrate.solve_ivp(
            made.slope, (0.0, 6.0), [0.5, p[2]], events=made.level, **FINE)
        return np.sum(found.t_events[0])

    both_modes(f, SWUNG, slopes(f, SWUNG), tol=1e-6)


def test_no_event():
    def f(p):
        found = integrate.solve_ivp(
            fall, (0.0, 0.1), [p[0], p[1]], args=(p[2],), events=ground, **FINE)
        return found.y[0, -1] + np.sum(found.t_events[0]) + found.y_events[0].size

    both_modes(f, BALL, [1.0, 0.1, -0.005])


def reaching(p, h, **tolerances):
    """Ask when a ball reaches a height, which is nearly its highest one, 0.5."""
    return integrate.solve_ivp(
        lambda t, y: [y[1], -9.0], (0.0, 1.0), [0.0, p[0]], events=lambda t, y: y[0] - h,
        max_step=0.01, **tolerances)


def test_an_event_that_only_touches_zero_is_refused():
    start, h = np.array([3.0]), 0.5 - 4e-4
    assert reaching(start, h).t_events[0].size == 2

    def first(p):
        return reaching(p, h, **FINE).t_events[0][0]

    both_modes(first, start, [-first(start) / (3.0 - 9.0 * first(start))], tol=1e-6)
    with pytest.raises(ValueError, match="only touches zero"):
        grad(lambda p: reaching(p, h).t_events[0][0])(start)
    with pytest.raises(ValueError, match="only touches zero"):
        jvp(lambda p: reaching(p, h).t_events[0][0], (start,), (np.ones(1),))
    np.testing.assert_allclose(  # it is not read
        grad(lambda p: reaching(p, h).y[0, -1])(start), [1.0], rtol=1e-9)


def test_an_event_of_which_the_slope_is_zero_is_refused():
    def f(p):
        found = integrate.solve_ivp(
            lambda t, y: [p[0]], (0.0, 1.0), [0.0], events=lambda t, y: np.sign(y[0] - 0.5), **FINE)
        return found.t_events[0][0]

    with pytest.raises(ValueError, match="only touches zero"):
        grad(f)(np.array([1.0]))


def test_second_derivatives_of_events():
    def f(p):
        found = drop(p)
        return found.t_events[0][0] * found.y_events[0][0, 1] + found.t[-1] ** 2

    differences = np.array([slopes(lambda p, i=i: grad(f)(p)[i], BALL) for i in range(BALL.size)])
    np.testing.assert_allclose(hessian(f)(BALL), differences, rtol=1e-6, atol=1e-6)


def test_second_derivatives_through_restarts_and_no_third_ones():
    def bounces(kept):
        t, y = 0.0, np.array([1.0, 0.0])
        for _ in range(3):
            found = integrate.solve_ivp(
                lambda t, y: [y[1], -9.81], (t, 20.0), y, events=reached, **FINE)
            t, y = found.t[-1], np.array([0.0, -kept * found.y[1, -1]])
        return t

    # sqrt(2 / g) (1 + 2 k + 2 k^2)
    assert hessian(bounces)(0.8) == pytest.approx(4.0 * np.sqrt(2.0 / 9.81), rel=1e-9)
    with pytest.raises(UnsupportedError, match="second derivative"):
        grad(grad(grad(bounces)))(0.8)


def reached(t, y):
    return y[0]


reached.terminal, reached.direction = True, -1


# -- dense_output ----------------------------------------------------------------------------------


def dense(p):
    found = integrate.solve_ivp(
        swing, (0.0, 2.0), [p[2], p[1]], args=(p,), dense_output=True, **FINE)
    many = found.sol(np.array([1.5, 0.2 * p[0], 0.7]))
    return np.sum(many[0] * np.array([1.0, 2.0, 3.0])) * found.sol(p[2])[1] + many.shape[1]


def test_the_interpolated_solution_in_its_place_and_parameters():
    assert value_and_grad(dense)(SWUNG)[0] == dense(SWUNG)
    both_modes(dense, SWUNG, slopes(dense, SWUNG), tol=1e-6)
    differences = np.array([slopes(lambda p, i=i: grad(dense)(p)[i], SWUNG) for i in range(3)])
    np.testing.assert_allclose(hessian(dense)(SWUNG), differences, rtol=1e-5, atol=1e-6)


def test_the_interpolated_solution_up_to_an_event():
    def f(p):
        found = integrate.solve_ivp(
            fall, (0.0, 10.0), [p[0], p[1]], args=(p[2],), events=ground, dense_output=True, **FINE)
        return found.sol(0.5 * found.t[-1])[0] * p[1]

    both_modes(f, BALL, slopes(f, BALL))

    def beyond(p):
        found = integrate.solve_ivp(
            fall, (0.0, 10.0), [p[0], p[1]], args=(p[2],), events=ground, dense_output=True, **FINE)
        return found.sol(5.0)[0]

    with pytest.raises(ValueError, match="outside of what was integrated"):
        grad(beyond)(BALL)
