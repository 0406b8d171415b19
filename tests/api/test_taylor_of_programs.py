"""Series of programs against nested forward mode, along paths, and what is emitted for them."""

import cmath
import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.integrate
import scipy.special

from adcompiler import UnsupportedError, jet, nth_derivative, source, taylor
from adcompiler.api.taylor import nested
from tests.lanes import one_in


# --- programs against nested forward mode ---------------------------------------------------------


def helper(x, y):
    if x > y:
        return x * y
    return math.sin(x) + y


def recursive(x, n):
    return x if n == 0 else recursive(math.sin(x) * x, n - 1) + x


def branches(x):
    total, i = 0.0, 0
    while total < 3.0:
        total = total + math.exp(x * i) / (1.0 + i)
        i += 1
        if i == 4:
            break
    return total * helper(x, 0.3) + helper(0.1, x) * recursive(x, 3)


def writes(x):
    a = np.zeros(4)
    a[0] = x
    for i in range(1, 4):
        a[i] = a[i - 1] * x + math.cos(x)
    a[1:3] *= x
    view = a[::2]
    view += x
    square = np.zeros((2, 3))
    square[:, 0] = x
    square.T[1] += a[1] ** 2
    return a, square


def views(x):
    a = np.full(3, x)
    b = a.T
    b[0] = x * x
    a *= b
    return a


def elimination(x):
    a = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 1.0], [0.5, 1.0, 2.0]]) * x + np.eye(3)
    for k in range(3):
        for i in range(k + 1, 3):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def closures(x):
    def scale(z):
        return z * x

    parts = [scale(k) for k in (1.0, 2.0)] + [scale(scale(x))]
    parts.append(parts[-1] / x)
    return sum(parts) + sum(x**k for k in range(4))


Pair = namedtuple("Pair", "first second")


def containers(x):
    table = {"a": x * x, "b": (math.sin(x), np.array([x, x**2]))}
    pair = Pair(x, [x * table["a"], 3, "text", None])
    state = (x, 1.0)
    for _ in range(4):
        state = (state[1] * x, state[0] + state[1])
    return table, pair, state


@dataclass
class Point:
    x: float
    y: float


def instances(x):
    point = Point(x, x * x)
    point.x = point.x * point.y
    return point.x + point.y


A = np.array([[1.0, 0.5], [0.2, 2.0]])


def algebra(x):
    B = A * x + np.eye(2)
    v = np.array([x, math.exp(x)])
    w = np.linalg.solve(B, v)
    return B @ B @ v, np.outer(v, w), np.dot(w, B) @ v, np.linalg.inv(B), np.linalg.norm(v - w)


def statistics(x):
    z = np.array([x, 2.0 * x, 1.0, x * x])
    peak = np.max(z)
    soft = np.log(np.sum(np.exp(z - peak))) + peak
    return soft, np.std(z), np.cumsum(np.sort(z)), np.where(z > 1.0, z**3, np.sin(z)), np.mean(z)


