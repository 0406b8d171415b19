"""Iterators of the user's classes: instances with ``__next__``.

What is asked for all items gets a list of them, made at once. A loop does, too, where that makes no
difference to what runs between the items.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adcompiler.prelude.iterators import items_of_iterator
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Const, Origin, Var
from adcompiler.ir.visit import definitions
from adcompiler.infer.calls.callees import parts_of_function
from adcompiler.infer.calls.operator_methods import is_own, iterated, method_of
from adcompiler.infer.eager_effects import leaves_traces
from adcompiler.infer.folds.iterator import is_lazy, made_by
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit


def run_over(
    s: Operations, atom: Atom, origin: Origin, to_its_end: bool,
    between: Iterable[Atom] | None = None,
) -> Atom:
    """Return what running over a value runs over, ``to_its_end`` or not.

    ``between`` are the values that are read between its items. Where there are any, an instance may
    write into itself at most, and none of these, nor what has it, may lead to it.
    """
    call = made_by(s.unit, atom)
    taken_apart = call is not None and is_lazy(call.func)
    if not to_its_end or s.heap is None or not is_own(s.unit, atom) or taken_apart:
        return iterated(s, atom, origin)
    given = iterated(s, atom, origin)
    function = gives_items(s.unit, given)
    if function is None or not isinstance(given, Var):
        return given
    before, root = dict(s.heap.state.latest), s.heap.reference(given).root
    near = s.heap.state.may_alias.get(root, ())
    with s.writing_to([]) as out:
        items = s.call(Const(function), [given], {}, origin, "items")
    s.out.extend(out)
    made = definitions(Block(tuple(out)))
    written = {
        changed for changed, value in s.heap.state.latest.items()
        if before.get(changed) is not value and changed not in made
    }
    if between is not None and (
        not written <= {root} or leaves_traces(s.unit, Block(tuple(out)))
        or not all(isinstance(s.unit.type(other), t.Array) for other in near)
        or any(leads_to(s, value, root) for value in between)
    ):
        return s.reject(
            origin, "a loop runs over an instance whose `__next__` does more than change it, or "
            "which others may have", "make a list of it first: list(...)", "iterators",
        )
    if between is not None:
        s.heap.pending.derive(items, [given])
    return items


def leads_to(s: Writer, value: Atom, root: Var) -> bool:
    """Say whether a value is, or holds, what a root refers to, or is a function that reads it."""
    parts = parts_of_function(s.unit, value)
    if parts is not None:
        return any(leads_to(s, part, root) for part in parts)
    return s.heap is not None and root in s.heap.roots(value)


def gives_items(unit: Unit, given: Atom) -> Any:
    """Return what lists the items of an instance, None if it has no ``__next__``."""
    own = is_own(unit, given) and method_of(unit, given, "__next__") is not None
    return items_of_iterator if own else None
