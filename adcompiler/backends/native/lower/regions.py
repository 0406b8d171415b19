"""Lowers branches and loops: what arms and iterations hand on, over what a loop runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.backends.native.loops import (
    ARRAYS, BOOL, FLOAT, SHORT, SINGLE, Assign, Binary, Bind, Body, Break, Expr, For, Forever,
    Leave, Name, Number, Unary, When,
)
from adcompiler.backends.native.lower.branch_results import (
    Merging, as_number, buffer_is_set, failure_number, is_set, pairs_of, renamed,
)
from adcompiler.backends.native.lower.try_regions import raised_in
from adcompiler.backends.native.lower.sources import Source
from adcompiler.backends.native.lower.tapes import is_placeholder, tapes_in
from adcompiler.backends.native.ops import lists
from adcompiler.backends.native.ops.scalars import truth
from adcompiler.backends.native.ops.singles import dtype_of, is_naught, short_of
from adcompiler.backends.native.values import (
    EXACT, Again, Backwards, Buffer, Complex, Cut, Declined, Failure, Fused, Held, Kept, Keyed,
    Known, Num, Rows, Several, Span, Tape, Value,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Call, Const, If, Let, Loop, Update, Var, unstar
from adcompiler.ir.visit import used
from adcompiler.runtime import add_at, append, drop_last

ZERO, ONE = Number(0), Number(1)
FIXED = (add_at,)
"""Functions that write into their first argument, and leave it as long as it is."""
WRITES = (*FIXED, append, drop_last)
"""Functions that write into their first argument."""


class Regions(Merging):
    """Writes the regions of a function that ``low`` lowers."""

    # -- branches ------------------------------------------------------------------------------

    def branch(self, node: If) -> None:
        """Write a branch; values that its arms give differently get names that both assign."""
        low, w = self.low, self.w
        test = truth(w, low.number(node.condition))
        arms: list[tuple[Body, list[Any] | None]] = []
        for block in (node.then, node.orelse):
            with w.inside(Body()) as body:
                values = None
                if block.diverges:
                    w.write(Leave(None, raised_in(low, block)))
                else:
                    low.block(block)
                    values = [low.value(atom) for atom in block.yields]
            arms.append((body, values))
        (then, left), (orelse, right) = arms
        w.write(When(test, then, orelse))
        if left is None or right is None:
            given = left if right is None else right
            for var, value in zip(node.results, given or [], strict=False):
                low.values[var] = value
            return
        for var, a, b in zip(node.results, left, right, strict=True):
            if var in low.tested:
                a, b = self.as_tests(then, a), self.as_tests(orelse, b)
            hint = low.unit.naming.names.get(var, var.name)
            low.values[var] = self.merged(hint, low.unit.type(var), (then, a), (orelse, b))

    def as_tests(self, body: Body, value: Value) -> Any:
        """Return a value of an arm as whether it is true: nobody reads what it is."""
        if not isinstance(value, Num) or value.isset is not None:
            return value
        with self.w.inside(body):
            return Num(truth(self.w, value), BOOL)

    # -- loops ---------------------------------------------------------------------------------

    def loop(self, node: Loop) -> None:
        """Write a loop: its rows first, so that what it collects is known in front of it."""
        low, w = self.low, self.w
        inits = [low.value(atom) for atom in node.inits]
        for param, init in zip(node.params, inits, strict=True):
            low.values[param] = self.carried(node, param, init)
        carried = [low.values[param] for param in node.params]
        names = [name for one in carried for name in buffers_in(one)]
        changed = any(one != init for one, init in zip(carried, inits, strict=True))
        apart = changed and self.trade_places(node, carried)
        if changed and not apart:
            w.may_share(*names)
        before, grown = set(self.low.tapes.all), low.tapes.grown
        given = [low.read(atom) for atom in node.iterables]
        outer = w.body
        with w.inside(Body()) as body:
            if node.condition is not None:
                low.block(node.condition)
                test = truth(w, low.number(node.condition.yields[0]))
                w.write(Break(Unary("not", test)))
                source = None
            else:
                source = self.source(node, given)
                outer.rows += source.outside.rows
                for var, item in zip(node.items, source.items, strict=True):
                    low.values[var] = item
            low.block(node.body)
            if low.tapes.grown > grown and not all(isinstance(one, Span) for one in given):
                raise Declined("a list in a list changes its length in a loop over items")
            tapes = self.end(node, carried, before)
        rows = body
        self.marks(node, rows, before, tapes)
        starts = {tape: w.assign(f"{tape.top}_start".replace("_top", ""), Name(tape.top))
                  for tape in tapes}
        known = source is not None and not node.stops
        for tape in tapes:
            if known and source is not None:
                low.tapes.reserve(tape, source.count)
        if source is None:
            w.write(Forever(rows))
        else:
            w.write(For(source.name, source.start, source.stop, rows, source.down))
        for var, tape in zip(node.collects, tapes, strict=True):
            length = source.count if known and source is not None else w.assign(
                "length", Binary("-", Name(tape.top), starts[tape]))
            low.values[var] = Kept(tape, starts[tape], length)
        for var, value in zip(node.results, carried, strict=True):
            low.values[var] = value
        if apart:
            w.may_share(*names)

    def trade_places(self, node: Loop, carried: list[Any]) -> bool:
        """Say whether iterations only exchange the storage of arrays, which is apart before.

        Nothing else in the loop may lead there: it stands for one of them, now that and now this.
        """
        at = [i for i, one in enumerate(carried) if buffers_in(one)]
        given = [carried[i] for i in at]
        if node.body.diverges or not all(
            isinstance(one, Buffer) and one.isset is None for one in given
        ):
            return False
        roots = {self.w.root(one.name) for one in given}
        nexts = node.next_values()
        goals = {j for i in at for j in at if self.leads(nexts[i], node.params[j], WRITES)}
        if len(roots) < len(at) or goals != set(at):
            return False
        blocks = [node.body] if node.condition is None else [node.body, node.condition]
        read = [*node.iterables, *(var for block in blocks for var in used(block))]
        return not any(
            self.may_lead(self.low.values.get(atom), roots) for atom in read
            if isinstance(atom, Var) and atom not in node.params)

    def may_lead(self, value: Value | None, roots: set[str]) -> bool:
        """Say whether a value may stand for an array in the storage of one of these."""
        match value:
            case Several(items):
                return any(self.may_lead(item, roots) for item in items)
            case Fused():
                return self.may_lead(value.buffer, roots)
            case Buffer(name):
                return self.w.root(name) in roots
            case None | Num() | Known() | Rows() | Kept() | Held() | Complex() | Span() | Cut():
                return False
        return True

    def carried(self, node: Loop, param: Var, init: Buffer | Num | Rows) -> Any:
        """Return what a carried value is inside a loop, having written its first value."""
        low = self.low
        hint = low.unit.naming.names.get(param, param.name)
        if isinstance(init, Buffer) and self.stays(node, param):
            return low.arrays.own(init)
        if isinstance(init, (Rows, Kept)):
            return self.carried_list(node, param, init, hint)
        if param in low.short:
            return self.opened(hint, t.Scalar("float", SINGLE), init)
        found = self.opened(hint, low.unit.type(param), init)
        if is_naught(init) and isinstance(found, Num) and isinstance(found.expr, Name):
            low.begun[found.expr.name] = param
        return found

    def carried_list(self, node: Loop, param: Var, init: Rows, hint: str) -> Rows:
        """Return what a carried list is inside a loop: its items stay where they are, or not."""
        low = self.low
        type_ = low.unit.type(param)
        low.arrays.hint = hint
        form = lists.form_of_list(type_, lists.layout_of(init))
        if form is None:
            raise Declined("a list of which the items are not known")
        given = lists.as_rows(low, init, form)
        if self.stays(node, param, FIXED):
            return given
        if any(low.values.get(atom) == init for atom in node.iterables):
            raise Declined("a loop over a list that changes its length in it")
        if self.stays(node, param):
            return lists.bound_to(low, hint, given, given.layout)
        return lists.bound_to(low, hint, given)

    def opened(self, hint: str, type_: t.Type, init: Any) -> Any:
        """Return a value under names of its own, which iterations assign to."""
        w = self.w
        if isinstance(init, Complex) or (isinstance(type_, t.Scalar) and type_.kind == "complex"):
            pair = self.complex_parts(init, type_, w.body)
            return Complex(*(self.opened(f"{hint}_{name}", t.Scalar("float"), part)
                             for name, part in zip(("re", "im"), pair, strict=True)))
        if isinstance(type_, t.Scalar) and (isinstance(init, Num) or is_placeholder(init)):
            dtype = short_of(type_, init) or dtype_of(type_)
            if dtype is None:
                raise Declined(f"a {type_.kind} is carried round a loop")
            number = w.narrowed(as_number(w, init, dtype), EXACT)
            name = w.fresh(hint)
            w.write(Assign(name, number.expr))
            isset = number.isset
            if isset is not None:
                flag = w.fresh(f"{hint}_is_set")
                w.write(Assign(flag, isset))
                isset = Name(flag)
            return Num(Name(name), dtype, EXACT, isset)
        match init:
            case Several(items) if isinstance(type_, t.Tuple):
                return Several(tuple(
                    self.opened(hint, inner, item)
                    for inner, item in zip(type_.items, items, strict=True)
                ))
            case Keyed(parts, types=types):
                return replace(init, parts={
                    key: part if isinstance(part, Declined) else
                    self.opened(f"{hint}_{key}", types.get(key, t.UNKNOWN), part)
                    for key, part in parts.items()})
            case Held(heap, at):
                return Held(heap, self.opened(hint, t.Scalar("int"), at))
            case Buffer():
                return self.opened_array(hint, init, init)
            case _ if isinstance(type_, t.Unknown) and (
                init == Known(None) or isinstance(init, Failure)
            ):
                return Failure(self.opened(hint, t.Scalar("int"), failure_number(init)))
            case _ if is_placeholder(init) and isinstance(type_, t.Array) and type_.ndim and (
                type_.dtype in ARRAYS
            ):
                like = Buffer("", type_.dtype, (ZERO,) * type_.ndim)
                return self.opened_array(hint, init, like)
        raise Declined("what a loop carries is neither a number nor an array")

    def opened_array(self, hint: str, init: Any, like: Buffer) -> Buffer:
        """Return an array under a name of its own, which iterations assign to."""
        w = self.w
        name = w.fresh(hint)
        w.write(Bind(name, self.as_buffer(init, like).name))
        if isinstance(init, Buffer) and init.isset is None:
            return renamed(name, like)
        flag = w.fresh(f"{hint}_is_set")
        w.write(Assign(flag, buffer_is_set(init)))
        return replace(renamed(name, like), isset=Name(flag))

    def end(
        self, node: Loop, carried: Sequence[Buffer | Num | Rows], before: set[Tape]
    ) -> list[Tape]:
        """Write the end of an iteration: what is collected, the next values, the test to stop."""
        low, w = self.low, self.w
        if node.body.diverges:
            w.write(Leave())
            if node.collects:
                raise Declined("a loop that raises in its first iteration")
            return []
        tapes = []
        for var, atom in zip(node.collects, node.collected(), strict=True):
            value = low.value(atom)
            tape = low.tapes.tape(low.unit.naming.names.get(var, var.name), value)
            if node.stops or node.condition is not None:
                low.tapes.reserve(tape, ONE)
            low.tapes.push(tape, value)
            tapes.append(tape)
        stop = node.stop()
        test = None if stop is None else w.named("stop", truth(w, low.number(stop)))
        nexts = [low.value(atom) for atom in node.next_values()]
        self.hand_on(carried, nexts)
        if test is not None:
            w.write(Break(test))
        return tapes

    def hand_on(
        self, carried: Sequence[Buffer | Num | Rows], nexts: Sequence[Buffer | Num | Rows]
    ) -> None:
        """Assign the values of the next iteration, all at once if they cross."""
        pairs: list[tuple[str, Expr]] = []
        binds: list[Bind] = []
        for old, new in zip(carried, nexts, strict=True):
            self.next_value(old, new, pairs, binds)
        w = self.w
        if len(pairs) > 1:
            pairs = [(name, w.named("next", expr) if not isinstance(expr, Number) else expr)
                     for name, expr in pairs]
            taken = {name for name, _ in pairs}
            pairs = [
                (name, w.assign("next", expr))
                if isinstance(expr, Name) and expr.name in taken else (name, expr)
                for name, expr in pairs
            ]
        for name, expr in pairs:
            w.write(Assign(name, expr))
        taken = {bind.name for bind in binds} if len(binds) > 1 else set()
        for i, bind in enumerate(binds):
            if bind.buffer in taken:
                kept = w.fresh("next")
                w.write(Bind(kept, bind.buffer))
                binds[i] = Bind(bind.name, kept)
        for bind in binds:
            w.write(bind)

    def next_value(
        self, old: Any, new: Any, pairs: list[tuple[str, Expr]],
        binds: list[Bind]
    ) -> None:
        """Note what is to be assigned for the next iteration."""
        if old == new:
            return
        match old:
            case Num(Name(name), dtype, _, isset):
                if name in self.low.begun and dtype == FLOAT and (
                    isinstance(new, Num) and new.dtype in SHORT
                ):
                    raise Again(self.low.begun[name])
                number = self.w.narrowed(as_number(self.w, new, dtype), EXACT)
                if isinstance(isset, Name):
                    pairs.append((isset.name, is_set(number)))
                elif number.isset is not None:
                    raise Declined("a variable may lose its value in a loop")
                pairs.append((name, number.expr))
            case Keyed():
                for _, one, other in pairs_of(old, old, new):
                    if not isinstance(one, Declined):
                        self.next_value(one, other, pairs, binds)
            case Failure(number):
                self.next_value(number, failure_number(new), pairs, binds)
            case Complex(re, im):
                nexts = self.complex_parts(new, t.UNKNOWN, self.w.body)
                for one, other in zip((re, im), nexts, strict=True):
                    self.next_value(one, other, pairs, binds)
            case Held(heap, at):
                self.next_value(at, self.as_held(heap, new, self.w.body), pairs, binds)
            case Several(items):
                if not isinstance(new, Several) or len(new.items) != len(items):
                    raise Declined("a loop carries tuples of different lengths")
                for one, other in zip(items, new.items, strict=True):
                    self.next_value(one, other, pairs, binds)
            case Rows(layout, Name(length)) if length in self.low.counts:
                given = lists.as_rows_like(self.low, new, layout)
                pairs.append((length, given.length))
                binds += [
                    Bind(slot.buffer, other.buffer) for slot, other in
                    zip(lists.slots(layout), lists.slots(given.layout), strict=True)
                    if slot.buffer != other.buffer
                ]
            case Buffer(name, isset=isset):
                if isinstance(isset, Name):
                    pairs.append((isset.name, buffer_is_set(new)))
                elif not isinstance(new, Buffer) or new.isset is not None:
                    raise Declined("a variable may lose its value in a loop")
                binds.append(Bind(name, self.as_buffer(new, old).name))
            case _:
                raise Declined("what a loop carries is neither a number nor an array")

    def marks(self, node: Loop, rows: Body, before: set[Tape], tapes: list[Tape]) -> None:
        """Let each iteration begin where the one before did on tapes that only it reads."""
        kept = {inner for tape in tapes for inner in (tape, *tapes_in(tape.layout))}
        for tape in self.low.tapes.all:
            if tape not in before and tape not in kept:
                mark = self.w.assign("mark", Name(tape.top))
                rows.rows.insert(0, Assign(tape.top, mark))

    def stays(
        self, node: Loop, param: Var, through: tuple[Callable[..., Any], ...] = WRITES
    ) -> bool:
        """Say whether a carried array or list is in the same storage after each iteration."""
        index = node.params.index(param)
        return not node.body.diverges and self.leads(
            node.next_values()[index], param, through)

    def leads(self, atom: Any, goal: Var, through: tuple[Callable[..., Any], ...]) -> bool:
        """Say whether an array is in the storage of ``goal``, written into or not."""
        if atom is goal:
            return True
        made = self.low.makers.get(atom)
        match made:
            case (Let(rhs=Update(obj=obj)), _):
                return self.leads(obj, goal, through)
            case (Let(rhs=Call(func=Const(function), args=args)), _) if any(
                function is one for one in through
            ):
                return self.leads(unstar(args[0]), goal, through)
            case (Loop() as loop, i):
                return i < len(loop.params) and self.stays(
                    loop, loop.params[i], through
                ) and self.leads(loop.inits[i], goal, through)
            case (If() as node, i):
                return all(
                    block.diverges or self.leads(block.yields[i], goal, through)
                    for block in (node.then, node.orelse)
                )
        return False

    def source(self, node: Loop, given: list[Any]) -> Source:
        """Return what a ``for`` runs over, and its items at a position."""
        down = all(isinstance(one, Backwards) for one in given)
        if down:
            given = [one.of for one in given]
        return Source(self.low, given, down, [
            self.low.unit.naming.names.get(var, var.name) for var in node.items
        ])


def buffers_in(value: Value) -> list[str]:
    """Return the names of arrays in a value."""
    if isinstance(value, (Several, Keyed)):
        parts = value.items if isinstance(value, Several) else value.parts.values()
        return [name for item in parts for name in buffers_in(item)]
    return [value.name] if isinstance(value, Buffer) else []
