"""Refusals that name where a type was lost; what they advise is done here, and compiles."""

from __future__ import annotations

import functools
import json
import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from adcompiler import grad
from tests.infer.refusals import cause_of, refused


# -- what a call gives, of which nothing is known --------------------------------------------------


def read(text: str) -> Any:
    return json.loads(text)


def history_of(text: str) -> Any:
    return read(text)["history"]


def remember(history: Any, value: Any) -> Any:
    history.append(value)
    return history[-1]


def read_inside(x: float, text: str) -> Any:
    return remember(history_of(text), x * x)


def given(x: float, history: list[float]) -> Any:
    return remember(history, x * x)


def test_a_value_is_traced_through_helpers_to_the_call_that_gave_it() -> None:
    problem, text, hint = cause_of(read_inside, 3.0, '{"history": []}')
    assert problem == "nothing is known of what `json.loads(text)` gives"
    assert text == "return json.loads(text)"
    assert hint == "make it outside of the function and pass it as an argument, whose type is known"
    assert grad(given)(3.0, history_of('{"history": []}')) == 6.0
    assert grad(given)(3.0, history_of('{"history": [1.0]}')) == 6.0


class Settings:
    def __init__(self, text: str) -> None:
        self.data = json.loads(text)

    def entry(self, key: str) -> Any:
        return self.data[key]


def with_settings(x: float, text: str) -> Any:
    weights = Settings(text).entry("weights")
    weights[0] = x
    return weights[0] * weights[1]


def with_given_settings(x: float, settings: Settings) -> Any:
    weights = settings.entry("weights")
    weights[0] = x
    return weights[0] * weights[1]


def test_a_value_is_traced_through_attributes_and_methods() -> None:
    problem, text, _ = cause_of(with_settings, 3.0, '{"weights": [1.0, 2.0]}')
    assert problem == "nothing is known of what `json.loads(text)` gives"
    assert text == "self.data = json.loads(text)"
    assert grad(with_given_settings)(3.0, Settings('{"weights": [1.0, 2.0]}')) == 2.0


def scaled_inside(x: float, text: str) -> Any:
    lists = [json.loads(text) for _ in range(2)]
    for numbers in lists:
        numbers[0] = x
    return x * lists[1][0]


def scaled(x: float, lists: list[list[float]]) -> Any:
    for numbers in lists:
        numbers[0] = x
    return x * lists[1][0]


def test_a_value_is_traced_through_loops_and_lists() -> None:
    problem, text, _ = cause_of(scaled_inside, 3.0, "[1.0]")
    assert problem == "nothing is known of what `json.loads(text)` gives"
    assert text.startswith("lists = [json.loads(text)")
    assert grad(scaled)(3.0, [[1.0], [2.0]]) == 6.0


def queued(x: float) -> Any:
    waiting: Any = queue.Queue()
    waiting.put(x)
    return waiting.get() * x


def listed(x: float) -> Any:
    waiting = []
    waiting.append(x)
    return waiting.pop(0) * x


def test_an_object_of_a_class_that_is_not_compiled() -> None:
    problem, text, hint = cause_of(queued, 3.0)
    assert problem == "nothing is known of what queue.Queue() makes"
    assert text == "waiting: Any = queue.Queue()"
    assert hint == "do without it: use lists, dicts, arrays, or classes written in Python"
    assert grad(listed)(3.0) == 6.0


# -- values of several types -----------------------------------------------------------------------


class Node:
    def __init__(self, value: Any, following: Any) -> None:
        self.value = value
        self.following = following


def chained(x: float, ks: list[float]) -> Any:
    first = None
    for k in ks:
        first = Node(x * k, first)
    total = 0.0
    while first is not None:
        total += first.value
        first = first.following
    return total


def in_a_list(x: float) -> Any:
    nodes = []
    for k in range(4):
        nodes.append(Node(x * k, 0))
    total = 0.0
    for node in reversed(nodes):
        total += node.value
    return total


def test_a_variable_that_is_of_one_type_or_another() -> None:
    problem, text, hint = cause_of(chained, 2.0, [1.0, 2.0, 3.0])
    assert problem == "`first` is None or a Node here, as the case may be"
    assert text == "for k in ks:"
    assert hint.startswith(
        "make it of one type on every path: a list of what there is, in place of None")
    assert grad(in_a_list)(2.0) == 6.0


def mixed(x: float, which: int) -> Any:
    items: Any = [1.0, "label", None]
    chosen = items[which]
    chosen[0] = x
    return x * x


def told_apart(x: float) -> Any:
    items: Any = {"name": "label", "table": {}, "numbers": [1.0]}
    items["numbers"][0] = x
    return x * items["numbers"][0]


def test_a_list_of_several_types() -> None:
    problem, text, hint = cause_of(mixed, 3.0, 2)
    assert problem == "this list holds values of several types, a float, a str or None"
    assert text == 'items: Any = [1.0, "label", None]'
    assert "a dict with fixed keys, tells them apart" in hint
    assert grad(told_apart)(3.0) == 6.0


