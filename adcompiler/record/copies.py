"""Copies of arguments for a recording: what is differentiated becomes objects of its own.

Arrays that share memory share it in the copies, too; but each place where one stands has an array
object of its own, so that what is read through either has its own cotangent, as arguments are
differentiated one by one. What the run does to the copies is done to the caller's objects where
that is wanted.
"""

from __future__ import annotations

import copy
import ctypes
import types
from collections.abc import Collection
from typing import Any

import numpy as np

from adcompiler.record.tape import NUMBERS, Group, Tape, bounds, overlaps, refused
from adcompiler.runtime.reading import is_a
from adcompiler.runtime.records import (
    drop_attribute, is_record, keep_attribute, record, state_of,
)

CONSTANTS = (int, str, bytes, type, types.ModuleType, types.FunctionType,
             types.BuiltinFunctionType, type(None))
"""Classes of values that stay what they are."""


def fresh(number: Any) -> Any:
    """Return an equal number that is another object."""
    if isinstance(number, np.inexact):
        return np.array(number)[()]
    if type(number) is float:
        return float.fromhex(number.hex()) if number == number else float("nan")
    if type(number) is complex:
        return complex(number.real, number.imag)
    base: Any = float if isinstance(number, float) else complex
    made = base.__new__(type(number), base(number))
    made.__dict__.update(getattr(number, "__dict__", {}))
    return made


class Copies:
    """Copies of the values of parameters; those at the positions ``wanted`` are differentiated.

    ``pairs`` are originals with their copies. A container in two places of what is differentiated
    has a copy for each; if the run changes one of them, that is refused.
    """

    def __init__(self, values: tuple[object, ...], wanted: Collection[int], tape: Tape) -> None:
        self.tape = tape
        self.pairs: list[tuple[Any, Any]] = []
        self.known: dict[int, Any] = {}
        self.several: dict[int, list[tuple[Any, list[Any]]]] = {}
        self.memory = Memory(arrays_in(values))
        self.values = tuple(
            self.of(value, apart=i in wanted) for i, value in enumerate(values))
        self.memory.enter(tape)

    def of(self, value: Any, apart: bool) -> Any:
        """Return the copy of a value, one for each place if it is to stand ``apart``."""
        if is_a(value, NUMBERS):
            return fresh(value)
        if is_a(value, CONSTANTS):
            return value
        if not apart and id(value) in self.known:
            return self.known[id(value)]
        made = self.of_object(value, apart)
        if made is not value:
            self.pairs.append((value, made))
        return made

    def of_object(self, value: Any, apart: bool) -> Any:
        """Return the copy of an array or container."""
        made: Any
        if is_a(value, np.ndarray):
            made = self.of_array(value, apart)
        elif is_a(value, list):
            made = list.__new__(type(value))
            self.enter(value, made, apart)
            list.extend(made, [self.of(item, apart) for item in list.__iter__(value)])
            self.fill(value, made, apart)
        elif is_a(value, dict) and hasattr(value, "copy"):
            made = {} if type(value) is dict else value.copy()
            self.enter(value, made, apart)
            made.update((k, self.of(v, apart)) for k, v in dict.items(value))
        elif type(value) is tuple:
            made = tuple(self.of(item, apart) for item in value)
        elif is_a(value, tuple) and hasattr(value, "_fields"):
            made = type(value)(*(self.of(item, apart) for item in value))
        elif is_a(value, tuple):
            made = tuple.__new__(type(value), [self.of(i, apart) for i in tuple.__iter__(value)])
            self.fill(value, made, apart)
        elif is_record(value):
            if not state_of(value):
                return value  # it stands for itself, as a mark that something is not given
            made = record(type(value))
            self.enter(value, made, apart)
            for name, part in state_of(value).items():
                keep_attribute(made, name, self.of(part, apart))
        elif is_a(value, types.MethodType):
            made = types.MethodType(value.__func__, self.of(value.__self__, False))
        elif is_a(value, (np.random.Generator, np.random.RandomState)):
            made = copy.deepcopy(value)
        else:
            return value
        self.enter(value, made, apart)
        if apart and not is_a(made, (tuple, np.ndarray)):
            self.several.setdefault(id(value), []).append((made, contents(made)))
        return made

    def fill(self, value: object, made: Any, apart: bool) -> None:
        """Give a copy of a container of a derived class copies of the attributes."""
        for name, part in state_of(value).items():
            keep_attribute(made, name, self.of(part, apart))

    def enter(self, value: Any, made: Any, apart: bool) -> None:
        """Note the copy of an object that stands for all of its places."""
        if not apart:
            self.known[id(value)] = made

    def of_array(self, array: np.ndarray, apart: bool) -> np.ndarray:
        """Return the copy of an array."""
        if array.dtype.hasobject:
            made = array.copy("K")
            for place in np.ndindex(made.shape):
                made[place] = self.of(made[place], apart)
            return made
        return self.memory.copy_of(array)

    def check(self) -> None:
        """Refuse changes of a container that stands in several places."""
        for made in self.several.values():
            if len(made) > 1 and any(
                len(contents(one)) != len(items) or any(
                    a is not b for a, b in zip(contents(one), items, strict=True))
                for one, items in made
            ):
                raise refused(
                    "a change of a container that stands in several places of the arguments",
                    "pass copies", "aliases")

    def give_generators_back(self) -> None:
        """Leave random generators among the originals where the run left their copies."""
        for value, made in self.pairs:
            if isinstance(value, np.random.Generator):
                value.bit_generator.state = made.bit_generator.state
            elif isinstance(value, np.random.RandomState):
                value.set_state(made.get_state())

    def give_back(self, result: Any = None) -> Any:
        """Do to the originals what was done to the copies, and return the result of the run."""
        handed = HandedOut(result, self)
        self.give_generators_back()
        for value, made in self.pairs:
            if isinstance(value, np.ndarray):
                if value.flags.writeable and not value.dtype.hasobject:
                    value[...] = made
            elif isinstance(value, list):
                list.__setitem__(value, slice(None), [handed.of(item, False) for item in made])
            elif isinstance(value, dict):
                items = {k: handed.of(item, False) for k, item in made.items()}
                value.clear()
                value.update(items)
            elif is_record(value):
                state = state_of(made)
                for name in state_of(value).keys() - state.keys():
                    drop_attribute(value, name)
                for name, part in state.items():
                    keep_attribute(value, name, handed.of(part, False))
        return handed.result


