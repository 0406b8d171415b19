"""The transform that all operators are written with: a function's code, differentiated once.

Its modes are ``grad`` and ``value_and_grad``, the joint function; ``vjp``, the value with its
pullback; ``forward``, the pair of the value and its tangent; and ``linearize``, the value with its
pushforward. What is written is code like any other, so that it can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType

from adcompiler.compile.nested.called import Called, made_real, places_of, resolved
from adcompiler.compile.nested.compiling import Derived, compile_derivative
from adcompiler.frontend.functions import lower
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin, Var
from adcompiler.runtime import as_cotangent
from adcompiler.infer.calls.callees import key_of
from adcompiler.infer.calls.opening import apply
from adcompiler.infer.dead_carries import without_dead_carries
from adcompiler.infer.differentiated_paths import Steps, key_of_step, read
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee
from adcompiler.typed.derivatives import Wanted, holds_floats
from adcompiler.typed.unit import Unit

MAX_DEPTH = 12

Tangents = Callable[[Sequence[Atom]], Sequence[Atom]]
"""What gives tangents of the values that are differentiated."""


@dataclass(frozen=True)
class Half:
    """What is written of a derivative: its result, and the values it is taken with respect to.

    ``result`` is None where the transform does not exist: of a pushforward that is not in parts.
    """

    result: Atom | None
    inputs: tuple[Atom, ...]


def half(
    s: Operations, wanted: Wanted, func: Atom, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin, name: str, tangents: Tangents | None = None,
) -> Half | None:
    """Write one transform of ``func`` at the arguments, with ``tangents`` in the mode ``forward``.

    None after a report.
    """
    prepared = with_parts_apart(s, wanted, func, args, kwargs, origin)
    if prepared is None:
        return None
    called, places, given = prepared
    bound = called.bound
    kept: dict[Atom, None] = {}
    derived = derived_of(s, wanted, called, places, kept, origin)
    if derived is None:
        return None
    inputs = tuple(
        part_of(s, given.get(bound[i], bound[i]), steps, origin) for i, steps in places
    )
    for finding in derived.findings:
        s.report(finding)
    if derived.in_one_piece:
        return Half(None, inputs)
    if derived.entry is None:
        return None
    atoms = [given.get(atom, atom) for atom in kept]
    refuse_shared(s, derived, atoms, origin)
    duals = [] if tangents is None else [
        s.call(Const(as_cotangent), [dual, value], {}, origin, "tangent")
        for dual, value in zip(tangents(inputs), inputs, strict=True)
    ]
    return Half(opened(s, derived, atoms, duals, origin, name), inputs)


def with_parts_apart(
    s: Operations, wanted: Wanted, func: Atom, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin,
) -> tuple[Called, list[tuple[int, Steps]], dict[Atom, Atom]] | None:
    """Return what is differentiated, in which places, and what the variables of these stand for.

    None after a report.
    """
    unit = s.unit
    called = resolved(s, func, args, kwargs, origin)
    if called is None:
        return None
    places = places_of(called.function, wanted)
    bound: list[Atom] = list(called.bound)
    given: dict[Atom, Atom] = {}
    for i in dict.fromkeys(i for i, _ in places):
        paths = [path for j, path in places if j == i]
        real = made_real(s, bound[i], paths, called.function.params[i].var.name, origin)
        apart = Var(called.function.params[i].var.name)
        unit.types[apart] = unit.type(real)
        unit.shapes[apart] = unit.shape(real)
        bound[i], given[apart] = apart, real
    return replace(called, bound=bound), places, given


@dataclass(frozen=True)
class Apart:
    """A gradient and what it is the gradient of, as functions of all that these depend on.

    ``active`` are the positions of ``atoms`` that hold floats, ``wanted`` of what is
    differentiated.
    """

    gradient: Callee
    primal: FunctionType
    atoms: list[Atom]
    active: tuple[int, ...]
    wanted: tuple[int, ...]


def gradient_apart(
    s: Operations, wanted: Wanted, func: Atom, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin,
) -> Apart | None:
    """Return a gradient to be called by name; None where that is refused, or has an effect."""
    findings = len(s.unit.findings)
    prepared = with_parts_apart(s, wanted, func, args, kwargs, origin)
    if prepared is None or any(steps for _, steps in prepared[1]):
        del s.unit.findings[findings:]
        return None
    called, places, given = prepared
    kept: dict[Atom, None] = {}
    gradient = derived_of(s, wanted, called, places, kept, origin)
    primal = derived_of(s, Wanted("primal", wanted.argnums), called, places, kept, origin)
    del s.unit.findings[findings:]
    if not all(one is not None and one.entry is not None and not one.written
               for one in (gradient, primal)):
        return None
    assert gradient is not None and primal is not None
    atoms = list(kept)
    if gradient.captured != primal.captured or not all(called.bound[i] in kept for i, _ in places):
        return None
    positions = tuple(atoms.index(called.bound[i]) for i, _ in places)
    whole = [given.get(atom, atom) for atom in atoms] + captured_by(s, gradient)
    active = tuple(i for i, atom in enumerate(whole) if holds_floats(s.unit.type(atom)))
    callee = gradient_called(s.unit, gradient)
    return Apart(callee, primal.entry, whole, active, positions)


def gradient_called(unit: Unit, derived: Derived) -> Callee:
    """Return a compiled gradient as a function that is called by name."""
    if derived.called is None:
        main, *helpers = derived.functions
        names = {one.called.name for one in unit.derivatives.compiled.values() if one.called}
        number = 1
        while (name := f"{main.name}_{number}") in names:
            number += 1
        (value,) = main.body.yields
        parts = unit.elements(value)
        result = unit.type(value) if parts is None else t.Tuple(tuple(map(unit.type, parts)))
        function = replace(main, name=name)
        derived.called = Callee(name, derived, function, result, helpers=tuple(helpers))
    return derived.called


def captured_by(s: Writer, derived: Derived) -> list[Atom]:
    """Return the variables of the outermost function's closure that emitted code takes last."""
    around = {**s.unit.relied.captured, **s.unit.relied.cells}
    return [s.value(var, {var: var}) for name in derived.captured
            if isinstance(var := around.get(name), Var)]


