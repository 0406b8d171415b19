"""State in attributes: what constructors and methods of plain classes store."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])


class Counter:
    step = 0.5

    def __init__(self, start):
        self.value = start
        self.seen = []
        self.total = 0.0

    def add(self, x):
        self.seen.append(x)
        self.total += x * self.value
        return self

    def grow(self):
        self.value = self.value * (1.0 + self.step)
        return self


class Doubling(Counter):
    step = 1.0

    def __init__(self, start, extra):
        super().__init__(start * extra)
        self.extra = extra


class Momentum:
    def __init__(self, size, rate):
        self.rate = rate
        self.velocity = np.zeros(size)

    def step(self, params, gradients):
        for p, g in zip(params, gradients):
            self.velocity *= 0.5
            self.velocity += g
            p -= self.rate * self.velocity
            p *= 1.0 + self.rate * g
            self.rate *= 0.9
            p -= 0.1 * g * self.rate * self.velocity


@programs(0.7)
def attributes_of_a_new_instance(x):
    c = Counter(x)
    c.value *= c.value
    return c.value * x


@programs(0.7, 1.3)
def a_base_class_that_stores(x, y):
    return Doubling(x, y).grow().grow().value * y


@programs(V)
def state_in_a_loop(x):
    c = Counter(x[0])
    for y in x:
        c.add(y).grow()
    return c.total * len(c.seen) + c.seen[1]


@programs(V)
def another_name_for_an_instance(x):
    c = d = Counter(x[0])
    c.add(x[1])
    d.total *= x[2]
    return c.total


@programs(V)
def calls_as_statements(x):
    c = Counter(x[0])
    for y in x:
        c.grow().add(y)
    c.grow().add(x[0])
    return c.total


@programs(V)
def state_in_a_branch(x):
    c = Counter(x[0])
    if x[1] < 0.0:
        c.value = x[1] * x[2]
    else:
        c.grow()
    return c.value * x[0]


@programs(V)
def instances_in_a_list(x):
    counters = [Counter(y) for y in x]
    for c in counters:
        c.add(3.0 * c.value)
    counters[0].add(x[1])
    return sum(c.total for c in counters)


@programs(V)
def instances_of_two_classes(x):
    counters = [Counter(x[0]), Doubling(x[1], x[2])]
    for _ in range(2):
        for c in counters:
            c.grow()
    return sum(c.value for c in counters)


def one_of_a_list_by_its_own_name(x):
    counters = [Counter(x[0]), Counter(x[1])]
    first = counters[0]
    for i in range(2):
        counters[i].add(x[2])
        first.value = first.value * 2.0
    return sum(c.total for c in counters) + first.value


@programs(V, 0.3)
def arrays_in_a_display(x, rate):
    a, b = np.zeros(3), x * 2.0
    optimizer = Momentum(3, rate)
    for _ in range(2):
        optimizer.step([a, b], [a - x, b * x])
    return np.sum(a * b)


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


def test_a_new_attribute_of_an_argument_is_refused():
    def f(c):
        c.other = c.value * 2.0
        return c.other

    with pytest.raises(UnsupportedError, match="new attribute `other`"):
        grad(f)(Counter(1.5))


def test_a_method_of_an_unknown_class_may_write():
    def f(x):
        counters = [Counter(x), Doubling(x, x)] * 20
        for c in counters:
            c.grow()
        return x * len(counters)

    with pytest.raises(UnsupportedError, match=r"`\.grow\(\)` of a value whose class is not known"):
        grad(f)(1.5)


def test_an_object_of_a_list_that_is_written_by_position_has_no_other_name():
    with pytest.raises(UnsupportedError, match="may share storage"):
        grad(one_of_a_list_by_its_own_name)(V)
