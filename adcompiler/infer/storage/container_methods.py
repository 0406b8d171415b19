"""Methods of lists and dicts that write into them."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from adcompiler.analyses.storage import is_mutable
from adcompiler.prelude.dicts import popped, popped_last, popped_or, setdefault, update
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Call, Const, Origin, Var
from adcompiler.runtime import append, drop_last
from adcompiler.infer.objects import table_of
from adcompiler.infer.storage.moved_into_containers import (
    may_be_relocated, number_of_items, relocate,
)
from adcompiler.infer.storage.slices import concatenated, delete_item, part
from adcompiler.infer.storage.container_fields import (
    heap_of, keep, refuse, refuse_iterated, refuse_itself, renew, taken,
)
from adcompiler.infer.storage.stores import store_item
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer

MAX_ELEMENTS = 64
"""Lists of more elements are not kept apart element by element."""


def extend(s: Operations, x: Var, items: Atom, origin: Origin) -> Atom:
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


def repeat(s: Operations, x: Var, times: Atom, origin: Origin) -> Atom:
    """``x *= times`` of a list of numbers and the like: of which no item is in two places."""
    heap = heap_of(s)
    there = heap.reference(x)
    if there.root in heap.state.invalidated:
        return heap.reading.refuse_lost(x, there.root, origin)
    if there.steps:
        return refuse_nested(s, "__imul__", origin)
    refuse_iterated(s, there, origin)
    owned = heap.owns(x)
    new = s.call(Const(operator.mul), [x, times], {}, origin, x.name)
    renew(heap, there.root, new, origin, exclusive=None if heap.parts(new) else owned)
    return heap.reading.current(x, origin)


def refuse_nested(s: Writer, method: str, origin: Origin) -> Atom:
    return s.reject(
        origin, f"`.{method}()` of a list inside another container is not supported",
        "take the list out, change it, and store it again", "in-place-containers",
    )


def call_list_method(
    s: Operations, obj: Var, method: str, args: list[Atom], kwargs: Mapping[str, Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write the call of a method that changes a list."""
    heap = heap_of(s)
    there = heap.reference(obj)
    root = there.root
    if root in heap.state.invalidated:
        return heap.reading.refuse_lost(obj, root, origin)
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
    if method == "remove" and len(args) == 1 and (
        isinstance(of := s.unit.type(args[0]), t.Scalar) or not t.may_vary(of)
    ):
        index = s.call(s.attribute(obj, "index", origin), [args[0]], {}, origin, "index")
        return delete_item(s, [obj, index], {}, origin, name)
    return s.reject(
        origin, f"this call of `.{method}()` of a list is not supported",
        "make a new list, by a comprehension or a display: [*items, item]", "in-place-containers",
    )


def append_to(s: Operations, obj: Var, value: Atom, origin: Origin) -> None:
    """``obj.append(value)``."""
    heap = heap_of(s)
    there = heap.reference(obj)
    latest = heap.state.value(there.root)
    if refuse_itself(heap, there.root, value, origin):
        return
    elements = s.unit.elements(latest)
    if not there.steps and elements is not None and len(elements) < MAX_ELEMENTS and isinstance(
        latest, Var
    ):
        renew(heap, there.root, s.pack("list", (*elements, value), latest.name, origin), origin,
              None)
        return
    owned = heap.owns(value)
    if there.steps:
        heap.writing.exclusive_value(there.root, origin)
        value = heap.reading.current(value, origin)
        inner = appended(s, heap.reading.current(obj, origin), value, origin)
        if isinstance(inner, Var) and heap.parts(inner) is None:
            s.unit.writes.rearranged[inner] = ((value, False),)  # the others were there before
        heap.writing.write(obj, (), inner, origin, grown=(len(there.steps),))
    else:
        base = heap.writing.spine_value(there.root, origin)
        if not isinstance(s.unit.type(base), t.List):
            refuse(s, obj, "appending to", origin)
            return
        count = None
        if may_be_relocated(heap, there.root, value) and (
            appended_type(s, base, value) == t.List(s.unit.type(value))
        ):
            count = number_of_items(heap, base, origin)
        value_held = taken(s, there.root, value, owned, origin)
        new = s.let(
            Call(Const(append), (base, value_held)), appended_type(s, base, value), obj.name,
            origin, False,
        )
        exclusive = heap.is_exclusive(base)
        heap.changes.advance(there.root, new, None, origin, (0,), False)
        heap.state.exclusive[new] = exclusive
        if count is not None and isinstance(value, Var):
            root = heap.reference(value).root
            keep(heap, there.root, value, owned)
            relocate(heap, root, there.root, count, base)
            return
    keep(heap, there.root, value, owned)


