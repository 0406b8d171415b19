"""One transform of a function that compiled code differentiates: its emitted text, loaded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from types import FunctionType, ModuleType
from typing import Any

from adcompiler.analyses.liveness import live_variables
from adcompiler.analyses.single_use import reused_variables
from adcompiler.backends.python.module import emit_with_origins
from adcompiler.cache.modules import EMITTED, load_module
from adcompiler.compile.modes import INSIDE
from adcompiler.compile.nested.called import Called
from adcompiler.derive.stand_ins import with_stand_ins
from adcompiler.errors import Finding
from adcompiler.frontend.sources.places import PSEUDO, stand_for
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Function, Origin, Var,
)
from adcompiler.ir.visit import definitions
from adcompiler.products.linearization import NotSplittable
from adcompiler.products.product import Product, optimised
from adcompiler.products.specialised import (
    Typed, Written, changed_everywhere, checked_callees, find_inputs, kept_apart,
)
from adcompiler.infer.calls.binding import environment
from adcompiler.infer.calls.callees import made_anew
from adcompiler.infer.inference import Inference
from adcompiler.infer.objects import open_parts
from adcompiler.infer.differentiated_paths import Steps, refuse_new_attributes
from adcompiler.infer.storage.alias_guards import with_repeats_checked
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.in_place import rebound
from adcompiler.infer.storage.memory_order import find_layouts_read, with_layouts_kept
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee
from adcompiler.typed.derivatives import Wanted
from adcompiler.typed.options import Options
from adcompiler.typed.unit import Unit


@dataclass(eq=False)
class Derived:
    """A compiled derivative: ``entry`` is the emitted function, None while it is being compiled.

    ``captured`` are the variables of the outermost function's closure that it takes last;
    ``findings`` says why it could not be compiled, ``written`` which arguments it writes into.
    ``in_one_piece`` is set of a pushforward that cannot be parted from the primal. ``functions``
    are those emitted, main one first; ``called`` is that one, where it is called by name.
    """

    entry: Any = None
    captured: tuple[str, ...] = ()
    written: tuple[int, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    in_one_piece: bool = False
    functions: list[Function] = field(default_factory=list)
    called: Callee | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is being compiled."""
        return self.entry is None and not self.findings and not self.in_one_piece



def compile_derivative(
    unit: Unit, derived: Derived, wanted: Wanted, called: Called,
    places: list[tuple[int, Steps]], kept: list[Atom], origin: Origin,
) -> None:
    """Compile a derivative for the types at hand, and enter it into ``derived``."""
    outside, unit.findings = unit.findings, derived.findings
    stores = len(unit.globals.stores)
    try:
        with alone(unit, called.identity, origin):
            typed = typed_function(unit, called, places, kept, derived, origin)
            if len(unit.globals.stores) > stores:
                refuse_effect(derived, origin, "a global variable")
            refuse_detached(unit, derived, typed, origin)
            if not derived.findings:
                product = optimised(product_of(unit, typed, wanted), unit)
        if not derived.findings:
            derived.functions = product.functions
            text, bound, origins = emit_with_origins(product, unit)
            rest = typed.origin if origin.file.startswith(PSEUDO) else origin
            load(unit, derived, wanted, product, text, bound, origins, rest)
    except NotSplittable:
        derived.in_one_piece = True
    finally:
        unit.findings = outside
        if derived.is_open:  # an exception is on its way
            known = unit.derivatives.compiled
            unit.derivatives.compiled = {k: v for k, v in known.items() if v is not derived}


@contextmanager
def alone(unit: Unit, identity: Callable[..., Any] | Function, origin: Origin) -> Iterator[None]:
    """Let functions that are being opened outside of the derivative be opened in it too."""
    outer, unit.calls.active = unit.calls.active, [identity]
    unit.calls.sites.append(origin)
    unit.derivatives.around += 1
    cells, unit.relied.cells = unit.relied.cells, {}
    try:
        with unit.loops.apart():
            yield
    finally:
        unit.relied.cells = cells
        unit.derivatives.around -= 1
        unit.calls.active = outer
        unit.calls.sites.pop()


