"""What is tried, and what comes of it: a function's derivatives beside central differences."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adcompiler import ADError, jvp, vjp
from adcompiler.runtime import own
from tests.real.shipped import STENCIL, Case, moved, numbers, product, random_like

Call = Callable[[float, tuple[Any, ...]], Any]


def case(target: str, *arguments: Any, at: tuple[int, ...] | None = None, step: float = 1e-3,
         **keywords: Any) -> Case:
    """Return a case in which every argument with floats is differentiated, unless ``at`` tells."""
    if at is None:
        at = tuple(k for k, one in enumerate(arguments) if any(True for _ in numbers(one)))
    return Case(target, arguments, at, keywords, step)


@dataclass(frozen=True)
class Outcome:
    """What came of a case: ``right``, ``refused``, ``infinite``, ``wrong``, ``raw`` or ``broken``.

    ``infinite`` is a derivative that is not finite, as who calls it sees, where differences are.
    ``refused`` is an ``ADError``, ``raw`` any other exception that the function itself does not
    raise, ``broken`` a case of which the function itself fails. ``seconds`` is what the first call
    of `vjp` took of the processor, where nothing was compiled before, less what the function takes.
    """

    package: str
    target: str
    result: str
    seconds: float
    text: str = ""


def scaled(direction: Any, value: Any) -> Any:
    """Return a direction in which each number moves by a part of itself, or so."""
    if direction is None:
        return None
    if isinstance(value, dict):
        return {key: scaled(direction[key], part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [scaled(one, part) for one, part in zip(direction, value, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    size = np.where(np.abs(value) > 0, np.minimum(np.abs(value), 1e9), 1.0) * 0.3
    size = np.where(np.isfinite(size), size, 0.0)
    found = direction * size
    return found if isinstance(value, np.ndarray) else type(direction)(found)


def judge(
    package: str, one: Case, tolerance: float = 1e-6, backend: str = "python"
) -> Outcome:
    """Compare the pullback and the pushforward of a case with differences of order six."""
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong, seconds = compared(one, tolerance, backend)
            result = "infinite" if ": nan is not" in wrong else "wrong" if wrong else "right"
            return Outcome(package, one.label, result, seconds, wrong)
    except ADError as error:
        return Outcome(
            package, one.label, "refused", time.process_time() - started, str(error))
    except Broken as error:
        return Outcome(package, one.label, "broken", 0.0, str(error))
    except Exception as error:
        return Outcome(
            package, one.label, "raw", time.process_time() - started,
            f"{type(error).__name__}: {error}")


class Broken(Exception):
    """The function that is tried fails without being differentiated."""


def compared(one: Case, tolerance: float, backend: str = "python") -> tuple[str, float]:
    """Return what is wrong with the derivatives of a case, if any, and how long compiling took."""
    rng = np.random.default_rng(sum(map(ord, one.target)))
    try:
        function = one.function
        directions = tuple(scaled(random_like(one.arguments[k], rng), one.arguments[k])
                           for k in one.at)

        def call(step: float) -> Any:
            arguments = list(own(one.arguments))
            for position, direction in zip(one.at, directions, strict=True):
                arguments[position] = moved(arguments[position], direction, step)
            return function(*arguments, **one.keywords)

        plain = call(0.0)
        started = time.process_time()
        call(0.0)
        alone = time.process_time() - started
        cotangent = random_like(plain, rng)
        wanted = sum(
            weight * (product(cotangent, call(multiple * one.step))
                      - product(cotangent, call(-multiple * one.step))) / one.step
            for multiple, weight in STENCIL)
    except Exception as error:
        raise Broken(f"{type(error).__name__}: {error}") from error
    started = time.process_time()
    value, pullback = vjp(
        function, *own(one.arguments), argnums=one.at, backend=backend, **one.keywords)
    seconds = max(time.process_time() - started - alone, 0.0)
    for got, expected in zip(numbers(value), numbers(plain), strict=True):
        if not np.allclose(got, expected, rtol=1e-9, atol=1e-11, equal_nan=True):
            return f"the value is {got}, not {expected}", seconds
    found = pullback(cotangent)
    parts = [abs(product(d, bar)) for d, bar in zip(directions, found, strict=True)]
    scale = max(abs(wanted), 1e-3) + sum(parts)
    for name, got in (
        ("vjp", product(directions, found)),
        ("vjp, again", product(directions, pullback(cotangent))),
        ("jvp", product(cotangent, where(
            cotangent, pushed(function, one, directions, backend)))),
    ):
        if not abs(got - wanted) <= tolerance * scale:
            return f"{name}: {got} is not {wanted}", seconds
    return "", seconds


def where(cotangent: Any, tangent: Any) -> Any:
    """Return a tangent without that of numbers that have no cotangent, such as whole ones."""
    if cotangent is None:
        return None
    if isinstance(cotangent, dict):
        return {key: where(part, tangent[key]) for key, part in cotangent.items()}
    if isinstance(cotangent, list | tuple):
        return [where(*parts) for parts in zip(cotangent, tangent, strict=True)]
    return tangent


def pushed(function: Any, one: Case, directions: tuple[Any, ...], backend: str = "python") -> Any:
    """Return the tangent of the result."""
    return jvp(function, own(one.arguments), directions, argnums=one.at, backend=backend,
               **one.keywords)[1]
