"""Programs that the fuzzer found, made small: each once did not compile, run or give its value."""

import math

import numpy as np
import pytest
from adcompiler import source, value_and_grad, vjp


def test_iterable_of_a_reverse_loop_is_read_before_its_accumulators_are_set():
    def f(x, v):
        x = sum([x for _ in v])
        return np.dot(np.linspace(0.2, 0.8, 2) * x, np.linspace(0.2, 0.8, 2))

    # x occurs twice: f = (2 x) * (0.2**2 + 0.8**2)
    value, gradient = value_and_grad(f)(1.5, np.ones((2, 3)))
    assert value == pytest.approx(3.0 * 0.68)
    assert gradient == pytest.approx(2 * 0.68)


def test_nested_comprehensions_keep_their_sequences_apart():
    def f(t):
        rows = np.array([np.array([t * k for k in range(3)]) for j in range(2)])
        return sum([np.sum(row) for row in rows])

    assert value_and_grad(f)(0.5) == (3.0, 6.0)


def countdown(t, n):
    if n <= 0:
        return t
    return countdown(2 * t, n - 1)


def test_recursive_function_called_without_a_derivative_is_emitted():
    def f(x):
        return countdown(1.0, 3) * x

    assert value_and_grad(f)(0.7) == (8.0 * 0.7, 8.0)


def test_index_list_display_keeps_the_type_of_the_array():
    def f(m):
        m = m[[0, 2, 1]]
        return np.dot(m, m)

    m = np.array([1.0, 2.0, 3.0])
    value, gradient = value_and_grad(f)(m)
    assert value == 14.0
    assert gradient.tolist() == [2.0, 4.0, 6.0]
    assert "tensordot" not in source(f, m)


def test_gradient_of_a_float_is_a_float_after_numpy_branches_and_loops():
    def branch(x, c):
        y = x * x
        if c:
            x = np.sin(x)
        return y + x

    def loop(x, v):
        for k in (0.5, 0.25):
            v = v - k * np.sin(x)
        return math.hypot(2.0, v) + x

    assert type(value_and_grad(branch)(0.5, True)[1]) is float
    grads = value_and_grad(loop, argnums=(0, 1))(0.5, 1.0)[1]
    assert [type(g) for g in grads] == [float, float]
    r = 1.0 - 0.75 * math.sin(0.5)
    factor = r / math.hypot(2.0, r)
    assert grads == pytest.approx((1 - factor * 0.75 * math.cos(0.5), factor))


def test_loop_over_a_tuple_with_an_int_among_its_floats():
    def f(x):
        total = 0.0
        for k in (2, x * x):
            total = total + k * k
        return total

    assert value_and_grad(f)(0.5) == (4.0625, 4 * 0.5**3)


def test_value_that_no_assignment_has_reached_has_a_zero_cotangent():
    def f(x, v):
        for _ in v:
            return x
        else:
            v = -v
        h = [k * x for k in v]
        return h[0]

    assert value_and_grad(f, argnums=(0, 1))(0.5, np.ones(3))[0] == 0.5
    gx, gv = value_and_grad(f, argnums=(0, 1))(0.5, np.ones(3))[1]
    assert gx == 1.0
    assert gv.tolist() == [0.0, 0.0, 0.0]


def test_early_return_of_a_tuple_from_a_loop():
    def f(x, n):
        k = 0
        while k < n:
            k += 1
            return (x * 2.0, np.array([x, x]))
        return (x, np.array([x, 3 * x]))

    for n, wanted in ((1, 2 + 1 + 1), (0, 1 + 1 + 3)):
        y, pullback = vjp(f, 0.5, n, argnums=0)
        assert y[0] == (1.0 if n else 0.5)
        assert pullback((1.0, np.ones(2))) == wanted


def test_emitted_text_does_not_depend_on_the_run():
    def f(x, v):
        for k in (1.0, 0.5):
            a, b = v
            x = x + a * k
        return x + k * b

    texts = {source(f, 0.5, (0.25, 1.0), mode="vjp", argnums=(0, 1)) for _ in range(20)}
    assert len(texts) == 1


def test_sizes_in_a_loop_are_those_of_the_iteration():
    def f(A):
        total = 0.0
        for i in range(2):
            B = A[:, i:] * A[:, i:]
            total = total + np.sum(B.mean(axis=0))
        return total

    A = np.arange(1.0, 9.0).reshape(4, 2)
    value, gradient = value_and_grad(f)(A)
    assert value == f(A)
    assert gradient == pytest.approx(A * [0.5, 1.0])  # column 1 is in both means


def test_sizes_of_a_loop_that_does_not_run():
    def f(d):
        for _ in range(0):
            return np.array([d, d]).mean(axis=1)[1]
        return d

    d = np.array([0.1, 0.2])
    y, pullback = vjp(f, d)
    assert np.array_equal(y, d)
    assert np.array_equal(pullback(np.ones(2))[0], [1.0, 1.0])


def test_an_array_that_meets_its_own_stretched_result():
    def f(v):
        return v * v[None] / v

    def g(v):
        return v[1:] + v * v

    v = np.array([0.25, 0.5])
    y, pullback = vjp(f, v)
    assert np.array_equal(y, [v])
    assert pullback(np.array([[2.0, 3.0]]))[0] == pytest.approx([2.0, 3.0])
    y, pullback = vjp(g, v)
    assert np.array_equal(y, 0.5 + v * v)
    assert pullback(np.ones(2))[0] == pytest.approx([0.5, 1.0 + 2.0])


def test_an_exit_that_is_never_taken_does_not_end_the_loop():
    def f(x, n=None):
        for _ in range(3):
            x = x * 0.5
            if n is not None:
                return 1.0
        return x

    assert value_and_grad(f)(2.0) == (0.25, 0.125)
    assert value_and_grad(f)(2.0, 1) == (1.0, 0.0)


def sine_or_sum(t, n):
    if n:
        return np.sin(t[-1]) or t[-1] + t[0]
    return sine_or_sum(t, n - 1)


def test_an_or_at_the_end_of_a_function_that_is_compiled_on_its_own():
    def f(x):
        return x + sine_or_sum(np.array([1.0, 0.5]), 1)

    assert value_and_grad(f)(0.25) == (0.25 + np.sin(0.5), 1.0)


def test_a_list_of_what_is_written_later_as_a_condition():
    def f(x, v):
        v[()] -= x
        pair = [x, v]
        e = v
        if pair:
            pass
        else:
            e[()] *= 2.0
        return v

    y, pullback = vjp(f, 0.5, np.array(2.0))
    assert y == 1.5
    assert pullback(3.0) == (-3.0, 3.0)
