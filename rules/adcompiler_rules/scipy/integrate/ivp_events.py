"""Events of ``solve_ivp``: their times, and the states at them, as functions of the parameters.

An event is a root ``t`` of ``g(t, y(t, p), p)``. By the implicit function theorem its time moves by
``dt = -(dg/dp + dg/dy dy/dp) / (dg/dt + dg/dy f)``, where ``dy/dp`` is at a fixed time, and the
state there by ``dy/dp dp + f dt`` (Galan, Feehery and Barton, *Parametric sensitivity functions for
hybrid discrete/continuous systems*, Applied Numerical Mathematics 31, 1999). Where the event
function only touches zero the denominator vanishes, and there is no derivative.

The time is ``t + h``, with ``t`` fixed and ``h`` a root that is 0; the state, a step of length
``h`` from the one at ``t``.
"""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import implied, non_differentiable, passive, pushed, typed
from adcompiler.runtime import stop_gradient
from adcompiler_rules.followed import after_step
from adcompiler_rules.implicit import root_pullback

PART = 0.01
"""By what part of the step of the solver the slope of an event function is looked at earlier."""


def events_moved(right_side, event_value, times, states, args, at, accuracy):
    """Return the times of events, and the states at them in rows.

    ``at`` has the event functions as the library is given them, and of which of them each event
    is; ``accuracy`` how long the steps were in which events were found, and the tolerances.
    """
    moved = np.zeros(np.size(times))
    moved_states = np.zeros((np.size(times), states.shape[0]))
    for i in range(np.size(times)):
        t = times[i]
        y = states[:, i]
        near = accuracy[0][i], accuracy[1], accuracy[2]
        h = time_to_event(right_side, event_value, t, y, args, (at[0], at[1][i]), near)
        moved[i] = t + h
        moved_states[i] = moved_state(right_side, t, y, h, args)
    return moved, moved_states


def moved_state(right_side, t, y, h, args):
    """Return the state a time ``h`` after ``t``; ``h`` is 0, and may have derivatives.

    The formula is right to second order in ``h``, so that second derivatives are, too.
    """
    middle = y + 0.5 * h * right_side(t, y, *args)
    return y + h * right_side(t + 0.5 * h, middle, *args)


def time_to_event(right_side, event_value, t, y, args, at, accuracy):
    """Return 0, the time from ``t``, where the state is ``y``, to an event."""
    number = at[1]

    def residual(h, t, y, *args):
        return event_value(number, t + h, moved_state(right_side, t, y, h, args), *args)

    return implied(
        event_pullback, residual, (0.0,), (t, y, *args), 0.0,
        operands=(at[0], number, stop_gradient(t), stop_gradient(y), accuracy),
        followed=followed_event, most=2,
    )


def event_pullback(f, g, h, operands, rest):
    """Pull back the cotangent of the time of an event."""
    if not g:
        return (None,) * 5 + f.linearize(h, *rest)[1](0.0)[1:]
    function, number, t, y, accuracy = operands
    slope, earlier = (
        f.linearize(time, *rest)[1](1.0)[0] for time in (h, h - PART * accuracy[0]))
    crossing(function, number, t, y, slope, earlier, accuracy)
    return (None,) * 5 + root_pullback(f, g, h, (), rest)


def followed_event(f, h, args, operands, order):
    """Follow the time of an event, in forward mode."""
    function, number, t, y, accuracy = operands

    def of_time(h):
        return f(h, *args)

    slope = stop_gradient(pushed(of_time, (h,), (1.0,))[1])
    earlier = stop_gradient(pushed(of_time, (h - PART * accuracy[0],), (1.0,))[1])
    h = typed(passive(crossing, function, number, t, y, slope, earlier, accuracy), 0.0)
    h = after_step(f, h, args, slope)
    if order > 1:
        h = after_step(f, h, args, slope)
    return h


def crossing(function, number, t, y, slope, earlier, accuracy):
    """Return 0; raise where an event function does not cross zero, as accurate as the solution is.

    It turns at a distance of ``slope / curvature``, at the value ``slope**2 / (2 curvature)``:
    where errors of the state can move that across zero, it is not determined whether there is an
    event.
    """
    width, rtol, atol = accuracy
    curvature = abs((slope - earlier) / (PART * width))
    errors = np.broadcast_to(atol + rtol * np.abs(y), np.shape(y))
    base = function(number, t, y)
    error = sum(abs(function(number, t, y + unit * errors) - base) for unit in np.eye(y.size))
    if not slope * slope > 2.0 * curvature * error:
        raise ValueError(
            f"the event at t = {t:.6g} has no derivative: the slope of the event function along "
            f"the solution is {float(slope):.3g}, so that it only touches zero, or turns so "
            "near to it that the tolerances of solve_ivp() do not tell whether it crosses; tighten "
            "rtol= and atol=, or take an event function that crosses zero"
        )
    return 0.0


non_differentiable(crossing, event_pullback)
