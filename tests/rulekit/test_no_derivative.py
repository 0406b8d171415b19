"""D19: values and blocks that carry no derivative."""

import contextlib

import numpy as np
import pytest

from adcompiler import (
    UnsupportedError, grad, jvp, no_grad, stop_gradient, value_and_grad, vjp,
)


def test_D19_stop_gradient_keeps_the_value_and_ends_the_derivative():
    assert value_and_grad(lambda x: x * stop_gradient(x))(3.0) == (9.0, 3.0)
    value, slope = value_and_grad(lambda x: np.sum(stop_gradient(x) ** 2))(np.ones(3))
    assert value == 3.0
    assert np.array_equal(slope, np.zeros(3))
    assert stop_gradient(2.5) == 2.5


def test_D19_stop_gradient_is_a_copy_of_arrays_and_containers():
    x = np.array([1.0, 2.0, 3.0])

    def f(x):
        y = stop_gradient(x)
        x[0] = 5.0
        y[1] = 7.0
        return np.sum(x * y)

    assert f(x.copy()) == 5.0 + 14.0 + 9.0
    value, slope = value_and_grad(f)(x)
    assert value == 28.0
    assert np.array_equal(slope, [0.0, 7.0, 3.0])

    @value_and_grad
    def of_tables(table):
        fixed = stop_gradient(table)
        return table["a"] * fixed["a"] + fixed["b"][0] * table["b"][1]

    value, slopes = of_tables({"a": 2.0, "b": [3.0, 4.0]})
    assert value == 16.0
    assert slopes == {"a": 2.0, "b": [0.0, 3.0]}


def test_D19_a_block_without_gradient():
    @value_and_grad
    def scaled(x):
        with no_grad():
            top = np.max(x)
            for i in range(len(x)):
                top = top + x[i] if i else top
        return top * np.sum(x)

    x = np.array([1.0, 4.0, 2.0])
    assert scaled.primal(x) == 70.0
    value, slope = scaled(x)
    assert value == 70.0
    assert np.array_equal(slope, np.full(3, 10.0))
    assert "with" not in scaled.source.split('"""')[-1]


def test_D19_arrays_made_in_the_block_may_be_written_into_there():
    @grad
    def f(x):
        with no_grad():
            y = np.sin(x)
            y[0] = 2.0
            last = y[1:]
        return np.sum(x * y) + last[0] * x[0]

    x = np.array([0.5, 1.0, 1.5])
    np.testing.assert_allclose(f(x), [2.0 + np.sin(1.0), np.sin(1.0), np.sin(1.5)])


def test_D19_what_is_written_behind_the_block_has_a_derivative():
    @grad
    def f(x, w):
        with no_grad():
            y = 2.0 * x
        y[0] = w * w
        return np.sum(y * y)

    assert np.array_equal(f(np.ones(3), 3.0), np.zeros(3))
    assert grad(f.primal, argnums=1)(np.ones(3), 3.0) == 4.0 * 3.0**3


def test_D19_a_view_made_in_the_block_has_none_after_a_write_either():
    @grad
    def f(x):
        with no_grad():
            view = x[1:]
        x[2] = 3.0 * x[0]
        return np.sum(x[:2] * view)

    # x0 * x1 + x1 * (3 x0), with the second factors constant
    assert np.array_equal(f(np.array([1.0, 2.0, 5.0])), [2.0, 3.0, 0.0])


def test_D19_closures_and_names_from_the_block_mean_what_they_mean():
    @value_and_grad
    def f(x):
        with no_grad() as nothing:
            same = x

            def cube(t):
                return t * t * x

        assert nothing is None
        return cube(same)

    assert f(2.0) == (8.0, 12.0)


def test_D19_vjp_and_return_inside_the_block():
    def f(x):
        with no_grad():
            if x > 1.0:
                return x * x
        return x * x * x

    assert value_and_grad(f)(2.0) == (4.0, 0.0)
    assert value_and_grad(f)(0.5) == (0.125, 0.75)
    value, pullback = vjp(f, 3.0)
    assert value == 9.0
    assert pullback(1.0) == (0.0,)


def test_D19_second_derivatives():
    assert grad(grad(lambda x: x * stop_gradient(x * x)))(2.0) == 0.0

    def f(x):
        with no_grad():
            y = x * x
        return x * y

    with pytest.raises(UnsupportedError, match=r"inside `with no_grad\(\)`"):
        grad(grad(f))(2.0)


def test_D19_no_tangent_goes_through_either():
    def f(x):
        with no_grad():
            y = x * x
        return x * y * stop_gradient(x)

    assert jvp(f, (2.0,), (1.0,)) == (16.0, 8.0)

    def store(x):
        with no_grad():
            x[0] = 2.0
        return np.sum(x)

    with pytest.raises(UnsupportedError, match=r"inside `with no_grad\(\)`"):
        jvp(store, (np.ones(3),), (np.ones(3),))


def test_D19_writes_into_what_carries_a_derivative_are_refused():
    def store(x):
        with no_grad():
            x[0] = 2.0
        return np.sum(x)

    def in_a_function(x):
        def put(a, v):
            a[1] = v

        with no_grad():
            for _ in range(3):
                put(x, 2.0)
        return np.sum(x)

    def add(x):
        y = x * x
        with no_grad():
            y += 1.0
        return np.sum(y)

    for f in (store, in_a_function, add):
        with pytest.raises(UnsupportedError, match=r"inside `with no_grad\(\)`"):
            grad(f)(np.ones(3))

    @grad
    def into_a_buffer(x):
        kept = np.zeros(3)
        with no_grad():
            kept[:] = x
        return np.sum(kept * x)

    assert np.array_equal(into_a_buffer(np.array([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0])


def test_D19_a_context_chosen_elsewhere_is_refused_when_it_is_entered():
    def f(x, flag):
        context = no_grad() if flag else contextlib.nullcontext()
        with context:
            y = x * x
        return y

    assert grad(f)(2.0, False) == 4.0
    with pytest.raises(RuntimeError, match="write `with no_grad"):
        grad(f)(2.0, True)
