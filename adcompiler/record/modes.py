"""What the operators ask of a recording: gradients, pullbacks, pushforwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.dispatch.cotangents import conform_each, outline
from adcompiler.dispatch.arguments import part_at
from adcompiler.dispatch.linear_maps import Half, Pushforward, given_tangents
from adcompiler.errors import ADError, ArgumentsError, limitations
from adcompiler.record.copies import Copies
from adcompiler.record.running import (
    Recorded, RecordedPullback, Wanted, each_of, handed_out, stacked,
)
from adcompiler.record.entry import refused_twice
from adcompiler.record.tape import Tape
from adcompiler.runtime.batches import no_seeds, none_of, one_zero
from adcompiler.runtime.structure import seed


def derivative(
    mode: str, function: Callable[..., Any], values: tuple[Any, ...], wanted: Wanted,
    parameters: Sequence[Any], single: bool, has_aux: bool = False, batched: bool = False,
) -> Any:
    """Return what a compiled derivative of this mode returns, by a recording.

    ``values`` are those of all ``parameters``; ``wanted`` says what of them is differentiated.
    """
    if mode in ("grad", "value_and_grad"):
        return gradient(mode, function, values, wanted, parameters, single, has_aux)
    if mode == "vjp":
        run = Recorded(function, values, wanted, parameters)
        pullback = RecordedPullback(run, single, getattr(function, "__name__", "the function"))
        value = run.handed_out()
        return value, pullback.of_each if batched else pullback
    if mode == "forward":
        push = Push(function, values, wanted, parameters, True)
        return PushOfEach(push) if batched else push
    if mode == "linearize":
        outlines = outlines_of(values, wanted, parameters)
        run = Recorded(function, values, wanted, parameters)
        linear = PushOfTape(run, outlines, getattr(function, "__name__", "the function"))
        return run.handed_out(), linear
    raise ArgumentsError(
        f"the operator `{mode}` has no recorded form\n  see {limitations()}#recording")


def gradient(
    mode: str, function: Callable[..., Any], values: tuple[Any, ...], wanted: Wanted,
    parameters: Sequence[Any], single: bool, has_aux: bool,
) -> Any:
    """Return a gradient, with the value if the mode asks for it."""
    run = Recorded(function, values, wanted, parameters)
    value, aux = run.value, None
    try:
        if has_aux:
            if not isinstance(value, tuple) or len(value) != 2:
                raise TypeError("has_aux=True needs a function that returns a pair (value, aux)")
            value, aux = value
        name = getattr(function, "__name__", "the function")
        g: Any = seed(value, name)
        found: Any = run.pulled((g, None) if has_aux else g)
        found = found[0] if single else found
        value = handed_out(value)
        if mode == "grad":
            return (found, aux) if has_aux else found
        return ((value, aux), found) if has_aux else (value, found)
    finally:
        run.close(aux, *((run.value,) if mode == "value_and_grad" else ()))


def second(
    function: Callable[..., Any], values: tuple[Any, ...], wanted: Wanted,
    parameters: Sequence[Any], tangents: Sequence[Any],
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the gradient of a recorded function, and its derivative along tangents."""
    run = Recorded(function, values, wanted, parameters, tangents, second=True)
    try:
        name = getattr(function, "__name__", "the function")
        return run.pulled_along(seed(run.value, name))
    finally:
        run.close()


def pushed_gradient(
    gradient: Any, s: Any, mode: str, values: tuple[Any, ...], wanted: Wanted, batched: bool
) -> Any:
    """Return what pushes tangents through the gradient of a recorded function."""
    own = tuple(zip(s.wrt, s.parts, strict=True))
    first = len(s.target.first)
    moved = tuple((i + first, steps) for i, steps in wanted)
    if mode not in ("forward", "linearize") or gradient.options.mode != "grad" or (
        moved != own or gradient.options.has_aux
    ):
        raise ArgumentsError(
            f"the derivative {gradient!r} has no recorded derivative of its own\n"
            f"  see {limitations()}#recording")
    all_values = (*s.target.first, *values)
    if mode == "forward":
        push = PushOfGradient(s.target.function, all_values, own, s.parameters, s.single, True)
        return PushOfEach(push) if batched else push
    push = PushOfGradient(
        s.target.function, kept(all_values), own, s.parameters, s.single, False)
    value = derivative("grad", s.target.function, all_values, own, s.parameters, s.single)
    push.structure = outline(value)
    return value, push


