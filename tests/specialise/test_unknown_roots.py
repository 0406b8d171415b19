"""Refusals that name where a type was lost; what they advise is done here, and compiles."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import json
import queue
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.cluster._vq import vq
from scipy.optimize import linear_sum_assignment

from adcompiler import MissingRuleError, UnsupportedError, external, facts, grad, jvp, rrule
from adcompiler.errors import LocatedError
from adcompiler.rulekit import REGISTRY


@pytest.fixture
def forgets() -> Iterator[list[Any]]:
    """Give a list of functions of which all that is registered is forgotten after the test."""
    functions: list[Any] = []
    yield functions
    for function in functions:
        REGISTRY.remove(function)


def refused(function: Callable[..., Any], *args: Any) -> LocatedError:
    with pytest.raises((MissingRuleError, UnsupportedError)) as caught:
        grad(function)(*args)
    assert isinstance(caught.value, LocatedError)
    return caught.value


def cause_of(function: Callable[..., Any], *args: Any) -> tuple[str, str, str]:
    """Return why a function is refused, the text of the line that it is blamed on, and the hint."""
    (finding,) = refused(function, *args).findings
    assert finding.cause is not None
    at = finding.cause
    return at.problem, at.text.strip()[: at.width + 40], finding.hint


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


def chained(x: float) -> Any:
    first = None
    for k in range(4):
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
    problem, text, hint = cause_of(chained, 2.0)
    assert problem == "`first` is None or a Node here, as the case may be"
    assert text == "for k in range(4):"
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


# -- rules -----------------------------------------------------------------------------------------


LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
LIBRARY.cbrt.restype = ctypes.c_double
LIBRARY.cbrt.argtypes = [ctypes.c_double]


def root(x: float) -> Any:
    return LIBRARY.cbrt(x)


def middle(x: float) -> Any:
    return root(x) + 1.0


def through_library(x: float) -> Any:
    return middle(x) * x


def test_a_method_of_an_object_of_a_known_class(forgets: list[Any]) -> None:
    error = refused(through_library, 8.0)
    (finding,) = error.findings
    assert finding.problem == (
        "`.cbrt()` of a CDLL has no rule, and no Python source that could be compiled")
    assert [caller.rpartition(": ")[2] for caller in finding.callers] == [
        "return root(x) + 1.0", "return middle(x) * x"]
    assert "call `adcompiler.external(LIBRARY.cbrt, vjp=...)` in its place" in finding.hint
    cube_root = external(LIBRARY.cbrt, vjp=lambda y_bar, x: y_bar / (3.0 * LIBRARY.cbrt(x) ** 2))
    assert_allclose(grad(lambda x: (cube_root(x) + 1.0) * x)(8.0), 3.0 + 2.0 / 3.0, rtol=1e-12)
    forgets.append(root)

    @rrule(root)
    def root_rule(x: Any) -> Any:
        y = LIBRARY.cbrt(x)

        def root_pullback(dy: Any) -> Any:
            return dy / (3.0 * y**2)

        return y, root_pullback

    assert_allclose(grad(through_library)(8.0), 3.0 + 2.0 / 3.0, rtol=1e-12)
    assert_allclose(jvp(through_library, (8.0,), (1.0,))[1], 3.0 + 2.0 / 3.0, rtol=1e-12)


def function_of(module: str, name: str) -> Any:
    loaded = importlib.import_module(module)
    return getattr(loaded, name)


def by_name(x: float, module: str) -> Any:
    return function_of(module, "sin")(x)


def by_module(x: float, module: Any) -> Any:
    return getattr(module, "sin")(x)  # noqa: B009


def test_a_function_that_is_looked_up_when_the_code_runs() -> None:
    problem, text, hint = cause_of(by_name, 0.5, "math")
    assert problem == "nothing is known of what importlib.import_module() returns"
    assert text == "loaded = importlib.import_module(module)"
    assert hint.startswith("make it outside of the function and pass it as an argument")
    assert_allclose(grad(by_module)(0.5, np), np.cos(0.5), rtol=1e-12)


def test_a_function_without_text_gets_no_lines_of_a_rule(forgets: list[Any]) -> None:
    namespace: dict[str, Any] = {}
    exec("def square(x):\n    return x * x", namespace)

    def squared(x: float) -> Any:
        return namespace["square"](x)

    (finding,) = refused(squared, 3.0).findings
    assert finding.hint == "register a rule for it with `@rrule(f)`, or define it in a file"
    forgets.append(namespace["square"])

    @rrule(namespace["square"])
    def square_rule(x: Any) -> Any:
        def square_pullback(dy: Any) -> Any:
            return 2.0 * x * dy

        return x * x, square_pullback

    assert grad(squared)(3.0) == 6.0


# -- functions that may write ----------------------------------------------------------------------


def distances(x: Any, centres: Any) -> Any:
    _, found = vq(x, centres)
    return np.sum(found**2)


def assigned(x: Any) -> Any:
    rows, columns = linear_sum_assignment(np.outer(x, x))
    return x[rows] @ x[columns]


def test_what_is_said_not_to_write_still_needs_a_rule(forgets: list[Any]) -> None:
    x, centres = np.ones((3, 2)), np.zeros((2, 2))
    (finding,) = refused(distances, x, centres).findings
    assert finding.hint.endswith(
        "say so: adcompiler.facts(scipy.cluster._vq.vq, writes=())")
    forgets.append(vq)
    facts(vq, writes=())
    with pytest.raises(MissingRuleError, match=r"vq\(\) has no rule"):
        grad(distances)(x, centres)


def test_what_does_not_write_and_gives_only_positions_needs_no_rule(forgets: list[Any]) -> None:
    x = np.array([0.5, 2.0, 1.0])
    (finding,) = refused(assigned, x).findings
    assert "adcompiler.facts(scipy.optimize.linear_sum_assignment, writes=())" in finding.hint
    forgets.append(linear_sum_assignment)
    facts(linear_sum_assignment, writes=())
    _, columns = linear_sum_assignment(np.outer(x, x))
    expected = x[columns]
    expected[columns] += x
    assert_allclose(grad(assigned)(x), expected)


DOCUMENT = ElementTree.fromstring("<model><rate value='1.5'/></model>")


def rate() -> float:
    found: Any = DOCUMENT.find("rate")
    return float(found.get("value"))


def test_a_method_of_a_library_that_may_write(forgets: list[Any]) -> None:
    def scaled(x: float) -> Any:
        return rate() * x

    (finding,) = refused(scaled, 3.0).findings
    assert finding.problem.startswith("xml.etree.ElementTree.Element.find(), called at line ")
    assert "adcompiler.facts(xml.etree.ElementTree.Element.find, writes=())" in finding.hint
    forgets.append(ElementTree.Element.find)
    facts(ElementTree.Element.find, writes=())
    assert grad(scaled)(3.0) == 1.5


def with_set(x: float, names: Any) -> Any:
    names.add("rate")
    return x * len(names)


def with_list(x: float, names: Any) -> Any:
    names.append("rate")
    return x * len(names)


def test_methods_that_do_write_are_not_said_to_be_harmless() -> None:
    (finding,) = refused(with_set, 3.0, {"scale"}).findings
    assert finding.problem.startswith("set.add(), called at line ")
    assert "facts(" not in finding.hint
    assert finding.hint.startswith("use a list, a dict or an array, changes of which are followed")
    assert grad(with_list)(3.0, ["scale"]) == 2.0


def put_and_got(x: float, waiting: Any) -> Any:
    waiting.put(x)
    return waiting.get() * x


def test_a_queue_that_is_an_argument_is_refused_with_a_place() -> None:
    for waiting in (queue.Queue(), queue.LifoQueue(), queue.PriorityQueue()):
        (finding,) = refused(put_and_got, 3.0, waiting).findings
        assert finding.problem == (
            "put() has no rule, and may write into the array or container that it gets")
        assert finding.text.strip() == "waiting.put(x)"
