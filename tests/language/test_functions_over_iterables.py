"""Functions that run over what they are given, over all that can be run over.

Each function is compiled, and recorded, with each kind of iterable: what runs over a dict runs over
its keys, numbers here, which differ from its values and from the places of both.
"""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import math
import statistics
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.errors import ADError, RecordedWarning

X = np.array([0.3, 0.7, 1.4, 0.5])


class Sequence:
    """Runs over its items backwards; its subscripts are something else."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __iter__(self) -> Any:
        return iter(self.items[::-1])

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> Any:
        return self.items[i] * 10


KINDS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda x: {1: x[0], 0: x[1], 2: x[2]},
    "keys": lambda x: {1: x[0], 0: x[1], 2: x[2]}.keys(),
    "values": lambda x: {1: x[0], 0: x[1], 2: x[2]}.values(),
    "ordered": lambda x: collections.OrderedDict([(1, x[0]), (0, x[1]), (2, x[2])]),
    "instance": lambda x: Sequence(x[0], x[1], x[2]),
    "deque": lambda x: collections.deque([x[0], x[1], x[2]]),
    "generator": lambda x: (v * v for v in x[:3]),
    "range": lambda x: range(2, 5),
    "array": lambda x: x[:3] * 2,
    "column": lambda x: np.outer(x[:3], x[:2])[:, 0],
    "list": lambda x: [x[2], x[0], x[1]],
}

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda d, x: sum(d) * x[0],
    "sum from": lambda d, x: sum(d, x[3]) * x[0],
    "max": lambda d, x: max(d) * x[1],
    "min by key": lambda d, x: min(d, key=lambda v: -v) * x[0],
    "prod": lambda d, x: math.prod(d) * x[0],
    "fsum": lambda d, x: math.fsum(d) * x[0],
    "fmean": lambda d, x: statistics.fmean(d) * x[0],
    "any": lambda d, x: (2.0 if any(v > 1.5 for v in d) else 3.0) * x[0],
    "list": lambda d, x: list(d)[1] * x[0],
    "tuple": lambda d, x: tuple(d)[1] * x[0],
    "sorted": lambda d, x: sum(v * x[k] for k, v in enumerate(sorted(d))),
    "enumerate": lambda d, x: sum(i * v for i, v in enumerate(d)) * x[3],
    "zip": lambda d, x: sum(a * v for a, v in zip(x, d, strict=False)),
    "map": lambda d, x: sum(map(lambda v: v * x[0], d)),
    "filter": lambda d, x: sum(filter(lambda v: v > 0.2, d)) * x[0],
    "star": lambda d, x: (lambda a, b, c: a + 2 * b + 3 * c)(*d) * x[0],
    "comprehension": lambda d, x: sum([v * x[0] for v in d]),
    "next": lambda d, x: next(iter(d)) * x[0],
    "display": lambda d, x: sum(v * a for v, a in zip([x[0], *d], x, strict=False)),
    "chain": lambda d, x: sum(v * x[k] for k, v in enumerate(itertools.chain([x[0]], d))),
    "islice": lambda d, x: sum(v * x[k] for k, v in enumerate(itertools.islice(d, 1, 3))),
    "pairwise": lambda d, x: sum(a * b * x[0] for a, b in itertools.pairwise(d)),
    "combinations": lambda d, x: sum(a * b * x[0] for a, b in itertools.combinations(d, 2)),
    "product": lambda d, x: sum((a + 2 * b) * x[0] for a, b in itertools.product(d, repeat=2)),
    "accumulate": lambda d, x: sum(v * x[k] for k, v in enumerate(itertools.accumulate(d))),
    "takewhile": lambda d, x: sum(itertools.takewhile(lambda v: v < 100, d)) * x[0],
    "dropwhile": lambda d, x: sum(itertools.dropwhile(lambda v: v < 0.5, d)) * x[0],
    "compress": lambda d, x: sum(itertools.compress(d, [1, 0, 1])) * x[0],
    "cycle": lambda d, x: sum(v * a for v, a in zip(itertools.cycle(d), x, strict=False)),
    "groupby": lambda d, x: sum(k * len(list(g)) for k, g in itertools.groupby(d)) * x[0],
    "zip_longest": lambda d, x: sum((a or 0.0) * b for a, b in itertools.zip_longest(d, x)),
    "reduce": lambda d, x: functools.reduce(lambda a, b: a * 2 + b, d) * x[0],
    "nlargest": lambda d, x: sum(heapq.nlargest(2, d)) * x[0],
    "deque": lambda d, x: collections.deque(d)[1] * x[0],
    "fromiter": lambda d, x: np.fromiter(d, float) @ x[:3],
    "array": lambda d, x: np.array(list(d)) @ x[:3],
    "dict": lambda d, x: sum(k * v for k, v in dict(zip(d, x, strict=False)).items()),
    "fromkeys": lambda d, x: sum(v * x[0] for v in dict.fromkeys(d, x[1]).values()),
}

REFUSED = {("prod", "instance", "record")}
"""What runs over an instance unseen, when it is recorded."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_runs_over_it_follows_its_items(name: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")
    function, different = FUNCTIONS[name], {}
    for kind, make in KINDS.items():

        def run(x: Any, make: Any = make) -> Any:
            return function(make(x), x)

        step = 1e-6 * np.eye(4)
        expected = [(run(X + h) - run(X - h)) / 2e-6 for h in step]
        for backend in ("python", "record"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RecordedWarning)
                try:
                    value, gradient = value_and_grad(run, backend=backend)(X)
                except ADError:
                    different[kind, backend] = None
                    continue
            if abs(value - run(X)) > 1e-12 or not np.allclose(gradient, expected, atol=1e-7):
                different[kind, backend] = (value, gradient)
    assert different == {
        (kind, backend): None for of, kind, backend in REFUSED if of == name}
