"""What lies where: which roots may share storage, what leads from one to another, who owns it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adcompiler.analyses.storage import (
    Sharing, checked, is_mutable, written_operand,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Closure, Const, Global, Item, Origin, Pack, Rhs, Statement, Step, Update,
    Var, unstar,
)
from adcompiler.ir.operators import SIGNS
from adcompiler.ops.registry import hashable
from adcompiler.runtime import choose, record
from adcompiler.infer.storage.emitting import Emitter
from adcompiler.infer.storage.history import History
from adcompiler.infer.storage.state import Reference, State
from adcompiler.infer.storage.stored_types import may_hold
from adcompiler.typed.callee import Place

NEW_CONTAINERS: frozenset[Any] = frozenset({list, tuple, sorted, dict, *SIGNS})
"""Functions that make a new container of what others hold."""


def makes_container(rhs: Rhs) -> bool:
    """Say whether a value that holds what others hold is a new container: no part of these."""
    if isinstance(rhs, Item):  # of a list, by a slice
        return True
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        hashable(rhs.func.value) and rhs.func.value in NEW_CONTAINERS
    )


def rhs_is_record(rhs: Rhs) -> bool:
    """Say whether a right-hand side makes a namedtuple or an instance of its arguments."""
    if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is record:
        return True
    return (
        isinstance(rhs, Call) and isinstance(rhs.func, Const) and isinstance(rhs.func.value, type)
        and issubclass(rhs.func.value, tuple) and hasattr(rhs.func.value, "_fields")
        and not rhs.kwargs
    )


def step_key(step: Step) -> object:
    """Return a value that is equal for steps that lead to the same part."""
    atoms = tuple(
        (type(a.value), repr(a.value)) if isinstance(a, Const) else a for a in step.atoms
    )
    return (step.kind, step.name, step.function, atoms)


class Storage:
    """What storage the values of one function lie in, while it is specialised.

    ``foreign`` are values that were there before, which are never written into; ``copies`` the
    roots that were copied since, because somebody else held them as well. ``callers`` are roots
    that are given back to the caller, ``given_away`` what a function of which nothing is known
    was given, with its name, ``opaque`` what results of such functions may refer to copies of.
    ``globals`` are the objects that were there before and are no arguments: those of modules,
    classes, functions and cells. ``handed`` are the roots of what global variables were assigned,
    with the name and the place.
    """

    def __init__(self, s: Emitter) -> None:
        self.s = s
        self.state = State()
        self.references: dict[Var, Reference] = {}
        self.history = History()
        self.levels: dict[Var, int] = {}
        self.behind: dict[Var, tuple[Var, ...]] = {}
        self.alias_sets: dict[Var, set[Var]] = {}
        self.holds: dict[Var, dict[Var, bool]] = {}
        self.filled: set[Var] = set()
        self.copies: set[Var] = set()
        self.callers: set[Var] = set()
        self.taken_from: dict[Var, Reference] = {}
        self.copied_in: dict[Atom, list[Statement]] = {}
        self.level = 0
        self.settled_level = 1 << 30
        self.iterating: list[Reference] = []
        self.sharing = Sharing(s.unit.type, s.unit.definition)
        self.globals: dict[Place, Var] = {}
        self.handed: dict[Var, tuple[str, Origin]] = {}
        self.given_away: dict[tuple[Var, Origin], str] = {}
        self.opaque: dict[Var, tuple[Var, ...]] = {}
        self.live: frozenset[Var] = frozenset()
        self.foreign: frozenset[Atom] = frozenset()

    def reference(self, atom: Var) -> Reference:
        """Return where a value lies; in storage of its own if nothing else is known."""
        return self.references.get(atom) or Reference(atom, (), atom)

    def identity(self, atom: Atom) -> object:
        """Return a value that is equal for atoms that are references to the same object."""
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return None
        there = self.reference(atom)
        return (there.root, tuple(map(step_key, there.steps)))

    def place(self, atom: Var, step: Step) -> object:
        """Return the identity of the object that one more step leads to."""
        there = self.reference(atom)
        return (there.root, tuple(map(step_key, (*there.steps, step))))

    def reads_from(self, value: Atom, obj: Var) -> bool:
        """Say whether a value is a part of the storage that ``obj`` lies in."""
        return isinstance(value, Var) and isinstance(self.s.unit.type(value), t.Array) and (
            self.reference(value).root is self.reference(obj).root
        )

    def is_same_object(self, a: Atom, b: Atom) -> bool:
        """Say whether two values are one object of the code around a region, written or not."""
        if not isinstance(a, Var) or not isinstance(b, Var) or a is b:
            return False
        one = self.identity(a)
        return one is not None and one == self.identity(b) and self.is_outer(self.reference(a).root)

    def root_outside(self, values: Sequence[Atom]) -> Var | None:
        """Return the root that each of ``values`` is, all of it, if it was there before a region.

        They are what the arms of the region give for a variable; it is behind them.
        """
        found = {self.identity(value) for value in values}
        if len(found) != 1 or None in found:
            return None
        there = self.reference(values[0])  # type: ignore[arg-type]
        return None if there.steps or self.is_inner(there.root) else there.root

    def is_outer(self, root: Var) -> bool:
        """Say whether a root was there before the region that is being specialised."""
        return self.levels.get(root, 0) < self.level

    def is_inner(self, var: Var) -> bool:
        """Say whether a value was made inside of a region that is behind what is specialised."""
        return self.levels.get(var, 0) > self.level

    def note(self, var: Var, rhs: Rhs) -> None:
        """Enter a new value: what it shares storage with."""
        self.levels[var] = self.level
        if not is_mutable(self.s.unit.type(var)):
            return
        self.forget(var)
        if written_operand(rhs) is not None:
            return  # a new value of a root: see ``advance``
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is choose:
            return  # see ``choose``
        for operand, how in self.sharing.of(var, rhs):
            if not isinstance(operand, Var):
                continue
            there = self.reference(operand)
            known = self.parts(operand) is not None and isinstance(
                self.s.unit.type(operand), t.Tuple
            )
            if isinstance(how, Step) and not known:
                self.hold_parts(there.root, operand)
                step = checked(how, "here" if self.s.at is None else self.s.at.where)
                steps = (*there.steps, step)
                self.references[var] = Reference(there.root, steps, self.state.value(there.root))
            elif how == "same":
                self.references[var] = there
            elif how == "holds" and (isinstance(rhs, Pack) or rhs_is_record(rhs)):
                continue  # parts are found through the definition
            else:
                self.join(var, operand, how == "holds" and makes_container(rhs))

    def join(self, root: Var, atom: Atom, within: bool = False) -> None:
        """Note that a root may share storage with all that a value refers to.

        ``within`` says that the root is a container which holds that, and no part of it.
        """
        for other, whole in self.held(atom):
            for third in list(self.state.may_alias.get(other, ())):
                self.pair(root, third, root if within else None)
            self.pair(root, other, root if within else None)
            if within and root is not other:
                there = self.holds.setdefault(root, {})
                there[other] = whole or there.get(other, False)

    def forget(self, root: Var) -> None:
        """Begin with a new object under this root: what was known of the former one is void."""
        for other in self.state.may_alias.pop(root, set()):
            self.state.may_alias.get(other, set()).discard(root)
        self.state.invalidated.pop(root, None)
        self.state.exclusive.pop(root, None)
        self.state.spines.discard(root)
        self.state.latest.pop(root, None)

    def roots(self, atom: Atom) -> Iterable[Var]:
        """Return the roots of the storage that a value refers to."""
        return dict.fromkeys(root for root, _ in self.held(atom))

    def held(self, atom: Atom) -> Iterator[tuple[Var, bool]]:
        """Yield the roots of the storage that a value refers to; say whether to all of it.

        A part that has slots of its own is not the root, whose own slots it does not have.
        """
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return
        parts = self.parts(atom)
        there = self.reference(atom)
        if parts is None:
            for root in (there.root, *self.behind.get(there.root, ())):
                yield root, not there.steps
            return
        if not isinstance(self.s.unit.type(atom), t.Tuple):
            yield there.root, True
        for part in parts:
            yield from self.held(part)

    def parts(self, atom: Atom) -> tuple[Atom, ...] | None:
        """Return what a container was made of, if that is known."""
        rhs = self.s.unit.definition(atom)
        if (isinstance(rhs, Pack) and rhs.kind != "set") or (
            rhs is not None and rhs_is_record(rhs)
        ):
            if isinstance(rhs, Call) and rhs.kwargs:
                return tuple(atom for _, atom in rhs.kwargs)
            if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is record:
                return ()
            items = rhs.items if isinstance(rhs, Pack) else rhs.args  # type: ignore[union-attr]
            return tuple(map(unstar, items))
        return None

    def hold_parts(self, root: Var, value: Atom) -> None:
        """Note what a container refers to of which the parts will no longer be known."""
        for part in self.parts(value) or ():
            for other in self.roots(part):
                if other is not root:
                    self.join(root, part, within=True)

    def alias(self, a: Var, b: Var) -> None:
        """Note that two roots may share storage, in whatever way."""
        if a is not b:
            self.holds.setdefault(a, {})[b] = True
            self.holds.setdefault(b, {})[a] = True
        self.pair(a, b)

    def may_reach(self, start: Var, root: Var) -> bool:
        """Say whether the object under a root may be that under ``start``, or be held by it.

        Parts of a root lead to what they hold, and not to the root.
        """
        seen = {start}
        waiting = [start]
        while waiting:
            here = waiting.pop()
            held = dict(self.holds.get(here, {}))
            for part in self.parts(self.state.value(here)) or ():
                for other, whole in self.held(part):
                    held[other] = whole or held.get(other, False)
            if held.get(root):
                return True
            waiting += held.keys() - seen
            seen |= held.keys()
        return False

    def pair(self, a: Var, b: Var, holder: Var | None = None) -> None:
        """Note that two roots may share storage, in a way that ``holds`` tells.

        If one is a ``holder`` of the other, or of what that shares, the other is no part of it.
        """
        if a is b:
            return
        if holder is None and not self.s.in_emitted:  # which hides nothing in what it makes
            self.holds.setdefault(a, {})[b] = True
            self.holds.setdefault(b, {})[a] = True
        self.state.may_alias.setdefault(a, set()).add(b)
        self.state.may_alias.setdefault(b, set()).add(a)
        for root, other in ((a, b), (b, a)):
            value = self.state.value(root)
            kept = self.owns_spine(value) and (root is holder or not may_hold(
                self.s.unit.type(other), self.s.unit.type(value)))
            self.state.exclusive[value] = False
            (self.state.spines.add if kept else self.state.spines.discard)(value)

    def owns_spine(self, atom: Atom) -> bool:
        """Say whether a value is a list or dict that nobody else refers to as a whole."""
        return isinstance(self.s.unit.type(atom), (t.List, t.Dict)) and (
            atom in self.state.spines or self.is_exclusive(atom))

    def may_be_one(self, a: Var, b: Var) -> None:
        """Note that two roots may be one object; others that may alias may hold one another."""
        together = self.alias_sets.setdefault(a, {a}) | self.alias_sets.setdefault(b, {b})
        for root in together:
            self.alias_sets[root] = together

    def may_write(self, var: Var) -> bool:
        """Say whether what ``var`` is, or holds, may have been written under another name."""
        if var not in self.state.invalidated:
            return False
        _, other = self.state.invalidated[var]
        return other in self.filled or var in self.alias_sets.get(other, ()) or not isinstance(
            self.s.unit.type(other), (t.List, t.Dict)
        )

    def is_exclusive(self, atom: Atom) -> bool:
        """Say whether the storage of a value is nobody else's."""
        if atom in self.foreign:
            return False
        if atom in self.state.exclusive:
            return self.state.exclusive[atom]
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return isinstance(atom, Const) and not is_mutable(self.s.unit.type(atom))
        parts = self.parts(atom)
        if parts is not None:
            return all(
                self.reference(part).steps == ()
                and self.is_exclusive(self.state.value(self.reference(part).root))
                for part in parts
                if isinstance(part, Var) and is_mutable(self.s.unit.type(part))
            )
        rhs = self.s.unit.definition(atom)
        if rhs is None or isinstance(rhs, (Global, Attribute, Item, Closure)):
            return False
        if isinstance(rhs, Update):
            return True
        return not any(True for _ in self.sharing.of(atom, rhs)) and isinstance(
            rhs, Call) and isinstance(rhs.func, Const)

    def owns(self, atom: Atom) -> bool:
        """Say whether what a value refers to now is nobody else's, as a whole."""
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return True
        if self.parts(atom) is not None:
            return self.is_exclusive(atom)
        there = self.reference(atom)
        return there.steps == () and self.is_exclusive(self.state.value(there.root))

    def owned_in(self, state: State, atom: Atom) -> bool:
        """Say whether a value is nobody else's at the end of an arm."""
        before, self.state = self.state, state
        try:
            return not is_mutable(self.s.unit.type(atom)) or self.owns(atom)
        finally:
            self.state = before
