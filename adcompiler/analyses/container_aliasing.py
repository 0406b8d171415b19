"""Containers that may hold one object in two places, or overlapping arrays.

``s[0] = s[1]`` makes a list of one array twice: a write into ``s[0]`` is one into ``s[1]``. Values
here are functional, one place of a container apart from the other, so such a write must not be
compiled as if the two were apart. What is proved here to hold every object once needs no care.

A container holds an object once if whatever is put into it is made anew for that one place: by
the same iteration of every loop around the statement that puts it there, and nowhere else.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from adcompiler.analyses.exchanges import Exchanges, is_copy, slot_of
from adcompiler.analyses.escape import Classes, is_written_inside
from adcompiler.analyses.storage import Sharing, is_container, is_mutable, written_operand
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Let, Loop, Pack, Region, Rhs, Statement, Step,
    Update, Var, unstar,
)
from adcompiler.ir.visit import blocks_of
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import append, dict_values, put_entry, record
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee

ITEM_BY_ITEM: frozenset[object] = frozenset({
    list, tuple, dict, sorted, reversed, filter, operator.add, dict_values, append, put_entry,
    dict.copy, list.copy,
})
"""Functions whose result holds each item of an argument once, at most."""

Loops = frozenset[int]
"""The loops around a place, by identity."""


def gives_parts(function: Callable[..., Any] | Callee) -> bool:
    """Say whether a function cuts an array into parts that do not overlap."""
    return function in (list, tuple) or REGISTRY.facts(function).parts is True


@dataclass(frozen=True, slots=True)
class Entry:
    """What ``site`` puts into a container: ``value``, or what ``value`` holds (``spread``)."""

    value: Atom
    loops: Loops
    spread: bool
    site: Rhs | None = None


class NotApart(Exception):
    """What a container holds may overlap."""


class Repeats:
    """Answers for one typed function.

    ``apart`` are parameters of which it is checked, when the function is called, that they hold
    every object once; ``rearranged`` tells what lists are made of that are written as sums of
    parts, ``stored_copies`` of what containers got copies; ``popped`` are items that were removed.
    """

    def __init__(
        self, body: Block, sharing: Sharing, apart: Iterable[Var],
        rearranged: Mapping[Var, Sequence[tuple[Atom, bool]]], stored_copies: Mapping[Var, Var],
        popped: Container[Var],
    ) -> None:
        self.sharing = sharing
        self.type_of = sharing.type_of
        self.same, self.arrays = Classes(), Classes()
        self.made: dict[Var, Rhs] = {}
        self.loops: dict[Var, Loops] = {}
        self.handed: dict[Var, list[Atom]] = {}
        self.carried: dict[Var, tuple[int, Atom, Atom]] = {}
        self.collected: set[Var] = set()
        self.items: dict[Var, tuple[int, Atom]] = {}
        self.iterations: dict[Var, int] = {}
        self.entered: list[tuple[Var, Entry]] = []
        self.unknown: set[Var] = set()
        self.rearranged = rearranged
        self.stored_copies = stored_copies
        self.popped = popped
        self.apart = frozenset(apart)
        self.written: list[Let] = []
        self.copies: list[Let] = []
        self.rebinds: list[list[Let]] = []
        self.block(body, frozenset())
        self.exchanges = Exchanges(self.type_of, self.made, stored_copies, self.rebinds)
        self.swapped = self.exchanges.found
        self.entries: dict[Atom, list[Entry]] = {}
        for container, entry in self.entered:
            self.entries.setdefault(self.same.root(container), []).append(entry)
        self.members: dict[Atom, list[Var]] = {}
        for var in (*self.made, *self.handed, *self.items):
            self.members.setdefault(self.same.root(var), []).append(var)

    # -- what there is -------------------------------------------------------------------------

    def block(self, block: Block, loops: Loops) -> None:
        last: dict[Atom, list[Let]] = {}
        for statement in block.statements:
            self.statement(statement, loops)
            if isinstance(statement, Let) and isinstance(statement.rhs, Update) and (
                slot_of(statement.rhs) is not None
            ):
                chain = last.pop(statement.rhs.obj, [])
                if not chain:
                    self.rebinds.append(chain)
                chain.append(statement)
                last[statement.target] = chain

    def statement(self, statement: Statement, loops: Loops) -> None:
        match statement:
            case Let(target, rhs, _):
                self.made[target], self.loops[target] = rhs, loops
                if is_mutable(self.type_of(target)):
                    self.let(statement, loops)
            case Loop():
                inside = loops | {id(statement)}
                for param, init, following in zip(
                    statement.params, statement.inits, statement.next_values(), strict=False
                ):
                    self.hand(param, (init, following), inside)
                    self.carried[param] = (id(statement), init, following)
                for result, param in zip(statement.results, statement.params, strict=False):
                    self.hand(result, (param,), loops)
                for item, iterable in zip(statement.items, statement.iterables, strict=False):
                    self.items[item], self.loops[item] = (id(statement), iterable), inside
                    if counts_up(self.made.get(iterable)):  # type: ignore[arg-type]
                        self.iterations[item] = id(statement)
                for collect, value in zip(statement.collects, statement.collected(), strict=True):
                    self.hand(collect, (), loops)
                    self.collected.add(collect)
                    self.put(collect, value, inside)
                for block in blocks_of(statement):
                    self.block(block, inside)
            case Region():
                arms = statement.arms()
                for k, result in enumerate(statement.results):
                    self.hand(result, [a.yields[k] for a in arms if k < len(a.yields)], loops)
                for block in blocks_of(statement):
                    self.block(block, loops)

    def hand(self, var: Var, sources: Iterable[Atom], loops: Loops) -> None:
        """Enter a variable that is one of ``sources``."""
        self.loops[var] = loops
        self.handed[var] = [a for a in sources if self.has_storage(a)]
        for atom in self.handed[var]:
            self.join(var, atom)

    def join(self, one: Atom, two: Atom) -> None:
        self.same.join(one, two)
        self.arrays.join(one, two)

    def let(self, let: Let, loops: Loops) -> None:
        target, rhs = let.target, let.rhs
        old = written_operand(rhs)
        if old is not None:
            self.join(target, old)
            for value in self.sharing.entered(rhs):
                self.put(target, value, loops, site=rhs)
            if is_written_inside(rhs, self.type_of):
                self.written.append(let)
            return
        if target in self.rearranged:
            for value, spread in self.rearranged[target]:
                self.put(target, value, loops, spread, rhs)
            return
        if is_copy(rhs):
            self.copies.append(let)
            return
        container = is_container(self.type_of(target))
        if container and isinstance(rhs, Call) and not is_made_of(rhs) and not (
            isinstance(rhs.func, Const) and (
                rhs.func.value in ITEM_BY_ITEM or gives_parts(rhs.func.value))
        ) and any(True for _ in self.sharing.of(target, rhs)):
            self.unknown.add(target)
        for operand, how in self.sharing.of(target, rhs):
            if how == "same":
                self.join(target, operand)
            elif how == "holds":
                spread = not isinstance(rhs, Pack) and is_container(self.type_of(operand)) and (
                    not is_made_of(rhs))
                self.put(target, operand, loops, spread, rhs)
            elif not container:
                if not is_container(self.type_of(operand)):
                    self.arrays.join(target, operand)
            elif not isinstance(how, Step):
                if isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
                    gives_parts(rhs.func.value)
                ):
                    self.put(target, operand, loops, site=rhs)
                else:
                    self.unknown.add(target)
        if container and isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            getattr(rhs.func.value, "gives", None) is not None
        ):
            self.unknown.add(target)  # a function compiled on its own

    def put(
        self, container: Var, value: Atom, loops: Loops, spread: bool = False,
        site: Rhs | None = None,
    ) -> None:
        """Enter what is put into a container."""
        if isinstance(value, Var):
            value = self.stored_copies.get(value, value)
        if self.has_storage(value):
            self.entered.append((container, Entry(value, loops, spread, site)))

    def has_storage(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and is_mutable(self.type_of(atom))

    # -- answers -------------------------------------------------------------------------------

    def needed(self) -> Iterator[tuple[Let, Atom]]:
        """Yield the statements before which it must be checked that a container repeats nothing.

        With each comes that container.
        """
        for let in self.written:
            assert isinstance(let.rhs, Update)
            if not self.is_apart(let.rhs.obj):
                yield let, let.rhs.obj
        classes = {self.same.root(let.target) for let in self.written}
        for let in self.copies:
            source = copied(let)
            if self.same.root(let.target) in classes and is_container(self.type_of(source)) and (
                not self.is_apart(source)
            ):
                yield let, source

    def is_copied(self, container: Atom) -> bool:
        """Say whether a container, or something put into it, is copied on the way.

        Then it does not show when the code is run that an object was put into it twice.
        """
        top = self.same.root(container)
        return any(self.same.root(let.target) is top for let in self.copies) or any(
            self.same.root(target) is top and any(
                value in self.stored_copies for value in self.sharing.entered(rhs)
            ) for target, rhs in self.made.items()
        )

    def is_apart(self, container: Atom) -> bool:
        """Say whether a container holds every object once, for sure."""
        seen: set[object] = set()
        try:
            for mark in self.contents(container, frozenset(), (self.same.root(container),)):
                if mark in seen:
                    return False
                seen.add(mark)
        except NotApart:
            return False
        return True

    def contents(
        self, container: Atom, needed: Loops, path: tuple[Atom, ...]
    ) -> Iterator[object]:
        """Yield what stands for each object that is put into a container, or into what it holds.

        ``needed`` are the loops in every iteration of which these objects must be made anew.
        """
        top = self.same.root(container)
        members = self.members.get(top, [])
        for var in members:
            if var in self.unknown:
                raise NotApart
            read = self.exchanges.read(var)
            if read is not None or var in self.items:
                yield from self.part_of(
                    read.obj if read is not None else self.items[var][1], needed, path)
        unmade = [a for a in (*self.same.parent, container)
                  if a not in self.made and a not in self.handed and a not in self.items
                  and self.same.root(a) is top]
        if any(a not in self.apart for a in unmade):
            raise NotApart  # a parameter, of which nothing is known
        born = [self.loops[v] for v in members if v in self.made or v in self.handed]
        outside = min(born, key=len, default=frozenset())
        yield from self.copied_into(members, top)
        for entry in self.entries.get(top, ()):
            if any(self.same.root(c) is top and v is entry.value for c, v in self.swapped):
                continue
            yield from self.entry(entry, top, needed | (entry.loops - outside), path)

    def copied_into(self, members: Iterable[Var], top: Atom) -> set[Atom]:
        """Return what stands for the containers of which some of ``members`` are copies.

        Copies are made where somebody else must not see a write: what such a container holds is,
        in the program, what its copy holds.
        """
        sources = map(self.exchanges.copy_source, members)
        return {self.same.root(source) for source in sources if source is not None} - {top}

    def entry(
        self, entry: Entry, top: Atom, needed: Loops, path: tuple[Atom, ...]
    ) -> Iterator[object]:
        value = entry.value
        own_class = self.same.root(value)
        if entry.spread:
            if own_class is top:
                yield ("the former items", id(entry.site))
                return  # a longer list in place of the former one
            if own_class in path:
                raise NotApart
            yield own_class
            yield from self.contents(value, needed, (*path, own_class))
            return
        read = self.exchanges.read(value)
        if read is not None and value in self.popped and (
            self.same.root(read.obj) is top and needed <= self.loops[value]  # type: ignore[index]
        ):
            yield ("removed before", value)
            return  # it was in the container before, and once
        if own_class in path or not self.is_fresh(value, needed, set()):
            raise NotApart
        if read is not None and is_container(self.type_of(read.obj)):
            yield from self.part_of(read.obj, needed, path)
        elif value in self.items and is_container(self.type_of(self.items[value][1])):
            yield from self.part_of(self.items[value][1], needed, path)
        else:
            yield self.arrays.root(value)
            for whole in self.wholes(value):
                yield from self.part_of(whole, needed, path)
        if is_container(self.type_of(value)):
            yield from self.contents(value, needed, (*path, own_class))

    def wholes(self, value: Atom) -> Iterator[Atom]:
        """Yield the containers out of which the arrays were read that ``value`` may be a view of.
        """
        seen: set[Atom] = set()
        waiting = [value]
        while waiting:
            atom = waiting.pop()
            if not isinstance(atom, Var) or atom in seen or is_container(self.type_of(atom)):
                continue
            seen.add(atom)
            read, rhs = self.exchanges.read(atom), self.made.get(atom)
            if read is not None and is_container(self.type_of(read.obj)):
                yield read.obj
            elif atom in self.items and is_container(self.type_of(self.items[atom][1])):
                yield self.items[atom][1]
            elif rhs is not None:
                waiting += [operand for operand, _ in self.sharing.of(atom, rhs)]

    def part_of(self, whole: Atom, needed: Loops, path: tuple[Atom, ...]) -> Iterator[object]:
        """Yield what stands for a part of another container."""
        top = self.same.root(whole)
        if top in path:
            raise NotApart
        yield top
        if is_container(self.type_of(whole)):
            yield from self.contents(whole, frozenset(), (*path, top))

    def is_fresh(self, value: Atom, needed: Loops, seen: set[Atom]) -> bool:
        """Say whether a value is another object in every iteration of the loops ``needed``."""
        if not needed or value in seen:
            return True
        seen.add(value)
        if not isinstance(value, Var):
            return False
        if value in self.items:
            return needed <= {self.items[value][0]}
        if value in self.collected:
            return needed <= self.loops[value]
        if value in self.carried:
            loop, init, following = self.carried[value]
            return self.is_fresh(init, needed - {loop}, seen) and self.is_fresh(
                following, needed, seen)
        if value in self.handed:
            return bool(self.handed[value]) and all(
                self.is_fresh(source, needed, seen) for source in self.handed[value]
            )
        rhs = self.made.get(value)
        if rhs is None:
            return False
        old = written_operand(rhs)
        if old is not None:
            return self.is_fresh(old, needed, seen)
        if isinstance(rhs, Item) and isinstance(rhs.index, Var) and rhs.index in self.iterations:
            return needed <= {self.iterations[rhs.index]}
        if isinstance(rhs, Pack) or is_container(self.type_of(value)):
            return not isinstance(rhs, Item) and needed <= self.loops[value]
        shared = [operand for operand, _ in self.sharing.of(value, rhs)]
        if shared:
            return not any(is_container(self.type_of(a)) for a in shared) and all(
                self.is_fresh(a, needed, seen) for a in shared
            )
        return needed <= self.loops[value]


def copied(let: Let) -> Atom:
    """Return what a copy is made of."""
    assert isinstance(let.rhs, Call)
    return unstar(let.rhs.args[0])


def is_made_of(rhs: Rhs) -> bool:
    """Say whether a right-hand side makes an instance of its arguments, which it holds."""
    if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
        return False
    function = rhs.func.value
    return function is record or (
        isinstance(function, type) and function not in (list, tuple, dict)
    )


def counts_up(rhs: Rhs | None) -> bool:
    """Say whether what is made gives numbers of which none is negative, and none comes twice."""
    match rhs:
        case Call(Const(function), (_,), ()) if function is range:
            return True
        case Call(Const(function), (Const(int(start)), *_), ()) if (
            function is itertools.count or function is range
        ):
            return start >= 0 and len(rhs.args) < 3
    return False
