"""Dicts of mixed values that are asked by texts, and get entries in loops and branches."""

import numpy as np
import pytest

from adcompiler import grad, hessian
from tests.language.check import check
from tests.language.modes import (
    Programs, agrees_in_every_mode, agrees_to_first_order, differences,
)

X = np.array([0.7, 1.1, 0.4])
programs = Programs()


@programs
def last_of_a_path(x):
    state = {"path": []}
    for v in x:
        state["last"] = v * x[0]
        state["path"].append(state["last"])
        state["whole"] = x * state["last"]
    return sum(state["path"]) * state["last"] + np.sum(state["whole"] ** 2)


@programs
def asked_whether_it_is_there(x):
    state = {"path": [], "count": 0}
    for v in x:
        if "mean" not in state:
            state["mean"] = np.zeros(3)
        state["mean"] = 0.9 * state["mean"] + v * x
        state["count"] += 1
        state["path"].append(np.sum(state["mean"]))
    return np.sum(state["mean"] ** 2) / state["count"] + state["path"][0]


@programs
def a_loop_that_does_not_run(x):
    state = {"path": []}
    for i in range(len(x) - 3):
        state["last"] = x[i] * x[0]
    return state["last"] if "last" in state else x[0] ** 2


@programs
def other_entries_in_each_arm(x):
    state = {"path": []}
    if x[0] > 0.5:
        state["a"] = x[0] ** 2
        state["path"].append(state["a"])
    else:
        state["b"] = x
    return state["a"] * x[1] + len(state["path"])


@programs
def until_an_entry_says_so(x):
    state = {"path": [], "more": True}
    value = x[0]
    while state["more"]:
        value = value * x[1] + x[2]
        state["value"], state["square"] = value, value * value
        state["path"].append(state["square"])
        state["more"] = len(state["path"]) < 4
    return sum(state["path"]) + state["value"]


@programs
def dicts_inside(x):
    state = {"log": {"a": []}, "path": []}
    for v in x:
        state["now"] = v * v
        state["log"]["a"].append(state["now"])
        state["path"] = [*state["path"], state["now"]]
    return sum(state["log"]["a"]) * state["path"][0] + state["now"]


@programs
def seen_under_another_name(x):
    state = {"path": []}
    other = state
    other["first"] = x[0]
    state["path"].append(other["first"] * x[1])
    return sum(state["path"]) * len(state)


@pytest.mark.records
@pytest.mark.parametrize("function", programs)
def test_recordings(function):
    check(function, X)
    agrees_in_every_mode(function, X, (), pattern=False)


def test_an_entry_that_is_missing_raises_as_in_python():
    def last(x, n):
        state = {"path": []}
        for _ in range(n):
            state["last"] = x * x
        return state["last"]

    derivative = grad(last)
    assert derivative(3.0, 2) == 6.0
    with pytest.raises(KeyError, match="last"):
        derivative(3.0, 0)


def entries_that_change_places(x):
    state = {"old": x * 1.0, "new": np.zeros_like(x), "total": 0.0}
    for _ in range(4):
        for j in range(1, 3):
            state["new"][j] = state["old"][j - 1] * x[j] + state["new"][j]
        state["old"], state["new"] = state["new"], state["old"]
        state["total"] += np.sum(state["old"])
    return np.sum(state["old"]) * np.sum(state["new"] ** 2) * state["total"]


def test_entries_that_change_places():
    check(entries_that_change_places, X)
    agrees_to_first_order(entries_that_change_places, X)
    wanted = differences(grad(entries_that_change_places), X)
    np.testing.assert_allclose(hessian(entries_that_change_places)(X), wanted, rtol=1e-5, atol=1e-6)
