"""Operations on values in lanes: of all iterations of a loop at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.ir.nodes import Origin
from adcompiler.ops.registry import REGISTRY
from adcompiler.sparsity.dependences.index_sets import Array
from adcompiler.sparsity.dependences.values import (
    Dependent, Operand, PathStep, Value, has_dependents,
)
from adcompiler.sparsity.interpreter.generic import called, filled
from adcompiler.sparsity.interpreter.lanes.lane_numbers import computed, is_number
from adcompiler.sparsity.interpreter.lanes.lane_values import (
    BailError, Lane, LaneRange, Level, Sum, Written, is_uniform,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import ALWAYS, find_transfer
from adcompiler.sparsity.transfers.indexing import get_item, own_dependent, updated_array

UNIFORM = frozenset({
    "attribute", "read_attribute", "read_global", "read_cell", "closure", "items", "concrete",
    "looked", "failed",
})
"""Operations of a run that lanes do not change."""


class Operations:
    """What a run does, for values in lanes."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.level = Level(0)
        self.arrays: list[Written] = []
        self.origin: Origin | None = None

    def __getattr__(self, name: str) -> Any:
        """Return an operation of the run, for operands that are the same in all lanes."""
        method = getattr(self.run, name)

        def of_uniform(*args: Any) -> Any:
            if name not in UNIFORM or not is_uniform(args):
                raise BailError
            return method(*args)

        return of_uniform

    def here(self, value: Value) -> Any:
        """Return what a value is in the present lanes: an array, or a number for all of them."""
        if isinstance(value, Lane):
            return self.at_level(value, self.level)
        if not is_number(value):
            raise BailError
        return value

    def at_level(self, lane: Lane, level: Level) -> Any:
        """Return the array of a lane's values in the lanes of a level inside of its own."""
        if lane.level is level:
            return lane.value
        if level.around is None:
            raise BailError
        outer = self.at_level(lane, level.around)
        return self.picked(outer, level.parents)

    def picked(self, array: Any, positions: Array) -> Any:
        """Return the elements of a flat array at some positions."""
        if isinstance(array, Dependent):
            return get_item(self.run, array, positions)
        return array[positions]

    def lane(self, value: Any) -> Any:
        """Return an array as a value in the present lanes; what else it may be, as it is."""
        return Lane(self.level, value) if np.ndim(value) or isinstance(value, Dependent) else value

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any],
    ) -> Any:
        """Return the results of a call in all lanes."""
        try:
            special = function in ALWAYS
        except TypeError:
            special = True
        if special:
            raise BailError
        if is_uniform(args) and is_uniform(dict(kwargs)):
            return self.run.call(function, args, kwargs)
        if kwargs:
            raise BailError
        if function is range:
            return self.lane_range(args)
        if any(isinstance(arg, Sum) for arg in args):
            return self.added(function, args)
        values = tuple(map(self.here, args))
        if not has_dependents(values):
            return Lane(self.level, computed(function, values, self.level.size))
        return self.depending(function, values)

    def at_generic(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any],
        origins: frozenset[int]
    ) -> Any:
        """Return the results of a call in all lanes of what may come from generic numbers."""
        generic = self.run.generic & origins
        if not generic:
            return self.call(function, args, kwargs)
        if is_uniform(args) and is_uniform(dict(kwargs)):
            return called(self.run, function, args, kwargs, generic)
        found = self.call(function, args, kwargs)
        if not isinstance(found, Lane) or isinstance(found.value, Dependent):
            return found
        if found.value.dtype.kind not in "fc":
            raise BailError
        return Lane(found.level, filled(found.value, None, None, generic))

    def depending(self, function: Callable[..., Any], values: tuple[Operand, ...]) -> Lane:
        """Return the results of a function of numbers that depend on the inputs."""
        if function is float:
            return Lane(self.level, values[0])
        function = {max: np.maximum, min: np.minimum}.get(function, function)
        if len(values) > 2 or (function not in (operator.pow, float) and (
            self.run.kind(function, len(values)) is None)):
            raise BailError
        found = self.run.transferred(find_transfer(function), function, values, {})
        if not isinstance(found, Dependent):
            raise BailError
        if found.shape != (self.level.size,):
            found = self.run.call(np.broadcast_to, (found, (self.level.size,)), {})
        return Lane(self.level, found)

    def lane_range(self, args: tuple[Value, ...]) -> LaneRange:
        """Return the ranges of the lanes."""
        bounds = tuple(map(self.here, args))
        bounds = (0, *bounds) if len(bounds) == 1 else bounds
        start, stop, step = (*bounds, 1)[:3]
        if not all(np.asarray(b).dtype.kind in "iu" for b in (start, stop, step)) or np.any(
            np.asarray(step) == 0
        ):
            raise BailError
        return LaneRange(self.level, (start, stop, step))

    def added(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Sum:
        """Return a sum with one more term."""
        total, term = args if isinstance(args[0], Sum) else args[::-1]
        means = REGISTRY.facts(function).means
        if means not in ("add", "subtract") or isinstance(term, Sum) or (
            means == "subtract" and args[0] is not total
        ):
            raise BailError
        value = self.here(term)
        if not isinstance(value, (Dependent, np.ndarray)):
            value = np.full(self.level.size, value) if not isinstance(value, Dependent) else value
        if isinstance(value, Dependent) and value.shape == ():
            value = self.run.call(np.broadcast_to, (value, (self.level.size,)), {})
        return Sum(total.owner, (*total.terms, Lane(self.level, value)))

    def item(self, obj: Any, index: Any) -> Any:
        """Return ``obj[index]`` in all lanes."""
        if is_uniform(obj) and is_uniform(index):
            return self.run.item(obj, index)  # type: ignore[attr-defined]
        if isinstance(obj, (tuple, list)) and is_uniform(index) and not has_dependents(index):
            return obj[index]
        array = obj.array if isinstance(obj, Written) else obj
        if isinstance(array, (list, tuple)):
            array = self.run.call(np.asarray, (array,), {}) if has_dependents(array) else (
                np.asarray(array))
            if np.dtype(array.dtype).kind not in "iufb":
                raise BailError
        if not isinstance(array, (Dependent, np.ndarray)) or array.shape is None:
            raise BailError
        places, index = self.places(array.shape, index)
        if isinstance(obj, Written):
            obj.accesses.reads.append((places, self.lane_numbers()))
        return Lane(self.level, get_item(self.run, array, index) if isinstance(
            array, Dependent) else array[index])

    def lane_numbers(self) -> Any:
        return np.arange(self.level.size)

    def places(self, shape: tuple[int, ...], index: Value) -> tuple[Any, tuple[Any, ...]]:
        """Return the flat positions of single elements in all lanes, and the index of them."""
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != len(shape):
            raise BailError
        found = []
        for part, extent in zip(parts, shape, strict=True):
            numbers = np.asarray(self.here(part))
            if numbers.dtype.kind not in "iu":
                raise BailError
            numbers = np.broadcast_to(numbers, (self.level.size,))
            if np.any(numbers < -extent) or np.any(numbers >= extent):
                raise BailError
            found.append(np.where(numbers < 0, numbers + extent, numbers))
        return np.ravel_multi_index(tuple(found), shape) if shape else None, tuple(found)

    def update(self, obj: Value, steps: Sequence[PathStep], value: Array, adds: bool) -> Any:
        """Return an array written into in all lanes."""
        if not isinstance(obj, Written) or len(steps) != 1 or steps[0][0] != "item":
            raise BailError
        places, index = self.places(obj.shape, steps[0][2][0])
        new = self.here(value)
        obj.accesses.write(places, self.lane_numbers(), adds)
        if has_dependents(new) and not isinstance(obj.array, Dependent):
            obj.array = own_dependent(self.run, obj.array)
        obj.array = updated_array(
            self.run, obj.array, (("item", "", (index,), {}, None),), new, adds)
        return obj
