"""Lowers the body of a ``try`` part by part, where what ran before an exception counts.

Each statement that may raise becomes a ``try`` of its own, whose handlers do no more than note the
exception and leave the body with a code, as ``return`` and ``break`` do. Behind the body the
exception is raised again, for the handlers that the source has. So variables and storage are, in
handlers, what the statements that were completed have made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.interface import FAILS, RAISED, Attempt, End, Steps
from adcompiler.frontend.lowering import Lowering, Part
from adcompiler.frontend.names import assigned_names
from adcompiler.frontend.rewriting.source_map import assigned, placed, read
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Const, Pack, Raise, Statement, Var,
)
from adcompiler.ir.visit import definitions
from adcompiler.support.structs import dataclass

Handlers = Sequence[tuple[Atom | None, str | None, Callable[[], End]]]
"""What handlers catch, the name they give it, and how what they do is lowered."""
ANYTHING = Const(BaseException)
LEFT_AS_THEY_ARE = (gast.Pass, gast.Break, gast.Continue, gast.Global, gast.Nonlocal)
ITERATED = frozenset({"range", "enumerate", "zip", "reversed"})


@dataclass(frozen=True, slots=True)
class InParts:
    """The condition of a branch whose first arm is a ``try`` as a whole, the other one in parts."""


class Attempts(Part):
    """Lowers the bodies of ``try`` in parts."""

    def __init__(self, out: Builder, lower: Lowering, sequence: Steps) -> None:
        super().__init__(out, lower)
        self.sequence = sequence

    def caught_in_parts(self, node: gast.AST, body: Sequence[gast.stmt], handlers: Handlers) -> End:
        """Lower a body statement by statement, and the handlers behind it."""
        kinds = tuple(ANYTHING if kind is None else kind for kind, _, _ in handlers)
        every = kinds[0] if len(kinds) == 1 else self.out.let(Pack("tuple", kinds), "kinds")
        attempt = Attempt(every, self.names.fresh("failure"), FAILS + len(self.out.attempts))
        self.out.env[attempt.error] = NONE
        outer, before = self.out.attempts, dict(self.out.env)
        self.out.attempts = (*outer, attempt)
        end = self.sequence(body, False)
        self.out.attempts = outer
        left = End(end.code, end.value, end.may - {attempt.code})
        if attempt.code in end.may:
            self.out.origin = self.out.locate(node)

            def handled() -> End:
                may_be_unset = {
                    now for name, now in self.out.env.items()
                    if now not in self.out.unsure and self.out.is_unsure(before.get(name, UNDEF))
                }
                self.out.unsure |= may_be_unset
                end = self.handled_behind(node, attempt, handlers)
                self.out.unsure -= may_be_unset.difference(self.out.env.values())
                return end

            if not left.may:
                end = handled()
            else:
                failed = self.out.is_code(end.code, attempt.code, "failed")
                end = self.out.arms(failed, handled, lambda: left)
        self.out.env.pop(attempt.error, None)
        return end

    def handled_behind(self, node: gast.AST, attempt: Attempt, handlers: Handlers) -> End:
        """Raise the exception that left a body again, for the handlers of its ``try``."""
        origin = self.out.locate(node)
        error = self.out.env[attempt.error]
        again: tuple[Statement, ...] = (Raise(error, NONE, origin),)
        arms = [(again, dict(self.out.env), RAISED)]
        given = []
        for kind, name, lower in handlers:
            caught = Var(name) if name is not None else None
            given.append((ANYTHING if kind is None else kind, caught))
            arms.append(self.out.region(partial(self.catch, caught, name, lower)))
        return self.out.with_handlers(arms, given, origin)[1]

    def tried(self, step: gast.stmt) -> End | None:
        """Lower a statement of a body in parts; None if it is lowered as elsewhere."""
        match step:
            case gast.If():
                if not isinstance(step.test, gast.Name):
                    test = self.names.fresh("test")
                    branch = gast.If(read(test), step.body, step.orelse)
                    return self.sequence(
                        [placed(assigned(test, step.test), step), placed(branch, step)], False
                    )
                condition = self.lower.expression(step.test)
                return self.out.arms(
                    condition, lambda: self.sequence(step.body, False),
                    lambda: self.sequence(step.orelse, False),
                )
            case gast.For():
                before, iterable = self.hoisted(step.iter)
                if before:
                    loop = gast.For(step.target, iterable, step.body, step.orelse, None)
                    return self.sequence([*before, placed(loop, step)], False)
                return self.lower.statement(step)
            case gast.While() | gast.Try(orelse=[]):
                return self.lower.statement(step)
        if isinstance(step, (gast.Try, *LEFT_AS_THEY_ARE)):  # `else` becomes statements behind it
            return None
        return self.part(step, lambda: self.sequence([step], False))

    def hoisted(self, node: gast.expr) -> tuple[list[gast.stmt], gast.expr]:
        """Return assignments of what a loop runs over, and the expression that is left of it."""
        if isinstance(node, (gast.Name, gast.Constant, gast.GeneratorExp)):
            return [], node
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and (
            node.func.id in ITERATED and not node.keywords
        ) and not any(isinstance(arg, gast.Starred) for arg in node.args):
            before: list[gast.stmt] = []
            args = []
            for arg in node.args:
                rows, rest = self.hoisted(arg)
                before += rows
                args.append(rest)
            return before, placed(gast.Call(node.func, args, []), node) if before else node
        name = self.names.fresh("items")
        return [placed(assigned(name, node), node)], placed(read(name), node)

    def part(self, step: gast.stmt, lower: Callable[[], End]) -> End:
        """Lower a statement as a ``try`` of its own, for all the attempts that are being made."""
        origin = self.out.locate(step)
        everything, self.out.attempts = self.out.attempts, ()
        called = self.names.changed_names([step])
        watch: dict[str, set[Atom]] = {
            n: set() for n in (*assigned_names(step), *called) if n in self.names.locals
        }
        self.out.watches.append(watch)
        lowered = self.out.region(lower)
        self.out.watches.pop()
        self.out.attempts = everything
        attempts = reachable(everything)
        seen: dict[str, Var] = {}
        before = self.out.env
        self.out.env = self.at_exception(watch, called, lowered[0], seen)
        arms = [lowered]
        given = []
        for attempt in attempts:
            given.append((attempt.kinds, caught := Var(attempt.error)))
            arms.append(self.out.region(partial(self.left, step, attempt, caught, seen)))
        self.out.env = before
        self.out.may_raise()
        results, end = self.out.with_handlers(arms, given, origin)
        self.out.unsure -= {
            now for name, now in self.out.env.items()
            if now in results and not self.out.is_unsure(lowered[1].get(name, UNDEF))
        }  # what follows runs only if the statement was completed
        return end

    def catch(self, error: Var | None, name: str | None, lower: Callable[[], End]) -> End:
        """Lower what a handler does; the name of the exception is unbound after it."""
        if name is None or error is None:
            return lower()
        self.out.env[name] = error
        end = lower()
        self.out.env[name] = UNDEF
        return end

    def at_exception(
        self, watch: dict[str, set[Atom]], by_calls: Sequence[str],
        statements: Sequence[Statement], seen: dict[str, Var],
    ) -> dict[str, Atom]:
        """Return the variables as handlers see them.

        Calls may have changed those in ``by_calls`` before they raised. ``seen`` receives a
        stand-in for each that may have several values.
        """
        inside = definitions(Block(tuple(statements)))
        env = dict(self.out.env)
        for name, values in watch.items():
            if name in by_calls:
                env[name] = seen[name] = Var(name)
            elif len(values) == 1 and not values & inside:
                (env[name],) = values
            elif values:
                env[name] = seen[name] = Var(name)
                self.out.unsure.add(seen[name])
        return env

    def left(self, step: gast.stmt, attempt: Attempt, caught: Var, seen: dict[str, Var]) -> End:
        """Note the exception that a statement raised."""
        for name in seen:
            self.out.reject(step, rejected.ASSIGNED_AND_RAISED, name=name)
            self.out.env[name] = UNDEF
        self.out.env[attempt.error] = caught
        return End(Const(attempt.code), UNDEF, frozenset({attempt.code}))


def reachable(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return attempts from the inside out, as far as exceptions come through to them."""
    found: list[Attempt] = []
    for attempt in reversed(attempts):
        found.append(attempt)
        if attempt.kinds is ANYTHING:
            break
    return found