def appended(s: Operations, items: Atom, value: Atom, origin: Origin) -> Atom:
    """Write a new list with one more item."""
    more = s.pack("list", (value,), "more", origin)
    return concatenated(s, items, more, origin)


def appended_type(s: Writer, items: Atom, value: Atom) -> t.Type:
    type_ = s.unit.type(items)
    assert isinstance(type_, t.List)
    joined = t.join(type_.item, s.unit.type(value))
    return t.List(t.UNKNOWN if isinstance(joined, t.Static) else joined)


def pop_from(s: Operations, obj: Var, args: list[Atom], origin: Origin, name: str) -> Atom:
    """``obj.pop(index)``."""
    heap = heap_of(s)
    root = heap.reference(obj).root
    index: Atom = args[0] if args else Const(-1)
    item = s.item(obj, index, origin, name)
    if isinstance(item, Var) and is_mutable(s.unit.type(item)) and (
        heap.reference(item).steps and heap.reference(item).root is root
    ):
        heap.reading.detach(item, heap.reference(item))
        s.unit.writes.popped.add(item)
    if isinstance(index, Const) and index.value == -1 and s.unit.elements(obj) is None:
        base = heap.writing.exclusive_value(root, origin)
        new = s.let(Call(Const(drop_last), (base,)), s.unit.type(base), obj.name, origin, False)
        heap.changes.advance(root, new, 0, origin, content=False)
        heap.state.exclusive[new] = True
    else:
        delete_item(s, [obj, index], {}, origin, name)
    return item


def call_dict_method(
    s: Operations, obj: Var, method: str, args: list[Atom], kwargs: Mapping[str, Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write the call of a method that changes a dict."""
    type_ = s.unit.type(obj)
    assert isinstance(type_, t.Dict)
    heap = heap_of(s)
    known = args[0].value if args and isinstance(args[0], Const) else None
    if method == "update":
        entries: list[tuple[Atom, Atom]] = []
        for other in (table_of(s, arg, origin) for arg in args):
            other_type = s.unit.type(other)
            if not isinstance(other_type, t.Dict):
                return refuse_dict(s, method, origin)
            if other_type.keys is None:
                s.call(Const(update), [heap.reading.current(obj, origin), other], {}, origin, name)
                continue
            entries += [(Const(k), s.item(other, Const(k), origin, str(k)))
                        for k in other_type.keys]
        entries += [(Const(key), value) for key, value in kwargs.items()]
        for key, value in entries:
            latest = heap.reading.current(obj, origin)
            store_item(s, [latest, key, value], {}, origin, name)
        return NONE
    if type_.keys is not None and method == "pop" and args:
        if isinstance(args[0], Const) and known in type_.keys:
            item = s.item(obj, args[0], origin, name)
            delete_item(s, [obj, args[0]], {}, origin, name)
            return item
        if isinstance(args[0], Const) and len(args) > 1:
            return args[1]
    if method == "popitem" and type_.keys:
        key = Const(type_.keys[-1])
        item = s.item(obj, key, origin, name)
        delete_item(s, [obj, key], {}, origin, name)
        return s.pack("tuple", (key, item), name, origin)
    taking = {("pop", 1): popped, ("pop", 2): popped_or, ("popitem", 0): popped_last}
    if (method, len(args)) in taking and not any(map(is_mutable, type_.items)):
        return s.call(Const(taking[method, len(args)]), [obj, *args], {}, origin, name)
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
    held = ", and which holds arrays or containers" if method.startswith("pop") else ""
    return s.reject(
        origin, f"`.{method}()` of a dict whose keys are not known when compiling{held}",
        "store the entries one by one: table[key] = value", "in-place-containers",
    )
