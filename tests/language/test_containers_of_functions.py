"""Containers that hold functions, passed to functions that are compiled on their own.

A function value is immutable, the container is not: what is written into it there is seen by the
caller.
"""

import functools
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

from tests.language.reached import check_modes, check_refused


class Net:
    def __init__(self, act):
        self.act, self.w, self.calls, self.last = act, np.ones(3), 0, 0.0
        self.log = []

    def forward(self, x):
        h = self.act(self.w * x)
        h = h * 1.01 + np.sin(h) * 0.1 + np.cos(h) * 0.1 + np.sin(h) * 0.1 + np.cos(h) * 0.1
        h = h * 1.02 + np.sin(h) * 0.2 + np.cos(h) * 0.2 + np.sin(h) * 0.2 + np.cos(h) * 0.2
        h = h * 1.03 + np.sin(h) * 0.3 + np.cos(h) * 0.3 + np.sin(h) * 0.3 + np.cos(h) * 0.3
        self.calls += 1
        self.last = x
        self.log.append(x)
        self.w[0] = x
        return np.sum(h)

    def itself(self, x):
        h = self.act(self.w * x)
        h = h * 1.01 + np.sin(h) * 0.1 + np.cos(h) * 0.1 + np.sin(h) * 0.1 + np.cos(h) * 0.1
        h = h * 1.02 + np.sin(h) * 0.2 + np.cos(h) * 0.2 + np.sin(h) * 0.2 + np.cos(h) * 0.2
        h = h * 1.03 + np.sin(h) * 0.3 + np.cos(h) * 0.3 + np.sin(h) * 0.3 + np.cos(h) * 0.3
        h = h * 1.04 + np.sin(h) * 0.4 + np.cos(h) * 0.4 + np.sin(h) * 0.4 + np.cos(h) * 0.4
        return self

    def down(self, x, n):
        if n == 0:
            return x
        self.calls += 1
        return self.down(np.sum(self.act(x)), n - 1)


class Outer:
    def __init__(self, net):
        self.net = net

    def square(self, v):
        self.net.last = self.net.last + 1.0
        return v * v


def scaled(k, v):
    return v * v * k


def used(net, x):
    y = net.forward(x) + net.forward(2 * x)
    return y * net.calls * net.last * net.w[0] * sum(net.log)


def of_lambda(x):
    return used(Net(lambda v: np.maximum(v, 0.1 * v)), x)


def of_library(x):
    return used(Net(np.tanh), x)


def of_partial(x):
    return used(Net(functools.partial(scaled, x)), x)


def of_method(x):
    net = Net(None)
    net.act = Outer(net).square
    return used(net, x)


def nested(x):
    outer = Outer(Net(lambda v: v * v))
    return used(outer.net, x) + outer.net.last


def in_a_loop(x):
    net = Net(lambda v: v * 0.1)
    y = x
    for _ in range(3):
        y = net.forward(y)
    return y * net.calls * net.last


def returned(x):
    net = Net(lambda v: v * v)
    again = net.itself(x)
    again.last = x * x
    return net.last * x


NET = Net(np.tanh)
NET_OF_LAMBDA = Net(lambda v: v * v)


def of_module(x):
    return used(NET, x) + used(NET_OF_LAMBDA, x)


def given(x, net):
    return used(net, x)


def step(s, h):
    h = s["f"](h)
    h = h * 1.01 + np.sin(h) * 0.1 + np.cos(h) * 0.1 + np.sin(h) * 0.1 + np.cos(h) * 0.1
    h = h * 1.02 + np.sin(h) * 0.2 + np.cos(h) * 0.2 + np.sin(h) * 0.2 + np.cos(h) * 0.2
    h = h * 1.03 + np.sin(h) * 0.3 + np.cos(h) * 0.3 + np.sin(h) * 0.3 + np.cos(h) * 0.3
    h = h * 1.04 + np.sin(h) * 0.4 + np.cos(h) * 0.4 + np.sin(h) * 0.4 + np.cos(h) * 0.4
    s["n"] = s["n"] + 1.0
    s["new"] = h
    return h


def of_dict(x):
    s = {"n": 0.0, "f": lambda v: v * v}
    y = step(s, x) + step(s, x * x)
    return y * s["n"] + s["new"]


def of_dict_and_library(x):
    s = {"n": 0.0, "f": np.sin, "g": np.cos}
    y = step(s, x) + step(s, x * x)
    return y * s["n"] + s["new"]


def step_of_list(s, h):
    for g in s[:2]:
        h = g(h)
    h = h * 1.01 + np.sin(h) * 0.1 + np.cos(h) * 0.1 + np.sin(h) * 0.1 + np.cos(h) * 0.1
    h = h * 1.02 + np.sin(h) * 0.2 + np.cos(h) * 0.2 + np.sin(h) * 0.2 + np.cos(h) * 0.2
    h = h * 1.03 + np.sin(h) * 0.3 + np.cos(h) * 0.3 + np.sin(h) * 0.3 + np.cos(h) * 0.3
    s[1] = np.cos
    s.append(h)
    return h


def of_list(x):
    s = [np.sin, np.sin]
    y = step_of_list(s, x) + step_of_list(s, x * x)
    return y * s[2] + s[3]


Pair = namedtuple("Pair", "f s")


def of_tuple(x):
    s = {"n": 0.0, "f": np.sin}
    pair = Pair(lambda v: v * v, s)
    y = step(pair.s, pair.f(x)) + step(s, x)
    return y * pair.s["n"]


@dataclass
class State:
    f: object
    n: float = 0.0
    log: list = field(default_factory=list)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, value)


def of_dataclass(x):
    s = State(lambda v: v * v)
    return step(s, x) * s.n + step(s, x * x) * s.n


def of_closure(x):
    s = {"n": 0.0, "f": lambda v: v * 2}

    def inner(h):
        return step(s, h)

    return inner(x) * inner(x * x) * s["n"]


def test_writes_into_containers_of_functions_are_seen_by_the_caller():
    for f in (
        of_lambda, of_library, of_partial, of_method, nested, in_a_loop, returned,
        of_module, of_dict, of_dict_and_library, of_list, of_tuple, of_dataclass, of_closure,
    ):
        check_modes(f)
    check_modes(given, args=(Net(np.tanh),))


def recursion(x):
    net = Net(lambda v: v * 2)
    return net.down(x, 3) + net.calls * x


def recursion_reads(x):
    def down(s, y, n):
        return y * s["k"] if n == 0 else down(s, s["f"](y), n - 1)

    return down({"k": x, "f": lambda v: v * 2}, x, 3)


def test_a_recursion_that_writes_into_a_container_of_functions_is_refused():
    check_refused(recursion, match="which holds functions")
    check_modes(recursion_reads)
