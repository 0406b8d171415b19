"""Tests, written as expressions, that what compiled code was specialised on still holds.

The expressions are inlined into the generated ``__call__`` of a derivative, so that a call pays
for no function call. What lies inside the standard library, NumPy and SciPy is taken to stay.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.cache.keys import resolve, unspelled
from adcompiler.frontend.scope import MISSING
from adcompiler.ir import types as t
from adcompiler.ops.qualified_names import root_module
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.typed.values import has_options, is_of_type, type_of

if TYPE_CHECKING:
    from adcompiler.typed.tables import Path

SETTLED = frozenset({
    "abc", "builtins", "cmath", "collections", "copy", "dataclasses", "enum", "functools",
    "itertools", "math", "numbers", "numpy", "operator", "scipy", "statistics", "types", "typing",
})
"""Root modules whose functions and names are not watched."""

PYTHON_CLASSES = {"bool": bool, "int": int, "float": float, "complex": complex}


class Namespace:
    """Names for the values that generated expressions mention."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = frozenset(taken)
        self.values: dict[str, Any] = {}
        self.names: dict[int, str] = {}

    def name(self, value: Any) -> str:
        """Return the name of ``value``, which is kept alive."""
        found = self.names.get(id(value))
        if found is None:
            found = f"v{len(self.names)}_"
            while found in self.taken:
                found += "_"
            self.names[id(value)] = found
            self.values[found] = value
        return found


Test = Callable[[Namespace], str]
"""Writes one expression that is true while a fact holds."""


class Guard:
    """The tests that must hold for compiled code to be the right one."""

    def __init__(self, tests: Iterable[Test]) -> None:
        self.tests = tuple(tests)

    def expressions(self, namespace: Namespace) -> list[str]:
        """Return the tests as expressions over ``namespace``."""
        return list(dict.fromkeys(test(namespace) for test in self.tests))

    @functools.cached_property
    def _test(self) -> Callable[[], bool]:
        namespace = Namespace()
        text = " and ".join(self.expressions(namespace)) or "True"
        test: Callable[[], bool] = eval(f"lambda: {text}", namespace.values)
        return test

    def holds(self) -> bool:
        """Say whether all tests hold now."""
        try:
            return self._test()
        except (AttributeError, ValueError):  # a name that is gone, an empty closure cell
            return False


def guard(
    function: types.FunctionType, facts: Mapping[Path, Any], arguments: Mapping[str, Any]
) -> Guard:
    """Return the guard for the facts (paths and the values found there) about ``function``."""
    tests = [] if is_settled(function) else [code_test(function)]
    for path, value in facts.items():
        test = fact_test(function, path, value, arguments)
        if test is not None:
            tests.append(test)
        if issubclass(type(value), types.FunctionType) and not is_settled(value):
            tests.append(code_test(value))
    return Guard(tests)


@unless_it_raises(False)
def is_settled(value: Any) -> bool:
    """Say whether an object is, or belongs to, a library that is not watched."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in SETTLED
    return root_module(value) in SETTLED


def fact_test(
    function: types.FunctionType, path: Path, value: Any, arguments: Mapping[str, Any]
) -> Test | None:
    """Return the test for one fact, None if it cannot change or is tested with the arguments."""
    if not path:
        return None  # the compiled function itself
    kind, name = path[-1]
    if kind in ("__defaults__", "__kwdefaults__", "args", "keywords"):
        return default_test(function, path, type_of(value), arguments)
    if kind == "dispatch":
        owner = resolve(function, path[:-1], arguments)
        cls = unspelled(name) if isinstance(name, str) else name
        test = same(value)
        return lambda namespace: test(
            namespace, f"{namespace.name(owner)}.dispatch({namespace.name(cls)})")
    if kind == "contents":
        return contents_test(function, path[:-1], value, arguments)
    if kind == "free":
        owner = resolve(function, path[:-1], arguments)
        if isinstance(owner, types.FunctionType) and not is_settled(owner):
            return name_test(owner, name, value)
    elif kind == "attr":
        start = len(path)
        while start and path[start - 1][0] == "attr":
            start -= 1
        owner = resolve(function, path[:start], arguments)
        if owner is not MISSING and not is_settled(owner):
            return attribute_test(owner, [step for _, step in path[start:]], value)
    return None


def contents_test(
    function: types.FunctionType, path: Path, value: tuple[Any, ...], arguments: Mapping[str, Any]
) -> Test:
    """Return a test that a list still holds what it did."""
    type_ = type_of(value)

    def holds() -> bool:
        found = resolve(function, path, arguments)
        return type(found) is list and is_of_type(tuple(found), type_)

    return lambda namespace: f"{namespace.name(holds)}()"


def default_test(
    function: types.FunctionType, path: Path, type_: t.Type, arguments: Mapping[str, Any]
) -> Test:
    """Return a test that a default, or what a partial call holds, is of a type: it may change."""

    def holds() -> bool:
        return type_of(resolve(function, path, arguments)) == type_

    return lambda namespace: f"{namespace.name(holds)}()"


def code_test(function: types.FunctionType) -> Test:
    """Return a test that a function's code and defaults were not exchanged (as on reloading)."""
    code, defaults, named = function.__code__, function.__defaults__, function.__kwdefaults__
    held = dict(named or {})

    def test(namespace: Namespace) -> str:
        name = namespace.name(function)
        tests = [f"{name}.__code__ is {namespace.name(code)}",
                 f"{name}.__defaults__ is {namespace.name(defaults)}",
                 f"{name}.__kwdefaults__ is {namespace.name(named)}"]
        tests += [
            f"{namespace.name(named)}.get({key!r}) is {namespace.name(value)}"
            for key, value in held.items()
        ]
        return " and ".join(tests)

    return test


