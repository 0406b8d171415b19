"""Slots of containers that are given another object: what the heap and the type become."""

from __future__ import annotations

from types import ModuleType

from adcompiler.analyses.storage import holds_storage, is_container
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Let, Origin, Pack, Var, unstar
from adcompiler.infer.objects import held_by, make_record
from adcompiler.infer.storage.aliases import rhs_is_record
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.state import Reference
from adcompiler.infer.lost_types import PLAIN, SEEN, SET_BY_NAME
from adcompiler.infer.writer import Writer

KEPT_ELSEWHERE = "keep the value in a dict of the module, or in an attribute of an instance"


def heap_of(s: Writer) -> Heap:
    """Return the heap of the code being specialised."""
    assert s.heap is not None, "rules do not write into what they are given"
    return s.heap


def refuse(s: Writer, atom: Atom, what: str, origin: Origin) -> Atom:
    """Report a store into a value of which too little is known."""
    if s.in_emitted:
        return refuse_in_derivative(s, origin)
    shown = "the value"
    if isinstance(atom, Var) and not atom.temporary and atom.name in origin.text:
        shown = f"`{atom.name}`"
    if isinstance(atom, Const):
        kind = {type: "class", ModuleType: "module"}.get(type(atom.value), "function")
        name = getattr(atom.value, "__name__", type(atom.value).__name__)
        return s.reject(
            origin, f"{what} the {kind} `{name}` is not supported", KEPT_ELSEWHERE,
            "unknown-writes",
        )
    match s.unit.type(atom):
        case t.Array():
            return s.reject(
                origin, f"{what} {shown}, an array of objects or records", PLAIN, "unknown-writes")
        case t.Object():
            return s.reject(
                origin, f"{what} {shown}, {SET_BY_NAME}",
                "write the name out, `obj.name = value`; or use a dict", "unknown-writes",
            )
    return s.reject(
        origin, f"{what} {shown}, of which the type is not known when compiling",
        SEEN, "unknown-writes", atom,
    )


def refuse_in_derivative(s: Writer, origin: Origin) -> Atom:
    """Report a write that the user's text does not have: one of its derivative."""
    return s.reject(
        origin, "the derivative of this writes into a value of which the type is not known when "
        "compiling", "make the values here all of one type, or choose another `mode=`",
        "unknown-writes",
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


def taken(s: Writer, root: Var, value: Atom, owned: bool, origin: Origin) -> Atom:
    """Return what a container gets for a value: in loops a copy, if others hold it.

    The container stays exclusive so, and need not be copied as a whole by each iteration. Where
    the container was copied since the value was read out of it, it holds a copy of the value, and
    gets that: the value itself is somebody else's.
    """
    heap = heap_of(s)
    if lies_in(heap, value, root) and root not in heap.state.invalidated:
        heap.writing.spine_value(root, origin)
        value = read_from_copy(heap, heap.reading.current(value, origin), root, origin)
    if not takes_copies(heap, root, value, owned) and not is_outdated(heap, value, root):
        return value
    assert isinstance(value, Var)
    copy = heap.writing.copy_to_write(value, s.unit.type(value), value.name, origin)
    s.unit.writes.stored_copies[copy] = value
    return copy


def is_outdated(heap: Heap, value: Atom, root: Var) -> bool:
    """Say whether a value was taken out of a container that has been copied since."""
    there = heap.taken_from.get(value) if isinstance(value, Var) else None
    return there is not None and there.root is root and bool(
        heap.history.copies_between(there.at, (heap.state.value(root),)))


def read_from_copy(heap: Heap, value: Atom, root: Var, origin: Origin) -> Atom:
    """Return what a copied container has for a value that was taken out of it, read where it was
    copied; the value itself if it was copied elsewhere, or several times.
    """
    if not isinstance(value, Var) or not is_outdated(heap, value, root):
        return value
    there = heap.taken_from[value]
    copies = heap.history.copies_between(there.at, (heap.state.value(root),))
    out = heap.copied_in.get(copies[0])
    if len(copies) > 1 or out is not heap.s.out or (
        heap.reference(value) != Reference(value, (), value)
    ):
        return value
    with heap.s.writing_to([]) as reading:
        new = heap.reading.read(there, copies[0], origin, value.name)
    made = [k for k, st in enumerate(out) if isinstance(st, Let) and st.target is copies[0]]
    if len(made) != 1 or not isinstance(new, Var):
        return value
    out[made[0] + 1 : made[0] + 1] = reading
    heap.reading.detach(new, Reference(root, there.steps, copies[0]))
    heap.references[value] = Reference(new, (), value)
    return new


def takes_copies(heap: Heap, root: Var, value: Atom, owned: bool) -> bool:
    """Say whether a container gets a copy for a value; see ``taken``."""
    s = heap.s
    return (
        not owned and s.unit.loops.around > 0 and isinstance(value, Var)
        and root not in heap.callers and isinstance(s.unit.type(value), t.Array)
        and not lies_in(heap, value, root)
    )


def keep(heap: Heap, root: Var, value: Atom, owned: bool) -> None:
    """Note that the latest value of a container refers to ``value``, which it takes over."""
    latest = heap.state.value(root)
    exclusive = heap.is_exclusive(latest)
    heap.join(root, value, within=True)
    heap.state.exclusive[latest] = exclusive and (
        owned or lies_in(heap, value, root) or takes_copies(heap, root, value, owned)
    )


def holds_itself(heap: Heap, root: Var, value: Atom) -> bool:
    """Say whether a container that is given ``value`` for an item would contain itself."""
    waiting: list[Atom] = [value]
    seen: set[Atom] = set()
    while waiting:
        atom = waiting.pop()
        if not isinstance(atom, Var) or atom in seen or not is_container(heap.s.unit.type(atom)):
            continue
        seen.add(atom)
        there = heap.reference(atom)
        if there.root is root and not there.steps:
            return True
        made = heap.s.unit.definition(atom)
        waiting += map(unstar, made.items) if isinstance(made, Pack) else ()
    return False


def refuse_itself(heap: Heap, root: Var, value: Atom, origin: Origin) -> bool:
    """Refuse a container that is given itself, or what holds it; say whether it is."""
    if not holds_itself(heap, root, value):
        return False
    heap.s.reject(
        origin, "a container that contains itself: a derivative of it would have no end",
        "keep what refers back outside of it", "in-place-containers",
    )
    return True


def lies_in(heap: Heap, value: Atom, root: Var) -> bool:
    """Say whether a value is a part of what a root refers to, or was."""
    if not isinstance(value, Var) or heap.parts(value) is not None:
        return False
    there = heap.reference(value).root
    return root in (there, heap.s.unit.writes.taken_out.get(there))


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
    heap.changes.advance(root, new, rebound, origin, grown, False)
    heap.state.exclusive.pop(new, None)
    if made_of and heap.parts(new) is None:
        s.unit.writes.rearranged[new] = made_of
    if exclusive is not None:
        heap.state.exclusive[new] = exclusive and not holds_storage(s.unit.type(new))


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


def was_made_here(s: Writer, root: Var) -> bool:
    """Say whether an instance was made by the code that is compiled, and all it holds is known."""
    made = s.unit.definition(root)
    return made is not None and rhs_is_record(made)


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
        if type_.field(name) is None and not there.steps and was_made_here(s, there.root):
            parts = held_by(s, latest, type_, origin)
            new = make_record(s, type_.cls, {**parts, name: value}, latest.name, origin)
            renew(heap, there.root, new, origin)
            return True
        if type_.field(name) is None:
            s.unit.calls.giving.update(s.unit.calls.active)
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
