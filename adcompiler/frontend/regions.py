"""Lowers ``with`` and ``try`` to regions.

``else`` becomes a branch on whether the body was completed. ``finally`` becomes a handler of every
exception that runs its statements and raises again, and the same statements after the region.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.try_statements import ANYTHING, Attempts, Handlers, InParts
from adcompiler.frontend.flow import is_read_after, reads
from adcompiler.frontend.building import Builder
from adcompiler.frontend.interface import FAILS, NORMAL, RAISED, RAISES, Arm, End, Steps
from adcompiler.frontend.lowering import Lowering, Part
from adcompiler.frontend.names import assigned_names
from adcompiler.frontend.rewriting.source_map import assigned, placed, read
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, If, Let, Loop, Pack, Raise,
    Statement, Try, Var, With,
)
from adcompiler.ir.visit import direct_uses, substitute_block, walk
from adcompiler.runtime import note_value, noted_value

MAX_STATEMENTS = 64
"""Longer bodies are not lowered in parts, which stand in one another."""


class Regions(Part):
    """Lowers ``with`` and ``try``."""

    def __init__(
        self, out: Builder, lower: Lowering, sequence: Steps, attempts: Attempts
    ) -> None:
        super().__init__(out, lower)
        self.sequence = sequence
        self.attempts = attempts

    def parse_With(self, node: gast.With, position: int = 0) -> End:
        """Lower a ``with``, from the item at ``position`` on."""
        item = node.items[position]
        call = suppressing_call(item)
        if call is None:
            return self.entered(node, position)
        function = self.lower.expression(call.func)
        same = Call(Const(operator.is_), (function, Const(contextlib.suppress)))
        test = self.out.let(same, "test")
        return self.out.arms(
            test, lambda: self.suppressing(node, position, call),
            lambda: self.entered(node, position),
        )

    def suppressing(self, node: gast.With, position: int, call: gast.Call) -> End:
        """Lower ``with suppress(...)`` as the ``try`` that it stands for."""
        item = node.items[position]
        kinds = self.out.let(Pack("tuple", tuple(map(self.lower.expression, call.args))), "kinds")
        if item.optional_vars is not None:
            self.lower.assign(item.optional_vars, NONE)
        body = node.body
        if position + 1 < len(node.items):
            body = [placed(gast.With(node.items[position + 1 :], node.body, None), node)]
        return self.caught(node, body, [(kinds, None, End)])

    def entered(self, node: gast.With, position: int) -> End:
        """Lower a ``with`` that lets exceptions pass, from the item at ``position`` on."""
        origin = self.out.locate(node)
        item = node.items[position]
        context = self.lower.expression(item.context_expr)
        target = None
        if item.optional_vars is not None:
            names = assigned_names(item.optional_vars)
            target = Var(next(iter(names)) if len(names) == 1 else "entered")
        self.out.may_raise()

        def body() -> End:
            if target is not None and item.optional_vars is not None:
                self.lower.assign(item.optional_vars, target)
            if position + 1 < len(node.items):
                return self.parse_With(node, position + 1)
            return self.sequence(node.body, False)

        blocks, results, end = self.out.joined([self.out.region(body)])
        self.out.may_raise()
        self.out.statements.append(With(context, target, blocks[0], results, origin))
        return end

    def parse_Try(self, node: gast.Try) -> End:
        """Lower a ``try`` without ``else``."""
        if not node.finalbody:
            return self.handled(node)
        body = node.body
        if node.handlers:
            body = [before_rest(gast.Try(node.body, node.handlers, [], []), node)]

        def again() -> End:
            end = self.sequence(node.finalbody, False)
            return self.raise_again(node) if end.may == {NORMAL} else self.raise_unless_left(
                node, end
            )

        self.out.cleanups += 1
        end = self.caught(node, body, [(None, None, again)])
        self.out.cleanups -= 1
        raised = frozenset(code for code in end.may if code >= FAILS)
        if not raised:
            return self.finished(node, end)
        at_once = End(end.code, end.value, raised)  # the handler has run the `finally`
        rest = End(end.code, end.value, end.may - raised)
        if not rest.may:
            return end
        goes_on = self.out.let(Call(Const(operator.lt), (end.code, Const(FAILS))), "goes_on")
        return self.out.arms(goes_on, lambda: self.finished(node, rest), lambda: at_once)

    def finished(self, node: gast.Try, end: End) -> End:
        """Lower a ``finally`` behind a body that was not left by an exception."""
        if end.may == {RAISES}:
            return end
        final = self.sequence(node.finalbody, False)
        if final.may == {NORMAL}:
            return end
        if NORMAL not in final.may:
            return final
        fell = self.out.is_code(final.code, NORMAL, "goes_on")
        return self.out.arms(fell, lambda: end, lambda: final)

    def raise_again(self, node: gast.AST) -> End:
        """Raise the exception that is being handled."""
        def again() -> End:
            self.out.may_raise()
            self.out.statements.append(Raise(NONE, NONE, self.out.origin))
            return RAISED

        if not self.out.attempts:
            return again()
        return self.attempts.part(placed(gast.Raise(None, None), node), again)

    def raise_unless_left(self, node: gast.AST, end: End) -> End:
        """Raise again after a ``finally`` that may have left the function or loop instead."""
        if NORMAL not in end.may:
            return end
        fell = self.out.is_code(end.code, NORMAL, "goes_on")
        left = End(end.code, end.value, end.may - {NORMAL})
        return self.out.arms(fell, lambda: self.raise_again(node), lambda: left)

    def handled(self, node: gast.Try) -> End:
        """Lower ``try`` and ``except``."""
        handlers = []
        for handler in node.handlers:
            name = handler.name.id if handler.name is not None else None
            kind = None if handler.type is None else self.lower.expression(handler.type)
            handlers.append((kind, name, partial(self.sequence, handler.body, False)))
        return self.caught(node, node.body, handlers)

    def caught(
        self, node: gast.With | gast.Try, body: Sequence[gast.stmt], handlers: Handlers
    ) -> End:
        """Lower a body with handlers: as a whole, or in parts where type inference asks for it."""
        if self.out.attempts:
            return self.attempts.caught_in_parts(node, body, handlers)
        statements, env, end = self.out.region(lambda: self.caught_whole(node, body, handlers))
        whole = statements[-1]
        assert isinstance(whole, Try)
        if all(handler.body.diverges for handler in whole.handlers) or (
            is_one_part(body) or size(body) > MAX_STATEMENTS
        ):
            self.out.statements += statements
            self.out.env = env
            return end

        def as_it_was() -> End:
            self.out.statements += statements
            self.out.env = dict(env)
            return end

        self.out.origin = self.out.locate(node)
        return self.out.arms(
            Const(InParts()), as_it_was, lambda: self.attempts.caught_in_parts(node, body, handlers)
        )

    def caught_whole(
        self, node: gast.With | gast.Try, body: Sequence[gast.stmt], handlers: Handlers
    ) -> End:
        """Lower a body with handlers to one region.

        The body is lowered with notes of what handlers read of it the last time that it was lowered
        as part of another, and again if they read something else.
        """
        origin = self.out.locate(node)
        changed = [
            n for step in body for n in (*assigned_names(step), *self.names.changed_names([step]))
        ]
        watch: dict[str, set[Atom]] = {n: set() for n in changed if n in self.names.locals}
        known = self.out.noted_names.get(place_of(node), [])
        start = len(self.out.statements)
        self.out.watches.append(watch)
        lowered, places = self.noting(known, body)
        self.out.watches.pop()
        seen: dict[str, Var] = {}
        before = self.out.env
        by_calls = self.names.changed_names(body)
        self.out.env = self.attempts.at_exception(watch, by_calls, lowered[0], seen)
        caught = []
        for _, name, lower in handlers:
            error = Var(name) if name is not None else None
            handled = partial(self.attempts.catch, error, name, lower)
            caught.append((error, self.out.region(handled)))
        self.out.env = before
        read: set[Atom] = set()
        for _, (statements, env, end) in caught:
            goes_on = self.out.is_left_behind(end)
            wanted = {
                v for n, v in env.items() if goes_on
                if v is not before.get(n, UNDEF) and self.is_read_after(node, n)
            }
            read |= needed(statements, {*wanted, end.code, end.value})
        noted = [name for name, var in seen.items() if var in read]
        if noted != known:
            del self.out.statements[start:]
            self.out.noted_names[place_of(node)] = noted
            lowered, places = self.noting(noted, body)
        for name in by_calls:
            if name in noted:
                self.out.reject(node, rejected.CHANGED_BEFORE_EXCEPTION, name=name)
        reads = tuple(
            Let(seen[name], Call(Const(noted_value), (places[name],)), origin) for name in noted)
        gone: dict[Var, Atom] = {var: UNDEF for var in seen.values() if var not in read}
        arms = [lowered]
        for _, (statements, env, end) in caught:
            block = substitute_block(Block((*reads, *statements)), gone)
            env = {n: UNDEF if v in gone else v for n, v in env.items()}
            arms.append((block.statements, env, end))
        self.out.may_raise()
        given = [
            (ANYTHING if kind is None else kind, error)
            for (kind, _, _), (error, _) in zip(handlers, caught, strict=True)
        ]
        return self.out.with_handlers(arms, given, origin)[1]

    def noting(self, names: Sequence[str], body: Sequence[gast.stmt]) -> tuple[Arm, dict[str, Var]]:
        """Lower a body that notes the values of variables; return it, and where they are noted."""
        outer = self.out.places
        self.out.places = {**outer, **{name: self.place(name) for name in names}}
        lowered = self.out.region(lambda: self.sequence(body, False))
        places, self.out.places = self.out.places, outer
        return lowered, places

    # -- what variables are when an exception is raised ----------------------------------------

    def place(self, name: str) -> Var:
        """Write the list in which the present value of a variable is noted."""
        now = self.out.env.get(name, UNDEF)
        unsure = self.out.is_unsure(now)
        pack = Pack("list", (UNDEF if unsure else now,))
        place = self.out.let(pack, f"{name}_noted", temporary=False)
        if unsure and now is not UNDEF:
            self.out.do(note_value, place, now)
        return place

    def is_read_after(self, node: gast.With | gast.Try, name: str) -> bool:
        """Say whether a variable may be read once control has left a statement."""
        original: gast.With | gast.Try = getattr(node, "standing_for", node)
        rest = []
        if isinstance(original, gast.Try) and original is not node:
            rest = [*original.orelse, *original.finalbody]
        return name in self.names.states or any(
            reads(step, name) for step in rest
        ) or is_read_after(self.names.node, original, name)

def suppressing_call(item: gast.withitem) -> gast.Call | None:
    """Return what an item of a ``with`` calls if that may be ``contextlib.suppress``."""
    call = item.context_expr
    if not isinstance(call, gast.Call) or not call.args or call.keywords:
        return None
    if any(isinstance(arg, gast.Starred) for arg in call.args):
        return None
    name = call.func.id if isinstance(call.func, gast.Name) else getattr(call.func, "attr", "")
    return call if name == "suppress" else None


def with_else_after(node: gast.Try, completed: str) -> list[gast.stmt]:
    """Return a ``try`` with ``else`` as one without, and a branch on whether it was completed."""

    def note(value: bool) -> gast.Assign:
        return assigned(completed, gast.Constant(value, None))

    handlers = [
        gast.copy_location(gast.ExceptHandler(h.type, h.name, [note(False), *h.body]), h)
        for h in node.handlers
    ]
    attempt = before_rest(gast.Try([*node.body, note(True)], handlers, [], []), node)
    rows: list[gast.stmt] = [attempt, gast.If(read(completed), node.orelse, [])]
    if node.finalbody:
        rows = [gast.Try(rows, [], [], node.finalbody)]
    for row in rows:
        for inner in gast.walk(row):
            if getattr(inner, "lineno", None) is None:
                gast.copy_location(inner, node)
    return rows


def place_of(node: gast.With | gast.Try) -> tuple[int, ...]:
    """Return what tells a ``try`` or ``with`` of a function from others in every lowering of it."""
    rows = (getattr(node, field, ()) for field in ("items", "handlers", "finalbody"))
    return node.lineno, node.col_offset, *map(len, rows)


def size(body: Sequence[gast.stmt]) -> int:
    """Return the number of statements in a body, those inside of others among them."""
    return sum(isinstance(inner, gast.stmt) for step in body for inner in gast.walk(step))


def is_one_part(body: Sequence[gast.stmt]) -> bool:
    """Say whether a body is one statement without others inside."""
    return len(body) == 1 and not isinstance(body[0], (gast.If, gast.For, gast.While, gast.Try))


def before_rest(attempt: gast.Try, node: gast.Try) -> gast.Try:
    """Return ``attempt``, which stands for the body and the handlers of ``node``."""
    marked: Any = gast.copy_location(attempt, node)  # a mark of ours, which gast does not know
    marked.standing_for = getattr(node, "standing_for", node)
    return attempt


def needed(statements: Sequence[Statement], wanted: set[Atom]) -> set[Atom]:
    """Return the values that statements read, but those only handed on to what is not wanted."""
    block = Block(tuple(statements))
    found = set(wanted)
    for statement in walk(block):
        if isinstance(statement, Loop):
            found.update(statement.iterables, statement.collected())
            found.update(() if statement.stop() is None else (statement.body.yields[-1],))
            found.update(() if statement.condition is None else statement.condition.yields)
        else:
            found.update(direct_uses(statement))
    handed: list[tuple[Atom, Atom]] = []
    for statement in walk(block):
        if isinstance(statement, Loop):
            for param, result, init, following in zip(
                statement.params, statement.results, statement.inits, statement.next_values(),
                strict=False,
            ):
                handed += [(result, param), (param, init), (param, following)]
        elif isinstance(statement, (If, With, Try)):
            for arm in statement.arms():
                handed += zip(statement.results, arm.yields, strict=False)
    size = -1
    while size != len(found):
        size = len(found)
        found.update(value for target, value in handed if target in found)
    return found
