"""Running over a dict: its keys carry no derivative, its values are those that it holds then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jvp

PROGRAMS: list[Callable[[Any], Any]] = []


def table_of(x: Any) -> Any:
    d = {}
    for i, v in enumerate(x):
        d[i % 2 + 1] = v
    return d


@PROGRAMS.append
def a_sum_over_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(k + 1 for k in d) * d[1]


@PROGRAMS.append
def a_list_of_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(list(d)) * d[1]


@PROGRAMS.append
def sorted_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(sorted(d)) * d[1]


@PROGRAMS.append
def a_tuple_of_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(tuple(d)) * d[1]


@PROGRAMS.append
def the_sum_of_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(d) * d[1]


@PROGRAMS.append
def greatest_and_least_key(x: Any) -> Any:
    d = table_of(x)
    return max(d) * d[1] + min(d)


@PROGRAMS.append
def numbered_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(i * k for i, k in enumerate(d)) * d[1]


@PROGRAMS.append
def keys_beside_items(x: Any) -> Any:
    d = table_of(x)
    return sum(i * k * v for i, k, v in zip(range(3), d, x, strict=False)) * d[1]


@PROGRAMS.append
def unpacked_keys(x: Any) -> Any:
    d = table_of(x)
    a, b = d
    return a * b * d[1]


@PROGRAMS.append
def displayed_keys(x: Any) -> Any:
    d = table_of(x)
    keys = [*d]
    return keys[0] * keys[1] * d[1]


@PROGRAMS.append
def chosen_keys(x: Any) -> Any:
    d = table_of(x)
    keys = [k for k in d if k > 1]
    return keys[0] * d[1]


@PROGRAMS.append
def values_by_key(x: Any) -> Any:
    d = table_of(x)
    return sum(d[k] * k for k in d)


@PROGRAMS.append
def a_map_of_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(map(lambda k: d[k] * k, d))  # noqa: C417


@PROGRAMS.append
def keys_backwards(x: Any) -> Any:
    d = table_of(x)
    return sum(d[k] * k for k in reversed(d))


@PROGRAMS.append
def the_key_of_the_greatest_value(x: Any) -> Any:
    d = table_of(x)
    return max(d, key=lambda k: d[k]) * d[1]


@PROGRAMS.append
def the_first_key(x: Any) -> Any:
    d = table_of(x)
    return next(iter(d)) * d[1]


@PROGRAMS.append
def keys_by_value(x: Any) -> Any:
    d = table_of(x)
    return sum(d[k] for k in sorted(d, key=lambda k: -d[k])[:1])


@PROGRAMS.append
def an_array_of_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(np.fromiter(d, float)) * d[1]


@PROGRAMS.append
def filtered_keys(x: Any) -> Any:
    d = table_of(x)
    return sum(filter(lambda k: k > 1, d)) * d[1]


@PROGRAMS.append
def a_dict_of_a_dict(x: Any) -> Any:
    d = table_of(x)
    e = {k: 2 * v for k, v in d.items()}
    return sum(e) * e[1]


@PROGRAMS.append
def any_and_all(x: Any) -> Any:
    d = table_of(x)
    return any(k > 1 for k in d) * d[1] + all(d) * d[2]


@PROGRAMS.append
def values_doubled(x: Any) -> Any:
    d = {"a": x[0], "b": x[1], "c": x[2]}
    for k, v in d.items():
        d[k] = v * 2 * d["a"]
    return sum(d.values())


@PROGRAMS.append
def values_multiplied_by_key(x: Any) -> Any:
    d = {"a": x[0], "b": x[1], "c": x[2]}
    for k in d:
        d[k] *= d["a"]
    return sum(d.values())


@PROGRAMS.append
def the_next_value_written(x: Any) -> Any:
    d = dict(enumerate(x))
    for k, v in d.items():
        d[(k + 1) % 4] = v * 2 * d[0]
    return sum(d.values())


@PROGRAMS.append
def later_values_written(x: Any) -> Any:
    d = dict(enumerate(x))
    for v in d.values():
        d[3] = v * 2 * d[0]
        d[2] += v
    return sum(d.values())


@PROGRAMS.append
def entries_listed_before_they_are_written(x: Any) -> Any:
    d = dict(enumerate(x))
    for k, v in list(d.items()):
        d[(k + 1) % 4] = v * 2 * d[0]
    return sum(d.values())


@PROGRAMS.append
def arrays_written_into(x: Any) -> Any:
    d, s = {i: x * (i + 1) for i in range(3)}, 0.0
    for v in d.values():
        v *= 2.0
        s += v[0]
    return s * d[1][1]


@PROGRAMS.append
def lists_lengthened(x: Any) -> Any:
    d = {"a": [x[0]], "b": [x[1]]}
    for v in d.values():
        v.append(x[2])
        v[0] *= 2
    return sum(d["a"]) * sum(d["b"])


def values_kept(x: Any) -> Any:
    d = dict(enumerate(x))
    values = d.values()
    d[0] = x[2] * 3
    return sum(values) * d[1]


def values_of_known_keys_kept(x: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    values = d.values()
    d["a"] = x[2] * 3
    return sum(values) * d["b"]


def keys_kept(x: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    keys = d.keys()
    d["c"] = x[2]
    return len(keys) * sum(d[k] for k in keys)


@pytest.mark.parametrize("function", [values_kept, values_of_known_keys_kept, keys_kept])
def test_views_of_dicts_are_not_kept_over_a_write(function: Callable[[Any], Any]) -> None:
    x = np.array([0.3, -1.2, 0.7, 2.1])
    for derivative in (grad(function), lambda x: jvp(function, (x,), (x,))):
        with pytest.raises(UnsupportedError, match="which was written into at line"):
            derivative(x)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients(function: Callable[[Any], Any]) -> None:
    x, direction = np.array([0.3, -1.2, 0.7, 2.1]), np.array([0.5, -0.2, 1.1, 0.4])
    slope = (function(x + 1e-6 * direction) - function(x - 1e-6 * direction)) / 2e-6
    assert grad(function)(x) @ direction == pytest.approx(slope, rel=1e-7)
    assert jvp(function, (x,), (direction,))[1] == pytest.approx(slope, rel=1e-7)


def either(x: Any) -> Any:
    return {0: x[0], 1: x[1]} if x[0] > 0.0 else [x[0], x[1]]


def summed(x: Any) -> Any:
    return x[0] * sum(either(x))


def collected(x: Any) -> Any:
    return x[0] * sum([k + 1.0 for k in either(x)])


def numbered(x: Any) -> Any:
    return x[0] * sum(i * k for i, k in enumerate(either(x)))


@pytest.mark.parametrize("function", [summed, collected, numbered])
def test_what_may_be_a_dict_or_a_list_is_checked(function: Callable[[Any], Any]) -> None:
    x = np.array([0.3, 0.7])
    for derivative in (grad(function), lambda x: jvp(function, (x,), (x,))):
        with pytest.raises(TypeError, match="items of a dict are run over"):
            derivative(x)
    assert grad(function)(-x) @ x == pytest.approx(jvp(function, (-x,), (x,))[1], rel=1e-14)
