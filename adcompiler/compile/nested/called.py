"""What is differentiated inside of compiled code: the function, its arguments, those wanted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any

import numpy as np

from adcompiler.errors import ADError, ArgnumsError, ArgumentsError
from adcompiler.frontend.functions import lower
from adcompiler.prelude.replacements import replacement_of
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Closure, Const, Function, Let, Origin, Param, Var,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.infer.calls.binding import bind
from adcompiler.infer.calls.derivatives import primal_of
from adcompiler.infer.calls.opening import defaults_of, defaults_of_closure
from adcompiler.infer.differentiated_paths import Steps
from adcompiler.infer.interface import Operations
from adcompiler.support.signatures import signature as signature_of
from adcompiler.support.structs import dataclass
from adcompiler.typed.derivatives import Wanted
from adcompiler.typed.unit import Unit


@dataclass(frozen=True)
class Called:
    """A call of the function to be differentiated: its IR with the atoms that it is given.

    ``defaults`` are those among them that are default values, and no arguments of the call.
    """

    function: Function
    bound: list[Atom]
    captures: tuple[Atom, ...]
    itself: Atom
    scope: Scope | None
    identity: Any
    defaults: frozenset[Atom] = frozenset()


def resolved(
    s: Operations, func: Atom, args: list[Atom], kwargs: dict[str, Atom], origin: Origin
) -> Called | None:
    """Return the function that is differentiated, with its arguments; None after a report."""
    made = s.unit.definition(func)
    if isinstance(made, Closure):
        bound = bind(s, made.function, args, kwargs, defaults_of_closure(made), origin)
        return None if bound is None else Called(
            made.function, bound, made.captures, func, made.scope, made.function
        )
    if isinstance(func, Const) and isinstance(func.value, FunctionType) and not (
        REGISTRY.has_rules(func.value) or REGISTRY.inactive(func.value)
        or replacement_of(func.value)
    ):
        return resolved_python(s, func, func.value, args, kwargs, origin)
    function, captures = forwarding(s.unit, func, args, kwargs, origin)
    bound = bind(s, function, args, kwargs, lambda param: None, origin)
    return None if bound is None else Called(
        function, bound, captures, UNDEF, None, ("forwarding", len(args), *kwargs, s.unit.type(func)
                                                 if isinstance(func, Var) else id(func.value))
    )


def resolved_python(
    s: Operations, func: Const, function: FunctionType, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin,
) -> Called | None:
    """As ``resolved`` for a function written in Python."""
    try:
        definition = lower(function)
    except ADError as error:
        s.reject(origin, f"{function.__name__}() cannot be differentiated: {error}",
                 "put it into a file", "missing-source")
        return None
    emitted = function in s.unit.derivatives.emitted
    scope = Scope(function, None if emitted else s.unit.relied.path_of(function), emitted)
    value_of, defaults = defaults_of(s, func, function, definition, origin), set()

    def default(param: Param) -> Atom | None:
        value = value_of(param)
        if isinstance(value, Var):
            defaults.add(value)
        return value

    bound = bind(s, definition, args, kwargs, default, origin)
    return None if bound is None else Called(
        definition, bound, (), func, scope, function, frozenset(defaults))


def forwarding(
    unit: Unit, func: Atom, args: list[Atom], kwargs: dict[str, Atom], origin: Origin
) -> tuple[Function, tuple[Atom, ...]]:
    """Return an IR function that calls ``func`` with parameters for these arguments."""
    names = parameter_names(unit, func, len(args))
    names = [f"x{i}" if name in kwargs else name for i, name in enumerate(names)]
    params = [Param(Var(name), 1) for name in names]
    named = [Param(Var(key), 3) for key in kwargs]
    inner: Atom = Var("function") if isinstance(func, Var) else func
    result = Var("value")
    call = Call(
        inner, tuple(p.var for p in params), tuple((p.var.name, p.var) for p in named)
    )
    body = Block((Let(result, call, origin),), (result,))
    shown = getattr(func.value, "__name__", "function") if isinstance(func, Const) else "function"
    captures = (inner,) if isinstance(inner, Var) else ()
    shown = shown if shown.isidentifier() else "function"
    function = Function(shown, (*params, *named), body, origin, captures)
    return function, (func,) if captures else ()


def parameter_names(unit: Unit, func: Atom, count: int) -> list[str]:
    """Return names of the first ``count`` arguments of ``func``, as it calls them if that is known.

    A derivative has the parameters of what it is the derivative of.
    """
    made = unit.definition(func)
    while isinstance(made, Call) and (primal := primal_of(made)) is not None:
        func = primal
        made = unit.definition(func)
    found: list[str] = []
    if isinstance(made, Closure):
        found = [p.var.name for p in made.function.params if p.kind in (0, 1)]
    elif isinstance(func, Const):
        with suppress(TypeError, ValueError):
            found = [
                p.name for p in signature_of(func.value).parameters.values()
                if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            ]
    if len(found) >= count:
        return found[:count]
    return [f"x{i}" if count > 1 else "x" for i in range(count)]


def places_of(function: Function, wanted: Wanted) -> list[tuple[int, Steps]]:
    """Return the positions of the wanted parameters, with the steps to the part wanted."""
    found = [place_of(function, one) for one in wanted.several]
    for n, (i, steps) in enumerate(found):
        for j, others in found[:n]:
            if i == j and steps[: len(others)] == others[: len(steps)]:
                raise ArgnumsError(f"argnums: {wanted.argnums} names an argument twice")
    return found


def place_of(function: Function, one: int | str) -> tuple[int, Steps]:
    """Return the position of the parameter that ``one`` of ``argnums`` means, and steps."""
    names = [p.var.name for p in function.params]
    kinds = [p.kind for p in function.params]
    if isinstance(one, str):
        name, *steps = one.split(".")
        if name in names:
            return names.index(name), tuple(steps)
        if 4 in kinds:
            return kinds.index(4), (name, *steps)
        raise ArgnumsError(
            f"argnums: {function.name} has no parameter {name!r}; it has {', '.join(names)}"
        )
    if 2 in kinds and one >= kinds.index(2):
        return kinds.index(2), (one - kinds.index(2),)
    count = len(names)
    if not -count <= one < count or (2 in kinds and one < 0):
        raise ArgnumsError(
            f"argnums: {function.name} has no argument {one}; it has {count}, counted from 0"
        )
    return one % count, ()


def made_real(
    s: Operations, atom: Atom, steps: Sequence[Steps], name: str, origin: Origin
) -> Atom:
    """Write an argument to be differentiated with integers made floats; raise if it is no number.

    ``steps`` lead to the parts that are wanted, if it is not the whole.
    """
    type_ = s.unit.type(atom)
    if not t.may_vary(type_) and not has_integers(type_):
        raise ArgumentsError(
            f"cannot differentiate with respect to {name}, which is of type {type_}; "
            "argnums chooses other arguments"
        )
    if isinstance(type_, t.Scalar) and type_.kind == "int":
        return s.call(Const(float if type_.dtype is None else np.float64), [atom], {}, origin, name)
    if isinstance(type_, t.Array) and type_.kind == "int":
        astype = s.attribute(atom, "astype", origin, "astype")
        return s.call(astype, [Const(np.float64)], {}, origin, name)
    elements = s.unit.elements(atom)
    if isinstance(type_, t.Tuple) and type_.cls is tuple and elements is not None and (
        has_integers(type_)
    ):
        wanted = {path[0] for path in steps if path} if all(steps) else set(range(len(elements)))
        return s.pack("tuple", tuple(
            made_real(s, part, [()], f"{name}[{i}]", origin) if i in wanted else part
            for i, part in enumerate(elements)
        ), name, origin)
    return atom


def has_integers(type_: t.Type) -> bool:
    """Say whether a value holds integers that count as floats."""
    match type_:
        case t.Scalar(kind):
            return kind == "int"
        case t.Array():
            return type_.kind == "int"
        case t.Tuple(items):
            return any(map(has_integers, items))
    return False
