"""Single calls of functions with rules: their values are Python's, their derivatives compiled.

The pullback of ``np.foo(a, b, axis=0)`` is that of a function of ``a`` and ``b`` which the compiler
compiles once for each function, options and types, and keeps on disk.
"""

from __future__ import annotations

import collections
import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.dispatch import Options, Specialisations
from adcompiler.errors import ADError
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.made_texts import keep_lines
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.entries import leaves, mapped, pairs, plain, tangent_of
from adcompiler.record.functions import HOOKS
from adcompiler.record.parts import parts_of
from adcompiler.record.protocols import by_its_rule
from adcompiler.record.shadows import Entry, Sweep, Tangents
from adcompiler.record.tape import NUMBERS, RECORDING, Number, Tape, refused
from adcompiler.runtime.reading import unless_it_raises

MAX_FORMS = 4096
FORMS: dict[Any, Form] = {}
_count = itertools.count(1)


class Form:
    """One call of a function: which arguments are active, and what the others are.

    ``function`` takes the active arguments, and others that are not part of its text.
    """

    def __init__(
        self, function: Callable[..., Any], count: int, names: Sequence[str], active: Sequence[int]
    ) -> None:
        given = [f"a{i}" for i in range(count)]
        parameters = ", ".join([*given, *(f"k{i}" for i in range(len(names)))])
        arguments = ", ".join([*given, *(f"{n}=k{i}" for i, n in enumerate(names))])
        text = f"def call({parameters}):\n    return function({arguments})\n"
        file = f"<recorded call {next(_count)}>"
        keep_lines(file, text)
        space: dict[str, Any] = {"function": function, "__name__": "adcompiler_calls"}
        exec(compile(text, file, "exec"), space)
        self.call: Callable[..., Any] = space["call"]
        self.active = tuple(active)
        self.halves: dict[str, Specialisations] = {}

    def second(self, values: tuple[object, ...], g: Any) -> Callable[..., Any]:
        """Return what pushes tangents through the pullback at values and a cotangent."""
        found = self.halves.get("second")
        count = len(values)
        if found is None:
            given = ", ".join(f"a{i}" for i in range(count))
            text = (
                f"def pulled({given}, g):\n"
                f"    return vjp(call, {given}, argnums={self.active})[1](g)\n"
            )
            file = f"<recorded call {next(_count)}>"
            keep_lines(file, text)
            space: dict[str, Any] = {
                "vjp": operator_named("vjp"), "call": self.call, "__name__": "adcompiler_calls"}
            exec(compile(text, file, "exec"), space)
            found = self.halves["second"] = Specialisations(
                space["pulled"], Options("forward", (*self.active, count)))
        compiled, _ = found.find((*values, g))
        pushed = found.run(compiled, (*values, g))
        return pushed  # type: ignore[no-any-return]

    def at(self, mode: str, values: tuple[object, ...]) -> Callable[..., Any]:
        """Return the compiled half for values: of mode ``vjp`` or ``forward``."""
        found = self.halves.get(mode)
        if found is None:
            found = self.halves[mode] = Specialisations(self.call, Options(mode, self.active))
        compiled, _ = found.find(values)
        return lambda *args: found.run(compiled, args)


def operator_named(name: str) -> Any:
    """Return an operator of the users', which stands in a module that imports this one."""
    return getattr(sys.modules["adcompiler"], name)


def form_of(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object],
    active: Sequence[int],
) -> Form:
    """Return the form of a call, made now or before."""
    key = (function, len(args), tuple(kwargs), tuple(active), REGISTRY.generation)
    found = FORMS.get(key)
    if found is None:
        if len(FORMS) > MAX_FORMS:
            FORMS.clear()
        found = FORMS[key] = Form(function, len(args), tuple(kwargs), active)
    return found


