"""Arrays lie in memory as NumPy lays them out, where that decides what the code computes.

Copies made so that the caller's arrays stay as they are have the strides of these arrays, and what
an in-place operator computes takes the place of what was there. Elsewhere plain copies and plain
operators do. What the compiler computes in another way than the library is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from adcompiler.analyses.layouts import LayoutFlow
from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Let, Origin, Statement, Var, unstar
from adcompiler.ir.visit import with_blocks
from adcompiler.ops.qualified_names import root_module
from adcompiler.ops.queries import meaning
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import own
from adcompiler.runtime.adjoints.shaping import copy_as_laid_out, in_place_of
from adcompiler.infer.calls.libraries import is_runtime
from adcompiler.infer.folds.table import SAME_LAYOUT
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit


OWN_MODULES = frozenset(sys.stdlib_module_names)
"""Modules whose functions, written otherwise, do to arrays what they do."""


def find_layouts_read(s: Writer, body: Block) -> None:
    """Enter the values whose layout is read, by a function or what it calls; refuse unknown ones.
    """
    unit = s.unit
    functions = [c.function for c in unit.calls.callees.values() if c.function is not None]
    found = LayoutFlow(unit.type, unit.definition).sources([body, *functions])
    unit.layouts.read.update(found)
    for var, (origin, name) in unit.layouts.unknown.items():
        if var in found:
            refuse_layout(s, origin, name)


def written_otherwise(
    s: Writer, function: Callable[..., Any], args: list[Atom], result: Atom, origin: Origin
) -> Atom:
    """Return what is written in place of a call; a library's may lie in memory in another way."""
    if is_runtime(function) or function in SAME_LAYOUT or root_module(function) in OWN_MODULES or (
        REGISTRY.facts(function).gives_views
    ):
        return result
    return of_unknown_layout(s, getattr(function, "__name__", ""), args, result, origin)


def of_unknown_layout(
    s: Writer, name: str, args: list[Atom], result: Atom, origin: Origin
) -> Atom:
    """Return the result of a call, noted as one that may lie in memory in another way."""
    if isinstance(result, Var) and is_mutable(s.unit.type(result)) and result not in args and (
        not s.in_rule
    ):
        s.unit.layouts.unknown[result] = (origin, name or result.name)
    return result


def refuse_layout(s: Writer, origin: Origin, name: str) -> None:
    """Report a call of which the code relies on how its result lies in memory."""
    s.reject(
        origin, f"how the result of {name}() lies in memory is not known when compiling, and "
        "decides what is computed of it",
        "copy the result, as by `.copy()`, which lies in C order", "memory-layout",
    )


def with_layouts_kept(unit: Unit, block: Block) -> Block:
    """Return ``block`` with values laid out as in Python, where that is read."""
    if not unit.layouts.read:
        return block
    return replace(block, statements=tuple(_kept(unit, block.statements)))


def _kept(unit: Unit, statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in statements:
        match statement:
            case Let(target, Call() as rhs, origin) if target in unit.layouts.read:
                if target in unit.writes.copied_for_writes:
                    rhs = copy_with_strides(rhs)
                elif target in unit.writes.replacing and not calls(rhs, in_place_of):
                    computed = Var(target.name, True)
                    unit.record(computed, rhs, unit.type(target))
                    if isinstance(unit.type(target), t.Array):
                        unit.shapes[computed] = unit.shape(target)
                    yield Let(computed, rhs, origin)
                    rhs = Call(Const(in_place_of), (computed, unstar(rhs.args[0])))
                unit.defs[target] = rhs
                yield Let(target, rhs, origin)
            case _:
                yield with_blocks(statement, lambda block: with_layouts_kept(unit, block))


def copy_with_strides(rhs: Call) -> Call:
    """Return the call that copies as another one does, and keeps the strides of arrays."""
    if meaning(rhs) == "copy":
        return Call(Const(copy_as_laid_out), rhs.args)
    if calls(rhs, own) and len(rhs.args) == 1:
        return Call(rhs.func, (*rhs.args, Const(copy_as_laid_out)))
    return rhs


def calls(rhs: Call, function: Callable[..., Any]) -> bool:
    """Say whether a call is one of this function."""
    return isinstance(rhs.func, Const) and rhs.func.value is function
