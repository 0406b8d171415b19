"""What the operators ask of a recording: gradients, pullbacks, pushforwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter
from typing import Any

from adcompiler.dispatch.arguments import part_at
from adcompiler.dispatch.cotangents import conform_each, outline
from adcompiler.dispatch.linear_maps import Half, Pushforward, given_tangents
from adcompiler.dispatch.specialisations import Specialisations
from adcompiler.errors import ADError, ArgumentsError, limitations, refused_twice
from adcompiler.record.running import (
    OfRun, Recorded, RecordedPullback, Wanted, each_of, handed_out, stacked,
)
from adcompiler.record.tape import stay
from adcompiler.runtime.batches import no_seeds, none_of, one_zero
from adcompiler.runtime.structure import seed


def derivative(
    mode: str, function: Callable[..., Any], values: tuple[object, ...], wanted: Wanted,
    parameters: Sequence[Parameter], single: bool, has_aux: bool = False, batched: bool = False,
) -> Any:
    """Return what a compiled derivative of this mode returns, by a recording.

    ``values`` are those of all ``parameters``; ``wanted`` says what of them is differentiated.
    """
    name = getattr(function, "__name__", "the function")
    run = partial(Recorded, function, values, wanted, parameters)
    if mode in ("grad", "value_and_grad"):
        return gradient(mode, run(), name, single, has_aux)
    if mode == "vjp":
        pullback = RecordedPullback(made := run(), single, name)
        return made.handed_out(), pullback.of_each if batched else pullback
    if mode in ("forward", "linearize"):
        return pushing(mode, Push(partial(run, forward=True), values, wanted, parameters, name),
                       batched)
    raise ArgumentsError(
        f"the operator `{mode}` has no recorded form\n  see {limitations()}#recording")


def gradient(mode: str, run: Recorded, name: str, single: bool, has_aux: bool) -> Any:
    """Return a gradient, with the value if the mode asks for it."""
    value, aux = run.value, None
    try:
        if has_aux:
            if not isinstance(value, tuple) or len(value) != 2:
                raise TypeError("has_aux=True needs a function that returns a pair (value, aux)")
            value, aux = value
        g: Any = seed(value, name)
        found: Any = run.pulled((g, None) if has_aux else g)
        found = found[0] if single else found
        value = handed_out(value)
        if mode == "grad":
            return (found, aux) if has_aux else found
        return ((value, aux), found) if has_aux else (value, found)
    finally:
        run.close(aux, *((run.value,) if mode == "value_and_grad" else ()))


def pushed_gradient(
    gradient: Any, s: Specialisations, mode: str, values: tuple[object, ...], wanted: Wanted,
    batched: bool
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
    function, all_values = s.target.function, (*s.target.first, *values)
    run = partial(Recorded, function, all_values, own, s.parameters, forward=True)
    return pushing(mode, PushOfGradient(
        run, all_values, own, s.parameters, getattr(function, "__name__", "the function"),
        single=s.single), batched)


def pushing(mode: str, push: Push, batched: bool) -> Any:
    """Return what a compiled derivative in forward mode returns: a pushforward, or value and one.
    """
    if mode == "linearize":
        return push.at_once(), push
    return PushOfEach(push) if batched else push


class Push(OfRun, Pushforward):
    """Pushes tangents of a recorded function's arguments forward, along the tape of a run.

    Each call ``makes`` a run, and returns the value too, unless there is ``one`` run. To the run
    that a call makes it is left what the function does to the arguments. ``instead_of`` is the
    refusal of the compiler that led here.
    """

    instead_of: ADError | None = None
    one: Recorded | None = None

    def __init__(
        self, makes: Callable[[], Recorded], values: tuple[object, ...], wanted: Wanted,
        parameters: Sequence[Parameter], name: str,
    ) -> None:
        self.makes, self.name = makes, name
        self.pushing = threading.RLock()
        super().__init__(Half(Push.of_each, "", name, {}, name), None, [
            (outline(part_at(values[i], steps)), parameters[i].name) for i, steps in wanted])

    def __call__(self, *tangents: Any) -> Any:
        """Return the derivative along the tangents of the arguments, maybe behind the value."""
        value, (d,) = self.of_each([given_tangents(tangents, self.outlines)])
        return (value, d) if self.one is None else d

    def of_each(self, seeds: list[Sequence[object]]) -> tuple[Any, list[Any]]:
        """Return the value, and the derivatives along tangents of several seeds."""
        if self.one is not None:
            with self.pushing:  # what the run wrote is undone, and done again
                return None, self.along(self.one, seeds)
        try:
            run = self.makes()
            try:
                found = self.along(run, seeds)
                return self.value(run), found
            finally:
                run.close()
        except ADError as error:
            if self.instead_of is None:
                raise
            raise refused_twice(self.instead_of, error) from None

    def at_once(self) -> Any:
        """Return the value, of the one run that calls go along from now on."""
        run = self.makes()
        value = self.value(run)
        stay(run.tape)
        self.one, self.structure = run, outline(value)
        return value

    def along(self, run: Recorded, seeds: list[Sequence[object]]) -> list[Any]:
        """Return the derivatives along tangents of several seeds."""
        return [run.pushed(tangents) for tangents in seeds]

    def value(self, run: Recorded) -> Any:
        """Return the value, and leave the arguments as the run leaves them."""
        return run.copies.give_back(run.value)

    def __del__(self) -> None:
        if self.one is not None:
            self.one.close()


class PushOfGradient(Push):
    """Pushes tangents through the gradient of a recorded function: its second derivatives."""

    def __init__(self, *given: Any, single: bool) -> None:
        super().__init__(*given)
        self.single = single

    def along(self, run: Recorded, seeds: list[Sequence[object]]) -> list[Any]:
        g = seed(run.value, self.name)
        found = [run.pulled_along(g, tangents)[1] for tangents in seeds]
        return [d[0] for d in found] if self.single else found

    def value(self, run: Recorded) -> Any:
        """Return the gradient; the arguments are left as they were."""
        found = run.pulled(seed(run.value, self.name))
        return found[0] if self.single else found


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
        value, found = self.push.of_each(list(zip(*map(each_of, given), strict=True)))
        return value, stacked(found)

    def of_fitting(self, *tangents: Any) -> Any:
        """As a call, of tangents that are known to have the form of the arguments."""
        return self(*tangents)
