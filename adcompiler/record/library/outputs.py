"""Arrays that functions write their results into: ``out``, by name or by position."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.qualified_names import home_module
from adcompiler.record.functions import HOOKS
from adcompiler.record.tape import RECORDING, Numeric
from adcompiler.support.signatures import signature as signature_of

OF_METHODS = {
    "all": 2, "any": 2, "max": 2, "min": 2, "argmax": 2, "argmin": 2, "choose": 2, "round": 2,
    "dot": 2, "mean": 3, "sum": 3, "prod": 3, "cumsum": 3, "cumprod": 3, "std": 3, "var": 3,
    "take": 3, "compress": 3, "clip": 3, "trace": 5, "reduce": 3, "accumulate": 3, "reduceat": 4,
}
"""Where ``out`` stands in methods of arrays and of ufuncs, behind the array; before NumPy 2.3 the
methods do not say it."""


@functools.lru_cache(maxsize=1024)
def names_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that may be given by position, if they are known."""
    try:
        parameters = signature_of(function).parameters.values()
    except (TypeError, ValueError):
        place = OF_METHODS.get(getattr(function, "__name__", ""))
        return () if place is None else (*("" for _ in range(place)), "out", "mode")
    return tuple(
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


@functools.lru_cache(maxsize=1024)
def is_of_numpy(function: Callable[..., Any]) -> bool:
    """Say whether a function or method is one of NumPy or SciPy."""
    return home_module(function).partition(".")[0] in ("numpy", "scipy")


def without_out(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Return the arguments of a call without ``out``, and that: None if it is not given.

    Of a method of an array the first argument is the array. What users call ``out`` is theirs.
    """
    if not is_of_numpy(function):
        return args, kwargs, None
    if kwargs.get("out") is not None:
        kwargs = dict(kwargs)
        out = kwargs.pop("out")
        return args, kwargs, out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not any(isinstance(arg, np.ndarray) for arg in args[1:]):
        return args, kwargs, None
    names = names_of(function)
    place = names.index("out") if "out" in names else len(args)
    if len(args) <= place or args[place] is None:
        return args, kwargs, None
    rest = dict(zip(names[place + 1 :], args[place + 1 :], strict=False))
    return args[:place], {**kwargs, **rest}, args[place]


def into(out: np.ndarray, result: Numeric) -> np.ndarray:
    """Return an array after a result was written into it, recorded.

    Raises ValueError for a result of another shape, as NumPy does.
    """
    if np.shape(result) != out.shape:
        raise ValueError(
            f"`out` has the shape {out.shape}, and the result the shape {np.shape(result)}")
    HOOKS["setitem"](result, out, ...)
    return out


def is_recorded(args: tuple[object, ...], kwargs: dict[str, object], out: Any) -> bool:
    """Say whether a result that is written into an array takes part in a recording."""
    tape = RECORDING.tape
    return isinstance(out, np.ndarray) and (
        tape.holds(args) or tape.holds(kwargs) or tape.is_held(out))
