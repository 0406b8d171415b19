"""In-place operators whose write nobody else can see become the operators that make a new value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from adcompiler.analyses.aliasing import noticed_writes
from adcompiler.analyses.storage import IN_PLACE
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, If, Let, Loop, Origin, Statement, Var, operands,
    unstar,
)
from adcompiler.runtime import keeps_shape
from adcompiler.transforms.in_place_folds import refuse_write
from adcompiler.transforms.writer import Writer


def rebound(
    s: Writer, statements: Sequence[Statement], yields: tuple[Atom, ...]
) -> tuple[Statement, ...]:
    """Return a specialised function's statements without writes; report writes that are noticed."""
    block = Block(tuple(statements), yields)
    for statement in noticed_writes(block, s.unit.type):
        function, written = operands(statement.rhs)[:2]
        assert isinstance(function, Const)
        refuse_write(s, s.unit.type(written), IN_PLACE[function.value], statement.origin)
    return tuple(without_writes(s, block.statements))


def without_writes(s: Writer, statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield statements with in-place operators replaced."""

    def within(block: Block) -> Block:
        return replace(block, statements=tuple(without_writes(s, block.statements)))

    for statement in statements:
        match statement:
            case Let(target, Call(Const(function), args, ()), origin) if any(
                function is other for other in IN_PLACE
            ):
                yield Let(target, Call(Const(IN_PLACE[function]), args), origin)
                yield from shape_check(s, unstar(args[0]), target, origin)
            case If():
                yield replace(
                    statement, then=within(statement.then), orelse=within(statement.orelse)
                )
            case Loop():
                test = statement.condition
                yield replace(
                    statement, condition=None if test is None else within(test),
                    body=within(statement.body),
                )
            case _:
                yield statement


def shape_check(s: Writer, old: Atom, new: Var, origin: Origin) -> Iterator[Statement]:
    """Yield the check that writing in place would have been possible: the shape stays."""
    unit = s.unit
    type_ = unit.type(old)
    if not isinstance(type_, t.Array) or unit.shape_class(old) == unit.shape_class(new):
        return
    shapes = []
    for array in (old, new):
        shape = Var("shape", True)
        unit.record(shape, Attribute(array, "shape"), t.Tuple((t.INT,) * type_.ndim))
        unit.evidence.add(shape)
        shapes.append(shape)
        yield Let(shape, Attribute(array, "shape"), origin)
    yield Do(Call(Const(keeps_shape), tuple(shapes)), origin)
