"""Reverse mode: a typed function becomes its augmented primal and the reverse sweep of it.

The forward pass writes the primal statements with rules opened in place, and leaves a record of
each active one; the sweep goes through the records backwards and writes cotangents. The reverse of
a branch is a branch on the same condition, the reverse of a loop a loop over what its iterations
saved. Whatever the sweep reads of values made inside a region is saved by that region: a branch
yields it, a loop collects it in a list.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import numpy as np

from adcompiler.analyses.activity import (
    METADATA, active_variables, differentiable_operands, varied_variables,
)
from adcompiler.analyses.invariance import cancelled_shifts
from adcompiler.analyses.purity import Purity
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Block, Call, Const, Do, If, Item, Let, Loop, Origin, Pack, Rhs, Star,
    Statement, Var, operands, substitute, unstar,
)
from adcompiler.ir.visit import bound_inside, defined, free_variables, substitute_block
from adcompiler.rulekit.registry import REGISTRY
from adcompiler.runtime import add_at, same_shape, same_trailing_shape
from adcompiler.transforms.calls import is_standard
from adcompiler.transforms.calls import is_namedtuple
from adcompiler.transforms.cotangents import Cotangents, bar, cotangent_type
from adcompiler.transforms.folds import class_of
from adcompiler.transforms.missing import may_write, missing_rule
from adcompiler.transforms.rules import Applied, apply_rule
from adcompiler.transforms.specialise import Specialiser
from adcompiler.transforms.unit import Callee, is_elementwise

INTEGER_ARITHMETIC = frozenset({
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg,
})

Sweep = Callable[[Cotangents], None]
"""Writes the reverse of one statement, given the cotangents so far."""

MUTABLE = (t.Array, t.List, t.Dict, t.Object, t.Unknown)
"""Types of values that a function may write into."""


@dataclass(eq=False)
class PendingIf:
    """A branch of the forward pass whose arms may still be asked to yield more."""

    node: If
    condition: Atom
    arms: tuple[list[Any], list[Any]]
    yields: tuple[list[Atom], list[Atom]]
    results: list[Var]
    in_loop: bool


@dataclass(eq=False)
class PendingLoop:
    """A loop of the forward pass whose iterations may still be asked to save more."""

    node: Loop
    iterables: tuple[Atom, ...]
    inits: tuple[Atom, ...]
    condition: Block | None
    body: list[Any]
    following: tuple[Atom, ...]
    collected: list[Atom]
    collects: list[Var]
    stop: Atom | None


@dataclass(eq=False)
class Pair:
    """The augmented primal and pullback of a called function, for some active parameters."""

    callee: Callee
    active: tuple[bool, ...]
    augmented: CalleePart = field(init=False)
    pullback: CalleePart = field(init=False)

    def __post_init__(self) -> None:
        self.augmented = CalleePart(self.callee, "augmented", self.suffix)
        self.pullback = CalleePart(self.callee, "pullback", self.suffix)

    @property
    def suffix(self) -> str:
        """Tells pairs of one function apart that differ in what is active."""
        if all(self.active):
            return ""
        return "_" + "".join("1" if a else "0" for a in self.active)


@dataclass(frozen=True, eq=False)
class CalleePart:
    """A compile-time reference to one function of a pair."""

    callee: Callee
    role: str
    suffix: str

    @property
    def name(self) -> str:
        """The name under which the function is emitted."""
        return f"{self.callee.name}_{self.role}{self.suffix}"

    __name__ = name


class Reverser:
    """Writes the forward pass and the reverse sweep of one typed function."""

    def __init__(
        self, s: Specialiser, active: frozenset[Var], pairs: dict[Any, Pair], split: bool,
        params: Iterable[Var], assume: bool,
    ) -> None:
        self.s = s
        self.active = active
        self.pairs = pairs
        self.split = split
        self.assume = assume
        self.varied: frozenset[Var] = frozenset()
        self.env: dict[Var, Atom] = {}
        self.prelude: list[Any] = []
        self.positions: list[Var] = []
        self.depth = 0
        self.region = 0
        self.regions = 0
        self.home: dict[Var, int] = dict.fromkeys(params, 0)

    def value(self, atom: Any) -> Any:
        """Return the atom of the forward pass that holds a primal value."""
        if isinstance(atom, Star):
            return Star(self.value(atom.atom))
        return self.env.get(atom, atom) if isinstance(atom, Var) else atom

    def is_active(self, atom: Any) -> bool:
        """Say whether cotangents of ``atom`` are wanted."""
        return isinstance(atom, Var) and atom in self.active

    # -- the forward pass ----------------------------------------------------------------------

    def forward(self, statements: Iterable[Statement]) -> list[Sweep]:
        """Write the statements with rules opened; return how to reverse the active ones."""
        sweeps: list[Sweep] = []
        for statement in statements:
            for var in defined(statement):
                self.home.setdefault(var, self.region)
            sweep = self.forward_statement(statement)
            if sweep is not None:
                sweeps.append(sweep)
        return sweeps

    def forward_statement(self, statement: Statement) -> Sweep | None:
        match statement:
            case Let(target, rhs, origin):
                if self.is_active(target):
                    return self.forward_active(target, rhs, origin)
                new = substitute(rhs, self.env)
                self.s.unit.shapes.pop(target, None)
                self.s.unit.record(target, new, self.s.unit.type(target))
                self.s.out.append(Let(target, new, origin))
                self.check_unseen(rhs, origin)
            case If():
                return self.forward_if(statement)
            case Loop():
                return self.forward_loop(statement)
            case _:
                if isinstance(statement, Do):
                    self.check_unseen(statement.rhs, statement.origin)
                changed = substitute_block(Block((statement,)), self.env)
                self.s.out.append(changed.statements[0])
        return None

    def forward_active(self, target: Var, rhs: Rhs, origin: Origin) -> Sweep | None:
        match rhs:
            case Call():
                return self.forward_call(target, rhs, origin)
            case Item(obj, index):
                return self.forward_item(target, obj, index, origin)
            case Attribute(obj, name):
                return self.forward_attribute(target, obj, name, origin)
            case Pack():
                return self.forward_pack(target, rhs, origin)
        self.s.out.append(Let(target, substitute(rhs, self.env), origin))
        return None

    def forward_item(self, target: Var, obj: Atom, index: Atom, origin: Origin) -> Sweep:
        where = self.value(index)
        read = Item(self.value(obj), where)
        self.s.unit.record(target, read, self.s.unit.type(target))
        self.s.out.append(Let(target, read, origin))

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is not None:
                cotangents.accumulate_item(obj, where, g, at)

        return sweep

    def forward_pack(self, target: Var, rhs: Pack | Call, origin: Origin) -> Sweep | None:
        """Write a display, or the making of a namedtuple."""
        if isinstance(rhs, Pack) and rhs.kind == "set":
            self.reject_set(origin)
            return None
        new = substitute(rhs, self.env)
        self.s.unit.defs[target] = new
        self.s.out.append(Let(target, new, origin))
        items = rhs.items if isinstance(rhs, Pack) else rhs.args
        keys: list[Any] = [self.value(k) for k in rhs.keys] if isinstance(rhs, Pack) and rhs.keys else [
            Const(i) for i in range(len(items))
        ]
        starred = any(isinstance(item, Star) for item in items)
        if starred:
            self.s.reject(
                origin, "* of a sequence of unknown length inside a display",
                "concatenate lists with +", "star-arguments",
            )

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            if target in cotangents.parts:
                for key, item in zip(keys, items, strict=True):
                    part = cotangents.parts[target].get(key.value)
                    if part is not None and self.is_active(item):
                        cotangents.accumulate(unstar(item), part, at)
                if target not in cotangents.table:
                    del cotangents.parts[target]
                    return
                del cotangents.parts[target]
            g = cotangents.take(target, at)
            if g is None:
                return
            for key, item in zip(keys, items, strict=True):
                if self.is_active(item):
                    part = self.s.item(g, key, at)
                    cotangents.accumulate(unstar(item), part, at)

        return sweep

    def forward_attribute(self, target: Var, obj: Atom, name: str, origin: Origin) -> Sweep | None:
        type_ = self.s.unit.type(obj)
        value = self.value(obj)
        if isinstance(self.s.unit.type(target), t.Method):
            self.s.out.append(Let(target, Attribute(value, name), origin))
            return None
        if isinstance(type_, t.Object):
            self.s.out.append(Let(target, Attribute(value, name), origin))
            self.s.reject(
                origin, f"the derivative with respect to the attribute `{name}` of an argument "
                "is not supported yet", "pass the value as an argument of its own", "attributes",
            )
            return None
        descriptor = getattr(np.ndarray, name, None)
        if callable(descriptor):  # a method of a value of unknown type: its call follows a rule
            self.s.out.append(Let(target, Attribute(value, name), origin))
            return None
        rule = REGISTRY.find(descriptor) if descriptor is not None else None
        if rule is None:
            self.s.out.append(Let(target, Attribute(value, name), origin))
            if REGISTRY.inactive(descriptor) is None:
                self.report_missing(target, (obj,), f"the attribute `{name}`", None, (), {}, origin)
            return None
        return self.follow(rule, Const(descriptor), target, [obj], {}, origin)

    # -- calls ---------------------------------------------------------------------------------

    def forward_call(self, target: Var, rhs: Call, origin: Origin) -> Sweep | None:
        func, args = rhs.func, list(rhs.args)
        if isinstance(func, Const) and is_namedtuple(func.value):
            return self.forward_pack(target, rhs, origin)
        kwargs = {key: value for key, value in rhs.kwargs if key is not None}
        if isinstance(func, Const) and isinstance(func.value, Callee):
            return self.forward_callee(target, func.value, args, origin)
        function: Any = func.value if isinstance(func, Const) else None
        definition = self.s.unit.definition(func)
        if isinstance(definition, Attribute):
            owner = class_of(self.s, definition.obj)
            python = owner if owner in (float, complex, list, tuple, dict) else np.ndarray
            function = getattr(python, definition.name, None)
            args = [definition.obj, *args]
        classes = tuple(class_of(self.s, a) for a in args if not isinstance(a, Star))
        rule = None if function is None else REGISTRY.find(function, classes)
        if rule is not None:
            return self.follow(rule, func, target, args, kwargs, origin)
        self.s.out.append(Let(target, substitute(rhs, self.env), origin))
        if function is None or REGISTRY.inactive(function) is None:
            shown = getattr(function, "__name__", None) or target.name
            known = {k: v.value for k, v in kwargs.items() if isinstance(v, Const)}
            operands = (func, *map(unstar, args), *kwargs.values())
            self.report_missing(target, operands, f"{shown}()", function, args, known, origin)
        return None

    def report_missing(
        self, target: Var, operands: Iterable[Atom], shown: str, function: Any,
        args: Sequence[Any], keywords: Mapping[str, Any], origin: Origin,
    ) -> None:
        """Report a missing rule; not again for what is made of a result that lacks one."""
        unit = self.s.unit
        consequence = any(operand in unit.lost for operand in operands)
        unit.lost.add(target)
        if consequence:
            return
        if function in (set, frozenset):
            self.reject_set(origin)
            return
        obstacle = unit.opaque.get(function) if isinstance(function, FunctionType) else None
        found = missing_rule(origin, shown, function, len(args), keywords, obstacle)
        via = () if origin.via is None else (origin.via.call,)
        self.s.report(replace(found, callers=via))

    def check_unseen_method(
        self, func: Atom, operands: tuple[Atom, ...], origin: Origin
    ) -> None:
        """Report the call of a method that may keep a differentiable value in its object."""
        method = self.s.unit.definition(func)
        if not isinstance(method, Attribute):
            return
        owner = self.s.unit.type(method.obj)
        if isinstance(owner, (t.Unknown, t.Object)) and any(a in self.varied for a in operands):
            found = may_write(origin, f".{method.name}()", None)
            self.s.report(replace(found, callers=() if origin.via is None else (origin.via.call,)))

    def reject_set(self, origin: Origin) -> None:
        self.s.reject(
            origin, "a set of numbers has no derivative where two of them are equal",
            "use a list or a tuple", "set-displays",
        )

    def check_unseen(self, rhs: Rhs, origin: Origin) -> None:
        """Report a call that may write a differentiable value where its reverse is not seen.

        The result is not used for the derivative. The function is unknown, so it might write what
        it gets into an array or container that it also gets.
        """
        unit = self.s.unit
        if not isinstance(rhs, Call):
            return
        operands = (*map(unstar, rhs.args), *(atom for _, atom in rhs.kwargs))
        if not isinstance(rhs.func, Const):
            self.check_unseen_method(rhs.func, operands, origin)
            return
        function = rhs.func.value
        mutable = any(isinstance(unit.type(atom), MUTABLE) for atom in operands)
        if not mutable or not any(atom in self.varied for atom in operands):
            return
        if isinstance(function, FunctionType) and (
            function in unit.harmless or is_standard(function)  # writers are refused by name
        ):
            return
        if isinstance(function, (Callee, type)) or REGISTRY.inactive(function) is not None or (
            Purity(unit.type, unit.definition).is_pure(rhs)
        ):
            return
        shown = getattr(function, "__name__", "the function")
        found = may_write(origin, f"{shown}()", function)
        via = () if origin.via is None else (origin.via.call,)
        self.s.report(replace(found, callers=via))

    def follow(
        self, rule: Any, func: Atom, target: Var, args: list[Any], kwargs: Mapping[str, Atom],
        origin: Origin,
    ) -> Sweep:
        """Write a call by its rule, and return its reverse."""
        unit = self.s.unit
        by_value = {self.value(a): a for a in (*map(unstar, args), *kwargs.values())
                    if isinstance(a, Var)}
        values = [self.value(arg) for arg in args]
        named = {key: self.value(value) for key, value in kwargs.items()}

        def wanted(atom: Atom) -> bool:
            return self.is_active(by_value.get(atom, atom))

        shape = None
        if self.assume and not named and is_elementwise(rule.function):
            shape = self.expect_equal_shapes(values, origin)
        applied = apply_rule(
            self.s, rule, self.plain_function(func, rule), values, named, target.name,
            target.temporary, origin, wanted,
        )
        self.env[target] = applied.result
        if shape is not None and isinstance(applied.result, Var):
            unit.shapes[applied.result] = shape
        if isinstance(applied.result, Var):
            self.home[applied.result] = self.region
        if isinstance(applied.result, Var):
            unit.types.setdefault(applied.result, unit.type(target))
            if isinstance(unit.types[applied.result], t.Unknown):
                unit.types[applied.result] = unit.type(target)
            if target in unit.names:
                unit.names.setdefault(applied.result, unit.names[target])
        return self.pull(target, applied, by_value, origin)

    def expect_equal_shapes(self, values: list[Any], origin: Origin) -> Any:
        """Write the check that operands are not stretched; return the shape class of the result.

        Operands of fewer axes are expected to have the trailing shape of the others. Nothing is
        expected of operands that are known to be stretched, or where no check is needed.
        """
        unit = self.s.unit
        arrays = [a for a in values if isinstance(unit.type(a), t.Array)
                  and unit.type(a).ndim and isinstance(a, Var)]
        classes = {unit.shape_class(a) for a in arrays}
        if len(classes) < 2 or any(c[0] in ("reduced", "widened") for c in classes):
            return None
        first = max(arrays, key=lambda a: unit.type(a).ndim)
        shape = unit.shape_class(first)
        for other in arrays:
            mine = unit.shape_class(other)
            away = unit.type(first).ndim - unit.type(other).ndim
            if mine == shape or (mine[0] == "suffix" and mine[1] == shape):
                continue
            check = same_trailing_shape if away else same_shape
            shapes = []
            for array in (first, other):
                source = unit.shape_source(array)
                shapes.append(self.s.let(
                    Attribute(source, "shape"), t.Tuple((t.INT,) * unit.type(array).ndim),
                    "shape", origin,
                ))
            unit.evidence.update(shapes)
            self.s.out.append(Do(Call(Const(check), tuple(shapes)), origin))
            if self.region == 0:
                unit.equal_shapes[mine] = ("suffix", shape, away) if away else shape
            elif self.home.get(other) == self.region:
                unit.shapes[other] = ("suffix", shape, away) if away else shape
            elif not away and self.home.get(first) == self.region:
                unit.shapes[first] = shape = mine
        return shape

    def plain_function(self, func: Atom, rule: Any) -> Atom:
        """Return the function that an elementwise rule calls for a method or an in-place form."""
        if isinstance(func, Const) and REGISTRY.resolve(func.value) is func.value:
            return func
        return Const(rule.function)

    def pull(
        self, target: Var, applied: Applied, by_value: Mapping[Any, Var], origin: Origin
    ) -> Sweep:
        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is None:
                return
            for value, part in applied.pull_back(self.s, g, at):
                self.give(cotangents, by_value, value, part, at)

        return sweep

    def give(
        self, cotangents: Cotangents, by_value: Mapping[Any, Var], value: Atom, g: Atom, at: Origin
    ) -> None:
        """Add a cotangent to an argument; to the elements of a tuple that was packed for a call."""
        atom = by_value.get(value, value)
        if self.is_active(atom):
            cotangents.accumulate(atom, g, at)
            return
        elements = self.s.unit.elements(atom)
        if elements is not None and isinstance(atom, Var) and atom not in self.active:
            for position, element in enumerate(elements):
                if self.is_active(by_value.get(element, element)):
                    part = self.s.item(g, Const(position), at)
                    self.give(cotangents, by_value, element, part, at)

    def forward_callee(
        self, target: Var, callee: Callee, args: list[Any], origin: Origin
    ) -> Sweep:
        s = self.s
        mask = tuple(self.is_active(arg) for arg in args)
        pair = self.pairs.get((callee, mask))
        if pair is None:
            pair = self.pairs[callee, mask] = Pair(callee, mask)
        values = tuple(self.value(arg) for arg in args)
        both = s.let(
            Call(Const(pair.augmented), values),
            t.Tuple((s.unit.type(target), t.UNKNOWN)), f"{callee.name}_pair", origin,
        )
        s.unit.opened[both] = 2
        s.out.append(Let(target, Item(both, Const(0)), origin))
        residuals = s.let(
            Item(both, Const(1)), t.UNKNOWN, f"{callee.name}_residuals", origin, False
        )

        def sweep(cotangents: Cotangents) -> None:
            at = origin.reversed()
            g = cotangents.take(target, at)
            if g is None:
                return
            wanted = [arg for arg, active in zip(args, mask, strict=True) if active]
            types = [cotangent_type(s.unit.type(arg)) for arg in wanted]
            call = Call(Const(pair.pullback), (residuals, g))
            if len(wanted) == 1:
                name = bar(wanted[0]) if isinstance(wanted[0], Var) else "bar"
                pulled = s.let(call, types[0], name, at, False)
                cotangents.accumulate(wanted[0], pulled, at)
                return
            pulled = s.let(call, t.Tuple(tuple(types)), "bars", at)
            s.unit.opened[pulled] = len(wanted)
            parts = [
                s.let(Item(pulled, Const(i)), types[i], bar(arg), at, False)
                for i, arg in enumerate(wanted)
            ]
            for arg, part in zip(wanted, parts, strict=True):
                cotangents.accumulate(arg, part, at)

        return sweep

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Note that what is written meanwhile belongs to a region of its own."""
        outer = self.region
        self.regions += 1
        self.region = self.regions
        try:
            yield
        finally:
            self.region = outer

    # -- branches ------------------------------------------------------------------------------

    def forward_if(self, node: If) -> Sweep | None:
        arms: list[list[Any]] = []
        sweeps: list[list[Sweep]] = []
        yields: list[list[Atom]] = []
        for arm in (node.then, node.orelse):
            with self.s.writing_to([]) as out, self.inside():
                sweeps.append(self.forward(arm.statements))
            arms.append(out)
            yields.append([self.value(a) for a in arm.yields])
        pending = PendingIf(
            node, self.value(node.condition), (arms[0], arms[1]), (yields[0], yields[1]),
            list(node.results), self.depth > 0,
        )
        self.s.out.append(pending)  # type: ignore[arg-type]
        if not any(sweeps) and not any(map(self.is_active, node.results)):
            return None
        return lambda cotangents: self.sweep_if(pending, sweeps, cotangents)

    def sweep_if(
        self, pending: PendingIf, sweeps: list[list[Sweep]], cotangents: Cotangents
    ) -> None:
        node, s = pending.node, self.s
        at = node.origin.reversed()
        given = [(i, cotangents.take(r, at)) for i, r in enumerate(node.results)
                 if self.is_active(r)]
        given = [(i, g) for i, g in given if g is not None]
        if not given:
            return
        cotangents.merge_all_parts(at)
        tables: list[Cotangents] = []
        outs: list[list[Any]] = []
        for side, arm in enumerate((node.then, node.orelse)):
            inner = Cotangents(s, cotangents, self.region_variables(pending.arms[side], arm))
            with s.writing_to([]) as out:
                if not arm.diverges:
                    for i, g in given:
                        if self.is_active(arm.yields[i]):
                            inner.accumulate(arm.yields[i], g, at)
                    for sweep in reversed(sweeps[side]):
                        sweep(inner)
            tables.append(inner)
            outs.append(out)
        names, yields = self.merged(node, tables, outs, cotangents, at)
        for side in (0, 1):
            self.save_from_arm(pending, side, outs[side], yields[side])
        results = []
        for var, *arms in zip(names, *yields, strict=True):
            result = Var(bar(var), False)
            s.unit.types[result] = merged_type(
                cotangents.type_of_cotangent(var), map(s.unit.type, arms))
            s.unit.shapes[result] = s.unit.shape_class(cotangents.value(var))
            results.append(result)
        s.out.append(If(
            pending.condition, *(
                Block(tuple(outs[k]), tuple(yields[k]), (node.then, node.orelse)[k].diverges)
                for k in (0, 1)
            ), tuple(results), at,
        ))
        for var, result in zip(names, results, strict=True):
            a, b = (tables[k].table.get(var) for k in (0, 1))
            owned = all(g is None or g in table.owned for g, table in ((a, tables[0]), (b, tables[1])))
            cotangents.table[var] = result
            if owned and isinstance(s.unit.type(result), t.Array):
                cotangents.owned.add(result)

    def merged(
        self, node: If, tables: list[Cotangents], outs: list[list[Any]], cotangents: Cotangents,
        at: Origin,
    ) -> tuple[list[Var], tuple[list[Atom], list[Atom]]]:
        """Return the outer variables that an arm changed, and their cotangents in each arm."""
        names: list[Var] = []
        for table in tables:
            for var in list(table.parts):
                if var not in table.inner:
                    table.merge_parts(var, at)
            names += [v for v in table.table if v not in table.inner and v not in names]
        yields: tuple[list[Atom], list[Atom]] = ([], [])
        for var in names:
            before = cotangents.get(var, at)
            for side, table in enumerate(tables):
                g = table.table.get(var, before)
                if g is None:
                    with self.s.writing_to(outs[side]):
                        type_ = self.s.unit.type(var)
                        g = table.zero_of(cotangents.value(var), type_, at)
                        table.owned.add(g)
                        table.table[var] = g
                diverges = (node.then, node.orelse)[side].diverges
                yields[side].append(UNDEF if diverges else g)
        return names, yields

    @staticmethod
    def region_variables(out: list[Any], arm: Block) -> set[Var]:
        """Return the variables that a region defines: of the primal and of its augmented form."""
        found = set(top_level(out))
        for statement in arm.statements:
            found.update(defined(statement))
        return found

    def save_from_arm(
        self, pending: PendingIf, side: int, out: list[Any], yields: list[Atom]
    ) -> None:
        """Let the branch yield what the reverse arm reads of values made in the forward arm."""
        arm = pending.arms[side]
        made = set(top_level(arm))
        hoist_metadata(out, arm, made)
        made = set(top_level(arm))
        needed = [v for v in free_variables(Block(tuple(out), tuple(yields))) if v in made]
        mapping: dict[Var, Atom] = {}
        for var in needed:
            saved = self.copy_of(var)
            pending.results.append(saved)
            pending.yields[side].append(var)
            pending.yields[1 - side].append(NONE if self.split or pending.in_loop else UNDEF)
            mapping[var] = saved
        self.rename(out, yields, mapping)

    def copy_of(self, var: Var) -> Var:
        """Return a new variable that holds what ``var`` held."""
        new = Var(var.name, False)
        self.s.copy_facts(var, new)
        self.s.unit.defs.pop(new, None)
        if var in self.s.unit.names:
            self.s.unit.names[new] = self.s.unit.names[var]
        return new

    @staticmethod
    def rename(out: list[Any], yields: list[Atom], mapping: Mapping[Var, Atom]) -> None:
        block = substitute_block(Block(tuple(out), tuple(yields)), mapping)
        out[:] = block.statements
        yields[:] = block.yields

    # -- loops ---------------------------------------------------------------------------------

    def forward_loop(self, node: Loop) -> Sweep | None:
        iterables = tuple(map(self.value, node.iterables))
        inits = tuple(map(self.value, node.inits))
        condition = node.condition
        if condition is not None:
            with self.s.writing_to([]) as test:
                self.forward(condition.statements)
            condition = Block(
                tuple(finish(test)), tuple(map(self.value, condition.yields)), condition.diverges
            )
        self.depth += 1
        with self.s.writing_to([]) as out, self.inside():
            self.home.update(dict.fromkeys((*node.items, *node.params), self.region))
            sweeps = self.forward(node.body.statements)
        self.depth -= 1
        stop = node.stop()
        pending = PendingLoop(
            node, iterables, inits, condition, out, tuple(map(self.value, node.next_values())),
            [self.value(a) for a in node.collected()], list(node.collects),
            None if stop is None else self.value(stop),
        )
        self.s.out.append(pending)  # type: ignore[arg-type]
        if not sweeps and not any(
            map(self.is_active, (*node.results, *node.params, *node.collects))
        ):
            return None
        return lambda cotangents: self.sweep_loop(pending, sweeps, cotangents)

    def sweep_loop(
        self, pending: PendingLoop, sweeps: list[Sweep], cotangents: Cotangents
    ) -> None:
        node, s = pending.node, self.s
        at = node.origin.reversed()
        results = {r: cotangents.take(r, at) for r in (*node.results, *node.collects)
                   if self.is_active(r)}
        if all(g is None for g in results.values()):
            return
        carried = [i for i, p in enumerate(node.params)
                   if self.is_active(p) or self.is_active(node.results[i])]
        made = {*node.params, *node.items, *self.region_variables(pending.body, node.body)}
        around, self.prelude, self.positions = (self.prelude, self.positions), [], []
        inner = Cotangents(s, cotangents, made, is_loop=True)
        items: list[Var] = []
        iterables: list[Atom] = []
        params: list[Var] = []
        with s.writing_to([]) as out:
            for i in carried:
                params.append(self.carried_cotangent(node, i, inner, at))
            for collect, value in zip(node.collects, node.collected(), strict=True):
                g = results.get(collect)
                if g is not None:
                    self.collected_cotangent(collect, value, g, items, iterables, inner, at)
            for sweep in reversed(sweeps):
                sweep(inner)
            self.item_cotangents(pending, inner, items, iterables, at)
            yields = [
                g if (g := inner.get(node.params[i], at)) is not None else inner.zero_of(
                    inner.value(node.params[i]), s.unit.type(node.params[i]), at)
                for i in carried
            ]
        inits = [
            g if (g := results.get(node.results[i])) is not None else cotangents.zero_of(
                node.results[i], s.unit.type(node.results[i]), at)
            for i in carried
        ]
        accumulators = list(inner.accumulators.items())
        for var, accumulator in accumulators:
            params.append(accumulator)
            yields.append(inner.table[var])
            inits.append(self.initial(var, accumulator, out, cotangents, at))
        self.save_from_loop(pending, out, yields, items, iterables, at)
        self.prelude, self.positions = around
        reverse_results = []
        handed_on = [s.unit.type(atom) for atom in (*inits, *yields)]
        for param in params:
            result = Var(param.name, False)
            s.unit.types[result] = merged_type(s.unit.type(param), handed_on)
            s.unit.shapes[result] = s.unit.shape_class(param)
            reverse_results.append(result)
        s.out.append(Loop(
            tuple(items), tuple(iterables), None, tuple(params), tuple(inits),
            Block(tuple(out), tuple(yields)), tuple(reverse_results), at,
        ))
        for (var, accumulator), init, result in zip(
            accumulators, inits[len(carried):], reverse_results[len(carried):], strict=True
        ):
            cotangents.table[var] = result
            if init in cotangents.owned and isinstance(
                s.unit.type(accumulator), (t.Array, t.List, t.Dict, t.Unknown)
            ):
                cotangents.owned.add(result)
        for i, result in zip(carried, reverse_results, strict=False):
            if self.is_active(node.inits[i]):
                cotangents.accumulate(node.inits[i], result, at)

    def carried_cotangent(self, node: Loop, i: int, inner: Cotangents, at: Origin) -> Var:
        """Bind the cotangent of a carried value after the iteration being reversed."""
        unit = self.s.unit
        param = Var(bar(node.params[i]), False)
        unit.types[param] = cotangent_type(unit.type(node.params[i]))
        following = node.next_values()[i]
        if isinstance(following, Var):
            unit.shapes[param] = unit.shape_class(inner.value(following))
            if self.is_active(following):
                inner.accumulate(following, param, at)
        return param

    def collected_cotangent(
        self, collect: Var, value: Atom, g: Atom, items: list[Var], iterables: list[Atom],
        inner: Cotangents, at: Origin,
    ) -> None:
        """Bind the cotangent of what an iteration appended to a list."""
        unit = self.s.unit
        list_type = unit.type(collect)
        name = bar(value) if isinstance(value, Var) else "item_bar"
        item = Var(name, False)
        unit.types[item] = cotangent_type(list_type.item) if isinstance(
            list_type, t.List) else t.UNKNOWN
        if isinstance(value, Var):
            unit.shapes[item] = unit.shape_class(inner.value(value))
        items.append(item)
        outer = Call(Const(reversed), (g,))
        iterables.append(self.before_loop(outer, "reversed_" + bar(collect), at))
        inner.accumulate(value, item, at)

    def before_loop(self, rhs: Rhs, name: str, at: Origin) -> Var:
        """Write a statement in front of the reverse loop that is being written."""
        var = Var(name, True)
        self.s.unit.record(var, rhs, t.UNKNOWN)
        self.prelude.append(Let(var, rhs, at))
        return var


    def item_cotangents(
        self, pending: PendingLoop, inner: Cotangents, items: list[Var], iterables: list[Atom],
        at: Origin,
    ) -> None:
        """Add the cotangents of the loop's items to the sequences they come from."""
        node, s = pending.node, self.s
        index: Var | None = None
        for item, iterable in zip(node.items, node.iterables, strict=True):
            if not self.is_active(item) or not isinstance(iterable, Var):
                continue
            g = inner.take(item, at)
            if g is None:
                continue
            if index is None:
                index = Var("index", False)
                s.unit.types[index] = t.INT
                items.append(index)
                iterables.append(self.reversed_positions(pending, at))
            inner.accumulate_item(iterable, index, g, at)

    def reversed_positions(self, pending: PendingLoop, at: Origin) -> Atom:
        """Write the positions of the iterations that ran, last first."""
        backwards = Var("backwards", True)
        self.s.unit.types[backwards] = t.UNKNOWN
        self.positions.append(backwards)
        return backwards

    def write_positions(self, pending: PendingLoop, at: Origin) -> None:
        """Write the sequences of positions that were asked for, now that all tapes are known."""
        for backwards in self.positions:
            if pending.stop is None and len(pending.iterables) == 1:
                counted: Atom = pending.iterables[0]
            else:
                own = pending.collects[len(pending.node.collects):]
                counted = own[0] if own else self.collect(pending, NONE, "count")
            length = self.before_loop(Call(Const(len), (counted,)), "count", at)
            self.s.unit.types[length] = t.INT
            positions = self.before_loop(Call(Const(range), (length,)), "positions", at)
            self.s.unit.types[positions] = t.RANGE
            call = Call(Const(reversed), (positions,))
            self.s.unit.defs[backwards] = call
            self.prelude.append(Let(backwards, call, at))
        self.positions.clear()

    def collect(self, pending: PendingLoop, value: Atom, name: str) -> Var:
        """Let every iteration of a forward loop save ``value``; return the list of them."""
        tape = Var(f"{name}_tape", True)
        self.s.unit.types[tape] = t.List(self.s.unit.type(value))
        pending.collects.append(tape)
        pending.collected.append(value)
        return tape

    def initial(
        self, var: Var, accumulator: Var, out: list[Any], cotangents: Cotangents, at: Origin
    ) -> Atom:
        """Return the value with which an accumulator enters the reverse loop."""
        in_place = any(
            isinstance(st, Let) and isinstance(st.rhs, Call) and isinstance(st.rhs.func, Const)
            and st.rhs.func.value is add_at for st in all_statements(out)
        )
        old = cotangents.get(var, at)
        if old is None:
            zero = cotangents.zero_of(cotangents.value(var), self.s.unit.type(var), at)
            cotangents.owned.add(zero)
            return zero
        if in_place and not isinstance(self.s.unit.type(var), t.Scalar):
            return cotangents.buffer(var, at)
        return old

    def save_from_loop(
        self, pending: PendingLoop, out: list[Any], yields: list[Atom], items: list[Var],
        iterables: list[Atom], at: Origin,
    ) -> None:
        """Let the loop collect what the reverse body reads of values made in its iterations."""
        node = pending.node
        bound = {*node.params, *node.items}
        hoist_metadata(out, pending.body, bound | set(top_level(pending.body)))
        made = bound | set(top_level(pending.body))
        self.recompute_integers(pending, out, yields, made)
        mapping: dict[Var, Atom] = {}
        rerun = pending.stop is None and pending.condition is None
        for var in free_variables(Block(tuple(out), tuple(yields))):
            if var not in made:
                continue
            saved = self.copy_of(var)
            items.append(saved)
            mapping[var] = saved
            if rerun and var in node.items and len(node.items) == 1 and self.re_iterable(
                pending.iterables[node.items.index(var)]
            ):
                source = pending.iterables[node.items.index(var)]
            else:
                source = self.collect(pending, var, var.name)
            iterables.append(self.before_loop(
                Call(Const(reversed), (source,)), f"reversed_{var.name}", at
            ))
        if not items:
            self.count_iterations(pending, items, iterables, at, rerun)
        self.rename(out, yields, mapping)
        self.write_positions(pending, at)
        self.s.out.extend(self.prelude)
        self.prelude.clear()

    def recompute_integers(
        self, pending: PendingLoop, out: list[Any], yields: list[Atom], made: set[Var]
    ) -> None:
        """Compute what is integer arithmetic of the loop's items anew instead of saving it."""
        lets = {s.target: s for s in pending.body if isinstance(s, Let)}
        mapping: dict[Var, Atom] = {}
        again: list[Let] = []

        def is_cheap(atom: Atom) -> bool:
            if not isinstance(atom, Var) or atom not in made or atom in pending.node.items:
                return True
            let = lets.get(atom)
            return let is not None and self.s.unit.type(atom) == t.INT and isinstance(
                let.rhs, Call
            ) and isinstance(let.rhs.func, Const) and let.rhs.func.value in INTEGER_ARITHMETIC and (
                all(is_cheap(a) for a in operands(let.rhs))
            )

        def recompute(var: Var) -> None:
            if var in mapping or var not in lets:
                return
            for atom in operands(lets[var].rhs):
                if isinstance(atom, Var):
                    recompute(atom)
            mapping[var] = new = self.copy_of(var)
            rhs = substitute(lets[var].rhs, mapping)
            self.s.unit.defs[new] = rhs
            again.append(Let(new, rhs, lets[var].origin.reversed()))

        for var in free_variables(Block(tuple(out), tuple(yields))):
            if var in lets and is_cheap(var):
                recompute(var)
        self.rename(out, yields, mapping)
        out[:0] = again

    def count_iterations(
        self, pending: PendingLoop, items: list[Var], iterables: list[Atom], at: Origin, rerun: bool
    ) -> None:
        """Let the reverse loop run as often as the loop did, with nothing to hand over."""
        item = Var("_", False)
        self.s.unit.types[item] = t.UNKNOWN
        items.append(item)
        if rerun and len(pending.iterables) == 1 and self.re_iterable(pending.iterables[0]):
            iterables.append(pending.iterables[0])
            return
        iterables.append(self.collect(pending, NONE, "count"))

    def re_iterable(self, iterable: Atom) -> bool:
        """Say whether a sequence can be run through again, backwards."""
        return isinstance(self.s.unit.type(iterable), (t.Range, t.Array, t.List, t.Tuple))