class HandedOut(Copies):
    """What the caller gets of a run that a tape goes on with: nothing that an entry may read.

    The originals stand in it in the place of their copies, and what has nothing to do with the run
    stays what it is.
    """

    def __init__(self, result: Any, copies: Copies) -> None:
        super().__init__((), (), Tape())
        self.run = copies.tape
        self.known = {id(made): value for value, made in copies.pairs}
        self.memory = Memory(arrays_in(result))
        self.result = self.of(result, False)

    def of(self, value: Any, apart: bool) -> Any:
        if is_a(value, NUMBERS) or id(value) in self.known or self.is_of_run(value, set()):
            return super().of(value, apart)
        return value

    def is_of_run(self, value: Any, seen: set[int]) -> bool:
        """Say whether arrays that the run made or read, or its arguments, are found in a value."""
        if id(value) in self.known:
            return True
        if is_a(value, np.ndarray):
            return self.run.is_marked(value) or self.run.is_held(value) or value.dtype.hasobject
        if is_a(value, NUMBERS):
            return id(value) in self.run.ids
        if is_a(value, CONSTANTS) or id(value) in seen:
            return False
        seen.add(id(value))
        return any(self.is_of_run(part, seen) for part in contents(value))


def contents(value: Any) -> list[Any]:
    """Return what a container, a bound method or an instance holds; nothing for other values."""
    if is_a(value, tuple):
        return list(tuple.__iter__(value))
    if is_a(value, list):
        return list(list.__iter__(value))
    if is_a(value, dict):
        return list(dict.values(value))
    if is_a(value, types.MethodType):
        return [value.__self__]
    return list(state_of(value).values()) if is_record(value) else []


def arrays_in(value: Any, seen: set[int] | None = None) -> list[np.ndarray]:
    """Return the arrays that arguments hold, one for each place."""
    if is_a(value, np.ndarray):
        return [] if value.dtype.hasobject else [value]
    if is_a(value, (*NUMBERS, *CONSTANTS)):
        return []
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    inner = seen | {id(value)}
    return [array for part in contents(value) for array in arrays_in(part, inner)]


class Memory:
    """Copies of the memory of arrays: where several overlap, one for all of them."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        ranges = sorted(
            bounds(array) for array in arrays if array.size and not overlaps(array))
        merged: list[list[int]] = []
        for low, high in ranges:
            if merged and low < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
                merged[-1][2] += 1
            else:
                merged.append([low, high, 1])
        self.shared = [(low, high) for low, high, count in merged if count > 1]
        self.groups: dict[int, tuple[Any, int, Group]] = {}

    def copy_of(self, array: np.ndarray) -> np.ndarray:
        """Return a copy that lies in memory as an array does, and shares it as that does."""
        if not array.size or overlaps(array) or type(array) is not np.ndarray:
            made = np.array(array) if overlaps(array) else array.copy("K")
            made.flags.writeable = array.flags.writeable
            return made
        low, high = bounds(array)
        span = next(((a, b) for a, b in self.shared if a <= low < b), None)
        if span is None and (array.flags.c_contiguous or array.flags.f_contiguous):
            made = np.copy(array, "K")
        else:
            made = self.member(array, *(span or (low, high)))
        made.flags.writeable = array.flags.writeable
        return made

    def member(self, array: np.ndarray, low: int, high: int) -> np.ndarray:
        """Return an array over the copy of some memory."""
        found = self.groups.get(low)
        if found is None:
            content: Any = (ctypes.c_ubyte * (high - low)).from_address(low)
            shift = low % 64
            buffer: Any = np.empty(high - low + shift + 64, np.uint8)
            shift = (low - buffer.__array_interface__["data"][0]) % 64
            buffer[shift : shift + high - low] = np.frombuffer(content, np.uint8)
            start = buffer.__array_interface__["data"][0] + shift
            group = Group([], start, start + high - low)
            # not an array: views of a member have the member as their base, not this memory
            buffer = (ctypes.c_ubyte * len(buffer)).from_buffer(buffer)
            found = self.groups[low] = buffer, shift, group
        buffer, shift, group = found
        first = array.__array_interface__["data"][0] - low
        made = np.ndarray(array.shape, array.dtype, buffer, shift + first, array.strides)
        group.members.append(made)
        return made

    def enter(self, tape: Tape) -> None:
        """Tell a tape which arrays lie in one memory."""
        for _, _, group in self.groups.values():
            for member in group.members:
                tape.groups[id(member)] = group
