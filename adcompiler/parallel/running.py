"""Work for an executor: some of it ahead, results in order, sums as a tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from adcompiler.runtime import add

T = TypeVar("T")

AHEAD = 32
"""How many tasks are submitted before the result of the first of them is taken."""


def in_order(
    executor: Executor, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]],
    ahead: int = AHEAD,
) -> Iterator[T]:
    """Yield ``work(*task)`` for each of the tasks, in their order, computed by an executor.

    At most ``ahead`` of them are under way, so that neither arguments nor results pile up. What one
    of them raises is raised here; the others are cancelled then, as they are when nobody goes on.
    """
    if ahead < 1:
        raise ValueError(f"ahead={ahead}: at least one task has to be under way")
    waiting: deque[Future[T]] = deque()
    try:
        for task in tasks:
            waiting.append(executor.submit(work, *task))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def tree_sum(values: Iterable[Any]) -> Any:
    """Return the sum of values of one structure, added as a tree over their order.

    Neighbours are added, then neighbouring sums of two, of four, and so on; what is left over in
    the end is added from the right: five values are ``((a + b) + (c + d)) + e``. Rounding errors
    grow with the logarithm of the number of values, of which as many sums are held at a time.
    Raises ValueError if there is no value.
    """
    sums: list[tuple[int, Any]] = []
    for value in values:
        height = 0
        while sums and sums[-1][0] == height:
            value = add(sums.pop()[1], value)
            height += 1
        sums.append((height, value))
    if not sums:
        raise ValueError("there is nothing to add: no shards")
    _, total = sums.pop()
    while sums:
        total = add(sums.pop()[1], total)
    return total
