"""Which parameters, and which parts of them, `argnums` means."""

from __future__ import annotations

import inspect
from typing import Any

from adcompiler.dispatch.targets import Target


def places_of(
    given: Any, target: Target, parameters: list[inspect.Parameter]
) -> list[tuple[int, tuple[Any, ...]]]:
    """Return the positions of the wanted parameters, with the steps to the part wanted."""
    several = given if isinstance(given, (tuple, list)) else (given,)
    found = [place_of(one, target, parameters) for one in several]
    for n, (i, steps) in enumerate(found):
        for j, others in found[:n]:
            if i == j and steps[: len(others)] == others[: len(steps)]:
                raise ValueError(f"argnums: {given} names an argument twice")
    return found


def place_of(
    one: int | str, target: Target, parameters: list[inspect.Parameter]
) -> tuple[int, tuple[Any, ...]]:
    """Return the position of the parameter that ``one`` of ``argnums`` means, and steps."""
    names = [p.name for p in parameters]
    offset = len(target.first)
    kinds = [p.kind for p in parameters]
    if isinstance(one, str):
        name, *steps = one.split(".")
        if name in names:
            return names.index(name), tuple(steps)
        if inspect.Parameter.VAR_KEYWORD in kinds:
            return kinds.index(inspect.Parameter.VAR_KEYWORD), (name, *steps)
        raise ValueError(
            f"argnums: {target.shown} has no parameter {name!r}; it has {', '.join(names)}"
        )
    if isinstance(one, bool) or not hasattr(one, "__index__"):
        raise TypeError(
            f"argnums: {one!r} is no position and no name; a part of an argument is named by "
            "a text such as 'p.x'"
        )
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        star = kinds.index(inspect.Parameter.VAR_POSITIONAL)
        if one < 0:
            raise ValueError(
                f"argnums: {one} counts from the end, but {target.shown} takes any number "
                "of arguments; count from 0, or give a name"
            )
        if one >= star - offset:
            return star, (one - star + offset,)
        return offset + one, ()
    count = len(parameters) - offset
    if not -count <= one < count:
        raise ValueError(
            f"argnums: {target.shown} has no argument {one}; "
            f"it has {count}, counted from 0"
        )
    return offset + one % count, ()
