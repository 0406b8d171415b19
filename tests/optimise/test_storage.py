"""Rewrites of what is written into storage: which copies and zeros go, and which must stay."""

from __future__ import annotations

import numpy as np

from adcompiler import grad, source, vjp
from tests.optimise.test_rewrites import ARRAY, rewritten


# -- zeros that something is added to ----------------------------------------------------------


def zero_then_add(x, i, g):
    y = x * 2.0
    y[i] = 0.0
    y[i] += g
    return y


def zero_then_add_elsewhere(x, i, j, g):
    y = x * 2.0
    y[i] = 0.0
    y[j] += g
    y[i] += g
    return y


def zero_that_is_read(x, i, g):
    y = x * 2.0
    y[i] = 0.0
    h = y[0] * g
    y[i] += h
    return y


def zero_of_indices(x, g):
    y = x * 2.0
    y[[0, 0]] = 0.0
    y[[0, 0]] += g
    return y


def direct(function, *arguments):
    return rewritten(function, arguments, "dead_code", "common_subexpressions", "direct_stores")


def test_a_part_that_is_zeroed_and_added_to_is_stored() -> None:
    assert direct(zero_then_add, ARRAY, 1, 0.5) == ["y = x * 2.0", "y[i] = g", "return y"]


def test_what_is_added_elsewhere_meanwhile_is_added_afterwards() -> None:
    lines = direct(zero_then_add_elsewhere, ARRAY, 1, 2, 0.5)
    assert lines == ["y = x * 2.0", "y[i] = g", "y[j] += g", "return y"]


def test_the_order_does_not_matter_where_both_are_one_part() -> None:
    def f(x, g):
        return np.sum(zero_then_add_elsewhere(x, 1, 1, g) ** 2)

    assert grad(f, argnums=1)(ARRAY, 0.5) == 4.0  # the part is 2 g
    np.testing.assert_array_equal(grad(f)(ARRAY, 0.5), [8 * ARRAY[0], 0.0, 8 * ARRAY[2]])


def test_a_zero_that_is_read_stays() -> None:
    assert "y[i] = 0.0" in direct(zero_that_is_read, ARRAY, 1, 0.5)


def test_a_zero_of_parts_named_by_an_array_stays() -> None:
    assert any(line.endswith("= 0.0") for line in direct(zero_of_indices, ARRAY, 0.5))


def stored_twice(x, i, a, b):
    y = x * 2.0
    y[i] = a
    y[i] = b
    return y


def stored_twice_and_read(x, i, a, b):
    y = x * 2.0
    y[i] = a
    c = y[0]
    y[i] = b
    return c, y


def stored_from_itself(x, i):
    y = x * 2.0
    y[i] = 3.0
    y[i] = y[i] * y[0]
    return y


def test_a_value_that_is_overwritten_unread_is_not_stored() -> None:
    assert direct(stored_twice, ARRAY, 1, 0.5, 1.5) == ["y = x * 2.0", "y[i] = b", "return y"]


def test_a_value_that_is_read_before_it_is_overwritten_is_stored() -> None:
    assert "y[i] = a" in direct(stored_twice_and_read, ARRAY, 1, 0.5, 1.5)
    assert "y[i] = 3.0" in direct(stored_from_itself, ARRAY, 1)


def each_once(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i] * x[i]
    return total


def from_the_end(x, n):
    total = 0.0
    for i in range(n - 1, -1, -1):
        total = total + x[i] * x[i]
    return total


def some_twice(x, n):
    total = 0.0
    for i in range(-n, n):
        total = total + x[i] * x[i]
    return total


def given_rows(x, rows):
    total = 0.0
    for i in rows:
        total = total + x[i] * x[i]
    return total


def neighbours(x, n):
    total = 0.0
    for i in range(n - 1):
        total = total + x[i] * x[i + 1]
    return total


def test_elements_that_each_iteration_reaches_first_are_stored() -> None:
    for function in (each_once, from_the_end):
        text = source(function, ARRAY, 3, argnums=0)
        assert "x_bar[i] = " in text, text
        np.testing.assert_array_equal(grad(function)(ARRAY, 3), 2 * ARRAY)


