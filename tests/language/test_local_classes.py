"""Classes defined inside of the functions that are compiled."""

import dataclasses
import gc
import weakref
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian
from tests.language.check import Cases

programs = Cases()
X = np.array([0.7, 1.3, 0.4])


@programs(X)
def operators(x):
    class Vector:
        """It names itself, its class attribute, and methods of all kinds."""

        dimension = 2

        def __init__(self, a, b=0.0):
            self.a = a
            self.b = b

        def __add__(self, other):
            return Vector(self.a + other.a, self.b + other.b)

        def __mul__(self, k):
            return Vector(self.a * k, self.b * k)

        __rmul__ = __mul__

        @property
        def norm2(self):
            return self.a**2 + self.b**2

        @staticmethod
        def unit():
            return Vector(1.0)

        @classmethod
        def on_the_curve(cls, t):
            return cls(t, t * t)

    v = 2.0 * Vector(x[0], x[1]) + Vector.on_the_curve(x[2]) + Vector.unit()
    return v.norm2 * Vector.dimension


@programs(X)
def derived_from_one_another(x):
    class Base:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v**2

    class Derived(Base):
        def __init__(self, v, w):
            super().__init__(v)
            self.w = w

        def f(self):
            return super().f() * self.w

    made = Derived(x[0], x[1])
    return made.f() + Base(x[2]).f() if isinstance(made, Base) else x[2]


@programs(X)
def data_classes(x):
    @dataclass(frozen=True)
    class Pair:
        a: float
        b: float = 2.0
        more: list = field(default_factory=list)

    one = Pair(x[0])
    two = dataclasses.replace(one, b=x[1])
    two.more.append(x[2])
    return one.a * one.b + two.a * two.b * sum(two.more)


@programs(X)
def named_tuples(x):
    class Pair(NamedTuple):
        a: float
        b: float

    pair = Pair(x[0], x[1])
    return pair.a * pair.b


@programs(X)
def state(x):
    class Mean:
        def __init__(self):
            self.total = 0.0
            self.count = 0

        def add(self, v):
            self.total += v * v
            self.count += 1

    mean = Mean()
    for v in x:
        mean.add(v)
    return mean.total / mean.count


@programs(X)
def a_tree(x):
    class Node:
        def __init__(self, v, left=None, right=None):
            self.v = v
            self.left = left
            self.right = right

    def value(node):
        return 1.0 if node is None else node.v * value(node.left) + value(node.right) * 0.5

    return value(Node(x[0], Node(x[1]), Node(x[2])))


@programs(X)
def in_an_inner_function(x):
    def scaled(k):
        class Scale:
            def __init__(self, k):
                self.k = k

            def __call__(self, t):
                return self.k * t

        return Scale(k)(x[1])

    return scaled(x[0]) + scaled(x[2])


@programs(X)
def exceptions(x):
    class TooLarge(Exception):
        pass

    try:
        if x[1] > 1.0:
            raise TooLarge("x")
        y = x[0]
    except TooLarge:
        y = x[1] ** 2
    return y


@pytest.mark.parametrize("case", programs, ids=str)
def test_classes(case):
    programs.check(case)


def test_second_order():
    step = 1e-5
    g = grad(operators)
    wanted = [(g(X + step * e) - g(X - step * e)) / (2.0 * step) for e in np.eye(3)]
    np.testing.assert_allclose(hessian(operators)(X), wanted, rtol=1e-6, atol=1e-6)
    twice = grad(lambda x: np.sum(grad(state)(x)))(X)
    np.testing.assert_allclose(twice, np.full(3, 2.0 / 3.0), rtol=1e-12)


def test_instances_come_out():
    def f(x):
        class Report:
            def __init__(self, text, value):
                self.text = text
                self.value = value

        return x * x, Report("square", x)

    gradient, report = grad(f, has_aux=True)(3.0)
    assert gradient == 6.0
    assert type(report).__name__ == "Report"
    assert report.text == "square"
    assert report.value == 3.0


def reads_a_variable(x):
    scale = 2.0 * x

    class Square:
        def area(self, side):
            return scale * side

    return Square().area(x)


def shares_a_list(x):
    class Stack:
        items = []  # noqa: RUF012 (that is the point)

        def push(self, v):
            self.items.append(v)

    Stack().push(x)
    return sum(Stack.items)


def reads_a_global_when_made(x):
    class Scaled:
        factor = len(X)

    return Scaled.factor * x


def reads_a_global_that_a_method_hides(x):
    class Scaled:
        factor = X

        def f(self, v, X=1.0):
            return v * X * self.factor[0]

    return Scaled().f(x)


def has_a_default_of_another_time(x):
    class Scaled:
        def f(self, v, weights=X):
            return v * weights[0]

    return Scaled().f(x)


def assigned(x):
    class Scaled:
        factor = 1.0

    Scaled.factor = x
    return Scaled.factor * x


def decorated(x):
    @str
    class Scaled:
        factor = 1.0

    return x * len(Scaled)


@pytest.mark.parametrize("f", [
    reads_a_variable, shares_a_list, reads_a_global_when_made,
    reads_a_global_that_a_method_hides, has_a_default_of_another_time,
    assigned, decorated,
], ids=lambda f: f.__name__)
def test_what_a_call_could_tell_is_refused(f):
    assert np.isfinite(f(2.0))
    with pytest.raises(UnsupportedError):
        grad(f)(2.0)


def test_nothing_is_left_of_them():
    def made():
        def f(x):
            class Square:
                def area(self, side):
                    return side * side

            return Square().area(x)

        return f

    f = made()
    assert grad(f)(3.0) == 6.0
    left = weakref.ref(f)
    del f
    gc.collect()
    assert left() is None
