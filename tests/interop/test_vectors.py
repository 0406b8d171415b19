"""Structures as vectors."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize

from adcompiler import value_and_grad
from adcompiler.interop.vectors import ravel


@dataclasses.dataclass
class Layer:
    w: Any
    b: float
    name: str = "dense"


class Pair(NamedTuple):
    x: Any
    y: Any


TREES: list[Any] = [
    1.5, np.arange(6.0).reshape(2, 3), (1.0, 2), [0.5, [1.5]], {"a": 1.0, "b": np.zeros(0)},
    Pair(np.float32(0.5), np.ones(2, np.float32)), Layer(np.eye(2), 0.25),
    {"layers": [Layer(np.ones((1, 2)), 0.5), None], "n": 3, "ok": True, "rows": np.arange(3)},
    collections.OrderedDict(b=1.0, a=2.0), (), np.array(2.5),
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: type(tree).__name__)
def test_there_and_back(tree: Any) -> None:
    flat, unravel = ravel(tree)
    assert flat.dtype == np.float64 and flat.ndim == 1
    again = unravel(flat)
    assert type(again) is type(tree) and repr(again) == repr(tree)
    other = unravel(flat + 1.0)
    assert np.array_equal(ravel(other)[0], flat + 1.0)
    assert repr(tree) == repr(again)  # the first one is as it was


def test_what_is_no_number_is_kept_and_arrays_are_copies() -> None:
    rows, x = np.arange(3), np.ones(2)
    flat, unravel = ravel({"x": x, "rows": rows, "name": "n"})
    flat[0] = 7.0
    found = unravel(flat)
    assert x[0] == 1.0 and found["x"][0] == 7.0
    assert found["rows"] is rows and found["name"] == "n"


def test_errors() -> None:
    _, unravel = ravel([1.0, 2.0])
    with pytest.raises(ValueError, match=r"shape \(3,\), not \(2,\)"):
        unravel(np.ones(3))
    with pytest.raises(TypeError, match="complex"):
        ravel({"z": 1j})
    loop: list[Any] = [1.0]
    loop.append(loop)
    with pytest.raises(ValueError, match="holds itself"):
        ravel(loop)


def test_gradients_are_in_the_same_order() -> None:
    def loss(p, x):
        h = np.tanh(p["layers"][0].w @ x + p["layers"][0].b)
        return np.sum((p["layers"][1].w @ h - 1.0) ** 2) + p["decay"] * 0.0 + p["layers"][1].b ** 2

    p = {"layers": (Layer(np.full((2, 3), 0.1), 0.2), Layer(np.full((1, 2), 0.3), 0.4)),
         "decay": 0.5}
    flat, unravel = ravel(p)
    step = value_and_grad(loss)

    def objective(v):
        value, bars = step(unravel(v), np.arange(3.0))
        return value, ravel(bars)[0]

    value, slope = objective(flat)
    differences = [
        (objective(flat + h)[0] - objective(flat - h)[0]) / 2e-6 for h in 1e-6 * np.eye(len(flat))]
    assert slope.shape == flat.shape
    np.testing.assert_allclose(slope, differences, atol=1e-8)
    found = minimize(objective, flat, jac=True)
    assert found.fun < 1e-8 < value
    assert isinstance(unravel(found.x)["layers"][1], Layer)