def test_elements_that_iterations_may_reach_again_are_added_to() -> None:
    np.testing.assert_array_equal(grad(some_twice)(ARRAY, 3), 4 * ARRAY)
    np.testing.assert_array_equal(grad(given_rows)(ARRAY, [0, 2, 0]), ARRAY * [4.0, 0.0, 2.0])
    a, b, c = ARRAY
    np.testing.assert_array_equal(grad(neighbours)(ARRAY, 3), [b, a + c, b])


# -- copies ------------------------------------------------------------------------------------


def copy_of_what_is_done_with(x):
    y = x * 2.0
    z = np.copy(y)
    z[0] = 1.0
    return z


def copy_of_what_is_returned(x):
    y = x * 2.0
    z = np.copy(y)
    z[0] = 1.0
    return y, z


def copy_of_what_a_view_reads(x):
    y = x * 2.0
    part = y[1:]
    z = np.copy(y)
    z[1] = 1.0
    return z, part * 2.0


def copy_of_what_a_method_reads(x):
    y = x * 2.0
    total = y.sum
    z = np.copy(y)
    z[1] = 1.0
    return z, total()


def copy_of_an_argument(x):
    z = np.copy(x)
    z[0] = 1.0
    return z


def copy_of_a_part(x):
    y = x * 2.0
    z = np.copy(y[1:])
    z[0] = 1.0
    return z


def copy_that_is_read(x):
    y = x * 2.0
    z = np.copy(y[1:])
    return np.sum(z * 3.0)


def copy_read_after_a_write(x):
    y = x * 2.0
    z = np.copy(y[1:])
    y[1] = 5.0
    return np.sum(z) + np.sum(y)


def copy_read_before_a_write(x):
    y = x * 2.0
    z = np.copy(y[1:])
    total = np.sum(z)
    y[1] = 5.0
    return total + np.sum(y)


def copy_whose_view_is_read_after_a_write(x):
    y = x * 2.0
    z = np.copy(y[1:])[:1]
    y[1] = 5.0
    return np.sum(z) + np.sum(y)


def copy_in_a_loop(x, n):
    y = x * 2.0
    total = 0.0
    for i in range(n):
        z = np.copy(y[1:])
        y[i] = 5.0
        total = total + np.sum(z)
    return total


def copies_kept(function, *arguments):
    lines = rewritten(function, arguments, "algebra", "common_subexpressions", "needless_copies")
    return sum(line.count("np.copy(") for line in lines)


def test_an_array_that_nothing_reads_again_is_not_copied() -> None:
    assert rewritten(copy_of_what_is_done_with, (ARRAY,), "needless_copies") == [
        "z = x * 2.0", "z[0] = 1.0", "return z"
    ]
    assert copies_kept(copy_of_what_is_done_with, ARRAY) == 0


def test_an_array_that_is_read_again_is_copied() -> None:
    for function in (
        copy_of_what_is_returned, copy_of_what_a_view_reads, copy_of_what_a_method_reads,
        copy_of_an_argument, copy_of_a_part,
    ):
        assert copies_kept(function, ARRAY) == 1, function.__name__


def test_a_part_is_not_copied_where_only_readings_follow() -> None:
    assert copies_kept(copy_that_is_read, ARRAY) == 0
    assert copies_kept(copy_read_before_a_write, ARRAY) == 0


def test_a_part_is_copied_that_is_read_after_a_write() -> None:
    for function in (copy_read_after_a_write, copy_whose_view_is_read_after_a_write):
        assert copies_kept(function, ARRAY) == 1, function.__name__
    assert copies_kept(copy_in_a_loop, ARRAY, 2) == 1


def doubled_in_place(x, n):
    y = x.copy()
    for _ in range(n):
        y[1:] = y[:-1] * y[1:]
    return y


def test_a_pullback_leaves_what_the_forward_pass_saved() -> None:
    _, pullback = vjp(doubled_in_place, ARRAY, 3, argnums=0)
    first = pullback(np.ones(3))
    np.testing.assert_array_equal(first, pullback(np.ones(3)))


def test_a_pullback_leaves_the_cotangent_that_it_gets() -> None:
    _, pullback = vjp(doubled_in_place, ARRAY, 3, argnums=0)
    bar = np.ones(3)
    pullback(bar)
    np.testing.assert_array_equal(bar, np.ones(3))
