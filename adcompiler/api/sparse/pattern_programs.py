"""The pattern programs of functions, by the types of arguments, and runs of them."""

from __future__ import annotations

import linecache
import sysconfig
import types
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any

import numpy as np

from adcompiler.analyses.activity import varied_variables
from adcompiler.api.sparse import MODES
from adcompiler.compile.pipeline import Request, refuse, typed_function
from adcompiler.derive.lossy_conversions import refuse_memos
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.arguments import parts_of
from adcompiler.dispatch.guards import Guard, guard
from adcompiler.dispatch.written import Written
from adcompiler.errors import Finding, UnsupportedError, not_one_of
from adcompiler.frontend.depth import compiling
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.failures import reported
from adcompiler.ir.nodes import Block, Const, Function, Origin, Param
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.aliases import overlap
from adcompiler.runtime.records import is_record, record
from adcompiler.runtime.unfit import Unfit, UnfitError
from adcompiler.sparsity.dependences import layouts
from adcompiler.sparsity.dependences.values import DecisionError
from adcompiler.sparsity.interpreter.generic import Origins, generic
from adcompiler.sparsity.interpreter.machine import Machine
from adcompiler.sparsity.interpreter.pattern import Inputs
from adcompiler.sparsity.interpreter.program import Program, program_of
from adcompiler.sparsity.interpreter.run import LookedError
from adcompiler.sparsity.interpreter.table import Refusal
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee
from adcompiler.typed.options import Argnums
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of

_KEPT = "__adcompiler_patterns__"


@dataclass(eq=False)
class Compiled:
    """A function as a pattern program, for the types of its arguments.

    ``written`` are the positions of the arguments that it writes into: the program returns what
    becomes of them after its result.
    """

    unit: Unit
    function: Function
    program: Program
    captured: tuple[str, ...]
    written: tuple[int, ...]
    is_in_place: bool
    guard: Guard
    sources: Origins
    callees: dict[Callee, Program] = field(default_factory=dict)


class Patterns:
    """The pattern programs of one function, by the types of its arguments."""

    def __init__(self, function: Callable[..., Any], argnums: Argnums) -> None:
        self.function = function
        self.forms = Specialisations(function, Options("vjp", argnums))
        self.table: dict[Any, Compiled] = {}
        REGISTRY.watch(self)

    def rules_changed(self) -> None:
        """Forget all programs; called when a rule is registered or removed."""
        self.table.clear()

    def values(self, call: Written) -> tuple[Any, ...]:
        """Return the values of all parameters, integers to be differentiated made floats."""
        return self.forms.values(self.forms.target.bound(*call))

    def compiled(self, values: Sequence[Any]) -> Compiled:
        """Return the pattern program for arguments of these types."""
        key = tuple(map(type_of, values)), self.forms.captured_types()
        found = self.table.get(key)
        if found is None or not found.guard.holds():
            found = self.table[key] = self.compile(key[0])
        return found

    def compile(self, kinds: tuple[t.Type, ...]) -> Compiled:
        """Specialise the function and write its pattern program; raises UnsupportedError."""
        return compiling(self.forms.target.function, lambda: self.compiled_for(kinds))

    def compiled_for(self, kinds: tuple[t.Type, ...]) -> Compiled:
        """As ``compile``, on the stack at hand."""
        target = self.forms.target.function
        options = Options("vjp", self.forms.wrt, by_entries=True)
        request = Request(target, kinds, self.forms.wrt, options)
        with reported(target):
            unit = request.unit()
            try:
                return self.written(request, unit)
            except UnsupportedError:
                if not unit.calls.sparse:
                    raise
                with suppress(UnsupportedError):  # matrices of constants, which SciPy makes
                    again = request.asking(by_entries=False)
                    return self.written(again, again.unit())
                raise

    def written(self, request: Request, unit: Unit) -> Compiled:
        """Return the pattern program that is asked for."""
        target = request.function
        unit, typed = typed_function(unit, lower(target), request)
        refuse(unit)
        params = tuple(Param(var, 1) for var in (*typed.params, *unit.relied.captured.values()))
        written = [it for it in typed.written if it.var in typed.params]
        yields = (typed.value, *(it.final for it in written))
        inputs = [typed.params[i] for i in self.forms.wrt]
        body = Block(typed.statements, yields)
        function = Function(typed.function.name, params, body, typed.origin)
        refuse_memos(unit, varied_variables(body, inputs, unit.type))
        refuse(unit)
        is_in_place = isinstance(typed.value, Const) and typed.value.value is None
        if is_in_place:
            unit.findings.extend(finding for _, finding in typed.lost)
            refuse(unit)
        sources = Origins(unit, function, [
            i for i in range(len(typed.params)) if i not in self.forms.wrt])
        return Compiled(
            unit, function, program_of(function, unit, inputs, sources=sources),
            tuple(unit.relied.captured),
            tuple(typed.params.index(it.var) for it in written),
            is_in_place and bool(written),
            guard(target, unit.relied.facts, self.forms.arguments(request.types)), sources,
        )

    def check_apart(self, compiled: Compiled, values: Sequence[Any]) -> None:
        """Refuse arguments that share storage, one of which is written into."""
        for i in compiled.written:
            for j, value in enumerate(values):
                if j != i and overlap(values[i], value):
                    names = [self.forms.parameters[k].name for k in (i, j)]
                    raise UnsupportedError([compiled.function.origin.finding(
                        f"{names[0]}, which is written into, shares storage with {names[1]}",
                        "pass a copy", "aliases",
                    )])

    def run(
        self, call: Written, mode: str, second: bool, shared: bool = False,
        looked: frozenset[int] = frozenset(),
    ) -> tuple[Any, Inputs, Machine]:
        """Return what the function returns, as dependent values, and what it was computed with.

        A global pattern is that of all values of the other floating arguments, but of those at the
        positions ``looked`` and of those whose values are looked at: ``generic`` of the machine are
        the positions that are left.
        """
        if mode not in MODES:
            raise ValueError(not_one_of("mode", mode, MODES))
        values = list(self.values(call))
        compiled = self.compiled(values)
        self.check_apart(compiled, values)
        local = mode == "local"
        if compiled.unit.layouts.read and not local and any(
            isinstance(value, np.ndarray) and value.ndim == 1 and not value.flags.c_contiguous
            for value in values
        ):
            raise UnsupportedError([located(layouts.refusal(), self.forms)])
        program = compiled.program
        if shared:
            program = program_of(
                compiled.function, compiled.unit, with_dead_code=True, sources=compiled.sources)
        at_generic = frozenset() if local else compiled.sources.every - looked

        def run_at() -> tuple[Any, Inputs, Machine]:
            return self.run_at(compiled, program, values, local, second, at_generic)

        def run() -> tuple[Any, Inputs, Machine]:
            try:
                return run_at()
            except RecursionError:
                return compiling(self.forms.target.function, run_at)

        while at_generic:
            try:
                return run()
            except LookedError as error:
                at_generic -= error.origins
            except Exception:  # of generic numbers, perhaps: the given ones tell
                break
        at_generic = frozenset()
        return run()

    def run_at(
        self, compiled: Compiled, program: Program, given: Sequence[Any], local: bool,
        second: bool, at_generic: frozenset[int],
    ) -> tuple[Any, Inputs, Machine]:
        """As ``run``, with generic numbers in place of some arguments."""
        inputs, values = Inputs(local, second), list(given)
        rng = np.random.default_rng(1)
        for i in at_generic:
            values[i] = generic(values[i], rng)
        for i, steps in zip(self.forms.wrt, self.forms.parts, strict=True):
            values[i] = at_steps(values[i], steps, inputs.dependent)
        machine = Machine(
            compiled.unit, local, second, compiled.callees, compiled.sources, at_generic)
        machine.columns = inputs.columns
        target = self.forms.target.function
        free = target.__code__.co_freevars
        cells = [
            machine.reads.read("cell", target, free.index(name)) for name in compiled.captured]
        try:
            with np.errstate(all="ignore"):
                value, *finals = program.entry(machine, *values, *cells)
        except (Refusal, DecisionError) as refusal:
            raise UnsupportedError([located(refusal, self.forms)]) from None
        except Unfit as unfit:
            raise UnfitError(str(unfit)) from None
        return (tuple(finals) if compiled.is_in_place else value), inputs, machine


