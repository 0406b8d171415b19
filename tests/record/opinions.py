"""Both engines on one program: what they say of value, effects and derivatives is compared.

The recorder runs the program and knows of no control flow, state or aliasing; the compiler knows
of them before. Where they differ, one of the two is wrong. They share the rules, which are checked
elsewhere.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from adcompiler import ADError, jvp, vjp
from tests.real.shipped import moved, numbers, product, random_like


def copied(value: Any) -> Any:
    """Return a deep copy, of modules that are arguments none."""
    modules = [arg for arg in value if isinstance(arg, ModuleType)] if type(value) is tuple else []
    return copy.deepcopy(value, {id(module): module for module in modules})


def nearness(args: Any) -> float:
    """Return how near numbers have to be: those of programs with numbers of 32 bits less."""
    return 1e-5 if any(one.dtype.itemsize == 4 for one in numbers(args)) else 1e-8


@contextmanager
def quietly() -> Iterator[None]:
    """Let programs warn as they like."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def opinions(
    function: Callable[..., Any], args: tuple[Any, ...], argnums: tuple[int, ...]
) -> str:
    """Return "same", "recorded" or "refused" of what the recorder can do, else what differs.

    "recorded" is what the compiler refuses, compared with differences.
    """
    with quietly():
        plain = copied(args)
        value = function(*plain)
        seed = random_like(value, np.random.default_rng(5))
        rng = np.random.default_rng(6)
        directions = tuple(random_like(args[i], rng) for i in argnums)
        try:
            recorded = by_engine(function, args, argnums, seed, directions, "record")
        except ADError as error:
            return "refused" if type(error).__name__ != "InternalError" else f"internal: {error}"
        near = nearness(args)
        problem = differs(
            recorded[:2], (value, plain), "plain Python", "value and arguments", near)
        if problem:
            return problem
        try:
            compiled = by_engine(function, args, argnums, seed, directions, "python")
        except ADError:
            return by_differences(function, args, argnums, seed, directions, recorded)
        for what, one, other in zip(
            ("value", "arguments", "cotangents", "tangent"), recorded, compiled, strict=True
        ):
            if what == "tangent" and not list(numbers(value)):
                continue  # of integers: 0 or 0.0
            problem = differs(one, other, "the compiler", what, near)
            if problem:
                return problem
    return "same"


def by_engine(
    function: Callable[..., Any], args: tuple[Any, ...], argnums: tuple[int, ...], seed: Any,
    directions: tuple[Any, ...], backend: str,
) -> tuple[Any, ...]:
    """Return the value, what is left of the arguments, cotangents, and the tangent."""
    given = copied(args)
    value, pullback = vjp(function, *given, argnums=argnums, backend=backend)
    kept = copied(value)
    pulled = pullback(copied(seed))
    again = pullback(copied(seed))
    problem = differs(again, pulled, "the first pullback", "cotangents")
    assert not problem, problem
    tangents = list(zip(argnums, directions, strict=True))
    _, pushed = jvp(
        function, copied(args), tuple(d for _, d in tangents), argnums=argnums,
        backend=backend)
    return kept, given, pulled, pushed


def differs(found: Any, wanted: Any, whose: str, what: str, near: float = 0.0) -> str:
    """Return how numbers differ from those of another engine, empty if they do not."""
    ours, theirs = [list(numbers(value)) for value in (found, wanted)]
    if len(ours) != len(theirs):
        return f"{what}: {len(ours)} numbers and arrays, not {len(theirs)} of {whose}"
    for one, other in zip(ours, theirs, strict=True):
        scale = float(np.max(np.abs(other[np.isfinite(other)]), initial=1.0))
        if one.shape != other.shape or not np.allclose(
            one, other, rtol=near, atol=near * scale, equal_nan=True
        ):
            return f"{what}: {one}, not {other} of {whose}"
    return ""


def by_differences(
    function: Callable[..., Any], args: tuple[Any, ...], argnums: tuple[int, ...], seed: Any,
    directions: tuple[Any, ...], recorded: tuple[Any, ...],
) -> str:
    """Return "recorded", or how derivatives differ from differences along the directions."""

    def at(step: float) -> Any:
        shifted = list(copied(args))
        for i, direction in zip(argnums, directions, strict=True):
            now = moved(shifted[i], direction, step)
            shifted[i] = np.asarray(now) if isinstance(args[i], np.ndarray) else now
        return product(seed, function(*shifted))

    single = nearness(args) > 1e-8
    steps, near = ((3e-3,), 1e-2) if single else ((1e-4, 1e-6), 1e-5)  # the first may meet a jump
    wanted = [
        (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h) for h in steps]
    _, _, pulled, pushed = recorded
    by_pullback = sum(product(d, bar) for d, bar in zip(directions, pulled, strict=True))
    checked = [("pullback", by_pullback)]
    if len(list(numbers(pushed))) == len(list(numbers(seed))):  # no tangents of integers
        checked.append(("pushforward", product(seed, pushed)))
    for what, found in checked:
        if np.all(np.isfinite(wanted)) and not any(
            abs(found - one) <= near * max(1.0, abs(one)) for one in wanted
        ):
            return f"{what}: {found}, not {wanted} of differences"
    return "recorded"
