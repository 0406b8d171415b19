"""Integrals of functions by Leibniz' rule, trajectories by the adjoint equation.

The library integrates as it always does; no derivative goes through its steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import integrate

from adcompiler.rulekit import function_of, implied, non_differentiable, passive, replacement, typed
from adcompiler.runtime import stop_gradient
from adcompiler_rules.kernels.scipy_trajectories import ends_of
from adcompiler_rules.followed import followed_integral
from adcompiler_rules.scipy.integrate.followed_trajectories import (
    followed_odeint, followed_trajectory,
)
from adcompiler_rules.scipy.integrate.ivp_events import events_moved
from adcompiler_rules.scipy.integrate.weighted_integrals import weighted_quad
from adcompiler_rules.scipy.integrate.trajectories import (
    in_order, integral_pullback, odeint_pullback, run_ivp, trajectory_pullback,
)

non_differentiable(ends_of, in_order, integral_pullback, odeint_pullback, trajectory_pullback)


@dataclass
class Trajectory:
    """What ``solve_ivp`` returns, with derivatives of times and states."""

    t: Any
    y: Any
    sol: Any
    t_events: Any
    y_events: Any
    success: bool
    status: int
    message: str
    nfev: int


@replacement(integrate.quad)
def quad(
    func, a, b, args=(), *, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None, weight=None,
    wvar=None, maxp1=50, limlst=50,
):
    given = args if isinstance(args, tuple) else (args,)
    if weight is not None:
        return weighted_quad(
            func, a, b, given, (epsabs, epsrel, limit), weight, wvar, (maxp1, limlst))

    def integrand(x, *args):
        return func(x, *args)

    function = function_of(integrand, (0.0,), given)
    if points is not None:
        points = stop_gradient(points)  # where the integral is broken up does not change it
    found = passive(
        integrate.quad, function, a, b, epsabs=epsabs, epsrel=epsrel, limit=limit, points=points
    )
    value = implied(
        integral_pullback, integrand, (0.0,), given, typed(found[0], 0.0),
        operands=(a, b, (epsabs, epsrel, limit, points)), active=(False,),
        followed=followed_integral, most=1,
    )
    return value, typed(found[1], 0.0)


@replacement(integrate.quad_vec)
def quad_vec(
    f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100e6, limit=10000, points=None,
    quadrature=None, *, args=(),
):
    given = args if isinstance(args, tuple) else (args,)

    def integrand(x, *args):
        return f(x, *args) * 1.0

    if points is not None:
        points = stop_gradient(points)
    found = passive(
        integrate.quad_vec, function_of(integrand, (0.0,), given), a, b, epsabs=epsabs,
        epsrel=epsrel, norm=norm, cache_size=cache_size, limit=limit, points=points,
        quadrature=quadrature)
    value = implied(
        integral_pullback, integrand, (0.0,), given,
        typed(found[0], stop_gradient(integrand(0.5, *given))),
        operands=(a, b, (epsabs, epsrel, limit, points)), active=(False,),
        followed=followed_integral, most=1,
    )
    return value, typed(found[1], 0.0)


def stored(found, like, shape):
    """Return what was found, in an array of which the type is known."""
    kept = np.zeros(shape, complex) if np.iscomplexobj(like) else np.zeros(shape)
    kept[:] = found
    return kept


def flags_of(events):
    """Return of each event function whether it is terminal, and in which direction it counts."""
    if events is None:
        return []
    if isinstance(events, (list, tuple)):
        return [(getattr(event, "terminal", False), getattr(event, "direction", 0))
                for event in events]
    return [(getattr(events, "terminal", False), getattr(events, "direction", 0))]


def outputs_of(t_eval, times, span, count, status):
    """Return the times of outputs: as asked for, or the ends of the span and what is between."""
    if t_eval is not None:
        return np.asarray(t_eval)[:count] * 1.0
    ends = np.zeros((3, count))
    ends[:] = passive(ends_of, times, status)
    return ends[0] * span[0] + ends[1] * span[1] + ends[2]


def states_at(right_side, start, span, times, values, operands, given):
    """Return the states at times in order, of which the values are known."""
    dense, success, message, options = operands
    return implied(
        trajectory_pullback, right_side, (0.0, start), given, values,
        operands=(start, span[0], span[1], times, (dense, success, message), options),
        active=(False, True), followed=followed_trajectory,
    )


def states_in_order(right_side, start, span, times, values, operands, given):
    """Return the states at times in any order, of which the values are known."""
    order = np.zeros(np.size(times), int)
    order[:] = passive(in_order, times, *span)
    kept = stored(values, start, (np.size(start), np.size(times)))
    states = states_at(right_side, start, span, times[order], kept[:, order], operands, given)
    return states[:, np.argsort(order)]


@replacement(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, *, args=None,
    rtol=1e-3, atol=1e-6, first_step=None, max_step=np.inf, jac=None,
):
    def right_side(t, y, *args):
        return np.ravel(np.asarray(fun(t, y, *args)))

    given = () if args is None else args
    start = np.asarray(y0) * 1.0
    t0, t1 = t_span
    slope = None if jac is None else function_of(jac, (0.0, start), given)

    def event_value(number, t, y, *args):
        if not isinstance(events, (list, tuple)):
            return 1.0 * events(t, y, *args)
        value = 0.0
        for k, event in enumerate(events):
            if number == k:
                value = 1.0 * event(t, y, *args)
        return value

    flags = flags_of(events)
    events_of = None if events is None else function_of(event_value, (0, 0.0, start), given)
    found_t, states, dense, success, status, message, nfev, of_events, end = passive(
        run_ivp, function_of(right_side, (0.0, start), given), (t0, t1), start, method, t_eval,
        (rtol, atol), (first_step, max_step), slope, events_of, flags,
    )
    count = int(passive(len, found_t))
    outputs = outputs_of(t_eval, found_t, (t0, t1), count, status)
    operands = dense, success, message, (method, rtol, atol)
    t_events = y_events = None
    if events is None:
        kept = stored(states, start, (np.size(start), count))
        y = states_at(right_side, start, (t0, t1), outputs, kept, operands, given)
    else:
        times, owners = typed(of_events[0], np.zeros(1)), typed(of_events[2], np.zeros(1, int))
        both = states_in_order(
            right_side, start, (t0, end), np.concatenate((outputs, times)), of_events[3],
            operands, given)
        at_events = events_moved(
            right_side, event_value, times, both[:, count:], given, (events_of, owners),
            (typed(of_events[1], np.zeros(1)), rtol, atol))
        t_events, y_events = (
            [part[owners == k] for k, _ in enumerate(flags)] for part in at_events)
        y = both[:, :count]
        last = int(of_events[4])
        if last >= 0:
            outputs[-1] = at_events[0][last]
            y[:, -1] = at_events[1][last]

    def sol(t):
        places = np.atleast_1d(np.asarray(t)) * 1.0
        states = states_in_order(
            right_side, start, (t0, end), places, passive(dense, places), operands, given)
        return states[:, 0] if np.ndim(t) == 0 else states

    return Trajectory(
        outputs, y, sol if dense_output else None, t_events, y_events, typed(success, True),
        typed(status, 0), typed(message, ""), typed(nfev, 0),
    )


@replacement(integrate.odeint)
def odeint(
    func, y0, t, args=(), *, rtol=None, atol=None, tcrit=None, h0=0.0, hmax=0.0, hmin=0.0,
    mxstep=0, mxhnil=0, mxordn=12, mxords=5, tfirst=False,
):
    def right_side(t, y, *args):
        return np.ravel(np.asarray(func(t, y, *args) if tfirst else func(y, t, *args)))

    given = args if isinstance(args, tuple) else (args,)
    start = np.atleast_1d(np.asarray(y0)) * 1.0
    times = np.asarray(t) * 1.0
    function = function_of(right_side, (0.0, start), given)
    found = passive(
        integrate.odeint, function, start, times, rtol=rtol, atol=atol, tcrit=tcrit, h0=h0,
        hmax=hmax, hmin=hmin, mxstep=mxstep, mxhnil=mxhnil, mxordn=mxordn, mxords=mxords,
        tfirst=True,
    )
    kept = stored(found, start, (np.size(times), np.size(start)))
    return implied(
        odeint_pullback, right_side, (0.0, start), given, kept, operands=(start, times, rtol, atol),
        active=(False, True), followed=followed_odeint,
    )