def typed_function(
    unit: Unit, called: Called, places: list[tuple[int, Steps]], kept: list[Atom],
    derived: Derived, origin: Origin,
) -> Typed:
    """Specialise the function to be differentiated, with all that it is given as parameters."""
    function = called.function
    s = Inference(unit)
    heap = s.heap = Heap(s)
    heap.live = live_variables(function)
    unit.iterators.reused |= reused_variables(function)
    names = dict(zip(called.captures, function.captures, strict=True))
    names.update(zip(called.bound, (p.var for p in function.params), strict=True))
    inner: dict[Atom, Atom] = {}
    params: list[Var] = []
    for atom in kept:
        new = Var(names[atom].name if atom in names else getattr(atom, "name", "value"))
        unit.set_type(new, unit.told_type(atom), True)
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
        inputs, parts, _ = find_inputs(s, function, wanted, env, places)
        yields = s.block(function.body, env, called.scope)
    for var in params:
        if var in heap.state.latest:
            with s.writing_to(out):
                heap.reading.bring_up_to_date(var, function.origin)
    value = UNDEF if yields is None else yields[0]
    refuse_new_attributes(s, parts, function.origin)
    finals = heap.outside.written([*params, *parts.held], {})
    own = {inner[atom] for atom in called.bound if atom in inner and atom not in called.defaults}
    made = set(inner.values()) - set(params) - own  # what holds functions, made anew
    there = (*params, *unit.relied.captured.values(), *heap.globals.values())
    changed = [var for var, _ in finals]
    written = dict.fromkeys((
        *changed, *(root for root in heap.state.latest if root in made),
        *filter(heap.may_write, there),
    ))
    for var in (var for var in written if var not in own):
        refuse_effect(derived, origin, f"`{var.name}`")
    derived.written = tuple(params.index(var) for var in written if var in own)
    check = kept_apart(s, heap, [], params, set(changed), function.origin)
    body = Block(tuple(rebound(s, [*heap.outside.prologue, *check, *out], (value,))), (value,))
    find_layouts_read(s, Block((*parts.entry, *body.statements), tuple(dict(finals).values())))
    checked_callees(unit)
    body = with_repeats_checked(unit, with_layouts_kept(unit, body), changed)
    return Typed(
        function, params, body.statements, value, function.origin, inputs, parts.entry,
        [Written(var, final) for var, final in finals],
    )


def refuse_detached(unit: Unit, derived: Derived, typed: Typed, origin: Origin) -> None:
    """Report ``with no_grad()`` in the function differentiated: the emitted code forgets it."""
    if unit.writes.detached & definitions(Block(typed.statements)):
        derived.findings.append(origin.finding(
            "the function that is differentiated here computes values inside `with no_grad()`",
            "stop_gradient(value) in place of the block", "no-grad",
        ))


def refuse_effect(derived: Derived, origin: Origin, what: str) -> None:
    """Report that the function differentiated writes into what is not one of its arguments."""
    derived.findings.append(origin.finding(
        f"the function that is differentiated here writes into {what}, which is not one of its "
        "arguments", "return the new value", "global-nonlocal",
    ))


def product_of(unit: Unit, typed: Typed, wanted: Wanted) -> Product:
    """Return the product wanted, in which nothing is left of what the arguments became."""
    mode = INSIDE[wanted.mode]
    if mode.has_effects:
        typed.written = []
    typed = changed_everywhere(unit, typed, with_stand_ins)
    return mode.build(unit, typed, Options(wanted.mode, wanted.argnums, wanted.has_aux))


PULLBACK = """from adcompiler.runtime import as_cotangent
{text}

def {name}_vjp({params}):
    value, residuals = {name}_augmented({params})

    def pullback(cotangent):
        return {name}_pullback(residuals, {cotangent})

    return value, pullback
"""

PUSHFORWARD = """{text}

def {name}_linearize({params}):
    value, residuals = {name}_linearized({params})

    def pushforward({tangents}):
        return {name}_tangent({tangents_too})

    return value, pushforward
"""


def load(
    unit: Unit, derived: Derived, wanted: Wanted, product: Product, text: str,
    bound: dict[str, tuple[Any, Any]], origins: dict[int, Origin],
    rest: Origin,
) -> None:
    """Load the emitted code of a derivative, as functions that are opened like the user's."""
    main = product.functions[0].name
    if INSIDE[wanted.mode].halves:
        text, main, before = with_second_half(wanted, product, text)
        origins = {line + before: origin for line, origin in origins.items()}
    values = {name: value for name, (value, _) in bound.items()}
    module = load_anew(text, main) if values else load_text(text, main)
    vars(module).update(values)
    stand_for(vars(module)[main].__code__.co_filename, origins, rest)
    for function in vars(module).values():
        if isinstance(function, FunctionType) and function.__globals__ is vars(module):
            unit.derivatives.emitted[function] = function.__name__ == main
    derived.captured = tuple(unit.relied.captured)
    derived.entry = vars(module)[main]


def with_second_half(wanted: Wanted, product: Product, text: str) -> tuple[str, str, int]:
    """Return a module with a function that returns the value and a closure, and its name.

    The last result counts the lines that are put in front.
    """
    first, second = product.functions[:2]
    made = load_text(text, first.name).__dict__
    code = made[first.name].__code__
    params = ", ".join(code.co_varnames[: code.co_argcount])
    name = first.name.rpartition("_")[0]
    if INSIDE[wanted.mode].seeds == "cotangents":
        checked = wanted.option("checked", True)
        given = "as_cotangent(cotangent, value)" if checked else "cotangent"
        whole = PULLBACK.format(text=text, name=name, params=params, cotangent=given)
        return whole, f"{name}_vjp", 1
    code = made[second.name].__code__
    residuals, *tangents = code.co_varnames[: code.co_argcount]
    whole = PUSHFORWARD.format(
        text=text, name=name, params=params, tangents=", ".join(tangents),
        tangents_too=", ".join((residuals, *tangents)),
    )
    return whole, f"{name}_linearize", 0


def load_anew(text: str, main: str) -> ModuleType:
    """Import the emitted text as a module of its own."""
    return load_module(None, text, EMITTED + main)


load_text = functools.lru_cache(maxsize=256)(load_anew)
"""As ``load_anew``; the same module for the same text, so that it is parsed only once."""
