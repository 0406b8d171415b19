"""Minimisation from many starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

from adcompiler.api.derivative import Derivative
from adcompiler.api.grad import value_and_grad
from adcompiler.parallel.running import AHEAD, in_order
from adcompiler.runtime.progress import counted, watching
from adcompiler.support.structs import dataclass


@dataclass(frozen=True)
class Found:
    """What ``scipy.optimize.minimize`` returned from each start, and the best of them."""

    best: Any
    results: tuple[Any, ...]


def multi_start(
    function: Callable[..., Any], starts: Sequence[Any], executor: Executor, *,
    args: tuple[Any, ...] = (), ahead: int = AHEAD, progress: bool = False,
    **options: Any,
) -> Found:
    """Minimise ``function(x, *args)`` from each of ``starts`` by its gradient.

    ``options`` are those of ``scipy.optimize.minimize``. Results are in the order of the starts;
    the best is the first of those with the smallest value that is a number, successful ones before
    others. With ``progress`` a terminal shows how many starts are done. Raises ValueError without
    a start.
    """
    if not len(starts):
        raise ValueError("there is no start to minimise from")
    derivative = value_and_grad(function)
    tasks = ((derivative, start, args, options) for start in starts)
    with watching(progress, f"minimising {getattr(function, '__qualname__', function)}"):
        found = in_order(executor, from_start, tasks, ahead)
        results = tuple(counted(found, "starts", len(starts)))

    def rank(result: Any) -> tuple[bool, bool, float]:
        value = float(result.fun)
        return math.isnan(value), not result.success, 0.0 if math.isnan(value) else value

    return Found(min(results, key=rank), results)


def from_start(
    derivative: Derivative[..., Any], start: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return what minimisation from a start finds."""
    from scipy.optimize import minimize

    return minimize(derivative, start, args=args, jac=True, **options)
