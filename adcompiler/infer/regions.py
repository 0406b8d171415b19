"""``with`` and ``try`` while specialising: the types of what comes out of them."""

from __future__ import annotations

import contextlib
import dis
import itertools
import types as python_types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, Handler, Origin, Star, Statement, Try, Var, With, unstar,
)
from adcompiler.ir.visit import defined, definitions, walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import no_grad, note_value, noted_value, passing_on, stop_gradient
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.folds.table import folds
from adcompiler.infer.interface import Env, Operations
from adcompiler.infer.joins import same
from adcompiler.infer.objects import find_raw
from adcompiler.infer.storage.partial_writes import (
    changed_roots, is_all_or_nothing, may_catch_errors_of_ufuncs, may_raise, written_before_raising,
)
from adcompiler.infer.storage.state import State
from adcompiler.typed.unit import Unit

Arm = tuple[list[Statement], tuple[Atom, ...] | None]


def computes_in_methods(unit: Unit, context: Atom) -> bool:
    """Say whether a context is an instance whose methods a derivative may go through.

    What one holds that was made here is known: its methods may do no more than read it.
    """
    type_ = unit.type(context)
    if not isinstance(type_, t.Object) or not is_record_class(type_.cls):
        return False
    made_here = isinstance(unit.definition(context), Call) and unit.fields(context) is not None
    if not made_here:
        return bool(type_.fields) and t.may_vary(type_)
    found = [find_raw(type_.cls, name) for name in ("__enter__", "__exit__")]
    return not all(
        raw is not None and reads_only(raw[1], type_.cls) for raw in found
    ) or any(
        t.may_vary(field) or isinstance(field, (t.List, t.Dict, t.Object))
        for _, field in type_.fields)


def reads_only(method: Any, cls: type) -> bool:
    """Say whether a method only reads what its instance holds, and may return the instance."""
    if not isinstance(method, python_types.FunctionType) or not method.__code__.co_varnames:
        return False
    code, first = method.__code__, method.__code__.co_varnames[0]
    steps = list(dis.get_instructions(code))
    uses = [(one, after) for one, after in itertools.pairwise(steps) if one.argval == first or (
        isinstance(one.argval, tuple) and first in one.argval)]
    return first not in code.co_cellvars and all(
        one.argval == first and (after.opname == "RETURN_VALUE" or (
            after.opname == "LOAD_ATTR" and not hasattr(cls, after.argval)))
        for one, after in uses)


