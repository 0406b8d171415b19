"""In-place operators, `x += y` and its kin, on arrays and lists."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Do, Item, Origin, Step, Var
from adcompiler.ir.operators import IN_PLACE
from adcompiler.runtime import keeps_shape
from adcompiler.infer.storage.container_methods import extend
from adcompiler.infer.storage.container_fields import heap_of, refuse
from adcompiler.infer.storage.stores import WHOLE
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer


def write_in_place(
    s: Operations, function: Callable[..., Any], args: list[Atom], origin: Origin, name: str
) -> Atom:
    """``x op= y`` of an array or list: writes into it, and gives it back."""
    x, y = args
    plain = IN_PLACE[function]
    type_ = s.unit.type(x)
    heap = heap_of(s)
    assert isinstance(x, Var)
    there = heap.reference(x)
    if isinstance(type_, t.List):
        extend(s, x, y, origin)
        return x
    if not isinstance(type_, t.Array):
        return refuse(s, x, "writing into", origin)
    if s.written_either(x, origin, lambda part: write_in_place(
        s, function, [part, y], origin, name
    )):
        return heap.reading.current(x, origin)
    before = heap.state.value(there.root)
    result = operated_in_place(s, x, y, plain, type_, origin, name)
    note_in_place(s, there.root, before)
    return result


def note_in_place(s: Writer, root: Var, before: Atom) -> None:
    """Note that the latest value of a root is written by an operation that may raise afterwards."""
    latest = heap_of(s).state.value(root)
    if latest is not before and isinstance(latest, Var):
        s.unit.writes.in_place.add(latest)


def operated_in_place(
    s: Operations, x: Var, y: Atom, plain: Callable[..., Any], type_: t.Array, origin: Origin,
    name: str,
) -> Atom:
    """``x op= y`` of an array."""
    heap = heap_of(s)
    there = heap.reference(x)
    steps = there.steps
    found = s.types.of_call(plain, [x, y], {})
    if not steps and found == type_:
        new = s.call(Const(plain), [x, y], {}, origin, name)
        if not isinstance(new, Var):
            return new
        check_shape(s, x, new, origin)
        s.unit.writes.replacing.add(new)
        heap.changes.advance(there.root, new, None, origin)
        heap.state.exclusive[new] = True
        return new
    if isinstance(found, (t.Array, t.Scalar)) and t.is_number(found) and (
        (type_.kind != "complex" and found.kind == "complex")
        or (type_.kind in ("int", "bool") and found.kind in ("float", "complex"))
    ):
        return s.reject(
            origin, f"values of type {found} cannot be written into an array of {type_.dtype}",
            f"NumPy refuses this too: make the array one of dtype {found.dtype or found.kind}",
            "array-writes",
        )
    where = () if steps and is_part_of_array(s, x) else (Step("item", args=(WHOLE,)),)
    if plain in (operator.add, operator.sub) and type_.kind in ("float", "complex"):
        change = y if plain is operator.add else s.call(
            Const(operator.neg), [y], {}, origin, "change"
        )
        heap.writing.write(x, where, change, origin, adds=True)
        return x
    value = s.call(Const(plain), [x, y], {}, origin, name)
    heap.writing.write(x, where, value, origin)
    return x


def is_part_of_array(s: Writer, x: Var) -> bool:
    """Say whether an array is read as ``array[index]``, so that a store there writes into it."""
    read = s.unit.definition(x)
    return isinstance(read, Item) and isinstance(s.unit.type(read.obj), t.Array)


def check_shape(s: Writer, old: Atom, new: Var, origin: Origin) -> None:
    """Write the check that writing in place is possible: the shape stays."""
    unit = s.unit
    type_ = unit.type(old)
    if not isinstance(type_, t.Array) or unit.shape(old) == unit.shape(new):
        return
    shapes = []
    for array in (old, new):
        shape = s.let(Attribute(array, "shape"), t.Tuple((t.INT,) * type_.ndim), "shape", origin)
        unit.writes.checks.add(shape)
        shapes.append(shape)
    s.out.append(Do(Call(Const(keeps_shape), tuple(shapes)), origin))
    unit.shapes[new] = unit.shape(old)
