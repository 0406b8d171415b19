"""Hooks for attributes: properties and other methods in Python that give them are rewritten."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from adcompiler.record.entries import Linear
from adcompiler.record.functions import HOOKS, hooked
from adcompiler.record.items import flat_of, write
from adcompiler.record.library.derived import derived, plain
from adcompiler.record.operators import enter
from adcompiler.record.protocols import PLAIN, followed, is_derived, method_of
from adcompiler.record.tape import NUMBERS, RECORDING, refused
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON

INERT_OF_ARRAYS = frozenset({
    "shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "flags", "base",
    "__class__", "__doc__", "__array_priority__", "__len__", "__name__", "__module__",
    "__array_interface__", "__array_struct__", "device", "is_integer", "__array_ufunc__",
    "__array_function__", "__dict__",
})
"""Attributes of arrays and numbers that carry no derivative."""


@hooked
def attribute(obj: Any, name: str) -> Any:
    """Return ``obj.name``."""
    cls: Any = type(obj)
    if cls.__flags__ & CLASS_KIND != OF_PYTHON:
        if cls is np.ndarray or issubclass(cls, (np.generic, float, complex)):
            return of_number(obj, name)
        if cls in PLAIN or cls is types.ModuleType:
            return getattr(obj, name)
        if cls is super:
            return of_super(obj, name)
    if issubclass(cls, (type, types.FunctionType)):
        return getattr(obj, name)
    method = method_of(cls, "__getattribute__")
    try:
        return attribute_itself(obj, name) if method is None else HOOKS["call"](method, obj, name)
    except AttributeError:
        fallback = followed(obj, "__getattr__")
        if fallback is None:
            raise
        return fallback(obj, name)


def attribute_itself(obj: Any, name: str) -> Any:
    """Return what ``object.__getattribute__`` gives: ``__getattr__`` is not asked."""
    cls: Any = type(obj)
    if issubclass(cls, type):
        return attribute(obj, name)
    if issubclass(cls, (np.ndarray, np.generic, float, complex)):
        return of_number(obj, name)
    for base in cls.__mro__:
        if name in vars(base):
            return of_class(obj, vars(base)[name], name)
    return natively(obj, name)


def natively(obj: Any, name: str) -> Any:
    """Return an attribute as the class in C from which an object's class derives gives it."""
    own: Any = type(obj).__getattribute__
    return (object.__getattribute__ if isinstance(own, types.FunctionType) else own)(obj, name)


def of_super(obj: Any, name: str) -> Any:
    """Return what ``super().name`` is; properties of the class are computed."""
    mro: Any = type(obj.__self__).__mro__
    if obj.__thisclass__ not in mro:
        mro = obj.__self__.__mro__
    for base in mro[mro.index(obj.__thisclass__) + 1 :]:
        found = vars(base).get(name)
        if isinstance(found, property) and found.fget is not None:
            return HOOKS["call"](found.fget, obj.__self__)
        if found is not None:
            break
    return getattr(obj, name)


def of_class(obj: Any, found: Any, name: str) -> Any:
    """Return an attribute that a class has under a name, for an instance."""
    kind: Any = type(found)
    get = method_of(kind, "__get__")
    if isinstance(found, property) and get is None:
        if found.fget is None:
            raise AttributeError(name)
        return HOOKS["call"](found.fget, obj)
    if get is not None:
        is_data = hasattr(kind, "__set__") or hasattr(kind, "__delete__")
        own = getattr(obj, "__dict__", {})
        if not is_data and name in own:
            return own[name]
        if isinstance(found, functools.cached_property):
            made = own[name] = HOOKS["call"](found.func, obj)
            return made
        return HOOKS["call"](get, found, obj, type(obj))
    return natively(obj, name)


