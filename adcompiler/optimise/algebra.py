"""Small rewrites of arithmetic, each with its algebra beside it.

Values of the user's own program keep every bit; in the reverse sweep a rewrite may round anew, but
never more often than the original.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Item, Pack, Rhs, Var, unstar
from adcompiler.ir.operators import FIELD, is_one
from adcompiler.ops.queries import meaning
from adcompiler.optimise.products import Products
from adcompiler.optimise.rewriter import is_number, plain
from adcompiler.runtime.adjoints.kinks import STAND_INS, first_derivative
from adcompiler.runtime.functionals import symmetric
from adcompiler.typed.extents import ONE
from adcompiler.typed.unit import Unit


TWO = Const(2.0)


def algebra(block: Block, unit: Unit, last: bool = False) -> Block:
    """Return ``block`` with trivial arithmetic simplified; ``last`` if no such pass follows."""
    rewriter = Algebra(unit, block, last)
    return rewriter.with_checks(rewriter.block(block))


class Algebra(Products):
    """The rewrites of arithmetic."""

    def __init__(self, unit: Unit, block: Block, last: bool) -> None:
        super().__init__(unit, block, last)
        self.inverses: dict[Var, Var] = {}
        self.ratios: dict[tuple[Atom, Var], Var] = {}

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
        """Remember quotients of the user's at the top, where all that follows sees them."""
        made = isinstance(call.func, Const) and call.func.value is operator.truediv
        if self.depth or self.sweep or not made:
            return
        above, divisor = map(plain, call.args)
        if not isinstance(divisor, Var) or not isinstance(self.unit.type(divisor), t.Array):
            return
        self.ratios[above, divisor] = target
        if is_number(above, 1):
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
        """(-x).sum(axis=i) -> -x.sum(axis=i), (c * x).sum(axis=i) -> c * x.sum(axis=i)."""
        if not self.sweep or meaning(call) != "sum" or len(call.args) != 1 or (
            self.uses.get(unstar(call.args[0])) != 1
        ):
            return call
        x, options = plain(call.args[0]), {"axis", "keepdims"}
        if (divided := self.sum_of_ratios(target, call, x)) is not None:
            return divided
        inner, scaled = self.negated(x), self.scaled(x)
        array = inner if scaled is None else scaled[1]
        if array is None or not options.issuperset(dict(call.kwargs)) or not self.is_float(target):
            return call
        total = self.first(
            target.name, Call(call.func, (array,), call.kwargs), self.unit.type(target))
        self.unit.shapes[total] = self.unit.shape(target)
        if scaled is None:
            return Call(Const(operator.neg), (total,))
        return Call(Const(operator.mul), (scaled[0], total))

    def sum_of_ratios(self, target: Var, call: Call, x: Atom) -> Call | None:
        """(g / y * w).sum(axis, keepdims) -> (g * w).sum(axis, keepdims) / y for one y an axis."""
        made, kwargs = self.made_by(x, operator.mul), dict(call.kwargs)
        axis, kept = kwargs.get("axis"), kwargs.get("keepdims")
        if made is None or len(kwargs) != 2 or not (
            isinstance(axis, Const) and type(axis.value) is int
            and isinstance(kept, Const) and kept.value is True
        ):
            return None
        for one, other in itertools.permutations(map(plain, made.args)):
            ratio, type_ = self.made_by(one, "divide"), self.unit.type(x)
            if ratio is None or self.unit.type(other) != type_:
                continue
            above, y = map(plain, ratio.args)
            shape = self.unit.shape(y)
            if self.unit.type(above) != type_ or self.unit.type(y) != self.unit.type(target) or (
                len(shape) <= axis.value or shape[axis.value] != ONE
            ):
                continue
            self.uses[one] = self.uses.get(one, 1) - 1
            product = self.first("product", Call(made.func, (above, other)), type_)
            self.unit.shapes[product] = self.unit.shape(x)
            total = self.first(
                "total", Call(call.func, (product,), call.kwargs), self.unit.type(target))
            self.unit.shapes[total] = self.unit.shape(target)
            return Call(ratio.func, (total, y))
        return None

    def over_one(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """a / y + b / y -> (a + b) / y, for arrays."""
        one, other = (self.made_by(z, "divide") if self.uses.get(z) == 1 else None for z in (x, y))
        if one is None or other is None or one.args[1] is not other.args[1] or (
            not isinstance(self.unit.type(plain(one.args[1])), t.Array)
            or self.unit.type(plain(one.args[0])) != self.unit.type(x)
        ):
            return None
        total = self.value(function, plain(one.args[0]), plain(other.args[0]))
        if isinstance(total, Var):
            self.unit.shapes[total] = self.unit.shape(x)
        return Call(one.func, (total, one.args[1]))

    def ratio_again(self, x: Atom, y: Atom) -> Call | None:
        """h / y * e -> h * w where w = e / y has been computed."""
        for one, other in ((x, y), (y, x)):
            made = self.made_by(one, "divide") if self.uses.get(one) == 1 else None
            below = None if made is None else plain(made.args[1])
            known = self.ratios.get((other, below)) if isinstance(below, Var) else None
            if made is not None and known is not None and known not in self.exposed and (
                self.unit.type(known) == self.unit.type(one) == self.unit.type(plain(made.args[0]))
                and self.uses.get(known)
            ):
                return Call(Const(operator.mul), (made.args[0], known))
        return None

    def product(self, x: Atom, y: Atom) -> Rhs | Atom | None:
        """1 * x -> x, -1 * x -> -x, x * (1 / y) -> x / y."""
        if self.sweep and (again := self.ratio_again(x, y)) is not None:
            return again
        for one, other in ((x, y), (y, x)):
            if is_number(one, 1) and self.may_stand_for(other):
                return other
            if is_number(one, -1) and self.is_float(other):
                return Call(Const(operator.neg), (other,))
            if self.sweep and self.keeps_dtype(one, self.unit.type(other)) and (
                inside := self.absorbed(one, other)
            ) is not None:
                return inside
        for one, other in ((x, y), (y, x)):
            inverse = self.made_by(other, operator.truediv)
            if inverse is None or not self.sweep or self.uses.get(other) != 1:
                continue
            if is_number(plain(inverse.args[0]), 1) and self.is_float(one):
                return Call(Const(operator.truediv), (one, inverse.args[1]))
        return None

    def sum(self, function: Callable[..., Any], x: Atom, y: Atom) -> Rhs | Atom | None:
        """x + -y -> x - y, -x + y -> y - x, x - -y -> x + y, and of equal ones.

        x + x -> 2 * x, z + x + x -> z + 2 * x, z - x - x -> z - 2 * x.
        """
        adds = function is operator.add
        inner = self.negated(y)
        if inner is not None and self.numeric(x):
            return Call(Const(operator.sub if adds else operator.add), (x, inner))
        inner = self.negated(x)
        if inner is not None and adds and self.numeric(y):
            return Call(Const(operator.sub), (y, inner))
        if not self.sweep or not self.is_float(y):
            return None
        if (quotient := self.over_one(function, x, y)) is not None:
            return quotient
        if adds and x is y:
            self.uses[y] = self.uses.get(y, 2) - 1
            return self.rewrite(doubled := Call(Const(operator.mul), (TWO, y))) or doubled
        before = self.made_by(x, function) if self.uses.get(x) == 1 else None
        if before is None or plain(before.args[1]) is not y or (
            self.unit.type(x) != self.unit.type(y)
        ):
            return None
        self.uses[y] = self.uses.get(y, 2) - 1
        return Call(Const(function), (before.args[0], self.value(operator.mul, TWO, y)))

    # -- numbers times arrays --------------------------------------------------------------------

    def absorbed(self, c: Atom, x: Atom) -> Rhs | Atom | None:
        """c * (v[:, None] * z) -> (c * v)[:, None] * z, and so on: where c * x has fewer elements.

        None where it has none, or something else reads what it is made of.
        """
        if self.uses.get(x) != 1:
            return None
        made, inner = self.made_by(x, "multiply"), self.negated(x)
        ratio = self.made_by(x, "divide")
        above: Atom | None = inner if ratio is None else plain(ratio.args[0])
        if above is not None:
            same = self.unit.type(above) == self.unit.type(x)
            found = self.absorbed(c, above) if same else None
            if found is None:
                return None
            new = self.alike_first(found, above)
            return Call(Const(operator.neg), (new,)) if ratio is None else (
                Call(ratio.func, (new, ratio.args[1])))
        if (scaled := self.scaled(x)) is not None:
            number, array = self.value(operator.mul, scaled[0], c), scaled[1]
            if is_number(number, 1) and self.may_stand_for(array):
                return array
            return Call(Const(operator.mul), (number, array))
        for one, other in itertools.permutations(map(plain, made.args)) if made else ():
            column = self.absorbed_column(c, one)
            if column is not None:
                return Call(Const(operator.mul), (self.alike_first(column, one), other))
        return None

    def absorbed_column(self, c: Atom, x: Atom) -> Rhs | None:
        """c * v[:, None] -> (c * v)[:, None], None for what is not stretched."""
        made = self.unit.definition(x) if isinstance(x, Var) and self.uses.get(x) == 1 else None
        match made:
            case Item(Var() as narrow, Const(tuple() as index)) if None in index:
                pass
            case Call(_, (Var() as narrow, Const()), ()) if meaning(made) == "expand_dims":
                pass
            case _:
                return None
        if narrow in self.exposed or not self.keeps_dtype(c, self.unit.type(narrow)):
            return None
        inner = self.absorbed(c, narrow) or Call(Const(operator.mul), (c, narrow))
        scaled = self.alike_first(inner, narrow)
        if isinstance(made, Item):
            return Item(scaled, made.index)
        assert isinstance(made, Call)
        return Call(made.func, (scaled, *made.args[1:]))

    def alike_first(self, rhs: Rhs | Atom, like: Atom) -> Var:
        """Write a right-hand side in front, of the type and shape of another value."""
        if isinstance(rhs, Var):
            return rhs
        assert not isinstance(rhs, Pack | Const)
        var = self.first("product", rhs, self.unit.type(like))
        self.unit.shapes[var] = self.unit.shape(like)
        return var

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
        """(c * a) * b -> c * (a * b) and (c * a) / b -> c * (a / b), for a number c.

        If b is a number, (c * a) * b -> (c * b) * a.
        """
        for one, other in ((x, y), (y, x)) if function is operator.mul else ((x, y),):
            found = self.scaled(one)
            if found is None:
                continue
            c, a = found
            if self.keeps_dtype(other, self.unit.type(one)):
                return Call(Const(operator.mul), (self.value(function, c, other), a))
            if self.unit.type(other) != self.unit.type(one):
                continue
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
