"""``vmap``: what a loop over examples gives, at once where that is known, with derivatives."""

from __future__ import annotations

import copy
import math
import pickle
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

import adcompiler
from adcompiler import (
    UnsupportedError, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp, vmap,
)

RNG = np.random.default_rng(0)
X, Y, S = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4)), RNG.normal(size=5)
W, A = RNG.normal(size=(3, 4)), RNG.normal(size=(5, 4, 4))
F, B, N, Z = X.astype(np.float32), X > 0, np.arange(5), X + 1j * Y
Pair = namedtuple("Pair", "a b")


def layer(W, x):
    return np.tanh(W @ x)


def loss(W, x, y):
    return np.sum((layer(W, x) - y) ** 2)


def by_loop(f, args, axes):
    rows = [
        f(*(a if k is None else np.moveaxis(a, k, 0)[i] for a, k in zip(args, axes, strict=True)))
        for i in range(5)
    ]
    return put_together(rows)


def put_together(rows):
    if isinstance(rows[0], tuple):
        parts = [put_together(list(part)) for part in zip(*rows, strict=True)]
        return Pair(*parts) if isinstance(rows[0], Pair) else tuple(parts)
    if isinstance(rows[0], dict):
        return {key: put_together([row[key] for row in rows]) for key in rows[0]}
    return np.stack(rows)


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, (tuple, dict)):
        pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else (
            (found[key], expected[key]) for key in expected)
        for a, b in pairs:
            same(a, b)
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-14, equal_nan=True)


def is_at_once(mapped):
    return "for i in range(count)" not in mapped.source


def rebuilt(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] ** 2 + i
    y[1:] += x[:-1]
    return y


def recurrent(x):
    h = np.zeros(4)
    for t in range(4):
        h = np.tanh(0.5 * h + x[t])
    return h


