"""What a run that names no tests leaves out: more examples of what it has examples of.

``pytest`` alone runs the first lane; naming files runs both, and ``--lane`` says which. What only
the second lane holds is more of the same: further programs of the corpus, seeds, rules, for a check
that others stand for in the first. ``--lane=second --slice=2/3`` runs the second of three parts of
it, as ``tests/thorough.py`` does one after the other.
"""

from __future__ import annotations

import itertools
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

THINNED = Path(__file__).with_name("thinned.txt")


def one_in(every: int, params: Iterable[Any], whole: bool = False) -> list[Any]:
    """Return the values of a parameter, of which one in ``every`` is in the first lane.

    Tuples are of several parameters, unless they are values as a ``whole``.
    """
    return [
        one if k % every == 0 else marked(one, whole) for k, one in enumerate(params)
    ]


def some_of_each(
    kind: Callable[[Any], tuple[str, int]], params: Iterable[Any]
) -> list[Any]:
    """Return the values of a parameter, of which some of each kind are in the first lane.

    ``kind`` gives the name of a value's kind, and how many of that kind one value stands for. Each
    kind begins one place later, so that values that are in order, such as the methods of one class
    after the other, are not always those of the same classes.
    """
    places: dict[str, Iterator[int]] = {}
    found = []
    for one in params:
        name, every = kind(one)
        place = next(places.setdefault(name, itertools.count(len(places))))
        found.append(marked(one, True) if place % every else one)
    return found


def marked(one: Any, whole: bool) -> Any:
    """Return a value, or a tuple of values, of parameters as one of the second lane."""
    if isinstance(one, type(pytest.param())):
        return pytest.param(*one.values, id=one.id, marks=(*one.marks, pytest.mark.thorough))
    values = one if isinstance(one, tuple) and not whole else (one,)
    return pytest.param(*values, marks=pytest.mark.thorough)


def thinned() -> dict[str, int]:
    """Return the functions of which one case in so many is in the first lane, as they take long.

    They are those of many cases that took more than three seconds together when all of them ran
    (``--durations=0``); each runs for about that long.
    """
    rows = (line.split() for line in THINNED.read_text(encoding="utf-8").splitlines())
    return {name: int(every) for every, name in rows}


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the tests out of ``items`` that are of another lane, or part, than is asked for."""
    lane = config.option.lane
    part, parts = parts_of(config.option.slice)
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    rare, places = thinned(), Counter[str]()
    for item in items:
        name = item.nodeid.partition("[")[0]
        places[name] += 1
        is_left = name in rare and places[name] % rare[name] != 1 % rare[name]
        if item.get_closest_marker("thorough") is None and not is_left:
            wanted = lane != "second"
        else:
            wanted = lane != "first" and (not part or part_of(item.nodeid, parts) == part)
        (kept if wanted else left).append(item)
    items[:] = kept
    if left:
        config.hook.pytest_deselected(items=left)


def parts_of(slice_: str) -> tuple[int, int]:
    """Return which part of how many parts of the second lane runs: all of it is the 0th."""
    if not slice_:
        return 0, 1
    part, _, parts = slice_.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise pytest.UsageError(f"--slice={slice_}: write the part and how many there are, as 2/3")
    return int(part), int(parts)


def part_of(name: str, parts: int) -> int:
    """Return the part, of 1 to ``parts``, that a test of the second lane is in."""
    return zlib.crc32(name.encode()) % parts + 1
