"""Derivatives at one point as linear maps: what ``vjp`` and ``linearize`` return beside the value.

They hold what the derivative reads, saved where the value was computed, and call the second of the
two functions that were emitted. They are pickled with the text of its module, so that they work in
processes that have neither the function nor a cache.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adcompiler.cache.modules import EMITTED, load_module
from adcompiler.dispatch.arguments import part_at
from adcompiler.dispatch.cotangents import (
    Outline, conform, conform_each, outline, zero,
)
from adcompiler.dispatch.finite import is_finite
from adcompiler.dispatch.linear_operators import linear_operator
from adcompiler.dispatch.source_text import SourceText
from adcompiler.runtime import own
from adcompiler.runtime.batches import no_seeds, none_of, one_zero, pulled_each

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

Wanted = Sequence[tuple[str, int, tuple[Any, ...]]]
"""Names and positions of the arguments that are differentiated, with steps to the part."""

Outlines = Sequence[tuple[Outline | None, str]]
"""Structures of those arguments, with their names."""


class Half:
    """The second of two emitted functions; ``of`` is the name of the user's function.

    ``masked`` gives what is called in its place where a derivative is not finite, or None.
    """

    __slots__ = ("bound", "call", "masked", "name", "of", "text")

    def __init__(
        self, call: Callable[..., Any], text: str, name: str, bound: Mapping[str, Any], of: str,
        masked: Callable[[], Half | None] | None = None,
    ) -> None:
        self.call = call
        self.text = text
        self.name = name
        self.bound = bound
        self.of = of
        self.masked = masked

    def __call__(self, residuals: Any, *seeds: Any) -> Any:
        """Return the derivative along seeds, by the masked form where it is not finite."""
        found = self.call(residuals, *seeds)
        if self.masked is None or is_finite(found):
            return found
        masked = self.masked()
        return found if masked is None else masked.call(residuals, *seeds)

    def __reduce__(self) -> Any:
        masked = None if self.masked is None else self.masked()
        return half_again, (self.text, self.name, dict(self.bound), self.of, masked)


def half_again(
    text: str, name: str, bound: dict[str, Any], of: str, masked: Half | None = None
) -> Half:
    """Return a function of an emitted module, of which the text was pickled."""
    module = load_module(None, text, EMITTED + name)
    vars(module).update(bound)
    known = None if masked is None else lambda: masked
    return Half(getattr(module, name), text, name, bound, of, known)


class LinearMap:
    """The derivative of a function at one point: base of pullbacks and pushforwards.

    It may be called any number of times, from any thread, and can be pickled with what it holds.
    """

    __slots__ = ("_half", "residuals")
    kind = "linear map"

    def __init__(self, half: Half, residuals: Any) -> None:
        self._half = half
        self.residuals = residuals

    def __repr__(self) -> str:
        return f"<{self.kind} of {self._half.of}>"

    @property
    def source(self) -> SourceText:
        """The text of the emitted module that it runs."""
        return SourceText(self._half.text)

    def as_linear_operator(self) -> LinearOperator:
        """Return the map as a ``scipy.sparse.linalg.LinearOperator``.

        It acts on vectors of the real numbers of what the map is called with, in order. Raises
        TypeError for complex numbers.
        """
        raise NotImplementedError


class Pullback(LinearMap):
    """Pulls cotangents of a function's value back to cotangents of its arguments."""

    __slots__ = ("structure",)
    kind = "pullback"

    def __init__(self, half: Half, residuals: Any, structure: Outline | None) -> None:
        super().__init__(half, residuals)
        self.structure = structure

    def __reduce__(self) -> Any:
        return type(self), (self._half, self.residuals, self.structure)

    def __call__(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments for a cotangent of the value."""
        return self._half(self.residuals, conform(cotangent, self.structure))

    def as_linear_operator(self) -> LinearOperator:
        back = outline(self(zero(self.structure)))
        return linear_operator(self, self.structure, back)


class PullbackOfEach(Pullback):
    """Pulls back many cotangents at once, which are one by one given to code of one seed."""

    __slots__ = ("one_by_one",)

    def __init__(
        self, half: Half, residuals: Any, structure: Outline | None, one_by_one: bool
    ) -> None:
        super().__init__(half, residuals, structure)
        self.one_by_one = one_by_one

    def __reduce__(self) -> Any:
        return type(self), (self._half, self.residuals, self.structure, self.one_by_one)

    def __call__(self, cotangents: Any) -> Any:
        """Return the cotangents of the arguments for those of the value, one for each seed."""
        given = conform_each(cotangents, self.structure)
        if no_seeds(given, "the cotangents"):
            return none_of(self(one_zero(given)))
        backward = self._half
        if not self.one_by_one:
            return backward(self.residuals, given)
        return pulled_each(backward, self.residuals, given)

    def as_linear_operator(self) -> LinearOperator:
        raise TypeError("a pullback of many cotangents at once is no operator on vectors")


class PullbackOfSome(Pullback):
    """A pullback with None for those of ``count`` arguments that have no cotangent."""

    __slots__ = ("count", "positions", "pullback")

    def __init__(self, pullback: Pullback, positions: Sequence[int], count: int) -> None:
        super().__init__(pullback._half, pullback.residuals, pullback.structure)
        self.pullback = pullback
        self.positions = tuple(positions)
        self.count = count

    def __reduce__(self) -> Any:
        return type(self), (self.pullback, self.positions, self.count)

    def __call__(self, cotangent: Any) -> Any:
        """Return the cotangents of all arguments for a cotangent of the value."""
        found = dict(zip(self.positions, self.pullback(cotangent), strict=True))
        return tuple(found.get(i) for i in range(self.count))


class Pushforward(LinearMap):
    """Pushes tangents of a function's arguments forward to a tangent of its value."""

    __slots__ = ("outlines", "structure")
    kind = "pushforward"

    def __init__(
        self, half: Half, residuals: Any, outlines: Outlines, structure: Outline | None = None
    ) -> None:
        super().__init__(half, residuals)
        self.outlines = outlines
        self.structure = structure

    def __reduce__(self) -> Any:
        return type(self), (self._half, self.residuals, self.outlines, self.structure)

    def __call__(self, *tangents: Any) -> Any:
        """Return the derivative of the value along the tangents of the arguments."""
        return self._half(self.residuals, *given_tangents(tangents, self.outlines))

    def as_linear_operator(self) -> LinearOperator:
        domain = Outline(tuple, None, None, {i: one for i, (one, _) in enumerate(self.outlines)})
        return linear_operator(lambda tangents: self(*tangents), domain, self.structure)


class RecomputingPushforward(Pushforward):
    """A pushforward that computes the value again in each call, from copies of the arguments."""

    __slots__ = ("again", "made_of", "run")

    def __init__(
        self, half: Half, args: tuple[Any, ...], outlines: Outlines, run: Callable[..., Any],
        again: Callable[..., Any], made_of: tuple[Any, ...],
    ) -> None:
        super().__init__(half, args, outlines)
        self.run = run
        self.again = again
        self.made_of = made_of

    def __reduce__(self) -> Any:
        return self.again, (*self.made_of, self.residuals)

    def __call__(self, *tangents: Any) -> Any:
        """Return the derivative of the value along the tangents of the arguments."""
        return self.run(*own(self.residuals), *given_tangents(tangents, self.outlines))[1]


class PushforwardOfSome(Pushforward):
    """A pushforward that takes None for those of the arguments that are not ``inside``."""

    __slots__ = ("inside", "names", "pushforward")

    def __init__(
        self, pushforward: Pushforward, names: Sequence[int | str], inside: Sequence[bool]
    ) -> None:
        rest = iter(pushforward.outlines)
        outlines = [next(rest) if on else (None, str(one))
                    for one, on in zip(names, inside, strict=True)]
        super().__init__(
            pushforward._half, pushforward.residuals, outlines, pushforward.structure)
        self.pushforward = pushforward
        self.names = tuple(names)
        self.inside = tuple(inside)

    def __reduce__(self) -> Any:
        return type(self), (self.pushforward, self.names, self.inside)

    def __call__(self, *tangents: Any) -> Any:
        """Return the derivative of the value along the tangents of the arguments."""
        check_count(tangents, len(self.names))
        for one, on, d in zip(self.names, self.inside, tangents, strict=True):
            if not on and d is not None:
                raise TypeError(
                    f"the argument {one} holds no float, so that its tangent is None; "
                    "argnums names what is to have another"
                )
        return self.pushforward(*itertools.compress(tangents, self.inside))


def check_count(tangents: Sequence[Any], count: int) -> None:
    """Raise TypeError where there is not one tangent for each argument."""
    if len(tangents) != count:
        raise TypeError(
            f"the pushforward takes {count} tangents, one for each argument; got {len(tangents)}"
        )


def given_tangents(tangents: Sequence[Any], outlines: Outlines) -> list[Any]:
    """Return tangents as emitted code takes them; raise if they do not fit the arguments."""
    check_count(tangents, len(outlines))
    return [
        conform(zero(form) if d is None else d, form, f"the tangent of {name}")
        for d, (form, name) in zip(tangents, outlines, strict=True)
    ]


def pulled_back(
    augmented: Callable[..., Any], half: Half, batched: bool = False, one_by_one: bool = False,
) -> Callable[..., tuple[Any, Pullback]]:
    """Return a function that returns a value and the pullback there.

    If ``batched``, that takes cotangents of many seeds, which ``one_by_one`` are given to
    ``half``.
    """

    def value_and_pullback(*args: Any) -> tuple[Any, Pullback]:
        value, residuals = augmented(*args)
        return value, Pullback(half, residuals, outline(value))

    def value_and_pullback_of_each(*args: Any) -> tuple[Any, Pullback]:
        value, residuals = augmented(*args)
        return value, PullbackOfEach(half, residuals, outline(value), one_by_one)

    return value_and_pullback_of_each if batched else value_and_pullback


def linearized(
    first: Callable[..., Any], half: Half, wanted: Wanted
) -> Callable[..., tuple[Any, Pushforward]]:
    """Return a function that returns a value and the pushforward there, of the emitted two."""

    def value_and_pushforward(*args: Any) -> tuple[Any, Pushforward]:
        outlines = [(outline(part_at(args[i], steps)), name) for name, i, steps in wanted]
        value, residuals = first(*args)
        return value, Pushforward(half, residuals, outlines, outline(value))

    return value_and_pushforward


def recomputing(
    run: Callable[..., Any], half: Half, wanted: Wanted, again: Callable[..., Any],
    made_of: tuple[Any, ...],
) -> Callable[..., tuple[Any, Pushforward]]:
    """As ``linearized``, of a pushforward that computes the value again in each call.

    It is pickled as a call of ``again`` with what it is ``made_of`` and the arguments.
    """

    def value_and_pushforward(*args: Any) -> tuple[Any, Pushforward]:
        outlines = [(outline(part_at(args[i], steps)), name) for name, i, steps in wanted]
        push = RecomputingPushforward(half, own(args), outlines, run, again, made_of)
        zeros = given_tangents([None] * len(outlines), outlines)
        value = run(*args, *zeros)[0]
        push.structure = outline(value)
        return value, push

    return value_and_pushforward


__all__ = [
    "Half", "LinearMap", "Pullback", "PullbackOfSome", "Pushforward", "PushforwardOfSome",
    "linearized", "pulled_back", "recomputing",
]
