"""Second derivatives in instances: of dataclasses, of classes, of models of these."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hvp, jvp, vhp

X = np.array([0.1, 0.4, -0.3])


@dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"
    count: int = 3


@dataclass(frozen=True)
class Model:
    first: Layer
    scale: np.float64


class Plain:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b

    def out(self, x: Any) -> Any:
        return np.tanh(self.w * x + self.b)


def of_layer(layer, x):
    return np.sum(np.tanh(layer.w * x + layer.b) ** 2) * layer.b


def of_plain(layer, x):
    return np.sum(layer.out(x) ** 2) * layer.b


def of_model(model, x):
    return of_layer(model.first, x) * model.scale**2


def layer(cls, w, b):
    return cls(np.array(w), b)


PROGRAMS = {
    "dataclass": (
        of_layer, layer(Layer, [1.0, 2.0, 0.5], 0.3), layer(Layer, [0.5, -1.0, 2.0], 1.0)),
    "class": (of_plain, layer(Plain, [1.0, 2.0, 0.5], 0.3), layer(Plain, [0.5, -1.0, 2.0], 1.0)),
    "model": (
        of_model, Model(layer(Layer, [1.0, 2.0, 0.5], 0.3), np.float64(1.5)),
        Model(layer(Layer, [0.5, -1.0, 2.0], 1.0), np.float64(0.7))),
}


def leaves(value):
    if isinstance(value, (Layer, Plain)):
        return np.append(value.w, value.b)
    return np.append(leaves(value.first), value.scale)


def along(value, v, h):
    if isinstance(value, Model):
        return Model(along(value.first, v.first, h), value.scale + h * v.scale)
    return type(value)(value.w + h * v.w, value.b + h * v.b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_products_with_hessians(name, monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    f, p, v = PROGRAMS[name]
    h = 1e-5
    wanted = (leaves(grad(f)(along(p, v, h), X)) - leaves(grad(f)(along(p, v, -h), X))) / (2 * h)
    for mode in (None, "fwd_adj", "adj_adj", "adj_fwd"):
        found = hvp(f, p, v, X, mode=mode)
        assert type(found) is type(p)
        assert np.allclose(leaves(found), wanted, rtol=1e-7, atol=1e-8)
    assert np.allclose(leaves(vhp(f, p, v, X)), wanted, rtol=1e-7, atol=1e-8)


def test_what_carries_no_derivative_is_none():
    f, p, v = PROGRAMS["dataclass"]
    found = hvp(f, p, v, X)
    assert (found.name, found.count) == (None, None)
    assert found.w is not p.w
    assert found.w is not v.w


def test_gradients_of_instances_inside_of_functions(monkeypatch):
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    f, p, v = PROGRAMS["class"]

    def slope(p, x):
        inner = grad(f)(p, x)
        return inner.b + np.sum(inner.w**2)

    def product(p, x):
        return hvp(f, p, v, x).b

    h = 1e-5
    for outer in (slope, product):
        up, down = (outer(along(p, v, sign * h), X) for sign in (1.0, -1.0))
        assert np.isclose(jvp(outer, (p, X), (v,), argnums=(0,))[1], (up - down) / (2 * h))
        assert np.isclose(leaves(grad(outer)(p, X)) @ leaves(v), (up - down) / (2 * h))
