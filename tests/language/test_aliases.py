"""One array under several names: arguments, containers, attributes, closures, results."""

from types import SimpleNamespace

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
W = np.array([1.25, 0.75, -0.5, 2.5])


@programs(V)
def a_second_name(x):
    y = x * x
    z = y
    z[0] = x[1]
    y *= 2.0
    return np.sum(z * y)


@programs(V)
def through_a_tuple(x):
    pair = (x * x, x + 1.0)
    pair[0][1] = x[0]
    a, b = pair
    b[:] = a * b
    return np.sum(pair[0] * pair[1])


@programs(V)
def through_a_list(x):
    y = x * x
    kept = [y, y]
    kept[0][1] = x[0]
    y[2] *= kept[1][1]
    return np.sum(kept[0] * kept[1])


@programs(V)
def through_a_list_that_changes(x):
    y = x * x
    kept = []
    kept.append(y)
    y[1] = x[0]
    kept[0][2] *= 2.0
    return np.sum(y * kept[0])


@programs(V)
def through_a_dict(x):
    table = {"y": x * x}
    y = table["y"]
    y[0] = 3.0 * x[1]
    table["z"] = y
    table["z"][1] += y[0]
    return np.sum(table["y"] * x)


@programs(V)
def through_attributes(x):
    y = x * x
    box = SimpleNamespace(content=y)
    box.content[0] = x[1]
    y[3] += box.content[0]
    other = box
    other.content = x * 2.0
    box.content[1] *= y[0]
    return np.sum(box.content * y)


@programs(V)
def through_a_closure(x):
    y = x * x

    def read():
        return y[0] * y[1]

    before = read()
    y[0] = before
    return read() * before


@programs(V)
def through_an_argument(x):
    y = x * x

    def scale(z):
        z *= 2.0
        return z

    w = scale(y)
    w[0] = x[1]
    return np.sum(y * w)


@programs(V)
def through_a_default(x):
    y = x * x

    def add(v, store=y):
        store[0] += v
        return store[0]

    return add(x[1]) * add(x[2]) + np.sum(y)


@programs(V)
def two_names_swapped_in_a_loop(x):
    a, b = x * 1.0, x * x
    for i in range(3):
        a[i] = b[i] * b[i + 1]
        a, b = b, a
    return np.sum(a * a) + a[0] * b[0]


@programs(V)
def a_name_for_one_of_two(x):
    a, b = x * 1.0, x * x
    c = a if x[0] > 0.0 else b
    total = np.sum(c * c)
    return total * np.sum(a) * np.sum(b)


@programs(V)
def same_array_by_asarray(x):
    y = x * x
    z = np.asarray(y)
    z[0] = x[1]
    w = np.array(y)
    w[1] = 5.0
    return np.sum(y * w)


@programs(V)
def rebound_is_not_written(x):
    y = x
    y = y * 2.0
    y[0] = 1.0
    return np.sum(x * y)


@programs(V)
def a_result_of_a_copy(x):
    y = x.copy()
    z = y[:]
    w = y[[0, 1, 2, 3]]
    y[0] = x[1] * x[2]
    return np.sum(z * w)


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


# -- arguments that are one array ------------------------------------------------------------------


def writes_the_first(a, b):
    a[0] = 3.0 * b[1]
    a[2] *= b[0]
    return np.sum(a * b)


def along(function, makes, direction, step=1e-6):
    """Return the derivative of ``function(*makes(x))`` along a direction, at V."""
    plus, minus = (function(*makes(V + t * direction)) for t in (step, -step))
    return (plus - minus) / (2.0 * step)


def test_one_array_for_two_arguments():
    """The cotangents of two names add up to that of the array, however they are shared out."""
    x = V.copy()
    value, (first, second) = value_and_grad(writes_the_first, argnums=(0, 1))(x, x)
    assert np.array_equal(x, V)
    assert value == writes_the_first(*[V.copy()] * 2)
    rng = np.random.default_rng(3)
    for direction in rng.normal(size=(3, 4)):
        wanted = along(writes_the_first, lambda x: (x, x), direction)
        assert (first + second) @ direction == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("makes", [
    lambda x: (x, x[::-1]),
    lambda x: (x[:3], x[1:]),
], ids=["reversed", "overlapping"])
def test_arguments_that_overlap_are_refused_before_anything_is_written(makes):
    x = V.copy()
    for derive in (lambda: grad(writes_the_first)(*makes(x)),
                   lambda: vjp(writes_the_first, *makes(x))):
        with pytest.raises(ValueError, match="`a` and `b` share memory"):
            derive()
        assert np.array_equal(x, V)


def test_one_array_twice_without_writes():
    def product(a, b):
        return np.sum(a * a * b)

    first, second = grad(product, argnums=(0, 1))(V, V)
    assert np.allclose(first, 2.0 * V * V)
    assert np.allclose(second, V * V)


def test_one_array_twice_after_two_arrays():
    derivative = grad(writes_the_first)
    x, y = V.copy(), W.copy()
    apart = derivative(x, y)
    assert np.allclose(apart, [0.0, W[1], W[0] * W[2], W[3]])
    together = derivative(x, x)
    assert np.array_equal(derivative(x, y), apart)
    assert not np.allclose(together, apart)


def test_parts_of_one_array_that_do_not_meet():
    big = np.concatenate([V, W])
    apart = grad(writes_the_first)(V.copy(), W.copy())
    assert np.array_equal(grad(writes_the_first)(big[:4], big[4:]), apart)


# -- results ---------------------------------------------------------------------------------------


def test_a_result_that_holds_the_argument_twice():
    def twice(x):
        x *= 2.0
        return x, x[:2]

    x = V.copy()
    value, pullback = vjp(twice, x)
    assert np.array_equal(x, 2.0 * V)
    assert np.array_equal(value[0], 2.0 * V) and np.array_equal(value[1], 2.0 * V[:2])
    (bar,) = pullback((np.ones(4), np.ones(2)))
    assert np.array_equal(bar, [4.0, 4.0, 2.0, 2.0])
    assert np.array_equal(pullback((np.ones(4), np.ones(2)))[0], bar)


def test_an_argument_that_is_returned_untouched():
    value, pullback = vjp(lambda x: x, V)
    assert np.array_equal(value, V)
    assert np.array_equal(pullback(W)[0], W)


def test_gradients_share_nothing():
    def both(x, y):
        x += y
        return np.sum(x)

    first, second = grad(both, argnums=(0, 1))(V.copy(), W.copy())
    first[:] = 7.0
    assert np.array_equal(second, np.ones(4))
