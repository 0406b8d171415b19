"""Shapes of arrays as far as the code says, whatever the data: an expression for each axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Rhs, Star, Var, operands
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.support.structs import dataclass
from adcompiler.typed import extents
from adcompiler.typed.extents import CutOff, Extent, Shape, Symbol, Value
from adcompiler.typed.result_shapes import combined, shape_of_result
from adcompiler.typed.variables import Variables

MOST_LOOPS = 8
"""So many loops around one another have bounds that are made of one another's."""


@dataclass(eq=False)
class Shapes(Variables):
    """The shapes of arrays; ``equal_extents`` has symbols that were checked to equal something.

    ``bounds`` has the first value of variables that run over a range, and the end of that.
    ``assume_equal_shapes`` says that arrays that meet are expected to be of one shape, here, but
    along axes of parameters that are expected to be ``of_one`` element.
    """

    assume_equal_shapes: bool = True
    shapes: dict[Var, Shape] = field(default_factory=dict)
    equal_extents: dict[Symbol, Extent] = field(default_factory=dict)
    bounds: dict[Var, tuple[Extent, Extent]] = field(default_factory=dict)
    of_one: dict[Var, list[int]] = field(default_factory=dict)

    def expect_of_one(
        self, params: Sequence[Var], axes: bool | tuple[tuple[int, int], ...]
    ) -> None:
        """Expect axes, behind the positions of their parameters, to have one element."""
        for position, axis in axes if isinstance(axes, tuple) else ():
            self.of_one.setdefault(params[position], []).append(axis)

    # -- questions -----------------------------------------------------------------------------

    def shape(self, atom: Atom) -> Shape:
        """Return the shape of a number or array; equal shapes are equal whenever the code runs."""
        type_ = self.type(atom)
        if not isinstance(type_, t.Array) or not type_.ndim:
            return ()
        found = self.shapes.get(atom) if isinstance(atom, Var) else None
        if found is None or len(found) != type_.ndim:
            found = extents.axes(atom, type_.ndim)
        return self.canonical(found)

    def canonical(self, shape: Shape) -> Shape:
        """Return a shape with what is known, by now, to be equal written in one way."""
        if not self.equal_extents:
            return shape
        return tuple(extents.rewritten(extent, self.equal_extents) for extent in shape)

    def equate(self, a: Extent, b: Extent) -> bool:
        """Let two extents be equal from now on; False if the one is part of the other."""
        a, b = self.canonical((a, b))
        found = extents.solved(a, b)
        if found is not None:
            self.equal_extents[found[0]] = found[1]
        return a == b or found is not None

    def extent(self, atom: Atom) -> Extent | None:
        """Return the value of an integer of Python, None for what is none."""
        if isinstance(atom, Const):
            return extents.number(atom.value) if type(atom.value) is int else None
        type_ = self.type(atom)
        if type_ != t.INT:
            return None
        made = self.definition(atom)
        found = None if made is None else self.computed(made)
        return extents.of(Value(atom)) if found is None else found

    def computed(self, made: Rhs) -> Extent | None:
        """Return the integer that an expression gives, None if it is no sum of extents."""
        match made:
            case Item(Var() as obj, Const(int(axis))):
                shape = self.definition(obj)
                if isinstance(shape, Attribute) and shape.name == "shape":
                    found = self.shape(shape.obj)
                    return found[axis] if -len(found) <= axis < len(found) else None
            case Attribute(Var() as obj, "size") if len(self.shape(obj)) == 1:
                return self.shape(obj)[0]
            case Call(Const(function), (first, *rest)) if not made.kwargs and hashable(function):
                if REGISTRY.facts(function).transfer == "len" and self.shape(first):  # type: ignore[arg-type]
                    return self.shape(first)[0]  # type: ignore[arg-type]
                parts = [self.extent(a) for a in (first, *rest) if not isinstance(a, Star)]
                if None not in parts and len(parts) == 2:
                    return combined(REGISTRY.facts(function).means, *parts)
        return None

    def extents_of(self, atom: Atom) -> list[Extent | None] | None:
        """Return the items of a shape: of a tuple of integers, or an integer for one axis."""
        made = self.definition(atom)
        if isinstance(made, Attribute) and made.name == "shape":
            return list(self.shape(made.obj))
        items = self.elements(atom)
        return [self.extent(atom)] if items is None else [self.extent(item) for item in items]

    def same_shape_operand(self, atom: Var, type_: t.Type | None = None) -> Var | None:
        """Return an operand of the expression for ``atom`` that has its shape (and ``type_``)."""
        made = self.definition(atom)
        if made is None or not isinstance(self.type(atom), t.Array):
            return None
        shape = self.shape(atom)
        found = list(operands(made))
        if isinstance(made, Item):
            found += self.elements(made.index) or ()
        for operand in found:
            if isinstance(operand, Var) and isinstance(self.type(operand), t.Array) and (
                type_ in (None, self.type(operand)) and self.shape(operand) == shape
            ):
                return operand
        return None

    def is_inside(self, array: Atom, index: Atom) -> bool:
        """Say whether integers are positions in an array, whatever the data."""
        shape = self.shape(array)
        parts = self.elements(index) if isinstance(self.type(index), t.Tuple) else (index,)
        places = [self.extent(part) for part in parts or ()]
        return 0 < len(places) <= len(shape) and all(
            place is not None and self.is_natural(place)
            and self.is_natural(extent.plus(place, -1).plus(extents.number(-1)))
            for place, extent in zip(places, shape, strict=False)
        )

    def described(self, var: Var) -> str:
        """Return the type of a variable, of an array with its extents; ``:`` is one of its own."""
        type_ = self.type(var)
        if not isinstance(type_, t.Array):
            return str(type_)
        own = extents.axes(var, type_.ndim)
        shape = (
            ":" if extent == mine else str(extent)
            for extent, mine in zip(self.shape(var), own, strict=False)
        )
        return f"{type_.dtype}[{', '.join(shape)}]"

    # -- results -------------------------------------------------------------------------------

    def record(self, var: Var, rhs: Rhs, type_: t.Type) -> None:
        """Enter a new variable into the tables."""
        self.set_type(var, type_, isinstance(rhs, (Item, Attribute)))
        self.defs[var] = rhs
        if isinstance(type_, t.Array) and type_.ndim:
            found = shape_of_result(self, rhs, type_)
            if found is not None and len(found) == type_.ndim:
                unknown = extents.axes(var, type_.ndim)
                self.shapes[var] = tuple(
                    extent or other for extent, other in zip(found, unknown, strict=True))

    def enter_item(self, item: Var, sequence: Atom) -> None:
        """Enter the shape of the items of an array, or the bounds of those of a range."""
        made = self.definition(sequence)
        if isinstance(self.type(sequence), t.Array):
            self.shapes[item] = self.shape(sequence)[1:]
        elif isinstance(made, Call) and isinstance(made.func, Const) and made.func.value is range:
            ends = [self.extent(end) for end in made.args if not isinstance(end, Star)]
            if 0 < len(ends) == len(made.args) < 3 and None not in ends:
                first, last = (extents.number(0), *ends)[-2:]
                self.bounds[item] = (first, last)  # type: ignore[assignment]

    def is_natural(self, number: Extent) -> bool:
        """Say whether an integer cannot be negative, by the bounds of what it is made of."""
        for _ in range(MOST_LOOPS):
            found = number
            for symbol, count in number.terms:
                if isinstance(symbol, Value) and symbol.var in self.bounds:
                    first, last = self.bounds[symbol.var]
                    if isinstance(last.symbol, CutOff):
                        last = last.symbol.of  # which is above 0 where an iteration runs
                    end = first if count > 0 else last.plus(extents.number(-1))
                    found = found.plus(extents.of(symbol), -count).plus(end, count)
            if found == number:
                break
            number = found
        return number.never_negative()

    def forget_shape(self, var: Var) -> None:
        """Let nothing be known of the shape of a variable, which is another one from now on."""
        self.shapes[var] = extents.axes(Var(var.name, var.temporary), len(self.shape(var)))


def is_elementwise(function: Callable[..., Any]) -> bool:
    """Say whether a function's array result has the broadcast shape of its arguments."""
    return hashable(function) and REGISTRY.facts(function).elementwise is True
