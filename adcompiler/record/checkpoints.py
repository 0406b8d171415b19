"""Checkpoints of a recording: calls that are run again by the sweep rather than kept on the tape.

Such a call is recorded on a tape of its own, which is dropped; the sweep records it again when it
gets there, with what it read as it was then, and pulls back through that. What the call reads of
the recording around it is found as it reads it.
"""

from __future__ import annotations

import collections
import copy
import math
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adcompiler.ops.registry import REGISTRY
from adcompiler.record.entries import Made, Write, leaves
from adcompiler.record.functions import HOOKS
from adcompiler.record.library.known import is_full
from adcompiler.record.shadows import Sweep
from adcompiler.record.tape import LEFT, RECORDING, Index, Numeric, Tape, leave, place, refused
from adcompiler.runtime.checkpoints import (
    checkpoint, checkpoint_loop, following, recomputed, slots_for,
)

State = TypeVar("State")


class Slots(dict[int, int]):
    """The slots of numbers by identity, with those of the tape around as they are asked for."""

    def __init__(self, tape: Inner) -> None:
        super().__init__()
        self.tape = tape

    def get(self, key: int, default: Any = None) -> Any:
        """Return the slot of a number."""
        found = dict.get(self, key)
        if found is None:
            slot = self.tape.outer.ids.get(key)
            if slot is not None:
                return slot if slot < 0 else self.tape.read(key, slot)
        return default if found is None else found

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None  # type: ignore[arg-type]

    def __getitem__(self, key: int) -> int:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return int(found)


class Inner(Tape):
    """The tape of a call, which reads what the tape around it, ``outer``, made: its ``inputs``."""

    def __init__(self, outer: Tape) -> None:
        super().__init__()
        self.outer = outer
        self.ids = Slots(self)
        self.groups, self.texts = outer.groups, outer.texts
        self.inputs: list[Any] = []
        self.result: Any = None

    def read(self, key: int, slot: int) -> int:
        """Enter a number of the tape around, and return its slot here."""
        entry = self.outer.entries[slot]
        made = entry[:1] if type(entry) is tuple else entry.made()
        number = next(number for number in made if id(number) == key)
        self.inputs.append(number)
        return self.start(number)

    def is_marked(self, array: np.ndarray) -> bool:
        root = self.root(array)
        if id(root) in self.active:
            return True
        if not self.outer.is_marked(array):
            return False
        self.start_array(root)
        self.inputs.append(root)
        return True

    def check_read(self, array: np.ndarray, index: Index = ...) -> None:
        if not self.outer.is_marked(array):
            super().check_read(array, index)

    def is_held(self, array: np.ndarray) -> bool:
        return super().is_held(array) or self.outer.is_held(array)

    def close(self, outs: list[Numeric]) -> None:
        """Note what outlives the call, but what it returned: the tape around refuses it."""
        before = set(LEFT)
        leave(self, {id(value) for value in (*outs, *self.inputs)})
        self.outer.ids.update(dict.fromkeys(LEFT.keys() - before, -1))

    def check(self) -> None:
        """Refuse writes into what was there before the call."""
        for entry in self.entries:
            if isinstance(entry, Write) and (
                self.outer.is_held(entry.array) or self.outer.is_marked(entry.array)
            ):
                raise refused("a checkpoint that writes into what was there before",
                              "return a new array", "recording")


class Rerun(Made):
    """A call that the sweep records again; ``outs`` are the numbers and arrays that it made."""

    __slots__ = ("call", "outs", "place")

    def __init__(self, call: Callable[[], object], outs: list[tuple[Numeric, int]]) -> None:
        self.call, self.outs, self.result, self.place = call, outs, None, place()

    def made(self) -> list[Any]:
        return []  # its numbers have entries of their own

    def pull(self, sweep: Sweep, slot: int) -> None:
        given = [sweep.take(out) if isinstance(out, np.ndarray) else sweep.take_number(place)
                 for out, place in self.outs]
        if all(g is None or (isinstance(g, float) and g == 0) for g in given):
            return
        inner, outs = run(self.call, sweep.tape)
        try:
            self.compare(outs)
            back = Sweep(inner)
            back.numbers = collections.defaultdict(float)  # type: ignore[assignment] # inputs join
            for out, g in zip(outs, given, strict=True):
                if g is not None:
                    back.add(out, g)
            back.run()
            for value in inner.inputs:
                if isinstance(value, np.ndarray):
                    sweep.add_to_array(value, back.beside(value))
                else:
                    sweep.add(value, back.numbers[inner.ids[id(value)]])
        finally:
            inner.close(outs)

    def compare(self, outs: list[Numeric]) -> None:
        """Refuse another result than that of the recording."""
        before = [out for out, _ in self.outs]
        if not all(map(equal, outs, before)) or len(outs) != len(before):
            raise refused("a checkpoint that gives another result when it runs again",
                          "do not draw random numbers in it", at=self.place)

    def shown(self) -> str:
        return "checkpoint"


