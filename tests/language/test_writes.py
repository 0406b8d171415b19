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


# -- spellings -------------------------------------------------------------------------------------


@programs(V)
def one_value_in_two_places(x):
    y = np.zeros(4)
    z = np.zeros(4)
    y[0] = z[1] = x[0] * x[1]
    y[1:3] = z[2:] = x[2:] ** 2
    return np.sum(y * z) + np.sum(y) * z[1]


@programs(V)
def a_tuple_of_places(x):
    y = x * x
    y[0], y[3] = y[3], y[0] * x[1]
    y[1:3], (a, y[3]) = x[:2], (x[2], x[0])
    return np.sum(y * y) * a


@programs(V)
def a_swap_of_views(x):
    y = x * x
    y[:2], y[2:] = y[2:], y[:2]
    return np.sum(y * x)


@programs(V)
def a_starred_target(x):
    y = np.zeros(4)
    y[0], *rest = x
    y[1:] = rest
    return np.sum(y * y)


@programs(V)
def a_place_as_loop_variable(x):
    y = np.zeros(2)
    total = 0.0
    for y[0] in x:
        total += y[0] * y[1]
        y[1] = y[0]
    return total


@programs(V)
def the_index_first_and_once(x):
    y = x * 1.0
    i = 0
    y[(i := i + 1)] += x[0]
    y[i] *= x[1]
    return np.sum(y * y)


@programs(V)
def out_arguments(x):
    y = np.empty(4)
    np.exp(x, out=y)
    np.multiply(y, x, out=y)
    np.add(y[:2], 1.0, out=y[2:])
    z = np.sin(x, y)
    return np.sum(y * z)


@programs(V)
def out_and_where(x):
    y = x * 2.0
    np.sqrt(x, out=y, where=x > 0.0)
    return np.sum(y * y)


@programs(M)
def out_of_other_functions(m):
    y = np.empty(4)
    z = np.zeros((3, 3))
    np.sum(m, axis=0, out=y)
    np.dot(m, m.T, out=z)
    return np.sum(z) * np.sum(y * y)


@programs(V)
def copyto(x):
    y = np.zeros(4)
    np.copyto(y, x)
    np.copyto(y[1:3], x[:2] ** 2)
    return np.sum(y * y)


@programs(V)
def copyto_where(x):
    y = x * x
    np.copyto(y, 2.0 * x, where=x > 0.4)
    return np.sum(y * y)


@programs(V)
def put(x):
    y = x * x
    np.put(y, [0, 2], x[:2])
    return np.sum(y * y)


@programs(S)
def fill_diagonal(m):
    y = m * m
    np.fill_diagonal(y, m[0, 0] * 2.0)
    return np.sum(y * m)


@programs(V)
def add_at(x):
    y = np.zeros(3)
    np.add.at(y, np.array([0, 2, 2, 0]), x * x)
    np.subtract.at(y, [1, 1], x[:2])
    return np.sum(y * y)


@programs(V)
def fill(x):
    y = x * x
    z = y * x
    y.fill(x[2])
    z[1:].fill(0.5)
    return np.sum(y * z)


@programs(V)
def sort_in_place(x):
    y = x * x
    z = y * x
    y.sort()
    return np.sum(y * np.arange(4.0)) + np.sum(z * y)


@programs(M)
def sort_along_an_axis(m):
    y = np.sin(3.7 * m)
    y.sort(axis=0)
    y[:, ::-1].sort(axis=1)
    return np.sum(y * np.arange(12.0).reshape(3, 4))


@programs(V)
def partition_in_place(x):
    y = x * x
    y.partition(1)
    return y[0] * 2.0 + y[1] + np.sum(y[2:])


@programs(M)
def item_and_flat(m):
    y = m * m
    y.flat[5] = m[0, 0]
    return np.sum(y * y)


# -- views -----------------------------------------------------------------------------------------


@programs(V)
def a_view_sees_the_write(x):
    y = x * 2.0
    head = y[:2]
    y[0] = x[3] ** 2
    y += 1.0
    return np.sum(head * head)


@programs(V)
def a_write_through_a_view(x):
    y = x * 2.0
    tail = y[1:]
    tail[0] = x[0] * x[0]
    tail *= 3.0
    return np.sum(y * y)


@programs(M)
def a_view_of_a_view(m):
    y = m * m
    inner = y[1:, :][:, 1:3].T
    inner[0] = m[:2, 0]
    y[2, 2] += 1.0
    return np.sum(y * y) + np.sum(inner * inner)