class Single(Entry):
    """One call of a function with a rule; ``result`` is what it returned, ``slots`` of numbers.

    ``values`` are what it was given, ``given`` the same as numbers and arrays of plain classes,
    which their rules know. ``half`` is the compiled half of its derivative that runs it anew and
    returns its pullback.
    """

    __slots__ = ("form", "function", "given", "half", "names", "outs", "result", "slots", "values")

    def __init__(
        self, function: Callable[..., Any], form: Form, half: Callable[..., Any],
        values: tuple[object, ...], outs: Any, result: Any, names: tuple[str, ...] = (),
        given: tuple[object, ...] | None = None
    ) -> None:
        self.names, self.half = names, half
        self.function, self.form, self.values, self.outs = function, form, values, outs
        self.given = values if given is None else given
        self.result: Any = result
        self.slots: list[tuple[Any, int]] = []

    def pull(self, sweep: Sweep, slot: int) -> None:
        g, some = self.cotangent(sweep, self.outs)
        if not some:
            return
        _, pullback = self.half(*self.given)
        found = pullback(g)
        for value, part in pairs([self.values[i] for i in self.form.active], found):
            sweep.add(value, part)

    def cotangent(self, sweep: Sweep, out: Any) -> tuple[Any, bool]:
        """Return the cotangent of a result, and whether any of it is not zero."""
        if isinstance(out, (tuple, list)):
            parts = [self.cotangent(sweep, part) for part in out]
            items = [part for part, _ in parts]
            made: Any = items if isinstance(out, list) else tuple.__new__(type(out), items)
            return made, any(some for _, some in parts)
        if isinstance(out, np.ndarray) and out.dtype.kind in "fc":
            if not is_own(out, self):
                return np.zeros_like(out), False
            found = sweep.take(out)
            return (np.zeros_like(out), False) if found is None else (found, bool(found.any()))
        if isinstance(out, NUMBERS):
            place = next((place for number, place in self.slots if number is out), None)
            g = 0.0 if place is None else sweep.take_number(place)
            return g, g != 0
        return None, False

    def push(self, tangents: Tangents, slot: int) -> None:
        along = [tangents_in(tangents, self.values[i]) for i in self.form.active]
        _, d = self.form.at("forward", self.given)(*self.given)(*along)
        for out, part in pairs(self.outs, d):
            if not isinstance(out, np.ndarray):
                for number, place in self.slots:
                    if number is out:
                        tangents.numbers[place] = part
            elif out.dtype.kind in "fc" and is_own(out, self):
                tangents.put(out, part)

    def made(self) -> list[Number]:
        several = isinstance(self.outs, (tuple, list))  # whose numbers have entries of their own
        return [] if several else [number for number, _ in self.slots]

    def shown(self) -> str:
        return display_name(self.function)


def is_own(out: np.ndarray, entry: Single) -> bool:
    """Say whether an array of a result was made by the call, and is no view of what was there."""
    return any(out is own for own in entry.result)


def tangents_in(tangents: Tangents, value: object) -> Any:
    """Return the tangents of an argument, which may be a container."""
    if isinstance(value, (tuple, list)):
        return type(value)(tangents_in(tangents, item) for item in value)
    if isinstance(value, dict):
        return {key: tangents_in(tangents, item) for key, item in value.items()}
    d = tangent_of(tangents, value) if isinstance(value, (np.ndarray, *NUMBERS)) else None
    if d is None:
        return np.zeros_like(value) if isinstance(value, np.ndarray) else 0.0
    return np.array(d) if isinstance(value, np.ndarray) else d


def plainly(value: object) -> Any:
    """Return a number or array of a derived class as one of a plain class."""
    if isinstance(value, np.ndarray):
        return value if type(value) is np.ndarray else np.ndarray.view(value, np.ndarray)
    return plain(value) if isinstance(value, (float, complex)) else value


def hold(tape: Tape, value: object) -> None:
    """Note the arrays that an entry reads."""
    for part in leaves(value):
        if isinstance(part, np.ndarray):
            tape.is_active_array(part)  # refuses what an earlier recording has left
            tape.hold(part)


