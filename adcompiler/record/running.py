"""Runs a function and records it; derivatives from the tape."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any

import numpy as np

import adcompiler.record.calls  # noqa: F401 (enters its hook)
from adcompiler.dispatch.arguments import part_at
from adcompiler.dispatch.calling import passed_on
from adcompiler.dispatch.cotangents import (
    conform, conform_each, outline,
)
from adcompiler.dispatch.linear_maps import Half, Pullback
from adcompiler.dispatch.trees import children
from adcompiler.errors import ArgumentsError
from adcompiler.record.copies import Copies
from adcompiler.record.entries import leaves, pairs
from adcompiler.record.functions import HOOKS
from adcompiler.record.shadows import Sweep, Tangents
from adcompiler.record.tape import (
    IDLE, LEFT, NUMBERS, RECORDING, Listed, Numeric, Tape, leave, purge, refused, stay,
)
from adcompiler.runtime.batches import no_seeds, none_of, one_zero
from adcompiler.runtime.records import carries_derivative, is_record, record
from adcompiler.runtime.structure import mapped

Wanted = Sequence[tuple[int, tuple[Any, ...]]]
"""Positions of what is differentiated, with steps to the part."""


class Recorded:
    """One run of a function: its tape, its value, and the copies of arguments that it ran on.

    ``forward`` says that tangents will be pushed along the tape, which then holds what checkpoints
    compute, too.
    """

    def __init__(
        self, function: Callable[..., Any], values: tuple[object, ...], wanted: Wanted,
        parameters: Sequence[Parameter], forward: bool = False, entries: Listed | None = None,
    ) -> None:
        if RECORDING.tape is not IDLE:
            raise refused(
                "a recorded derivative inside of what is recorded",
                "write the inner function so that it compiles", "recording")
        self.tape = Tape()
        self.tape.keeps_all = forward
        if entries is not None:
            self.tape.entries = entries
        purge()
        self.tape.ids.update(dict.fromkeys(LEFT, -1))
        self.copies = Copies(values, {i for i, _ in wanted}, self.tape)
        self.values = self.copies.values
        parts = [part_at(self.values[i], steps) for i, steps in wanted]
        for value in leaves(parts):
            if isinstance(value, np.ndarray):
                if value.dtype.kind in "fc":
                    self.tape.start_array(value)
            elif id(value) not in self.tape.ids:
                self.tape.start(value)
        self.given = [frozen(part) for part in parts]
        RECORDING.tape = self.tape
        try:
            self.value = called(function, self.values, parameters)
        except Exception:
            if self.tape.refusal is not None:
                raise self.tape.refusal from None
            raise
        finally:
            RECORDING.tape = IDLE
        if self.tape.refusal is not None:  # the program has caught it, and gone another way
            raise self.tape.refusal
        self.copies.check()
        self.firsts: dict[int, Any] = {}
        self.check_groups(forward)

    def check_groups(self, forward: bool) -> None:
        """Refuse writes into arrays that overlap others, in forward mode into those that are one.
        """
        for group in self.tape.groups.values():
            if group.written and not (group.is_one and not forward):
                raise refused(
                    "an array that is written, and that overlaps another argument or, in forward "
                    "mode, is one", "pass copies", "aliases")

    # -- reverse -------------------------------------------------------------------------------

    def pulled(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the cotangents of what is differentiated for one of the value."""
        sweep = Sweep(self.tape)
        self.start(sweep, cotangent)
        sweep.run()
        return self.found(sweep)

    def pulled_along(
        self, cotangent: Any, given: Sequence[object]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the cotangents of what is differentiated, and their tangents along given ones."""
        from adcompiler.record.second import DualSweep

        sweep = DualSweep(self.tape, self.along(given, second=True))
        self.start(sweep.g, cotangent)
        sweep.run()
        return self.found(sweep.g), self.found(sweep.d)

    def start(self, sweep: Sweep, cotangent: Any) -> None:
        """Set the cotangent of the value."""
        for part, g in pairs(self.value, cotangent):
            sweep.add(part, g)

    def found(self, sweep: Sweep) -> tuple[Any, ...]:
        """Return the cotangents of what is differentiated, in its structure."""

        def of_leaf(value: object) -> Any:
            if isinstance(value, np.ndarray):
                return self.found_beside(sweep, value) if value.dtype.kind in "fc" else (
                    np.zeros(value.shape))
            return like(sweep.numbers[self.tape.ids[id(value)]], value)

        return tuple(built(of_leaf, part) for part in self.given)

    def found_beside(self, sweep: Sweep, array: np.ndarray) -> np.ndarray:
        """Return the cotangent of an argument that is an array.

        Of arguments that are one array, which is written, the first one has all of it.
        """
        group = self.tape.groups.get(id(array))
        if group is None or not group.written:
            return np.array(sweep.beside(array))
        if self.firsts.setdefault(id(group), array) is not array:
            return np.zeros_like(array)
        whole: np.ndarray = np.sum([sweep.beside(member) for member in group.members], axis=0)
        return whole

    # -- forward -------------------------------------------------------------------------------

    def pushed(self, given: Sequence[object]) -> Any:
        """Return the tangent of the value for tangents of what is differentiated."""
        tangents = self.along(given)

        def of_leaf(value: object) -> Any:
            if not isinstance(value, np.ndarray):
                slot = self.tape.slot(value)
                return like(0.0 if slot is None else tangents.numbers[slot], value)
            if value.dtype.kind in "fc" and self.tape.is_active_array(value):
                return np.array(tangents.beside(value))
            return np.zeros(value.shape, value.dtype if value.dtype.kind in "fc" else float)

        return built(of_leaf, self.value)

    def along(self, given: Sequence[object], second: bool = False) -> Tangents:
        """Return the tangents of all that the tape holds, for those of what is differentiated.

        The tape is gone through from its start: what the run wrote is undone before, and written
        again on the way.
        """
        entries = self.tape.entries
        tangents = Tangents(self.tape, second)
        for value, d in pairs(self.given, given):
            if not isinstance(value, np.ndarray):
                tangents.numbers[self.tape.ids[id(value)]] = d
            elif value.dtype.kind in "fc":
                tangents.put(value, d)
        for entry in reversed(entries):
            if type(entry) is not tuple:
                entry.again()
        slot = 0
        try:
            with np.errstate(all="ignore"):
                for slot, entry in enumerate(entries):
                    if type(entry) is not tuple:
                        entry.again()
                    tangents.push(entry, slot)
            return tangents
        finally:
            for entry in entries[slot + 1 :]:
                if type(entry) is not tuple:
                    entry.again()

    def handed_out(self) -> Any:
        """Return the value, and leave the arguments as the run leaves them; the tape stays.

        As long as it does, all that it knows counts as kept by the program: a later recording that
        comes upon some of it refuses that.
        """
        value = self.copies.give_back(self.value)
        stay(self.tape)
        return value

    def close(self, *given: Any) -> None:
        """Note what outlives the recording, but what is ``given`` to the caller."""
        self.copies.give_generators_back()
        returned: set[int] = set()
        for value in given:  # of numbers themselves the caller has copies
            for part in leaves(None if isinstance(value, NUMBERS) else value):
                while isinstance(part, np.ndarray) and isinstance(part.base, np.ndarray):
                    part = part.base
                returned.add(id(part))
        leave(self.tape, returned)


def frozen(value: object) -> Any:
    """Return a value with containers of its own, which nobody changes."""
    parts = {} if isinstance(value, np.ndarray) else children(value)
    if not parts and not isinstance(value, (list, dict)):  # these may be filled later
        return value
    return assembled(value, {key: frozen(part) for key, part in parts.items()})


def called(
    function: Callable[..., Any], values: tuple[object, ...], parameters: Sequence[Parameter]
) -> Any:
    """Call a function with the values of its parameters, recorded."""
    positional, named = passed_on(parameters, values)
    return HOOKS["call"](function, *positional, **named)


def built(of_leaf: Callable[[Numeric], object], value: object) -> Any:
    """Return the cotangent, or tangent, of a value, of those of its numbers and arrays."""
    if isinstance(value, (np.ndarray, *NUMBERS)):
        return of_leaf(value)
    if isinstance(value, (bool, int, str)) or value is None:
        return 0.0 if isinstance(value, int) else None
    return assembled(value, {
        key: built(of_leaf, part) if not is_record(value) or carries_derivative(part) else None
        for key, part in children(value).items()})


def assembled(value: object, parts: dict[str, object]) -> Any:
    """Return a cotangent of the structure of a value, of its parts."""
    if isinstance(value, dict):
        return parts
    if isinstance(value, tuple):
        made: Any = type(value)
        return made(*parts.values()) if hasattr(value, "_fields") else tuple(parts.values())
    if isinstance(value, list):
        return list(parts.values())
    if not is_record(value):
        return None
    return record(type(value), **parts)


def like(g: Any, value: Any) -> Any:
    """Return a cotangent as a number of the class of a value."""
    if isinstance(value, np.inexact):
        g = g.real if isinstance(g, (complex, np.complexfloating)) and not isinstance(
            value, np.complexfloating) else g
        return value.dtype.type(g)
    if isinstance(value, complex):
        return complex(g)
    return float(g.real if isinstance(g, complex) else g)


def handed_out(value: object) -> Any:
    """Return a result with numbers of its own, so that what is kept of it is no active value."""
    from adcompiler.record.copies import fresh

    if isinstance(value, NUMBERS):
        return fresh(value)
    return value


class OfRun:
    """What holds runs of a function: a copy of it is itself, and it is not pickled."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        raise ArgumentsError(
            f"{self!r} holds a run of a function, which cannot be pickled; pickle the derivative "
            "(`grad`, `value_and_grad`), which records anew where it is called")

    def __copy__(self) -> Any:
        return self  # calls leave it as it is

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        return self


