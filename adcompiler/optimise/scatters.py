"""Scatters into what is there: ``zeros; zeros[i] += g; zeros + d`` becomes ``d[i] += g``.

A cotangent that is read in part first and as a whole later would start as an array of zeros. Sums
commute, so the whole comes first and the parts are added to it, if it is an array of its own.
"""

from __future__ import annotations

import operator

from typing import Any

import numpy as np

from adcompiler.analyses.storage import Sharing
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Let, Region, Statement, Var, unstar
from adcompiler.ir.operators import OF_ARRAYS, is_one
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import count_uses, walk
from adcompiler.runtime import add_at
from adcompiler.typed.unit import Unit
from collections.abc import Callable

def late_scatters(block: Block, unit: Unit) -> Block:
    """Return ``block`` with scatters into zeros moved behind the sum that they go into."""
    if not any(isinstance(s, Let) and calls(s.rhs, add_at) for s in walk(block)):
        return block
    exposed = exposed_values(block, Sharing(unit.type, unit.definition))
    return _Scatters(unit, count_uses(block), exposed).block(block)


class _Scatters:
    def __init__(self, unit: Unit, uses: dict[Var, int], exposed: set[Atom]) -> None:
        self.unit = unit
        self.uses = uses
        self.exposed = exposed

    def block(self, block: Block) -> Block:
        statements = [self.inside(s) for s in block.statements]
        made = {s.target: s for s in statements if isinstance(s, Let)}
        for statement in list(statements):
            moved = self.chain(statement, made)
            if moved is None:
                continue
            chain, whole, total = moved
            buffer: Any = whole
            self.unit.naming.names.setdefault(whole, self.unit.naming.names.get(total, total.name))
            rewritten: list[Statement] = []
            for n, link in enumerate(chain):
                target = total if n == len(chain) - 1 else link.target
                assert isinstance(link.rhs, Call)
                call = Call(link.rhs.func, (buffer, *link.rhs.args[1:]))
                rewritten.append(Let(target, call, link.origin))
                self.unit.defs[target] = call
                buffer = target
            place = statements.index(statement)
            gone = {id(link) for link in chain} | {id(made[chain[0].rhs.args[0]])}  # type: ignore[union-attr, index]
            statements[place : place + 1] = rewritten
            statements = [s for s in statements if id(s) not in gone]
            made = {s.target: s for s in statements if isinstance(s, Let)}
        return altered(block, statements=tuple(statements))

    def inside(self, statement: Statement) -> Statement:
        """Return ``statement`` with its blocks rewritten."""
        return statement.with_bodies(self.block) if isinstance(statement, Region) else statement

    def chain(
        self, statement: Statement, made: dict[Var, Let]
    ) -> tuple[list[Let], Var, Var] | None:
        """Return scatters into zeros that ``statement`` adds to an array nobody else reads."""
        if not isinstance(statement, Let) or not calls(statement.rhs, operator.add):
            return None
        scattered, whole = statement.rhs.args  # type: ignore[union-attr]
        if not isinstance(scattered, Var) or not isinstance(whole, Var):
            return None
        if not self.is_own(whole, made) or self.unit.type(whole) != self.unit.type(scattered):
            return None
        if not isinstance(self.unit.type(whole), t.Array):
            return None
        links: list[Let] = []
        var: Any = scattered
        while var in made and self.uses.get(var) == 1 and calls(made[var].rhs, add_at):
            if any(unstar(arg) in self.exposed for arg in made[var].rhs.args[1:]):  # type: ignore[union-attr]
                return None
            links.append(made[var])
            var = made[var].rhs.args[0]  # type: ignore[union-attr]
        if not links or var not in made or self.uses.get(var) != 1 or not calls(
            made[var].rhs, np.zeros_like
        ):
            return None
        if self.unit.shape(whole) != self.unit.shape(var):
            return None  # the sum may stretch the whole
        return links[::-1], whole, statement.target

    def is_own(self, var: Var, made: dict[Var, Let]) -> bool:
        """Say whether ``var`` is an array made by arithmetic here and read only once."""
        rhs = made[var].rhs if var in made else None
        return self.uses.get(var) == 1 and isinstance(rhs, Call) and isinstance(
            rhs.func, Const
        ) and is_one(rhs.func.value, OF_ARRAYS)


def calls(rhs: Any, function: Callable[..., Any]) -> bool:
    """Say whether a right-hand side is a call of ``function``."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is function
