"""Derivatives inside of code that is compiled: the compiler, applied to a part of a program.

``grad(f)(x)`` in a program stands for the code that the compiler emits for it. So that is what is
made of it here: ``f`` is specialised for the types at hand, differentiated, optimised and printed;
the text is read again, as the source of a function of the user's would be, and opened where the
derivative is called. What ``f`` captured becomes arguments of the emitted function, so that a
derivative may be taken with respect to it as well.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from adcompiler.analyses.derivatives import Wanted
from adcompiler.analyses.liveness import live_variables
from adcompiler.analyses.once import reused_variables
from adcompiler.cache.store import load_module
from adcompiler.emit.module import emit_module
from adcompiler.errors import ADError, Finding
from adcompiler.frontend.functions import lower
from adcompiler.frontend.replacements import REPLACEMENTS
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Closure, Const, Function, Let, Origin, Param, Var,
)
from adcompiler.ir.visit import definitions
from adcompiler.products import Product, Typed, Written, find_inputs, gradient, optimised, split
from adcompiler.pushforwards import pushforward
from adcompiler.rulekit.registry import REGISTRY
from adcompiler.runtime import as_cotangent
from adcompiler.transforms.binding import bind, environment
from adcompiler.transforms.callees import key_of, made_anew
from adcompiler.transforms.dead_carries import without_dead_carries
from adcompiler.transforms.heap import Heap
from adcompiler.transforms.in_place import rebound
from adcompiler.transforms.objects import open_parts
from adcompiler.transforms.opening import apply, defaults_of, defaults_of_closure
from adcompiler.transforms.parts import Steps
from adcompiler.transforms.specialise import Specialiser
from adcompiler.transforms.unit import Unit
from adcompiler.transforms.writer import Writer

MAX_DEPTH = 12


@dataclass(frozen=True)
class Called:
    """A call of the function to be differentiated: its IR with the atoms that it is given."""

    function: Function
    bound: list[Atom]
    captures: tuple[Atom, ...]
    itself: Atom
    scope: Scope | None
    identity: Any


@dataclass(eq=False)
class Derived:
    """A compiled derivative: ``entry`` is the emitted function, None while it is being compiled.

    ``captured`` are the variables of the outermost function's closure that it takes last;
    ``findings`` says why it could not be compiled, ``written`` which arguments it writes into.
    """

    entry: Any = None
    captured: tuple[str, ...] = ()
    written: tuple[int, ...] = ()
    findings: list[Finding] = field(default_factory=list)


def derive(
    s: Writer, wanted: Wanted, func: Atom, args: list[Any], kwargs: dict[str, Atom],
    origin: Origin, name: str, tangents: Sequence[Atom] = (),
) -> Atom:
    """Write the derivative of ``func`` at the arguments; of ``vjp``, the pair that it returns.

    For ``jvp`` there is a tangent for each argument wanted.
    """
    unit = s.unit
    called = resolved(s, func, args, kwargs, origin)
    if called is None:
        return UNDEF
    places = places_of(called.function, wanted)
    bound: list[Atom] = list(called.bound)
    given: dict[Atom, Atom] = {}
    for i in dict.fromkeys(i for i, _ in places):
        paths = [path for j, path in places if j == i]
        real = made_real(s, bound[i], paths, called.function.params[i].var.name, origin)
        apart = Var(called.function.params[i].var.name)
        unit.types[apart] = unit.type(real)
        unit.shapes[apart] = unit.shape_class(real)
        bound[i], given[apart] = apart, real
    called = Called(
        called.function, bound, called.captures, called.itself, called.scope, called.identity
    )
    kept: dict[Atom, None] = {}
    itself = called.itself
    inputs = [*bound, *called.captures, *((itself,) if isinstance(itself, Var) else ())]
    owner = None if called.scope is None else called.scope.function
    key = (
        wanted, called.identity, owner, tuple(key_of(s, a, False, itself, kept) for a in inputs)
    )
    derived = unit.derivatives.get(key)
    if derived is None:
        depth = sum(made.entry is None and not made.findings for made in unit.derivatives.values())
        if depth >= MAX_DEPTH:
            return refuse_depth(s, origin)
        derived = unit.derivatives[key] = Derived()
        compile_derivative(s, derived, wanted, called, places, list(kept), origin)
    elif derived.entry is None and not derived.findings:
        del unit.derivatives[key]
        return refuse_recursion(s, origin)
    for finding in derived.findings:
        s.report(finding)
    if derived.entry is None:
        return UNDEF
    atoms = [given.get(atom, atom) for atom in kept]
    refuse_shared(s, derived, atoms, origin)
    duals = []
    for (i, steps), dual in zip(places, tangents, strict=False):
        if steps:
            s.reject(origin, "jvp with respect to a part of an argument, inside of a function that "
                     "is compiled", "name the whole argument", "higher-order")
        duals.append(s.call(Const(as_cotangent), [dual, given[bound[i]]], {}, origin, "tangent"))
    return opened(s, derived, atoms, duals, origin, name)


def refuse_recursion(s: Writer, origin: Origin) -> Atom:
    """Report a derivative whose own code asks for it again."""
    return s.reject(
        origin, "a function calls its own derivative",
        "below @grad a function's name means the derivative: leave the decorator away and write "
        "`df = grad(f)`", "higher-order",
    )


def refuse_depth(s: Writer, origin: Origin) -> Atom:
    """Report derivatives of derivatives beyond what is compiled."""
    return s.reject(
        origin, f"more than {MAX_DEPTH} derivatives inside of one another, or a function that "
        "calls its own derivative",
        "a lower order; taylor, jet and nth_derivative go to any order where power series can be "
        "propagated", "higher-order",
    )


def refuse_shared(s: Writer, derived: Derived, atoms: list[Atom], origin: Origin) -> None:
    """Report arguments that share storage with one that the function writes into."""
    heap = s.heap
    if heap is None or not derived.written:
        return
    roots = [set(heap.roots(atom)) for atom in atoms]
    for k in derived.written:
        others = set().union(*(r for i, r in enumerate(roots) if i != k))
        near = {o for r in roots[k] for o in heap.state.entangled.get(r, ())}
        if (roots[k] | near) & others:
            s.reject(
                origin, "two values that the function reads here may share storage, and it writes "
                "into one", "pass a copy of one of them", "aliases",
            )


def opened(
    s: Writer, derived: Derived, atoms: Sequence[Atom], duals: Sequence[Atom], origin: Origin,
    name: str,
) -> Atom:
    """Write the code of a compiled derivative where it is called."""
    entry: FunctionType = derived.entry
    around = {**s.unit.captured, **s.unit.cells}
    captured = [s.value(var, {var: var}) for name in derived.captured
                if isinstance(var := around.get(name), Var)]
    definition = without_dead_carries(lower(entry))
    scope = Scope(entry, None, True)
    return apply(
        s, definition, [*atoms, *captured, *duals], (), Const(entry), scope, origin, name, entry
    )


# -- the call ---------------------------------------------------------------------------------


def resolved(
    s: Writer, func: Atom, args: list[Any], kwargs: dict[str, Atom], origin: Origin
) -> Called | None:
    """Return the function that is differentiated, with its arguments; None after a report."""
    made = s.unit.definition(func)
    if isinstance(made, Closure):
        bound = bind(s, made.function, args, kwargs, defaults_of_closure(made), origin)
        return None if bound is None else Called(
            made.function, bound, made.captures, func, made.scope, made.function
        )
    if isinstance(func, Const) and isinstance(func.value, FunctionType) and not (
        REGISTRY.has_rules(func.value) or REGISTRY.inactive(func.value)
        or func.value in REPLACEMENTS
    ):
        return resolved_python(s, func, func.value, args, kwargs, origin)
    function, captures = forwarding(s, func, args, kwargs, origin)
    bound = bind(s, function, args, kwargs, lambda param: None, origin)
    return None if bound is None else Called(
        function, bound, captures, UNDEF, None, ("forwarding", len(args), *kwargs, s.unit.type(func)
                                                 if isinstance(func, Var) else id(func.value))
    )


def resolved_python(
    s: Writer, func: Const, function: FunctionType, args: list[Any], kwargs: dict[str, Atom],
    origin: Origin,
) -> Called | None:
    """As ``resolved`` for a function written in Python."""
    try:
        definition = lower(function)
    except ADError as error:
        s.reject(origin, f"{function.__name__}() cannot be differentiated: {error}",
                 "put it into a file", "missing-source")
        return None
    emitted = function in s.unit.emitted
    scope = Scope(function, None if emitted else s.unit.path_of(function), emitted)
    default = defaults_of(s, func, function, definition, origin)
    bound = bind(s, definition, args, kwargs, default, origin)
    return None if bound is None else Called(definition, bound, (), func, scope, function)


def forwarding(
    s: Writer, func: Atom, args: list[Any], kwargs: dict[str, Atom], origin: Origin
) -> tuple[Function, tuple[Atom, ...]]:
    """Return an IR function that calls ``func`` with parameters for these arguments."""
    params = [Param(Var(f"x{i}" if len(args) > 1 else "x"), 1) for i in range(len(args))]
    named = [Param(Var(key), 3) for key in kwargs]
    inner: Atom = Var("function") if isinstance(func, Var) else func
    result = Var("value")
    call = Call(
        inner, tuple(p.var for p in params), tuple((p.var.name, p.var) for p in named)
    )
    body = Block((Let(result, call, origin),), (result,))
    shown = getattr(func.value, "__name__", "function") if isinstance(func, Const) else "function"
    captures = (inner,) if isinstance(inner, Var) else ()
    shown = shown if shown.isidentifier() else "function"
    function = Function(shown, (*params, *named), body, origin, captures)
    return function, (func,) if captures else ()


def places_of(function: Function, wanted: Wanted) -> list[tuple[int, Steps]]:
    """Return the positions of the wanted parameters, with the steps to the part wanted."""
    found = [place_of(function, one) for one in wanted.several]
    for n, (i, steps) in enumerate(found):
        for j, others in found[:n]:
            if i == j and steps[: len(others)] == others[: len(steps)]:
                raise ValueError(f"argnums: {wanted.argnums} names an argument twice")
    return found


def place_of(function: Function, one: int | str) -> tuple[int, Steps]:
    """Return the position of the parameter that ``one`` of ``argnums`` means, and steps."""
    names = [p.var.name for p in function.params]
    kinds = [p.kind for p in function.params]
    if isinstance(one, str):
        name, *steps = one.split(".")
        if name in names:
            return names.index(name), tuple(steps)
        if 4 in kinds:
            return kinds.index(4), (name, *steps)
        raise ValueError(
            f"argnums: {function.name} has no parameter {name!r}; it has {', '.join(names)}"
        )
    if 2 in kinds and one >= kinds.index(2):
        return kinds.index(2), (one - kinds.index(2),)
    count = len(names)
    if not -count <= one < count or (2 in kinds and one < 0):
        raise ValueError(
            f"argnums: {function.name} has no argument {one}; it has {count}, counted from 0"
        )
    return one % count, ()


def made_real(
    s: Writer, atom: Atom, steps: Sequence[Steps], name: str, origin: Origin
) -> Atom:
    """Write an argument to be differentiated with integers made floats; raise if it is no number.

    ``steps`` lead to the parts that are wanted, if it is not the whole.
    """
    type_ = s.unit.type(atom)
    if not t.may_vary(type_) and not has_integers(type_):
        raise TypeError(
            f"cannot differentiate with respect to {name}, which is of type {type_}; "
            "argnums chooses other arguments"
        )
    if isinstance(type_, t.Scalar) and type_.kind == "int":
        return s.call(Const(float if type_.dtype is None else np.float64), [atom], {}, origin, name)
    if isinstance(type_, t.Array) and type_.kind == "int":
        astype = s.attribute(atom, "astype", origin, "astype")
        return s.call(astype, [Const(np.float64)], {}, origin, name)
    elements = s.unit.elements(atom)
    if isinstance(type_, t.Tuple) and type_.cls is tuple and elements is not None and (
        has_integers(type_)
    ):
        wanted = {path[0] for path in steps if path} if all(steps) else set(range(len(elements)))
        return s.pack("tuple", tuple(
            made_real(s, part, [()], f"{name}[{i}]", origin) if i in wanted else part
            for i, part in enumerate(elements)
        ), name, origin)
    return atom


def has_integers(type_: t.Type) -> bool:
    """Say whether a value holds integers that count as floats."""
    match type_:
        case t.Scalar(kind):
            return kind == "int"
        case t.Array():
            return type_.kind == "int"
        case t.Tuple(items):
            return any(map(has_integers, items))
    return False


# -- compiling ---------------------------------------------------------------------------------


def compile_derivative(
    s: Writer, derived: Derived, wanted: Wanted, called: Called,
    places: list[tuple[int, Steps]], kept: list[Atom], origin: Origin,
) -> None:
    """Compile a derivative for the types at hand, and enter it into ``derived``."""
    unit = s.unit
    outside, unit.findings = unit.findings, derived.findings
    stores = len(unit.global_stores)
    try:
        with alone(unit, called.identity, origin):
            typed = typed_function(unit, called, places, kept, derived, origin)
            if len(unit.global_stores) > stores:
                refuse_effect(derived, origin, "a global variable")
            refuse_detached(unit, derived, typed, origin)
            if not derived.findings:
                product = optimised(product_of(unit, typed, wanted), unit)
        if not derived.findings:
            text, bound = emit_module(product, unit)
            load(unit, derived, wanted, product, text, bound)
    finally:
        unit.findings = outside
        if derived.entry is None and not derived.findings:  # an exception is on its way
            unit.derivatives = {k: v for k, v in unit.derivatives.items() if v is not derived}


@contextmanager
def alone(unit: Unit, identity: Any, origin: Origin) -> Iterator[None]:
    """Let functions that are being opened outside of the derivative be opened in it too."""
    outer, unit.active_calls = unit.active_calls, [identity]
    unit.call_sites.append(origin)
    unit.nested += 1
    cells, unit.cells = unit.cells, {}
    try:
        yield
    finally:
        unit.cells = cells
        unit.nested -= 1
        unit.active_calls = outer
        unit.call_sites.pop()


def typed_function(
    unit: Unit, called: Called, places: list[tuple[int, Steps]], kept: list[Atom],
    derived: Derived, origin: Origin,
) -> Typed:
    """Specialise the function to be differentiated, with all that it is given as parameters."""
    function = called.function
    s = Specialiser(unit)
    heap = s.heap = Heap(s)
    heap.live = live_variables(function)
    unit.reused |= reused_variables(function)
    names = dict(zip(called.captures, function.captures, strict=True))
    names.update(zip(called.bound, (p.var for p in function.params), strict=True))
    inner: dict[Atom, Atom] = {}
    params: list[Var] = []
    for atom in kept:
        new = Var(names[atom].name if atom in names else getattr(atom, "name", "value"))
        unit.types[new] = unit.type(atom)
        unit.merged.add(new)
        inner[atom] = new
        params.append(new)
    with s.writing_to([]) as out:
        wrt = {i for i, _ in places}
        for atom, new in zip(kept, params, strict=True):
            if unit.fields(atom) is not None and not any(called.bound[i] is atom for i in wrt):
                open_parts(s, new, function.origin)
        given = [made_anew(s, atom, inner) for atom in called.bound]
        env = environment(
            function, given, tuple(made_anew(s, a, inner) for a in called.captures),
            made_anew(s, called.itself, inner),
        )
        wanted = [a if isinstance(a, Var) else Var("fixed") for a in given]
        inputs, entry = find_inputs(s, function, wanted, env, places)
        yields = s.block(function.body, env, called.scope)
    for var in params:
        if var in heap.state.latest:
            with s.writing_to(out):
                heap.bring_up_to_date(var, function.origin)
    value = UNDEF if yields is None else yields[0]
    finals = heap.written(params, {})
    own = {inner[atom] for atom in called.bound if atom in inner}
    for var, _ in finals:
        if var not in own:
            refuse_effect(derived, origin, f"`{var.name}`")
    derived.written = tuple(params.index(var) for var, _ in finals if var in own)
    statements = rebound(s, [*heap.prologue, *out], (value,))
    return Typed(
        function, params, tuple(statements), value, function.origin, inputs, entry,
        [Written(var, final) for var, final in finals],
    )


def refuse_detached(unit: Unit, derived: Derived, typed: Typed, origin: Origin) -> None:
    """Report ``with no_grad()`` in the function differentiated: the emitted code forgets it."""
    if unit.detached & definitions(Block(typed.statements)):
        derived.findings.append(origin.finding(
            "the function that is differentiated here computes values inside `with no_grad()`",
            "stop_gradient(value) in place of the block", "no-grad",
        ))


def refuse_effect(derived: Derived, origin: Origin, what: str) -> None:
    """Report that the function differentiated writes into what is not one of its arguments."""
    derived.findings.append(origin.finding(
        f"the function that is differentiated here writes into {what}, which is not one of its "
        "arguments", "return the new value", "higher-order",
    ))


def product_of(unit: Unit, typed: Typed, wanted: Wanted) -> Product:
    """Return the product wanted, in which nothing is left of what the arguments became."""
    single = not isinstance(wanted.argnums, tuple)
    if wanted.mode in ("vjp", "forward"):
        typed.written = []
        return split(unit, typed, single) if wanted.mode == "vjp" else pushforward(unit, typed)
    return gradient(unit, typed, wanted.mode == "value_and_grad", wanted.has_aux, single)


PAIR = """

