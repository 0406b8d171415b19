"""Values and gradients of sums over data in parts, one part to a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any

from adcompiler.api.derivative import Derivative
from adcompiler.api.emitted import Argnums, EmittedDerivative
from adcompiler.api.grad import value_and_grad as gradient_of
from adcompiler.parallel.running import AHEAD, in_order, tree_sum
from adcompiler.parallel.shards import loaded
from adcompiler.runtime.progress import counted, watching


def value_and_grad(
    function: Callable[..., Any], executor: Executor, *, argnums: Argnums = 0,
    sharded: int | Sequence[int] = 1, ahead: int = AHEAD, progress: bool = False, **options: Any,
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that computes the value and the gradient of a sum over data in parts.

    Its arguments are those of ``function``, but where ``sharded`` says so, by position, lists of
    parts, as ``shards`` makes them. It returns the sums of what ``value_and_grad(function)`` gives
    for each part, added by ``tree_sum`` in the order of the parts. ``argnums`` and ``options`` are
    those of ``value_and_grad``; ``ahead`` parts are under way at most. With ``progress`` a terminal
    shows how many are done.
    """
    places = (sharded,) if isinstance(sharded, int) else tuple(sharded)
    derivative: EmittedDerivative[..., Any] = gradient_of(function, argnums, **options)  # type: ignore[assignment]
    s = derivative.specialisations
    for place in places:
        if place < 0 or place + len(s.target.first) in s.wrt:
            raise ValueError(
                f"sharded={sharded}: positions are counted from 0, and what comes in parts has no "
                f"gradient (argnums={argnums!r})"
            )

    def summed(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Return the sums of values and gradients over the parts."""
        tasks = ((derivative, one, kwargs) for one in each_part(args, places))
        with watching(progress, derivative):
            parts = in_order(executor, at_part, tasks, ahead)
            total = tree_sum(counted(parts, "parts", len(args[places[0]]) if places else None))
        return total[0], total[1]

    return summed


def each_part(args: tuple[Any, ...], places: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments for each part of what comes in parts."""
    counts = {len(args[place]) for place in places}
    if len(counts) != 1:
        raise ValueError(f"arguments come in different numbers of parts: {sorted(counts)}")
    for number in range(counts.pop()):
        yield tuple(
            arg[number] if place in places else arg for place, arg in enumerate(args)
        )


def at_part(derivative: Derivative[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """Return the value and the gradient for one part, where that is loaded."""
    return derivative(*map(loaded, args), **kwargs)
