"""Functions compiled on their own for the types of their arguments: recursive and large ones."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from adcompiler.analyses.liveness import live_variables
from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Closure, Const, Do, Free, Function, Item, Let, Origin,
    Pack, Param, Statement, Step, Var, substitute, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.registry import hashable
from adcompiler.runtime import record
from adcompiler.infer.calls.binding import environment, shown_name
from adcompiler.infer.calls.derivatives import is_maker, parts_of_made
from adcompiler.infer.calls.unpassed import (
    has_known_parts, lost_write, needs_opening, repeated,
)
from adcompiler.infer.memos import is_inside, memos_in, note_memos
from adcompiler.infer.objects import open_parts
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.in_place import rebound
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of

MAX_DEPTH = 50
MAX_CALLS = 1000
MAX_WIDENING = 8
GIVEN = "given"
"""Marks what stands for a function that is given to another one, and only calls it."""


def call_compiled(
    s: Operations, function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom,
    scope: Scope | None, origin: Origin, name: str, identity: Any,
) -> Atom | None:
    """Write a call of ``function`` compiled on its own for these argument types.

    None if it has to be opened: it writes into a container whose parts have names of their own,
    into one that holds functions, or into what is none of its arguments; reads what was written
    here; or gives an instance new attributes.
    """
    found = compiled_callee(s, function, bound, captures, itself, scope, origin, identity)
    if found is None:
        return UNDEF
    callee, kept = found
    if identity in s.unit.calls.giving and identity not in s.unit.calls.active:
        return None
    opens = needs_opening(s, callee, origin)
    if opens is not None:
        if identity not in s.unit.calls.active and not repeated(s.unit, identity):
            return None
        problem, instead = opens
        return s.reject(
            origin, f"{shown_name(function)}() is compiled on its own, as it is recursive or "
            f"called often, and {problem}", instead, "aliases",
        )
    if any(has_known_parts(s, atom) for i, atom in enumerate(kept) if i in callee.written):
        if identity not in s.unit.calls.active:
            return None
        return s.reject(
            origin, "a recursive call writes into a container of values that have other names",
            "make the container outside of the recursion", "aliases",
        )
    for finding in callee.findings:
        s.report(finding)
    return write_call(s, callee, kept, origin, name)


def compiled_callee(
    s: Operations, function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom,
    scope: Scope | None, origin: Origin, identity: Any,
) -> tuple[Callee, list[Atom]] | None:
    """Return ``function`` compiled on its own for these argument types, and what it is passed.

    What is passed are the arguments that are no constants, and what function values among them
    captured. None, after it has been reported, if there would be no end to it.
    """
    unit = s.unit
    inside = identity in unit.calls.active
    calls = unit.calls.active
    if calls.count(identity) > MAX_DEPTH or len(calls) > MAX_CALLS:
        s.reject(
            origin,
            f"{shown_name(function)}() is called recursively with ever new functions as arguments",
            "write the recursion without passing functions", "unknown-callable",
        )
        return None
    inputs = [*bound, *captures, *((itself,) if isinstance(itself, Var) else ())]
    kept: dict[Atom, None] = {}
    owner = None if scope is None else scope.function
    keys = [key_of(s, a, inside, itself, kept) for a in inputs]
    cells = {
        name: now(s, s.free(name, Scope(unit.root, ()), origin), origin)
        for name in cells_read(s.unit, function, inputs)
    }
    keys += [(name, key_of(s, atom, inside, itself, kept)) for name, atom in cells.items()]
    if memos_in(function):
        keys.append(tuple(is_inside(s, atom) for atom in kept))
    key = (identity, owner, tuple(keys), unit.derivatives.around)
    callee = unit.calls.callees.get(key)
    if callee is None:
        callee = unit.calls.callees[key] = Callee(unique_name(unit, function.name), key)
        unit.calls.sites.append(origin)
        unit.calls.apart += 1
        unit.calls.pending.append(callee)
        with unit.loops.apart():
            compile_callee(
                s, callee, function, bound, captures, itself, scope, identity, list(kept), cells
            )
        unit.calls.pending.pop()
        unit.calls.apart -= 1
        unit.calls.sites.pop()
    elif callee.function is None:
        callee.recursive = True
    note_assumptions(unit, callee)
    return callee, list(kept)


def now(s: Writer, atom: Atom, origin: Origin) -> Atom:
    """Return what a variable refers to now."""
    return atom if s.heap is None else s.heap.reading.current(atom, origin)


def note_assumptions(unit: Unit, callee: Callee) -> None:
    """Note for the functions being compiled that what they call is not compiled to its end yet."""
    pending = unit.calls.pending
    for outer in {callee, *callee.assumed} & set(pending):
        for inner in pending[pending.index(outer) + 1 :]:
            inner.assumed.add(outer)


def forget_what_assumed(unit: Unit, callee: Callee) -> None:
    """Forget the functions that were compiled on what was known of ``callee`` before."""
    callees = unit.calls.callees
    for key in [key for key, inner in callees.items() if callee in inner.assumed]:
        if callees[key] not in unit.calls.pending:
            del callees[key]


def write_call(
    s: Writer, callee: Callee, args: list[Atom], origin: Origin, name: str
) -> Atom:
    """Write the call of a function compiled on its own, and what it makes of its arguments."""
    heap = s.heap
    call = Call(Const(callee), tuple(args))
    if heap is None:
        return s.let(call, callee.result, name, origin)
    roots = [set(heap.roots(a)) for a in args]
    for k in (*callee.written, *callee.unsure):
        others = set().union(*(r for i, r in enumerate(roots) if i != k))
        near = {o for r in roots[k] for o in heap.state.may_alias.get(r, ())}
        if (roots[k] | near) & others:
            return s.reject(
                origin, "two arguments of this call may share storage, and one is written into",
                "pass a copy of one of them", "aliases",
            )
    for root in (root for k in callee.unsure for root in roots[k]):
        heap.state.invalidated.note(root, origin, root)
    if not callee.written:
        return given(heap, callee, args, s.let(call, callee.result, name, origin), origin)
    finals = tuple(callee.finals.get(k, s.unit.type(args[k])) for k in callee.written)
    parts = s.let(call, t.Tuple((callee.result, *finals)), f"{callee.name}_parts", origin)
    heap.state.exclusive[parts] = True
    heap.forget(parts)
    s.unit.naming.opened[parts] = 1 + len(finals)
    for position, k in enumerate(callee.written, start=1):
        arg = args[k]
        assert isinstance(arg, Var)
        new = s.let(Item(parts, Const(position)), finals[position - 1], arg.name, origin, False)
        heap.forget(new)
        heap.references.pop(new, None)
        heap.state.exclusive[new] = True
        if isinstance(s.unit.type(arg), t.Array):
            s.unit.shapes[new] = s.unit.shape(arg)
        there = heap.reference(arg)
        array = isinstance(s.unit.type(arg), t.Array)
        rebound = None if array else 0
        if there.steps:
            whole = (Step("item", args=(Const(Ellipsis),)),) if array else ()
            heap.writing.write(arg, whole, new, origin, rebound=rebound)
        else:
            heap.changes.advance(there.root, new, rebound, origin)
            heap.state.exclusive[new] = True
    result = s.let(Item(parts, Const(0)), callee.result, name, origin)
    heap.forget(result)
    heap.references.pop(result, None)
    return given(heap, callee, args, result, origin)


def given(
    heap: Heap, callee: Callee, args: list[Atom], result: Var, origin: Origin
) -> Atom:
    """Enter what the result of a call shares storage with."""
    if not is_mutable(heap.s.unit.type(result)):
        return result
    heap.forget(result)
    heap.references.pop(result, None)
    if isinstance(callee.gives, int):
        return heap.reading.current(args[callee.gives], origin)
    if callee.gives == "fresh":
        heap.state.exclusive[result] = True
    else:
        for arg in args:
            heap.join(result, arg)
    return result


def key_of(
    s: Writer, atom: Atom, inside: bool, itself: Atom, kept: dict[Atom, None]
) -> Any:
    """Return what a call is specialised on of an argument; add to ``kept`` what must be passed.

    A function value is taken apart: what it captured is passed, and it is made anew inside.
    """
    if atom is itself and isinstance(atom, Const):
        return "itself"
    if is_static(atom, inside) and isinstance(atom, Const):
        return ("=", atom.value) if hashable(atom.value) else ("is", id(atom.value))
    parts = parts_of_function(s.unit, atom)
    if parts is not None:
        rhs = s.unit.definition(atom)
        made = rhs.function if isinstance(rhs, Closure) else str(s.unit.type(atom))
        owner = rhs.scope.function if isinstance(rhs, Closure) and rhs.scope else None
        inner = tuple(
            "itself" if part is itself else key_of(s, part, inside, itself, kept) for part in parts
        )
        return (made, owner, inner)
    position = list(kept).index(atom) if atom in kept else len(kept)
    kept[atom] = None
    return (position, s.unit.told_type(atom), s.joins.is_unsure(atom))


def is_static(atom: Atom, inside: bool) -> bool:
    """Say whether an argument becomes part of the callee rather than being passed to it."""
    if not isinstance(atom, Const):
        return False
    if isinstance(atom.value, (int, str)) and not isinstance(atom.value, bool):
        return not inside
    return not isinstance(atom.value, (float, complex))


def parts_of_function(unit: Unit, atom: Atom) -> tuple[Atom, ...] | None:
    """Return what a function value made by the compiled code was made from, None for others.

    Containers and partial calls that hold such functions count as function values too.
    """
    match unit.definition(atom):
        case Closure(_, captures, defaults):
            return (*captures, *defaults)
        case Attribute(obj, _) if isinstance(unit.type(atom), t.Method):
            return (obj,)
        case Call(Const(value), args, kwargs) if value is functools.partial:
            return (*map(unstar, args), *(a for _, a in kwargs))
        case Call(Const(value), _, kwargs) if value is record and any(
            parts_of_function(unit, a) is not None for _, a in kwargs
        ):
            return tuple(a for _, a in kwargs)
        case Call(Const(value)) as made if is_maker(value):
            return parts_of_made(made)
        case Pack(_, items, _) if any(
            t.is_function(unit.type(unstar(item)))
            or parts_of_function(unit, unstar(item)) is not None for item in items
        ):
            return tuple(map(unstar, items))
    return None


def cells_read(unit: Unit, function: Function, inputs: list[Atom]) -> list[str]:
    """Return the closure cells of the function being compiled that ``function`` may read data of.

    They are read by its own text, and by that of functions defined there that it is given.
    """
    code = getattr(unit.root, "__code__", None)
    wanted = set(code.co_freevars) if code is not None else set()
    if not wanted:
        return []
    found: dict[str, None] = {}
    waiting, seen = [function], set()
    atoms = list(inputs)
    while atoms:
        atom = atoms.pop()
        made = unit.definition(atom)
        if isinstance(made, Closure):
            waiting.append(made.function)
        atoms += parts_of_function(unit, atom) or ()
    while waiting:
        inner = waiting.pop()
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        for statement in walk(inner.body):
            rhs = statement.rhs if isinstance(statement, (Let, Do)) else None
            if isinstance(rhs, Free) and rhs.name in wanted:
                found[rhs.name] = None
            elif isinstance(rhs, Closure):
                waiting.append(rhs.function)
    scope = Scope(unit.root, ())
    return [name for name in found if not isinstance(type_of(scope.lookup(name)[1]), t.Static)]


def compile_callee(
    s: Operations, callee: Callee, function: Function, bound: list[Atom],
    captures: tuple[Atom, ...], itself: Atom, scope: Scope | None, identity: Callable[..., Any],
    kept: list[Atom], cells: Mapping[str, Atom],
) -> None:
    """Specialise ``function`` on its own, until the type it returns is stable."""
    unit = s.unit
    outer_cells = unit.relied.cells
    names = dict(zip(captures, function.captures, strict=True))
    names.update(zip(bound, (p.var for p in function.params), strict=True))
    outside, unit.findings = unit.findings, callee.findings
    for _ in range(MAX_WIDENING):
        unit.findings.clear()
        params: list[Param] = []
        inner: dict[Atom, Atom] = {}
        for atom in kept:
            inner[atom] = new = parameter_for(s, atom, names.get(atom), function.origin)
            params.append(Param(new, 1))
        unit.calls.active.append(identity)
        unit.relied.cells = {name: inner[atom] for name, atom in cells.items() if atom in inner}
        outer, at = s.heap, s.at
        heap = None
        if outer is not None:
            heap = s.heap = Heap(s)
            heap.live = live_variables(function)
        try:
            with s.writing_to([]) as out:
                for atom in kept:
                    param = inner[atom]
                    if s.unit.fields(atom) is not None and isinstance(param, Var):
                        open_parts(s, param, function.origin)
                env = environment(
                    function, [made_anew(s, a, inner) for a in bound],
                    tuple(made_anew(s, a, inner) for a in captures), made_anew(s, itself, inner),
                )
                note_memos(s, function, env, scope)
                yields = s.block(function.body, env, scope)
            if heap is not None:
                out[:0] = heap.outside.prologue
                made = {new for new in inner.values() if isinstance(new, Var)}
                changed, yields = finals(s, heap, callee, params, made, yields, out)
            else:
                changed = False
        finally:
            unit.calls.active.pop()
            unit.relied.cells = outer_cells
            s.heap, s.at = outer, at
        value = None if yields is None else s.unit.elements(yields[0]) if callee.written else yields
        result = t.BOTTOM if value is None else unit.type(value[0])
        stable = t.join(callee.result, result) == callee.result and not changed
        callee.result = t.join(callee.result, result)
        if stable or not callee.recursive:
            break
        forget_what_assumed(unit, callee)
    else:
        refuse_widening(s, function)
    unit.findings = outside
    body = Block(rebound(s, out, yields or ()), yields or (UNDEF,), yields is None)
    callee.function = Function(callee.name, tuple(params), body, function.origin, doc=function.doc)


def parameter_for(s: Writer, atom: Atom, named: Var | None, origin: Origin) -> Var:
    """Return the parameter of a function compiled on its own for what it is passed."""
    new = Var(getattr(named or atom, "name", "value"))
    s.unit.set_type(new, s.unit.told_type(atom), True)
    s.joins.comes_from(new, origin, [atom])
    s.unit.merged.add(new)
    if is_inside(s, atom):
        s.unit.writes.made_inside.add(new)
    if atom in s.unit.unsure:
        s.unit.unsure.add(new)
    if atom in s.unit.if_bound:
        s.unit.if_bound[new] = s.unit.if_bound[atom]
    return new


def refuse_widening(s: Writer, function: Function) -> None:
    """Report a function of which the types do not settle."""
    s.reject(
        function.origin, f"{shown_name(function)}() is called recursively, and gives or writes "
        "values of ever new types", "give it arguments and results of one type",
        "unknown-callable",
    )


def finals(
    s: Writer, heap: Heap, callee: Callee, params: list[Param], made: set[Var],
    yields: tuple[Atom, ...] | None, out: list[Statement],
) -> tuple[bool, tuple[Atom, ...] | None]:
    """Note what a function writes into and gives; return whether that is new, and what it yields.

    A function that writes into parameters returns a tuple: its result, then what they became.
    ``made`` are the values inside that stand for arguments.
    """
    before = (callee.written, callee.gives, callee.unsure, callee.opens, len(callee.reads))
    callee.reads.update(heap.outside.reads)
    positions = {p.var: i for i, p in enumerate(params)}
    here = s.unit.calls.sites[-1]
    inner = made - set(positions)
    callee.opens = callee.opens or lost_write(s.unit, heap, positions, inner, yields)
    found = {i for var, i in positions.items() if var in heap.state.latest} | set(callee.written)
    callee.written = tuple(sorted(found))
    if yields is None:
        after = callee.written, callee.gives, callee.unsure, callee.opens, len(callee.reads)
        return after != before, None
    value = yields[0]
    there = heap.reference(value) if isinstance(value, Var) else None
    if there is None or not is_mutable(s.unit.type(value)):
        pass
    elif there.root in positions and not there.steps and heap.parts(value) is None:
        callee.gives = positions[there.root] if (callee.gives == "fresh" and not (
            callee.recursive)) or callee.gives == positions[there.root] else "may"
    else:
        near = {o for r in heap.roots(value) for o in (r, *heap.state.may_alias.get(r, ()))}
        if any(not heap.levels.get(r, 0) and (r in positions or r in heap.globals.values())
               for r in near) or callee.gives not in ("fresh", "may"):
            callee.gives = "may"
    for var, i in positions.items():
        if var in heap.state.invalidated and i in callee.written:
            s.reject(
                here, f"whether `{var.name}` is written into is not known when compiling",
                "use a copy where it is given another name", "aliases",
            )
    unsure = {i for var, i in positions.items() if heap.may_write(var)} - set(callee.written)
    callee.unsure = tuple(sorted(unsure | set(callee.unsure)))
    types = dict(callee.finals)
    for i in callee.written:
        type_ = s.unit.type(heap.state.value(params[i].var))
        callee.finals[i] = t.join(callee.finals.get(i, t.BOTTOM), type_)
    if callee.written:
        with s.writing_to(out):
            for i in callee.written:
                heap.reading.bring_up_to_date(params[i].var, here)
                if params[i].var in heap.state.invalidated:
                    heap.reading.refuse_lost(params[i].var, params[i].var, here)
            parts = [value, *(
                heap.writing.exclusive_value(params[i].var, here) for i in callee.written)]
            yields = (s.let(
                Pack("tuple", tuple(parts)), t.Tuple(tuple(map(s.unit.type, parts))), "parts", here
            ),)
    after = callee.written, callee.gives, callee.unsure, callee.opens, len(callee.reads)
    return after != before or types != callee.finals, yields


def made_anew(s: Writer, atom: Atom, inner: dict[Atom, Atom]) -> Atom:
    """Return the atom that stands for an argument inside a function compiled on its own."""
    if atom in inner:
        return inner[atom]
    if not isinstance(atom, Var) or parts_of_function(s.unit, atom) is None:
        return atom
    rhs = s.unit.definition(atom)
    assert rhs is not None
    new = inner[atom] = Var(atom.name, True)
    mapping = {
        part: made_anew(s, part, inner) for part in parts_of_function(s.unit, atom) or ()
        if isinstance(part, Var)
    }
    made = substitute(rhs, mapping)
    s.unit.record(new, made, s.unit.type(atom))
    s.out.append(Let(new, made, s.unit.calls.sites[-1]))
    return new


def unique_name(unit: Unit, name: str) -> str:
    """Return a name for a compiled function that no other one has."""
    taken = {callee.name for callee in unit.calls.callees.values()}
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
