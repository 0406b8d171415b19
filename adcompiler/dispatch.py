"""From a call to compiled code: argument types select a specialisation, found or compiled once.

Each derivative object gets a ``__call__`` of its own, generated with the signature of the user's
function: the last specialisation is tried first by plain identity tests of the argument types, any
other is looked up by the full key.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adcompiler.analyses.values import type_of
from adcompiler.cache.keys import (
    fingerprint, primary_key, resolve, rules_hold, rules_manifest,
)
from adcompiler.cache.store import Store, default_directory, load_module
from adcompiler.errors import ADError
from adcompiler.frontend.scope import MISSING
from adcompiler.ir import types as t

Guard = Callable[[], bool]


@dataclass(frozen=True)
class Options:
    """What is asked of the compiler for one function."""

    mode: str
    argnums: int | str | tuple[int | str, ...]
    has_aux: bool = False


@dataclass
class Compiled:
    """Code for one combination of argument types."""

    entry: Callable[..., Any]
    module: types.ModuleType
    text: str
    path: Any
    types: tuple[t.Type, ...]
    guard: Guard | None
    report: dict[str, Any]
    captured: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """The Python function that is compiled for a callable, and the arguments it always gets."""

    function: types.FunctionType
    first: tuple[Any, ...]
    signature: inspect.Signature


def find_target(function: Callable[..., Any]) -> Target:
    """Return what is compiled when ``function`` is differentiated."""
    if isinstance(function, types.FunctionType):
        return Target(function, (), inspect.signature(function, follow_wrapped=False))
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        return Target(
            function.__func__, (function.__self__,),
            inspect.signature(function, follow_wrapped=False),
        )
    wrapped = getattr(function, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType) and not isinstance(function, functools.partial):
        return Target(wrapped, (), inspect.signature(wrapped, follow_wrapped=False))
    call = getattr(type(function), "__call__", None)
    if isinstance(call, types.FunctionType) and not isinstance(function, type):
        return Target(call, (function,), inspect.signature(function))
    return forwarding(function)


def forwarding(function: Callable[..., Any]) -> Target:
    """Return a function with readable source that calls ``function``, which has none."""
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    try:
        signature = inspect.signature(function)
        names = [
            p.name for p in signature.parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        ]
    except (TypeError, ValueError):
        names = ["x"]
    count = getattr(function, "nin", len(names) or 1)
    names = names if len(names) == count else [f"x{i}" for i in range(count)]
    name = getattr(function, "__name__", None) or "partial"
    name = name if name.isidentifier() else "function"
    arguments = ", ".join(names)
    text = f"def {name}_({arguments}):\n    return wrapped_function({arguments})\n"
    namespace = load_module(None, text, f"forward_{name}_{id(function)}").__dict__
    namespace["wrapped_function"] = function
    made = namespace[f"{name}_"]
    made.__name__ = made.__qualname__ = name
    return Target(made, (), inspect.signature(made))


class Specialisations:
    """The compiled forms of one function for one set of options."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.options = options
        self.target = find_target(function)
        self.parameters = [
            p for p in inspect.signature(self.target.function, follow_wrapped=False)
            .parameters.values()
        ]
        self.table: dict[Any, Compiled] = {}
        self.latest: Compiled | None = None
        self.lock = threading.RLock()
        self.wrt = self.positions()
        self.single = not isinstance(options.argnums, (tuple, list))

    def positions(self) -> tuple[int, ...]:
        """Return the positions of the wanted parameters among all parameters."""
        given = self.options.argnums
        offset = len(self.target.first)
        names = [p.name for p in self.parameters]
        found = []
        for one in given if isinstance(given, (tuple, list)) else (given,):
            if isinstance(one, str):
                if one not in names:
                    raise ValueError(f"argnums: no parameter is named {one!r}; there are {names}")
                found.append(names.index(one))
            else:
                count = len(self.parameters) - offset
                if not -count <= one < count:
                    raise ValueError(f"argnums: there is no argument {one}; there are {count}")
                found.append(offset + one % count)
        if len(set(found)) != len(found):
            raise ValueError(f"argnums: {given} names an argument twice")
        return tuple(found)

    # -- finding -------------------------------------------------------------------------------

    def values(self, bound: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values of all parameters, integers to be differentiated made floats."""
        values = [*self.target.first, *bound]
        for i in self.wrt:
            values[i] = as_real(values[i], self.parameters[i].name)
        return tuple(values)

    def find(self, values: tuple[Any, ...]) -> Compiled:
        """Return the compiled form for these arguments, compiling it if there is none."""
        key = tuple(type_of(value) for value in values)
        captured = self.captured_key()
        with self.lock:
            found = self.table.get((key, captured))
            if found is None or (found.guard is not None and not found.guard()):
                found = self.compile(key)
                self.table[key, captured] = found
            self.latest = found
            return found

    def captured_key(self) -> tuple[Any, ...]:
        """Return the types of the variables that the function captured."""
        cells = self.target.function.__closure__ or ()
        return tuple(type_of(cell_contents(cell)) for cell in cells)

    def captured_values(self, compiled: Compiled) -> tuple[Any, ...]:
        """Return the current values of the captured variables that the code takes."""
        function = self.target.function
        names = function.__code__.co_freevars
        cells = function.__closure__ or ()
        return tuple(cells[names.index(name)].cell_contents for name in compiled.captured)

    # -- compiling -----------------------------------------------------------------------------

    def compile(self, types_: tuple[t.Type, ...]) -> Compiled:
        """Return code for the argument types: kept on disk from before, or compiled now."""
        function = self.target.function
        store = Store(default_directory())
        request = (
            self.options.mode, self.wrt, self.options.has_aux, self.single,
            *map(str, types_), *map(str, self.captured_key()),
            *(fingerprint(x.value) for x in types_ if isinstance(x, t.Static)),
        )
        key = primary_key(function, request)
        for entry in store.candidates(key):
            loaded = self.load(entry, types_)
            if loaded is not None:
                return loaded
        return self.compile_anew(types_, store, key)

    def compile_anew(self, types_: tuple[t.Type, ...], store: Store, key: str) -> Compiled:
        """Run the compiler, and keep what it emits on disk if another process could check it."""
        from adcompiler.pipeline import Request, compile_request  # parses: only when it must

        function = self.target.function
        emitted = compile_request(Request(
            function, types_, self.wrt, self.options.mode, self.options.has_aux, self.single
        ))
        unit = emitted.unit
        rules = rules_manifest(unit.rules_used)
        facts = [
            [list(map(list, path)), fingerprint(value)] for path, value in unit.facts.items()
        ]
        bound = {name: path for name, (_, path) in emitted.bound.items()}
        manifest = {
            "entry": emitted.entry, "facts": facts, "rules": rules,
            "bound": {n: None if p is None else list(map(list, p)) for n, p in bound.items()},
            "captured": list(unit.captured), "report": emitted.report,
        }
        keepable = rules is not None and all(
            p is not None and resolve(function, p) is emitted.bound[n][0] for n, p in bound.items()
        )
        path = store.write(key, emitted.entry, emitted.text, manifest) if keepable else None
        module = load_module(path, emitted.text, f"adcompiler_emitted.{emitted.entry}")
        vars(module).update({name: value for name, (value, _) in emitted.bound.items()})
        return Compiled(
            getattr(module, emitted.entry), module, emitted.text, path, types_,
            self.guard(dict(unit.facts)), emitted.report, tuple(unit.captured),
        )

    def load(self, entry: Any, types_: tuple[t.Type, ...]) -> Compiled | None:
        """Return a kept entry as compiled code, None if what it relies on has changed."""
        function = self.target.function
        manifest = entry.manifest
        facts = {}
        for path, wanted in manifest["facts"]:
            steps = tuple((kind, name) for kind, name in path)
            if steps and steps[0][0] == "argument":
                continue
            value = resolve(function, steps)
            if value is MISSING or fingerprint(value) != wanted:
                return None
            facts[steps] = value
        if not rules_hold(manifest["rules"]):
            return None
        module = load_module(entry.path, entry.text, f"adcompiler_emitted.{manifest['entry']}")
        for name, path in manifest["bound"].items():
            vars(module)[name] = resolve(function, tuple(map(tuple, path)))
        return Compiled(
            getattr(module, manifest["entry"]), module, entry.text, entry.path, types_,
            self.guard(facts), manifest["report"], tuple(manifest["captured"]),
        )

    def guard(self, facts: Mapping[Any, Any]) -> Guard | None:
        """Return a test that the globals which the code relies on are what they were."""
        tests: list[Guard] = []
        function = self.target.function
        for path, value in facts.items():
            if not path or path[-1][0] != "free" or isinstance(value, types.ModuleType):
                continue
            owner = resolve(function, path[:-1])
            if not isinstance(owner, types.FunctionType):
                continue
            name = path[-1][1]
            if name in owner.__code__.co_freevars:
                index = owner.__code__.co_freevars.index(name)
                cell = (owner.__closure__ or ())[index]
                tests.append(cell_test(cell, value))
            elif name in owner.__globals__:
                tests.append(global_test(owner.__globals__, name, value))
        if not tests:
            return None
        if len(tests) == 1:
            return tests[0]
        return lambda: all(test() for test in tests)


def cell_contents(cell: Any) -> Any:
    """Return what a closure cell holds, None while it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def global_test(table: dict[str, Any], name: str, value: Any) -> Guard:
    """Return a test that a global still is (or, for data, still has the type of) ``value``."""
    if isinstance(type_of(value), t.Static):
        return lambda: table.get(name, MISSING) is value
    cls, wanted = type(value), type_of(value)
    if isinstance(wanted, (t.Scalar, t.Text)):
        return lambda: type(table.get(name)) is cls
    return lambda: type_of(table.get(name)) == wanted


def cell_test(cell: Any, value: Any) -> Guard:
    """Return a test that a closure cell still holds ``value`` (for data: a value of its type)."""
    if isinstance(type_of(value), t.Static):
        return lambda: cell_contents(cell) is value
    wanted = type_of(value)
    return lambda: type_of(cell_contents(cell)) == wanted


def as_real(value: Any, name: str) -> Any:
    """Return an argument to be differentiated with integers made floats; refuse bools."""
    if isinstance(value, (bool, np.bool_)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "b"
    ):
        raise TypeError(f"cannot differentiate with respect to {name}, which is a bool")
    if isinstance(value, int):
        return float(value)
    if isinstance(value, np.integer):
        return np.float64(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.astype(np.float64)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(as_real(item, name) for item in value))
    if type(value) in (tuple, list):
        if any(needs_real(item) for item in value):
            return type(value)(as_real(item, name) for item in value)
    elif type(value) is dict and any(needs_real(item) for item in value.values()):
        return {key: as_real(item, name) for key, item in value.items()}
    elif isinstance(value, (str, bytes)) or value is None:
        raise TypeError(f"cannot differentiate with respect to {name}, a {type(value).__name__}")
    return value


def needs_real(value: Any) -> bool:
    """Say whether ``as_real`` changes anything in ``value``."""
    if isinstance(value, (list, tuple)):
        return any(map(needs_real, value))
    if isinstance(value, dict):
        return any(map(needs_real, value.values()))
    return (isinstance(value, (int, np.integer)) and not isinstance(value, bool)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    )


# -- the generated call ----------------------------------------------------------------------------


def make_call(
    s: Specialisations, slow: Callable[..., Any], compiled: Compiled | None
) -> Callable[..., Any]:
    """Return ``__call__`` for a derivative, with ``compiled`` tried first if types allow it.

    The function has the parameters of the user's function after ``self``.
    """
    parameters = list(s.target.signature.parameters.values())
    namespace: dict[str, Any] = {"slow_": slow, "ndarray_": np.ndarray}
    header = ["self"]
    kinds = inspect.Parameter
    starred = False
    positional_only = any(p.kind is kinds.POSITIONAL_ONLY for p in parameters)
    for position, p in enumerate(parameters):
        default = ""
        if p.default is not p.empty:
            namespace[f"default_{position}"] = p.default
            default = f"=default_{position}"
        if p.kind is kinds.KEYWORD_ONLY and not starred:
            header.append("*")
            starred = True
        if p.kind is kinds.VAR_POSITIONAL:
            starred = True
            header.append(f"*{p.name}")
        elif p.kind is kinds.VAR_KEYWORD:
            header.append(f"**{p.name}")
        else:
            header.append(p.name + default)
        following = parameters[position + 1] if position + 1 < len(parameters) else None
        if positional_only and p.kind is kinds.POSITIONAL_ONLY and (
            following is None or following.kind is not kinds.POSITIONAL_ONLY
        ):
            header.append("/")
    names = [p.name for p in parameters]
    own = "self"
    while own in names:
        own += "_"
    header[0] = own
    arguments = ", ".join(names)
    comma = "," if len(names) == 1 else ""
    rows = [f"def __call__({', '.join(header)}):"]
    tests = None if compiled is None else fast_tests(s, compiled, names, namespace)
    if tests is not None and compiled is not None:
        namespace["compiled_"] = compiled.entry
        if tests:
            rows += [f"    if {' and '.join(tests)}:", f"        return compiled_({arguments})"]
        else:
            rows.append(f"    return compiled_({arguments})")
    rows.append(f"    return slow_(({arguments}{comma}))")
    exec("\n".join(rows), namespace)
    made: Callable[..., Any] = namespace["__call__"]
    return made


def fast_tests(
    s: Specialisations, compiled: Compiled, names: list[str], namespace: dict[str, Any]
) -> list[str] | None:
    """Return identity tests that arguments have the compiled types, None if that takes more."""
    if s.target.first or compiled.captured:
        return None
    tests = []
    for position, (name, type_) in enumerate(zip(names, compiled.types, strict=True)):
        match type_:
            case t.Scalar(kind, None):
                tests.append(f"type({name}) is {kind}_")
                namespace[f"{kind}_"] = {
                    "bool": bool, "int": int, "float": float, "complex": complex}[kind]
            case t.Scalar(_, dtype):
                namespace[f"class_{position}"] = np.dtype(dtype).type
                tests.append(f"type({name}) is class_{position}")
            case t.Array(dtype, ndim):
                namespace[f"dtype_{position}"] = np.dtype(dtype)
                tests.append(
                    f"type({name}) is ndarray_ and {name}.dtype is dtype_{position} "
                    f"and {name}.ndim == {ndim}"
                )
            case t.Static(value):
                namespace[f"value_{position}"] = value
                tests.append(f"{name} is value_{position}")
            case _:
                return None
    namespace["type"] = type
    if compiled.guard is not None:
        namespace["guard_"] = compiled.guard
        tests.append("guard_()")
    return tests


def compile_error(error: ADError) -> ADError:
    """Return an error of the compiler with the compiler's own frames left out."""
    return error.with_traceback(None)
