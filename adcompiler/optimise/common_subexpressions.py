"""Evaluates equal pure expressions once: across rules, and across the primal and the sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from typing import Any

from adcompiler.analyses.purity import Purity, makes_storage
from adcompiler.analyses.storage import Sharing
from adcompiler.analyses.versions import written_storage
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Global, If, Item, Let, Pack, Region, Rhs,
    Slice, Star, Statement, Var, substitute, unstar,
)
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import substitute_statement, walk, with_head
from adcompiler.runtime import record, store_global

COMMUTATIVE = frozenset({"add", "mul"})
Known = dict[Any, tuple[Var, ...]]
"""The variables that hold what has a key."""
LARGEST = 50
"""How many values a branch that is compared with others computes, at most."""


def common_subexpressions(block: Block, purity: Purity) -> Block:
    """Return ``block`` with every pure expression computed where it first dominates its uses."""
    return _Common(purity, written_storage(block), held_arrays(block, purity.type_of)).block(
        block, {}, {})


def held_arrays(block: Block, type_of: Callable[[Atom], t.Type]) -> set[Atom]:
    """Return the arrays that are put into lists, dicts and instances, or into modules, or yielded.

    Two of them stay two, as whoever gets them may write into one.
    """
    sharing = Sharing(type_of, lambda atom: None)
    found: set[Atom] = set()
    tuples: dict[Atom, tuple[Atom, ...]] = {}
    for statement in walk(block):
        if not isinstance(statement, Let | Do):
            continue
        match statement.rhs:
            case Pack("tuple", items) if isinstance(statement, Let):
                tuples[statement.target] = tuple(map(unstar, items))
            case Pack("list" | "dict", items):
                found.update(map(unstar, items))
            case Call(Const(function), args, fields) if function in (record, store_global):
                found.update((*map(unstar, args), *(atom for _, atom in fields)))
            case rhs:
                found.update(sharing.entered(rhs))
    waiting = list(block.yields)
    while waiting:
        atom = waiting.pop()
        found.add(atom)
        waiting += tuples.get(atom, ())
    return {atom for atom in found if isinstance(type_of(atom), t.Array)}


class _Common:
    def __init__(self, purity: Purity, written: set[Atom], held: set[Atom]) -> None:
        self.purity = purity
        self.written = written
        self.held = held
        self.before: list[tuple[Any, tuple[Var, ...] | None]] = []

    def block(self, block: Block, known: Known, renamed: dict[Var, Atom]) -> Block:
        out: list[Statement] = []
        for statement in block.statements:
            new = self.statement(statement, known, renamed)
            if new is not None:
                out.append(new)
        yields = tuple(self.atom(a, renamed) for a in block.yields)
        return altered(block, statements=tuple(out), yields=yields)

    def inner(self, block: Block, known: Known, renamed: dict[Var, Atom]) -> Block:
        """Return a block inside of another; what is computed in it is not known behind it.

        What ``known`` gets meanwhile is taken back: a copy for each block would take as long as all
        that stands in front of it.
        """
        start = len(self.before)
        new = self.block(block, known, renamed)
        while len(self.before) > start:
            key, found = self.before.pop()
            if found is None:
                del known[key]
            else:
                known[key] = found
        return new

    @staticmethod
    def atom(atom: Atom, renamed: Mapping[Var, Atom]) -> Atom:
        return renamed.get(atom, atom) if isinstance(atom, Var) else atom

    def statement(
        self, statement: Statement, known: Known, renamed: dict[Var, Atom]
    ) -> Statement | None:
        match statement:
            case Let(target, rhs, origin):
                new = substitute(rhs, renamed)
                if not self.is_kept(target, new) and self.is_known(
                    self.key(new, {}), (target,), known, renamed
                ):
                    return None
                return statement if new is rhs else Let(target, new, origin)
            case Region():
                region = with_head(statement, renamed).with_blocks(
                    lambda inner: self.inner(inner, known, renamed))
                key = self.branch_key(region, {}) if isinstance(region, If) else None
                if key is not None and self.is_known(key, region.results, known, renamed):
                    return None
                return region
        return substitute_statement(statement, renamed)

    def is_known(
        self, key: str, targets: tuple[Var, ...], known: Known, renamed: dict[Var, Atom]
    ) -> bool:
        """Say whether a value with this key has been computed; if so it stands for ``targets``."""
        found = known.get(key)
        type_of = self.purity.type_of
        if found is None or [*map(type_of, found)] != [*map(type_of, targets)]:
            self.before.append((key, found))
            known[key] = targets
            return False
        if self.held.issuperset((*targets, *found)):
            return False
        self.held.update(found if self.held.issuperset(targets) else ())
        renamed.update(zip(targets, found, strict=True))
        return True

    def branch_key(self, branch: If, places: dict[Var, Any]) -> Any:
        """Return a value that is equal for branches that compute the same; None if it has none.

        It is of numbers, which nobody tells apart from equal ones. ``places`` stand for the
        variables that are defined inside.
        """
        if not all(isinstance(self.purity.type_of(x), t.Scalar) for x in branch.results) or not (
            isinstance(self.purity.type_of(branch.condition), t.Scalar)
        ):
            return None
        arms = []
        for arm in (branch.then, branch.orelse):
            keys: list[Any] = []
            for statement in arm.statements:
                match statement:
                    case Let(target, rhs) if not self.is_kept(target, rhs):
                        keys.append(self.key(rhs, places))
                        made: tuple[Var, ...] = (target,)
                    case If(results=made):
                        keys.append(self.branch_key(statement, places))
                    case _:
                        return None
                for var in made:
                    places[var] = len(places)
            if arm.diverges or None in keys or len(places) > LARGEST:
                return None
            arms.append((tuple(keys), tuple(self.atom_key(atom, places) for atom in arm.yields)))
        return (If, self.atom_key(branch.condition, places), *arms)

    def is_kept(self, target: Var, rhs: Rhs) -> bool:
        """Say whether a statement has to stay: it writes, its value has storage, or is written."""
        return (
            target in self.written or makes_storage(rhs, self.purity.type_of(target))
            or not self.purity.is_pure(rhs)
        )

    def key(self, rhs: Rhs, places: Mapping[Var, Any]) -> Any:
        """Return a value that is equal for right-hand sides that compute the same."""
        def atom(operand: Any) -> Any:
            return self.atom_key(operand, places)

        match rhs:
            case Call(func, args, kwargs):
                keys = [atom(a) for a in args]
                if isinstance(func, Const) and func.value.__class__.__name__ == (
                    "builtin_function_or_method"
                ) and func.value.__name__ in COMMUTATIVE and self.numeric(args):
                    keys.sort(key=repr)
                return (Call, atom(func), tuple(keys), tuple((k, atom(v)) for k, v in kwargs))
            case Item(obj, index):
                return (Item, atom(obj), atom(index))
            case Attribute(obj, name):
                return (Attribute, atom(obj), name)
            case Slice(lower, upper, step):
                return (Slice, atom(lower), atom(upper), atom(step))
            case Pack(kind, items, keys_):
                return (Pack, kind, tuple(map(atom, items)), len(keys_))
            case Global(module, path):
                return (Global, module, path)
            case Closure():
                return id(rhs)
        return id(rhs)

    def numeric(self, args: tuple[Any, ...]) -> bool:
        return all(
            isinstance(self.purity.type_of(a), (t.Scalar, t.Array))
            for a in args if not isinstance(a, Star)
        )

    def atom_key(self, atom: Any, places: Mapping[Var, Any]) -> Any:
        if isinstance(atom, Star):
            return (Star, self.atom_key(atom.atom, places))
        if isinstance(atom, Const):
            value = atom.value
            if isinstance(value, (int, float, complex, str, bytes, tuple, slice)):
                return (type(value), repr(value))
            return ("id", id(value))
        return places.get(atom, atom)
