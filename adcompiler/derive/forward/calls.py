"""Calls and their tangents: by a rule, or of a function that has a pushforward of its own."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adcompiler.derive.attributes import called_function
from adcompiler.derive.forward.tangents import Tangents, dot, tangent_type
from adcompiler.derive.forward.transposing import form_only, placed, transposed
from adcompiler.derive.layouts import as_called
from adcompiler.derive.pairs import Push, Pushes
from adcompiler.derive.refusals import place_of
from adcompiler.derive.reverse.calls import is_implied, plain_function
from adcompiler.derive.reverse.checks import reject_instances, report_missing
from adcompiler.derive.rules import (
    Applied, apply_forward, apply_rule, once, partial_value, scaled,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Attribute, Call, Const, Do, Item, Let, Origin, Rhs, Star, Statement, Var,
    substitute, unstar,
)
from adcompiler.ops.queries import numeric_method
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.runtime.adjoints.shaping import laid_out_as, reshape_view
from adcompiler.runtime.checking import check_tangent
from adcompiler.specialise.evaluator import Specialiser
from adcompiler.specialise.folds.table import class_of
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.callee import Callee


class ForwardCalls(ABC):
    """Writes active calls, each followed by its tangent.

    ``varied`` are the variables that depend on the inputs, ``pushes`` the functions called by name.
    With ``apart`` the tangents of these come from calls of their own.
    """

    def __init__(
        self, s: Specialiser, tangents: Tangents, varied: frozenset[Var], pushes: Pushes,
        apart: bool = False,
    ) -> None:
        self.apart = apart
        self.s = s
        self.tangents = tangents
        self.varied = varied
        self.pushes = pushes

    @abstractmethod
    def block(self, statements: Iterable[Statement]) -> None:
        """Write statements, each followed by its tangent."""

    def call(self, target: Var, rhs: Call, origin: Origin) -> None:
        """Write a call and its tangent; report a missing rule."""
        s, table = self.s, self.tangents
        if is_implied(rhs):
            s.reject(
                origin, "the tangent of this solution is not known in forward mode",
                "use grad or vjp", "missing-rule",
            )
            return
        function, args = called_function(s, rhs)
        if isinstance(function, Callee):
            self.callee(target, function, args, origin)
            return
        reject_instances(s, table.active, rhs, origin)
        kwargs = {key: value for key, value in rhs.kwargs if key is not None}
        classes = tuple(class_of(s.unit, a) for a in args if not isinstance(a, Star))
        rule = None if function is None else REGISTRY.find(function, classes)
        if rule is not None:
            self.follow(rule, rhs, target, args, kwargs, origin)
            return
        self.plain(target, rhs, origin)
        if function is None or REGISTRY.inactive(function) is None:
            shown = getattr(function, "__name__", None) or target.name
            known = {k: v.value for k, v in kwargs.items() if isinstance(v, Const)}
            operands = (rhs.func, *map(unstar, args), *kwargs.values())
            report_missing(s, target, operands, f"{shown}()", function, args, known, origin)

    def plain(self, target: Var, rhs: Any, origin: Origin) -> None:
        """Write a definition as it is."""
        new = substitute(rhs, self.tangents.env)
        self.s.unit.record(target, new, self.s.unit.type(target))
        self.s.out.append(Let(target, new, origin))

    # -- rules ---------------------------------------------------------------------------------

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
            self.plain(target, rhs, origin)
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
        if d is not None and self.s.unit.settings.debug:
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

    # -- functions with a pushforward of their own ---------------------------------------------

    def callee(
        self, target: Var, callee: Callee, args: Sequence[Atom | Star], origin: Origin
    ) -> None:
        """Write the call of a pushforward, which returns the value and its tangent."""
        s, table = self.s, self.tangents
        mask = tuple(table.get(unstar(arg)) is not None for arg in args)
        push = self.pushes.get((callee, mask))
        if push is None:
            push = self.pushes[callee, mask] = Push(callee, mask)
        duals = [table.full(unstar(arg), origin) for arg, on in zip(args, mask, strict=True) if on]
        type_ = s.unit.type(target)
        along = tangent_type(type_)
        primals = tuple(map(table.argument, args))
        call = Call(Const(push.linearized), primals) if self.apart else Call(
            Const(push.pushforward), (*primals, *duals)
        )
        second = t.UNKNOWN if self.apart else along
        both = s.let(call, t.Tuple((type_, second)), f"{callee.name}_pair", origin)
        s.unit.naming.opened[both] = 2
        self.plain(target, Item(both, Const(0)), origin)
        new: Rhs = Item(both, Const(1))
        if self.apart:
            saved = s.let(new, t.UNKNOWN, f"{callee.name}_residuals", origin, False)
            new = Call(Const(push.tangent), (saved, *duals))
        d = s.let(new, along, dot(target), origin, target.temporary)
        table.put(target, d, origin, True)
        table.taken.add(d)
        self.keep_parts(target, both)

    def keep_parts(self, target: Var, both: Var) -> None:
        """Note how many values a function returns that writes into its arguments."""
        unit = self.s.unit
        if target in unit.naming.opened and target in self.tangents.table:
            d = self.tangents.table[target]
            unit.naming.opened[d] = unit.naming.opened[target]


def laid_out(s: Specialiser, d: Atom, value: Atom, origin: Origin) -> Atom:
    """Write a tangent with the layout in memory of its primal value, so that views are views."""
    if not isinstance(s.unit.type(d), t.Array):
        return d
    new = s.let(Call(Const(laid_out_as), (d, value)), s.unit.type(d), "laid_out", origin)
    s.unit.shapes[new] = s.unit.shape(value)
    return new


def linear_places(
    s: Specialiser, rule: Rule, values: Sequence[Atom | Star], named: Mapping[str, Atom]
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


def depends_on_layout(s: Specialiser, value: Atom) -> bool:
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
