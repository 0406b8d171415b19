"""Takes dicts and instances apart that a function makes for itself: their parts are variables.

A dict with known keys, or an instance of a class of Python, is taken apart if all that is done to
it is to read and to replace its parts, by name: then nobody can tell. What it is handed on by,
branches and loops, hand on its parts. So a derivative goes through numbers and arrays, of which a
sweep saves and adds those that it needs. What is returned, given to a call, put into a container,
or is an argument, stays whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeGuard

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Const, Do, If, Item, Let, Loop, Pack, Region, Rhs,
    Statement, Step, Update, Var, operands, substitute,
)
from adcompiler.ir.visit import (
    bound_inside, count_uses, defined, direct_uses, substitute_block, substitute_statement,
)
from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.records import is_record_class, record
from adcompiler.typed.unit import Unit

Parts = dict[Any, Atom]
MOST = 32
"""What has more parts stays whole."""


def taken_apart(unit: Unit, block: Block) -> Block:
    """Return a block with the aggregates taken apart that do not leave it."""
    whole: set[Var] = set()
    while True:
        webs = Webs(unit, block, whole)
        if not webs.found:
            return block
        definitions = dict(unit.defs)
        try:
            block = Apart(unit, webs.found, webs.read).block(block)  # what is inside them is next
        except Whole as stays:
            whole.add(stays.var)
            unit.defs.clear()
            unit.defs.update(definitions)


def keys_of(type_: t.Type) -> tuple[Any, ...]:
    """Return the names of the parts of an aggregate's type, () of other types."""
    match type_:
        case t.Dict(keys) if keys and len(keys) <= MOST and all(
            isinstance(key, (str, int)) for key in keys
        ):
            return keys
        case t.Object(cls, fields) if fields and len(fields) <= MOST and is_record_class(cls):
            return tuple(name for name, _ in fields)
    return ()


def type_of_part(type_: t.Type, key: str) -> t.Type:
    """Return the type of a part of an aggregate."""
    if isinstance(type_, t.Dict):
        assert type_.keys is not None
        return type_.items[type_.keys.index(key)]
    assert isinstance(type_, t.Object)
    return dict(type_.fields)[key]


def key_of(step: Step | Item | Attribute, of: t.Type) -> Any:
    """Return the name of the part that is read or replaced: of dicts items, of others attributes.

    None if it is not known.
    """
    match step:
        case Attribute(_, name) | Step("attr", name) if isinstance(of, t.Object):
            return name
        case (Item(_, Const(str() | int() as key)) | Step("item", _, (Const(str() | int() as key),))
              ) if isinstance(of, t.Dict):
            return key
    return None


class Whole(Exception):
    """An aggregate turned out to have to stay whole."""

    def __init__(self, var: Var) -> None:
        super().__init__(var.name)
        self.var = var


