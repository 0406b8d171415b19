"""Calls that may give something else another time, or in another process."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.ops.registry import REGISTRY
from adcompiler.sparsity.dependences.values import Dependent, Either, Value

if TYPE_CHECKING:
    pass

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def drawing_apart(
    function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value],
) -> tuple[Any, Any, Any]:
    """Return a call that draws from copies of the generators in it: those of the program stay."""

    def apart(value: Any) -> Any:
        if not isinstance(value, GENERATORS) or isinstance(value, random.SystemRandom):
            return value
        return copy.deepcopy(value)

    owner = getattr(function, "__self__", None)
    if isinstance(owner, GENERATORS):
        function = getattr(apart(owner), function.__name__)
    return function, tuple(map(apart, args)), {key: apart(value) for key, value in kwargs.items()}


def is_harmless(function: Callable[..., Any]) -> bool:
    """Say whether a call of known arguments, which does not vary, gives the same in every process.

    That is not known of classes, which may read files or more, unless they only hold what they are
    given.
    """
    return not isinstance(function, type) or REGISTRY.facts(function).is_pure or (
        issubclass(function, (np.generic, np.dtype))
        or function.__module__.startswith(HOLDING))


HOLDING = ("builtins", "collections", "scipy.sparse", "scipy.spatial", "scipy.interpolate")
"""The modules of classes whose instances hold what they are given, and nothing else."""


def unknown_like(value: Value) -> Any:
    """Return a value of which no more is known than the kinds and shapes of its numbers."""
    if isinstance(value, np.ndarray):
        return Dependent(value.shape, value.dtype)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Dependent((), value.dtype if isinstance(value, np.generic) else type(value))
    if isinstance(value, (list, tuple)):
        items = map(unknown_like, value)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, str):
        return Dependent((), str)
    return Either() if isinstance(value, (bytes, dict, set, frozenset)) else value
