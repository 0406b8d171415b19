"""Calls and attributes that have a rule, and their tangents."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from adcompiler.derive.forward.tangents import Tangents, dot
from adcompiler.derive.forward.transposing import form_only, placed, transposed
from adcompiler.derive.layouts import as_called
from adcompiler.derive.unsupported_at_run import place_of
from adcompiler.derive.reverse.calls import plain_function
from adcompiler.derive.rules import (
    Applied, apply_forward, apply_rule, once, partial_value, scaled,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Attribute, Call, Const, Do, Origin, Star, Var,
    unstar,
)
from adcompiler.ops.queries import numeric_method
from adcompiler.ops.rules import Rule
from adcompiler.runtime.adjoints.shaping import laid_out_as, reshape_view
from adcompiler.runtime.checking import check_tangent
from adcompiler.infer.inference import Inference
from adcompiler.support.signatures import signature as signature_of


class Follows(Protocol):
    """Writes what has a rule."""

    def follow(
        self, rule: Rule, rhs: Call | Attribute, target: Var, args: Sequence[Atom | Star],
        kwargs: Mapping[str, Atom], origin: Origin,
    ) -> None:
        """Write a call or attribute by its rule, and the tangent of its value."""


class TangentRules:
    """Writes what has a rule, followed by its tangent."""

    def __init__(self, s: Inference, tangents: Tangents) -> None:
        self.s = s
        self.tangents = tangents

    def follow(
        self, rule: Rule, rhs: Call | Attribute, target: Var, args: Sequence[Atom | Star],
        kwargs: Mapping[str, Atom], origin: Origin,
    ) -> None:
        """Write a call by its rule, and its tangent."""
        s, table = self.s, self.tangents
        by_value = {table.value(a): a for a in (*map(unstar, args), *kwargs.values())
                    if isinstance(a, Var)}
        values = [table.argument(arg) for arg in args]
        named = {key: table.value(value) for key, value in kwargs.items()}

        def tangent(value: Atom) -> Atom | None:
            return table.of_argument(value, by_value, origin)

        if rule.forward is not None:
            duals = [tangent(unstar(value)) for value in values]
            self.by_frule(rule, rhs, target, values, named, duals, origin)
            return
        places = linear_places(s, rule, values, named)
        duals = [tangent(unstar(value)) for value in values] if places else []
        inside = {i for group in places for i in group} | form_only(rule.function)
        if places and all(d is None or i in inside for i, d in enumerate(duals)) and not any(
            tangent(atom) for atom in named.values()
        ):
            s.unit.relied.rules_used[rule] = None
            self.tangents.plain(target, rhs, origin)
            self.put_new(target, lambda: self.applied_to_tangents(
                target, rule, rhs, places, values, duals, named, origin), origin)
            return

        def wanted(atom: Atom) -> bool:
            return table.is_active(by_value.get(atom, atom))

        func = plain_function(rhs.func, rule) if isinstance(rhs, Call) else Const(rule.function)
        applied = apply_rule(
            s, rule, func, values, named, target.name, target.temporary, origin, wanted
        )
        self.note_result(target, rule, rhs, applied.result, origin)
        if rule.definition is None:
            d = self.by_partials(rule, applied, values, tangent, origin)
            self.put_new(target, lambda: d, origin, False)
        else:
            self.put_new(target, lambda: transposed(s, rule, applied, tangent, origin), origin)

    def put_new(
        self, target: Var, make: Callable[..., Any], origin: Origin, fits: bool = True
    ) -> None:
        """Enter the tangent of what a rule computes; in storage of its own where writes need it."""
        start = len(self.s.out)
        d = make()
        self.s.out[start:] = [placed(statement, origin) for statement in self.s.out[start:]]
        if d is not None and self.s.unit.settings.options.debug:
            place = Const(place_of(origin))
            value = self.tangents.value(target)
            self.s.out.append(Do(Call(Const(check_tangent), (d, value, place)), origin))
        self.tangents.put(target, d, origin, fits)
        rhs = self.s.unit.definition(target)
        fresh = rhs is None or not any(True for _ in self.tangents.sharing.of(target, rhs))
        self.tangents.keep_apart(target, fresh, origin)

    def note_result(
        self, target: Var, rule: Rule, rhs: Call | Attribute, result: Atom, origin: Origin
    ) -> None:
        """Enter what a rule gave in place of ``target``, and what is known of it."""
        unit = self.s.unit
        result = as_called(self.s, rule, target, rhs, result, self.tangents.env, origin)
        self.tangents.env[target] = result
        if isinstance(result, Var):
            if isinstance(unit.type(result), t.Unknown):
                unit.types[result] = unit.type(target)
            if target in unit.naming.names:
                unit.naming.names.setdefault(result, unit.naming.names[target])

    def by_partials(
        self, rule: Rule, applied: Applied, values: Sequence[Atom | Star], tangent: Any,
        origin: Origin,
    ) -> Atom | None:
        """Write the sum of partial derivatives times tangents."""
        s = self.s
        total: Atom | None = None
        start = len(s.out)
        for x, partial in zip(values, rule.partials, strict=False):
            dx = None if partial is None else tangent(unstar(x))
            if dx is None:
                continue
            value = partial_value(s, rule, partial, list(values), applied.result, origin)
            s.in_rule = True
            term = scaled(s, dx, value, origin)
            term = once(s, rule, term, dx, applied.result, unstar(x), origin)
            total = term if total is None else s.call(
                Const(operator.add), [total, term], {}, origin, "sum")
        s.out[start:] = [placed(statement, origin) for statement in s.out[start:]]
        return total

    def applied_to_tangents(
        self, target: Var, rule: Rule, rhs: Call | Attribute, places: tuple[tuple[int, ...], ...],
        values: Sequence[Atom | Star], duals: Sequence[Atom | None], named: Mapping[str, Atom],
        origin: Origin,
    ) -> Atom | None:
        """Write the function of tangents: once if it is linear, twice if it is bilinear."""
        total: Atom | None = None
        for group in places:
            if all(duals[i] is None for i in group if i < len(duals)):
                continue
            args = [
                self.dual(value, duals[i], origin) if i in group else value
                for i, value in enumerate(values)
            ]
            term = self.again(target, rule, rhs, args, named, origin)
            total = term if total is None else self.s.call(
                Const(operator.add), [total, term], {}, origin, "sum")
        return total

    def dual(self, value: Atom | Star, d: Atom | None, origin: Origin) -> Atom | Star:
        """Return the tangent of an argument, starred as that is."""
        found = self.tangents.zero_of(unstar(value), origin) if d is None else d
        return Star(found) if isinstance(value, Star) else found

    def again(
        self, target: Var, rule: Rule, rhs: Call | Attribute, args: list[Any],
        named: Mapping[str, Atom], origin: Origin,
    ) -> Atom:
        """Write the call or attribute ``rhs`` again, for other arguments."""
        s = self.s
        if isinstance(rhs, Attribute):
            return s.attribute(args[0], rhs.name, origin)
        s.in_rule = True
        method = isinstance(rhs.func, Const) and numeric_method(rhs.func.value) is not None
        function = rhs.func if method else plain_function(rhs.func, rule)
        if rule.function is reshape_view:  # which insists on a view
            like = self.tangents.value(unstar(rhs.args[0]))
            args = [laid_out(s, args[0], like, origin), *args[1:]]
        return s.call(function, args, dict(named), origin, dot(target))

    # -- frules --------------------------------------------------------------------------------

    def by_frule(
        self, rule: Rule, rhs: Call | Attribute, target: Var, values: Sequence[Atom | Star],
        named: Mapping[str, Atom], duals: Sequence[Atom | None], origin: Origin,
    ) -> None:
        """Write a call and its tangent by a rule of primals and tangents."""
        if any(isinstance(value, Star) for value in values):
            self.s.reject(
                origin, "* of a sequence of unknown length in the call of a function with a "
                "forward rule", "write the arguments one by one", "star-arguments",
            )
            return
        tangents = [NONE if d is None else d for d in duals]
        found = apply_forward(
            self.s, rule, [unstar(value) for value in values], tangents, named, origin
        )
        if found is not None:
            self.note_result(target, rule, rhs, found[0], origin)
            self.put_new(target, lambda: found[1], origin, False)

def laid_out(s: Inference, d: Atom, value: Atom, origin: Origin) -> Atom:
    """Write a tangent with the layout in memory of its primal value, so that views are views."""
    if not isinstance(s.unit.type(d), t.Array):
        return d
    new = s.let(Call(Const(laid_out_as), (d, value)), s.unit.type(d), "laid_out", origin)
    s.unit.shapes[new] = s.unit.shape(value)
    return new


def linear_places(
    s: Inference, rule: Rule, values: Sequence[Atom | Star], named: Mapping[str, Atom]
) -> tuple[tuple[int, ...], ...]:
    """Return the positions to give tangents for, in one call after the other; () if not linear.

    A linear argument given by name is left to the pullback, as is what a starred one may hide.
    """
    places = (rule.linear,) if rule.linear else tuple((i,) for i in rule.bilinear)
    given = (*values, *named.values())
    if not places or any(isinstance(v, Star) or depends_on_layout(s, v) for v in given):
        return ()
    names = parameters_at(rule, {i for group in places for i in group})
    if names is None or any(name in named for name in names):
        return ()
    return places


def depends_on_layout(s: Inference, value: Atom) -> bool:
    """Say whether an argument may ask for the order of elements in memory, which tangents lack."""
    if isinstance(value, Const):
        return type(value.value) is str and value.value in ("A", "K")
    return isinstance(s.unit.type(value), t.Text)


def parameters_at(rule: Rule, positions: set[int]) -> list[str] | None:
    """Return the names of the parameters of a rule at some positions, None if one is variadic."""
    if rule.definition is None:
        return []
    parameters = list(signature_of(rule.definition).parameters.values())
    fixed = next(
        (i for i, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL), len(parameters)
    )
    if fixed < len(parameters) and max(positions) >= fixed:
        return None
    return [parameters[i].name for i in positions if i < len(parameters)]
