"""How the arguments of a call bind to the parameters of a function."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Function, Item, Let, Origin, Param, Raise, Star, Statement,
    Unsupported, Var, unstar,
)
from adcompiler.ir.visit import with_blocks
from adcompiler.ops.rules import Rule
from adcompiler.runtime import unpack
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.values import simple, type_of


def bind(
    s: Operations, function: Function, args: Sequence[Atom | Star], kwargs: Mapping[str, Atom],
    default: Callable[[Param], Atom | None], origin: Origin, opens: bool = False,
) -> list[Atom] | None:
    """Return the atom of each parameter, or None after recording why the call does not bind.

    With ``opens`` the items of ``*sequence`` are read: of a function that is opened or compiled. A
    rule gives cotangents for what it is called with; functions of libraries, which may choose a
    backend by all that they are given, are called as they are where that is not known.
    """

    def wrong(problem: str) -> None:
        s.reject(
            origin, f"{shown_name(function)}(): {problem}", f"call it as `{signature(function)}`",
            "call-arguments",
        )

    args = opened_star(s, function, args, kwargs, origin) if opens else args
    rest = opens and bool(args) and takes_rest(function, len(args) - 1)
    if any(isinstance(arg, Star) for arg in (args[:-1] if rest else args)):
        s.reject(
            origin, "* of a sequence whose length is not known when compiling",
            "pass the arguments one by one, or the sequence itself", "star-arguments",
            next(arg.atom for arg in args if isinstance(arg, Star)),
        )
        return None
    positional = list(args)
    named = dict(kwargs)
    bound: list[Atom] = []
    for param in function.params:
        name = param.var.name
        if param.kind in (0, 1) and positional:
            if param.kind == 1 and name in named:
                wrong(f"multiple values for argument `{name}`")
                return None
            bound.append(unstar(positional.pop(0)))
        elif param.kind == 2:
            bound.append(s.sequence_display("tuple", positional, name, origin))
            positional = []
        elif param.kind == 4:
            entries: list[tuple[Atom, Atom]] = [(Const(k), v) for k, v in named.items()]
            bound.append(s.pack_dict(entries, origin, name))
            named = {}
        elif param.kind != 0 and name in named:
            bound.append(named.pop(name))
        else:
            value = default(param)
            if value is None:
                wrong(f"missing argument `{name}`")
                return None
            bound.append(value)
    if positional or named:
        extra = next(iter(named), None)
        wrong(f"unexpected argument `{extra}`" if extra else "too many arguments")
        return None
    return bound


def opened_star(
    s: Operations, function: Function, args: Sequence[Atom | Star], kwargs: Mapping[str, Atom],
    origin: Origin,
) -> Sequence[Atom | Star]:
    """Return arguments with the last, ``*sequence``, taken apart if one number of items fits.

    Of a function that takes ``*rest`` the parameters in front of it get the first items.
    """
    if not args or not isinstance(args[-1], Star) or any(isinstance(a, Star) for a in args[:-1]):
        return args
    places = [param for param in function.params if param.kind in (0, 1)][len(args) - 1 :]
    free = [param for param in places if param.var.name not in kwargs]
    if not free or any(param.has_default for param in free):
        return args
    if any(param.kind == 2 for param in function.params):
        rest = s.item(args[-1].atom, Const(slice(len(free), None)), origin, "rest")
        first = [s.item(args[-1].atom, Const(i), origin, p.var.name) for i, p in enumerate(free)]
        return [*args[:-1], *first, Star(rest)]
    count = Const(len(free))
    parts = s.call(Const(unpack), [args[-1].atom, count, Const(-1)], {}, origin, "arguments")
    return [*args[:-1], *(s.item(parts, Const(i), origin, p.var.name) for i, p in enumerate(free))]


def by_number_of_items(
    s: Operations, func: Atom, function: Function, args: Sequence[Atom | Star],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom | None:
    """Write ``f(*items)`` as branches on their number, where defaults leave several that fit.

    None where there are none, or too many.
    """
    if not args or not isinstance(args[-1], Star) or any(isinstance(a, Star) for a in args[:-1]):
        return None
    places = [param for param in function.params if param.kind in (0, 1)][len(args) - 1 :]
    free = [param for param in places if param.var.name not in kwargs]
    least = sum(not param.has_default for param in free)
    items, front = args[-1].atom, args[:-1]
    if any(param.kind == 2 for param in function.params) or free != places[: len(free)] or not (
        1 <= len(free) - least <= MAX_DEFAULTS
    ) or not isinstance(s.unit.type(items), (t.List, t.Array, t.Tuple)):
        return None
    length = s.call(Const(len), [items], {}, origin, "length")

    def from_number(n: int) -> Atom | None:
        if n > len(free):
            problem = Const(f"{shown_name(function)}() is given more or fewer arguments than fit")
            error = s.let(Call(Const(TypeError), (problem,)), t.UNKNOWN, "error", origin)
            s.out.append(Raise(error, Const(None), origin))
            return None

        def written() -> Atom:
            given = [s.item(items, Const(i), origin, p.var.name) for i, p in enumerate(free[:n])]
            return s.call(func, [*front, *given], dict(kwargs), origin, name)

        fits = s.call(Const(operator.eq), [length, Const(n)], {}, origin, "fits")
        return s.either(fits, written, lambda: from_number(n + 1), origin, name)

    return from_number(least)


MAX_DEFAULTS = 6
"""How many numbers of items may fit for which the call of a function is written."""


def takes_rest(function: Function, count: int) -> bool:
    """Say whether a function takes all arguments behind the first ``count`` as ``*args``."""
    positional = [param for param in function.params if param.kind in (0, 1)]
    return len(positional) <= count and any(param.kind == 2 for param in function.params)


def signature(function: Function) -> str:
    """Return how a function is called, e.g. ``scaled(x, factor=..., *, offset)``."""
    parts: list[str] = []
    for param in function.params:
        if param.kind == 3 and "*" not in parts and not any(p.kind == 2 for p in function.params):
            parts.append("*")
        stars = {2: "*", 4: "**"}.get(param.kind, "")
        parts.append(f"{stars}{param.var.name}{'=...' if param.has_default else ''}")
    return f"{shown_name(function)}({', '.join(parts)})"


def shown_name(function: Function) -> str:
    """Return what messages call a function."""
    return "lambda" if function.name == "lambda_" else function.name


def environment(
    function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom
) -> dict[Var, Atom]:
    """Return the variables of a call of ``function``."""
    env = dict(zip((p.var for p in function.params), bound, strict=True))
    env.update(zip(function.captures, captures, strict=True))
    if function.itself is not None:
        env[function.itself] = itself
    return env


def literal(
    s: Writer, value: Any, owner: Const, step: tuple[str, Any], origin: Origin
) -> Atom:
    """Return the atom of a value held by a function object: a default, the owner of a method."""
    type_ = type_of(value)
    if isinstance(type_, t.Static) or simple(value):
        path = s.unit.relied.paths.get(id(owner.value))
        return s.unit.relied.static(value, None if path is None or simple(value) else (*path, step))
    kind, key = step
    if s.heap is not None and is_mutable(type_):
        path = s.unit.relied.paths.get(id(owner.value))
        if path is not None and kind != "attr":
            s.unit.relied.facts[*path, step] = value
        if kind == "attr":
            held = s.heap.outside.attribute_value(owner, str(key), type_, "owner", origin)
        else:
            held = s.heap.outside.held_value(owner, kind, key, type_, origin)
        return s.heap.reading.current(held, origin)  # an earlier call may have written into it
    if kind == "attr":
        return s.let(Attribute(owner, str(key)), type_, str(key), origin)
    holder = s.let(Attribute(owner, kind), t.UNKNOWN, kind, origin)
    return s.let(Item(holder, Const(key)), type_, "default", origin)


def atoms(args: Sequence[Atom | Star]) -> list[Atom]:
    """Return call arguments without their stars."""
    return list(map(unstar, args))


def plain_call(func: Atom, args: Sequence[Atom | Star], kwargs: Mapping[str, Atom]) -> Call:
    """Return the right-hand side of a call."""
    return Call(func, tuple(args), tuple(kwargs.items()))


def rule_default(definition: Callable[..., Any], param: Param) -> Atom | None:
    """Return the default value of a rule's parameter."""
    value = signature_of(definition).parameters[param.var.name].default
    return None if value is inspect.Parameter.empty else Const(value)


def explain_binding(s: Writer, rule: Rule, findings: int, origin: Origin) -> None:
    """Replace what binding to the rule reported by a message about the function itself."""
    if len(s.unit.findings) == findings:
        return
    detail = s.unit.findings[findings].problem.partition(": ")[2]
    del s.unit.findings[findings:]
    name = getattr(rule.function, "__name__", "the function")
    s.reject(
        origin, f"{name}() with these arguments has no rule ({detail})",
        "use only the arguments that its rule knows, or register a rule of your own",
        "call-arguments",
    )


def at_origin(statement: Statement, origin: Origin) -> Statement:
    """Return a statement of a rule, with those inside it, as of the line that called it."""

    def within(block: Block) -> Block:
        return replace(block, statements=tuple(at_origin(one, origin) for one in block.statements))

    return with_blocks(moved(statement, origin), within)


def moved(statement: Statement, origin: Origin) -> Statement:
    """Return a statement as of another line; those inside it stay where they are."""
    if isinstance(statement, Let):
        return Let(statement.target, statement.rhs, origin)
    if isinstance(statement, Unsupported):
        return statement
    return replace(statement, origin=origin)
