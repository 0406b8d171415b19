"""Calls of functions with a structure of arguments are told apart by all that functions can see."""

from __future__ import annotations

import dataclasses
import functools
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad
from adcompiler.interop.calls import as_key, call_of, is_same


def test_keys_tell_arguments_apart() -> None:
    for one, other in (
        (0.0, -0.0), (1, 1.0), (True, 1), (1, np.float64(1)), (0j, -0j), ((0.0,), (-0.0,)),
    ):
        assert as_key(one) != as_key(other), (one, other)
        assert as_key({"k": [one]}) != as_key({"k": [other]})
    for same in (0.0, math.nan, "a", None, 3, (1, {"k": 2.0})):
        assert as_key(same) == as_key(same)
    half = Fraction(1, 2)
    assert as_key(half) == as_key(half)
    assert as_key(half) != as_key(Fraction(1, 2))  # nobody knows what a function sees of it


def test_functions_are_called_with_the_zero_that_is_given() -> None:
    def signed(x: Any, k: float) -> Any:
        return x * math.copysign(1.0, k)

    for k in (0.0, -0.0, 0.0):
        call, operands = call_of(
            signed, (np.ones(1), k), lambda v: isinstance(v, np.ndarray), lambda v: True)
        (value,), _ = call.value(operands)
        assert value == math.copysign(1.0, k)


def test_structures_of_results_are_compared() -> None:
    assert is_same(({"a": 1}, [2]), ({"a": 1}, [2]))
    for other in (({"b": 1}, [2]), ({"a": 1}, (2,)), ({"a": 1}, [2, 3]), ({"a": 2}, [2])):
        assert not is_same(({"a": 1}, [2]), other)


class Model:
    k = 3.0

    @functools.cache  # noqa: B019
    def cached(self, x: float) -> float:
        return self.k * x * x

    @functools.singledispatchmethod
    def single(self, x: float) -> float:
        return self.k * x * x


def test_bound_methods_of_functools_have_their_instance() -> None:
    model = Model()
    assert grad(model.cached)(2.0) == 12.0
    assert grad(lambda x: model.single(x))(2.0) == 12.0
    with pytest.raises(ADError, match=r"grad\(lambda x: instance.single\(x\)\)"):
        grad(model.single)(2.0)


def scaled(x: Any, k: Any) -> Any:
    return {"y": np.sin(x) * k, "k": k}


def test_calls_and_their_derivatives_are_pickled() -> None:
    x = np.array([0.3, 0.4])
    call, operands = call_of(scaled, (x, 2), lambda v: isinstance(v, np.ndarray), lambda v: True)
    _, result = call.value(operands)
    pull = pickle.loads(pickle.dumps(call.pull(result)))
    (found,), _ = pull.value([x, np.ones(2)])
    np.testing.assert_allclose(found, 2.0 * np.cos(x), rtol=1e-15)
    push = pickle.loads(pickle.dumps(call.pull(result).push))
    (along,), _ = push.value([x, np.ones(2), np.ones(2), np.zeros(2)])
    np.testing.assert_allclose(along, -2.0 * np.sin(x), rtol=1e-15)


def several(x: Any, n: int, p: Any) -> Any:
    return {"a": np.sin(x) * p["k"] ** n, "b": (x @ x) * p["k"], "c": n}


def test_pushforwards_of_pullbacks_of_pullbacks() -> None:
    """Emitted sums are written into arrays whose type is not known when they are read again."""
    given: list[Any] = [np.array([0.3, -0.4]), np.array(2.0)]
    call, operands = call_of(
        several, (given[0], 3, {"k": given[1]}), lambda v: isinstance(v, np.ndarray),
        lambda v: True)
    values, result = call.value(operands)
    for _ in range(2):
        given += [np.ones_like(v, float) for v, on in zip(values, result.floats, strict=True) if on]
        call = call.pull(result)
        values, result = call.value(given)
    seeds = [np.cos(np.arange(v.size) + 1.0).reshape(v.shape) for v in given]
    along, _ = call.push.value([*given, *seeds])
    h = 1e-5
    up, down = (
        call.value([v + sign * h * d for v, d in zip(given, seeds, strict=True)])[0]
        for sign in (1.0, -1.0))
    for one, high, low in zip(along, up, down, strict=True):
        np.testing.assert_allclose(one, (high - low) / (2 * h), rtol=1e-7)


@dataclasses.dataclass
class Node:
    parent: Any


def test_what_holds_itself_is_refused() -> None:
    node = Node(None)
    node.parent = {"nodes": [node]}
    with pytest.raises(TypeError, match="a Node holds itself"):
        call_of(scaled, (np.ones(2), node), lambda v: isinstance(v, np.ndarray), lambda v: True)
