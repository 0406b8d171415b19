"""The hook for calls: what a callable is decides how the call is followed.

A function in Python runs in its rewritten form. What is written in C is a mover, which hands on
what it is given, or inert, or has a rule; anything else is refused as soon as an active value is
found in its arguments.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.facts import READ
from adcompiler.ops.homes import display_name
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.record.arrays import UFUNC_METHODS, of_array_method, of_ufunc, ufunc_method
from adcompiler.record.functions import HOOKS, MADE, hooked, is_rewritten, rewritten
from adcompiler.record.movers import MOVERS, OF_METHODS, moved
from adcompiler.record.protocols import followed, has_code, method_of, natively
from adcompiler.record.single import recorded
from adcompiler.record.special import SPECIAL
from adcompiler.record.tape import RECORDING, refused
from adcompiler.errors import ADError, SourceNotFoundError
from adcompiler.typed.derivatives import is_derivative

FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
             types.MethodWrapperType, types.ClassMethodDescriptorType)
DISPATCHER = type(np.concatenate)
"""The class of NumPy's functions that look for ``__array_function__``."""
NATIVE_MODULES = ("logging", "warnings", "dataclasses", "abc", "typing", "enum", "inspect", "re",
                  "collections.abc", "functools", "traceback", "copyreg", "weakref", "os",
                  "posixpath", "pathlib", "_weakrefset", "importlib", "pytest", "_pytest",
                  "string", "textwrap", "operator", "types", "numbers", "threading._")
"""Modules whose functions are about objects, not numbers: they run as they are."""


@hooked
def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``."""
    kind = type(function)
    if kind is types.FunctionType:
        if is_rewritten(function.__code__):
            return function(*args, **kwargs)
        return of_function(function, args, kwargs)
    if kind is types.MethodType:
        return of_method(function, args, kwargs)
    if kind is types.BuiltinFunctionType or kind in FUNCTIONS:
        return of_builtin(function, args, kwargs)
    if kind is np.ufunc:
        return of_ufunc(function, args, kwargs)
    if isinstance(function, type):
        return of_class(function, args, kwargs)
    return of_object(function, args, kwargs)


# -- functions in Python ---------------------------------------------------------------------------


def of_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that is written in Python."""
    plain = SPECIAL.get(function) or MOVERS.get(function)
    if plain is not None:
        return plain(*args, **kwargs)
    made = MADE.get(function)
    if made is not None:
        return rewritten(function)(*args, **kwargs)
    known = by_rule(function, args, kwargs)
    if known is not UNRULED:
        return known
    module = function.__module__ or ""
    if module.startswith(NATIVE_MODULES) and is_native(module):
        return about_objects(function, args, kwargs)
    if module.partition(".")[0] in ("adcompiler", "adcompiler_rules"):
        return unknown(function, args, kwargs)
    try:
        form = rewritten(function)
    except SourceNotFoundError:
        if function.__qualname__.startswith("_tuplegetter"):
            return function(*args, **kwargs)
        return unknown(function, args, kwargs)
    return form(*args, **kwargs)


def is_native(module: str) -> bool:
    """Say whether a module is one of those whose functions run as they are."""
    return any(module == name or module.startswith(f"{name}.") for name in NATIVE_MODULES)