def {name}_vjp({params}):
    value, residuals = {name}_augmented({params})

    def pullback(cotangent):
        return {name}_pullback(residuals, as_cotangent(cotangent, value))

    return value, pullback
"""


def load(
    unit: Unit, derived: Derived, wanted: Wanted, product: Product, text: str,
    bound: dict[str, tuple[Any, Any]],
) -> None:
    """Load the emitted code of a derivative, as functions that are opened like the user's."""
    main = product.functions[0].name
    if wanted.mode == "vjp":
        name = main.removesuffix("_augmented")
        made = load_text(text, main).__dict__[main]
        code = made.__code__
        params = ", ".join(code.co_varnames[: code.co_argcount])
        text = f"from adcompiler.runtime import as_cotangent\n{text}" + PAIR.format(
            name=name, params=params)
        main = f"{name}_vjp"
    values = {name: value for name, (value, _) in bound.items()}
    module = load_anew(text, main) if values else load_text(text, main)
    vars(module).update(values)
    for function in vars(module).values():
        if isinstance(function, FunctionType) and function.__globals__ is vars(module):
            unit.emitted[function] = function.__name__ == main
    derived.captured = tuple(unit.captured)
    derived.entry = vars(module)[main]


def load_anew(text: str, main: str) -> ModuleType:
    """Import the emitted text as a module of its own."""
    return load_module(None, text, f"adcompiler_emitted.{main}")


load_text = functools.lru_cache(maxsize=256)(load_anew)
"""As ``load_anew``; the same module for the same text, so that it is parsed only once."""
