"""Zero cotangents, sums of cotangents and seeds for values of any structure."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.runtime.records import carries_derivative, is_record, part, record, state_of


class Missing(enum.Enum):
    """What ``entry`` returns for a key that is not there: one object, which is never copied."""

    MISSING = "missing"


MISSING = Missing.MISSING


def zeros_like(x: Any) -> Any:
    """Return the zero cotangent of ``x``: 0.0, zeros, containers of these; None of what has none.

    That of an entry that a dict does not have (MISSING) is an entry that it does not have.
    """
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(zeros_like(item) for item in x))
    if isinstance(x, (tuple, list)):
        return type(x)(zeros_like(item) for item in x)
    if isinstance(x, dict):
        return {key: zeros_like(value) for key, value in x.items()}
    if x is MISSING:
        return x
    if is_record(x):
        return record(**{
            name: zeros_like(value) if carries_derivative(value) else None
            for name, value in state_of(x).items()
        })
    if isinstance(x, np.inexact):
        return x.dtype.type(0)
    if isinstance(x, complex):
        return 0j
    return 0.0 if isinstance(x, (int, float, np.generic)) else None


def add(a: Any, b: Any) -> Any:
    """Return the sum of two cotangents of the same value; a new object, neither is changed.

    None is the cotangent of what carries no derivative, such as an int among floats. An entry that
    a dict does not have, as it was added to the value later, counts as zero.
    """
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple) and hasattr(a, "_fields"):
        return type(a)(*(add(x, y) for x, y in zip(a, b, strict=True)))
    if isinstance(a, (tuple, list)):
        return type(a)(add(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return {key: add(a.get(key), b.get(key)) for key in dict.fromkeys((*a, *b))}
    if is_record(a):
        return record(**{name: add(value, part(b, name)) for name, value in state_of(a).items()})
    total = a + b
    return np.asarray(total) if isinstance(a, np.ndarray) else total  # NumPy makes 0-d ones numbers


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Return ``function`` of the numbers and arrays in trees of one structure, as a tree of that.

    What is None stays so; instances become records of their attributes.
    """
    if tree is None:
        return None
    if isinstance(tree, (tuple, list)):
        items = [mapped(function, *parts) for parts in zip(tree, *others, strict=True)]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, dict):
        return {key: mapped(function, item, *(o[key] for o in others))
                for key, item in tree.items()}
    if is_record(tree):
        states = [state_of(other) for other in others]
        return record(**{
            name: mapped(function, item, *(state[name] for state in states))
            for name, item in state_of(tree).items()
        })
    return function(tree, *others)


def seed(value: Any, name: str = "the function") -> Any:
    """Return the cotangent 1 of a result that counts as a scalar: a real number or size-1 array.

    Raises TypeError, naming the shape and the function ``name``, for any other result.
    """
    number = isinstance(value, (np.ndarray, np.generic, bool, int, float, complex))
    kind = np.asarray(value).dtype.kind if number else "O"
    if not number or np.size(value) != 1:
        advice = "reduce it, e.g. by np.sum, or use vjp" if number else "return one number"
        raise TypeError(
            f"grad needs a scalar result, but {name} returned {describe(value)}; {advice}"
        )
    if kind not in "fiu":
        advice = "return its real part or its absolute value" if kind == "c" else "return a float"
        raise TypeError(
            f"grad needs a real result, but {name} returned {describe(value)}; {advice}"
        )
    if isinstance(value, np.ndarray):
        return np.ones(value.shape, value.dtype if kind == "f" else np.float64)
    return 1.0


def unit_vectors(value: Any) -> list[Any]:
    """Return the cotangents of a number or array that are 1 in one place and 0 elsewhere.

    Raises TypeError for other values, and for complex ones.
    """
    number = isinstance(value, (np.ndarray, np.generic, int, float)) and not isinstance(value, bool)
    if not number or np.asarray(value).dtype.kind not in "fiu":
        raise TypeError(f"a Jacobian needs real numbers and arrays, not {describe(value)}")
    if not isinstance(value, np.ndarray):
        return [1.0]
    dtype = value.dtype if value.dtype.kind == "f" else np.float64
    return [row.reshape(value.shape) for row in np.eye(value.size, dtype=dtype)]


def describe(value: Any) -> str:
    """Return what a value is, for messages: class, dtype and shape."""
    if isinstance(value, np.ndarray):
        return f"an array of dtype {value.dtype} and shape {value.shape}"
    if value is None:
        return "None"
    shape = " and shape ()" if isinstance(value, (np.generic, bool, int, float, complex)) else ""
    return f"{value!r}, of type {type(value).__name__}{shape}"


