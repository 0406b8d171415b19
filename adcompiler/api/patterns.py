"""The public functions ``jacobian_sparsity`` and ``hessian_sparsity``."""

from __future__ import annotations

import functools
import linecache
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from adcompiler.analyses.activity import varied_variables
from adcompiler.api.argnums import Asked, of_call
from adcompiler.compile.pipeline import Request, refuse, typed_function
from adcompiler.derive.disguises import refuse_memos
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.arguments import parts_of
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.guards import Guard, guard
from adcompiler.dispatch.written import as_written, sees_calls
from adcompiler.errors import (
    ADError, Finding, LocatedError, MissingPrimalError, MissingRuleError, Reason,
    SourceNotFoundError, UnsupportedError,
)
from adcompiler.errors import not_one_of
from adcompiler.frontend.depth import compiling
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.failures import reported
from adcompiler.ir.nodes import Block, Const, Function, Param
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.aliases import overlap
from adcompiler.runtime.records import is_record, record
from adcompiler.sparsity.dependences import layouts
from adcompiler.sparsity.dependences.fingerprints import Reads
from adcompiler.sparsity.dependences.values import DecisionError
from adcompiler.sparsity.interpreter.machine import Machine
from adcompiler.sparsity.interpreter.pattern import Inputs, hessian, jacobian
from adcompiler.sparsity.interpreter.program import Program, program_of
from adcompiler.sparsity.interpreter.run import Refusal
from adcompiler.sparsity.tracing.detectors import (
    Global, Tracing, columns_of, is_in_place, jacobian_buffer, retold,
)
from adcompiler.structs import dataclass
from adcompiler.typed.callee import Callee
from adcompiler.typed.derivatives import ONLY_OUTSIDE
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of

Argnums = int | str | tuple[int | str, ...]

_KEPT = "__adcompiler_patterns__"
MODES = ("global", "local")


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

    def values(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values of all parameters, integers to be differentiated made floats."""
        return self.forms.values(self.forms.target.bound(args, kwargs))

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
        request = Request(
            target, kinds, self.forms.wrt, "vjp", parts=(), single=False, by_entries=True)
        with reported(target):
            return self.written(request)

    def written(self, request: Request) -> Compiled:
        """Return the pattern program that is asked for."""
        target = request.function
        unit, typed = typed_function(request.unit(), lower(target), request)
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
        return Compiled(
            unit, function, program_of(function, unit, inputs), tuple(unit.relied.captured),
            tuple(typed.params.index(it.var) for it in written),
            is_in_place and bool(written),
            guard(target, unit.relied.facts, self.forms.arguments(request.types)),
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
        self, args: Sequence[Any], kwargs: dict[str, Any], mode: str, second: bool,
        shared: bool = False,
    ) -> tuple[Any, Inputs, Machine]:
        """Return what the function returns, as dependent values, and what it was computed with."""
        if mode not in MODES:
            raise ValueError(not_one_of("mode", mode, MODES))
        values = list(self.values(args, kwargs))
        compiled = self.compiled(values)
        self.check_apart(compiled, values)
        inputs = Inputs(mode == "local", second)
        if compiled.unit.layouts.read and not inputs.local and any(
            isinstance(value, np.ndarray) and value.ndim == 1 and not value.flags.c_contiguous
            for value in values
        ):
            raise UnsupportedError([located(layouts.refusal(), [], self.forms)])
        for i, steps in zip(self.forms.wrt, self.forms.parts, strict=True):
            values[i] = at_steps(values[i], steps, inputs.dependent)
        program = compiled.program
        if shared:
            program = program_of(compiled.function, compiled.unit, with_dead_code=True)
        machine = Machine(compiled.unit, inputs.local, second, compiled.callees)
        cells = [
            machine.reads.read(id(cell), functools.partial(getattr, cell, "cell_contents"))
            for cell in cells_of(self.forms.target.function, compiled)
        ]
        try:
            with np.errstate(all="ignore"):
                value, *finals = program.entry(machine, *values, *cells)
        except (Refusal, DecisionError) as refusal:
            programs = [program, *compiled.callees.values()]
            raise UnsupportedError([located(refusal, programs, self.forms)]) from None
        return (tuple(finals) if compiled.is_in_place else value), inputs, machine


def cells_of(function: types.FunctionType, compiled: Compiled) -> list[Any]:
    """Return the closure cells of the captured variables that a program takes."""
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    return [cells[names.index(name)] for name in compiled.captured]


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


def located(
    refusal: Refusal | DecisionError, programs: Sequence[Program], forms: Specialisations
) -> Finding:
    """Return a refusal as a finding in the line of the user's source that it came from."""
    if isinstance(refusal, DecisionError):
        refusal = Refusal(str(refusal), "a list").with_traceback(refusal.__traceback__)
    by_name = {program.filename: program for program in programs}
    for frame in reversed(traceback.extract_tb(refusal.__traceback__)):
        program = by_name.get(frame.filename)
        origin = program.origins.get(frame.lineno or 0) if program is not None else None
        if origin is not None:
            return origin.finding(refusal.problem, refusal.hint, refusal.anchor)
    code = forms.target.function.__code__
    text = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    return Finding(
        code.co_filename, code.co_firstlineno, len(text) - len(text.lstrip()), text,
        refusal.problem, refusal.hint, refusal.anchor, len(text.strip()) or 1,
    )


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


def as_called(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], argnums: Any
) -> tuple[Callable[..., Any], Any]:
    """Return what is compiled for a call with these arguments, and ``argnums`` for it."""
    if not sees_calls(function):
        return function, argnums
    made, wanted = as_written(
        function, 0 if argnums is None else argnums, len(args), tuple(kwargs))
    return made, None if argnums is None else wanted


