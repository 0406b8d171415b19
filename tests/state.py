"""All state that a call can reach, before and after: values, and which names mean one object.

``World(function, args)`` finds the mutable objects that a call of a function can reach: arguments,
globals that its code names, cells, defaults, attributes of functions, classes and instances, and
what these hold. ``picture`` tells what they hold, ``restore`` puts them back as they were.
``check_state`` runs a function and its derivative on the same state, and compares what is left.
"""

from __future__ import annotations

import builtins
import collections
import functools
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

LIBRARIES = {*sys.stdlib_module_names, "numpy", "scipy", "adcompiler", "adcompiler_rules"}
MISSING = object()
FIELDS = ("__defaults__", "__kwdefaults__")
PLAIN = (
    type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), np.generic,
    np.dtype, np.ufunc, types.CodeType, types.BuiltinFunctionType, types.MethodWrapperType,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
)
Picture = dict[str, Any]


class World:
    """The mutable objects that a call can reach, as they are when this is made."""

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args
        self.draws = random.getstate(), np.random.get_state()
        self.kept: list[tuple[Any, Any]] = []
        walk = Walk()
        walk.roots({"function": function, **arguments(args)})
        for one in walk.met:
            self.kept.append((one, contents(one)))
        self.names = [(scope, name, scope.get(name, MISSING)) for scope, name in walk.globals]

    def picture(self, with_args: bool = True) -> Picture:
        """Return what each path from the arguments and the function leads to."""
        inside = Walk(with_classes=False)
        inside.roots(arguments(self.args))
        classes = {f"class {cls.__qualname__}": cls for cls in inside.classes}
        walk = Walk()
        walk.roots({
            "function": self.function, **(arguments(self.args) if with_args else {}), **classes})
        return walk.picture

    def arguments(self) -> Picture:
        """Return what each path from the arguments alone leads to, not by way of classes.

        Cached properties are left out: reading one fills it, whoever reads it.
        """
        walk = Walk(with_classes=False)
        walk.roots(arguments(self.args))
        return walk.picture

    def restore(self) -> None:
        """Put back what the objects held when this was made."""
        random.setstate(self.draws[0])
        np.random.set_state(self.draws[1])
        for one, held in self.kept:
            put_back(one, held)
        for scope, name, value in self.names:
            if value is MISSING:
                scope.pop(name, None)
            else:
                scope[name] = value


def arguments(args: tuple[Any, ...]) -> dict[str, Any]:
    return {f"argument {i}": one for i, one in enumerate(args)}


