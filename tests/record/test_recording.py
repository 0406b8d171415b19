"""Recordings give the value, the derivatives and the effects of the function that they run."""

from __future__ import annotations

import copy
import functools
import math
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hvp, jacobian, jvp, rrule, value_and_grad, vjp
from adcompiler.ops.registry import REGISTRY
from tests.state import check_state

X = np.array([0.3, 0.7, 1.1])


def slopes(function: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Return the gradient by central differences."""
    unit = np.eye(x.size).reshape(x.size, *x.shape) * step
    return np.array([(function(x + d) - function(x - d)) / (2 * step) for d in unit]).reshape(
        x.shape)


def mixture(x):
    y = x * 2.0
    y[1:] *= x[:-1]
    y[0] = np.sum(x) ** 2
    s = 0.0
    for i in range(3):
        s += math.sin(x[i]) * x[0] / (1 + x[1] ** 2)
    z = np.array([s, x[0] * s, 1.0])
    matrix = np.outer(x, x) + 3 * np.eye(3)
    y /= 2 + x
    return (np.dot(z, y) + np.linalg.norm(y) * np.exp(-x).sum() + np.linalg.solve(matrix, z) @ x
            + np.tanh(matrix @ x).mean() + x[0] ** x[1])


def picks_and_sorts(x):
    kept = sorted(x, key=lambda v: -v)
    table = {"a": [kept[0]], "b": max(x)}
    table["a"].append(table["b"] * kept[-1])
    first, *rest = table["a"]
    return first * sum(v * v for v in rest) + min(kept) + float(x[1]) ** 3


class Net:
    """A model that counts its calls, with a function among its attributes."""

    scale = 2.0

    def __init__(self):
        self.weights = [np.eye(3) * 0.5, np.ones((3, 3)) * 0.1]
        self.act = np.tanh
        self.calls, self.last = 0, None

    def forward(self, x):
        self.calls += 1
        for weight in self.weights:
            x = self.act(weight @ x) * self.scale
        self.last = x
        return x


def of_a_net(x):
    net = Net()
    first = net.forward(x)
    return np.sum(net.forward(first) * net.last) * net.calls


def views_and_writes(x):
    y = np.zeros((2, 3))
    flat = y.reshape(-1)
    flat[1:4] = x
    y[:, 0] += x[:2]
    y.T[2] = np.sin(y[0, :2])
    np.add.at(flat, [0, 0, 5], x)
    back = y[::-1, ::-1]
    back *= 3.0
    return np.sum(y ** 2) + flat[4] * x[2]


def with_generators(x):
    def pairs(values):
        previous = None
        for value in values:
            if previous is not None:
                yield previous, value
            previous = value

    total = 1.0
    try:
        for a, b in pairs(x):
            total = total * (a + b * b)
            if total > 100.0:
                raise OverflowError(total)
    except OverflowError as error:
        total = error.args[0] * 2.0
    return total


PROGRAMS = (mixture, picks_and_sorts, of_a_net, views_and_writes, with_generators)


@pytest.mark.parametrize("function", PROGRAMS)
def test_gradient(function):
    value, found = value_and_grad(function, backend="record")(X)
    assert value == function(X)
    assert np.allclose(found, slopes(function, X), rtol=1e-6, atol=1e-8)
    again, pullback = vjp(function, X, backend="record")
    assert again == value
    assert np.array_equal(pullback(1.0)[0], found)
    assert np.array_equal(pullback(2.0)[0], 2.0 * found)


@pytest.mark.parametrize("function", PROGRAMS)
def test_forward_mode_agrees_with_reverse_mode(function):
    along = np.array([1.0, -2.0, 0.5])
    value, slope = jvp(function, (X,), (along,), backend="record")
    assert value == function(X)
    assert slope == pytest.approx(grad(function, backend="record")(X) @ along, rel=1e-12)


@pytest.mark.parametrize("function", PROGRAMS)
def test_second_derivatives(function):
    along, step = np.array([1.0, -2.0, 0.5]), 1e-5
    found = hvp(function, X, along, backend="record")
    plus, minus = (grad(function, backend="record")(X + t * along) for t in (step, -step))
    assert np.allclose(found, (plus - minus) / (2 * step), rtol=1e-5, atol=1e-6)


def test_jacobian_by_both_modes():
    def function(x):
        return np.outer(x, x)[0] * np.sin(x)

    wanted = jacobian(function)(X)
    for mode in ("auto", "forward", "reverse"):
        found = jacobian(function, mode=mode, backend="record")(X)
        assert np.allclose(found, wanted, rtol=1e-12)


def test_structures_of_arguments():
    def function(params, rest):
        return params["w"] @ params["parts"][0] + params["parts"][1] ** 2 * rest

    params = {"w": X, "parts": [X * 2, 1.5]}
    found = grad(function, argnums=(0, 1), backend="record")(params, 3.0)
    assert np.array_equal(found[0]["w"], X * 2)
    assert np.array_equal(found[0]["parts"][0], X)
    assert found[0]["parts"][1] == 2 * 1.5 * 3.0
    assert found[1] == 1.5 ** 2


def test_one_array_in_two_places_has_a_cotangent_for_each():
    def product(a, b):
        return np.sum(a * a * b)

    first, second_ = grad(product, argnums=(0, 1), backend="record")(X, X)
    assert np.allclose(first, 2 * X * X, rtol=1e-15)
    assert np.allclose(second_, X * X, rtol=1e-15)

    def writes(a, b):
        a[0] = 3.0 * b[1]
        return np.sum(a * b)

    value, found = value_and_grad(writes, argnums=(0, 1), backend="record")(X, X)
    again = X.copy()
    assert value == writes(again, again)

    def total(x):
        x = x.copy()
        return writes(x, x)

    assert np.allclose(found[0] + found[1], slopes(total, X), rtol=1e-7)


CALLS: list[float] = []


def test_state_is_left_as_the_function_leaves_it():
    def function(box, x):
        box["seen"] = box.get("seen", 0) + 1
        box["last"] = 7.0
        x[0] = 2.0
        CALLS.append(1.0)
        return np.sum(x ** 2)

    check_state(function, lambda *a: vjp(function, *a, argnums=1, backend="record"),
                ({}, X.copy()), leaves_args=False)
    check_state(function, grad(function, argnums=1, backend="record"), ({}, X.copy()),
                leaves_args=True)


MEMO: dict[str, Any] = {}


def test_what_a_former_call_has_left_is_no_constant():
    def function(x):
        if "s" not in MEMO:
            MEMO["s"] = np.sum(x * x)
        return MEMO["s"] * 2.0

    MEMO.clear()
    derivative = grad(function, backend="record")
    assert np.array_equal(derivative(X), 4 * X)
    with pytest.raises(UnsupportedError, match="kept outside of the function"):
        derivative(X)


def test_an_array_that_a_former_call_has_left_is_no_constant():
    """Elements that this call has written are its own; what it has not is refused when read."""
    def memo(x):
        if "a" not in MEMO:
            MEMO["a"] = x * x
        return np.sum(MEMO["a"])

    def table(x):
        if "t" not in MEMO:
            MEMO["t"] = np.zeros(2)
            MEMO["t"][0] = x[0] ** 2
        MEMO["t"][1] = x[1]
        return MEMO["t"][0] + MEMO["t"][1]

    for function in (memo, table):
        MEMO.clear()
        derivative = grad(function, backend="record")
        assert np.array_equal(derivative(X), slopes_of[function.__name__])
        with pytest.raises(UnsupportedError, match="kept outside of the function"):
            derivative(X)
    buffer = np.zeros(3)

    def work(x):
        for i in range(3):
            buffer[i] = x[i] ** 2
        return np.sum(buffer)

    derivative = grad(work, backend="record")
    for _ in range(3):
        assert np.array_equal(derivative(X), 2 * X)


slopes_of = {"memo": 2 * X, "table": np.array([2 * X[0], 1.0, 0.0])}
STATE = {"a": 1.0}


def cubic(t):
    return t ** 3 - STATE["a"]


def test_callbacks_that_read_active_values_by_globals_are_refused():
    from scipy.optimize import brentq

    def root(x):
        STATE["a"] = x * 2.0
        return brentq(lambda t: cubic(t), 0.0, 5.0)

    with pytest.raises(UnsupportedError, match="nothing is known"):
        grad(root, backend="record")(4.0)


def test_a_rule_that_is_registered_later_is_taken():
    def inner(x):
        return x * x

    def function(x):
        return inner(x)

    derivative = grad(function, backend="record")
    assert derivative(3.0) == 6.0
    rrule(inner)(lambda x: (x * x, lambda dz: dz * 100.0))
    try:
        assert derivative(3.0) == 100.0
    finally:
        REGISTRY.remove(inner)


def test_unknown_functions_in_c_are_refused_with_the_line():
    import zlib

    def function(x):
        return zlib.crc32(x) + x[0]

    with pytest.raises(UnsupportedError, match=r"test_recording\.py:\d+:\d+: `zlib\.crc32`"):
        grad(function, backend="record")(X)


def test_numbers_do_not_come_back_from_text():
    def function(x):
        return float(str(x[0])) * x[1]

    with pytest.raises(UnsupportedError, match="written as text"):
        grad(function, backend="record")(X)


def ruled(x, y):
    return x * y


def test_rules_of_users_are_taken():
    def function(x):
        return functools.reduce(ruled, [x, 3.0]) + functools.partial(ruled, x)(y=4.0)

    rrule(ruled)(lambda x, y: (x * y, lambda dz: (dz * y * 10.0, dz * x)))
    try:
        assert grad(function, backend="record")(0.7) == 70.0
    finally:
        REGISTRY.remove(ruled)


def test_zero_stays_zero_through_an_infinite_slope():
    def function(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0)) + math.sqrt(x[0]) * 0.0

    assert np.array_equal(
        grad(function, backend="record")(np.array([0.0, 4.0])), [0.0, 0.25])


def w_size(z, x):
    """Return the size of what cancels in the gradient below."""
    return 4.0 * (abs(z) + abs(complex(x, 2.0)))


def test_a_function_of_two_kinds_of_numbers():
    def function(z, x):
        w = z * np.exp(1j * x) + complex(x, 2.0)
        return abs(w) ** 2 + (w.real - w.imag) * x

    z, x = 0.5 + 0.25j, np.float32(1.5)
    found = grad(function, argnums=(0, 1), backend="record")(z, x)
    wanted = grad(function, argnums=(0, 1))(z, x)
    assert found[0] == pytest.approx(wanted[0], rel=1e-6)
    assert abs(found[1] - wanted[1]) < 4 * np.finfo(np.float32).eps * abs(w_size(z, x))
    assert type(found[0]) is complex and type(found[1]) is np.float32


class Missing:
    """What stands for an argument that is not given."""


MISSING = Missing()


def scaled(x, factor=MISSING):
    return 2.0 * x if factor is MISSING else factor * x


def test_marks_are_themselves() -> None:
    assert value_and_grad(scaled, backend="record")(3.0) == (6.0, 2.0)
    assert value_and_grad(scaled, backend="record")(3.0, 5.0) == (15.0, 5.0)
    assert vjp(scaled, 3.0, MISSING, argnums=0, backend="record")[1](1.0) == 2.0


def test_quotients_of_numpys_numbers_by_zero_do_not_raise() -> None:
    def quotient(x):
        r = math.sqrt(x[1] * x[1])
        return x[0] / r if x[2] > 0 else np.sum(x / int(r))

    x = np.array([2.0, 0.0, 1.0])
    with np.errstate(all="ignore"):
        value, slopes = value_and_grad(quotient, backend="record")(x)
        assert value == math.inf and slopes[0] == math.inf
        value, slopes = value_and_grad(quotient, backend="record")(-x)
    assert math.isnan(value) and slopes[2] == math.inf


def crossed(a, b):
    a[0] = b[1] * b[0]
    b[1] *= 2.0
    return np.sum(a * b)


def test_one_array_given_twice_is_one_once_it_is_written() -> None:
    x = np.array([1.0, 2.0, 3.0])
    for argnums, wanted in ((0, [8.0, 20.0, 6.0]), (1, [8.0, 20.0, 6.0])):
        assert np.array_equal(grad(crossed, argnums, backend="record")(x, x), wanted)
    first, second = grad(crossed, (0, 1), backend="record")(x, x)
    assert np.array_equal(first, [8.0, 20.0, 6.0]) and np.array_equal(second, np.zeros(3))
    y = x.copy()
    assert np.array_equal(vjp(crossed, y, y, backend="record")[1](1.0)[0], [8.0, 20.0, 6.0])
    assert np.array_equal(y, [2.0, 4.0, 3.0])
    with pytest.raises(UnsupportedError, match="overlaps another argument"):
        jvp(crossed, (x, x), (x, x), backend="record")
    long = np.arange(4.0)
    with pytest.raises(UnsupportedError, match="overlaps another argument"):
        grad(crossed, backend="record")(long[:3], long[1:])


def test_a_generator_that_is_given_has_drawn_what_the_function_drew() -> None:
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    value, _ = vjp(lambda x, rng: x * rng.normal(), 2.0, rng, argnums=0, backend="record")
    assert value == 2.0 * other.normal()
    assert rng.bit_generator.state == other.bit_generator.state


def test_powers_that_numpy_has_no_number_for_have_no_slope() -> None:
    with np.errstate(all="ignore"):
        assert math.isnan(grad(lambda x: np.power(x, 0.5), backend="record")(-2.0))


def test_a_function_of_scikit_learn_behind_its_validation() -> None:
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")

    def function(x, y):
        return np.sum(pairwise.euclidean_distances(x, y))

    x, y = np.random.default_rng(0).normal(size=(2, 4, 3))
    apart = x[:, None] - y[None]
    wanted = np.sum(apart / np.linalg.norm(apart, axis=2)[..., None], axis=1)
    derivative = grad(function, backend="record")
    assert np.allclose(derivative(x, y), wanted, rtol=1e-10)
    assert derivative.explain(x, y).ops < 30


class Stated:
    def __init__(self, x):
        self.x, self.parts = x, [x * 2.0, {"k": x * 3.0}]

    def __setstate__(self, state):
        self.x, self.parts = state["x"] * 4.0, state["parts"]


class Reduced(Stated):
    def __getstate__(self):
        return {"x": self.x * 5.0, "parts": self.parts}


class Liar:
    def __init__(self, x):
        self.x = x

    @property
    def __class__(self):
        return type


def test_copies_are_what_the_module_for_them_makes() -> None:
    def copied(x):
        one, objects = copy.deepcopy(Stated(x)), np.array([x * 1.0, [x]], object)
        other = copy.deepcopy(objects)
        other[1][0] = 7.0
        return one.x + one.parts[1]["k"] + copy.copy(Stated(x)).parts[0] + other[0] * objects[1][0]

    assert grad(copied, backend="record")(0.5) == 10.0
    assert grad(lambda x: Liar(x).x * 3.0, backend="record")(0.5) == 3.0
    with pytest.raises(UnsupportedError, match="__getstate__"):
        grad(lambda x: copy.deepcopy(Reduced(x)).x, backend="record")(0.5)
