"""Functions of iterables as the Python code that is compiled where a derivative goes through them.

They take sequences (lists, tuples, arrays, ranges, texts) and return lists, made at once; so do
``map`` and ``filter`` here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from adcompiler.errors import ArgumentsError
from adcompiler.runtime import append
from adcompiler.runtime.adjoints.sequences import place_of_extreme, sort_order

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

    Ordered = TypeVar("Ordered", bound=SupportsRichComparison)
S = TypeVar("S")
T = TypeVar("T")


# -- the greatest, the least, in order -------------------------------------------------------------


def greatest_by(items: Sequence[T], key: Callable[[T], Ordered]) -> T:
    """``max(items, key=key)``."""
    keys = [key(item) for item in items]
    return items[keys.index(max(keys))]


def least_by(items: Sequence[T], key: Callable[[T], Ordered]) -> T:
    """``min(items, key=key)``."""
    keys = [key(item) for item in items]
    return items[keys.index(min(keys))]


def greatest_item(items: Sequence[T]) -> T:
    """``max(items)`` of tuples or lists, which carry a derivative inside."""
    return items[place_of_extreme(items, True)[0]]


def least_item(items: Sequence[T]) -> T:
    """``min(items)`` of tuples or lists, which carry a derivative inside."""
    return items[place_of_extreme(items, False)[0]]


def greatest_or(items: Sequence[Ordered], default: Ordered) -> Ordered:
    """``max(items, default=default)``."""
    return max(items) if len(items) > 0 else default


def least_or(items: Sequence[Ordered], default: Ordered) -> Ordered:
    """``min(items, default=default)``."""
    return min(items) if len(items) > 0 else default


def greatest_by_or(items: Sequence[T], key: Callable[[T], Ordered], default: T) -> T:
    """``max(items, key=key, default=default)``."""
    return greatest_by(items, key) if len(items) > 0 else default


def least_by_or(items: Sequence[T], key: Callable[[T], Ordered], default: T) -> T:
    """``min(items, key=key, default=default)``."""
    return least_by(items, key) if len(items) > 0 else default


def sorted_by(items: Sequence[T], key: Callable[[T], Ordered], reverse: bool) -> list[T]:
    """``sorted(items, key=key, reverse=reverse)``."""
    keys = [key(item) for item in items]
    return [items[position] for position in sort_order(keys, reverse)]


def sorted_items(items: Sequence[T], reverse: bool) -> list[T]:
    """``sorted(items, reverse=reverse)`` of items that carry a derivative inside."""
    return [items[position] for position in sort_order(items, reverse)]


def norm(items: Sequence[float]) -> float:
    """``math.hypot(*items)``."""
    return math.dist(items, [0.0] * len(items))


# -- one after the other ---------------------------------------------------------------------------


def first_of(items: Sequence[T]) -> T:
    """``next(iter(items))``."""
    if len(items) == 0:
        raise StopIteration
    return items[0]


def first_or(items: Sequence[T], default: T) -> T:
    """``next(iter(items), default)``."""
    return items[0] if len(items) > 0 else default


def items_of_iterator(iterator: Iterator[T]) -> list[T]:
    """``list(iterator)`` of an instance with ``__next__``."""
    found: list[Any] = []
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            break
        found = append(found, item)
    return found


def accumulated(items: Sequence[S], function: Callable[[T, S], T], initial: T) -> list[T]:
    """``list(itertools.accumulate(items, function, initial=initial))``."""
    total = initial
    totals = [total]
    for item in items:
        total = function(total, item)
        totals = append(totals, total)
    return totals


def accumulated_items(items: Sequence[T], function: Callable[[T, T], T]) -> list[T]:
    """``list(itertools.accumulate(items, function))``."""
    return accumulated(items[1:], function, items[0]) if len(items) > 0 else []


def total_of_lists(groups: Iterable[list[T]], start: list[T]) -> list[T]:
    """``sum(groups, start)`` of lists."""
    return start + [item for group in groups for item in group]


def total_of_tuples(groups: Iterable[tuple[T, ...]], start: tuple[T, ...]) -> tuple[T, ...]:
    """``sum(groups, start)`` of tuples."""
    return start + tuple([item for group in groups for item in group])


def total_of_instances(items: Sequence[Any], start: Any) -> Any:
    """``sum(items, start)`` of instances, of a class that says what is added."""
    if len(items) == 0:
        raise ArgumentsError("sum() of no items, where instances were found when compiling")
    total = start + items[0]
    for item in items[1:]:
        total = total + item
    return total


def flattened(groups: Iterable[Iterable[T]]) -> list[T]:
    """``list(itertools.chain.from_iterable(groups))``."""
    return [item for group in groups for item in group]


def sliced(
    items: Sequence[T], start: int | None, stop: int | None, step: int | None
) -> Sequence[T]:
    """``itertools.islice``, which takes no negative positions."""
    for position in (start, stop, step):
        if position is not None and position < 0:
            raise ValueError("positions of islice() must be None or an integer >= 0")
    return items[start:stop:step]


def sliced_cycle(items: Sequence[T], start: int | None, stop: int, step: int | None) -> list[T]:
    """``list(itertools.islice(itertools.cycle(items), start, stop, step))``."""
    first = 0 if start is None else start
    return [items[n % len(items)] for n in range(first, stop, 1 if step is None else step)]


def taken_while(predicate: Callable[[T], bool], items: Iterable[T]) -> list[T]:
    """``list(itertools.takewhile(predicate, items))``."""
    taken: list[Any] = []
    for item in items:
        if not predicate(item):
            break
        taken = append(taken, item)
    return taken


def dropped_while(predicate: Callable[[T], bool], items: Iterable[T]) -> list[T]:
    """``list(itertools.dropwhile(predicate, items))``."""
    kept: list[Any] = []
    dropping = True
    for item in items:
        if dropping and predicate(item):
            continue
        dropping = False
        kept = append(kept, item)
    return kept


def filtered_out(predicate: Callable[[T], bool] | None, items: Iterable[T]) -> list[T]:
    """``list(itertools.filterfalse(predicate, items))``."""
    if predicate is None:
        return [item for item in items if not item]
    return [item for item in items if not predicate(item)]


def compressed(items: Iterable[T], selectors: Iterable[bool]) -> list[T]:
    """``list(itertools.compress(items, selectors))``."""
    return [item for item, wanted in zip(items, selectors) if wanted]  # noqa: B905 (as compress)


def grouped(items: Sequence[T], key: Callable[[T], S]) -> list[tuple[S, Sequence[T]]]:
    """``itertools.groupby(items, key)``, with groups that are lists."""
    keys = [key(item) for item in items]
    starts = [n for n in range(len(keys)) if n == 0 or keys[n] != keys[n - 1]]
    stops = starts[1:] + [len(keys)]
    return [(keys[n], items[n:stop]) for n, stop in zip(starts, stops)]  # noqa: B905 (equal)


def filled(items: Sequence[T], length: int, value: T) -> list[T]:
    """``items`` with ``value`` behind them, up to ``length``."""
    return list(items) + [value] * (length - len(items))


# -- combinations ----------------------------------------------------------------------------------


def products(first: Iterable[T], second: Iterable[S]) -> list[tuple[T, S]]:
    """``list(itertools.product(first, second))``."""
    return [(a, b) for a in first for b in second]


def products_with(rows: Iterable[tuple[T, ...]], items: Iterable[T]) -> list[tuple[T, ...]]:
    """The product of rows, which are tuples, with one more sequence."""
    return [(*row, item) for row in rows for item in items]


def singles(items: Iterable[T]) -> list[tuple[T]]:
    """``list(itertools.product(items))``."""
    return [(item,) for item in items]


def rows_of(items: Sequence[T], positions: Iterable[Sequence[int]]) -> list[tuple[T, ...]]:
    """The items at each of several tuples of positions, which are all of unknown length."""
    return [tuple([items[position] for position in row]) for row in positions]


def pairs_of(items: Sequence[T], positions: Iterable[tuple[int, int]]) -> list[tuple[T, T]]:
    """The items at each of several pairs of positions."""
    return [(items[i], items[j]) for i, j in positions]


def triples_of(
    items: Sequence[T], positions: Iterable[tuple[int, int, int]]
) -> list[tuple[T, T, T]]:
    """The items at each of several triples of positions."""
    return [(items[i], items[j], items[k]) for i, j, k in positions]


def column(rows: Iterable[Sequence[T]], position: int) -> list[T]:
    """The items at one position of each row."""
    return [row[position] for row in rows]


def columns(rows: Sequence[Sequence[T]]) -> list[tuple[T, ...]]:
    """``list(zip(*rows))``."""
    length = min([len(row) for row in rows], default=0)
    return [tuple([row[position] for row in rows]) for position in range(length)]


# -- others ----------------------------------------------------------------------------------------


def applied_to_rows(function: Callable[..., T], rows: Iterable[Iterable[S]]) -> list[T]:
    """``list(itertools.starmap(function, rows))``."""
    return [function(*row) for row in rows]


def mapped(function: Callable[..., T], items: Iterable[S], *more: Iterable[S]) -> list[T]:
    """``map`` as a list."""
    if more:
        return [function(*row) for row in zip(items, *more)]  # noqa: B905 (as map does)
    return [function(item) for item in items]


def filtered(function: Callable[[T], bool] | None, items: Iterable[T]) -> list[T]:
    """``filter`` as a list."""
    if function is None:
        return [item for item in items if item]
    return [item for item in items if function(item)]


def reduced(function: Callable[[Any, Any], Any], items: Any, *initial: Any) -> Any:
    """``functools.reduce``."""
    if initial:
        result = initial[0]
        for item in items:
            result = function(result, item)
        return result
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


def listed(items: Iterable[T]) -> list[T]:
    """``list`` of what a loop would run over."""
    return [item for item in items]  # noqa: C416 (list() is what this stands for)
