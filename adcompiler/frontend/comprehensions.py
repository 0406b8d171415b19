"""Lowers comprehensions to loops that collect, or to lists that grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from adcompiler.frontend.building import target_name
from adcompiler.frontend.lowering import Part
from adcompiler.frontend.names import assigned_names, walrus_names
from adcompiler.ir.nodes import UNDEF, Atom, Block, Call, Const, If, Loop, Pack, Statement, Var
from adcompiler.runtime import append, dict_of


class Comprehensions(Part):
    """Lowers comprehensions."""

    def parse_ListComp(self, node: gast.ListComp) -> Atom:
        return self.comprehension(node.generators, [node.elt])[0]

    def parse_SetComp(self, node: gast.SetComp) -> Atom:
        items = self.comprehension(node.generators, [node.elt])[0]
        return self.out.let(Call(Const(set), (items,)), "items")

    def parse_DictComp(self, node: gast.DictComp) -> Atom:
        keys, values = self.comprehension(node.generators, [node.key, node.value])
        return self.out.let(Call(Const(dict_of), (keys, values)), "table")

    def comprehension(
        self, generators: Sequence[gast.comprehension], elements: Sequence[gast.expr]
    ) -> list[Atom]:
        """Lower a comprehension to loops; return one list for each of ``elements``."""
        first = self.lower.expression(generators[0].iter)  # in the scope around
        env = dict(self.out.env)
        added = {n for g in generators for n in assigned_names(g.target)} - set(self.names.locals)
        inside = [*generators, *elements]
        kept = list(dict.fromkeys((*walrus_names(inside), *self.names.changed_names(inside))))
        self.names.locals = {**self.names.locals, **dict.fromkeys(added)}
        try:
            if len(generators) == 1 and not generators[0].ifs and not kept:
                return self.collected(generators[0], first, elements)
            outs: list[Atom] = [self.out.let(Pack("list", ()), "items") for _ in elements]
            grown = self.appended(list(generators), first, elements, outs, kept)
            env.update((name, self.out.env[name]) for name in kept)
            return grown
        finally:
            self.names.locals = {n: None for n in self.names.locals if n not in added}
            self.out.env = env

    def collected(
        self, generator: gast.comprehension, iterable: Atom, elements: Sequence[gast.expr]
    ) -> list[Atom]:
        item = Var(target_name(generator), True)

        def body() -> tuple[Atom, ...]:
            self.lower.assign(generator.target, item)
            return tuple(self.lower.expression(element) for element in elements)

        statements, _, yields = self.out.region(body)
        collects = tuple(Var("items", True) for _ in elements)
        self.out.may_raise()
        self.out.statements.append(Loop(
            (item,), (iterable,), None, (), (), Block(statements, yields), (), self.out.origin,
            collects,
        ))
        return list(collects)

    def appended(
        self, generators: list[gast.comprehension], iterable: Atom, elements: Sequence[gast.expr],
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
        inits = (*outs, *(self.out.env.get(name, UNDEF) for name in kept))
        self.out.unsure.update(
            v for v, init in zip(bound, inits[len(outs) :], strict=True) if self.out.is_unsure(init)
        )

        def current(lists: Sequence[Atom]) -> tuple[Atom, ...]:
            return (*lists, *(self.out.env.get(name, UNDEF) for name in kept))

        def filtered(tests: list[gast.expr]) -> list[Atom]:
            if not tests:
                lists: list[Atom] = list(params)
                if inner:
                    over = self.lower.expression(inner[0].iter)
                    return self.appended(inner, over, elements, lists, kept)
                return [
                    self.out.let(Call(Const(append), (grown, self.lower.expression(one))), "items")
                    for grown, one in zip(lists, elements, strict=True)
                ]
            condition = self.lower.expression(tests[0])
            otherwise = current(params)
            statements, _, grown = self.out.region(lambda: current(filtered(tests[1:])))
            return self.carried(kept, lambda results: If(
                condition, Block(statements, grown), Block((), otherwise), results, self.out.origin
            ), [(a, b) for a, b in zip(grown, otherwise, strict=True)])

        def body() -> tuple[Atom, ...]:
            self.out.env.update(zip(kept, bound, strict=True))
            self.lower.assign(generator.target, item)
            return current(filtered(list(generator.ifs)))

        statements, _, grown = self.out.region(body)
        return self.carried(kept, lambda results: Loop(
            (item,), (iterable,), None, (*params, *bound), inits, Block(statements, grown),
            results, self.out.origin,
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
            if any(map(self.out.is_unsure, pair)):
                self.out.unsure.add(var)
        self.out.may_raise()
        self.out.statements.append(make((*lists, *bound)))
        self.out.env.update(zip(kept, bound, strict=True))
        return list(lists)
