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


FLOAT = Float()
SHAPES = [(3,), (2,), (2, 3), (3, 3), (1,)]
NAMES = ["a", "b", "c", "e", "g", "h", "p", "q", "r", "s", "u", "w", "y", "z"]
Env = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """The source of a module whose function ``f`` is to be differentiated at ``args``."""

    source: str
    args: tuple[Any, ...]
    scalar: bool = True

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
    """A function that may be called: its parameters' types and its result's."""

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
        case Tup(items):
            return tuple(argument(i, rng) for i in items)
        case Table(entries):
            return {key: argument(t, rng) for key, t in entries}
    return number()
