"""Functions given to others: compiled on their own, and passed by name to what calls them.

Nothing about such a function may depend on how often it runs, as the derivative runs it too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from inspect import CO_VARARGS, CO_VARKEYWORDS
from pathlib import Path
from types import FunctionType
from typing import Any

from adcompiler.analyses.purity import EFFECTS, WRITERS, checks
from adcompiler.errors import Finding
from adcompiler.frontend.functions import lower
from adcompiler.frontend.scope import Scope
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Closure, Const, Do, Function, Global, Let, Origin, Param,
    Rhs, Star, Statement, Unsupported, Var, operands,
)
from adcompiler.ir.visit import substitute_block, walk, with_blocks
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.ops.rules import Rule
from adcompiler.runtime import cell_value
from adcompiler.infer.calls.binding import (
    bind, environment, explain_binding, rule_default,
)
from adcompiler.infer.calls.callees import GIVEN, compiled_callee
from adcompiler.infer.calls.random_draws import draws
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit


def call_replacement(
    s: Operations, rule: Rule, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write a call of a function in whose place other code is compiled."""
    definition: Any = rule.definition
    function = lower(definition)
    findings = len(s.unit.findings)
    bound = bind(s, function, args, kwargs, lambda param: rule_default(definition, param), origin)
    if bound is None:
        explain_binding(s, rule, findings, origin)
        return UNDEF
    s.unit.relied.rules_used[rule] = None
    before = len(s.out)
    s.unit.calls.active.append(rule)
    s.unit.calls.sites.append(origin)
    s.unit.calls.replacing += 1
    env = environment(function, bound, (), Const(None))
    yields = s.block(function.body, env, Scope(definition))
    s.unit.calls.replacing -= 1
    s.unit.calls.active.pop()
    s.unit.calls.sites.pop()
    s.unit.findings[findings:] = [
        at_call(finding, function.origin.file, origin) for finding in s.unit.findings[findings:]
    ]
    s.out[before:] = [users(statement, origin) for statement in s.out[before:]]
    if yields is None:
        return UNDEF
    result = yields[0]
    if isinstance(result, Var) and result.temporary:
        s.unit.naming.names.setdefault(result, name)
    return result


def at_call(finding: Finding, file: str, origin: Origin) -> Finding:
    """Return a finding in the code that stands for a function as one about the call of it."""
    if finding.file != file:
        return finding
    callers = tuple(call for call in finding.callers if call != origin.call)
    return replace(origin.finding(finding.problem, finding.hint, finding.anchor), callers=callers)


def users_line(unit: Unit, origin: Origin) -> Origin:
    """Return the line of the user's code that led to a call written in the compiler's own code."""
    sites = [*unit.calls.sites, origin]
    while len(sites) > 1 and is_own(sites[-1]):
        sites.pop()
    return sites[-1]


def users(statement: Statement, origin: Origin) -> Statement:
    """Return a statement of the compiler's own code as one of the user's line ``origin``."""
    if isinstance(statement, Unsupported):
        return statement
    there = statement.origin
    if is_own(there):
        statement = replace(statement, origin=origin)
    elif there.via is not None and is_own(there.via):
        site = None if (there.file, there.line) == (origin.file, origin.line) else origin
        statement = replace(statement, origin=replace(there, via=site))
    return with_blocks(statement, lambda block: users_block(block, origin))


def users_block(block: Block, origin: Origin) -> Block:
    """Return a block without lines of the compiler's own code."""
    return replace(block, statements=tuple(users(inner, origin) for inner in block.statements))


def is_own(origin: Origin) -> bool:
    """Say whether a place lies in the compiler's own code."""
    return bool(OWN & set(Path(origin.file).parts[:-1]))


OWN = frozenset({"adcompiler", "adcompiler_rules"})
"""The directories of the compiler's own code."""


# -- compiling a function that is given to another -------------------------------------------------


def compile_given(
    s: Operations, f: Atom, variables: Sequence[Atom], args: Sequence[Atom],
    kwargs: dict[str, Atom], origin: Origin,
) -> tuple[Callee, list[Atom]] | None:
    """Return ``f`` compiled for ``variables`` and ``args``, and what it is passed beside these.

    None, after it has been reported, if it cannot be compiled, or must not run again.
    """
    origin = users_line(s.unit, origin)
    variables = [placeholder(s.unit, like) for like in variables]
    function = forwarding(s.unit, f, variables, args, kwargs, origin)
    bound = [*variables, f, *args, *kwargs.values()]
    found = compiled_callee(
        s, function, bound, (), Const(None), None, origin, (GIVEN, identity_of(s.unit, f))
    )
    if found is None:
        return None
    callee, kept = found
    for finding in callee.findings:
        s.report(finding)
    if callee.findings or not may_run_again(s, callee, function.name, origin):
        return None
    if not callee.given:
        callee.given = True
        lift_data(s.unit, callee, origin)
    if refuse_stale(s, callee, function.name, origin):
        return None
    rest = kept[len(variables):]
    return callee, [*rest, *(
        read_again(s, callee, var, rhs, origin) for var, rhs in callee.lifted)]


