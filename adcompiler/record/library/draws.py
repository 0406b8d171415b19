"""Draws of random numbers whose parameters carry a derivative.

The run draws once, from the program's generator. A sweep draws again, from a copy of the generator
as it was before, so that the rule finds the same numbers.
"""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.made_texts import keep_lines
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.protocols import by_its_rule
from adcompiler.record.single import recorded
from adcompiler.record.tape import refused
from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.draws import COPIES, undifferentiated


RANDOM = (np.random.Generator, np.random.RandomState, random.Random)
"""Classes of what draws random numbers."""


def generator_of(function: Callable[..., Any], args: tuple[object, ...]) -> Any:
    """Return what a function that draws is called of, if it is a method of a generator."""
    return getattr(function, "__self__", None) or (args[0] if args else None)


def drawn(function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a function that draws; some argument is active."""
    name, owner = function.__name__, generator_of(function, args)
    params = args if getattr(function, "__self__", None) is owner else args[1:]
    if type(owner) not in COPIES or REGISTRY.find(getattr(type(owner), name, None)) is None:
        raise refused(*undifferentiated(name), "random-draws")
    before = copy.deepcopy(owner)
    cls: Any = type(owner)
    return recorded(drawing_again(cls, name), (before, *params), kwargs,
                    lambda: by_its_rule(function, *own(args), **own(kwargs)))


@functools.cache
def drawing_again(cls: type, name: str) -> Callable[..., Any]:
    """Return a function that draws by a method of a copy of a generator."""
    text = (
        f"def {name}(generator, *args, **kwargs):\n"
        f"    return copied(generator).{name}(*args, **kwargs)\n"
    )
    file = f"<drawing {cls.__name__}.{name} again>"
    keep_lines(file, text)
    space: dict[str, Any] = {"copied": COPIES[cls], "__name__": "adcompiler_draws"}
    exec(compile(text, file, "exec"), space)
    made: Callable[..., Any] = space[name]
    return made
