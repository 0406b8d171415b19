"""Numbers of which only the run decides whether they are ints or floats: Python's values."""

import numpy as np
import pytest

from adcompiler import value_and_grad, vjp


def same_as_python(f, *args):
    """Check value, class and, where it is a float, the gradient by the first argument."""
    wanted = f(*args)
    value, _ = vjp(f, *args, argnums=0)
    assert type(value) is type(wanted)
    assert repr(value) == repr(wanted)
    if isinstance(wanted, float):
        h = 1e-6
        slope = (f(args[0] + h, *args[1:]) - f(args[0] - h, *args[1:])) / (2 * h)
        value, gradient = value_and_grad(f)(*args)
        assert repr(value) == repr(wanted)
        np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-7)


def class_of_items(x, vs):
    s = 0.0
    for v in vs:
        s += x if isinstance(v, int) else x * x
    return s


def class_by_type(x, vs):
    s = 0.0
    for v in vs:
        s += x * (v // 2)
        s += x * (7 if type(v) is float else 5)
    return s


def text_of_items(x, vs):
    s = 0.0
    for v in vs:
        s += len(f"{v}") * x
    return s


@pytest.mark.parametrize("f", [class_of_items, class_by_type, text_of_items])
@pytest.mark.parametrize("vs", [[1, 2.5], [1.0, 2.5], [1, 2], [2.5, 3]])
def test_items_of_a_list(f, vs):
    same_as_python(f, 1.5, vs)


def power_of_two(x, n):
    k = 2**n
    return x * (3.0 if isinstance(k, int) else 1.0) * k


@pytest.mark.parametrize("n", [-1, 0, 3])
def test_powers_of_ints(n):
    same_as_python(power_of_two, 1.5, n)


def entry_or_int(x, d):
    k = d.get("a", 1)
    return x * k if isinstance(k, int) else x * x * k


@pytest.mark.parametrize("d", [{}, {"a": 2.5}, {"b": 2.5}, {"a": 3}])
def test_entries_with_a_default(d):
    same_as_python(entry_or_int, 1.5, d)


def least(x, n):
    k = min(n, 2.5)
    return x if isinstance(k, int) else x * x


def greatest(x, n):
    k = max(1, x)
    return x * x if isinstance(k, int) else x * x * x


@pytest.mark.parametrize("f", [least, greatest])
@pytest.mark.parametrize("x", [0.5, 1.5])
@pytest.mark.parametrize("n", [1, 4])
def test_extremes(f, x, n):
    same_as_python(f, x, n)


def halved(x, n):
    k = 4
    for _ in range(n):
        k = k / 2
    return x * (3.0 if isinstance(k, int) else 1.0)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_carried_values(n):
    same_as_python(halved, 1.5, n)


def sum_of_none(x, vs):
    total = sum(vs)
    return x * total if isinstance(total, int) else x * x


@pytest.mark.parametrize("vs", [[], [1.0], [1], [1, 2.0]])
def test_sums(vs):
    same_as_python(sum_of_none, 1.5, vs)


def sized_by_a_power(x, n):
    y = np.zeros(2**n)
    y[2 ** (n - 1)] = x
    return np.sum(y * np.arange(2**n)) * x


def test_powers_as_sizes_and_subscripts():
    same_as_python(sized_by_a_power, 1.5, 2)


def default_made_a_tuple(m, axes=(2, 3)):
    ax = axes
    ax = tuple(ax)
    return m * len(ax)


def int_made_a_tuple(m, axes=2):
    if isinstance(axes, int):
        axes = (axes,)
    axes = tuple(axes)
    return m * len(axes) * axes[-1]


def test_tuple_of_a_default():
    same_as_python(default_made_a_tuple, 1.5)
    same_as_python(int_made_a_tuple, 1.5)
    same_as_python(int_made_a_tuple, 1.5, (3, 4, 5))


def turned(x):
    return np.sum(np.rot90(x) * np.arange(4.0).reshape(2, 2))


def test_rot90_by_the_rule_and_by_its_source():
    value, pullback = vjp(np.rot90, np.arange(6.0).reshape(2, 3), argnums=0)
    np.testing.assert_array_equal(value, np.rot90(np.arange(6.0).reshape(2, 3)))
    seed = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(pullback(seed), np.rot90(seed, -1))
    value, gradient = value_and_grad(turned)(np.eye(2))
    assert value == turned(np.eye(2))
    np.testing.assert_array_equal(gradient, np.rot90(np.arange(4.0).reshape(2, 2), -1))