class RecordedPullback(OfRun, Pullback):
    """Pulls cotangents of a recorded function's value back to those of its arguments."""

    __slots__ = ("run", "single", "sweeping")

    def __init__(self, run: Recorded, single: bool, name: str) -> None:
        self.run, self.single = run, single
        self.sweeping = threading.RLock()
        super().__init__(Half(children, "", name, {}, name), None, outline(run.value))

    def __call__(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments for a cotangent of the value."""
        given = conform(cotangent, self.structure)
        with self.sweeping:  # a sweep undoes what the run wrote, and does it again
            found = self.run.pulled(given)
        return found[0] if self.single else found

    def of_each(self, cotangents: Any) -> Any:
        """Return the cotangents of the arguments for those of many seeds."""
        given = conform_each(cotangents, self.structure)
        if no_seeds(given, "the cotangents"):
            return none_of(self.of_each(one_zero(given)))
        return stacked([self(g) for g in each_of(given)])

    def __del__(self) -> None:
        if hasattr(self, "run"):
            self.run.close()


def each_of(tree: Any) -> list[Any]:
    """Return the trees of single seeds in a tree of arrays with one more axis in front."""
    count = max(map(len, leaves(tree)), default=0)
    return [mapped(lambda leaf, i=i: leaf[i], tree) for i in range(count)]


def stacked(trees: list[object]) -> Any:
    """Return a tree of arrays with one more axis in front, which counts the trees."""
    return mapped(lambda *parts: np.array(parts), *trees)


__all__ = ["OfRun", "Recorded", "RecordedPullback", "handed_out"]
