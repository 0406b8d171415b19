"""The frame of rewriting passes: a walk, the calls that made each value, statements to insert."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import cached_property
from typing import Any

from adcompiler.analyses.storage import Sharing
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Const, If, Let, Loop, Origin, Region, Rhs, Star, Statement,
    Var, substitute, unstar,
)
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import count_uses, substitute_statement
from adcompiler.ops.queries import meaning
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of_arithmetic


class Rewriter:
    """Rewrites the right-hand sides of a block, one after the other.

    ``calls`` holds the call that made each variable, ``uses`` how often each is read, ``renamed``
    the variables found equal to others, ``exposed`` those that are written into after they are
    read, so that nothing may read them later, ``sweep`` whether the statement belongs to a reverse
    sweep: only there may rounding change, the user's own values stay as they are.
    """

    def __init__(self, unit: Unit, block: Block) -> None:
        self.unit = unit
        self.renamed: dict[Var, Atom] = {}
        self.calls: dict[Var, Call] = {}
        self.pending: list[tuple[Var, Rhs]] = []
        self.uses: dict[Atom, int] = dict(count_uses(block).items())
        self.sharing = Sharing(unit.type, unit.definition)
        self.original = block
        self.depth = 0
        self.sweep = False

    @cached_property
    def exposed(self) -> set[Atom]:
        """What is written into after it is read: many passes never ask."""
        return exposed_values(self.original, self.sharing)

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
        return altered(block, statements=statements, yields=tuple(map(self.atom, block.yields)))

    def inner(self, block: Block) -> Block:
        """Return the rewritten block of a region."""
        self.depth += 1
        try:
            return self.block(block)
        finally:
            self.depth -= 1

    def atom(self, atom: Atom) -> Atom:
        """Return the atom that stands for ``atom`` now."""
        while isinstance(atom, Var) and atom in self.renamed:
            atom = self.renamed[atom]
        return atom

    def statement(self, statement: Statement) -> list[Statement]:
        """Return the statements that replace one."""
        match statement:
            case Let():
                return self.let(statement)
            case Region():
                if isinstance(statement, Loop):
                    statement = self.without_constants(statement)
                new = statement.with_reads(self.atom).with_blocks(self.inner)
                return [self.without_equal_results(new) if isinstance(new, If) else new]
        return [substitute_statement(statement, self.renamed)]

    def without_constants(self, node: Loop) -> Loop:
        """Return a loop without the carried values that never change: they are what they were."""
        following = node.next_values()
        kept = []
        for i, (param, init) in enumerate(zip(node.params, node.inits, strict=True)):
            if node.body.diverges or following[i] is not param or init is UNDEF:
                kept.append(i)
                continue
            self.renamed[param] = self.renamed[node.results[i]] = self.atom(init)
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
                self.renamed[result] = value
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
        self.sweep = origin.reverse
        rhs = substitute(statement.rhs, self.renamed)
        if target in self.unit.defs:
            self.unit.defs[target] = rhs  # in a sweep, of what was saved
        new: Rhs | Atom | None = rhs
        if target in self.unit.layouts.read:
            pass  # what is equal to it may lie in memory in another way
        elif isinstance(rhs, Attribute):
            new = self.rewrite_attribute(target, rhs)
        elif isinstance(rhs, Call):
            new = self.reduction(target, rhs) if rhs.kwargs else self.rewrite(rhs)
        before = self.written(origin)
        if isinstance(new, Var) and target in self.exposed and not self.is_own(new):
            new = rhs  # written into later, which the value that it equals must not be
        if isinstance(new, (Var, Const)):
            self.renamed[target] = new
            self.uses[new] = self.uses.get(new, 0) + self.uses.get(target, 0) - 1
            return before
        if new is None or new is rhs:
            if isinstance(rhs, Call):
                self.calls[target] = rhs
                self.note(target, rhs)
            return [statement if rhs is statement.rhs else Let(target, rhs, origin)]
        if isinstance(new, Call):
            self.calls[target] = new
        self.unit.defs[target] = new
        return [*before, Let(target, new, origin)]

    def first(self, name: str, rhs: Rhs, type_: t.Type) -> Var:
        """Write ``rhs`` in front of the statement being rewritten; return its variable."""
        var = Var(name, True)
        self.unit.record(var, rhs, type_)
        self.pending.append((var, rhs))
        self.uses[var] = 1
        return var

    def written(self, origin: Origin) -> list[Statement]:
        """Return the statements to be written in front of the definition being rewritten."""
        rows: list[Statement] = []
        for var, rhs in self.pending:
            self.unit.defs[var] = rhs
            if isinstance(rhs, Call):
                self.calls[var] = rhs
            rows.append(Let(var, rhs, origin))
        self.pending.clear()
        return rows

    # -- questions -----------------------------------------------------------------------------

    def made_by(self, atom: Atom | Star, function: Any) -> Call | None:
        """Return the call that made ``atom`` of what is still there, if it is one of ``function``.

        That is an operator, or a word for what is called.
        """
        call = self.calls.get(atom) if isinstance(atom, Var) else None
        if call is not None and isinstance(call.func, Const) and function in (
            (meaning(call),) if isinstance(function, str) else (call.func.value,)
        ):
            read = call.args[1:] if function == "full_like" else call.args
            return None if any(unstar(arg) in self.exposed for arg in read) else call
        return None

    def is_own(self, var: Var) -> bool:
        """Say whether a value is a new one that only the statement being rewritten reads."""
        call = self.calls.get(var)
        return call is not None and self.uses.get(var) == 1 and not any(
            True for _ in self.sharing.of(var, call)
        )

    def negated(self, atom: Atom) -> Atom | None:
        """Return x if ``atom`` is -x."""
        made = self.made_by(atom, operator.neg)
        return None if made is None else plain(made.args[0])

    def is_float(self, atom: Atom) -> bool:
        """Say whether ``atom`` is a float or an array of floats.

        In a sweep a complex number counts as one, and what may be an int as well. Elsewhere it does
        not: products of complex numbers, even by 1 or -1, give zeros another sign.
        """
        type_ = self.unit.type(atom)
        if isinstance(type_, t.Scalar) and not type_.exact and not self.sweep:
            return False
        kinds = ("float", "complex") if self.sweep else ("float",)
        return isinstance(type_, (t.Scalar, t.Array)) and type_.kind in kinds

    def may_stand_for(self, atom: Atom) -> bool:
        """Say whether ``atom`` may replace an equal value: arrays stay objects of their own."""
        return self.is_float(atom) and atom not in self.exposed and (
            self.sweep or isinstance(self.unit.type(atom), t.Scalar)
        )

    def numeric(self, atom: Atom) -> bool:
        """Say whether ``atom`` is a number or an array."""
        return isinstance(self.unit.type(atom), (t.Scalar, t.Array))

    def keeps_dtype(self, number: Atom, array: t.Type) -> bool:
        """Say whether arithmetic of ``number`` with an array of floats keeps the array's dtype."""
        type_ = self.unit.type(number)
        return (
            isinstance(array, t.Array) and array.kind == "float"
            and isinstance(type_, t.Scalar) and type_.kind == "float"
            and type_.dtype in (None, array.dtype)
        )

    def arithmetic_type(self, call: Call) -> t.Type:
        """Return the type of arithmetic of two values, from theirs."""
        assert isinstance(call.func, Const)
        x, y = (self.unit.type(plain(a)) for a in call.args)
        return type_of_arithmetic(call.func.value, x, y)

    def same_shape(self, a: Atom, b: Atom) -> bool:
        """Say whether two arrays are known to have one shape."""
        return bool(self.unit.shape(a) == self.unit.shape(b))


def plain(argument: Atom | Star) -> Atom:
    """Return an argument that is known not to be starred."""
    assert not isinstance(argument, Star)
    return argument


def is_number(atom: Atom, value: int) -> bool:
    """Say whether ``atom`` is the constant ``value``, as an int or a float."""
    return isinstance(atom, Const) and type(atom.value) in (int, float) and atom.value == value