def name_test(owner: types.FunctionType, name: str, value: Callable[..., Any]) -> Test:
    """Return a test that a free name of ``owner`` still means ``value`` (data: its type)."""
    freevars, test = owner.__code__.co_freevars, same(value)
    if name in freevars:
        cell = (owner.__closure__ or ())[freevars.index(name)]
        return lambda namespace: test(namespace, f"{namespace.name(cell)}.cell_contents")
    get = owner.__globals__.get
    otherwise = getattr(builtins, name, MISSING)
    return lambda namespace: test(
        namespace, f"{namespace.name(get)}({name!r}, {namespace.name(otherwise)})")


def attribute_test(owner: Any, names: list[str], value: Callable[..., Any]) -> Test:
    """Return a test that a chain of attributes still leads to ``value``."""
    leads_there = same(value)

    def test(namespace: Namespace) -> str:
        text = namespace.name(owner)
        for name in names:
            text = f"{namespace.name(getattr)}({text}, {name!r}, {namespace.name(MISSING)})"
        return leads_there(namespace, text)

    return test


def same(value: Callable[..., Any]) -> Callable[[Namespace, str], str]:
    """Return what writes a test that an expression gives ``value``, or data of the type it has now.

    The value may be written into: its type, and those of all that it holds, are read here, as the
    code was compiled for them, and not when the test is written.
    """
    type_, cls = type_of(value), type(value)
    if any(True for _ in bound_calls(type_)):
        known = with_bound(value)
        return lambda namespace, expression: (
            f"{namespace.name(with_bound)}({expression}) == {namespace.name(known)}")

    def test(namespace: Namespace, expression: str) -> str:
        if isinstance(type_, t.Static) and not isinstance(value, types.MethodType):
            return f"{expression} is {namespace.name(value)}"
        match type_:
            case t.Dict(None, (t.Unknown(),)) | t.List(t.Unknown(), ()):  # of anything
                return f"{namespace.name(type)}({expression}) is {namespace.name(cls)}"
        return type_test(namespace, expression, type_)

    return test


def bound_calls(type_: t.Type) -> Iterator[Any]:
    """Yield the methods and partial calls in a type, which hold what may be written into."""
    match type_:
        case t.Static(value) if isinstance(value, (types.MethodType, functools.partial)):
            yield value
        case t.Tuple(items) | t.Dict(_, items) | t.List(_, items):
            for item in items:
                yield from bound_calls(item)
            if isinstance(type_, t.List):
                yield from bound_calls(type_.item)
        case t.Object(_, fields):
            for _, item in fields:
                yield from bound_calls(item)


def with_bound(value: Any, inside: tuple[int, ...] = ()) -> tuple[Any, ...]:
    """Return the type of a value, and those of all that methods and partial calls in it hold."""
    type_ = type_of(value)
    held: list[Any] = []
    for call in bound_calls(type_) if id(value) not in inside else ():
        parts = [call.__self__] if isinstance(call, types.MethodType) else [
            call.func, *call.args, *call.keywords.values()]
        held += [with_bound(part, (*inside, id(value))) for part in parts]
    return (type_, *held)


def type_test(namespace: Namespace, expression: str, type_: t.Type) -> str:
    """Return a test that an expression gives a value of ``type_``."""
    match type_:
        case t.Scalar(kind, None, ()):
            return f"{namespace.name(type)}({expression}) is {namespace.name(PYTHON_CLASSES[kind])}"
        case t.Scalar(_, str() as dtype, ()):
            return f"{namespace.name(type)}({expression}) is {namespace.name(np.dtype(dtype).type)}"
        case t.Text():
            return f"{namespace.name(type)}({expression}) is {namespace.name(str)}"
        case _ if has_options(type_):
            return f"{namespace.name(is_of_type)}({expression}, {namespace.name(type_)})"
        case t.Static(value) if not isinstance(value, (np.dtype, types.MethodType)):
            return f"{expression} is {namespace.name(value)}"
    return f"{namespace.name(type_of)}({expression}) == {namespace.name(type_)}"


def argument_test(namespace: Namespace, name: str, type_: t.Type) -> str:
    """Return a test that the parameter ``name`` holds a value of ``type_``."""
    if isinstance(type_, t.Array) and type_.kind != "other":
        # An equal dtype need not be the same object (after unpickling): it takes the longer way.
        dtype = namespace.name(np.dtype(type_.dtype))
        is_array = f"{namespace.name(type)}({name}) is {namespace.name(np.ndarray)}"
        return f"{is_array} and {name}.dtype is {dtype} and {name}.ndim == {type_.ndim}"
    return type_test(namespace, name, type_)
