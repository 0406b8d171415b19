"""Types of parameters: from annotations, from ``"x: float64[:], w: float"``, or assumed."""

from __future__ import annotations

import ast
import dataclasses
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.errors import not_one_of, suggestion
from adcompiler.ir import types as t
from adcompiler.typed.values import type_of

if TYPE_CHECKING:
    from adcompiler.dispatch import Specialisations

_ARRAY = re.compile(r"(?:np\.|numpy\.)?(\w+)\[\s*((?::\s*,?\s*)*)\]")
NAMED = re.compile(r"(?:(\w+)\s*[:=])?\s*(.*)", re.DOTALL)
MAX_DEPTH = 8
NO_NAMES: Mapping[str, Any] = MappingProxyType({})
SCALARS = {"float": t.FLOAT, "int": t.INT, "bool": t.BOOL, "complex": t.COMPLEX, "str": t.TEXT}
CLASSES: dict[Any, t.Type] = {
    float: t.FLOAT, int: t.INT, bool: t.BOOL, complex: t.COMPLEX, str: t.TEXT,
}


def parse_type(text: str, names: Mapping[str, Any] = NO_NAMES) -> t.Type:
    """Return the type that a text such as ``float``, ``float64[:, :]`` or ``?`` stands for.

    ``names`` has the classes that it may name, whose fields are annotated. Raises ValueError for
    texts that stand for none.
    """
    text = text.strip()
    if text in SCALARS:
        return SCALARS[text]
    if text in ("?", "Any", "object"):
        return t.UNKNOWN
    if text == "None":
        return t.NONE_TYPE
    if text.startswith("list[") and text.endswith("]"):
        return t.List(parse_type(text[5:-1], names))
    if text.startswith("(") and text.endswith(")"):
        return t.Tuple(tuple(parse_type(part, names) for part in split_top(text[1:-1])))
    if text.startswith("{") and text.endswith("}"):
        return parse_dict(text, names)
    if isinstance(names.get(text), type):
        return type_of_annotation(names[text])
    match = _ARRAY.fullmatch(text)
    try:
        if match:
            return t.Array(np.dtype(match[1]).name, match[2].count(":"))
        dtype = np.dtype(text.removeprefix("np."))
    except (TypeError, SyntaxError):
        known = (*SCALARS, "None", *(name for name in names if isinstance(names[name], type)))
        raise ValueError(
            f"{text!r} is no type; write float, int, bool, complex, float64[:], float64[:, :], "
            'list[float], (float, float), {"key": float}, the name of a class or ?'
            + suggestion(text, (*known, "float64[:]", "float32[:]", "int64[:]"))
        ) from None
    return t.Scalar(t.kind_of_dtype(dtype), dtype.name)


def parse_dict(text: str, names: Mapping[str, Any]) -> t.Type:
    """Return the type of dicts with known keys: ``{"w": float64[:], "b": float}``."""
    keys, items = [], []
    for part in split_top(text[1:-1]):
        key, colon, item = part.partition(":")
        try:
            keys.append(ast.literal_eval(key.strip()))
        except (SyntaxError, ValueError):
            colon = ""
        if not colon:
            raise ValueError(f"{part.strip()!r}: write `\"key\": type`")
        items.append(parse_type(item, names))
    return t.Dict(tuple(keys), tuple(items))


def split_top(text: str) -> list[str]:
    """Return the parts of ``text`` between commas outside brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "[({") - (c in "])}")
        if c == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return [part for part in (*parts, current) if part.strip()]


def named_parts(text: str, parameters: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return the names and types in ``"x: float64[:], w: float"``; ``=`` stands for the colon.

    Types without names are of ``parameters``, in their order. Raises ValueError where there are
    more than these.
    """
    found = []
    for position, part in enumerate(split_top(text)):
        name, type_ = NAMED.fullmatch(part.strip()).groups()  # type: ignore[union-attr]
        if name is None and position >= len(parameters):
            raise ValueError(f"{part.strip()!r}: write `name: type`")
        found.append((name or parameters[position], type_))
    return found


def parse_arguments(
    text: str, names: Mapping[str, Any] = NO_NAMES, parameters: Sequence[str] = ()
) -> dict[str, t.Type]:
    """Return the types in ``"x: float64[:], w: float"`` by parameter name: see ``named_parts``."""
    return {name: parse_type(type_, names) for name, type_ in named_parts(text, parameters)}


def types_of_parameters(
    s: Specialisations, given: Mapping[str, t.Type] | None = None, fixed: bool = True
) -> tuple[t.Type, ...]:
    """Return a type for every parameter: as given, as annotated, as its default, or unknown.

    Code for a default such as None or a function holds for that value only; with ``fixed`` false
    such defaults say nothing.
    """
    given = given or {}
    names = [p.name for p in s.parameters]
    for name in given:
        if name not in names:
            raise ValueError(not_one_of("the parameter", name, names))
    hints = hints_of(s.target.function)
    types: list[t.Type] = []
    for position, p in enumerate(s.parameters):
        if position < len(s.target.first):
            types.append(type_of(s.target.first[position]))
        elif p.name in given:
            types.append(given[p.name])
        elif p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            types.append(t.UNKNOWN)
        else:
            types.append(type_of_annotation(hints.get(p.name)))
            if types[-1] == t.UNKNOWN and p.default is not p.empty and position not in s.wrt:
                default = type_of(p.default)
                types[-1] = default if fixed or not is_fixed(default) else t.UNKNOWN
    return tuple(
        t.FLOAT if i in s.wrt and type_ == t.INT else type_ for i, type_ in enumerate(types)
    )


