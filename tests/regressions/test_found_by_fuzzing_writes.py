"""What generated programs that write into storage found."""

import numpy as np
import pytest
from adcompiler import UnsupportedError, grad, hvp, jvp, value_and_grad, vjp


def test_the_value_is_computed_before_the_sweep_restores_what_a_branch_joined():
    def f(x, v):
        v[...] /= 1.5
        v[:] *= v
        if x:
            pass
        else:
            v += 1
        return np.sum(v * 1.0)

    v = np.array([0.6, 0.3])
    value, gradient = value_and_grad(f, argnums=1)(1.0, v)
    assert value == pytest.approx(np.sum((v / 1.5) ** 2))
    assert gradient == pytest.approx(2 * v / 1.5**2)


def test_views_of_views_are_read_anew_in_order():
    def f(d):
        a = d[-2]
        p = np.outer(a[:1], a)
        a[0] *= 3.0
        return p

    d = [np.array([2.0, 5.0]), np.array([1.0, 1.0])]
    y, pullback = vjp(f, d)
    assert np.array_equal(y, [[4.0, 10.0]])
    first, second = pullback(np.array([[1.0, 10.0]]))[0]
    assert np.array_equal(first, [4.0 + 50.0, 20.0])
    assert np.array_equal(second, [0.0, 0.0])


def test_a_mask_written_with_values_of_the_same_array_is_refused():
    def f(x):
        x[np.array([True, True, True])] = x[::-1]
        return x

    def g(x):
        x[np.array([True, True, True])] = x[::-1].copy()
        return x

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedError, match="where a mask is true"):
        vjp(f, x.copy())
    assert np.array_equal(vjp(g, x.copy())[1](x)[0], [3.0, 2.0, 1.0])


def test_a_value_is_computed_before_the_sweep_restores_the_last_array_of_a_loop():
    def f(x, v, ks):
        view = v
        for _ in range(3):
            v /= x
            v[ks], view[-2] = (1.0, 1.0)
        return np.mean(view)

    v = np.array([[-0.5, 0.8], [0.5, 0.6]])
    value, gradients = value_and_grad(f, argnums=(0, 1))(-0.25, v, np.array([0, 1, 1]))
    assert value == 1.0
    assert gradients[0] == 0.0
    assert np.array_equal(gradients[1], np.zeros((2, 2)))


def test_a_branch_that_reads_an_array_stays_in_front_of_a_write():
    def f(v):
        for test in (2, 1.0):
            if test:
                total = np.sum(v)
            v[1] += 1.0
            if test:
                last = total
        v[0] = last
        return np.sum(v)

    value, gradient = value_and_grad(f)(np.array([4.0, 5.0, 6.0]))
    assert value == 16.0 + 7.0 + 6.0
    assert np.array_equal(gradient, [1.0, 2.0, 2.0])


def test_results_stay_as_they_were_when_the_sweep_restores_their_storage():
    def doubled_and_squared(y):
        y *= 2.0
        y *= y
        return y

    def powers(x):
        y = np.array([x, x])[:1]
        y *= 3.0
        y **= 2
        return y

    value, gradient = value_and_grad(doubled_and_squared)(np.array(3.0))
    assert (value, gradient) == (36.0, 24.0)
    value, gradient = value_and_grad(powers)(3.0)
    assert (value, gradient) == (81.0, 54.0)


def test_what_comes_with_the_value_stays_as_it_was_when_the_sweep_restores_its_storage():
    def alone(x, v):
        for _ in range(3):
            v = v / x
            v[0] = 1.0
        return np.sum(v * v), v

    def in_a_list(x, v):
        arrays = [v, v * x]
        for k in range(2):
            arrays[k] *= arrays[1 - k]
            arrays[k][0] = x
        return np.sum(arrays[0] * arrays[1]), arrays

    v = np.array([0.5, -1.25])
    (value, left), gradients = value_and_grad(alone, (0, 1), has_aux=True)(0.5, v)
    assert np.array_equal(left, [1.0, -10.0])
    assert (value, gradients[0]) == (101.0, -1200.0)
    assert np.array_equal(gradients[1], [0.0, -160.0])
    gradients, left = grad(alone, (0, 1), has_aux=True)(0.5, v)
    assert np.array_equal(left, [1.0, -10.0])
    (value, arrays), _ = value_and_grad(in_a_list, (0, 1), has_aux=True)(0.5, v)
    plain_value, plain_arrays = in_a_list(0.5, v.copy())
    assert value == plain_value
    assert np.array_equal(arrays, plain_arrays)