class Walk:
    """One way through all that can be reached: objects are numbered as they are met."""

    def __init__(self, with_classes: bool = True) -> None:
        self.with_classes = with_classes
        self.classes: dict[type, None] = {}
        self.picture: Picture = {}
        self.met: list[Any] = []
        self.globals: list[tuple[dict[str, Any], str]] = []
        self.numbers: dict[int, str] = {}
        self.buffers: dict[int, str] = {}

    def roots(self, roots: dict[str, Any]) -> None:
        # Breadth first: the path that stands for an object is a short one.
        waiting = collections.deque(roots.items())
        while waiting:
            path, one = waiting.popleft()
            if isinstance(one, PLAIN) or is_foreign(one):
                self.picture[path] = one
                continue
            if id(one) in self.numbers:
                self.picture[path] = Same(self.numbers[id(one)])
                continue
            self.numbers[id(one)] = path
            self.met.append(one)
            self.picture[path] = self.seen(one, path)
            waiting.extend(self.inside(one, path))

    def seen(self, one: Any, path: str) -> Any:
        """Return what is told of an object beside what it holds."""
        if isinstance(one, np.ndarray):
            owner = one
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            first = self.buffers.setdefault(owner.__array_interface__["data"][0], path)
            return Same(first) if first != path and one.size else None, one.copy()
        if isinstance(one, collections.Counter | dict | list | set | collections.deque):
            return type(one), len(one)
        return type(one)

    def inside(self, one: Any, path: str) -> Iterator[tuple[str, Any]]:
        """Yield the paths and the objects that an object leads to."""
        if isinstance(one, np.ndarray):
            return
        if isinstance(one, types.FunctionType):
            yield from self.function(one, path)
        elif isinstance(one, types.MethodType):
            yield f"{path}.__self__", one.__self__
            yield f"{path}.__func__", one.__func__
        elif isinstance(one, functools.partial):
            yield f"{path}.func", one.func
            yield from ((f"{path}.args[{k}]", v) for k, v in enumerate(one.args))
            yield from ((f"{path}.keywords[{k!r}]", v) for k, v in one.keywords.items())
        elif isinstance(one, types.ModuleType):
            return  # what is named of it is met by the code that names it
        elif isinstance(one, types.CellType):
            yield f"{path} holds", contents(one)
        elif isinstance(one, set | frozenset):
            yield from ((f"{path} item {k}", v) for k, v in enumerate(sorted(one, key=repr)))
        elif isinstance(one, list | tuple | collections.deque):
            yield from ((f"{path}[{k}]", v) for k, v in enumerate(one))
        elif isinstance(one, dict | types.MappingProxyType):
            yield from ((f"{path}[{key!r}]", v) for key, v in one.items())
        if isinstance(one, type) or hasattr(one, "__dict__") or hasattr(type(one), "__slots__"):
            yield from (
                (f"{path}.{key}", v) for key, v in attributes(one).items()
                if self.with_classes or not is_cache(one, key))
            self.classes[type(one)] = None
            if self.with_classes:
                yield f"type({path})", type(one)

    def function(self, one: types.FunctionType, path: str) -> Iterator[tuple[str, Any]]:
        for name, cell in zip(one.__code__.co_freevars, one.__closure__ or (), strict=True):
            yield f"{path} cell {name}", cell
        for field in FIELDS:
            yield f"{path}.{field}", getattr(one, field)
        if (wrapped := getattr(one, "__wrapped__", None)) is not None:
            yield f"{path}.__wrapped__", wrapped
        scope = one.__globals__
        for name in named(one.__code__):
            if name in scope and scope.get("__name__", "").split(".")[0] not in LIBRARIES:
                yield f"global {name}", scope[name]
                if isinstance(scope[name], types.ModuleType) and not is_foreign(scope[name]):
                    inner = vars(scope[name])
                    used = [n for n in named(one.__code__) if n in inner]
                    yield from ((f"global {name}.{n}", inner[n]) for n in used)
                    self.globals.extend((inner, n) for n in used)
            if not hasattr(builtins, name):
                self.globals.append((scope, name))


class Same:
    """An object that was met before, under another path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"what {self.path} is"


def named(code: types.CodeType) -> list[str]:
    """Return all names in a code object and in those inside of it."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += named(constant)
    return list(dict.fromkeys(names))


def is_foreign(one: Any) -> bool:
    """Say whether something belongs to a library, whose state is none of the program's."""
    if isinstance(one, types.ModuleType):
        return one.__name__.split(".")[0] in LIBRARIES
    if isinstance(one, type | types.FunctionType):
        return (one.__module__ or "").split(".")[0] in LIBRARIES
    if isinstance(one, np.ndarray | list | dict | tuple | set | frozenset | collections.deque):
        return False
    if isinstance(one, types.MethodType | types.CellType | types.SimpleNamespace):
        return False
    return type(one).__module__.split(".")[0] in LIBRARIES and not hasattr(one, "__dict__")


def attributes(one: Any) -> dict[str, Any]:
    """Return the attributes that an object holds itself, by name."""
    found = {
        name: value for name, value in vars(one).items()
        if not (name.startswith("__") and name.endswith("__"))
    } if hasattr(one, "__dict__") else {}
    for cls in type(one).__mro__:
        slots = vars(cls).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            name = f"_{cls.__name__.lstrip('_')}{slot}" if slot.startswith("__") else slot
            if not slot.endswith("__") and hasattr(one, name):
                found[name] = getattr(one, name)
    return found