def assumptions(
    s: Specialisations, types: tuple[t.Type, ...]
) -> Iterator[tuple[t.Type, ...]]:
    """Yield ``types``, then the same with types assumed for required arguments of unknown type.

    For code that asks what its arguments are, and so has no generic form.
    """
    yield types
    required = {
        i for i, p in enumerate(s.parameters)
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    unknown = {i for i in required if types[i] == t.UNKNOWN}
    groups = (unknown & set(s.wrt), unknown)
    for assumed in (t.Array("float64", 1), t.FLOAT, t.Array("float64", 2)):
        for group in groups[: 2 if groups[0] != groups[1] else 1]:
            if group:
                yield tuple(assumed if i in group else one for i, one in enumerate(types))


def type_of_annotation(hint: Any, depth: int = 0) -> t.Type:
    """Return the type that an annotation promises; unknown where it leaves dtype or ndim open."""
    if isinstance(hint, type) and hint in CLASSES:
        return CLASSES[hint]
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        for text in filter(is_type_text, parts[1:]):
            return parse_type(text)
        return type_of_annotation(parts[0], depth)
    if origin is list and len(parts) == 1:
        return t.List(type_of_annotation(parts[0], depth))
    if origin is tuple and Ellipsis not in parts:
        return t.Tuple(tuple(type_of_annotation(part, depth) for part in parts))
    if origin is np.ndarray and len(parts) == 2:
        return type_of_array_annotation(*parts)
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return type_of_scalar_class(hint)
    if isinstance(hint, type) and depth < MAX_DEPTH:
        return type_of_class_annotation(hint, depth + 1)
    return t.UNKNOWN


def is_type_text(text: Any) -> bool:
    """Say whether what ``Annotated`` has is the text of a type."""
    if not isinstance(text, str):
        return False
    try:
        parse_type(text)
    except ValueError:
        return False
    return True


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function by name; none where they name what is not."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:
        return {}


def missing_parts(hint: Any) -> tuple[str, str]:
    """Return what the annotation of an array leaves open, in words, and a type that it may be.

    The words are empty for annotations of other things, and for those that leave nothing open.
    """
    if typing.get_origin(hint) is typing.Annotated:
        return missing_parts(typing.get_args(hint)[0])
    if hint is not np.ndarray and typing.get_origin(hint) is not np.ndarray:
        return "", "float64[:]"
    shape, dtype = (*typing.get_args(hint), Any, Any)[:2]
    (cls,) = typing.get_args(dtype) or (Any,)
    item = type_of_scalar_class(cls)
    known = item.dtype if isinstance(item, t.Scalar) else None
    axes = typing.get_args(shape)
    open_ = typing.get_origin(shape) is not tuple or Ellipsis in axes
    parts = ["the dtype"] * (known is None) + ["the number of axes"] * open_
    return " and ".join(parts), str(t.Array(known or "float64", 1 if open_ else len(axes)))


def type_of_class_annotation(cls: type, depth: int) -> t.Type:
    """Return the type of instances of a dataclass or a NamedTuple whose fields are annotated."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except Exception:
        return t.UNKNOWN
    if dataclasses.is_dataclass(cls):
        return t.Object(cls, tuple(
            (f.name, type_of_annotation(hints.get(f.name), depth)) for f in dataclasses.fields(cls)
        ))
    names = getattr(cls, "_fields", None)
    if issubclass(cls, tuple) and names is not None:
        return t.Tuple(tuple(type_of_annotation(hints.get(n), depth) for n in names), cls)
    return t.UNKNOWN


def type_of_array_annotation(shape: Any, dtype: Any) -> t.Type:
    """Return the type of ``np.ndarray[tuple[int, int], np.dtype[np.float64]]`` and its like."""
    axes, classes = typing.get_args(shape), typing.get_args(dtype)
    if typing.get_origin(shape) is not tuple or Ellipsis in axes or len(classes) != 1:
        return t.UNKNOWN
    item = type_of_scalar_class(classes[0])
    if not isinstance(item, t.Scalar) or item.dtype is None:
        return t.UNKNOWN
    return t.Array(item.dtype, len(axes))


ABSTRACT = (
    np.generic, np.number, np.inexact, np.floating, np.complexfloating, np.integer,
    np.signedinteger, np.unsignedinteger, np.flexible, np.character,
)


def type_of_scalar_class(cls: Any) -> t.Type:
    """Return the type of a NumPy scalar class; unknown for the abstract ones."""
    if cls in ABSTRACT:  # NumPy 1 warns, and takes the one of 64 bits
        return t.UNKNOWN
    try:
        dtype = np.dtype(cls)
    except TypeError:
        return t.UNKNOWN
    kind = t.kind_of_dtype(dtype)
    return t.Scalar(kind, dtype.name) if dtype.type is cls and kind != "other" else t.UNKNOWN


def is_fixed(type_: t.Type) -> bool:
    """Say whether a type stands for one value only, or contains one that does."""
    match type_:
        case t.Static():
            return True
        case t.Tuple(items) | t.Dict(_, items):
            return any(map(is_fixed, items))
        case t.List(item):
            return is_fixed(item)
        case t.Object():
            return True
    return False
