"""Steps along a trajectory that are taken for its derivatives, and the formulas for them.

The formula of order 8 of E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential
Equations I*, section II.10, for methods that are explicit; for others that of Radau with three
stages, of order 5 (*II*, section IV.5).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import integrate

from adcompiler.runtime.functionals import Closed
from adcompiler.runtime.records import is_record, state_of

PLACES = integrate.DOP853.C
"""Where the stages of a step lie in it."""
STAGES = integrate.DOP853.A
"""Stage ``i`` lies by ``STAGES[i, :i]`` times the slopes of those before it."""
WEIGHTS = integrate.DOP853.B

ROOT = 6.0**0.5
RADAU_PLACES = np.array([(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0])
RADAU = np.array([
    [(88.0 - 7.0 * ROOT) / 360.0, (296.0 - 169.0 * ROOT) / 1800.0, (-2.0 + 3.0 * ROOT) / 225.0],
    [(296.0 + 169.0 * ROOT) / 1800.0, (88.0 + 7.0 * ROOT) / 360.0, (-2.0 - 3.0 * ROOT) / 225.0],
    [(16.0 - ROOT) / 36.0, (16.0 + ROOT) / 36.0, 1.0 / 9.0],
])
"""The stages lie by these multiples of their slopes; the last one is the end of the step."""

PROBES = 2
PARAMETERS = 6
"""So many groups of parameters, at most, are moved apart to see when they act."""
MOVED, LEAST = 1e-4, 1e-12
"""By what part of their size; a move of the slopes that counts as none."""
FEWEST = 16
"""Into so many steps the whole interval is divided, at least."""


def ends_of(times: Any, status: int) -> Any:
    """Return what outputs at ``times`` are of the start, of the end, and besides, in three rows.

    With the status 1 an event ended the integration, so that none of them is its end.
    """
    times = np.asarray(times, dtype=float)
    rows = np.zeros((3, times.size))
    rows[2] = times
    if status != 1:
        rows[:, -1] = 0.0, 1.0, 0.0
    if times.size > 1:
        rows[:, 0] = 1.0, 0.0, 0.0
    return rows


def is_moved(value: Any) -> bool:
    """Say whether a parameter is a float, or an array of floats."""
    return isinstance(value, (float, np.floating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 0)


def moved(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a structure with each float, and each array of floats, changed, of its classes."""
    if is_moved(value):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)([moved(part, change) for part in value])
    if type(value) is dict:
        return {key: moved(part, change) for key, part in value.items()}
    if is_record(value):
        other = copy.copy(value)
        for name, part in state_of(value).items():
            object.__setattr__(other, name, moved(part, change))
        return other
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved(part, change) for part in value))
    return value