def equal(a: Numeric, b: Numeric) -> bool:
    """Say whether two results are the same, bit by bit."""
    return type(a) is type(b) and np.array_equal(a, b, equal_nan=True)


def run(call: Callable[[], object], outer: Tape) -> tuple[Inner, list[Any]]:
    """Record a call on a tape of its own; return that, and the numbers and arrays it made."""
    before, inner = RECORDING.tape, Inner(outer)
    RECORDING.tape = inner
    try:
        inner.result = call()
        inner.check()
        outs = {id(out): out for out in leaves(inner.result) if is_new(inner, out)}
    finally:
        RECORDING.tape = before
        if before is outer:
            before.texts, before.refusal = inner.texts, before.refusal or inner.refusal
    if inner.refusal is not None:
        raise inner.refusal
    return inner, list(outs.values())


def is_new(inner: Inner, out: Numeric) -> bool:
    """Say whether an active part of a result was made by the call."""
    if isinstance(out, np.ndarray):
        if not inner.is_marked(out) or inner.outer.is_marked(out):
            return False
        if out.base is not None:
            raise refused("a checkpoint that returns a view", "return a copy of it", "recording")
        return True
    return id(out) in inner.ids and id(out) not in inner.outer.ids


def again(function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a function as a checkpoint, with the variables that it captured as they are now."""
    function = closed(function)
    return rerun(lambda: HOOKS["call"](function, *args, **kwargs), (args, kwargs))


def closed(function: Callable[..., Any]) -> Any:
    """Return a function whose captured variables nobody assigns to any more."""
    if not isinstance(function, types.FunctionType) or not function.__closure__ or (
        REGISTRY.has_rules(function) or REGISTRY.inactive(function) is not None
    ):
        return function
    cells = tuple(types.CellType(cell.cell_contents) if is_full(cell) else cell
                  for cell in function.__closure__)
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def rerun(call: Callable[[], object], given: Any) -> Any:
    """Call what takes no arguments as a checkpoint, unless the tape is to keep all."""
    tape = RECORDING.tape
    if tape.keeps_all:
        return call()
    inner, outs = run(call, tape)
    result, inner.result = inner.result, None
    inner.close(outs)
    places: list[tuple[Numeric, int]] = []
    for out in outs:
        if isinstance(out, np.ndarray):
            tape.activate(out)
            places.append((out, -1))
        else:
            places.append((out, tape.start(out)))
    for part in leaves(given):  # what is written into it is undone before the call
        if isinstance(part, np.ndarray):
            tape.hold(part)
    if outs:
        tape.entries.append(Rerun(call, places))
    return result


def apply_checkpoint(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Do ``checkpoint``."""
    if not args and not kwargs:
        return checkpoint(function)
    return again(function, args, kwargs)


def apply_loop(
    step: Callable[..., Any], state: State, n: int, *, every: int | None = None,
    slots: int | None = None, memory_limit: int | None = None, indexed: bool = False
) -> State:
    """Do ``checkpoint_loop``: each block of steps is a checkpoint.

    So it keeps a state for each block, and while a block reverses what its steps compute; with
    ``slots`` or ``memory_limit`` too.
    """
    if every is None and (slots is not None or memory_limit is not None):
        every = -(-n // max(1, slots_for(state, n, slots, memory_limit)))
    every = every or max(1, math.isqrt(n))
    step = closed(step)
    state = HOOKS["call"](copy.deepcopy, state)
    for start in range(0, n, every):
        state = rerun(block(step, state, range(start, min(n, start + every)), indexed), state)
    return state


def block(
    step: Callable[..., Any], state: State, steps: range, indexed: bool
) -> Callable[[], State]:
    """Return what does some steps, from a copy of their state as these may write into it."""

    def call() -> State:
        now: State = HOOKS["call"](copy.deepcopy, state)
        for i in steps:
            now = following(
                HOOKS["call"](step, now, i) if indexed else HOOKS["call"](step, now))
        return now

    return call


CHECKPOINTS: dict[Any, Callable[..., Any]] = {
    checkpoint: apply_checkpoint, checkpoint_loop: apply_loop,
    recomputed: lambda function, *args, **kwargs: again(function, args, kwargs)}
"""Hooks by function."""
