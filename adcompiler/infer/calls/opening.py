"""Calls of functions whose source is read: opened in place, or left as calls."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.analyses.array_libraries import is_foreign
from adcompiler.analyses.liveness import live_variables
from adcompiler.analyses.single_use import reused_variables
from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Closure, Const, Function, Let, Origin, Param, Star, Statement,
    Unsupported, Var, unstar,
)
from adcompiler.ir.visit import size, walk, with_blocks
from adcompiler.ops.qualified_names import is_emitted_home
from adcompiler.runtime import generated
from adcompiler.runtime.reading import RAISED, attempted
from adcompiler.infer.calls.binding import (
    bind, by_number_of_items, environment, literal, plain_call, shown_name,
)
from adcompiler.infer.calls.callees import (
    GIVEN, MAX_CALLS, MAX_DEPTH, call_compiled, parts_of_function,
)
from adcompiler.infer.calls.libraries import is_library, may_be_tried, works_on_programs
from adcompiler.infer.calls.telling import may_keep_told, tells
from adcompiler.infer.dead_carries import without_dead_carries
from adcompiler.infer.eager_effects import made_by_now
from adcompiler.infer.memos import note_memos
from adcompiler.infer.storage.state import State
from adcompiler.infer.interface import Operations
from adcompiler.infer.result_types import ResultTypes
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import CannotStandInError, simple, type_of

INLINE_SIZE = 30
RULES = "adcompiler_rules"
MAX_GROWN = 400
"""Statements that opening a small function may lead to, with those that it calls, more than once.

Each of a chain of functions that calls the next one twice would be opened twice as often.
"""


def call_python(
    s: Operations, func: Const, function: python_types.FunctionType, args: list[Atom],
    kwargs: dict[str, Atom], origin: Origin, name: str,
) -> Atom:
    """Write a call of a function written in Python."""
    in_rule = s.in_rule
    path = None if function in s.unit.derivatives.emitted else s.unit.relied.path_of(function)
    if is_called_as_it_stands(s.unit, func, [unstar(a) for a in (*args, *kwargs.values())]):
        return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)
    try:
        definition = lower(function)
    except ADError:
        return s.let(plain_call(func, args, kwargs), t.UNKNOWN, name, origin)
    emitted = function in s.unit.derivatives.emitted
    scope = Scope(function, path, emitted)
    definition = without_dead_carries(definition) if emitted else definition
    rejects = any(isinstance(statement, Unsupported) for statement in walk(definition.body))
    found: Atom | None = static_result(s, function, args, kwargs) if rejects else None
    if found is None and not is_library(function):
        found = by_number_of_items(s, func, definition, args, kwargs, origin, name)
    if found is not None:
        return found
    default = defaults_of(s, func, function, definition, origin)
    bound = bind(s, definition, args, kwargs, default, origin, not is_library(function))
    if bound is None:
        return UNDEF
    before = None if s.heap is None else (s.heap.state.copy(), dict(s.heap.references))
    with s.writing_to([]) as out:
        findings, lacking = len(s.unit.findings), s.lacking
        result = apply(s, definition, bound, (), func, scope, origin, name, function)
    if before is not None and is_library(function) and writes_global(s, before[0]):
        assert s.heap is not None
        s.heap.state, s.heap.references = before
        del s.unit.findings[findings:]
        return call_as_it_is(s, func, function, args, kwargs, origin, name)
    if s.lacking > lacking and len(s.unit.findings) == findings and not isinstance(result, Const):
        static = static_before(s, before, function, args, kwargs)
        if static is not None:
            return static
    helps = s.unit.calls.replacing > 0 and s.unit.relied.is_inside_rules(function)
    if len(s.unit.findings) > findings and not helps:
        after = None if s.heap is None else (s.heap.state, s.heap.references)
        if s.heap is not None and before is not None:
            s.heap.state, s.heap.references = before
        static = static_result(s, function, args, kwargs)
        if static is not None:
            del s.unit.findings[findings:]
            return static
        if s.heap is not None and after is not None and not (in_rule or is_library(function)):
            s.heap.state, s.heap.references = after
        if in_rule or is_library(function):
            s.unit.calls.opaque[function] = s.unit.findings[findings]
            del s.unit.findings[findings:]
            return call_as_it_is(s, func, function, args, kwargs, origin, name)
    s.out.extend(out)
    made_by_now(s, result)
    return result


def is_called_as_it_stands(unit: Unit, func: Const, values: list[Atom]) -> bool:
    """Say whether a function is called, and not opened, by what it is about and is given."""
    function = func.value
    return is_foreign(function) or (
        works_on_programs(function) and not any(t.may_vary(unit.type(a)) for a in values)
    ) or (tells(function) and not may_keep_told(unit, func, values))


def static_before(
    s: Writer, before: tuple[State, dict[Var, Any]] | None, function: Callable[..., Any],
    args: list[Atom], kwargs: dict[str, Atom]
) -> Const | None:
    """Return what a function gives if that is known; the heap is as before the call then."""
    after = None if s.heap is None else (s.heap.state, s.heap.references)
    if s.heap is not None and before is not None:
        s.heap.state, s.heap.references = before
    static = static_result(s, function, args, kwargs)
    if static is None and s.heap is not None and after is not None:
        s.heap.state, s.heap.references = after
    return static


def defaults_of(
    s: Writer, func: Const, function: python_types.FunctionType, definition: Function,
    origin: Origin,
) -> Callable[[Param], Atom | None]:
    """Return what gives the default value of a parameter of a Python function."""
    defaults = function.__defaults__ or ()
    positional = [p for p in definition.params if p.kind in (0, 1)]
    first = len(positional) - len(defaults)

    def default(param: Param) -> Atom | None:
        if param.kind == 3:
            table = function.__kwdefaults__ or {}
            key = param.var.name
            if key not in table:
                return None
            return literal(s, table[key], func, ("__kwdefaults__", key), origin)
        index = positional.index(param) - first if param in positional else -1
        if index < 0:
            return None
        return literal(s, defaults[index], func, ("__defaults__", index), origin)

    return default


def writes_global(s: Writer, before: State) -> bool:
    """Say whether the code opened since wrote into an object of a module: a table of its own."""
    assert s.heap is not None
    return any(
        s.heap.state.value(root) is not before.value(root) for root in s.heap.outside.roots()
    )


def call_as_it_is(
    s: Writer, func: Const, function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write a call of a function that cannot be compiled: one without derivative, or in a rule."""
    tried = may_be_tried(function, (*args, *kwargs.values()))
    type_ = s.types.of_call(function, args, kwargs) if tried else t.UNKNOWN
    if tried and takes_read_only(s.types, function, args, kwargs):
        s.unit.calls.harmless.add(function)
    return s.let(plain_call(func, args, kwargs), type_, name, origin)