def moved_apart(rest: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """Return all parameters for each part: with that a little larger, and a little smaller."""
    leaves: list[Any] = []
    moved(rest, leaves.append)
    rng = np.random.default_rng(1)
    steps = []
    for leaf in leaves:
        size = np.max(np.abs(leaf))
        signs = rng.choice([-1.0, 1.0], np.shape(leaf)) * rng.uniform(0.5, 1.0, np.shape(leaf))
        steps.append(MOVED * (size if 0.0 < size < np.inf else 1.0) * signs)
    groups = min(len(leaves), PARAMETERS)

    def along(group: int, sign: float) -> Any:
        number = iter(range(len(leaves)))

        def change(value: Any) -> Any:
            k = next(number)
            return value + sign * steps[k] if k % groups == group else value

        return moved(rest, change)

    return [(along(group, 1.0), along(group, -1.0)) for group in range(groups)]


def forcing_of(function: Closed, y0: Any, times: Any) -> list[Callable[[float, Any], Any]]:
    """Return what parts of the parameters add to the slopes, each about 1 at ``times``.

    Only when and how they act is asked, to choose steps: differences are enough.
    """
    def added(both: tuple[Any, Any], t: float, y: Any) -> Any:
        with np.errstate(all="ignore"):
            try:
                above, below = (np.asarray(function.function(t, y, *rest)) for rest in both)
            except (ArithmeticError, ValueError):
                return np.zeros(y.size)
        moves = above - below
        return np.where(np.isfinite(moves), moves, 0.0)

    def forcing(both: tuple[Any, Any]) -> Callable[[float, Any], Any]:
        size = max(np.max(np.abs(added(both, float(t), y0))) for t in times) or MOVED
        return lambda t, y: added(both, t, y) / max(size, LEAST)

    return [forcing(both) for both in moved_apart(function.rest)] if y0.size else []


def steps_of(
    function: Closed, variation: Callable[..., Any], y0: Any, marks: Any,
    explicit: bool, tolerances: Any, outcome: tuple[bool, str],
) -> tuple[int, Any, Any]:
    """Return the steps that resolve ``y' = function(t, y)`` and its variations.

    That is their number; a row each of the intervals between ``marks`` that they are in, where in
    these they begin, and what part they are; and the states at their stages, if the formula is
    not ``explicit``. A solution may be smooth where its derivatives are not, so that a few
    directions are integrated with it, which are forced all the time, and what parameters add to
    the slopes, which may come and go faster than the solution.
    """
    if not outcome[0]:
        raise ValueError(f"the integration failed, so it has no derivative: {outcome[1]}")
    if np.iscomplexobj(y0):
        raise TypeError("the derivative of a complex trajectory is not known")
    n = y0.size
    rng = np.random.default_rng(0)
    directions = rng.choice([-1.0, 1.0], (PROBES, n)) * rng.uniform(0.5, 1.0, (PROBES, n))
    span = abs(marks[-1] - marks[0])
    forcing = directions / span if span else directions

    places = rng.uniform(0.0, 1.0, FEWEST)
    forced = forcing_of(function, y0, marks[0] + (marks[-1] - marks[0]) * places)

    def slopes(t: float, state: Any) -> Any:
        t, y, others = float(t), state[:n], state[n : n + PROBES * n].reshape(PROBES, n)
        along = [variation(t, y, v) + g for v, g in zip(others, forcing, strict=True)]
        return np.concatenate([function(t, y), *along, *(part(t, y) for part in forced)])

    rtol, atol = tolerances
    most = 1e-8 if explicit else 1e-6
    atol = np.concatenate([
        np.broadcast_to(np.minimum(atol, most), n), np.full(PROBES * n, most),
        np.full(len(forced) * n, most * max(span, 1e-300)),
    ])
    options = {
        "method": "DOP853" if explicit else "Radau", "rtol": np.clip(rtol, 1e-11, most),
        "atol": atol, "max_step": span / FEWEST if span else np.inf, "dense_output": not explicit,
    }
    state = np.concatenate([y0, np.ravel(directions), np.zeros(len(forced) * n)])
    rows, stages = [], []
    for i, (begin, end) in enumerate(pairwise(marks)):
        if begin == end:
            rows.append((i, 0.0, 1.0))
            stages.append(np.stack([state[:n]] * 3))
        else:
            found = integrate.solve_ivp(slopes, (begin, end), state, **options)
            if not found.success:
                raise ValueError(f"the variations could not be integrated: {found.message}")
            state = found.y[:, -1]
            places = (found.t - begin) / (end - begin)
            for low, high, t, width in zip(
                places[:-1], places[1:], found.t[:-1], np.diff(found.t), strict=True
            ):
                rows.append((i, low, high - low))
                if not explicit:
                    stages.append(found.sol(t + RADAU_PLACES * width)[:n].T)
    steps = np.array(rows, dtype=float).reshape(-1, 3).T
    return len(rows), steps, np.array(stages).reshape(-1, 3, n)


def inverse_of_stages(h: float, *slopes: Any) -> Any:
    """Return the inverse of ``I - h (RADAU x J)``, with the Jacobian of each stage."""
    n = slopes[0].shape[0]
    blocks = [[-h * a * slope for a, slope in zip(row, slopes, strict=True)] for row in RADAU]
    return np.linalg.inv(np.eye(3 * n) + np.block(blocks))
