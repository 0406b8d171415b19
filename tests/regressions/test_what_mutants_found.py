"""Exceptions are Python's own, of the same class, and nothing that raises is left out."""

# ruff: noqa: F821, F841 (variables are read before they have values)
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp


def in_list(x: float) -> Any:
    squares = [late * x for _ in range(2)]
    late = 1.0
    return sum(squares) * late


def in_generator(x: float) -> float:
    total = sum(late * x for _ in range(2))
    late = 1.0
    return total * late


def in_function(x: float) -> float:
    def scaled(y: float) -> float:
        return late * y

    total = scaled(x)
    late = 1.0
    return total * late


def own_name(x: float) -> float:
    total = x * late
    late = 1.0
    return total * late


def first_range_of_list(x: float) -> float:
    squares = [x for _ in range(count)]
    count = 1
    return sum(squares) * count


def swapped_rows(x: float) -> Any:
    previous = [x, 2.0 * x]
    for _ in range(2):
        for j in range(2):
            current.append(previous[j])
        previous, current = current, previous
    return previous[-1]


def popped_at_none(x: float) -> float:
    items = [x, 2.0 * x]
    items.pop(None)
    return items[0]


def floats_as_subscript(x: float) -> Any:
    table = np.ones((2, 2))
    for i in range(2):
        table[i, table] = x
    return np.sum(table)


def itself_as_subscript(x: float) -> Any:
    table = np.zeros(2)
    for _ in range(2):
        table[table] = x
    return np.sum(table)


def slice_to_a_class(x: float) -> Any:
    return np.sum(np.array([x, x])[:range])


def slice_of_a_function(x: float) -> Any:
    def inner(y: float) -> Any:
        return y * inner[0]

    return inner(x)


def solve_none(x: float) -> Any:
    return np.linalg.solve(x * np.eye(2), None)


def solve_number(x: float) -> Any:
    return np.linalg.solve(x, np.ones(2))


@pytest.mark.parametrize("f", [
    in_list, in_generator, in_function, own_name, first_range_of_list, swapped_rows,
    popped_at_none, floats_as_subscript, itself_as_subscript, slice_to_a_class,
    slice_of_a_function, solve_none, solve_number,
])
def test_the_same_class_is_raised(f: Callable[[float], Any]) -> None:
    with pytest.raises(Exception) as expected:
        f(0.7)
    with pytest.raises(Exception) as found:
        vjp(f, 0.7)
    assert type(found.value) is type(expected.value)


def test_variables_of_the_function_around_are_told_from_own_ones() -> None:
    with pytest.raises(NameError, match="free variable 'late'"):
        vjp(in_generator, 0.7)
    inlined = UnboundLocalError if sys.version_info >= (3, 12) else NameError
    with pytest.raises(NameError) as found:
        vjp(in_list, 0.7)
    assert type(found.value) is inlined


def scale(x: float) -> list[float]:
    return [x, 2.0 * x]


def test_the_first_range_of_a_comprehension_is_read_outside_of_it() -> None:
    def f(x: float) -> float:
        return sum([scale * scale for scale in scale(x)])

    assert grad(f)(0.7) == pytest.approx(10.0 * 0.7)


def test_the_axis_of_a_norm_may_be_any_number() -> None:
    x = np.array([[0.3, -0.4], [1.2, 0.5]])
    for axis in (np.int64(1), 1.0, 1):
        def f(x: Any, axis: Any = axis) -> Any:
            return np.sum(np.linalg.norm(x, 1, axis=axis))

        assert np.array_equal(grad(f)(x), np.sign(x))


def test_integers_of_an_array_are_subscripts_of_itself() -> None:
    def f(x: Any) -> Any:
        places = np.array([1, 0, 1])
        places[places] = 2
        return np.sum(x[places] ** 2)

    x = np.array([0.3, -0.4, 0.5])
    assert np.array_equal(grad(f)(x), [0.0, -0.8, 2.0])


def quotient_of_one(x: float) -> Any:
    k = 0
    for _ in range(2):
        k /= 1
    return np.array([x, x])[k]


def product_with_one(x: float) -> Any:
    k = 0
    for _ in range(2):
        k *= 1.0
    return np.array([x, x])[k]


def popped_at_half(x: float) -> float:
    items = [1.0, x]
    for _ in range(2):
        items.append(x)
        items.pop(0.5)
    return items[0]


def truth_of_an_array(x: float) -> float:
    if np.array([x, x]):
        pass
    return x * x


def chosen_by_an_array(x: float) -> float:
    _ = 1 if np.array([x, x]) > 1.0 else 2
    return x * x


def size_without_a_number(x: float) -> float:
    abs()
    return x * x


def size_of_two(x: float) -> float:
    abs(x, x)
    return x * x


def range_of_four(x: float) -> float:
    range(1, 2, 3, 4)
    return x * x


def range_that_stays(x: float) -> float:
    step = 0
    range(0, 1, step)
    return x * x


def instance_of_a_number(x: float) -> float:
    isinstance(x, 1)
    return x * x


def text_of_four(x: float) -> float:
    str(1, 2, 3, 4)
    return x * x


def pairs_of_a_number(x: float) -> float:
    zip([x], 5)  # noqa: B905 (raises)
    return x * x


def numbered_number(x: float) -> float:
    enumerate(x)
    return x * x


def number_backwards(x: float) -> float:
    reversed(x)
    return x * x


def number_step_by_step(x: float) -> float:
    k = 5
    iter(k)
    return x * x


