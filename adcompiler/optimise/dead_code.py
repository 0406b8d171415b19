"""Removes what nobody reads: values, branch results, carried values, tapes, whole regions."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.ir.dataflow import fixpoint
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, If, Let, Loop, Region, Statement, Var, operands,
)
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import blocks_of, bound_inside, direct_uses, used, with_blocks


def dead_code(block: Block, purity: Purity) -> Block:
    """Return ``block`` without the statements that neither its yields nor an effect need."""
    live = {atom for atom in block.yields if isinstance(atom, Var)}
    return _DeadCode(purity).block(block, live)


class _DeadCode:
    def __init__(self, purity: Purity) -> None:
        self.purity = purity
        self.attempts = 0  # the bodies of ``try`` around: what may raise there is needed

    def block(self, block: Block, live: set[Var]) -> Block:
        """Return the needed part of ``block``; ``live`` grows by what that reads."""
        kept: list[Statement] = []
        for statement in reversed(block.statements):
            new = self.statement(statement, live)
            if new is not None:
                kept.append(new)
        kept.reverse()
        return altered(block, statements=tuple(kept))

    def arm(self, block: Block, yields: tuple[Atom, ...], live: set[Var]) -> Block:
        """Return the needed part of a block of which only ``yields`` are wanted."""
        live.update(a for a in yields if isinstance(a, Var))
        new = self.block(block, live)
        return new if new.yields == yields else replace(new, yields=yields)

    def statement(self, statement: Statement, live: set[Var]) -> Statement | None:
        match statement:
            case Let(target, rhs, origin):
                if target not in live and self.attempts and not isinstance(rhs, Call) and (
                    self.purity.may_raise(rhs)
                ):
                    live.add(target)
                if target not in live:
                    if self.purity.is_pure(rhs) and not (
                        self.attempts and self.purity.may_raise(rhs)
                    ):
                        return None
                    live.update(a for a in operands(rhs) if isinstance(a, Var))
                    return Do(rhs, origin)
                live.discard(target)
            case Do(rhs, _) if self.purity.is_pure(rhs) and not (
                self.attempts and self.purity.may_raise(rhs)
            ):
                return None
            case If():
                return self.branch(statement, live)
            case Loop():
                return self.loop(statement, live)
            case Region():
                return self.region(statement, live)
        live.update(a for a in direct_uses(statement) if isinstance(a, Var))
        return statement

    def branch(self, node: If, live: set[Var]) -> Statement | None:
        wanted = [i for i, result in enumerate(node.results) if result in live]
        live.difference_update(node.results)
        arms = []
        for arm in (node.then, node.orelse):
            arms.append(self.arm(arm, tuple(arm.yields[i] for i in wanted), live))
        if not wanted and not any(arm.statements or arm.diverges for arm in arms):
            return None
        if isinstance(node.condition, Var):
            live.add(node.condition)
        results = tuple(node.results[i] for i in wanted)
        if results == node.results and arms[0] is node.then and arms[1] is node.orelse:
            return node
        return replace(node, then=arms[0], orelse=arms[1], results=results)

    def region(self, node: Any, live: set[Var]) -> Statement:
        wanted = [i for i, result in enumerate(node.results) if result in live]
        live.difference_update(node.results)
        needed: set[Var] = set()

        def arm(block: Block) -> Block:
            inside = set(live)
            yields = block.yields and tuple(block.yields[i] for i in wanted)
            guarded = block in node.watched()
            self.attempts += guarded
            new = self.arm(block, yields, inside)
            self.attempts -= guarded
            needed.update(inside)
            return new

        new: Any = with_blocks(node, arm)
        live.update(needed - set(bound_inside(node)))
        live.update(a for a in direct_uses(node) if isinstance(a, Var))
        results = tuple(node.results[i] for i in wanted)
        if results == node.results and blocks_of(new) == blocks_of(node):
            return node  # type: ignore[no-any-return]
        return replace(new, results=results)  # type: ignore[no-any-return]

    def loop(self, node: Loop, live: set[Var]) -> Statement | None:
        collects = [i for i, c in enumerate(node.collects) if c in live]
        wanted = {i for i, r in enumerate(node.results) if r in live}
        stop = node.stop()
        body, condition, inside = node.body, node.condition, set[Var]()

        def widen() -> bool:  # a value that is carried is wanted if what is wanted reads it
            nonlocal body, condition, inside
            body, condition, inside = self.trial(node, sorted(wanted), collects)
            more = {i for i, p in enumerate(node.params) if p in inside} - wanted
            wanted.update(more)
            return bool(more)

        fixpoint(widen)
        if not wanted and not collects and not body.statements and node.condition is None and (
            stop is None
        ):
            live.difference_update((*node.results, *node.collects))
            return None
        order = sorted(wanted)
        items = self.needed_items(node, body)
        live.difference_update((*node.results, *node.collects))
        live.update(v for v in inside if v not in node.items and v not in node.params)
        live.update(
            a for a in (*(node.iterables[i] for i in items), *(node.inits[i] for i in order))
            if isinstance(a, Var)
        )
        return replace(
            node, items=tuple(node.items[i] for i in items),
            iterables=tuple(node.iterables[i] for i in items), condition=condition, body=body,
            params=tuple(node.params[i] for i in order),
            inits=tuple(node.inits[i] for i in order),
            results=tuple(node.results[i] for i in order),
            collects=tuple(node.collects[i] for i in collects),
        )

    def trial(
        self, node: Loop, wanted: list[int], collects: list[int]
    ) -> tuple[Block, Block | None, set[Var]]:
        """Return what a loop needs for some of its values, its body and test, and what they read.
        """
        following, collected, stop = node.next_values(), node.collected(), node.stop()
        inside: set[Var] = set()
        yields = (
            *(following[i] for i in wanted), *(collected[i] for i in collects),
            *(() if stop is None else (stop,)),
        )
        body = self.arm(node.body, yields, inside)
        condition = None
        if node.condition is not None:
            condition = self.arm(node.condition, node.condition.yields, inside)
        return body, condition, inside

    def counts(self, iterable: Atom) -> bool:
        """Say whether a sequence only counts, as the first one of ``enumerate`` does."""
        rhs = self.purity.definition(iterable)
        return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value is itertools.count
        )

    def needed_items(self, node: Loop, body: Block) -> list[int]:
        """Return which items a loop needs; sequences of a reverse loop all have one length."""
        every = list(range(len(node.items)))
        if len(every) < 2:
            return every
        if not node.origin.reverse:
            read = used(body)
            kept = [i for i in every if node.items[i] in read or not self.counts(node.iterables[i])]
            return kept or every
        read = used(body)
        return [i for i in every if node.items[i] in read] or every[-1:]


