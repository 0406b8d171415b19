"""The specialised function that products are made of: its inputs, and what it writes into."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from adcompiler.analyses.liveness import live_variables
from adcompiler.analyses.single_use import reused_variables
from adcompiler.analyses.storage import is_mutable
from adcompiler.errors import Finding
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, Do, Function, Origin, Param, Statement, Var,
)
from adcompiler.runtime import apart, own as own_copy, paired
from adcompiler.infer.escapes import refuse_results
from adcompiler.infer.inference import Inference
from adcompiler.infer.global_state import checked_stores, with_reads_in_order
from adcompiler.infer.memos import note_memos
from adcompiler.infer.objects import open_parts
from adcompiler.infer.differentiated_paths import Separated, Steps, refuse_new_attributes, separate
from adcompiler.infer.storage.alias_guards import with_repeats_checked
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.in_place import rebound
from adcompiler.infer.storage.memory_order import find_layouts_read, with_layouts_kept
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Place
from adcompiler.typed.tables import Path
from adcompiler.typed.unit import Unit


@dataclass(frozen=True)
class Written:
    """What belongs to the caller and is written into, with what becomes of it.

    ``copies`` tells what the program worked on in place of what a container holds; ``place`` which
    object it is, if it is no argument.
    """

    var: Var
    final: Atom
    copies: Atom | None = None
    place: Place | None = None


@dataclass(eq=False)
class Typed:
    """The specialised function before differentiation.

    ``inputs`` are the variables that it is differentiated with respect to: parameters, or parts of
    parameters that ``entry`` reads. ``written`` are the arguments, captured variables and globals
    that it writes into, with what it makes of them. ``lost`` are those of which it is left open
    what they become, and why. ``kept`` are the others that were there before the code ran.
    """

    function: Function
    params: list[Var]
    statements: tuple[Statement, ...]
    value: Atom
    origin: Origin
    inputs: list[Var] = field(default_factory=list)
    entry: list[Statement] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    lost: list[tuple[Var, Finding]] = field(default_factory=list)
    kept: list[Var] = field(default_factory=list)

    def containers_written(self, unit: Unit) -> tuple[int, ...]:
        """Return the positions of the parameters that are containers and are written into."""
        written = {it.var for it in self.written if it.copies is None}
        return tuple(
            i for i, var in enumerate(self.params)
            if var in written and not isinstance(unit.type(var), t.Array)
        )

    def outside_written(self, unit: Unit) -> tuple[Place, ...]:
        """Return which containers are written into that are no arguments, and were not copied."""
        return tuple(
            it.place for it in self.written if it.place is not None and it.copies is None
            and not isinstance(unit.type(it.var), t.Array)
        )

    @property
    def shown(self) -> str:
        """What messages call the function."""
        return "the lambda" if self.function.name == "lambda_" else self.function.name

    def functions(self, unit: Unit) -> list[Function]:
        """Return the function in its specialised form, then those it calls by name."""
        body = Block((*self.entry, *self.statements), (self.value,))
        main = Function(self.function.name, all_params(unit, self), body, self.origin)
        return [main, *(c.function for c in unit.calls.callees.values() if c.function is not None)]


def specialise(
    unit: Unit, function: Function, python_function: Any, types: list[t.Type],
    path: Path | None = (), wrt: Sequence[int] = (), parts: Sequence[Steps] = (),
    same: Sequence[tuple[int, int]] = (), copied: Sequence[int] = (),
    outside: Sequence[Place] = (),
) -> Typed:
    """Specialise a Python function's IR on the types of its parameters.

    ``wrt`` are the positions of those that will be differentiated, ``parts`` the steps that lead to
    a part of each. ``same`` pairs parameters with earlier ones that are the same object; ``copied``
    are those to be copied at the start, as are the objects ``outside``.
    """
    s = Inference(unit)
    heap = s.heap = Heap(s)
    heap.live, heap.outside.to_copy = live_variables(function), frozenset(outside)
    params: list[Var] = []
    env: dict[Var, Atom] = {}
    for param, type_ in zip(function.params, types, strict=True):
        var = Var(param.var.name)
        unit.set_type(var, type_, True)
        s.joins.comes_from(var, function.origin, [])
        params.append(var)
        env[param.var] = var
        if isinstance(type_, t.Static):
            env[param.var] = unit.relied.static(type_.value, (("argument", param.var.name),))
    for later, earlier in same:
        env[function.params[later].var] = env[function.params[earlier].var]
    unit.iterators.reused |= reused_variables(function)
    unit.calls.active.append(python_function)
    with s.writing_to([]) as out:
        first = [dict(same).get(i, i) for i in wrt]
        chosen = [i if first.count(k) > 1 else k for i, k in zip(wrt, first, strict=True)]
        reached = list(zip(chosen, parts or [()] * len(wrt), strict=True))
        inputs, separated, whole = find_inputs(s, function, params, env, reached)
        copies = copied_params(s, function, params, env, copied)
        note_memos(s, function, env, scope := Scope(python_function, path))
        yields = s.block(function.body, env, scope)
    unit.calls.active.pop()
    checked_stores(s)
    there = [*whole, *separated.held]
    in_place_of = {var: copy for var, (copy, _) in {**copies, **heap.outside.working}.items()}
    with s.writing_to(out):
        heap.outside.bring_all_up_to_date([*there, *in_place_of.values()], function.origin)
    refuse_new_attributes(s, separated, function.origin)
    value = UNDEF if yields is None else yields[0]
    finals = heap.outside.written(there, in_place_of)
    changed = {var for var, _ in finals}
    alone = [var for var in there if var not in {params[later] for later, _ in same}]
    check = kept_apart(s, heap, params, alone, changed, function.origin)
    refuse_results(s, (value, *(final for _, final in finals)), function.origin)
    statements = rebound(s, [*heap.outside.prologue, *check, *out], (value,))
    find_layouts_read(s, Block((*separated.entry, *statements), (value, *dict(finals).values())))
    checked_callees(unit)
    body = checked_body(unit, Block(statements, (value,)), changed)
    return Typed(
        function, params, body.statements, value, function.origin, inputs, separated.entry,
        written_of(heap, finals, {**copies, **heap.outside.working}),
        lost_effects(s, heap, there, in_place_of, function.origin),
        kept_by_caller(unit, heap, there, changed),
    )


def kept_by_caller(
    unit: Unit, heap: Heap, given: Iterable[Var], changed: Collection[Var]
) -> list[Var]:
    """Return what was there before the code ran, may be written into, and is not ``changed``."""
    there = (*given, *unit.relied.captured.values(), *heap.globals.values())
    return [var for var in there if var not in changed and is_mutable(unit.type(var))]


def written_of(
    heap: Heap, finals: Iterable[tuple[Var, Atom]], copies: Mapping[Var, tuple[Var, Var]]
) -> list[Written]:
    """Return what is given back: what has become of variables, with what was copied for that."""
    return [
        Written(var, final, copies[var][1] if var in copies else None, heap.outside.place_of(var))
        for var, final in finals
    ]


def checked_body(unit: Unit, body: Block, changed: Collection[Var] = ()) -> Block:
    """Return the body of a function with what emitted code has to check, and keep as it is."""
    body = with_layouts_kept(unit, with_reads_in_order(unit, body))
    return with_repeats_checked(unit, body, changed)


def checked_callees(unit: Unit) -> None:
    """Put what emitted code has to check into the functions that are compiled on their own."""
    for callee in unit.calls.callees.values():
        function = callee.function
        if function is None:
            continue
        seen = callee.checked is function
        body = with_layouts_kept(unit, function.body) if seen else checked_body(unit, function.body)
        if body is not function.body or not seen:
            callee.checked = callee.function = replace(function, body=body)


def copied_params(
    s: Inference, function: Function, params: list[Var], env: dict[Var, Atom],
    positions: Sequence[int],
) -> dict[Var, tuple[Var, Var]]:
    """Copy containers that are written into; return the copies, and what they are copies of."""
    copies: dict[Var, tuple[Var, Var]] = {}
    for i in positions:
        var, name = params[i], function.params[i].var
        if env[name] is not var:
            continue
        type_, origin = s.unit.type(var), function.origin
        copy = s.let(Call(Const(own_copy), (var,)), type_, var.name, origin, False)
        pairs = s.let(
            Call(Const(paired), (var, copy)), t.UNKNOWN, f"{var.name}_copies", origin
        )
        s.unit.writes.copied_for_writes.add(copy)
        assert s.heap is not None
        s.heap.forget(pairs)
        s.heap.state.exclusive[copy] = True
        s.heap.callers.add(copy)
        env[name] = copy
        copies[var] = (copy, pairs)
    return copies


def kept_apart(
    s: Inference, heap: Heap, params: list[Var], given: list[Var], changed: set[Var],
    origin: Origin,
) -> Iterator[Statement]:
    """Yield the check that what is written into shares no storage with anything else.

    ``given`` are the parameters, or parts in place of them.
    """
    there = [
        var for var in (*given, *s.unit.relied.captured.values(), *heap.globals.values())
        if is_mutable(s.unit.type(var)) and not isinstance(s.unit.type(var), t.Unknown)
    ]
    written = tuple(
        i for i, var in enumerate(there) if var in changed or heap.may_write(var))
    several = len(there) > 1 or any(
        not isinstance(s.unit.type(there[i]), t.Array) for i in written
    )
    if written and several:
        names = Const(tuple(var.name for var in there))
        places = Const(tuple(params.index(var) if var in params else -1 for var in there))
        yield Do(Call(Const(apart), (names, places, Const(written), *there)), origin)


def lost_effects(
    s: Inference, heap: Heap, given: list[Var], copies: Mapping[Var, Var], origin: Origin
) -> list[tuple[Var, Finding]]:
    """Return what may be written into while that is left open, and why.

    ``given`` are the parameters, ``copies`` what the code works on in place of them.
    """
    found: list[tuple[Var, Finding]] = []
    for var in (*given, *s.unit.relied.captured.values(), *heap.globals.values()):
        root = copies.get(var, var)
        if heap.may_write(root):
            where, other = heap.state.invalidated[root]
            if var not in given and (root, where) in heap.given_away:
                continue  # it is itself what a function of which nothing is known was given
            found.append((var, where.finding(
                f"whether this writes into `{var.name}`, which `{other.name}` may share "
                "storage with, is not known when compiling",
                "use a copy where it is given another name", "aliases",
            )))
        elif root is not var and root in heap.copies:
            found.append((var, origin.finding(
                f"what `{var.name}` holds is written into when it may be held elsewhere too: "
                "whether the caller's own objects see it is not known when compiling",
                "use a copy where it is given another name", "aliases",
            )))
    return found


def find_inputs(
    s: Inference, function: Function, params: list[Var], env: dict[Var, Atom],
    wanted: list[tuple[int, Steps]],
) -> tuple[list[Var], Separated, list[Var]]:
    """Write how the parameters start; return the variables to differentiate with respect to.

    The second result has parts of parameters, the third the parameters that were left whole.
    """
    parts, whole = Separated([], {}), list(params)
    inputs = parts.found
    for i, var in enumerate(params):
        steps = [(path, number) for number, (j, path) in enumerate(wanted) if j == i]
        if steps and steps[0][0]:
            env[function.params[i].var] = separate(s, var, steps, parts, function.origin)
            whole.remove(var)
        elif steps:
            inputs[steps[0][1]] = var
            open_parts(s, var, function.origin)
    return [inputs[number] for number in range(len(wanted))], parts, whole


def all_params(unit: Unit, typed: Typed) -> tuple[Param, ...]:
    """Return the parameters of an emitted function: the user's, then captured variables."""
    return tuple(Param(v, 1) for v in (*typed.params, *unit.relied.captured.values()))


def changed_everywhere(
    unit: Unit, typed: Typed, change: Callable[[Unit, Sequence[Statement]], tuple[Statement, ...]]
) -> Typed:
    """Return a function, and let those it calls be, with all statements changed."""
    for callee in unit.calls.callees.values():
        if callee.function is not None:
            body = callee.function.body
            kept = change(unit, body.statements)
            callee.function = replace(callee.function, body=replace(body, statements=kept))
    return replace(typed, statements=change(unit, typed.statements))