@pytest.mark.parametrize("f", [
    quotient_of_one, product_with_one, popped_at_half, truth_of_an_array, chosen_by_an_array,
    size_without_a_number, size_of_two, range_of_four, range_that_stays, instance_of_a_number,
    text_of_four, pairs_of_a_number, numbered_number, number_backwards, number_step_by_step,
])
@pytest.mark.parametrize("of", [value_and_grad, lambda f: lambda x: vjp(f, x)])
def test_what_nobody_reads_raises_as_in_python(f: Any, of: Any) -> None:
    with pytest.raises(Exception) as expected:
        f(0.7)
    with pytest.raises(type(expected.value)) as found:
        of(f)(0.7)
    assert type(found.value) is type(expected.value)


def test_a_number_that_may_be_an_int_is_divided_by_one() -> None:
    def f(x: float) -> float:
        k = 0
        for _ in range(2):
            k /= 1
        return x * isinstance(k, float) + x * x

    assert value_and_grad(f)(2.0) == (6.0, 5.0)


def counted(x: float, places: Any) -> Any:
    y = np.zeros(4)
    for column in range(2):
        np.add.at(places, places[:, column], 1)
        y[places[:, column] % 4] += x
    return np.sum(y * y)


def test_an_array_is_written_where_it_says_itself() -> None:
    places = np.array([[0, 1], [1, 0], [1, 1]])
    assert counted(2.0, places.copy()) == 24.0
    value, slope = value_and_grad(counted)(2.0, places.copy())
    assert (value, slope) == (24.0, 24.0)


def listed_in_itself(x: float) -> Any:
    items: list[Any] = [x]
    items.append(items)
    return items[0]


def listed_in_its_entry(x: float) -> Any:
    items: list[Any] = [x]
    items.append({"all": items})
    return items[0]


def entry_of_itself(x: float) -> Any:
    table: dict[str, Any] = {"x": x}
    table["table"] = table
    return table["x"]


@pytest.mark.parametrize("f", [listed_in_itself, listed_in_its_entry, entry_of_itself])
def test_containers_that_contain_themselves_are_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError, match="contains itself"):
        grad(f)(0.7)


@pytest.mark.parametrize("f", [
    lambda a, b: np.sum((a @ b) ** 2), lambda a, b: np.sum((b @ a) ** 2),
])
def test_lists_of_lists_times_arrays(f: Any) -> None:
    rows, square = [[0.5, 0.7], [0.2, 0.3]], np.array([[1.0, 2.0], [3.0, 4.0]])
    found = grad(f, (0, 1))(rows, square)
    expected = grad(f, (0, 1))(np.array(rows), square)
    assert isinstance(found[0], list)
    assert np.allclose(found[0], expected[0])
    assert np.allclose(found[1], expected[1])


@pytest.mark.parametrize("exponent", [[2.0, 0.5], (2.0, 0.5)])
def test_arrays_to_the_power_of_lists(exponent: Any) -> None:
    base = np.array([1.5, 0.7])
    found = grad(lambda x, y: np.sum(x**y), (0, 1))(base, exponent)
    expected = grad(lambda x, y: np.sum(x**y), (0, 1))(base, np.array(exponent))
    assert np.allclose(found[0], expected[0])
    assert np.allclose(found[1], expected[1])
    other = grad(lambda x, y: np.sum(y**x), (0, 1))(base, exponent)
    assert np.allclose(other[0], np.array(exponent) ** base * np.log(exponent))


def test_a_number_spread_over_an_array_is_copied_before_it_is_written_into() -> None:
    def f(x: Any) -> Any:
        total = sum(x)
        for k in range(2):
            total = total + x[k] * x[0]
        return total

    x = np.array([0.3, 0.5, 0.7])
    assert np.allclose(grad(f)(x), [2.1, 1.3, 1.0])
    assert np.allclose(vjp(f, x)[1](1.0)[0], [2.1, 1.3, 1.0])


def made_of_itself(x: float) -> float:
    def twice(g: Any) -> Any:
        return lambda y: g(g(y))

    h = twice(lambda y: h(y) * x if y > 3.0 else y + 1.0)
    return h(x)


def rebound_to_itself(x: float) -> float:
    h = lambda y: y * y  # noqa: E731
    h = lambda y: h(y) * x if y > 3.0 else y + 1.0  # noqa: E731
    return h(x)


@pytest.mark.parametrize("f", [made_of_itself, rebound_to_itself])
def test_a_function_that_reads_what_it_becomes_is_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError, match="read by the function made here"):
        grad(f)(0.7)


def test_a_function_may_read_what_was_there_before() -> None:
    def f(x: float) -> float:
        x = sum(map(lambda y: y * x, [1.0, 2.0]))  # noqa: C417
        return x * x

    assert grad(f)(0.7) == pytest.approx(18.0 * 0.7)


def test_polynomials_are_integrated_as_often_as_numpy_does() -> None:
    def f(p: Any, times: Any) -> Any:
        return np.sum(np.polyint(p, times) ** 2)

    p = np.array([0.6, 0.3])
    assert np.array_equal(grad(f)(p, 0.3), 2.0 * p)
    assert np.array_equal(grad(f)(p, 1.7), grad(f)(p, 1))
    with pytest.raises(ValueError, match="Order of integral must be positive"):
        value_and_grad(f)(p, -1)


def test_the_offset_of_a_hankel_transform_has_a_derivative() -> None:
    fhtoffset = pytest.importorskip("scipy.fft").fhtoffset

    def f(step: float, order: float, bias: float) -> Any:
        return fhtoffset(step, order, bias=bias)

    at = np.array([0.3, 0.7, 0.2])
    found = grad(f, (0, 1, 2))(*at)
    for i, e in enumerate(1e-6 * np.eye(3)):
        assert found[i] == pytest.approx((f(*(at + e)) - f(*(at - e))) / 2e-6, rel=1e-6)
