"""Taylor mode: a typed function becomes code that propagates truncated power series.

It is a pushforward whose tangents have a leading axis of the orders 1, 2, ...: the coefficients of
the value that stands beside them, which is that of order 0. What is linear, or has derivatives that
are locally constant, does to every order what it does to the first, so that the code of forward
mode, made code of many seeds, is right for it. Anything else is nonlinear, and follows

- a recurrence, if there is one for its function;
- the product of series, if it is linear in each of its arguments;
- its differential equation ``y' = p(x, y) x'``, otherwise: the code of the pushforward, as a
  program in ``x``, ``y`` and ``x'``, is itself propagated, and the result integrated term by term.
  Where ``y`` is read there, that is done once for each order (Picard's iteration).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adcompiler.analyses.activity import (
    TypeOf, active_variables, differentiable_operands, varied_variables,
)
from adcompiler.analyses.versions import Versions
from adcompiler.derive.forward.forwarder import Forwarder
from adcompiler.derive.forward.rules import TangentRules, linear_places
from adcompiler.derive.forward.tangents import Tangents, dot, tangent_type
from adcompiler.derive.forward.transposing import form_only, sources_of
from adcompiler.derive.primal_and_pullback import Pushes
from adcompiler.derive.unsupported_at_run import users
from adcompiler.derive.reverse.calls import plain_function
from adcompiler.derive.rules import is_complex
from adcompiler.derive.slopes import is_steep
from adcompiler.derive.taylor.recurrences import RESULT, is_of_numbers, recurrence
from adcompiler.errors import NotBatchable, place_text
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, Atom, Attribute, Block, Call, Const, Let, Loop, Origin, Pack, Rhs, Star, Var, unstar,
)
from adcompiler.ir.visit import definitions, renamed, substitute_block, walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.problems import name_of
from adcompiler.runtime.batches import count_seeds
from adcompiler.runtime.series import (
    away_from_kink, first_rate, integrated, multilinear_series, rates,
)
from adcompiler.infer.inference import Inference

SIZES = frozenset({"norm", "hypot", "std"})
"""What functions mean that have no series where their value is 0."""
DEPTH = 4
"""How many differential equations may be followed inside of one another."""


class SeriesRules:
    """Writes what has a rule, and the coefficients of its value.

    ``pushes`` are the functions called by name, ``inside`` those whose differential equations are
    being followed.
    """

    def __init__(
        self, s: Inference, tangents: Tangents, pushes: Pushes, inside: tuple[Any, ...] = ()
    ) -> None:
        self.s = s
        self.tangents = tangents
        self.pushes = pushes
        self.inside = inside
        self.first = TangentRules(s, tangents)

    # -- rules ---------------------------------------------------------------------------------

    def follow(
        self, rule: Rule, rhs: Call | Attribute, target: Var, args: Sequence[Atom | Star],
        kwargs: Mapping[str, Atom], origin: Origin,
    ) -> None:
        """Write a call by its rule, and the coefficients of its value."""
        hidden = self.hide_forms(rule, args)
        try:
            values = [self.tangents.argument(arg) for arg in args]
            duals = [self.dual_of(unstar(arg), origin) for arg in args]
            named = {key: self.tangents.value(atom) for key, atom in kwargs.items()}
            if self.by_recurrence(rule, rhs, target, values, duals, named, origin):
                return
            places = linear_places(self.s, rule, values, named)
            varying = [i for i, d in enumerate(duals) if d is not None]
            constant = not any(self.dual_of(atom, origin) for atom in kwargs.values())
            plain = rule.forward is None and constant
            if plain and any(set(varying) <= set(group) for group in places):
                self.first.follow(rule, rhs, target, args, kwargs, origin)
            elif plain and self.is_multilinear(rule, args, varying, bool(places)):
                self.multilinear(rule, rhs, target, args, varying, named, origin)
            else:
                self.by_equation(rule, rhs, target, args, kwargs, origin)
        finally:
            self.tangents.table.update(hidden)
            self.check_kink(rule, target, args, origin)

    def check_kink(
        self, rule: Rule, target: Var, args: Sequence[Atom | Star], origin: Origin
    ) -> None:
        """Write that the size of something has a series only where it is not 0."""
        table, unit = self.tangents, self.s.unit
        coefficients = table.table.get(target)
        types = [t.BOTTOM if isinstance(a, Star) else unit.type(a) for a in args]
        if coefficients is None or not is_size(rule, types):
            return
        moves = [self.dual_of(unstar(a), origin) or NONE for a, type_ in zip(
            args, types, strict=True) if isinstance(type_, t.Scalar | t.Array)]
        at = users(origin)
        place = Const(place_text(at.file, at.line, at.column, short=True))
        given = [coefficients, table.value(target), place, Const(at.text.strip())]
        given += [*moves, NONE, NONE][:2]
        self.enter_series(target, away_from_kink, given, origin)

    def hide_forms(self, rule: Rule, args: Sequence[Atom | Star]) -> dict[Var, Atom]:
        """Take away the coefficients of arguments of which only the form matters; return them."""
        forms = form_only(rule.function)
        table, used = self.tangents.table, {unstar(a) for i, a in enumerate(args) if i not in forms}
        if not forms or any(isinstance(arg, Star) for arg in args):
            return {}
        taken = [arg for i, arg in enumerate(args) if i in forms and arg not in used]
        return {arg: table.pop(arg) for arg in taken if isinstance(arg, Var) and arg in table}

    def dual_of(self, atom: Atom, origin: Origin) -> Atom | None:
        """Return the coefficients of an argument, None if it is constant."""
        return self.tangents.of_argument(atom, {}, origin)

    def is_numeric(self, atoms: Sequence[Atom | Star], sure: bool = True) -> bool:
        """Say whether arguments are numbers and arrays of numbers; unless sure, may be."""
        types = [t.BOTTOM if isinstance(a, Star) else self.s.unit.type(a) for a in atoms]
        return all(
            type_.kind in t.KINDS if isinstance(type_, (t.Scalar, t.Array))
            else not sure and isinstance(type_, t.Unknown) for type_ in types
        )

    def by_recurrence(
        self, rule: Rule, rhs: Rhs, target: Var, values: Sequence[Atom | Star],
        duals: Sequence[Atom | None], named: Mapping[str, Atom], origin: Origin,
    ) -> bool:
        """Write a call whose function has a recurrence; say whether it has one."""
        varying = [a for a, d in zip(values, duals, strict=True) if d is not None]
        if not varying or any(isinstance(value, Star) for value in values):
            return False
        if not self.is_numeric([target, *varying], not is_of_numbers(rule.function)):
            return False
        atoms = [unstar(value) for value in values]
        types = list(map(self.s.unit.type, (*atoms, target)))
        found = recurrence(rule.function, atoms, duals, named, types)
        if found is None:
            return False
        function, args = found
        self.s.unit.relied.rules_used[rule] = None
        self.s.unit.sweeps.steep |= is_steep(rule, atoms)
        self.tangents.plain(target, rhs, origin)
        given = [self.packed(a, origin) if isinstance(a, tuple) else a for a in args]
        given = [target if a is RESULT else a for a in given]
        self.enter_series(target, function, given, origin)
        return True

    def packed(self, atoms: tuple[Atom, ...], origin: Origin) -> Atom:
        """Write the tuple of the arguments of a call."""
        types = t.Tuple(tuple(map(self.s.unit.type, atoms)))
        return self.s.let(Pack("tuple", atoms), types, "arguments", origin)

    def enter_series(
        self, target: Var, function: Callable[..., Any], args: Sequence[Atom], origin: Origin,
        kwargs: Mapping[str, Atom] | None = None,
    ) -> None:
        """Write the coefficients of ``target`` as what a function of coefficients returns."""
        s, table = self.s, self.tangents
        call = Call(Const(function), tuple(args), tuple((kwargs or {}).items()))
        d = s.let(call, tangent_type(s.unit.type(target)), dot(target), origin, target.temporary)
        if isinstance(s.unit.type(d), t.Array):
            s.unit.shapes[d] = s.unit.shape(table.value(target))
        table.put(target, d, origin, True)
        table.taken.add(d)

    # -- products ------------------------------------------------------------------------------

    def is_multilinear(
        self, rule: Rule, args: Sequence[Atom | Star], varying: Sequence[int], known: bool
    ) -> bool:
        """Say whether a call is linear in each of the arguments that vary, which are arrays.

        ``known`` says that the rule's linear arguments are at the positions that it names.
        """
        if any(isinstance(a, Star) for a in args) or not self.is_numeric(
            [args[i] for i in varying]
        ):
            return False
        if REGISTRY.facts(rule.function).means == "einsum":
            first = args[0]
            return isinstance(first, Const) and isinstance(first.value, str)
        return known and set(varying) == set(rule.bilinear)

    def multilinear(
        self, rule: Rule, rhs: Call | Attribute, target: Var, args: Sequence[Atom | Star],
        varying: Sequence[int], named: Mapping[str, Atom], origin: Origin,
    ) -> None:
        """Write a call that is linear in each of the arguments at ``varying``."""
        s, table = self.s, self.tangents
        function = Const(rule.function)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const):
            found = plain_function(rhs.func, rule)
            function = found if isinstance(found, Const) else function
        s.unit.relied.rules_used[rule] = None
        self.tangents.plain(target, rhs, origin)
        packed = self.packed(tuple(table.value(unstar(arg)) for arg in args), origin)
        duals = [d for i in varying if (d := self.dual_of(unstar(args[i]), origin)) is not None]
        given = [function, Const(tuple(varying)), packed, *duals]
        self.enter_series(target, multilinear_series, given, origin, named)

    # -- differential equations ----------------------------------------------------------------

    def by_equation(
        self, rule: Rule, rhs: Call | Attribute, target: Var, args: Sequence[Atom | Star],
        kwargs: Mapping[str, Atom], origin: Origin,
    ) -> None:
        """Write a call by ``y' = p(x, y) x'``, which its pushforward along ``x'`` is."""
        s, table = self.s, self.tangents
        function = rule.function
        moving: dict[Var, Atom] = {}
        for arg in (*map(unstar, args), *kwargs.values()):
            if isinstance(arg, Var) and (d := self.dual_of(arg, origin)) is not None:
                moving[arg] = d
        speeds = {arg: self.speed(arg, d) for arg, d in moving.items()}
        kept = dict(table.table)
        table.table.update(speeds)
        table.table.update((v, speeds[a]) for a in moving if isinstance(v := table.value(a), Var))
        with s.writing_to([]) as out:
            self.first.follow(rule, rhs, target, args, kwargs, origin)
        slope = table.table.get(target)
        table.table.clear()
        table.table.update(kept)
        result = table.value(target)
        if slope is None:
            s.out.extend(out)
            return
        body = Block(tuple(out), (slope,))
        roots = {a for arg in moving for a in self.with_elements(arg)}
        inputs = roots | ({result} if isinstance(result, Var) else set())
        along = {v: moving[arg] for arg, v in speeds.items()}
        if slope not in self.varied_in(body, inputs):
            self.enter_linear(target, body, along, origin)
            return
        if function in self.inside or len(self.inside) >= DEPTH:
            raise NotBatchable(" < ".join(map(name_of, (function, *reversed(self.inside)))))
        for v, d in along.items():
            s.out.append(Let(v, Call(Const(first_rate), (d,)), origin))
            s.unit.defs[v] = Call(Const(first_rate), (d,))
        series = {root: d for root in roots if (d := self.dual_of(root, origin)) is not None}
        series |= {table.value(a): d for a, d in series.items()}  # type: ignore[misc]
        for v, d in along.items():
            series[v] = s.let(Call(Const(rates), (d,)), s.unit.type(v), v.name, origin)
        if isinstance(result, Var) and slope in self.varied_in(body, {result}):
            dy = self.iterated(function, body, series, result, origin)
        else:
            inner = self.propagated(function, body, series)
            slope = inner.value(slope)
            if isinstance(result, Var) and inner.value(result) is not result:
                table.env[target] = inner.value(result)
            rate = inner.full(body.yields[0], origin)
            dy = self.integral(slope, rate, origin)
        table.put(target, dy, origin, True)
        table.taken.add(dy)

    def speed(self, arg: Var, d: Atom) -> Var:
        """Return the variable for ``x'`` of an argument, at the start."""
        unit = self.s.unit
        v = Var(f"{arg.name}_rate", True)
        unit.types[v] = unit.type(d)
        unit.shapes[v] = unit.shape(d)
        return v

    def with_elements(self, atom: Var) -> Iterator[Var]:
        """Yield a variable and, if it was packed, those that it was packed of."""
        yield atom
        value = self.tangents.value(atom)
        if isinstance(value, Var) and value is not atom:
            yield value
        for element in self.s.unit.elements(atom) or ():
            if isinstance(element, Var):
                yield from self.with_elements(element)

    def varied_in(self, body: Block, inputs: set[Var]) -> frozenset[Var]:
        """Return the variables of a body whose derivatives with respect to inputs are not zero."""
        detached = frozenset(self.s.unit.writes.detached)
        return varied_variables(body, inputs, self.s.unit.type, detached, carried)

    def enter_linear(
        self, target: Var, body: Block, along: Mapping[Var, Atom], origin: Origin
    ) -> None:
        """Write a pushforward that does the same to all orders."""
        s, table = self.s, self.tangents
        body = substitute_block(body, along)
        for statement in walk(body):
            if isinstance(statement, Let):
                s.unit.defs[statement.target] = statement.rhs
        s.out.extend(body.statements)
        table.put(target, body.yields[0], origin, True)

    def iterated(
        self, function: Any, body: Block, series: dict[Var, Atom], result: Var, origin: Origin
    ) -> Var:
        """Write Picard's iteration: each round gives one more order of the result."""
        s, table = self.s, self.tangents
        s.out.extend(body.statements)
        first = next(iter(series.values()))
        count = s.let(Call(Const(count_seeds), (first,)), t.INT, "orders", origin)
        rounds = s.let(Call(Const(range), (count,)), t.Range(), "range", origin)
        type_ = tangent_type(s.unit.type(result))
        start = of_kind(table.zero_of(result, origin), type_)
        i, param, last = Var("_", False), Var(dot(result), True), Var(dot(result), True)
        s.unit.types[i] = t.INT
        for var in (param, last):
            s.unit.types[var] = type_
            s.unit.shapes[var] = s.unit.shape(result)
            s.unit.merged.add(var)
        body = again(s, body, result)
        with s.writing_to([]) as out:
            inner = self.propagated(function, body, {**series, result: param})
            slope = inner.value(body.yields[0])
            rate = inner.full(body.yields[0], origin)
            following = self.integral(slope, rate, origin)
        s.out.append(Loop(
            (i,), (rounds,), None, (param,), (start,), Block(tuple(out), (following,)), (last,),
            origin,
        ))
        return last

    def propagated(
        self, function: Callable[..., Any], body: Block, series: Mapping[Var, Atom]
    ) -> Tangents:
        """Write the coefficients of what a body computes from values with the given ones."""
        s = self.s
        detached = frozenset(s.unit.writes.detached)
        active = active_variables(
            body, list(series), body.yields, s.unit.type, detached, carried
        )
        tangents = Tangents(s, active, Versions(body))
        tangents.table.update((var, d) for var, d in series.items() if var in active)
        tangents.taken |= set(series.values())
        rules = SeriesRules(s, tangents, self.pushes, (*self.inside, function))
        varied = self.varied_in(body, set(series))
        Forwarder(s, tangents, varied, self.pushes, rules).block(body.statements)
        return tangents

    def integral(self, slope: Atom, rate: Atom, origin: Origin) -> Var:
        """Write the coefficients of what has the derivative ``slope``, of coefficients ``rate``."""
        s = self.s
        dy = s.let(Call(Const(integrated), (slope, rate)), s.unit.type(slope), "y_dot", origin)
        if isinstance(s.unit.type(slope), t.Array):
            s.unit.shapes[dy] = s.unit.shape(slope)
        return dy