@programs(M)
def transposes(m):
    y = m * m
    t = y.T
    t[0, 1] = m[2, 2]
    np.swapaxes(y, 0, 1)[3] = 1.0
    np.transpose(y)[1, 2] *= m[0, 1]
    return np.sum(t * t)


@programs(M)
def reshape_is_a_view(m):
    y = m * m
    flat = y.reshape(-1)
    flat[5] = m[0, 1]
    y[0] = 2.0
    return np.sum(flat * np.arange(12.0)) + np.sum(y)


@programs(M)
def rows_of_a_loop_are_views(m):
    y = m * m
    for row in y:
        row[1:] *= row[:-1]
        row /= np.sum(row)
    return np.sum(y * m)


@programs(M)
def flips_and_diagonals(m):
    y = m * m
    y[::-1, ::-1][0, 0] = m[1, 1]
    np.flip(y)[2, 1] *= 2.0
    y[:3, :3].diagonal()
    return np.sum(y * y)


@programs(V)
def real_part_is_a_view(x):
    z = x * (1.0 + 2.0j)
    z.real[1] = x[0] ** 2
    z.imag *= 0.5
    z.imag[2] += x[1]
    z.real = z.real * x
    return np.sum(np.abs(z) ** 2)


@programs(V, True)
def one_of_two_views(x, flag):
    y = x * x
    z = x + 1.0
    target = y[:2] if flag else z[2:]
    target[0] = x[3]
    return np.sum(target * target)


@programs(V)
def views_chosen_by_data(x):
    y = x * x
    z = x + 1.0
    if x[0] > 0.0:
        y[1] = z[0]
    else:
        z[1] = y[0]
    return np.sum(y * z)


# -- what is overwritten ---------------------------------------------------------------------------


@programs(V)
def overlapping(x):
    y = x * x
    y[1:] = y[:-1] * x[1:]
    y[:-1] += y[1:]
    return np.sum(y * y)


@programs(V)
def the_old_value_was_read(x):
    y = x * 2.0
    a = np.sin(y)
    b = y[1] * y[1]
    y[1] = b * a[0]
    c = y * y
    y[:] = c + a
    return np.sum(y * a) + b


@programs(V)
def recurrence(x):
    y = np.empty(8)
    y[:4] = x
    for i in range(4, 8):
        y[i] = np.tanh(y[i - 1]) + 0.3 * y[i - 4] * y[i - 2]
    return y[-1] * y[5]


@programs(V)
def the_same_place_again_and_again(x):
    y = np.zeros(1)
    for v in x:
        y[0] = y[0] * y[0] * 0.5 + v
    return y[0]


@programs(V)
def double_buffers(x):
    old, new = x * 1.0, np.empty(4)
    for _ in range(3):
        new[1:-1] = 0.5 * old[1:-1] * old[2:] + old[:-2]
        new[0], new[-1] = old[0], old[-1] ** 2
        old, new = new, old
    return np.sum(old * old)


@programs(S, V[:3])
def gaussian_elimination(m, b):
    a = m.copy()
    y = b.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            y[i] -= factor * y[k]
    for k in range(2, -1, -1):
        y[k] = (y[k] - a[k, k + 1 :] @ y[k + 1 :]) / a[k, k]
    return np.sum(y * y)


@programs(V)
def while_with_writes(x):
    y = x * 1.0
    n = 0
    while np.sum(y * y) > 0.5 and n < 20:
        y *= 0.8
        y[n % 4] -= 0.1 * y[(n + 1) % 4]
        n += 1
    return np.sum(y * x)


@programs(V)
def break_continue_return(x):
    y = x * x
    for i in range(4):
        if y[i] > 3.0:
            y[i] = 1.0
            continue
        if i == 3:
            y[0] *= x[1]
            break
        y[i] *= x[i]
    if y[0] > 100.0:
        return y[0]
    y[1] = y[0] * y[1]
    return np.sum(y)


@programs(V)
def in_inner_functions(x):
    y = x * x

    def scale(i, factor):
        y[i] *= factor

    def total():
        return np.sum(y * y)

    scale(0, x[1])
    before = total()
    scale(2, x[3])
    return before * total()


@programs(V)
def in_comprehensions(x):
    y = x * x
    rows = [y * v for v in x]
    y[0] = 5.0
    rows[1][2] = x[0]
    return sum([np.sum(r * r) for r in rows]) * y[0] * y[1]


@programs(V)
def in_with_and_finally(x):
    y = x * x
    with np.errstate(all="ignore"):
        y[0] = x[1] * y[0]
    try:
        z = np.sum(y * y)
    finally:
        y[1] = x[0]
    return z * np.sum(y)


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
