"""Stores while specialising: what writes into an array, list, dict or object becomes a new value.

The functions here write the new value of what is written, and tell the heap. They stand for
``x[i] = v`` and its kin, whatever spelling they come from.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Call, Const, Do, Item, Let, Origin, Step, Var, unstar,
)
from adcompiler.ir.operators import IN_PLACE
from adcompiler.runtime import accumulate
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.calls.constructors import is_generated
from adcompiler.infer.calls.operator_methods import has_text
from adcompiler.infer.calls.sparse_matrices import refuse_part
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.objects import call_raw, dict_owner, find_raw
from adcompiler.infer.storage.slices import store_slice
from adcompiler.infer.storage.container_fields import (
    heap_of, keep, refuse, refuse_itself, store_in_display, store_in_record, taken,
)
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.values import stand_in

WHOLE = Const(Ellipsis)


@folds(operator.setitem)
def store_item(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Atom:
    """``obj[index] = value``."""
    obj, index, value = args
    type_ = s.unit.type(obj)
    owner = dict_owner(s.unit, obj)
    if owner is not None and isinstance(index, Const) and isinstance(index.value, str):
        return store_plainly(s, [owner, index, value], {}, origin, name)
    if obj is UNDEF or value is UNDEF or not isinstance(obj, Var) or s.heap is None:
        return UNDEF if obj is UNDEF or value is UNDEF else not_assignable(s, type_, origin)
    step = Step("item", args=(index,))
    if isinstance(value, Var) and s.heap.identity(value) == s.heap.place(obj, step):
        return NONE  # x[i] += y has written it already
    if isinstance(type_, t.Array) and no_subscript(s.unit.type(index)):
        s.out.append(Do(Item(s.heap.reading.current(obj, origin), index), origin))  # raises
        return NONE
    if isinstance(type_, t.Array):
        value = augmented(s, obj, step, value, origin)
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
    return s.raise_if_reached(
        TypeError, f"a value of type {type_} does not support item assignment",
        "make a new value", "array-writes", origin,
    )


def store_in_array(
    s: Operations, obj: Var, type_: t.Array, step: Step, value: Atom, origin: Origin
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
    if heap.reads_from(value, obj) and not heap.sharing.is_basic(step.args[0]):
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
        heap.writing.write(obj, (step,), added, origin, adds=True)
        return
    heap.writing.write(obj, (step,), value, origin)


def augmented(s: Operations, obj: Var, step: Step, value: Atom, origin: Origin) -> Atom:
    """Return ``obj[index] op value`` for the value ``obj[index] op= value`` that was just made.

    Whether ``obj[index]`` is a view may not be known. In either case it is what the store leaves.
    """
    made, heap = s.out[-1] if s.out else None, heap_of(s)
    match made:
        case Let(target, Call(Const(function), (Var() as old, change), ())) if (
            target is value and any(function is other for other in IN_PLACE)
        ):
            read = s.unit.definition(old)
            if isinstance(read, Item) and read.index == step.args[0] and (
                isinstance(read.obj, Var) and heap.reference(read.obj) == heap.reference(obj)
            ):
                s.out.pop()
                return s.call(Const(IN_PLACE[function]), [old, change], {}, origin, "new")
    return value


def no_subscript(index: t.Type) -> bool:
    """Say whether arrays cannot have a subscript of this type: of floats, or with them."""
    if isinstance(index, t.Tuple):
        return any(map(no_subscript, index.items))
    if isinstance(index, t.Scalar) and not index.exact:
        return False
    return isinstance(index, t.Array | t.Scalar) and index.kind in ("float", "complex")


def is_mask(index: t.Type) -> bool:
    """Say whether values of this type are boolean masks when they are the whole subscript."""
    match index:
        case t.Array():
            return index.kind == "bool"
        case t.List(t.Scalar("bool")):
            return True
    return False


def summand(
    s: Operations, obj: Var, type_: t.Array, step: Step, value: Atom, origin: Origin
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
    s.unit.writes.spared |= {unstar(old), value}
    if rhs.func.value is operator.add:
        return change
    return s.call(Const(operator.neg), [change], {}, origin, "change")


def store_in_slot(
    s: Operations, obj: Var, type_: t.List | t.Dict | t.Object, step: Step, value: Atom,
    origin: Origin,
) -> None:
    """Give a slot of a container another object."""
    heap = heap_of(s)
    if step.kind == "item" and isinstance(s.unit.type(step.args[0]), t.SliceType):
        store_slice(s, obj, step.args[0], value, origin)
        return
    if isinstance(value, Var) and heap.identity(value) == heap.place(obj, step):
        return
    if not isinstance(type_, t.Object) and refuse_itself(
        heap, heap.reference(obj).root, value, origin
    ):
        return
    if step.kind == "item" and store_in_display(s, obj, step.args[0], value, origin):
        return
    if isinstance(type_, t.Object) and store_in_record(s, obj, type_, step.name, value, origin):
        return
    owned = heap.owns(value)
    there = heap.reference(obj)
    heap.writing.write(obj, (step,), taken(s, there.root, value, owned, origin), origin, rebound=0)
    keep(heap, there.root, value, owned)


@folds(accumulate)
def accumulate_at(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Atom:
    """``np.add.at(obj, index, value)``: adds as often as an index occurs."""
    obj, index, value = args
    if not isinstance(obj, Var) or not isinstance(s.unit.type(obj), t.Array) or s.heap is None:
        return refuse(s, obj, "writing into", origin)
    if s.written_either(obj, origin, lambda part: accumulate_at(
        s, [part, index, value], {}, origin, name
    )):
        return NONE
    heap_of(s).writing.write(obj, (Step("item", args=(index,)),), value, origin, adds=True)
    return NONE


@folds(setattr)
def store_attribute(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Atom:
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
    if isinstance(type_, t.FunctionType) and isinstance(field, Const) and isinstance(value, Const):
        return store_in_function(s, obj, type_.function, field, value, origin)
    if isinstance(type_, t.Scalar) and isinstance(field, Const) and not any(
        hasattr(stand_in(one, 1), field.value) for one in type_.alternatives
    ):
        problem = f"'{type(stand_in(type_, 1)).__name__}' object has no attribute {field.value!r}"
        return s.raise_(AttributeError, problem, origin)
    if not isinstance(type_, t.Object) or not isinstance(obj, Var) or s.heap is None or not (
        isinstance(field, Const)
    ):
        return refuse(s, obj, "assigning to an attribute of", origin)
    if refuse_part(s, type_, field.value, origin):
        return UNDEF
    own = find_raw(type_.cls, "__setattr__")
    if own is not None and has_text(own[1]) and not is_generated(own[1]):
        call_raw(s, obj, type_.cls, "__setattr__", own, [field, value], {}, origin, name)
        return NONE
    if own is not None and is_generated(own[1]):  # a frozen dataclass
        return refuse_setting(s, type_, field.value, origin)
    return store_plainly(s, [obj, field, value], kwargs, origin, name)


@folds(object.__setattr__)
def store_plainly(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Atom:
    """``object.__setattr__(obj, name, value)``."""
    obj: Atom
    field: Atom
    value: Atom
    obj, field, value = args
    type_ = s.unit.type(obj)
    if not isinstance(type_, t.Object) or not isinstance(obj, Var) or s.heap is None or not (
        isinstance(field, Const)
    ):
        return refuse(s, obj, "assigning to an attribute of", origin)
    static = getattr(type_.cls, field.value, None)
    if isinstance(static, property) and static.fset is not None:
        setter = s.unit.relied.static(
            static.fset, (("live", type_.cls), ("attr", field.value), ("attr", "fset"))
        )
        s.call(setter, [obj, value], {}, origin, name)
        return NONE
    if not is_record_class(type_.cls) or (hasattr(static, "__set__") and (
        not isinstance(static, property) and type(static).__name__ != "member_descriptor"
    )):
        return refuse_setting(s, type_, field.value, origin)
    store_in_slot(s, obj, type_, Step("attr", field.value), value, origin)
    return NONE


def refuse_setting(s: Writer, type_: t.Object, name: str, origin: Origin) -> Atom:
    """Report an attribute that is not stored in the instance as it is."""
    return s.reject(
        origin, f"{type_.cls.__name__} has its own way of setting the attribute `{name}`",
        "assign to a plain attribute", "attributes",
    )


def store_in_function(
    s: Writer, obj: Atom, function: Callable[..., Any], field: Const, value: Const, origin: Origin
) -> Atom:
    """``f.name = value`` of a function that is made here: once, with a value known when compiling.

    So no derivative goes through it, and what reads it may be moved.
    """
    given = s.unit.calls.attributed.setdefault(function, set())
    if field.value in given:
        return refuse(s, obj, "assigning again to an attribute of", origin)
    given.add(field.value)
    s.out.append(Do(Call(Const(setattr), (obj, field, value)), origin))
    return NONE


def store_in_part(s: Operations, obj: Atom, name: str, value: Atom, origin: Origin) -> Atom:
    """``x.real = value``, ``x.imag = value`` of an array."""
    heap = heap_of(s)
    if not hasattr(np.ndarray, name):
        problem = f"'numpy.ndarray' object has no attribute {name!r}"
        return s.raise_(AttributeError, problem, origin)
    if name not in ("real", "imag"):
        return s.reject(
            origin, f"assigning to the attribute `{name}` of an array is not supported",
            "make a new array: x.reshape(...), x.astype(...)", "array-writes",
        )
    part = s.attribute(obj, name, origin)
    if heap.identity(value) is None or heap.identity(value) != heap.identity(part):
        store_item(s, [part, WHOLE, value], {}, origin, name)  # x.imag *= y has written already
    return NONE


# -- dicts -----------------------------------------------------------------------------------------
