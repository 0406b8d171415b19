"""Typed functions as they are differentiated: what may raise is kept, parts are told apart."""

from __future__ import annotations

from dataclasses import replace

from adcompiler.ir.nodes import Block
from adcompiler.optimise.scalar_replacement import taken_apart
from adcompiler.optimise.carried_rows import with_rows_copied
from adcompiler.optimise.length_hoisting import lengths_in_front
from adcompiler.optimise.may_raise import with_raising_kept
from adcompiler.products.specialised import Typed, changed_everywhere
from adcompiler.typed.unit import Unit


def raising_kept(unit: Unit, typed: Typed, with_value: bool) -> Typed:
    """Return a function, and let those it calls be, with what may raise evaluated if unused too.

    Where the value is not returned that is what raises by the program's own doing.
    """
    for callee in unit.calls.callees.values():
        if callee.function is not None:
            body = callee.function.body
            kept = with_raising_kept(unit, body.statements, body.yields, not with_value)
            callee.function = replace(callee.function, body=replace(body, statements=kept))
    needed = [written.final for written in typed.written]
    if with_value:
        needed.append(typed.value)
    kept = with_raising_kept(unit, typed.statements, needed, not with_value)
    return replace(typed, statements=kept)


def with_aggregates_apart(unit: Unit, typed: Typed) -> Typed:
    """Return a function, and let those it calls be, with dicts and instances of theirs in parts."""
    for callee in unit.calls.callees.values():
        if callee.function is not None:
            callee.function = replace(
                callee.function, body=taken_apart(unit, callee.function.body))
    finals = [written.final for written in typed.written]
    copies = [written.copies for written in typed.written if written.copies is not None]
    body = taken_apart(unit, Block(typed.statements, (typed.value, *finals, *copies)))
    value, *after = body.yields
    written = [
        replace(one, final=final) for one, final in zip(typed.written, after, strict=False)]
    return replace(typed, statements=body.statements, value=value, written=written)


def with_lengths_in_front(unit: Unit, typed: Typed) -> Typed:
    """Return a function, and let those it calls be, with lengths read in front of loops."""
    return changed_everywhere(unit, typed, lengths_in_front)


def with_rows_apart(unit: Unit, typed: Typed) -> Typed:
    """Return a function, and let those it calls be, whose loops copy rows, not whole arrays."""
    for callee in unit.calls.callees.values():
        if callee.function is not None:
            body = callee.function.body
            statements = with_rows_copied(unit, body.statements, body.yields)
            callee.function = replace(callee.function, body=replace(body, statements=statements))
    read = [typed.value, *(one.final for one in typed.written), *(
        one.copies for one in typed.written if one.copies is not None)]
    return replace(typed, statements=with_rows_copied(unit, typed.statements, read))
