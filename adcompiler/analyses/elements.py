"""Whether loops of a program go from element to element of arrays, or compute with whole ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Function, Item, Let, Loop, Pack, Region, Slice, Update, Var, operands,
)
from adcompiler.ir.visit import bound_inside, defined, loops_in, walk

TypeOf = Callable[[Atom], t.Type]


def goes_by_elements(functions: Iterable[Function], type_of: TypeOf) -> bool:
    """Say whether a loop reads or writes floats at a place that differs between iterations.

    That is one element after the other, a row, or a part between two bounds that both move; not
    the same array in each iteration, as in time steps, nor a list of arrays.
    """
    return any(
        is_by_elements(loop, type_of)
        for function in functions for loop in loops_in(function.body))


def is_by_elements(loop: Loop, type_of: TypeOf) -> bool:
    """Say whether a loop is one over elements."""
    if any(holds_floats(type_of(one)) for one in loop.iterables) or any(
        is_number(type_of(item), "float", "complex") for item in loop.items
    ):
        return True
    moving = {v for v in (*loop.items, *loop.params) if is_integer(type_of(v))}
    for statement in walk(loop.body):
        if isinstance(statement, Region):
            inside = (*bound_inside(statement), *defined(statement))
            moving.update(v for v in inside if is_integer(type_of(v)))
        if not isinstance(statement, Let):
            continue
        match statement.rhs:
            case Item(obj, index) if index in moving and holds_floats(type_of(obj)):
                return True
            case Update(obj, steps) if holds_floats(type_of(obj)) and any(
                not moving.isdisjoint(step.args) for step in steps if step.kind == "item"
            ):
                return True
            case Slice(lower, upper):
                if lower in moving and upper in moving:
                    moving.add(statement.target)
            case rhs if (isinstance(rhs, Pack) or is_integer(type_of(statement.target))) and not (
                moving.isdisjoint(atom for atom in operands(rhs) if isinstance(atom, Var))
            ):
                moving.add(statement.target)
    return False


def is_number(type_: t.Type, *kinds: str) -> bool:
    """Say whether a type is that of a number of one of some kinds."""
    return isinstance(type_, t.Scalar) and type_.kind in kinds


def is_integer(type_: t.Type) -> bool:
    """Say whether a type is that of an integer, an array of them, or a tuple with such in it."""
    if isinstance(type_, t.Tuple):
        return any(map(is_integer, type_.items))
    return is_number(type_, "int") or (isinstance(type_, t.Array) and type_.kind == "int")


def holds_floats(type_: t.Type) -> bool:
    """Say whether a type is that of an array, or a list, of floating or complex numbers."""
    if isinstance(type_, t.List):
        return is_number(type_.item, "float", "complex")
    return isinstance(type_, t.Array) and type_.kind in ("float", "complex")
