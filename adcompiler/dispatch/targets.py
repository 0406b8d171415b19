"""Which Python function is compiled for a callable."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from adcompiler.analyses.derivatives import is_derivative
from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.frontend.places import stand_for
from adcompiler.ir.nodes import Origin
from adcompiler.cache.store import load_module
from adcompiler.rulekit.registry import REGISTRY
from adcompiler.transforms.libraries import is_library


@dataclass(frozen=True)
class Target:
    """The Python function that is compiled for a callable, and the arguments it always gets."""

    function: types.FunctionType
    first: tuple[Any, ...]
    signature: inspect.Signature

    @property
    def shown(self) -> str:
        """What messages call the function."""
        name = self.function.__name__
        return "the lambda" if name == "<lambda>" else name


def find_target(function: Callable[..., Any]) -> Target:
    """Return what is compiled when ``function`` is differentiated."""
    if is_derivative(function) or has_own_rule(function) or takes_anything(function):
        return forwarding(function)
    if isinstance(function, types.FunctionType):
        return Target(function, (), code_signature(function))
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        return Target(
            function.__func__, (function.__self__,),
            inspect.signature(function, follow_wrapped=False),
        )
    wrapped = getattr(function, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType) and not isinstance(function, functools.partial):
        return Target(wrapped, (), code_signature(wrapped))
    call = getattr(type(function), "__call__", None)  # noqa: B004 (its code is wanted)
    if isinstance(call, types.FunctionType) and not isinstance(function, type):
        return Target(call, (function,), inspect.signature(function))
    return forwarding(function)


def has_own_rule(function: Callable[..., Any]) -> bool:
    """Say whether a rule covers ``function``, so that its own source is not what is compiled."""
    if isinstance(function, types.FunctionType):
        found = REGISTRY.has_rules if is_library(function) else REGISTRY.is_registered
        return found(function)
    return getattr(function, "__wrapped__", None) is not None and REGISTRY.has_rules(function)


def forwarding(function: Callable[..., Any]) -> Target:
    """Return a function with readable source that calls ``function``, which has none."""
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    name = getattr(function, "__name__", None) or "partial"
    name = name if name.isidentifier() else "function"
    name = f"{name}_grad" if is_derivative(function) else name
    has_parameters = isinstance(function, types.FunctionType) or is_derivative(function)
    if has_parameters:
        header, arguments = all_parameters(function)
    else:
        header = arguments = ", ".join(required_parameters(function))
    text = f"def {name}_({header}):\n    return wrapped_function({arguments})\n"
    namespace = load_module(None, text, f"adcompiler_forward_{name}").__dict__
    namespace["wrapped_function"] = function
    made = namespace[f"{name}_"]
    made.__name__ = made.__qualname__ = name
    place = defined_at(function)
    if place is not None:
        stand_for(made.__code__.co_filename, {}, place)
    if has_parameters:
        shown = inspect.signature(function, follow_wrapped=takes_anything(function))
        given = [p for p in shown.parameters.values() if p.default is not p.empty]
        made.__defaults__ = tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY)
        made.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    return Target(made, (), inspect.signature(made))


def defined_at(function: Any) -> Origin | None:
    """Return where the function is defined that is differentiated in the end, if that is known."""
    while is_derivative(function):
        function = function.primal
    function = inspect.unwrap(getattr(function, "func", function))
    if isinstance(function, types.FunctionType):
        with suppress(ADError):
            return lower(function).origin
    return None


def all_parameters(function: Callable[..., Any]) -> tuple[str, str]:
    """Return a parameter list (defaults are None) and the arguments that pass everything on."""
    header, arguments = [], []
    starred = False
    named = takes_anything(function)
    for p in inspect.signature(function, follow_wrapped=named).parameters.values():
        starred = starred or p.kind is p.VAR_POSITIONAL
        if p.kind is p.KEYWORD_ONLY and not starred:
            header.append("*")
            starred = True
        stars = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        header.append(f"{stars}{p.name}{'' if p.default is p.empty else '=None'}")
        arguments.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{stars}{p.name}")
    return ", ".join(header), ", ".join(arguments)


def takes_anything(function: Callable[..., Any]) -> bool:
    """Say whether a function takes ``(*args, **kwargs)`` for one that it wraps, with named ones."""
    if not isinstance(function, types.FunctionType) or not hasattr(function, "__wrapped__"):
        return False
    own = code_signature(function).parameters.values()
    inner = inspect.signature(function).parameters.values()
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(p.kind in starred for p in own) and not any(p.kind in starred for p in inner)


def code_signature(function: types.FunctionType) -> inspect.Signature:
    """Return the signature that the code of a function has, whatever it says of itself."""
    bare = types.FunctionType(
        function.__code__, {}, function.__name__, function.__defaults__, function.__closure__
    )
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """Return names for the positional arguments that a callable cannot do without."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        names = ["x"]
    else:
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [p.name for p in parameters if p.kind in positional and p.default is p.empty]
    count = getattr(function, "nin", len(names) or 1)
    return names if len(names) == count else [f"x{i}" for i in range(count)]
