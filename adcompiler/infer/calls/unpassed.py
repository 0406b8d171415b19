"""What a function compiled on its own reads and writes beside what it is passed.

A call passes numbers, arrays and containers, and gets back what becomes of them. Functions, and
containers of functions, are made anew inside of the callee; objects outside (of modules, classes,
other functions and cells) it reads where it begins. A write into either would be lost, and of what
its caller has written it would see nothing: such a function is opened in place of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir.nodes import Atom, Origin, Var
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.writer import Writer
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit

PASSED = "pass it as an argument"
SEPARATE = "keep the functions elsewhere than in what is written into, returned or stored"
MAX_OPENED = 4000
"""Statements that a function may have led to which is opened though it is large."""


def has_known_parts(s: Writer, atom: Atom) -> bool:
    """Say whether a container was made here of values that can be written into."""
    parts = None if s.heap is None else s.heap.parts(atom)
    return parts is not None and any(is_mutable(s.unit.type(part)) for part in parts)


def needs_opening(s: Writer, callee: Callee, origin: Origin) -> tuple[str, str] | None:
    """Return what a function does that its call could not tell, and what to write instead."""
    stale = None if s.heap is None else s.heap.outside.enter_reads(callee, origin)
    if callee.opens is not None or stale is None:
        return callee.opens
    return f"reads `{stale.name}`, which was written into before the call", PASSED


def repeated(unit: Unit, identity: Callable[..., Any]) -> bool:
    """Say whether opening a function would make too much code, as it is called often."""
    return unit.calls.grown.get(identity, 0) > MAX_OPENED


def lost_write(
    unit: Unit, heap: Heap, params: Mapping[Var, int], made: set[Var],
    yields: tuple[Atom, ...] | None,
) -> tuple[str, str] | None:
    """Return what a function compiled on its own does that the values it gives do not tell.

    What holds functions is ``made`` anew inside of it: whatever is written into that, or refers to
    it afterwards, refers to another object than the caller's.
    """
    outside = heap.outside.roots() - set(params)
    for root in heap.state.latest:
        if not heap.levels.get(root) and root in outside:
            return f"writes into `{root.name}`, which is not one of its arguments", PASSED
        if root in made and heap.history.written_value(heap.state.latest[root]) is not root:
            return f"writes into `{root.name}`, which holds functions", SEPARATE
    unseen = next(filter(heap.may_write, outside), None)
    if unseen is not None:
        return f"may write into `{unseen.name}`, which is not one of its arguments", PASSED
    results = [] if yields is None else [root for atom in yields for root in heap.roots(atom)]
    written = [var for var in params if var in heap.state.latest]
    near = {other for root in (*results, *written) for other in heap.state.may_alias.get(root, ())}
    kept = next((root for root in made if root in near or root in results), None)
    if kept is None:
        return None
    return f"returns or stores `{kept.name}`, which holds functions", SEPARATE
