"""Functions that are one of several: chosen by a branch, or read at a place known when running.

A branch whose arms give functions hands out a number, which says which function it is. The call
becomes branches on that number, with one call in each.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Closure, Const, Item, Origin, Raise, Statement, Var,
)
from adcompiler.ir.visit import definitions
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.tables import Candidate, OneOf
from adcompiler.typed.unit import Unit

MAX_CANDIDATES = 32


def one_of_functions(
    s: Operations, var: Var, arms: Sequence[tuple[Atom, list[Statement]]], origin: Origin
) -> tuple[Var, tuple[Atom, Atom]] | None:
    """Note that ``var`` is one of the functions that two arms give.

    Return the variable that says which, with what the arms yield for it. None if one of them is no
    function, or is made of what only its arm has.
    """
    one, two = (candidates(s.unit, atom, out) for atom, out in arms)
    if one is None or two is None:
        return None
    (place, first), (other, second) = one, two
    if len(first) + len(second) > MAX_CANDIDATES:
        return None
    with s.writing_to(arms[1][1]):
        shifted = s.call(Const(operator.add), [other, Const(len(first))], {}, origin, "which")
    which = s.joins.joined(Var("which", True), t.INT, False)
    s.unit.calls.one_of[var] = OneOf(which, (*first, *second))
    return which, (place, shifted)


def candidates(
    unit: Unit, atom: Atom, out: list[Statement]
) -> tuple[Atom, tuple[Candidate, ...]] | None:
    """Return which one an atom is of the functions that it may be, and these functions."""
    known = unit.calls.one_of.get(atom)
    if known is not None:
        return known.which, known.functions
    if isinstance(atom, Const):
        return (Const(0), (atom,)) if t.is_function(unit.type(atom)) else None
    made = unit.definition(atom)
    if not isinstance(made, Closure):
        return None
    inside = definitions(Block(tuple(out)))
    if atom not in inside:
        return Const(0), (atom,)
    if inside.isdisjoint((*made.captures, *made.defaults)):
        return Const(0), (made,)
    return None


def call_one_of(
    s: Operations, func: Atom, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the call of a function that is one of several; None if it is not known which."""
    known = s.unit.calls.one_of.get(func)
    entries = entries_read(s, func, origin) if known is None else [
        (Const(operator.eq), known.which, Const(n), function)
        for n, function in enumerate(known.functions)
    ]
    if not entries:
        return None

    def from_number(n: int) -> Atom | None:
        if n == len(entries):
            s.out.append(Raise(missing(s, func, origin), Const(None), origin))
            return None
        test, left, right, function = entries[n]
        last = known is not None and n == len(entries) - 1

        def written() -> Atom:
            made = function_of(s, function, origin)
            return s.call(made, list(args), dict(kwargs), origin, name)

        if last:
            return written()
        condition = s.call(test, [left, right], {}, origin, "is_it")
        return s.either(condition, written, lambda: from_number(n + 1), origin, name)

    return from_number(0)


def missing(s: Writer, func: Atom, origin: Origin) -> Atom:
    """Write what Python raises where a container has no such entry."""
    made = s.unit.definition(func)
    assert isinstance(made, Item)
    of_dict = isinstance(s.unit.type(made.obj), t.Dict)
    error = (KeyError, made.index) if of_dict else (IndexError, Const("list index out of range"))
    return s.let(Call(Const(error[0]), (error[1],)), t.UNKNOWN, "error", origin)


def function_of(s: Writer, candidate: Candidate, origin: Origin) -> Atom:
    """Return the atom of a function, which is made anew if its arm made it."""
    if not isinstance(candidate, Closure):
        return candidate
    return s.let(candidate, t.FunctionType(candidate.function), "function", origin)


Entry = tuple[Const, Atom, Atom, Candidate]
"""A test, what it compares, and the function that is meant where it holds."""


def entries_read(s: Operations, func: Atom, origin: Origin) -> list[Entry] | None:
    """Return the entries of a container of functions that ``func`` is read of; None for others."""
    made = s.unit.definition(func)
    if not isinstance(made, Item):
        return None
    type_ = s.unit.type(made.obj)
    elements = s.unit.elements(made.obj)
    index = s.unit.type(made.index)
    found: list[Entry]
    if isinstance(type_, t.Dict) and type_.keys is not None:
        keys = list(map(Const, type_.keys))
        found = [
            (Const(operator.eq), made.index, key, s.item(made.obj, key, origin, "entry"))
            for key in keys
        ]
    elif elements is not None and (isinstance(index, t.Scalar) and index.kind in ("int", "bool")):
        count = len(elements)
        found = [
            (Const(operator.contains), Const((n, n - count)), made.index, function)
            for n, function in enumerate(elements)
        ]
    else:
        return None
    known = all(t.is_function(s.unit.type(atom)) for *_, atom in found)  # type: ignore[arg-type]
    return found if known and len(found) <= MAX_CANDIDATES else None
