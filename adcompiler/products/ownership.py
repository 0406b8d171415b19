"""Storage that belongs to the caller: what is copied before it is kept, and what is given back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from adcompiler.analyses.storage import Sharing, is_mutable, written_operand
from adcompiler.derive.reverse.reverser import Reversed
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, Do, Function, Item, Let, Origin, Pack, Region, Statement,
    Var, unstar,
)
from adcompiler.ir.visit import edges, substitute_block, walk
from adcompiler.products.finish import is_global
from adcompiler.products.specialised import Typed, Written
from adcompiler.runtime import give_back, handed_out, own as own_copy, paired
from adcompiler.typed.builder import Builder
from adcompiler.typed.unit import Unit


def given_back(unit: Unit, typed: Typed) -> Iterator[Statement]:
    """Yield what writes into the caller's storage."""
    several = len(typed.written) > 1 and any(it.copies is not None for it in typed.written)
    shared = shared_storage(Block(typed.statements), unit) if several else {}
    made: list[Statement] = []
    written = with_arrays_paired(unit, typed.written, shared, made, typed.origin)
    yield from made
    for it in written:
        array = isinstance(unit.type(it.var), t.Array)
        copies = () if array else copies_with(it, written, shared)
        yield Do(Call(Const(give_back), (it.var, it.final, *copies)), typed.origin)


def given_back_at_end(
    s: Builder, typed: Typed, both: Reversed, origin: Origin
) -> Iterator[Statement]:
    """Yield what writes into the storage outside of a function once its sweep has run.

    The sweep reads that storage as it was. What it restores itself is copied before it runs: the
    copies are written here. Where several objects hold one part they are copied together.
    """
    outside = [it for it in typed.written if it.var not in typed.params]
    written = [replace(it, final=both.value(it.final), copies=it.copies and both.value(it.copies))
               for it in outside]
    shared = shared_storage(Block((*both.forward, *both.sweep)), s.unit) if written else {}
    storage = swept_storage(both.sweep, shared) if written else set()
    written = with_arrays_paired(s.unit, written, shared, s.out, origin)
    ends: dict[Var, tuple[Atom, ...]] = {}
    for it in written:
        final, copies = it.final, copies_with(it, written, shared)
        if it.var in ends:
            continue
        if isinstance(final, Var) and storage_of(final, shared) & storage:
            if isinstance(s.unit.type(final), t.Array) and not copies:
                ends[it.var] = (copied(s, final, origin),)
            else:
                together = [one for one in written if one.copies in copies] or [it]
                ends.update(handed(s, typed, both, together, copies, shared, origin))
        else:
            ends[it.var] = final, *copies
    return iter([
        Do(Call(Const(give_back), (it.var, *(
            ends[it.var][:1] if isinstance(s.unit.type(it.var), t.Array) else ends[it.var]
        ))), origin.reversed()) for it in written
    ])


def handed(
    s: Builder, typed: Typed, both: Reversed, together: Sequence[Written],
    copies: tuple[Atom, ...], shared: Mapping[Atom, list[Atom]], origin: Origin,
) -> dict[Var, tuple[Atom, ...]]:
    """Write copies of objects for the end, and return what ``give_back`` takes for each of them.

    ``copies`` are all that the program worked on in place of what they held.
    """
    unit = s.unit
    finals = [it.final for it in together]
    behind = {atom for final in finals for atom in storage_of(final, shared)}
    kept = tuple(var for var in typed.kept if both.value(var) in behind)
    value, type_ = finals[0], unit.type(finals[0])
    if len(finals) > 1:
        type_ = t.Tuple(tuple(map(unit.type, finals)))
        value = s.let(Pack("tuple", tuple(finals)), type_, "written", origin, False)
    also: tuple[tuple[str, Atom], ...] = ()
    if kept:
        pack = Pack("tuple", tuple(both.value(var) for var in kept))
        held = t.Tuple(tuple(map(unit.type, kept)))
        also = (("kept", s.let(pack, held, "kept", origin, False)),)
    name = "written" if len(finals) > 1 else getattr(value, "name", "written")
    pair = s.let(Call(Const(handed_out), (value, *copies), also),
                 t.Tuple((type_, t.UNKNOWN)), f"{name}_parts", origin)
    out = s.let(Item(pair, Const(0)), type_, name, origin, False)
    pairs = (s.let(Item(pair, Const(1)), t.UNKNOWN, "copies", origin, False),) if copies else ()
    if len(finals) == 1:
        return {together[0].var: (out, *pairs)}
    return {
        it.var: (s.let(Item(out, Const(k)), unit.type(it.final), it.var.name, origin, False),
                 *pairs)
        for k, it in enumerate(together)
    }


def with_arrays_paired(
    unit: Unit, written: Sequence[Written], shared: Mapping[Atom, list[Atom]],
    out: list[Statement], origin: Origin,
) -> list[Written]:
    """Return what is given back, with pairs for arrays that a container may hold too.

    The container is to hold the caller's array then, not what the program worked on.
    """
    containers = [storage_of(it.final, shared) for it in written if it.copies is not None]
    found = []
    for it in written:
        if isinstance(it.final, Var) and isinstance(unit.type(it.var), t.Array) and any(
            storage_of(it.final, shared) & held for held in containers
        ):
            pairs = Var(f"{it.var.name}_copies")
            rhs = Call(Const(paired), (it.var, it.final))
            unit.record(pairs, rhs, t.UNKNOWN)
            out.append(Let(pairs, rhs, origin))
            it = replace(it, copies=pairs)
        found.append(it)
    return found


