"""Attributes that an instance is first given in a loop, or in one arm of a branch.

Behind it the instance may have such an attribute, or not. So it is given one in front, of no
meaning, and beside it a field that tells whether the program has assigned it. What reads the
attribute asks that first. Instances with such fields stay inside of the code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, Origin, Update, Var
from adcompiler.runtime import check_attribute
from adcompiler.runtime.records import is_record_class, slots_of
from adcompiler.specialise.objects import class_data, find_raw, held_by, late_flag, make_record
from adcompiler.specialise.storage.slots import renew, was_made_here
from adcompiler.specialise.storage.state import State
from adcompiler.specialise.writer import Writer
from adcompiler.typed.late import has_flags, named_flag

T = TypeVar("T")
ZEROS = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}
MOST = 4
"""How often a loop or branch is written anew as it gives instances more attributes."""


class LateAttributes(Exception):
    """Instances get attributes in a region that they lack in front of it: roots, names, types."""

    def __init__(self, found: dict[Var, dict[str, t.Type]]) -> None:
        super().__init__()
        self.found = found


def with_declared(s: Writer, write: Callable[[], T], origin: Origin) -> T:
    """Write a loop or branch, anew each time that instances turn out to get attributes in it."""
    heap, start, findings = s.heap, len(s.out), len(s.unit.findings)
    for _ in range(MOST if heap is not None else 0):
        assert heap is not None
        before, references = heap.state.copy(), dict(heap.references)
        try:
            return write()
        except LateAttributes as late:
            del s.out[start:], s.unit.findings[findings:]
            heap.state, heap.references = before, references
            declare(s, late, origin)
            start = len(s.out)
    return write()


def late_attributes(
    s: Writer, before: State, states: Iterable[State | None]
) -> dict[Var, dict[str, t.Type]]:
    """Return the attributes that a region, or some ways through it, gave instances."""
    found: dict[Var, dict[str, t.Type]] = {}
    ended = [state for state in states if state is not None]
    if s.heap is None:
        return found
    for root in {root: None for state in ended for root in state.latest}:
        start = s.unit.type(before.value(root))
        if not s.heap.is_outer(root) or not isinstance(start, t.Object):
            continue
        late: dict[str, t.Type] = {}
        for state in ended:
            type_ = s.unit.type(state.value(root))
            if isinstance(type_, t.Object) and type_.cls is start.cls:
                for name, field in type_.fields:
                    if start.field(name) is None and is_plain(start.cls, name):
                        late[name] = t.join(late.get(name, t.BOTTOM), field)
        if late and may_declare(s, root, start.cls, before) and all(
            map(can_stand, late.values())
        ):
            found[root] = late
    return found


def is_plain(cls: type, name: str) -> bool:
    """Say whether a class has no more than data for an attribute that an instance lacks."""
    found = find_raw(cls, name)
    return find_raw(cls, "__getattr__") is None and (
        found is None or not hasattr(type(found[1]), "__get__"))


def raise_if_late(
    s: Writer, arms: Sequence[tuple[object, object]], states: Sequence[State | None]
) -> None:
    """Raise ``LateAttributes`` if the arms of a branch give an instance different attributes."""
    heap = s.heap
    ended = [state for (_, yields), state in zip(arms, states, strict=True) if yields is not None]
    if heap is None or len(ended) < 2:
        return
    heap.level += 1
    late = late_attributes(s, heap.state, ended)
    heap.level -= 1
    late = {root: names for root, names in late.items() if len({
        tuple(name for name, _ in getattr(s.unit.type(state.value(root)), "fields", ()))
        for state in ended if state is not None
    }) > 1}
    if late:
        raise LateAttributes(late)


def may_declare(s: Writer, root: Var, cls: type, before: State) -> bool:
    """Say whether attributes of an instance may be made in front of where they are assigned."""
    return (
        was_made_here(s, root) and root not in before.invalidated and is_record_class(cls)
        and not slots_of(cls) and isinstance(before.value(root), Var)
    )


def can_stand(type_: t.Type) -> bool:
    """Say whether there is a value of no meaning of a type."""
    match type_:
        case t.Scalar():
            return True
        case t.Array():
            return type_.kind in ZEROS
        case t.Tuple(items, cls):
            return cls is tuple and all(map(can_stand, items))
    return isinstance(type_, (t.Text, t.List)) or type_ == t.NONE_TYPE


def standing_in(s: Writer, type_: t.Type, origin: Origin) -> Atom:
    """Write a value of no meaning of a type."""
    match t.widest(type_):
        case t.Scalar(kind, dtype):
            zero, made = Const(ZEROS[kind]), None if dtype is None else np.dtype(dtype).type
            return zero if made is None else s.call(Const(made), [zero], {}, origin, "nothing")
        case t.Array(dtype, ndim):
            of: dict[str, Atom] = {"dtype": Const(np.dtype(dtype))}
            return s.call(Const(np.zeros), [Const((0,) * ndim)], of, origin, "nothing")
        case t.Tuple(items):
            parts = tuple(standing_in(s, item, origin) for item in items)
            return s.pack("tuple", parts, "nothing", origin)
        case t.List():
            return s.pack("list", (), "nothing", origin)
    return Const("") if isinstance(type_, t.Text) else Const(None)


def declare(s: Writer, late: LateAttributes, origin: Origin) -> None:
    """Write instances anew with the attributes that they are given later on."""
    heap = s.heap
    assert heap is not None
    for root, names in late.found.items():
        latest = heap.current(root, origin)
        type_ = s.unit.type(latest)
        assert isinstance(type_, t.Object)
        fields = held_by(s, latest, type_, origin)
        for name, field in names.items():
            if find_raw(type_.cls, name) is not None:
                fields[name] = class_data(s, type_.cls, name, origin, name)
            elif name not in fields:
                fields[name] = standing_in(s, field, origin)
                fields.setdefault(named_flag(name), Const(False))
        renew(heap, root, make_record(s, type_.cls, fields, root.name, origin), origin)


def is_assigned(s: Writer, obj: Atom, flag: str, origin: Origin) -> Atom:
    """Write whether a late attribute has been assigned, as a constant where that is known."""
    made = obj
    while isinstance(rhs := s.unit.definition(made), Update) and rhs.steps and (
        rhs.steps[0].kind == "attr"
    ):
        if rhs.steps[0].name == flag:
            return rhs.value
        made = rhs.obj
    return (s.unit.fields(made) or {}).get(flag) or s.attribute(obj, flag, origin)


def read_late(s: Writer, obj: Atom, type_: t.Object, name: str, origin: Origin) -> None:
    """Write the check that an attribute which is given later on has been assigned."""
    flag = late_flag(s, type_, name)
    if flag is None:
        return
    known = is_assigned(s, obj, flag, origin)
    if not isinstance(known, Const) or not known.value:
        s.out.append(Do(Call(Const(check_attribute), (
            known, Const(type_.cls.__name__), Const(name))), origin))


def refuse_flagged(s: Writer, type_: t.Object, origin: Origin) -> Atom | None:
    """Report that all attributes are asked for of an instance with late ones; None: it has none."""
    if s.heap is None or s.in_emitted or not has_flags(type_):
        return None
    return s.reject(
        origin, f"all attributes are asked for of a {type_.cls.__name__} that is given some of "
        "them in a loop or branch", "assign them in `__init__`", "attributes",
    )
