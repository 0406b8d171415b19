"""Checking derivatives of functions that other packages ship, as they are shipped.

A `Case` names a function by where it is imported from, and gives arguments. Its pullback is
compared with central differences of order six: for random directions ``d`` of the arguments and
random cotangents ``c`` of the result, ``c · (J d) = (Jᵀ c) · d``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adcompiler import vjp
from adcompiler.runtime import own

STENCIL = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))


@dataclass(frozen=True)
class Case:
    """A function, ``module:name``, its arguments, and the positions of the differentiated ones."""

    target: str
    arguments: tuple[Any, ...]
    at: tuple[int, ...] = (0,)
    keywords: dict[str, Any] = field(default_factory=dict)
    step: float = 1e-3

    @property
    def function(self) -> Callable[..., Any]:
        module, _, path = self.target.partition(":")
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        return found  # type: ignore[no-any-return]

    @property
    def label(self) -> str:
        """Return the name that the function is known by."""
        return self.target.replace(":", ".")


def numbers(value: Any) -> Iterator[Any]:
    """Yield the floating-point numbers and arrays of ``value``, in order."""
    if isinstance(value, float | complex | np.inexact):
        yield np.asarray(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "fc":
            yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from numbers(part)


def random_like(value: Any, rng: np.random.Generator) -> Any:
    """Return random numbers of the structure of ``value``; None where there are none to move."""
    if isinstance(value, float | np.floating):
        return float(rng.normal())
    if isinstance(value, complex | np.complexfloating):
        return complex(rng.normal(), rng.normal())
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return rng.normal(size=value.shape)
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return rng.normal(size=value.shape) + 1j * rng.normal(size=value.shape)
    if isinstance(value, dict):
        return {key: random_like(part, rng) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(random_like(part, rng) for part in value))
    if isinstance(value, list | tuple):
        return type(value)(random_like(part, rng) for part in value)
    return None


def moved(value: Any, direction: Any, step: float) -> Any:
    """Return ``value + step * direction``."""
    if direction is None:
        return value
    if isinstance(value, dict):
        return {key: moved(part, direction[key], step) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [moved(part, along, step) for part, along in zip(value, direction, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value + step * direction


def product(left: Any, right: Any) -> float:
    """Return the real inner product of two structures of numbers."""
    pairs = zip(numbers(left), numbers(right), strict=True)
    return float(sum(np.sum(np.real(np.conj(a) * b)) for a, b in pairs))


def equal(left: Any, right: Any) -> None:
    """Assert that two structures hold the same numbers."""
    for a, b in zip(numbers(left), numbers(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


def check(case: Case, rounds: int = 3, tolerance: float = 1e-6) -> None:
    """Assert that the pullback of a case agrees with differences in random directions."""
    rng = np.random.default_rng(sum(map(ord, case.target)))
    function = case.function

    def call(step: float, directions: tuple[Any, ...]) -> Any:
        arguments = list(own(case.arguments))
        for position, direction in zip(case.at, directions, strict=True):
            arguments[position] = moved(arguments[position], direction, step)
        return function(*arguments, **case.keywords)

    given = own(case.arguments)
    value, pullback = vjp(function, *given, argnums=case.at, **case.keywords)
    equal(value, call(0.0, random_like([case.arguments[i] for i in case.at], rng)))
    for _ in range(rounds):
        directions = tuple(random_like(case.arguments[position], rng) for position in case.at)
        cotangent = random_like(value, rng)
        wanted = 0.0
        for multiple, weight in STENCIL:
            ahead = product(cotangent, call(multiple * case.step, directions))
            behind = product(cotangent, call(-multiple * case.step, directions))
            wanted += weight * (ahead - behind) / case.step
        found = pullback(cotangent)
        got = product(directions, found)
        parts = [abs(product(d, bar)) for d, bar in zip(directions, found, strict=True)]
        scale = max(abs(wanted), sum(parts), 1e-3)
        assert abs(got - wanted) <= tolerance * scale, f"{got} is not {wanted}"
        equal(pullback(cotangent), found)
