"""The values of a block that is rewritten: what is known of them, and writing more of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

from adcompiler.analyses.storage import Sharing
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Let, Origin, Pack, Rhs, Star, Statement, Var, unstar,
)
from adcompiler.ir.visit import count_uses
from adcompiler.ops.queries import meaning
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of_arithmetic


class Values:
    """The values of a block while its right-hand sides are rewritten, one after the other.

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
        self.sweep = False

    @cached_property
    def exposed(self) -> set[Atom]:
        """What is written into after it is read: many passes never ask."""
        return exposed_values(self.original, self.sharing)

    def atom(self, atom: Atom) -> Atom:
        """Return the atom that stands for ``atom`` now."""
        while isinstance(atom, Var) and atom in self.renamed:
            atom = self.renamed[atom]
        return atom

    def rename(self, var: Var, other: Atom) -> None:
        """Let another value stand for a variable."""
        self.renamed[var] = other
        self.uses[other] = self.uses.get(other, 0) + self.uses.get(var, 0) - 1

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

    def read_once(self, atom: Atom | Star) -> bool:
        """Say whether a value is read in one place only, which is the one asking."""
        return self.uses.get(unstar(atom)) == 1

    def is_own(self, var: Var) -> bool:
        """Say whether a value is a new one that only the statement being rewritten reads."""
        call = self.calls.get(var)
        return call is not None and self.read_once(var) and not any(
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

    def filled(self, atom: Any) -> tuple[Atom, Atom] | None:
        """Return (a, s) if ``atom`` is full_like(a, s)."""
        made = self.made_by(atom, "full_like")
        if made is None or made.kwargs or len(made.args) != 2:
            return None
        return plain(made.args[0]), plain(made.args[1])

    def scaled(self, x: Atom) -> tuple[Atom, Atom] | None:
        """Return (c, a) if ``x`` is the product c * a of a number and an array, read only here."""
        made = self.made_by(x, "multiply")
        if made is None or not self.sweep or not self.read_once(x):
            return None
        type_ = self.unit.type(x)
        one, other = (plain(a) for a in made.args)
        for c, a in ((one, other), (other, one)):
            if self.unit.type(a) == type_ and self.keeps_dtype(c, type_):
                return c, a
        return None

    def alike_first(self, rhs: Rhs | Atom, like: Atom) -> Var:
        """Write a right-hand side in front, of the type and shape of another value."""
        if isinstance(rhs, Var):
            return rhs
        assert not isinstance(rhs, Pack | Const)
        var = self.first("product", rhs, self.unit.type(like))
        self.unit.shapes[var] = self.unit.shape(like)
        return var

    def straight(self, atom: Atom) -> Atom | None:
        """Return A if ``atom`` is A.T and A may be read for it."""
        made = self.unit.definition(atom) if isinstance(atom, Var) else None
        match made:
            case Attribute(obj, "T") | Call(_, (Var() as obj,), ()) if isinstance(
                made, Attribute
            ) or meaning(made) == "transpose":
                of = self.atom(obj)
                if isinstance(self.unit.type(of), t.Array) and self.may_stand_for(of):
                    return of
        return None

    def ndim(self, atom: Atom) -> int:
        """Return the number of axes of an array, 0 for what is none."""
        type_ = self.unit.type(atom)
        return type_.ndim if isinstance(type_, t.Array) else 0


Written = Callable[[Call], Atom]
"""Writes arithmetic in front, and returns its value: that of what is simpler, if there is any."""


def arithmetic(function: Callable[..., Any], x: Atom, y: Atom) -> Call:
    """Return the call of an operator of two values."""
    return Call(Const(function), (x, y))


def times(x: Atom | Star, y: Atom | Star) -> Call:
    """Return x * y."""
    return Call(Const(operator.mul), (x, y))


def negative(x: Atom) -> Call:
    """Return -x."""
    return Call(Const(operator.neg), (x,))


def plain(argument: Atom | Star) -> Atom:
    """Return an argument that is known not to be starred."""
    assert not isinstance(argument, Star)
    return argument


def is_number(atom: Atom, value: int) -> bool:
    """Say whether ``atom`` is the constant ``value``, as an int or a float."""
    return isinstance(atom, Const) and type(atom.value) in (int, float) and atom.value == value
