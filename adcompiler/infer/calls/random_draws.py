"""Random numbers: the generators that code draws from, and the types of what they give.

A draw is made once, where the program makes it; the sweep reads the numbers that were drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adcompiler.errors import Finding
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Const
from adcompiler.runtime.draws import COPIES
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

MAKERS: dict[Any, type] = {
    np.random.default_rng: np.random.Generator, np.random.Generator: np.random.Generator,
    np.random.RandomState: np.random.RandomState, random.Random: random.Random,
    **{copied: cls for cls, copied in COPIES.items()},
}
"""The functions that make a generator, with its class."""

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
"""The classes whose methods draw random numbers."""
PICKING = frozenset({"choice", "choices", "sample", "shuffle"})
"""Methods of Python's generators that hand out what they are given."""


TRIED = frozenset({
    "random", "uniform", "triangular", "gauss", "normalvariate", "lognormvariate", "expovariate",
    "paretovariate", "weibullvariate",
})
INTEGERS = frozenset({"randint", "randrange", "getrandbits", "binomialvariate", "_randbelow"})
"""Methods of Python's generators: those that end whatever they are given, and may be tried; and
those that give integers. Others draw again until a number fits, which for some values none does."""


def fresh_generator(cls: type) -> Any:
    """Return a generator to try draws on; those of the program stay as they are."""
    if issubclass(cls, random.Random):
        return random.Random(0)
    return np.random.default_rng(0) if cls is np.random.Generator else np.random.RandomState(0)


def type_of_draw(
    s: Writer, cls: type, method: str, args: list[Atom], kwargs: Mapping[str, Atom]
) -> t.Type:
    """Return the type of what a method of a random generator gives, which is tried if it ends."""
    if issubclass(cls, random.Random) and method not in TRIED:
        return t.INT if method in INTEGERS else t.UNKNOWN

    def draw(*values: Any, **named: Any) -> Any:
        return getattr(fresh_generator(cls), method)(*values, **named)

    return s.types.of_call(draw, args, kwargs)


def type_of_making(
    s: Writer, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom]
) -> t.Type | None:
    """Return the type of a call that makes a generator, or draws from the global one."""
    try:
        if function in MAKERS:
            return t.Object(MAKERS[function], ())
    except TypeError:
        return None
    owner = getattr(function, "__self__", None)
    for cls in (np.random.RandomState, random.Random):
        if isinstance(owner, cls):
            return type_of_draw(s, cls, function.__name__, args, kwargs)
    return None


@unless_it_raises(False)
def is_of_generator(function: Callable[..., Any]) -> bool:
    """Say whether a function is a method of a certain generator."""
    return isinstance(getattr(function, "__self__", None), GENERATORS)


def draws(unit: Unit, atom: Atom) -> bool:
    """Say whether a value is a random generator, or a method of one."""
    if isinstance(atom, Const) and is_of_generator(atom.value):
        return True
    made = unit.definition(atom)
    owners = [unit.type(atom), *([unit.type(made.obj)] if isinstance(made, Attribute) else [])]
    return any(isinstance(o, t.Object) and issubclass(o.cls, GENERATORS) for o in owners)


def drawing_again(function: Any) -> Finding:
    """Return what is reported of a function that would draw other numbers for each tangent."""
    lowered = lower(function)
    return lowered.origin.finding(
        f"`{lowered.name}` draws random numbers, and would run once for each of many tangents, "
        "with other numbers each time",
        "use reverse mode (jacrev, vjp), which runs it once, or draw outside", "run-again",
    )
