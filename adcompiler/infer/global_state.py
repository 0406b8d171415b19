"""Global variables that are assigned while the compiled code runs.

An assignment stores into the module. Reads of such a variable keep their place among the stores;
what is read back carries no derivative, so a store of a value that has one is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.scope import MISSING, Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Global, Item, Let, Origin, Statement,
)
from adcompiler.ir.visit import with_blocks
from adcompiler.runtime import read_global, store_global
from adcompiler.infer.escapes import refuse_escape
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

ANCHOR = "global-nonlocal"


def store(s: Writer, name: str, value: Atom, scope: Scope | None, origin: Origin) -> None:
    """Write the assignment of a global variable."""
    assert scope is not None
    names = scope.function.__globals__
    if name in scope.function.__code__.co_freevars:
        s.reject(
            origin, f"`{name}` is a global here, and a variable of a function around",
            "give one of them another name", ANCHOR,
        )
        return
    key = (id(names), name)
    owner: Atom
    if scope.module:
        owner = Const(s.unit.relied.module(scope.module))
    else:
        function = s.unit.relied.static(scope.function, scope.path)
        owner = s.let(Attribute(function, "__globals__"), t.UNKNOWN, "names", origin)
    refuse_escape(s, value, origin, "is stored in a global variable")
    if s.unit.globals.held.get(key) and s.unit.loops.around:
        refuse_read(s, name, origin)
    value = handed_over(s, name, value, origin)
    s.unit.globals.stores.setdefault(key, []).append((value, origin))
    s.out.append(Do(Call(Const(store_global), (owner, Const(name), value)), origin))


def handed_over(s: Writer, name: str, value: Atom, origin: Origin) -> Atom:
    """Return what a global variable gets for an array or container: a copy of what was written.

    The sweep puts that back as it was. Writes that follow are refused.
    """
    heap = s.heap
    if heap is None or not is_mutable(s.unit.type(value)):
        return value
    roots = list(heap.roots(value))
    for root in roots:
        heap.handed.setdefault(root, (name, origin))
    if not any(root in heap.state.latest for root in roots):
        return value
    if (s.unit.loops.around and any(map(heap.is_outer, roots))) or any(
        s.unit.definition(root) is None or root in heap.foreign for root in roots
    ):  # it is written again, or somebody else's
        heap.changes.refuse_foreign(roots[0], origin)
    return heap.writing.copy_to_write(value, s.unit.type(value), name, origin)


def refuse_read(s: Writer, name: str, origin: Origin) -> None:
    """Report a global variable that is assigned and of which the object is read after that."""
    s.reject(
        origin, f"the global `{name}` is assigned, and the array, container or instance that it "
        "is assigned is read again", "keep it in a local variable, and assign the global at the "
        "end; or write into the object, `X[...] = value`", ANCHOR,
    )


def note_held(s: Writer, names: dict[str, Any], name: str, origin: Origin) -> None:
    """Note that the object of a global variable is read; report one that is assigned by now."""
    key = (id(names), name)
    if key in s.unit.globals.stores:
        refuse_read(s, name, origin)
    held = s.unit.globals.held
    held[key] = held.get(key, False) or s.unit.loops.around > 0


def checked_stores(s: Writer) -> None:
    """Report variables that are read as what they no longer are once they have been assigned."""
    unit = s.unit
    for key, stores in unit.globals.stores.items():
        name = key[1]
        types = [unit.type(var) for var, read in unit.globals.reads.items() if read == key]
        constant = unit.globals.constants.get(key, MISSING)
        for value, origin in stores:
            stored = unit.type(value)
            changed = any(t.join(read, stored) != read for read in types)
            if constant is not MISSING and not (
                isinstance(stored, t.Static) and t.same_static(stored.value, constant)
            ):
                changed = True
            if changed:
                s.reject(
                    origin, f"the global `{name}` is read too, and gets a value of another type",
                    "let it hold a value of the same type before the derivative is called", ANCHOR,
                )


def with_reads_in_order(unit: Unit, block: Block) -> Block:
    """Return ``block`` with the reads of variables that are assigned kept in their places."""
    if not unit.globals.stores:
        return block
    return replace(block, statements=tuple(_in_order(unit, block.statements)))


def _in_order(unit: Unit, statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in statements:
        match statement:
            case Let(target, Global(module, name), origin) if stored(unit, statement):
                owner = Const(unit.relied.module(module))
                yield Let(target, Call(Const(read_global), (owner, Const(name))), origin)
            case Let(target, Item(names, name), origin) if stored(unit, statement):
                yield Let(target, Call(Const(read_global), (names, name)), origin)
            case _:
                yield with_blocks(statement, lambda block: with_reads_in_order(unit, block))


def stored(unit: Unit, statement: Let) -> bool:
    """Say whether a statement reads a variable that is assigned somewhere."""
    return unit.globals.reads.get(statement.target) in unit.globals.stores
