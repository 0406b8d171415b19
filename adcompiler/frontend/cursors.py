"""What an iterator that is asked in several places does: functions of a sequence and a place in it.

The place is that of a ``Cursor`` (``runtime/substitutes.py``). Those that take all items at once
stand where a function of Python's runs through ``zip``, ``islice`` or ``enumerate`` of it, and
nothing else is done meanwhile.
"""

from __future__ import annotations

from typing import Any

from adcompiler.runtime import append
from adcompiler.runtime.substitutes import Cursor


def shared(make: Any, items: Any) -> Any:
    """``make(items)``, which is ``iter`` or what goes by its name."""
    return make(items)


def shared_generator(items: Any) -> Any:
    """A generator that is asked in several places; any other value is what it is."""
    return items


def is_shared(*values: Any) -> bool:
    """Say whether all values are sequences and places in them."""
    return all(isinstance(value, Cursor) for value in values)


def goes_over(function: Any, wanted: Any, *values: Any) -> bool:
    """Say whether ``function`` is the ``wanted`` one, and all it is given are cursors."""
    return function is wanted and is_shared(*values)


def taken_by(consumer: Any, function: Any, *args: Any) -> Any:
    """``function(*args)``, of which ``consumer`` takes all items at once; None: the text does."""
    return function(*args)


def has_more(cursor: Cursor) -> bool:
    """Say whether a loop over an iterator goes on."""
    return cursor.position < len(cursor.items)


def take(cursor: Cursor) -> Any:
    """Return the next item, which is there."""
    cursor.position = cursor.position + 1
    return cursor.items[cursor.position - 1]


def next_or(cursor: Cursor, default: Any) -> Any:
    """``next(it, default)``."""
    return take(cursor) if has_more(cursor) else default


def finish(cursor: Cursor) -> None:
    """Let an iterator that has come to its end stay there."""
    cursor.close()


def count_of(stop: int) -> int:
    """Return how many items ``islice(it, stop)`` takes at most."""
    if stop < 0:
        raise ValueError("positions of islice() must be None or an integer >= 0")
    return stop


def first_items(cursor: Cursor, stop: int) -> list[Any]:
    """``list(itertools.islice(it, stop))``."""
    count = count_of(stop)
    found: list[Any] = []
    while count > 0 and has_more(cursor):
        found = append(found, take(cursor))
        count = count - 1
    if count > 0:
        finish(cursor)
    return found


def pairs_taken(first: Cursor, second: Cursor) -> list[tuple[Any, Any]]:
    """``list(zip(first, second))``, where both may be one iterator."""
    rows: list[tuple[Any, Any]] = []
    while True:
        if not has_more(first):
            finish(first)
            break
        one = take(first)
        if not has_more(second):
            finish(second)
            break
        rows = append(rows, (one, take(second)))
    return rows


def triples_taken(first: Cursor, second: Cursor, third: Cursor) -> list[tuple[Any, Any, Any]]:
    """``list(zip(first, second, third))``, where they may be one iterator."""
    rows: list[tuple[Any, Any, Any]] = []
    while True:
        if not has_more(first):
            finish(first)
            break
        one = take(first)
        if not has_more(second):
            finish(second)
            break
        two = take(second)
        if not has_more(third):
            finish(third)
            break
        rows = append(rows, (one, two, take(third)))
    return rows


def numbered(cursor: Cursor, start: int) -> list[tuple[int, Any]]:
    """``list(enumerate(it, start))``."""
    return [(start + k, item) for k, item in enumerate(list(cursor))]
