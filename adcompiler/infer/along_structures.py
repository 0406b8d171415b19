"""Loops along instances that hold one another: a linked list has another type at each node.

A ``while`` whose test types decide is written out, an iteration for each node; so is a ``for`` over
a few known items that puts instances into new ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Const, Loop, Var
from adcompiler.ir.visit import walk
from adcompiler.infer.interface import Env
from adcompiler.infer.storage.loop_fixpoint import Settling
from adcompiler.infer.interface import Operations
from adcompiler.typed.unit import Unit

MOST_NODES = 64
"""How many iterations of such a ``while`` are written out."""


def changes_structure(before: t.Type, after: t.Type) -> bool:
    """Say whether an instance, or None, becomes an instance that is made of other ones."""
    from_none = before == t.NONE_TYPE and isinstance(after, t.Object)
    instance = isinstance(before, t.Object) and (
        isinstance(after, t.Object) or after == t.NONE_TYPE)
    return (from_none or instance) and before != after and holds_unknown(t.join(before, after))


def holds_unknown(type_: t.Type) -> bool:
    """Say whether a type, or that of a field, is not known."""
    if isinstance(type_, t.Object):
        return any(holds_unknown(field) for _, field in type_.fields)
    return isinstance(type_, t.Unknown)


def builds_structure(
    unit: Unit, types: Iterable[t.Type], params: Iterable[Atom], yields: Iterable[Atom],
    carried: Settling,
) -> bool:
    """Say whether an iteration makes instances of ever new types of those that it starts with."""
    pairs = [
        (before, unit.type(after)) for before, after in zip(types, yields, strict=False)]
    if carried.exit is not None:
        pairs += [
            (unit.type(carried.entry.value(root)), unit.type(value))
            for root, value in carried.exit.latest.items() if root in carried.roots
        ]
        pairs += [
            (unit.type(param), unit.type(carried.exit.value(param)))
            for param in params if isinstance(param, Var)
        ]
    return any(changes_structure(before, after) for before, after in pairs)


def runs_along(
    s: Operations, node: Loop, inits: list[Atom], env: Env, scope: Scope | None
) -> bool:
    """Write the iterations of a ``while`` along instances one after the other; False for others."""
    heap, unit = s.heap, s.unit
    if heap is None or node.stops or node.condition is None or node.iterables or not (
        any(isinstance(unit.type(init), t.Object) for init in inits)
        or any(isinstance(getattr(one, "rhs", None), Attribute) for one in walk(node.condition))
    ):
        return False
    before, references = heap.state.copy(), dict(heap.references)
    start, findings = len(s.out), len(unit.findings)
    held = {*heap.levels, *before.latest}
    carried, changed = list(inits), False
    for _ in range(MOST_NODES):
        unit.loops.types.clear()
        inner = {**env, **dict(zip(node.params, carried, strict=True))}
        test = s.block(node.condition, inner, scope)
        known = None if test is None else s.truth(test[0], node.origin)
        if not isinstance(known, Const) or len(unit.findings) > findings:
            break
        if not known.value:
            env.update(zip(node.results, carried, strict=True))
            return True
        yields = s.block(node.body, inner, scope, True)
        if yields is None:
            break
        pairs = [*zip(carried, yields, strict=False), *(
            (before.value(root), value) for root, value in heap.state.latest.items()
            if root in held)]
        changed |= any(
            changes_structure(unit.type(one), unit.type(other)) for one, other in pairs)
        if not changed:
            break
        carried = list(yields[: len(carried)])
    del s.out[start:], unit.findings[findings:]
    heap.state, heap.references = before, references
    return False
