"""Loops over numbers, all iterations at once: each iteration is a lane of arrays.

The body of a loop is run once on values that hold what every iteration computes: arrays of numbers,
or of what they depend on. This is what running the iterations one after the other gives as long as
no iteration reads what another one writes, which is checked; sums over the iterations are
excepted. Loops and branches inside make lanes of their own. Whatever is not understood raises
``BailError``, and the loop is run as usual.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.sparsity.dependences.index_sets import Array
from adcompiler.sparsity.dependences.values import (
    Dependent, Operand, Value, combined, has_dependents, settled,
)
from adcompiler.sparsity.interpreter.control import Arm
from adcompiler.sparsity.interpreter.lanes.lane_numbers import is_number
from adcompiler.sparsity.interpreter.lanes.lane_values import (
    BailError, InLanes, Lane, LaneRange, Level, Sum, Written, is_uniform,
)
from adcompiler.sparsity.interpreter.lanes.operations import Operations
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import Refusal
from adcompiler.sparsity.transfers.movement import scalars_of

FEWEST = 5
"""Loops of fewer iterations are run one iteration after the other."""
MOST = 5_000_000
"""So many lanes are run together at most."""


class Lanes(Operations):
    """What the body of a loop calls in place of a run, when it is run in lanes."""

    # -- control flow --------------------------------------------------------------------------

    def branch(self, condition: Dependent | bool, then: Arm, orelse: Arm) -> tuple[Any, ...]:
        """Return what a branch yields in all lanes; each arm is run in some of them."""
        if is_uniform(condition):
            if has_dependents(condition):
                raise BailError
            return then() if condition else orelse()
        holds = np.broadcast_to(np.asarray(self.known(condition)), (self.level.size,))
        parts = []
        for arm, which in ((then, holds.astype(bool)), (orelse, ~holds.astype(bool))):
            lanes = np.flatnonzero(which)
            if len(lanes):
                parts.append((*self.inside(lanes, arm), lanes))
        if not parts:
            raise BailError
        if len(parts) == 1:
            results, inner, _ = parts[0]
            return tuple(self.outside(result, inner) for result in results)
        return tuple(
            self.merged(a, b, parts) for a, b in zip(parts[0][0], parts[1][0], strict=True))

    def known(self, value: Value) -> Any:
        """Return numbers that do not depend on the inputs."""
        found = self.here(value)
        if isinstance(found, Dependent):
            raise BailError
        return found

    def inside(self, parents: Array, body: Arm) -> tuple[Any, Level]:
        """Return what a body gives in lanes inside of the present ones, and their level."""
        around = self.level
        if len(parents) > MOST:
            raise BailError
        self.level = inner = Level(len(parents), around, parents)
        marks = [array.accesses.mark() for array in self.arrays]
        try:
            results = body()
        finally:
            self.level = around
        for array, mark in zip(self.arrays, marks, strict=True):
            if not array.accesses.lift(mark, parents):
                raise BailError
        return results, inner

    def outside(self, value: Array, inner: Level) -> Any:
        """Return a value of lanes that are all of those around, in the same order."""
        if isinstance(value, Lane) and value.level is inner:
            return Lane(self.level, value.value)
        return value

    def merged(self, a: Dependent, b: Dependent | Array, parts: Any) -> Any:
        """Return a value that is one of two, by lane."""
        if a is b:
            return a
        if isinstance(a, Sum) and isinstance(b, Sum) and a.owner is b.owner:
            return Sum(a.owner, (*a.terms, *(t for t in b.terms if t not in a.terms)))
        arrays = []
        for value, (_, inner, lanes) in zip((a, b), parts, strict=True):
            around, self.level = self.level, inner
            try:
                array = self.here(value)
            finally:
                self.level = around
            if isinstance(array, Dependent):
                array = self.run.call(np.broadcast_to, (array, (len(lanes),)), {})
            else:
                array = np.broadcast_to(array, (len(lanes),))
            arrays.append(array)
        order = np.argsort(np.concatenate([lanes for *_, lanes in parts]))
        return Lane(self.level, self.picked(self.run.call(np.concatenate, (arrays,), {}), order))

    def loop(
        self, iterables: Sequence[Any], inits: tuple[Dependent | Array, ...],
        body: Callable[..., Any], condition: Value, count: int, collects: int,
        stops: bool
    ) -> tuple[Any, ...]:
        """Return the results of a loop inside: in lanes of its own, or one after the other."""
        if condition is not None or stops or collects or not iterables:
            raise BailError
        if all(is_uniform(one) for one in iterables) and any(map(has_dependents, iterables)):
            raise BailError
        lengths = [len(one) for one in iterables if not isinstance(one, LaneRange)]
        if len(lengths) == len(iterables) and (
            min(lengths) < FEWEST or not all(isinstance(one, (range, np.ndarray))
                                             for one in iterables)
        ):
            state = tuple(inits)
            for row in zip(*iterables):  # noqa: B905 (as far as the shortest)
                state = body(*row, *state)
            return state
        if len(iterables) > 1:
            raise BailError
        parents, items = self.spread(iterables[0])
        return self.in_new_lanes(parents, [items], inits, body)

    def spread(self, iterable: InLanes) -> tuple[Array, Array]:
        """Return, for the iterations of a loop in all lanes, the lane and the item."""
        size = self.level.size
        if isinstance(iterable, LaneRange):
            start, stop, step = (
                np.broadcast_to(self.here(b) if not isinstance(b, np.ndarray) else b, (size,))
                for b in iterable.bounds)
            if iterable.level is not self.level:
                raise BailError
            lengths = np.maximum(0, -((start - stop) // step))
            parents = np.repeat(np.arange(size), lengths)
            nth = np.arange(len(parents)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            return parents, start[parents] + step[parents] * nth
        items = np.asarray(iterable)
        if items.ndim != 1 or size * len(items) > MOST:
            raise BailError
        return np.repeat(np.arange(size), len(items)), np.tile(items, size)

    def in_new_lanes(
        self, parents: Array, items: list[Any], inits: tuple[Dependent | Array, ...],
        body: Callable[..., Any]
    ) -> tuple[Any, ...]:
        """Return the results of a loop each iteration of which is a lane."""
        owners = [
            init if isinstance(init, (Written, Sum)) else Sum(object()) for init in inits]

        def iterations() -> Any:
            return body(*(Lane(self.level, one) for one in items), *owners)

        results, inner = self.inside(parents, iterations)
        return tuple(
            self.after(result, owner, init, inner)
            for result, owner, init in zip(results, owners, inits, strict=True))

    def after(self, result: Any, owner: Any, init: Any, inner: Level) -> Any:
        """Return what a carried value is after the loop."""
        if owner is init:  # an array, or a sum of a loop around
            if result is owner or (isinstance(result, Sum) and result.owner is owner.owner):
                return result
            raise BailError
        if not isinstance(result, Sum) or result.owner is not owner.owner:
            raise BailError
        if not result.terms:
            return init
        result.check()
        total = init
        for term in result.terms:
            each = self.sum_by_lane(term, inner)
            total = self.call(operator.add, (total, Lane(self.level, each)), {})
        return total

    def sum_by_lane(self, term: Lane, inner: Level) -> Any:
        """Return the sum of a term over the lanes inside of each of the present ones."""
        lanes, level = np.arange(term.level.size), term.level
        while level is not self.level:
            if level.around is None:
                raise BailError
            lanes, level = level.parents[lanes], level.around
        size = self.level.size
        value = term.value
        if not isinstance(value, Dependent):
            sums = np.zeros(size, value.dtype if value.dtype.kind != "b" else int)
            np.add.at(sums, lanes, value)
            return sums
        positions = np.arange(len(lanes))
        first, second = (
            settled(combined(r, lanes, positions, (size,)), (size,))
            for r in (value.first, value.second)
        )
        return Dependent((size,), value.dtype, first, second)

    # -- the whole loop ------------------------------------------------------------------------

    def results(
        self, iterables: Sequence[Value], inits: tuple[Dependent | Array, ...],
        body: Callable[..., Any], number: int
    ) -> tuple[Any, ...]:
        """Return the carried values after a loop, then the lists of what it collected."""
        items = [self.items_of(one) for one in iterables]
        size = min(map(len_of, iterables))
        self.level = Level(size)
        carried = [self.carried(init) for init in inits]
        found = body(self, *(
            Lane(self.level, self.picked(one, np.arange(size))) for one in items), *carried)
        if not all(array.accesses.are_apart() for array in self.arrays):
            raise BailError
        ends = [
            self.end(result, owner, init)
            for result, owner, init in zip(found[:number], carried, inits, strict=True)]
        return (*ends, *(self.listed(one) for one in found[number:]))

    def items_of(self, iterable: Any) -> Any:
        """Return what a loop runs over as one array."""
        if isinstance(iterable, Dependent) and len(iterable.shape or ()) == 1:
            return iterable
        if isinstance(iterable, (range, list, tuple)) and (
            isinstance(iterable, range) or all(type(i) in (int, float) for i in iterable)
        ):
            return self.checked(np.array(iterable))
        return self.checked(iterable)

    @staticmethod
    def checked(items: Array) -> Any:
        """Return items that are an array of numbers; raises BailError for others."""
        if not isinstance(items, np.ndarray) or items.ndim != 1 or items.dtype.kind not in "iuf":
            raise BailError
        return items

    def carried(self, init: Operand) -> Any:
        """Return what stands for a carried value in the body."""
        if isinstance(init, np.ndarray) or (isinstance(init, Dependent) and init.shape):
            self.arrays.append(Written(self.run, init))
            return self.arrays[-1]
        return Sum(object())

    def end(self, result: Value, owner: Value, init: Value) -> Any:
        """Return a carried value after the loop."""
        if isinstance(owner, Written):
            if result is not owner:
                raise BailError
            return owner.array if owner.accesses.has_writes() else init
        if isinstance(result, Sum):
            if result.owner is not owner.owner:
                raise BailError
            if result.terms and not is_number(init):
                raise BailError
            result.check()
            for term in result.terms:
                if not isinstance(term.value, Dependent) and isinstance(init, (int, np.integer)):
                    init = init + type(init)(term.value.sum())
                else:
                    init = self.run.call(
                        operator.add, (init, self.run.call(np.sum, (term.value,), {})), {})
            return init
        if isinstance(result, Lane) and result.level is self.level:
            last = self.picked(result.value, np.array([self.level.size - 1]))
            return self.run.call(np.reshape, (last, ()), {}) if isinstance(last, Dependent) else (
                last.tolist()[0])
        if not is_uniform(result):
            raise BailError
        return result

    def listed(self, value: Array) -> list[Any]:
        """Return what was collected as a list."""
        array = self.here(value)
        if isinstance(array, Dependent) and array.shape:
            return scalars_of(array)
        if isinstance(array, np.ndarray):
            return list(array.tolist())
        return [array] * self.level.size


def in_lanes(
    run: Run, iterables: Sequence[Value], inits: tuple[Dependent | Array, ...],
    body: Callable[..., Any], number: int
) -> tuple[Any, ...] | None:
    """Return the results of a loop run in lanes, None if it has to be run one by one."""
    records, numbers, doubts = len(run.records), run.numbers, run.doubts
    try:
        return Lanes(run).results(iterables, inits, body, number)
    except (BailError, Refusal, TypeError, ValueError, IndexError, ArithmeticError, AttributeError):
        del run.records[records:]
        run.numbers, run.doubts = numbers, doubts
        return None


def len_of(iterable: Value) -> int:
    """Return the number of items that a loop runs over, 0 if that is not known."""
    if isinstance(iterable, Dependent):
        return iterable.shape[0] if iterable.shape else 0
    return len(iterable) if isinstance(iterable, (range, list, tuple, np.ndarray)) else 0
