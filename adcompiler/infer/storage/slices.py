"""Slices of lists that are stored, and items that are deleted: lists that change their length."""

from __future__ import annotations

import operator

from adcompiler.analyses.storage import is_mutable
from adcompiler.prelude.dicts import without_key
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Call, Const, Do, Origin, Slice, Var
from adcompiler.runtime import check_position
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.storage.container_fields import heap_of, refuse_iterated, renew
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer


def store_slice(s: Operations, obj: Var, index: Atom, value: Atom, origin: Origin) -> None:
    """Write ``items[a:b] = value`` of a list."""
    heap = heap_of(s)
    bounds = slice_bounds(s, index)
    there = heap.reference(obj)
    if bounds is None or bounds[2] is not NONE or there.steps:
        s.reject(
            origin, "writing to a slice with a step of a list, or of a list inside another value, "
            "is not supported",
            "write the items one by one", "in-place-containers",
        )
        return
    items = s.call(Const(list), [value], {}, origin, "items")
    lower, upper, _ = bounds
    if lower is not NONE:
        items = concatenated(s, part(s, obj, NONE, lower, origin), items, origin)
    if upper is not NONE:
        items = concatenated(s, items, part(s, obj, upper, NONE, origin), origin)
    renew(heap, there.root, items, origin, made_of=((obj, True), (value, True)))
    heap.join(there.root, value)


def slice_bounds(s: Writer, index: Atom) -> tuple[Atom, Atom, Atom] | None:
    """Return the bounds of a slice."""
    if isinstance(index, Const) and isinstance(index.value, slice):
        value = index.value
        return tuple(NONE if p is None else Const(p) for p in (  # type: ignore[return-value]
            value.start, value.stop, value.step))
    rhs = s.unit.definition(index)
    if isinstance(rhs, Slice):
        return tuple(  # type: ignore[return-value]
            NONE if isinstance(p, Const) and p.value is None else p
            for p in (rhs.lower, rhs.upper, rhs.step)
        )
    return None


def part(s: Operations, items: Atom, lower: Atom, upper: Atom, origin: Origin) -> Atom:
    """Write ``items[lower:upper]``."""
    if isinstance(lower, Const) and isinstance(upper, Const):
        return s.item(items, Const(slice(lower.value, upper.value)), origin, "part")
    bounds = s.let(Slice(lower, upper, NONE), t.SLICE, "bounds", origin)
    return s.item(items, bounds, origin, "part")


def concatenated(s: Operations, a: Atom, b: Atom, origin: Origin) -> Atom:
    """Write the sum of two lists."""
    return s.call(Const(operator.add), [a, b], {}, origin, "items")


@folds(operator.delitem)
def delete_item(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """``del obj[index]``."""
    obj, index = args
    type_ = s.unit.type(obj)
    if obj is UNDEF or not isinstance(obj, Var) or s.heap is None:
        return UNDEF
    heap = heap_of(s)
    there = heap.reference(obj)
    if isinstance(type_, t.List) and not there.steps:
        bounds = slice_bounds(s, index)
        if bounds is None:
            if isinstance(index, Const):
                check_that_item_exists(s, obj, index, origin)
                if not hasattr(index.value, "__index__"):
                    return NONE  # the check raises
            index = counted_from_the_start(s, obj, index, origin)
            whole = part(s, obj, NONE, index, origin)
            after = following(s, obj, index, origin)
        elif bounds[2] is NONE:
            whole = part(s, obj, NONE, bounds[0] if bounds[0] is not NONE else Const(0), origin)
            after = [] if bounds[1] is NONE else [part(s, obj, bounds[1], NONE, origin)]
        else:
            return refuse_deletion(s, origin)
        for rest in after:
            whole = concatenated(s, whole, rest, origin)
        refuse_iterated(s, there, origin)
        renew(
            heap, there.root, whole, origin, exclusive=heap.owns(obj), made_of=((obj, True),)
        )
        return NONE
    if isinstance(type_, t.Dict) and type_.keys is not None and isinstance(index, Const) and (
        not there.steps and index.value in type_.keys
    ):
        kept: list[tuple[Atom, Atom]] = [
            (Const(k), s.item(obj, Const(k), origin, str(k)))
            for k in type_.keys if k != index.value
        ]
        owned = heap.owns(obj)
        renew(heap, there.root, s.pack_dict(kept, origin, obj.name), origin, exclusive=owned)
        return NONE
    if isinstance(type_, t.Dict) and not there.steps and not any(map(is_mutable, type_.items)):
        refuse_iterated(s, there, origin)
        left = s.call(Const(without_key), [obj, index], {}, origin, obj.name)
        renew(heap, there.root, left, origin, exclusive=heap.owns(obj))
        return NONE
    return refuse_deletion(s, origin)


def check_that_item_exists(s: Writer, items: Atom, index: Const, origin: Origin) -> None:
    """Write the check that a list has the item that is to be removed, unless that is clear."""
    known, at = s.unit.elements(items), index.value
    if known is None or not isinstance(at, int) or not -len(known) <= at < len(known):
        s.out.append(Do(Call(Const(check_position), (items, index)), origin))


def counted_from_the_start(s: Operations, items: Atom, index: Atom, origin: Origin) -> Atom:
    """Return an index of a list as one that is not negative; an IndexError outside of the list."""
    if isinstance(index, Const):
        return index
    length = s.call(Const(len), [items], {}, origin, "length")
    return s.item(s.call(Const(range), [length], {}, origin, "positions"), index, origin, "index")


def following(s: Operations, items: Atom, index: Atom, origin: Origin) -> list[Atom]:
    """Return what comes after one item of a list, unless that is the last one."""
    if isinstance(index, Const) and index.value == -1:
        return []
    if isinstance(index, Const):
        return [part(s, items, Const(index.value + 1), NONE, origin)]
    after = s.call(Const(operator.add), [index, Const(1)], {}, origin, "after")
    return [part(s, items, after, NONE, origin)]


def refuse_deletion(s: Writer, origin: Origin) -> Atom:
    return s.reject(
        origin, "this deletion is not supported: only items and plain slices of lists, and keys "
        "of dicts that are known when compiling",
        "make a new list or dict without the entry", "in-place-containers",
    )