def test_what_comes_with_the_value_may_be_what_that_is_computed_from():
    def f(x):
        total = np.sum(np.sin(x))
        return total * total, total

    x = np.array([3.0, 1.0])
    (value, total), gradient = value_and_grad(f, has_aux=True)(x)
    assert total == pytest.approx(np.sum(np.sin(x)))
    assert value == total * total
    assert gradient == pytest.approx(2.0 * total * np.cos(x))


def test_an_array_written_after_a_branch_that_gives_it_another_name():
    def f(v, d, n):
        v[0] = 4.0
        d[-1] = 0.0
        if n:
            b = v
        else:
            d *= d
        b = v
        b[1:] *= 0.5
        return v + d.sum()

    v, d = np.array([1.0, 2.0, 6.0]), np.array([3.0, 5.0])
    for n, slope in ((1, 1.0), (0, 6.0)):
        y, pullback = vjp(f, v.copy(), d.copy(), n, argnums=(0, 1))
        assert np.array_equal(y, np.array([4.0, 1.0, 3.0]) + (9.0 if not n else 3.0))
        for _ in range(2):
            first, second = pullback(np.array([1.0, 10.0, 100.0]))
            assert np.array_equal(first, [0.0, 5.0, 50.0])
            assert np.array_equal(second, [111.0 * slope, 0.0])


def test_an_array_left_by_a_loop_over_a_list_that_was_made_shorter_is_written():
    def f(x, rows):
        rows.pop(0)
        total = 0.0
        for row in rows:
            total += row[0]
        row[1] += 1.0
        return x + total

    rows = [np.zeros(2), np.zeros(2)]
    last = rows[1]
    y, pullback = vjp(f, 1.0, rows)
    assert y == 1.0
    assert len(rows) == 1 and rows[0] is last
    assert np.array_equal(last, [0.0, 1.0])
    assert pullback(2.0)[0] == 2.0


def test_a_cotangent_without_dimensions_that_a_loop_hands_on_is_written_into():
    def f(v):
        view = np.expand_dims(v, 0)
        view[0] *= v[()]
        rows = []
        for _ in range(3):
            rows.append(view)
        return np.min(rows)

    y, pullback = vjp(f, np.array(0.823))
    assert y == pytest.approx(0.823**2, rel=1e-14)
    for _ in range(2):
        assert pullback(1.0)[0] == pytest.approx(2 * 0.823, rel=1e-14)

    def g(v):
        view, total = v[...], 0.0
        for i in range(3):
            if i != 1:
                view *= 1.5
                total = total + view * v
            else:
                total = total + np.cos(v)
            view[()] = total * view
        return total * view

    slope = (g(np.array(0.3 + 1e-6)) - g(np.array(0.3 - 1e-6))) / 2e-6
    assert grad(g)(np.array(0.3)) == pytest.approx(slope, rel=1e-8)


def test_the_cotangent_in_front_of_a_loop_is_of_the_type_that_the_value_had_there():
    def f(x, v, m):
        e = x + np.stack([v, v]) if m[0] > 0.5 else v[1:]
        b = np.tanh(x)
        for _ in range(len(v) - 1):
            e = b
        return x + e

    m = np.array([1.0])
    _, pullback = vjp(f, 0.3, np.ones(3), m)
    assert pullback(1.0)[0] == pytest.approx(2.0 - np.tanh(0.3) ** 2, rel=1e-14)
    _, pullback = vjp(f, 0.3, np.ones(1), m, argnums=0)
    assert pullback(np.ones((2, 1))) == pytest.approx(4.0, rel=1e-14)


def test_a_name_for_a_part_that_a_container_made_anew_holds():
    def f(x, at, data):
        pair = [data.view(), data]
        pair[1][at] = x
        part = pair[0]
        return pair[0] + part

    data = np.arange(3.0)
    y, pullback = vjp(f, 4.0, np.array([1, 1, 0]), data, argnums=(0, 2))
    assert np.array_equal(y, [8.0, 8.0, 4.0])
    assert np.array_equal(data, [4.0, 4.0, 2.0])
    x_bar, data_bar = pullback(np.array([1.0, 10.0, 100.0]))
    assert x_bar == 22.0
    assert np.array_equal(data_bar, [0.0, 0.0, 200.0])


