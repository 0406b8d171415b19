"""Writes into arrays: every kind of subscript and spelling, through views, with what they destroy."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
W = np.array([1.25, 0.75, -0.5, 2.5])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.6
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]])
GLOBAL = np.ones(4)


# -- subscripts ------------------------------------------------------------------------------------


@programs(V)
def an_item(x):
    y = x * 2.0
    y[1] = x[0] * x[3]
    y[-1] = 3.0
    return np.sum(y * y)


@programs(V, 2)
def a_computed_item(x, k):
    y = np.zeros(4)
    for i in range(4):
        y[(i + k) % 4] = x[i] ** 2
    return np.sum(y * np.arange(4.0))


@programs(M)
def an_item_of_a_matrix(m):
    y = m * m
    y[0, 1] = m[2, 3] * y[1, 1]
    y[-1, -1] = y[0, 1]
    return np.sum(y * m)


@programs(M)
def an_item_of_a_row(m):
    y = m * 2.0
    y[1][2] = m[0, 0] ** 2
    return np.sum(y * y)


@programs(V)
def a_slice(x):
    y = x * x
    y[1:3] = x[:2]
    y[::2] = y[::-2] * 2.0
    return np.sum(y * y)


@programs(V, 1, 3)
def a_slice_of_computed_bounds(x, i, j):
    y = x * x
    y[i:j] = np.sin(x[i:j]) * y[i:j]
    y[:i] = 1.0
    return np.sum(y * x)


@programs(M)
def rows_and_columns(m):
    y = np.zeros((3, 4))
    y[0] = m[1]
    y[:, 2] = m[:, 0] ** 2
    y[1:, 1:3] = m[:2, :2] * y[1:, 1:3] + 1.0
    return np.sum(y * y)


@programs(M)
def ellipsis_and_new_axes(m):
    y = np.ones((3, 4))
    y[...] = m * m
    y[..., 0] = m[:, 1]
    y[:, None, 3] = m[:, 2:3]
    return np.sum(y * m)


@programs(V)
def a_mask(x):
    y = x * x
    y[x < 0.3] = x[x < 0.3] * 5.0
    y[y > 3.0] = 1.5
    return np.sum(y * y)


@programs(V)
def an_array_of_indices(x):
    y = x * 2.0
    y[np.array([0, 2])] = x[np.array([3, 1])] ** 2
    y[[1, 3]] = 0.5
    return np.sum(y * y)


@programs(V)
def indices_that_repeat(x):
    y = np.zeros(3)
    y[np.array([1, 1, 0, 1])] = x * x
    return np.sum(y * np.array([1.0, 2.0, 3.0]))


@programs(M)
def pairs_of_indices(m):
    y = m * m
    y[np.array([0, 1, 2]), np.array([1, 2, 3])] = m[:, 0]
    y[np.arange(3), np.arange(3)] += 1.5
    return np.sum(y * y)


@programs(M)
def indices_beside_a_slice(m):
    y = m * m
    y[np.array([2, 0]), 1:3] = m[:2, :2]
    y[:, np.array([True, False, False, True])] *= 2.0
    return np.sum(y * y)


@programs(M)
def np_ix(m):
    y = m * 1.0
    y[np.ix_([0, 2], [1, 3])] = m[:2, :2] ** 2
    return np.sum(y * y)


@programs(V, 1.5)
def a_number_into_many_places(x, a):
    y = x * x
    y[1:] = a * x[0]
    return np.sum(y * y)


@programs(M, V)
def a_vector_into_many_rows(m, x):
    y = m * m
    y[1:] = x
    y[:, 0] += x[0]
    return np.sum(y * y)


@programs(np.array(1.5))
def a_zero_dimensional_array(x):
    y = x * 2.0 + np.zeros(())
    z = np.zeros(())
    z[()] = x * x
    return np.sum(y * z)


@programs(V.astype(np.float32), tol=2e-3)
def a_narrow_array(x):
    y = x * x
    y[1] = x[0]
    y[2:] += x[2:]
    return np.sum(y * y)


@programs(V)
def floats_into_a_narrow_array(x):
    y = np.zeros(4)
    y[:] = x
    return np.sum(y * y * y)


@programs(V)
def integers_stay_integers(x):
    order = np.zeros(4, dtype=int)
    for i in range(4):
        order[i] = (i + 1) % 4
    return np.sum(x[order] * x)


# -- operators in place ----------------------------------------------------------------------------


@programs(V, W)
def every_operator(x, w):
    y = x * 2.0
    y[0] += w[0]
    y[1] -= w[1] * y[0]
    y[2] *= w[2]
    y[3] /= w[3]
    y[1:3] **= 2
    y[:2] *= y[2:]
    return np.sum(y * x)


@programs(V)
def every_operator_with_itself(x):
    y = x * x + 1.0
    y += y
    y *= y
    y -= 0.5 * y
    y[:] /= y + 1.0
    return np.sum(y)


@programs(S, V[:3])
def matmul_in_place(m, x):
    y = m * 1.0
    y @= m
    return np.sum(y @ x)


@programs(V)
def other_operators_in_place(x):
    y = x * x
    n = np.arange(4)
    n //= 2
    n |= 4
    y %= 0.7
    return np.sum(y * n)


# -- arguments -------------------------------------------------------------------------------------


@programs(V)
def into_the_argument(x):
    x[0] = x[1] * x[2]
    x *= 2.0
    return np.sum(x * x)


@programs(V)
def into_a_view_of_the_argument(x):
    tail = x[1:]
    tail[:] = np.sin(tail) * x[0]
    return np.sum(x * x)


@programs(V, W)
def into_the_other_argument(x, out):
    out[:2] = x[:2] * out[2:]
    out += x
    return np.sum(out)


@programs(V, W, argnums=(0,))
def into_an_argument_that_is_not_differentiated(x, buffer):
    buffer[:] = x * x
    buffer[0] = 0.0
    return np.sum(buffer * x)


@programs(V, W)
def arguments_swapped(x, y):
    x[0], y[0] = y[0], x[0]
    x, y = y, x
    x[1] *= 2.0
    return np.sum(x * x * y)


@programs(M)
def an_argument_normalised_row_by_row(m):
    for i in range(len(m)):
        m[i] /= np.sqrt(np.sum(m[i] * m[i]))
    return m[0] @ m[1] + m[1] @ m[2]


@programs(V)
def arrays_as_results(x):
    y = x * x
    y[0] = x[3]
    first = y.copy()
    y[1] = 0.5 * x[0]
    return first, y, y[2]


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


# -- what a caller keeps ---------------------------------------------------------------------------


def scaled_in_place(x):
    x *= 3.0
    x[0] = x[1] * x[1]
    return np.sum(x * x)


def test_grad_leaves_arguments_as_they_were():
    x = V.copy()
    value, gradient = value_and_grad(scaled_in_place)(x)
    assert np.array_equal(x, V)
    assert value == scaled_in_place(V.copy())
    assert np.array_equal(grad(scaled_in_place)(x), gradient)
    expected = 18.0 * V + np.array([0.0, 4.0 * 81.0 * V[1] ** 3, 0.0, 0.0])
    expected[0] = 0.0
    assert np.allclose(gradient, expected)


def test_vjp_leaves_arguments_as_the_function_does():
    x, wanted = V.copy(), V.copy()
    scaled_in_place(wanted)
    _, pullback = vjp(scaled_in_place, x)
    assert np.array_equal(x, wanted)
    bars = pullback(1.0)
    x[:] = 0.0  # the caller's array is the caller's
    assert np.array_equal(pullback(1.0)[0], bars[0])
    assert np.array_equal(bars[0], grad(scaled_in_place)(V.copy()))


def test_a_result_belongs_to_the_caller():
    def cubes(x):
        y = x * x
        y *= x
        return y

    value, pullback = vjp(cubes, V.copy())
    value[:] = 0.0
    assert np.allclose(pullback(np.ones(4))[0], 3.0 * V * V)


def test_the_argument_is_the_result():
    def doubled(x):
        x *= 2.0
        x[0] = x[1] ** 2
        return x

    x = V.copy()
    value, pullback = vjp(doubled, x)
    assert np.array_equal(value, x)
    value[:] = 0.0
    seed = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.allclose(pullback(seed)[0], [0.0, 4.0 + 8.0 * V[1], 6.0, 8.0])


def test_a_global_array_is_written_by_each_call():
    def accumulates(x):
        GLOBAL[1] = x[0] * x[0]
        return np.sum(GLOBAL * x)

    kept = GLOBAL.copy()
    try:
        wanted = np.array([GLOBAL[0] + 2.0 * V[0] * V[1], V[0] ** 2, 1.0, 1.0])
        value, pullback = vjp(accumulates, V)
        assert GLOBAL[1] == V[0] ** 2
        assert value == np.sum(GLOBAL * V)
        assert np.allclose(pullback(1.0)[0], wanted)
        GLOBAL[1] = 7.0
        assert np.allclose(grad(accumulates)(V), wanted)
        assert GLOBAL[1] == V[0] ** 2
    finally:
        GLOBAL[:] = kept


def test_numbers_are_cut_to_the_dtype_of_the_array():
    def into_integers(x):
        n = np.zeros(4, dtype=int)
        n[:] = 2.5
        n[0] = x[1]
        return np.sum(n * x)

    assert np.array_equal(grad(into_integers)(V), [-1.0, 2.0, 2.0, 2.0])


def test_floats_into_integers_in_place_are_refused():
    def adds(x):
        n = np.zeros(4, dtype=int)
        n += x
        return np.sum(n)

    with pytest.raises(UnsupportedError, match="cannot be written into an array of int64"):
        grad(adds)(V)


def test_the_shape_of_an_array_cannot_be_assigned():
    def reshaped(x):
        y = x * x
        y.shape = (2, 2)
        return np.sum(y)

    with pytest.raises(UnsupportedError, match="assigning to the attribute `shape` of an array"):
        grad(reshaped)(V)


def test_errors_of_the_program_are_pythons():
    def outside(x):
        y = x * x
        y[7] = 1.0
        return np.sum(y)

    def of_another_shape(x):
        y = x * x
        y[1:] = x[:2]
        return np.sum(y)

    with pytest.raises(IndexError):
        grad(outside)(V)
    with pytest.raises(ValueError, match="broadcast"):
        grad(of_another_shape)(V)
