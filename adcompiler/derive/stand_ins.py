"""Values with another derivative than that of how they are computed; they stay what they are.

``np.linalg.norm(d) ** 2`` has the derivative ``2 d``, whose own derivative is right at 0 too, where
that of the norm is a convention. ``p = 1 / (1 + np.exp(-x))``, the logistic function, has
``p * (1 - p)``, of its value alone, which is 0 where the exponential is infinite.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adcompiler.analyses.storage import Sharing
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Block, Call, Const, Item, Let, Region, Rhs, Star, Statement, Var,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.queries import meaning
from adcompiler.ops.registry import hashable
from adcompiler.runtime.adjoints.kinks import (
    differentiated_as, logistic_of, square_of, square_of_norm,
)
from adcompiler.typed.unit import Unit

DEPTH = 4
POWERS = ("power", "float_power")
NORM = ("x", "ord", "axis", "keepdims")
"""The parameters of what means ``"norm"``."""


def with_stand_ins(unit: Unit, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return ``statements`` in which squares of norms and logistic functions stand out as such."""
    whole = Block(tuple(statements))
    return _StandIns(unit, whole).block(whole).statements


class _StandIns:
    """Finds the squares and logistic functions in one function."""

    def __init__(self, unit: Unit, whole: Block) -> None:
        self.unit, self.whole = unit, whole
        self.written: list[tuple[Var, Rhs]] = []
        self.exposed: set[Atom] | None = None
        self.known = {
            statement.rhs.args[0] for statement in walk(whole) if isinstance(statement, Let)
            and isinstance(statement.rhs, Call) and isinstance(statement.rhs.func, Const)
            and statement.rhs.func.value in (differentiated_as, logistic_of)
        }

    def block(self, block: Block) -> Block:
        """Return a block with what stands out in it, and inside of it."""
        statements: list[Statement] = []
        changed = False
        for statement in block.statements:
            new: Iterable[Statement] = (statement,)
            if isinstance(statement, Region):
                new = (statement.with_bodies(self.block),)
            elif isinstance(statement, Let) and statement.target not in self.known:
                new = self.square(statement) or self.logistic(statement) or new
            statements += new
            changed |= statements[-1] is not statement
        return Block(tuple(statements), block.yields, block.diverges) if changed else block

    def square(self, statement: Let) -> list[Let] | None:
        """Return a square, and what it is differentiated as; None if there is no norm in it."""
        root = self.squared(statement.rhs)
        if root is None:
            return None
        self.written = []
        smooth = self.smooth(root, DEPTH)
        if smooth is None:
            return None
        return self.standing_in(statement, differentiated_as, smooth)

    def standing_in(self, statement: Let, function: Callable[..., Any], smooth: Atom) -> list[Let]:
        """Return a definition, and the value that it defines as one with another derivative."""
        value = self.let(statement.target.name, statement.rhs, statement.target)
        call = Call(Const(function), (value, smooth))
        self.unit.defs[statement.target] = call
        self.written.append((statement.target, call))
        return [Let(var, rhs, statement.origin) for var, rhs in self.written]

    def logistic(self, statement: Let) -> list[Let] | None:
        """Return ``1 / (1 + exp(x))`` as a logistic function of ``-x``; None for others."""
        match statement.rhs:
            case Call(_, (Const(1), Var() as below), ()) if meaning(statement.rhs) == "divide":
                total = self.unit.definition(below)
            case _:
                return None
        match total:
            case Call(_, (Const(1), Var() as one) | (Var() as one, Const(1)), ()) if (
                meaning(total) == "add"
            ):
                power = self.unit.definition(one)
            case _:
                return None
        match power:
            case Call(_, (Var() as x,), ()) if meaning(power) == "exp" and self.is_alike(
                x, statement.target
            ):
                self.written = []
                return self.standing_in(statement, logistic_of, x)
        return None

    def is_alike(self, x: Var, target: Var) -> bool:
        """Say whether a value is of real numbers that stay, and of the type of another one."""
        type_ = self.unit.type(x)
        return self.stays(x) and type_ == self.unit.type(target) and (
            isinstance(type_, (t.Scalar, t.Array)) and type_.kind == "float")

    def let(self, name: str, rhs: Rhs, like: Var) -> Var:
        """Write a definition of a value that has the type and shape of another one."""
        new = Var(name, True)
        self.unit.types[new] = self.unit.type(like)
        self.unit.shapes[new] = self.unit.shape(like)
        self.unit.defs[new] = rhs
        self.written.append((new, rhs))
        return new

    def smooth(self, root: Var, depth: int) -> Var | None:
        """Return the square of a value, written without its root; None if there is no norm in it.
        """
        made = self.unit.definition(root)
        found = self.norm(made)
        if found is not None:
            value = self.let("square", Call(Const(operator.mul), (root, root)), root)
            return self.let("square", Call(Const(found[0]), (value, *found[1])), root)
        match made:
            case Call(Const(function), (Var() as x,), ()) if depth and (
                meaning(made) == "negative"
                or (isinstance(function, type) and self.is_real(x) and self.is_real(root))
            ):
                return self.smooth(x, depth - 1)
            case Item(Var() as obj, index) if depth and isinstance(self.unit.type(obj), t.Array):
                inner = self.smooth(obj, depth - 1)
                return None if inner is None else self.let("square", Item(inner, index), root)
            case Call(Const(), (x, y), ()) if depth and meaning(made) in ("multiply", "divide"):
                smooth = [self.smooth(a, depth - 1) if isinstance(a, Var) else None for a in (x, y)]
                if not any(smooth) or isinstance(x, Star) or isinstance(y, Star) or not (
                    self.stays(x) and self.stays(y)
                ):
                    return None
                squares = smooth[0] or self.plain(x), smooth[1] or self.plain(y)
                return self.let("square", Call(made.func, squares), root)
        return None

    def plain(self, factor: Atom) -> Atom:
        """Return the square of a factor in which there is no norm."""
        if isinstance(factor, Const):
            return Const(factor.value * factor.value)
        return self.let("square", Call(Const(operator.mul), (factor, factor)), factor)

    def squared(self, rhs: Rhs) -> Var | None:
        """Return what a right-hand side is the square of, None if it is no square."""
        match rhs:
            case Call(_, (Var() as x,), ()) if meaning(rhs) == "square":
                return x
            case Call(_, (Var() as x, Const(2 | 2.0)), ()) if meaning(rhs) in POWERS:
                return x
            case Call(_, (Var() as x, Var() as y), ()) if meaning(rhs) == "multiply" and (
                x is y or self.same(self.unit.definition(x), self.unit.definition(y))
            ):
                return x
        return None

    @staticmethod
    def same(first: Rhs | None, second: Rhs | None) -> bool:
        """Say whether two values are those of one call."""
        def alike(a: Any, b: Any) -> bool:
            return a is b or (
                isinstance(a, Const) and isinstance(b, Const) and type(a.value) is type(b.value)
                and bool(a.value == b.value)
            )

        if not isinstance(first, Call) or not isinstance(second, Call):
            return False
        keys, others = ([key for key, _ in call.kwargs] for call in (first, second))
        parts, more = ((call.func, *call.args, *(a for _, a in call.kwargs))
                       for call in (first, second))
        return keys == others and len(parts) == len(more) and all(map(alike, parts, more))

    def norm(self, rhs: Rhs | None) -> tuple[Any, tuple[Atom, ...]] | None:
        """Return what stands for the square of a norm, and what it is given; None if it is none."""
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
            return None
        args = tuple(arg for arg in rhs.args if not isinstance(arg, Star))
        if len(args) < len(rhs.args) or not hashable(rhs.func.value):
            return None
        if meaning(rhs) in ("absolute", "fabs", "hypot") and not rhs.kwargs:
            return (square_of, args) if all(map(self.stays, args)) else None
        if meaning(rhs) != "norm":
            return None
        given: dict[Any, Any] = {**dict(zip(NORM, args, strict=False)), **dict(rhs.kwargs)}
        x, axis = given.get("x"), given.get("axis", NONE)
        kept, order = given.get("keepdims", Const(False)), given.get("ord", NONE)
        if x is None or not self.stays(x) or not all(
            isinstance(atom, Const) for atom in (axis, kept, order)
        ):
            return None
        return (square_of_norm, (x, axis, kept)) if self.is_root(order.value, axis.value, x) else (
            None)

    def is_root(self, order: Any, axis: Any, x: Atom) -> bool:
        """Say whether a norm of some order is the root of the sum of all squares."""
        type_ = self.unit.type(x)
        vector = type(axis) is int or (
            axis is None and isinstance(type_, t.Array) and type_.ndim == 1)
        return order is None or order == "fro" or (bool(order == 2) and vector)

    def is_real(self, atom: Atom) -> bool:
        """Say whether a value is one real number."""
        type_ = self.unit.type(atom)
        return isinstance(type_, t.Scalar) and type_.kind == "float"

    def stays(self, atom: Atom) -> bool:
        """Say whether a value is that of numbers, and is not written into after it is read."""
        type_ = self.unit.type(atom)
        if not isinstance(type_, (t.Scalar, t.Array)):
            return False
        if isinstance(atom, Const) or isinstance(type_, t.Scalar):
            return True
        if self.exposed is None:
            sharing = Sharing(self.unit.type, self.unit.definition)
            self.exposed = exposed_values(self.whole, sharing)
        return atom not in self.exposed


__all__ = ["with_stand_ins"]
