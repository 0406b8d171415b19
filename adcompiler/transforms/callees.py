"""Functions compiled on their own for the types of their arguments: recursive and large ones."""

from __future__ import annotations

import functools
from typing import Any

from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Closure, Const, Function, Let, Origin, Pack, Param, Var,
    substitute, unstar,
)
from adcompiler.rulekit.registry import hashable
from adcompiler.runtime import record
from adcompiler.transforms.binding import environment, shown_name
from adcompiler.transforms.in_place import rebound
from adcompiler.transforms.objects import open_parts
from adcompiler.transforms.unit import Callee, Unit
from adcompiler.transforms.writer import Writer

MAX_DEPTH = 60
MAX_WIDENING = 8


def call_compiled(
    s: Writer, function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom,
    scope: Scope | None, origin: Origin, name: str, identity: Any,
) -> Atom:
    """Write a call of ``function`` compiled on its own for these argument types."""
    unit = s.unit
    inside = identity in unit.active_calls
    if len(unit.active_calls) > MAX_DEPTH:
        return s.reject(
            origin,
            f"{shown_name(function)}() is called recursively with ever new functions as arguments",
            "write the recursion without passing functions", "unknown-callable",
        )
    inputs = [*bound, *captures, *((itself,) if isinstance(itself, Var) else ())]
    kept: dict[Atom, None] = {}
    owner = None if scope is None else scope.function
    key = (identity, owner, tuple(key_of(s, a, inside, itself, kept) for a in inputs))
    callee = unit.callees.get(key)
    if callee is None:
        callee = unit.callees[key] = Callee(unique_name(unit, function.name), key)
        unit.call_sites.append(origin)
        compile_callee(
            s, callee, function, bound, captures, itself, scope, identity, list(kept)
        )
        unit.call_sites.pop()
    elif callee.function is None:
        callee.recursive = True
    return s.let(Call(Const(callee), tuple(kept)), callee.result, name, origin)


def key_of(
    s: Writer, atom: Atom, inside: bool, itself: Atom, kept: dict[Atom, None]
) -> Any:
    """Return what a call is specialised on of an argument; add to ``kept`` what must be passed.

    A function value is taken apart: what it captured is passed, and it is made anew inside.
    """
    if atom is itself and isinstance(atom, Const):
        return "itself"
    if is_static(atom, inside) and isinstance(atom, Const):
        return ("=", atom.value) if hashable(atom.value) else ("is", id(atom.value))
    parts = parts_of_function(s, atom)
    if parts is not None:
        rhs = s.unit.definition(atom)
        made = rhs.function if isinstance(rhs, Closure) else str(s.unit.type(atom))
        owner = rhs.scope.function if isinstance(rhs, Closure) and rhs.scope else None
        inner = tuple(
            "itself" if part is itself else key_of(s, part, inside, itself, kept) for part in parts
        )
        return (made, owner, inner)
    position = list(kept).index(atom) if atom in kept else len(kept)
    kept[atom] = None
    return (position, s.unit.type(atom))


def is_static(atom: Atom, inside: bool) -> bool:
    """Say whether an argument becomes part of the callee rather than being passed to it."""
    if not isinstance(atom, Const):
        return False
    if isinstance(atom.value, (int, str)) and not isinstance(atom.value, bool):
        return not inside
    return not isinstance(atom.value, (float, complex))


def parts_of_function(s: Writer, atom: Atom) -> tuple[Atom, ...] | None:
    """Return what a function value made by the compiled code was made from, None for others.

    Containers and partial calls that hold such functions count as function values too.
    """
    match s.unit.definition(atom):
        case Closure(_, captures, defaults):
            return (*captures, *defaults)
        case Attribute(obj, _) if isinstance(s.unit.type(atom), t.Method):
            return (obj,)
        case Call(Const(value), args, kwargs) if value is functools.partial:
            return (*map(unstar, args), *(a for _, a in kwargs))
        case Call(Const(value), _, kwargs) if value is record and any(
            parts_of_function(s, a) is not None for _, a in kwargs
        ):
            return tuple(a for _, a in kwargs)
        case Pack(_, items, _) if any(
            parts_of_function(s, unstar(item)) is not None for item in items
        ):
            return tuple(map(unstar, items))
    return None


def compile_callee(
    s: Writer, callee: Callee, function: Function, bound: list[Atom],
    captures: tuple[Atom, ...], itself: Atom, scope: Scope | None, identity: Any,
    kept: list[Atom],
) -> None:
    """Specialise ``function`` on its own, until the type it returns is stable."""
    unit = s.unit
    names = dict(zip(captures, function.captures, strict=True))
    names.update(zip(bound, (p.var for p in function.params), strict=True))
    for _ in range(MAX_WIDENING):
        params: list[Param] = []
        inner: dict[Atom, Atom] = {}
        for atom in kept:
            new = Var(names[atom].name if atom in names else getattr(atom, "name", "value"))
            unit.types[new] = unit.type(atom)
            unit.merged.add(new)
            params.append(Param(new, 1))
            inner[atom] = new
        unit.active_calls.append(identity)
        before = len(unit.findings)
        try:
            with s.writing_to([]) as out:
                for atom in kept:
                    param = inner[atom]
                    if s.unit.fields(atom) is not None and isinstance(param, Var):
                        open_parts(s, param, function.origin)
                env = environment(
                    function, [made_anew(s, a, inner) for a in bound],
                    tuple(made_anew(s, a, inner) for a in captures), made_anew(s, itself, inner),
                )
                yields = s.block(function.body, env, scope)
        finally:
            unit.active_calls.pop()
        result = t.BOTTOM if yields is None else unit.type(yields[0])
        stable = t.join(callee.result, result) == callee.result
        callee.result = t.join(callee.result, result)
        if stable or not callee.recursive:
            break
        del unit.findings[before:]
    body = Block(rebound(s, out, yields or ()), yields or (UNDEF,), yields is None)
    callee.function = Function(callee.name, tuple(params), body, function.origin, doc=function.doc)


def made_anew(s: Writer, atom: Atom, inner: dict[Atom, Atom]) -> Atom:
    """Return the atom that stands for an argument inside a function compiled on its own."""
    if atom in inner:
        return inner[atom]
    if not isinstance(atom, Var) or parts_of_function(s, atom) is None:
        return atom
    rhs = s.unit.definition(atom)
    assert rhs is not None
    new = inner[atom] = Var(atom.name, True)
    mapping = {
        part: made_anew(s, part, inner) for part in parts_of_function(s, atom) or ()
        if isinstance(part, Var)
    }
    made = substitute(rhs, mapping)
    s.unit.record(new, made, s.unit.type(atom))
    s.out.append(Let(new, made, s.unit.call_sites[-1]))
    return new


def unique_name(unit: Unit, name: str) -> str:
    """Return a name for a compiled function that no other one has."""
    taken = {callee.name for callee in unit.callees.values()}
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