def takes_read_only(
    types: ResultTypes, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom]
) -> bool:
    """Say whether a library function works on arrays that it cannot write into."""
    try:
        values = [types.stand_in(a, 3) for a in args]
        named = {k: types.stand_in(a, 3) for k, a in kwargs.items()}
    except CannotStandInError:
        return False
    protect((*values, *named.values()))
    return attempted(function, *values, **named) is not RAISED


def protect(values: Iterable[Any]) -> None:
    """Make writes into arrays raise."""
    for value in values:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        elif isinstance(value, (list, tuple)):
            protect(value)


def contents(value: Any) -> list[Any]:
    """Return what a list, dict or plain object holds."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list):
        return list(value)
    fields = getattr(value, "__dict__", None)
    return [*fields, *fields.values()] if type(fields) is dict else []


def same_contents(value: Any, held: list[Any]) -> bool:
    """Say whether a value still holds the same objects."""
    now = contents(value)
    return len(now) == len(held) and all(a is b for a, b in zip(now, held, strict=True))


def static_result(
    s: Writer, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom]
) -> Const | None:
    """Return the value of a call that depends on argument types only, found by trying it.

    Only modules, functions, classes, dtypes and None count as such values, and plain values where
    every argument is known. Used for library functions that cannot be compiled: the user's own
    functions never run when compiling.
    """
    if any(isinstance(a, Star) for a in args) or not may_be_tried(
        function, (*args, *kwargs.values())
    ):
        return None
    found = []
    for n in (3, 4):
        try:
            values = [s.types.stand_in(a, n) for a in args]
            named = {k: s.types.stand_in(a, n) for k, a in kwargs.items()}
        except CannotStandInError:
            return None
        given = (*values, *named.values())
        protect(given)
        held = [contents(value) for value in given]
        found.append(attempted(function, *values, **named))
        if found[-1] is RAISED or not all(map(same_contents, given, held)):
            return None  # the call is not for its value only
    known = all(isinstance(s.unit.type(a), t.Static) or isinstance(a, Const)
                for a in (*args, *kwargs.values()))
    first, second = found
    if isinstance(type_of(first), t.Static) and t.same_static(first, second):
        return Const(first)
    if known and simple(first) and first == second:
        return Const(first)
    return None


def call_closure(
    s: Operations, func: Atom, closure: Closure, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write a call of a function defined inside the code being compiled."""
    function = closure.function
    found = by_number_of_items(s, func, function, args, kwargs, origin, name)
    if found is not None:
        return found
    bound = bind(s, function, args, kwargs, defaults_of_closure(closure), origin, True)
    if bound is None:
        return UNDEF
    return apply(s, function, bound, closure.captures, func, closure.scope, origin, name, function)


def defaults_of_closure(closure: Closure) -> Callable[[Param], Atom | None]:
    """Return what gives the default value of a parameter of an inner function."""
    with_default = [p for p in closure.function.params if p.has_default]

    def default(param: Param) -> Atom | None:
        return closure.defaults[with_default.index(param)] if param.has_default else None

    return default