def as_gradient(g: Any, x: Any) -> Any:
    """Return the cotangent ``g`` as the gradient handed to the user for the argument ``x``.

    It has the structure and precision of ``x``, owns its arrays, and is zero where ``g`` is None;
    for what carries no derivative, such as a random generator, it is None.
    For an instance it is one of the same class, with None for attributes without float in them.
    """
    if is_record(x):
        return gradient_of_instance(g, x)
    if isinstance(x, (tuple, list)):
        parts = [None] * len(x) if g is None else g
        items = [as_gradient(gi, xi) for gi, xi in zip(parts, x, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {
            key: as_gradient(None if g is None else g[key], value) for key, value in x.items()
        }
    if g is None:
        number = isinstance(x, (np.ndarray, np.generic, int, float, complex))
        return zeros_like(x) if number else None
    if isinstance(x, np.ndarray):
        dtype = x.dtype if x.dtype.kind in "fc" else np.float64
        g = np.asarray(g)
        if x.dtype.kind != "c" and g.dtype.kind == "c":
            g = g.real
        return np.array(np.broadcast_to(g, x.shape), dtype=dtype)
    if isinstance(g, np.ndarray):
        g = g.sum()
    if isinstance(g, (complex, np.complexfloating)) and not isinstance(
        x, (complex, np.complexfloating)
    ):
        g = g.real
    if isinstance(x, np.inexact):
        return x.dtype.type(g)
    return g.item() if isinstance(g, np.generic) else g


def gradient_of_instance(g: Any, x: Any) -> Any:
    """Return the gradient for an instance: one of its class, made without running its code."""
    if is_sparse(x):
        made = x.copy()
        made.data = as_gradient(part(g, "data"), x.data)
        return made
    parts = {name: gradient_of_part(part(g, name), value) for name, value in state_of(x).items()}
    if dataclasses.is_dataclass(x):  # fields that only the class has a value for
        parts = {**dict.fromkeys(f.name for f in dataclasses.fields(x)), **parts}
    return record(type(x), **parts)


def is_sparse(x: Any) -> bool:
    """Say whether a value is a sparse matrix of SciPy that stores its numbers in an array."""
    return type(x).__module__.startswith("scipy.sparse.") and hasattr(type(x), "tocoo") and (
        isinstance(getattr(x, "data", None), np.ndarray) and x.data.dtype.kind != "O")


def gradient_of_part(g: Any, x: Any) -> Any:
    """As ``as_gradient`` for what an instance holds: None for what carries no derivative."""
    if not carries_derivative(x):
        return None
    if isinstance(x, (tuple, list)):
        parts = [None] * len(x) if g is None else g
        items = [gradient_of_part(gi, xi) for gi, xi in zip(parts, x, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {
            key: gradient_of_part(None if g is None else g[key], value) for key, value in x.items()
        }
    return as_gradient(g, x)


def as_cotangent(g: Any, y: Any) -> Any:
    """Return ``g``, given by the user, as the cotangent of the result ``y`` of a function.

    It gets the structure and precision of ``y``, and is real where ``y`` is; of what carries no
    derivative it is left as it is. Raises ValueError if the shape or structure is another one.
    """
    if isinstance(y, np.ndarray):
        if y.dtype.kind not in "fc":
            return g
        g = np.asarray(g)
        if g.shape != y.shape:
            raise ValueError(
                f"the cotangent has shape {g.shape}, but the value has shape {y.shape}"
            )
        if y.dtype.kind == "f" and g.dtype.kind == "c":
            g = g.real
        return g if g.dtype == y.dtype else g.astype(y.dtype)
    if isinstance(y, (tuple, list)):
        if not isinstance(g, (tuple, list)) or len(g) != len(y):
            raise ValueError(
                f"the cotangent of a {type(y).__name__} of length {len(y)} must have as many "
                f"parts, and is {describe(g)}"
            )
        items = [as_cotangent(gi, yi) for gi, yi in zip(g, y, strict=True)]
        return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)
    if isinstance(y, dict):
        if not isinstance(g, dict) or g.keys() != y.keys():
            raise ValueError(
                f"the cotangent of a dict must have its keys, {list(y)}, and is {describe(g)}"
            )
        return {key: as_cotangent(g[key], value) for key, value in y.items()}
    if g is None or not isinstance(y, (float, complex, np.inexact)):
        return g
    if isinstance(g, (complex, np.complexfloating)) and not isinstance(
        y, (complex, np.complexfloating)
    ):
        g = g.real
    if isinstance(y, np.inexact):
        return y.dtype.type(g)
    return complex(g) if isinstance(y, complex) else float(g)
