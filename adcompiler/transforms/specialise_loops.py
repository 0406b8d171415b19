"""Loops while specialising: types of carried values, items of iterables, iterations written out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, Loop, Origin, Statement, Var, unstar,
)
from adcompiler.runtime import dict_keys, dict_values
from adcompiler.transforms.operator_methods import iterated
from adcompiler.transforms.specialise_types import is_function, item_type
from adcompiler.transforms.writer import Env, Writer

MAX_WIDENING = 8
UNROLLED_TUPLE = 16

Build = Callable[[Writer, Iterator[Var], Origin], Atom]
"""Writes the item of an iterable from the items of the flat sequences that it runs over."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """One specialised iteration; ``yields`` is None if it always raises."""

    items: tuple[Var, ...]
    params: list[Atom]
    condition: Block | None
    out: list[Statement]
    yields: tuple[Atom, ...] | None


class Loops(Writer):
    """The part of the specialiser that writes loops."""

    def loop(self, node: Loop, env: Env, scope: Scope | None) -> None:
        """Write a loop, with the types of carried values widened until they are stable."""
        iterables = [
            iterated(self, self.value(atom, env), node.origin) for atom in node.iterables
        ]
        if self.unrolled(node, iterables, env, scope):
            return
        inits = [self.value(atom, env) for atom in node.inits]
        flat: list[Atom] = []
        item_types: list[t.Type] = []
        build = self.flatten(iterables[0], flat, item_types, node.origin) if iterables else None
        types = [self.unit.type(init) for init in inits]
        for _ in range(MAX_WIDENING):
            before = len(self.unit.findings)
            self.unit.trial += 1
            attempt = self.iterate(node, inits, types, item_types, build, env, scope)
            self.unit.trial -= 1
            widened = [
                t.join(type_, self.unit.type(atom))
                for type_, atom in zip(types, attempt.yields or (), strict=False)
            ] or types
            if widened == types:
                break
            del self.unit.findings[before:]
            types = widened
        else:
            types = [t.UNKNOWN] * len(types)
            attempt = self.iterate(node, inits, types, item_types, build, env, scope)
        results, collects = self.loop_results(node, types, inits, attempt)
        diverges = attempt.yields is None
        yields = attempt.yields or (UNDEF,) * len(node.body.yields)
        kept = {i: p for i, p in enumerate(attempt.params) if isinstance(p, Var)}
        carried = len(node.params)
        self.out.append(Loop(
            attempt.items, tuple(flat), attempt.condition,
            tuple(kept.values()), tuple(inits[i] for i in kept),
            Block(
                tuple(attempt.out), (*(yields[i] for i in kept), *yields[carried:]), diverges,
            ),
            tuple(r for i in kept if isinstance(r := results[i], Var)), node.origin, collects,
            node.stops,
        ))
        env.update(zip(node.results, results, strict=True))
        env.update(zip(node.collects, collects, strict=True))

    def iterate(
        self, node: Loop, inits: list[Atom], types: list[t.Type], item_types: list[t.Type],
        build: Build | None, env: Env, scope: Scope | None,
    ) -> Iteration:
        """Specialise one iteration with carried values of the given types."""
        inner = dict(env)
        items = self.item_variables(node, len(item_types))
        for item, type_ in zip(items, item_types, strict=True):
            self.unit.types[item] = type_
        if len(items) > 1:
            self.unit.anonymous.update(items)
        params: list[Atom] = []
        for param, init, type_ in zip(node.params, inits, types, strict=True):
            if isinstance(type_, t.Static):
                params.append(init if isinstance(init, Const) else Const(type_.value))
            elif isinstance(type_, t.FunctionType) and init is not UNDEF:
                params.append(init)
            else:
                params.append(self.joined(param, type_, init in self.unit.unsure))
        inner.update(zip(node.params, params, strict=True))
        condition = None
        if node.condition is not None:
            with self.writing_to([]) as test_out:
                test = self.block(node.condition, inner, scope)
            condition = Block(tuple(test_out), test or (), test is None)
        with self.writing_to([]) as out:
            if build is not None and node.items:
                inner[node.items[0]] = build(self, iter(items), node.origin)
            yields = self.block(node.body, inner, scope)
        return Iteration(items, params, condition, out, yields)

    @staticmethod
    def item_variables(node: Loop, count: int) -> tuple[Var, ...]:
        """Return new variables for what the ``count`` flat sequences of a loop give."""
        if count == 1 and node.items:
            return (Var(node.items[0].name),)
        return tuple(Var("item") for _ in range(count))

    def loop_results(
        self, node: Loop, types: list[t.Type], inits: list[Atom], iteration: Iteration
    ) -> tuple[list[Atom], tuple[Var, ...]]:
        """Return the atoms of a loop's results, and the variables of the lists it collects."""
        yields = iteration.yields
        results: list[Atom] = []
        for index, (result, type_, param, init) in enumerate(
            zip(node.results, types, iteration.params, inits, strict=True)
        ):
            if isinstance(param, Const):
                results.append(param)
            elif param is init:
                results.append(init)
            else:
                unsure = param in self.unit.unsure or (
                    yields is not None and yields[index] in self.unit.unsure
                )
                results.append(self.joined(result, type_, unsure))
        collects = []
        for index, collect in enumerate(node.collects):
            var = Var(collect.name, collect.temporary)
            item = t.BOTTOM if yields is None else self.unit.type(yields[len(node.params) + index])
            self.unit.types[var] = t.List(item)
            collects.append(var)
        return results, tuple(collects)

    def unrolled(
        self, node: Loop, iterables: list[Atom], env: Env, scope: Scope | None
    ) -> bool:
        """Write a comprehension over a tuple of known elements as a list of its values.

        A loop over functions, or over instances that differ in more than values, is written as its
        iterations one after the other.
        """
        if len(iterables) != 1 or node.stops:
            return False
        type_ = self.unit.type(iterables[0])
        if isinstance(type_, t.Tuple) and (
            any(map(is_function, type_.items)) or differing_instances(type_)
        ):
            return self.written_out(node, iterables[0], env, scope)
        if not node.collects or node.params:
            return False
        elements = self.unit.elements(iterables[0])
        if elements is None or not isinstance(type_, (t.Tuple, t.List)):
            return False
        mixed = len({self.unit.type(e) for e in elements}) > 1 or len(elements) == 1
        if len(elements) > UNROLLED_TUPLE or not mixed:
            return False
        rows = []
        for element in elements:
            inner = {**env, node.items[0]: element}
            yields = self.block(node.body, inner, scope)
            if yields is None:
                return False
            rows.append(yields)
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in rows)
            env[collect] = self.pack("list", values, collect.name, node.origin)
        return True

    def written_out(self, node: Loop, iterable: Atom, env: Env, scope: Scope | None) -> bool:
        """Write the iterations of a loop over a tuple one after the other."""
        type_ = self.unit.type(iterable)
        assert isinstance(type_, t.Tuple)
        carried = [self.value(init, env) for init in node.inits]
        rows = []
        start = len(self.out)
        for index in range(len(type_.items)):
            item = self.item(iterable, Const(index), node.origin, node.items[0].name)
            inner = {**env, node.items[0]: item, **dict(zip(node.params, carried, strict=True))}
            yields = self.block(node.body, inner, scope)
            if yields is None:
                del self.out[start:]
                return False
            carried = list(yields[: len(carried)])
            rows.append(yields[len(carried) :])
        env.update(zip(node.results, carried, strict=True))
        for index, collect in enumerate(node.collects):
            values = tuple(row[index] for row in rows)
            env[collect] = self.pack("list", values, collect.name, node.origin)
        return True

    def flatten(
        self, iterable: Atom, flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Build:
        """Add the sequences that ``iterable`` runs over; return how their items make its item."""
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const):
            if rhs.func.value is zip and rhs.args and not rhs.kwargs:
                return paired([self.flatten(unstar(a), flat, types, origin) for a in rhs.args])
            if rhs.func.value is enumerate:
                start = dict(rhs.kwargs).get("start", (*rhs.args, Const(0))[1])
                count = self.let(
                    Call(Const(itertools.count), (unstar(start),)), t.UNKNOWN, "count", origin
                )
                flat.append(count)
                types.append(t.INT)
                return paired([own_item, self.flatten(unstar(rhs.args[0]), flat, types, origin)])
            if rhs.func.value is dict.items:
                table = unstar(rhs.args[0])
                parts = []
                for function in (dict_keys, dict_values):
                    part = self.call(Const(function), [table], {}, origin, "entries")
                    parts.append(self.flatten(part, flat, types, origin))
                return paired(parts)
        flat.append(iterable)
        types.append(item_type(self.unit.type(iterable)))
        return own_item


def differing_instances(type_: t.Tuple) -> bool:
    """Say whether a tuple holds instances of several classes, or with fields of several types."""
    return len(set(type_.items)) > 1 and any(isinstance(i, t.Object) for i in type_.items)


def own_item(s: Writer, items: Iterator[Var], origin: Origin) -> Atom:
    """Return the next item as it is."""
    return next(items)


def paired(parts: Sequence[Build]) -> Build:
    """Return how a tuple is written of the items that ``parts`` write."""

    def build(s: Writer, items: Iterator[Var], origin: Origin) -> Atom:
        return s.pack("tuple", tuple(part(s, items, origin) for part in parts), "pair", origin)

    return build
