"""Where a rule is tested: intervals for elementwise functions, sample calls for the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One sample call of a function: its positional and keyword arguments."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


def call(*args: Any, **kwargs: Any) -> Call:
    """Return the sample call ``f(*args, **kwargs)``."""
    return Call(args, kwargs)


def complexes(rng: np.random.Generator, *shape: int) -> Any:
    """Return complex numbers whose parts are normally distributed, for sample calls."""
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


Interval = tuple[float, float]
SampleCalls = Callable[["np.random.Generator"], Sequence[Call]]


@dataclass(frozen=True, slots=True)
class Domain:
    """How to draw arguments: one open interval per argument, or a function giving sample calls.

    Either may be empty. ``intervals`` imply that the function works elementwise: the tests draw
    scalars and arrays of several shapes, broadcast against one another, from them.
    """

    intervals: tuple[Interval, ...] = ()
    calls: SampleCalls | None = None


def as_domain(value: Any) -> Domain | None:
    """Read the ``domain=`` of a rule: ``None``, a Domain, intervals, or a function of a generator.

    A single interval ``(low, high)`` stands for a function of one argument; a tuple of intervals
    gives one per argument.
    """
    if value is None or isinstance(value, Domain):
        return value
    if callable(value):
        return Domain(calls=value)
    if isinstance(value[0], (int, float)):
        return Domain(intervals=(tuple(value),))
    return Domain(intervals=tuple(tuple(interval) for interval in value))
