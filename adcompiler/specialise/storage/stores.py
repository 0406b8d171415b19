"""Stores while specialising: what writes into an array, list, dict or object becomes a new value.

The functions here write the new value of what is written, and tell the heap. They stand for
``x[i] = v`` and its kin, whatever spelling they come from.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from adcompiler.analyses.storage import IN_PLACE, holds_storage, is_mutable
from adcompiler.frontend.replacements import setdefault
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Call, Const, Do, Item, Origin, Pack, Slice, Step, unstar, Var,
)
from adcompiler.runtime import accumulate, append, check_position, drop_last, keeps_shape
from adcompiler.specialise.folds.table import folds
from adcompiler.specialise.objects import make_record
from adcompiler.specialise.storage.aliases import rhs_is_record
from adcompiler.specialise.storage.heap import Heap
from adcompiler.specialise.storage.state import Reference
from adcompiler.specialise.writer import Writer

WHOLE = Const(Ellipsis)
PLAIN_SETATTR: tuple[Any, ...] = (object.__setattr__, SimpleNamespace.__setattr__)
MAX_ELEMENTS = 64
"""Lists of more elements are not kept apart element by element."""


def heap_of(s: Writer) -> Heap:
    """Return the heap of the code being specialised."""
    assert s.heap is not None, "rules do not write into what they are given"
    return s.heap


def refuse(s: Writer, atom: Atom, what: str, origin: Origin) -> Atom:
    """Report a store into a value of which too little is known."""
    shown = f"`{atom.name}`" if isinstance(atom, Var) and not atom.temporary else "the value"
    return s.reject(
        origin, f"{what} {shown}, of which the type is not known when compiling",
        "annotate it, or make it where its type can be seen", "unknown-writes",
    )


# -- subscripts ------------------------------------------------------------------------------------


@folds(operator.setitem)
def store_item(s: Writer, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Atom:
    """``obj[index] = value``."""
    obj, index, value = args
    type_ = s.unit.type(obj)
    if obj is UNDEF or value is UNDEF or not isinstance(obj, Var) or s.heap is None:
        return UNDEF if obj is UNDEF or value is UNDEF else not_assignable(s, type_, origin)
    step = Step("item", args=(index,))
    if isinstance(value, Var) and s.heap.identity(value) == s.heap.place(obj, step):
        return NONE  # x[i] += y has written it already
    if isinstance(type_, t.Array) and s.written_either(obj, origin, lambda part: store_item(
        s, [part, index, value], {}, origin, name
    )):
        return NONE
    match type_:
        case t.Array():
            store_in_array(s, obj, type_, step, value, origin)
        case t.List() | t.Dict():
            store_in_slot(s, obj, type_, step, value, origin)
        case t.Object(cls, _) if hasattr(cls, "__setitem__"):
            method = s.attribute(obj, "__setitem__", origin)
            s.call(method, [index, value], {}, origin, name)
        case t.Unknown():
            return refuse(s, obj, "writing into", origin)
        case _:
            return not_assignable(s, type_, origin)
    return NONE


def not_assignable(s: Writer, type_: t.Type, origin: Origin) -> Atom:
    return s.reject(
        origin, f"a value of type {type_} does not support item assignment",
        "make a new value", "array-writes",
    )


def store_in_array(
    s: Writer, obj: Var, type_: t.Array, step: Step, value: Atom, origin: Origin
) -> None:
    """Write ``obj[index] = value`` of an array."""
    heap = heap_of(s)
    if type_.kind == "other":
        refuse(s, obj, "writing into", origin)
        return
    if t.may_vary(s.unit.type(value)) and type_.kind == "float" and (
        getattr(s.unit.type(value), "kind", "") == "complex"
    ):
        value = s.attribute(value, "real", origin)
    if heap.reads_from(value, obj) and heap.sharing.copies(step.args[0]):
        if is_mask(s.unit.type(step.args[0])):
            # what NumPy reads there depends on which elements it has written by then
            s.reject(
                origin, "what is written where a mask is true is read from the same array",
                "write a copy of it: `x[mask] = y.copy()`", "aliases",
            )
            return
        value = s.call(Const(np.copy), [value], {}, origin, "value")
    added = summand(s, obj, type_, step, value, origin)
    if added is not None:
        heap.write(obj, (step,), added, origin, adds=True)
        return
    heap.write(obj, (step,), value, origin)


def is_mask(index: t.Type) -> bool:
    """Say whether values of this type are boolean masks when they are the whole subscript."""
    match index:
        case t.Array():
            return index.kind == "bool"
        case t.List(t.Scalar("bool")):
            return True
    return False


def summand(
    s: Writer, obj: Var, type_: t.Array, step: Step, value: Atom, origin: Origin
) -> Atom | None:
    """Return what a store adds to the number that it replaces, None if it is another store."""
    rhs = s.unit.definition(value)
    if type_.kind not in ("float", "complex") or not isinstance(rhs, Call) or not isinstance(
        rhs.func, Const
    ) or rhs.func.value not in (operator.add, operator.sub) or len(rhs.args) != 2:
        return None
    old, change = rhs.args
    read = s.unit.definition(old)  # type: ignore[arg-type]
    if not isinstance(read, Item) or read.index is not step.args[0] or read.obj is not obj:
        return None
    if not isinstance(s.unit.type(old), t.Scalar):  # type: ignore[arg-type]
        return None
    if not isinstance(change, (Var, Const)):
        return None
    s.unit.spared |= {unstar(old), value}
    if rhs.func.value is operator.add:
        return change
    return s.call(Const(operator.neg), [change], {}, origin, "change")


def store_in_slot(
    s: Writer, obj: Var, type_: t.List | t.Dict | t.Object, step: Step, value: Atom, origin: Origin
) -> None:
    """Give a slot of a container another object."""
    heap = heap_of(s)
    if step.kind == "item" and isinstance(s.unit.type(step.args[0]), t.SliceType):
        store_slice(s, obj, step.args[0], value, origin)
        return
    if isinstance(value, Var) and heap.identity(value) == heap.place(obj, step):
        return
    if step.kind == "item" and store_in_display(s, obj, step.args[0], value, origin):
        return
    if isinstance(type_, t.Object) and store_in_record(s, obj, type_, step.name, value, origin):
        return
    owned = heap.owns(value)
    there = heap.reference(obj)
    heap.write(obj, (step,), taken(s, there.root, value, owned, origin), origin, rebound=0)
    keep(heap, there.root, value, owned)


def taken(s: Writer, root: Var, value: Atom, owned: bool, origin: Origin) -> Atom:
    """Return what a container gets for a value: in loops a copy, if others hold it.

    The container stays exclusive so, and need not be copied as a whole by each iteration.
    """
    heap = heap_of(s)
    if not takes_copies(heap, root, value, owned):
        return value
    assert isinstance(value, Var)
    copy = heap.copy_to_write(value, s.unit.type(value), value.name, origin)
    s.unit.stored_copies[copy] = value
    return copy


def takes_copies(heap: Heap, root: Var, value: Atom, owned: bool) -> bool:
    """Say whether a container gets a copy for a value; see ``taken``."""
    s = heap.s
    return (
        not owned and s.unit.loops > 0 and isinstance(value, Var) and root not in heap.callers
        and isinstance(s.unit.type(value), t.Array) and not lies_in(heap, value, root)
    )


def keep(heap: Heap, root: Var, value: Atom, owned: bool) -> None:
    """Note that the latest value of a container refers to ``value``, which it takes over."""
    latest = heap.state.value(root)
    exclusive = heap.is_exclusive(latest)
    heap.join(root, value, within=True)
    heap.state.exclusive[latest] = exclusive and (
        owned or lies_in(heap, value, root) or takes_copies(heap, root, value, owned)
    )


def lies_in(heap: Heap, value: Atom, root: Var) -> bool:
    """Say whether a value is a part of what a root refers to, or was."""
    if not isinstance(value, Var) or heap.parts(value) is not None:
        return False
    there = heap.reference(value).root
    return root in (there, heap.s.unit.taken_out.get(there))


def store_in_display(s: Writer, obj: Var, index: Atom, value: Atom, origin: Origin) -> bool:
    """Write a list or dict of known elements anew; return False for others."""
    heap = heap_of(s)
    there = heap.reference(obj)
    latest = heap.state.value(there.root)
    if there.steps or there.root in heap.state.invalidated or not isinstance(latest, Var):
        return False
    rhs = s.unit.definition(latest)
    if not isinstance(rhs, Pack) or not isinstance(index, Const):
        return False
    type_ = s.unit.type(latest)
    if rhs.kind == "list":
        elements = s.unit.elements(latest)
        if elements is None or type(index.value) is not int or not (
            -len(elements) <= index.value < len(elements)
        ):
            return False
        items = list(elements)
        items[index.value] = value
        new = s.pack("list", tuple(items), latest.name, origin)
    elif rhs.kind == "dict" and isinstance(type_, t.Dict) and type_.keys is not None:
        known = zip(rhs.keys, rhs.items, strict=True)
        entries: list[tuple[Atom, Atom]] = [(k, v) for k, v in known]  # type: ignore[misc]
        new = s.pack_dict([*entries, (index, value)], origin, latest.name)
    else:
        return False
    renew(heap, there.root, new, origin)
    return True


def store_in_record(
    s: Writer, obj: Var, type_: t.Object, name: str, value: Atom, origin: Origin
) -> bool:
    """Write an instance of known attributes anew; return False for others."""
    heap = heap_of(s)
    there = heap.reference(obj)
    latest = heap.state.value(there.root)
    if there.root in heap.state.invalidated or not isinstance(latest, Var):
        return False
    rhs = s.unit.definition(latest)
    if there.steps or rhs is None or not rhs_is_record(rhs):
        if type_.field(name) is None:
            s.reject(
                origin, f"this gives an instance of {type_.cls.__name__} that was not made here "
                f"the new attribute `{name}`", "assign the attribute in `__init__`", "attributes",
            )
            return True
        return False
    fields = s.unit.fields(latest) or {}
    new = make_record(s, type_.cls, {**fields, name: value}, latest.name, origin)
    renew(heap, there.root, new, origin)
    return True


def renew(
    heap: Heap, root: Var, new: Atom, origin: Origin, rebound: int | None = 0,
    exclusive: bool | None = None, grown: tuple[int, ...] = (),
    made_of: tuple[tuple[Atom, bool], ...] = (),
) -> None:
    """Make a container that was written anew the latest value of its root.

    ``exclusive`` says whether nobody else held the former value. If the container holds storage,
    the new value is not exclusive in any case: it shares that storage with the former value.
    ``made_of`` are the objects it holds, and containers (those with True) of which it holds the
    items, where it is written in another way.
    """
    s = heap.s
    if not isinstance(new, Var):
        new = s.let(Call(Const(list), (new,)), s.unit.type(new), root.name, origin, False)
    heap.advance(root, new, rebound, origin, grown, False)
    heap.state.exclusive.pop(new, None)
    if made_of and heap.parts(new) is None:
        s.unit.rearranged[new] = made_of
    if exclusive is not None:
        heap.state.exclusive[new] = exclusive and not holds_storage(s.unit.type(new))


def store_slice(s: Writer, obj: Var, index: Atom, value: Atom, origin: Origin) -> None:
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


def part(s: Writer, items: Atom, lower: Atom, upper: Atom, origin: Origin) -> Atom:
    """Write ``items[lower:upper]``."""
    if isinstance(lower, Const) and isinstance(upper, Const):
        return s.item(items, Const(slice(lower.value, upper.value)), origin, "part")
    bounds = s.let(Slice(lower, upper, NONE), t.SLICE, "bounds", origin)
    return s.item(items, bounds, origin, "part")


def concatenated(s: Writer, a: Atom, b: Atom, origin: Origin) -> Atom:
    """Write the sum of two lists."""
    return s.call(Const(operator.add), [a, b], {}, origin, "items")


@folds(operator.delitem)
def delete_item(s: Writer, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Atom:
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
    return refuse_deletion(s, origin)


def check_that_item_exists(s: Writer, items: Atom, index: Const, origin: Origin) -> None:
    """Write the check that a list has the item that is to be removed, unless that is clear."""
    known, at = s.unit.elements(items), index.value
    if known is None or not isinstance(at, int) or not -len(known) <= at < len(known):
        s.out.append(Do(Call(Const(check_position), (items, index)), origin))


def counted_from_the_start(s: Writer, items: Atom, index: Atom, origin: Origin) -> Atom:
    """Return an index of a list as one that is not negative; an IndexError outside of the list."""
    if isinstance(index, Const):
        return index
    length = s.call(Const(len), [items], {}, origin, "length")
    return s.item(s.call(Const(range), [length], {}, origin, "positions"), index, origin, "index")


def following(s: Writer, items: Atom, index: Atom, origin: Origin) -> list[Atom]:
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


def refuse_iterated(s: Writer, there: Reference, origin: Origin) -> None:
    """Report a change of the length of a list that a loop runs over."""
    if s.heap is not None and any(
        over.root is there.root and len(there.steps) <= len(over.steps)
        for over in s.heap.iterating
    ):
        s.reject(
            origin, "this changes the length of the list that the loop runs over",
            "run over a copy: `for item in list(items)`", "in-place-containers",
        )


@folds(accumulate)
def accumulate_at(s: Writer, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Atom:
    """``np.add.at(obj, index, value)``: adds as often as an index occurs."""
    obj, index, value = args
    if not isinstance(obj, Var) or not isinstance(s.unit.type(obj), t.Array) or s.heap is None:
        return refuse(s, obj, "writing into", origin)
    if s.written_either(obj, origin, lambda part: accumulate_at(
        s, [part, index, value], {}, origin, name
    )):
        return NONE
    heap_of(s).write(obj, (Step("item", args=(index,)),), value, origin, adds=True)
    return NONE


# -- attributes ------------------------------------------------------------------------------------


@folds(setattr)
def store_attribute(s: Writer, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Atom:
    """``obj.name = value``."""
    obj: Atom
    field: Atom
    value: Atom
    obj, field, value = args
    type_ = s.unit.type(obj)
    if obj is UNDEF or value is UNDEF:
        return UNDEF
    if isinstance(type_, t.Array) and isinstance(field, Const) and s.heap is not None:
        return store_in_part(s, obj, field.value, value, origin)
    if not isinstance(type_, t.Object) or not isinstance(obj, Var) or s.heap is None or not (
        isinstance(field, Const)
    ):
        return refuse(s, obj, "assigning to an attribute of", origin)
    static = getattr(type_.cls, field.value, None)
    if isinstance(static, property) and static.fset is not None:
        setter = s.unit.static(
            static.fset, (("live", type_.cls), ("attr", field.value), ("attr", "fset"))
        )
        s.call(setter, [obj, value], {}, origin, name)
        return NONE
    if type_.cls.__setattr__ not in PLAIN_SETATTR or (hasattr(static, "__set__") and (
        not isinstance(static, property) and type(static).__name__ != "member_descriptor"
    )):
        return s.reject(
            origin, f"{type_.cls.__name__} has its own way of setting the attribute "
            f"`{field.value}`", "assign to a plain attribute", "attributes",
        )
    store_in_slot(s, obj, type_, Step("attr", field.value), value, origin)
    return NONE


def store_in_part(s: Writer, obj: Atom, name: str, value: Atom, origin: Origin) -> Atom:
    """``x.real = value``, ``x.imag = value`` of an array."""
    heap = heap_of(s)
    if name not in ("real", "imag"):
        return s.reject(
            origin, f"assigning to the attribute `{name}` of an array is not supported",
            "make a new array: x.reshape(...), x.astype(...)", "array-writes",
        )
    part = s.attribute(obj, name, origin)
    if heap.identity(value) is None or heap.identity(value) != heap.identity(part):
        store_item(s, [part, WHOLE, value], {}, origin, name)  # x.imag *= y has written already
    return NONE


# -- in-place operators ----------------------------------------------------------------------------


def write_in_place(
    s: Writer, function: Any, args: list[Any], origin: Origin, name: str
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
        return heap.current(x, origin)
    before = heap.state.value(there.root)
    result = operated_in_place(s, x, y, plain, type_, origin, name)
    note_in_place(s, there.root, before)
    return result


def note_in_place(s: Writer, root: Var, before: Atom) -> None:
    """Note that the latest value of a root is written by an operation that may raise afterwards."""
    latest = heap_of(s).state.value(root)
    if latest is not before and isinstance(latest, Var):
        s.unit.in_place.add(latest)


def operated_in_place(
    s: Writer, x: Var, y: Atom, plain: Any, type_: t.Array, origin: Origin, name: str
) -> Atom:
    """``x op= y`` of an array."""
    heap = heap_of(s)
    there = heap.reference(x)
    steps = there.steps
    found = s.type_of_call(plain, [x, y], {})
    if not steps and found == type_:
        new = s.call(Const(plain), [x, y], {}, origin, name)
        if not isinstance(new, Var):
            return new
        check_shape(s, x, new, origin)
        heap.advance(there.root, new, None, origin)
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
        heap.write(x, where, change, origin, adds=True)
        return x
    value = s.call(Const(plain), [x, y], {}, origin, name)
    heap.write(x, where, value, origin)
    return x


def is_part_of_array(s: Writer, x: Var) -> bool:
    """Say whether an array is read as ``array[index]``, so that a store there writes into it."""
    read = s.unit.definition(x)
    return isinstance(read, Item) and isinstance(s.unit.type(read.obj), t.Array)


def check_shape(s: Writer, old: Var, new: Var, origin: Origin) -> None:
    """Write the check that writing in place is possible: the shape stays."""
    unit = s.unit
    type_ = unit.type(old)
    if not isinstance(type_, t.Array) or unit.shape_class(old) == unit.shape_class(new):
        return
    shapes = []
    for array in (old, new):
        shape = s.let(Attribute(array, "shape"), t.Tuple((t.INT,) * type_.ndim), "shape", origin)
        unit.evidence.add(shape)
        shapes.append(shape)
    s.out.append(Do(Call(Const(keeps_shape), tuple(shapes)), origin))
    unit.shapes[new] = unit.shape_class(old)


# -- lists -----------------------------------------------------------------------------------------


def extend(s: Writer, x: Var, items: Atom, origin: Origin) -> Atom:
    """``x.extend(items)``."""
    heap = heap_of(s)
    there = heap.reference(x)
    if there.steps:
        return refuse_nested(s, "extend", origin)
    more = s.call(Const(list), [items], {}, origin, "more")
    owned = heap.owns(x)
    refuse_iterated(s, there, origin)
    new = concatenated(s, x, more, origin)
    renew(
        heap, there.root, new, origin, None, exclusive=None if heap.parts(new) else owned,
        grown=(0,),
    )
    if heap.parts(new) is None:
        keep(heap, there.root, more, heap.owns(more))
    return NONE


def refuse_nested(s: Writer, method: str, origin: Origin) -> Atom:
    return s.reject(
        origin, f"`.{method}()` of a list inside another container is not supported",
        "take the list out, change it, and store it again", "in-place-containers",
    )


def call_list_method(
    s: Writer, obj: Var, method: str, args: list[Any], kwargs: Mapping[str, Atom], origin: Origin,
    name: str,
) -> Atom:
    """Write the call of a method that changes a list."""
    heap = heap_of(s)
    there = heap.reference(obj)
    root = there.root
    if root in heap.state.invalidated:
        return heap.refuse_lost(obj, root, origin)
    if method not in ("sort", "reverse"):
        refuse_iterated(s, there, origin)
    if method == "append" and len(args) == 1:
        append_to(s, obj, args[0], origin)
        return NONE
    if method == "extend" and len(args) == 1:
        return extend(s, obj, args[0], origin)
    if there.steps:
        return refuse_nested(s, method, origin)
    owned = heap.owns(obj)
    type_ = s.unit.type(obj)
    if method == "pop":
        return pop_from(s, obj, args, origin, name)
    if method == "clear":
        renew(heap, root, s.pack("list", (), obj.name, origin), origin)
        return NONE
    if method == "insert" and len(args) == 2:
        inserted = s.pack("list", (args[1],), "inserted", origin)
        new = concatenated(s, part(s, obj, NONE, args[0], origin), inserted, origin)
        new = concatenated(s, new, part(s, obj, args[0], NONE, origin), origin)
        renew(
            heap, root, new, origin, exclusive=None if heap.parts(new) else owned,
            made_of=((obj, True), (args[1], False)),
        )
        if heap.parts(new) is None:
            keep(heap, root, args[1], heap.owns(args[1]))
        return NONE
    if method == "reverse":
        new = s.item(obj, Const(slice(None, None, -1)), origin, obj.name)
        renew(heap, root, new, origin, exclusive=None if heap.parts(new) else owned)
        return NONE
    if method == "sort":
        new = s.call(Const(sorted), [obj], dict(kwargs), origin, obj.name)
        if isinstance(new, Var) and isinstance(s.unit.type(new), t.Unknown):
            s.unit.types[new] = type_
        renew(heap, root, new, origin, exclusive=owned)
        return NONE
    if method == "remove" and len(args) == 1 and not t.may_vary(s.unit.type(args[0])):
        index = s.call(s.attribute(obj, "index", origin), [args[0]], {}, origin, "index")
        return delete_item(s, [obj, index], {}, origin, name)
    return s.reject(
        origin, f"this call of `.{method}()` of a list is not supported",
        "make a new list, by a comprehension or a display: [*items, item]", "in-place-containers",
    )


def append_to(s: Writer, obj: Var, value: Atom, origin: Origin) -> None:
    """``obj.append(value)``."""
    heap = heap_of(s)
    there = heap.reference(obj)
    latest = heap.state.value(there.root)
    elements = s.unit.elements(latest)
    if not there.steps and elements is not None and len(elements) < MAX_ELEMENTS and isinstance(
        latest, Var
    ):
        renew(heap, there.root, s.pack("list", (*elements, value), latest.name, origin), origin,
              None)
        return
    owned = heap.owns(value)
    if there.steps:
        inner = appended(s, obj, value, origin)
        if isinstance(inner, Var) and heap.parts(inner) is None:
            s.unit.rearranged[inner] = ((value, False),)  # the others were there before
        heap.write(obj, (), inner, origin, grown=(len(there.steps),))
    else:
        base = heap.exclusive_value(there.root, origin)
        if not isinstance(s.unit.type(base), t.List):
            refuse(s, obj, "appending to", origin)
            return
        value_held = taken(s, there.root, value, owned, origin)
        new = s.let(
            Call(Const(append), (base, value_held)), appended_type(s, base, value), obj.name,
            origin, False,
        )
        exclusive = heap.is_exclusive(base)
        heap.advance(there.root, new, None, origin, (0,), False)
        heap.state.exclusive[new] = exclusive
    keep(heap, there.root, value, owned)


def appended(s: Writer, items: Atom, value: Atom, origin: Origin) -> Atom:
    """Write a new list with one more item."""
    more = s.pack("list", (value,), "more", origin)
    return concatenated(s, items, more, origin)


def appended_type(s: Writer, items: Atom, value: Atom) -> t.Type:
    type_ = s.unit.type(items)
    assert isinstance(type_, t.List)
    joined = t.join(type_.item, s.unit.type(value))
    return t.List(t.UNKNOWN if isinstance(joined, t.Static) else joined)


def pop_from(s: Writer, obj: Var, args: list[Any], origin: Origin, name: str) -> Atom:
    """``obj.pop(index)``."""
    heap = heap_of(s)
    root = heap.reference(obj).root
    index: Atom = args[0] if args else Const(-1)
    item = s.item(obj, index, origin, name)
    if isinstance(item, Var) and is_mutable(s.unit.type(item)) and (
        heap.reference(item).steps and heap.reference(item).root is root
    ):
        heap.detach(item, root)
        s.unit.popped.add(item)
    if isinstance(index, Const) and index.value == -1 and s.unit.elements(obj) is None:
        base = heap.exclusive_value(root, origin)
        new = s.let(Call(Const(drop_last), (base,)), s.unit.type(base), obj.name, origin, False)
        heap.advance(root, new, 0, origin, content=False)
        heap.state.exclusive[new] = True
    else:
        delete_item(s, [obj, index], {}, origin, name)
    return item


# -- dicts -----------------------------------------------------------------------------------------


def call_dict_method(
    s: Writer, obj: Var, method: str, args: list[Any], kwargs: Mapping[str, Atom], origin: Origin,
    name: str,
) -> Atom:
    """Write the call of a method that changes a dict."""
    type_ = s.unit.type(obj)
    assert isinstance(type_, t.Dict)
    heap = heap_of(s)
    known = args[0].value if args and isinstance(args[0], Const) else None
    if method == "update":
        entries: list[tuple[Atom, Atom]] = []
        for other in args:
            other_type = s.unit.type(other)
            if not isinstance(other_type, t.Dict) or other_type.keys is None:
                return refuse_dict(s, method, origin)
            entries += [(Const(k), s.item(other, Const(k), origin, str(k)))
                        for k in other_type.keys]
        entries += [(Const(key), value) for key, value in kwargs.items()]
        for key, value in entries:
            latest = heap.current(obj, origin)
            store_item(s, [latest, key, value], {}, origin, name)
        return NONE
    if type_.keys is not None and method == "pop" and args:
        if isinstance(args[0], Const) and known in type_.keys:
            item = s.item(obj, args[0], origin, name)
            delete_item(s, [obj, args[0]], {}, origin, name)
            return item
        if isinstance(args[0], Const) and len(args) > 1:
            return cast(Atom, args[1])
    if type_.keys is not None and method == "setdefault" and args and isinstance(args[0], Const):
        if known in type_.keys:
            return s.item(obj, args[0], origin, name)
        value = args[1] if len(args) > 1 else NONE
        store_item(s, [obj, args[0], value], {}, origin, name)
        return value
    if method == "setdefault" and args:
        return s.call(Const(setdefault), [obj, *args], {}, origin, name)
    if method == "clear" and not heap.reference(obj).steps:
        renew(heap, heap.reference(obj).root, s.pack_dict([], origin, obj.name), origin)
        return NONE
    return refuse_dict(s, method, origin)


def refuse_dict(s: Writer, method: str, origin: Origin) -> Atom:
    return s.reject(
        origin, f"`.{method}()` of a dict whose keys are not known when compiling",
        "store the entries one by one: table[key] = value", "in-place-containers",
    )
