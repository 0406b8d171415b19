"""What an object refers to, as a program that has the object may find it."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON, dict_of, slots_of

if TYPE_CHECKING:
    pass

WEAK = (weakref.ref, weakref.ProxyType, weakref.CallableProxyType)
"""Classes of what refers to an object without keeping it, which the collector does not tell."""


def referent_of(value: Any) -> Iterator[Any]:
    """Iterate over what a weak reference or a proxy refers to, which may be gone."""
    if issubclass(type(value), weakref.ref):
        yield value()
        return
    try:
        yield value.__repr__.__self__  # whatever a proxy is asked, it asks its object
    except ReferenceError:
        return


def parts_of(value: Any) -> Iterator[Any]:
    """Iterate over what an object refers to: items, attributes, captured variables."""
    if issubclass(type(value), WEAK):
        yield from referent_of(value)
        yield from reached_in(value)
        return
    if isinstance(value, dict):
        yield from list(value.keys())
        yield from list(value.values())
    elif isinstance(value, (tuple, list, set, frozenset)):
        yield from list(value)
    elif isinstance(value, (types.ModuleType, type)):
        return
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:
                continue
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, types.MethodType):
        yield value.__self__
        yield value.__func__
    else:
        yield from reached_in(value)


def reached_in(value: Any) -> Iterator[Any]:
    """Iterate over the attributes of an instance, and over the items of what C defines."""
    cls: Any = type(value)
    if cls.__flags__ & CLASS_KIND == OF_PYTHON:  # made by a class statement
        yield from dict_of(value).values()
        for member in slots_of(cls).values():
            try:
                yield member.__get__(value)
            except AttributeError:
                continue
        for base in (tuple, list, dict, set, frozenset):
            if isinstance(value, base):
                yield from parts_of(base(value))
        return
    for part in gc.get_referents(value):
        if not isinstance(part, (type, types.ModuleType)):
            yield part


__all__ = ["WEAK", "parts_of", "referent_of"]
