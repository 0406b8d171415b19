"""The behaviour wanted of patterns, example by example; the ids are those of the specification."""

import math
import random

import numpy as np
import pytest
from scipy.special import nctdtr

from adcompiler import (
    MissingRuleError, UnsupportedError, grad, hessian_sparsity, jacobian_sparsity, no_grad,
    stop_gradient,
)
from tests.sparsity.check import both_ways, pairs, rows

RNG = np.random.default_rng(7)


def three_rows(x):
    return np.array([x[0] ** 2, 2 * x[0] * x[1] ** 2, np.sin(x[2])])


def product(x):
    return x[0] * x[1]


def larger(x):
    return x[0] if x[0] > x[1] else x[1]


# --- A1: global Jacobian patterns -----------------------------------------------------------------


def test_a1_jacobian():
    pattern = jacobian_sparsity(three_rows, np.ones(3))
    assert pattern.shape == (3, 3) and pattern.dtype == bool
    assert rows(pattern) == [{0}, {0, 1}, {2}]


def test_a1_differences():
    pattern = jacobian_sparsity(np.diff, np.ones(4))
    assert pattern.shape == (3, 4) and pattern.nnz == 6
    assert rows(pattern) == [{0, 1}, {1, 2}, {2, 3}]


def test_a1_looks_at_shapes_only():
    nan = np.full(3, np.nan)
    assert rows(jacobian_sparsity(three_rows, nan)) == [{0}, {0, 1}, {2}]


# --- A2: global Hessian patterns ------------------------------------------------------------------


def foo(x):
    return x[0] + x[1] * x[2] + 1 / x[3]


@pytest.mark.parametrize(("function", "n", "expected"), [
    (foo, 4, both_ways([(1, 2), (3, 3)])),
    (lambda x: np.sum(np.diff(x) ** 3), 4,
     {(i, j) for i in range(4) for j in range(4) if abs(i - j) < 2}),
    (lambda x: (x[0] * x[1]) * (x[2] * x[3]), 4,
     {(i, j) for i in range(4) for j in range(4) if i != j}),
    (lambda x: foo(x) + x[1] ** x[4], 5, both_ways([(1, 1), (1, 2), (1, 4), (3, 3), (4, 4)])),
])
def test_a2_hessian(function, n, expected):
    pattern = hessian_sparsity(function, np.ones(n))
    assert pattern.shape == (n, n) and pairs(pattern) == expected


# --- A3, A4: patterns at a point ------------------------------------------------------------------


@pytest.mark.parametrize(("function", "point", "expected"), [
    (product, (1, 1), {0, 1}), (product, (0, 1), {0}), (product, (1, 0), {1}),
    (product, (0, 0), set()), (lambda x: x[0] / x[1], (0, 0), {0}),
    (lambda x: max(x[0], x[1]), (1, 1), {0, 1}), (lambda x: max(x[0], x[1]), (1, 2), {1}),
    (lambda x: np.max(x), (3, 3), {0, 1}), (larger, (1, 2), {1}), (larger, (2, 1), {0}),
])
def test_a3_local_jacobian(function, point, expected):
    assert rows(jacobian_sparsity(function, np.array(point, float), mode="local")) == [expected]


@pytest.mark.parametrize(("point", "expected"), [
    ((1, 3, 5, 1, 2), [(1, 2), (1, 4), (3, 3)]), ((4, 3, 5, 1, 2), [(0, 1), (1, 2), (3, 3)]),
])
def test_a4_local_hessian(point, expected):
    pattern = hessian_sparsity(
        lambda x: foo(x) + x[1] * max(x[0], x[4]), np.array(point, float), mode="local")
    assert pairs(pattern) == both_ways(expected)


# --- A5: functions that write their result into an argument ---------------------------------------


def differences_into(y, x):
    for i in range(len(x) - 1):
        y[i] = x[i + 1] - x[i]


def test_a5_in_place():
    y = np.full(5, 7.0)
    pattern = jacobian_sparsity(differences_into, y, np.ones(5))
    assert rows(pattern) == [{0, 1}, {1, 2}, {2, 3}, {3, 4}, set()]
    assert np.array_equal(y, np.full(5, 7.0))


# --- A12: nothing is missing; factors of zero count globally -------------------------------------


def test_a12_zero_factors():
    x = np.array([2.0])
    assert rows(jacobian_sparsity(lambda x: 0 * x[0], x)) == [{0}]
    assert rows(jacobian_sparsity(lambda x: x[0] * 0, x, mode="local")) == [set()]


# --- A13, A14: branches ---------------------------------------------------------------------------


def test_a13_branches_on_active_values():
    assert rows(jacobian_sparsity(larger, np.ones(2))) == [{0, 1}]


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x: np.where(x[1] < x[2], x[0] + x[1], x[2] * x[3]), {0, 1, 2, 3}),
    (lambda x: np.where(x[1] < x[2], x[0] + x[1], 1.0), {0, 1}),
    (lambda x: x[0] + x[1] if x[1] < x[2] else x[2] * x[3], {0, 1, 2, 3}),
])
def test_a14_choices(function, expected):
    assert [set().union(*rows(jacobian_sparsity(function, np.ones(4))))] == [expected]


