"""Writes into instances, dicts and lists made in the function, on ways that end by raising."""

import math

import numpy as np
import pytest

from adcompiler import grad, jvp
from tests.language.modes import differences

V = np.array([0.7, 1.3, 0.4, 1.9])


class Box:
    def __init__(self, a):
        self.a = a
        self.items = []


class Stop(Exception):
    pass


def attribute(v):
    box = Box(v[0])
    try:
        if v[1] > 1.0:
            box.a = v[1] * v[2]
            raise Stop
    except Stop:
        pass
    return box.a * v[3]


def raised_again(v):
    box = Box(v[0])
    try:
        try:
            math.log(-v[1])
        except ValueError:
            box.a = 5.0 * v[2]
            raise
    except ValueError:
        pass
    return box.a * v[3]


def item_of_a_dict(v):
    table = {"a": v[0]}
    try:
        if v[1] > 1.0:
            table["a"] = v[1] ** 2
            raise Stop
    except Stop:
        table["b"] = v[2]
    return table["a"] * table["b"]


def item_of_a_list(v):
    items = [[v[0], 1.0], [v[2], v[3]]]
    try:
        if v[1] > 1.0:
            items[0][1] = v[1] ** 2
            raise Stop
    except Stop:
        pass
    return items[0][1] * items[1][0]


def length_of_a_list(v):
    items = [v[0], v[1]]
    try:
        if v[1] > 1.0:
            items.clear()
            raise Stop
    except Stop:
        items.append(v[2])
    return sum(items) ** 2


def instance_in_a_tuple(v):
    pair = (Box(v[0]), 1.0)
    try:
        if v[1] > 1.0:
            setattr(pair[0], "a", v[1] ** 2)  # noqa: B010
            raise Stop
    except Stop:
        pass
    return pair[0].a


def in_a_loop(v):
    box = Box(v[0])
    for x in v:
        try:
            box.items.append(x * box.a)
            if x > 1.0:
                box.a = box.a + 2.0 * x
                raise Stop
            box.a = box.a * 1.5
        except Stop:
            box.a = box.a - 0.5
    return box.a * sum(box.items)


@pytest.mark.parametrize("function", [
    attribute, raised_again, item_of_a_dict, item_of_a_list, length_of_a_list, instance_in_a_tuple,
    in_a_loop,
], ids=lambda function: function.__name__)
def test_what_was_written_before_it_raised_counts(function):
    wanted = differences(function, V)
    np.testing.assert_allclose(grad(function)(V), wanted, rtol=1e-8, atol=1e-8)
    direction = np.array([0.5, -1.0, 0.25, 2.0])
    value, tangent = jvp(function, (V,), (direction,))
    assert value == function(V)
    np.testing.assert_allclose(tangent, wanted @ direction, rtol=1e-8)
