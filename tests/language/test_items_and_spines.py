"""What two lists share is told from the lists: one may grow while the other is read."""

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.testing import check_grads


def items_of_another_list(x):
    kept = [x * 1.0, x * 2.0]
    points = []
    for p in kept:
        points.append(p)
    kept[0] = x * 3.0
    return np.sum(points[0] * points[1]) + np.sum(kept[0])


def parts_and_wholes(x, flag=True):
    parts, wholes = [], []
    for k in range(3):
        u = x * (k + 1.0)
        if flag:
            parts.append(u[1:])
        wholes.append(u)
    return sum(np.sum(v**2) for v in parts) + sum(np.sum(v) for v in wholes)


def one_item_twice(x):
    a, b = [x * 2.0], [x]
    b.append(a[0])
    a.append(x * 3.0)
    b[0] = a[1]
    a[0] = x
    return np.sum(a[0] * b[1]) + np.sum(b[0] * b[0])


def a_list_that_is_an_item(x):
    inner = [x * 2.0]
    outer = [inner]
    inner.append(x)
    return np.sum(outer[0][1] * outer[0][0])


def slots_of_a_slice(x):
    a = [x, x * 2.0, x * 3.0]
    b = a[1:]
    a[1] = x * 5.0
    b.append(a[0])
    return np.sum(b[0] * a[1]) + np.sum(b[-1])


COMPILED = [items_of_another_list, parts_and_wholes, one_item_twice, a_list_that_is_an_item,
            slots_of_a_slice]


@pytest.mark.parametrize("function", COMPILED)
def test_lists_of_shared_items_are_compiled(function):
    x = np.array([0.3, -0.2, 0.5])
    value, gradient = ad.value_and_grad(function, fallback="refuse")(x)
    assert value == function(x)
    np.testing.assert_allclose(gradient, ad.grad(function, backend="record")(x), rtol=1e-14)
    check_grads(function, (x,), order=2)