def is_size(rule: Rule, types: Sequence[t.Type]) -> bool:
    """Say whether a function gives the size of what it is given, of several numbers."""
    means = REGISTRY.facts(rule.function).means
    return means in SIZES or (means == "absolute" and is_complex(types[0]))


def again(s: Inference, body: Block, result: Var) -> Block:
    """Return ``body`` to be computed once more; it reads ``result`` of the first time."""
    unit = s.unit
    new = {var: Var(var.name, var.temporary) for var in definitions(body)}
    reading = {var: other for var, other in new.items() if var is not result}
    for var, other in new.items():
        unit.types[other] = unit.type(var)
        unit.shapes[other] = unit.shape(var)
        for table in (unit.merged, unit.unsure):
            if var in table:
                table.add(other)
        if var in unit.naming.opened:
            unit.naming.opened[other] = unit.naming.opened[var]
    body = renamed(body, new, reading)
    for statement in walk(body):
        if isinstance(statement, Let):
            unit.defs[statement.target] = statement.rhs
    return body


def carried(rhs: Rhs, type_of: TypeOf) -> tuple[Atom, ...]:
    """Return the operands whose derivatives ``rhs`` may pass on: not those that give a form."""
    sources = sources_of(rhs)
    return tuple(a for a in differentiable_operands(rhs, type_of) if a in sources)


def of_kind(zero: Atom, type_: t.Type) -> Atom:
    """Return a constant zero as one of the kind of number that a type has."""
    if not isinstance(zero, Const):
        return zero
    match type_:
        case t.Scalar() if type_.kind == "complex":
            return Const(complex(zero.value))
        case t.Tuple(items):
            parts = [of_kind(Const(part), item) for part, item in zip(
                zero.value, items, strict=True)]
            return Const(tuple(part.value for part in parts if isinstance(part, Const)))
    return zero