class Regions:
    """The part of type inference that writes ``with`` and ``try``."""

    def __init__(self, s: Operations) -> None:
        self.s = s
        self.unit = s.unit

    def context(self, node: With, env: Env, scope: Scope | None) -> bool:
        """Write a ``with``; return False if control never passes it."""
        context = self.s.value(node.context, env)
        made = self.unit.definition(context)
        maker = made.func.value if isinstance(made, Call) and isinstance(made.func, Const) else None
        if maker is no_grad:
            return self.detached(node, env, scope)
        if maker is contextlib.nullcontext and isinstance(made, Call):
            return self.without_context(node, made, env, scope)
        if maker is contextlib.suppress:
            self.s.reject(
                node.origin, "what is suppressed here is not known when compiling",
                "write the call itself, or `try` and `except`", "with",
            )
        elif not REGISTRY.facts(maker).passes_on and computes_in_methods(self.unit, context):
            self.s.reject(
                node.origin, "what the methods of this context compute is not compiled",
                "call them, or write what they do around the block", "with",
            )
        given = context
        if not REGISTRY.facts(maker).passes_on and maker is not contextlib.suppress:
            context = self.s.let(Call(Const(passing_on), (context,)), t.UNKNOWN, "context",
                               node.origin)
        inner = dict(env)
        target = None
        if node.target is not None:
            target = inner[node.target] = self.bound_here(node.target)
            self.s.joins.comes_from(target, node.origin, [given])
        if maker is not np.errstate:  # a check that fails would enter and leave it once more
            self.unit.assume_equal_shapes = False
        with self.s.writing_to([]) as out, self.s.region_of_heap() as state:
            yields = self.s.block(node.body, inner, scope, True)
            states = [state()]
        blocks, kept = self.region_results(node, [(out, yields)], env, states)
        self.s.out.append(With(context, target, blocks[0], kept, node.origin))
        return yields is not None

    def without_context(
        self, node: With, made: Call, env: Env, scope: Scope | None
    ) -> bool:
        """Write the body of ``with nullcontext(...)`` in place."""
        if node.target is not None:
            given = [*map(unstar, made.args), *(atom for _, atom in made.kwargs)]
            env[node.target] = given[0] if given else Const(None)
        yields = self.s.block(node.body, env, scope, True)
        if yields is not None:
            env.update(zip(node.results, yields, strict=True))
        return yields is not None

    def bound_here(self, like: Var) -> Var:
        """Return a variable for an object of unknown type that a region gives its body."""
        var = Var(like.name)
        self.unit.types[var] = t.UNKNOWN
        if self.s.heap is not None:
            self.s.heap.levels[var] = self.s.heap.level + 1
        return var

    def detached(self, node: With, env: Env, scope: Scope | None) -> bool:
        """Write the body of ``with no_grad()`` in place: what it defines carries no derivative."""
        if node.target is not None:
            env[node.target] = Const(None)
        start, heap = len(self.s.out), self.s.heap
        before = {} if heap is None else dict(heap.state.latest)
        yields = self.s.block(node.body, env, scope, True)
        made = definitions(Block(tuple(self.s.out[start:])))
        self.unit.writes.detached |= made
        if heap is not None:
            for root, value in heap.state.latest.items():
                old = before.get(root, root)
                if root not in made and value is not old:
                    self.unit.writes.detached_writes.append((old, node.origin))
        if yields is None:
            return False
        env.update(zip(node.results, yields, strict=True))
        return True

    def attempt(self, node: Try, env: Env, scope: Scope | None) -> bool:
        """Write a ``try``; return False if control never passes it.

        A body that cannot raise is written as it stands. One that writes into an array or
        container and may raise after that is refused if a handler may go on: it could not tell how
        far the body came. The checks that operands have equal shapes are not made in functions
        that catch exceptions, as a handler might catch theirs.
        """
        self.unit.assume_equal_shapes = False
        arms: list[Arm] = []
        states: list[State | None] = []
        catches = catches_all(node, lambda atom: self.s.value(atom, env))
        self.s.caught += catches
        with self.s.writing_to([]) as out, self.s.region_of_heap() as state, self.s.may_not_run():
            arms.append((out, self.s.block(node.body, dict(env), scope, True)))
            states.append(state())
        self.s.caught -= catches
        if catches:
            self.unit.writes.caught |= definitions(Block(tuple(arms[0][0])))
        if self.needs_no_handler(arms[0], states[0], node, env):
            return True
        heads: list[tuple[Atom, Var | None]] = []
        for handler in node.handlers:
            inner = dict(env)
            name = None
            if handler.name is not None:
                name = inner[handler.name] = self.bound_here(handler.name)
            heads.append((self.s.value(handler.exception, env), name))
            with self.s.writing_to([]) as out, self.s.region_of_heap() as state:
                arms.append((out, self.s.block(handler.body, inner, scope, True)))
                states.append(state())
        self.check_partial_writes(node, states[0], arms, [kind for kind, _ in heads])
        blocks, kept = self.region_results(node, arms, env, states)
        handlers = tuple(
            Handler(exception, name, block)
            for (exception, name), block in zip(heads, blocks[1:], strict=True)
        )
        self.s.out.append(Try(blocks[0], handlers, kept, node.origin))
        return any(yields is not None for _, yields in arms)

    def needs_no_handler(self, body: Arm, state: State | None, node: Try, env: Env) -> bool:
        """Write the body of a ``try`` in place if it cannot raise; return False for others."""
        out, yields = body
        purity = Purity(self.unit.type, self.unit.definition)
        if yields is None or any(may_raise(purity, self.unit, statement) for statement in out):
            return False
        self.s.out.extend(out)
        if self.s.heap is not None and state is not None:
            self.s.heap.state = state
            self.s.level_out(out)
        env.update(zip(node.results, yields, strict=True))
        return True

    def check_partial_writes(
        self, node: Try, body: State | None, arms: list[Arm], kinds: Sequence[Atom]
    ) -> None:
        """Refuse writes in the body of a ``try`` after whose exceptions the program goes on."""
        heap, (out, yields) = self.s.heap, arms[0]
        if heap is None or body is None or all(yields is None for _, yields in arms[1:]):
            return
        changed = changed_roots(heap, body)
        under_other_names = [
            root for root in body.invalidated
            if root not in heap.state.invalidated and heap.levels.get(root, 0) <= heap.level
        ]
        before_raising = written_before_raising(heap, out, bool(changed))
        unseen = [*(() if changed else under_other_names), *before_raising]
        if unseen:
            self.unit.writes.attempts.add(node.origin)
            self.s.reject(
                node.origin, f"`{unseen[0].name}` may be written into in this `try` under another "
                "name, or before it raises, and what catches the exception would not see it",
                "write below the `try`, or raise before the write", "try",
            )
            return
        if not changed:
            return
        unfinished = [
            var for var in self.unit.writes.in_place
            if any(var in defined(statement) for statement in walk(Block(tuple(out))))
        ]
        if unfinished and any(may_catch_errors_of_ufuncs(self.unit, kind) for kind in kinds):
            self.s.reject(
                node.origin, "what NumPy raises when an operation in place has written its "
                f"results, into `{unfinished[0].name}`, may be caught here",
                "compute first and store then, `x[...] = x + y`, or catch other exceptions", "try",
            )
            return
        if is_all_or_nothing(self.unit, heap, body, changed, out):
            for var in yields or ():  # what may raise is computed in front of the write
                if isinstance(var, Var):
                    self.unit.naming.names.setdefault(var, var.name)
            return
        self.unit.writes.attempts.add(node.origin)
        self.s.reject(
            node.origin, f"`{changed[0].name}` is written into in this `try`, and an exception "
            "that is caught leaves open how far",
            "write in statements of the `try` itself, one in each, or below it", "try",
        )

    def region_results(
        self, node: With | Try, arms: list[Arm], env: Env, states: list[State | None]
    ) -> tuple[list[Block], tuple[Var, ...]]:
        """Enter the results of a region into ``env``; return its blocks and new results."""
        completed = [yields for _, yields in arms if yields is not None]
        kept: dict[Var, int] = {}
        flags: set[int] = set()
        adopted: list[tuple[Var, list[Atom]]] = []
        for index, result in enumerate(node.results if completed else ()):
            values = [yields[index] for yields in completed]
            type_: t.Type = t.BOTTOM
            for value in values:
                type_ = t.join(type_, self.unit.type(value))
            flag = self.s.joins.bound_flag(result, values)
            if flag is not None:
                kept[flag] = index
                flags.add(index)
                env[result] = flag
                continue
            may_lack = any(map(self.s.joins.is_unsure, values))
            values = [self.s.joins.flagged(value, False) for value in values]
            known = isinstance(values[0], Const) and all(same(v, values[0]) for v in values)
            outside = None if self.s.heap is None else self.s.heap.root_outside(values)
            if outside is not None:
                env[result] = outside
                continue
            if known or isinstance(type_, t.Static):
                env[result] = values[0] if known else Const(getattr(type_, "value", None))
                continue
            var = self.s.joins.joined(result, type_, may_lack, node.origin, tuple(values))
            self.s.joins.has_shape_of_arms(var, values)
            kept[var] = index
            adopted.append((var, values))
            env[result] = var
        stored = self.stored_in_arms(states, arms, adopted)
        blocks = [
            Block(
                tuple(out),
                (
                    *(UNDEF if yields is None
                      else self.s.joins.flagged(yields[i]) if i in flags
                      else self.s.joins.unflagged(yields[i], var, out, self.s.at)
                      for var, i in kept.items()),
                    *(UNDEF if yields is None else values[position]
                      for values in stored.values()),
                ),
                yields is None,
            )
            for position, (out, yields) in enumerate(arms)
        ]
        return blocks, (*kept, *stored)

    def stored_in_arms(
        self, states: list[State | None], arms: list[Arm],
        adopted: list[tuple[Var, list[Atom]]],
    ) -> dict[Var, list[Atom]]:
        """Join what the arms of a region did to storage; return the results that stand for it.

        Each comes with the values that the arms give for it.
        """
        heap = self.s.heap
        if heap is None:
            return {}
        before = heap.state
        ended = [
            state if yields is not None else None
            for state, (_, yields) in zip(states, arms, strict=True)
        ]
        completed = [state for state in ended if state is not None]
        if not completed:
            return {}
        heap.level += 1
        changed = dict.fromkeys(
            root for state in completed for root in state.latest
            if heap.is_outer(root) and state.latest[root] is not before.value(root)
            and root not in state.choices
        )
        heap.joining.hold_parts_in(completed, changed)
        owned = [
            all(
                heap.owned_in(state, value)
                for state, value in zip(completed, values, strict=True)
            ) for _, values in adopted
        ]
        merged = completed[0].copy()
        for state in completed[1:]:
            heap.joining.merge(merged, state)
            merged = heap.state
        heap.state = merged
        for (var, values), ours in zip(adopted, owned, strict=True):
            heap.joining.adopt(var, values, ours, [state.may_alias for state in completed])
        heap.joining.alias_alike([
            (var, values) for var, values in adopted if is_mutable(self.unit.type(var))
        ])
        heap.level -= 1
        for var, _ in adopted:
            heap.levels[var] = heap.level
        for ending, (out, _) in zip(ended, arms, strict=True):
            if ending is not None:
                self.bring_up_to_date(ending, changed, out)
        results: dict[Var, list[Atom]] = {}
        for root in changed:
            values = [UNDEF if state is None else state.value(root) for state in ended]
            results[self.joined_root(root, before.value(root), values)] = values
        return results

    def bring_up_to_date(
        self, ending: State, roots: Iterable[Var], out: list[Statement]
    ) -> None:
        """Let the latest values of roots hold what an arm, which ended so, has written."""
        heap = self.s.heap
        if heap is None or self.s.at is None:
            return
        joined, heap.state = heap.state, ending
        with self.s.writing_to(out):
            for root in roots:
                heap.reading.bring_up_to_date(root, self.s.at)
                if root in ending.invalidated:
                    joined.invalidated.note(root, *ending.invalidated[root])
        heap.state = joined

    def joined_root(self, root: Var, start: Atom, values: list[Atom]) -> Var:
        """Return the result of a region for a root: it started as ``start``, and has ``values``.

        UNDEF stands for arms that are not completed.
        """
        known = [value for value in values if value is not UNDEF]
        type_: t.Type = t.BOTTOM
        for value in known:
            type_ = t.join(type_, self.unit.type(value))
        var = self.s.joins.joined(root, type_, False)
        self.unit.shapes[var] = self.unit.shape(root)
        assert self.s.heap is not None
        self.s.heap.joining.join_root(root, var, start, known)
        return var