def apply(
    s: Operations, function: Function, bound: list[Atom], captures: tuple[Atom, ...], itself: Atom,
    scope: Scope | None, origin: Origin, name: str, identity: Callable[..., Any] | Function,
) -> Atom:
    """Write the body of ``function`` in place, or a call of its own compiled form."""
    unit = s.unit
    if scope is None or not scope.is_rule:
        unit.iterators.reused |= reused_variables(function)
        for param, atom in zip(function.params, bound, strict=True):
            s.check_once(param.var, atom, origin)
    depth = unit.calls.active.count(identity)
    grown = unit.calls.grown.get(identity, 0) > MAX_GROWN
    large = size(function.body) > INLINE_SIZE or grown
    large = large and not partial_evaluation_helps(unit, bound)
    given = bool(unit.calls.active) and is_given(unit.calls.active[-1])
    opened = depth == 0 and (
        not large or given or (scope is not None and scope.is_rule)
        or unit.derivatives.emitted.get(identity, False) or overlap(s, bound, captures)
        or identity in unit.calls.giving or gives_generator(function)
        or is_being_made(s.unit, identity, bound) or (not grown and stands_for_library(identity))
    )
    if not opened and not must_open(s.unit, bound, captures):
        result = call_compiled(
            s, function, bound, captures, itself, scope, origin, name, identity
        )
        if result is not None:
            return result
    if depth > MAX_DEPTH or len(unit.calls.active) > MAX_CALLS:
        return s.reject(
            origin,
            f"{shown_name(function)}() is called recursively with functions as arguments",
            "write the recursion without passing functions", "unknown-callable",
        )
    env = environment(function, bound, captures, itself)
    note_memos(s, function, env, scope)
    if s.heap is not None:
        s.heap.live |= live_variables(function)
    unit.calls.active.append(identity)
    unit.calls.sites.append(origin)
    before = unit.settings.budget.spent
    try:
        with s.writing_to([]) as out:  # what is asked of a generator is what its function writes
            yields = s.block(function.body, env, scope)
    finally:
        unit.calls.active.pop()
        unit.calls.sites.pop()
        unit.calls.grown[identity] = unit.settings.budget.spent - before
    s.out.extend(out if given else via(out, origin))
    if yields is None:
        return UNDEF
    made_by_now(s, yields[0])
    return yields[0]


def is_given(identity: Any) -> bool:
    """Say whether what is being compiled only calls a function that is given to another."""
    return isinstance(identity, tuple) and identity[0] == GIVEN


def via(statements: Iterable[Statement], site: Origin) -> list[Statement]:
    """Return the statements of an opened function, with the line that called it."""
    line = site.via or site
    moved: dict[int, Origin] = {}  # of a line's statements, most have one origin

    def reached(origin: Origin) -> Origin:
        found = moved.get(id(origin))
        if found is None:
            found = moved[id(origin)] = replace(origin, via=line)
        return found

    def within(block: Block) -> Block:
        return replace(block, statements=tuple(map(one, block.statements)))

    def one(statement: Statement) -> Statement:
        if isinstance(statement, Let):
            return Let(statement.target, statement.rhs, reached(statement.origin))
        if isinstance(statement, Unsupported):
            return statement
        return with_blocks(replace(statement, origin=reached(statement.origin)), within)

    return [one(statement) for statement in statements]


def stands_for_library(identity: Any) -> bool:
    """Say whether a function is of a module of rules, written for one of a library.

    What is in its instances and tuples, knots and values, carries derivatives apart from one
    another, which is not known behind a call.
    """
    module = getattr(identity, "__module__", "")
    return module.partition(".")[0] == RULES and not is_emitted_home(module)


def partial_evaluation_helps(unit: Unit, bound: list[Atom]) -> bool:
    """Say whether an argument known when compiling is likely to decide branches of the callee."""
    return any(
        (isinstance(a, Const) and not isinstance(a.value, (int, float, complex, str)))
        or isinstance(unit.type(a), t.FunctionType)
        for a in bound
    )


def gives_generator(function: Function) -> bool:
    """Say whether a function is a generator function: what it gives is known where it is opened."""
    return any(
        isinstance(statement, Let) and isinstance(statement.rhs, Call)
        and isinstance(statement.rhs.func, Const) and statement.rhs.func.value is generated
        and bool(statement.rhs.kwargs) for statement in function.body.statements
    )


def is_being_made(unit: Unit, identity: Any, bound: list[Atom]) -> bool:
    """Say whether a function is the constructor of an instance that has no attributes yet."""
    return getattr(identity, "__name__", "") == "__init__" and bool(bound) and (
        unit.fields(bound[0]) == {}
    )


def overlap(s: Writer, bound: list[Atom], captures: tuple[Atom, ...]) -> bool:
    """Say whether two arguments may share storage: a write to one may change the other."""
    if s.heap is None:
        return False
    seen: set[Var] = set()
    for atom in dict.fromkeys((*bound, *captures)):
        roots = set(s.heap.roots(atom))
        near = {o for r in roots for o in s.heap.state.may_alias.get(r, ())}
        if (roots | near) & seen:
            return True
        seen |= roots
    return False


def must_open(unit: Unit, bound: list[Atom], captures: tuple[Atom, ...]) -> bool:
    """Say whether a function is passed of which it is not known how it was made."""
    return any(
        a in unit.calls.one_of or (
            isinstance(unit.type(a), (t.FunctionType, t.Method))
            and parts_of_function(unit, a) is None
        ) for a in (*bound, *captures)
    )