AT_ONCE = [
    (layer, (W, X), (None, 0)), (loss, (W, X, Y[:, :3]), (None, 0, 0)),
    (lambda x: x, (X,), (0,)), (lambda x: (x, x[1:]), (X,), (0,)),
    (lambda x: np.ones(3), (X,), (0,)),
    (lambda x, y: (np.outer(x, y), x @ y), (X, Y), (0, 0)), (lambda a: a.T @ a, (A,), (0,)),
    (lambda a, x: (a @ x, x @ a, x @ a @ x, np.linalg.solve(a, x)), (A, X), (0, 0)),
    (lambda a: (np.linalg.det(a), np.linalg.norm(a)), (A,), (0,)),
    (lambda x: np.max(x) - np.std(x) + np.prod(x) + np.argmax(x), (X,), (0,)),
    (lambda a: a.max(axis=0) + a.sum(axis=-1) + np.linalg.norm(a, axis=1), (A,), (0,)),
    (lambda x: special.softmax(x) + special.logsumexp(x), (X,), (0,)),
    (lambda x: np.where(x > 0, x, -1.0) + np.clip(x, -0.5, 0.5), (X,), (0,)),
    (lambda x: x * 2.0 + np.float32(1), (F,), (0,)),
    (lambda n: (n * 2 // 3, n % 3, n / 3), (N,), (0,)),
    (lambda b: ~b & b, (B,), (0,)), (lambda z: z * z.conj() + z.real, (Z,), (0,)),
    (lambda s: 1.0 / float(s), (S,), (0,)), (lambda s: math.sin(s) * s, (S,), (0,)),
    (lambda x: np.array([x[0], 1.0, x[1]]), (X,), (0,)),
    (lambda x: np.concatenate([x, x]), (X,), (0,)),
    (lambda x: x.reshape(-1, 2).sum(axis=0) + x.shape[0], (X,), (0,)), (rebuilt, (X,), (0,)),
    (recurrent, (X,), (0,)), (lambda x, k: x * k if k > 1 else x, (X, 2.0), (0, None)),
    (grad(lambda x: np.sum(np.sin(x)) * x[0]), (X,), (0,)), (lambda a: a * S[0], (A,), (2,)),
    (grad(lambda x, s: np.sum(np.sin(x * s)) + s * s, argnums=(0, 1)), (X, S), (0, 0)),
]


def branches(x):
    if x[0] > 0:
        return x
    return -2.0 * x


def stops(x):
    total = 0.0
    for v in x:
        if v < 0:
            break
        total += v
    return total


def halves(x):
    while np.sum(x * x) > 0.1:
        x = x / 2
    return x


def tries(s):
    try:
        return math.sqrt(s)
    except ValueError:
        return 0.0


BY_LOOP = [
    (branches, (X,), (0,)), (stops, (X,), (0,)), (halves, (X,), (0,)), (tries, (S,), (0,)),
    (lambda x: x[np.argmax(x)], (X,), (0,)), (lambda x: np.sum(x[x > 0]), (X,), (0,)),
    (lambda s: int(100 * s) ** 9 % 7, (S,), (0,)), (lambda x: np.sort(x), (X,), (0,)),
    (lambda x, s: x * float(s), (F, S), (0, 0)),
    (lambda x: {"a": x, "b": (x.sum(), 1)}, (X,), (0,)),
    (hessian(lambda x: np.sum(np.sin(x)) * x[0]), (X,), (0,)),
    (lambda x: Pair(x, x[0]), (X,), (0,)),
]


@pytest.mark.parametrize(("cases", "at_once"), [(AT_ONCE, True), (BY_LOOP, False)])
def test_it_gives_what_a_loop_gives(cases, at_once):
    for f, args, axes in cases:
        if axes == (2,):
            args = (np.moveaxis(A, 0, 2).copy(),)
        mapped = vmap(f, axes)
        given = copy.deepcopy(args)
        same(mapped(*given), by_loop(f, args, axes))
        assert all(np.array_equal(a, b) for a, b in zip(given, args, strict=True))
        assert is_at_once(mapped) == at_once, mapped.source


def test_results_are_arrays_of_their_own():
    for f in (lambda x: x, lambda x: (x, x), lambda x: x[1:], lambda x: x.T):
        for part in (found if isinstance(found := vmap(f)(X), tuple) else (found,)):
            assert not np.shares_memory(part, X) and part.flags.writeable
    first, second = vmap(lambda x: (x, x))(X)
    assert not np.shares_memory(first, second)
    x = X.copy()

    def written(x):
        y = vmap(lambda row: row)(x)
        y[0] = 0.0
        return np.sum(y * x)

    assert np.array_equal(grad(written)(x)[0], np.zeros(4))
    assert np.array_equal(x, X)


def test_gradients_of_each_example():
    y = Y[:, :3]
    each = vmap(grad(loss), (None, 0, 0))
    h = np.tanh(X @ W.T)
    expected = np.einsum("ni,nj->nij", 2 * (h - y) * (1 - h * h), X)
    assert np.allclose(each(W, X, y), expected, rtol=1e-12)
    assert is_at_once(each)
    values, slopes = vmap(value_and_grad(loss), (None, 0, 0))(W, X, y)
    assert np.allclose(values, [loss(W, x, t) for x, t in zip(X, y, strict=True)])
    assert np.array_equal(slopes, each(W, X, y))


def test_of_products_and_second_derivatives():
    def f(x):
        return np.sum(np.sin(x)) * x[0]

    for along in (
        lambda x, v: jvp(f, (x,), (v,))[1], lambda x, v: hvp(f, x, v),
        lambda x, v: vjp(np.sin, x)[1](v)[0], lambda x, v: jacobian(np.sin)(x) @ v,
    ):
        expected = [along(x, v) for x, v in zip(X, Y, strict=True)]
        same(vmap(along)(X, Y), np.stack(expected))
    same(vmap(jacobian(np.sin))(X), np.stack([np.diag(np.cos(x)) for x in X]))


def test_under_derivatives():
    def whole(W):
        return np.sum(vmap(layer, (None, 0))(W, X) ** 2)

    def plain(W):
        return np.sum(np.tanh(X @ W.T) ** 2)

    assert np.allclose(grad(whole)(W), grad(plain)(W), rtol=1e-12)
    assert "for " not in grad(whole).source_for(W)
    assert np.allclose(hessian(whole)(W), hessian(plain)(W), rtol=1e-10)
    assert np.allclose(jvp(whole, (W,), (W,))[1], jvp(plain, (W,), (W,))[1], rtol=1e-12)
    assert np.allclose(jacobian(vmap(np.sin))(S), np.diag(np.cos(S)))
    for f in (branches, stops, halves):  # by a loop
        x_bar = grad(lambda x, f=f: np.sum(vmap(f)(x)))(X)
        assert np.allclose(x_bar, [grad(lambda r, f=f: np.sum(f(r)))(r) for r in X])
    norms = grad(lambda W: np.sum(vmap(grad(loss), (None, 0, 0))(W, X, Y[:, :3]) ** 2))
    step = 1e-6 * RNG.normal(size=W.shape)
    total = lambda W: np.sum(vmap(grad(loss), (None, 0, 0))(W, X, Y[:, :3]) ** 2)  # noqa: E731
    assert np.isclose(np.sum(norms(W) * step), (total(W + step) - total(W - step)) / 2, rtol=1e-6)


def test_axes_of_containers_and_results():
    def f(p, x):
        return {"y": p["w"] @ x + p["b"], "n": 1.0}

    b = RNG.normal(size=(5, 3))
    mapped = vmap(f, ({"w": None, "b": 0}, 1), {"y": 1, "n": 0})
    found = mapped({"w": W, "b": b}, X.T)
    assert np.allclose(found["y"], (X @ W.T + b).T) and np.array_equal(found["n"], np.ones(5))
    same(vmap(lambda x: 2 * x, 1, 1)(X), 2 * X)
    same(vmap(lambda x: 2 * x, -1, -1)(X), 2 * X)
    assert np.array_equal(vmap(lambda x, y: np.sum(y), (0, None), None)(X, Y[0]), np.sum(Y[0]))
    table = vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))(S, S)
    assert np.array_equal(table, np.outer(S, S))
    with pytest.raises(ValueError, match="not the same for all examples"):
        vmap(np.sum, 0, None)(X)