def merged_type(type_: t.Type, parts: Iterable[t.Type]) -> t.Type:
    """Return the type of a cotangent that is one of several: of a NumPy number if one of them is."""
    if isinstance(type_, t.Scalar) and type_.dtype is None and type_.kind == "float" and any(
        isinstance(part, t.Scalar) and part.dtype is not None for part in parts
    ):
        return t.Scalar("float", "float64")
    return type_


def top_level(statements: Iterable[Any]) -> Iterable[Var]:
    """Return the variables that statements of the forward pass define for what follows them."""
    for statement in statements:
        if isinstance(statement, PendingIf):
            yield from statement.results
        elif isinstance(statement, PendingLoop):
            yield from statement.node.results
            yield from statement.collects
        else:
            yield from defined(statement)


def all_statements(statements: Iterable[Any]) -> Iterable[Any]:
    """Iterate over statements and everything inside them."""
    from adcompiler.ir.visit import walk

    return walk(Block(tuple(statements)))


def hoist_metadata(out: list[Any], forward: list[Any], made: set[Var]) -> None:
    """Move reads of shapes, sizes and dtypes of forward values from the sweep to the forward pass.

    What is saved is then the shape, not the array.
    """

    def moves(statement: Any) -> bool:
        if not isinstance(statement, Let):
            return False
        rhs = statement.rhs
        return isinstance(rhs, Attribute) and rhs.name in METADATA and rhs.obj in made

    def visit(statements: Iterable[Any]) -> list[Any]:
        kept = []
        for statement in statements:
            if moves(statement):
                forward.append(replace(statement, origin=replace(statement.origin, reverse=False)))
                made.add(statement.target)
            elif isinstance(statement, If):
                kept.append(replace(
                    statement,
                    then=replace(statement.then, statements=tuple(visit(statement.then.statements))),
                    orelse=replace(
                        statement.orelse, statements=tuple(visit(statement.orelse.statements))
                    ),
                ))
            elif isinstance(statement, Loop):
                kept.append(replace(
                    statement,
                    body=replace(statement.body, statements=tuple(visit(statement.body.statements))),
                ))
            else:
                kept.append(statement)
        return kept

    out[:] = visit(out)


