"""Tangents of values: of their shape and precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.runtime.records import carries_derivative, is_record, part, record, state_of
from adcompiler.runtime.structure import zeros_like


def as_tangent(d: Any, x: Any) -> Any:
    """Return ``d`` as a tangent of ``x``: stretched to its shape, of its kind and precision.

    The tangent of what is real is real, that of an integer a float. None stands for zero. Lists,
    tuples, dicts and instances are treated element by element. ``d`` itself may be returned.
    """
    if d is None:
        return zeros_like(x) if carries_derivative(x) else None
    if isinstance(x, np.ndarray):
        d = np.asarray(d)
        if x.dtype.kind != "c" and d.dtype.kind == "c":
            d = d.real
        dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
        if d.shape != x.shape:
            d = np.broadcast_to(d, x.shape)
        return d if d.dtype == dtype else d.astype(dtype)
    if isinstance(x, (tuple, list)):
        items = [as_tangent(di, xi) for di, xi in zip(d, x, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {key: as_tangent(d[key], value) for key, value in x.items()}
    if is_record(x):
        return record(**{
            name: as_tangent(part(d, name), value) for name, value in state_of(x).items()
        })
    return as_number(d, x)


def as_number(d: Any, x: Any) -> Any:
    """Return the tangent ``d`` of a number: real where ``x`` is, of its class."""
    if isinstance(d, np.ndarray):
        d = d[()]
    if isinstance(d, (complex, np.complexfloating)) and not isinstance(
        x, (complex, np.complexfloating)
    ):
        d = d.real
    if isinstance(x, np.inexact):
        return x.dtype.type(d)
    if isinstance(x, complex):
        return complex(d)
    return d.item() if isinstance(d, np.generic) else d
