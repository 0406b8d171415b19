"""Patterns of loops over lists whose length depends on the inputs."""

import itertools

import numpy as np
import pytest

from adcompiler import jacobian_sparsity
from tests.sparsity.check import rows


def made(x):
    found = [x[0]]
    if x[1] > 0:
        found.append(x[2])
    return found


def zipped(x):
    return sum([a * b for a, b in zip(made(x), [x[3], x[4]], strict=False)])


def counted(x):
    total = 0.0
    for k, a in enumerate(made(x)):
        total = total + k * a
    return total


def followed(way):
    def program(x):
        total = 0.0
        for a in way(x):
            total = total * 2 + a
        return total

    return program


def from_the_end(x):
    return reversed(made(x))


def one_by_one(x):
    return iter(made(x))


def chained(x):
    return itertools.chain(made(x), [x[4]])


def cut(x):
    return itertools.islice(made(x), 1)


def mapped(x):
    return map(np.sin, made(x))


def among_others(x):
    total = 0.0
    for way in [reversed(made(x)), itertools.chain(made(x), [x[4]]), iter(made(x))]:
        for a in way:
            total = total * 2 + a
    return total


def pairs_among_others(x):
    return sum([a * x[4] for row in [zip(made(x), made(x), strict=True)] for p in row for a in p])


def counted_among_others(x):
    return sum([k * a for row in [enumerate(made(x))] for k, a in row])


def cut_among_others(x):
    return sum([a for row in [itertools.islice(made(x), 2), iter([x[3]])] for a in row])


@pytest.mark.parametrize(("function", "everywhere", "here"), [
    (zipped, {0, 2, 3, 4}, {0, 2, 3, 4}),
    (counted, {0, 2}, {2}),
    (followed(from_the_end), {0, 2}, {0, 2}),
    (followed(one_by_one), {0, 2}, {0, 2}),
    (followed(chained), {0, 2, 4}, {0, 2, 4}),
    (followed(cut), {0, 2}, {0}),
    (followed(mapped), {0, 2}, {0, 2}),
    (among_others, {0, 2, 4}, {0, 2, 4}),
    (pairs_among_others, {0, 2, 4}, {0, 2, 4}),
    (counted_among_others, {0, 2}, {2}),
    (cut_among_others, {0, 2, 3}, {0, 2, 3}),
])
def test_loops_over_lists_of_unknown_length(function, everywhere, here):
    assert rows(jacobian_sparsity(function, np.ones(5))) == [everywhere]
    assert rows(jacobian_sparsity(function, np.ones(5), mode="local")) == [here]