def test_arguments_given_by_name_and_left_to_defaults():
    def f(x, scale=2.0, *, shift=0.0):
        return x * scale + shift

    same(vmap(f)(S), 2 * S)
    same(vmap(f)(S, S), S * S)
    same(vmap(f)(S, shift=S), 3 * S)
    assert np.array_equal(grad(lambda s: np.sum(vmap(f)(s)))(S), np.full(5, 2.0))
    assert np.array_equal(jacobian(vmap(f))(S), 2 * np.eye(5))
    same(vmap(lambda *parts: parts[0] * parts[1])(S, S), S * S)


@dataclass
class Model:
    w: np.ndarray
    name: str = "model"

    def __call__(self, x):
        return self.w @ x


def test_instances_are_mapped_one_by_one():
    many = Model(np.stack([W] * 5))
    found = vmap(lambda m, x: Model(m(x), None), (Model(0, None), 0))(many, X)
    assert isinstance(found, Model)
    assert np.allclose(found.w, X @ W.T)
    same(vmap(lambda m, x: m(x), (None, 0))(Model(W), X), X @ W.T)


def test_effects_are_those_of_a_loop():
    seen, rng = [], np.random.default_rng(3)

    def noted(x):
        seen.append(float(x))
        return x + rng.normal()

    found = vmap(noted)(S)
    assert seen == list(S)
    assert np.array_equal(found, S + np.random.default_rng(3).normal(size=5))

    def writes(x):
        x[0] = 7.0
        return x * 2.0

    x = X.copy()
    found = vmap(writes)(x)
    assert np.array_equal(x[:, 0], np.full(5, 7.0)) and np.array_equal(found, 2 * x)


def test_numbers_of_python_raise_as_in_a_loop():
    with pytest.raises(ZeroDivisionError):
        vmap(lambda s: 1.0 / float(s))(np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match=r"math domain|nonnegative"):
        vmap(math.sqrt)(np.array([1.0, -1.0]))
    with np.errstate(divide="ignore"):
        assert vmap(lambda s: 1.0 / s)(np.array([1.0, 0.0]))[1] == np.inf


