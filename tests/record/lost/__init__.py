"""Programs in which a recording of a run may lose a derivative, each with the right gradient.

They are of the kinds that a tape misses most easily: C code that calls back, objects that are one
and seem two, caches, text, methods that the interpreter calls by itself, writes that C makes. Each
is an ordinary function of floats or arrays of floats.
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

STENCIL = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))


@dataclass(frozen=True)
class Program:
    """A function, its arguments, and what its gradient is.

    ``gradient`` is that of the only argument, or a tuple of those of all; a function gives it from
    the arguments; None stands for central differences. ``state`` returns what the function leaves
    outside of itself, ``reset`` makes that as it was. Functions with memory are called ``twice``;
    ``again`` is the gradient of the second call where it is another. Where the value passes through
    text, bytes, equality or exact rationals there may be ``no_derivative``: refusing is as right then.
    Where a float has to be equal to another, the function ``jumps``, and differences say nothing:
    the gradient is that of the statements that run.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    gradient: Any = None
    twice: bool = False
    again: Any = None
    no_derivative: bool = False
    jumps: bool = False
    state: Callable[[], Any] | None = None
    reset: Callable[[], Any] | None = None
    step: float = 1e-4
    tolerance: float = 1e-6

    def fresh(self) -> tuple[Any, ...]:
        """Return arguments of the caller's own: arrays are copied, floats are the same objects."""
        return copy.deepcopy(self.args)

    def start(self) -> None:
        """Make the state that the function reads and writes as it was before any call."""
        if self.reset is not None:
            self.reset()

    def wanted(self, second: bool = False) -> tuple[Any, ...]:
        """Return the right gradient, as a tuple with that of each argument."""
        given = self.gradient if not second or self.again is None else self.again
        if given is None:
            return self.differences(second)
        found = given(*self.fresh()) if callable(given) else given
        return found if len(self.args) > 1 else (found,)

    def differences(self, second: bool = False) -> tuple[Any, ...]:
        """Return central differences of order six, in the structure of the arguments."""
        def value(position: int, place: int, step: float) -> float:
            self.start()
            if second:
                self.function(*self.fresh())
            args = list(self.fresh())
            parts = leaves(args[position])
            args[position] = replaced(args[position], place, float(parts[place]) + step)
            return float(np.real(self.function(*args)))

        found = tuple(
            rebuilt(arg, [
                sum(weight * (value(k, place, times * self.step)
                              - value(k, place, -times * self.step)) / self.step
                    for times, weight in STENCIL)
                for place in range(len(leaves(arg)))])
            for k, arg in enumerate(self.args))
        self.start()
        return found


def leaves(value: Any) -> list[float]:
    """Return the floats of an argument, in order."""
    if isinstance(value, np.ndarray):
        return [float(one) for one in value.ravel()]
    if isinstance(value, dict):
        return [one for part in value.values() for one in leaves(part)]
    if isinstance(value, list | tuple):
        return [one for part in value for one in leaves(part)]
    return [float(value)]


def rebuilt(value: Any, numbers: list[float]) -> Any:
    """Return the structure of an argument with other numbers, which it takes off the list."""
    if isinstance(value, np.ndarray):
        return np.array([numbers.pop(0) for _ in range(value.size)]).reshape(value.shape)
    if isinstance(value, dict):
        return {key: rebuilt(part, numbers) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([rebuilt(part, numbers) for part in value])
    return numbers.pop(0)


def replaced(value: Any, place: int, number: float) -> Any:
    """Return a copy of an argument in which one of its floats is another."""
    numbers = leaves(value)
    numbers[place] = number
    found = rebuilt(value, numbers)
    return found.astype(value.dtype) if isinstance(value, np.ndarray) else found


def programs() -> Iterator[tuple[str, Program]]:
    """Yield the programs of all modules beside this one, with the names of their kinds."""
    for module in pkgutil.iter_modules(__path__):
        for program in importlib.import_module(f"{__name__}.{module.name}").PROGRAMS:
            yield module.name, program