def guarded(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        y = x
    return y * x


def minors(m):
    if len(m) == 1:
        return m[0][0]
    total, sign = 0.0, 1.0
    for j in range(len(m)):
        rest = [row[:j] + row[j + 1 :] for row in m[1:]]
        total = total + sign * m[0][j] * minors(rest)
        sign = -sign
    return total


def nested_lists(x):
    return minors([[x, 1.0, 2.0], [x * x, x, 0.5], [1.0, math.exp(x), x]])


def dictionaries(x):
    table = {"a": np.zeros(2), "n": x}
    table["a"][1] += x * x
    table["n"] = table["n"] * table["a"][1]
    counts = {}
    for key in ("u", "v", "u"):
        counts[key] = counts.get(key, 1.0) * x
    point = Point(x, 1.0)
    for _ in range(3):
        point.y += point.x * point.y
    grid = np.zeros((2, 2))
    grid[0] = [x, point.y]
    grid[1] = (counts["u"], 1.0)
    return table, counts, grid


def products(x):
    v = np.array([x, x + 1.0, 0.0 * x, 2.0 - x])
    w = np.array([[x, 1.0], [x * x, 3.0]])
    S = w @ w.T + 2.0 * np.eye(2)
    zero = np.array([[x - 0.7, x], [x - 0.7, 1.0]])
    return (
        w[0, 0] * w[1, 0] * w[1, 1], v[1] * v[3] * v[0], S, zero,
        abs(complex(x, 1.0) ** 2), np.polyval([1.0, 2.0, 3.0], x),
    )


PROGRAMS = [
    nested_lists, dictionaries, products, branches, writes, views, elimination, closures,
    containers, instances, algebra, statistics, guarded,
]


def alike(a, b):
    """Compare two trees, their classes and dtypes."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        a, b = list(a.values()), list(b.values())
    if isinstance(a, (tuple, list)):
        for one, other in zip(a, b, strict=True):
            alike(one, other)
    elif isinstance(a, (str, type(None))):
        assert a == b
    else:
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("program", one_in(4, PROGRAMS), ids=lambda f: f.__name__)
def test_programs_agree_with_nested_forward_mode(program):
    for k, derivative in enumerate(jet(program, 3)(0.7)):
        alike(derivative, nested(program, k)(0.7))


def test_products_and_determinants():
    def library(x):
        a = np.array([[x, 1.0, 0.5], [x * x, 3.0, 1.0]])
        S = a @ a.T + 2.0 * np.eye(2)
        zero = np.array([[x - 0.7, x], [x - 0.7, 1.0]])
        L = np.linalg.cholesky(S)
        return (np.prod(a), np.prod(a, 1), np.prod(np.array([x - 0.7, x, x])), np.cumprod(a),
                np.cumprod(a, axis=0), np.linalg.det(S), np.linalg.det(zero), L @ L.T,
                np.polyval(np.array([x, 2.0, x * x]), x))

    def plain(x):
        a = np.array([[x, 1.0, 0.5], [x * x, 3.0, 1.0]])
        S = a @ a.T + 2.0 * np.eye(2)
        first = x * 1.0 * 0.5
        rest = x * x * 3.0
        cumulative = np.array([x, x, first, first * x * x, first * rest, first * rest])
        return (first * rest, np.array([first, rest]), (x - 0.7) * x * x, cumulative,
                np.stack([a[0], a[0] * a[1]]), S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0],
                (x - 0.7) * (1.0 - x), S, x * x * x + 2.0 * x + x * x)

    for one, other in zip(jet(library, 6)(0.7), jet(plain, 6)(0.7), strict=True):
        for a, b in zip(one, other, strict=True):
            assert np.allclose(a, b, rtol=1e-10, atol=1e-9)


def test_chains_of_products_by_einsum():
    def chain(x):
        B = A * x
        return np.einsum("ij,jk,kl->il", B, B, B + x)

    def plain(x):
        B = A * x
        return B @ B @ (B + x)

    for one, other in zip(jet(chain, 4)(0.7), jet(plain, 4)(0.7), strict=True):
        assert np.allclose(one, other)


def test_results_that_do_not_depend_on_the_argument():
    assert jet(lambda x: 3.0, 3)(0.5) == (3.0, 0.0, 0.0, 0.0)
    assert jet(lambda x: (x, 3.0), 2)(0.5)[1:] == ((1.0, 0.0), (0.0, 0.0))
    assert jet(math.sin, 0)(0.5) == (math.sin(0.5),)


def test_extra_arguments_and_kinds_of_numbers():
    def power(x, n, scale):
        return scale["by"] * x**n

    assert jet(power, 2)(2.0, 3, {"by": 2.0}) == (16.0, 24.0, 24.0)
    assert jet(lambda x: x * x, 2)(3) == (9.0, 6.0, 2.0)
    for kind in (np.float32, np.float64):
        found = jet(lambda x: np.exp(x) / x, 4)(kind(1.5))
        assert all(type(d) is kind for d in found)
    assert all(type(d) is float for d in jet(lambda x: math.exp(x) / x, 4)(1.5))
    z = 0.5 + 0.3j
    found = jet(lambda z: np.exp(2j * z) / z, 3)(z)
    assert all(isinstance(d, complex) for d in found)
    alike(found[3], nested(lambda z: np.exp(2j * z) / z, 3)(z))
    for complex_function in (
        lambda z: cmath.sin(z) * cmath.sqrt(z) / cmath.log(z), lambda z: cmath.tanh(z) ** z,
        lambda z: np.abs(z * z), lambda z: np.array([z, 1.0]) ** -1.5,
    ):
        got = jet(complex_function, 3)(z)
        for k in range(4):
            alike(got[k], nested(complex_function, k)(z))
    single = np.array([0.5, 1.5], np.float32)
    value, series = taylor(lambda x: np.sin(x) * x, (single,), (np.ones((3, 2)),))
    assert value.dtype == series.dtype == np.float32


def test_high_orders():
    assert nth_derivative(math.exp, 60)(0.5) == pytest.approx(math.exp(0.5), rel=1e-12)
    assert nth_derivative(lambda x: 1.0 / (1.0 - x), 180)(0.0) == math.inf
    assert jet(lambda x: math.exp(1e-2 * x), 200)(0.0)[200] == pytest.approx(1e-400, abs=1e-300)
    assert nth_derivative(lambda x: np.sin(3.0 * x), 21)(0.2) == pytest.approx(
        3.0**21 * math.cos(0.6), rel=1e-10)


def test_orders_that_are_none():
    for bad in (-1, 1.5, "2"):
        with pytest.raises(ValueError, match="order"):
            jet(math.sin, bad)
        with pytest.raises(ValueError, match="order"):
            nth_derivative(math.sin, bad)


# --- along paths ----------------------------------------------------------------------------------


def test_series_of_several_arguments():
    def f(x, p):
        return {"y": np.tanh(x @ p["w"]) * p["b"]}

    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3)), rng.normal(size=3)
    dx, dw = rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 3))
    db = rng.normal(size=4)
    value, found = taylor(f, (x, {"w": w, "b": 1.5}), (dx, {"w": dw, "b": db}))

    def path(t, k=0):
        powers = t ** np.arange(1, 5)
        at = {"w": w + np.tensordot(powers, dw, 1), "b": 1.5 + powers @ db}
        return f(x + np.tensordot(powers, dx, 1), at)["y"]

    wanted = jet(path, 4)(0.0)
    assert np.array_equal(value["y"], wanted[0])
    for k in range(4):
        assert np.allclose(found["y"][k], wanted[k + 1] / math.factorial(k + 1), rtol=1e-10)
    alone = taylor(f, (x, {"w": w, "b": 1.5}), dx, argnums=0)[1]["y"]
    assert np.array_equal(alone, taylor(f, (x, {"w": w, "b": 1.5}), (dx, None))[1]["y"])
    with pytest.raises(ValueError, match="number of orders"):
        taylor(lambda x, y: x * y, (1.0, 2.0), (np.ones(2), np.ones(3)))
    with pytest.raises(ValueError, match="one axis"):
        taylor(math.sin, (1.0,), (1.0,))
    with pytest.raises(TypeError, match="2 tangents"):
        taylor(lambda x, y: x * y, (1.0, 2.0), (np.ones(2),))


def solve_by_series(field, state, time, steps, order):
    """Integrate ``y' = field(y)`` by Taylor polynomials, whose coefficients bootstrap."""
    h = time / steps
    for _ in range(steps):
        series = np.zeros((order, *state.shape))
        series[0] = field(state)
        for k in range(1, order):
            series[k] = taylor(field, (state,), (series[:k],))[1][k - 1] / (k + 1)
        state = state + np.tensordot(h ** np.arange(1, order + 1), series, 1)
    return state


def kepler(s):
    cube = (s[0] * s[0] + s[1] * s[1]) ** 1.5
    return np.array([s[2], s[3], -s[0] / cube, -s[1] / cube])


def lorenz(s):
    d = np.zeros(3)
    d[0] = 10.0 * (s[1] - s[0])
    d[1] = s[0] * (28.0 - s[2]) - s[1]
    d[2] = s[0] * s[1] - 8.0 / 3.0 * s[2]
    return d


@pytest.mark.parametrize("field, start, steps", [
    (kepler, [0.7, 0.0, 0.0, 1.3], 12), (lorenz, [1.0, 1.0, 20.0], 30),
])
def test_taylor_integrators(field, start, steps):
    wanted = scipy.integrate.solve_ivp(
        lambda t, s: field(s), (0.0, 1.0), start, method="DOP853", rtol=1e-13, atol=1e-14
    ).y[:, -1]
    found = solve_by_series(field, np.array(start), 1.0, steps, 20)
    assert np.allclose(found, wanted, rtol=1e-10, atol=1e-11)


# --- what is emitted ------------------------------------------------------------------------------


def test_the_emitted_code_is_one_program_for_every_order():
    def f(x, n):
        y = x
        for _ in range(n):
            y = math.sin(y) * x
        return y

    text = source(f, 0.5, 3, mode="taylor")
    assert "def f_taylor(x, n, x_dot):" in text
    assert "y_dot = product_series(sin, sin_series(y_1, y_dot, sin), x, x_dot)" in text
    assert source(f, 0.5, 7, mode="taylor") == text


def test_functions_without_series_fall_back():
    def exponential_integral(x):
        return scipy.special.expn(3, x)

    with pytest.raises(UnsupportedError, match="the Taylor coefficients of `exponential_integral`"):
        taylor(exponential_integral, (1.5,), (np.array([1.0, 0.0]),))
    wanted = [(-1) ** k * scipy.special.expn(3 - k, 1.5) for k in range(4)]
    assert jet(exponential_integral, 2)(1.5) == pytest.approx(wanted[:3])
    assert nth_derivative(exponential_integral, 3)(1.5) == pytest.approx(wanted[3])


def test_second_derivatives_that_forward_mode_refuses():
    def squared(x):
        return np.einsum("ij,jk->ik", A * x, A * x)

    assert np.allclose(nth_derivative(squared, 2)(0.5), 2.0 * A @ A)
    assert np.allclose(nth_derivative(squared, 2)(0.5), 2.0 * A @ A)
