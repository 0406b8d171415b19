"""``heapq`` and ``bisect``, which Python has in C, as the Python code that is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import SupportsDunderLT

    Ordered = TypeVar("Ordered", bound=SupportsDunderLT[Any])


def move_up(heap: list[Ordered], start: int, position: int) -> None:
    """Let the item at ``position`` of a heap rise to its place, not above ``start``."""
    item = heap[position]
    while position > start and item < heap[(position - 1) >> 1]:
        heap[position] = heap[(position - 1) >> 1]
        position = (position - 1) >> 1
    heap[position] = item


def move_down(heap: list[Ordered], position: int) -> None:
    """Let the smaller child of each node rise from ``position`` on, then the item itself."""
    start, end = position, len(heap)
    item = heap[position]
    child = 2 * position + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    move_up(heap, start, position)


def heapify(heap: list[Ordered]) -> None:
    """``heapq.heapify``."""
    for position in range(len(heap) // 2 - 1, -1, -1):
        move_down(heap, position)


def heappush(heap: list[Ordered], item: Ordered) -> None:
    """``heapq.heappush``."""
    heap.append(item)
    move_up(heap, 0, len(heap) - 1)


def heappop(heap: list[Ordered]) -> Ordered:
    """``heapq.heappop``."""
    item = heap.pop()
    if len(heap) > 0:
        last = item
        item = heap[0]
        heap[0] = last
        move_down(heap, 0)
    return item


def heapreplace(heap: list[Ordered], item: Ordered) -> Ordered:
    """``heapq.heapreplace``."""
    smallest = heap[0]
    heap[0] = item
    move_down(heap, 0)
    return smallest


def heappushpop(heap: list[Ordered], item: Ordered) -> Ordered:
    """``heapq.heappushpop``."""
    if len(heap) > 0 and heap[0] < item:
        smallest = heap[0]
        heap[0] = item
        move_down(heap, 0)
        item = smallest
    return item


def nsmallest(n: int, items: Any, key: Any = None) -> list[Any]:
    """``heapq.nsmallest``."""
    return sorted(items, key=key)[: max(n, 0)]


def nlargest(n: int, items: Any, key: Any = None) -> list[Any]:
    """``heapq.nlargest``."""
    return sorted(items, key=key, reverse=True)[: max(n, 0)]


def insort_right(a: list[Any], x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_right``."""
    wanted = x if key is None else key(x)
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        found = a[middle] if key is None else key(a[middle])
        if wanted < found:
            end = middle
        else:
            lo = middle + 1
    a.insert(lo, x)


def insort_left(a: list[Any], x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_left``."""
    wanted = x if key is None else key(x)
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        found = a[middle] if key is None else key(a[middle])
        if found < wanted:
            lo = middle + 1
        else:
            end = middle
    a.insert(lo, x)
