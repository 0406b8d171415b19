"""The IR of every stage, run on a program's arguments, and compared with plain Python.

``compare`` names the first stage whose value, effects on the arguments, or derivative differ.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from adcompiler.api.emitted import EmittedDerivative
from adcompiler.batching.batcher import NotBatchable
from adcompiler.compile.pipeline import Emitted, Request, Result, stages
from adcompiler.dispatch.calling import at_point
from adcompiler.dispatch.linear_maps import Half, pulled_back
from adcompiler.dispatch.options import Options
from adcompiler.frontend.scope import Scope
from tests.evaluation.evaluate import Evaluator, Watch
from adcompiler.runtime.adjoints.broadcasting import StretchedError
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of

Watching = Callable[[str, Unit], Watch]
TOLERANCE = 1e-9


class Differs(AssertionError):
    """A stage gives something else than plain Python, or than the emitted code."""


@dataclass(frozen=True)
class Compilation:
    """A derivative, and what is asked of the compiler for some arguments."""

    derivative: EmittedDerivative[..., Any]
    request: Request

    @staticmethod
    def of(
        function: Any, args: tuple[Any, ...], argnums: Any, mode: str, equal_shapes: bool = True,
        batched: bool = False,
    ) -> Compilation:
        derivative = EmittedDerivative(function, Options(mode, argnums, batched=batched))
        s = derivative.specialisations
        return Compilation(derivative, Request(
            s.target.function, tuple(map(type_of, s.values(derivative.bound(*args)))), s.wrt,
            s.options, equal_shapes, parts=s.parts))

    def called(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values of all parameters for these arguments."""
        derivative = self.derivative
        return derivative.specialisations.values(derivative.bound(*args))

    def cells(self, unit: Unit) -> list[Any]:
        """Return the values of the captured variables that the code takes."""
        function = self.request.function
        names, cells = function.__code__.co_freevars, function.__closure__ or ()
        return [cells[names.index(name)].cell_contents for name in unit.relied.captured]

    def run(self, result: Result, watch: Watch) -> Callable[..., Any]:
        """Return what a stage gives as a function of the values of all parameters."""
        stage, unit, made = result
        if isinstance(made, Emitted):
            return self.emitted(made)
        if stage == "parse":
            lookup = Scope(self.request.function).lookup
            return partial(Evaluator((), lambda name: lookup(name)[1], watch).run, made[0])
        evaluator, count = Evaluator(made, watch=watch), len(self.request.types)

        def entry(*values: Any) -> Any:
            return evaluator.run(
                made[0], *values[:count], *self.cells(unit), *values[count:]
            )

        s = self.derivative.specialisations
        if stage != "types" and self.request.options.mode == "vjp":
            back = made[0].name.removesuffix("_augmented") + "_pullback"
            half = Half(evaluator.callable(evaluator.functions[back]), "", back, {}, back)
            return pulled_back(entry, half, s.options.batched)
        if stage != "types" and self.request.options.mode == "forward":
            names = tuple(s.parameters[i].name for i in s.wrt)
            wanted = tuple(zip(names, s.wrt, s.parts, strict=True))
            return at_point(entry, wanted, s.options.batched)
        return entry

    def emitted(self, made: Emitted) -> Callable[..., Any]:
        """Return the emitted code as a function of the values of all parameters."""
        s, request = self.derivative.specialisations, self.request
        compiled = s.loaded(
            None, made.text, made.entry, {name: value for name, (value, _) in made.bound.items()},
            request.types, made.unit.relied.facts, made.report, tuple(made.unit.relied.captured),
            request.assume_equal_shapes, (),
        )
        return lambda *values: s.run(compiled, values)


@dataclass(frozen=True)
class Outcome:
    """What comes out of a call: the value, the arguments then, and the derivative."""

    value: Any
    args: Any
    derivative: Any = None


