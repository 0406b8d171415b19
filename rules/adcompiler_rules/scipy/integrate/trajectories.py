"""Derivatives of integrals and of solutions of differential equations, by their own equations.

For ``y' = f(t, y, p)`` the adjoint equation ``m' = -(df/dy)^T m`` runs backwards from the last
output and jumps by the cotangent at each output; the cotangent of ``p`` is the integral of
``(df/dp)^T m`` (Cao, Li, Petzold and Serban, *Adjoint sensitivity analysis for
differential-algebraic equations*, SIAM J. Sci. Comput. 24, 2003). This is the derivative of the
exact solution: it differs from that of the discrete one by the errors of both integrations, which
the tolerances of the call control.

What stands here runs in emitted code; see ``implicit``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import integrate

from adcompiler.rulekit.problems import NotFiniteError
from adcompiler.runtime.structure import add, mapped
from adcompiler_rules.implicit import scaled

NODES = np.array([-0.9604912687080202, -0.7745966692414834, -0.4342437493468026, 0.0,
                  0.4342437493468026, 0.7745966692414834, 0.9604912687080202])
WEIGHTS = np.array([0.1046562260264673, 0.2684880898683334, 0.4013974147759622, 0.4509165386584741,
                    0.4013974147759622, 0.2684880898683334, 0.1046562260264673])
COARSE = np.array([0.0, 5.0 / 9.0, 0.0, 8.0 / 9.0, 0.0, 5.0 / 9.0, 0.0])
"""The formula of Kronrod with 7 places, exact to the degree 11, and that of Gauss on 3 of them.