def derived_of(
    s: Writer, wanted: Wanted, called: Called, places: list[tuple[int, Steps]],
    kept: dict[Atom, None], origin: Origin,
) -> Derived | None:
    """Return the derivative compiled for these types, None after a report.

    What its emitted code takes is entered into ``kept``.
    """
    unit, itself = s.unit, called.itself
    inputs = [*called.bound, *called.captures, *((itself,) if isinstance(itself, Var) else ())]
    owner = None if called.scope is None else called.scope.function
    what = (
        wanted, called.identity, owner, tuple(key_of(s, a, False, itself, kept) for a in inputs)
    )
    key = (what, unit.derivatives.around)
    for other, made in unit.derivatives.compiled.items():
        if other[0] == what and made.is_open:
            del unit.derivatives.compiled[other]
            refuse_recursion(s, origin)
            return None
    derived = unit.derivatives.compiled.get(key)
    if derived is None:
        depth = sum(made.is_open for made in unit.derivatives.compiled.values())
        if depth >= MAX_DEPTH:
            refuse_depth(s, origin)
            return None
        derived = unit.derivatives.compiled[key] = Derived()
        compile_derivative(s.unit, derived, wanted, called, places, list(kept), origin)
    return derived


def part_of(s: Operations, value: Atom, steps: Steps, origin: Origin) -> Atom:
    """Write the reading of the part of an argument that is differentiated."""
    for step in steps:
        assert isinstance(value, Var)
        value = read(s, value, key_of_step(s.unit.type(value), step, value.name), origin)
    return value


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
        near = {o for r in roots[k] for o in heap.state.may_alias.get(r, ())}
        if (roots[k] | near) & others:
            s.reject(
                origin, "two values that the function reads here may share storage, and it writes "
                "into one", "pass a copy of one of them", "aliases",
            )


def opened(
    s: Operations, derived: Derived, atoms: Sequence[Atom], duals: Sequence[Atom], origin: Origin,
    name: str,
) -> Atom:
    """Write the code of a compiled derivative where it is called."""
    entry: FunctionType = derived.entry
    captured = captured_by(s, derived)
    definition = without_dead_carries(lower(entry))
    scope = Scope(entry, None, True)
    return apply(
        s, definition, [*atoms, *captured, *duals], (), Const(entry), scope, origin, name, entry
    )
