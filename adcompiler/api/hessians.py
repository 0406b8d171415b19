"""Second derivatives: Hessians, and their products with vectors.

All are compositions of ``grad``, ``vjp`` and ``jvp``; the compiler differentiates the code that it
has emitted for the inner one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from inspect import Parameter
from typing import Any, cast, overload

import numpy as np

from adcompiler.api.argnums import Asked, stated
from adcompiler.api.composed import ComposedDerivative, Part
from adcompiler.api.derivative import Code, Derivative, P
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.api.fallback import (
    BY_BACKEND, because, may_record, recorded_instead, types_key,
)
from adcompiler.api.forward import jvp
from adcompiler.api.keywords import suggesting
from adcompiler.cache.modules import load_module
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.arguments import described
from adcompiler.dispatch.explain import Explanation
from adcompiler.dispatch.trees import (
    MAX_UNITS, seeds_at_once, size_of, unit_batches, units,
)
from adcompiler.dispatch.written import (
    Written, has_own_containers, of_so_many, sees_calls, takes_any_number, takes_keywords_only,
)
from adcompiler.errors import (
    ADError, RunsAgainError, TooLongError, UncoveredError, not_one_of,
)
from adcompiler.runtime import own
from adcompiler.typed.derivatives import MAKERS, Wanted
from adcompiler.typed.operators import OPERATORS

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
TRIED = ("fwd_adj", "adj_fwd", "adj_adj", "fwd_fwd")


def tried(backend: str) -> tuple[str, ...]:
    """Return the combinations that are tried, in order."""
    return TRIED[:1] if backend == "record" else TRIED


BY_POSITION = "hessian needs a function whose arguments can be given by position"
COMBINATIONS = ("fwd_adj", "fwd_fwd", "adj_fwd", "adj_adj")


class Hessian(ComposedDerivative[P, Any]):
    """A function's Hessian; see ``hessian``."""

    def __init__(
        self, function: Callable[..., Any], argnums: Asked, mode: str | None,
        out: np.ndarray | None,        backend: str,
    ) -> None:
        options = Wanted("hessian", stated(function, argnums), False, (
            *((("mode", mode),) if mode else ()), *((("out", True),) if out is not None else ()),
        ))
        wanted = options.several
        sees = (sees_calls(function) or has_own_containers(function, wanted)
                or takes_keywords_only(function))
        any_number = not sees and takes_any_number(function)
        rows = [] if any_number else [
            Rows(function, wanted, one, backend) for one in ((mode,) if mode else tried(backend))]
        gradient: Part = EmittedDerivative(
            function, Options("grad", wanted)) if any_number else rows[0].gradient
        super().__init__(function, options, hessian, {
            "argnums": options.argnums, "mode": mode, "out": out, "backend": backend,
        }, {"gradient": gradient})
        self.gradient, self.any_number, self.rows = gradient, any_number, rows
        self.forms = {} if sees or any_number else None
        self.several, self.out, self.backend = not options.single, out, backend
        self.is_accepted = False
        self.refused: dict[Hashable, ADError] = {}

    def form_of(self, count: int, keywords: tuple[str, ...]) -> Derivative[..., Any]:
        if not self.any_number:
            return super().form_of(count, keywords)
        if keywords:
            raise TypeError(BY_POSITION)
        found: Derivative[..., Any] = self.like(function=of_so_many(self.primal, count))
        return found

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the Hessian at the arguments."""
        call = Written(args, kwargs)
        if self.forms is not None:
            found: Hessian[...] = self.form(call)
            result = found(*args, **kwargs)
            self.ran = found.ran
            return result
        if self.refused and call_types(self.gradient, call) in self.refused:
            return self.recording(*args, **kwargs)
        try:
            return self.compiled_rows(call)
        except ADError as error:
            if not self.may_record(error):
                raise
            return recorded_instead(
                self.gradient.specialisations.target, error, self.refused,
                lambda: call_types(self.gradient, call), lambda: self.recording(*args, **kwargs))

    def may_record(self, error: ADError) -> bool:
        return may_record(Options("grad", 0, backend=self.backend), error)

    @functools.cached_property
    def recording(self) -> Hessian[...]:
        """The Hessian by recordings."""
        return cast("Hessian[...]", self.like(backend="record"))

    def compiled_rows(self, call: Written) -> Any:
        """Return the Hessian, by compiled code or by recordings if these are asked for."""
        by_one_sweep = self.of_array(call)
        if by_one_sweep is not None:
            return by_one_sweep
        given, values = self.rows[0].arguments(call)
        blocks = empty_blocks(values, self.out)
        for i, index, parts in first_accepted(self.rows, given, values):
            for block, part in zip(blocks[i], parts, strict=True):
                block[index] = part
        self.ran = self.rows[0].second
        self.is_accepted = self.rows[0].mode == "fwd_adj" and not self.rows[0].is_recorded
        if self.several:
            return tuple(tuple(map(number_or_array, row)) for row in blocks)
        return self.out if self.out is not None else number_or_array(blocks[0][0])

    def of_array(self, call: Written) -> np.ndarray | None:
        """Return the Hessian in an array of floats given by position, pushed by one sweep.

        None where that is not what is asked for, or was never done before.
        """
        i, (args, kwargs) = self.options.argnums, call
        x: Any = args[i] if type(i) is int and 0 <= i < len(args) and self.is_accepted else None
        if type(x) is not np.ndarray or x.dtype != np.float64 or kwargs or self.out is not None or (
            not x.ndim or not 0 < x.size <= MAX_UNITS
        ):
            return None
        seeds = units(x, self.rows[0].is_native)
        try:
            (rows,) = self.rows[0].second(*args).of_fitting(seeds)[1]
        except (TooLongError, UncoveredError):
            raise
        except ADError:
            return None
        self.ran = self.rows[0].second
        found: np.ndarray = rows.reshape((*x.shape, *x.shape))
        return found.copy() if np.may_share_memory(found, seeds) else found

    def why_recorded(self, *args: Any, **kwargs: Any) -> str | None:
        recorded = self.backend == "record"
        return BY_BACKEND if recorded else Derivative.why_recorded(self, *args, **kwargs)

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        return Derivative.explain(self, *args, **kwargs)

    def at(self, call: Written) -> tuple[Specialisations, tuple[Any, ...]]:
        gradient: Part = self.form(call).gradient
        return gradient.at(call)

    def why_last_recorded(self) -> str | None:
        if self.backend == "record":
            return BY_BACKEND
        if self.forms:
            last: Hessian[...] = list(self.forms.values())[-1]
            return last.why_last_recorded()
        if not self.refused or self.ran.options.mode != "grad":  # code of a Hessian ran
            return None
        return because(list(self.refused.values())[-1])

    def code(self, *args: Any, **kwargs: Any) -> Code:
        if self.forms is not None:
            of_call: Code = self.form(Written(args, kwargs)).code(*args, **kwargs)
            return of_call
        given, values = self.rows[0].arguments(Written(args, kwargs))
        next(first_accepted(self.rows, own(given), values), None)
        rows = self.rows[0]
        if rows.mode.endswith("adj"):
            return rows.second.code(*given)
        return rows.second.code(given, tuple(map(number_or_array, map(np.zeros_like, values))))

    def running(self) -> Derivative[..., Any]:
        if self.rows and self.ran is self.gradient:  # before any call
            return self.rows[0].second
        return self.ran


@overload
def hessian(
    function: None = None, argnums: Asked = 0, *, mode: str | None = None,
    out: np.ndarray | None = None,
    backend: str = "python",
) -> Callable[[Callable[P, Any]], Derivative[P, Any]]: ...
@overload
def hessian(
    function: Callable[P, Any], argnums: Asked = 0, *, mode: str | None = None,
    out: np.ndarray | None = None,
    backend: str = "python",
) -> Derivative[P, Any]: ...
@suggesting
def hessian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, mode: str | None = None,
    out: np.ndarray | None = None, backend: str = "python",
) -> Any:
    """Return a function that computes the Hessian of ``function``.

    Can be used as a decorator, with or without arguments.

    Parameters:
        function (callable): A function that returns a real number.
        argnums (int, str or tuple): As for ``grad``; the arguments are numbers or arrays.
        mode (str): How it is computed, the outer derivative first: ``"fwd_adj"`` pushes a tangent
            through the gradient for each column, ``"adj_adj"`` pulls a cotangent back through it
            for each row, ``"adj_fwd"`` takes gradients of directional derivatives, ``"fwd_fwd"``
            pushes a pair of tangents for each entry. None is the first of ``"fwd_adj"``,
            ``"adj_fwd"``, ``"adj_adj"`` and ``"fwd_fwd"`` that the compiler does not refuse.
        out (ndarray): An array of the Hessian's shape: rows are written there as they are computed,
            and it is returned.
        backend (str): That of ``grad``: native loops compute all rows in one call.

    Returns:
        Derivative: A function of the same arguments. For an argument ``x`` the Hessian has the
        shape ``x.shape + x.shape``; for a tuple ``argnums`` it is a tuple of rows, tuples of
        blocks, one for each pair of arguments.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, for code that cannot be
            differentiated.
        TypeError: For arguments of other types, and results that are not real numbers.

    Example:
        >>> import numpy as np
        >>> from adcompiler import hessian
        >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
        array([[4., 2.],
               [2., 0.]])
    """
    if mode is not None and mode not in COMBINATIONS:
        raise ValueError(not_one_of("mode", mode, COMBINATIONS))
    if function is None:
        return lambda f: hessian(f, argnums, mode=mode, out=out, backend=backend)
    if isinstance(argnums, (tuple, list)) and out is not None:
        raise ValueError("out is for the Hessian in one argument; argnums names several")
    return Hessian(function, argnums, mode, out, backend)


def empty_blocks(
    values: Sequence[np.ndarray], out: np.ndarray | None
) -> list[list[np.ndarray]]:
    """Return arrays for the blocks of a Hessian; ``out`` for the only one, if it is given."""
    blocks = [[np.empty(x.shape + y.shape, x.dtype) for y in values] for x in values]
    if out is None:
        return blocks
    if np.shape(out) != blocks[0][0].shape:
        raise ValueError(f"out has shape {np.shape(out)}, but the Hessian {blocks[0][0].shape}")
    return [[out]]


class Rows:
    """Computes the rows of Hessians of one function, in one of the four combinations."""

    def __init__(
        self, function: Callable[..., Any], argnums: tuple[int | str, ...], mode: str,
        backend: str = "python",
    ) -> None:
        self.mode, self.is_native = mode, backend == "native"
        self.is_recorded = backend == "record"
        self.gradient: Part = EmittedDerivative(function, Options("grad", argnums))
        s = self.gradient.specialisations
        self.positions = tuple(i - len(s.target.first) for i in s.wrt)
        options = replace(
            OPERATORS["hessian"].parts[mode], argnums=self.positions, backend=backend,
            fallback="record" if backend == "record" else "refuse")
        if mode.endswith("adj"):
            self.second: Part = EmittedDerivative(self.gradient, options)
        else:
            wanted = tuple(f"args.{i}" for i in self.positions)
            self.second = EmittedDerivative(
                directional(function, self.positions), replace(options, argnums=wanted))

    def arguments(self, call: Written) -> tuple[tuple[Any, ...], list[np.ndarray]]:
        """Return all arguments by position, and those wanted as arrays; TypeError for others."""
        s = self.gradient.specialisations
        values = s.values(call.given_to(self.gradient.bound))
        if any(s.parts) or any(p.kind not in POSITIONAL for p in s.parameters):
            raise TypeError(BY_POSITION)
        for i in s.wrt:
            name, value = s.parameters[i].name, values[i]
            real = isinstance(value, (float, np.floating, np.ndarray))
            if not real or np.asarray(value).dtype.kind != "f":
                raise TypeError(
                    f"hessian needs real numbers and arrays, but {name} is {described(value)}; "
                    "hvp takes tuples, lists, dicts and instances too"
                )
        return values[len(s.target.first) :], [np.asarray(values[i]) for i in s.wrt]

    def at(self, args: tuple[Any, ...], values: list[np.ndarray]) -> Iterator[tuple[int, Any, Any]]:
        """Yield rows of the Hessian: for which argument, what index of it, and their parts."""
        if self.mode.endswith("adj"):
            yield from self.many(args, values)
            return
        row: Callable[[tuple[Any, ...]], Any]
        if self.mode == "adj_fwd":
            row = lambda d: self.second(args, d)  # noqa: E731
        else:
            row = lambda d: self.entries(args, values, d)  # noqa: E731
        for i, index, direction in unit_vectors(values):
            yield i, index, row(direction)
            latest = self.second.specialisations.latest
            if latest is not None and latest.report.get("draws") and size_of(values) > 1:
                from adcompiler.infer.calls import random_draws  # loads the compiler

                raise RunsAgainError([random_draws.drawing_again(self.gradient.primal)])

    def many(
        self, args: tuple[Any, ...], values: list[np.ndarray]
    ) -> Iterator[tuple[int, Any, list[Any]]]:
        """Yield the rows of as many elements of an argument as one sweep computes, as ``at``."""
        rows: Callable[[tuple[Any, ...]], Any]
        if self.mode == "fwd_adj":
            push = self.second(*args)
            rows = lambda seeds: push(*seeds)[1]  # noqa: E731
        else:
            rows = self.second(*args)[1]
        done = 0
        for seeds in unit_batches(tuple(values), seeds_at_once(size_of(values)), self.is_native):
            found, number, first = rows(seeds), len(seeds[0]), 0
            for i, value in enumerate(values):
                start, stop = max(done - first, 0), min(done + number - first, value.size)
                if start < stop:
                    chosen = slice(first + start - done, first + stop - done)
                    yield i, *placed(value.shape, start, stop, [part[chosen] for part in found])
                first += value.size
            done += number

    def entries(
        self, args: tuple[Any, ...], values: list[np.ndarray],
        direction: tuple[np.ndarray | float, ...],
    ) -> list[Any]:
        """Return a row of the Hessian, entry by entry."""
        push = self.second(args, direction)
        parts = [np.empty(value.shape, value.dtype) for value in values]
        for j, index, other in unit_vectors(values):
            parts[j][index] = push(*other)[1]
        return parts


def call_types(gradient: Part, call: Written) -> Any:
    """Return what tells calls apart of which some may be refused, and others not."""
    return types_key(gradient.specialisations.values(call.given_to(gradient.bound)))


def placed(
    shape: tuple[int, ...], start: int, stop: int, parts: list[np.ndarray]
) -> tuple[Any, list[np.ndarray]]:
    """Return the index of some elements of an array, counted in C order, and their rows' parts."""
    if stop - start == math.prod(shape):
        return Ellipsis, [part.reshape((*shape, *part.shape[1:])) for part in parts]
    return np.unravel_index(np.arange(start, stop), shape), parts