R. Piessens and others, *QUADPACK*, Springer 1983, section 2.2.
"""
HALVED = 40
"""How often a step may be halved for the integrals of the parameters."""


def integral_pullback(f, g, value, operands, rest):
    """Pull back the cotangent of ``quad(f, a, b)``: ``f`` at the limits, and an integral.

    ``f`` may be of arrays, for ``quad_vec``.
    """
    a, b, options = operands
    if np.iscomplexobj(value):
        raise TypeError("the derivative of an integral of complex values is not known")
    bars = [sign * at_limit(f, g, limit, rest) if wanted and np.isfinite(limit) else 0.0
            for sign, limit, wanted in zip((-1.0, 1.0), (a, b), f.wanted, strict=False)]
    return (*bars, None, *integrated(f, g, a, b, options, rest))


def at_limit(f, g, limit, rest):
    """Return the cotangent of a limit: the integrand there, times that of the integral."""
    try:
        value = float(np.sum(g * np.asarray(f(limit, *rest))))
    except (ArithmeticError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise NotFiniteError(
            f.place, f"the derivative of quad() in a limit is the integrand there, at {limit!r}, "
            "which is not finite",
            "keep this limit constant, or write the integral in a variable for which its integrand "
            "is finite there",
        )
    return value


def integrated(f, g, a, b, options, rest):
    """Return the integrals of the cotangents of ``rest``.

    They may be singular where the integrand is not. What vectors cannot be integrated for is tried
    one by one, with the extrapolation of QUADPACK.
    """
    zeros = f.zeros(rest)
    if not zeros:
        return []
    start = flat(zeros)
    if not start.size:
        return filled(zeros, start)

    def slopes(t: Any) -> Any:
        try:
            _, pull = f.linearize(float(t), *rest)
            return flat(pull(g))
        except (ArithmeticError, ValueError):
            f(float(t), *rest)  # its own errors are raised
            return np.full(start.shape, np.nan)

    epsabs, epsrel, limit, points = options
    inner = None if points is None else [p for p in points if min(a, b) < p < max(a, b)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        total, error = integrate.quad_vec(
            slopes, a, b, epsabs=epsabs, epsrel=epsrel, limit=max(limit, 1), points=inner,
            norm="max",
        )
        if not (np.all(np.isfinite(total)) and np.isfinite(error)):
            total = np.array([
                integrate.quad(lambda t, i=i: slopes(t)[i], a, b, epsabs=epsabs, epsrel=epsrel,
                               limit=max(limit, 1), points=inner)[0] for i in range(start.size)
            ])
    if not np.all(np.isfinite(total)):
        raise NotFiniteError(
            f.place, "the derivative of the integrand of quad() cannot be integrated: it is not "
            "finite within the interval, or its integral is not",
            "tell quad() by points= where the integrand has a kink or a singularity, or write the "
            "integral in a variable in which it has none",
        )
    return filled(zeros, total)


def run_ivp(
    f, t_span, y0, method, t_eval, tolerances, limits, jac, event_value, flags
):
    """Return what ``solve_ivp`` finds, with the interpolation as a function, in a tuple.

    For events that is their times; how long the steps were in which they were found; of which
    event functions they are; the states at outputs and at them; and which of them ended the
    integration (or -1).
    """
    rtol, atol = tolerances
    first_step, max_step = limits
    options = {} if jac is None else {"jac": jac}
    events = None if event_value is None else [
        watched(event_value, k, *of_one) for k, of_one in enumerate(flags)]
    found = integrate.solve_ivp(
        f, t_span, y0, method=method, t_eval=t_eval, rtol=rtol, atol=atol, first_step=first_step,
        max_step=max_step, dense_output=True, events=events, **options,
    )

    def dense(t: Any) -> Any:
        return found.sol(t)

    end = found.sol.ts[-1]
    of_events = None
    if events is not None:
        times = np.concatenate([np.zeros(0), *found.t_events])
        owners = np.repeat(np.arange(len(events)), [part.size for part in found.t_events])
        states = [np.reshape(rows, (-1, y0.size)).T for rows in found.y_events]
        last = -1
        if found.status == 1 and t_eval is None:
            last = int(np.flatnonzero(times == found.t[-1])[-1])
        of_events = (
            times, widths(found.sol, times), owners, np.hstack([found.y, *states]), last)
    return (found.t, found.y, dense, found.success, found.status, found.message, found.nfev,
            of_events, end)


def watched(event_value: Any, k: int, terminal: Any, direction: Any) -> Any:
    """Return an event function with the attributes that ``solve_ivp`` looks for."""
    def event(t: float, y: Any) -> Any:
        return event_value(k, t, y)

    event.terminal = terminal  # type: ignore[attr-defined]
    event.direction = direction  # type: ignore[attr-defined]
    return event


def widths(solution: Any, times: Any) -> Any:
    """Return how long the steps of the solver were in which it found events, with their sign."""
    ends = np.array([(piece.t_old, piece.t) for piece in solution.interpolants])
    within = (np.min(ends, axis=1) <= times[:, None]) & (times[:, None] <= np.max(ends, axis=1))
    return (ends[:, 1] - ends[:, 0])[np.argmax(within, axis=1)]


def in_order(times: Any, t0: float, t1: float) -> Any:
    """Return the order of times along an integration from ``t0`` to ``t1``; raise outside of it."""
    outside = (times < min(t0, t1)) | (times > max(t0, t1))
    if np.any(outside):
        raise ValueError(
            f"sol() of solve_ivp() at {times[outside][0]}, outside of what was integrated, from "
            f"{t0} to {t1}, has no derivative")
    return np.argsort(times if t1 >= t0 else -times, kind="stable")


def trajectory_pullback(f, g, y, operands, rest):
    """Pull back the cotangent of ``solve_ivp(f, (t0, t1), y0).y``, of shape ``(n, outputs)``."""
    y0, t0, _, times, (dense, success, message), options = operands
    if not success:
        raise ValueError(f"the integration failed, so it has no derivative: {message}")
    start, bars, first = adjoint(f, g, dense, times, t0, options, rest)
    times_bar = np.array([g[:, i] @ f(float(t), y[:, i], *rest) for i, t in enumerate(times)])
    return (start, -float(first @ f(float(t0), y0, *rest)), 0.0, times_bar, None, None, *bars)


def odeint_pullback(f, g, y, operands, rest):
    """Pull back the cotangent of ``odeint(f, y0, t)``, of shape ``(outputs, n)``."""
    y0, t, rtol, atol = operands
    times = np.asarray(t, dtype=float)
    rtol, atol = (1.49012e-8 if tol is None else tol for tol in (rtol, atol))
    options = ("LSODA", rtol, atol)
    found = integrate.solve_ivp(
        lambda t, y: f(t, y, *rest), (times[0], times[-1]), y0, method="LSODA", rtol=rtol,
        atol=atol, dense_output=True,
    )
    start, bars, first = adjoint(f, g.T, found.sol, times, times[0], options, rest)
    times_bar = np.array([row @ f(float(s), at, *rest) for row, s, at in zip(
        g, times, y, strict=True)])
    times_bar[0] = -(first @ f(float(times[0]), y0, *rest))
    return (start, times_bar, None, None, *bars)


def adjoint(f, g, dense, times, t0, options, rest):
    """Solve the adjoint equation from the last of ``times`` back to ``t0``.

    Returns its value there, the cotangents of ``rest``, and its value there without the cotangent
    of an output at ``t0`` itself, which does not move with the time.
    """
    if np.iscomplexobj(g):
        raise TypeError("the derivative of a complex trajectory is not known")
    method, rtol, atol = options
    bars = f.zeros(rest)
    multiplier = np.zeros(g.shape[0])

    def slopes(t: Any, m: Any) -> tuple[Any, ...]:
        _, pull = f.linearize(float(t), dense(t), *rest)
        parts: tuple[Any, ...] = pull(m)
        return parts

    first = multiplier
    for i in reversed(range(times.size)):
        end = times[i - 1] if i else float(t0)
        first = multiplier
        multiplier = multiplier + g[:, i]
        if times[i] == end:
            continue
        found = integrate.solve_ivp(
            lambda t, m: -slopes(t, m)[0], (times[i], end), multiplier, method=method,
            rtol=rtol, atol=atol, dense_output=bool(bars),
        )
        if not found.success:
            raise ValueError(f"the adjoint equation could not be integrated: {found.message}")
        bars = quadrature(slopes, found, bars, rtol, atol) if bars else bars
        multiplier = first = found.y[:, -1]
    return multiplier, bars, first


def quadrature(slopes, found, bars, rtol, atol):
    """Add the integrals of the cotangents of the parameters over the steps of a solution.

    Parameters may act faster than the solution and its adjoint change, so that steps are halved
    until two formulas agree.
    """
    pending = [(begin, end, 0) for begin, end in zip(found.t[:-1], found.t[1:], strict=True)][::-1]
    while pending:
        begin, end, halved = pending.pop()
        half = 0.5 * (end - begin)
        whole = apart = [None] * len(bars)
        for node, weight, coarse in zip(NODES, WEIGHTS, COARSE, strict=True):
            t = begin + (1.0 + node) * half
            parts = slopes(t, found.sol(t))[1:]
            # Backwards in time, so that what is added up has the sign of a run forwards.
            whole = [add(b, scaled(-weight * half, p)) for b, p in zip(whole, parts, strict=True)]
            apart = [add(b, scaled((coarse - weight) * half, p))
                     for b, p in zip(apart, parts, strict=True)]
        size = max(largest(bars), largest(whole))
        if halved < HALVED and largest(apart) > np.min(atol) + rtol * size:
            middle = begin + half
            pending += [(middle, end, halved + 1), (begin, middle, halved + 1)]
        else:
            bars = [add(b, part) for b, part in zip(bars, whole, strict=True)]
    return bars


def largest(values):
    """Return the largest size of a number in cotangents of any structure."""
    return max(
        (float(np.max(np.abs(part))) for part in parts_of(values) if np.size(part)), default=0.0)


# -- cotangents as vectors -------------------------------------------------------------------------


def flat(values):
    """Return the numbers of cotangents of any structure as one vector."""
    found = parts_of(values)
    if any(np.iscomplexobj(part) for part in found):
        raise TypeError("the derivative of an integral in complex parameters is not known")
    return np.concatenate([np.zeros(0), *(np.ravel(part) for part in found)])


def parts_of(values):
    """Return the numbers and arrays in a structure, in order."""
    found: list[Any] = []
    mapped(found.append, values)
    return found


def filled(like, vector):
    """Return a structure as ``like`` with the numbers of a vector: the inverse of ``flat``."""
    position = 0

    def fill(value: Any) -> Any:
        nonlocal position
        size = np.size(value)
        part = vector[position : position + size].reshape(np.shape(value))
        position += size
        return part.astype(value.dtype) if np.ndim(value) else type(value)(part)

    return mapped(fill, like)
