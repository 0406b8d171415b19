"""The frame of rewriting passes: a walk over a block."""

from __future__ import annotations

from dataclasses import replace

from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Const, If, Let, Loop, Region, Rhs, Statement,
    Var, substitute,
)
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import substitute_statement
from adcompiler.optimise.values import Values
from adcompiler.typed.unit import Unit


class Rewriter:
    """Rewrites the right-hand sides of a block, one after the other; ``depth`` counts regions."""

    def __init__(self, unit: Unit, block: Block) -> None:
        self.unit = unit
        self.values = Values(unit, block)
        self.depth = 0

    def rewrite(self, call: Call) -> Rhs | Atom | None:
        """Return what replaces a call without keywords, None to leave it."""
        raise NotImplementedError

    def rewrite_attribute(self, target: Var, rhs: Attribute) -> Rhs | Atom:
        """Return what replaces ``obj.name``, or ``rhs`` itself."""
        return rhs

    def reduction(self, target: Var, call: Call) -> Rhs:
        """Return what replaces a call with keywords, or ``call`` itself."""
        return call

    def note(self, target: Var, call: Call) -> None:
        """Remember a call that stays as it is."""

    def block(self, block: Block) -> Block:
        """Return the rewritten block."""
        statements = tuple(s for old in block.statements for s in self.statement(old))
        yields = tuple(map(self.values.atom, block.yields))
        return altered(block, statements=statements, yields=yields)

    def inner(self, block: Block) -> Block:
        """Return the rewritten block of a region."""
        self.depth += 1
        try:
            return self.block(block)
        finally:
            self.depth -= 1

    def statement(self, statement: Statement) -> list[Statement]:
        """Return the statements that replace one."""
        match statement:
            case Let():
                return self.let(statement)
            case Region():
                if isinstance(statement, Loop):
                    statement = self.without_constants(statement)
                new = statement.with_reads(self.values.atom).with_blocks(self.inner)
                return [self.without_equal_results(new) if isinstance(new, If) else new]
        return [substitute_statement(statement, self.values.renamed)]

    def without_constants(self, node: Loop) -> Loop:
        """Return a loop without the carried values that never change: they are what they were."""
        following = node.next_values()
        kept = []
        for i, (param, init) in enumerate(zip(node.params, node.inits, strict=True)):
            if node.body.diverges or following[i] is not param or init is UNDEF:
                kept.append(i)
                continue
            found = self.values.atom(init)
            self.values.renamed.update({param: found, node.results[i]: found})
        if len(kept) == len(node.params):
            return node
        rest = node.body.yields[len(node.params) :]
        return replace(
            node, params=tuple(node.params[i] for i in kept),
            inits=tuple(node.inits[i] for i in kept),
            results=tuple(node.results[i] for i in kept),
            body=replace(node.body, yields=(*(following[i] for i in kept), *rest)),
        )

    def without_equal_results(self, node: If) -> If:
        """Return a branch without the results that are one variable in both arms."""
        if node.then.diverges or node.orelse.diverges:
            return node
        kept = []
        for i, result in enumerate(node.results):
            value = node.then.yields[i]
            if isinstance(value, Var) and value is node.orelse.yields[i]:
                self.values.renamed[result] = value
            else:
                kept.append(i)
        if len(kept) == len(node.results):
            return node
        return replace(
            node, results=tuple(node.results[i] for i in kept),
            then=replace(node.then, yields=tuple(node.then.yields[i] for i in kept)),
            orelse=replace(node.orelse, yields=tuple(node.orelse.yields[i] for i in kept)),
        )

    def let(self, statement: Let) -> list[Statement]:
        """Return the statements that replace a definition."""
        target, origin = statement.target, statement.origin
        self.values.sweep = origin.reverse
        rhs = substitute(statement.rhs, self.values.renamed)
        if target in self.unit.defs:
            self.unit.defs[target] = rhs  # in a sweep, of what was saved
        new: Rhs | Atom | None = rhs
        if target in self.unit.layouts.read:
            pass  # what is equal to it may lie in memory in another way
        elif isinstance(rhs, Attribute):
            new = self.rewrite_attribute(target, rhs)
        elif isinstance(rhs, Call):
            new = self.reduction(target, rhs) if rhs.kwargs else self.rewrite(rhs)
        before = self.values.written(origin)
        if isinstance(new, Var) and target in self.values.exposed and not self.values.is_own(new):
            new = rhs  # written into later, which the value that it equals must not be
        if isinstance(new, (Var, Const)):
            self.values.rename(target, new)
            return before
        if new is None or new is rhs:
            if isinstance(rhs, Call):
                self.values.calls[target] = rhs
                self.note(target, rhs)
            return [statement if rhs is statement.rhs else Let(target, rhs, origin)]
        if isinstance(new, Call):
            self.values.calls[target] = new
        self.unit.defs[target] = new
        return [*before, Let(target, new, origin)]