def copies_with(
    it: Written, written: Iterable[Written], shared: Mapping[Atom, list[Atom]]
) -> tuple[Atom, ...]:
    """Return what the program worked on in place of parts of an object, and of those near it.

    Near is what may hold a part that this one holds too: both are to hold one object in the end.
    """
    if it.copies is None:
        return ()
    group, storage = [it], storage_of(it.final, shared)
    waiting = [one for one in written if one.copies is not None and one is not it]
    while True:
        near = [one for one in waiting if storage_of(one.final, shared) & storage]
        if not near:
            return tuple(one.copies for one in written if one in group and one.copies is not None)
        group += near
        waiting = [one for one in waiting if one not in near]
        storage = storage.union(*(storage_of(one.final, shared) for one in near))


def swept_storage(sweep: Iterable[Statement], shared: Mapping[Atom, list[Atom]]) -> set[Atom]:
    """Return what shares storage with what a sweep writes into."""
    written = [
        old for st in walk(Block(tuple(sweep)))
        if isinstance(st, Let) and (old := written_operand(st.rhs)) is not None
    ]
    return {atom for old in written for atom in storage_of(old, shared)}


def gives_back(statement: Statement) -> bool:
    """Say whether a statement writes into what belongs to the caller."""
    return isinstance(statement, Do) and isinstance(statement.rhs, Call) and isinstance(
        statement.rhs.func, Const) and statement.rhs.func.value is give_back


def kept_from_sweep(
    s: Builder, results: list[Atom], forward: list[Statement], sweep: list[Statement],
    origin: Origin,
) -> list[Atom]:
    """Write copies of those results whose storage the sweep puts back as it was; return all."""
    if not any(isinstance(st, Let) and written_operand(st.rhs) is not None
               for st in walk(Block(tuple(sweep)))):
        return results
    shared = shared_storage(Block((*forward, *sweep)), s.unit)
    storage = swept_storage(sweep, shared)
    return [
        copied(s, result, origin) if isinstance(result, Var) and is_mutable(s.unit.type(result))
        and storage_of(result, shared) & storage else result for result in results
    ]


def owned_residuals(
    s: Builder, saved: list[Var], forward: list[Statement], backward: Block,
    primal: Function, value: Atom, inner: bool = False,
) -> tuple[list[Var], Block]:
    """Save copies of what the caller also holds: it may be changed before the pullback is called.

    Returns what is saved, and the pullback's statements that read that. Of a function that only
    emitted code calls (``inner``) that is what it reads of modules, classes and cells itself.
    """
    unit = s.unit
    shared = shared_storage(Block(tuple(forward)), unit)
    foreign: set[Atom] = set() if inner else {p.var for p in primal.params}
    foreign |= outside(forward)
    if not inner:
        handed = [value, *(unstar(st.rhs.args[1]) for st in forward if gives_back(st))]  # type: ignore[union-attr]
        foreign |= {root for atom in handed for root in storage_of(atom, shared)
                    if is_mutable(unit.type(root))}
    copies: dict[Var, Atom] = {}
    absent = may_be_absent(Block(tuple(forward)))
    with s.writing_to([]) as out:
        for var in saved:
            if may_change(unit.type(var)) and storage_of(var, shared) & foreign:
                copies[var] = copied(s, var, primal.origin, var in absent)
    end = next((i for i, st in enumerate(forward) if gives_back(st)), len(forward))
    forward[end:end] = out
    return [copies.get(v, v) for v in saved], substitute_block(backward, copies)  # type: ignore[misc]


def outside(statements: Iterable[Statement]) -> set[Atom]:
    """Return the variables that are read of modules, classes, other functions and cells."""
    found: set[Atom] = set()
    for st in walk(Block(tuple(statements))):
        if isinstance(st, Let) and (is_global(st.rhs) or (
            isinstance(st.rhs, Item) and st.rhs.obj in found
        )):
            found.add(st.target)
    return found


def may_be_absent(block: Block) -> set[Atom]:
    """Return the variables that are None where the arm has not run that makes their value."""
    steps = [edge[:2] for edge in edges(block)]
    found: set[Atom] = {NONE, UNDEF}
    before = 0
    while len(found) > before:
        before = len(found)
        found |= {result for result, source in steps if source in found}
    return found


def copied(s: Builder, var: Var, origin: Origin, absent: bool = False) -> Var:
    """Write a copy of an array, or of a container and the arrays in it; ``absent`` ones are None.
    """
    unit = s.unit
    plain = isinstance(unit.type(var), t.Array) and var not in unit.unsure and not absent
    function = np.copy if plain else own_copy
    copy = s.let(Call(Const(function), (var,)), unit.type(var), var.name, origin, False)
    if isinstance(unit.type(var), t.Array):
        unit.shapes[copy] = unit.shape(var)
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
                for atom in sharing.entered(rhs):
                    note(target, atom)
            case Region():
                for edge in statement.edges():
                    note(edge.target, edge.source)
    return shared


def may_change(type_: t.Type) -> bool:
    """Say whether a value of this type may be an array, or hold what can be written into.

    What functions compiled on their own save for their pullbacks is of unknown type.
    """
    match type_:
        case t.Array() | t.Unknown() | t.List() | t.Dict() | t.Object():
            return True
        case t.Tuple(items):
            return any(map(may_change, items))
    return False
