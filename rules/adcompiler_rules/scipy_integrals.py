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
from adcompiler_rules.followed_trajectories import followed_odeint, followed_trajectory
from adcompiler_rules.trajectories import (
    integral_pullback, odeint_pullback, run_ivp, trajectory_pullback,
)

non_differentiable(ends_of, integral_pullback, odeint_pullback, trajectory_pullback)


@dataclass
class Trajectory:
    """What ``solve_ivp`` returns, with derivatives of ``t`` and ``y``."""

    t: Any
    y: Any
    success: bool
    status: int
    message: str
    nfev: int


@replacement(integrate.quad)
def quad(func, a, b, args=(), *, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None):
    def integrand(x, *args):
        return func(x, *args)

    given = args if isinstance(args, tuple) else (args,)
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


def stored(found, like, shape):
    """Return what was found, in an array of which the type is known."""
    kept = np.zeros(shape, complex) if np.iscomplexobj(like) else np.zeros(shape)
    kept[:] = found
    return kept


@replacement(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, *, args=None, rtol=1e-3, atol=1e-6,
    first_step=None, max_step=np.inf, jac=None,
):
    def right_side(t, y, *args):
        return np.atleast_1d(fun(t, y, *args))

    given = () if args is None else args
    start = np.asarray(y0) * 1.0
    t0, t1 = t_span
    function = function_of(right_side, (0.0, start), given)
    slope = None if jac is None else function_of(jac, (0.0, start), given)
    times, states, dense, success, status, message, nfev = passive(
        run_ivp, function, (t0, t1), start, method, t_eval, (rtol, atol), (first_step, max_step),
        slope,
    )
    if t_eval is None:
        ends = np.zeros((3, int(passive(len, times))))
        ends[:] = passive(ends_of, times)
        outputs = ends[0] * t0 + ends[1] * t1 + ends[2]
    else:
        outputs = np.asarray(t_eval) * 1.0
    kept = stored(states, start, (np.size(start), np.size(outputs)))
    y = implied(
        trajectory_pullback, right_side, (0.0, start), given, kept,
        operands=(
            start, t0, t1, outputs, (times, dense, success, message), (method, rtol, atol),
        ),
        active=(False, True), followed=followed_trajectory,
    )
    return Trajectory(
        outputs, y, typed(success, True), typed(status, 0), typed(message, ""), typed(nfev, 0)
    )


@replacement(integrate.odeint)
def odeint(
    func, y0, t, args=(), *, rtol=None, atol=None, tcrit=None, h0=0.0, hmax=0.0, hmin=0.0,
    mxstep=0, mxhnil=0, mxordn=12, mxords=5, tfirst=False,
):
    def right_side(t, y, *args):
        return np.atleast_1d(func(t, y, *args) if tfirst else func(y, t, *args))

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
