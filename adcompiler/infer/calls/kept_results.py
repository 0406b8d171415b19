"""Functions under ``lru_cache`` and ``cache``: run at each call, where nobody can tell.

Python runs them once for each of their arguments. Running them again does and gives the same if
they read nothing that may change, have no effects, and nobody writes into what they return.
"""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.sources.same_code import codes
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Const, Origin, Star, Var, constants
from adcompiler.ops.qualified_names import home_module
from adcompiler.runtime.reading import attempted
from adcompiler.infer.calls.constructors import is_frozen
from adcompiler.infer.calls.libraries import installed, is_library, standard
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.values import simple, type_of

EFFECTS = frozenset({"print", "input", "open", "next", "exec", "eval", "setattr", "delattr"})
"""Names of built-in functions that do something, or read what changes."""
CHANGING = frozenset({"random", "time", "secrets", "uuid", "datetime", "os", "sys"})
"""Modules that answer otherwise the next time, and the attribute of NumPy that does."""


KEEPING = ("numpy.", "scipy.")
"""Libraries whose functions under `lru_cache` say the same in a whole process."""


def call_kept(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the call of a function under a cache; None where it is not known what is under it."""
    known = kept_answer(func.value, args, kwargs)
    inner = getattr(func.value, "__wrapped__", None)
    if known is not None or not isinstance(inner, types.FunctionType):
        return known
    if told_by_running_again(s, inner, args, origin):
        return UNDEF
    opened = s.unit.relied.part(func.value, "__wrapped__", inner)
    return kept_result(s, s.call(opened, args, kwargs, origin, name))


def kept_answer(value: Any, args: list[Atom], kwargs: Mapping[str, Atom]) -> Const | None:
    """Return what a function of a library has computed once for all, such as what an array is.

    The library keeps the answer for these arguments itself, which are known here.
    """
    home = home_module(value)
    if kwargs or not (home.startswith(KEEPING) or "array_api_compat" in home):
        return None
    values = constants(args)
    if values is None:
        return None
    found = attempted(value, *values)
    return Const(found) if simple(found) else None


def told_by_running_again(
    s: Writer, function: types.FunctionType, args: Iterable[Atom | Star], origin: Origin
) -> bool:
    """Report a function under a cache if one could tell that it is run again; say whether."""
    why = next(reasons(function, {function}), None)
    for type_ in (s.unit.type(atom) for atom in args if isinstance(atom, Var)):
        if isinstance(type_, t.Object) and not is_frozen(type_.cls):
            why = why or f"it is given an instance of {type_.cls.__name__}, which may change"
    if why is None or is_library(function):
        return False
    s.reject(
        origin, f"the result of {function.__name__}() is kept by a cache, and running it again may "
        f"give another one: {why}",
        "leave out the cache, or pass all that the function reads as arguments", "memos",
    )
    return True


def reasons(function: types.FunctionType, seen: set[types.FunctionType]) -> Iterator[str]:
    """Yield why a function may do or give something else when it is run again."""
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for code in codes(function.__code__):
        found: Any = None
        for instruction in dis.get_instructions(code):
            name, kind = instruction.argval, instruction.opname
            before, found = found, None
            if kind in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
                kind in ("STORE_DEREF", "DELETE_DEREF") and name in around
            ):
                yield f"it assigns `{name}`"
            elif kind in ("LOAD_GLOBAL", "LOAD_NAME"):
                found = function.__globals__.get(name, getattr(builtins, name, None))
                yield from reasons_of(name, found, seen)
            elif kind in ("LOAD_DEREF", "LOAD_CLASSDEREF") and name in around:
                try:
                    found = around[name].cell_contents
                except ValueError:
                    yield f"`{name}` has no value yet"
                yield from reasons_of(name, found, seen)
            elif isinstance(before, types.ModuleType) and kind in ("LOAD_ATTR", "LOAD_METHOD"):
                found = getattr(before, name, None)
                if name in CHANGING or not is_of_library(before):
                    yield from reasons_of(name, found, seen)


def reasons_of(name: str, value: Any, seen: set[types.FunctionType]) -> Iterator[str]:
    """Yield why a value that a function reads by ``name`` may make it answer otherwise."""
    if value is getattr(builtins, name, seen):
        if name in EFFECTS:
            yield f"it calls {name}()"
    elif isinstance(value, types.ModuleType):
        if value.__name__.partition(".")[0] in CHANGING or name in CHANGING:
            yield f"it uses `{name}`"
    elif not isinstance(type_of(value), t.Static):
        yield f"it reads `{name}`"
    elif isinstance(value, types.FunctionType) and value not in seen and not is_library(value):
        seen.add(value)
        yield from reasons(value, seen)


def is_of_library(module: types.ModuleType) -> bool:
    """Say whether a module is built in, or of the standard library or an installed package."""
    file = getattr(module, "__file__", None)
    return file is None or file.startswith((*standard(), *installed()))


def kept_result(s: Writer, result: Atom) -> Atom:
    """Return what a function under a cache returns: a later call returns it again, as it is."""
    parts = s.unit.elements(result) or (result,)
    for part in parts:
        if isinstance(part, Var) and is_mutable(s.unit.type(part)) and s.heap is not None:
            s.unit.writes.kept_results.add(s.heap.reference(part).root)
    return result
