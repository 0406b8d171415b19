"""Instances of Python classes as records: values under the names of their attributes.

The cotangent of an instance is a namespace with the cotangents of its attributes, None for those
that carry no derivative; the gradient that a user gets is an instance of the argument's own class.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from types import FunctionType, MemberDescriptorType, SimpleNamespace, WrapperDescriptorType
from typing import Any

import numpy as np

from adcompiler.runtime.reading import unless_it_raises
from adcompiler.runtime.tables import is_table

CLASS_KIND, OF_PYTHON = 3 << 8, 1 << 9
"""Flags of classes, and those of one that a class statement made: on the heap, and not immutable.

Classes in C lie on the heap too (Py_TPFLAGS_HEAPTYPE), the more the later Python is, but those of
the standard library cannot be changed (Py_TPFLAGS_IMMUTABLETYPE).
"""


def is_of_python(cls: Any) -> bool:
    """Say whether a class statement made a class."""
    return bool(cls.__flags__ & CLASS_KIND == OF_PYTHON)


def record(cls: type = SimpleNamespace, /, **fields: Any) -> Any:
    """Return an instance of ``cls`` with these attributes, made without calling its code.

    Neither ``__init__`` nor ``__post_init__`` nor ``__setattr__`` runs.
    """
    base: Any = SimpleNamespace if issubclass(cls, SimpleNamespace) else object
    made = base.__new__(cls)
    for name, value in fields.items():
        keep_attribute(made, name, value)
    return made


def keep_attribute(x: Any, name: str, value: Any) -> None:
    """Set what an instance itself holds under a name: no property of its class is asked."""
    cls: Any = type(x)  # a class has a hash, whatever mypy makes of type[Any]
    member = slots_of(cls).get(name)
    if member is not None:
        member.__set__(x, value)
    else:
        object.__getattribute__(x, "__dict__")[name] = value


def drop_attribute(x: Any, name: str) -> None:
    """Delete what an instance itself holds under a name."""
    cls: Any = type(x)  # a class has a hash, whatever mypy makes of type[Any]
    member = slots_of(cls).get(name)
    if member is not None:
        member.__delete__(x)
    else:
        del object.__getattribute__(x, "__dict__")[name]


@functools.lru_cache(maxsize=512)
def slots_of(cls: Any) -> Mapping[str, Any]:
    """Return the slots of a class and its bases by name, those of bases first."""
    return {
        name: member for base in reversed(cls.__mro__) if is_of_python(base)
        for name, member in vars(base).items() if isinstance(member, MemberDescriptorType)
    }


@functools.lru_cache(maxsize=512)
def has_operators(cls: type) -> bool:
    """Say whether a class has Python code for operators: for more than to make and show itself."""
    return any(
        name.startswith("__") and isinstance(value, FunctionType) and name not in ABOUT_ITSELF
        for base in cls.__mro__ if is_of_python(base) for name, value in vars(base).items())


ABOUT_ITSELF = frozenset({
    "__new__", "__init__", "__post_init__", "__init_subclass__", "__repr__", "__str__",
    "__format__", "__eq__", "__ne__", "__hash__", "__bool__", "__enter__", "__exit__", "__call__",
    "__del__", "__copy__", "__deepcopy__", "__replace__", "__reduce__", "__getstate__",
    "__setstate__", "__getattr__", "__setattr__", "__delattr__",
})
"""Special methods that neither arithmetic nor subscripts nor functions of numbers call."""


def is_record_class(cls: Any) -> bool:
    """Say whether the instances of a class are nothing more than their attributes.

    These are classes written in Python that derive from no built-in class but ``object`` (or
    ``SimpleNamespace``), look attributes up as usual, and are no enumerations and no tables.
    """
    return (
        all(is_of_python(base) or base in (object, SimpleNamespace) for base in cls.__mro__)
        and cls is not object
        and not any(
            "__getattribute__" in vars(base) for base in cls.__mro__ if is_of_python(base)
        )
        and not isinstance(cls, enum.EnumMeta)
        and not getattr(cls, "is_derivative", False)
        and not is_table(cls)
        and not any(is_of_python(base) and has_operators_in_c(base) for base in cls.__mro__)
    )


FOLLOWED = (bool, int, float, complex, tuple, list, dict, np.ndarray, np.generic)
"""Classes whose instances, those of derived classes too, have cotangents of their structure."""
LIBRARIES = ("numpy", "scipy", "adcompiler", "adcompiler_rules")
"""Packages whose classes have rules, or refuse by themselves."""


def is_opaque_class(cls: Any) -> bool:
    """Say whether nothing is known of what the instances of a class hold.

    A deque, a set, a view of a dict, a buffer and an iterator are such: numbers may be in there,
    and no cotangent would come out.
    """
    if is_record_class(cls) or is_table(cls) or issubclass(cls, FOLLOWED):
        return False
    return cls in (np.flatiter, np.nditer) or cls.__module__.partition(".")[0] not in LIBRARIES


def has_operators_in_c(cls: Any) -> bool:
    """Say whether a class has operators written in C of its own, as Cython's functions have."""
    return any(
        isinstance(member, WrapperDescriptorType) and member.__objclass__ is cls
        for member in vars(cls).values()
    )


@unless_it_raises(False)
def is_record(x: Any) -> bool:
    """Say whether ``x`` is an instance that is nothing more than its attributes."""
    cls: Any = type(x)  # a class has a hash, whatever mypy makes of type[Any]
    return is_record_class(cls)


def state_of(x: Any) -> dict[str, Any]:
    """Return the attributes that an instance itself holds: in slots, then in its dict."""
    found = {}
    cls: Any = type(x)
    for name, member in slots_of(cls).items():
        try:
            found[name] = member.__get__(x)
        except AttributeError:
            continue  # not assigned yet
    found.update(dict_of(x))
    return found


def dict_of(x: Any) -> dict[str, Any]:
    """Return the ``__dict__`` of an instance, {} if it has none.

    Its class is not asked: ``__getattr__`` may answer to any name, ``__dict__`` among them.
    """
    try:
        found = object.__getattribute__(x, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def part(g: Any, name: str) -> Any:
    """Return the cotangent of an attribute in the cotangent of an instance; None if it has none."""
    return getattr(g, name, None)


def carries_derivative(x: Any) -> bool:
    """Say whether ``x`` is or contains a float or complex number, or an array of these."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fcO"
    if isinstance(x, (float, complex, np.inexact)):
        return True
    if isinstance(x, (tuple, list)):
        return any(map(carries_derivative, x))
    if isinstance(x, dict):
        return any(map(carries_derivative, x.values()))
    return is_record(x) and any(map(carries_derivative, state_of(x).values()))
