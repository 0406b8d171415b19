"""Types of containers that are stored into, and which may be one object or hold another."""

from __future__ import annotations

from adcompiler.analyses.storage import is_container
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Const, Step


def stored(type_: t.Type, steps: tuple[Step, ...], value: t.Type) -> t.Type:
    """Return the type of a container after a store at ``steps``."""
    if not steps or not is_container(type_):
        return t.join(type_, value) if not steps and not isinstance(type_, t.Array) else type_
    step, rest = steps[0], steps[1:]
    key = step.args[0].value if step.kind == "item" and isinstance(step.args[0], Const) else None
    match type_:
        case t.List(item):
            return t.List(stored(item, rest, value) if rest else joined_item(item, value))
        case t.Dict(keys, items):
            if keys is None:
                return t.Dict(None, (
                    stored(items[0], rest, value) if rest else t.join(items[0], value),
                ))
            known = [
                (stored(i, rest, value) if rest else value) if k == key else i
                for k, i in zip(keys, items, strict=True)
            ]
            if key is not None and key not in keys:
                return t.Dict((*keys, key), (*items, value))
            if key is None and not rest:
                joined = value
                for item in items:
                    joined = t.join(joined, item)
                return t.Dict(None, (joined,))
            return t.Dict(keys, tuple(known))
        case t.Object(cls, fields):
            table = dict(fields)
            old = table.get(step.name, t.BOTTOM)
            table[step.name] = stored(old, rest, value) if rest else value
            return t.Object(cls, tuple(table.items()))
        case t.Tuple(items, cls) if isinstance(key, int):
            return t.Tuple(tuple(
                stored(item, rest, value) if i == key % len(items) else item
                for i, item in enumerate(items)
            ), cls)
    return type_


def joined_item(item: t.Type, value: t.Type) -> t.Type:
    """Return the type of a list's items after one was stored."""
    joined = t.join(item, value)
    return t.UNKNOWN if isinstance(joined, t.Static) else joined


def may_hold(type_: t.Type, written: t.Type) -> bool:
    """Say whether a value of ``type_`` may be, or refer to, a container of type ``written``."""
    match type_:
        case t.Array() | t.Scalar() | t.Text():
            return False
        case t.List(item):
            return may_be(type_, written) or may_hold(item, written)
        case t.Dict(_, items) | t.Tuple(items):
            return may_be(type_, written) or any(may_hold(item, written) for item in items)
    return True


def may_be(type_: t.Type, written: t.Type) -> bool:
    """Say whether values of two types may be one object."""
    match type_, written:
        case t.List(item), t.List(other):
            return t.BOTTOM in (item, other) or not isinstance(t.join(item, other), t.Unknown) or (
                t.UNKNOWN in (item, other)
            )
        case (t.List(), t.Dict()) | (t.Dict(), t.List()):
            return False
        case (t.List() | t.Dict(), t.Object()) | (t.Object(), t.List() | t.Dict()):
            return False
    return True
