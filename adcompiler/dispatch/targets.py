"""Which Python function is compiled for a callable."""

from __future__ import annotations

import copy
import functools
import inspect
import keyword
import types
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from adcompiler.cache.modules import load_module
from adcompiler.dispatch.frames import FORWARD
from adcompiler.dispatch.trees import leaves
from adcompiler.errors import ADError, ArgumentsError
from adcompiler.frontend.sources.places import Place, stand_for
from adcompiler.ir.atoms import Origin
from adcompiler.ops.registry import REGISTRY
from adcompiler.infer.calls.libraries import is_library
from adcompiler.support.signatures import signature as signature_of
from adcompiler.support.structs import dataclass
from adcompiler.typed.derivatives import is_derivative
from adcompiler.typed.values import by_numba_vectorize


BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Target:
    """The Python function that is compiled for a callable, and the arguments it always gets."""

    function: types.FunctionType
    first: tuple[Any, ...]
    signature: inspect.Signature

    def default(self, name: str) -> Any:
        """Return the default of a parameter as it is now; TypeError if it has none any more."""
        function, code = self.function, self.function.__code__
        named = function.__kwdefaults__ or {}
        if name in named:
            return named[name]
        names, values = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
        place = names.index(name) - len(names) + len(values) if name in names else -1
        if place < 0:
            raise TypeError(f"{self.shown}() missing argument: {name!r}")
        return values[place]

    def bound(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values of all parameters, defaults as they are now among them."""
        parameters = self.signature.parameters.values()
        if not kwargs and len(args) == len(parameters) and all(
            p.kind in BY_POSITION for p in parameters
        ):
            return tuple(args)
        given = self.signature.bind(*args, **kwargs).arguments
        empty: dict[Any, Any] = {inspect.Parameter.VAR_POSITIONAL: (),
                                 inspect.Parameter.VAR_KEYWORD: {}}
        return tuple(
            given[name] if name in given else
            copy.copy(empty[p.kind]) if p.kind in empty else self.default(name)
            for name, p in self.signature.parameters.items()
        )

    @property
    def shown(self) -> str:
        """What messages call the function."""
        name = self.function.__name__
        return "the lambda" if name == "<lambda>" else name


def find_target(function: Callable[..., Any]) -> Target:
    """Return what is compiled when ``function`` is differentiated."""
    refuse_single_dispatch(function)
    if is_derivative(function) or has_own_rule(function) or takes_anything(function):
        return forwarding(function)
    if isinstance(function, types.FunctionType):
        return Target(function, (), code_signature(function))
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        return Target(
            function.__func__, (function.__self__,),
            signature_of(function, follow_wrapped=False),
        )
    if isinstance(function, types.MethodType) and isinstance(
        getattr(function.__func__, "__wrapped__", None), types.FunctionType
    ) and not is_derivative(function.__func__):  # as of functools.lru_cache
        inner = find_target(function.__func__)
        return Target(
            inner.function, (*inner.first, function.__self__), without_first(inner.signature))
    if by_numba_vectorize(function) or isinstance(function, np.vectorize):
        return forwarding(function)
    call = getattr(type(function), "__call__", None)  # noqa: B004 (its code is wanted)
    if isinstance(call, types.FunctionType) and not isinstance(function, type):
        if REGISTRY.is_registered(call):
            return forwarding(function)
        return Target(call, (function,), without_first(code_signature(call)))
    wrapped = getattr(function, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType) and not isinstance(function, functools.partial):
        return Target(wrapped, (), code_signature(wrapped))
    return forwarding(function)


def refuse_single_dispatch(function: Callable[..., Any]) -> None:
    """Raise ArgumentsError for a method that ``functools.singledispatchmethod`` has bound.

    Its signature is that of the function, with the instance that it does not take any more.
    """
    bound = functools.singledispatchmethod.__get__.__code__.co_consts
    if isinstance(function, types.FunctionType) and function.__code__ in bound:
        raise ArgumentsError(
            f"{function.__name__} is a method of functools.singledispatchmethod; differentiate a "
            f"function that calls it: grad(lambda x: instance.{function.__name__}(x))")


def has_own_rule(function: Callable[..., Any]) -> bool:
    """Say whether a rule covers ``function``, so that its own source is not what is compiled."""
    if isinstance(function, types.FunctionType):
        found = REGISTRY.has_rules if is_library(function) else REGISTRY.is_registered
        return found(function)
    if isinstance(function, types.MethodType):
        return REGISTRY.has_rules(function)
    return getattr(function, "__wrapped__", None) is not None and REGISTRY.has_rules(function)


def forwarding(function: Callable[..., Any]) -> Target:
    """Return a function with readable source that calls ``function``, which has none."""
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    name = getattr(function, "__name__", None) or "partial"
    name = name if name.isidentifier() else "function"
    name = f"{name}_grad" if is_derivative(function) else name
    named = named_parameters(function)
    if named is not None:
        header, arguments = passing_on(function, named)
    else:
        header = arguments = ", ".join([*required_parameters(function), *others(function)])
    parameters = shown_parameters(function) if named is None else named
    made = named_forward(name, header, arguments, function, [p.name for p in parameters])
    if named is not None:
        given = [p for p in named if p.default is not p.empty]
        made.__defaults__ = tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY)
        made.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    return Target(made, (), signature_of(made))


def named_forward(
    name: str, header: str, arguments: str, function: Callable[..., Any], taken: Sequence[str]
) -> types.FunctionType:
    """Return a function of this name and parameter list that calls another with ``arguments``.

    ``taken`` are the names of its parameters.
    """
    name = name if name.isidentifier() and not keyword.iskeyword(name) else "function"
    called = "wrapped_function"
    while called in taken:
        called += "_"
    text = f"def {name}_({header}):\n    return {called}({arguments})\n"
    namespace = load_module(None, text, FORWARD + name).__dict__
    namespace[called] = function
    made: types.FunctionType = namespace[f"{name}_"]
    made.__name__ = made.__qualname__ = name
    stand_for(made.__code__.co_filename, {}, defined_at(function))
    return made


def defined_at(function: Any) -> Place:
    """Return what tells where the function is defined that is differentiated in the end."""
    while is_derivative(function):
        function = function.primal
    function = inspect.unwrap(getattr(function, "func", function))
    if not isinstance(function, types.FunctionType):
        return lambda: None
    known = weakref.ref(function)

    def place() -> Origin | None:
        from adcompiler.frontend.functions import lower  # parses

        alive = known()
        with suppress(ADError):
            return None if alive is None else lower(alive).origin
        return None

    return place


def named_parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the parameters that a Python function or derivative is given by name; None: unknown.

    Of a function with a rule they are those that the rule has: others are passed on as they are
    given, so that those which are not given do not count as options that the rule does not know.
    """
    if isinstance(function, np.vectorize):
        return named_parameters(function.pyfunc)
    if not isinstance(function, types.FunctionType) and not is_derivative(function):
        return None
    signature = signature_of(function, follow_wrapped=takes_anything(function))
    found = list(signature.parameters.values())
    known = parameters_of_rules(function)
    if known is None or is_derivative(function):
        return found
    unknown = next((i for i, p in enumerate(found) if p.name not in known), len(found))
    return [p for i, p in enumerate(found)
            if i < unknown or (p.kind is p.KEYWORD_ONLY and p.name in known)]


def parameters_of_rules(function: Callable[..., Any]) -> set[str] | None:
    """Return the names of all parameters of a function's rules; None if they are not all named."""
    rules = REGISTRY.rules_of(function)
    definitions = [rule.definition for rule in rules if rule.definition is not None]
    if not rules or len(definitions) < len(rules):
        return None
    signatures = [signature_of(definition) for definition in definitions]
    parameters = [p for signature in signatures for p in signature.parameters.values()]
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters) else {
        p.name for p in parameters
    }


