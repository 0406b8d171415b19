"""Entries that are taken out of dicts made in loops, dicts of pairs and keywords, other sums."""

import numpy as np
import pytest

from adcompiler import ADError, grad
from tests.language.check import Cases

programs = Cases()
X = np.array([0.7, 1.3, 0.4])


def squares(x):
    table = {}
    for i in range(len(x)):
        table[i] = x[i] ** 2
    return table


@programs(X)
def popped(x):
    table = squares(x)
    total = 1.0
    for i in range(3):
        total = total * table.pop(i) + len(table)
    return total


@programs(X)
def popped_with_a_default(x):
    table = squares(x)
    total = 1.0
    for i in range(5):
        total = total * 2.0 + table.pop(i, x[0])
    return total


@programs(X)
def deleted(x):
    table = squares(x)
    del table[max(table, key=table.get)]
    return sum(value**2 for value in table.values())


@programs(X)
def the_last_one_first(x):
    table = squares(x)
    total = 1.0
    while table:
        key, value = table.popitem()
        total = total * 2.0 + value * (key + 1)
    return total


@programs(X)
def work_that_makes_work(x):
    todo, done, n = {"a": x[0]}, {}, 0
    while todo:
        key, value = todo.popitem()
        done[key] = value * value
        n += 1
        if n < 3:
            todo["b" * n] = value * x[n]
    return sum(done.values())


@programs(X)
def under_two_names(x):
    table = squares(x)
    same, other = table, dict(table)
    first = same.pop(1)
    table[1] = x[0]
    return first * sum(table.values()) + other[1] * same[1]


@programs(X)
def caught(x):
    table = squares(x)
    try:
        value = table.pop(7)
    except KeyError:
        value = x[2]
    return value * table[0]


@programs(X)
def of_known_keys(x):
    table = {"a": x[0], "b": x[1], "c": x[2]}
    key, value = table.popitem()
    return value * table.pop("a") * len(key) + sum(table.values())


@programs(X)
def of_pairs_and_keywords(x):
    table = dict([("a", x[0]), ("b", x[1])], c=x[2])
    other = dict(zip(["p", "q"], x, strict=False), r=x[0] * x[1])
    return table["a"] * table["b"] * table["c"] + other["p"] * other["r"]


def scaled(t, a, b=1.0, c=0.5):
    return a * np.exp(-b * t) + c


@programs(X)
@programs(X[:2])
@programs(X[:1])
def parameters_and_defaults(p):
    return np.sum(scaled(np.linspace(0.0, 1.0, 4), *p) ** 2)


@programs(X)
def parameters_of_an_inner_function(p):
    def product(a, b=2.0, c=1.0, d=3.0):
        return a * b * c * d

    return product(*p) + product(*[v * v for v in p[:2]])


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.x, self.y)[i]


@programs(X)
def a_sum_of_instances(x):
    total = sum([Vector(v, v * v) for v in x])
    return total @ sum([Vector(x[0], 1.0), Vector(2.0, x[1])], Vector(x[2], x[2]))


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivatives(case):
    programs.check(case)


def test_what_is_not_there():
    with pytest.raises(KeyError):
        grad(lambda x: squares(x).pop(7))(X)
    with pytest.raises(KeyError, match="dictionary is empty"):
        grad(lambda x: squares(x[:0]).popitem()[1] * x[0])(X)


def test_too_many_parameters():
    with pytest.raises(TypeError, match="more or fewer arguments"):
        grad(parameters_and_defaults)(np.ones(4))


def test_an_operator_of_what_turns_out_to_be_an_instance_is_refused():
    """Its attributes got no derivative, and the gradient was zero. A recording follows them."""
    def total(x):
        vectors = [Vector(v, v * v) for v in x]
        if len(vectors) == 0:
            found = 0
        else:
            found = vectors[0]
            for vector in vectors[1:]:
                found = found + vector
        return found @ found

    with pytest.raises(ADError, match="may be an instance of Vector, which has operators"):
        grad(total, fallback="refuse")(X)
    expected = [(total(X + h) - total(X - h)) / 2e-6 for h in 1e-6 * np.eye(len(X))]
    np.testing.assert_allclose(grad(total, backend="record")(X), expected, rtol=1e-6)
