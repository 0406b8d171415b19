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
from adcompiler.optimise.broadcasts import Spreads
from adcompiler.optimise.values import Values, Written, arithmetic, negative, plain, times


class Products:
    """The rewrites of products of matrices, and of sums that are such or have factors."""

    def __init__(self, values: Values, value: Written, spreads: Spreads) -> None:
        self.values, self.unit, self.value, self.spreads = values, values.unit, value, spreads

    def sum(self, call: Call) -> Call | None:
        """sum(-x) -> -sum(x), sum(c * x) -> c * sum(x), sum(x * y) -> x @ y."""
        if not self.values.sweep or meaning(call) != "sum" or len(call.args) != 1:
            return None
        x = plain(call.args[0])
        type_ = self.unit.type(x)
        if not self.values.read_once(x) or not isinstance(type_, t.Array) or type_.kind != "float":
            return None
        inner, scaled = self.values.negated(x), self.values.scaled(x)
        if inner is not None:
            return negative(self.summed(call, inner))
        if scaled is not None:
            return times(scaled[0], self.summed(call, scaled[1]))
        made = self.values.made_by(x, "multiply")
        if made is None or type_ != t.Array("float64", 1):
            return None
        one, other = map(plain, made.args)
        alike = self.unit.type(one) == type_ == self.unit.type(other)
        fits = alike and self.values.same_shape(one, other)
        return Call(Const(operator.matmul), (one, other)) if fits else None

    def summed(self, call: Call, x: Atom) -> Atom:
        """Return the sum of an array, written first."""
        inner = Call(call.func, (x,))
        found = self.spreads.rewrite(inner) or self.sum(inner)
        type_ = self.unit.type(x)
        assert isinstance(type_, t.Array) and not isinstance(found, (Var, Const))
        return self.values.first("total", found or inner, t.Scalar("float", type_.dtype))

    def transpose(self, rhs: Attribute) -> Rhs | Atom | None:
        """A.T.T -> A, and (A @ B).T -> B.T @ A.T where one of these is turned already."""
        if not self.values.sweep or not isinstance(rhs.obj, Var):
            return None
        found = self.values.straight(rhs.obj)
        if found is None:
            factors = self.factors(rhs.obj)
            if factors is not None and any(self.values.straight(one) for one in factors):
                left, right = (self.turned(one) for one in reversed(factors))
                return Call(Const(operator.matmul), (left, right))
        return found

    def turned(self, atom: Atom) -> Atom:
        """Return the transpose of a matrix, written first unless it is there."""
        return self.values.straight(atom) or self.values.first("turned", Attribute(atom, "T"),
                                                 self.unit.type(atom))

    def factors(self, atom: Atom) -> tuple[Atom, Atom] | None:
        """Return A and B if ``atom`` is A @ B, matrices of floats, and read only here."""
        if not self.values.sweep or not self.values.read_once(atom):
            return None
        made = self.values.made_by(atom, "matmul")
        if made is None or made.kwargs or len(made.args) != 2:
            return None
        left, right = (plain(arg) for arg in made.args)
        one = self.unit.type(atom)
        if not isinstance(one, t.Array) or one.ndim != 2 or not self.values.is_float(atom):
            return None
        same = all(self.unit.type(arg) == one for arg in (left, right))
        return (left, right) if same else None

    def common_factor(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """A @ P + A @ Q -> A @ (P + Q), and P @ A + Q @ A -> (P + Q) @ A."""
        one, other = self.factors(x), self.factors(y)
        if one is None or other is None or x is y:
            return None
        if one[0] is other[0]:
            args = (one[0], self.value(arithmetic(function, one[1], other[1])))
        elif one[1] is other[1]:
            args = (self.value(arithmetic(function, one[0], other[0])), one[1])
        else:
            return None
        return Call(Const(operator.matmul), args)
