"""Values of any structure: their numbers, inner products, and how two of them differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def is_inexact(x: Any) -> bool:
    """Say whether ``x`` is a float or complex number or array: one that carries derivatives."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex, np.inexact))


def map_leaves(function: Callable[..., Any], x: Any, *others: Any) -> Any:
    """Apply ``function`` to the leaves of ``x`` and of ``others``, which have its structure."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(map_leaves(function, *items) for items in zip(x, *others, strict=True)))
    if isinstance(x, (tuple, list)):
        return type(x)(map_leaves(function, *items) for items in zip(x, *others, strict=True))
    if isinstance(x, dict):
        return {key: map_leaves(function, x[key], *(other[key] for other in others)) for key in x}
    return function(x, *others)


def numbers(x: Any) -> Iterator[Any]:
    """Yield the float and complex leaves of ``x``."""
    if isinstance(x, (tuple, list)):
        for item in x:
            yield from numbers(item)
    elif isinstance(x, dict):
        yield from numbers(list(x.values()))
    elif is_inexact(x):
        yield x


def inner(
    a: Any, b: Any, map_product: Callable[..., Any] | None = None, *, minus: Any = None
) -> float:
    """Return ``sum(real(conj(a) * (b - minus)))`` over the numbers of two like structures.

    ``None`` and what is not differentiable in ``b`` count as zero; ``map_product`` is applied to
    each product first.
    """
    if a is None or b is None:
        return 0.0
    if isinstance(b, (tuple, list)):
        rest = minus if minus is not None else [None] * len(b)
        return sum((inner(x, y, map_product, minus=m) for x, y, m in
                    zip(a, b, rest, strict=True)), 0.0)
    if isinstance(b, dict):
        return sum((inner(a[key], b[key], map_product,
                           minus=None if minus is None else minus[key]) for key in b), 0.0)
    if not is_inexact(b):
        return 0.0
    products = np.conj(a) * (b if minus is None else b - minus)
    return float(np.sum(np.real(products if map_product is None else map_product(products))))


def kind_difference(x_bar: Any, x: Any, name: str) -> str:
    """Say how the structure, shape or dtype of ``x_bar`` differs from that of ``x``, or ''."""
    if x_bar is None or x is None:
        return ""
    if isinstance(x, (tuple, list, dict)):
        return _container_difference(x_bar, x, name)
    if isinstance(x, (bool, int, np.integer, np.bool_)) or (
        isinstance(x, np.ndarray) and not is_inexact(x)
    ):
        wrong = np.shape(x_bar) != np.shape(x)
    elif isinstance(x, (np.ndarray, np.inexact)):
        wrong = np.shape(x_bar) != np.shape(x) or np.asarray(x_bar).dtype != x.dtype
        wrong = wrong or (x.ndim > 0 and not isinstance(x_bar, np.ndarray))
    elif isinstance(x, (float, complex)):
        wrong = not isinstance(x_bar, (int, float, complex) if isinstance(x, complex)
                               else (int, float))
    else:
        return ""
    return f"the cotangent of {name} is {_kind(x_bar)}, not {_kind(x)}" if wrong else ""


def _container_difference(x_bar: Any, x: Any, name: str) -> str:
    if type(x_bar) is not type(x) or len(x_bar) != len(x):
        return f"the cotangent of {name} is {_kind(x_bar)}, not {_kind(x)}"
    keys: Any = list(x) if isinstance(x, dict) else range(len(x))
    for key in keys:
        if isinstance(x, dict) and key not in x_bar:
            return f"the cotangent of {name} has no key {key!r}"
        difference = kind_difference(x_bar[key], x[key], f"{name}[{key!r}]")
        if difference:
            return difference
    return ""


def _kind(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"a {x.dtype} array of shape {x.shape}"
    if isinstance(x, (tuple, list, dict)):
        return f"a {type(x).__name__} of length {len(x)}"
    return f"a {type(x).__name__} ({x!r})"


def value_difference(a: Any, b: Any, tolerance: float) -> str:
    """Say how the value ``a`` differs from ``b`` in type, dtype, shape or numbers, or ''."""
    if type(a) is not type(b):
        return f"{_kind(a)}, not {_kind(b)}"
    if hasattr(b, "toarray"):  # sparse
        a, b = a.toarray(), b.toarray()
    if isinstance(b, (tuple, list)):
        if len(a) != len(b):
            return f"{_kind(a)}, not {_kind(b)}"
        return next((d for d in (value_difference(x, y, tolerance) for x, y in
                                 zip(a, b, strict=True)) if d), "")
    if isinstance(b, dict):
        if list(a) != list(b):
            return f"keys {list(a)}, not {list(b)}"
        return next((d for d in (value_difference(a[k], b[k], tolerance) for k in b) if d), "")
    if isinstance(b, (np.ndarray, np.generic)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{_kind(a)}, not {_kind(b)}"
    elif not is_inexact(b):
        kind: Any = type(b)
        comparable = kind.__eq__ is not object.__eq__  # else it has no value to compare
        return f"{a!r}, not {b!r}" if comparable and a is not b and a != b else ""
    if b is not a and not _equal_numbers(a, b, tolerance):
        return f"{short(a)}, not {short(b)}"
    return ""


def _equal_numbers(a: Any, b: Any, tolerance: float) -> bool:
    inexact = is_inexact(b)
    if not tolerance or not inexact:
        return bool(np.array_equal(a, b, equal_nan=inexact))
    if isinstance(b, (np.ndarray, np.generic)) and b.dtype in (np.float32, np.complex64):
        tolerance = 1e-5
    size = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def short(x: Any) -> str:
    """Return the representation of ``x``, cut at 400 characters."""
    return repr(x) if len(repr(x)) <= 400 else f"{repr(x)[:400]}..."
