"""What a sweep computes again, rather than have it saved: integers, tests of these, elements.

In loops inside of loops, whose tapes are as long as all iterations together, so is what follows by
a few cheap operations from arrays in front of the loop, if that is all that the sweep reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from adcompiler.derive.reverse.forward_pass import ForwardPass, rename
from adcompiler.derive.reverse.open_regions import Written
from adcompiler.derive.reverse.undo import Restoring
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Item, Let, Pack, Slice, Star, Statement, Var, operands,
    substitute, unstar,
)
from adcompiler.ir.operators import ORDERED, RING, SIGNS, WHOLE
from adcompiler.ir.visit import free_variables
from adcompiler.ops.queries import meaning

CHEAP = ("add", "subtract", "multiply", "divide", "negative")
MOST = 12
"""How many operations of an iteration inside of two loops are done again to keep nothing."""


class Recomputer:
    """Writes integer arithmetic of a region again in the sweep of the region."""

    def __init__(self, forward: ForwardPass, restoring: Restoring) -> None:
        self.forward = forward
        self.restoring = restoring
        self.unit = forward.s.unit

    def recompute_integers(
        self, out: list[Statement], yields: list[Atom], region: Sequence[Written],
        made: set[Var], number: int, items: frozenset[Var] = frozenset(),
    ) -> None:
        """Compute what is integer arithmetic of ``items`` and outer values anew.

        ``out`` and ``yields`` are the sweep of a region, of some ``number``, ``made`` the variables
        defined in it.
        """
        lets = {s.target: s for s in region if isinstance(s, Let)}
        mapping: dict[Var, Atom] = {}
        again: list[Statement] = []
        done: dict[Var, None] = {}
        in_loop = self.forward.loops_around(number) > 0

        def is_free(var: Var) -> bool:
            """Say whether a variable costs less than to save it; a branch keeps its own test."""
            is_test = var in lets and self.unit.type(var) == t.BOOL
            return var in lets and (in_loop or not is_test) and self.is_free(lets[var])

        def saved_for(var: Var) -> set[Var]:
            """Return what has to be saved to compute a variable again; itself, if it is not."""
            if var not in made or var in items:
                return set()
            if not is_free(var):
                return {var}
            return set().union(*(
                saved_for(atom) for atom in operands(lets[var].rhs) if isinstance(atom, Var)))

        def follows(var: Var) -> bool:
            """Say whether a variable follows by cheap operations, which are noted as ``done``."""
            if var not in made or var in items or var in done:
                return True
            if var not in lets or not self.is_cheap(lets[var]):
                return False
            done[var] = None
            return all(follows(atom) for atom in operands(lets[var].rhs) if isinstance(atom, Var))

        def recompute(var: Var) -> None:
            if var in mapping or not (is_free(var) or var in done):
                return
            for atom in operands(lets[var].rhs):
                if isinstance(atom, Var):
                    recompute(atom)
            again.append(self.written_again(lets[var], mapping))

        wanted = [var for var in free_variables(Block(tuple(out), tuple(yields))) if var in made]
        # An integer is saved rather than what is made of it, which may be several.
        free = [var for var in wanted if is_free(var) and (not (saved := saved_for(var)) or (
            len(saved) == 1 and all(self.unit.type(v) == t.INT for v in saved)))]
        rest = [var for var in wanted if var not in items and var not in free]
        old = [var for var in rest if var in lets and self.is_old(lets[var])]
        if self.is_deep(number) and all(var in old or follows(var) for var in rest) and (
            len(done) <= MOST
        ):
            free += [var for var in rest if var not in old]
        else:
            done.clear()
        for var in free:
            recompute(var)
        rename(out, yields, mapping)
        out[:0] = again

    def is_deep(self, number: int) -> bool:
        """Say whether a region is inside of two loops, of text in Python."""
        return self.forward.loops_around(number) > 1 and not self.restoring.reads_again

    def is_old(self, let: Let) -> bool:
        """Say whether a statement reads what is written over: whether it is wanted shows later."""
        rhs = let.rhs
        if isinstance(rhs, Item):
            return self.restoring.may_change(rhs.obj)
        return meaning(rhs) == "copy"

    def is_free(self, let: Let) -> bool:
        """Say whether a statement costs less than saving what it computes."""
        match let.rhs:
            case Attribute(Var() as obj, "T") if isinstance(self.unit.type(obj), t.Array):
                return self.restoring.lasts(obj)
        return self.is_integer_arithmetic(let) or self.is_read_again(let)

    def is_cheap(self, let: Let) -> bool:
        """Say whether a statement is a cheap operation, of values that stay as they are."""
        unit, rhs = self.unit, let.rhs
        if self.is_integer_arithmetic(let):
            return True
        if self.restoring.may_change(let.target):
            return False
        of = [unit.type(atom) for atom in operands(rhs) if isinstance(atom, Var)]
        if isinstance(rhs, Item):
            return isinstance(rhs.obj, Var) and isinstance(unit.type(rhs.obj), t.Array) and (
                self.restoring.lasts(rhs.obj)
                and all(map(is_basic, of[1:])))
        if not isinstance(rhs, Call) or rhs.kwargs or not isinstance(rhs.func, Const) or not all(
            isinstance(type_, (t.Scalar, t.Array)) for type_ in of
        ):
            return False
        arrays = any(isinstance(type_, t.Array) for type_ in of)
        match meaning(rhs):
            case "power":
                exponent = unstar(rhs.args[1])
                return isinstance(exponent, Const) and (not arrays or exponent.value == 2)
            case "matmul":
                return isinstance(unit.type(let.target), t.Scalar)
            case "sqrt":
                return not arrays
            case word:
                return word in CHEAP

    def is_integer_arithmetic(self, let: Let) -> bool:
        """Say whether a statement only computes an int, or a subscript made of such."""
        match let.rhs:
            case Slice():
                return True
            case Pack("tuple", items):
                return not any(isinstance(item, Star) for item in items) and all(
                    isinstance(self.unit.type(unstar(item)), (t.SliceType, t.Static))
                    or self.unit.type(unstar(item)) == t.INT for item in items
                )
            case Call(func=Const(value=function)) if function is range:
                return True
            case Call(func=Const(value=function), args=args):
                if function in ORDERED:
                    return all(self.unit.type(unstar(arg)) == t.INT for arg in args)
                return self.unit.type(let.target) == t.INT and function in WHOLE
        return False

    def is_read_again(self, let: Let) -> bool:
        """Say whether a statement reads an element of an array that stays as it is.

        Or is a polynomial of such. The array is one from outside of the region.
        """
        if not self.restoring.reads_again or not isinstance(self.unit.type(let.target), t.Scalar):
            return False
        match let.rhs:
            case Item(obj, _):
                return isinstance(obj, Var) and isinstance(self.unit.type(obj), t.Array) and (
                    self.restoring.lasts(obj))
            case Call(func=Const(value=function), args=args, kwargs=()):
                exponent = unstar(args[-1]) if SIGNS.get(function) == "**" else None
                is_square = isinstance(exponent, Const) and exponent.value == 2
                return (is_square or function in RING) and all(
                    isinstance(self.unit.type(unstar(arg)), t.Scalar) for arg in args)
        return False

    def written_again(self, let: Let, mapping: dict[Var, Atom]) -> Let:
        """Return a statement of the region for the sweep, and enter its variable in ``mapping``."""
        new = self.forward.copy_of(let.target, let.target.temporary)
        mapping[let.target] = new
        rhs = substitute(let.rhs, mapping)
        self.unit.defs[new] = rhs
        return Let(new, rhs, let.origin.reversed())


def is_basic(type_: t.Type) -> bool:
    """Say whether a subscript is an integer, a slice, or several of them."""
    if isinstance(type_, t.Tuple):
        return all(map(is_basic, type_.items))
    return isinstance(type_, (t.SliceType, t.Static)) or type_ == t.INT
