"""What is known of a value when code is specialised: kind, dtype and ndim, never shapes."""

from __future__ import annotations

import datetime
import enum
import io
import pathlib
import re
import sys
import types as python_types
from typing import Any

import numpy as np

from adcompiler.support.structs import dataclass

CONSTANT_CLASSES = (
    enum.Enum, pathlib.PurePath, io.IOBase, re.Pattern, datetime.date, datetime.timedelta,
)
"""Classes whose instances carry no derivative, whatever they hold."""
OF_OTHER_MODULES = (
    ("random", "Random"), ("logging", "Logger"), ("numpy.random", "Generator"),
    ("numpy.random", "RandomState"), ("numpy.random", "BitGenerator"),
)
"""Other ones, of modules that are not imported for that: there is no instance until they are."""

KINDS = ("bool", "int", "float", "complex")


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types."""


@dataclass(frozen=True, slots=True)
class Unknown(Type):
    """Nothing is known; code for it is generic."""

    def __str__(self) -> str:
        return "?"


@dataclass(frozen=True, slots=True)
class Bottom(Type):
    """No value at all: an undefined variable, or the result of code that cannot return."""

    def __str__(self) -> str:
        return "undefined"


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """A number; ``dtype`` names a NumPy scalar's type, None means a Python number.

    A number that may be of one of several classes has these in ``among``, each as kind and dtype;
    ``kind`` is then the widest of their kinds. Such a type decides nothing that depends on the
    class. Where ``among`` is empty the class is exactly known.
    """

    kind: str
    dtype: str | None = None
    among: tuple[tuple[str, str | None], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the class of the number is known."""
        return not self.among

    @property
    def classes(self) -> tuple[tuple[str, str | None], ...]:
        """The classes that the number may be of, as kinds and dtypes."""
        return self.among or ((self.kind, self.dtype),)

    @property
    def alternatives(self) -> tuple[Scalar, ...]:
        """The exact types that the number may be of."""
        return tuple(Scalar(kind, dtype) for kind, dtype in self.classes)

    def __str__(self) -> str:
        return "|".join(
            kind if dtype is None else f"np.{dtype}" for kind, dtype in self.classes)


@dataclass(frozen=True, slots=True)
class Array(Type):
    """An exact ``numpy.ndarray``."""

    dtype: str
    ndim: int

    @property
    def kind(self) -> str:
        """The kind of the elements: bool, int, float, complex or another."""
        return kind_of_dtype(self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(':' * self.ndim)}]"


@dataclass(frozen=True, slots=True)
class Text(Type):
    """A str."""

    def __str__(self) -> str:
        return "str"


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    """A tuple with known elements; ``cls`` is the namedtuple's class if it is one."""

    items: tuple[Type, ...]
    cls: type = tuple

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.items))
        return f"({inner},)" if len(self.items) == 1 else f"({inner})"


@dataclass(frozen=True, slots=True)
class List(Type):
    """A list whose items have one type.

    ``contents`` has the types of all items of a list that was there before, if these are functions,
    differ in their class, or have no type in common; no list that is made or written into has any.
    """

    item: Type
    contents: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"list[{self.item}]"


@dataclass(frozen=True, slots=True)
class Dict(Type):
    """A dict with known keys, in order, or (``keys`` None) values of one type under any key."""

    keys: tuple[Any, ...] | None
    items: tuple[Type, ...]

    def __str__(self) -> str:
        if self.keys is None:
            return f"dict[{self.items[0]}]"
        pairs = (f"{k!r}: {t}" for k, t in zip(self.keys, self.items, strict=True))
        return "{" + ", ".join(pairs) + "}"


@dataclass(frozen=True, slots=True)
class Range(Type):
    """A range object."""

    def __str__(self) -> str:
        return "range"


@dataclass(frozen=True, slots=True)
class SliceType(Type):
    """A slice object."""

    def __str__(self) -> str:
        return "slice"


