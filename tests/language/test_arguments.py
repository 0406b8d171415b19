"""Arguments that are containers, argnums by name, has_aux, integers, mixed kinds."""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp
from tests.language.check import Cases, check

programs = Cases()
V = np.array([0.5, -1.5, 2.0])
Pair = namedtuple("Pair", "left right")


class Params(NamedTuple):
    w: np.ndarray
    b: float
    inner: Pair


@programs((0.5, V))
def tuple_argument(p):
    return p[0] * np.sum(p[1] ** 2)


@programs([0.5, 1.5, 2.5])
def list_argument(p):
    return p[0] * p[1] + p[2] ** 2


@programs([V, V + 1.0])
def list_of_arrays_argument(p):
    return p[0] @ p[1] + np.sum(p[0])


@programs({"w": V, "b": 0.5, "name": "layer"})
def dict_argument(p):
    return np.sum(p["w"] * p["b"]) + p["b"] ** 2


@programs({"layers": [{"w": V, "b": 1.0}, {"w": V * 2, "b": 0.5}], "scale": 2.0})
def nested_argument(p):
    total = 0.0
    for layer in p["layers"]:
        total = total + np.sum(layer["w"] ** 2) * layer["b"]
    return total * p["scale"]


@programs(Params(V, 0.5, Pair(1.5, V + 1.0)))
def namedtuple_argument(p):
    return np.sum(p.w * p.inner.right) * p.b + p.inner.left * p[1]


@programs([(V, 0.5), (V + 1.0, 1.5)], V)
def layers(params, x):
    for w, b in params:
        x = np.tanh(w * x + b)
    return np.sum(x)


@programs((0.5, 2, "text", None, True))
def tuple_with_other_things(p):
    return p[0] ** p[1] if p[4] and p[3] is None and p[2] == "text" else 0.0


@programs(((0.5, 1.5), [V, [V]]))
def deep(p):
    return p[0][1] * np.sum(p[1][0] * p[1][1][0]) + p[0][0]


@programs(())
def empty_tuple(p):
    return 3.0 + len(p)


@programs({}, 1.5)
def empty_dict(p, x):
    return x * x + len(p)


@programs([], 1.5)
def empty_list(p, x):
    return x * x + sum(p)


@programs([np.float64(0.5), np.float64(1.5)])
def list_of_numpy_scalars(p):
    return p[0] * p[1]


@programs((np.ones(2, np.float32), 1.5), tol=1e-3)
def float32_in_tuple(p):
    return np.sum(p[0] * 2.0) * p[1]


@programs({1: 0.5, 2: 1.5})
def integer_keys(p):
    return p[1] * p[2]


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


def polynomial(x, a=1.0, *, b=2.0):
    return a * x * x + b * x


def test_argnums():
    assert grad(polynomial)(3.0) == 8.0
    assert grad(polynomial, argnums=1)(3.0) == 9.0
    assert grad(polynomial, argnums="b")(3.0) == 3.0
    assert grad(polynomial, argnums=(1, 0))(3.0) == (9.0, 8.0)
    assert grad(polynomial, argnums=("b", "x"))(3.0, b=5.0) == (3.0, 11.0)
    assert grad(polynomial, argnums=(0,))(3.0) == (8.0,)
    value, pullback = vjp(polynomial, 3.0, argnums="x")
    assert (value, pullback(2.0)) == (15.0, 16.0)
    value, pullback = vjp(polynomial, 3.0, 1.0)
    assert (value, pullback(1.0)) == (15.0, (8.0, 9.0))


@pytest.mark.parametrize("argnums", [5, -4, "nope", (0, 0), (0, "x")])
def test_wrong_argnums_are_refused(argnums):
    with pytest.raises(ValueError):
        grad(polynomial, argnums=argnums)(1.0)


def with_aux(x):
    y = x * x
    return y * x, {"square": y, "n": 3, "text": f"{x}"}


def test_has_aux():
    g, aux = grad(with_aux, has_aux=True)(2.0)
    assert (g, aux) == (12.0, {"square": 4.0, "n": 3, "text": "2.0"})
    (value, aux), g = value_and_grad(with_aux, has_aux=True)(2.0)
    assert (value, g, aux["square"]) == (8.0, 12.0, 4.0)


def test_has_aux_needs_a_pair():
    with pytest.raises(TypeError):
        grad(lambda x: x * x, has_aux=True)(2.0)


def test_integers_count_as_floats():
    assert grad(lambda x: x * x)(3) == 6.0
    assert type(grad(lambda x: x * x)(3)) is float
    g = grad(lambda x: np.sum(x * x))(np.arange(3))
    assert g.dtype == np.float64 and np.array_equal(g, [0.0, 2.0, 4.0])
    assert grad(lambda p: p[0] * p[1])((3, 2)) == (2.0, 3.0)


@pytest.mark.parametrize("x", ["text", None, True, np.array([True])])
def test_other_things_cannot_be_differentiated(x):
    with pytest.raises(TypeError):
        grad(lambda x: 1.0)(x)


def kinds(x):
    if np.ndim(x) == 0:
        return x * x
    return np.sum(x**3)


def test_one_derivative_for_many_kinds_of_arguments():
    g = grad(kinds)
    for x in (1.5, np.float64(1.5), np.float32(1.5), np.array(1.5), V, V.reshape(1, 3), 2,
              V.astype(np.float32), 1.5):
        tol = 1e-3 if getattr(x, "dtype", None) == np.float32 else 1e-7
        if not isinstance(x, int):
            check(kinds, x, tol=tol)
        assert type(g(x)) is (float if isinstance(x, int) else type(x))


def test_subclasses_and_views_of_arrays():
    x = np.arange(12.0).reshape(3, 4)
    f = lambda x: np.sum(x**3)  # noqa: E731
    for view in (x.T, x[::2], x[:, ::-1], np.asfortranarray(x), np.broadcast_to(x[0], (5, 4))):
        assert np.array_equal(grad(f)(view), 3 * view**2)


def test_mapping_order_and_missing_keys():
    f = lambda d: d["a"] * d["b"]  # noqa: E731
    g = grad(f)
    assert g({"a": 2.0, "b": 3.0}) == {"a": 3.0, "b": 2.0}
    assert g({"b": 3.0, "a": 2.0}) == {"b": 2.0, "a": 3.0}
    assert g({"b": 3.0, "a": 2.0, "c": 1.0}) == {"b": 2.0, "a": 3.0, "c": 0.0}
    with pytest.raises(KeyError):
        g({"a": 1.0})
