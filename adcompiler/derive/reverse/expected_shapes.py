"""Extents that are expected to be equal where arrays meet, and the checks of that.

A check stands where all that it reads is known: in front of the loops around, at best at the entry.
What was checked holds for all that follows, so that the sweep neither saves a shape nor sums along
axes that might have been stretched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Do, Item, Loop, Origin, Star, Var
from adcompiler.ir.operators import BY_SIGN
from adcompiler.ir.visit import definitions, free_variables
from adcompiler.runtime import same_extent, same_shape, same_trailing_shape
from adcompiler.support.structs import dataclass
from adcompiler.typed import extents
from adcompiler.typed.extents import ONE, Axis, CutOff, Extent, Least, Met, Shape, Value

if TYPE_CHECKING:
    from adcompiler.derive.reverse.forward_pass import ForwardPass
    from adcompiler.typed.unit import Unit

Pair = tuple[Extent, Extent]


@dataclass(frozen=True)
class Carried:
    """An array that is carried: as it enters the loop, an iteration, the next one, and leaves."""

    param: Var
    init: Var
    following: Atom
    result: Var


class ExtentWriter:
    """Writes extents, of what the forward pass has."""

    def __init__(self, forward: ForwardPass) -> None:
        self.forward = forward
        self.unit = forward.s.unit

    def expression(self, extent: Extent, origin: Origin) -> Atom:
        """Write an extent that can be read; one that is cut off at 0 as it is above that."""
        total: Atom | None = None
        for symbol, count in extent.terms:
            part = self.symbol(symbol, origin)
            sign = "+" if total is None or count > 0 else "-"
            times = count if sign == "+" else -count
            if times != 1:
                part = self.number(BY_SIGN["*"], Const(times), part, origin)
            total = part if total is None else self.number(BY_SIGN[sign], total, part, origin)
        if total is None:
            return Const(extent.constant)
        if not extent.constant:
            return total
        sign = "+" if extent.constant > 0 else "-"
        return self.number(BY_SIGN[sign], total, Const(abs(extent.constant)), origin)

    def symbol(self, symbol: extents.Symbol, origin: Origin) -> Atom:
        """Write the reading of a symbol."""
        assert not isinstance(symbol, Met)  # which has no home
        if isinstance(symbol, CutOff):
            return self.expression(symbol.of, origin)
        if isinstance(symbol, Least):
            one, other = (self.expression(part, origin) for part in (symbol.one, symbol.other))
            return self.number(min, one, other, origin)
        if isinstance(symbol, Axis):
            return self.read(self.forward.value(symbol.array), symbol.axis, origin)
        return self.forward.value(symbol.var)

    def number(self, function: Callable[..., object], a: Atom, b: Atom, origin: Origin) -> Var:
        """Write arithmetic of two integers."""
        return self.noted(Call(Const(function), (a, b)), t.INT, "extent", origin)

    def read(self, array: Atom, axis: int, origin: Origin) -> Var:
        """Write the reading of the extent of an axis."""
        if isinstance(array, Var):
            shape = self.shape_of(array, len(self.unit.shape(array)), origin)
        else:
            return self.noted(Item(Const(array.value.shape), Const(axis)), t.INT, "extent", origin)
        return self.noted(Item(shape, Const(axis)), t.INT, "extent", origin)

    def shape_of(self, array: Var, ndim: int, origin: Origin) -> Var:
        """Write the reading of a shape for a check."""
        return self.noted(Attribute(array, "shape"), t.Tuple((t.INT,) * ndim), "shape", origin)

    def noted(self, rhs: Call | Item | Attribute, type_: t.Type, name: str, origin: Origin) -> Var:
        """Write a definition for a check."""
        var = self.forward.s.let(rhs, type_, name, origin)
        self.unit.writes.checks.add(var)
        return var


class ExpectedShapes:
    """What a forward pass expects of shapes, if it may ``assume`` any; where checks stand."""

    def __init__(self, forward: ForwardPass, assume: bool) -> None:
        self.assume = assume
        self.forward = forward
        self.unit = forward.s.unit
        self.writer = ExtentWriter(forward)

    def axes_of_one(self, params: Iterable[Var], origin: Origin) -> None:
        """Expect axes of parameters to have one element, and write the check of that."""
        for param in params if self.assume else ():
            for axis in self.unit.of_one.get(param, ()):
                extent = self.unit.shape(param)[axis]
                if extent != ONE:
                    self.check((extent, ONE), 0, origin)
                    self.unit.equate(extent, ONE)

    # -- operands that meet --------------------------------------------------------------------

    def of_operands(self, values: Sequence[Atom | Star], origin: Origin) -> Shape | None:
        """Write the checks that operands are not stretched; return the shape of the result.

        Operands of fewer axes are expected to have the trailing shape of the others. Nothing is
        expected of axes of one element, or where an extent is made of the other one.
        """
        unit = self.unit
        arrays = [a for a in values if isinstance(a, Var) and unit.shape(a)]
        if not self.assume or len(arrays) < 2:
            return None
        whole = max(arrays, key=lambda a: len(unit.shape(a)))
        here: dict[Extent, Extent] = {}
        for other in arrays:
            pairs = self.unequal(unit.shape(whole), unit.shape(other))
            if any(is_part(one, two) for one, two in pairs):
                return None  # x * (x + y): a shape is not defined by itself
            if pairs and not self.write(pairs, (whole, other), origin):
                here.update({two: one for one, two in pairs})
                if self.forward.home.get(other) == self.forward.region:
                    unit.shapes[other] = tuple(here.get(e, e) for e in unit.shape(other))
        return extents.broadcast(
            tuple(here.get(extent, extent) for extent in unit.shape(a)) for a in arrays)

    @staticmethod
    def unequal(whole: Shape, other: Shape) -> list[Pair]:
        """Return the extents of axes that meet and may differ."""
        return [
            (one, two) for one, two in zip(whole[len(whole) - len(other) :], other, strict=True)
            if one != two and ONE not in (one, two)
        ]

    def write(self, pairs: list[Pair], arrays: tuple[Var, Var], origin: Origin) -> bool:
        """Write the check that extents are equal; say whether they are so from now on.

        They are equal here only where the check stands in a branch, and what it reads does not.
        """
        known = [self.region_of(pair) for pair in pairs]
        places = [self.forward.region if region is None else self.place(region) for region in known]
        at = places[0]
        shapes = [self.unit.shape(array) for array in arrays]
        ends = zip(shapes[0][len(shapes[0]) - len(shapes[1]) :], shapes[1], strict=True)
        whole = all((one, two) in pairs or one == two for one, two in ends)
        if whole and len(set(places)) == 1 and all(self.is_known(array, at) for array in arrays):
            self.check_arrays(arrays, at, origin)
        else:
            for pair, region, place in zip(pairs, known, places, strict=True):
                if region is None:
                    self.check_axes(pair, arrays, origin)
                else:
                    self.check(pair, place, origin)
        if known != places:
            return False
        equal = [
            self.unit.equate(*sorted((two, one), key=self.depth, reverse=True))
            for one, two in pairs
        ]
        return all(equal)

    def depth(self, extent: Extent) -> int:
        """Return how many regions are around what an extent is made of."""
        region = self.region_of((extent,))
        return 0 if region is None else len(list(self.forward.regions_around(region)))

    def place(self, region: int) -> int:
        """Return where a check stands that reads what is known in a region around: in front of
        loops, but not of branches, which need not be taken."""
        found = self.forward.region
        while found != region and found in self.forward.loops:
            found = self.forward.outside[found]
        return found

    def region_of(self, parts: Iterable[Extent]) -> int | None:
        """Return the innermost region that extents are made in, None if they cannot be read."""
        homes = {self.home(symbol) for extent in parts for symbol in extents.symbols(extent)}
        around = list(self.forward.regions_around(self.forward.region))
        if not homes.issubset(around):
            return None
        return next((region for region in around if region in homes), 0)

    def home(self, symbol: extents.Symbol) -> int | None:
        """Return the region that a symbol is known in."""
        if isinstance(symbol, Met):
            return None
        if isinstance(symbol, CutOff | Least):
            return 0  # and what it is made of
        atom = symbol.array if isinstance(symbol, Axis) else symbol.var
        if not isinstance(atom, Var):
            return 0
        unsure = self.unit.unsure  # what may have no value is read where it has one
        return None if {atom, self.forward.value(atom)} & unsure else self.forward.home.get(atom)

    def is_known(self, array: Var, region: int) -> bool:
        """Say whether an array is made in a region, or in one around it, and sure to be there."""
        around = set(self.forward.regions_around(region))
        return self.forward.home.get(array) in around and array not in self.unit.unsure

    # -- what is written -----------------------------------------------------------------------

    def check_arrays(self, arrays: tuple[Var, Var], region: int, origin: Origin) -> None:
        """Write the check that the shape of an array ends in that of another one."""
        s = self.forward.s
        counts = [len(self.unit.shape(array)) for array in arrays]
        check = same_shape if counts[0] == counts[1] else same_trailing_shape
        with s.writing_to(self.forward.written_in(region)):
            shapes = tuple(
                self.writer.shape_of(self.source(array, region), count, origin)
                for array, count in zip(arrays, counts, strict=True))
            s.out.append(Do(Call(Const(check), shapes), origin))

    def source(self, array: Var, region: int) -> Var:
        """Return the first array made in a region, or around it, that gave another its shape."""
        while (closer := self.unit.same_shape_operand(array)) is not None:
            there = self.forward.value(closer)
            if not isinstance(there, Var) or not self.is_known(there, region) or (
                self.unit.shape(there) != self.unit.shape(array)
            ):
                break
            array = there
        return array

    def check(self, extents_: Sequence[Extent], region: int, origin: Origin) -> None:
        """Write the check that extents are equal which can all be read in a region."""
        s = self.forward.s
        with s.writing_to(self.forward.written_in(region)):
            parts = tuple(self.writer.expression(extent, origin) for extent in extents_)
            s.out.append(Do(Call(Const(same_extent), parts), origin))

    def check_axes(self, pair: Pair, arrays: tuple[Var, Var], origin: Origin) -> None:
        """Write the check that axes of two arrays that meet are equal, where they do."""
        parts = tuple(
            self.writer.read(array, self.unit.shape(array).index(extent), origin)
            for array, extent in zip(arrays, pair, strict=True))
        self.forward.s.out.append(Do(Call(Const(same_extent), parts), origin))

    def check_all(self, pairs: list[Pair], origin: Origin) -> None:
        """Write the checks of extents that can be read, each where it can, as few as there may be.
        """
        alike = whole_arrays(pairs, self.unit)
        groups: dict[tuple[int, Extent], list[Extent]] = {}
        for one, other in pairs:
            region = self.region_of((one, other))
            assert region is not None
            arrays = alike.get((one, other))
            if arrays is None:
                groups.setdefault((self.place(region), one), []).append(other)
            elif (one, other) == next(pair for pair, two in alike.items() if two == arrays):
                there = tuple(map(self.forward.value, arrays))
                self.check_arrays(there, self.place(region), origin)  # type: ignore[arg-type]
        for (place, one), others in groups.items():
            self.check((one, *others), place, origin)

    # -- what is read again --------------------------------------------------------------------

    def given_array(self, shape: Shape) -> Var | None:
        """Return an argument of a shape, which is there wherever the code is, None without one."""
        return next((
            array for array in self.forward.given
            if self.unit.shape(array) == shape and array not in self.unit.unsure
        ), None)

    def given_axis(self, extent: Extent) -> Axis | None:
        """Return an axis of this extent of an argument or part of one, None without one."""
        for array in self.forward.given:
            if extent in self.unit.shape(array) and array not in self.unit.unsure:
                return Axis(array, self.unit.shape(array).index(extent))
        axis = extent.symbol
        if not isinstance(axis, Axis) or self.forward.home.get(axis.array) != 0:  # type: ignore[arg-type]
            return None
        made = self.unit.definition(axis.array)
        whole = self.unit.type(made.obj) if isinstance(made, Item | Attribute) else t.UNKNOWN
        return axis if isinstance(whole, t.List | t.Tuple | t.Dict | t.Object) else None

    # -- arrays that loops carry ---------------------------------------------------------------

    def of_loop(self, loop: Loop) -> None:
        """Expect what an outermost loop carries to keep the shapes that it has in front of it."""
        unit = self.unit
        if not self.assume or self.forward.loops_around(self.forward.region):
            return
        carried = list(self.carried(loop, self.forward.value))
        inside = {*loop.binds(), *definitions(loop.body)}  # inner loops start from arrays there
        for var in (*(one.init for one in carried), *free_variables(loop.body)):
            if var not in inside:
                self.same(var, self.forward.value(var))
        for item, sequence in zip(loop.items, loop.iterables, strict=True):
            if isinstance(unit.type(sequence), t.Array):
                self.equal(unit.shape(item), unit.shape(self.forward.value(sequence))[1:])
        before = dict(unit.equal_extents)
        wanted: list[Pair] = []
        while carried:
            for one in carried:
                self.same(one.param, one.init)
            kept = [one for one in carried if self.keeps_shape(one, wanted)]
            if len(kept) == len(carried):
                break
            carried = kept
            unit.equal_extents = dict(before)
            wanted.clear()
        for one in carried:
            self.same(one.result, one.init)
        self.check_all(wanted, loop.origin)

    def carried(self, loop: Loop, value: Callable[[Atom], Atom]) -> Iterator[Carried]:
        """Yield arrays that a loop, and those in it, carry, of which no more is known by now."""
        unit = self.unit
        if loop.body.diverges:
            return
        for param, init, following, result in zip(
            loop.params, map(value, loop.inits), loop.next_values(), loop.results, strict=True
        ):
            axes = {len(unit.shape(one)) for one in (param, init, following, result)}
            if isinstance(init, Var) and len(axes) == 1 and axes != {0} and (
                unit.unsure.isdisjoint((param, init, following, result))
                and unit.shape(param) == extents.axes(param, *axes)
            ):
                yield Carried(param, init, following, result)
        for statement in loop.body.statements:
            if isinstance(statement, Loop):
                yield from self.carried(statement, lambda atom: atom)

    def same(self, var: Var, value: Atom) -> None:
        """Note that an array has the shape of another one."""
        if value is not var and value not in self.unit.unsure:
            self.equal(self.unit.shape(var), self.unit.shape(value))

    def equal(self, a: Shape, b: Shape) -> None:
        """Note that two shapes are equal."""
        if len(a) == len(b):
            for one, two in zip(a, b, strict=True):
                self.unit.equate(one, two)

    def keeps_shape(self, one: Carried, wanted: list[Pair]) -> bool:
        """Say whether the next iteration gets an array of the same shape, if ``wanted`` holds."""
        unit = self.unit
        for axis in range(len(unit.shape(one.init))):
            have, first = unit.shape(one.following)[axis], unit.shape(one.init)[axis]
            symbol = have.symbol
            for part in symbol.extents if isinstance(symbol, Met) else (have,):
                part, first = unit.canonical((part, first))
                if part == first:
                    continue
                region = self.region_of((part, first))
                if region is None or self.place(region) != region or is_part(part, first) or (
                    not unit.equate(part, first)
                ):
                    return False
                wanted.append((first, part))
        return unit.shape(one.following) == unit.shape(one.init)


def whole_arrays(pairs: list[Pair], unit: Unit) -> dict[Pair, tuple[Var, Var]]:
    """Return the pairs of axes of arrays all of which are compared, with the arrays."""
    found: dict[tuple[Var, Var], dict[int, Pair]] = {}
    for pair in pairs:
        one, other = (extent.symbol for extent in pair)
        if isinstance(one, Axis) and isinstance(other, Axis) and one.axis == other.axis and (
            isinstance(one.array, Var) and isinstance(other.array, Var)
        ):
            found.setdefault((one.array, other.array), {})[one.axis] = pair
    return {
        pair: arrays for arrays, axes in found.items() for pair in axes.values()
        if len(axes) > 1 and all(len(axes) == len(unit.shape(array)) for array in arrays)
    }


def is_part(a: Extent, b: Extent) -> bool:
    """Say whether two extents are not let equal, as one of them is made of the other.

    So are those that are made of the same one axis, as in ``p[:, :2] / p[:, 2:]``: that these are
    equal holds for one size of it.
    """
    if a.plus(b, -1).number is not None or single_source(a) == single_source(b) is not None:
        return True
    for one, other in ((a, b), (b, a)):
        symbol = one.symbol
        if symbol is not None and any(
            isinstance(inner, CutOff | Met) and inner != symbol
            and symbol in extents.symbols(extents.of(inner)) for inner, _ in other.terms
        ):
            return True
    return False


def single_source(extent: Extent) -> extents.Symbol | None:
    """Return the axis or integer that an extent is made of, None without one or for several."""
    found = {s for s in extents.symbols(extent) if isinstance(s, Axis | Value)}
    return found.pop() if len(found) == 1 else None
