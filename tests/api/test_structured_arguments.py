"""Parts of arguments: by name, by position in ``*args``, inside dicts, tuples and instances.

And cotangents with the structure of the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")


@dataclass
class Layer:
    w: Any
    b: Any
    name: str = "layer"


class Pair(NamedTuple):
    left: Any
    right: Any


def positional(x: float, *more: float, scale: float = 2.0, **named: float) -> float:
    return x * more[0] * more[1] * scale + sum(more) + named["k"] * x


def affine(params: dict[str, Any], x: float) -> float:
    return params["w"] * x * x + params["b"]["c"] * x


def layer_loss(layer: Layer, x: float) -> float:
    return layer.w * x + layer.b**2


# --- *args and **kwargs -----------------------------------------------------------------------


@pytest.mark.parametrize("argnums, wanted", [
    (0, 24.0 + 5.0), (1, 17.0), (2, 13.0), ("scale", 24.0), ("k", 2.0), ("more", (17.0, 13.0)),
    (("k", 2, 0), (2.0, 13.0, 29.0)), (("more.1", "scale"), (13.0, 24.0)), ("named.k", 2.0),
    ("named", {"k": 2.0}),
])
def test_elements_of_stars(argnums: Any, wanted: Any) -> None:
    g = grad(positional, argnums=argnums)
    for _ in range(2):
        assert g(2.0, 3.0, 4.0, k=5.0) == wanted
        assert g(2, 3, 4, k=5) == wanted
    value, again = value_and_grad(positional, argnums=argnums)(2.0, 3.0, 4.0, k=5.0)
    assert (value, again) == (65.0, wanted)


def test_vjp_takes_all_positional_arguments() -> None:
    def total(*args: float) -> float:
        product = 1.0
        for x in args:
            product = product * x
        return product

    value, pullback = vjp(total, 2.0, 3.0)
    assert value == 6.0
    assert pullback(1.0) == (3.0, 2.0)
    assert vjp(total, 2.0, 3.0, 4.0)[1](2.0) == (24.0, 16.0, 12.0)
    assert vjp(total, 2.0, 3.0, argnums=1)[1](1.0) == 2.0
    assert vjp(total, 2.0, 3.0, argnums="args")[1](1.0) == (3.0, 2.0)


def test_elements_that_the_call_does_not_have() -> None:
    with pytest.raises(TypeError, match="more has no part 2; it has 0, 1"):
        grad(positional, argnums=3)(2.0, 3.0, 4.0, k=5.0)
    with pytest.raises(TypeError, match="named has no part 'j'; it has k"):
        grad(positional, argnums="j")(2.0, 3.0, 4.0, k=5.0)
    with pytest.raises(ValueError, match="-1 counts from the end"):
        grad(positional, argnums=-1)
    with pytest.raises(ValueError, match="has no parameter 'z'; it has params, x"):
        grad(affine, argnums="z.w")


# --- parts of arguments -----------------------------------------------------------------------


def test_an_entry_of_a_dict() -> None:
    params = {"w": 1.5, "b": {"c": 2, "d": "text"}}
    assert grad(affine, argnums="params.w")(params, 3.0) == 9.0
    assert grad(affine, argnums=("params.b.c", "x"))(params, 3.0) == (3.0, 11.0)
    assert params == {"w": 1.5, "b": {"c": 2, "d": "text"}}
    assert isinstance(params["b"]["c"], int)  # type: ignore[index]


def test_a_field_of_an_instance() -> None:
    layer = Layer(2.0, 3)
    assert grad(layer_loss, argnums="layer.b")(layer, 5.0) == 6.0
    assert grad(layer_loss, argnums=("layer.w", "layer.b"))(layer, 5.0) == (5.0, 6.0)
    assert layer == Layer(2.0, 3) and isinstance(layer.b, int)


def test_an_item_of_a_tuple() -> None:
    def f(pair: Pair, items: tuple[Any, ...]) -> Any:
        return np.sum(pair.left * items[1]) * pair[1]

    pair, items = Pair(np.ones(2), 3.0), (0.0, np.array([1.0, 2.0]))
    assert grad(f, argnums="pair.left")(pair, items).tolist() == [3.0, 6.0]
    assert grad(f, argnums="pair.1")(pair, items) == 3.0
    assert grad(f, argnums="items.1")(pair, items).tolist() == [3.0, 3.0]


def test_what_reads_the_whole_argument_sees_the_part() -> None:
    def f(params: dict[str, float], layer: Layer) -> float:
        return sum(v * v for v in params.values()) + layer_loss(layer, params["a"])

    layer = Layer(2.0, 3.0)
    assert grad(f, argnums="params.a")({"a": 1.0, "b": 5.0}, layer) == 4.0
    assert grad(f, argnums="layer.w")({"a": 1.0, "b": 5.0}, layer) == 1.0


def test_a_part_in_a_pullback() -> None:
    def f(params: dict[str, Any], x: Any) -> Any:
        return params["w"] * x

    y, pullback = vjp(f, {"w": np.array([2.0, 3.0])}, 4.0, argnums=("params.w", "x"))
    assert y.tolist() == [8.0, 12.0]
    w_bar, x_bar = pullback(np.array([1.0, 10.0]))
    assert w_bar.tolist() == [4.0, 40.0] and x_bar == 32.0
    assert pullback(np.array([1.0, 10.0]))[0] is not w_bar


@pytest.mark.parametrize("argnums, args, message", [
    ("params.z", ({"w": 1.0}, 1.0), "params has no part 'z'; it has w"),
    ("params.w.u", ({"w": 1.0}, 1.0), "params.w is a float, of which no part can be named"),
    ("params.0", ([1.0], 1.0), "params is a list, of which no part can be named"),
    ("params.w", ({"w": "text"}, 1.0), "respect to params.w, which is a str"),
    ("params.w", ({"w": True}, 1.0), "respect to params.w, which is a bool"),
])
def test_parts_that_do_not_exist(argnums: str, args: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        grad(lambda params, x: params["w"] * x, argnums=argnums)(*args)


def test_parts_named_twice() -> None:
    for argnums in (("params", "params.w"), ("params.w", "params.w"), ("params.b.c", "params.b")):
        with pytest.raises(ValueError, match="names an argument twice"):
            grad(affine, argnums=argnums)


# --- cotangents with structure ----------------------------------------------------------------


def tuple_result(x: Any) -> Any:
    return x * 2.0, [x, x * x]


def dict_result(x: Any) -> Any:
    return {"double": 2.0 * x, "n": 3, "square": x * x}


def layer_result(x: Any) -> Any:
    return Layer(2.0 * x, x * x)


@pytest.mark.parametrize("function, cotangent, wanted", [
    (tuple_result, (1.0, [1.0, 1.0]), 2.0 + 1.0 + 6.0),
    (tuple_result, (None, [None, 1.0]), 6.0),
    (tuple_result, (1.0, None), 2.0),
    (dict_result, {"square": 1.0, "n": None, "double": 1.0}, 8.0),
    (dict_result, {"double": None, "n": 0.0, "square": 1.0}, 6.0),
    (layer_result, Layer(1.0, 10.0), 62.0),
    (layer_result, Layer(None, 10.0), 60.0),
    (layer_result, SimpleNamespace(w=1.0, b=10.0), 62.0),
])
def test_cotangents_of_structures(
    function: Callable[[Any], Any], cotangent: Any, wanted: float
) -> None:
    value, pullback = vjp(function, 3.0)
    assert value == function(3.0)
    assert pullback(cotangent) == (wanted,)
    assert pullback(cotangent) == (wanted,)


@pytest.mark.parametrize("function, cotangent, error, message", [
    (tuple_result, (1.0,), TypeError, "the cotangent must be a tuple of 2.*got a tuple of 1"),
    (tuple_result, 1.0, TypeError, "must be a tuple of 2, as the value is; got a float"),
    (tuple_result, (1.0, [1.0]), TypeError, r"the cotangent\[1\] must be a list of 2"),
    (tuple_result, (1.0, [1.0, "a"]), TypeError, r"the cotangent\[1\]\[1\] must be a number"),
    (dict_result, {"double": 1.0}, TypeError, "a dict with the keys double, n, square"),
    (dict_result, (1.0, 2.0, 3.0), TypeError, "got a tuple of 3"),
    (layer_result, {"w": 1.0, "b": 1.0}, TypeError, "must be a Layer, or a namespace, with the"),
    (layer_result, SimpleNamespace(w=1.0), TypeError, "with the attributes w, b, name"),
    (layer_result, Layer(np.ones(2), 1.0), ValueError, r"the cotangent.w has shape \(2,\)"),
    (lambda x: x * np.ones(3), np.ones(2), ValueError, r"shape \(2,\), but .* has shape \(3,\)"),
    (lambda x: x * np.ones(3), 1.0, ValueError, r"shape \(\), but .* has shape \(3,\)"),
    (lambda x: x * x, None, TypeError, "must be a number, as the value is; got None"),
    (lambda x: x * np.ones(3), [1.0, 2.0, 3.0], TypeError, "an array of shape .*; got a list"),
])
def test_cotangents_that_do_not_fit(
    function: Callable[[Any], Any], cotangent: Any, error: type[Exception], message: str
) -> None:
    _, pullback = vjp(function, 3.0)
    with pytest.raises(error, match=message):
        pullback(cotangent)
