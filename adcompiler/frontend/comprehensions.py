"""Lowers comprehensions to loops that collect, or to lists that grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.frontend.building import Builder, target_name
from adcompiler.frontend.names import assigned_names, walrus_names
from adcompiler.ir.nodes import UNDEF, Atom, Block, Call, Const, If, Loop, Pack, Statement, Var
from adcompiler.runtime import append, dict_of
import gast


class Comprehensions(Builder):
    """Lowers comprehensions."""

    def parse_ListComp(self, node: gast.ListComp) -> Atom:
        return self.comprehension(node.generators, [node.elt])[0]

    def parse_SetComp(self, node: gast.SetComp) -> Atom:
        items = self.comprehension(node.generators, [node.elt])[0]
        return self.let(Call(Const(set), (items,)), "items")

    def parse_DictComp(self, node: Any) -> Atom:
        keys, values = self.comprehension(node.generators, [node.key, node.value])
        return self.let(Call(Const(dict_of), (keys, values)), "table")

    def comprehension(
        self, generators: Sequence[gast.comprehension], elements: Sequence[gast.expr]
    ) -> list[Atom]:
        """Lower a comprehension to loops; return one list for each of ``elements``."""
        first = self.expression(generators[0].iter)  # in the scope around
        env = dict(self.env)
        added = {n for g in generators for n in assigned_names(g.target)} - set(self.locals)
        inside = [*generators, *elements]
        kept = list(dict.fromkeys((*walrus_names(inside), *self.changed_names(inside))))
        self.locals = {**self.locals, **dict.fromkeys(added)}
        try:
            if len(generators) == 1 and not generators[0].ifs and not kept:
                return self.collected(generators[0], first, elements)
            outs: list[Atom] = [self.let(Pack("list", ()), "items") for _ in elements]
            grown = self.appended(list(generators), first, elements, outs, kept)
            env.update((name, self.env[name]) for name in kept)
            return grown
        finally:
            self.locals = {n: None for n in self.locals if n not in added}
            self.env = env

    def collected(
        self, generator: gast.comprehension, iterable: Atom, elements: Sequence[gast.expr]
    ) -> list[Atom]:
        item = Var(target_name(generator), True)

        def body() -> tuple[Atom, ...]:
            self.assign(generator.target, item)
            return tuple(self.expression(element) for element in elements)

        statements, _, yields = self.region(body)
        collects = tuple(Var("items", True) for _ in elements)
        self.may_raise()
        self.statements.append(Loop(
            (item,), (iterable,), None, (), (), Block(statements, yields), (), self.origin, collects
        ))
        return list(collects)

    def appended(
        self, generators: list[Any], iterable: Atom, elements: Sequence[gast.expr],
        outs: list[Atom], kept: list[str]
    ) -> list[Atom]:
        """Lower nested or filtered generators: lists that grow are carried through the loops.

        ``iterable`` is what the first one runs over. ``kept`` names the variables that ``:=`` binds
        inside; they are carried too.
        """
        generator, *inner = generators
        item = Var(target_name(generator), True)
        params = tuple(Var("items", True) for _ in outs)
        bound = tuple(Var(name) for name in kept)
        inits = (*outs, *(self.env.get(name, UNDEF) for name in kept))
        self.unsure.update(
            v for v, init in zip(bound, inits[len(outs) :], strict=True) if self.is_unsure(init)
        )

        def current(lists: Sequence[Atom]) -> tuple[Atom, ...]:
            return (*lists, *(self.env.get(name, UNDEF) for name in kept))

        def filtered(tests: list[Any]) -> list[Atom]:
            if not tests:
                lists: list[Atom] = list(params)
                if inner:
                    over = self.expression(inner[0].iter)
                    return self.appended(inner, over, elements, lists, kept)
                return [
                    self.let(Call(Const(append), (out, self.expression(element))), "items")
                    for out, element in zip(lists, elements, strict=True)
                ]
            condition = self.expression(tests[0])
            otherwise = current(params)
            statements, _, grown = self.region(lambda: current(filtered(tests[1:])))
            return self.carried(kept, lambda results: If(
                condition, Block(statements, grown), Block((), otherwise), results, self.origin
            ), [(a, b) for a, b in zip(grown, otherwise, strict=True)])

        def body() -> tuple[Atom, ...]:
            self.env.update(zip(kept, bound, strict=True))
            self.assign(generator.target, item)
            return current(filtered(list(generator.ifs)))

        statements, _, grown = self.region(body)
        return self.carried(kept, lambda results: Loop(
            (item,), (iterable,), None, (*params, *bound), inits, Block(statements, grown),
            results, self.origin,
        ), [(a, b) for a, b in zip(grown, inits, strict=True)])

    def carried(
        self, kept: list[str], make: Callable[[tuple[Var, ...]], Statement],
        sources: list[tuple[Atom, Atom]],
    ) -> list[Atom]:
        """Write the statement that carries lists and ``kept`` variables; return the lists."""
        count = len(sources) - len(kept)
        lists = [Var("items", True) for _ in range(count)]
        bound = [Var(name) for name in kept]
        for var, pair in zip(bound, sources[count:], strict=True):
            if any(map(self.is_unsure, pair)):
                self.unsure.add(var)
        self.may_raise()
        self.statements.append(make((*lists, *bound)))
        self.env.update(zip(kept, bound, strict=True))
        return list(lists)
