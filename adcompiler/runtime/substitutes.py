"""Classes of Python written in C, as classes written in Python that are compiled in their place.

An instance that is made in compiled code is one of the class on the right of ``SUBSTITUTES``, whose
methods are opened as a user's are. No such instance leaves the code: what asks for its class gets
that on the left, and what would hand it to a function that is not compiled is refused.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Deque:
    """``collections.deque``: a list, of which the items before ``head`` have been taken away."""

    def __init__(self, iterable: Iterable[Any] = (), maxlen: int | None = None) -> None:
        self.items = [item for item in iterable]  # noqa: C416 (list() asks for a length)
        self.head = 0
        self.maxlen = maxlen
        if maxlen is not None:
            self.head = max(len(self.items) - maxlen, 0)

    def __len__(self) -> int:
        return len(self.items) - self.head

    def __bool__(self) -> bool:
        return len(self.items) > self.head

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items[self.head :])

    def __reversed__(self) -> Iterator[Any]:
        return iter(self.items[self.head :][::-1])

    def __contains__(self, item: Any) -> bool:
        return item in self.items[self.head :]

    def place_of(self, index: int) -> int:
        """Return where an item stands in ``items``."""
        place = index + (self.head if index >= 0 else len(self.items))
        if place < self.head or place >= len(self.items):
            raise IndexError("deque index out of range")
        return place

    def __getitem__(self, index: int) -> Any:
        return self.items[self.place_of(index)]

    def __setitem__(self, index: int, item: Any) -> None:
        self.items[self.place_of(index)] = item

    def append(self, item: Any) -> None:
        """Add an item at the end; a full deque loses its first."""
        self.items.append(item)
        if self.maxlen is not None:
            self.head = max(self.head, len(self.items) - self.maxlen)

    def appendleft(self, item: Any) -> None:
        """Add an item in front; a full deque loses its last."""
        self.items = [item, *self.items[self.head :]]
        self.head = 0
        if self.maxlen is not None:
            self.items = self.items[: self.maxlen]

    def extend(self, iterable: Iterable[Any]) -> None:
        """Add items at the end, one by one."""
        for item in [item for item in iterable]:  # noqa: C416 (it may be the deque itself)
            self.append(item)

    def extendleft(self, iterable: Iterable[Any]) -> None:
        """Add items in front, one by one."""
        for item in [item for item in iterable]:  # noqa: C416 (it may be the deque itself)
            self.appendleft(item)

    def pop(self) -> Any:
        """Take the last item away."""
        if len(self.items) <= self.head:
            raise IndexError("pop from an empty deque")
        last = self.items[-1]
        self.items = self.items[:-1]
        return last

    def popleft(self) -> Any:
        """Take the first item away."""
        if len(self.items) <= self.head:
            raise IndexError("pop from an empty deque")
        first = self.items[self.head]
        self.head = self.head + 1
        return first

    def clear(self) -> None:
        """Take all items away."""
        self.head = len(self.items)

    def rotate(self, n: int = 1) -> None:
        """Move items from the end to the front, or the other way."""
        items = self.items[self.head :]
        split = -n % len(items) if len(items) > 0 else 0
        self.items = [*items[split:], *items[:split]]
        self.head = 0

    def reverse(self) -> None:
        """Turn the order round."""
        self.items = self.items[self.head :][::-1]
        self.head = 0

    def count(self, item: Any) -> int:
        """Return how many items equal one."""
        return self.items[self.head :].count(item)

    def copy(self) -> Any:
        """Return another deque of the items."""
        return Deque(self.items[self.head :], self.maxlen)


class Table:
    """What dicts of other classes have in common: a dict, and its methods."""

    table: dict[Any, Any]

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.table[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.table[key]

    def __contains__(self, key: Any) -> bool:
        return key in self.table

    def __len__(self) -> int:
        return len(self.table)

    def __bool__(self) -> bool:
        return len(self.table) > 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.table)

    def keys(self) -> Any:
        """Return the keys."""
        return self.table.keys()

    def values(self) -> Any:
        """Return the values."""
        return self.table.values()

    def items(self) -> Any:
        """Return keys and values."""
        return self.table.items()

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a value, or the default, which is not stored."""
        return self.table.get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return a value; the default is stored where there is none."""
        return self.table.setdefault(key, default)

    def update(self, entries: Any = None, **more: Any) -> None:
        """Take over the entries of another dict."""
        if entries is not None:
            self.table.update(dict(entries))
        self.table.update(more)

    def pop(self, key: Any, *default: Any) -> Any:
        """Take an entry away."""
        return self.table.pop(key, *default)

    def clear(self) -> None:
        """Take all entries away."""
        self.table = {}


class DefaultDict(Table):
    """``collections.defaultdict``: a dict, and what makes a value that it lacks."""

    def __init__(
        self, default_factory: Callable[[], Any] | None = None, entries: Any = None, **more: Any
    ) -> None:
        self.default_factory = default_factory
        self.table = dict(more) if entries is None else dict(entries, **more)

    def __getitem__(self, key: Any) -> Any:
        if self.default_factory is not None and key not in self.table:
            self.table[key] = self.default_factory()
        return self.table[key]

    def copy(self) -> Any:
        """Return another one with the same entries."""
        return DefaultDict(self.default_factory, self.table)


class OrderedDict(Table):
    """``collections.OrderedDict``: a dict whose entries may be moved to an end."""

    def __init__(self, entries: Any = None, **more: Any) -> None:
        self.table = dict(more) if entries is None else dict(entries, **more)

    def copy(self) -> Any:
        """Return another one with the same entries."""
        return OrderedDict(self.table)

    def move_to_end(self, key: Any, last: bool = True) -> None:
        """Let an entry be the last, or the first."""
        moved = [key]
        others = [name for name in self.table if name != key]
        order = others + moved if last else moved + others
        self.table = {name: self.table[name] for name in order}


SUBSTITUTES: dict[type, type] = {
    collections.deque: Deque, collections.defaultdict: DefaultDict,
    collections.OrderedDict: OrderedDict,
}
"""What is compiled in place of a class."""
CACHES = (functools.lru_cache, functools.cache)
"""What makes a function keep what it gave; compiled as a dict that the function asks."""
STAND_FOR = {own: cls for cls, own in SUBSTITUTES.items()}
