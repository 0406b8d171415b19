"""The stages, in order: the page to read first.

source -> IR -> types -> augmented primal and sweep -> optimised -> ``ast`` -> text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from inspect import Parameter
from typing import Any

from adcompiler.analyses.purity import Purity, checks, is_destructive
from adcompiler.analyses.stale import stale_reads
from adcompiler.backends.python.held_bytes import held_bytes
from adcompiler.backends.python.module import module_tree
from adcompiler.backends.python.outer_products import with_outer_products_together
from adcompiler.backends.python.printer.source import emit_source
from adcompiler.compile.applied import applied, types_of
from adcompiler.compile.backends import BACKENDS, Backend, check_worth
from adcompiler.compile.modes import MODES, Mode
from adcompiler.compile.nested import derive
from adcompiler.compile.prepared import (
    raising_kept, with_aggregates_apart, with_lengths_in_front, with_rows_apart,
)
from adcompiler.derive.rules import is_foreign
from adcompiler.derive.stand_ins import with_stand_ins
from adcompiler.errors import (
    Declined, Finding, InternalError, MissingRuleError, NotBatchable, Reason, RunsAgainError,
    TooLongError, UnsupportedError,
)
from adcompiler.frontend.depth import compiling
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.failures import reported
from adcompiler.ir.nodes import Block, Call, Const, Do, Function, Let, Rhs, operands
from adcompiler.ir.verifier import verify, verifying
from adcompiler.ir.visit import direct_uses, walk
from adcompiler.ops.qualified_names import display_name
from adcompiler.products.kept_bytes import kept_bytes
from adcompiler.products.linearization import NotSplittable
from adcompiler.products.product import Product, optimised
from adcompiler.products.specialised import Typed, changed_everywhere, specialise
from adcompiler.runtime import (
    apart, check_lasts, check_rebinds, same_extent, same_shape, same_trailing_shape,
)
from adcompiler.runtime.adjoints.products import in_space
from adcompiler.infer.calls.random_draws import drawing_again, draws
from adcompiler.support.budget import Budget
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Place
from adcompiler.typed.options import Options
from adcompiler.typed.tables import Settings
from adcompiler.typed.unit import Unit

CHECKS: dict[Any, str] = {
    same_extent: "shapes", same_shape: "shapes", same_trailing_shape: "shapes",
    in_space: "shapes", apart: "aliases",
    check_lasts: "unfit", check_rebinds: "unfit",
}
"""Functions that raise where code is not for what they see: stretched operands, one object twice,
what is not known before a run."""

SHARES = (0.01, 0.35, 0.85, 0.92)
"""About what share of the time is over when types, derivatives, optimising and writing begin."""
STAGES = ("parse", "types", "reverse", "optimise", "source")


@dataclass(frozen=True)
class Request:
    """What is to be compiled: a function, the types of its arguments, and what is asked of it.

    ``wrt`` holds positions of arguments, ``parts`` the steps from each to the part that is wanted.
    ``same`` pairs positions of arguments with earlier ones that are the same object.
    With ``parameters`` the emitted function is called as the user's is (keywords, defaults, stars).
    ``budget`` is what compiling may cost.
    """

    function: Any
    types: tuple[t.Type, ...]
    wrt: tuple[int, ...]
    options: Options = Options("grad", 0)
    assume_equal_shapes: bool | tuple[tuple[int, int], ...] = True
    parameters: tuple[Parameter, ...] = ()
    parts: tuple[tuple[Any, ...], ...] = ()
    same: tuple[tuple[int, int], ...] = ()
    budget: Budget = field(default_factory=Budget.from_environment, compare=False)

    @property
    def mode(self) -> Mode:
        """The mode that is asked for."""
        return MODES[self.options.mode]

    @property
    def backend(self) -> Backend:
        """The backend that is asked for."""
        return BACKENDS[self.options.backend]

    def asking(self, **changes: str | bool) -> Request:
        """Return the request with other options."""
        options: Any = changes
        return replace(self, options=replace(self.options, **options))

    def unit(self, chosen: frozenset[Any] = frozenset()) -> Unit:
        """Return the empty tables of a compilation; ``chosen`` are those of ``Settings``."""
        options, mode = self.options, self.mode
        unit = Unit(
            root=self.function, assume_equal_shapes=bool(self.assume_equal_shapes),
            settings=Settings(
                options, derive, chosen, self.budget,
                reads_again=options.for_loops or self.backend.write is not None,
                tangents=mode.name in ("forward", "linearize"), endless=mode.name == "taylor",
                runs_later=bool(mode.halves), as_it_is=mode.name == "primal" or bool(mode.operator),
            ),
        )
        self.budget.relied.append(unit.relied)
        return unit


@dataclass(frozen=True)
class Emitted:
    """The emitted module: its text, the names of its entry points, and what it relies on.

    ``typed`` are the user's functions as they were differentiated, ``at_sweep`` tells the bytes
    that a gradient holds when its sweep starts.
    """

    text: str
    entry: str
    unit: Unit
    product: Product
    bound: dict[str, Any] = field(default_factory=dict)
    one_by_one: bool = False
    recomputes: bool = False
    native: tuple[str, ...] = ()
    typed: tuple[Function, ...] = ()
    at_sweep: tuple[str, ...] = ()

    @property
    def report(self) -> dict[str, list[str]]:
        """What ``explain`` says of the rules used."""
        rules = list(self.unit.relied.rules_used)
        kept: tuple[list[str], list[str]] = kept_bytes(
            self.unit, self.product.functions) if self.product.residuals else ([], [])
        named = [(display_name(rule.function), rule) for rule in rules]
        return {
            "rules": sorted({name for name, _ in named}),
            "changed": sorted({f"{name}: {r.primal_note}" for name, r in named if r.primal_note}),
            "kinks": sorted({f"{name}: {r.kink}" for name, r in named if r.kink}),
            "residuals": self.product.residuals, "effects": [self.product.effects],
            "seeds": ["one by one"] if self.one_by_one else [], "checks": sorted(self.checks),
            "constants": list(self.product.constants),
            "writes": ["arguments"] if self.product.writes else [],
            "primal": ["in each call"] if self.recomputes else [], "native": list(self.native),
            "slopes": ["may be infinite"] if self.has_slopes else [],
            "draws": ["random numbers"] if self.draws else [],
            "acts": ["and may be unfit"] if "unfit" in self.checks and self.acts else [],
            "bytes": kept[0], "sizes": kept[1], "held": list(self.at_sweep),
        }

    @cached_property
    def acts(self) -> bool:
        """Whether the code has effects of its own, so that it must not run twice."""
        return has_effects(self.unit, self.product.functions[0].body)

    @cached_property
    def draws(self) -> bool:
        """Whether the code, or what it calls, draws random numbers."""
        return any(
            isinstance(statement, Do | Let) and isinstance(statement.rhs, Call)
            and any(draws(self.unit, atom) for atom in operands(statement.rhs))
            for function in self.product.functions for statement in walk(function.body)
        )

    @property
    def has_slopes(self) -> bool:
        """Whether derivatives may be nan for a slope that is infinite, and code may run again."""
        settings = self.unit.settings
        again = settings.runs_later or not self.acts
        return self.unit.sweeps.steep and not settings.options.masked and again

    @property
    def checks(self) -> set[str]:
        """What the code notices that it was not compiled for, before it has any effect."""
        return {CHECKS[function] for function in CHECKS if self.holds(function)}

    def holds(self, function: Callable[..., Any]) -> bool:
        """Say whether the code calls a function of the runtime."""
        return id(function) in self.held

    @cached_property
    def held(self) -> frozenset[int]:
        """The ids of the objects that the code reads, which its constants keep alive."""
        return frozenset(
            id(atom.value) for written in self.product.functions
            for statement in walk(written.body) for atom in direct_uses(statement)
            if isinstance(atom, Const)
        )


Result = tuple[str, Unit, list[Function] | Emitted]
"""The name of a stage, the tables that it filled, and its result: IR functions, or the text."""


def stages(request: Request) -> Iterator[Result]:
    """Run the stages one by one; raises UnsupportedError or MissingRuleError with all findings.

    Where it is refused with SciPy's sparse matrices, these are followed entry by entry; with a
    gradient inside of it, that is differentiated along tangents. An exception that is no refusal is
    a defect, and comes as InternalError.
    """
    with reported(request.function, NotBatchable, NotSplittable):
        unit = None
        try:
            for name, unit, result in all_stages(request):
                yield name, unit, result
            return
        except TooLongError:
            raise
        except (UnsupportedError, MissingRuleError) as error:
            if unit is None or not unit.calls.sparse or request.options.by_entries:
                if unit is None or not unit.derivatives.gradients or unit.settings.endless or (
                    any(f.reason is Reason.HIGHER_ORDER for f in unit.findings)
                ):
                    raise
                again = by_symmetry(request)
                if again is None:
                    raise error from None
                yield from again
                return
        yield from all_stages(request.asking(by_entries=True))


def by_symmetry(request: Request) -> list[Result] | None:
    """Return all stages with gradients differentiated along tangents; None where that is refused.

    What somebody's own rule calls a derivative need be none, so that its own is not symmetric.
    """
    found: list[Result] = []
    with suppress(UnsupportedError, MissingRuleError):
        found = list(all_stages(request.asking(by_symmetry=True)))
    if not found or any(map(is_foreign, found[-1][1].relied.rules_used)):
        return None
    return found


def all_stages(request: Request) -> Iterator[Result]:
    """Run the stages; whatever goes wrong in them is raised as it is."""
    unit = request.unit()
    reached = request.budget.reached
    reached("reading", 0.0)
    function = lower(request.function)
    yield "parse", unit, verified([function])

    reached("types", SHARES[0])
    unit, typed = typed_function(unit, function, request)
    if unit.findings:
        # All that lacks a rule is reported at once. What was refused stands for no value, so that
        # differentiating may fail anywhere: the refusal is what is told.
        with suppress(Exception):
            differentiate(unit, typed, request)
        refuse(unit)
    functions = verified(typed.functions(unit), unit)
    if verifying():
        for function in functions:
            check_versions(function, unit)
    yield "types", unit, functions

    reached("differentiating", SHARES[1])
    product = differentiate(unit, typed, request)
    refuse(unit)
    yield "reverse", unit, verified(product.functions, unit)

    reached("optimising", SHARES[2])
    product = optimised(product, unit)
    yield "optimise", unit, verified(product.functions, unit)

    reached("writing", SHARES[3])
    written = replace(product, functions=[
        with_outer_products_together(function, unit) for function in product.functions])
    tree, bound, lowerings = module_tree(written, unit, request.parameters)
    text = emit_source(tree)
    mode = request.mode
    is_joint = mode.is_reverse and not (mode.halves or mode.seeds or mode.operator)
    held = held_bytes(lowerings, unit) if is_joint else []
    unit.naming.bound = {name: value for name, (value, _) in bound.items()}
    text, native = with_backend(request, product, unit, text, functions)
    entry = product.functions[0].name
    yield "source", unit, Emitted(
        text, entry, unit, product, bound, native=native, typed=tuple(functions),
        at_sweep=tuple(held))


def with_backend(
    request: Request, product: Product, unit: Unit, text: str, typed: Sequence[Function]
) -> tuple[str, tuple[str, ...]]:
    """Return a module with what the backend writes behind it, and what ``explain`` says of it.

    That is the name of what is called and what it is; nothing for Python alone; no name and the
    reason where the backend may leave a function to Python, and does.
    """
    backend = request.backend
    if backend.write is None:
        return text, ()
    try:
        if backend.optional:
            by_elements = request.options.each or bool(request.mode.halves)
            check_worth(text, typed if by_elements else None, unit.type)
        text, entry = backend.write(text, product, unit)
    except Declined as declined:
        origin = declined.origin
        if backend.optional:
            place = "" if origin is None else f" ({origin.where})"
            return text, ("", f"stays in Python: {declined.problem}{place}")
        nothing = "" if declined.hint else f"the {backend.name} backend has nothing for this: "
        raise UnsupportedError([(origin or product.functions[0].origin).finding(
            nothing + declined.problem, declined.hint or backend.instead, "native",
        )]) from None
    return text, (entry, "; ".join([backend.doc, *unit.said]))


def verified(functions: list[Function], unit: Unit | None = None) -> list[Function]:
    """Return what a stage gives, verified if that is asked for."""
    if verifying():
        for function in functions:
            verify(function, None if unit is None else unit.type, parsed=unit is None)
    return functions


def check_versions(function: Function, unit: Unit) -> None:
    """Raise InternalError if a typed function reads what it has overwritten."""
    for statement, value in stale_reads(function.body, unit.type):
        raise InternalError(
            f"ill-formed IR in {function.name}: {value!r} is read after it was written into, at "
            f"{getattr(statement, 'origin', None)}")


def typed_function(unit: Unit, function: Function, request: Request) -> tuple[Unit, Typed]:
    """Specialise a function, again where the first time shows what has to be known before.

    Branches that choose one of two arrays are followed as such where a write needs it; containers
    that ``vjp`` writes into are copied at the start. A ``try`` is written in parts where it matters
    how far its body came.
    """
    copied: tuple[int, ...] = ()
    outside: tuple[Place, ...] = ()
    whole: tuple[Unit, Typed] | None = None
    mode = request.mode
    types, wrt, parts = request.types, request.wrt, request.parts
    if mode.operator:
        function = applied(
            function, request.function, mode.operator, wrt, parts, request.options.single)
        types, wrt, parts = types_of(mode.operator, types, wrt), (), ()
    while True:
        if mode.operator:
            unit.relied.paths[id(request.function)] = ()
        typed = specialise(unit, function, request.function, list(types), wrt=wrt, parts=parts,
                           same=request.same, copied=copied, outside=outside)
        chosen, writes = unit.settings.chosen, unit.writes
        containers = typed.containers_written(unit) if mode.has_effects else ()
        if not writes.merges <= chosen and any(
            f.reason is Reason.ALIASES for f in unit.findings
        ):
            chosen |= writes.merges
        elif not writes.attempts <= chosen:
            whole = None if unit.findings else (unit, typed)
            chosen |= writes.attempts
        elif whole is not None and unit.findings:
            return whole
        elif not unit.findings and ((containers and not copied) or (
            not outside and typed.outside_written(unit)
        )):
            copied, outside = containers, typed.outside_written(unit)
        else:
            return unit, typed
        unit = request.unit(chosen)


def differentiate(unit: Unit, typed: Typed, request: Request) -> Product:
    """Return the product that the mode names."""
    mode = request.mode
    if mode.returns_value or mode.takes_aux:
        typed = raising_kept(unit, typed, mode.returns_value and not request.options.alone)
    typed = with_rows_apart(unit, with_lengths_in_front(unit, with_aggregates_apart(unit, typed)))
    typed = changed_everywhere(unit, typed, with_stand_ins)
    known = () if mode.has_effects else typed.params
    unit.sweeps.acts = any(it.var not in known for it in typed.written) or (
        has_effects(unit, Block(typed.statements)))
    unit.expect_of_one(typed.params, request.assume_equal_shapes)
    return mode.build(unit, typed, request.options)


def has_effects(unit: Unit, block: Block) -> bool:
    """Say whether code has effects of its own, other than to raise."""
    purity = Purity(unit.type, unit.definition)
    return any(
        isinstance(statement, Do | Let) and not checks(statement.rhs)
        and not purity.is_pure(statement.rhs) and not is_destructive(statement.rhs)
        and not makes_error(statement.rhs)
        for statement in walk(block)
    )


def makes_error(rhs: Rhs) -> bool:
    """Say whether a call makes an exception and nothing else."""
    function = rhs.func.value if isinstance(rhs, Call) and isinstance(rhs.func, Const) else None
    return isinstance(function, type) and issubclass(function, BaseException)


def compile_request(request: Request) -> Emitted:
    """Run all stages, however deep the program, and return what the last one gives."""
    return compiling(request.function, lambda: last_stage(request))


def last_stage(request: Request) -> Emitted:
    """Return what the last stage gives.

    Code that cannot be written for many seeds at once is that of one seed, and says so; so does
    a pushforward that computes the value again, where a linearization has no two parts. Loops of a
    backend are written from code of one seed; where it leaves a function to Python, that is the
    code for many.
    """
    backend = request.backend
    if not request.options.batched or backend.write is None or not request.mode.has_loops:
        return in_python(request)
    if not backend.optional:
        return of_one_seed(request)
    found = in_python(request.asking(backend="python"))
    try:
        check_worth(found.text, found.typed, found.unit.type)
    except Declined as declined:
        return replace(found, native=("", f"stays in Python: {declined.problem}"))
    loops = of_one_seed(request)
    return loops if loops.native[0] else replace(found, native=loops.native)


def in_python(request: Request) -> Emitted:
    """Return what the last stage gives where no loops for many seeds are asked for."""
    try:
        return emitted_by(request)
    except NotBatchable:
        if request.mode.name == "taylor":
            raise UnsupportedError([without_series(request)]) from None
        found = emitted_by(request.asking(batched=False))
        if request.mode.seeds == "tangents" and found.draws:
            raise RunsAgainError([drawing_again(request.function)]) from None
        return replace(found, one_by_one=True)
    except NotSplittable:
        return replace(emitted_by(request.asking(mode="forward")), recomputes=True)


def emitted_by(request: Request) -> Emitted:
    """Run all stages and return what the last one gives."""
    *_, (_, _, emitted) = stages(request)
    assert isinstance(emitted, Emitted)
    return emitted


def of_one_seed(request: Request) -> Emitted:
    """Return native code of one seed, with loops over all seeds in it if there may be such."""
    one = request.asking(batched=False, constant=False)
    with suppress(UnsupportedError):
        found = emitted_by(one.asking(each=True))
        if found.native[0]:
            return found
    return replace(emitted_by(one), one_by_one=True)


def without_series(request: Request) -> Finding:
    """Return what is reported of a function of which Taylor mode can write no code."""
    function = lower(request.function)
    return function.origin.finding(
        f"the Taylor coefficients of `{function.name}` are not known: some function that it calls "
        "has neither a recurrence nor a derivative of which one can be made",
        "use jet or nth_derivative, which then apply forward mode to itself", "taylor",
    )


def refuse(unit: Unit) -> None:
    """Raise everything that was found to be unsupported, all at once."""
    if unit.findings:
        missing = all(
            f.behind or f.reason is Reason.MISSING_RULE for f in unit.findings)
        raise (MissingRuleError if missing else UnsupportedError)(unit.findings)
