"""Rewrites of numbers times arrays: the number goes where fewer elements are."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from adcompiler.ir.nodes import Atom, Call, Const, Item, Rhs, Var
from adcompiler.ops.queries import meaning
from adcompiler.optimise.values import (
    Values, Written, arithmetic, is_number, negative, plain, times,
)


class Factors:
    """The rewrites of arrays times numbers; ``value`` writes arithmetic in front."""

    def __init__(self, values: Values, value: Written) -> None:
        self.values, self.unit, self.value = values, values.unit, value

    def absorbed(self, c: Atom, x: Atom) -> Rhs | Atom | None:
        """c * (v[:, None] * z) -> (c * v)[:, None] * z, and so on: where c * x has fewer elements.

        None where it has none, or something else reads what it is made of.
        """
        if not self.values.read_once(x):
            return None
        made, inner = self.values.made_by(x, "multiply"), self.values.negated(x)
        ratio = self.values.made_by(x, "divide")
        above: Atom | None = inner if ratio is None else plain(ratio.args[0])
        if above is not None:
            same = self.unit.type(above) == self.unit.type(x)
            found = self.absorbed(c, above) if same else None
            if found is None:
                return None
            new = self.values.alike_first(found, above)
            return negative(new) if ratio is None else (
                Call(ratio.func, (new, ratio.args[1])))
        if (scaled := self.values.scaled(x)) is not None:
            number, array = self.value(times(scaled[0], c)), scaled[1]
            if is_number(number, 1) and self.values.may_stand_for(array):
                return array
            return times(number, array)
        for one, other in itertools.permutations(map(plain, made.args)) if made else ():
            column = self.absorbed_column(c, one)
            if column is not None:
                return times(self.values.alike_first(column, one), other)
        return None

    def absorbed_column(self, c: Atom, x: Atom) -> Rhs | None:
        """c * v[:, None] -> (c * v)[:, None], None for what is not stretched."""
        made = self.unit.definition(x) if isinstance(x, Var) and self.values.read_once(x) else None
        match made:
            case Item(Var() as narrow, Const(tuple() as index)) if None in index:
                pass
            case Call(_, (Var() as narrow, Const()), ()) if meaning(made) == "expand_dims":
                pass
            case _:
                return None
        if narrow in self.values.exposed or not self.values.keeps_dtype(c, self.unit.type(narrow)):
            return None
        inner = self.absorbed(c, narrow) or times(c, narrow)
        scaled = self.values.alike_first(inner, narrow)
        if isinstance(made, Item):
            return Item(scaled, made.index)
        assert isinstance(made, Call)
        return Call(made.func, (scaled, *made.args[1:]))

    def outward(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """(c * a) * b -> c * (a * b) and (c * a) / b -> c * (a / b), for a number c.

        If b is a number, (c * a) * b -> (c * b) * a.
        """
        for one, other in ((x, y),) if function is operator.truediv else ((x, y), (y, x)):
            found = self.values.scaled(one)
            if found is None:
                continue
            c, a = found
            if self.values.keeps_dtype(other, self.unit.type(one)):
                return times(self.value(arithmetic(function, c, other)), a)
            if self.unit.type(other) != self.unit.type(one):
                continue
            args = (a, other) if one is x else (other, a)
            return times(c, self.value(arithmetic(function, *args)))
        return None

    def factored(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """c * a + c * b -> c * (a + b), for a number c."""
        one, other = self.values.scaled(x), self.values.scaled(y)
        if one is None or other is None or one[0] is not other[0]:
            return None
        return times(one[0], self.value(arithmetic(function, one[1], other[1])))