@pytest.mark.filterwarnings("error")
def test_what_does_not_fit_is_refused_before_it_runs():
    cases = [
        ((layer, (None, 0)), (W, X[0][0]), "no array"), ((layer, (None, 2)), (W, X), "has 2 axes"),
        ((layer, (0, 0)), (W, X), "different numbers of examples"),
        ((layer, (0,)), (W, X), "has 1 entries"), ((layer, None), (W, X), "needs an argument"),
        ((np.sin, 0), (np.zeros((0, 2)),), "no examples"),
        ((np.sin, 0, 3), (X,), "none is 3"), ((lambda x: x[x > 0],), (X,), "same shape"),
    ]
    for made, args, message in cases:
        with pytest.raises(ValueError, match=message):
            vmap(*made)(*args)
    with pytest.raises(TypeError, match="axes are an int"):
        vmap(np.sin, "a")
    with pytest.raises(TypeError, match="not stacked"):
        vmap(lambda x: "text")(X)
    with pytest.raises(ValueError, match="different numbers of examples"):
        grad(lambda x, y: np.sum(vmap(lambda a, b: a * b)(x, y)))(np.ones(5), np.ones(1))
    with pytest.raises(UnsupportedError, match="has 1 axes"):
        grad(lambda x: np.sum(vmap(np.sin, 1)(x)), fallback="refuse")(S)


def test_it_is_an_object_like_a_derivative():
    mapped = vmap(layer, (None, 0))
    assert repr(mapped) == "<vmap of layer>"
    same(pickle.loads(pickle.dumps(mapped))(W, X), mapped(W, X))
    assert "x @ W.T" in mapped.source_for(W, X)
    assert "vmap" in adcompiler.__all__


def of_layers(layers, x, y):
    (first, bias), (second, scale) = layers
    return np.sum((np.tanh(x @ first + bias) @ second * scale - y) ** 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients_in_tuples_are_of_all_examples_at_once(dtype):
    rng = np.random.default_rng(0)
    first, bias, second = (rng.normal(size=n).astype(dtype) for n in ((3, 4), (4,), (4, 2)))
    layers = (first, bias), (second, 0.5)
    X, Y = rng.normal(size=(5, 3)).astype(dtype), rng.normal(size=(5, 2)).astype(dtype)
    each = vmap(grad(of_layers), (None, 0, 0))
    found = each(layers, X, Y)
    assert "for " not in each.source
    for i in range(5):
        wanted = grad(of_layers)(layers, X[i], Y[i])
        for pair, other in zip(found, wanted, strict=True):
            assert type(pair) is type(other) is tuple
            for one, slope in zip(pair, other, strict=True):
                assert one[i] == pytest.approx(slope, rel=1e-12 if dtype is np.float64 else 1e-5)
                assert one.dtype == (np.asarray(slope).dtype if one.ndim > 1 else one.dtype)
    assert found[0][0].flags.writeable and not np.shares_memory(found[0][0], first)


def test_gradients_in_tuples_inside_of_others():
    def slopes(scale, layers, x, y):
        (one, other), _ = grad(of_layers)(layers, x * scale, y)
        return np.sum(one) * scale + np.sum(other)

    rng = np.random.default_rng(1)
    layers = (rng.normal(size=(3, 4)), rng.normal(size=4)), (rng.normal(size=(4, 2)), 0.5)
    x, y, step = rng.normal(size=3), rng.normal(size=2), 1e-6
    wanted = (slopes(0.7 + step, layers, x, y) - slopes(0.7 - step, layers, x, y)) / (2 * step)
    assert grad(slopes)(0.7, layers, x, y) == pytest.approx(wanted, rel=1e-7)
    moved = hvp(lambda p: of_layers(p, x, y), layers, layers)
    ends = [grad(of_layers)(tuple((a * s, b * s) for a, b in layers), x, y)
            for s in (1 + step, 1 - step)]
    for pair, up, down in zip(moved, *ends, strict=True):
        for found, high, low in zip(pair, up, down, strict=True):
            assert found == pytest.approx((high - low) / (2 * step), rel=1e-6, abs=1e-6)
