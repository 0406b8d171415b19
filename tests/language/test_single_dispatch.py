"""Functions that the class of an argument chooses: ``functools.singledispatch`` and its method."""

import math
from dataclasses import dataclass
from functools import singledispatch, singledispatchmethod

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.modes import agrees_in_every_mode

V = np.array([0.7, 1.3, 0.4, 1.9])


@dataclass
class Square:
    side: float


@dataclass
class Disc:
    radius: float


class Ring(Disc):
    pass


@singledispatch
def area(shape):
    raise NotImplementedError(type(shape))


@area.register
def _(shape: Square):
    return shape.side**2


@area.register(Disc)
def _(shape):
    return math.pi * shape.radius**2


@singledispatch
def size(value):
    return value * value


@size.register(list)
def _(value):
    return sum(size(item) for item in value)


@size.register(np.ndarray)
def _(value):
    return np.sum(value**3)


class Visitor:
    def __init__(self, scale):
        self.scale = scale

    @singledispatchmethod
    def visit(self, node):
        raise NotImplementedError

    @visit.register
    def _(self, node: Square):
        return self.scale * node.side**3

    @visit.register
    def _(self, node: Disc):
        self.scale = self.scale * node.radius
        return self.scale

    @visit.register(tuple)
    @staticmethod
    def _(node):
        return node[0]


def by_class(v):
    return area(Square(v[0])) * area(Disc(v[1])) + area(Ring(v[2] * v[3]))


def in_a_list(v):
    return sum(area(shape) * k for k, shape in enumerate([Square(v[0]), Disc(v[1]), Square(v[2])]))


def by_kind(v):
    return size(v) + size([v[0], v[1] * v[2]]) + size(v[3])


def by_a_method(v):
    visitor = Visitor(v[0])
    return visitor.visit(Square(v[1])) * visitor.visit(Disc(v[2])) + visitor.scale * v[3]


@pytest.mark.parametrize("function", [by_class, in_a_list, by_kind, by_a_method])
def test_the_one_for_the_class_is_called(function):
    agrees_in_every_mode(function, V)


def test_one_that_is_registered_later_is_called_from_then_on():
    @singledispatch
    def scaled(value):
        return 2.0 * value

    def twice(x):
        return scaled(x)

    derivative = grad(twice)
    assert derivative(1.5) == 2.0

    @scaled.register(float)
    def _(value):
        return value**3

    assert derivative(1.5) == grad(twice)(1.5) == 6.75


def test_a_static_method_is_refused():
    def static(v):
        return Visitor(v[0]).visit((v[1], 1.0))

    with pytest.raises(UnsupportedError, match="which function visit\\(\\) calls is not known"):
        grad(static)(V)