def refuse_stale(s: Writer, callee: Callee, name: str, origin: Origin) -> bool:
    """Report a function that reads what was written here, and is not passed it; say whether."""
    if s.heap is None:
        return False
    inside = [callee] if callee.recursive else called_by(callee)
    stale = [var for one in inside if (var := s.heap.outside.enter_reads(one, origin)) is not None]
    if stale:
        s.reject(
            origin, f"a function that {name}() calls reads `{stale[0].name}`, which was written "
            "into before", "pass it as an argument", "aliases",
        )
    return bool(stale)


def called_by(callee: Callee) -> list[Callee]:
    """Return the functions compiled on their own that the code of one calls."""
    assert callee.function is not None
    return list(dict.fromkeys(
        statement.rhs.func.value for statement in walk(callee.function.body)
        if isinstance(statement, (Let, Do)) and isinstance(statement.rhs, Call)
        and isinstance(statement.rhs.func, Const) and isinstance(statement.rhs.func.value, Callee)
    ))


def placeholder(unit: Unit, like: Atom) -> Var:
    """Return a variable for an argument that a library will give, of the type of ``like``."""
    var = Var("x")
    unit.set_type(var, unit.told_type(like), True)
    unit.merged.add(var)
    return var


def forwarding(
    unit: Unit, f: Atom, variables: Sequence[Atom], args: Sequence[Atom],
    kwargs: dict[str, Atom], origin: Origin,
) -> Function:
    """Return the IR of a function that calls its parameter ``f`` with all its others."""
    called = Var("function")
    names = iter(parameter_names(unit, f))
    params = [Var(next(names, "x")) for _ in (*variables, *args)]
    named = {key: Var(key) for key in kwargs}
    result = Var("result", True)
    call = Call(called, tuple(params), tuple(named.items()))
    first, rest = params[: len(variables)], params[len(variables):]
    return Function(
        name_of(unit, f), tuple(Param(p, 1) for p in (*first, called, *rest, *named.values())),
        Block((Let(result, call, origin),), (result,)), origin,
    )


def identity_of(unit: Unit, f: Atom) -> Any:
    """Return what tells functions apart."""
    made = unit.definition(f)
    if isinstance(made, Closure):
        return made.function
    return id(f.value) if isinstance(f, Const) else f


def parameter_names(unit: Unit, f: Atom) -> list[str]:
    """Return the names of the parameters of a function, as far as they are known."""
    made = unit.definition(f)
    if isinstance(made, Closure):
        return [p.var.name for p in made.function.params if p.kind in (0, 1)]
    if isinstance(f, Const) and isinstance(f.value, FunctionType):
        return list(f.value.__code__.co_varnames[: f.value.__code__.co_argcount])
    return []


def takes_exactly(unit: Unit, f: Atom) -> int | None:
    """Return how many arguments a function takes by position; None if it may be called with fewer.
    """
    made = unit.definition(f)
    if isinstance(made, Closure):
        params = made.function.params
        if params and params[-1].kind == VAR_POSITIONAL:
            return passed_on(unit, made)
        return len(params) if all(
            p.kind <= POSITIONAL and not p.has_default for p in params) else None
    if isinstance(f, Const) and isinstance(f.value, FunctionType) and not f.value.__defaults__:
        code = f.value.__code__
        if not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) and not code.co_kwonlyargcount:
            return code.co_argcount
    return None


def passed_on(unit: Unit, made: Closure) -> int | None:
    """Return how many arguments a function takes that passes its last ones on: ``f(x, *args)``.

    ``gradient_of(f)`` takes those of ``f``.
    """
    params = made.function.params
    captured = dict(zip(made.function.captures, made.captures, strict=True))
    for statement in walk(made.function.body):
        match statement:
            case Let(target, Call(Var(), (Var() as f,), ())) if f in captured:
                captured[target] = captured[f]
            case Let(_, Call(Var() as f, (*first, Star(atom)), ())) if (
                atom is params[-1].var and f in captured
            ):
                count = takes_exactly(unit, captured[f])
                return None if count is None else count - len(first) + len(params) - 1
    return None


