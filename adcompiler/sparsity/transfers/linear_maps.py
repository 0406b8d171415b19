"""Transfer of functions that are linear in some arguments: their structure is computed.

The derivative of a linear function does not depend on where it is taken, so its nonzeros are those
of the function's values at unit vectors. The other arguments are constants, or, where they depend
on the inputs too, and the function is linear in them, take random values: an entry is then missed
only if it is zero for these values and not for all, which happens with probability zero.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.sparsity.dependences.index_sets import Array, count
from adcompiler.sparsity.dependences.sets import Positions
from adcompiler.sparsity.dependences.values import (
    NOTHING, Dependent, Operand, Relation, Value, all_sets, combined, dependents_in,
    dtype_of, end_to_end, gathered, has_dependents, is_float, map_dependents, unite,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import LINEARLY, transfer, transfer_of
from adcompiler.sparsity.transfers.stand_ins import stand_in
from adcompiler.support.signatures import signature as signature_of

MOST = 4_000_000
"""So many values are computed at most, results of a function times its arguments."""

class Flow(NamedTuple):
    """What flows from some arguments into each of the results, which are flat.

    ``is_linear``: no second derivatives in these arguments alone.
    """

    first: Relation
    second: Relation
    is_linear: bool


def linear_groups(function: Callable[..., Any]) -> tuple[tuple[str, ...], list[frozenset[str]]]:
    """Return the names of a function's parameters, and the sets of those it is linear in jointly.

    A last name that starts with ``*`` is that of all further arguments.
    """
    if not hashable(function):
        return (), []
    resolved = REGISTRY.resolve(function)
    rule = REGISTRY.find(resolved)
    if rule is None or rule.definition is None:
        return (), []
    known = REGISTRY.facts(resolved)
    if known.rounded:
        return (), []
    parameters = signature_of(rule.definition).parameters
    every = tuple(parameters)
    names = tuple(
        "*" * (p.kind is p.VAR_POSITIONAL) + p.name for p in parameters.values()
        if p.kind is not p.KEYWORD_ONLY
    )
    groups = [frozenset(group.split()) for group in known.linear_in or ()]
    if rule.linear:
        groups.append(frozenset(every[i] for i in rule.linear))
    return names, groups + [
        frozenset([every[i]]) for i in rule.bilinear
        if parameters[every[i]].kind is not inspect.Parameter.VAR_POSITIONAL
    ]


def name_of(names: Sequence[str], i: int) -> str:
    """Return the name of the positional argument ``i``."""
    name = names[i] if i < len(names) else names[-1]
    return name.lstrip("*")


def is_active(value: Dependent) -> bool:
    """Say whether a derivative flows through a value."""
    return any(d.is_active for d in dependents_in([value]))


def flows(
    run: Run, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Value],
    shown: Operand, throughout: bool,
) -> list[Flow] | None:
    """Return what flows from arguments in which a function is linear, and densely from others.

    ``shown`` is a result, or one of its structure. None if nothing is known, or there is too much,
    or, ``throughout``, it is not linear in all that flow in.
    """
    names, groups = linear_groups(function)
    if not groups or not is_plain(shown):
        return None
    given = [(name_of(names, i), value) for i, value in enumerate(args)] + list(kwargs.items())
    active = frozenset(name for name, value in given if is_active(value))
    chosen: list[frozenset[str]] = []
    for group in sorted(groups, key=lambda g: -len(g & active)):
        if group & active and not any(group & other for other in chosen):
            chosen.append(group)
    linear = frozenset().union(*chosen)
    if not run.local and any(
        name not in linear and not is_generic(name, value, groups) for name, value in given
    ):
        return None
    inputs = sum(
        count(d.shape or ()) for name, value in given if name in linear for d in dependents_in(
            [value]))
    size = len(numbers_in(shown))
    several = len(chosen) > 1 or bool(active - linear)
    if not chosen or size * inputs > MOST or (several and (
        throughout or transfer_of(function) == "interp")
    ):
        return None
    found = []
    rest = [value for name, value in given if name in active - linear]
    if rest:
        first, second = all_sets(dependents_in(rest))
        found.append(Flow(Relation(first, None), Relation(second, None), False))
    return found + [probed(run, function, args, kwargs, names, group, size) for group in chosen]


def is_generic(name: str, value: Dependent | Array, groups: Sequence[frozenset[str]]) -> bool:
    """Say whether an argument is known, or random values show all that it may do.

    They do that where the function is linear in it too. Of others it is not known that they are
    no positions, lengths or options, of which each value does something else.
    """
    return not has_dependents(value) or (
        any(name in group for group in groups)
        and all(is_float(d.dtype) for d in dependents_in([value]))
    )


def is_plain(shown: Value) -> bool:
    """Say whether a result is made of numbers and arrays of floats alone."""
    if isinstance(shown, (list, tuple)):
        return all(map(is_plain, shown))
    return isinstance(shown, (np.ndarray, np.generic, float, complex)) and is_float(
        dtype_of(shown))


def numbers_in(shown: Any) -> Any:
    """Return all numbers in a result, in order, as one array."""
    if isinstance(shown, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(numbers_in, shown)])
    return np.ravel(shown)


class Probe:
    """A call in which the arguments of one group are zero, and the arrays to put units into."""

    def __init__(
        self, run: Run, args: Sequence[Value], kwargs: Mapping[str, Value], names: Sequence[str],
        group: frozenset[str],
    ) -> None:
        self.local = run.local
        self.rng = np.random.default_rng(1)
        self.given: list[tuple[Dependent, Any]] = []
        self.args = [
            self.zeroed(value) if name_of(names, i) in group else self.fixed(value)
            for i, value in enumerate(args)
        ]
        self.kwargs = {
            name: self.zeroed(value) if name in group else self.fixed(value)
            for name, value in kwargs.items()
        }

    def zeroed(self, value: Value) -> Any:
        """Return an argument with its numbers made zero."""
        if isinstance(value, Dependent):
            array = np.zeros(value.shape or (), value.dtype)
            self.given.append((value, array))
            return array
        if isinstance(value, (list, tuple)):
            items = [self.zeroed(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, (np.ndarray, float, complex, np.inexact)) and is_float(
            dtype_of(value)
        ):
            return np.zeros(np.shape(value), dtype_of(value))
        return value

    def fixed(self, value: Value) -> Any:
        """Return an argument with ordinary values in place of those that depend on the inputs."""
        return map_dependents(lambda d: d.value if self.local else stand_in(d, self.rng), value)

    def entries(self, function: Callable[..., Any]) -> tuple[Positions, Positions]:
        """Return the nonzeros of the derivative: results, and numbers of all that is given."""
        rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        start = 0
        for _, array in self.given:
            for unit in (1.0,) if array.dtype.kind == "f" else (1.0, 1.0j):
                for k in range(array.size):
                    array.fill(0)
                    array.ravel()[k] = unit
                    there = np.flatnonzero(numbers_in(function(*self.args, **self.kwargs)) != 0)
                    rows.append(there)
                    columns.append(np.full(len(there), start + k))
            array.fill(0)
            start += array.size
        return np.concatenate(rows), np.concatenate(columns)


def probed(
    run: Run, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value],
    names: Sequence[str], group: frozenset[str], size: int,
) -> Flow:
    """Return what flows from the arguments of one group, by the values at unit vectors."""
    probe = Probe(run, args, kwargs, names, group)
    with np.errstate(all="ignore"):
        targets, positions = probe.entries(function)
    shapes = [d.shape or () for d, _ in probe.given]
    first, second = (
        combined(
            end_to_end([getattr(d, which) for d, _ in probe.given], shapes), targets, positions,
            (size,),
        ) for which in ("first", "second")
    )
    return Flow(first, second, True)


@transfer(LINEARLY)
def linearly(
    run: Run, function: Callable[..., Any], args: tuple[Dependent | Array, ...],
    kwargs: Mapping[str, Value], shown: Array, throughout: bool
) -> Any:
    """Return the result of a function that is linear in some arguments, None if it is not."""
    found = flows(run, function, args, kwargs, shown, throughout)
    if found is None:
        return None
    shape = (len(numbers_in(shown)),)
    first = unite([flow.first for flow in found], shape)
    second = unite([flow.second for flow in found], shape)
    if run.second:
        pairs = [
            (a.first, b.first) for i, a in enumerate(found) for b in found[i:]
            if (a is not b or not a.is_linear) and a.first != NOTHING and b.first != NOTHING
        ]
        if pairs:
            second = run.note(shape, [second], pairs)
    places = iter(range(shape[0]))
    return placed(run, shown, first, second, places)


def placed(
    run: Run, shown: Any, first: Relation, second: Relation, places: Iterator[int]
) -> Any:
    """Return a result of the structure ``shown`` whose numbers are the next of a flat array."""
    if isinstance(shown, (list, tuple)):
        items = [placed(run, item, first, second, places) for item in shown]
        return type(shown)(*items) if hasattr(shown, "_fields") else type(shown)(items)
    shape = np.shape(shown)
    own = np.array([next(places) for _ in range(count(shape))], np.int64).reshape(shape)
    value = shown if run.local else None
    return run.made(shape, dtype_of(shown), gathered(first, own), gathered(second, own), value)
