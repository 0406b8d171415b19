"""Iterators over what is written into while they are run through, or before they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jvp, vjp

PROGRAMS: list[Callable[[Any], Any]] = []
REFUSED: list[Callable[[Any], Any]] = []


def square(v: Any) -> Any:
    return v * v


def positive(v: Any) -> Any:
    return v > 0


@PROGRAMS.append
def a_list_made_before(data: Any) -> Any:
    s = 0.0
    for y in [v * v for v in data]:
        data *= 2.0
        s += y
    return s * data[0]


@PROGRAMS.append
def reversed_while_it_is_written(data: Any) -> Any:
    s = 0.0
    for y in reversed(data):
        data *= 2.0
        s += y
    return s * data[0]


@PROGRAMS.append
def pairs_with_a_shifted_view(data: Any) -> Any:
    s = 0.0
    for a, b in zip(data, data[1:], strict=False):  # noqa: RUF007
        data[1] *= 2.0 * a
        data[2] *= b
        s += a * b
    return s * data[0]


@PROGRAMS.append
def elements_while_they_are_written(data: Any) -> Any:
    s = 0.0
    for y in data.flat:
        data *= 2.0
        s += y
    return s * data[0]


@PROGRAMS.append
def numbered_elements(data: Any) -> Any:
    s = 0.0
    for _, y in np.ndenumerate(data):
        data *= 2.0
        s += y
    return s * data[0]


@PROGRAMS.append
def all_pairs(data: Any) -> Any:
    s = 0.0
    for a, b in itertools.product(data, data):
        data *= 2.0
        s += a * b
    return s * data[0]


@PROGRAMS.append
def a_part_of_the_items(data: Any) -> Any:
    s = 0.0
    for a in itertools.islice(data, 1, 3):
        data *= 2.0
        s += a
    return s * data[0]


@PROGRAMS.append
def squares_stored_elsewhere(data: Any) -> Any:
    out = np.zeros(3)
    for i, y in enumerate(v * v for v in data):
        out[i] = y
    return out @ out


@PROGRAMS.append
def a_map_stored_elsewhere(data: Any) -> Any:
    out = np.zeros(3)
    for i, y in enumerate(map(square, data)):
        out[i] = y
    data *= out
    return data @ out


@PROGRAMS.append
def a_map_summed_before_the_write(data: Any) -> Any:
    t = sum(map(square, data))
    data *= t
    return data.sum() + t


@PROGRAMS.append
def a_list_of_a_map(data: Any) -> Any:
    items = list(map(square, data))
    data *= 2.0
    return sum(items) + data.sum()


@PROGRAMS.append
def a_generator_in_each_iteration(data: Any) -> Any:
    for _ in range(3):
        s = sum(v * v for v in data)
        data *= s
    return data.sum()


@PROGRAMS.append
def a_running_sum_in_each_iteration(data: Any) -> Any:
    for k in range(3):
        for a, b in zip(data, itertools.accumulate(data), strict=True):
            k = a * b
        data /= k
    return data.sum()


@PROGRAMS.append
def a_generator_and_a_write_elsewhere(data: Any) -> Any:
    g = (v * v for v in data)
    w = np.zeros(3)
    w[0] = data[1]
    return sum(g) + w.sum()


@PROGRAMS.append
def combinations_drawn_before(data: Any) -> Any:
    tot = 0.0
    for x, y in itertools.combinations(data, 2):
        data[0] += x * y
        tot += x * y
    return tot + data[0]


@PROGRAMS.append
def one_array_twice(data: Any) -> Any:
    for row in zip(data, data, strict=True):
        data[0] *= row[0]
        data[2] += row[1]
    return data.sum()


@REFUSED.append
def enumerated_generator(data: Any) -> Any:
    s = 0.0
    for i, y in enumerate(v * v for v in data):
        if i < 2:
            data[i + 1] *= y
        s += y
    return s


@REFUSED.append
def zipped_generator(data: Any) -> Any:
    s = 0.0
    for i, y in zip(range(3), (v * v for v in data), strict=True):
        if i < 2:
            data[i + 1] *= y
        s += y
    return s


@REFUSED.append
def zipped_map(data: Any) -> Any:
    s = 0.0
    for i, y in zip(range(3), map(square, data), strict=True):
        if i < 2:
            data[i + 1] *= y
        s += y
    return s


@REFUSED.append
def a_map(data: Any) -> Any:
    s = 0.0
    for y in map(square, data):
        data[2] *= y
        s += y
    return s


@REFUSED.append
def a_filter(data: Any) -> Any:
    s = 0.0
    for y in filter(positive, data):
        data *= -1.0
        s += y
    return s


@REFUSED.append
def a_map_kept(data: Any) -> Any:
    m = map(square, data)
    data *= 2.0
    return sum(m)


@REFUSED.append
def pairs_of_neighbours(data: Any) -> Any:
    s = 0.0
    for a, b in itertools.pairwise(data):
        data *= 2.0
        s += a * b
    return s * data[0]


@REFUSED.append
def a_running_sum(data: Any) -> Any:
    s = 0.0
    for a in itertools.accumulate(data):
        data *= 2.0
        s += a
    return s * data[0]


@REFUSED.append
def one_after_the_other(data: Any) -> Any:
    s = 0.0
    for a in itertools.chain(data, data):
        data *= 1.1
        s += a
    return s * data[0]


@REFUSED.append
def another_name_in_some_iterations(data: Any) -> Any:
    d, s = data, 0.0
    for v in data:
        d *= 2.0
        s += v
        d = d + 1.0
    return s


@REFUSED.append
def another_name_of_what_is_run_over_backwards(data: Any) -> Any:
    d, s = data, 0.0
    for v in data[::-1]:
        d *= 2.0
        s += v
        d = d if s > 1e3 else d + 0.0
    return s


@PROGRAMS.append
def rows_written_from_the_last_to_the_first(data: Any) -> Any:
    rows, s = [data * k for k in range(3)], 0.0
    for i, row in enumerate(reversed(rows)):
        row *= 2.0
        s += row[0] * i
    return s + rows[0][1]


@PROGRAMS.append
def numbers_backwards_before_a_write(data: Any) -> Any:
    numbers, s = [data[k] * 2.0 for k in range(3)], 0.0
    for k, v in enumerate(reversed(numbers)):
        s += k * v
    numbers[0] = s
    return s * numbers[0]


@REFUSED.append
def numbers_backwards(data: Any) -> Any:
    numbers, s = [data[k] * 2.0 for k in range(3)], 0.0
    for k, v in enumerate(reversed(numbers)):
        numbers[0] = 5.0 * data[1]
        s += k * v
    return s


@REFUSED.append
def rows_replaced_from_the_last_to_the_first(data: Any) -> Any:
    rows, s = [data * k for k in range(3)], 0.0
    for i, row in enumerate(reversed(rows)):
        rows[0] = row * 7.0
        s += row[0] * i
    return s + rows[0][1]


@REFUSED.append
def one_of_two_arrays(data: Any) -> Any:
    either, s = data if data[0] > 0.0 else data * 2.0, 0.0
    for v in either:
        data[2] *= 3.0
        s += v
    return s


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients(function: Callable[[Any], Any]) -> None:
    data, direction = np.array([0.487, -1.052, 0.438]), np.array([0.3, -0.7, 1.1])
    ends = [function(data + h * direction) for h in (1e-6, -1e-6)]
    slope = (ends[0] - ends[1]) / 2e-6
    ours, plain = data.copy(), data.copy()
    value, pullback = vjp(function, ours)
    assert value == pytest.approx(function(plain), rel=1e-13)
    assert np.array_equal(ours, plain)
    assert pullback(1.0)[0] @ direction == pytest.approx(slope, rel=1e-6)
    assert grad(function)(data) @ direction == pytest.approx(slope, rel=1e-6)
    assert jvp(function, (data,), (direction,))[1] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_is_read_item_by_item_is_not_written(function: Callable[[Any], Any]) -> None:
    data = np.array([0.487, -1.052, 0.438])
    for derivative in (grad(function), lambda x: jvp(function, (x,), (x,))):
        with pytest.raises(UnsupportedError, match="which was written into at line"):
            derivative(data)