def is_cache(one: Any, name: str) -> bool:
    """Say whether an attribute of an object is what a cached property keeps there."""
    return isinstance(getattr(type(one), name, None), functools.cached_property)


def contents(one: Any) -> Any:
    """Return what an object holds itself, in a form that ``put_back`` takes."""
    if isinstance(one, np.ndarray):
        return one.copy()
    if isinstance(one, types.CellType):
        try:
            return one.cell_contents
        except ValueError:
            return MISSING
    items: Any = None
    if isinstance(one, list | set | collections.deque):
        items = list(one)
    elif isinstance(one, dict):
        items = dict(one)
    fields = [getattr(one, field) for field in FIELDS] if is_function(one) else None
    return items, attributes(one), fields


def is_function(one: Any) -> bool:
    return isinstance(one, types.FunctionType)


def put_back(one: Any, held: Any) -> None:
    """Make an object hold what it held."""
    if isinstance(one, np.ndarray):
        if one.flags.writeable:
            one[...] = held
        return
    if isinstance(one, types.CellType):
        if held is MISSING:
            del one.cell_contents
        else:
            one.cell_contents = held
        return
    items, attributes_, fields = held
    if items is not None:
        one.clear()
        (one.extend if isinstance(one, list | collections.deque) else one.update)(items)
    for name in attributes(one):
        if name not in attributes_:
            (type.__delattr__ if isinstance(one, type) else object.__delattr__)(one, name)
    for name, value in attributes_.items():
        if attributes(one).get(name, MISSING) is not value:
            (type.__setattr__ if isinstance(one, type) else object.__setattr__)(one, name, value)
    if fields is not None:
        for field, value in zip(FIELDS, fields, strict=True):
            setattr(one, field, value)


def difference(found: Picture, wanted: Picture, tolerance: float = 1e-9) -> str | None:
    """Return the first path at which two pictures differ, and how; None if they do not."""
    for path, value in wanted.items():
        if path not in found:
            return f"{path} is gone, not {shown(value)}"
        if not alike(found[path], value, tolerance):
            return f"{path}: {shown(found[path])}, not {shown(value)}"
    for path, value in found.items():
        if path not in wanted:
            return f"{path} is new: {shown(value)}"
    return None


def shown(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], np.ndarray):
        return f"{value[1]!r}" + (f", in the memory of {value[0]!r}" if value[0] else "")
    return repr(value)


def alike(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(
            alike(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype == object:
            return all(alike(a, b, tolerance) for a, b in zip(one.flat, other.flat, strict=True))
        if one.dtype.kind in "fc":
            return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True))
        return bool(np.array_equal(one, other))
    if type(one) is not type(other):
        return False
    if isinstance(one, float | complex | np.inexact):
        return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True))
    return one is other or bool(one == other)


def check_state(
    function: Callable[..., Any], derivative: Callable[..., Any], args: tuple[Any, ...],
    leaves_args: bool, watched: Any = None, tolerance: float = 1e-9,
) -> Any:
    """Return what a derivative gives; raise AssertionError where it leaves another state.

    ``derivative`` is called with ``args``. Whatever can be reached has to be as Python leaves it;
    the arguments too, or, if the derivative ``leaves_args``, as they were. Everything is put back
    in the end.
    """
    world = World((function, watched), args)
    before = world.arguments()
    try:
        function(*args)
        wanted = world.picture(not leaves_args)
        world.restore()
        result = derivative(*args)
        problem = difference(world.picture(not leaves_args), wanted, tolerance)
        assert problem is None, f"state after the derivative: {problem}"
        if leaves_args:
            problem = difference(world.arguments(), before, 0.0)
            assert problem is None, f"arguments after the derivative: {problem}"
        return result
    finally:
        world.restore()
