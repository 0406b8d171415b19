"""How functions of an emitted module are called: along tangents, and once more."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adcompiler.dispatch.arguments import part_at
from adcompiler.dispatch.compiled import Assumed, Same
from adcompiler.dispatch.cotangents import conform, conform_each, outline
from adcompiler.dispatch.finite import NotFinite, is_finite
from adcompiler.dispatch.linear_maps import Wanted
from adcompiler.errors import ADError, UnsupportedError
from adcompiler.runtime import AliasedError, StretchedError, Unfit, UnfitError
from adcompiler.runtime.batches import (
    along_each, count_seeds, each_array, no_seeds, none_of, one_zero, turned,
)
from adcompiler.support.structs import dataclass

MOST_TOGETHER = 1 << 17
"""How many numbers of all seeds loops over all of them take at a time.

Memory for arrays that are much larger is given back to the system by each call.
"""
MOST_FORMS = 4
"""Of so many forms for stretched operands the last one takes nothing for granted."""


def at_point(
    run: Callable[..., Any], wanted: Wanted, batched: bool = False, one_by_one: bool = False,
    writes: bool = True,
) -> Callable[..., Callable[..., Any]]:
    """Return a function of the primals that returns the pushforward there.

    ``wanted`` are the names and positions of what is differentiated, with steps to the part.
    If ``batched``, tangents are of many seeds, which ``one_by_one`` are given to ``run``;
    ``writes`` tells whether that may write into the primals.
    """

    def at(*args: Any) -> Callable[..., Any]:
        outlines = [(outline(part_at(args[i], steps)), name) for name, i, steps in wanted]

        def pushforward(*tangents: Any) -> Any:
            """Return the value and its derivative along the tangents of the arguments."""
            return run(*args, *(
                conform(d, form, f"the tangent of {name}")
                for d, (form, name) in zip(tangents, outlines, strict=True)
            ))

        return pushforward

    def at_many(*args: Any) -> PushforwardOfEach:
        return PushforwardOfEach(run, args, wanted, one_by_one, writes)

    return at_many if batched else at


class PushforwardOfEach:
    """The pushforward of many tangents at one point.

    ``run`` takes the primals ``args`` and the tangents, those of each seed ``one_by_one`` if it is
    for one, and ``writes`` into the primals, maybe.
    """

    __slots__ = ("args", "one_by_one", "run", "wanted", "writes")

    def __init__(
        self, run: Callable[..., Any], args: tuple[Any, ...], wanted: Wanted, one_by_one: bool,
        writes: bool,
    ) -> None:
        self.run = run
        self.args = args
        self.wanted = wanted
        self.one_by_one = one_by_one
        self.writes = writes

    def __call__(self, *tangents: Any) -> Any:
        """Return the value and its derivatives along the tangents, one for each seed."""
        given = tuple(
            conform_each(d, outline(part_at(self.args[i], steps)), f"the tangents of {name}")
            for d, (name, i, steps) in zip(tangents, self.wanted, strict=True)
        )
        if no_seeds(given, "the tangents"):
            value, along = self(*one_zero(given))
            return value, none_of(along)
        return self.of_fitting(*given)

    def of_fitting(self, *tangents: Any) -> Any:
        """As a call, of tangents that are known to have the form of the primals, not of no seed."""
        if not self.one_by_one:
            return self.run(*self.args, *tangents)
        return along_each(self.run, self.args, tangents)


@dataclass(eq=False, slots=True)
class AtPoint:
    """The derivative at one point along seeds that are the same at every point.

    ``constants(*tangents)`` is what ``along`` takes, here and at other points with arguments of the
    same shapes, and the same values of what is not differentiated. ``entry`` tells whose they are.
    ``along`` returns the derivatives, ``with_value`` behind the value; it may raise StretchedError
    or AliasedError, and what it returns may share storage with the constants. It is fast as long as
    all seeds are about ``most`` numbers, unless that is None, or ``least`` seeds. Where it
    ``is_tested``, NotFinite is raised for derivatives that are nan or infinite.
    """

    entry: Callable[..., Any]
    first: Callable[..., Any]
    with_value: bool
    args: tuple[Any, ...]
    wanted: Sequence[tuple[str, int, tuple[Any, ...]]]
    most: int | None = None
    least: int = 1
    is_tested: bool = False

    def constants(self, *tangents: Any) -> Any:
        """Return what the tangents decide, one seed for each element of their leading axes."""
        return self.first(*self.args, *(
            conform_each(d, outline(part_at(self.args[i], steps)), f"the tangents of {name}")
            for d, (name, i, steps) in zip(tangents, self.wanted, strict=True)
        ))

    def along(self, constants: Any) -> Any:
        """Return the derivatives along the tangents that ``constants`` are of.

        NotFinite is raised where they may be nan for an infinite slope: other code masks that.
        """
        found = self.entry(*self.args, constants)
        if self.is_tested and not is_finite(found[1] if self.with_value else found):
            raise NotFinite
        return found


def at_point_along(
    entry: Callable[..., Any], first: Callable[..., Any], with_value: bool,
    wanted: Sequence[tuple[str, int, tuple[Any, ...]]], most: int | None = None, least: int = 1,
    is_tested: bool = False,
) -> Callable[..., AtPoint]:
    """Return a function of the primals that returns the derivative along constant seeds there."""

    def at(*args: Any) -> AtPoint:
        return AtPoint(entry, first, with_value, args, wanted, most, least, is_tested)

    return at


def at_point_with(
    run: Callable[..., Any], wanted: Wanted, least: int | None
) -> Callable[..., AtPoint]:
    """Return the same for loops of which no part is computed by the seeds alone: they are kept.

    From ``least`` seeds on, unless that is None, loops take them all at once.
    """
    count = len(wanted)

    def entry(*given: Any) -> Any:
        return run(*given[:-1], *given[-1])

    def first(*given: Any) -> Any:
        seeds = given[len(given) - count :]
        if least is None or count_seeds(seeds) < least:
            return seeds
        return each_array(turned, seeds)

    if least is None:
        return at_point_along(entry, first, True, wanted)
    return at_point_along(entry, first, True, wanted, MOST_TOGETHER, least)


def passed_on(
    parameters: Sequence[inspect.Parameter], values: Sequence[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the values of parameters as a call passes them: by position, and by name."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter, value in zip(parameters, values, strict=False):
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            positional.append(value)
    return positional, named


def with_effects(
    call: Callable[..., Any], function: Callable[..., Any], parameters: Sequence[inspect.Parameter]
) -> Callable[..., Any]:
    """Return ``call``, followed by the function itself for what it does to its arguments."""

    def calling(*args: Any) -> Any:
        found = call(*args)
        positional, named = passed_on(parameters, args)
        function(*positional, **named)
        return found

    return calling


def allowing_stretched(
    call: Callable[..., Any],
    compile_for: Callable[[tuple[Any, ...], Assumed], Callable[..., Any] | None], count: int,
) -> Callable[..., Any]:
    """Return ``call``, followed by other forms where it meets stretched operands.

    One of these takes for granted which axes of the first ``count`` arguments have one element, as
    they have in the call at hand; the last takes nothing for granted, and is kept to from then on.
    Such code has no effects of its own before it notices, so that it can be run again.
    """
    forms: dict[Assumed, Callable[..., Any]] = {True: call}
    latest: Assumed = True

    def allowing(*args: Any) -> Any:
        nonlocal latest
        try:
            return forms[latest](*args)
        except StretchedError:
            if latest is False:
                raise
        ones = axes_of_one(args[:count])
        tried: set[Assumed] = {latest}
        for assumed in (ones or True, True, False):
            if assumed in tried or (assumed not in forms and assumed and len(forms) == MOST_FORMS):
                continue
            tried.add(assumed)
            if assumed not in forms:
                forms[assumed] = compiled_form(compile_for, args, assumed) or call
            try:
                found = forms[assumed](*args)
            except StretchedError:
                if assumed is False:
                    raise
                continue
            latest = assumed
            return found
        raise AssertionError

    return allowing


def compiled_form(
    compile_for: Callable[[tuple[Any, ...], Assumed], Callable[..., Any] | None],
    args: tuple[Any, ...], assumed: Assumed,
) -> Callable[..., Any] | None:
    """Return a form; None for one of axes of one element that is refused: the general one tells."""
    try:
        return compile_for(args, assumed)
    except UnsupportedError:
        if not assumed:
            raise
        return None


def axes_of_one(args: Iterable[Any]) -> tuple[tuple[int, int], ...]:
    """Return the positions of arrays, with their axes of one element."""
    return tuple(
        (i, axis) for i, arg in enumerate(args) if isinstance(arg, np.ndarray)
        for axis, extent in enumerate(arg.shape) if extent == 1)


def of_each(run: Callable[..., Any], seeds: int, *args: Any) -> Any:
    """Call code of one seed for each of many; the last ``seeds`` arguments are their tangents."""
    count = len(args) - seeds
    return along_each(run, args[:count], args[count:])


def allowing_aliases(
    call: Callable[..., Any],
    compile_for: Callable[[tuple[Any, ...], Same], Callable[..., Any] | None], known: Same,
) -> Callable[..., Any]:
    """Return ``call``, with forms of it for arguments that are one object.

    Such code has no effects of its own before it notices, so that it can be run again. ``known``
    are the arguments that ``call`` takes for one object: if it does not want these, no code does.
    """
    forms: dict[Same, Callable[..., Any]] = {}

    def allowing(*args: Any) -> Any:
        try:
            return call(*args)
        except AliasedError as error:
            if set(error.same) <= set(known):
                raise
            same = tuple(dict.fromkeys((*known, *error.same)))
        if same not in forms:
            forms[same] = compile_for(args, same) or call
        return forms[same](*args)

    return allowing


def telling_unfit(call: Callable[..., Any], again: bool) -> Callable[..., Any]:
    """Return ``call``, which raises UnfitError where it was not compiled for what it meets.

    ``again`` says whether it has had no effects by then.
    """

    def telling(*args: Any) -> Any:
        try:
            return call(*args)
        except Unfit as unfit:
            error = UnfitError(str(unfit))
            error.again = again
            raise error from None

    return telling


def unless_unfit(
    call: Callable[..., Any], instead: Callable[[tuple[Any, ...], ADError], Any], count: int
) -> Callable[..., Any]:
    """Return ``call``, or what is returned ``instead`` where it was not compiled for what it meets.

    ``count`` is how many of its arguments are the function's.
    """

    def unless(*args: Any) -> Any:
        try:
            return call(*args)
        except UnfitError as unfit:
            return instead(args[:count], unfit)

    return unless
