"""The types that random programs are written in, and values of them."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Float:
    """A float, or a NumPy float."""


@dataclass(frozen=True)
class Index:
    """An int from 0 to ``bound - 1``."""

    bound: int


@dataclass(frozen=True)
class Arr:
    """An array of floats."""

    shape: tuple[int, ...]


@dataclass(frozen=True)
class Floats:
    """A list of ``length`` floats; of unknown length if that is None."""

    length: int | None


@dataclass(frozen=True)
class Tup:
    """A tuple."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A dict with text keys."""

    entries: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Arrays:
    """A list of ``length`` arrays of one shape."""

    shape: tuple[int, ...]
    length: int


@dataclass(frozen=True)
class Grid:
    """A list of ``rows`` lists of ``columns`` floats."""

    rows: int
    columns: int


@dataclass(frozen=True)
class Growing:
    """A list of floats whose length may change."""


@dataclass(frozen=True)
class ReadOnly:
    """An array of floats that may not be written, such as a broadcast one."""

    shape: tuple[int, ...]


@dataclass(frozen=True)
class Ints:
    """An array of ``length`` ints from 0 to ``bound - 1``, perhaps some of them equal."""

    length: int
    bound: int


@dataclass(frozen=True)
class Mask:
    """An array of booleans."""

    length: int


@dataclass(frozen=True)
class Boxed:
    """An object with a float for ``level`` and an array for ``data``."""

    shape: tuple[int, ...]


FLOAT = Float()
GROWING = Growing()
SHAPES = [(3,), (2,), (2, 3), (3, 3), (1,)]
NAMES = ["a", "b", "c", "e", "g", "h", "p", "q", "r", "s", "u", "w", "y", "z"]
Env = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """The source of a module whose function ``f`` is to be differentiated at ``args``.

    The first ``active`` arguments are differentiated (all, if None); ``features`` are the kinds of
    statements that were written into it.
    """

    source: str
    args: tuple[Any, ...]
    scalar: bool = True
    active: int | None = None
    features: frozenset[str] = frozenset()

    @property
    def argnums(self) -> tuple[int, ...]:
        return tuple(range(len(self.args) if self.active is None else self.active))

    def function(self) -> Callable[..., Any]:
        """Return ``f``, made from source that tools can find."""
        return load(self.source)

    def __repr__(self) -> str:
        return f"{self.source}\nARGS = {self.args!r}\n"


_loaded = [0]


def load(source: str) -> Callable[..., Any]:
    """Run ``source`` as a module of its own and return its function ``f``."""
    _loaded[0] += 1
    name = f"<random program {_loaded[0]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": f"random_program_{_loaded[0]}"}
    exec(compile(source, name, "exec"), namespace)
    found = namespace["f"]
    assert callable(found)
    return found


@dataclass
class Callee:
    """A function that may be called: its parameters' types and its result's.

    One without a result is called for what it writes.
    """

    name: str
    params: tuple[Any, ...]
    result: Any
    keywords: tuple[str, ...] = ()


@dataclass
class Context:
    """What a block may do: leave a loop, return, and which names it may not assign."""

    in_loop: bool = False
    returns: Any = None
    nested: bool = False
    fixed: set[str] = field(default_factory=set)


def argument(type_: Any, rng: np.random.Generator) -> Any:
    """Return a value of a type, away from zero."""

    def number() -> float:
        return round(float(rng.uniform(0.2, 1.4) * rng.choice([1, 1, -1])), 3)

    match type_:
        case Arr(shape):
            return np.array([number() for _ in range(int(np.prod(shape)))]).reshape(shape)
        case Floats(length):
            return [number() for _ in range(length or 2)]
        case Growing():
            return [number() for _ in range(int(rng.integers(4)))]
        case Arrays(shape, length):
            return [argument(Arr(shape), rng) for _ in range(length)]
        case Grid(rows, columns):
            return [argument(Floats(columns), rng) for _ in range(rows)]
        case Ints(length, bound):
            return rng.integers(bound, size=length)
        case Index(bound):
            return int(rng.integers(bound))
        case Mask(length):
            return rng.random(length) < 0.5
        case Tup(items):
            return tuple(argument(i, rng) for i in items)
        case Table(entries):
            return {key: argument(t, rng) for key, t in entries}
    return number()
