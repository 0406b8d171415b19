"""Products of matrices and their transposes, in a reverse sweep.

The sweep of ``X.T @ X`` multiplies by `X` twice and turns one of the products; written out, it is
one product: ``X @ (G + G.T)``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Rhs, Var
from adcompiler.ops.queries import meaning
from adcompiler.optimise.rewriter import plain
from adcompiler.optimise.uniform import Uniform


class Products(Uniform):
    """The rewrites of products of matrices."""

    def rewrite(self, call: Call) -> Rhs | Atom | None:
        """As in Uniform; sum(-x) -> -sum(x), sum(c * x) -> c * sum(x), sum(x * y) -> x @ y."""
        found = super().rewrite(call)
        if found is not None or not self.sweep or meaning(call) != "sum" or len(call.args) != 1:
            return found
        x = plain(call.args[0])
        type_ = self.unit.type(x)
        if self.uses.get(x) != 1 or not isinstance(type_, t.Array) or type_.kind != "float":
            return None
        inner, scaled = self.negated(x), self.scaled(x)
        if inner is not None:
            return Call(Const(operator.neg), (self.summed(call, inner),))
        if scaled is not None:
            return Call(Const(operator.mul), (scaled[0], self.summed(call, scaled[1])))
        made = self.made_by(x, operator.mul)
        if made is None or type_ != t.Array("float64", 1):
            return None
        one, other = map(plain, made.args)
        alike = self.unit.type(one) == type_ == self.unit.type(other)
        fits = alike and self.same_shape(one, other)
        return Call(Const(operator.matmul), (one, other)) if fits else None

    def summed(self, call: Call, x: Atom) -> Atom:
        """Return the sum of an array, written first."""
        inner = Call(call.func, (x,))
        found = self.rewrite(inner)
        type_ = self.unit.type(x)
        assert isinstance(type_, t.Array) and not isinstance(found, (Var, Const))
        return self.first("total", found or inner, t.Scalar("float", type_.dtype))

    def scaled(self, x: Atom) -> tuple[Atom, Atom] | None:
        """Return (c, a) if ``x`` is the product c * a of a number and an array, read only here."""
        raise NotImplementedError

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
