"""Calls of rules one argument of which is an integer, a boolean or a position that depends on x.

Such an argument carries no derivative, but what it is decides which elements go where. Each
sample call is a function of its real numbers and of ``t``, which makes the argument: ``int(t)``,
``t > 0.5`` or ``np.floor(t)``, so that several values of ``t`` give several calls. Whatever is
not zero at one of them has to be in the pattern, which is one for all of them.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from adcompiler.cache.modules import load_module
from adcompiler.ops.domains import Call
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.samples import rule_name

from tests.sparsity.check import flat as counted
from tests.sparsity.sweep import LITERALS, Sample, first_derivatives, flat, is_real

NUMBERS = 12
"""So many numbers at most may a call be a function of."""
POINTS = 4
"""At so many values of ``t`` at most are differences taken."""


@dataclass(frozen=True)
class Made:
    """The text that makes an argument of ``t``, and the values of ``t`` to try, the first its own.
    """

    text: str
    tries: tuple[Any, ...]


def made_of(x: Any) -> Made | None:
    """Return how an argument is made of ``t``; None if it is nothing of the kind."""
    if isinstance(x, (bool, np.bool_)):
        return Made("(t > 0.5)", tuple(0.25 + 0.5 * b for b in (bool(x), not x)))
    if isinstance(x, (int, np.integer)):
        others = dict.fromkeys((int(x), int(x) + 1, int(x) - 1, 0, 1, 2, -1, 4))
        return Made("int(np.floor(t))", tuple(k + 0.25 for k in others))
    if isinstance(x, (float, np.floating)):
        return Made("np.floor(t * 64.0) / 64.0", tuple(
            (np.floor(64.0 * v) + 0.25) / 64.0 for v in (x, x + 0.25, x - 0.25, 1.7 * x, -x)))
    if type(x) in (list, tuple) and x and all(type(k) is int for k in x):
        items = "".join(f"int(np.floor(t[{i}])), " for i in range(len(x)))
        tries = tuple(t for t in of_integers(np.array(x)))
        return Made(f"[{items}]" if type(x) is list else f"({items})", tries)
    if type(x) is not np.ndarray or not x.size:
        return None
    if x.dtype.kind == "b":
        return Made("(t > 0.5)", tuple(0.25 + 0.5 * v for v in (
            x, ~x, np.ones_like(x), np.zeros_like(x))))
    if x.dtype.kind in "iu":
        return Made("np.floor(t).astype(int)", tuple(of_integers(x)))
    if x.dtype.kind == "f":
        return Made("np.floor(t * 64.0) / 64.0", tuple(
            (np.floor(64.0 * v) + 0.25) / 64.0 for v in (
                x, np.flip(x), x + 0.25, 1.7 * x, np.sort(x, None).reshape(x.shape) - 0.25)))
    return None


def of_integers(x: Any) -> Iterator[Any]:
    """Yield arrays of floats that are made integers by rounding down, the first one those of x."""
    for one in (x, np.flip(x), np.minimum(x + 1, x.max()), np.maximum(x - 1, 0), x + 1, x * 0):
        yield one + 0.25


@dataclass(frozen=True)
class Dependent:
    """A call with an argument made of ``t``, at each of the points that can be reached."""

    rule: Rule
    which: str
    points: tuple[Sample, ...]

    def wanted(self) -> list[Any]:
        """Return where derivatives are not zero for sure, at each of the points."""
        return [first_derivatives(point) for point in self.points]


def dependents(rule: Rule, call: Call) -> Iterator[Dependent]:
    """Yield a call with each of its arguments made of ``t``, and as it is at several points."""
    named = [*enumerate(call.args), *call.kwargs.items()]
    for which, x in named:
        made = made_of(x)
        if made is not None:
            points = points_of(rule, call, which, made)
            if points:
                yield Dependent(rule, f"{which}: {made.text}", points)
    points = points_of(rule, call, None, None)
    if points:
        yield Dependent(rule, "as it is", points)


def points_of(rule: Rule, call: Call, which: Any, made: Made | None) -> tuple[Sample, ...]:
    """Return a call as a function of its numbers and ``t``, at several points."""
    values: list[Any] = []
    given: dict[str, Any] = {"function": rule.function, "np": np}

    def text_of(name: Any, x: Any) -> str:
        if made is not None and name == which:
            return made.text
        if type(x) in LITERALS:
            return f"({x!r})"
        if is_real(x):
            values.append(np.array(x, np.float64) if isinstance(x, np.ndarray) else float(x))
            return f"x{len(values) - 1}"
        if type(x) is tuple:
            return f"({''.join(f'{text_of(None, item)}, ' for item in x)})"
        if type(x) is list:
            return f"[{', '.join(text_of(None, item) for item in x)}]"
        given[f"given_{len(given)}"] = x
        return f"given_{len(given) - 1}"

    parts = [text_of(i, x) for i, x in enumerate(call.args)]
    parts += [f"{k}={text_of(k, x)}" for k, x in call.kwargs.items()]
    names = [f"x{i}" for i in range(len(values))] + (["t"] if made is not None else [])
    module = load_module(None, (
        f"def called({', '.join(names)}):\n    return function({', '.join(parts)})\n"
    ), f"adcompiler_dependent_{rule_name(rule)}")
    module.__dict__.update(given)
    tries: Any = [(*values, np.array(t) if np.ndim(t) else float(t)) for t in made.tries] if (
        made is not None) else list(moved(values))
    found: list[Sample] = []
    for each in tries:
        sample = Sample(module.called, module.called, tuple(each))
        if 0 < sample.columns <= NUMBERS and evaluates(sample) and len(found) < POINTS:
            found.append(sample)
        elif not found:
            break
    return tuple(found)


def moved(values: list[Any]) -> Iterator[list[Any]]:
    """Yield values of numbers, and others, in another order."""
    yield values
    yield [np.flip(x).copy() if isinstance(x, np.ndarray) else x for x in values]
    yield [x * 1.4 for x in values]
    for k in range(len(values)):
        yield [np.flip(x) + 0.2 if i == k and isinstance(x, np.ndarray) else x
               for i, x in enumerate(values)]


def evaluates(sample: Sample) -> bool:
    """Say whether a call gives real or complex numbers alone, the same ones again."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value, again = (sample.called(*sample.moved()) for _ in range(2))
            return isinstance(
                value, (float, complex, np.inexact, np.ndarray, tuple, list)
            ) and counted(value).size == flat(value).size and (
                np.array_equal(flat(value), flat(again), equal_nan=True))
        except Exception:  # whatever a library raises for arguments out of range
            return False


def calls_with_dependents(rule: Rule, calls: list[Call], most: int) -> Iterator[Dependent]:
    """Yield the first calls of a rule that have new kinds of arguments."""
    seen: set[Any] = set()
    for call in calls:
        kinds = tuple(
            (name, type(x), getattr(x, "ndim", 0), getattr(getattr(x, "dtype", None), "kind", ""))
            for name, x in itertools.chain(enumerate(call.args), call.kwargs.items()))
        if kinds in seen or len(seen) >= most:
            continue
        found = list(dependents(rule, call))
        if found:
            seen.add(kinds)
            yield from found