class Webs:
    """Finds the variables that stand for aggregates, and of these the ones that stay inside.

    Variables are of one web if one is what a write makes of the other, or a branch or a loop hands
    one on as the other. A web is taken apart whole, or not at all.
    """

    def __init__(self, unit: Unit, block: Block, whole: set[Var]) -> None:
        self.unit = unit
        self.roots: dict[Var, Var] = {}
        self.kept: set[Var] = set()
        self.made: set[Var] = set()
        self.keys: dict[Var, tuple[Any, ...]] = {}
        writes = unit.writes
        self.noted = {
            *whole, *writes.taken_out, *writes.taken_out.values(), *writes.popped,
            *writes.caught, *writes.stored_copies, *writes.stored_copies.values(),
            *writes.rearranged, *writes.detached, *writes.checks,
        }
        self.read = count_uses(block)
        self.visit(block, inside=True)
        for atom in block.yields:
            self.keep(atom)
        self.kept.update(var for var in self.keys if var not in self.made)  # from outside
        kept = {self.root(var) for var in self.kept}
        self.found = {
            var: self.keys[var] for var in self.made if self.root(var) not in kept
        }

    def is_aggregate(self, atom: Atom) -> TypeGuard[Var]:
        """Say whether an atom is a variable that stands for an aggregate."""
        if not isinstance(atom, Var):
            return False
        if atom not in self.keys:
            self.keys[atom] = () if atom in self.unit.unsure else keys_of(self.unit.type(atom))
        return bool(self.keys[atom])

    def root(self, var: Var) -> Var:
        """Return the variable that stands for a web."""
        while self.roots.get(var, var) is not var:
            var = self.roots[var]
        return var

    def join(self, one: Any, other: Atom) -> None:
        """Put two atoms into one web; neither is taken apart if one is no aggregate like it."""
        if self.is_aggregate(one) and self.is_aggregate(other):
            self.roots[self.root(other)] = self.root(one)
        else:
            self.keep(one)
            self.keep(other)

    def keep(self, atom: Any) -> None:
        """Note that a variable has to stay whole, with its web."""
        if isinstance(atom, Var):
            self.kept.add(atom)

    def visit(self, block: Block, inside: bool) -> None:
        """Look at the statements of a block; not ``inside`` of what may end in the middle."""
        for statement in block.statements:
            for var in (*defined(statement), *bound_inside(statement)):
                if self.is_aggregate(var):
                    self.made.add(var)
                    if not inside or var in self.noted:
                        self.keep(var)
            match statement:
                case Let(target, rhs):
                    self.let(target, rhs, inside)
                case If() | Loop():
                    self.region(statement, inside)
                case Region():
                    self.other_region(statement)
                case Do(Item(obj) | Attribute(obj) as rhs) if inside and self.is_part(rhs, obj):
                    continue
                case _:
                    for atom in direct_uses(statement):
                        self.keep(atom)

    def let(self, target: Var, rhs: Rhs, inside: bool) -> None:
        """Look at a definition."""
        used: tuple[Any, ...]
        match rhs:
            case Attribute(obj) if self.is_aggregate(obj) and self.is_idle(target, inside):
                used = ()  # a method that was opened
            case Pack("tuple") if self.is_idle(target, inside):
                used = ()  # what names are exchanged
            case Pack("dict", items, keys) if self.is_aggregate(target) and (
                [key.value if isinstance(key, Const) else None for key in keys]
                == list(self.keys[target])
            ):
                used = items
            case Call(Const(function), (Const(),) | (), kwargs) if (
                function is record and self.is_aggregate(target)
                and [key for key, _ in kwargs] == list(self.keys[target])
            ):
                used = tuple(atom for _, atom in kwargs)
            case Item(obj) | Attribute(obj) if self.is_part(rhs, obj):
                used = (target,) if inside else (obj, target)
            case Call(Const(function), (Var() as obj,), ()) if (
                function is own and self.is_aggregate(obj) and self.is_aggregate(target)
                and self.keys[obj] == self.keys[target]
            ):
                self.join(target, obj)
                used = ()
            case Update(obj, (step, *rest), value, adds) if (
                self.is_aggregate(obj) and (rest or not adds)
                and self.is_aggregate(target) and self.key(step, obj) in self.keys[target]
                and (not rest or self.key(step, obj) in self.keys[obj])
            ):
                self.join(target, obj)
                used = (value, *(atom for one in rest for atom in one.atoms))
            case _:
                used = (target, *operands(rhs))
        for atom in used:
            self.keep(atom)

    def is_idle(self, target: Var, inside: bool) -> bool:
        """Say whether a value is not read, and no aggregate."""
        return inside and target not in self.read and not self.is_aggregate(target)

    def is_part(self, rhs: Item | Attribute, obj: Atom) -> bool:
        """Say whether a part of an aggregate is read that is there."""
        return self.is_aggregate(obj) and self.key(rhs, obj) in self.keys[obj]

    def key(self, step: Step | Item | Attribute, of: Var) -> Any:
        """Return the name of the part of an aggregate that is read or replaced."""
        return key_of(step, self.unit.type(of))

    def region(self, node: If | Loop, inside: bool) -> None:
        """Look at a branch or a loop, and at what it hands on."""
        for atom in node.reads():
            if not isinstance(node, Loop) or atom not in node.inits:
                self.keep(atom)
        for inner in node.blocks():
            self.visit(inner, inside)
        if isinstance(node, If):
            for arm in node.arms():
                given = node.results if arm.diverges else arm.yields
                for atom, var in zip(given, node.results, strict=True):
                    self.hand_on(atom, var)
            return
        if node.condition is not None:
            for atom in node.condition.yields:
                self.keep(atom)
        following = node.params if node.body.diverges else node.next_values()
        for param, init, result, after in zip(
            node.params, node.inits, node.results, following, strict=True
        ):
            for atom, var in ((init, param), (after, param), (param, result)):
                self.hand_on(atom, var)
        for atom in () if node.body.diverges else node.body.yields[len(node.params):]:
            self.keep(atom)
        for atom in (*node.iterables, *node.items):
            self.keep(atom)

    def hand_on(self, atom: Atom, var: Var) -> None:
        """Put what is handed on, and what it becomes, into one web, if both have the same parts."""
        if not self.is_aggregate(atom) and not self.is_aggregate(var):
            return
        self.join(atom, var)
        if self.is_aggregate(atom) and self.is_aggregate(var) and self.keys[atom] != self.keys[var]:
            self.keep(var)

    def other_region(self, node: Region) -> None:
        """Look at a statement that may end in the middle: what it touches stays whole."""
        for atom in (*node.reads(), *node.results):
            self.keep(atom)
        for inner in node.blocks():
            self.visit(inner, inside=False)
            for atom in inner.yields:
                self.keep(atom)