# --- A15: linear algebra --------------------------------------------------------------------------


def symmetric(n):
    a = RNG.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


@pytest.mark.parametrize("function", [
    np.linalg.det, lambda a: np.linalg.slogdet(a)[1], np.linalg.inv, np.linalg.pinv,
    np.linalg.norm, lambda a: np.linalg.matrix_power(a, 3), lambda a: np.linalg.eigvalsh(a),
    lambda a: np.linalg.solve(a, np.ones(2)),
])
def test_a15_everything_depends_on_everything(function):
    pattern = jacobian_sparsity(function, symmetric(2))
    assert pattern.toarray().all()


def test_a15_cholesky_reads_one_triangle():
    assert rows(jacobian_sparsity(lambda a: np.linalg.cholesky(a)[1, 1], symmetric(2))) == [
        {0, 2, 3}]
    upper = jacobian_sparsity(lambda a: np.linalg.cholesky(a).T[0], symmetric(3))
    assert rows(upper) == [{0}, {0, 3}, {0, 3, 6}]


def test_a15_more():
    x = np.ones(5)
    assert rows(jacobian_sparsity(lambda x: np.dot(x[0:2], x[3:5]), x)) == [{0, 1, 3, 4}]
    point = np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    local = jacobian_sparsity(lambda x: np.dot(x[0:2], x[3:5]), point, mode="local")
    assert rows(local) == [{0, 4}]
    assert rows(jacobian_sparsity(lambda a: np.linalg.matrix_power(a, 0), np.eye(2))) == [set()] * 4
    flat = hessian_sparsity(lambda x: np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf), x)
    assert flat.nnz == 0
    assert hessian_sparsity(lambda x: np.linalg.norm(x), x).nnz == 25


# --- A16: bounds, rounding, constants, conversions, random numbers --------------------------------


def clipped(x):
    return np.clip(x[0], x[1], x[2])


def test_a16_clip():
    assert rows(jacobian_sparsity(clipped, np.ones(3))) == [{0, 1, 2}]
    assert rows(jacobian_sparsity(clipped, np.array([0.5, 0.6, 1.0]), mode="local")) == [{1}]
    curved = hessian_sparsity(lambda x: x[2] * clipped(x), np.ones(3))
    assert pairs(curved) == both_ways([(2, 0), (2, 1), (2, 2)])


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x: np.round(x[0]), set()), (lambda x: round(x[0]), set()),
    (lambda x: float(x[0]), {0}), (lambda x: int(x[0]) * 1.0, set()),
    (lambda x: np.zeros_like(x)[0], set()), (lambda x: np.ones_like(x)[1], set()),
    (lambda x: x.astype(np.float32)[1], {1}), (lambda x: x.astype(int)[1], set()),
    (lambda x: np.random.default_rng(0).random() * x[1], {1}),
    (lambda x: np.random.default_rng(0).random(), set()), (lambda x: math.floor(x[0]), set()),
])
def test_a16_conversions(function, expected):
    assert rows(jacobian_sparsity(function, np.ones(2))) == [expected]


# --- A17: dead operations, shared and unshared ----------------------------------------------------


def dead_end(x):
    z = x[0] * x[1]  # noqa: F841 (nobody reads it: that is the point)
    return x[2] * x[3]


def test_a17_dead_ends():
    assert pairs(hessian_sparsity(dead_end, np.ones(4))) == both_ways([(2, 3)])
    shared = hessian_sparsity(dead_end, np.ones(4), shared=True)
    assert pairs(shared) == both_ways([(0, 1), (2, 3)])


def test_a17_dead_elements():
    assert pairs(hessian_sparsity(lambda x: (x * x)[1], np.ones(3))) == {(1, 1)}


# --- A19: inputs and results of any kind ----------------------------------------------------------


def list_of_six(x):
    found = [x[0] ** 2, x[1] * x[2], x[3] + x[4] * 2.0]
    found.append(math.sin(x[5]))
    found.append(x[0] / x[5])
    return found


def test_a19_shapes():
    expected = [{0}, {1, 2}, {3, 4}, {5}, {0, 5}]
    pattern = jacobian_sparsity(list_of_six, np.ones(6))
    assert pattern.shape == (5, 6) and rows(pattern) == expected
    assert rows(jacobian_sparsity(list_of_six, [1.0] * 6)) == expected
    assert rows(jacobian_sparsity(lambda x: x**2, 3.0)) == [{0}]
    assert rows(jacobian_sparsity(lambda x: x.T, np.ones((2, 2)))) == [{0}, {2}, {1}, {3}]
    assert rows(jacobian_sparsity(np.diag, np.ones((2, 2)))) == [{0}, {3}]
    both = jacobian_sparsity(
        lambda p: {"a": p["w"] * 2, "b": p["c"][0]}, {"w": np.ones(2), "c": (1.0, 2)})
    assert both.shape == (3, 4) and rows(both) == [{0}, {1}, {2}]
    two = jacobian_sparsity(lambda x, k, y: x * k + y, np.ones(2), 3.0, 1.0, argnums=(2, 0))
    assert rows(two) == [{0, 1}, {0, 2}]


