"""Rewrites of quotients: one division where there were several, or none."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Var
from adcompiler.optimise.values import Values, Written, arithmetic, is_number, plain, times
from adcompiler.typed.extents import ONE


class Quotients:
    """The rewrites of quotients; ``value`` writes arithmetic in front."""

    def __init__(self, values: Values, value: Written) -> None:
        self.values, self.unit, self.value = values, values.unit, value
        self.inverses: dict[Var, Var] = {}
        self.ratios: dict[tuple[Atom, Var], Var] = {}

    def note(self, target: Var, call: Call) -> None:
        """Remember a quotient that all that follows sees."""
        if not isinstance(call.func, Const) or call.func.value is not operator.truediv:
            return
        above, divisor = map(plain, call.args)
        if not isinstance(divisor, Var) or not isinstance(self.unit.type(divisor), t.Array):
            return
        self.ratios[above, divisor] = target
        if is_number(above, 1):
            self.inverses[divisor] = target

    def sum_of_ratios(self, target: Var, call: Call, x: Atom) -> Call | None:
        """(g / y * w).sum(axis, keepdims) -> (g * w).sum(axis, keepdims) / y for one y an axis."""
        made, kwargs = self.values.made_by(x, "multiply"), dict(call.kwargs)
        axis, kept = kwargs.get("axis"), kwargs.get("keepdims")
        if made is None or len(kwargs) != 2 or not (
            isinstance(axis, Const) and type(axis.value) is int
            and isinstance(kept, Const) and kept.value is True
        ):
            return None
        for one, other in itertools.permutations(map(plain, made.args)):
            ratio, type_ = self.values.made_by(one, "divide"), self.unit.type(x)
            if ratio is None or self.unit.type(other) != type_:
                continue
            above, y = map(plain, ratio.args)
            shape = self.unit.shape(y)
            if self.unit.type(above) != type_ or self.unit.type(y) != self.unit.type(target) or (
                len(shape) <= axis.value or shape[axis.value] != ONE
            ):
                continue
            self.values.uses[one] = self.values.uses.get(one, 1) - 1
            product = self.values.first("product", Call(made.func, (above, other)), type_)
            self.unit.shapes[product] = self.unit.shape(x)
            total = self.values.first(
                "total", Call(call.func, (product,), call.kwargs), self.unit.type(target))
            self.unit.shapes[total] = self.unit.shape(target)
            return Call(ratio.func, (total, y))
        return None

    def over_one(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """a / y + b / y -> (a + b) / y, for arrays."""
        one, other = (
            self.values.made_by(z, "divide") if self.values.read_once(z) else None for z in (x, y))
        if one is None or other is None or one.args[1] is not other.args[1] or (
            not isinstance(self.unit.type(plain(one.args[1])), t.Array)
            or self.unit.type(plain(one.args[0])) != self.unit.type(x)
        ):
            return None
        total = self.value(arithmetic(function, plain(one.args[0]), plain(other.args[0])))
        if isinstance(total, Var):
            self.unit.shapes[total] = self.unit.shape(x)
        return Call(one.func, (total, one.args[1]))

    def again(self, x: Atom, y: Atom) -> Call | None:
        """h / y * e -> h * w where w = e / y has been computed."""
        for one, other in ((x, y), (y, x)):
            made = self.values.made_by(one, "divide") if self.values.read_once(one) else None
            below = None if made is None else plain(made.args[1])
            known = self.ratios.get((other, below)) if isinstance(below, Var) else None
            if made is not None and known is not None and known not in self.values.exposed and (
                self.unit.type(known) == self.unit.type(one) == self.unit.type(plain(made.args[0]))
                and self.values.uses.get(known)
            ):
                return times(made.args[0], known)
        return None

    def over_inverse(self, x: Atom, y: Atom) -> Call | None:
        """x / y -> x * z where z = 1 / y has been computed."""
        inverse = self.inverses.get(y) if isinstance(y, Var) else None
        if inverse is None or not self.values.sweep or not self.values.uses.get(inverse) or (
            inverse in self.values.exposed
        ):
            return None
        if isinstance(self.unit.type(x), t.Array) and self.values.is_float(x):
            return times(x, inverse)
        return None