def recorded(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object],
    run: Callable[[], object] | None = None,
) -> Any:
    """Call a function that has a rule, and record it; some argument is active.

    Raises UnsupportedError, with the user's line, where its derivative cannot be compiled.
    """
    tape = RECORDING.tape
    if (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy":
        args = tuple(as_numbers(value) for value in args)
        kwargs = {name: as_numbers(value) for name, value in kwargs.items()}
    values = mapped(lambda part: part, (*args, *kwargs.values()))  # lists may change
    active = [i for i, value in enumerate(values) if tape.holds(value)]
    form = form_of(function, args, kwargs, active)
    given = mapped(plainly, values)
    try:
        half = form.at("vjp", given)
    except ADError as error:
        reason = str(error).split("\n", 1)[0].rpartition(": ")[2]
        raise refused(
            f"the derivative of `{display_name(function)}` here: {reason}",
            "write it with functions that have rules, or register one", "missing-rule") from error
    result = by_its_rule(function, *args, **kwargs) if run is None else run()
    entry = Single(function, form, half, values, result, [], tuple(kwargs), given)
    enter(tape, entry, values, result)
    return result


def as_numbers(value: Any) -> Any:
    """Return a list of numbers as the array that NumPy makes of it; other values as they are."""
    if not isinstance(value, (list, tuple, collections.deque)) or not RECORDING.tape.holds(value):
        return value
    value = [list(item) if isinstance(item, collections.deque) else item for item in value]
    if all(isinstance(item, (*NUMBERS, int)) for item in value):
        return HOOKS["gathered"](value)
    return [as_numbers(item) for item in value]


def enter(tape: Tape, entry: Single, values: tuple[object, ...], result: object) -> None:
    """Enter a call into the tape, with the numbers and arrays of its result."""
    hold(tape, values)
    numbers: list[Number] = []
    arrays: list[np.ndarray] = []
    collect(tape, result, numbers, arrays)
    if hides_numbers(result):
        raise refused(
            f"`{display_name(entry.function)}`, which gives an object that holds numbers",
            "compute with functions that give numbers and arrays", "missing-rule")
    if not numbers and not arrays:
        return
    entry.result = arrays
    for array in arrays:
        tape.activate(array)
    if isinstance(result, (tuple, list)):
        for number in numbers:
            entry.slots.append((number, tape.start(number)))
        tape.entries.append(entry)
    else:
        entry.slots = [(number, len(tape.entries)) for number in numbers]
        tape.ids.update((id(number), place) for number, place in entry.slots)
        tape.entries.append(entry)


@unless_it_raises(True)
def hides_numbers(value: object, depth: int = 3) -> bool:
    """Say whether a result is or holds an object, no container, in which numbers are found."""
    if isinstance(value, (np.ndarray, *NUMBERS, int, str, bytes, np.generic)) or value is None:
        return False
    if isinstance(value, (tuple, list)):
        return any(hides_numbers(part, depth) for part in value)
    return any(found_number(part, depth) for part in parts_of(value))


def found_number(value: object, depth: int) -> bool:
    """Say whether a number is found in a value, so deep."""
    if isinstance(value, (np.ndarray, *NUMBERS)):
        return not isinstance(value, np.ndarray) or value.dtype.kind in "fcO"
    if depth == 0 or isinstance(value, (int, str, bytes, np.generic)) or value is None:
        return False
    return any(found_number(part, depth - 1) for part in parts_of(value))


def collect(tape: Tape, result: Any, numbers: list[Number], arrays: list[np.ndarray]) -> None:
    """Collect what a result holds that is new: numbers, and arrays with memory of their own."""
    if isinstance(result, (tuple, list)):
        for part in result:
            collect(tape, part, numbers, arrays)
    elif isinstance(result, np.ndarray):
        if result.dtype.kind in "fc" and not tape.is_active_array(result):
            arrays.append(result)
    elif isinstance(result, NUMBERS) and id(result) not in tape.ids:
        numbers.append(result)