# --- A20: derivatives that are stopped ------------------------------------------------------------


def stopped(x):
    return x[0] * stop_gradient(x[1]) + stop_gradient(x)[2]


def detached(x):
    y = np.zeros(3)
    y[0] = x[0]
    with no_grad():
        scale = x[1] * 2.0
        y[1] = scale + x[2]
    y[2] = x[2] * scale
    return y


def test_a20_stopped():
    assert rows(jacobian_sparsity(stopped, np.ones(3))) == [{0}]
    assert rows(jacobian_sparsity(stopped, np.ones(3), mode="local")) == [{0}]
    assert pairs(hessian_sparsity(stopped, np.ones(3))) == set()


@pytest.mark.parametrize("mode", ["global", "local"])
def test_a20_no_grad(mode):
    assert rows(jacobian_sparsity(detached, np.ones(3), mode=mode)) == [{0}, set(), {2}]


# --- A23: what depends on chance ------------------------------------------------------------------


def either(x):
    return x[0] if random.random() > 0.5 else x[1]


def test_a23_random_branches_are_both_followed():
    assert rows(jacobian_sparsity(either, np.ones(2))) == [{0, 1}]


# --- what a run leaves behind ---------------------------------------------------------------------

LATEST = 1.0


def remembering(x):
    global LATEST
    LATEST = float(x[0]) * 2.0
    return LATEST * x[1]


class Meter:
    def __init__(self):
        self.readings = [1.0]
        self.total = np.zeros(2)

    def read(self, x):
        self.readings.append(x[0])
        self.total[1] = x[1]
        return sum(self.readings) * self.total


@pytest.mark.parametrize("mode", ["global", "local"])
def test_nothing_of_the_caller_changes(mode):
    x = np.ones(3)
    assert rows(jacobian_sparsity(remembering, x, mode=mode)) == [{0, 1}]
    assert LATEST == 1.0
    meter = Meter()
    first = {0} if mode == "global" else set()  # it is multiplied by a zero
    assert rows(jacobian_sparsity(meter.read, x, mode=mode)) == [first, {0, 1}]
    assert meter.readings == [1.0] and np.array_equal(meter.total, np.zeros(2))
    items = [1.0, 2.0]

    def appended(x, items):
        items.append(x[2])
        items[0] = x[1]
        return items

    assert rows(jacobian_sparsity(appended, x, items, mode=mode)) == [{1}, set(), {2}]
    assert items == [1.0, 2.0] and np.array_equal(x, np.ones(3))


def test_arguments_that_share_storage_are_refused():
    x = np.ones(4)
    with pytest.raises(UnsupportedError, match="y, which is written into, shares storage with x"):
        jacobian_sparsity(differences_into, x, x)


def test_a_run_draws_no_random_numbers():
    state = random.getstate()
    jacobian_sparsity(either, np.ones(2))
    assert random.getstate() == state


def test_ties_count_on_both_sides():
    x = np.array([2.0, 1.0, 2.0, 0.5])
    local = jacobian_sparsity(np.sort, x, mode="local")
    assert rows(local) == [{3}, {1}, {0, 2}, {0, 2}]


# --- errors ---------------------------------------------------------------------------------------


def test_refusals_point_at_the_line():
    with pytest.raises(UnsupportedError, match=r"test_acceptance\.py:\d+:\d+: .*shape") as found:
        jacobian_sparsity(lambda x: x[x > 0], np.ones(3))
    assert "sparsity-patterns" in str(found.value)
    with pytest.raises(ValueError, match="'somewhere' is not one of global, local"):
        jacobian_sparsity(product, np.ones(2), mode="somewhere")
    with pytest.raises(TypeError, match="scalar"):
        hessian_sparsity(np.sin, np.ones(2))


def test_ufuncs_without_a_rule_depend_on_all_of_their_arguments():
    def f(x):
        return nctdtr(x, x[0], 0.5) * 2.0

    with pytest.raises(MissingRuleError):
        grad(lambda x: np.sum(f(x)))(np.ones(3))
    for mode in ("global", "local"):
        pattern = jacobian_sparsity(f, np.ones(3), mode=mode)
        assert pattern.toarray().tolist() == [
            [True, False, False], [True, True, False], [True, False, True]]
    second = hessian_sparsity(lambda x: np.sum(f(x)), np.ones(3)).toarray()
    assert second.tolist() == [[True, True, True], [True, True, False], [True, False, True]]
