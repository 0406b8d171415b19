"""Adjoints of joining arrays, opened where the list of arrays is written out in the code.

``np.concatenate([a, b])`` pulls back to ``g[: a.shape[0]]`` and ``g[a.shape[0] :]``: no list is
packed and no function called. Lists of unknown length keep the call.
"""

from __future__ import annotations

import operator
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Call, Const, Origin, Pack, Slice, Var
from adcompiler.runtime import project, repack
from adcompiler.runtime.adjoints.joining import (
    column_stack_adjoint, concatenate_adjoint, hstack_adjoint, stack_adjoint, vstack_adjoint,
)
from adcompiler.runtime.adjoints.sequences import spread
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.containers import dict_of_adjoint
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

EVERYTHING = Const(slice(None))


def contained(
    s: Writer, arrays: Atom, parts: list[Atom], origin: Origin, name: str
) -> Atom:
    """Write the cotangents of the elements of a list or tuple as one of its kind."""
    kind = "list" if isinstance(s.unit.type(arrays), t.List) else "tuple"
    return s.pack(kind, tuple(parts), name, origin)


def formed(s: Operations, piece: Atom, x: Atom, origin: Origin) -> Atom:
    """Write a piece of a cotangent, which has the shape of ``x``, in the form of ``x``."""
    if isinstance(x, Const):
        return NONE
    return s.call(Const(like), [piece, x], {}, origin, "piece")


def dimensions(unit: Unit, g: Atom, arrays: Atom) -> tuple[tuple[Atom, ...], list[int]] | None:
    """Return the elements of a written-out list with their numbers of axes, if all are known."""
    elements = unit.elements(arrays)
    if not elements or not isinstance(unit.type(g), t.Array):
        return None
    types = [unit.type(x) for x in elements]
    if not all(isinstance(type_, (t.Array, t.Scalar)) for type_ in types):
        return None
    return elements, [type_.ndim if isinstance(type_, t.Array) else 0 for type_ in types]


def subscript(s: Writer, part: Atom, axis: int, origin: Origin) -> Atom:
    """Write the subscript that takes ``part`` of an axis and everything of those before it."""
    if axis == 0:
        return part
    return s.pack("tuple", (*[EVERYTHING] * axis, part), "index", origin)


def cut(
    s: Operations, g: Atom, arrays: Atom, axis: int, origin: Origin, name: str
) -> Atom | None:
    """Write the pieces of ``g`` that arrays of its number of axes, joined along ``axis``, get."""
    found = dimensions(s.unit, g, arrays)
    type_ = s.unit.type(g)
    if found is None or not isinstance(type_, t.Array) or set(found[1]) != {type_.ndim}:
        return None
    axis %= type_.ndim
    parts: list[Atom] = []
    start: Atom = NONE
    for position, x in enumerate(found[0]):
        stop: Atom = NONE
        if position + 1 < len(found[0]):
            shape = s.attribute(x, "shape", origin, "shape")
            stop = s.item(shape, Const(axis), origin, "size")
            if start is not NONE:
                stop = s.call(Const(operator.add), [start, stop], {}, origin, "stop")
        bounds = s.let(Slice(start, stop, NONE), t.SLICE, "bounds", origin)
        piece = s.item(g, subscript(s, bounds, axis, origin), origin, "piece")
        if isinstance(piece, Var):
            s.unit.types[piece] = type_
        parts.append(formed(s, piece, x, origin))
        start = stop
    return contained(s, arrays, parts, origin, name)


def layers(
    s: Operations, g: Atom, arrays: Atom, axis: int, origin: Origin, name: str
) -> Atom | None:
    """Write the layers of ``g`` along ``axis`` that arrays of one axis less get."""
    found = dimensions(s.unit, g, arrays)
    type_ = s.unit.type(g)
    if found is None or not isinstance(type_, t.Array) or set(found[1]) != {type_.ndim - 1}:
        return None
    parts = []
    for position, x in enumerate(found[0]):
        index = subscript(s, Const(position), axis % type_.ndim, origin)
        parts.append(formed(s, s.item(g, index, origin, "piece"), x, origin))
    return contained(s, arrays, parts, origin, name)


def known_axis(args: list[Atom], kwargs: dict[str, Atom]) -> int | None:
    """Return the third argument, ``axis``, of an adjoint if it is a known number."""
    axis = args[2] if len(args) > 2 else kwargs.get("axis", Const(0))
    return axis.value if isinstance(axis, Const) and type(axis.value) is int else None


@folds(concatenate_adjoint)
def fold_concatenate(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Any:
    axis = known_axis(args, kwargs)
    return None if axis is None else cut(s, args[0], args[1], axis, origin, name)


@folds(stack_adjoint)
def fold_stack(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    axis = known_axis(args, kwargs)
    return None if axis is None else layers(s, args[0], args[1], axis, origin, name)


@folds(vstack_adjoint)
def fold_vstack(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    found = dimensions(s.unit, args[0], args[1])
    if found is not None and set(found[1]) == {1}:
        return layers(s, args[0], args[1], 0, origin, name)
    return cut(s, args[0], args[1], 0, origin, name)


@folds(hstack_adjoint)
def fold_hstack(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    found = dimensions(s.unit, args[0], args[1])
    one = found is not None and set(found[1]) == {1}
    return cut(s, args[0], args[1], 0 if one else 1, origin, name)


@folds(column_stack_adjoint)
def fold_column_stack(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    found = dimensions(s.unit, args[0], args[1])
    if found is not None and set(found[1]) == {1}:
        return layers(s, args[0], args[1], 1, origin, name)
    return cut(s, args[0], args[1], 1, origin, name)


@folds(spread)
def fold_spread(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """The cotangent of each item of a sum is that of the sum, in the item's shape."""
    g, x = args
    if not isinstance(s.unit.definition(x), Pack):
        return None
    elements = s.unit.elements(x) or ()
    if not all(isinstance(s.unit.type(e), (t.Array, t.Scalar)) for e in (g, *elements)):
        return None
    return contained(s, x, [
        NONE if isinstance(e, Const) else s.call(Const(project), [g, e], {}, origin, "part")
        for e in elements
    ], origin, name)


@folds(repack)
def fold_repack(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """Cotangents of the names that a list was unpacked into, as a list."""
    parts, value = args[0], args[1]
    star = args[2] if len(args) > 2 else kwargs.get("star", Const(-1))
    elements = s.unit.elements(parts)
    if elements is None or not isinstance(star, Const) or star.value >= 0:
        return None
    if not isinstance(s.unit.type(value), t.List):
        return None
    return s.pack("list", elements, name, origin)


@folds(dict_of_adjoint)
def fold_dict_of_adjoint(
    s: Writer, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """The cotangents of the values of a dict are of the types of these."""
    if len(args) != 3 or kwargs:
        return None
    values = s.unit.type(args[2])
    item = values.item if isinstance(values, t.List) else t.UNKNOWN
    if isinstance(item, t.Scalar) and t.may_vary(item):
        item = t.join(item, t.Scalar(item.kind))
    elif not isinstance(item, t.Array) or not t.may_vary(item):
        return None
    call = Call(Const(dict_of_adjoint), tuple(args))
    return s.let(call, t.List(item), name, origin)
