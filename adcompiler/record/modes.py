"""What the operators ask of a recording: gradients, pullbacks, pushforwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.dispatch.cotangents import conform, conform_each, outline
from adcompiler.dispatch.arguments import part_at
from adcompiler.dispatch.linear_maps import Half, Pushforward
from adcompiler.errors import ArgumentsError, limitations
from adcompiler.record.running import (
    Recorded, RecordedPullback, Wanted, each_of, handed_out, stacked,
)
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
        run.copies.give_back()
        value, pullback = handed_out(run.value), RecordedPullback(
            run, single, getattr(function, "__name__", "the function"))
        return value, pullback.of_each if batched else pullback
    if mode == "forward":
        push = Push(function, values, wanted, parameters, True)
        return push.of_each if batched else push
    if mode == "linearize":
        push = Push(function, values, wanted, parameters, False)
        return push.primal(), push
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
    if mode != "forward" or gradient.options.mode != "grad" or moved != own or (
        gradient.options.has_aux
    ):
        raise ArgumentsError(
            f"the derivative {gradient!r} has no recorded derivative of its own\n"
            f"  see {limitations()}#recording")
    push = PushOfGradient(
        s.target.function, (*s.target.first, *values), own, s.parameters, s.single)
    return push.of_each if batched else push


class Push(Pushforward):
    """Pushes tangents of a recorded function's arguments forward: each call runs the function."""

    def __init__(
        self, function: Callable[..., Any], values: tuple[Any, ...], wanted: Wanted,
        parameters: Sequence[Any], with_value: bool,
    ) -> None:
        self.function, self.values, self.wanted = function, values, wanted
        self.parameters, self.with_value = parameters, with_value
        name = getattr(function, "__name__", "the function")
        super().__init__(Half(second, "", name, {}, name), None, [
            (outline(part_at(values[i], steps)), parameters[i].name) for i, steps in wanted])

    def __reduce__(self) -> Any:
        raise TypeError(f"{self!r} runs a function again, and cannot be pickled")

    def primal(self) -> Any:
        """Return the value."""
        run = Recorded(self.function, self.values, (), self.parameters)
        value = handed_out(run.value)
        run.close(run.value)
        return value

    def of_each(self, *tangents: Any) -> Any:
        """Return the value, and the derivatives along the tangents of many seeds."""
        given = [conform_each(d, form, f"the tangents of {name}")
                 for d, (form, name) in zip(tangents, self.outlines, strict=True)]
        found = [self(*one) for one in zip(*map(each_of, given), strict=True)]
        return found[0][0], stacked([d for _, d in found])

    def __call__(self, *tangents: Any) -> Any:
        """Return the derivative along the tangents of the arguments, maybe behind the value."""
        given = [conform(d, form, f"the tangent of {name}")
                 for d, (form, name) in zip(tangents, self.outlines, strict=True)]
        run = Recorded(self.function, self.values, self.wanted, self.parameters, given)
        d = run.along()
        value = handed_out(run.value)
        if self.with_value:
            run.copies.give_back()
        run.close(run.value)
        return (value, d) if self.with_value else d


class PushOfGradient(Push):
    """Pushes tangents through the gradient of a recorded function: its second derivatives."""

    def __init__(
        self, function: Callable[..., Any], values: tuple[Any, ...], wanted: Wanted,
        parameters: Sequence[Any], single: bool,
    ) -> None:
        super().__init__(function, values, wanted, parameters, True)
        self.single = single

    def __call__(self, *tangents: Any) -> Any:
        """Return the gradient, and its derivative along the tangents of the arguments."""
        given = [conform(d, form, f"the tangent of {name}")
                 for d, (form, name) in zip(tangents, self.outlines, strict=True)]
        found, along = second(self.function, self.values, self.wanted, self.parameters, given)
        return (found[0], along[0]) if self.single else (found, along)