def kept(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of parameters as they are now, for runs to come."""
    return Copies(values, (), Tape()).values


def outlines_of(
    values: tuple[Any, ...], wanted: Wanted, parameters: Sequence[Any]
) -> list[tuple[Any, str]]:
    """Return the structures of what is differentiated, with the names of its parameters."""
    return [(outline(part_at(values[i], steps)), parameters[i].name) for i, steps in wanted]


class Push(Pushforward):
    """Pushes tangents of a recorded function's arguments forward: each call runs the function.

    With the value it is also left to the last run what the function does to the arguments.
    ``instead_of`` is the refusal of the compiler that led here.
    """

    instead_of: ADError | None = None

    def __init__(
        self, function: Callable[..., Any], values: tuple[Any, ...], wanted: Wanted,
        parameters: Sequence[Any], with_value: bool,
    ) -> None:
        self.function, self.values, self.wanted = function, values, wanted
        self.parameters, self.with_value = parameters, with_value
        name = getattr(function, "__name__", "the function")
        super().__init__(
            Half(second, "", name, {}, name), None, outlines_of(values, wanted, parameters))

    def __reduce__(self) -> Any:
        raise ArgumentsError(
            f"{self!r} runs the function in each call, and cannot be pickled; pickle the function")

    def __copy__(self) -> Push:
        return self  # calls leave it as it is

    def __deepcopy__(self, memo: dict[int, Any]) -> Push:
        return self

    def __call__(self, *tangents: Any) -> Any:
        """Return the derivative along the tangents of the arguments, maybe behind the value."""
        value, d = self.run(given_tangents(tangents, self.outlines), self.with_value)
        return (value, d) if self.with_value else d

    def run(self, tangents: list[Any], writes: bool) -> tuple[Any, Any]:
        """Return the value and the derivative of a run, which ``writes`` into the arguments."""
        try:
            return self.run_anew(tangents, writes)
        except ADError as error:
            if self.instead_of is None:
                raise
            raise refused_twice(self.instead_of, error) from None

    def of_each(self, seeds: list[tuple[Any, ...]]) -> tuple[Any, list[Any]]:
        """Return the value, and the derivatives along tangents of several seeds, of one run."""
        run = Recorded(self.function, self.values, self.wanted, self.parameters)
        found = [run.pushed(one) for one in seeds]
        value = run.copies.give_back(run.value)
        run.close()
        return value, found

    def run_anew(self, tangents: list[Any], writes: bool) -> tuple[Any, Any]:
        """As ``run``."""
        run = Recorded(self.function, self.values, self.wanted, self.parameters, tangents)
        d = run.along()
        value = run.copies.give_back(run.value) if writes else handed_out(run.value)
        run.close(*() if writes else (run.value,))
        return value, d


class PushOfTape(Pushforward):
    """Pushes tangents forward along the tape of one run."""

    def __init__(self, run: Recorded, outlines: list[Any], name: str) -> None:
        self.tape = run
        self.pushing = threading.RLock()
        super().__init__(Half(second, "", name, {}, name), None, outlines)
        self.structure = outline(run.value)

    def __reduce__(self) -> Any:
        raise ArgumentsError(
            f"{self!r} holds the tape of a run, which cannot be pickled; pickle the function")

    def __copy__(self) -> PushOfTape:
        return self  # calls leave it as it is

    def __deepcopy__(self, memo: dict[int, Any]) -> PushOfTape:
        return self

    def __call__(self, *tangents: Any) -> Any:
        """Return the derivative along the tangents of the arguments."""
        given = given_tangents(tangents, self.outlines)
        with self.pushing:  # what the run wrote is undone, and done again
            return self.tape.pushed(given)

    def __del__(self) -> None:
        if hasattr(self, "tape"):
            self.tape.close()


class PushOfEach:
    """Pushes the tangents of many seeds forward."""

    writes = True

    def __init__(self, push: Push) -> None:
        self.push = push

    def __call__(self, *tangents: Any) -> Any:
        """Return the value, and the derivatives along the tangents of many seeds."""
        given = tuple(conform_each(d, form, f"the tangents of {name}")
                      for d, (form, name) in zip(tangents, self.push.outlines, strict=True))
        if no_seeds(given, "the tangents"):
            value, along = self(*one_zero(given))
            return value, none_of(along)
        seeds = list(zip(*map(each_of, given), strict=True))
        value, found = self.push.of_each(seeds)
        return value, stacked(found)

    def of_fitting(self, *tangents: Any) -> Any:
        """As a call, of tangents that are known to have the form of the arguments."""
        return self(*tangents)


class PushOfGradient(Push):
    """Pushes tangents through the gradient of a recorded function: its second derivatives."""

    def __init__(
        self, function: Callable[..., Any], values: tuple[Any, ...], wanted: Wanted,
        parameters: Sequence[Any], single: bool, with_value: bool,
    ) -> None:
        super().__init__(function, values, wanted, parameters, with_value)
        self.single = single

    def of_each(self, seeds: list[tuple[Any, ...]]) -> tuple[Any, list[Any]]:
        """As ``Push.of_each``, in a run for each seed; the last has the effects."""
        found = [self.run(list(one), one is seeds[-1]) for one in seeds]
        return found[-1][0], [d for _, d in found]

    def run_anew(self, tangents: list[Any], writes: bool) -> tuple[Any, Any]:
        found, along = second(self.function, self.values, self.wanted, self.parameters, tangents)
        return (found[0], along[0]) if self.single else (found, along)
