"""What a sweep computes again, rather than have it saved: integers, elements of arrays."""

from __future__ import annotations

from collections.abc import Sequence

from adcompiler.derive.reverse.base import ReverserBase, rename
from adcompiler.derive.reverse.pending_regions import Written
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Let, Pack, Slice, Star, Statement, Var, operands, substitute,
    unstar,
)
from adcompiler.ir.operators import RING, SIGNS, WHOLE
from adcompiler.ir.visit import free_variables

class Recomputer(ReverserBase):
    """Writes integer arithmetic of a region again in the sweep of the region."""

    def recompute_integers(
        self, out: list[Statement], yields: list[Atom], region: Sequence[Written],
        made: set[Var], items: frozenset[Var] = frozenset(),
    ) -> None:
        """Compute what is integer arithmetic of ``items`` and outer values anew.

        ``out`` and ``yields`` are the sweep of a region, ``made`` the variables defined in it.
        """
        lets = {s.target: s for s in region if isinstance(s, Let)}
        mapping: dict[Var, Atom] = {}
        again: list[Statement] = []

        def is_free(var: Var) -> bool:
            return var in lets and (
                self.is_integer_arithmetic(lets[var]) or self.is_read_again(lets[var]))

        def saved_for(var: Var) -> set[Var]:
            """Return what has to be saved to compute a variable again; itself, if it is not."""
            if var not in made or var in items:
                return set()
            if not is_free(var):
                return {var}
            return set().union(*(
                saved_for(atom) for atom in operands(lets[var].rhs) if isinstance(atom, Var)))

        def recompute(var: Var) -> None:
            if var in mapping or not is_free(var):
                return
            for atom in operands(lets[var].rhs):
                if isinstance(atom, Var):
                    recompute(atom)
            again.append(self.written_again(lets[var], mapping))

        for var in free_variables(Block(tuple(out), tuple(yields))):
            saved = saved_for(var) if is_free(var) else set()
            # An integer is saved rather than what is made of it, which may be several.
            if not saved or (len(saved) == 1 and all(self.s.unit.type(v) == t.INT for v in saved)):
                recompute(var)
        rename(out, yields, mapping)
        out[:0] = again

    def is_integer_arithmetic(self, let: Let) -> bool:
        """Say whether a statement only computes an int, or a subscript made of such."""
        match let.rhs:
            case Slice():
                return True
            case Pack("tuple", items):
                return not any(isinstance(item, Star) for item in items) and all(
                    isinstance(self.s.unit.type(unstar(item)), (t.SliceType, t.Static))
                    or self.s.unit.type(unstar(item)) == t.INT for item in items
                )
            case Call(func=Const(value=function)) if function is range:
                return True
            case Call(func=Const(value=function)):
                return self.s.unit.type(let.target) == t.INT and function in WHOLE
        return False

    def is_read_again(self, let: Let) -> bool:
        """Say whether a statement reads an element of an array that stays as it is.

        Or is a polynomial of such. The array is one from outside of the region.
        """
        if not self.lasting or not isinstance(self.s.unit.type(let.target), t.Scalar):
            return False
        match let.rhs:
            case Item(obj, _):
                return isinstance(obj, Var) and isinstance(self.s.unit.type(obj), t.Array) and (
                    self.primal_of.get(obj, obj) in self.lasting)
            case Call(func=Const(value=function), args=args, kwargs=()):
                exponent = unstar(args[-1]) if SIGNS.get(function) == "**" else None
                is_square = isinstance(exponent, Const) and exponent.value == 2
                return (is_square or function in RING) and all(
                    isinstance(self.s.unit.type(unstar(arg)), t.Scalar) for arg in args)
        return False

    def written_again(self, let: Let, mapping: dict[Var, Atom]) -> Let:
        """Return a statement of the region for the sweep, and enter its variable in ``mapping``."""
        new = self.copy_of(let.target, let.target.temporary)
        mapping[let.target] = new
        rhs = substitute(let.rhs, mapping)
        self.s.unit.defs[new] = rhs
        return Let(new, rhs, let.origin.reversed())
