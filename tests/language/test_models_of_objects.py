"""Models that are instances: layers, networks, trees, with arrays and functions in their fields."""

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.language.check import Cases
from tests.language.instances import Linear, Network, Point, V, Vector, W, linear

programs = Cases()


# -- models ------------------------------------------------------------------------------------------


@programs(linear(), V)
def abstract_base_and_static_activation(layer, x):
    return np.sum(layer(x))


@programs(linear(), V)
def super_methods_and_properties(layer, x):
    return np.sum(layer.scaled(x)) * layer.size[0]


@programs(linear(), 0.5)
def class_attributes_that_are_functions(layer, x):
    return np.sum(layer.with_plain(x)) * layer.named() * type(layer).gain


@programs(Network(linear(), Linear(W[:, :2].copy(), np.zeros(2))), V)
def network_with_an_array_result(net, x):
    return net(x)


@programs(Vector(V))
def reflected_operator_of_an_array(v):
    return V * v if v else 0.0


@programs(1.5, linear())
def instance_that_is_not_differentiated(x, layer):
    return np.sum(layer(V * x))


class Recurrent:
    """Large enough that its step is compiled as a function of its own."""

    def __init__(self, w, u, b):
        self.w, self.u, self.b = w, u, b

    def step(self, h, x):
        a = self.w @ h + self.u * x + self.b
        gate = 1.0 / (1.0 + np.exp(-a))
        new = np.tanh(a) * gate + h * (1.0 - gate)
        total = new * 0.5 + a * 0.1 + np.sin(a) * 0.2 + np.cos(new) * 0.3
        mixed = total * self.b + np.exp(-total * total) + self.u * 0.5
        return mixed + new * gate + np.sqrt(1.0 + mixed * mixed) + np.log(1.0 + total * total)

    def run(self, xs):
        h = np.zeros(2)
        for x in xs:
            h = self.step(h, x)
        return np.sum(h)


@programs(Recurrent(0.3 * W[:, :2], np.array([0.5, -0.5]), np.array([0.1, 0.2])), V, tol=1e-6)
def recurrent(model, xs):
    return model.run(xs)


@dataclass
class Tree:
    weight: float
    left: Any = None
    right: Any = None

    def total(self, x):
        value = self.weight * x
        if self.left is not None:
            value = value + self.left.total(value) ** 2
        if self.right is not None:
            value = value + math.sin(self.right.total(value))
        return value


@programs(Tree(1.5, Tree(0.5), Tree(0.3, Tree(2.0))), 0.7)
def trees(tree, x):
    return tree.total(x)


class Mode(enum.Enum):
    LINEAR = 1.0
    SQUARE = 2.0


class Noisy:
    def __init__(self, w, mode):
        self.w, self.mode, self.rng = w, mode, np.random.default_rng(0)

    def value(self, x):
        scale = self.mode.value
        noise = 0.0 * self.rng.normal()
        return self.w * x * scale + noise if self.mode is Mode.LINEAR else self.w * x**2


@programs(1.5, Noisy(2.0, Mode.SQUARE))
def enumerations_and_generators_of_numbers(x, noisy):
    return noisy.value(x) + Noisy.value(noisy, 2.0 * x)


class Dense:
    def __init__(self, w, activation=None):
        self.w, self.activation = w, activation

    def __call__(self, x):
        x = self.w @ x
        return x if self.activation is None else self.activation(x)


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return self.k * x


@programs((Dense(W, np.tanh), Scale(2.0), Dense(W[:, :2])), V)
def layers_of_several_kinds(layers, x):
    for layer in layers:
        x = layer(x)
    return np.sum(x)


@programs(Network(Dense(W, np.tanh), Scale(2.0), Dense(W[:, :2])), V)
def network_of_several_kinds(net, x):
    return np.sum(net(x) ** 2)


@programs({"a": Point(1.5, 2.5), "b": Point(0.5, -1.0)}, ["a", "b", "a"])
def dict_of_instances(points, names):
    total = sum(p.x * p.y for p in points.values())
    for name, p in points.items():
        total = total + p.norm2() * (2.0 if name == "a" else 1.0)
    for name in names:
        total = total + points[name].x
    return total


@dataclass
class Iterable:
    a: float
    b: float

    def __iter__(self):
        return iter((self.a, self.b))

    def __contains__(self, x):
        return x > self.a

    def __eq__(self, other):
        return self.a == other.a


@programs(Iterable(1.5, 2.5))
def iterables(p):
    a, b = p
    total = sum(p) + max(p) * math.hypot(*p) + sum(v * v for v in p)
    for v in p:
        total = total * v
    if 2.0 in p and p == Iterable(p.a, a):
        total = total + a * b
    return total + sum([*p])


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)