def of_the_argument(x: float, items: Any) -> Any:
    for item in items:
        item.append(x)
    return x


def of_one_type(x: float, items: Any) -> Any:
    for item in items:
        item.append(x)
    return items[0][-1] * x


def test_an_argument_of_several_types() -> None:
    problem, text, _ = cause_of(of_the_argument, 3.0, [[1.0], "a"])
    assert problem == "the argument `items` holds values of several types"
    assert text == "def of_the_argument(x: float, items: Any) -> Any:"
    assert grad(of_one_type)(3.0, [[1.0], []]) == 6.0


def boxed(x: float) -> Any:
    box = np.array([None, None])
    box[0] = x
    return x * box[0]


def fields(x: float) -> Any:
    table = np.zeros(3, dtype=[("a", float), ("b", float)])
    table["a"] = x
    return np.sum(table["a"]) * x


def plain(x: float) -> Any:
    table = np.zeros(3)
    table[:] = x
    return np.sum(table) * x


def test_arrays_of_objects_and_records() -> None:
    hint = "use an array of numbers, without `dtype=object` and without fields, or a list"
    (finding,) = refused(boxed, 3.0).findings
    assert (finding.problem, finding.hint) == ("writing into `box`, an array of objects or records",
                                               hint)
    problem, _, its = cause_of(fields, 3.0)
    assert (problem, its) == ("what numpy.zeros() returns here is no array of numbers", hint)
    assert grad(plain)(3.0) == 18.0


# -- attributes ------------------------------------------------------------------------------------


class Counted:
    calls = 0

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def __call__(self, x: float) -> Any:
        Counted.calls += 1
        return x * self.weight


CALLS = {"n": 0}


class CountedInModule:
    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.calls = 0

    def __call__(self, x: float) -> Any:
        CALLS["n"] += 1
        self.calls += 1
        return x * self.weight


def timed(x: float) -> Any:
    timed.last = x  # type: ignore[attr-defined]
    return x * x


def test_attributes_of_classes_and_functions() -> None:
    model, other = Counted(2.0), CountedInModule(2.0)
    (finding,) = refused(lambda x: model(x), 3.0).findings
    assert finding.problem == "assigning to an attribute of the class `Counted` is not supported"
    (finding,) = refused(timed, 3.0).findings
    assert finding.problem == "assigning to an attribute of the function `timed` is not supported"
    assert finding.hint == (
        "keep the value in a dict of the module, or in an attribute of an instance")
    assert grad(lambda x: other(x))(3.0) == 2.0
    assert (CALLS["n"], other.calls) == (1, 1)


def test_what_follows_from_a_refused_attribute_is_not_said_again() -> None:
    class Plain:
        pass

    plain = Plain()

    def kept(x: float) -> Any:
        plain.last = x * x  # type: ignore[attr-defined]
        return plain.last  # type: ignore[attr-defined]

    (finding,) = refused(kept, 3.0).findings
    assert "the new attribute `last`" in finding.problem
    plain.last = 0.0  # type: ignore[attr-defined]
    assert grad(kept)(3.0) == 6.0


# -- arguments that are known only when running ----------------------------------------------------


def scaled_by(x: float, factor: float = 1.0, power: int = 1) -> Any:
    return factor * x**power


def with_keywords(x: float, text: str) -> Any:
    return scaled_by(x, **read(text))


def with_given_keywords(x: float, keywords: dict[str, Any]) -> Any:
    return scaled_by(x, **keywords)


def with_entries(x: float, text: str) -> Any:
    return {**read(text), "x": x}["x"] * x


def with_given_entries(x: float, entries: dict[str, Any]) -> Any:
    return {**entries, "x": x}["x"] * x


@functools.singledispatch
def area(shape: Any, x: float) -> Any:
    return x


@area.register
def _(shape: dict, x: float) -> Any:  # type: ignore[type-arg]
    return x * x * shape["radius"]


def with_shape(x: float, text: str) -> Any:
    return area(read(text), x)


def with_given_shape(x: float, shape: dict[str, float]) -> Any:
    return area(shape, x)


@pytest.mark.parametrize(("inside", "outside", "text", "slope"), [
    (with_keywords, with_given_keywords, '{"factor": 2.0, "power": 2}', 12.0),
    (with_entries, with_given_entries, '{"y": 2.0}', 6.0),
    (with_shape, with_given_shape, '{"radius": 2.0}', 12.0),
], ids=["keywords", "entries", "dispatch"])
def test_arguments_that_a_call_gives(
    inside: Callable[..., Any], outside: Callable[..., Any], text: str, slope: float
) -> None:
    problem, _, hint = cause_of(inside, 3.0, text)
    assert problem == "nothing is known of what `json.loads(text)` gives"
    assert hint.startswith(
        "make it outside of the function and pass it as an argument, whose type is known; or ")
    assert_allclose(grad(outside)(3.0, json.loads(text)), slope)