def passing_on(
    function: Callable[..., Any], named: list[inspect.Parameter]
) -> tuple[str, str]:
    """Return a parameter list (defaults are None) and the arguments that pass everything on."""
    header, arguments = [], []
    function = getattr(function, "pyfunc", function)
    signature = signature_of(function, follow_wrapped=takes_anything(function))
    more = len(named) < len(signature.parameters)
    starred = False
    for p in named:
        starred = starred or p.kind is p.VAR_POSITIONAL
        if p.kind is p.KEYWORD_ONLY and not starred:
            header.append("*args" if more else "*")
            arguments += ["*args"] if more else []
            starred = True
        stars = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        header.append(f"{stars}{p.name}{'' if p.default is p.empty else '=None'}")
        arguments.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{stars}{p.name}")
    rest = [*(["*args"] if not starred else []), "**kwargs"] if more else []
    return ", ".join([*header, *rest]), ", ".join([*arguments, *rest])


def takes_anything(function: Callable[..., Any]) -> bool:
    """Say whether a function takes ``(*args, **kwargs)`` for one that it wraps, with named ones."""
    if not isinstance(function, types.FunctionType) or not hasattr(function, "__wrapped__"):
        return False
    own = code_signature(function).parameters.values()
    inner = signature_of(function).parameters.values()
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(p.kind in starred for p in own) and not any(p.kind in starred for p in inner)