def applied(call: Callable[..., Any], mode: str, seed: Any, args: tuple[Any, ...]) -> Outcome:
    """Call a derivative of some mode; ``seed`` is the cotangent or the tangents."""
    if mode == "value_and_grad":
        value, gradient = call(*args)
        return Outcome(value, args, gradient)
    if mode == "grad":
        return Outcome(None, args, call(*args))
    if mode == "vjp":
        value, pullback = call(*args)
        value = copy.deepcopy(value)
        first = copy.deepcopy(pullback(copy.deepcopy(seed)))
        return Outcome(value, args, (first, pullback(copy.deepcopy(seed))))
    value, tangent = call(*args)(*copy.deepcopy(seed))
    return Outcome(value, args, tangent)


def compare(
    function: Callable[..., Any], args: tuple[Any, ...], argnums: Any, mode: str, seed: Any = None,
    watching: Watching = lambda stage, unit: Watch(), batched: bool = False,
    tolerance: float = TOLERANCE,
) -> None:
    """Raise ``Differs`` with the name of the first stage that differs from Python.

    The derivatives are compared with that of the stage before.
    """
    left = copy.deepcopy(args)
    value = function(*left)
    compilation = Compilation.of(function, args, argnums, mode, batched=batched)
    with suppress(NotBatchable):
        try:
            follow(compilation, args, (value, left), seed, watching, tolerance)
        except StretchedError:
            compilation = Compilation.of(function, args, argnums, mode, False, batched)
            follow(compilation, args, (value, left), seed, watching, tolerance)


def follow(
    compilation: Compilation, args: tuple[Any, ...], wanted: tuple[Any, Any], seed: Any,
    watching: Watching, tolerance: float,
) -> None:
    """Run each stage as soon as it is there: later ones may note other things of its variables."""
    mode, derivative = compilation.request.options.mode, None
    value, left = wanted
    changed: list[tuple[str, Any]] = []
    for result in stages(compilation.request):
        name, unit, made = result
        given = compilation.called(copy.deepcopy(args))
        call = compilation.run(result, watching(name, unit))
        try:
            before = name in ("parse", "types")
            outcome = Outcome(call(*given), given) if before else applied(call, mode, seed, given)
        except Exception as error:
            error.add_note(f"in stage {name}")
            raise
        if outcome.value is not None:
            same(outcome.value, value, tolerance, f"{name}: value")
        if name != "types":
            changed.append((name, outcome.args))
        if derivative is not None:
            same(outcome.derivative, derivative, tolerance, f"{name}: derivative")
        derivative = outcome.derivative
    assert isinstance(made, Emitted)
    for name, found in changed:
        if name in ("parse", "source") or made.product.effects == "written":
            kept = mode in ("grad", "value_and_grad") and name != "parse"
            same(found, compilation.called(args if kept else left), tolerance,
                 f"{name}: arguments")


def same(found: Any, wanted: Any, tolerance: float, what: str) -> None:
    """Raise ``Differs`` unless two nested values agree, in classes too."""
    problem = difference(found, wanted, tolerance)
    if problem:
        raise Differs(f"{what}: {problem}")


def difference(found: Any, wanted: Any, tolerance: float) -> str:
    """Return in what two nested values differ, or ""."""
    if found is wanted:
        return ""
    if wanted is None or found is None or isinstance(wanted, str):
        return "" if found == wanted else f"{found!r}, expected {wanted!r}"
    if isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)):
        if len(found) != len(wanted):
            return f"{len(found)} items, expected {len(wanted)}"
        pairs = zip(found, wanted, strict=True)
        return next(filter(None, (difference(a, b, tolerance) for a, b in pairs)), "")
    if isinstance(wanted, dict) and isinstance(found, dict):
        if list(found) != list(wanted):
            return f"keys {list(found)}, expected {list(wanted)}"
        pairs = zip(found.values(), wanted.values(), strict=True)
        return next(filter(None, (difference(a, b, tolerance) for a, b in pairs)), "")
    if isinstance(wanted, (bool, int, float, complex, np.generic, np.ndarray)):
        if np.shape(found) != np.shape(wanted):
            return f"{found!r}, expected {wanted!r}"
        if np.asarray(wanted).dtype.kind in "biufc" and np.allclose(
            found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True
        ):
            return ""
        return "" if np.array_equal(found, wanted) else f"{found!r}, expected {wanted!r}"
    if hasattr(wanted, "__dict__") and type(found) is type(wanted):
        return difference(vars(found), vars(wanted), tolerance)
    return ""
