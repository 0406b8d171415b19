"""What iterators give is what the sequence holds when it is taken, with its derivative."""

from __future__ import annotations

import array
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, vjp

X = np.array([0.3, 0.7, 1.9])
MAKERS: dict[str, Callable[[Any], Any]] = {
    "an array": lambda x: x * 1.0,
    "a list": lambda x: [x[0], x[1], x[2]],
    "a view": lambda x: (x * 1.0)[::-1],
    "an array of constants": lambda x: np.array([0.4, 0.5, 0.6]),
    "every other number of one": lambda x: np.array([0.4, 0.0, 0.5, 0.0, 0.6])[::2],
    "a list of constants": lambda x: [0.4, 0.5, 0.6],
    "rows of constants": lambda x: np.array([[0.4], [0.5], [0.6]]),
    "an array.array": lambda x: array.array("d", [0.4, 0.5, 0.6]),
}


def times(pair: Any) -> Any:
    return pair[0] * pair[1]


def weighted(pair: Any) -> Any:
    return pair[0] * pair[1] + pair[1]


def squared(v: Any) -> Any:
    return v * v


ITERATORS: dict[str, Callable[[Any], Any]] = {
    "reversed": reversed, "iter": iter,
    "enumerate": lambda a: map(weighted, enumerate(a)),
    "enumerate, unpacked": lambda a: (v * i + v for i, v in enumerate(a)),
    "zip": lambda a: map(times, zip(a, a, strict=True)),
    "zip of reversed": lambda a: (u * w for u, w in zip(reversed(a), a, strict=True)),
    "map": lambda a: map(squared, a),
    "filter": lambda a: filter(lambda v: v > 0.0, a),
    "a generator": lambda a: (v for v in a),
    "flat": lambda a: a.flat if isinstance(a, np.ndarray) else iter(a),
    "flat items": lambda a: (v for _, v in np.ndenumerate(a)),
    "islice": lambda a: itertools.islice(a, 2),
    "chain": lambda a: itertools.chain(a, a),
    "chain.from_iterable": lambda a: itertools.chain.from_iterable([a, a]),
    "accumulate": itertools.accumulate,
    "takewhile": lambda a: itertools.takewhile(lambda v: v > 0, a),
    "cycle": lambda a: itertools.islice(itertools.cycle(a), 4),
    "starmap": lambda a: itertools.starmap(lambda u, w: u * w, zip(a, a, strict=True)),
    "pairwise": lambda a: map(times, itertools.pairwise(a)),
    "zip_longest": lambda a: map(times, itertools.zip_longest(a, a)),
    "compress": lambda a: itertools.compress(a, [1, 0, 1]),
    "product": lambda a: map(times, itertools.product(a, a)),
    "combinations": lambda a: map(times, itertools.combinations(a, 2)),
    "tee": lambda a: itertools.tee(a)[1],
    "groupby": lambda a: (k for k, _ in itertools.groupby(a)),
    "repeat": lambda a: (r[0] for r in itertools.repeat(a, 2)),
}


def program(maker: Any, iterator: Any, started: bool) -> Any:
    def f(x: Any) -> Any:
        items = maker(x)
        left = iterator(items)
        first = next(left) if started else 0.0
        items[0] = x[1] * x[2]
        items[2] = x[0] ** 2
        return np.sum(sum(left) + first)

    return f


def differences(f: Any) -> np.ndarray:
    return np.array([(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)])


def test_writes_between_the_start_of_an_iterator_and_its_end() -> None:
    wrong, right = [], 0
    for (kind, maker), (name, iterator), started in itertools.product(
        MAKERS.items(), ITERATORS.items(), (False, True)
    ):
        f = program(maker, iterator, started)
        try:
            wanted = f(X)
        except (StopIteration, TypeError, ValueError):  # Python does not do that either
            continue
        value, pullback = vjp(f, X.copy(), backend="record")
        found = pullback(1.0)[0]
        if value != wanted or not np.allclose(found, differences(f), 1e-6, 1e-7):
            wrong.append(f"{name} of {kind}, {started}: {value}, {found}")
        right += 1
    assert wrong == []
    assert right > 350


def test_a_broadcast_of_what_is_written_later_is_refused_where_it_goes_on() -> None:
    def f(x: Any) -> Any:
        a = np.ones(3)
        pairs = np.broadcast(a, 2.0)
        a[1] = x[0]
        return sum([u * w for u, w in pairs])

    with pytest.raises(ADError, match=r"np\.broadcast"):
        vjp(f, X, backend="record")
