"""Objects that a list has taken in: what refers to them refers to their place in the list then.

``rows.append(row)`` makes ``row`` the last item of ``rows``. If nobody else had it, it has no root
of its own any more: a write into ``row`` is a write into that item, and each sees the other.
"""

from __future__ import annotations

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Origin, Step, Var
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.state import Reference


def may_be_relocated(heap: Heap, items: Var, value: Atom) -> bool:
    """Say whether all that refers to a value can refer to its place in a list from now on.

    It is nobody else's; the value and the list are known by one root each, and the value was made
    in the region that is being written, so that no other way through the code has it elsewhere.
    """
    unit = heap.s.unit
    if not isinstance(value, Var) or not is_mutable(unit.type(value)) or heap.s.in_emitted:
        return False
    there = heap.reference(value)
    root = there.root
    return (
        not there.steps and there.at is heap.state.value(root)
        and heap.levels.get(root) == heap.level
        and isinstance(unit.type(value), (t.Array, t.List)) and heap.parts(value) is None
        and root is not items and heap.owns(value) and root not in unit.writes.taken_out
        and root not in heap.pending.derived and root not in heap.pending.derived_of
        and root not in heap.behind
        and not (root in heap.callers or root in heap.opaque or root in heap.copies)
        and not any(root in behind for behind in heap.behind.values())
        and not any(over.root is root for over in heap.iterating)
    )


def relocate(heap: Heap, root: Var, items: Var, count: Atom, before: Atom) -> None:
    """Let what refers to ``root`` refer to the item of a list that is now at position ``count``.

    ``before`` is the value of the list that did not have it.
    """
    latest, step = heap.state.value(items), Step("item", args=(count,))
    value = heap.state.value(root)
    known = [root, *(var for var, there in heap.references.items() if there.root is root)]
    for var in dict.fromkeys(known):
        there = heap.reference(var)
        at = latest if there.at is value else before
        heap.references[var] = Reference(items, (step, *there.steps), at)


def number_of_items(heap: Heap, items: Atom, origin: Origin) -> Atom:
    """Write the length of a list."""
    return heap.s.let(Call(Const(len), (items,)), t.INT, "count", origin)