def code_signature(function: types.FunctionType) -> inspect.Signature:
    """Return the signature that the code of a function has, whatever it says of itself."""
    bare = types.FunctionType(
        function.__code__, {}, function.__name__, function.__defaults__, function.__closure__
    )
    bare.__kwdefaults__ = function.__kwdefaults__
    return signature_of(bare)


def without_first(signature: inspect.Signature) -> inspect.Signature:
    """Return the signature of a method that is bound."""
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """Return names for the positional arguments that a callable cannot do without."""
    parameters = shown_parameters(function)
    if not parameters:
        names = ["x"]
    else:
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [p.name for p in parameters if p.kind in positional and p.default is p.empty]
        if not names and others(function):
            return []
    count = getattr(function, "nin", len(names) or 1)
    return names if len(names) == count else [f"x{i}" for i in range(count)]


def others(function: Callable[..., Any]) -> list[str]:
    """Return what passes on the arguments that a callable with a rule takes beside the required."""
    if hasattr(function, "nin") or not REGISTRY.has_rules(function):
        return []
    more = [p for p in shown_parameters(function)
            if p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)]
    return ["*args", "**kwargs"] if more else []


def shown_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a callable, or of its rule where it does not tell; [] if unknown."""
    for one in (function, *(rule.definition for rule in REGISTRY.rules_of(function)[-1:])):
        if one is None:
            continue
        with suppress(TypeError, ValueError):
            return list(signature_of(one).parameters.values())
    return []


def holds_floats(value: Any) -> bool:
    """Say whether an argument is, or holds, a float, a complex number or an array of these."""
    if isinstance(value, (float, int, np.ndarray)):
        return isinstance(value, float) or (
            isinstance(value, np.ndarray) and value.dtype.kind in "fc")
    return any(np.asarray(leaf).dtype.kind in "fc" for leaf in leaves(value))


def differentiated_by_default(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[int, ...]:
    """Return the positions of the arguments that have cotangents, where ``argnums`` is not given.

    Those that hold a float, or all if none does: a number of steps, or a subscript, stays an int.
    Of a library's function with a rule only those that the rule gives cotangents for.
    """
    positions = tuple(i for i, arg in enumerate(args) if holds_floats(arg))
    positions = positions or tuple(range(len(args)))
    plain = isinstance(function, types.FunctionType) and not has_own_rule(function)
    rules = () if plain else REGISTRY.rules_of(function)
    covered = [covered_positions(rule.definition, rule.wrt) for rule in rules
               if rule.definition is not None]
    if not rules or len(covered) < len(rules):
        return positions
    return tuple(
        i for i in positions if not isinstance(args[i], str)
        and any(i in some or (first is not None and i >= first) for some, first in covered)
    )


@functools.lru_cache(maxsize=256)
def covered_positions(
    definition: Callable[..., Any], wrt: tuple[str, ...]
) -> tuple[frozenset[int], int | None]:
    """Return the positions that a rule gives cotangents for, and from where on it does for all."""
    wanted = {name.lstrip("*") for name in wrt}
    parameters = list(enumerate(signature_of(definition).parameters.values()))
    starred = (i for i, p in parameters if p.name in wanted and p.kind is p.VAR_POSITIONAL)
    return frozenset(i for i, p in parameters if p.name in wanted), next(starred, None)


def cell_contents(cell: Any) -> Any:
    """Return what a closure cell holds, None while it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
