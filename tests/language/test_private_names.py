"""Names that start with two underscores mean in a class what Python makes of them."""

import dataclasses

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import Cases

programs = Cases()


class Private:
    def __init__(self, x):
        self.__x = x

    def get(self):
        return self.__x * getattr(self, "__x", 1.0)


@programs(1.5)
def attribute(x):
    return Private(x).get()


@programs(1.5)
def written_from_outside(x):
    private = Private(x)
    private._Private__x = private._Private__x * 2
    private.__x = 5.0
    return private.get() * private.__x


class Total:
    __total = 0.0

    def add(self, v):
        self.__total += v

    def get(self):
        return self.__total


@programs(1.5)
def default_of_the_class(x):
    total = Total()
    total.add(x * x)
    total.add(3.0 * x)
    return total.get()


class Helpers:
    __scale = 3.0

    @staticmethod
    def __square(v):
        return v * v

    def __linear(self, v):
        return self.__scale * v

    def run(self, x):
        return self.__square(x) + self.__linear(x) + Helpers.__scale * x


@programs(1.5)
def methods(x):
    return Helpers().run(x)


class Base:
    def __init__(self, x):
        self.__v = x

    def base(self):
        return self.__v


class _Derived(Base):
    def __init__(self, x):
        super().__init__(x)
        self.__v = x * x

    def both(self):
        return self.base() * 3 + self.__v


@programs(1.5)
def one_of_each_class(x):
    return _Derived(x).both() * _Derived(x)._Base__v


_Names__factor = 4.0


class Names:
    def with_parameter(self, __x, *, __y=2.0):
        return __x * __y * __factor  # noqa: F821

    def local(self, x):
        def __inner(v):
            return v * self.__k + __shift

        __shift = x * x
        self.__k = x
        return __inner(x) + [__i * x for __i in (1.0, 2.0)][1]

    def imported(self, x):
        import math as __m
        from math import sin as __s
        return __m.cos(x) * __s(x)

    def statements(self, x):
        __first, *__rest = (x, 2.0, 3.0)
        for __i in range(3):
            __first *= 1.5
        try:
            raise ValueError
        except ValueError as __error:
            __first += 1
        if (__copy := __first) > 0:
            return __copy * __rest[0] * __i
        return x

    def nonlocal_name(self, x):
        def grow():
            nonlocal __c
            __c = __c * 2

        __c = x
        grow()
        return __c

    def items(self, x):
        self.__s = x
        for __i in range(3):
            yield __i * self.__s

    def generated(self, x):
        return sum(self.items(x))

    def matched(self, x):
        match {"a": x, "b": 2.0}:
            case {"a": __v, **__rest}:
                return __v * __rest["b"]

    def by_keyword(self, x):
        return self.with_parameter(x, _Names__y=x)


@programs(1.5)
def names(x):
    n = Names()
    return (
        n.with_parameter(x) + n.local(x) * n.imported(x) + n.statements(x) * n.nonlocal_name(x)
        + n.generated(x) * n.matched(x) + n.by_keyword(x)
    )


class Containers:
    def __init__(self, x):
        self.__table, self.__list, self.__array = {"a": x}, [x, 2 * x], np.ones(3) * x

    def run(self):
        self.__table["a"] *= 2
        self.__list[0] = self.__list[1] * self.__table["a"]
        self.__array[1] = 7 * self.__list[0]
        return self.__list[0] * self.__array.sum()


@programs(1.5)
def containers(x):
    return Containers(x).run()


@dataclasses.dataclass
class Record:
    __v: float = 2.0
    w: float = 1.0

    def product(self):
        return self.__v * self.w


@programs(1.5)
def fields(x):
    return Record(w=x).product() + Record(x).product() * x


class Slots:
    __slots__ = ("__x",)

    def __init__(self, x):
        self.__x = x

    @property
    def x(self):
        return self.__x * 3

    @x.setter
    def x(self, v):
        self.__x = v * 2


@programs(1.5)
def slots(x):
    one = Slots(x)
    one.x = one.x * x
    return one.x


@programs(1.5)
def class_of_a_function(x):
    class Local:
        def __init__(self, x):
            self.__x = x

        def run(self):
            return self.__x * self.__more()

        def __more(self):
            return self.__x + 1

    return Local(x).run() * Local(x)._Local__x


class Lambdas:
    __k = 2.0
    double = lambda self, x: self.__k * x  # noqa: E731
    __square = lambda self, x: self.__k * x * x  # noqa: E731

    def run(self, x):
        return self.double(x) + self.__square(x)


@programs(1.5)
def lambdas(x):
    return Lambdas().run(x)


def test_private_names():
    for case in programs:
        programs.check(case)


def test_keywords_of_calls_are_not_mangled():
    class Asks:
        def run(self, x):
            return Names().with_parameter(x, __y=x)

    with pytest.raises(TypeError, match="unexpected keyword argument '__y'"):
        Asks().run(1.5)
    with pytest.raises(UnsupportedError, match="unexpected argument `__y`"):
        grad(lambda x: Asks().run(x))(1.5)