def test_additions_at_subscripts_of_unknown_type_accumulate():
    def counted(x):
        i, j = np.mgrid[0:3, 0:3]
        total = np.zeros((3, 3))
        np.add.at(total, (i // 2, j), x[j] * x[i])
        np.add.at(total[0], i, x[j] * x[i])
        np.subtract.at(total, (i // 2, j), 3.0 * x[i])
        return np.sum(total**2)

    def gathered(q):
        i, j = np.mgrid[0:3, 0:3]
        return np.sum(q[i // 2, j] ** 2)

    x, direction = np.array([0.3, 0.5, 0.7]), np.array([1.0, -2.0, 0.5])
    y, pullback = vjp(counted, x)
    slope = (counted(x + 1e-6 * direction) - counted(x - 1e-6 * direction)) / 2e-6
    assert y == counted(x)
    assert pullback(1.0)[0] @ direction == pytest.approx(slope, rel=1e-8)
    assert jvp(counted, (x,), (direction,))[1] == pytest.approx(slope, rel=1e-8)
    q, d = np.arange(9.0).reshape(3, 3) / 7.0, np.cos(np.arange(9.0)).reshape(3, 3)
    wanted = 2.0 * d * np.array([[2.0], [1.0], [0.0]])
    for mode in ("fwd_adj", "adj_adj", "adj_fwd"):
        np.testing.assert_allclose(hvp(gathered, q, d, mode=mode), wanted, rtol=1e-13)


def test_a_part_of_a_sum_of_0_d_cotangents_of_unknown_type_is_added():
    def f(v):
        e = np.zeros(1)
        for _ in range(2):
            e = v
        return e * e[()] + e

    v = np.array(0.3)
    y, pullback = vjp(f, v)
    assert y == pytest.approx(0.39, rel=1e-15)
    assert pullback(1.0)[0] == pytest.approx(1.6, rel=1e-15)
    assert jvp(f, (v,), (np.array(1.0),))[1] == pytest.approx(1.6, rel=1e-15)


def test_the_shape_of_what_an_early_return_leaves_without_a_value_is_read_where_it_has_one():
    def f(x, v, n):
        rows = [v * x]
        try:
            x = x * len(rows[n])
            return np.linspace(0.2, 0.8, 3) * x
        except IndexError:
            view = np.expand_dims(rows, 0)
        return view * np.arange(1.0, 2.0) * x

    y, pullback = vjp(f, 0.3, np.array([0.5]), 0, argnums=(0, 1))
    np.testing.assert_allclose(y, [0.06, 0.15, 0.24], rtol=1e-14)
    x_bar, v_bar = pullback(np.ones(3))
    assert (x_bar, v_bar) == (pytest.approx(1.5, rel=1e-15), 0.0)
    y, pullback = vjp(f, 0.3, np.array([0.5]), 1, argnums=(0, 1))
    assert y == pytest.approx(0.5 * 0.3**2, rel=1e-14)
    x_bar, v_bar = pullback(np.ones((1, 1, 1)))
    assert (x_bar, v_bar) == (pytest.approx(0.3, rel=1e-14), pytest.approx(0.09, rel=1e-14))


def test_the_cotangent_of_what_was_spread_by_a_store_has_its_shape():
    def f(v, at):
        w = v * 1.0
        w[0:2, 1:] = v[at["rows"], [0, 1]]
        w[1:0:1, 1:] = v[np.array([1, 1]), [0, 1]]
        w[:, :1] += at["step"] * v[at["rows"][:1], [0]]
        return np.sum(w**2)

    v, d = np.arange(6.0).reshape(2, 3) / 10.0, np.cos(np.arange(6.0)).reshape(2, 3)
    at = {"rows": np.array([1, 1]), "step": 2.0}
    slope = (f(v + 1e-6 * d, at) - f(v - 1e-6 * d, at)) / 2e-6
    y, pullback = vjp(f, v, at, argnums=0)
    assert y == f(v, at)
    assert np.sum(pullback(1.0) * d) == pytest.approx(slope, rel=1e-8)
    assert jvp(f, (v, at), (d,), argnums=(0,))[1] == pytest.approx(slope, rel=1e-8)


def test_views_of_views_are_read_anew_before_the_methods_of_them():
    def f(m):
        view = m.reshape(1)
        view[0] *= 2.0
        part = view[None]
        part[:2] *= np.reshape(part, 1).reshape(1, 1)
        return m * 1.0

    y, pullback = vjp(f, np.array(1.5))
    assert y == 9.0
    assert pullback(1.0)[0] == pytest.approx(12.0, rel=1e-15)


def test_a_choice_of_what_is_not_known_to_be_an_array_is_not_written():
    def f(x, data, table, n, m):
        if n:
            pass
        else:
            data = table["w"] if x else m[0]
        data[np.newaxis] *= 2.0
        return np.sum(m[0] * data)

    table, m = {"u": 0.5, "w": np.ones(3)}, (np.ones(3), np.ones(3))
    with pytest.raises(UnsupportedError, match="type is not known"):
        vjp(f, 0.1, np.ones(3), table, 0, m, argnums=(0, 1, 2, 4))
    data, first = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    value, pullback = vjp(f, 0.1, data, table, 1, (first, np.ones(3)), argnums=(0, 1, 2, 4))
    assert value == 26.0  # what n is decides which array is written into
    np.testing.assert_array_equal(data, [2.0, 4.0, 6.0])
    _, data_bar, table_bar, m_bar = pullback(1.0)
    np.testing.assert_array_equal(data_bar, [2.0, 6.0, 4.0])
    np.testing.assert_array_equal(table_bar["w"], np.zeros(3))
    np.testing.assert_array_equal(m_bar[0], [2.0, 4.0, 6.0])


def test_writes_in_front_of_a_raise_that_is_caught():
    def after_a_branch(m):
        try:
            if m[0] > 100.0:
                raise ValueError
            m[0] *= 3.0
            raise IndexError
        except IndexError:
            pass
        return np.sum(m * m)

    def in_a_branch(m):
        try:
            if m[0] > 0.5:
                m[1] = 5.0 * m[2]
                raise IndexError
        except IndexError:
            pass
        return np.sum(m * m)

    m, direction = np.arange(1.0, 5.0), np.array([0.5, -1.0, 2.0, 0.25])
    for function in (after_a_branch, in_a_branch):
        ends = [function(m + h * direction) for h in (1e-6, -1e-6)]
        ours, plain = m.copy(), m.copy()
        value, pullback = vjp(function, ours)
        assert value == function(plain)
        assert np.array_equal(ours, plain)
        assert pullback(1.0)[0] @ direction == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-8)


@pytest.mark.parametrize("c", [1.3, -1.3])
def test_writes_in_front_of_a_raise_beside_writes_that_are_completed(c):
    def two_arrays(x, c):
        y, z = x.copy(), x * 2.0
        try:
            if c > 0.0:
                y[0] = 5.0 * c
                raise ValueError
            z[1] = c * c
        except ValueError:
            pass
        return y @ z

    def held_by_a_list(x, c):
        y, z = x.copy(), [x * 2.0]
        try:
            if c > 0.0:
                z[0][0] = 5.0 * c
                raise ValueError
            y[1] = c * c
        except ValueError:
            y[0] = z[0][0]
        return y @ z[0]

    def one_array(x, c):
        y = x.copy()
        try:
            if c > 0.0:
                y[0] = 5.0 * c
                raise ValueError
            y[1] = c * c
        except ValueError:
            pass
        return y @ x

    x = np.array([0.3, 0.4])
    for function in (two_arrays, held_by_a_list, one_array):
        value, pullback = vjp(function, x, c, argnums=(0, 1))
        assert value == function(x, c)
        x_bar, c_bar = pullback(1.0)
        assert c_bar == pytest.approx(
            (function(x, c + 1e-6) - function(x, c - 1e-6)) / 2e-6, rel=1e-8)
        for i, step in enumerate(np.eye(2) * 1e-6):
            slope = (function(x + step, c) - function(x - step, c)) / 2e-6
            assert x_bar[i] == pytest.approx(slope, rel=1e-8, abs=1e-9)