POSITIONAL, VAR_POSITIONAL = 1, 2
"""Kinds of parameters, as ``inspect.Parameter`` numbers them."""


def name_of(unit: Unit, f: Atom) -> str:
    """Return the name that a function is emitted under."""
    made = unit.definition(f)
    if isinstance(made, Closure):
        return made.function.name
    name = getattr(f.value, "__name__", "") if isinstance(f, Const) else ""
    return name if name.isidentifier() else "function"


# -- what may run again ----------------------------------------------------------------------------


def may_run_again(s: Writer, callee: Callee, name: str, origin: Origin) -> bool:
    """Report a function that must not run more often than the code says; say whether it may."""
    shown = "the function" if name in ("function", "lambda_") else f"{name}()"
    problem = ""
    if callee.written or callee.unsure:
        problem = f"{shown} writes into what it is given, and would do so again"
    elif callee.opens:
        problem = f"{shown} {callee.opens[0]}, and would do so again"
    elif effect := next(effects(s.unit, callee, set()), None):
        problem = f"{shown} {effect}, and would do so again"
    if problem:
        s.reject(
            origin, f"{problem} when the derivative is computed",
            "let it return new values, and take what it needs as arguments", "run-again",
        )
    return not problem


def effects(unit: Unit, callee: Callee, seen: set[Callee]) -> Iterator[str]:
    """Yield what a compiled function does beside giving its value, in words."""
    if callee in seen or callee.function is None:
        return
    seen.add(callee)
    for statement in walk(callee.function.body):
        rhs = statement.rhs if isinstance(statement, (Let, Do)) else None
        if not isinstance(rhs, Call) or checks(rhs):
            continue
        if isinstance(rhs.func, Const) and isinstance(rhs.func.value, Callee):
            yield from effects(unit, rhs.func.value, seen)
        elif isinstance(statement, Do):
            yield "is called for an effect of its own"
        elif any(draws(unit, atom) for atom in operands(rhs)):
            yield "draws random numbers"
        elif isinstance(rhs.func, Const) and hashable(rhs.func.value):
            function = rhs.func.value
            inactive = REGISTRY.inactive(function)
            if function in EFFECTS or function in WRITERS or (
                inactive is not None and not inactive.pure
            ):
                yield f"calls {getattr(function, '__name__', 'a function')}(), which has an effect"


# -- data that is read -----------------------------------------------------------------------------


def lift_data(unit: Unit, callee: Callee, origin: Origin) -> None:
    """Make the data of modules and cells that a function reads parameters of it.

    It might be changed before a pullback is called.
    """
    function = callee.function
    assert function is not None
    found: dict[Any, Var] = {}
    mapping: dict[Var, Atom] = {}
    outside = {reads[-1][0] for reads in callee.reads.values()}

    def without(block: Block) -> Block:
        return replace(block, statements=tuple(kept(block)))

    def kept(block: Block) -> Iterator[Statement]:
        for statement in block.statements:
            key = None if callee.recursive else data_read(statement, outside)
            if key is None:
                yield with_blocks(statement, without)
                continue
            assert isinstance(statement, Let)
            first = found.setdefault(key, statement.target)
            if first is statement.target:
                callee.lifted.append((first, statement.rhs))
                unit.defs.pop(first, None)
            else:
                mapping[statement.target] = first

    body = users_block(substitute_block(without(function.body), mapping), origin)
    params = (*function.params, *(Param(var, 1) for var in found.values()))
    callee.function = replace(function, params=params, body=body)


def data_read(statement: Statement, outside: Collection[Var]) -> Any:
    """Return what tells the data that a statement reads from other data; None if it reads none.

    ``outside`` are the objects that the function refers to, read by one statement each.
    """
    match statement:
        case Let(rhs=Global(module, path)):
            return module, path
        case Let(rhs=Call(Const(function), (Const(owner), Const(index)))) if function is cell_value:
            return id(owner), index
        case Let(target) if target in outside:
            return target
    return None


def read_again(s: Writer, callee: Callee, var: Var, rhs: Rhs, origin: Origin) -> Atom:
    """Write the reading of data of a module or cell where a function that reads it is called."""
    heap = s.heap
    for place, reads in callee.reads.items():
        if reads[-1][0] is var and heap is not None:
            return heap.reading.current(heap.outside.again(place, reads, origin), origin)
    return s.let(rhs, s.unit.type(var), var.name, origin, False)
