"""Calls of functions by what is known of them: a rule, that they are inert, or nothing."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from adcompiler.frontend.sources.same_code import codes
from adcompiler.ops.facts import READ
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.record.functions import HOOKS
from adcompiler.record.library.derived import (
    holds_derived, is_transparent, leading, plain_in, through,
)
from adcompiler.record.library.draws import RANDOM, drawn, generator_of
from adcompiler.record.library.outputs import into, is_recorded, without_out
from adcompiler.record.operators import NUMERIC
from adcompiler.record.parts import parts_of
from adcompiler.record.protocols import by_its_rule, has_code, natively
from adcompiler.record.single import recorded
from adcompiler.record.tape import IDLE, RECORDING, refused, refused_text
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.runtime.records import is_of_python

NATIVE_MODULES = ("logging", "warnings", "dataclasses", "abc", "typing", "enum", "inspect", "re",
                  "functools", "traceback", "copyreg", "weakref", "os",
                  "posixpath", "pathlib", "_weakrefset", "importlib", "string", "textwrap",
                  "operator", "types")
"""Modules whose functions are about objects, not numbers: they run as they are."""


def is_native(module: str) -> bool:
    """Say whether a module is one of those whose functions run as they are."""
    return any(module == name or module.startswith(f"{name}.") for name in NATIVE_MODULES)


UNRULED: Any = object()
"""Stands for no result."""


def by_rule(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Return the result of a function that has a rule or is inert; UNRULED if it is neither."""
    if not hashable(function):
        return UNRULED
    if REGISTRY.inactive(function) is not None:
        if is_of_numpy(function) and holds_derived(list(args)):
            args = tuple(map(plain_in, args))  # no code of their classes matters
        return inert(function, args, kwargs)
    if REGISTRY.replacement(function) is None and not REGISTRY.has_rules(function) and (
        not is_written_anew(function)
    ):
        return UNRULED
    tape = RECORDING.tape
    plain, named, out = without_out(function, args, kwargs)
    if is_recorded(plain, named, out):
        return into(out, HOOKS["call"](function, *plain, **named))
    given = (*args, *kwargs.values())
    if isinstance(function, types.FunctionType) and depends_on_classes(function, given):
        return UNRULED  # its own code is followed, down to plain arrays
    if any(map(is_callback, given)):
        if isinstance(function, types.FunctionType) and any(map(captures_active, given)):
            return UNRULED
        return with_callbacks(function, args, kwargs)
    if not any(map(tape.holds, given)):
        return constant(function, args, kwargs)
    facts = REGISTRY.facts(function)
    kwargs = {name: value for name, value in kwargs.items() if not name.startswith("overwrite_")}
    if facts.changes is not None or (facts.writes and "out" not in facts.writes):
        raise refused(f"{display_name(function)}, which writes into what it is given",
                      "assign items instead", "recording")
    if facts.iterates:
        args = tuple(listed(arg) for arg in args)
    if any(map(holds_derived, given)):
        return through(function, args, kwargs)
    if is_random(function):
        return drawn(function, args, kwargs)
    return recorded(function, args, kwargs)


def is_written_anew(function: Callable[..., Any]) -> bool:
    """Say whether the compiler has another text of a function, which does the same."""
    return type(function) in (types.FunctionType, types.BuiltinFunctionType) and (
        REGISTRY.facts(function).written_as is not None and not is_of_numpy(function))


def is_of_numpy(function: Callable[..., Any]) -> bool:
    """Say whether a function is one of NumPy's, whose own code can be followed."""
    return str(function.__module__).partition(".")[0] == "numpy"


def depends_on_classes(function: Callable[..., Any], given: tuple[object, ...]) -> bool:
    """Say whether a function in Python does with arguments what their classes say."""
    if (function.__module__ or "").startswith("numpy.ma"):
        return True
    tape = RECORDING.tape
    for value in given:
        if type(value).__module__.startswith("scipy.sparse") and tape.holds(value):
            return True
        if holds_derived(value) and not is_transparent(type(leading((value,)))) and (
            tape.holds(value)
        ):
            return True
    return False


def listed(value: object) -> Any:
    """Return what a function iterates over as a list, if it is neither that nor an array.

    An iterator is asked for its items; a sequence in Python may be asked for its length too.
    """
    if isinstance(value, (np.ndarray, list, tuple, str, *NUMERIC)) or value is None:
        return value
    cls: Any = type(value)
    runs = hasattr(cls, "__next__") or (hasattr(cls, "__iter__") and not is_of_python(cls))
    return list(HOOKS["iterate"](value)) if runs else value


def is_random(function: Callable[..., Any]) -> bool:
    """Say whether a function draws numbers, others in each call."""
    return isinstance(getattr(function, "__self__", None), RANDOM) or (
        REGISTRY.facts(function).pure is False)


