"""Cotangents that a user hands to a pullback: they must have the structure of the value."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.dispatch.arguments import described
from adcompiler.runtime import as_cotangent
from adcompiler.runtime.records import carries_derivative, is_record, record, state_of
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Outline:
    """The structure of a value without the value.

    ``shape`` belongs to a number or array, as does ``like``, which has its class and
    dtype; ``parts`` to a tuple, list, dict or instance, by position, key or name.
    Parts that carry no derivative have no outline.
    """

    cls: type
    shape: tuple[int, ...] | None = None
    like: Any = None
    parts: dict[Any, Outline | None] | None = None


def outline(value: Any) -> Outline | None:
    """Return the structure of a value, None if it carries no derivative."""
    cls = type(value)
    if cls is float:
        return _FLOAT
    if isinstance(value, (np.ndarray, np.inexact, complex)):
        if isinstance(value, np.ndarray):
            return Outline(cls, value.shape, zeros_like(value))
        return Outline(cls, (), value)
    if isinstance(value, (tuple, list)):
        return Outline(cls, None, None, {i: outline(item) for i, item in enumerate(value)})
    if isinstance(value, dict):
        return Outline(cls, None, None, {key: outline(item) for key, item in value.items()})
    if is_record(value) and carries_derivative(value):
        return Outline(
            cls, None, None, {key: outline(item) for key, item in state_of(value).items()}
        )
    return None


def zeros_like(value: np.ndarray) -> np.ndarray:
    """Return an array of the shape and dtype of another one, of a single number, not to be written.
    """
    if value.dtype.kind in "fciub":
        return np.ndarray(value.shape, value.dtype, ZEROS, 0, (0,) * value.ndim)
    return np.broadcast_to(np.zeros((), value.dtype), value.shape)


ZEROS = bytes(64)
_FLOAT = Outline(float, (), 0.0)


def conform(g: Any, wanted: Outline | None, name: str = "the cotangent") -> Any:
    """Return the cotangent ``g`` as emitted code takes it; None stands for zero inside of it.

    Raises TypeError where the structure is not that of the value, ValueError for another shape.
    """
    if wanted is None:
        return g
    if wanted.parts is None:
        return conform_number(g, wanted, name)
    given: dict[Any, Any] = {} if g is None else parts_given(g, wanted, name)
    parts = {}
    for key, inner in wanted.parts.items():
        part = given.get(key)
        part = zero(inner) if part is None else part
        parts[key] = conform(part, inner, part_name(name, wanted, key))
    return assembled(parts, wanted)


def conform_each(g: Any, wanted: Outline | None, name: str = "the cotangents") -> Any:
    """Return cotangents of many seeds, of which each has the structure ``wanted``.

    Every number or array of the value is an array with one more axis in front. Raises TypeError
    where the structure is not that of the value, ValueError for another shape.
    """
    if wanted is None:
        return g
    if wanted.parts is None:
        g = np.asarray(g)
        if g.ndim == 0 or g.shape[1:] != wanted.shape:
            raise ValueError(
                f"{name} have shape {g.shape}, but the value has shape {wanted.shape}: one axis "
                "more in front counts the seeds"
            )
        dtype = np.asarray(wanted.like).dtype
        if dtype.kind == "f" and g.dtype.kind == "c":
            g = g.real
        return g.astype(dtype, copy=False) if dtype.kind in "fc" else g
    given = parts_given(g, wanted, name)
    parts = {
        key: conform_each(given.get(key), inner, part_name(name, wanted, key))
        for key, inner in wanted.parts.items()
    }
    return assembled(parts, wanted)


def assembled(parts: dict[Any, Any], wanted: Outline) -> Any:
    """Return a cotangent made of its parts."""
    if issubclass(wanted.cls, dict):
        return parts
    if issubclass(wanted.cls, list):
        return list(parts.values())
    if issubclass(wanted.cls, tuple):
        named: Any = wanted.cls if hasattr(wanted.cls, "_fields") else None
        return named(*parts.values()) if named else tuple(parts.values())
    return record(**parts)


def zero(wanted: Outline | None) -> Any:
    """Return the cotangent that stands for None: a number or array of zeros."""
    if wanted is None or wanted.shape is None:
        return None
    return np.zeros(wanted.shape) if wanted.shape else 0.0


def conform_number(g: Any, wanted: Outline, name: str) -> Any:
    """Return the cotangent of a number or array; raise if it is of another shape."""
    if type(g) is float and wanted.cls is float:
        return g
    if not isinstance(g, (np.ndarray, np.generic, bool, int, float, complex)):
        what = f"an array of shape {wanted.shape}" if wanted.shape else "a number"
        raise TypeError(f"{name} must be {what}, as the value is; got {described(g)}")
    if np.shape(g) != wanted.shape:
        raise ValueError(
            f"{name} has shape {np.shape(g)}, but the value has shape {wanted.shape}"
        )
    return as_cotangent(g, wanted.like)


def parts_given(g: Any, wanted: Outline, name: str) -> dict[Any, Any]:
    """Return the parts of a cotangent by position, key or name; raise if they do not fit."""
    assert wanted.parts is not None
    names = ", ".join(map(str, wanted.parts))
    if issubclass(wanted.cls, (tuple, list)):
        if not isinstance(g, (tuple, list)) or len(g) != len(wanted.parts):
            raise TypeError(
                f"{name} must be a {wanted.cls.__name__} of {len(wanted.parts)}, as the value is; "
                f"got {with_size(g)}"
            )
        return dict(enumerate(g))
    if issubclass(wanted.cls, dict):
        if not isinstance(g, dict) or g.keys() != wanted.parts.keys():
            raise TypeError(
                f"{name} must be a dict with the keys {names}, as the value is; got {with_size(g)}"
            )
        return g
    missing = [
        part for part, inner in wanted.parts.items() if inner is not None and not hasattr(g, part)
    ]
    if not is_record(g) or missing:
        raise TypeError(
            f"{name} must be a {wanted.cls.__name__}, or a namespace, with the attributes {names}, "
            f"as the value is; got {with_size(g)}"
        )
    return state_of(g)


def with_size(g: Any) -> str:
    """Return what a cotangent is, for messages."""
    if isinstance(g, dict):
        return f"a dict with the keys {', '.join(map(str, g)) or 'none'}"
    return f"a {type(g).__name__} of {len(g)}" if isinstance(g, (tuple, list)) else described(g)


def part_name(name: str, wanted: Outline, key: Any) -> str:
    """Return what messages call a part of a cotangent."""
    if issubclass(wanted.cls, (tuple, list, dict)):
        return f"{name}[{key!r}]"
    return f"{name}.{key}"
