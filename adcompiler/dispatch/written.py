"""Calls of functions that see how they are called: arguments reach them as the caller wrote them.

A wrapper that takes ``(*args, **kwargs)`` may do one thing with ``f(x)`` and another one with
``f(x, y=2.0)``. So there is one function to compile for each way of calling it, which passes on
what it is given.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adcompiler.dispatch.targets import (
    find_target, has_own_rule, named_forward, takes_anything,
)
from adcompiler.errors import ArgumentsError
from adcompiler.runtime import own
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.runtime.records import is_record
from adcompiler.infer.calls.libraries import is_library
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.derivatives import is_derivative
from adcompiler.typed.options import Argnums

STARS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Written(NamedTuple):
    """The arguments of a call, as they are written: by position and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def way(self) -> tuple[int | str, ...]:
        """How many there are by position, and the names of the others."""
        return len(self.args), *self.kwargs

    def own(self) -> Written:
        """Return copies of them, for calls that may write into their arguments."""
        return Written(own(self.args), own(self.kwargs))

    def given_to(self, function: Callable[..., Any]) -> Any:
        """Return what a function gives for them."""
        return function(*self.args, **self.kwargs)


def sees_calls(function: Callable[..., Any]) -> bool:
    """Say whether a function may tell ways of calling it apart that mean the same elsewhere.

    These are wrappers of functions with named parameters, bound ones too, partials, functions made
    by ``np.vectorize``, and derivatives of such.
    """
    if is_derivative(function):
        found: Any = function
        return getattr(found, "sees_calls", False) or sees_calls(found.primal)
    if isinstance(function, np.vectorize):
        return sees_calls(functools.partial(function.pyfunc))
    if isinstance(function, functools.partial):
        try:
            parameters = signature_of(function).parameters.values()
        except (TypeError, ValueError):
            return False
        return isinstance(function.func, (types.FunctionType, types.MethodType)) and not any(
            p.kind in STARS for p in parameters)
    if isinstance(function, types.MethodType):
        function = function.__func__
    return not has_own_rule(function) and takes_anything(function)


def has_own_containers(function: Callable[..., Any], argnums: Argnums) -> bool:
    """Say whether a function of the user's has defaults that it may write into, and so remember.

    What a derivative's caller passes is left as it was, but these are the function's own. Those
    that are to be differentiated are not counted.
    """
    plain = getattr(function, "__func__", function)
    if not isinstance(plain, types.FunctionType) or is_library(plain) or is_derivative(function):
        return False
    parameters = list(signature_of(function, follow_wrapped=False).parameters.values())
    wanted = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    names = {
        parameters[one].name if isinstance(one, int) and -len(parameters) <= one < len(parameters)
        else str(one).partition(".")[0] for one in wanted
    }
    written = {p.name for p in parameters if may_be_written(p.default)}
    starred = any(p.kind in STARS for p in parameters)
    return bool(written) and not written & names and not starred and not has_own_rule(function)


@unless_it_raises(False)
def may_be_written(value: Any) -> bool:
    """Say whether a value is an array, a container or an instance of a plain class."""
    if isinstance(value, tuple):
        return any(map(may_be_written, value))
    return type(value) in (list, dict, set, np.ndarray) or is_record(value)


def takes_any_number(function: Callable[..., Any]) -> bool:
    """Say whether a function has a parameter ``*args``."""
    try:
        parameters = find_target(function).signature.parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.kind is p.VAR_POSITIONAL for p in parameters)


def takes_keywords_only(function: Callable[..., Any]) -> bool:
    """Say whether a function has parameters that are given by name only, and no ``*args``."""
    try:
        parameters = find_target(function).signature.parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = {p.kind for p in parameters}
    return inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds


def of_so_many(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a function with ``count`` parameters that calls one with ``*args``."""
    shown = str(getattr(function, "__name__", "function"))
    names = [f"x{i}" for i in range(count)]
    return named_forward(shown, ", ".join(names), ", ".join(names), function, names)


def as_written(
    function: Callable[..., Any], argnums: Argnums, count: int, keywords: tuple[str, ...]
) -> tuple[Callable[..., Any], Argnums]:
    """Return what is compiled for calls with these arguments, and ``argnums`` as names for it.

    ``count`` arguments are given by position. Raises TypeError if they do not fit, and
    ArgumentsError if an argument that is to be differentiated is left to its default.
    """
    signature = signature_of(getattr(function, "pyfunc", function))
    signature.bind(*range(count), **dict.fromkeys(keywords))
    names = list(signature.parameters)
    given = [*names[:count], *keywords]
    shown = str(getattr(getattr(function, "func", function), "__name__", "partial"))

    def named(one: int | str) -> str:
        if isinstance(one, int):
            if not -len(names) <= one < len(names):
                raise ValueError(
                    f"argnums: {shown} has no argument {one}; it has {len(names)}, counted from 0")
            one = names[one]
        name = one.partition(".")[0]
        if name not in names:
            raise ValueError(
                f"argnums: {shown} has no parameter {name!r}; it has {', '.join(names)}")
        if name not in given:
            raise ArgumentsError(
                f"argnums: {name} is to be differentiated, but is not passed, and {shown} sees "
                f"what it is called with; pass {name}"
            )
        return one

    wanted = tuple(map(named, argnums)) if isinstance(argnums, (tuple, list)) else named(argnums)
    arguments = [*names[:count], *(f"{name}={name}" for name in keywords)]
    made = named_forward(shown, ", ".join(given), ", ".join(arguments), function, given)
    return made, wanted


def as_called(
    function: Callable[..., Any], argnums: Argnums, call: Written
) -> tuple[Callable[..., Any], Argnums]:
    """Return what is compiled for a call, as ``as_written``; the function unless it sees calls."""
    if not sees_calls(function):
        return function, argnums
    return as_written(function, argnums, len(call.args), tuple(call.kwargs))
