"""Sums are written into arrays that nobody else holds, and only into these."""

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.testing import check_grads


def repeated(x, w, steps):
    h = np.zeros_like(x)
    for _ in range(steps):
        h = np.tanh(w * h + x)
    return np.sum(h)


def within_loops(x, w, n):
    total = 0.0
    for i in range(n):
        for j in range(i + 1):
            total = total + np.sum(np.sin(x * w[j]))
        total = total + np.sum(x) * i
    return total


def with_less(x, w, n):
    y = x * 2.0
    for i in range(n):
        y = y - w * i
        y = y - x
    return np.sum(y * y)


def with_a_branch(x, w, n):
    total = 0.0
    for i in range(n):
        y = x * 1.5
        if i != 1:
            total = total + np.sum(y[i] * w)
        total = total + np.sum(np.sin(x) * i)
    return total


def pairs(x, w, n):
    total = np.zeros_like(x)
    for _ in range(2):
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = x[j] - x[i]
                    total[i] += w[j] * d
        x = x + 0.1 * total
    return np.sum(x * x)


X, W = np.array([0.3, -0.2, 0.5]), np.linspace(-0.4, 0.5, 9).reshape(3, 3)


@pytest.mark.parametrize(("function", "args", "written"), [
    (repeated, (X, X + 0.1, 3), ["x_bar += total_bar", "w_bar += total_bar * h_1"]),
    (within_loops, (X, X + 0.1, 3), ["x_bar += "]),
    (with_a_branch, (X, X + 0.1, 3), ["w_bar += ", "x_bar += "]),
    (pairs, (X, X + 0.1, 3), ["total_bar += x_bar * 0.1"]),
    (with_less, (X, X + 0.1, 3), ["y -= w * i", "x_bar -= product", "x_bar += 2.0 * product"]),
])
def test_sums_of_cotangents_are_in_place(function, args, written):
    text = ad.grad(function, (0, 1)).source_for(*args)
    for line in written:
        assert line in text, text

    def of_arrays(x, w):
        return function(x, w, args[2])

    check_grads(of_arrays, args[:2], order=2)


def test_what_nobody_reads_afterwards_is_not_copied():
    text = ad.grad(pairs, (0, 1)).source_for(X, X + 0.1, 3)
    assert "copy(" not in text


def read_afterwards(x, n):
    y = np.zeros_like(x)
    for _ in range(n):
        z = y * 2.0
        w = y + x
        x = x + z * y
        y = w
    return x + y


def one_of_two(x, n):
    y = x * 2.0
    for i in range(n):
        z = y + x if i % 2 else y
        y = z * 0.5 + y
    return y


def goes_into_a_loop_and_on(x, n):
    y = np.zeros_like(x)
    z = y
    for _ in range(n):
        z = z * 2.0 if n > 2 else z
    y = y + x
    return z + y


def goes_into_a_branch_and_on(x, n):
    y = x * 2.0
    z = y if n > 2 else x
    y = y + x
    return z * y


def held_inside_of_a_loop(x, n):
    y = x * 2.0
    kept = [x]
    for _ in range(n):
        kept.append(y)
    y = y + x
    return kept[-1] * y


def kept_by_a_list(x, n):
    y = np.zeros_like(x)
    found = []
    for _ in range(n):
        y = y + np.sin(x)
        found.append(y)
    return found[0] * found[-1]


def given(x, n):
    y = x
    for _ in range(n):
        y = y + np.sin(y)
    return y


def given_first(x, n):
    y = x
    for _ in range(n):
        y = y + 1.0
    return y * y


def held_twice(x, n):
    y = np.zeros_like(x)
    first = y
    for _ in range(n):
        y = y + x
    return first * 2.0 + y


def seen_as_a_view(x, n):
    y = np.zeros_like(x)
    row = y[:2]
    for _ in range(n):
        y = y + x
    return np.sum(row) + y


def stretched(x, n):
    y = np.zeros_like(x)
    for _ in range(n):
        y = y + x[:, None]
    return y


def of_other_classes(x, n):
    y = np.zeros(len(x), int)
    z = np.zeros(len(x), np.float32)
    for _ in range(n):
        y = y + 1
        z = z + np.float32(0.5)
    return (y + z) * x


CASES = [
    goes_into_a_loop_and_on, goes_into_a_branch_and_on, held_inside_of_a_loop, read_afterwards,
    one_of_two, kept_by_a_list, given, given_first, held_twice, seen_as_a_view,
    of_other_classes,
]


@pytest.mark.parametrize("function", CASES)
@pytest.mark.parametrize("trips", [0, 1, 3])
def test_arrays_that_others_hold_are_left_alone(function, trips):
    if function is kept_by_a_list and not trips:
        return
    x = X.copy()
    want = function(x.copy(), trips)
    value, pullback = ad.vjp(function, x, trips)
    np.testing.assert_array_equal(value, want)
    np.testing.assert_array_equal(x, X)
    first = pullback(np.ones_like(want))[0].copy()
    np.testing.assert_array_equal(value, want)
    np.testing.assert_array_equal(pullback(np.ones_like(want))[0], first)
    check_grads(lambda z: np.sum(function(z, trips)), (X,), order=2)


def test_an_array_that_is_stretched_is_not_written_into():
    with pytest.raises(ValueError, match="broadcast"):  # as NumPy: the next sum has three axes
        np.zeros(3).__iadd__(np.ones((3, 1)))
    value, _ = ad.vjp(stretched, X, 1)
    np.testing.assert_array_equal(value, stretched(X, 1))


def test_arguments_are_not_written_into_by_pullbacks():
    value, pullback = ad.vjp(lambda x: x + np.sin(x) + np.cos(x), X)
    seed = np.ones(3)
    pullback(seed)
    np.testing.assert_array_equal(seed, np.ones(3))
    np.testing.assert_array_equal(value, X + np.sin(X) + np.cos(X))