def first_accepted(ways: list[Rows], *args: Any) -> Iterator[Any]:
    """Yield the rows that the first of some combinations gives that the compiler does not refuse.

    Those that it refuses are put last.
    """
    for _ in range(len(ways) - 1):
        found = ways[0].at(*args)
        try:
            first = next(found, None)
        except (TooLongError, UncoveredError):
            raise
        except RunsAgainError:
            ways.sort(key=lambda way: way.mode != "adj_adj")  # which runs it once
            continue
        except ADError:
            ways.append(ways.pop(0))
            continue
        if first is not None:
            yield first
        yield from found
        return
    try:
        yield from ways[0].at(*args)
    except (TooLongError, UncoveredError):
        raise
    except ADError:
        ways.append(ways.pop(0))
        yield from ways[0].at(*args)  # the refusal of the first is the one to be told


@functools.lru_cache(maxsize=64)
def directional(function: Callable[..., Any], positions: tuple[int, ...]) -> Callable[..., Any]:
    """Return the derivative of ``function`` along a direction, as a function with readable source.

    It takes a tuple of arguments, and one of the tangents of those at the ``positions``.
    """
    text = (
        "def directional(args, tangents):\n"
        f"    return jvp(function, args, tangents, argnums={positions})[1]\n"
    )
    namespace = load_module(None, text, "adcompiler_directional").__dict__
    namespace.update(jvp=jvp, function=function)
    made: Callable[..., Any] = namespace["directional"]
    return made


def unit_vectors(
    values: list[np.ndarray],
) -> Iterator[tuple[int, tuple[int, ...], tuple[Any, ...]]]:
    """Yield each element of some arrays, by array and index, and the direction that moves it."""
    zeros = [np.zeros_like(value) for value in values]
    for i, value in enumerate(values):
        for index in np.ndindex(value.shape):
            one = zeros[i].copy()
            one[index] = 1.0
            yield i, index, tuple(map(number_or_array, [*zeros[:i], one, *zeros[i + 1 :]]))


def number_or_array(value: np.ndarray) -> Any:
    """Return an array without axes as a number."""
    return value if value.ndim else value.item() if value.dtype == np.float64 else value[()]


MAKERS[hessian] = "hessian"

__all__ = ["hessian"]