def finish(statements: Iterable[Any]) -> list[Statement]:
    """Return statements with the regions of the forward pass as they ended up."""
    finished: list[Statement] = []
    for statement in statements:
        if isinstance(statement, PendingIf):
            node = statement.node
            finished.append(If(
                statement.condition, *(
                    Block(tuple(finish(statement.arms[k])), tuple(statement.yields[k]),
                          (node.then, node.orelse)[k].diverges) for k in (0, 1)
                ), tuple(statement.results), node.origin,
            ))
        elif isinstance(statement, PendingLoop):
            node = statement.node
            stop = () if statement.stop is None else (statement.stop,)
            body = Block(
                tuple(finish(statement.body)),
                (*statement.following, *statement.collected, *stop), node.body.diverges,
            )
            finished.append(Loop(
                node.items, statement.iterables, statement.condition, node.params,
                statement.inits, body, node.results, node.origin, tuple(statement.collects),
                node.stops,
            ))
        else:
            finished.append(statement)
    return finished


@dataclass(eq=False)
class Reversed:
    """The two halves of a reversed function, before they are put together.

    ``value`` is the primal result; ``seed`` the variable (or constant) that is its cotangent;
    ``bars`` the cotangents of the wanted inputs, None where they are zero.
    """

    forward: list[Statement]
    sweep: list[Statement]
    value: Atom
    seed: Atom
    bars: list[Atom | None]
    owned: set[Atom]


