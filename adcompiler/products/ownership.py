"""Storage that belongs to the caller: what is copied before it is kept, and what is given back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from adcompiler.analyses.storage import Sharing, is_mutable, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, Function, Global, Let, Origin, Region, Statement, Var,
)
from adcompiler.ir.visit import substitute_block, walk
from adcompiler.products.specialised import Typed
from adcompiler.runtime import give_back, own as own_copy
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit


def given_back(typed: Typed, kept: Iterable[Var]) -> Iterator[Statement]:
    """Yield what writes into the caller's storage, other than that of ``kept``."""
    kept = set(kept)
    for it in typed.written:
        if it.var not in kept:
            copies = () if it.copies is None else (it.copies,)
            yield Do(Call(Const(give_back), (it.var, it.final, *copies)), typed.origin)


def gives_back(statement: Statement) -> bool:
    """Say whether a statement writes into what belongs to the caller."""
    return isinstance(statement, Do) and isinstance(statement.rhs, Call) and isinstance(
        statement.rhs.func, Const) and statement.rhs.func.value is give_back


def kept_from_sweep(
    s: Builder, results: list[Atom], forward: list[Statement], sweep: list[Statement],
    origin: Origin,
) -> list[Atom]:
    """Write copies of those results whose storage the sweep puts back as it was; return all."""
    written = [
        old for st in walk(Block(tuple(sweep)))
        if isinstance(st, Let) and (old := written_operand(st.rhs)) is not None
    ]
    if not written:
        return results
    shared = shared_storage(Block((*forward, *sweep)), s.unit)
    storage = {atom for old in written for atom in storage_of(old, shared)}
    return [
        copied(s, result, origin) if isinstance(result, Var) and is_mutable(s.unit.type(result))
        and storage_of(result, shared) & storage else result for result in results
    ]


def owned_residuals(
    s: Builder, saved: list[Var], forward: list[Statement], backward: Block,
    primal: Function, value: Atom,
) -> tuple[list[Var], Block]:
    """Save copies of what the caller also holds: it may be changed before the pullback is called.

    Returns what is saved, and the pullback's statements that read that.
    """
    unit = s.unit
    shared = shared_storage(Block(tuple(forward)), unit)
    foreign: set[Atom] = {p.var for p in primal.params}
    foreign |= {
        st.target for st in walk(Block(tuple(forward)))
        if isinstance(st, Let) and isinstance(st.rhs, Global)
    }

    foreign |= {root for root in storage_of(value, shared) if is_mutable(unit.type(root))}
    changed = {st.rhs.args[0] for st in forward if gives_back(st)}  # type: ignore[union-attr]
    copies: dict[Var, Atom] = {}
    with s.writing_to([]) as out:
        for var in saved:
            if (holds_arrays(unit.type(var)) and storage_of(var, shared) & foreign) or (
                var in changed and isinstance(unit.type(var), t.Object)
            ):
                copies[var] = copied(s, var, primal.origin)
    end = next((i for i, st in enumerate(forward) if gives_back(st)), len(forward))
    forward[end:end] = out
    return [copies.get(v, v) for v in saved], substitute_block(backward, copies)  # type: ignore[misc]


def copied(s: Builder, var: Var, origin: Origin) -> Var:
    """Write a copy of an array, or of a container and the arrays in it."""
    unit = s.unit
    plain = isinstance(unit.type(var), t.Array) and var not in unit.unsure
    function = np.copy if plain else own_copy
    copy = s.let(Call(Const(function), (var,)), unit.type(var), var.name, origin, False)
    if isinstance(unit.type(var), t.Array):
        unit.shapes[copy] = unit.shape_class(var)
    return copy


def storage_of(var: Atom, shared: Mapping[Atom, list[Atom]]) -> set[Atom]:
    """Return what a value may share storage with, itself included; see ``shared_storage``."""
    found: set[Atom] = set()
    waiting = [var]
    while waiting:
        atom = waiting.pop()
        if atom not in found:
            found.add(atom)
            waiting += shared.get(atom, ())
    return found


def shared_storage(block: Block, unit: Unit) -> dict[Atom, list[Atom]]:
    """Return, for each variable, the atoms whose storage its value may share or hold."""
    shared: dict[Atom, list[Atom]] = {}

    def note(var: Var, atom: Atom) -> None:
        if is_mutable(unit.type(atom)):
            shared.setdefault(var, []).append(atom)

    sharing = Sharing(unit.type, unit.definition)
    for statement in walk(block):
        match statement:
            case Let(target, rhs, _):
                for atom, _ in sharing.of(target, rhs):
                    note(target, atom)
            case Region():
                for edge in statement.edges():
                    note(edge.target, edge.source)
    return shared


def holds_arrays(type_: t.Type) -> bool:
    """Say whether a value of this type may be an array, or a container of such.

    What functions compiled on their own save for their pullbacks is of unknown type.
    """
    match type_:
        case t.Array() | t.Unknown():
            return True
        case t.Tuple(items):
            return any(map(holds_arrays, items))
        case t.Dict(_, items):
            return True
        case t.List():
            return True
    return False
