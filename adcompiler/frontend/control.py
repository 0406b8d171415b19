"""Lowers control flow: ``break``, ``continue`` and early ``return`` become regions and codes.

What follows a branch that leaves moves into the other branch; where both may go on, a code says how
the branch ended.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder, target_name
from adcompiler.frontend.interface import (
    BREAKS, CONTINUES, NORMAL, RAISED, RAISES, RETURNS, End, Steps,
)
from adcompiler.frontend.generators import unrolled
from adcompiler.frontend.lowering import Lowering, Part
from adcompiler.frontend.names import assigned_names, can_fall_through, leaves, walrus_names
from adcompiler.frontend.patterns import Patterns
from adcompiler.frontend.regions import with_else_after
from adcompiler.frontend.rewriting.own_targets import shown
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, If, Let, Loop, Raise, Statement, Var,
)
from adcompiler.support.structs import dataclass


@dataclass(slots=True)
class Carried:
    """The values that a loop carries from one iteration to the next, as lists that go together."""

    params: list[Var]
    inits: list[Atom]
    results: list[Var] = field(default_factory=list)
    yields: list[Atom] = field(default_factory=list)

    def add(self, name: str, init: Atom, following: Atom) -> Var:
        """Carry a temporary too; return its value after the loop."""
        result = Var(name, True)
        self.params.append(Var(name, True))
        self.inits.append(init)
        self.yields.append(following)
        self.results.append(result)
        return result


class Control(Part):
    """Lowers sequences of statements, and branches that leave them."""

    def __init__(
        self, out: Builder, lower: Lowering, patterns: Patterns,
        tried: Callable[[gast.stmt], End | None],
    ) -> None:
        super().__init__(out, lower)
        self.patterns = patterns
        self.tried = tried

    def sequence(self, steps: Sequence[gast.stmt], tail: bool) -> End:
        """Lower ``steps`` in order; ``tail`` says that the end of a loop's body follows."""
        for position, step in enumerate(steps):
            rest = steps[position + 1 :]
            self.out.origin = self.out.locate(step)
            end = self.tried(step) if self.out.attempts else None
            if end is None:
                whole = self.with_rest(step, rest, tail)
                if whole is not None:
                    return whole
                end = self.lower.statement(step)
            if end.may != {NORMAL}:
                return self.guarded(end, rest, tail)
        return End()

    def with_rest(self, step: gast.stmt, rest: Sequence[gast.stmt], tail: bool) -> End | None:
        """Lower a statement that leaves, or that is lowered with what follows; None for others."""
        match step:
            case gast.Return():
                value = NONE if step.value is None else self.lower.expression(step.value)
                return End(Const(RETURNS), self.out.with_states(value), frozenset({RETURNS}))
            case gast.Break():
                return End(Const(BREAKS), UNDEF, frozenset({BREAKS}))
            case gast.Continue():
                code = NORMAL if tail and not rest else CONTINUES
                return End(Const(code), UNDEF, frozenset({code}))
            case gast.Raise():
                exception = self.lower.optional(step.exc)
                cause = self.lower.optional(step.cause)
                self.out.may_raise()
                self.out.statements.append(Raise(exception, cause, self.out.origin))
                return RAISED
            case gast.If() if leaves(step):
                condition = self.lower.expression(step.test)
                return self.branch(condition, step.body, step.orelse, rest, tail)
            case gast.Match():
                return self.sequence([*self.patterns.match_as_branches(step), *rest], tail)
            case gast.Try(orelse=[_, *_]):
                steps = with_else_after(step, self.names.fresh("completed"))
                return self.sequence([*steps, *rest], tail)
        return None

    def parse_If(self, node: gast.If) -> None:
        self.out.arms(
            self.lower.expression(node.test),
            lambda: self.sequence(node.body, False), lambda: self.sequence(node.orelse, False),
        )

    def branch(
        self, condition: Atom, then: Sequence[gast.stmt], orelse: Sequence[gast.stmt],
        rest: Sequence[gast.stmt], tail: bool,
    ) -> End:
        """Lower a branch that may leave the block, and what follows it."""
        then_falls, else_falls = can_fall_through(then), can_fall_through(orelse)
        if then_falls and else_falls and rest:
            end = self.out.arms(
                condition, lambda: self.sequence(then, False), lambda: self.sequence(orelse, False)
            )
            return self.guarded(end, rest, tail)
        after_then = [*then, *rest] if then_falls else then
        after_else = [*orelse, *rest] if else_falls else orelse
        return self.out.arms(
            condition,
            lambda: self.sequence(after_then, tail), lambda: self.sequence(after_else, tail),
        )

    def guarded(self, end: End, rest: Sequence[gast.stmt], tail: bool) -> End:
        """Lower ``rest`` to run only if what ended in ``end`` fell through."""
        if NORMAL not in end.may or not rest:
            return end
        if end.may <= {NORMAL, RAISES}:
            return self.sequence(rest, tail)
        fell = self.out.is_code(end.code, NORMAL, "goes_on")
        left = End(end.code, end.value, end.may - {NORMAL})
        return self.out.arms(fell, lambda: self.sequence(rest, tail), lambda: left)


