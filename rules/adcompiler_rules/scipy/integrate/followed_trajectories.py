"""Trajectories written so that each statement may be differentiated: tangents and higher orders.

The library's trajectory keeps its values. Its derivatives are those of steps that are taken beside
it, which are chosen so that they resolve the variations of the trajectory too; the ends of
intervals between outputs may move, and steps are parts of these. Explicit methods have the steps
of an explicit formula. For others, and for LSODA, a step is an implicit one: a system of equations
for its stages, which has the derivatives of a root (see ``followed``).
"""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import (
    function_of, jacobian_of, non_differentiable, passive, pushed,
)
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime import stop_gradient
from adcompiler_rules.kernels.scipy_trajectories import (
    PLACES, RADAU, RADAU_PLACES, STAGES, WEIGHTS, inverse_of_stages, steps_of,
)
from adcompiler_rules.followed import MOST

non_differentiable(inverse_of_stages, steps_of)


def followed_trajectory(f, y, args, operands, order):
    """Follow ``solve_ivp(f, (t0, t1), y0, args=args).y``."""
    y0, t0, _, outputs, found, (method, rtol, atol) = operands
    marks = np.concatenate((np.reshape(t0, (1,)) * 1.0, outputs))
    explicit = method in ("RK45", "RK23", "DOP853")
    outcome = found[1], found[2]
    total = in_steps(f, y0, marks, args, explicit, (rtol, atol), outcome, order).T
    return y + (total - stop_gradient(total))


def followed_odeint(f, y, args, operands, order):
    """Follow ``odeint(f, y0, t)``, of which the first output is the start."""
    y0, t, rtol, atol = operands
    marks = np.concatenate((t[:1], t))
    rtol = 1.49012e-8 if rtol is None else rtol
    atol = 1.49012e-8 if atol is None else atol
    total = in_steps(f, y0, marks, args, False, (rtol, atol), (True, ""), order)
    return y + (total - stop_gradient(total))


def in_steps(f, y0, marks, args, explicit, tolerances, outcome, order):
    """Return the states at all but the first of ``marks``, one in a row."""
    if order > MOST:
        raise UncoveredError(f"solutions have derivatives up to the order {MOST}")

    def of_state(y, t, *args):
        return f(t, y, *args)

    def variation(t, y, v, *args):
        def along(y):
            return f(t, y, *args)

        return pushed(along, (y,), (v,))[1]

    function = function_of(f, (0.0, y0), args)
    varied = function_of(variation, (0.0, y0, y0), args)
    found = passive(steps_of, function, varied, y0, marks, explicit, tolerances, outcome)
    count = int(found[0])
    steps = np.zeros((3, count))
    steps[:] = found[1]
    stages = np.zeros((count, 3, np.size(y0)))
    if not explicit:
        stages[:] = found[2]
    results = np.zeros((np.size(marks) - 1, np.size(y0)))
    y = y0
    for k in range(count):
        i = int(steps[0, k])
        length = marks[i + 1] - marks[i]
        h = steps[2, k] * length
        t = marks[i] + steps[1, k] * length
        if explicit:
            y = explicit_step(f, y, t, h, args)
        else:
            y = implicit_step(f, of_state, y, t, h, args, stages[k], order)
        results[i] = y
    return results


def explicit_step(f, y, t, h, args):
    """Return the state after a step of length ``h`` from ``y``."""
    slopes = np.zeros((12, np.size(y)))
    for s in range(12):
        slopes[s] = f(t + PLACES[s] * h, y + h * (STAGES[s, :s] @ slopes[:s]), *args)
    return y + h * (WEIGHTS @ slopes)


def implicit_step(f, of_state, y, t, h, args, z, order):
    """Return the last of the stages ``z`` of a step from ``y``, which is its end."""
    slope = jacobian_of(of_state)
    inverse = np.zeros((np.size(z), np.size(z)))
    inverse[:] = passive(
        inverse_of_stages, h, slope(z[0], t + RADAU_PLACES[0] * h, *args),
        slope(z[1], t + RADAU_PLACES[1] * h, *args), slope(z[2], t + h, *args),
    )
    z = after_stages(f, y, t, h, args, z, inverse)
    if order > 1:
        z = after_stages(f, y, t, h, args, z, inverse)
    if order > 2:
        z = after_stages(f, y, t, h, args, z, inverse)
    if order > 3:
        z = after_stages(f, y, t, h, args, z, inverse)
    return z[2]


def after_stages(f, y, t, h, args, z, inverse):
    """Return the stages after a step of Newton that does not change their values."""
    slopes = np.stack((
        f(t + RADAU_PLACES[0] * h, z[0], *args), f(t + RADAU_PLACES[1] * h, z[1], *args),
        f(t + h, z[2], *args),
    ))
    residual = z - y - h * (RADAU @ slopes)
    step = np.reshape(inverse @ np.ravel(residual), np.shape(z))
    return z + (stop_gradient(step) - step)