def reverse(
    s: Specialiser, body: Block, inputs: list[Var], output: Atom, seed: Atom, pairs: dict[Any, Pair],
    origin: Origin, split: bool, params: Iterable[Var],
) -> Reversed:
    """Reverse the typed statements of ``body`` with respect to ``inputs``.

    ``split`` says that the sweep will be a function of its own, which gets what it reads handed
    over; otherwise it stands below the forward pass and sees its variables.
    """
    constant = cancelled_shifts(body, output, s.unit.type, s.unit.definition)
    active = active_variables(body, inputs, [output], s.unit.type, constant)
    purity = Purity(s.unit.type, s.unit.definition)
    assume = s.unit.assume_equal_shapes and purity.has_no_effect(body)
    reverser = Reverser(s, active, pairs, split, params, assume)
    reverser.varied = varied_variables(body, inputs, s.unit.type)
    with s.writing_to([]) as forward:
        sweeps = reverser.forward(body.statements)
    cotangents = Cotangents(s)
    cotangents.primal = reverser.env
    at = origin.reversed()
    with s.writing_to([]) as out:
        if isinstance(output, Var) and output in active:
            cotangents.accumulate(output, seed, at)
        for sweep in reversed(sweeps):
            sweep(cotangents)
        bars = [cotangents.get(var, at) for var in inputs]
    if split:
        hoist_metadata(out, forward, set(top_level(forward)))
    return Reversed(
        finish(forward), out, reverser.value(output), seed, bars, cotangents.owned
    )


__all__ = ["Pair", "Reversed", "Reverser", "differentiable_operands", "reverse"]