def of_number(obj: Any, name: str) -> Any:
    """Return an attribute of a number or array."""
    cls: Any = type(obj)
    if cls is not np.ndarray and cls.__flags__ & CLASS_KIND == OF_PYTHON:  # of a derived class
        for base in cls.__mro__:
            if name in vars(base):
                if base.__flags__ & CLASS_KIND == OF_PYTHON:
                    return of_class(obj, vars(base)[name], name)
                break
        else:
            return natively(obj, name)
    tape = RECORDING.tape
    if cls is not np.ndarray and issubclass(cls, np.ndarray) and tape.is_active(obj):
        if name == "base" or hasattr(object, name) or name in INERT_OF_ARRAYS:
            return getattr(obj, name)
        inside = plain(obj)
        found = of_number(inside, name)
        if found is inside:
            return obj
        if callable(found) and not isinstance(found, np.ndarray):
            return getattr(obj, name)
        return derived(found, cls, obj) if isinstance(found, np.ndarray) else (
            getattr(obj, name) if isinstance(found, np.flatiter) else found)
    result = getattr(obj, name)
    if not tape.is_active(obj) or name in INERT_OF_ARRAYS or result is obj or callable(result):
        return result
    if isinstance(result, np.ndarray):
        if result.dtype.kind not in "fc" or tape.is_active_array(result):
            return result
        if name == "imag" and obj.dtype.kind == "f":
            return result
    elif isinstance(result, np.flatiter):
        return result
    elif isinstance(result, NUMBERS):
        if name == "real":
            enter(Linear("real", obj, result, np.real, lambda g: g))
            return result
        if name == "imag":
            if isinstance(obj, (complex, np.complexfloating)):
                enter(Linear("imag", obj, result, np.imag, lambda g: 1j * g))
            return result
    elif not tape.holds(result):
        return result
    raise refused(f"the attribute `.{name}` of a value that carries a derivative",
                  "compute it by a function", "recording")


@hooked
def set_attribute(value: object, obj: Any, name: str) -> None:
    """Do ``obj.name = value``."""
    cls: Any = type(obj)
    method = method_of(cls, "__setattr__")
    if method is not None:
        HOOKS["call"](method, obj, name, value)
    else:
        set_itself(obj, name, value)


def set_itself(obj: Any, name: str, value: object) -> None:
    """Do what ``object.__setattr__`` does: ``__setattr__`` of the class is not asked."""
    cls: Any = type(obj)
    for base in cls.__mro__:
        if name in vars(base):
            found = vars(base)[name]
            kind: Any = type(found)
            setter = method_of(kind, "__set__")
            if setter is not None:
                HOOKS["call"](setter, found, obj, value)
                return
            if isinstance(found, property) and found.fset is not None:
                HOOKS["call"](found.fset, obj, value)
                return
            break
    if isinstance(obj, np.ndarray):
        set_of_array(value, obj, name)
    elif method_of(cls, "__setattr__") is not None:
        object.__setattr__(obj, name, value)
    else:
        setattr(obj, name, value)


def set_of_array(value: Any, array: np.ndarray, name: str) -> None:
    """Do ``array.name = value``."""
    if is_derived(array) and name in ("real", "imag", "flat"):
        array = plain(array)
    if name in ("real", "imag"):
        write(getattr(array, name), ..., value)
    elif name == "flat":
        if np.size(value) != array.size:
            value = HOOKS["call"](np.resize, value, array.size)
        write(flat_of(array.flat), ..., value)
    elif RECORDING.tape.is_held(array) and name in ("shape", "dtype", "strides", "data"):
        raise refused(
            f"`.{name} = ...` of an array whose values are read already",
            "make a new array by .reshape or .view", "recording")
    else:
        setattr(array, name, value)


@hooked
def del_attribute(obj: Any, name: str) -> None:
    """Do ``del obj.name``."""
    method = followed(obj, "__delattr__")
    if method is not None:
        method(obj, name)
    else:
        del_itself(obj, name)


def del_itself(obj: Any, name: str) -> None:
    """Do what ``object.__delattr__`` does."""
    found = next((vars(base)[name] for base in type(obj).__mro__ if name in vars(base)), None)
    kind: Any = type(found)
    if method_of(kind, "__delete__") is not None:
        HOOKS["call"](method_of(kind, "__delete__"), found, obj)
    elif isinstance(found, property) and found.fdel is not None:
        HOOKS["call"](found.fdel, obj)
    elif method_of(type(obj), "__delattr__") is not None:
        object.__delattr__(obj, name)
    else:
        delattr(obj, name)


OF_OBJECTS: dict[str, Any] = {
    "__setattr__": set_itself, "__getattribute__": attribute_itself, "__delattr__": del_itself,
}
"""What methods of ``object`` do, followed."""
