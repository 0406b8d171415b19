"""Storage while specialising: writes become new values, references follow them.

The specialised code is functional: ``x[i] = v`` makes a new value of x, an ``Update``. What Python
means by it, that every name and container which refers to the storage of x sees the write, is kept
here. A *root* is the variable that a piece of storage was first known by; a reference leads to a
part of it, by ``Step`` after ``Step``. The heap holds the latest value of every root that has been
written. Reading a variable gives its latest value: itself if nothing was written since, otherwise
its part of the root's latest value, read anew.

Where two roots may share storage in a way that is not known exactly, they are *entangled*: a write
to one makes the other unreadable, and reading it is refused; but if emitted code gives only slots
of a container other objects, only what may be that container or hold it. A value is *exclusive* if
no other root can refer to its storage and the caller has none of it; writes to other values copy
first, so that the writes of emitted code never reach what somebody else holds.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adcompiler.analyses.purity import is_destructive
from adcompiler.analyses.storage import (
    Sharing, checked, is_container, is_mutable, type_of_view, written_operand,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Closure, Const, Global, Item, Let, Origin, Pack, Rhs,
    Statement, Step, Update, Var, unstar,
)
from adcompiler.ir.visit import definitions
from adcompiler.ops.registry import hashable
from adcompiler.runtime import choose, own, record
from adcompiler.runtime.shaping import reshape_view
from adcompiler.specialise.writer import Writer

SLOTS_MOVED = 0
"""The depth of a change that may have moved every slot of a container."""


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Where a value lies: the part of ``root`` that ``steps`` lead to, as it was in ``at``."""

    root: Var
    steps: tuple[Step, ...]
    at: Atom