def is_callback(value: object) -> TypeGuard[Callable[..., Any]]:
    """Say whether an argument is something that C would call."""
    if isinstance(value, (type, np.ufunc, types.BuiltinFunctionType)):
        return False
    return callable(value) and not isinstance(value, (np.ndarray, np.generic))


def with_callbacks(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function that is given functions: their rules do not know what those captured."""
    tape = RECORDING.tape
    given = (*args, *kwargs.values())
    if any(map(captures_active, given)):
        raise refused(
            f"`{display_name(function)}` with a function that refers to values which carry a "
            "derivative", "pass them as arguments of the function (args=...)", "recording")
    if not any(map(tape.holds, given)):
        return function(*args, **kwargs)
    return recorded(function, args, kwargs)


def captures_active(value: object) -> bool:
    """Say whether an argument is a function to be called that captured active values."""
    return is_callback(value) and captures(value)


def captures(function: Callable[..., Any], seen: set[int] | None = None) -> bool:
    """Say whether a function, or one that it calls by name, refers to active values.

    It may do so by variables that it captured, or by globals.
    """
    tape = RECORDING.tape
    seen = set() if seen is None else seen
    inside = getattr(function, "__func__", function)
    if id(inside) in seen:
        return False
    seen.add(id(inside))
    if tape.holds(function):
        return True
    live = getattr(inside, "__code__", None)
    if live is None:
        return False
    space = inside.__globals__
    for name in {name for code in codes(live) for name in code.co_names} & space.keys():
        value = space[name]
        if tape.holds(value) or (
            isinstance(value, (types.FunctionType, types.MethodType)) and captures(value, seen)
        ):
            return True
    cells = [cell.cell_contents for cell in inside.__closure__ or () if is_full(cell)]
    return any(isinstance(value, (types.FunctionType, types.MethodType)) and captures(value, seen)
               for value in cells)


def is_full(cell: types.CellType) -> bool:
    """Say whether a captured variable has a value."""
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def constant(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object],
    call: Callable[..., Any] = by_its_rule
) -> Any:
    """Call a function of which no argument is active; what it writes over is noted."""
    tape = RECORDING.tape
    held = [value for value in (*args, *kwargs.values())
            if isinstance(value, np.ndarray) and tape.held and tape.is_held(value)]
    if not held:
        return call(function, *args, **kwargs)
    before = [(array, array.copy()) for array in held]
    result = call(function, *args, **kwargs)
    for array, old in before:
        if not same_content(array, old):
            HOOKS["log"](array, old)
    return result


def same_content(one: np.ndarray, two: np.ndarray) -> bool:
    """Say whether two arrays hold the same bytes."""
    if one.dtype.hasobject:
        return True
    return bool(one.tobytes() == two.tobytes())


def inert(function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a function whose results carry no derivative."""
    tape = RECORDING.tape
    if not tape.texts and not REGISTRY.facts(function).is_pure and tape.holds((args, kwargs)):
        tape.texts = True  # it may write them somewhere
    result = constant(function, args, kwargs)
    if tape.texts and reads_text((*args, *kwargs.values())) and holds_numbers(result):
        raise refused_text(f"`{display_name(function)}`")
    return result


def unknown(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object],
    run: Callable[[], object] | None = None,
) -> Any:
    """Call what nothing is known of: without active values, or not at all."""
    tape = RECORDING.tape
    given = (*args, *kwargs.values())
    if any(map(tape.holds, given)):
        if isinstance(generator_of(function, args), RANDOM):
            return drawn(function, args, kwargs)
        raise refused(
            f"`{display_name(function)}`, of which nothing is known, with a value that carries a "
            "derivative", "register a rule for it, or compute it by functions that are known",
            "missing-rule")
    facts = REGISTRY.facts(function) if hashable(function) else None
    if tape.texts and facts is not None and facts.has_form(READ):
        raise refused_text(f"`{display_name(function)}`")
    if tape is not IDLE and any(is_callback(v) and (has_code(v) or captures(v)) for v in given):
        raise refused(
            f"`{display_name(function)}`, of which nothing is known, with a function that it may "
            "call unseen", "call the function itself", "recording")
    result = constant(function, args, kwargs, natively) if run is None else natively(run)
    if tape.texts and reads_text(given) and holds_numbers(result):
        raise refused_text(f"`{display_name(function)}`")
    return result


def reads_text(given: tuple[object, ...]) -> bool:
    """Say whether text, bytes, or a file are among arguments."""
    return any(isinstance(value, (str, bytes, bytearray, memoryview)) or hasattr(value, "read")
               for value in given)


@unless_it_raises(True)
def holds_numbers(value: object, depth: int = 3) -> bool:
    """Say whether a result is or holds floats."""
    if isinstance(value, (float, complex, np.inexact, ast.AST)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fcO"
    if depth == 0 or isinstance(value, (str, bytes, int)):
        return False
    return any(holds_numbers(part, depth - 1) for part in parts_of(value))
