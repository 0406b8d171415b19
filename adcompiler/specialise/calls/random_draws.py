"""Random numbers: the generators that code draws from, and the types of what they give.

A draw is made once, where the program makes it; the sweep reads the numbers that were drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom
from adcompiler.specialise.writer import Writer

MAKERS: dict[Any, type] = {
    np.random.default_rng: np.random.Generator, np.random.Generator: np.random.Generator,
    np.random.RandomState: np.random.RandomState,
}
"""The functions that make a generator, with its class."""

GENERATORS = (np.random.Generator, np.random.RandomState)


def fresh_generator(cls: type) -> Any:
    """Return a generator to try draws on; those of the program stay as they are."""
    return np.random.default_rng(0) if cls is np.random.Generator else np.random.RandomState(0)


def type_of_draw(
    s: Writer, cls: type, method: str, args: list[Any], kwargs: Mapping[str, Atom]
) -> t.Type:
    """Return the type of what a method of a random generator gives."""
    def draw(*values: Any, **named: Any) -> Any:
        return getattr(fresh_generator(cls), method)(*values, **named)

    return s.type_of_call(draw, args, kwargs)


def type_of_making(
    s: Writer, function: Any, args: list[Any], kwargs: Mapping[str, Atom]
) -> t.Type | None:
    """Return the type of a call that makes a generator, or draws from the global one."""
    try:
        if function in MAKERS:
            return t.Object(MAKERS[function], ())
    except TypeError:
        return None
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.random.RandomState):
        return type_of_draw(s, np.random.RandomState, function.__name__, args, kwargs)
    return None
