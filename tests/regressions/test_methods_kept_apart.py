"""Methods that were taken from an object before, which is written into.

The object of such a method is read where the method is called: what was written since counts. The
derivative took it for a constant.
"""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import ADError, grad

WEIGHTS = np.arange(3.0)
ITEMS = [1.0, 2.0]
TABLE = {"a": 1.0}
ONES = np.ones(3)
dot, item, entry = WEIGHTS.dot, ITEMS.__getitem__, TABLE.get


class Weighted:
    def __init__(self):
        self.w = np.arange(3.0)

    def total(self, x):
        return np.sum(self.w * x)


WEIGHTED = Weighted()
total = WEIGHTED.total


def of_an_array(x):
    WEIGHTS[0] = x[0]
    return dot(ONES)


def of_a_list(x):
    ITEMS[0] = x[0]
    return item(0)


def of_a_dict(x):
    TABLE["a"] = x[0]
    return entry("a")


def of_an_instance(x):
    WEIGHTED.w[0] = x[0]
    return total(ONES)


@pytest.mark.parametrize("function", [of_an_array, of_a_list, of_a_dict, of_an_instance])
def test_a_write_that_the_method_sees_is_not_lost(function):
    with pytest.raises(ADError, match="share memory"):
        grad(function)(np.array([3.0, 4.0, 5.0]))


def test_methods_of_what_is_not_written():
    def product(x):
        return dot(x) * item(1) * entry("a") * total(x)

    WEIGHTS[:], ITEMS[:], TABLE["a"], WEIGHTED.w = np.arange(3.0), [1.0, 2.0], 3.0, np.arange(3.0)
    x = np.array([3.0, 4.0, 5.0])
    np.testing.assert_allclose(grad(product)(x), 12.0 * (np.arange(3.0) @ x) * np.arange(3.0))


def test_methods_taken_inside_see_later_writes():
    def summed(x):
        y = x * 1.0
        inner = y.dot
        y[0] = y[0] ** 2
        return inner(y)

    np.testing.assert_array_equal(grad(summed)(np.array([3.0, 4.0, 5.0])), [108.0, 8.0, 10.0])
