"""Lowers ``with`` and ``try`` to regions.

``else`` becomes a branch on whether the body was completed. ``finally`` becomes a handler of every
exception that runs its statements and raises again, and the same statements after the region.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.attempts import ANYTHING, Attempts, Handlers, InParts
from adcompiler.frontend.flow import is_read_after, reads
from adcompiler.frontend.interface import FAILS, NORMAL, RAISES, Arm, End
from adcompiler.frontend.names import assigned_names
from adcompiler.frontend.rewriting.placing import placed
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, Do, Handler, If, Let, Loop, Origin, Pack, Raise,
    Statement, Try, Var, With,
)
from adcompiler.ir.visit import definitions, direct_uses, substitute_block, walk
from adcompiler.runtime import note_value, noted_value

MAX_STATEMENTS = 64
"""Longer bodies are not lowered in parts, which stand in one another."""


class Regions(Attempts):
    """Lowers ``with`` and ``try``."""

    def with_block(self, node: Any, position: int = 0) -> End:
        """Lower a ``with``, from the item at ``position`` on."""
        item = node.items[position]
        if not names_suppress(item):
            return self.entered(node, position)
        function = self.expression(item.context_expr.func)
        test = self.let(Call(Const(operator.is_), (function, Const(contextlib.suppress))), "test")
        return self.arms(
            test, lambda: self.suppressing(node, position), lambda: self.entered(node, position)
        )

    def suppressing(self, node: Any, position: int) -> End:
        """Lower ``with suppress(...)`` as the ``try`` that it stands for."""
        item = node.items[position]
        kinds = self.let(
            Pack("tuple", tuple(map(self.expression, item.context_expr.args))), "kinds"
        )
        if item.optional_vars is not None:
            self.assign(item.optional_vars, NONE)
        body = node.body
        if position + 1 < len(node.items):
            body = [placed(gast.With(node.items[position + 1 :], node.body, None), node)]
        return self.caught(node, body, [(kinds, None, End)])

    def entered(self, node: gast.With, position: int) -> End:
        """Lower a ``with`` that lets exceptions pass, from the item at ``position`` on."""
        origin = self.locate(node)
        item = node.items[position]
        context = self.expression(item.context_expr)
        target = None
        if item.optional_vars is not None:
            names = assigned_names(item.optional_vars)
            target = Var(next(iter(names)) if len(names) == 1 else "entered")
        self.may_raise()

        def body() -> End:
            if target is not None:
                self.assign(item.optional_vars, target)
            if position + 1 < len(node.items):
                return self.with_block(node, position + 1)
            return self.sequence(node.body, False)

        blocks, results, end = self.joined([self.region(body)])
        self.may_raise()
        self.statements.append(With(context, target, blocks[0], results, origin))
        return end

    def try_block(self, node: Any) -> End:
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

        self.cleanups += 1
        end = self.caught(node, body, [(None, None, again)])
        self.cleanups -= 1
        raised = frozenset(code for code in end.may if code >= FAILS)
        if not raised:
            return self.finished(node, end)
        at_once = End(end.code, end.value, raised)  # the handler has run the `finally`
        rest = End(end.code, end.value, end.may - raised)
        if not rest.may:
            return end
        goes_on = self.let(Call(Const(operator.lt), (end.code, Const(FAILS))), "goes_on")
        return self.arms(goes_on, lambda: self.finished(node, rest), lambda: at_once)

    def finished(self, node: Any, end: End) -> End:
        """Lower a ``finally`` behind a body that was not left by an exception."""
        if end.may == {RAISES}:
            return end
        final = self.sequence(node.finalbody, False)
        if final.may == {NORMAL}:
            return end
        if NORMAL not in final.may:
            return final
        fell = self.let(Call(Const(operator.eq), (final.code, Const(NORMAL))), "goes_on")
        return self.arms(fell, lambda: end, lambda: final)

    def raise_again(self, node: gast.AST) -> End:
        """Raise the exception that is being handled."""
        def again() -> End:
            self.may_raise()
            self.statements.append(Raise(NONE, NONE, self.origin))
            return End(Const(RAISES), UNDEF, frozenset({RAISES}))

        return self.part(placed(gast.Raise(None, None), node), again) if self.attempts else again()

    def raise_unless_left(self, node: gast.AST, end: End) -> End:
        """Raise again after a ``finally`` that may have left the function or loop instead."""
        if NORMAL not in end.may:
            return end
        fell = self.let(Call(Const(operator.eq), (end.code, Const(NORMAL))), "goes_on")
        left = End(end.code, end.value, end.may - {NORMAL})
        return self.arms(fell, lambda: self.raise_again(node), lambda: left)

    def handled(self, node: gast.Try) -> End:
        """Lower ``try`` and ``except``."""
        handlers = []
        for handler in node.handlers:
            name = handler.name.id if handler.name is not None else None
            kind = None if handler.type is None else self.expression(handler.type)
            handlers.append((kind, name, self.handler_body(handler)))
        return self.caught(node, node.body, handlers)

    def handler_body(self, handler: gast.ExceptHandler) -> Callable[[], End]:
        return lambda: self.sequence(handler.body, False)

    def caught(self, node: Any, body: Sequence[gast.stmt], handlers: Handlers) -> End:
        """Lower a body with handlers: as a whole, or in parts where the specialiser asks for it."""
        if self.attempts:
            return self.caught_in_parts(node, body, handlers)
        statements, env, end = self.region(lambda: self.caught_whole(node, body, handlers))
        whole = statements[-1]
        assert isinstance(whole, Try)
        if all(handler.body.diverges for handler in whole.handlers) or (
            is_one_part(body) or size(body) > MAX_STATEMENTS
        ):
            self.statements += statements
            self.env = env
            return end

        def as_it_was() -> End:
            self.statements += statements
            self.env = dict(env)
            return end

        self.origin = self.locate(node)
        return self.arms(
            Const(InParts()), as_it_was, lambda: self.caught_in_parts(node, body, handlers)
        )

    def caught_whole(self, node: gast.Try, body: Sequence[gast.stmt], handlers: Handlers) -> End:
        """Lower a body with handlers to one region.

        The body is lowered with notes of what handlers read of it the last time that it was lowered
        as part of another, and again if they read something else.
        """
        origin = self.locate(node)
        changed = [
            n for step in body for n in (*assigned_names(step), *self.changed_names([step]))
        ]
        watch: dict[str, set[Atom]] = {n: set() for n in changed if n in self.locals}
        known = self.noted_names.get(place_of(node), [])
        start = len(self.statements)
        self.watches.append(watch)
        lowered, places = self.noting(known, body)
        self.watches.pop()
        seen: dict[str, Var] = {}
        before = self.env
        self.env = self.at_exception(watch, self.changed_names(body), lowered[0], seen)
        caught = []
        for _, name, lower in handlers:
            error = Var(name) if name is not None else None
            caught.append((error, self.region(partial(self.catch, error, name, lower))))
        self.env = before
        read: set[Atom] = set()
        for _, (statements, env, end) in caught:
            goes_on = self.is_left_behind(end)
            wanted = {
                v for n, v in env.items() if goes_on
                if v is not before.get(n, UNDEF) and self.is_read_after(node, n)
            }
            read |= needed(statements, {*wanted, end.code, end.value})
        noted = [name for name, var in seen.items() if var in read]
        if noted != known:
            del self.statements[start:]
            self.noted_names[place_of(node)] = noted
            lowered, places = self.noting(noted, body)
        for name in self.changed_names(body):
            if name in noted:
                self.reject(node, rejected.CHANGED_BEFORE_EXCEPTION, name=name)
        if noted:
            caught = [
                (error, (self.with_noted(noted, places, seen, arm[0], origin), *arm[1:]))
                for error, arm in caught
            ]
        gone: dict[Var, Atom] = {var: UNDEF for var in seen.values() if var not in read}
        arms = [lowered]
        for _, (statements, env, end) in caught:
            block = substitute_block(Block(statements), gone)
            env = {n: UNDEF if v in gone else v for n, v in env.items()}
            arms.append((block.statements, env, end))
        self.may_raise()
        blocks, results, end = self.joined(arms)
        self.statements.append(Try(blocks[0], tuple(
            Handler(ANYTHING if kind is None else kind, error, block)
            for (kind, _, _), (error, _), block in zip(handlers, caught, blocks[1:], strict=True)
        ), results, origin))
        return end

    def noting(self, names: Sequence[str], body: Sequence[gast.stmt]) -> tuple[Arm, dict[str, Var]]:
        """Lower a body that notes the values of variables; return it, and where they are noted."""
        outer = self.places
        self.places = {**outer, **{name: self.place(name) for name in names}}
        lowered = self.region(lambda: self.sequence(body, False))
        places, self.places = self.places, outer
        return lowered, places

    def catch(self, error: Var | None, name: str | None, lower: Callable[[], End]) -> End:
        """Lower what a handler does; the name of the exception is unbound after it."""
        if name is None or error is None:
            return lower()
        self.env[name] = error
        end = lower()
        self.env[name] = UNDEF
        return end

    # -- what variables are when an exception is raised ----------------------------------------

    def at_exception(
        self, watch: dict[str, set[Atom]], by_calls: Sequence[str],
        statements: Sequence[Statement], seen: dict[str, Var],
    ) -> dict[str, Atom]:
        """Return the variables as handlers see them.

        Calls may have changed those in ``by_calls`` before they raised. ``seen`` receives a
        stand-in for each that may have several values.
        """
        inside = definitions(Block(tuple(statements)))
        env = dict(self.env)
        for name, values in watch.items():
            if name in by_calls:
                env[name] = seen[name] = Var(name)
            elif len(values) == 1 and not values & inside:
                (env[name],) = values
            elif values:
                env[name] = seen[name] = Var(name)
                self.unsure.add(seen[name])
        return env

    def place(self, name: str) -> Var:
        """Write the list in which the present value of a variable is noted."""
        now = self.env.get(name, UNDEF)
        unsure = self.is_unsure(now)
        pack = Pack("list", (UNDEF if unsure else now,))
        place = self.let(pack, f"{name}_noted", temporary=False)
        if unsure and now is not UNDEF:
            self.statements.append(Do(Call(Const(note_value), (place, now)), self.origin))
        return place

    def with_noted(
        self, noted: Sequence[str], places: dict[str, Var], seen: dict[str, Var],
        statements: tuple[Statement, ...], origin: Origin,
    ) -> tuple[Statement, ...]:
        """Return a handler that first reads what the variables were."""
        reads: tuple[Statement, ...] = tuple(
            Let(seen[name], Call(Const(noted_value), (places[name],)), origin)
            for name in noted
        )
        return (*reads, *statements)

    def is_read_after(self, node: Any, name: str) -> bool:
        """Say whether a variable may be read once control has left a statement."""
        original = getattr(node, "standing_for", node)
        rest = [] if original is node else [*original.orelse, *original.finalbody]
        return name in self.states or any(reads(step, name) for step in rest) or is_read_after(
            self.node, original, name
        )

    # -- arms ----------------------------------------------------------------------------------

    def joined(
        self, lowered: Sequence[Arm]
    ) -> tuple[list[Block], tuple[Var, ...], End]:
        """Merge the variables, codes and values of arms of which one is completed."""
        live = [self.is_left_behind(end) for _, _, end in lowered]
        rows: list[list[Atom]] = [[] for _ in lowered]
        results: list[Var] = []
        after: dict[str, Atom] = {}

        def add(var: Var, values: Sequence[Atom]) -> None:
            results.append(var)
            for row, value in zip(rows, values, strict=True):
                row.append(value)

        for name in dict.fromkeys(n for _, env, _ in lowered for n in env):
            values = [env.get(name, UNDEF) for _, env, _ in lowered]
            old = self.env.get(name, UNDEF)
            if any(is_live and v is not old for is_live, v in zip(live, values, strict=True)):
                result = after[name] = Var(name)
                add(result, [v if i else UNDEF for i, v in zip(live, values, strict=True)])
                if any(i and self.is_unsure(v) for i, v in zip(live, values, strict=True)):
                    self.unsure.add(result)
        ends = [end for _, _, end in lowered]
        every = frozenset(code for end in ends for code in end.may)
        may = every - {RAISES} or frozenset({RAISES})
        value: Atom = UNDEF
        if any(end.value is not UNDEF for end in ends):
            value = Var("value", True)
            add(value, [end.value for end in ends])
        code: Atom = Const(next(iter(may)))
        if len(may) > 1:
            code = Var("exit", True)
            add(code, [end.code for end in ends])
        self.env.update(after)
        blocks = [
            Block(statements, tuple(row), end.may == {RAISES})
            for (statements, _, end), row in zip(lowered, rows, strict=True)
        ]
        return blocks, tuple(results), End(code, value, may)


def names_suppress(item: gast.withitem) -> bool:
    """Say whether the text of an item of a ``with`` may be a call of ``contextlib.suppress``."""
    call = item.context_expr
    if not isinstance(call, gast.Call) or not call.args or call.keywords:
        return False
    if any(isinstance(arg, gast.Starred) for arg in call.args):
        return False
    name = call.func.id if isinstance(call.func, gast.Name) else getattr(call.func, "attr", "")
    return bool(name == "suppress")


def with_else_after(node: Any, completed: str) -> list[Any]:
    """Return a ``try`` with ``else`` as one without, and a branch on whether it was completed."""

    def note(value: bool) -> Any:
        target = gast.Name(completed, gast.Store(), None, None)
        return gast.Assign([target], gast.Constant(value, None), None)

    handlers = [
        gast.copy_location(gast.ExceptHandler(h.type, h.name, [note(False), *h.body]), h)
        for h in node.handlers
    ]
    attempt = before_rest(gast.Try([*node.body, note(True)], handlers, [], []), node)
    test = gast.Name(completed, gast.Load(), None, None)
    rows = [attempt, gast.If(test, node.orelse, [])]
    if node.finalbody:
        rows = [gast.Try(rows, [], [], node.finalbody)]
    for row in rows:
        for inner in gast.walk(row):
            if getattr(inner, "lineno", None) is None:
                gast.copy_location(inner, node)
    return rows


def place_of(node: gast.Try) -> tuple[int, ...]:
    """Return what tells a ``try`` or ``with`` of a function from others in every lowering of it."""
    rows = (getattr(node, field, ()) for field in ("items", "handlers", "finalbody"))
    return node.lineno, node.col_offset, *map(len, rows)


def size(body: Sequence[Any]) -> int:
    """Return the number of statements in a body, those inside of others among them."""
    return sum(isinstance(inner, gast.stmt) for step in body for inner in gast.walk(step))


def is_one_part(body: Sequence[gast.stmt]) -> bool:
    """Say whether a body is one statement without others inside."""
    return len(body) == 1 and not isinstance(body[0], (gast.If, gast.For, gast.While, gast.Try))


def before_rest(attempt: Any, node: gast.AST) -> Any:
    """Return ``attempt``, which stands for the body and the handlers of ``node``."""
    gast.copy_location(attempt, node)
    attempt.standing_for = getattr(node, "standing_for", node)
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
