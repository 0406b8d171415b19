"""Evaluates equal pure expressions once: across rules, and across the primal and the sweep."""

from __future__ import annotations

from collections.abc import Mapping

from typing import Any

from adcompiler.analyses.purity import Purity, makes_storage
from adcompiler.analyses.versions import written_storage
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Global, Item, Let, Pack, Region, Rhs, Slice, Star,
    Statement, Var, substitute,
)
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import substitute_statement, with_head

COMMUTATIVE = frozenset({"add", "mul"})


def common_subexpressions(block: Block, purity: Purity) -> Block:
    """Return ``block`` with every pure expression computed where it first dominates its uses."""
    return _Common(purity, written_storage(block)).block(block, {}, {})


class _Common:
    def __init__(self, purity: Purity, written: set[Atom]) -> None:
        self.purity = purity
        self.written = written

    def block(self, block: Block, known: dict[Any, Var], renamed: dict[Var, Atom]) -> Block:
        out: list[Statement] = []
        for statement in block.statements:
            new = self.statement(statement, known, renamed)
            if new is not None:
                out.append(new)
        yields = tuple(self.atom(a, renamed) for a in block.yields)
        return altered(block, statements=tuple(out), yields=yields)

    @staticmethod
    def atom(atom: Atom, renamed: Mapping[Var, Atom]) -> Atom:
        return renamed.get(atom, atom) if isinstance(atom, Var) else atom

    def statement(
        self, statement: Statement, known: dict[Any, Var], renamed: dict[Var, Atom]
    ) -> Statement | None:
        match statement:
            case Let(target, rhs, origin):
                new = substitute(rhs, renamed)
                kept = target in self.written or makes_storage(new, self.purity.type_of(target))
                if not kept and self.purity.is_pure(new):
                    key = self.key(new)
                    found = known.get(key)
                    if found is not None and self.purity.type_of(found) == self.purity.type_of(
                        target
                    ):
                        renamed[target] = found
                        return None
                    known[key] = target
                return statement if new is rhs else Let(target, new, origin)
            case Region():
                return with_head(statement, renamed).with_blocks(
                    lambda inner: self.block(inner, dict(known), renamed))
        return substitute_statement(statement, renamed)

    def key(self, rhs: Rhs) -> Any:
        """Return a value that is equal for right-hand sides that compute the same."""
        atom = self.atom_key
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

    def atom_key(self, atom: Any) -> Any:
        if isinstance(atom, Star):
            return (Star, self.atom_key(atom.atom))
        if isinstance(atom, Const):
            value = atom.value
            if isinstance(value, (int, float, complex, str, bytes, tuple, slice)):
                return (type(value), repr(value))
            return ("id", id(value))
        return atom