@with_users_frames
def jacobian_sparsity(
    function: Callable[..., Any], *args: Any, argnums: Asked = None,
    mode: str = "global", detector: Global | None = None, **kwargs: Any,
) -> Any:
    """Return the sparsity pattern of the Jacobian of ``function``, a boolean CSR matrix.

    It has a row for each number in the result (arrays in C order, items of containers one after
    the other) and a column for each real number in the arguments ``argnums`` (by default the
    first). An entry is True where the derivative may be nonzero: with ``mode="global"`` for some
    values of these arguments, whose shapes alone are looked at; with ``mode="local"`` at
    the given ones. No entry that is needed is missing. A ``detector``, ``Global()`` or ``Local()``,
    says the mode, and whether code without source text is run on tracers.

    A function that returns None and writes into arguments has what it wrote as its result, and is
    differentiated by default with respect to the first argument that it does not write into:
    ``jacobian_sparsity(f, y, x)`` for ``f(y, x)``.

    Raises UnsupportedError for code that cannot be followed, TypeError for arguments that carry no
    derivative, ValueError for an unknown mode.
    """
    asked: Any
    function, asked = as_called(function, args, kwargs, of_call(argnums, args))
    if detector is not None:
        return detected(
            lambda: jacobian_sparsity(
                function, *args, argnums=asked, mode=detector.mode, **kwargs),
            function, args, kwargs, asked, detector, False)
    columns = as_argnums(asked) if asked is not None else default_argnums(
        function, args, kwargs)
    value, inputs, _ = patterns_of(function, columns).run(args, kwargs, mode, False)
    return finished(lambda: jacobian(value, inputs.columns), function, columns)


@with_users_frames
def hessian_sparsity(
    function: Callable[..., Any], *args: Any, argnums: Asked = 0, mode: str = "global",
    shared: bool = False, detector: Global | None = None, **kwargs: Any,
) -> Any:
    """Return the sparsity pattern of the Hessian of ``function``, a symmetric boolean CSR matrix.

    ``function`` returns one number. Rows and columns are the real numbers in the arguments
    ``argnums``; ``mode`` and ``detector`` are those of ``jacobian_sparsity``. With ``shared``
    all nonlinear operations count, even those that the result does not depend on.
    """
    asked: Any
    function, asked = as_called(
        function, args, kwargs, tuple(range(len(args))) if argnums is None else of_call(
            argnums, args))
    if detector is not None:
        return detected(
            lambda: hessian_sparsity(
                function, *args, argnums=asked, mode=detector.mode,
                shared=shared or detector.shared, **kwargs),
            function, args, kwargs, asked,
            replace(detector, shared=shared or detector.shared), True)
    columns = as_argnums(asked)
    value, inputs, machine = patterns_of(function, columns).run(
        args, kwargs, mode, True, shared)
    return finished(
        lambda: hessian(machine, value, inputs.columns, shared), function, columns
    )


@dataclass(frozen=True, eq=False)
class Watched:
    """A pattern, and what it depends on beside the arguments.

    With ``why`` the function is recorded, for that reason, as it is not compiled.
    """

    pattern: Any
    guard: Guard
    reads: Reads
    fingerprint: Any
    why: str = ""

    def holds(self) -> bool:
        """Say whether nothing that the pattern depends on has changed."""
        if not self.guard.holds():
            return False
        return not self.reads.readers or self.reads.fingerprint() == self.fingerprint


def watched_pattern(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], argnums: Argnums,
    second: bool,
) -> Watched:
    """Return the pattern of a Jacobian or a Hessian, and how to tell whether it still holds.

    Raises UnsupportedError for a function that writes into its arguments.
    """
    guard = refuse_written(function, args, kwargs, argnums)
    patterns = patterns_of(function, argnums)
    value, inputs, machine = patterns.run(args, kwargs, "global", second)
    found = finished(
        lambda: hessian(machine, value, inputs.columns, False) if second
        else jacobian(value, inputs.columns), function, argnums,
    )
    return Watched(found, guard, machine.reads, machine.reads.fingerprint())


