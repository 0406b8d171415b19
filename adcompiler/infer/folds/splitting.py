"""``np.split`` and ``np.einsum`` of one array: views, so that what is written there is in it."""

from __future__ import annotations


import numpy as np

from adcompiler.prelude.along_arrays import equal_length, length_up_to
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const, Origin, Slice, Star
from adcompiler.ir.operators import BY_SIGN
from adcompiler.runtime.adjoints.shaping import diagonal_view
from adcompiler.infer.folds.table import folds
from adcompiler.infer.interface import Operations

MOST = 16
"""How many pieces are written out one by one."""
FULL = Const(slice(None))


@folds(np.split, same_layout=True)
def fold_split(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Pieces of equal length, or between indices."""
    return pieces(s, args, kwargs, origin, name, True)


@folds(np.array_split, same_layout=True)
def fold_array_split(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Pieces of which the first may be longer by one, or between indices."""
    return pieces(s, args, kwargs, origin, name, False)


@folds(np.hsplit, same_layout=True)
def fold_hsplit(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """``np.split`` along the second axis, or the only one."""
    type_ = s.unit.type(args[0]) if args and not isinstance(args[0], Star) else None
    axis = 1 if isinstance(type_, t.Array) and type_.ndim > 1 else 0
    return pieces(s, args, kwargs, origin, name, True, axis)


@folds(np.vsplit, same_layout=True)
def fold_vsplit(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """``np.split`` of what has two axes at least, along the first one."""
    return pieces(s, args, kwargs, origin, name, True, 0, 2)


@folds(np.dsplit, same_layout=True)
def fold_dsplit(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """``np.split`` of what has three axes at least, along the third one."""
    return pieces(s, args, kwargs, origin, name, True, 2, 3)


def pieces(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str,
    equal: bool, axis: int | None = None, least: int = 1,
) -> Atom | None:
    """Write the list of pieces; None where it is not known how many there are, or of what."""
    given = bound(args, kwargs, axis is None)
    if s.heap is None or s.in_rule or given is None:
        return None
    array, sections, along = given
    type_ = s.unit.type(array)
    if axis is None:
        axis = along.value if isinstance(along, Const) and type(along.value) is int else None
    if not isinstance(type_, t.Array) or axis is None or type_.ndim < least or not (
        -type_.ndim <= axis < type_.ndim
    ):
        return None
    axis %= type_.ndim
    ends = ends_of(s, array, sections, axis, equal, origin)
    if ends is None:
        return None
    starts = [Const(0), *ends]
    parts = []
    for start, end in zip(starts, [*ends, NONE], strict=True):
        bounds = Const(slice(start.value, end.value)) if isinstance(start, Const) and isinstance(
            end, Const) else s.let(Slice(start, end, NONE), t.SLICE, "bounds", origin)
        key = bounds if axis == 0 else s.pack("tuple", (*[FULL] * axis, bounds), "key", origin)
        parts.append(s.item(array, key, origin, "part"))
    return s.pack("list", tuple(parts), name, origin)


def bound(
    args: list[Atom], kwargs: dict[str, Atom], takes_axis: bool
) -> tuple[Atom, Atom, Atom] | None:
    """Return the array, the sections and the axis of a call, None if it does not fit."""
    names = ("ary", "indices_or_sections", *(("axis",) if takes_axis else ()))
    if any(isinstance(arg, Star) for arg in args) or kwargs.keys() - set(names[len(args):]):
        return None
    found = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or "ary" not in found or "indices_or_sections" not in found:
        return None
    return found["ary"], found["indices_or_sections"], found.get("axis", Const(0))


def ends_of(
    s: Operations, array: Atom, sections: Atom, axis: int, equal: bool, origin: Origin
) -> list[Atom] | None:
    """Return where all pieces but the last one end, None if it is not known."""
    if isinstance(sections, Const) and type(sections.value) is int:
        if not 1 <= sections.value <= MOST:
            return None
        length = s.item(s.attribute(array, "shape", origin), Const(axis), origin, "length")
        if equal:
            each = s.call(Const(equal_length), [length, sections], {}, origin, "length")
            return [
                each if k == 1 else s.call(Const(BY_SIGN["*"]), [each, Const(k)], {}, origin, "end")
                for k in range(1, sections.value)
            ]
        return [
            s.call(Const(length_up_to), [length, sections, Const(k)], {}, origin, "end")
            for k in range(1, sections.value)
        ]
    if isinstance(sections, Const) and isinstance(sections.value, (list, tuple)):
        if not all(type(end) is int for end in sections.value):
            return None
        return list(map(Const, sections.value)) if len(sections.value) < MOST else None
    found = s.unit.elements(sections)
    if found is None or len(found) >= MOST or any(
        isinstance(end, Star) or s.unit.type(end) != t.INT for end in found
    ):
        return None
    return list(found)



@folds(np.einsum, same_layout=True)
def fold_view(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """``np.einsum("ii->i", x)`` gives a view of ``x``, as it adds nothing up."""
    if s.heap is None or s.in_rule or kwargs or len(args) != 2:
        return None
    text, array = args
    if not isinstance(text, Const) or not isinstance(text.value, str):
        return None
    before, arrow, after = text.value.replace(" ", "").partition("->")
    type_ = s.unit.type(array)
    letters = (before + after).isalpha() and set(before) == set(after)
    if not arrow or not letters or len(set(after)) != len(after) or not (
        isinstance(type_, t.Array) and type_.ndim == len(before)
    ):
        return None
    return s.call(Const(diagonal_view), [array, Const(f"{before}->{after}")], {}, origin, name)
