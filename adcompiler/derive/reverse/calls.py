"""Calls: by their rule, opened in place, or of functions that have halves of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adcompiler.derive.attributes import called_function
from adcompiler.derive.layouts import as_called
from adcompiler.derive.primal_and_pullback import Pair, Pairs
from adcompiler.derive.reverse.checks import reject_instances, report_call_without_rule
from adcompiler.derive.reverse.cotangents import Cotangents, cotangent_type
from adcompiler.derive.reverse.expected_shapes import ExpectedShapes
from adcompiler.derive.reverse.forward_pass import ForwardPass, Sweep
from adcompiler.derive.reverse.undo import Restoring, copied
from adcompiler.derive.rules import Applied, apply_rule
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Call, Const, Item, Let, Origin, Pack, Rhs, Star, Var, substitute, unstar,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.runtime.adjoints.kinks import STAND_INS
from adcompiler.runtime.functionals import halves, implied, symmetric
from adcompiler.infer.folds.table import class_of
from adcompiler.infer.writer import Writer
from adcompiler.typed.callee import Callee
from adcompiler.typed.extents import Shape
from adcompiler.typed.shapes import is_elementwise


class CallReverser:
    """Writes active calls and their reverse; ``pairs`` are the functions called by name."""

    def __init__(
        self, forward: ForwardPass, restoring: Restoring, expected: ExpectedShapes, pairs: Pairs
    ) -> None:
        self.s = forward.s
        self.forward = forward
        self.restoring = restoring
        self.expected = expected
        self.pairs = pairs

    def call(self, target: Var, rhs: Call, origin: Origin) -> Sweep | None:
        """Write a call by its rule, or of an augmented primal; report a missing rule."""
        func = rhs.func
        if is_implied(rhs):
            return self.implied(target, list(rhs.args), origin)
        if not (isinstance(func, Const) and isinstance(func.value, Callee)):
            reject_instances(self.s, self.forward.active, rhs, origin)
        kwargs = {key: value for key, value in rhs.kwargs if key is not None}
        function, args = called_function(self.s, rhs)
        if isinstance(function, Callee):
            return self.callee(target, function, args, origin)
        classes = tuple(class_of(self.s.unit, a) for a in args if not isinstance(a, Star))
        rule = None if function is None else REGISTRY.find(function, classes)
        if rule is not None and rule.reverses:
            return self.follow(rule, func, target, args, kwargs, origin, rhs)
        self.s.out.append(Let(target, substitute(rhs, self.forward.env), origin))
        active = self.forward.active
        report_call_without_rule(self.s, target, rhs, function, args, active, origin)
        return None

    # -- rules ---------------------------------------------------------------------------------

    def follow(
        self, rule: Rule, func: Atom, target: Var, args: Sequence[Atom | Star],
        kwargs: Mapping[str, Atom], origin: Origin, rhs: Rhs,
    ) -> Sweep:
        """Write ``rhs``, a call or an attribute, by its rule, and return its reverse."""
        by_value = {self.forward.value(a): a for a in (*map(unstar, args), *kwargs.values())
                    if isinstance(a, Var)}
        values = [self.forward.argument(arg) for arg in args]
        named = {key: self.forward.value(value) for key, value in kwargs.items()}

        def wanted(atom: Atom) -> bool:
            return self.forward.is_active(by_value.get(atom, atom))

        shape = None
        if not named and is_elementwise(rule.function):
            shape = self.expected.of_operands(values, origin)
        applied = apply_rule(
            self.s, rule, plain_function(func, rule), values, named, target.name,
            target.temporary, origin, wanted,
        )
        result = as_called(self.s, rule, target, rhs, applied.result, self.forward.env, origin)
        destroyed = self.restoring.versions.destroyed
        if target in destroyed and isinstance(self.s.unit.definition(result), Pack):
            # the pullback may read the arrays that the rule has put together
            result = copied(self.s, result, target.name, origin)
        self.forward.env[target] = result
        self.restoring.primal_of.setdefault(result, target)
        if isinstance(result, Var):
            self.note_result(target, result, shape)
        return self.pull(target, applied, by_value, origin)

    def note_result(self, target: Var, result: Var, shape: Shape | None) -> None:
        """Enter what is known of the variable that a rule gave in place of ``target``."""
        unit = self.s.unit
        if shape is not None:
            unit.shapes[result] = shape
        self.forward.home[result] = self.forward.region
        if isinstance(unit.type(result), t.Unknown):
            unit.types[result] = unit.type(target)
        if target in unit.naming.names:
            unit.naming.names.setdefault(result, unit.naming.names[target])

    def pull(
        self, target: Var, applied: Applied, by_value: Mapping[Atom, Var], origin: Origin
    ) -> Sweep:
        """Return the reverse of a call that follows a rule."""

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is None:
                return
            for value, part in applied.pull_back(self.s, g, at):
                self.give(cotangents, by_value, value, part, at)

        return sweep

    def give(
        self, cotangents: Cotangents, by_value: Mapping[Atom, Var], value: Atom, g: Atom, at: Origin
    ) -> None:
        """Add a cotangent to an argument; to the elements of a tuple that was packed for a call."""
        atom = by_value.get(value, value)
        if self.forward.is_active(atom):
            cotangents.accumulate(atom, g, at)
            return
        if not isinstance(atom, Var):
            return
        for position, element in enumerate(self.s.unit.elements(atom) or ()):
            if self.forward.is_active(by_value.get(element, element)):
                part = self.s.item(g, Const(position), at)
                self.give(cotangents, by_value, element, part, at)

    # -- functions with halves of their own ----------------------------------------------------

    def callee(
        self, target: Var, callee: Callee, args: list[Atom | Star], origin: Origin
    ) -> Sweep:
        """Write the call of an augmented primal; its reverse calls the pullback."""
        s = self.s
        mask = tuple(self.forward.is_active(arg) for arg in args)
        if callee.again:
            return self.again(target, self.pair_of(callee, mask), args, origin)
        apart = self.restoring.apart or self.restoring.is_written_later(target, args)
        pair = self.pair_of(callee, mask, apart)
        both = s.let(
            Call(Const(pair.augmented), tuple(map(self.forward.argument, args))),
            t.Tuple((s.unit.type(target), t.UNKNOWN)), f"{callee.name}_pair", origin,
        )
        s.unit.naming.opened[both] = 2
        s.out.append(Let(target, Item(both, Const(0)), origin))
        residuals = s.let(
            Item(both, Const(1)), t.UNKNOWN, f"{callee.name}_residuals", origin, False
        )
        if apart:
            self.restoring.stale[residuals] = False
        wanted = [arg for arg in args if self.forward.is_active(arg)]

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is not None:
                call = Call(Const(pair.pullback), (residuals, g))
                for arg, part in zip(wanted, self.pulled(call, wanted, at), strict=True):
                    cotangents.accumulate(arg, part, at)

        return sweep

    def pair_of(self, callee: Callee, mask: tuple[bool, ...], apart: bool = False) -> Pair:
        """Return the halves of a function for some active parameters."""
        pair = self.pairs.get((callee, mask, apart))
        if pair is None:
            pair = self.pairs[callee, mask, apart] = Pair(callee, mask, apart)
        return pair

    def again(
        self, target: Var, pair: Pair, args: list[Atom | Star], origin: Origin
    ) -> Sweep:
        """Write the call of a function of which nothing is saved: its reverse runs it again."""
        s = self.s
        self.check_data(pair.callee, origin)
        values = tuple(map(self.forward.argument, args))
        s.out.append(Let(target, Call(Const(pair.callee), values), origin))
        wanted = [arg for arg in args if self.forward.is_active(arg)]

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is None:
                return
            both = s.let(
                Call(Const(pair.augmented), values),
                t.Tuple((s.unit.type(target), t.UNKNOWN)), f"{pair.callee.name}_pair", at,
            )
            s.unit.naming.opened[both] = 2
            residuals = s.let(
                Item(both, Const(1)), t.UNKNOWN, f"{pair.callee.name}_residuals", at, False
            )
            call = Call(Const(pair.pullback), (residuals, g))
            for arg, part in zip(wanted, self.pulled(call, wanted, at), strict=True):
                cotangents.accumulate(arg, part, at)

        return sweep

    def check_data(self, callee: Callee, origin: Origin) -> None:
        """Report a function that is run again, later, and reads data that may have changed."""
        if self.s.unit.sweeps.deferred and callee.reads_data:
            self.s.reject(
                origin, f"{callee.name}() calls a function that reads variables of its module, "
                "which may have changed when the pullback runs it again",
                "pass them as arguments", "run-again",
            )

    # -- values that have their derivative from what they satisfy ------------------------------

    def implied(
        self, target: Var, args: list[Atom | Star], origin: Origin
    ) -> Sweep:
        """Write nothing: the value is there. Its reverse calls the pullback that was named."""
        s = self.s
        value, pull, active, operands, function, *more = map(unstar, args)
        assert isinstance(active, Const) and isinstance(operands, Const)
        assert isinstance(function, Const)
        self.forward.env[target] = self.forward.value(value)
        given, rest = more[: operands.value], more[operands.value :]
        wanted = [arg for arg in rest if self.forward.is_active(arg)]
        mask = (*active.value, *(self.forward.is_active(arg) for arg in rest))
        pair = self.pair_of(function.value, mask)
        self.check_data(pair.callee, origin)
        refuse_again(s, origin)
        place = origin.where

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is None:
                return
            compiled = s.let(Call(Const(halves), (
                function, Const(pair.augmented), Const(pair.pullback), Const(mask),
                Const(tuple(self.forward.is_active(atom) for atom in given)), Const(place),
            )), t.UNKNOWN, "halves", at)
            packs = [
                s.pack("tuple", tuple(map(self.forward.value, atoms)), "values", at)
                for atoms in (given, rest)
            ]
            call = Call(pull, (compiled, g, self.forward.value(value), *packs))
            targets = [*given, *wanted]
            types = [cotangent_type(s.unit.type(atom)) for atom in targets]
            bars = s.let(call, t.Tuple(tuple(types)), "bars", at)
            s.unit.naming.opened[bars] = len(targets)
            for i, atom in enumerate(targets):
                if self.forward.is_active(atom):
                    part = s.let(Item(bars, Const(i)), types[i], self.s.bar(atom), at, False)
                    cotangents.accumulate(atom, part, at)

        return sweep

    def pulled(self, call: Call, wanted: list[Var], at: Origin) -> list[Var]:
        """Write the call of a pullback; return the cotangents of the arguments ``wanted``."""
        s = self.s
        types = [cotangent_type(s.unit.type(arg)) for arg in wanted]
        if len(wanted) == 1:
            return [s.let(call, types[0], self.s.bar(wanted[0]), at, False)]
        bars = s.let(call, t.Tuple(tuple(types)), "bars", at)
        s.unit.naming.opened[bars] = len(wanted)
        return [
            s.let(Item(bars, Const(i)), types[i], self.s.bar(arg), at, False)
            for i, arg in enumerate(wanted)
        ]


def refuse_again(s: Writer, origin: Origin) -> None:
    """Report a value of which only the first derivative is known, where a second one is wanted."""
    if s.unit.derivatives.around:
        s.reject(
            origin, "the second derivative of this solution is not known",
            "differentiate once, and take finite differences of that", "higher-order",
        )


def is_implied(rhs: Rhs) -> bool:
    """Say whether a value is there, and only its derivative is implied by something else."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is implied


def stands_for_value(rhs: Rhs) -> bool:
    """Say whether a call gives its first argument, and is there for a derivative alone."""
    return is_implied(rhs) or (
        isinstance(rhs, Call) and isinstance(rhs.func, Const)
        and rhs.func.value in (symmetric, *STAND_INS))


def plain_function(func: Atom, rule: Rule) -> Atom:
    """Return the function that an elementwise rule calls for a method or an in-place form."""
    if isinstance(func, Const) and REGISTRY.resolve(func.value) is func.value:
        return func
    return Const(rule.function)
