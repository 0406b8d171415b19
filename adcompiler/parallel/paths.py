"""Means over random paths and their gradients, in batches of which each has a stream of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np

from adcompiler.api.derivative import Derivative
from adcompiler.api.emitted import Argnums
from adcompiler.api.grad import value_and_grad
from adcompiler.dispatch.trees import map_tree
from adcompiler.parallel.running import AHEAD, in_order, tree_sum
from adcompiler.runtime.progress import counted, watching
from adcompiler.support.structs import dataclass

BATCH = 10_000


@dataclass(frozen=True)
class Estimate:
    """A mean over paths, its gradient, and the standard error of the mean; nan of one batch."""

    value: float
    gradient: Any
    error: float
    paths: int


def monte_carlo(
    function: Callable[..., Any], sample: Callable[[np.random.Generator, int], Any],
    executor: Executor, *, paths: int, seed: int, batch: int = BATCH, argnums: Argnums = 0,
    ahead: int = AHEAD, progress: bool = False,
) -> Callable[..., Estimate]:
    """Return a function that estimates a mean over random paths, and its gradient.

    ``sample(rng, n)`` draws what ``n`` paths need, and ``function(*args, draws)`` is the mean of
    them, draws its last argument. Batch ``k`` draws from ``SeedSequence(seed, spawn_key=(k,))``, a
    stream independent of the others, so that the result depends on ``seed``, ``paths`` and
    ``batch``, and not on who computes which. Batches are weighted by their paths and added by
    ``tree_sum``; the standard error is that of the batches' means. With ``progress`` a terminal
    shows how many batches are done.
    """
    if paths < 1 or batch < 1:
        raise ValueError(f"paths={paths}, batch={batch}: both have to be at least 1")
    derivative = value_and_grad(function, argnums)
    counts = [min(batch, paths - start) for start in range(0, paths, batch)]

    def estimated(*args: Any) -> Estimate:
        """Return the estimate at the arguments."""
        tasks = ((derivative, sample, seed, k, n, args) for k, n in enumerate(counts))
        means: list[float] = []

        def weighted(found: tuple[Any, Any], count: int) -> tuple[Any, Any]:
            means.append(float(found[0]))
            weight = count / paths
            return found[0] * weight, map_tree(lambda leaf: leaf * weight, found[1])

        with watching(progress, derivative):
            results = in_order(executor, at_batch, tasks, ahead)
            value, gradient = tree_sum(
                weighted(found, n) for n, found in zip(
                    counted(counts, "batches"), results, strict=True))
        spread = sum(n * (mean - value) ** 2 for n, mean in zip(counts, means, strict=True))
        free = len(counts) - 1
        error = math.sqrt(spread / (free * paths)) if free else math.nan
        return Estimate(float(value), gradient, error, paths)

    return estimated


def at_batch(
    derivative: Derivative[..., Any], sample: Callable[..., Any], seed: int, number: int,
    count: int, args: tuple[Any, ...],
) -> Any:
    """Return the mean over a batch, and its gradient."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    return derivative(*args, sample(rng, count))
