"""Dataclasses that are made in a fraction of the time.

The standard decorator compiles each method by itself, six for a class whose instances do not
change; the package has hundreds of such classes, and making them was a third of its import. Here
one method is compiled, ``__init__``. The others are closures over the names of the fields.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import Field, dataclass
else:
    def dataclass(cls=None, /, **options):
        """Return the class as :func:`dataclasses.dataclass` does, with these of its options:
        ``frozen``, ``slots``, ``eq`` and ``weakref_slot``.

        ``dataclasses.fields`` and ``replace``, ``copy`` and ``pickle`` take the instances; frozen
        ones raise :exc:`dataclasses.FrozenInstanceError` when an attribute is assigned to.
        """
        return _made(cls, **options) if cls is not None else lambda cls: _made(cls, **options)


def _made(
    cls: Any, frozen: bool = False, slots: bool = False, eq: bool = True,
    weakref_slot: bool = False,
) -> Any:
    """Return ``cls`` as a dataclass."""
    cls.__doc__ = cls.__doc__ or cls.__name__  # it would be written from the signature, slowly
    own = frozenset(vars(cls))
    cls = dataclasses.dataclass(
        init=False, repr=False, eq=False, slots=slots, weakref_slot=weakref_slot)(cls)
    fields = dataclasses.fields(cls)
    methods = {"__init__": _init(cls, fields, frozen, slots), "__repr__": _repr(fields)}
    if eq:
        key = _values([f.name for f in fields if f.compare])
        methods["__eq__"] = _equality(key)
        methods["__hash__"] = _hash(key) if frozen else None
    if frozen:
        methods |= {"__setattr__": _setattr, "__delattr__": _delattr}
    if frozen and slots:
        methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


def _init(cls: Any, fields: Sequence[Field[Any]], frozen: bool, slots: bool) -> Any:
    """Return ``__init__``, which takes the fields in order and calls ``__post_init__``."""
    parameters, lines = ["self"], []
    scope: dict[str, Any] = {"_assign": object.__setattr__, "_missing": dataclasses.MISSING}
    for f in fields:
        name = value = f.name
        if f.default is not dataclasses.MISSING:
            scope[f"_default_{name}"] = f.default
            parameters.append(f"{name}=_default_{name}")
        elif f.default_factory is not dataclasses.MISSING:
            scope[f"_make_{name}"] = f.default_factory
            parameters.append(f"{name}=_missing")
            value = f"_make_{name}() if {name} is _missing else {name}"
        elif f.init:
            parameters.append(name)
        else:
            continue
        if frozen and slots:
            scope[f"_set_{name}"] = getattr(cls, name).__set__
            lines.append(f"_set_{name}(self, {value})")
        elif frozen:
            lines.append(f"_assign(self, {name!r}, {value})")
        else:
            lines.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n {body}", scope)
    return scope["__init__"]


def _values(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives the values of these attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _equality(key: Callable[[Any], tuple[Any, ...]]) -> Any:
    """Return ``__eq__``, of instances of the same class."""
    def __eq__(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented
    return __eq__


def _hash(key: Callable[[Any], tuple[Any, ...]]) -> Any:
    """Return ``__hash__``."""
    def __hash__(self: Any) -> int:
        return hash(key(self))
    return __hash__


def _repr(fields: Sequence[Field[Any]]) -> Any:
    """Return ``__repr__``: the call that makes such an instance."""
    names = [f.name for f in fields if f.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"
    return __repr__


def _setattr(self: Any, name: str, value: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