@dataclass(frozen=True, slots=True)
class Change:
    """What made a value of a root of the value ``before``.

    ``rebound`` is the number of steps after which a slot of a container was given another object,
    None if only the content of arrays, or the end of a list, has changed. ``grown`` holds
    the depths of lists whose end has: subscripts counted from the end lead to other items then.
    ``content`` says that objects which slots held before may have changed as well.
    """

    before: Atom
    rebound: int | None
    grown: frozenset[int] = frozenset()
    content: bool = True

    def reaches(self, depth: int) -> bool:
        """Say whether an object that as many steps lead to may have changed itself."""
        return self.content or any(k >= depth for k in self.grown) or (
            self.rebound is not None and self.rebound >= depth
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """A root that is one of two others: the first if ``condition`` is true.

    ``seen`` are the values of these roots that its latest value was read from.
    """

    condition: Atom
    alternatives: tuple[Reference, Reference]
    seen: tuple[Atom, ...] = ()


@dataclass(eq=False)
class State:
    """What is known at one point of the code; copied where control flow parts.

    ``latest`` is the latest value of each root that was written; ``entangled`` the roots that may
    share storage; ``lost`` those that may have been written through another one, with the place.
    ``exclusive`` says of values whether nobody else holds their storage, where that is not clear
    from how they were made. ``choices`` are the roots that are one of two others.
    """

    latest: dict[Var, Atom] = field(default_factory=dict)
    entangled: dict[Var, set[Var]] = field(default_factory=dict)
    lost: dict[Var, tuple[Origin, Var]] = field(default_factory=dict)
    exclusive: dict[Atom, bool] = field(default_factory=dict)
    choices: dict[Var, Choice] = field(default_factory=dict)

    def copy(self) -> State:
        """Return an independent copy."""
        return State(
            dict(self.latest), {root: set(others) for root, others in self.entangled.items()},
            dict(self.lost), dict(self.exclusive), dict(self.choices),
        )

    def value(self, root: Var) -> Atom:
        """Return the latest value of a root."""
        return self.latest.get(root, root)


class Heap:
    """The storage of one function while it is specialised.

    ``foreign`` are values that were there before, which are never written into; ``copies`` the
    roots that were copied since, because somebody else held them as well. ``callers`` are roots
    that are given back to the caller, ``given_away`` what a function of which nothing is known
    was given, with its name, ``opaque`` what
    results of such functions may refer to copies of.
    """

    def __init__(self, s: Writer) -> None:
        self.s = s
        self.state = State()
        self.references: dict[Var, Reference] = {}
        self.changes: dict[Atom, Change] = {}
        self.levels: dict[Var, int] = {}
        self.behind: dict[Var, tuple[Var, ...]] = {}
        self.aliases: dict[Var, set[Var]] = {}
        self.holds: dict[Var, set[Var]] = {}
        self.filled: set[Var] = set()
        self.copies: set[Var] = set()
        self.callers: set[Var] = set()
        self.level = 0
        self.settled_level = 1 << 30
        self.iterating: list[Reference] = []
        self.derived: dict[Var, dict[Var, bool]] = {}
        self.derived_of: dict[Atom, set[Var]] = {}
        self.sharing = Sharing(s.unit.type, s.unit.definition)
        self.repackings: set[Atom] = set()
        self.globals: dict[tuple[str, str], Var] = {}
        self.prologue: list[Statement] = []
        self.given_away: dict[tuple[Var, Origin], str] = {}
        self.opaque: dict[Var, tuple[Var, ...]] = {}
        self.live: frozenset[Var] = frozenset()
        self.foreign: frozenset[Atom] = frozenset()

    def global_value(self, rhs: Global, type_: t.Type, name: str, origin: Origin) -> Var:
        """Return the variable for an object that a global name refers to, read at the start."""
        key = (rhs.module, rhs.path)
        var = self.globals.get(key)
        if var is None:
            var = self.globals[key] = Var(name)
            self.s.unit.record(var, rhs, type_)
            self.prologue.append(Let(var, rhs, origin))
        return var

    def written(
        self, params: Iterable[Var], copies: Mapping[Var, Var] | None = None
    ) -> list[tuple[Var, Atom]]:
        """Return what was there before the code ran and is written, with what it has become.

        ``copies`` are what the code works on in place of parameters.
        """
        there = [*params, *self.s.unit.captured.values(), *self.globals.values()]
        roots = {var: (copies or {}).get(var, var) for var in there}
        return [
            (var, self.state.latest[root]) for var, root in roots.items()
            if root in self.state.latest
        ]

    # -- what is where -------------------------------------------------------------------------

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

    def rename(self, old: Var, new: Var) -> None:
        """Know ``new`` for all that is known of ``old``, which it takes the place of."""
        def other(atom: Atom) -> Atom:
            return new if atom is old else atom

        if old in self.levels:
            self.levels[new] = self.levels[old]
        if old in self.references:
            there = self.references[old]
            root = new if there.root is old else there.root
            self.references[new] = Reference(root, there.steps, other(there.at))
        if old in self.holds:
            self.holds[new] = self.holds[old]
        for held in self.holds.values():
            if old in held:
                held.add(new)
        if old in self.derived_of:
            self.derived_of[new] = self.derived_of[old]
        if old in self.derived:
            self.derived[new] = self.derived[old]
        for made in self.derived.values():
            if old in made:
                made[new] = made[old]
        if old in self.changes:
            self.changes[new] = self.changes[old]
        state = self.state
        tables: tuple[dict[Any, Any], ...] = (
            state.latest, state.lost, state.exclusive, state.entangled
        )
        for table in tables:
            if old in table:
                table[new] = table.pop(old)
        for root, latest in state.latest.items():
            if latest is old:
                state.latest[root] = new
        for others in state.entangled.values():
            if old in others:
                others.discard(old)
                others.add(new)

    def is_outer(self, root: Var) -> bool:
        """Say whether a root was there before the region that is being specialised."""
        return self.levels.get(root, 0) < self.level

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
                step = checked(how, self.place_in_text())
                self.s.unit.relies_on_layout |= step.function is reshape_view
                steps = (*there.steps, step)
                self.references[var] = Reference(there.root, steps, self.state.value(there.root))
            elif how == "same":
                self.references[var] = there
            elif how == "holds" and (isinstance(rhs, Pack) or rhs_is_record(rhs)):
                continue  # parts are found through the definition
            else:
                self.join(var, operand, how == "holds" and makes_container(rhs))

    def place_in_text(self) -> str:
        """Return what messages of emitted code call the line that is being specialised."""
        at = self.s.at
        return "here" if at is None else f"{at.file.rsplit('/', 1)[-1]}:{at.line}"

    def join(self, root: Var, atom: Atom, within: bool = False) -> None:
        """Note that a root may share storage with all that a value refers to.

        ``within`` says that the root is a container which holds that, and no part of it.
        """
        for other in self.roots(atom):
            for third in list(self.state.entangled.get(other, ())):
                self.pair(root, third)
            if within:
                self.pair(root, other)
                self.holds.setdefault(root, set()).add(other)
            else:
                self.entangle(root, other)

    def is_latest(self, value: Atom) -> bool:
        """Say whether a value is what a root that was written refers to now."""
        return any(latest is value for latest in self.state.latest.values())

    def forget(self, root: Var) -> None:
        """Begin with a new object under this root: what was known of the former one is void."""
        for other in self.state.entangled.pop(root, set()):
            self.state.entangled.get(other, set()).discard(root)
        self.state.lost.pop(root, None)
        self.state.exclusive.pop(root, None)
        self.state.latest.pop(root, None)

    def roots(self, atom: Atom) -> Iterable[Var]:
        """Return the roots of the storage that a value refers to."""
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return ()
        parts = self.parts(atom)
        if parts is None:
            root = self.reference(atom).root
            return (root, *self.behind.get(root, ()))
        own = () if isinstance(self.s.unit.type(atom), t.Tuple) else (self.reference(atom).root,)
        return dict.fromkeys((*own, *(root for part in parts for root in self.roots(part))))

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

    def entangle(self, a: Var, b: Var) -> None:
        """Note that two roots may share storage, in whatever way."""
        self.holds.setdefault(a, set()).add(b)
        self.holds.setdefault(b, set()).add(a)
        self.pair(a, b)

    def may_reach(self, start: Var, root: Var) -> bool:
        """Say whether the object under a root may be found from that under ``start``."""
        seen = {start}
        waiting = [start]
        while waiting:
            new = self.holds.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return root in seen

    def pair(self, a: Var, b: Var) -> None:
        """Note that two roots may share storage, in a way that ``holds`` tells."""
        if a is b:
            return
        self.state.entangled.setdefault(a, set()).add(b)
        self.state.entangled.setdefault(b, set()).add(a)
        for root in (a, b):
            self.state.exclusive[self.state.value(root)] = False

    def derive(self, made: Atom, sources: Iterable[Any], slots: bool = False) -> None:
        """Note what an iterator reads when it is run through: written before, it has another end.

        Emitted code computes the items, or takes what they are computed of, when it is made. With
        ``slots`` it takes the items themselves, so that a write into these does no harm.
        """
        if not isinstance(made, Var):
            return
        mine = self.reference(made).root
        for source in map(unstar, sources):
            rhs = self.s.unit.definition(source)
            if isinstance(rhs, Closure):
                self.derive(made, rhs.captures, slots)
            for root in (*self.roots(source), *self.derived_of.get(source, ())):
                if root is not mine:
                    self.derived.setdefault(root, {})[mine] = slots
                    self.derived_of.setdefault(mine, set()).add(root)

    # -- reading -------------------------------------------------------------------------------

    def is_current(self, atom: Atom) -> bool:
        """Say whether nothing was written to what a variable refers to since it was read."""
        if not isinstance(atom, Var):
            return True
        there = self.reference(atom)
        return there.at is self.state.value(there.root)

    def since(self, part: Atom, obj: Atom, origin: Origin) -> Atom:
        """Return what a part of an earlier value ``obj`` of a container refers to now."""
        if isinstance(part, Var) and isinstance(obj, Var) and part in self.references:
            self.references[part] = replace(self.references[part], at=self.reference(obj).at)
        return self.current(part, origin)

    def current(self, atom: Atom, origin: Origin) -> Atom:
        """Return the atom that holds what a variable refers to now."""
        if not isinstance(atom, Var) or not (self.state.latest or self.state.lost):
            return atom
        type_ = self.s.unit.type(atom)
        if isinstance(type_, t.FunctionType):
            return self.closed_again(atom, origin)
        if not is_mutable(type_):
            return atom
        parts = self.parts(atom)
        if isinstance(type_, t.Tuple) and parts is not None:
            return self.repacked(atom, parts, origin)
        there = self.reference(atom)
        if there.root in self.state.choices:
            self.choose_again(there.root, origin)
        if there.root in self.state.lost:
            return self.refuse_lost(atom, there.root, origin)
        latest = self.state.value(there.root)
        if there.at is not latest:
            written = len(self.s.out)
            found = self.moved(atom, there, latest, origin)
            if atom in self.s.unit.detached and there.steps and len(self.s.out) > written:
                self.s.unit.detached |= definitions(Block(tuple(self.s.out[written:])))
            if found is not atom:
                return self.current(found, origin) if self.parts(found) else found
        return atom if parts is None else self.repacked(atom, parts, origin)

    def bring_up_to_date(self, root: Var, origin: Origin) -> None:
        """Make the latest value of a container that was written out hold what was written since."""
        value = self.state.value(root)
        if self.parts(value) is None or root in self.state.lost:
            return
        for other in self.roots(value):
            if other in self.state.lost:
                self.state.lost[root] = self.state.lost[other]
                return
        self.current(root, origin)

    def moved(self, atom: Var, there: Reference, latest: Atom, origin: Origin) -> Atom:
        """Return what a reference to an earlier value of a root refers to now."""
        if not there.steps:
            return latest
        value, passed = latest, []
        while value is not there.at and value in self.changes:
            passed.append((value, self.changes[value]))
            value = self.changes[value].before
        counted = {i for i, step in enumerate(there.steps) if may_count_from_end(step)}
        depth = len(there.steps)
        if any(
            (c.rebound is not None and depth > c.rebound) or c.grown & counted for _, c in passed
        ):
            if not any(c.reaches(depth) for _, c in passed):
                self.detach(atom, there.root)
                return atom
            return self.refuse_lost(atom, there.root, origin)
        return self.read(there, latest, origin, atom.name)

    def detach(self, atom: Var, root: Var) -> None:
        """Give an object that was taken out of its slot a root of its own.

        The container stays exclusive: a write into the object makes a copy of it.
        """
        latest = self.state.value(root)
        exclusive = self.is_exclusive(latest)
        self.s.unit.taken_out[atom] = root
        self.references[atom] = Reference(atom, (), atom)
        self.levels.setdefault(atom, self.level)
        self.entangle(atom, root)
        self.state.exclusive[latest] = exclusive

    def read(self, there: Reference, latest: Atom, origin: Origin, name: str) -> Atom:
        """Write the reading of a part of a root's latest value."""
        value = latest
        for step in there.steps:
            value = self.follow(value, step, origin, name)
        if isinstance(value, Var) and is_mutable(self.s.unit.type(value)) and (
            self.parts(latest) is None
        ):
            self.references[value] = Reference(there.root, there.steps, latest)
        return value

    def follow(self, obj: Atom, step: Step, origin: Origin, name: str) -> Atom:
        """Write one step from a value to a part of it."""
        s = self.s
        match step.kind:
            case "item":
                return s.item(obj, step.args[0], origin, name)
            case "attr":
                return s.attribute(obj, step.name, origin, name)
            case "method":
                method = s.attribute(obj, step.name, origin, step.name)
                return s.call(method, list(step.args), dict(step.kwargs), origin, name)
        found = type_of_view(s.unit.type(obj), step, s.unit.type)
        if found is not None:
            return s.let(Call(Const(step.function), (obj, *step.args), step.kwargs), found, name,
                         origin)
        return s.call(
            Const(step.function), [obj, *step.args], dict(step.kwargs), origin, name
        )

    def repacked(self, atom: Var, parts: tuple[Atom, ...], origin: Origin) -> Atom:
        """Return a container made anew if something that it refers to was written."""
        now = tuple(self.current(part, origin) for part in parts)
        if all(a is b for a, b in zip(now, parts, strict=True)):
            return atom
        rhs = self.s.unit.definition(atom)
        changed = dict(zip(parts, now, strict=True))
        if isinstance(rhs, Pack):
            items = tuple(
                type(item)(changed[unstar(item)]) if not isinstance(item, (Var, Const))
                else changed[item] for item in rhs.items
            )
            new: Rhs = Pack(rhs.kind, items, rhs.keys)
        else:
            assert isinstance(rhs, Call)
            if rhs.kwargs:
                named = tuple((key, changed[value]) for key, value in rhs.kwargs)
                new = Call(rhs.func, rhs.args, named)
            else:
                new = Call(rhs.func, now, rhs.kwargs)
        var = self.s.let(new, self.s.unit.type(atom), atom.name, origin, atom.temporary)
        if not isinstance(self.s.unit.type(atom), t.Tuple):
            self.advance(self.reference(atom).root, var, None, content=False)
            self.repackings.add(var)
        return var

    def written_value(self, value: Atom) -> Atom:
        """Return the value of a root that ``value`` is, but for parts with roots of their own."""
        while value in self.repackings:
            value = self.changes[value].before
        return value

    def closed_again(self, atom: Var, origin: Origin) -> Atom:
        """Return a function made anew if something that it captured was written."""
        rhs = self.s.unit.definition(atom)
        if not isinstance(rhs, Closure):
            return atom
        captures = tuple(self.current(a, origin) for a in rhs.captures)
        if all(a is b for a, b in zip(captures, rhs.captures, strict=True)):
            return atom
        new = Closure(rhs.function, captures, rhs.defaults, rhs.scope)
        return self.s.let(new, self.s.unit.type(atom), atom.name, origin, atom.temporary)

    def refuse_lost(self, atom: Var, root: Var, origin: Origin) -> Atom:
        """Report the reading of a value that may have been written under another name."""
        where, other = self.state.lost.get(root, (origin, root))
        place = f"line {where.line}"
        name, written = (self.s.unit.names.get(v, v.name) for v in (atom, other))
        given = self.given_away.get((root, where))
        if given is not None:
            return self.s.reject(
                origin, f"{given}(), called at {place}, may have written into `{name}`; nothing is "
                "known of what it does",
                f"say what it writes into, if anything: adcompiler.facts({given}, writes=()); "
                "or give it a copy", "unknown-calls",
            )
        if other in self.derived_of.get(root, ()):
            return self.s.reject(
                origin, f"an iterator that reads `{written}`, which was written into at {place}, "
                "before the iterator has come to its end",
                "make a list of it first: `list(...)`, or a comprehension", "iterators",
            )
        return self.s.reject(
            origin, f"`{name}` may share storage with `{written}`, which was written "
            f"into at {place}; whether it sees the write is not known when compiling",
            f"use a copy: `{written} = {written}.copy()` before the write, or read the "
            "value through one name only", "aliases",
        )

    # -- one of two values ---------------------------------------------------------------------

    def alternative(self, atom: Atom) -> Reference | None:
        """Return where the result of an arm lies, if it was there before and can be read again."""
        if not isinstance(atom, Var):
            return None
        there = self.reference(atom)
        if self.levels.get(there.root, 0) > self.level or there.root in self.state.lost:
            return None
        if there.root not in self.state.choices and there.root in self.behind:
            return None
        type_ = self.s.unit.type(there.root)
        for step in there.steps:
            if any(isinstance(a, Var) and self.levels.get(a, 0) > self.level for a in step.atoms):
                return None
            if step.kind != "item":
                if step.kind == "attr" and isinstance(type_, t.Object):
                    type_ = type_.field(step.name) or t.UNKNOWN
                continue
            key = step.args[0].value if isinstance(step.args[0], Const) else None
            match type_:
                case t.Tuple(items) if isinstance(key, int):
                    type_ = items[key]
                case t.Dict(keys, items) if keys is not None and key in keys:
                    type_ = items[keys.index(key)]
                case t.Array() if not self.picks(step.args[0]):
                    pass
                case _:
                    return None
        return Reference(there.root, there.steps, self.state.value(there.root))

    def picks(self, index: Atom) -> bool:
        """Say whether a subscript of an array may name what is not there: it has an int."""
        if isinstance(index, Const):
            parts = index.value if isinstance(index.value, tuple) else (index.value,)
            return any(isinstance(part, int) for part in parts)
        rhs = self.s.unit.definition(index)
        if isinstance(rhs, Pack):
            return any(self.picks(unstar(item)) for item in rhs.items)
        return not isinstance(self.s.unit.type(index), t.SliceType)

    def chosen(
        self, condition: Atom, alternatives: tuple[Reference, Reference], name: str, type_: t.Type,
        origin: Origin,
    ) -> Var:
        """Write a value that is one of two, and keep it apart which."""
        values = [self.part_again(there, origin, name) for there in alternatives]
        rhs = Call(Const(choose), (condition, *values))
        var = self.s.let(rhs, type_, name, origin, False)
        self.behind[var] = tuple(dict.fromkeys(
            root for there in alternatives
            for root in (there.root, *self.behind.get(there.root, ()))
        ))
        for root in self.behind[var]:
            for other in list(self.state.entangled.get(root, ())):
                self.entangle(var, other)
        self.state.exclusive[var] = False
        self.state.choices[var] = Choice(condition, alternatives, self.seen(var))
        return var

    def seen(self, root: Var) -> tuple[Atom, ...]:
        """Return the values of the roots that a choice is between."""
        return tuple(self.state.value(r) for r in self.behind[root])

    def choose_again(self, root: Var, origin: Origin) -> None:
        """Write the choice anew if one of the values it is between was written since."""
        choice = self.state.choices[root]
        lost = [r for r in self.behind[root] if r in self.state.lost]
        if lost:
            self.state.lost.setdefault(root, self.state.lost[lost[0]])
            return
        if choice.seen == self.seen(root):
            return
        values = [self.part_again(there, origin, root.name) for there in choice.alternatives]
        before = self.state.value(root)
        new = self.s.let(
            Call(Const(choose), (choice.condition, *values)), self.s.unit.type(root), root.name,
            origin, False,
        )
        self.state.latest[root] = new
        self.changes[new] = Change(before, None)
        self.references[new] = Reference(root, (), new)
        self.levels.setdefault(new, self.level)
        self.state.exclusive[new] = False
        self.state.lost.pop(root, None)
        self.state.choices[root] = Choice(
            choice.condition, choice.alternatives, self.seen(root))

    def part_again(self, there: Reference, origin: Origin, name: str) -> Atom:
        """Write the reading of a part of a root, as the root is now."""
        if there.root in self.state.choices:
            self.choose_again(there.root, origin)
        if there.root in self.state.lost:
            return self.refuse_lost(there.root, there.root, origin)
        latest = self.state.value(there.root)
        depth = self.rebound_between(there.at, (latest,))
        if depth is not None and len(there.steps) > depth:
            return self.refuse_lost(there.root, there.root, origin)
        if not there.steps:
            return self.current(latest, origin) if self.parts(latest) else latest
        return self.read(there, latest, origin, name)

    # -- writing -------------------------------------------------------------------------------

    def write(
        self, atom: Var, steps: tuple[Step, ...], value: Atom, origin: Origin, adds: bool = False,
        rebound: int | None = None, grown: Iterable[int] = (),
    ) -> Atom:
        """Write a store of ``value`` to the part of what ``atom`` refers to that ``steps`` lead to.

        ``rebound`` says after how many steps from ``atom`` a slot of a container is given another
        object. Returns the latest value of the root.
        """
        there = self.reference(atom)
        root = there.root
        if root in self.state.lost:
            return self.refuse_lost(atom, root, origin)
        base = self.exclusive_value(root, origin)
        type_ = self.written_type(base, (*there.steps, *steps), value)
        new = self.s.let(
            Update(base, (*there.steps, *steps), value, adds), type_, root.name, origin, False
        )
        if isinstance(type_, t.Array):
            self.s.unit.shapes[new] = self.s.unit.shape_class(base)
        else:
            self.s.unit.written_inside |= adds or len(there.steps) + len(steps) != 1
        if rebound is not None:
            rebound += len(there.steps)
        self.advance(root, new, rebound, origin, grown, rebound is None and not grown)
        return new

    def written_type(self, base: Atom, steps: tuple[Step, ...], value: Atom) -> t.Type:
        """Return the type of a value after a store."""
        type_ = self.s.unit.type(base)
        if not is_container(type_):
            return type_
        return stored(type_, steps, self.s.unit.type(value))

    def advance(
        self, root: Var, new: Atom, rebound: int | None, origin: Origin | None = None,
        grown: Iterable[int] = (), content: bool = True,
    ) -> None:
        """Make ``new`` the latest value of a root; entangled roots can no longer be read."""
        before = self.state.value(root)
        if self.parts(new) is None:
            self.hold_parts(root, before)
        self.state.latest[root] = new
        self.changes[new] = Change(before, rebound, frozenset(grown), content)
        if isinstance(new, Var):
            self.references[new] = Reference(root, (), new)
            self.levels.setdefault(new, self.level)
        if before in self.state.exclusive:
            self.state.exclusive[new] = self.state.exclusive[before]
        if origin is None:
            return
        if self.state.choices.pop(root, None) is not None:
            for other in self.behind[root]:
                self.state.lost.setdefault(other, (origin, root))
        written = self.written_slots(new, rebound)
        if written is None:
            self.filled.add(root)
        own_slots = self.is_slot_written(new, rebound)
        for made, slots in self.derived.get(root, {}).items():
            if not slots or rebound is not None or self.changes[new].grown:
                self.state.lost.setdefault(made, (origin, root))
        for other in self.state.entangled.get(root, ()):
            if own_slots and self.s.in_emitted and not self.may_reach(other, root):
                continue
            if written is None or may_hold(self.s.unit.type(other), written):
                for lost in (other, *self.derived.get(other, ())):
                    self.state.lost.setdefault(lost, (origin, root))

    def hold_parts(self, root: Var, value: Atom) -> None:
        """Note what a container refers to of which the parts will no longer be known."""
        for part in self.parts(value) or ():
            for other in self.roots(part):
                if other is not root:
                    self.join(root, part, within=True)

    def is_slot_written(self, new: Atom, rebound: int | None) -> bool:
        """Say whether a container's own slots were written, and nothing that it holds."""
        rhs = self.s.unit.definition(new)
        if isinstance(rhs, Update):
            return rebound == 0
        return isinstance(rhs, Call) and is_container(self.s.unit.type(new)) and is_destructive(rhs)

    def written_slots(self, new: Atom, rebound: int | None) -> t.Type | None:
        """Return the type of the container of which a slot was written, None for arrays."""
        type_ = self.s.unit.type(new)
        rhs = self.s.unit.definition(new)
        if not isinstance(rhs, Update):
            return type_ if is_container(type_) else None
        if rebound is None:
            return None
        for step in rhs.steps[:rebound]:
            match type_:
                case t.List(item):
                    type_ = item
                case t.Dict(None, (item,)):
                    type_ = item
                case t.Object() if step.kind == "attr":
                    type_ = type_.field(step.name) or t.UNKNOWN
                case _:
                    return t.UNKNOWN
        return type_

    def exclusive_value(self, root: Var, origin: Origin) -> Atom:
        """Return the latest value of a root in storage that nobody else refers to."""
        base = self.state.value(root)
        if self.is_exclusive(base):
            return base
        return self.copied(root, origin)

    def copied(self, root: Var, origin: Origin) -> Atom:
        """Write a copy of a root's latest value, and make that the latest one."""
        base = self.state.value(root)
        type_ = self.s.unit.type(base)
        new = self.copy_to_write(base, type_, root.name, origin)
        self.copies.add(root)
        if isinstance(type_, t.Array):
            self.s.unit.shapes[new] = self.s.unit.shape_class(base)
        exclusive = dict(self.state.exclusive)
        self.advance(root, new, None, content=False)
        self.references[new] = Reference(root, (), new)
        self.state.exclusive = {**exclusive, new: True}  # a copy: parts are held by nobody more
        return new

    def copy_to_write(self, value: Atom, type_: t.Type, name: str, origin: Origin) -> Var:
        """Write a copy of a value, which will be written into; see ``layouts``."""
        function = np.copy if isinstance(type_, t.Array) else own
        new = self.s.let(Call(Const(function), (value,)), type_, name, origin, False)
        assert isinstance(new, Var)
        self.s.unit.copied_for_writes.add(new)
        return new

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
        return not any(True for _ in self.sharing.of(atom, rhs)) and isinstance(rhs, Call) and (
            isinstance(rhs.func, Const) or self.is_fresh_method(rhs)
        )

    def owns(self, atom: Atom) -> bool:
        """Say whether what a value refers to now is nobody else's, as a whole."""
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return True
        if self.parts(atom) is not None:
            return self.is_exclusive(atom)
        there = self.reference(atom)
        return there.steps == () and self.is_exclusive(self.state.value(there.root))

    def is_fresh_method(self, rhs: Call) -> bool:
        """Say whether a method of an array gives an array of its own."""
        made = self.s.unit.definition(rhs.func)
        return isinstance(made, Attribute) and isinstance(self.s.unit.type(made.obj), t.Array)

    # -- values that come from several places --------------------------------------------------

    def entangle_alike(self, made: Sequence[tuple[Var, Sequence[Atom]]]) -> None:
        """Entangle values that a region gives, where what they may be shares storage."""
        for one, other in self.alike(made):
            self.pair(one, other)

    def alike(self, made: Sequence[tuple[Var, Sequence[Atom]]]) -> list[tuple[Var, Var]]:
        """Return the pairs among values that a region gives which may share storage.

        ``made`` lists the values with what each way through the region gives for them.
        """
        found = []
        for k, (one, ours) in enumerate(made):
            for other, theirs in made[:k]:
                for mine, his in zip(ours, theirs, strict=False):
                    near = {r for root in self.roots(mine)
                            for r in (root, *self.state.entangled.get(root, ()))}
                    if near & set(self.roots(his)):
                        found.append((one, other))
        return found

    def owned_in(self, state: State, atom: Atom) -> bool:
        """Say whether a value is nobody else's at the end of an arm."""
        before, self.state = self.state, state
        try:
            return not is_mutable(self.s.unit.type(atom)) or self.owns(atom)
        finally:
            self.state = before

    def adopt(self, var: Var, sources: Iterable[Atom], owned: bool = True) -> None:
        """Enter a value that is one of ``sources``, which are not referred to any more.

        ``owned`` says that each was nobody else's where it came from.
        """
        self.levels[var] = self.level
        if not is_mutable(self.s.unit.type(var)):
            return
        exclusive = owned
        roots: dict[Var, None] = {}
        for source in sources:
            if source is UNDEF or not isinstance(source, Var):
                exclusive = exclusive and (
                    source is UNDEF or not is_mutable(self.s.unit.type(source))
                )
                continue
            exclusive = exclusive and self.owns(source)
            self.may_be_one(var, self.reference(source).root)
            roots.update(dict.fromkeys(self.roots(source)))
        for root in roots:
            for other in list(self.state.entangled.get(root, ())):
                if self.is_outer(other) and other not in roots:
                    self.pair(var, other)
            self.entangle(var, root)
        self.state.exclusive[var] = exclusive

    def may_be_one(self, a: Var, b: Var) -> None:
        """Note that two roots may be one object; other entangled ones may hold one another."""
        together = self.aliases.setdefault(a, {a}) | self.aliases.setdefault(b, {b})
        for root in together:
            self.aliases[root] = together

    def may_write(self, var: Var) -> bool:
        """Say whether what ``var`` is, or holds, may have been written under another name."""
        if var not in self.state.lost:
            return False
        _, other = self.state.lost[var]
        return other in self.filled or var in self.aliases.get(other, ()) or not isinstance(
            self.s.unit.type(other), (t.List, t.Dict)
        )

    def merge(self, a: State, b: State) -> dict[Var, tuple[Atom, Atom]]:
        """Return the roots that differ after two arms; what else is known of both is joined."""
        merged = State(dict(a.latest), {}, {**a.lost, **b.lost}, {**a.exclusive})
        for state in (a, b):
            for root, others in state.entangled.items():
                merged.entangled.setdefault(root, set()).update(others)
        for atom, exclusive in b.exclusive.items():
            merged.exclusive[atom] = exclusive and merged.exclusive.get(atom, True)
        for root, choice in a.choices.items():
            if root in b.choices and self.is_outer(root):
                merged.choices[root] = Choice(choice.condition, choice.alternatives)
        differing = {}
        for root in dict.fromkeys((*a.latest, *b.latest)):
            if not self.is_outer(root) or root in merged.choices:
                merged.latest.pop(root, None)
                continue
            one, two = a.value(root), b.value(root)
            base = self.written_value(one)
            if one is not two and base is self.written_value(two):
                merged.latest[root] = base
            elif one is not two:
                differing[root] = (one, two)
        self.state = merged
        return differing

    def grown_between(self, before: Atom, after: Iterable[Atom]) -> set[int]:
        """Return the depths of lists whose end has changed on the way to one of ``after``."""
        found: set[int] = set()
        for atom in after:
            step = atom
            while step is not before and step in self.changes:
                found |= self.changes[step].grown
                step = self.changes[step].before
        return found

    def content_between(self, before: Atom, after: Iterable[Atom]) -> bool:
        """Say whether objects in slots may have changed on the way to one of ``after``."""
        for atom in after:
            step = atom
            while step is not before and step in self.changes:
                if self.changes[step].content:
                    return True
                step = self.changes[step].before
        return False

    def rebound_between(self, before: Atom, after: Iterable[Atom]) -> int | None:
        """Return the least depth at which slots were rebound on the way to one of ``after``."""
        found: int | None = None
        for atom in after:
            step = atom
            while step is not before and step in self.changes:
                rebound = self.changes[step].rebound
                if rebound is not None:
                    found = rebound if found is None else min(found, rebound)
                step = self.changes[step].before
        return found


NEW_CONTAINERS: frozenset[Any] = frozenset({
    list, tuple, sorted, dict, operator.add, operator.mul,
})
"""Functions that make a new container of what others hold."""


def makes_container(rhs: Rhs) -> bool:
    """Say whether a value that holds what others hold is a new container: no part of these."""
    if isinstance(rhs, Item):  # of a list, by a slice
        return True
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
        hashable(rhs.func.value) and rhs.func.value in NEW_CONTAINERS
    )


def may_count_from_end(step: Step) -> bool:
    """Say whether a step may be a subscript that is negative."""
    if step.kind != "item":
        return False
    index = step.args[0]
    return not isinstance(index, Const) or (isinstance(index.value, int) and index.value < 0)


def step_key(step: Step) -> object:
    """Return a value that is equal for steps that lead to the same part."""
    atoms = tuple(
        (type(a.value), repr(a.value)) if isinstance(a, Const) else a for a in step.atoms
    )
    return (step.kind, step.name, step.function, atoms)


def rhs_is_record(rhs: Rhs) -> bool:
    """Say whether a right-hand side makes a namedtuple or an instance of its arguments."""
    if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is record:
        return True
    return (
        isinstance(rhs, Call) and isinstance(rhs.func, Const) and isinstance(rhs.func.value, type)
        and issubclass(rhs.func.value, tuple) and hasattr(rhs.func.value, "_fields")
        and not rhs.kwargs
    )


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


def joined_item(item: t.Type, value: t.Type) -> t.Type:
    """Return the type of a list's items after one was stored."""
    joined = t.join(item, value)
    return t.UNKNOWN if isinstance(joined, t.Static) else joined
