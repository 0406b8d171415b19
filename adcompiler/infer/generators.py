"""Generators while specialising: lists that may be run through once, where they were made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend import rejected
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Let, Origin, Star, Var, operands, unstar,
)
from adcompiler.ir.visit import defined, used, walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import generated
from adcompiler.infer.eager_effects import refuse_early
from adcompiler.infer.folds.table import folds
from adcompiler.infer.writer import Writer


@folds(generated)
def fold_generated(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a generator, and remember in which loop it was made."""
    generator = s.let(
        Call(Const(generated), (args[0],)), t.UNKNOWN, name, origin, temporary=False
    )
    s.unit.iterators.generators[generator] = s.unit.loops.around
    by_function = kwargs.get("ends")
    if by_function is None:
        refuse_early(s, generator, (made for made in s.out if args[0] in defined(made)), origin)
    else:
        read = [s.unit.globals.reads[arg] for arg in args[1:] if arg in s.unit.globals.reads]
        assert isinstance(by_function, Const)
        s.unit.iterators.by_function[generator] = by_function.value, tuple(read)
        before = [made for made in s.out if generator not in defined(made)]
        refuse_early(s, generator, before, origin)
    if s.heap is not None:
        s.heap.pending.derive(args[0], args[1:])
    return generator


def consumed(
    s: Writer, atom: Atom, origin: Origin, at_once: bool = True, to_its_end: bool = True
) -> Atom:
    """Return the list of a generator that is run through here; any other value as it is.

    What runs through it does so ``at_once``, and nothing else meanwhile, or ``to_its_end``.
    """
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
    if not at_once:
        check_in_pieces(s, atom, unstar(made.args[0]), origin, to_its_end)
    items = unstar(made.args[0])
    return items if s.heap is None else s.heap.reading.current(items, origin)


def check_in_pieces(
    s: Writer, generator: Var, items: Atom, origin: Origin, to_its_end: bool
) -> None:
    """Report what a generator function may not do where other code runs between its items."""
    if generator not in s.unit.iterators.by_function:
        return
    ends, read = s.unit.iterators.by_function[generator]
    s.unit.iterators.interleaved += [(key, origin) for key in read]
    type_ = s.unit.type(items)
    if not ends and not to_its_end:
        why = rejected.GENERATOR_LEFT
    elif not isinstance(type_, t.List) or is_mutable(type_.item):
        why = rejected.GENERATOR_OF_ARRAYS
    else:
        return
    s.reject(origin, why.problem, why.hint, why.anchor)


def opened_arguments(
    s: Writer, function: Any, args: list[Atom], origin: Origin
) -> list[Any]:
    """Return the arguments of a call, generators among them as lists if it consumes them."""
    if not any(
        s.unit.definition(arg) for arg in args if not isinstance(arg, Star)
    ) or not consumes(function):
        return args
    at_once = REGISTRY.facts(function).exhausts is True
    return [
        arg if isinstance(arg, Star) else consumed(s, arg, origin, at_once, at_once)
        for arg in args
    ]


def consumes(function: Callable[..., Any]) -> bool:
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
    for key, origin in s.unit.iterators.interleaved:
        if key in s.unit.globals.stores:
            why = rejected.GENERATOR_OF_GLOBAL
            s.reject(origin, why.problem.format(name=key[1]), why.hint, why.anchor)
    if not made:
        return
    read = used(block)
    why = rejected.GENERATOR_AGAIN
    for target, statement in made.items():
        if target in read:
            s.reject(statement.origin, why.problem, why.hint, why.anchor)
            s.unit.lost.update(operands(statement.rhs))
