"""Small rewrites of arithmetic, each with its algebra beside it.

Values of the user's own program keep every bit; in the reverse sweep a rewrite may round anew, but
never more often than the original.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ir.nodes import Atom, Attribute, Block, Call, Const, Rhs, Var
from adcompiler.ir.operators import FIELD, SIGNS, is_one
from adcompiler.ops.queries import meaning
from adcompiler.optimise.factors import Factors
from adcompiler.optimise.products import Products
from adcompiler.optimise.quotients import Quotients
from adcompiler.optimise.rewriter import Rewriter
from adcompiler.optimise.broadcasts import Spreads
from adcompiler.optimise.uniform import Uniform
from adcompiler.optimise.values import arithmetic, is_number, negative, plain, times
from adcompiler.runtime.adjoints.kinks import STAND_INS, first_derivative
from adcompiler.runtime.functionals import symmetric
from adcompiler.typed.unit import Unit

TWO = Const(2.0)


def algebra(block: Block, unit: Unit, last: bool = False) -> Block:
    """Return ``block`` with trivial arithmetic simplified; ``last`` if no such pass follows."""
    rewriter = Algebra(unit, block, last)
    return rewriter.uniform.with_checks(rewriter.block(block))


class Algebra(Rewriter):
    """The rewrites of arithmetic, and those of its parts, one after the other."""

    def __init__(self, unit: Unit, block: Block, last: bool) -> None:
        super().__init__(unit, block)
        self.spreads = Spreads(self.values, self.value, last)
        self.uniform = Uniform(self.values, self.spreads, last)
        self.products = Products(self.values, self.value, self.spreads)
        self.quotients = Quotients(self.values, self.value)
        self.factors = Factors(self.values, self.value)

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
                self.constants(function, x, y) or self.uniform.outer(call, x, y)
                or self.spreads.of_arrays(call, function, x, y) or self.arithmetic(function, x, y)
            )
        return (
            self.uniform.rewrite(call) or self.spreads.rewrite(call) or self.products.sum(call))

    def rewrite_attribute(self, target: Var, rhs: Attribute) -> Rhs | Atom:
        """Return what replaces a transpose, a shape or a size, or ``rhs`` itself."""
        if rhs.name == "T":
            return self.products.transpose(rhs) or rhs
        return self.uniform.measure(rhs) or self.spreads.measure(target, rhs)

    def note(self, target: Var, call: Call) -> None:
        """Remember quotients of the user's at the top, where all that follows sees them."""
        if not self.depth and not self.values.sweep:
            self.quotients.note(target, call)

    def arithmetic(self, function: Any, x: Atom, y: Atom) -> Rhs | Atom | None:
        """Return what replaces a sum, difference, product or quotient."""
        match SIGNS[function]:
            case "*":
                return (
                    self.signed(function, x, y) or self.product(x, y)
                    or self.factors.outward(function, x, y)
                )
            case "/":
                if is_number(y, 1) and self.values.may_stand_for(x):
                    return x  # x / 1 -> x
                return (
                    self.signed(function, x, y) or self.quotients.over_inverse(x, y)
                    or self.factors.outward(function, x, y)
                )
        return (
            self.factors.factored(function, x, y) or self.products.common_factor(function, x, y)
            or self.sum(function, x, y)
        )

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
            inner = self.values.negated(one)
            if inner is not None and self.values.is_float(x) and self.values.is_float(y):
                args = (inner, y) if position == 0 else (x, inner)
                return negative(self.value(arithmetic(function, *args)))
        return None

    def value(self, call: Call) -> Atom:
        """Return the result of arithmetic, written first unless it is known already."""
        simpler = self.rewrite(call)
        if isinstance(simpler, (Var, Const)):
            return simpler
        return self.values.first("product", simpler or call, self.values.arithmetic_type(call))

    def negation(self, x: Atom) -> Rhs | Atom | None:
        """--x -> x, and -full_like(a, s) -> full_like(a, -s)."""
        if isinstance(x, Const) and type(x.value) in (int, float):
            return Const(-x.value)
        found = self.values.filled(x)
        if found is not None and self.values.keeps_dtype(found[1], self.unit.type(x)):
            like, fill = found
            opposite = self.negation(fill)
            if not isinstance(opposite, (Var, Const)):
                opposite = self.values.first("negative", negative(fill), self.unit.type(fill))
            return Call(Const(np.full_like), (like, opposite))
        inner = self.values.negated(x)
        return inner if inner is not None and self.values.may_stand_for(inner) else None

    def reduction(self, target: Var, call: Call) -> Rhs:
        """(-x).sum(axis=i) -> -x.sum(axis=i), (c * x).sum(axis=i) -> c * x.sum(axis=i)."""
        if not self.values.sweep or meaning(call) != "sum" or len(call.args) != 1 or not (
            self.values.read_once(call.args[0])
        ):
            return call
        x, options = plain(call.args[0]), {"axis", "keepdims"}
        if (divided := self.quotients.sum_of_ratios(target, call, x)) is not None:
            return divided
        inner, scaled = self.values.negated(x), self.values.scaled(x)
        array = inner if scaled is None else scaled[1]
        if array is None or not options.issuperset(dict(call.kwargs)) or not (
            self.values.is_float(target)
        ):
            return call
        total = self.values.first(
            target.name, Call(call.func, (array,), call.kwargs), self.unit.type(target))
        self.unit.shapes[total] = self.unit.shape(target)
        if scaled is None:
            return negative(total)
        return times(scaled[0], total)

    def product(self, x: Atom, y: Atom) -> Rhs | Atom | None:
        """1 * x -> x, -1 * x -> -x, x * (1 / y) -> x / y."""
        if self.values.sweep and (again := self.quotients.again(x, y)) is not None:
            return again
        for one, other in ((x, y), (y, x)):
            if is_number(one, 1) and self.values.may_stand_for(other):
                return other
            if is_number(one, -1) and self.values.is_float(other):
                return negative(other)
            if self.values.sweep and self.values.keeps_dtype(one, self.unit.type(other)) and (
                inside := self.factors.absorbed(one, other)
            ) is not None:
                return inside
        for one, other in ((x, y), (y, x)):
            inverse = self.values.made_by(other, operator.truediv)
            if inverse is None or not self.values.sweep or not self.values.read_once(other):
                continue
            if is_number(plain(inverse.args[0]), 1) and self.values.is_float(one):
                return Call(Const(operator.truediv), (one, inverse.args[1]))
        return None

    def sum(self, function: Callable[..., Any], x: Atom, y: Atom) -> Rhs | Atom | None:
        """x + -y -> x - y, -x + y -> y - x, x - -y -> x + y, and of equal ones.

        x + x -> 2 * x, z + x + x -> z + 2 * x, z - x - x -> z - 2 * x.
        """
        adds = function is operator.add
        inner = self.values.negated(y)
        if inner is not None and self.values.numeric(x):
            return Call(Const(operator.sub if adds else operator.add), (x, inner))
        inner = self.values.negated(x)
        if inner is not None and adds and self.values.numeric(y):
            return Call(Const(operator.sub), (y, inner))
        if not self.values.sweep or not self.values.is_float(y):
            return None
        if (quotient := self.quotients.over_one(function, x, y)) is not None:
            return quotient
        if adds and x is y:
            self.values.uses[y] = self.values.uses.get(y, 2) - 1
            return self.rewrite(doubled := times(TWO, y)) or doubled
        before = self.values.made_by(x, function) if self.values.read_once(x) else None
        if before is None or plain(before.args[1]) is not y or (
            self.unit.type(x) != self.unit.type(y)
        ):
            return None
        self.values.uses[y] = self.values.uses.get(y, 2) - 1
        return Call(Const(function), (before.args[0], self.value(times(TWO, y))))