class Loops(Part):
    """Lowers loops, with their ``else``."""

    def __init__(self, out: Builder, lower: Lowering, sequence: Steps) -> None:
        super().__init__(out, lower)
        self.sequence = sequence

    def parse_While(self, node: gast.While) -> End:
        if walrus_names([node.test]) or self.names.changed_names([node.test]) or (
            self.out.attempts and not isinstance(node.test, (gast.Constant, gast.Name))
        ):
            if holds(node.orelse, gast.Break, gast.Continue):
                self.out.reject(node, rejected.LEAVING_ELSE)
                return End()
            node = with_test_inside(node)
        return self.loop(node)

    def parse_For(self, node: gast.For) -> End:
        if isinstance(node.iter, gast.GeneratorExp) and len(node.iter.generators) == 1:
            node = unrolled(node, node.iter, self.names.fresh)
        return self.loop(node)

    def loop(self, node: gast.For | gast.While) -> End:
        """Lower a loop and its ``else``; the end tells whether it returned."""
        changed = dict.fromkeys((*assigned_names(node), *self.names.changed_names([node])))
        names = [n for n in changed if n in self.names.locals]
        names += [attempt.error for attempt in self.out.attempts]
        iterable = self.lower.expression(node.iter) if isinstance(node, gast.For) else None
        origin, before = self.out.origin, self.out.env
        params = [Var(shown(name)) for name in names]
        carried = Carried(params, [before.get(n, UNDEF) for n in names])
        starts = zip(params, carried.inits, strict=True)
        self.out.unsure.update(p for p, i in starts if self.out.is_unsure(i))
        self.out.env = {**before, **dict(zip(names, carried.params, strict=True))}
        item = Var(target_name(node), True) if iterable is not None else None
        condition = None
        if isinstance(node, gast.While):
            tested, _, test = self.out.region(partial(self.lower.expression, node.test))
            condition = Block(tested, (test,))

        def body() -> End:
            if isinstance(node, gast.For) and item is not None:
                self.lower.assign(node.target, item)
            return self.sequence(node.body, True)

        self.out.may_raise()
        statements, env, end = self.out.region(body)
        self.out.env = before
        carried.results = [Var(shown(name)) for name in names]
        carried.yields = [env.get(name, UNDEF) for name in names]
        self.note_unsure(carried, runs(node))
        end, more = self.continued_is_normal(end)
        statements += more
        code, value = self.exits(node, end, carried)
        stops = BREAKS in end.may or bool(end.leaving)
        if stops:
            carried.yields.append(end.code if isinstance(end.code, Var) else Const(True))
        self.out.may_raise()
        self.out.statements.append(Loop(
            (item,) if item is not None else (), (iterable,) if iterable is not None else (),
            condition, tuple(carried.params), tuple(carried.inits),
            Block(statements, tuple(carried.yields), end.may == {RAISES}), tuple(carried.results),
            origin, stops=stops,
        ))
        self.out.env.update(zip(names, carried.results, strict=False))
        endless = condition is not None and is_true(condition.yields[0])
        return self.after_loop(node, end, code, value, endless)

    def note_unsure(self, carried: Carried, sure_to_run: bool) -> None:
        """Note which variables may have no value after a loop."""
        for result, init, following in zip(
            carried.results, carried.inits, carried.yields, strict=True
        ):
            if self.out.is_unsure(following) or (self.out.is_unsure(init) and not sure_to_run):
                self.out.unsure.add(result)

    @staticmethod
    def exits(node: gast.For | gast.While, end: End, carried: Carried) -> tuple[Atom, Atom]:
        """Carry how the loop ended and what it returned, where that matters; return both."""
        code: Atom = Const(NORMAL)
        value: Atom = UNDEF
        if end.leaving or (BREAKS in end.may and bool(node.orelse)):
            code = carried.add("exit", Const(NORMAL), end.code)
        if RETURNS in end.may:
            value = carried.add("value", UNDEF, end.value)
        return code, value

    def after_loop(
        self, node: gast.For | gast.While, end: End, code: Atom, value: Atom, endless: bool
    ) -> End:
        stops = BREAKS in end.may or bool(end.leaving)
        if endless and not stops:
            return RAISED
        if node.orelse and not endless:
            if stops:
                done = self.out.is_code(code, NORMAL, "finished")
                left = self.broken_is_normal(End(code, value, end.may & {BREAKS} | end.leaving))
                return self.out.arms(done, lambda: self.sequence(node.orelse, False), lambda: left)
            return self.sequence(node.orelse, False)
        if not end.leaving:
            return End()
        if BREAKS not in end.may and endless:
            return End(code if len(end.leaving) > 1 else Const(*end.leaving), value, end.leaving)
        return self.broken_is_normal(End(code, value, end.may | {NORMAL}))

    def continued_is_normal(self, end: End) -> tuple[End, tuple[Statement, ...]]:
        """Return ``end`` as the next iteration sees it: ``continue`` is to go on."""
        if CONTINUES not in end.may:
            return end, ()
        may = end.may - {CONTINUES} | {NORMAL}
        if not isinstance(end.code, Var):
            return End(Const(NORMAL), end.value, may), ()
        test, code = Var("continues", True), Var("exit", True)
        return End(code, end.value, may), (
            Let(test, Call(Const(operator.lt), (end.code, Const(NORMAL))), self.out.origin),
            If(test, Block((), (Const(NORMAL),)), Block((), (end.code,)), (code,), self.out.origin),
        )

    def broken_is_normal(self, end: End) -> End:
        """Return ``end`` as seen after the loop: having left it by ``break`` is to go on."""
        if BREAKS not in end.may:
            return end
        may = end.may - {BREAKS} | {NORMAL}
        if may == {NORMAL}:
            return End(Const(NORMAL), UNDEF, may)
        broke = self.out.is_code(end.code, BREAKS, "broke")
        code = Var("exit", True)
        self.out.statements.append(If(
            broke, Block((), (Const(NORMAL),)), Block((), (end.code,)), (code,), self.out.origin
        ))
        return End(code, end.value, may)