def refuse_written(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], argnums: Argnums
) -> Guard:
    """Raise UnsupportedError for a function that writes into its arguments.

    Returns the test of what that was told from.
    """
    patterns = patterns_of(function, argnums)
    compiled = patterns.compiled(patterns.values(args, kwargs))
    if compiled.written:
        raise writes(patterns.forms)
    return compiled.guard


def writes(forms: Specialisations) -> UnsupportedError:
    """Return the refusal of a function that writes into its arguments."""
    return UnsupportedError([located(Refusal(
        "a sparse derivative of a function that writes into its arguments",
        "return the result, and write into a copy", anchor="sparse-in-place",
    ), [], forms)])


def detected(
    compiled: Callable[[], Any], function: Callable[..., Any], args: Sequence[Any],
    kwargs: dict[str, Any], argnums: Argnums | None, detector: Global, second: bool,
) -> Any:
    """Return the pattern that a detector finds: ``compiled``, or by running on tracers."""
    if not detector.tracers:
        try:
            return compiled()
        except (SourceNotFoundError, LocatedError) as error:
            if detector.tracers is False or not is_without_source(error):
                raise
            return traced(function, args, kwargs, argnums, detector, second)
    return traced(function, args, kwargs, argnums, detector, second)


def is_without_source(error: Exception) -> bool:
    """Say whether a function was refused since the text of something is not available."""
    if isinstance(error, LocatedError) and not isinstance(error, MissingRuleError):
        return all(finding.reason is Reason.MISSING_RULE for finding in error.findings)
    return True


OF_OBJECTS = (
    "not supported for the input types", "dtype('O')", "object arrays are not supported",
)
"""What NumPy and SciPy say where compiled code for numbers is given an array of tracers."""


def traced(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
    argnums: Argnums | None, detector: Global, second: bool,
) -> Any:
    """Return the pattern that a function leaves on tracers."""
    in_place = not second and is_in_place(function, args, kwargs)
    columns = as_argnums(argnums) if argnums is not None else int(in_place)
    forms = patterns_of(function, columns).forms
    bound = forms.target.signature.bind(*args, **kwargs)
    bound.apply_defaults()
    names = list(forms.target.signature.parameters)
    values = list(forms.values(forms.target.bound(args, kwargs)))
    run = Tracing(detector, second, columns_of(values))
    for i, steps in zip(forms.wrt, forms.parts, strict=True):
        values[i] = at_steps(values[i], steps, run.traced)
    offset = len(forms.target.first)
    if in_place:
        values[offset] = buffer_of(values[offset])
    bound.arguments.update(zip(names, values[offset:], strict=True))
    try:
        with np.errstate(all="ignore"):
            result = retold(forms.target.function, {})(
                *values[:offset], *bound.args, **bound.kwargs)
    except Exception as error:
        of_ctypes = type(error).__name__ == "ArgumentError"
        if not of_ctypes and (
            not isinstance(error, (TypeError, ValueError)) or isinstance(error, ADError)
            or not any(text in str(error) for text in OF_OBJECTS)
        ):
            raise
        raise MissingPrimalError("a function written in C,") from error
    if run.space.missing:
        raise MissingPrimalError(run.space.missing)
    result = values[offset] if in_place else result
    return run.hessian(result) if second else run.jacobian(result)


def buffer_of(value: Any) -> Any:
    """Return an array or list with the numbers of another that tracers can be written into."""
    if isinstance(value, list):
        return list(value)
    made = jacobian_buffer(value)
    made[...] = value
    return made


def as_argnums(argnums: Any) -> Argnums:
    """Return ``argnums`` as something that can be looked up."""
    return tuple(argnums) if isinstance(argnums, list) else argnums


def default_argnums(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Argnums:
    """Return the first argument; of functions that write into it, the first that is not written."""
    first = patterns_of(function, 0)
    compiled = first.compiled(first.values(args, kwargs))
    if not compiled.is_in_place or 0 not in compiled.written:
        return 0
    offset = len(first.forms.target.first)
    others = [i - offset for i in range(offset, len(first.forms.parameters))
              if i not in compiled.written]
    if not others:
        return 0
    return others[0]


def finished(make: Callable[[], Any], function: Callable[..., Any], argnums: Argnums) -> Any:
    """Return the pattern that ``make`` gives; a refusal points at the function."""
    try:
        return make()
    except Refusal as refusal:
        forms = patterns_of(function, argnums).forms
        raise UnsupportedError([located(refusal, [], forms)]) from None


ONLY_OUTSIDE.update(dict.fromkeys(
    (jacobian_sparsity, hessian_sparsity), "the pattern, detected outside of the function"
))
