"""What a ``replacement`` is written with: the compiler reads these calls, they never run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.runtime.functionals import (
    gradient_of, jacobian_of, only_compiled, passive, pulled, pushed,
)

__all__ = [
    "copied", "count_of_parameters", "function_of", "gradient_of", "implied", "jacobian_of",
    "passive", "pulled", "pushed", "steady", "typed",
]


def function_of(
    f: Callable[..., Any], variables: tuple[object, ...], args: tuple[object, ...]
) -> Any:
    """Return ``f`` compiled for arguments of the types of ``variables``, then ``args``.

    The result takes values for ``variables`` and runs when the code runs, so it can be given to
    a library. No derivative goes through it.
    """
    only_compiled("function_of")


def implied(
    pull: Callable[..., Any], f: Callable[..., Any], variables: tuple[object, ...],
    args: tuple[object, ...], value: Any, operands: tuple[object, ...] = (),
    active: tuple[bool, ...] = (), followed: Callable[..., Any] | None = None,
    most: int | None = None,
) -> Any:
    """Return ``value``, whose derivative is implied by what it satisfies with ``f``.

    ``active`` says which of the ``variables`` are differentiated: all by default. In the reverse
    sweep runs ``pull(halves, value_bar, value, operands, rest)``: ``halves`` is ``f`` as compiled
    (see ``adcompiler.runtime.functionals``), called with values for ``variables`` and then
    ``*rest``, which are ``args`` and what ``f`` captured. It returns a tuple: a cotangent for each
    of ``operands`` (None: none), then for each of ``rest`` that is differentiated, in order.

    In forward mode and for derivatives of higher order ``followed(f, value, args, operands,
    order)`` is compiled, where it is given: code with this value that has the derivatives up to
    ``order`` if each statement of it is differentiated. ``most`` is the highest order that it has.
    """
    only_compiled("implied")


def copied(value: Any) -> Any:
    """Return a deep copy of ``value``, or ``value`` where its type is not known."""
    only_compiled("copied")


def count_of_parameters(f: Callable[..., Any]) -> int:
    """Return how many arguments ``f`` takes by position; 0 where it may be called with others."""
    only_compiled("count_of_parameters")


def steady(f: Callable[..., Any], state: Any, *more: Any) -> Any:
    """Return ``state`` with the type of ``f(state, *more)``, as the start of an iteration."""
    only_compiled("steady")


def typed(value: Any, like: Any) -> Any:
    """Return ``value``, which is known to have the type of ``like``."""
    only_compiled("typed")