def runs(loop: gast.For | gast.While) -> bool:
    """Say whether the text of a loop shows that its body runs at least once."""
    if isinstance(loop, gast.While):
        return isinstance(loop.test, gast.Constant) and bool(loop.test.value)
    match loop.iter:
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            return any(not isinstance(e, gast.Starred) for e in elts)
        case gast.Call(func=gast.Name(id="range"), args=[gast.Constant(value=int(count))]):
            return bool(count > 0)
    return False


def with_test_inside(node: gast.While) -> gast.While:
    """Return ``while test: body`` as ``while True: if not test: break; body``."""
    stop = gast.copy_location(gast.Break(), node)
    leave = gast.If(gast.UnaryOp(gast.Not(), node.test), [*node.orelse, stop], [])
    leave = gast.fix_missing_locations(gast.copy_location(leave, node))
    true = gast.copy_location(gast.Constant(True, None), node)
    return gast.copy_location(gast.While(true, [leave, *node.body], []), node)


def holds(nodes: Sequence[gast.AST], *kinds: type[gast.AST]) -> bool:
    """Say whether a node of one of ``kinds`` is among ``nodes`` or inside them."""
    return any(isinstance(inner, kinds) for node in nodes for inner in gast.walk(node))


def is_true(atom: Atom) -> bool:
    """Say whether a condition is known to hold."""
    return isinstance(atom, Const) and bool(atom.value)