@dataclass(frozen=True, slots=True)
class Static(Type):
    """One value, known: a module, function, class, dtype, None."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and same_static(self.value, other.value)

    def __hash__(self) -> int:
        return hash((Static, type(self.value)))

    def __str__(self) -> str:
        name = getattr(self.value, "__qualname__", None) or getattr(self.value, "__name__", None)
        return f"={name or self.value!r}"


@dataclass(frozen=True, slots=True)
class FunctionType(Type):
    """A function made by the compiled code itself (an IR function)."""

    function: Any

    def __str__(self) -> str:
        return f"def {self.function.name}"


@dataclass(frozen=True, slots=True)
class Method(Type):
    """A method of an array or number, looked up but not called yet."""

    descriptor: Any

    def __str__(self) -> str:
        return f"method {self.descriptor}"


@dataclass(frozen=True, slots=True)
class Object(Type):
    """An instance of a class written in Python, with the types of its fields."""

    cls: type
    fields: tuple[tuple[str, Type], ...]

    def field(self, name: str) -> Type | None:
        """Return the type of the field ``name``, if it is known."""
        return dict(self.fields).get(name)

    def __str__(self) -> str:
        inner = ", ".join(f"{name}: {type_}" for name, type_ in self.fields)
        return f"{self.cls.__name__}({inner})"


UNKNOWN = Unknown()
BOTTOM = Bottom()
BOOL, INT, FLOAT, COMPLEX = (Scalar(kind) for kind in KINDS)
TEXT, RANGE, SLICE = Text(), Range(), SliceType()
NONE_TYPE = Static(None)


OPTIONS = (str, bool, int)
"""Classes of values that choose what is done, of which code may be compiled for one alone."""


def same_static(a: Any, b: Any) -> bool:
    """Say whether two compile-time values are the same.

    They are identical, equal dtypes or options, or one method of one class, which is a new object
    each time that it is asked for.
    """
    if a is b:
        return True
    if isinstance(a, python_types.MethodType) and isinstance(a.__self__, type):
        return isinstance(b, python_types.MethodType) and (
            a.__self__ is b.__self__ and a.__func__ is b.__func__)
    if type(a) in OPTIONS:
        return type(a) is type(b) and bool(a == b)
    return isinstance(a, np.dtype) and isinstance(b, np.dtype) and a == b


def kind_of_dtype(dtype: str | np.dtype[Any]) -> str:
    """Return bool, int, float, complex, or ``other`` for a dtype."""
    code = np.dtype(dtype).kind
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}.get(code, "other")


def is_number(type_: Type) -> bool:
    """Say whether values of this type are numbers or arrays of numbers."""
    return isinstance(type_, (Scalar, Array))


def is_function(type_: Type) -> bool:
    """Say whether values of this type are functions."""
    return isinstance(type_, (FunctionType, Method)) or (
        isinstance(type_, Static) and callable(type_.value)
    )


def holds_function(type_: Type) -> bool:
    """Say whether values of this type are functions, or tuples that hold some."""
    return is_function(type_) or (
        isinstance(type_, Tuple) and any(map(holds_function, type_.items))
    )


def has_functions_inside(type_: Type) -> bool:
    """Say whether values of this type are functions, or hold some somewhere."""
    match type_:
        case Tuple(items) | Dict(_, items):
            return any(map(has_functions_inside, items))
        case Object(_, fields):
            return any(has_functions_inside(field) for _, field in fields)
    return is_function(type_)


def is_constant_class(cls: type) -> bool:
    """Say whether instances of a class carry no derivative, whatever they hold."""
    others = (getattr(sys.modules.get(module), name, None) for module, name in OF_OTHER_MODULES)
    return issubclass(cls, (*CONSTANT_CLASSES, *filter(None, others)))


def may_vary(type_: Type) -> bool:
    """Say whether a value of this type may carry a derivative."""
    match type_:
        case Scalar(kind):
            return kind in ("float", "complex")
        case Array():
            return type_.kind in ("float", "complex", "other")
        case Tuple(items):
            return any(map(may_vary, items))
        case List(item):
            return may_vary(item)
        case Dict(_, items):
            return any(map(may_vary, items))
        case Object(cls, fields):  # without known fields it may hold anything
            return not is_constant_class(cls) and (
                not fields or any(may_vary(type_) for _, type_ in fields)
            )
        case Unknown():
            return True
    return False


def join(a: Type, b: Type) -> Type:
    """Return the least type that describes every value of ``a`` and of ``b``."""
    if a == b or isinstance(b, Bottom):
        return a
    if isinstance(a, Bottom):
        return b
    match a, b:
        case Scalar(), Scalar():
            if "bool" in (a.kind, b.kind) and a.kind != b.kind:
                return UNKNOWN
            return one_of_numbers(a, b)
        case Tuple(items, cls), Tuple(others, other_cls):
            if len(items) == len(others) and cls is other_cls:
                return Tuple(tuple(map(join, items, others)), cls)
        case List(item), List(other):
            return List(join(item, other))
        case Dict(keys, items), Dict(other_keys, others):
            if keys == other_keys:
                return Dict(keys, tuple(map(join, items, others)))
            joined: Type = BOTTOM
            for item in (*items, *others):
                joined = join(joined, item)
            return Dict(None, (joined,))
        case Object(cls, fields), Object(other_cls, others):
            if cls is other_cls and [n for n, _ in fields] == [n for n, _ in others]:
                types = (join(x, y) for (_, x), (_, y) in zip(fields, others, strict=True))
                return Object(cls, tuple(zip((n for n, _ in fields), types, strict=True)))
    return UNKNOWN


def one_of_numbers(*types: Scalar) -> Scalar:
    """Return the type of a number that is of one of ``types``."""
    found = {member for type_ in types for member in type_.classes}
    among = tuple(sorted(found, key=lambda member: (KINDS.index(member[0]), member[1] or "")))
    return Scalar(among[-1][0], _widest(among), among) if len(among) > 1 else Scalar(*among[0])


def _widest(among: tuple[tuple[str, str | None], ...]) -> str | None:
    """Return the dtype of a number among several; None for one that is a Python number mostly."""
    names = {dtype for _, dtype in among}
    wide = sorted(names & {"float64", "complex128"} - {None})  # type: ignore[type-var]
    if None in names:
        return wide[0] if wide else None
    return str(np.result_type(*(np.dtype(name) for name in names)))


def widest(type_: Type) -> Type:
    """Return the widest of the exact types that a number may be of; other types as they are."""
    return Scalar(type_.kind, type_.dtype) if isinstance(type_, Scalar) else type_


def as_index(type_: Type) -> Type:
    """Return the type that a number has where it is a subscript or a count: an integer, or none."""
    if isinstance(type_, Scalar) and not type_.exact:
        whole = [one for one in type_.alternatives if one.kind in ("bool", "int")]
        return one_of_numbers(*whole) if whole else type_
    return type_


def has_more_parts(type_: Type, limit: int) -> bool:
    """Say whether a value of a type holds more than ``limit`` others, however they share types."""
    waiting, count = [type_], 0
    while waiting and count <= limit:
        one = waiting.pop()
        count += 1
        if isinstance(one, (Tuple, Dict)):
            waiting += one.items
        elif isinstance(one, List):
            waiting.append(one.item)
        elif isinstance(one, Object):
            waiting += [field for _, field in one.fields]
    return count > limit
