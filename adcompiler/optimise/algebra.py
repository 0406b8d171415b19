"""Small rewrites of arithmetic, each with its algebra beside it.

Values of the user's own program keep every bit; in the reverse sweep a rewrite may round anew, but
never more often than the original.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Rhs, Var, unstar
from adcompiler.ir.operators import FIELD, is_one
from adcompiler.ops.queries import meaning
from adcompiler.optimise.products import Products
from adcompiler.optimise.rewriter import is_number, plain
from adcompiler.runtime.functionals import symmetric
from adcompiler.runtime.adjoints.kinks import STAND_INS, first_derivative
from adcompiler.typed.unit import Unit
from collections.abc import Callable


def algebra(block: Block, unit: Unit, last: bool = False) -> Block:
    """Return ``block`` with trivial arithmetic simplified; ``last`` if no such pass follows."""
    rewriter = Algebra(unit, block, last)
    return rewriter.with_checks(rewriter.block(block))


class Algebra(Products):
    """The rewrites of arithmetic."""

    def __init__(self, unit: Unit, block: Block, last: bool) -> None:
        super().__init__(unit, block, last)
        self.inverses: dict[Var, Var] = {}

    def rewrite(self, call: Call) -> Rhs | Atom | None:
        """Return what replaces a call without keywords, None to leave it."""
        function = call.func.value if isinstance(call.func, Const) else None
        if function is operator.neg:
            return self.negation(plain(call.args[0]))
        if function in (symmetric, *STAND_INS) or (
            function is first_derivative and not self.unit.derivatives.around
        ):
            return plain(call.args[0])  # whose derivative has been written, if it was wanted
        if is_one(function, FIELD) and len(call.args) == 2:
            x, y = (plain(a) for a in call.args)
            return (
                self.constants(function, x, y) or self.of_arrays(call, function, x, y)
                or self.arithmetic(function, x, y)
            )
        return super().rewrite(call)

    def arithmetic(self, function: Any, x: Atom, y: Atom) -> Rhs | Atom | None:
        """Return what replaces a sum, difference, product or quotient."""
        if function is operator.mul:
            return self.signed(function, x, y) or self.product(x, y) or self.outward(function, x, y)
        if function is operator.truediv:
            if is_number(y, 1) and self.may_stand_for(x):
                return x  # x / 1 -> x
            return (
                self.signed(function, x, y) or self.over_inverse(x, y)
                or self.outward(function, x, y)
            )
        return (
            self.factored(function, x, y) or self.common_factor(function, x, y)
            or self.sum(function, x, y)
        )

    def note(self, target: Var, call: Call) -> None:
        """Remember ``target = 1 / y`` of the user's at the top, where all that follows sees it."""
        made = isinstance(call.func, Const) and call.func.value is operator.truediv
        if self.depth or self.sweep or not made or not is_number(plain(call.args[0]), 1):
            return
        divisor = plain(call.args[1])
        if isinstance(divisor, Var) and isinstance(self.unit.type(divisor), t.Array):
            self.inverses[divisor] = target

    @staticmethod
    def constants(function: Any, x: Atom, y: Atom) -> Atom | None:
        """Return the value of arithmetic of two numbers."""
        if not isinstance(x, Const) or not isinstance(y, Const):
            return None
        if type(x.value) not in (int, float) or type(y.value) not in (int, float):
            return None
        try:
            return Const(function(x.value, y.value))
        except ArithmeticError:
            return None

    def signed(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """-x * y -> -(x * y), x * -y -> -(x * y), and likewise for quotients."""
        for position, one in enumerate((x, y)):
            inner = self.negated(one)
            if inner is not None and self.is_float(x) and self.is_float(y):
                args = (inner, y) if position == 0 else (x, inner)
                return Call(Const(operator.neg), (self.value(function, *args),))
        return None

    def value(self, function: Any, x: Atom, y: Atom) -> Atom:
        """Return the result of arithmetic, written first unless it is known already."""
        call = Call(Const(function), (x, y))
        simpler = self.rewrite(call)
        if isinstance(simpler, (Var, Const)):
            return simpler
        return self.first("product", simpler or call, self.arithmetic_type(call))

    def negation(self, x: Atom) -> Rhs | Atom | None:
        """--x -> x, and -full_like(a, s) -> full_like(a, -s)."""
        if isinstance(x, Const) and type(x.value) in (int, float):
            return Const(-x.value)
        found = self.filled(x)
        if found is not None and self.keeps_dtype(found[1], self.unit.type(x)):
            like, fill = found
            negative = self.negation(fill)
            if not isinstance(negative, (Var, Const)):
                negative = self.first(
                    "negative", Call(Const(operator.neg), (fill,)), self.unit.type(fill)
                )
            return Call(Const(np.full_like), (like, negative))
        inner = self.negated(x)
        return inner if inner is not None and self.may_stand_for(inner) else None

    def reduction(self, target: Var, call: Call) -> Rhs:
        """(-x).sum(axis=i) -> -x.sum(axis=i), which negates less."""
        if not self.sweep or meaning(call) != "sum" or len(call.args) != 1 or (
            self.uses.get(unstar(call.args[0])) != 1
        ):
            return call
        inner, options = self.negated(plain(call.args[0])), {"axis", "keepdims"}
        if inner is None or not options.issuperset(dict(call.kwargs)) or not self.is_float(target):
            return call
        total = self.first(
            target.name, Call(call.func, (inner,), call.kwargs), self.unit.type(target))
        self.unit.shapes[total] = self.unit.shape(target)
        return Call(Const(operator.neg), (total,))

    def product(self, x: Atom, y: Atom) -> Rhs | Atom | None:
        """1 * x -> x, -1 * x -> -x, x * (1 / y) -> x / y."""
        for one, other in ((x, y), (y, x)):
            if is_number(one, 1) and self.may_stand_for(other):
                return other
            if is_number(one, -1) and self.is_float(other):
                return Call(Const(operator.neg), (other,))
        for one, other in ((x, y), (y, x)):
            inverse = self.made_by(other, operator.truediv)
            if inverse is None or not self.sweep or self.uses.get(other) != 1:
                continue
            if is_number(plain(inverse.args[0]), 1) and self.is_float(one):
                return Call(Const(operator.truediv), (one, inverse.args[1]))
        return None

    def sum(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """x + -y -> x - y, -x + y -> y - x, x - -y -> x + y."""
        inner = self.negated(y)
        if inner is not None and self.numeric(x):
            other = operator.sub if function is operator.add else operator.add
            return Call(Const(other), (x, inner))
        inner = self.negated(x)
        if inner is not None and function is operator.add and self.numeric(y):
            return Call(Const(operator.sub), (y, inner))
        return None

    # -- numbers times arrays --------------------------------------------------------------------

    def scaled(self, x: Atom) -> tuple[Atom, Atom] | None:
        """Return (c, a) if ``x`` is the product c * a of a number and an array, read only here."""
        made = self.made_by(x, operator.mul)
        if made is None or not self.sweep or self.uses.get(x) != 1:
            return None
        type_ = self.unit.type(x)
        one, other = (plain(a) for a in made.args)
        for c, a in ((one, other), (other, one)):
            if self.unit.type(a) == type_ and self.keeps_dtype(c, type_):
                return c, a
        return None

    def outward(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """(c * a) * b -> c * (a * b) and (c * a) / b -> c * (a / b), for a number c."""
        for one, other in ((x, y), (y, x)) if function is operator.mul else ((x, y),):
            found = self.scaled(one)
            if found is None or self.unit.type(other) != self.unit.type(one):
                continue
            c, a = found
            args = (a, other) if one is x else (other, a)
            return Call(Const(operator.mul), (c, self.value(function, *args)))
        return None

    def factored(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """c * a + c * b -> c * (a + b), for a number c."""
        one, other = self.scaled(x), self.scaled(y)
        if one is None or other is None or one[0] is not other[0]:
            return None
        return Call(Const(operator.mul), (one[0], self.value(function, one[1], other[1])))

    def over_inverse(self, x: Atom, y: Atom) -> Call | None:
        """x / y -> x * z where z = 1 / y has been computed."""
        inverse = self.inverses.get(y) if isinstance(y, Var) else None
        if inverse is None or not self.sweep or not self.uses.get(inverse) or (
            inverse in self.exposed
        ):
            return None
        if isinstance(self.unit.type(x), t.Array) and self.is_float(x):
            return Call(Const(operator.mul), (x, inverse))
        return None