def at_steps(value: Any, steps: Sequence[Any], change: Callable[[Any], Any]) -> Any:
    """Return a value with the part that steps lead to changed."""
    if not steps:
        return change(value)
    parts = parts_of(value)
    assert parts is not None
    step = steps[0]
    if isinstance(value, tuple) and step in getattr(value, "_fields", ()):
        step = value._fields.index(step)  # type: ignore[attr-defined]
    elif step not in parts and isinstance(step, str) and step.isdigit():
        step = int(step)
    parts[step] = at_steps(parts[step], steps[1:], change)
    if isinstance(value, dict):
        return parts
    if is_record(value):
        return record(type(value), **parts)
    return type(value)(*parts.values()) if hasattr(value, "_fields") else tuple(parts.values())


LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
"""Where the text of installed libraries is."""


def located(
    refusal: Refusal | DecisionError, forms: Specialisations
) -> Finding:
    """Return a refusal as a finding in the line of the user's source that it came from."""
    if isinstance(refusal, DecisionError):
        refused, refusal = refusal, Refusal(str(refusal), "a list")
        refusal.origins = refused.origins
    found = None
    for origin in map(outside_libraries, refusal.origins):
        found = found or origin
        if not origin.file.startswith(LIBRARIES):
            found = origin
            break
    if found is not None:
        return found.finding(refusal.problem, refusal.hint, refusal.anchor)
    code = forms.target.function.__code__
    text = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    return Finding(
        code.co_filename, code.co_firstlineno, len(text) - len(text.lstrip()), text,
        refusal.problem, refusal.hint, refusal.anchor, len(text.strip()) or 1,
    )


def lines_of(places: Iterable[Origin]) -> list[str]:
    """Return the lines of the user's source that places come from."""
    return list(dict.fromkeys(
        f"{found.where}: {found.text.strip()}" for found in (
            outside_libraries(origin).finding("") for origin in places)))


def outside_libraries(origin: Origin) -> Origin:
    """Return the line of the user's own that a place in an installed library is reached from."""
    while origin.via is not None and origin.file.startswith(LIBRARIES):
        origin = origin.via
    return origin


def patterns_of(function: Callable[..., Any], argnums: Argnums) -> Patterns:
    """Return the pattern programs of a function, which the function itself keeps."""
    if not isinstance(function, types.FunctionType):
        return Patterns(function, argnums)
    kept: dict[Argnums, Patterns] = function.__dict__.get(_KEPT, {})
    found = kept.get(argnums)
    if found is not None and found.function is function:
        return found
    made = Patterns(function, argnums)
    function.__dict__[_KEPT] = {
        **{k: p for k, p in kept.items() if p.function is function}, argnums: made,
    }
    return made
