"""Arrays that a loop carries, and that keep their shapes if arrays from in front have equal ones.

One check in front of the loop then stands for a check in each iteration, and the sweep knows the
shapes of all cotangents: it need not save them, or sum along axes that might have been stretched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Let, Loop, Var
from adcompiler.ir.visit import definitions, free_variables
from adcompiler.structs import dataclass
from adcompiler.typed.shapes import ShapeClass
from adcompiler.typed.unit import Unit


@dataclass(frozen=True)
class Carried:
    """An array that is carried: as it enters the loop, an iteration, the next one, and leaves."""

    param: Var
    init: Var
    following: Atom
    result: Var


class CarriedShapes:
    """What is known, or expected, of the shapes of arrays that a loop carries.

    ``value`` gives the atoms of the forward pass in front of the loop. ``checks`` are pairs of
    arrays there: the shape of the first one has to end in that of the second one.
    """

    def __init__(self, unit: Unit, loop: Loop, value: Callable[[Atom], Atom]) -> None:
        self.unit = unit
        self.checks: list[tuple[Var, Var]] = []
        self.there: dict[ShapeClass, Var] = {}
        carried = list(self.carried(loop, value))
        inside = {*loop.binds(), *definitions(loop.body)}  # inner loops start from arrays there
        for var in (*(one.init for one in carried), *free_variables(loop.body)):
            if var not in inside:
                self.enter(var, value(var))
        before = dict(unit.equal_shapes)
        while carried:
            kept = [one for one in carried if self.guess(one)]
            kept = [one for one in kept if self.keeps_shape(one)]
            if len(kept) == len(carried):
                break
            carried = kept
            unit.equal_shapes = dict(before)
            self.checks.clear()
        for one in carried:
            unit.made_equal(("of", one.result), unit.shape_class(one.init))
        if carried:
            self.meeting(loop.body)

    def carried(self, loop: Loop, value: Callable[[Atom], Atom]) -> Iterator[Carried]:
        """Yield arrays that a loop, and those in it, carry, of which no more is known by now."""
        unit = self.unit
        if loop.body.diverges:
            return
        for param, init, following, result in zip(
            loop.params, map(value, loop.inits), loop.next_values(), loop.results, strict=True
        ):
            axes = {ndim(unit, one) for one in (param, init, following, result)}
            if isinstance(init, Var) and len(axes) == 1 and axes != {0} and (
                unit.unsure.isdisjoint((param, init, following, result))
                and unit.shape_class(param) == ("of", param)
            ):
                yield Carried(param, init, following, result)
        for statement in loop.body.statements:
            if isinstance(statement, Loop):
                yield from self.carried(statement, lambda atom: atom)

    def enter(self, var: Var, value: Atom) -> None:
        """Note an array from in front of the loop, and that it has the shape of its value there."""
        unit = self.unit
        if not isinstance(value, Var) or not ndim(unit, var) or value in unit.unsure:
            return
        if value is not var and ndim(unit, var) == ndim(unit, value):
            unit.made_equal(("of", var), unit.shape_class(value))
        self.there.setdefault(unit.shape_class(value), value)

    def guess(self, one: Carried) -> bool:
        """Let a carried array have the shape that it enters with; False if that means nothing."""
        return self.unit.made_equal(("of", one.param), self.unit.shape_class(one.init))

    def keeps_shape(self, one: Carried) -> bool:
        """Say whether the next iteration gets an array of the same shape, if ``checks`` hold."""
        unit = self.unit
        if unit.shape_class(one.following) != unit.shape_class(one.init):
            self.expect(unit.shape_class(one.following), unit.shape_class(one.init))
        return bool(unit.shape_class(one.following) == unit.shape_class(one.init))

    def meeting(self, body: Block) -> None:
        """Expect arrays from in front of the loop that meet in it to be of one shape."""
        for statement in body.statements:
            if isinstance(statement, Loop):
                self.meeting(statement.body)
            elif isinstance(statement, Let) and ndim(self.unit, statement.target):
                shape = self.unit.shape_class(statement.target)
                known = [self.there[part] for part in parts(shape) if part in self.there]
                if len(known) == len(parts(shape)) > 1:
                    most = max(ndim(self.unit, var) for var in known)
                    whole = next(v for v in self.there.values()
                                 if v in known and ndim(self.unit, v) == most)
                    self.expect(shape, self.unit.shape_class(whole))

    def expect(self, have: ShapeClass, wanted: ShapeClass) -> None:
        """Let all that meets in ``have`` be of one shape, or end it, and note what has to hold."""
        unit, whole = self.unit, self.there.get(wanted)
        if whole is None or not all(part in self.there for part in parts(have)):
            return
        for part in sorted(parts(have), key=list(self.there).index):
            other, shape = self.there[part], unit.canonical(wanted)
            away = ndim(unit, whole) - ndim(unit, other)
            ending = unit.canonical(("suffix", shape, away) if away else shape)
            mine = unit.canonical(part)
            if away >= 0 and mine != ending and part[0] == "of" and unit.made_equal(mine, ending):
                self.checks.append((whole, other))


def parts(shape: ShapeClass) -> list[ShapeClass]:
    """Return the shape classes that meet in one."""
    return list(shape[1]) if shape[:1] == ("broadcast",) else [shape]


def ndim(unit: Unit, atom: Atom) -> int:
    """Return the number of axes of an array, 0 for anything else."""
    type_ = unit.type(atom)
    return type_.ndim if isinstance(type_, t.Array) else 0
