"""In-place operators whose write nobody else can see become the operators that make a new value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from adcompiler.analyses.aliasing import noticed_writes
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, Let, Statement, Var, operands, unstar,
)
from adcompiler.ir.operators import IN_PLACE, OF_NUMBERS, SIGNS
from adcompiler.ir.visit import with_blocks
from adcompiler.runtime import check_rebinds
from adcompiler.runtime.adjoints.sequences import joined
from adcompiler.infer.calls.libraries import installed, standard
from adcompiler.infer.escapes import report_escapes
from adcompiler.infer.folds.in_place import refuse_write
from adcompiler.infer.folds.sequence import joins
from adcompiler.infer.generators import report_generators
from adcompiler.infer.storage.operators_in_place import check_shape
from adcompiler.infer.writer import Writer

def rebound(
    s: Writer, statements: Sequence[Statement], yields: tuple[Atom, ...]
) -> tuple[Statement, ...]:
    """Return a specialised function's statements without writes; report writes that are noticed."""
    block = Block(tuple(statements), yields)
    report_generators(s, block)
    report_escapes(s, block)
    checked: set[Var] = set()
    for statement in noticed_writes(block, s.unit.type):
        function, written = operands(statement.rhs)[:2]
        assert isinstance(function, Const)
        type_, plain = s.unit.type(written), IN_PLACE[function.value]
        library = statement.origin.file.startswith((*standard(), *installed()))  # called as it is
        if isinstance(type_, t.Unknown) and plain in OF_NUMBERS and not library and (
            statement.target not in s.unit.writes.caught
        ):
            # where it is a number, `op=` makes a new one
            checked.add(statement.target)
        else:
            refuse_write(s, type_, plain, statement.origin)
    return tuple(without_writes(s, block.statements, checked))


def without_writes(
    s: Writer, statements: Sequence[Statement], checked: Collection[Var]
) -> Iterator[Statement]:
    """Yield statements with in-place operators replaced.

    Those that make the variables ``checked`` get a check that the value is a number or the like.
    """

    def within(block: Block) -> Block:
        return replace(block, statements=tuple(without_writes(s, block.statements, checked)))

    for statement in statements:
        match statement:
            case Let(target, Call(Const(function), args, ()), origin) if any(
                function is other for other in IN_PLACE
            ):
                plain = IN_PLACE[function]
                if target in checked:
                    sign = Const(SIGNS[plain])
                    place = Const(origin.where)
                    yield Do(Call(Const(check_rebinds), (args[0], sign, place)), origin)
                if SIGNS[plain] == "+" and joins(map(s.unit.type, map(unstar, args))):
                    plain = joined
                yield Let(target, Call(Const(plain), args), origin)
                s.unit.writes.replacing.add(target)
                with s.writing_to([]) as checks:
                    check_shape(s, unstar(args[0]), target, origin)
                yield from checks
            case _:
                yield with_blocks(statement, within)
