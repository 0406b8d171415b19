"""The Python that is compiled in place of heapq and bisect does as these do."""

import bisect
import heapq
import random

import pytest

from adcompiler.prelude import heaps

LISTS = [[], [2.0], [1.0, 1.0], [3, 1, 2, 2, 0], [(1, "b"), (1, "a"), (0, "z")]]
LISTS += [random.Random(n).choices(range(9), k=n) for n in (7, 16, 33)]


def both(name, *args):
    """Return what the library's function and the prelude's leave of copies of lists, and give."""
    rows = []
    for home in (heapq, heaps) if hasattr(heapq, name) else (bisect, heaps):
        copies = [list(arg) if isinstance(arg, list) else arg for arg in args]
        try:
            result = getattr(home, name)(*copies)
        except IndexError:
            result = IndexError
        rows.append((result, copies))
    return rows


@pytest.mark.parametrize("items", LISTS, ids=repr)
def test_heaps(items):
    library, own = both("heapify", items)
    assert own == library
    heap = library[1][0]
    for name in ("heappop", "heappush", "heapreplace", "heappushpop"):
        for item in items[:3] if name != "heappop" else [None]:
            args = (heap,) if name == "heappop" else (heap, item)
            library, own = both(name, *args)
            assert own == library, name
    for n in (-1, 0, 2, len(items) + 1):
        for name in ("nsmallest", "nlargest"):
            library, own = both(name, n, items)
            assert own == library, name


@pytest.mark.parametrize("name", ["insort_left", "insort_right"])
def test_insertions(name):
    for key in (None, lambda item: -item[0]):
        first = sorted([(1, "a"), (1, "b"), (3, "c")], key=key)
        for item in [(0, "x"), (1, "x"), (2, "x"), (3, "x"), (4, "x")]:
            wanted, found = list(first), list(first)
            getattr(bisect, name)(wanted, item, 1, key=key)
            getattr(heaps, name)(found, item, 1, key=key)
            assert found == wanted
