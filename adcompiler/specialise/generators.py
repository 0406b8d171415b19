"""Generators while specialising: lists that may be run through once, where they were made."""

from __future__ import annotations

from typing import Any


from adcompiler.frontend import rejected
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Let, Origin, Star, Var, operands, unstar,
)
from adcompiler.ir.visit import defined, used, walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import generated
from adcompiler.specialise.early import refuse_early
from adcompiler.specialise.folds.table import folds
from adcompiler.specialise.writer import Writer


@folds(generated)
def fold_generated(
    s: Writer, args: list[Any], kwargs: Any, origin: Origin, name: str
) -> Atom:
    """Write a generator, and remember in which loop it was made."""
    generator = s.let(
        Call(Const(generated), (args[0],)), t.UNKNOWN, name, origin, temporary=False
    )
    s.unit.iterators.generators[generator] = s.unit.loops.around
    refuse_early(s, generator, (made for made in s.out if args[0] in defined(made)), origin)
    if s.heap is not None:
        s.heap.derive(args[0], args[1:])
    return generator


def consumed(s: Writer, atom: Atom, origin: Origin) -> Atom:
    """Return the list of a generator that is run through here; any other value as it is."""
    made = s.unit.definition(atom)
    if not isinstance(made, Call) or not isinstance(made.func, Const) or (
        made.func.value is not generated
    ):
        return atom
    assert isinstance(atom, Var)
    if s.unit.iterators.generators.get(atom) != s.unit.loops.around:
        why = rejected.GENERATOR_AGAIN
        s.reject(origin, why.problem, why.hint, why.anchor)
    s.unit.iterators.generators[atom] = None
    items = unstar(made.args[0])
    return items if s.heap is None else s.heap.current(items, origin)


def opened_arguments(s: Writer, function: Any, args: list[Any], origin: Origin) -> list[Any]:
    """Return the arguments of a call, generators among them as lists if it consumes them."""
    if not any(
        s.unit.definition(arg) for arg in args if not isinstance(arg, Star)
    ) or not consumes(function):
        return args
    return [arg if isinstance(arg, Star) else consumed(s, arg, origin) for arg in args]


def consumes(function: Any) -> bool:
    """Say whether a function runs through its argument once."""
    if getattr(function, "__name__", "") == "join" and isinstance(
        getattr(function, "__self__", None), str
    ):
        return True
    return REGISTRY.facts(function).iterates is True


def report_generators(s: Writer, block: Block) -> None:
    """Report the generators that ``block`` still reads: what would run through them is unknown."""
    made = {
        statement.target: statement for statement in walk(block) if isinstance(statement, Let)
        and isinstance(statement.rhs, Call) and isinstance(statement.rhs.func, Const)
        and statement.rhs.func.value is generated
    }
    if not made:
        return
    read = used(block)
    why = rejected.GENERATOR_AGAIN
    for target, statement in made.items():
        if target in read:
            s.reject(statement.origin, why.problem, why.hint, why.anchor)
            s.unit.lost.update(operands(statement.rhs))
