"""Calls of functions of which nothing is known: they may write into all that they are given.

Arrays and containers are given as copies. What the call makes of arrays is stored in the arrays; a
write into containers, or arrays of the module, is noticed when the code runs. Of other things that
such a function was given nothing is read afterwards.
"""

from __future__ import annotations

from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Const, Origin, Star, Var, unstar
from adcompiler.runtime.unknown_calls import Place, call_on_copies
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.calls.missing import spelling
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.stores import WHOLE, store_item
from adcompiler.infer.lost_types import called
from adcompiler.infer.interface import Operations
from adcompiler.typed.unit import Unit

CONTAINERS = (t.List, t.Dict, t.Tuple)


def call_unknown(
    s: Operations, func: Atom, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a call of a function that may write into its arguments."""
    heap = s.heap
    if heap is None:  # a rule knows what it calls
        return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)
    if isinstance(func, Const) and getattr(func.value, "__name__", "") == "__call__" and args:
        func, args = args[0], args[1:]  # an object of which the class has a method for calls
    shown = shown_name(func, origin)
    given: dict[Place, Any] = dict(enumerate(args))
    given.update(kwargs)
    stored = {place: a for place, a in given.items() if is_mutable(s.unit.type(unstar(a)))}
    problem = unfollowed(s.unit, heap, stored)
    if problem is not None:
        return s.reject(
            origin, f"{shown}() is not known to the compiler, and is given {problem}, which it may "
            "write into", "give it arrays themselves, and each once; or, if it writes into none, "
            f"say so: adcompiler.facts({shown}, writes=())", "unknown-calls",
        )
    arrays = {
        place: a for place, a in stored.items()
        if isinstance(s.unit.type(a), t.Array) and not belongs_to_module(heap, a)
    }
    kept = tuple(
        place for place, a in stored.items()
        if isinstance(s.unit.type(a), (t.Array, *CONTAINERS)) and place not in arrays
    )
    if arrays or kept:
        result = call_with_copies(s, func, arrays, kept, args, kwargs, origin, name)
    else:
        result = s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)
    for place, atom in stored.items():
        if place not in arrays and place not in kept:
            lose(heap, atom, origin, shown)
    if isinstance(result, Var):
        heap.opaque[result] = tuple(root for a in stored.values() for root in heap.roots(a))
    return result


def belongs_to_module(heap: Heap, atom: Atom) -> bool:
    """Say whether an array is that of a global, or of a function around."""
    outside = heap.outside.roots()
    return any(root in outside for root in heap.roots(atom))


def shown_name(func: Atom, origin: Origin) -> str:
    """Return what messages call the function: by what it is reached."""
    return spelling(func.value) if isinstance(func, Const) else called(origin)


def unfollowed(unit: Unit, heap: Heap, stored: dict[Place, Any]) -> str | None:
    """Return what among the arguments refers to arrays in a way that is not followed."""
    arrays: dict[Var, Atom] = {}
    for atom in stored.values():
        if isinstance(atom, Star):
            return "arguments that are counted only when running"
        near = {
            root for own in heap.roots(atom) if own not in heap.opaque
            for root in (own, *heap.state.may_alias.get(own, ()))
        }
        if isinstance(unit.type(atom), t.Array):
            if any(arrays.get(root, atom) is not atom for root in near):
                return "several parts of one array"
            arrays.update(dict.fromkeys(near, atom))
        elif not isinstance(unit.type(atom), CONTAINERS) and any(
            isinstance(unit.type(root), t.Array) for root in near
        ):
            return "a value that refers to the storage of an array"
    return None


def call_with_copies(
    s: Operations, func: Atom, arrays: dict[Place, Atom], kept: tuple[Place, ...],
    args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write a call that is given copies, and the stores of what becomes of arrays."""
    types = tuple(s.unit.type(atom) for atom in arrays.values())
    called = plain_call(
        Const(call_on_copies), [func, Const(tuple(arrays)), Const(kept), *args], kwargs
    )
    pair = s.let(called, t.Tuple((t.UNKNOWN, *types)), name, origin)
    result = s.item(pair, Const(0), origin, name)
    written: set[Atom] = set()
    for k, atom in enumerate(arrays.values(), 1):
        if atom in written or atom is UNDEF:
            continue
        written.add(atom)
        left = s.item(pair, Const(k), origin, getattr(atom, "name", name))
        if isinstance(left, Var):
            s.unit.shapes[left] = s.unit.shape(atom)
        store_item(s, [atom, WHOLE, left], {}, origin, name)
    return result


def lose(heap: Heap, atom: Atom, origin: Origin, shown: str) -> None:
    """Note that a function may have written into what an argument refers to."""
    roots = dict.fromkeys(heap.roots(atom))
    behind = [other for root in roots for other in heap.opaque.get(root, ())]
    for root in (*roots, *behind):
        near = heap.state.may_alias.get(root, ())
        for lost in (root, *near, *heap.pending.derived.get(root, ())):
            heap.state.invalidated.note(lost, origin, root)
            if heap.state.invalidated[lost] == (origin, root):
                heap.given_away[(lost, origin)] = shown
