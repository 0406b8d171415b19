"""Lowers the body of a ``try`` part by part, where what ran before an exception counts.

Each statement that may raise becomes a ``try`` of its own, whose handlers do no more than note the
exception and leave the body with a code, as ``return`` and ``break`` do. Behind the body the
exception is raised again, for the handlers that the source has. So variables and storage are, in
handlers, what the statements that were completed have made of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.generators import assignment
from adcompiler.frontend.interface import FAILS, RAISES, End
from adcompiler.frontend.names import assigned_names
from adcompiler.frontend.rewriting.placing import placed
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Call, Const, Handler, Pack, Raise, Statement, Try, Var,
)
from adcompiler.support.structs import dataclass

Handlers = Sequence[tuple[Atom | None, str | None, Callable[[], End]]]
"""What handlers catch, the name they give it, and how what they do is lowered."""
ANYTHING = Const(BaseException)
LEFT_AS_THEY_ARE = (gast.Pass, gast.Break, gast.Continue, gast.Global, gast.Nonlocal)
ITERATED = frozenset({"range", "enumerate", "zip", "reversed"})


@dataclass(frozen=True, slots=True)
class InParts:
    """The condition of a branch whose first arm is a ``try`` as a whole, the other one in parts."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A ``try`` whose body is being lowered in parts.

    ``kinds`` is what its handlers catch, ``error`` the variable for the exception, ``code`` how a
    block ends that it left.
    """

    kinds: Atom
    error: str
    code: int


class Attempts(Builder):
    """Lowers the bodies of ``try`` in parts."""

    def caught_in_parts(self, node: gast.AST, body: Sequence[gast.stmt], handlers: Handlers) -> End:
        """Lower a body statement by statement, and the handlers behind it."""
        kinds = tuple(ANYTHING if kind is None else kind for kind, _, _ in handlers)
        every = kinds[0] if len(kinds) == 1 else self.let(Pack("tuple", kinds), "kinds")
        attempt = Attempt(every, self.fresh("failure"), FAILS + len(self.attempts))
        self.env[attempt.error] = NONE
        outer, before = self.attempts, dict(self.env)
        self.attempts = (*outer, attempt)
        end = self.sequence(body, False)
        self.attempts = outer
        left = End(end.code, end.value, end.may - {attempt.code})
        if attempt.code in end.may:
            self.origin = self.locate(node)

            def handled() -> End:
                may_be_unset = {
                    now for name, now in self.env.items()
                    if now not in self.unsure and self.is_unsure(before.get(name, UNDEF))
                }
                self.unsure |= may_be_unset
                end = self.handled_behind(node, attempt, handlers)
                self.unsure -= may_be_unset.difference(self.env.values())
                return end

            if not left.may:
                end = handled()
            else:
                failed = self.let(
                    Call(Const(operator.eq), (end.code, Const(attempt.code))), "failed"
                )
                end = self.arms(failed, handled, lambda: left)
        self.env.pop(attempt.error, None)
        return end

    def handled_behind(self, node: gast.AST, attempt: Attempt, handlers: Handlers) -> End:
        """Raise the exception that left a body again, for the handlers of its ``try``."""
        origin = self.locate(node)
        error = self.env[attempt.error]
        again: tuple[Statement, ...] = (Raise(error, NONE, origin),)
        arms = [(again, dict(self.env), End(Const(RAISES), UNDEF, frozenset({RAISES})))]
        names = []
        for _, name, lower in handlers:
            caught = Var(name) if name is not None else None
            names.append(caught)
            arms.append(self.region(partial(self.catch, caught, name, lower)))
        blocks, results, end = self.joined(arms)
        self.statements.append(Try(blocks[0], tuple(
            Handler(ANYTHING if kind is None else kind, caught, block)
            for (kind, _, _), caught, block in zip(handlers, names, blocks[1:], strict=True)
        ), results, origin))
        return end

    def tried(self, step: Any) -> End | None:
        """Lower a statement of a body in parts; None if it is lowered as elsewhere."""
        match step:
            case gast.If():
                if not isinstance(step.test, gast.Name):
                    test = self.fresh("test")
                    branch = gast.If(loaded(test), step.body, step.orelse)
                    return self.sequence(
                        [placed(assignment(test, step.test), step), placed(branch, step)], False
                    )
                condition = self.expression(step.test)
                return self.arms(
                    condition, lambda: self.sequence(step.body, False),
                    lambda: self.sequence(step.orelse, False),
                )
            case gast.For():
                before, iterable = self.hoisted(step.iter)
                if before:
                    loop = gast.For(step.target, iterable, step.body, step.orelse, None)
                    return self.sequence([*before, placed(loop, step)], False)
                return self.loop(step)
            case gast.While():
                return self.loop(step)
            case gast.Try(orelse=[]):
                return self.try_block(step)
        if isinstance(step, (gast.Try, *LEFT_AS_THEY_ARE)):  # `else` becomes statements behind it
            return None
        return self.part(step, lambda: self.sequence([step], False))

    def hoisted(self, node: gast.AST) -> tuple[list[Any], Any]:
        """Return assignments of what a loop runs over, and the expression that is left of it."""
        if isinstance(node, (gast.Name, gast.Constant, gast.GeneratorExp)):
            return [], node
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and (
            node.func.id in ITERATED and not node.keywords
        ) and not any(isinstance(arg, gast.Starred) for arg in node.args):
            before: list[Any] = []
            args = []
            for arg in node.args:
                rows, rest = self.hoisted(arg)
                before += rows
                args.append(rest)
            return before, placed(gast.Call(node.func, args, []), node) if before else node
        name = self.fresh("items")
        return [placed(assignment(name, node), node)], placed(loaded(name), node)

    def part(self, step: gast.AST, lower: Callable[[], End]) -> End:
        """Lower a statement as a ``try`` of its own, for all the attempts that are being made."""
        origin = self.locate(step)
        everything, self.attempts = self.attempts, ()
        called = self.changed_names([step])
        watch: dict[str, set[Atom]] = {
            n: set() for n in (*assigned_names(step), *called) if n in self.locals
        }
        self.watches.append(watch)
        lowered = self.region(lower)
        self.watches.pop()
        self.attempts = everything
        attempts = reachable(everything)
        seen: dict[str, Var] = {}
        before = self.env
        self.env = self.at_exception(watch, called, lowered[0], seen)
        arms = [lowered]
        names = [Var(attempt.error) for attempt in attempts]
        for attempt, caught in zip(attempts, names, strict=True):
            arms.append(self.region(partial(self.left, step, attempt, caught, seen)))
        self.env = before
        self.may_raise()
        blocks, results, end = self.joined(arms)
        self.unsure -= {
            now for name, now in self.env.items()
            if now in results and not self.is_unsure(lowered[1].get(name, UNDEF))
        }  # what follows runs only if the statement was completed
        self.statements.append(Try(blocks[0], tuple(
            Handler(attempt.kinds, caught, block)
            for attempt, caught, block in zip(attempts, names, blocks[1:], strict=True)
        ), results, origin))
        return end

    def left(self, step: gast.AST, attempt: Attempt, caught: Var, seen: dict[str, Var]) -> End:
        """Note the exception that a statement raised."""
        for name in seen:
            self.reject(step, rejected.ASSIGNED_AND_RAISED, name=name)
            self.env[name] = UNDEF
        self.env[attempt.error] = caught
        return End(Const(attempt.code), UNDEF, frozenset({attempt.code}))


def reachable(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return attempts from the inside out, as far as exceptions come through to them."""
    found: list[Attempt] = []
    for attempt in reversed(attempts):
        found.append(attempt)
        if attempt.kinds is ANYTHING:
            break
    return found


def loaded(name: str) -> Any:
    """Return the expression ``name``."""
    return gast.Name(name, gast.Load(), None, None)
