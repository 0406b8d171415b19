"""Products of matrices and their transposes, in a reverse sweep.

The sweep of ``X.T @ X`` multiplies by `X` twice and turns one of the products; written out, it is
one product: ``X @ (G + G.T)``.
"""

from __future__ import annotations

import operator
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Rhs, Var
from adcompiler.ops.queries import meaning
from adcompiler.optimise.rewriter import plain
from adcompiler.optimise.uniform import Uniform
from collections.abc import Callable


class Products(Uniform):
    """The rewrites of products of matrices."""

    def rewrite_attribute(self, target: Var, rhs: Attribute) -> Rhs | Atom:
        """A.T.T -> A, and (A @ B).T -> B.T @ A.T where one of these is turned already."""
        if rhs.name != "T" or not self.sweep or not isinstance(rhs.obj, Var):
            return super().rewrite_attribute(target, rhs)
        found = self.straight(rhs.obj)
        if found is None:
            factors = self.factors(rhs.obj)
            if factors is not None and any(self.straight(one) for one in factors):
                left, right = (self.turned(one) for one in reversed(factors))
                return Call(Const(operator.matmul), (left, right))
        return found or rhs

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

    def turned(self, atom: Atom) -> Atom:
        """Return the transpose of a matrix, written first unless it is there."""
        return self.straight(atom) or self.first("turned", Attribute(atom, "T"),
                                                 self.unit.type(atom))

    def factors(self, atom: Atom) -> tuple[Atom, Atom] | None:
        """Return A and B if ``atom`` is A @ B, matrices of floats, and read only here."""
        made = self.made_by(atom, "matmul") if self.sweep and self.uses.get(atom) == 1 else None
        if made is None or made.kwargs or len(made.args) != 2:
            return None
        left, right = (plain(arg) for arg in made.args)
        one = self.unit.type(atom)
        if not isinstance(one, t.Array) or one.ndim != 2 or not self.is_float(atom):
            return None
        same = all(self.unit.type(arg) == one for arg in (left, right))
        return (left, right) if same else None

    def common_factor(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """A @ P + A @ Q -> A @ (P + Q), and P @ A + Q @ A -> (P + Q) @ A."""
        one, other = self.factors(x), self.factors(y)
        if one is None or other is None or x is y:
            return None
        if one[0] is other[0]:
            args = (one[0], self.value(function, one[1], other[1]))
        elif one[1] is other[1]:
            args = (self.value(function, one[0], other[0]), one[1])
        else:
            return None
        return Call(Const(operator.matmul), args)

    def value(self, function: Any, x: Atom, y: Atom) -> Atom:
        """Return the result of arithmetic, written first unless it is known already."""
        raise NotImplementedError
