"""Attributes that an instance is first given in a loop, or in one arm of a branch."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian, jvp
from tests.language.modes import differences

V = np.array([0.7, 1.3, 0.4, 1.9])


pytestmark = pytest.mark.records


class Box:
    count = 0

    def __init__(self, start=1.0):
        self.start = start

    def push(self, v):
        if not hasattr(self, "value"):
            self.value = v
        else:
            self.value = self.value * v

    def total(self):
        return getattr(self, "value", 2.0) * self.start


def each_time(v):
    box = Box()
    for x in v:
        box.last = x * x
    return box.last * v[0]


def read_in_the_next_iteration(v):
    box = Box(v[1])
    for i in range(len(v)):
        if i > 0:
            box.start = box.start + box.last * v[i]
        box.last = math.sin(v[i]) * box.start
    return box.start * box.last


def arrays(v):
    box = Box(v * 1.0)
    for _ in range(3):
        box.speed = box.start * v
        box.start = box.start + 0.1 * box.speed
        box.speed[0] *= 2.0
    return np.sum(box.start * box.speed)


def by_a_method(v):
    box = Box(v[0])
    for x in v:
        box.push(x)
    return box.total()


def never(v):
    box = Box(v[0])
    for x in v[:0]:
        box.push(x)
    return box.total() * v[1]


def default_of_the_class(v):
    box = Box()
    for x in v:
        if x > 1.0:
            box.count = box.count + x
    return box.count * v[0]


def in_one_arm(v):
    box = Box()
    if v[0] > 0.5:
        box.left = v[1] * v[2]
    if v[0] > 1.0:
        box.right = v[1]
    return box.left * v[0] + (box.right if hasattr(box, "right") else v[3] ** 2)


def other_order_in_the_other_arm(v):
    box = SimpleNamespace()
    if v[0] > 1.0:
        box.a, box.b = v[0], v[1]
    else:
        box.b, box.a = v[2], v[3]
    return box.a * box.b**2


def left_by_break(v):
    box, i = Box(), 0
    while True:
        box.seen = v[i] * box.start
        if v[i] > 1.0:
            break
        i += 1
    return box.seen**2


def loops_inside_of_one_another(v):
    box = Box()
    for x in v:
        for y in v:
            box.product = x * y
        box.start = box.start + box.product
    return box.start * box.product


def list_in_an_attribute(v):
    box = Box()
    for x in v:
        box.items = [x, x * x]
        box.items.append(box.start * x)
    return sum(y * y for y in box.items)


def a_copy(v):
    box = Box()
    total = 0.0
    for x in v:
        other = copy.copy(box)
        box.value = x * x
        other.start = x
        total = total + other.total() * box.value
    return total + box.start * v[0]


@pytest.mark.parametrize("function", [
    each_time, read_in_the_next_iteration, arrays, by_a_method, never, default_of_the_class,
    in_one_arm, other_order_in_the_other_arm, left_by_break, loops_inside_of_one_another,
    list_in_an_attribute, a_copy,
], ids=lambda function: function.__name__)
def test_derivatives(function):
    wanted = differences(function, V)
    np.testing.assert_allclose(grad(function)(V), wanted, rtol=1e-7, atol=1e-8)
    direction = np.array([0.5, -1.0, 0.25, 2.0])
    value, tangent = jvp(function, (V,), (direction,))
    np.testing.assert_allclose(value, function(V), rtol=1e-14)
    np.testing.assert_allclose(tangent, wanted @ direction, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(
        hessian(function)(V), differences(grad(function), V), rtol=1e-5, atol=1e-6)


def test_what_was_not_assigned_is_not_there():
    for v in (V[:0], V[:1]):
        if len(v):
            assert np.array_equal(grad(after_the_loop)(v), [2.0 * v[0]])
            continue
        with pytest.raises(AttributeError, match="'Box' object has no attribute 'last'"):
            grad(after_the_loop)(v)
        with pytest.raises(AttributeError, match="'Box' object has no attribute 'last'"):
            after_the_loop(v)


def after_the_loop(v):
    box = Box()
    for x in v:
        box.last = x * x
    return box.last


def caught(v):
    box = Box(v[0])
    for x in v:
        if x > 5.0:
            box.last = x
    try:
        return box.last
    except AttributeError:
        return box.start * v[1]


def test_the_error_may_be_caught():
    for v in (V, V + 6.0):
        np.testing.assert_allclose(grad(caught)(v), differences(caught, v), rtol=1e-8, atol=1e-8)


def returned(v):
    box = Box()
    for x in v:
        box.last = x
    return box


def shown(v):
    box = Box()
    for x in v:
        box.last = x
    return box.last * len(repr(box))


def asked_for_all(v):
    box = Box()
    for x in v:
        box.last = x
    return sum(box.__dict__.values())


@pytest.mark.parametrize("function", [lambda v: returned(v).last, shown, asked_for_all])
def test_instances_with_such_attributes_stay_inside(function):
    wanted = differences(function, V)
    try:
        found = grad(function)(V)
    except UnsupportedError as error:
        assert {finding.anchor for finding in error.findings} <= {"attributes", "unknown-writes"}
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)
