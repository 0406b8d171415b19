"""Methods of ufuncs, functions of NumPy that write by masks and positions, and views of memory."""

import numpy as np
import pytest

from adcompiler import MissingRuleError, UnsupportedError, grad, vjp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25, 1.25])
M = np.sin(np.arange(12.0)).reshape(3, 4) + 0.05
W = np.cos(np.arange(12.0)).reshape(3, 4)


@programs(M)
def reduces(x):
    rows = np.add.reduce(x * x)
    largest = np.maximum.reduce(x, axis=1, keepdims=True)
    return np.sum(rows * x[0]) + np.sum(largest * np.minimum.reduce(x, axis=None))


@programs(M)
def reduces_lists(x):
    return np.sum(np.add.reduce([x[0], x[1] * x[2]]) * np.multiply.reduce([x[0], x[1]], axis=0))


@programs(np.abs(V), M)
def changes_at_places(x, m):
    y, table, held = x * x, np.outer(x, x) + 2.0, x[:4] ** 2
    np.power.at(y, [0, 1, 0, -1], 1.5)
    np.power.at(table.T, ([0, 1, 1], [2, 2, 2]), x[:3])
    np.hypot.at(held, held > 0.1, m[0, : np.count_nonzero(held > 0.1)])
    np.logaddexp.at(held, 1, x[2])
    np.fmax.at(held[::2], slice(None), [0.1, 9.0])
    np.copysign.at(held, np.array([], int), m[0, 0])
    return np.sum(y * x) + np.sum(table**2) + held @ m[1]


@programs(np.abs(M))
def reduces_in_other_ways(x):
    return (np.logaddexp.reduce(x, axis=None) + np.hypot.reduce(x[0])
            + np.sum(np.fmax.reduce(x, axis=1)) + np.add.reduce(x[:, 0], initial=2.0))


@programs(V)
def drawdown(x):
    wealth = np.multiply.accumulate(1.0 + 0.1 * x)
    peak = np.maximum.accumulate(wealth)
    return np.sum((wealth / peak - 1.0) ** 2)


@programs(M)
def scans_into_an_array(x):
    y = np.zeros((3, 4))
    np.add.accumulate(x * W, axis=1, out=y)
    y[0] = np.minimum.accumulate(y[0])
    return np.sum(y * x)


@programs(M, V)
def outer_operations(x, v):
    table = np.subtract.outer(v, x[0]) * np.multiply.outer(v, x[1])
    return np.sum(table ** 2) + np.sum(np.add.outer([1.0, 2.0], x)) + np.power.outer(2.0, v).sum()


@programs(M)
def sums_of_segments(x):
    sums = np.add.reduceat(x, [0, 2], axis=0)
    return np.sum(sums**2) + np.sum(np.maximum.reduceat(x.ravel(), np.array([0, 3, 5])))


@programs(M, V)
def combines_at(x, v):
    y = x * x
    np.maximum.at(y, [0, 1, 1], 0.5 * x[2])
    np.multiply.at(y, (np.array([0, 1, 0]), np.array([0, 1, 0])), v[:3])
    np.divide.at(y[2], slice(1, None), v[2:])
    np.minimum.at(y, ([1, 2], [3, 3]), 0.125)
    return np.sum(y * W)


@programs(V)
def factors_at_with_zeros(v):
    y = np.ones(3)
    np.multiply.at(y, [0, 0, 1, 2, 2], v * np.array([1.0, 0.0, 1.0, 0.0, 0.0]))
    return np.sum(y * v[:3])


@programs(M)
def writes_by_masks(x):
    y = x * x
    np.putmask(y, W > 0.5, x[0])
    np.place(y, W < -0.5, x[1, :3])
    np.putmask(y[0], y[0] > 0.3, 2.0)
    return np.sum(y * x)


@programs(M)
def writes_along_an_axis(x):
    y = x * x
    np.put_along_axis(y, np.array([[0, 2], [1, 0], [3, -1]]), x[:, :2], 1)
    np.put_along_axis(y, np.argmax(x, axis=0, keepdims=True), 2.0 * x[:1], axis=0)
    np.put_along_axis(y, np.array([5, 5, -1]), x[0, :3], None)
    return np.sum(y * W)


@programs(M)
def writes_through_a_view(x):
    y = x * x
    same = y.view()
    same[0] = x[1]
    return np.sum(y * W)


@programs(M)
def writes_parts_of_complex_numbers(x):
    z = x * (1.0 + 0.5j)
    parts = z.view(float)
    parts[:, 1::2] *= x
    return np.sum(np.abs(z) ** 2 * W)


@pytest.mark.parametrize("case", programs, ids=str)
def test_program(case):
    programs.check(case)


def test_ties_of_a_running_maximum_share():
    _, pullback = vjp(np.maximum.accumulate, np.array([1.0, 1.0, 0.5, 2.0]))
    np.testing.assert_array_equal(pullback(np.array([0.0, 1.0, 0.0, 0.0]))[0], [0.5, 0.5, 0, 0])
    _, pullback = vjp(np.fmin.accumulate, np.array([1.0, np.nan, 0.5]))
    np.testing.assert_array_equal(pullback(np.array([0.0, 1.0, 0.0]))[0], [1.0, 0.0, 0.0])


def test_emitted_code_calls_the_method():
    source = grad(lambda x: np.sum(np.maximum.accumulate(x) ** 2)).source_for(np.ones(3))
    assert "np.maximum.accumulate(x)" in source
    assert "import __main__" not in source


def test_what_has_no_rule_is_refused():
    x = np.ones(3)
    with pytest.raises(UnsupportedError, match=r"exp.at\(\) writes into an array"):
        grad(lambda x: np.exp.at(x * 1.0, [0]))(x)
    with pytest.raises(MissingRuleError, match="has no rule"):
        grad(lambda x: np.arctan2.reduce(x))(x)
    with pytest.raises(MissingRuleError, match=r"viewed\(\) has no rule"):
        grad(lambda x: np.sum(x.view(np.float32)))(x)


def test_places_change_in_their_order_in_recordings_too():
    def f(x):
        y = x * 1.0
        np.power.at(y, [0, 0, 1], np.array([2.0, 1.5, 3.0]))
        np.multiply.at(y, [2, 2], x[:2])
        np.square.at(y, [2])
        return np.sum(y)

    x = np.array([1.2, 0.7, 1.9])
    gradient = grad(f, backend="record")(x)
    held = 2.0 * 1.9**2 * 1.2 * 0.7
    np.testing.assert_allclose(
        gradient, [3.0 * 1.2**2 + held * 0.7, 3.0 * 0.7**2 + held * 1.2, held * 1.2 * 0.7 / 1.9],
        rtol=1e-13)


def test_arrays_of_integers_round_what_they_hold():
    def f(x):
        y = np.array([2, 1])
        np.power.at(y, [0], x[0])
        return np.sum(y) * x[0]

    assert grad(f)(np.array([1.5, 1.0])).tolist() == [3.0, 0.0]
    with pytest.raises(UnsupportedError, match="an array of integers, which rounds it"):
        grad(f, backend="record")(np.array([1.5, 1.0]))


@pytest.mark.parametrize("ufunc", [np.multiply, np.power])
def test_complex_numbers_do_not_fit_into_a_real_array(ufunc):
    def f(x):
        y = x * x
        ufunc.at(y, [0], 1j)
        return np.sum(y)

    with pytest.raises(TypeError, match=r"ufunc.at of a real array and complex numbers"):
        grad(f)(np.ones(3))
