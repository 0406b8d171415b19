"""Reading a variable: what it refers to now, read anew if that was written since."""

from __future__ import annotations

import re
from dataclasses import replace

from adcompiler.analyses.storage import is_mutable, reads_later, type_of_view
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Closure, Const, Origin, Pack, Rhs, Star, Step, Var, unstar,
)
from adcompiler.ir.visit import definitions
from adcompiler.ops.facts import NEVER_NEGATIVE
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import choose
from adcompiler.infer.calls.missing import not_writing
from adcompiler.infer.storage.aliases import Storage
from adcompiler.infer.storage.kill_sets import Changes
from adcompiler.infer.storage.pending import Pending
from adcompiler.infer.storage.state import Change, Choice, Reference
from adcompiler.infer.lost_types import expression


def may_count_from_end(step: Step, made: Rhs | None) -> bool:
    """Say whether a step may be a subscript that is negative; ``made`` defines the subscript."""
    if step.kind != "item" or (
        isinstance(made, Call) and isinstance(made.func, Const)
        and REGISTRY.facts(made.func.value).sign == NEVER_NEGATIVE
    ):
        return False
    index = step.args[0]
    return not isinstance(index, Const) or (isinstance(index.value, int) and index.value < 0)


class Reading:
    """Values as they are now."""

    def __init__(self, heap: Storage, changes: Changes, pending: Pending) -> None:
        self.heap, self.s, self.unit = heap, heap.s, heap.s.unit
        self.changes, self.pending = changes, pending

    def is_current(self, atom: Atom) -> bool:
        """Say whether nothing was written to what a variable refers to since it was read."""
        if not isinstance(atom, Var):
            return True
        there = self.heap.reference(atom)
        return there.at is self.heap.state.value(there.root)

    def since(self, part: Atom, obj: Atom, origin: Origin) -> Atom:
        """Return what a part of an earlier value ``obj`` of a container refers to now."""
        if isinstance(part, Var) and isinstance(obj, Var) and part in self.heap.references:
            references = self.heap.references
            references[part] = replace(references[part], at=self.heap.reference(obj).at)
        return self.current(part, origin)

    def current(self, atom: Atom, origin: Origin) -> Atom:
        """Return the atom that holds what a variable refers to now."""
        if not isinstance(atom, Var) or not (self.heap.state.latest or self.heap.state.invalidated):
            return atom
        type_ = self.unit.type(atom)
        if isinstance(type_, t.FunctionType):
            return self.closed_again(atom, origin)
        if not is_mutable(type_):
            return atom
        rhs = self.unit.definition(atom)
        if reads_later(rhs):
            atom = self.asked_again(atom, rhs, origin)
        parts = self.heap.parts(atom)
        if isinstance(type_, t.Tuple) and parts is not None:
            return self.repacked(atom, parts, origin)
        there = self.heap.reference(atom)
        if there.root in self.heap.state.choices:
            self.choose_again(there.root, origin)
        if there.root in self.heap.state.invalidated:
            return self.refuse_lost(atom, there.root, origin)
        latest = self.heap.state.value(there.root)
        if there.at is not latest:
            written = len(self.s.out)
            found = self.moved(atom, there, latest, origin)
            if atom in self.unit.writes.detached and there.steps and len(self.s.out) > written:
                self.unit.writes.detached |= definitions(Block(tuple(self.s.out[written:])))
            if found is not atom:
                return self.current(found, origin) if self.heap.parts(found) else found
        return atom if parts is None else self.repacked(atom, parts, origin)

    def bring_up_to_date(self, root: Var, origin: Origin) -> None:
        """Make the latest value of a container that was written out hold what was written since."""
        value = self.heap.state.value(root)
        if self.heap.parts(value) is None or root in self.heap.state.invalidated:
            return
        for other in self.heap.roots(value):
            if other in self.heap.state.invalidated:
                self.heap.state.invalidated[root] = self.heap.state.invalidated[other]
                return
        self.current(root, origin)

    def moved(self, atom: Var, there: Reference, latest: Atom, origin: Origin) -> Atom:
        """Return what a reference to an earlier value of a root refers to now."""
        if not there.steps:
            return latest
        value, passed = latest, []
        while value is not there.at and value in self.heap.history.changes:
            passed.append((value, self.heap.history.changes[value]))
            value = self.heap.history.changes[value].before
        counted = {i for i, step in enumerate(there.steps) if may_count_from_end(
            step, self.unit.definition(step.args[0]) if step.args else None)}
        depth = len(there.steps)
        if any(
            (c.rebound is not None and depth > c.rebound) or c.grown & counted for _, c in passed
        ):
            if not any(c.reaches(depth) for _, c in passed):
                self.detach(atom, there)
                return atom
            return self.refuse_lost(atom, there.root, origin)
        return self.read(there, latest, origin, atom.name)

    def detach(self, atom: Var, there: Reference) -> None:
        """Give an object that was taken out of its slot, ``there``, a root of its own.

        The container stays exclusive: a write into the object makes a copy of it.
        """
        root = there.root
        latest = self.heap.state.value(root)
        exclusive = self.heap.is_exclusive(latest)
        self.unit.writes.taken_out[atom] = root
        self.heap.taken_from[atom] = there
        self.heap.references[atom] = Reference(atom, (), atom)
        self.heap.levels.setdefault(atom, self.heap.level)
        self.heap.alias(atom, root)
        self.heap.state.exclusive[latest] = exclusive

    def read(self, there: Reference, latest: Atom, origin: Origin, name: str) -> Atom:
        """Write the reading of a part of a root's latest value."""
        value = latest
        for step in there.steps:
            value = self.follow(value, step, origin, name)
        if isinstance(value, Var) and is_mutable(self.unit.type(value)) and (
            self.heap.parts(latest) is None
        ):
            self.heap.references[value] = Reference(there.root, there.steps, latest)
        return value

    def follow(self, obj: Atom, step: Step, origin: Origin, name: str) -> Atom:
        """Write one step from a value to a part of it."""
        s = self.s
        match step.kind:
            case "item":
                return s.item(obj, step.args[0], origin, name)
            case "attr":
                return s.attribute(obj, step.name, origin, name)
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
        rhs = self.unit.definition(atom)
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
        type_ = self.type_made(new, self.unit.type(atom))
        var = self.s.let(new, type_, atom.name, origin, atom.temporary)
        if not isinstance(type_, t.Tuple):
            self.changes.advance(self.heap.reference(atom).root, var, None, content=False)
            self.heap.history.repackings.add(var)
        return var

    def type_made(self, made: Rhs, before: t.Type) -> t.Type:
        """Return the type of a container made anew, of parts that may have other types now."""
        type_of = self.unit.type
        match made, before:
            case Pack("tuple", items), t.Tuple(types, cls) if len(items) == len(types):
                return t.Tuple(tuple(type_of(unstar(item)) for item in items), cls)
            case Pack("dict", items), t.Dict(keys, types) if keys is not None and (
                len(items) == len(types)
            ):
                return t.Dict(keys, tuple(type_of(unstar(item)) for item in items))
            case Pack(_, items), t.List(item) if not any(isinstance(i, Star) for i in items):
                for part in items:
                    item = t.join(item, type_of(unstar(part)))
                return t.List(item)
            case Call(_, _, named), t.Object(cls, fields) if named:
                now = {key: type_of(value) for key, value in named if key is not None}
                return t.Object(cls, tuple((key, now.get(key, type_)) for key, type_ in fields))
        return before

    def asked_again(self, atom: Var, made: Call, origin: Origin) -> Var:
        """Return an iterator made anew if what it has not read yet was written."""
        before = tuple(map(unstar, made.args))
        now = tuple(self.current(arg, origin) for arg in before)
        if all(a is b for a, b in zip(now, before, strict=True)):
            return atom
        args = tuple(
            Star(new) if isinstance(arg, Star) else new
            for arg, new in zip(made.args, now, strict=True)
        )
        again = self.s.let(
            Call(made.func, args, made.kwargs), self.unit.type(atom), atom.name, origin,
            atom.temporary,
        )
        self.unit.iterators.one_shot.add(again)
        return again

    def closed_again(self, atom: Var, origin: Origin) -> Atom:
        """Return a function made anew if something that it captured was written."""
        rhs = self.unit.definition(atom)
        if not isinstance(rhs, Closure):
            return atom
        captures = tuple(self.current(a, origin) for a in rhs.captures)
        if all(a is b for a, b in zip(captures, rhs.captures, strict=True)):
            return atom
        if rhs.function in self.unit.calls.attributed:
            return self.s.reject(
                origin, f"`{atom.name}` has attributes, and what it captured was written since",
                "pass what is written as an argument", "closure-rebinding",
            )
        new = Closure(rhs.function, captures, rhs.defaults, rhs.scope)
        return self.s.let(new, self.unit.type(atom), atom.name, origin, atom.temporary)

    def refuse_lost(self, atom: Var, root: Var, origin: Origin) -> Atom:
        """Report the reading of a value that may have been written under another name."""
        where, other = self.heap.state.invalidated.get(root, (origin, root))
        place = f"line {where.line}"
        name = self.shown(atom, origin, "what is read here")
        written = self.shown(other, where, "a value")
        given = next((by for (_, at), by in self.heap.given_away.items() if at == where), None)
        if given is not None:
            what = self.shown(atom, origin, "what it was given")
            return self.s.reject(
                origin, f"{given}(), called at {place}, may have written into {what}, which is "
                "read here; nothing is known of what it does",
                f"{not_writing(given)}; or give it a copy", "unknown-calls",
            )
        if other in self.pending.derived_of.get(root, ()):
            return self.s.reject(
                origin, f"an iterator that reads {written}, which was written into at {place}, "
                "before the iterator has come to its end",
                "make a list of it first: `list(...)`, or a comprehension", "iterators",
            )
        if self.s.in_emitted:
            return self.s.reject(
                origin, "the derivative of this reads what may share storage with what it has "
                "written into; whether that is so is not known when compiling",
                "use copies of what is written, or another `mode=`", "aliases",
            )
        bare = written.strip("`")
        copied = f": `{bare} = {bare}.copy()`" if bare != written else ""
        sharing = f"{written}, which was written into at {place}" if copied else (
            f"what {expression(where)} writes into, at {place}")
        return self.s.reject(
            origin, f"{name} may share storage with {sharing}; whether it sees the write is not "
            f"known when compiling", f"use a copy{copied} before the write, or read the value "
            "through one name only", "aliases",
        )

    def shown(self, var: Var, origin: Origin, otherwise: str) -> str:
        """Return the user's name of a variable as messages show it; ``otherwise`` if it has none.
        """
        name = self.unit.naming.names.get(var, var.name)
        is_users = not var.temporary or re.search(rf"(?<!\.)\b{name}\b", origin.text)
        return f"`{name}`" if is_users else otherwise

    def choose_again(self, root: Var, origin: Origin) -> None:
        """Write the choice anew if one of the values it is between was written since."""
        choice = self.heap.state.choices[root]
        lost = [r for r in self.heap.behind[root] if r in self.heap.state.invalidated]
        if lost:
            self.heap.state.invalidated.note(root, *self.heap.state.invalidated[lost[0]])
            return
        if choice.seen == self.seen(root):
            return
        values = [self.part_again(there, origin, root.name) for there in choice.alternatives]
        before = self.heap.state.value(root)
        new = self.s.let(
            Call(Const(choose), (choice.condition, *values)), self.unit.type(root), root.name,
            origin, False,
        )
        self.heap.state.latest[root] = new
        self.heap.history.changes[new] = Change(before, None)
        self.heap.references[new] = Reference(root, (), new)
        self.heap.levels.setdefault(new, self.heap.level)
        self.heap.state.exclusive[new] = False
        self.heap.state.invalidated.pop(root, None)
        self.heap.state.choices[root] = Choice(
            choice.condition, choice.alternatives, self.seen(root))

    def seen(self, root: Var) -> tuple[Atom, ...]:
        """Return the values of the roots that a choice is between."""
        return tuple(self.heap.state.value(r) for r in self.heap.behind[root])

    def part_again(self, there: Reference, origin: Origin, name: str) -> Atom:
        """Write the reading of a part of a root, as the root is now."""
        if there.root in self.heap.state.choices:
            self.choose_again(there.root, origin)
        if there.root in self.heap.state.invalidated:
            return self.refuse_lost(there.root, there.root, origin)
        latest = self.heap.state.value(there.root)
        depth = self.heap.history.rebound_between(there.at, (latest,))
        if depth is not None and len(there.steps) > depth:
            return self.refuse_lost(there.root, there.root, origin)
        if not there.steps:
            return self.current(latest, origin) if self.heap.parts(latest) else latest
        return self.read(there, latest, origin, name)
