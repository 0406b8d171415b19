"""Dicts and instances that a function makes, hands on from iteration to iteration, and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, compiled, jvp, value_and_grad, vjp
from tests.native.test_backends_agree import same, watched

pytestmark = pytest.mark.usefixtures("plain_loops")

X = np.array([0.5, 1.5, -2.0, 3.0, 0.25])


class Average:
    def __init__(self, mean: Any, total: Any) -> None:
        self.mean = mean
        self.total = total
        self.count = 0

    def push(self, value: Any) -> None:
        self.count += 1
        self.mean = self.mean * 0.5 + value
        self.total += self.mean * value


@dataclass
class Layer:
    w: Any
    m: Any


def averages(x, n):
    one, two = Average(0.0, x[0]), Average(1.0, x[1])
    for i in range(n):
        if x[i] > 0:
            one.push(x[i])
        else:
            two.push(x[i] * one.total)
        one, two = two, one
    return one.mean * one.total + two.count * two.total


def layers(x, n):
    layer = Layer(x.copy(), 2.0)
    for i in range(n):
        layer.w[i] *= layer.m
        layer.m = layer.m + layer.w[i + 1]
        if i == 1:
            layer = Layer(layer.w * 2.0, layer.m)
    return np.sum(layer.w * layer.w) * layer.m


def state_in_a_dict(x, n):
    state = {"total": 0.0, "y": x * 2.0, "count": 0}
    for i in range(n):
        state["total"] += state["y"][i] * x[i]
        state["count"] += 1
        state["y"][i + 1] = state["total"]
        if state["total"] > 2.0:
            state = {"total": state["total"] * 0.5, "y": state["y"].copy(),
                     "count": state["count"]}
    return state["total"] * state["count"] + np.sum(state["y"])


def steps_of_states(x, n):
    def step(state, value):
        return {"m": state["m"] * 0.9 + value, "count": state["count"] + 1,
                "last": (state["m"], value)}

    state = {"m": x[0], "count": 0, "last": (x[0], x[0])}
    total = x[0]
    for i in range(n):
        state = step(state, x[i])
        total += state["m"] * state["last"][0] / state["count"]
    return total


def best_of(x, limit):
    best = Layer(0.0, 0.0)
    for i in range(len(x)):
        tried = Layer(x[i] * x[i], float(i))
        if best.w < tried.w < limit:
            best = tried
    return best.w * best.m * x[0]


def exchanged(x, n):
    one, two = {"x": x.copy()}, {"x": x * 1.0}
    for i in range(n):
        one["x"][i] += two["x"][i]
        one, two = two, one
        two["x"][0] *= 2.0
    return np.sum(one["x"]) * two["x"][1]


def one_object(x, n):
    layer = Layer(x.copy(), 1.0)
    other = layer
    for i in range(n):
        layer.w[i] *= 2.0
        other.m += layer.w[i]
    return layer.m * np.sum(other.w)


def growing(x, n):
    state = {"row": x[:1] * 1.0}
    for i in range(n):
        state = {"row": np.concatenate([state["row"], x[i : i + 1] * 2.0])}
    return np.sum(state["row"] ** 2)


def flags(x, index):
    held = {"n": 0, "sum": x[0], "odd": True}
    for i in index:
        held["n"] += int(i)
        held["sum"] = held["sum"] + x[i]
        held["odd"] = not held["odd"]
    return held["sum"] * held["n"] * (2.0 if held["odd"] else 3.0)


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (program, (X, n)) for program in (
        averages, layers, state_in_a_dict, steps_of_states, exchanged, one_object, growing)
    for n in (1, 4)
] + [(best_of, (X, 5.0)), (best_of, (X, -1.0)), (flags, (X, np.array([1, 2, 3]))),
     (layers, (X, 5)), (flags, (X, np.array([1, 5])))]


def tried(call: Any) -> Any:
    """Return what a call gives, or what it raises."""
    try:
        return call()
    except IndexError as error:
        return type(error), str(error)


@pytest.mark.parametrize(("program", "args"), CASES)
def test_gradients_and_pushforwards(program: Any, args: Any) -> None:
    native = value_and_grad(program, backend="native")
    came = watched(native, *args)
    expected = tried(lambda: value_and_grad(program)(*args))
    assert same(tried(lambda: native(*args)), expected)
    assert came in ([not isinstance(expected[0], type)],) or isinstance(came[0], IndexError)
    results = [tried(lambda: jvp(program, args, (X, None), backend=backend))  # noqa: B023
               for backend in ("python", "native")]
    assert same(*results)


def described(x, n):
    total = x[0]
    for i in range(n):
        total += x[i] * x[i]
    return {"total": total, "y": x * total, "count": n, "inner": {"a": 1.5, "b": x[1]},
            "pair": (total, x * 2.0), 3: None}


def test_dicts_as_results() -> None:
    expected = described(X, 3)
    got = compiled(described)(X, 3)
    assert list(got) == list(expected)
    for key in ("total", "y", "count", "pair"):
        assert same(got[key], expected[key])
    assert list(got["inner"]) == ["a", "b"]
    assert got["inner"]["a"] == 1.5
    assert same(got["inner"]["b"], X[1])
    assert got[3] is None


def of_parts(x, n):
    total = x[0]
    for i in range(n):
        total += x[i] * x[i]
    return {"total": total, "y": x * total}


def test_pullbacks_of_dicts() -> None:
    value, pullback = vjp(of_parts, X, 3, argnums=0, backend="native")
    expected, other = vjp(of_parts, X, 3, argnums=0)
    seed = {"total": 0.5, "y": np.cos(X)}
    assert list(value) == list(expected)
    assert same(value["y"], expected["y"])
    assert same(pullback(seed), other(seed))


def test_instances_as_results_stay_in_python() -> None:
    def made(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i]
        return Layer(x * total, total)

    with pytest.raises(UnsupportedError, match="a result is an instance"):
        compiled(made)(X)
