"""Arguments with structure and sharing, and derivatives inside of what is differentiated."""

from __future__ import annotations

import math

import numpy as np

import adcompiler
from tests.record.lost import Program

KEPT: list = []
TABLE = np.zeros(3)
A = np.array([0.3, 0.5, 0.7])


def clear():
    KEPT.clear()
    TABLE[:] = 0.0


def kept():
    return [*(one if isinstance(one, float) else one.tolist() for one in KEPT), *TABLE.tolist()]


def one_array_twice(a, b):
    return np.sum(a * a * b) + a[0]


def one_list_twice(p, q):
    return p[0] * q[1] + sum(p)


def dict_that_is_changed(d):
    d["x"] *= d["y"]
    d["new"] = d.pop("y") * 3.0
    d.setdefault("z", d["x"])
    return sum(d.values())


def list_that_grows(row):
    row.append(row[0] * row[1])
    row.insert(0, row.pop(1))
    row.reverse()
    row[-1] += row[0]
    del row[1]
    return sum(k * v for k, v in enumerate(row, 1))


def nested_containers(d):
    first, (second, *_) = d["rows"]
    d["rows"][0] = second * first
    second[...] *= 2.0
    return np.sum(d["rows"][0]) + np.sum(second) * d["x"]


def array_that_is_kept(a):
    KEPT.append(a)
    a[0] = a[1] * a[2]
    return sum(np.sum(one * one) for one in KEPT)


def view_that_is_kept(a):
    y = a * 2.0
    KEPT.append(y[1:])
    y *= y
    return np.sum(KEPT[-1]) + np.sum(y)


def global_array_that_is_written(a):
    total = TABLE @ a
    TABLE[:] += a * a
    return total + np.sum(TABLE)


def argument_rebound(a):
    b = a
    a = a * 2.0
    b += 1.0
    return np.sum(a * b)


def row_of_rows(m):
    m[0], m[1] = m[1] * m[0], m[0] + 1.0
    top, bottom = m
    top += bottom
    return np.sum(m[0]) + np.sum(bottom * bottom)


def tuple_of_floats(t):
    (p, q), r = t
    return p * q + r * (p, q).index(p) + (t[0] + (r,))[2] * q


def inner_derivative(x):
    return adcompiler.grad(lambda v: v ** 3)(x) * x


def inner_derivative_of_a_closure(x):
    return adcompiler.grad(lambda v: v * v * x)(2.0)


def inner_value_and_pullback(x):
    value, pullback = adcompiler.vjp(lambda v: math.sin(v) * 2.0, x)
    return value * pullback(1.0)[0]


def inner_tangent(x):
    return adcompiler.jvp(lambda v: v * v, (x,), (x,))[1]


def stopped(x):
    return adcompiler.stop_gradient(x * x) * x + map_of_stop([x])[0] * x


def map_of_stop(row):
    return list(map(adcompiler.stop_gradient, row))


def without_gradient(x):
    with adcompiler.no_grad():
        y = x * x
    return y * x


def cube(v):
    return v * v * v


checkpointed = adcompiler.checkpoint(cube)


def checkpoint_under_map(x):
    return sum(map(checkpointed, [x, 2.0 * x]))


def pulled(name, function, gradient, args=(A,), **rest):
    return Program(name, function, args, gradient, reset=clear, state=kept, **rest)


PROGRAMS = [
    pulled("one array twice", one_array_twice,
           lambda a, b: (2.0 * a * b + [1.0, 0.0, 0.0], a * a), (A, A)),
    pulled("one list twice", one_list_twice,
           lambda p, q: ([q[1] + 1.0, 1.0], [0.0, p[0]]), ([0.7, 0.4],) * 2),
    pulled("a dict that is changed", dict_that_is_changed, None, ({"x": 0.7, "y": 0.4},)),
    pulled("a list that grows", list_that_grows, None, ([0.7, 0.4, 1.3],)),
    pulled("nested containers", nested_containers, None,
           ({"rows": [A, (A + 0.1, A)], "x": 0.7},)),
    pulled("an array that is kept", array_that_is_kept,
           lambda a: np.array([0.0, 2 * a[1] * a[2] ** 2 + 2 * a[1], 2 * a[2] * a[1] ** 2 + 2 * a[2]])),
    pulled("a view that is kept", view_that_is_kept, lambda a: 8.0 * a * [1.0, 2.0, 2.0]),
    pulled("a global array that is written", global_array_that_is_written, lambda a: 2.0 * a,
           again=2.0 * A + A * A, twice=True),
    pulled("an argument rebound", argument_rebound, lambda a: 4.0 * a + 2.0),
    pulled("rows of rows", row_of_rows, None, (np.array([[0.3, 0.5], [0.7, 1.1]]),)),
    pulled("a tuple of floats", tuple_of_floats, None, (((0.7, 0.4), 1.3),)),
    pulled("a derivative inside", inner_derivative, lambda x: 9.0 * x * x, (0.7,)),
    pulled("a derivative of a closure inside", inner_derivative_of_a_closure, 4.0, (0.7,)),
    pulled("a pullback inside", inner_value_and_pullback,
           lambda x: 4.0 * math.cos(2.0 * x), (0.7,)),
    pulled("a tangent inside", inner_tangent, lambda x: 4.0 * x, (0.7,)),
    pulled("stop_gradient", stopped, lambda x: x * x + x, (0.7,), jumps=True),
    pulled("no_grad", without_gradient, lambda x: x * x, (0.7,), jumps=True),
    pulled("checkpoint under map", checkpoint_under_map, lambda x: 27.0 * x * x, (0.7,)),
]
