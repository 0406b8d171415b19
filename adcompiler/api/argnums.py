"""Which arguments are differentiated, as the user says it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, overload

from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.derivatives import Argnums

Asked = Argnums | EllipsisType | None
"""What a user may say: a position, a name, a tuple of them; None and ``...`` for all."""


def stated(
    function: Callable[..., Any], argnums: Asked | list[int | str]
) -> Argnums:
    """Return positions and names; for None and ``...`` those of all parameters of the function.

    ``*args`` counts as one argument, a tuple; the keywords that ``**kwargs`` takes are left out.
    """
    if argnums is not None and not isinstance(argnums, EllipsisType):
        return tuple(argnums) if isinstance(argnums, list) else argnums
    parameters = signature_of(function).parameters.values()
    places = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return tuple(
        i if p.kind in places else p.name for i, p in enumerate(parameters)
        if p.kind is not inspect.Parameter.VAR_KEYWORD
    )


@overload
def of_call(argnums: Argnums | EllipsisType, args: Sequence[object]) -> Argnums: ...
@overload
def of_call(argnums: Asked, args: Sequence[object]) -> Argnums | None: ...
def of_call(argnums: Asked, args: Sequence[object]) -> Argnums | None:
    """Return ``argnums``, a list as a tuple, and for ``...`` the positions of all of a call."""
    if isinstance(argnums, EllipsisType):
        return tuple(range(len(args)))
    return tuple(argnums) if isinstance(argnums, list) else argnums


def argnums_in(text: str) -> int | str | tuple[int | str, ...]:
    """Return the arguments that ``0``, ``0,1``, ``w,b`` or ``0,`` (a tuple of one) means.

    Raises ValueError if that is none.
    """
    parts = [part.strip() for part in text.split(",")]
    found: list[int | str] = []
    for part in filter(None, parts):
        try:
            found.append(int(part))
        except ValueError:
            found.append(part)
    if not found:
        raise ValueError(f"--argnums {text!r} names no argument")
    return found[0] if len(parts) == 1 else tuple(found)