class Apart:
    """Writes statements anew with aggregates taken apart; ``parts`` has those of each so far."""

    def __init__(
        self, unit: Unit, found: dict[Var, tuple[Any, ...]], read: dict[Var, int]
    ) -> None:
        self.unit = unit
        self.found = found
        self.read = read
        self.parts: dict[Var, Parts] = {}
        self.same: dict[Var, Atom] = {}

    def atom(self, atom: Any) -> Any:
        """Return what stands for an atom now."""
        while isinstance(atom, Var) and atom in self.same:
            atom = self.same[atom]
        return atom

    def block(self, block: Block) -> Block:
        """Return a block; what it yields is not taken apart here."""
        statements = [new for old in block.statements for new in self.statement(old)]
        return replace(
            block, statements=tuple(statements), yields=tuple(map(self.atom, block.yields)))

    def statement(self, statement: Statement) -> list[Statement]:
        """Return the statements that replace one."""
        match statement:
            case Let(target, rhs):
                return self.let(statement, target, rhs)
            case If():
                return [self.branch(statement)]
            case Loop():
                return [self.loop(statement)]
            case Region():
                return [statement.with_reads(self.atom).with_blocks(self.block)]
            case Do(Item(obj) | Attribute(obj)) if obj in self.found:
                return []  # it is there
        return [substitute_statement(statement, self.same)]

    def let(self, statement: Let, target: Var, rhs: Rhs) -> list[Statement]:
        """Return a definition: none of an aggregate, or of a part that has a name already."""
        match rhs:
            case Pack(_, items, keys) if target in self.found:
                names = [key.value for key in keys if isinstance(key, Const)]
                self.make(target, zip(names, items, strict=True))
                return []
            case Call(_, (Const(),) | (), kwargs) if target in self.found:
                self.make(target, kwargs)
                return []
            case Attribute(obj) if obj in self.found and target not in self.read:
                return []
            case Pack("tuple", items) if target not in self.read and any(
                item in self.found for item in items
            ):
                return []
            case Call(Const(), (Var() as obj,), ()) if obj in self.found and target in self.found:
                return self.own(statement, target, obj)
            case Item(obj) | Attribute(obj) if obj in self.found:
                part = self.part(obj, key_of(rhs, self.unit.type(obj)))
                if part is UNDEF or self.unit.type(part) != self.unit.type(target):
                    raise Whole(obj)
                self.same[target] = part
                return []
            case Update(Var() as obj, (step, *rest), value, adds) if target in self.found:
                parts, key = self.parts[obj], key_of(step, self.unit.type(obj))
                if not rest:
                    self.parts[target] = {**parts, key: self.atom(value)}
                    return []
                steps = tuple(replace(
                    one, args=tuple(map(self.atom, one.args)),
                    kwargs=tuple((name, self.atom(atom)) for name, atom in one.kwargs),
                ) for one in rest)
                old = self.part(obj, key)
                new = Update(old, steps, self.atom(value), adds)
                var = self.variable(target, key, self.unit.type(old))
                self.unit.record(var, new, self.unit.type(var))
                if target in self.unit.writes.in_place:
                    self.unit.writes.in_place.add(var)
                self.parts[target] = {**parts, key: var}
                return [replace(statement, target=var, rhs=new)]
        new_rhs = substitute(rhs, self.same)
        if new_rhs is rhs:
            return [statement]
        if target in self.unit.defs:
            self.unit.defs[target] = new_rhs
        return [replace(statement, rhs=new_rhs)]

    def own(self, statement: Let, target: Var, obj: Var) -> list[Statement]:
        """Return copies of the parts of an aggregate: of arrays, and of what may hold some."""
        made: list[Statement] = []
        self.parts[target] = {}
        for key in self.found[target]:
            part = self.part(obj, key)
            type_ = self.unit.type(part)
            if isinstance(part, Var) and not isinstance(type_, (t.Scalar, t.Text, t.Static)):
                copy = self.variable(target, key, type_)
                self.unit.record(copy, Call(Const(own), (part,), ()), type_)
                made.append(Let(copy, self.unit.defs[copy], statement.origin))
                part = copy
            self.parts[target][key] = part
        return made

    def make(self, target: Var, parts: Iterable[tuple[Any, Any]]) -> None:
        """Note what the parts of a new aggregate are; values without a name get theirs."""
        self.parts[target] = {key: self.atom(atom) for key, atom in parts}
        names = self.unit.naming.names
        for key, atom in self.parts[target].items():
            if isinstance(atom, Var) and atom.temporary:
                names.setdefault(atom, f"{target.name}_{key}")

    def variable(self, of: Var, key: str, type_: t.Type) -> Var:
        """Return a new variable for a part of an aggregate."""
        var = Var(f"{of.name}_{key}")
        self.unit.types[var] = type_
        return var

    def variables(self, of: Var) -> list[Var]:
        """Return new variables for all parts of an aggregate that a region hands on."""
        type_ = self.unit.type(of)
        made = {key: self.variable(of, key, type_of_part(type_, key)) for key in self.found[of]}
        self.unit.merged.update(made.values())
        self.parts[of] = dict(made)
        return list(made.values())

    def spread(self, vars_: Iterable[Var]) -> Iterator[Var]:
        """Yield variables, new ones for the parts of those that are taken apart."""
        for var in vars_:
            yield from self.variables(var) if var in self.found else (var,)

    def handed(self, atoms: tuple[Atom, ...], vars_: Iterable[Var]) -> tuple[Any, ...]:
        """Return what is handed on as ``vars_``: the parts of those that are taken apart."""
        found: list[Any] = []
        for atom, var in zip(atoms, vars_, strict=True):
            if var in self.found:
                found += [self.part(atom, key) for key in self.found[var]]
            else:
                found.append(self.atom(atom))
        return tuple(found)

    def part(self, of: Any, key: Any) -> Atom:
        """Return what a part of an aggregate is."""
        found: Atom = self.atom(self.parts[of][key])
        return found

    def branch(self, node: If) -> If:
        """Return a branch."""

        def arm(block: Block) -> Block:
            new = self.block(block)
            if block.diverges:
                return new
            return replace(new, yields=self.handed(block.yields, node.results))

        node = replace(
            node, condition=self.atom(node.condition), then=arm(node.then), orelse=arm(node.orelse))
        return replace(node, results=tuple(self.spread(node.results)))

    def loop(self, node: Loop) -> Loop:
        """Return a loop; parts that no iteration replaces are what they were in front of it."""
        inits = self.handed(node.inits, node.params)
        params = tuple(self.spread(node.params))
        condition = None if node.condition is None else self.block(node.condition)
        body = self.block(node.body)
        results = tuple(self.spread(node.results))
        if node.body.diverges:
            return replace(
                node, iterables=tuple(map(self.atom, node.iterables)), inits=inits, params=params,
                condition=condition, body=body, results=results)
        rest = tuple(map(self.atom, node.body.yields[len(node.params):]))
        following = self.handed(node.next_values(), node.params)
        old = {*node.params}
        unchanged = {
            param: init for param, init, after in zip(params, inits, following, strict=True)
            if param is after and param not in old and init is not UNDEF
            and self.unit.type(init) == self.unit.type(param)
        }
        kept = [i for i, param in enumerate(params) if param not in unchanged]
        self.same |= unchanged
        self.same |= {
            result: unchanged[param] for param, result in zip(params, results, strict=True)
            if param in unchanged
        }
        body = replace(body, yields=(*(following[i] for i in kept), *rest))
        return replace(
            node, iterables=tuple(map(self.atom, node.iterables)),
            inits=tuple(inits[i] for i in kept), params=tuple(params[i] for i in kept),
            condition=None if condition is None else substitute_block(condition, unchanged),
            body=substitute_block(body, unchanged), results=tuple(results[i] for i in kept))
