"""Checkpoints: values that a reverse sweep computes again rather than have them saved.

Griewank and Walther, *Algorithm 799: revolve*, ACM TOMS 26 (2000), gives the schedule that reverses
``n`` steps with ``slots`` states in memory and the fewest steps run again.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from typing import Any

from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.functionals import Halves, closed
from adcompiler.runtime.kept_bytes import size_in_bytes
from adcompiler.runtime.progress import counted
from adcompiler.runtime.structure import add


NO_STATE = "the step of checkpoint_loop returns None", "return the state"
"""What is wrong with such a step, and what to write instead."""


def recomputed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``; a derivative saves the arguments only."""
    return function(*args, **kwargs)


def checkpoint(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``, or, without arguments, ``function`` as a checkpoint.

    A derivative keeps the arguments (and what a closure captured) and nothing of what the function
    computes: the reverse sweep runs the function again, up to where its own reverse starts. So it
    takes the memory of one call of the function at a time, and twice its time.

    Parameters:
        function (callable): A function without effects, which does not write into its arguments.
        args, kwargs: Its arguments.

    Returns:
        What the function returns; or, as a decorator, a function of which every call is a
        checkpoint.

    Raises:
        UnsupportedError: In derivatives, for functions with effects.

    Example:
        >>> import numpy as np
        >>> from adcompiler import checkpoint, grad
        >>> grad(lambda x: checkpoint(np.sin, x) * 2.0)(0.0)
        2.0
    """
    if args or kwargs:
        return recomputed(function, *args, **kwargs)

    @functools.wraps(function)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        return recomputed(function, *args, **kwargs)

    return checkpointed


def checkpoint_loop(
    step: Callable[..., Any], state: Any, n: int, *, every: int | None = None,
    slots: int | None = None, memory_limit: int | None = None, indexed: bool = False,
) -> Any:
    """Return ``state`` after ``n`` steps ``state = step(state)``, few of which a derivative keeps.

    Parameters:
        step (callable): ``step(state)`` returns the next state; it may write into the one that it
            is given, and return it: the first one gets a copy.
        state: A number, an array, an instance, or a container of such; every step returns one of
            the same structure and types.
        n (int): The number of steps.
        every (int): The state is kept at each ``every``-th step, and what the steps of one such
            block compute while the sweep reverses the block: memory for ``n / every + every``
            steps, and each step runs twice. By default it is the square root of ``n``.
        slots (int): At most so many states are kept, and of the other values those of one step at a
            time; the steps that run again are the fewest possible (*revolve*: see
            ``reversal_steps``).
        memory_limit (int): The slots in bytes.
        indexed (bool): The steps are ``state = step(state, i)`` for ``i`` from 0.

    Returns:
        The last state.

    Raises:
        ValueError: If several of ``every``, ``slots`` and ``memory_limit`` are given, or one is too
            small.
        TypeError: If a step returns None, another structure or other types.

    Example:
        >>> from adcompiler import checkpoint_loop, grad
        >>> grad(lambda x: checkpoint_loop(lambda s: 0.5 * s, x, 10, slots=3))(1.0) == 0.5**10
        True
    """
    state = copy.deepcopy(state)
    for i in counted(range(n), "steps"):
        state = following(step(state, i) if indexed else step(state))
    return state


def following(state: Any) -> Any:
    """Return what a step of ``checkpoint_loop`` returned; raise TypeError for None."""
    if state is None:
        raise TypeError(": ".join(NO_STATE))
    return state


# -- revolve ---------------------------------------------------------------------------------------


def reversible(slots: int, repeats: int) -> int:
    """Return how many steps can be reversed with ``slots`` states, none run more than ``repeats``.

    This is beta(s, r) = binomial(s + r, s) of the paper; 0 for negative ``repeats``.
    """
    return math.comb(slots + repeats, slots) if repeats >= 0 else 0


def repetitions(n: int, slots: int) -> int:
    """Return how often a step runs again, at most, when ``n`` steps are reversed."""
    repeats = 0
    while reversible(slots, repeats) < n:
        repeats += 1
    return repeats


def reversal_steps(n: int, slots: int) -> int:
    """Return the fewest steps to be run again to reverse ``n`` with ``slots`` states in memory.

    ``r n - beta(s + 1, r - 1)``, where ``r`` is the least with ``beta(s, r) >= n``.
    """
    r = repetitions(n, slots)
    return r * n - reversible(slots + 1, r - 1)


def distance(n: int, slots: int) -> int:
    """Return where the next state is kept, in steps, on the way to the last of ``n``."""
    r = repetitions(n, slots)
    return max(1, reversible(slots, r - 2), n - reversible(slots - 1, r))


Shot = tuple[int, Any]
"""A state that is kept, after the number of its steps."""


def advance(
    step: Callable[..., Any], shots: list[Shot], end: int, slots: int
) -> Any:
    """Run steps from the last of ``shots`` to ``end - 1``, keeping states; return the last one."""
    position, state = shots[-1]
    while end - position > 1:
        goal = position + distance(end - position, slots - len(shots) + 1)
        for i in range(position, goal):
            state = step(state, i)
        position = goal
        if end - position > 1:
            shots.append((position, own(state)))
    return state


def slots_for(state: Any, n: int, slots: int | None, memory_limit: int | None) -> int:
    """Return the number of states that may be kept; raise ValueError if there is room for none."""
    if slots is None:
        slots = n if memory_limit is None else memory_limit // max(1, size_in_bytes(state))
    if slots < 1:
        raise ValueError(f"there is no room to keep one state ({size_in_bytes(state)} bytes)")
    return slots


def revolve_forward(
    step: Callable[..., Any], state: Any, n: int, slots: int | None, memory_limit: int | None,
) -> tuple[Any, list[Shot], int]:
    """Return the state after ``n`` steps, the states kept on the way, and how many may be."""
    slots = slots_for(state, n, slots, memory_limit)
    shots = [(0, own(state))]
    if n > 0:
        state = step(advance(step, shots, n, slots), n - 1)
    return own(state), shots, slots


def revolve_pullback(
    f: Halves, g: Any, final: Any, operands: tuple[Any, ...], rest: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Pull the cotangent ``g`` of the last state back to the first, and to ``rest``.

    Of the states kept only the first is left after that: a second call starts from there.
    """
    _, end, kept, slots = operands
    shots = kept[:]
    del kept[1:]
    bars = f.zeros(rest)
    step = closed(f, *rest)
    for last in counted(range(end - 1, -1, -1), "steps reversed"):
        state = advance(step, shots, last + 1, slots)
        _, pull = f.linearize(state, last, *rest)
        g, *parts = pull(g)
        bars = [add(bar, part) for bar, part in zip(bars, parts, strict=True)]
        if shots[-1][0] == last:
            shots.pop()
    return (g, None, None, None, *bars)
