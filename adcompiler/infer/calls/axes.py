"""Axes of reductions and scans: given by name, and counted from the first one.

NumPy takes ``axis=0`` and ``axis=-1`` of numbers, which have no axis. Everything behind this module
counts axes of arrays, so the argument is left away as soon as types tell that there are none.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const, Star, unstar
from adcompiler.ops.facts import ALONG_ALL, ALONG_ONE, IN_ORDER
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.reading import RAISED, attempted
from adcompiler.support.budget import quiet
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.unit import Unit

REDUCES_OR_SCANS = frozenset({
    "sum", "mean", "average", "max", "min", "ptp", "median", "var", "prod", "cumsum", "cumprod",
    "quantile",
})
"""Transfers of functions that reduce, or run along, one axis or all of their first argument."""
ALONG = (ALONG_ONE, ALONG_ALL, IN_ORDER)
ARRAYS_BESIDE = ("weights", "where", "mean")
"""Parameters for arrays of which ``axis`` says how they lie to the first argument."""


def with_axis_by_name(
    unit: Unit, function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom]
) -> tuple[list[Atom], dict[str, Atom]]:
    """Return the arguments of a call with its axis by name, and counted from the first one.

    It is left away where what is reduced has no axes; where the rank is not known it stays.
    """
    place = place_of_axis(function) if hashable(function) else None
    if place is None or not args or any(isinstance(arg, Star) for arg in args):
        return args, kwargs
    if 0 < place == len(args) - 1 and "axis" not in kwargs:
        args, kwargs = args[:-1], {"axis": args[-1], **kwargs}
    given, type_ = kwargs.get("axis"), unit.type(args[0])
    if has_no_axes(type_):
        return without_axis(unit, function, args, kwargs)
    if isinstance(given, Const) and isinstance(type_, t.Array):
        kwargs = {**kwargs, "axis": Const(counted(given.value, type_.ndim))}
    return args, kwargs


def counted(axis: Any, ndim: int) -> Any:
    """Return an axis, or several, counted from the first one; as they are if there are none such.
    """
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not all(type(one) is int and -ndim <= one < ndim for one in axes):
        return axis
    axes = tuple(one % ndim for one in axes)
    return axes if isinstance(axis, tuple) else axes[0]


def without_axis(
    unit: Unit, function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom]
) -> tuple[list[Atom], dict[str, Atom]]:
    """Return the arguments of a call of a number without its axis, if that is one of it."""
    given = kwargs.get("axis", Const(0) if is_reduce(function) else NONE)
    if not isinstance(given, Const) or given.value is None or not takes_axis(
        function, given.value
    ) or any(has_axes(unit.type(kwargs[name])) for name in ARRAYS_BESIDE if name in kwargs):
        return args, kwargs  # it raises, or is one of an array beside
    rest = {name: value for name, value in kwargs.items() if name != "axis"}
    return args, rest | {"axis": NONE} if is_reduce(function) else rest


OF_ONE = frozenset({"sum", "mean", "max", "min", "prod", "copy"})
"""What functions mean that give a number that they are called of."""


def is_number_itself(
    unit: Unit, function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom],
    found: t.Type
) -> bool:
    """Say whether a call, of the type ``found``, gives the number of NumPy's that it is given."""
    return isinstance(found, t.Scalar) and found.exact and found.dtype is not None and (
        len(args) == 1 and not kwargs and found == unit.type(unstar(args[0]))
        and REGISTRY.facts(function).means in OF_ONE)


def has_no_axes(type_: t.Type) -> bool:
    """Say whether values of a type are numbers, or arrays without axes."""
    return isinstance(type_, t.Scalar) or (isinstance(type_, t.Array) and type_.ndim == 0)


def has_axes(type_: t.Type) -> bool:
    """Say whether values of a type may have axes."""
    return not has_no_axes(type_) and not isinstance(type_, t.Static)


def is_reduce(function: Callable[..., Any]) -> bool:
    """Say whether a function is ``reduce`` of a ufunc, which takes the first axis by default."""
    return isinstance(getattr(function, "__self__", None), np.ufunc) and (
        function.__name__ == "reduce"
    )


def place_of_axis(function: Callable[..., Any]) -> int | None:
    """Return the position of ``axis`` in a reduction or scan, 0 if it is by name only.

    None stands for any other function.
    """
    if is_reduce(function):
        return 1
    known = REGISTRY.resolve(function)
    facts = REGISTRY.facts(known)
    if facts.transfer not in REDUCES_OR_SCANS and facts.axes not in ALONG:
        return None
    return place_in_signature(known)


@functools.lru_cache(maxsize=256)
def place_in_signature(function: Callable[..., Any]) -> int | None:
    """Return the position of the parameter ``axis``, 0 if it is by name only, None without one.

    One that is by position only counts as none.
    """
    try:
        parameters = signature_of(function).parameters
    except (TypeError, ValueError):
        return None
    kind = parameters["axis"].kind if "axis" in parameters else inspect.Parameter.POSITIONAL_ONLY
    if kind is inspect.Parameter.POSITIONAL_ONLY:
        return None
    return 0 if kind is inspect.Parameter.KEYWORD_ONLY else list(parameters).index("axis")


@functools.lru_cache(maxsize=1024)
def takes_axis(function: Callable[..., Any], axis: Any) -> bool:
    """Say whether a function takes an axis of a number."""
    known = REGISTRY.resolve(function)
    with quiet():
        return any(
            attempted(known, np.float64(1.5), *more, axis=axis) is not RAISED
            for more in ((), (1,))  # how often it is repeated, which quantile it is
        )