def catches_all(node: Try, value: Callable[[Atom], Atom]) -> bool:
    """Say whether a handler of a ``try`` may take an ``Unfit`` for its own, and go on."""
    for handler in node.handlers:
        kind = value(handler.exception)
        kinds = kind.value if isinstance(kind, Const) else BaseException
        if not handler.body.diverges and not all(
            isinstance(one, type) and issubclass(one, Exception)
            for one in (kinds if isinstance(kinds, tuple) else (kinds,))
        ):
            return True
    return False


@folds(no_grad)
def fold_no_grad(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """The context of a ``with`` statement, which is recognised by its definition."""
    return None if args or kwargs else s.let(
        Call(Const(no_grad), ()), t.UNKNOWN, name, origin
    )


@folds(stop_gradient)
def fold_stop_gradient(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """A copy, of the type of the argument."""
    if len(args) != 1 or kwargs or isinstance(args[0], Star):
        return None
    (x,) = args
    type_ = s.unit.type(x)
    if not t.may_vary(type_):
        return x
    if isinstance(type_, t.Object):
        return s.reject(
            origin, "stop_gradient() of an instance", "apply it to the attributes that count",
            "no-grad",
        )
    copy = s.let(Call(Const(stop_gradient), (x,)), type_, name, origin)
    if isinstance(type_, t.Array):
        s.unit.shapes[copy] = s.unit.shape(x)
    return copy


@folds(note_value)
def fold_note_value(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Note the type of what a variable may be when a handler reads it."""
    place, value = args
    assert isinstance(place, Var)
    s.unit.noted[place] = t.join(s.unit.noted.get(place, t.BOTTOM), s.unit.type(value))
    return s.let(Call(Const(note_value), (place, value)), t.UNKNOWN, name, origin)


@folds(noted_value)
def fold_noted_value(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """What a variable was when an exception was raised."""
    elements = s.unit.elements(args[0]) or ()
    assert isinstance(args[0], Var)
    type_ = s.unit.noted.get(args[0], t.BOTTOM)
    for element in elements:
        type_ = t.join(type_, s.unit.type(element))
    if isinstance(type_, t.Static):
        return Const(type_.value)
    if t.may_vary(type_):
        s.unit.writes.attempts.add(origin)
    var = s.let(Call(Const(noted_value), (args[0],)), type_, name, origin, False)
    if any(element in s.unit.unsure for element in elements):
        s.unit.unsure.add(var)
    return var
