"""Differentiation with respect to parts of an argument: an element of ``*args``, a field, an entry.

The part becomes a variable of its own, read once where the function starts, and the argument is
made anew around it, so that whatever the function does with the argument follows the part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.errors import ArgumentsError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin, Statement, Var
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.objects import make_record
from adcompiler.infer.storage.state import Reference
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.support.structs import dataclass

Steps = tuple[Any, ...]


@dataclass(eq=False)
class Separated:
    """An argument made anew around parts of it.

    ``entry`` reads those that are differentiated, ``found`` has their variables by number. The
    caller's own objects are what ``held`` are: each is storage of its own, of which no container
    that was ``made`` here is one.
    """

    entry: list[Statement]
    found: dict[int, Var]
    held: list[Var] = field(default_factory=list)
    made: list[Var] = field(default_factory=list)


def separate(
    s: Operations, value: Var, wanted: Sequence[tuple[Steps, int]], into: Separated, origin: Origin
) -> Atom:
    """Write ``value`` anew around the parts that ``wanted`` leads to; return it.

    ``wanted`` pairs steps with the number under which the part's variable is found.
    """
    type_ = s.unit.type(value)
    below: dict[Any, list[tuple[Steps, int]]] = {}
    for (step, *rest), number in wanted:
        below.setdefault(key_of_step(type_, step, value.name), []).append((tuple(rest), number))
    parts: dict[Any, Atom] = {}
    for key in keys_of(type_):
        reading: list[Statement] = []
        with s.writing_to(reading):
            inner = read(s, value, key, origin)
        belongs = isinstance(inner, Var) and is_mutable(s.unit.type(inner))
        (into.entry if belongs or key in below else s.out).extend(reading)
        if key not in below:
            parts[key] = inner
            hold(s, inner, into)
            continue
        if not isinstance(inner, Var):
            raise ArgumentsError(f"argnums: {key!r} of {value.name} has no derivative")
        for steps, number in below[key]:
            if not steps:
                into.found[number] = inner
        deeper = [(steps, number) for steps, number in below[key] if steps]
        if deeper:
            parts[key] = separate(s, inner, deeper, into, origin)
        else:
            parts[key] = inner
            hold(s, inner, into)
    new = made_of(s, type_, parts, value.name, origin)
    if isinstance(new, Var) and not isinstance(type_, t.Tuple):
        into.made.append(new)
    return new


def hold(s: Writer, part: Atom, into: Separated) -> None:
    """Take a part for storage of its own, which belongs to the caller."""
    if isinstance(part, Var) and is_mutable(s.unit.type(part)) and s.heap is not None:
        s.heap.references[part] = Reference(part, (), part)
        into.held.append(part)


def refuse_new_attributes(s: Writer, parts: Separated, origin: Origin) -> None:
    """Report slots of a container that are given other objects: the caller has another one."""
    heap = s.heap
    for made in parts.made if heap is not None else ():
        assert heap is not None
        if heap.history.written_value(heap.state.value(made)) is not made:
            s.reject(
                origin, f"entries or attributes of `{made.name}` are given other values, where the "
                "derivative is with respect to a part of it",
                f"differentiate with respect to all of `{made.name}`", "array-writes",
            )


def keys_of(type_: t.Type) -> tuple[Any, ...]:
    """Return the keys, positions or attribute names of values of a type."""
    match type_:
        case t.Tuple(items):
            return tuple(range(len(items)))
        case t.Dict(keys, _) if keys is not None:
            return keys
        case t.Object(cls, fields) if is_record_class(cls):
            return tuple(name for name, _ in fields)
    return ()


def key_of_step(type_: t.Type, step: str, name: str) -> Any:
    """Return the key that a step of ``argnums`` means in a value of a type; raise if none."""
    keys = keys_of(type_)
    if isinstance(type_, t.Tuple) and step in getattr(type_.cls, "_fields", ()):
        return list(getattr(type_.cls, "_fields", ())).index(step)
    if step in keys:
        return step
    if isinstance(step, str) and step.isdigit() and int(step) in keys:
        return int(step)
    if isinstance(type_, t.List):
        raise ArgumentsError(
            f"argnums: {name} is a list; name one item of a tuple, or all of {name}"
        )
    raise ArgumentsError(
        f"argnums: {name} has no part {step!r}; it has {', '.join(map(str, keys)) or 'none'}"
    )


def read(s: Operations, value: Var, key: Any, origin: Origin) -> Atom:
    """Write the reading of a part."""
    type_ = s.unit.type(value)
    if isinstance(type_, t.Object):
        return s.attribute(value, key, origin)
    name = f"{value.name}_{key}" if isinstance(type_, t.Tuple) else str(key)
    return s.item(value, Const(key), origin, name if name.isidentifier() else "part")


def made_of(
    s: Operations, type_: t.Type, parts: dict[Any, Atom], name: str, origin: Origin
) -> Atom:
    """Write a value of a type anew."""
    match type_:
        case t.Object(cls, _):
            return make_record(s, cls, parts, name, origin)
        case t.Dict():
            return s.pack_dict([(Const(k), v) for k, v in parts.items()], origin, name)
        case t.Tuple(_, cls) if cls is not tuple:
            return s.call(Const(cls), list(parts.values()), {}, origin, name)
    return s.pack("tuple", tuple(parts.values()), name, origin)
