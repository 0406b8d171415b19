"""What ``linearize`` returns: a value, and the pushforward there as a function of tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.dispatch.arguments import part_at
from adcompiler.dispatch.cotangents import Outline, conform, outline, zero
from adcompiler.runtime import own

Wanted = Sequence[tuple[str, int, tuple[Any, ...]]]
"""Names and positions of the arguments that are differentiated, with steps to the part."""


def given_tangents(
    tangents: Sequence[Any], outlines: Sequence[tuple[Outline | None, str]]
) -> list[Any]:
    """Return tangents as emitted code takes them; raise if they do not fit the arguments."""
    if len(tangents) != len(outlines):
        raise TypeError(
            f"the pushforward takes {len(outlines)} tangents, one for each argument; "
            f"got {len(tangents)}"
        )
    return [
        conform(zero(form) if d is None else d, form, f"the tangent of {name}")
        for d, (form, name) in zip(tangents, outlines, strict=True)
    ]


def linearized(
    first: Callable[..., Any], rest: Callable[..., Any], wanted: Wanted
) -> Callable[..., tuple[Any, Callable[..., Any]]]:
    """Return a function that returns a value and the pushforward there, of the emitted two."""

    def value_and_pushforward(*args: Any) -> tuple[Any, Callable[..., Any]]:
        outlines = [(outline(part_at(args[i], steps)), name) for name, i, steps in wanted]
        value, residuals = first(*args)

        def pushforward(*tangents: Any) -> Any:
            """Return the derivative of the value along the tangents of the arguments."""
            return rest(residuals, *given_tangents(tangents, outlines))

        return value, pushforward

    return value_and_pushforward


def recomputing(
    run: Callable[..., Any], wanted: Wanted
) -> Callable[..., tuple[Any, Callable[..., Any]]]:
    """As ``linearized``, of a pushforward that computes the value again in each call."""

    def value_and_pushforward(*args: Any) -> tuple[Any, Callable[..., Any]]:
        outlines = [(outline(part_at(args[i], steps)), name) for name, i, steps in wanted]
        kept = own(args)

        def pushforward(*tangents: Any) -> Any:
            """Return the derivative of the value along the tangents of the arguments."""
            return run(*own(kept), *given_tangents(tangents, outlines))[1]

        zeros = given_tangents([None] * len(outlines), outlines)
        return run(*args, *zeros)[0], pushforward

    return value_and_pushforward
