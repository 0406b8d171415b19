"""Arrays that are one of two after a branch, where both can be reached by other names too.

``b = a if test else d`` makes a *choice* between the storage of ``a`` and that of ``d``. Writing
into ``b`` becomes a branch that writes into one or the other; reading it reads whichever it is.
What an arm has made itself is handed out of the branch as storage of its own; so are the tests of
choices made inside an arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Origin, Var
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.state import Reference, State
from adcompiler.infer.writer import Writer
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Made:
    """A value made in an arm, and the variable that the branch hands it out as."""

    atom: Atom
    var: Var


@dataclass(frozen=True, slots=True)
class Either:
    """A choice made in an arm; ``test`` is the variable that the branch hands its test out as."""

    condition: Atom
    test: Var
    then: Place
    orelse: Place


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple of values."""

    items: tuple[Place, ...]


Place = Reference | Made | Either | Parts
"""Where the result of an arm lies, in terms of what is there after the branch."""
Results = dict[Var, tuple[Atom, Atom]]
"""The results of a branch with what its arms yield."""


def places_of_arms(
    s: Writer, heap: Heap, arms: tuple[Atom, Atom], states: Sequence[State | None]
) -> tuple[Place, Place] | None:
    """Return where two arrays, or tuples of arrays, lie; None if both were made in the arms."""
    type_ = s.unit.type(arms[0])
    if s.unit.type(arms[1]) != type_ or not isinstance(type_, (t.Array, t.Tuple)):
        return None
    if not is_mutable(type_) or states[0] is None or states[1] is None:
        return None
    if isinstance(type_, t.Tuple) and (type_.cls is not tuple or not all(
        isinstance(item, (t.Array, t.Scalar, t.Text, t.Static)) for item in type_.items
    )):
        return None
    one, two = (
        place_of(s, heap, a, cast(State, state)) for a, state in zip(arms, states, strict=True)
    )
    if isinstance(one, Parts) != isinstance(two, Parts) or (isinstance(type_, t.Tuple) and (
        not isinstance(one, Parts)
    )):
        return None
    return (one, two) if leads_out(one) or leads_out(two) else None


def leads_out(place: Place) -> bool:
    """Say whether a value lies, or may lie, in storage that was there before the branch."""
    match place:
        case Either(_, _, then, orelse):
            return leads_out(then) or leads_out(orelse)
        case Parts(items):
            return any(map(leads_out, items))
    return isinstance(place, Reference)


def place_of(s: Writer, heap: Heap, atom: Atom, state: State) -> Place:
    """Return where the result of an arm lies."""
    elements = s.unit.elements(atom)
    if isinstance(s.unit.type(atom), t.Tuple) and elements is not None:
        return Parts(tuple(place_of(s, heap, element, state) for element in elements))
    new = Var(getattr(atom, "name", "value"), False)
    s.unit.types[new] = s.unit.type(atom)
    if not isinstance(atom, Var) or not isinstance(s.unit.type(atom), t.Array):
        return Made(atom, new)
    found = heap.alternatives.of(atom)
    if found is not None:
        return found
    there = heap.reference(atom)
    made = state.choices.get(there.root)
    if made is None or there.steps:
        return Made(atom, new)
    inner: list[Place] = []
    for one in made.alternatives:
        handle = Var(there.root.name)
        s.unit.types[handle] = s.unit.type(atom)
        heap.references[handle] = one
        if heap.alternatives.of(handle) is None and one.root not in state.choices:
            if one.steps:
                return Made(atom, new)
            heap.references[handle] = Reference(one.root, (), one.at)
            latest = state.value(one.root)
            var = Var(there.root.name, False)
            s.unit.types[var] = s.unit.type(atom)
            inner.append(Made(latest, var))
        else:
            inner.append(place_of(s, heap, handle, state))
    test = Var("test", False)
    s.unit.types[test] = t.BOOL
    return Either(made.condition, test, inner[0], inner[1])


def handed_out(place: Place, other: Atom, elements: Sequence[Atom] | None, first: bool) -> Results:
    """Return what a branch must yield for a place in one arm; ``other`` is from the other arm."""
    match place:
        case Made(atom, var):
            return {var: (atom, other) if first else (other, atom)}
        case Either(condition, test, then, orelse):
            pair = (condition, Const(False)) if first else (Const(False), condition)
            return {
                test: pair, **handed_out(then, other, None, first),
                **handed_out(orelse, other, None, first),
            }
        case Parts(items):
            assert elements is not None
            found: Results = {}
            for item, element in zip(items, elements, strict=True):
                found.update(handed_out(item, element, None, first))
            return found
    return {}


def one_of(
    s: Writer, heap: Heap, condition: Atom, places: tuple[Place, Place], like: Atom, name: str,
    origin: Origin,
) -> Atom:
    """Write a value that is one of two after their branch; ``like`` is one of the same type."""
    one, two = places
    if isinstance(one, Parts) and isinstance(two, Parts):
        elements = s.unit.elements(like)
        assert elements is not None
        return s.pack("tuple", tuple(
            one_of(s, heap, condition, (a, b), element, getattr(element, "name", name), origin)
            for element, a, b in zip(elements, one.items, two.items, strict=True)
        ), name, origin)
    type_ = s.unit.type(like)
    if isinstance(type_, t.Static):
        return like
    if not isinstance(type_, t.Array):
        assert isinstance(one, Made)
        return one.var
    return heap.alternatives.chosen(
        condition, (rooted(s, heap, one, name, origin), rooted(s, heap, two, name, origin)), name,
        type_, origin,
    )


def rooted(s: Writer, heap: Heap, place: Place, name: str, origin: Origin) -> Reference:
    """Return where a value lies after the branch."""
    match place:
        case Made(atom, var):
            heap.levels[var] = heap.level
            for root in heap.roots(atom):
                for other in (root, *heap.state.may_alias.get(root, ())):
                    if heap.levels.get(other, 0) <= heap.level and other is not var:
                        heap.alias(var, other)
            heap.state.exclusive[var] = False
            return Reference(var, (), var)
        case Either(_, test, then, orelse):
            var = heap.alternatives.chosen(test, (
                rooted(s, heap, then, name, origin), rooted(s, heap, orelse, name, origin)
            ), name, s.unit.type(then_atom(then)), origin)
            return Reference(var, (), var)
    assert isinstance(place, Reference)
    return place


def then_atom(place: Place) -> Atom:
    """Return a value of the type of what lies at a place."""
    while isinstance(place, Either):
        place = place.then
    if isinstance(place, Made):
        return place.var
    assert isinstance(place, Reference)
    return place.root


def truth_of(s: Writer, condition: Atom, origin: Origin) -> Atom:
    """Return a condition as a number that no write changes."""
    if isinstance(s.unit.type(condition), t.Scalar):
        return condition
    return s.let(Call(Const(bool), (condition,)), t.BOOL, "test", origin)