def about_objects(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of the standard library that is about objects."""
    if function.__module__ in ("logging", "warnings", "traceback", "string", "textwrap"):
        RECORDING.tape.texts = RECORDING.tape.texts or any(
            map(RECORDING.tape.holds, (*args, *kwargs.values())))
    return function(*args, **kwargs)


class Unruled:
    """The class of ``UNRULED``, which stands for no result."""


UNRULED = Unruled()


def by_rule(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a function that has a rule or is inert; UNRULED if it is neither."""
    if not hashable(function):
        return UNRULED
    if REGISTRY.inactive(function) is not None:
        return inert(function, args, kwargs)
    if REGISTRY.replacement(function) is None and not REGISTRY.has_rules(function):
        return UNRULED
    tape = RECORDING.tape
    given = (*args, *kwargs.values())
    if any(map(is_callback, given)):
        return UNRULED if isinstance(function, types.FunctionType) else with_callbacks(
            function, args, kwargs)
    if not any(map(tape.holds, given)):
        return constant(function, args, kwargs)
    facts = REGISTRY.facts(function)
    if "out" in kwargs and kwargs["out"] is not None:
        out = kwargs.pop("out")
        result = call(function, *args, **kwargs)
        HOOKS["setitem"](result, out, ...)
        return out
    if facts.changes is not None or (facts.writes and "out" not in facts.writes):
        raise refused(f"{display_name(function)}, which writes into what it is given",
                      "assign items instead", "recording")
    if is_random(function):
        raise refused(
            f"`{display_name(function)}` with parameters that carry a derivative",
            "draw standard numbers, and scale them", "recording")
    return recorded(function, args, kwargs)


def is_random(function: Any) -> bool:
    """Say whether a function draws numbers, others in each call."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, (np.random.Generator, np.random.RandomState)) or (
        REGISTRY.facts(function).pure is False)


def is_callback(value: Any) -> bool:
    """Say whether an argument is something that C would call."""
    if isinstance(value, (type, np.ufunc, types.BuiltinFunctionType)):
        return False
    return callable(value) and not isinstance(value, (np.ndarray, np.generic))


def with_callbacks(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that is given functions: their rules do not know what those captured."""
    tape = RECORDING.tape
    for value in (*args, *kwargs.values()):
        if is_callback(value) and captures(value):
            raise refused(
                f"`{display_name(function)}` with a function that refers to values which carry a "
                "derivative", "pass them as arguments of the function (args=...)", "recording")
    if not any(map(tape.holds, (*args, *kwargs.values()))):
        return function(*args, **kwargs)
    return recorded(function, args, kwargs)


def captures(function: Any) -> bool:
    """Say whether a function refers to active values, by variables it captured or by globals."""
    tape = RECORDING.tape
    if tape.holds(function):
        return True
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return False
    space = getattr(function, "__globals__", {})
    return any(tape.holds(space[name]) for name in code.co_names if name in space)


def constant(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of which no argument is active; what it writes over is noted."""
    tape = RECORDING.tape
    held = [value for value in (*args, *kwargs.values())
            if isinstance(value, np.ndarray) and tape.held and tape.is_held(value)]
    if not held:
        return natively(function, *args, **kwargs)
    before = [(array, array.copy()) for array in held]
    result = natively(function, *args, **kwargs)
    for array, old in before:
        if not same_content(array, old):
            HOOKS["log"](array, old)
    return result


def same_content(one: np.ndarray, two: np.ndarray) -> bool:
    """Say whether two arrays hold the same bytes."""
    if one.dtype.hasobject:
        return True
    return bool(one.tobytes() == two.tobytes())


def inert(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function whose results carry no derivative."""
    return constant(function, args, kwargs)


# -- functions in C --------------------------------------------------------------------------------


def of_builtin(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function or method that is written in C."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return of_c_function(function, args, kwargs)
    if isinstance(owner, type):
        plain = MOVERS.get(function)
        if plain is not None:
            return plain(*args, **kwargs)
        if function.__name__ == "__new__":
            return made_by_new(function, owner, args, kwargs)
        known = by_rule(function, args, kwargs)
        return unknown(function, args, kwargs) if known is UNRULED else known
    if isinstance(owner, np.ndarray):
        return of_array_method(function, owner, args, kwargs)
    if isinstance(owner, np.ufunc):
        return ufunc_method(function.__name__, owner, args, kwargs)
    plain = OF_METHODS.get((type_with(owner), function.__name__))
    if plain is not None:
        return plain(function, *args, **kwargs)
    if isinstance(owner, np.generic) and RECORDING.tape.is_active(owner):
        return of_array_method(function, owner, args, kwargs)
    return of_bound(function, owner, args, kwargs)


def type_with(owner: Any) -> Any:
    """Return the built-in class that the class of an object derives from."""
    for base in type(owner).__mro__:
        if not base.__flags__ & 1 << 9:
            return base
    return object


def of_bound(
    function: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a method written in C of an object of some other class."""
    tape = RECORDING.tape
    descriptor = getattr(type_with(owner), function.__name__, None)
    if tape.holds(owner) and descriptor is not None:
        known = by_rule(descriptor, (owner, *args), kwargs)
        if known is not UNRULED:
            return known
    if is_random_source(owner):
        known = by_rule(function, args, kwargs)
        return unknown(function, args, kwargs) if known is UNRULED else known
    if isinstance(owner, (str, bytes)):
        HOOKS["note_text"]((args, kwargs))
        return natively(function, *args, **kwargs)
    return unknown(function, (owner, *args), kwargs, lambda: function(*args, **kwargs))


def is_random_source(owner: Any) -> bool:
    """Say whether an object draws random numbers."""
    import random

    return isinstance(owner, (np.random.Generator, np.random.RandomState, random.Random))


def of_c_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of a module, or a method given as a function of its class."""
    special = SPECIAL.get(function)
    if special is not None:
        return special(*args, **kwargs)
    plain = MOVERS.get(function)
    if plain is not None:
        return plain(*args, **kwargs)
    if args and isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        bound = getattr(args[0], function.__name__, None)
        owner = getattr(bound, "__self__", None)
        if owner is args[0] and isinstance(bound, types.BuiltinFunctionType):
            return of_builtin(bound, args[1:], kwargs)
    known = by_rule(function, args, kwargs)
    return unknown(function, args, kwargs) if known is UNRULED else known


def unknown(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
    run: Callable[[], Any] | None = None,
) -> Any:
    """Call what nothing is known of: without active values, or not at all."""
    tape = RECORDING.tape
    given = (*args, *kwargs.values())
    if any(map(tape.holds, given)):
        raise refused(
            f"`{display_name(function)}`, of which nothing is known, with a value that carries a "
            "derivative", "register a rule for it, or compute it by functions that are known",
            "missing-rule")
    facts = REGISTRY.facts(function) if hashable(function) else None
    if tape.texts and facts is not None and facts.has_form(READ):
        raise refused_text(function)
    if tape.entries and any(is_callback(v) and has_code(v) for v in given):
        raise refused(
            f"`{display_name(function)}`, of which nothing is known, with a function that it may "
            "call unseen", "call the function itself", "recording")
    if run is None:
        return constant(function, args, kwargs)
    return natively(run) if not any(map(has_code, given)) else run()


def refused_text(function: Any) -> ADError:
    """Return the refusal of numbers that are read from text."""
    return refused(
        f"`{display_name(function)}` after a value that carries a derivative was written as text",
        "keep the number itself", "disguised-numbers")


def made_by_new(
    function: Any, owner: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call ``__new__`` of a built-in class."""
    cls = args[0] if args else owner
    if owner is object:
        return object.__new__(cls)
    if owner in (tuple, list, dict, set, frozenset, str, bytes, int, bool):
        items = [HOOKS["iterate"](arg) for arg in args[1:]]
        return function(cls, *items, **kwargs)
    if owner in (float, complex) and not RECORDING.tape.holds(args[1:]):
        return function(*args, **kwargs)
    if owner is float and issubclass(cls, float):
        return HOOKS["renewed"](function(*args, **kwargs), args[1])
    if issubclass(cls, BaseException):
        return function(*args, **kwargs)
    return unknown(function, args, kwargs)


# -- methods, classes, objects ---------------------------------------------------------------------


def of_method(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a bound method."""
    function = method.__func__
    if type(function) is not types.FunctionType:
        return call(function, method.__self__, *args, **kwargs)
    if is_rewritten(function.__code__):
        return function(method.__self__, *args, **kwargs)
    if REGISTRY.has_rules(method) or REGISTRY.inactive(method) is not None:
        known = by_rule(method, args, kwargs)
        if known is not UNRULED:
            return known
    return call(function, method.__self__, *args, **kwargs)


def of_class(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make an instance of a class."""
    plain = SPECIAL.get(cls) or MOVERS.get(cls)
    if plain is not None:
        return plain(*args, **kwargs)
    if not cls.__flags__ & 1 << 9:
        if issubclass(cls, BaseException):
            return cls(*args, **kwargs)
        known = by_rule(cls, args, kwargs)
        return unknown(cls, args, kwargs) if known is UNRULED else known
    of: Any = type(cls)
    meta = method_of(of, "__call__")
    if meta is not None:
        if is_native(meta.__module__ or ""):
            return cls(*args, **kwargs)  # an enumeration
        return call(meta, cls, *args, **kwargs)
    if REGISTRY.is_registered(cls):
        known = by_rule(cls, args, kwargs)
        if known is not UNRULED:
            return known
    made = made_anew(cls, args, kwargs)
    if not isinstance(made, cls):
        return made
    initialise(cls, made, args, kwargs)
    return made


def made_anew(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what ``__new__`` of a class gives."""
    new = next(vars(base)["__new__"] for base in cls.__mro__ if "__new__" in vars(base))
    new = getattr(new, "__func__", new)
    if isinstance(new, types.FunctionType):
        made_of_text = new.__code__.co_filename.startswith("<")
        if made_of_text and issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return new(cls, *args, **kwargs)  # that of a named tuple
        return call(new, cls, *args, **kwargs)
    init = method_of(cls, "__init__")
    if new is object.__new__:
        if init is None and (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError(f"{cls.__name__}() takes no arguments")
        return object.__new__(cls)
    return made_by_new(new, new.__self__, (cls, *args), kwargs)


def initialise(
    cls: Any, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Call ``__init__`` of an instance that was made."""
    init = method_of(cls, "__init__")
    if init is not None:
        if init.__code__.co_filename == "<string>" and hasattr(cls, "__dataclass_fields__"):
            HOOKS["initialise_fields"](cls, made, init, args, kwargs)
        else:
            call(init, made, *args, **kwargs)
        return
    found = cls.__init__
    if found is object.__init__ or isinstance(made, (tuple, str, bytes, int, frozenset)):
        return
    if isinstance(made, (float, complex)):
        return
    if isinstance(made, (list, dict, set)):
        found(made, *map(HOOKS["iterate"], args), **kwargs)
    else:
        found(made, *args, **kwargs)


def of_object(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call an object that is callable."""
    if isinstance(function, functools.partial):
        return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    if isinstance(function, functools._lru_cache_wrapper):
        return remembered(function, args, kwargs)
    special = SPECIAL.get(function) if hashable(function) else None
    if special is not None:
        return special(*args, **kwargs)
    if is_derivative(function):
        return recorded(function, args, kwargs) if RECORDING.tape.holds(
            (args, kwargs)) else natively(function, *args, **kwargs)
    if isinstance(function, DISPATCHER):
        plain = MOVERS.get(function)
        if plain is not None:
            return plain(*args, **kwargs)
        known = by_rule(function, args, kwargs)
        if known is not UNRULED:
            return known
        inside = getattr(function, "_implementation", None)
        if isinstance(inside, types.FunctionType):
            return of_function(inside, args, kwargs)
        return unknown(function, args, kwargs)
    if type(function).__module__ == "functools" and hasattr(function, "func"):  # singledispatch
        return call(function.func, *args, **kwargs)
    known = by_rule(function, args, kwargs)
    if known is not UNRULED:
        return known
    if isinstance(function, moved):
        return function(*args, **kwargs)
    kind: Any = type(function)
    method = method_of(kind, "__call__")
    if method is not None:
        return call(method, function, *args, **kwargs)
    if isinstance(getattr(type(function), "__call__", None), types.WrapperDescriptorType):  # noqa: B004
        return unknown(function, args, kwargs)
    return unknown(function, args, kwargs)


def remembered(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that keeps its results: within one recording, by the values that are active.
    """
    tape = RECORDING.tape
    key: Any = (
        id(function), *(id(a) if tape.is_active(a) else a for a in args),
        *((k, id(v) if tape.is_active(v) else v) for k, v in kwargs.items()))
    if key not in tape.memos:
        tape.memos[key] = call(function.__wrapped__, *args, **kwargs)
    return tape.memos[key]


def initialise_fields(
    cls: Any, made: Any, init: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Do what the ``__init__`` of a dataclass does."""
    import dataclasses
    import inspect

    given = inspect.signature(init).bind(made, *args, **kwargs)
    given.apply_defaults()
    values = dict(list(given.arguments.items())[1:])
    after = []
    for name, field in cls.__dataclass_fields__.items():
        kind = field._field_type.name if hasattr(field._field_type, "name") else ""
        if kind == "_FIELD_CLASSVAR":
            continue
        value = values.get(name, dataclasses.MISSING)
        factory = field.default_factory
        if factory is not dataclasses.MISSING and (
            value is dataclasses.MISSING or type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS"
        ):
            value = call(factory)
        if kind == "_FIELD_INITVAR":
            after.append(value)
        elif value is not dataclasses.MISSING:
            if cls.__dataclass_params__.frozen:
                object.__setattr__(made, name, value)
            else:
                HOOKS["set_attribute"](value, made, name)
    post = followed(made, "__post_init__")
    if post is not None:
        post(made, *after)


HOOKS["initialise_fields"] = initialise_fields
UFUNC_METHODS["call"] = call
