"""Loops over numbers of float32: what NumPy's promotion and rounding give, to the last bit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, jacobian, jvp, value_and_grad, vjp
from adcompiler.errors import UnsupportedError
from tests.native import array_programs, list_programs, programs
from tests.native.test_backends_agree import outcome, same, watched

REFUSED = {
    "every_second", "many_functions", "last_index", "alternating", "sorted_by_insertion",
    "soft_dtw", "edit_distance", "tridiagonal", "arrays_carried", "gathers", "axis_extremes",
    "scatters", "shapes", "library", "two_layers", "of_arrays",
}
"""Programs that make arrays of float64 too, or numbers of which a run decides the precision."""
ROUNDED = {"gathers_of_rows", "middle_axis"}
"""Programs with functions that NumPy computes in float32: powers, `exp`."""
EPS = float(np.finfo(np.float32).eps)


@pytest.fixture(autouse=True, params=["llvm", "plain"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run loops as machine code, and as the text that they are."""
    if request.param == "plain":
        monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    else:
        pytest.importorskip("llvmlite")
        monkeypatch.delenv("ADCOMPILER_NATIVE", raising=False)


def short(value: Any) -> Any:
    """Return floats of NumPy as short ones."""
    if isinstance(value, tuple):
        return tuple(map(short, value))
    is_long = getattr(value, "dtype", None) == np.float64
    return value.astype(np.float32) if is_long else value


def has_short(value: Any) -> bool:
    """Say whether short floats are in an argument."""
    return getattr(value, "dtype", None) == np.float32


ALL = [
    (program, args) for module in (programs, array_programs, list_programs)
    for program, given in module.PROGRAMS.items()
    if any(map(has_short, args := tuple(map(short, given))))
]


def near(got: Any, expected: Any) -> bool:
    """Say whether results are the same but for a few units in the last place of their size."""
    if isinstance(expected, tuple):
        return len(got) == len(expected) and all(map(near, got, expected))
    assert type(got) is type(expected) and np.asarray(got).dtype == np.asarray(expected).dtype
    scale = np.max(np.abs(expected), initial=0.0)
    return bool(np.max(np.abs(np.subtract(got, expected)), initial=0.0) <= 64 * EPS * scale)


@pytest.mark.parametrize(("program", "args"), ALL, ids=lambda one: getattr(one, "__name__", ""))
def test_programs(program: Any, args: tuple[Any, ...]) -> None:
    native = value_and_grad(program, backend="native")
    if program.__name__ in REFUSED:
        with pytest.raises(UnsupportedError):
            native(*args)
        return
    expected = outcome(value_and_grad(program), *args)
    came = watched(native, *args)
    got = outcome(native, *args)
    assert near(got, expected) if program.__name__ in ROUNDED else same(got, expected)
    assert came == [True]


def stepped(x, w):
    u = x.copy()
    for _ in range(4):
        u[1:-1] = u[1:-1] + np.float32(0.1) * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[1:] += 0.1
        u *= w
    return np.mean(u * u) * 0.3


def weighted(x, w):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.1:
            total += x[i] / w[i] * 0.1
        else:
            total = total - np.sqrt(w[i]) * 3
    return total


def recurrent(x, w):
    y = np.zeros_like(x)
    y[0] = 0.1
    for i in range(1, len(x)):
        y[i] = 0.3 * y[i - 1] + abs(x[i]) * w[i] - i
        y[i] += x[i - 1] * 0.7
    return np.sum(y * y) / len(y)


def rows(x, w):
    A = x[:, None] * w[None, :] + np.ones((len(x), len(w)), np.float32) / 3
    total = np.float32(0.0)
    for i in range(len(x)):
        total = total + A[i].mean() - A[:, i].sum() * w[i]
    return total + np.sum(A * A) * 0.1


def squared_by_hand(x, w):
    found = np.full(3, 0.1, np.float32)
    for i in range(len(x)):
        d = x[i] * x[i] if x[i] < 0.3 else np.maximum(w[i], 0.25)
        found[i % 3] += d
        found[(i + 1) % 3] = 0.1 * d
    return found[0] * found[1] + found[2]


def momenta(x, w):
    m, s, z = np.zeros_like(x), np.zeros_like(x), x.copy()
    for _ in range(5):
        g = z * 2 - w
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        z = z - 0.01 * m / (np.sqrt(s) + 1e-8)
    return np.sum((z - w) ** 2)


def exchanged(x, w):
    u, v = x.copy(), w.copy()
    for _ in range(4):
        u[1:] += v[:-1] * 0.3
        v -= 0.1 * u
        u[0] = 0.7
        u, v = v, u
    return np.sum(u * v)


def converted(x, w):
    total = 0.0
    for i in range(len(x)):
        a = float(x[i]) * 0.1
        k = int(x[i] * 3) % len(w)
        total = total + a * w[k] + math.sin(x[i]) * w[i] + np.float32(i) * x[i]
    return total


def caught(x, w):
    total = 0
    for i in range(len(x)):
        try:
            total = total + x[i] / w[i + 1]
        except IndexError:
            total = total + x[i]
    return total


def greatest(x, w):
    total, best, h = 0.0, x[0], 0.1
    for i in range(len(x)):
        h = h * 0.7
        if x[i] > best:
            best = x[i]
        total += best * w[i] * h
    return total


PAIRS = (
    stepped, weighted, recurrent, rows, squared_by_hand, momenta, exchanged, converted, caught,
    greatest,
)
SHORT = pytest.mark.parametrize("function", PAIRS, ids=lambda one: one.__name__)


def pair(n: int) -> tuple[Any, Any]:
    """Return two vectors of short floats."""
    rng = np.random.default_rng(n)
    return (rng.normal(size=n).astype(np.float32),
            rng.uniform(0.1, 2.0, size=n).astype(np.float32))


@SHORT
@pytest.mark.parametrize("n", [1, 2, 7, 8, 130, 1000])
def test_values_gradients_and_tangents(function: Any, n: int) -> None:
    x, w = pair(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = value_and_grad(function, argnums=(0, 1))
        expected = outcome(both, x, w)
        native = value_and_grad(function, argnums=(0, 1), backend="native")
        assert same(outcome(native, x, w), expected)
        assert same(outcome(compiled(function), x, w), outcome(function, x, w))
        strided = np.stack([x, x], 1)[:, 0]
        strided.flags.writeable = False
        assert same(outcome(native, strided, w), expected)
        if isinstance(expected[0], type):
            return
        of_run = function is squared_by_hand  # a run decides which of its tangents are short
        along = jvp(function, (x, w), (w, x), backend="auto" if of_run else "native")
        assert same(along, jvp(function, (x, w), (w, x)))
        value, pullback = vjp(function, x, w, argnums=(0, 1), backend="native")
        wanted, python = vjp(function, x, w, argnums=(0, 1))
        for seed in (1.0, np.float32(0.1), 0.1):
            assert same(pullback(seed), python(seed))
        assert same(value, wanted)


@pytest.mark.parametrize("function", PAIRS[:4], ids=lambda one: one.__name__)
def test_gradients_are_those_of_differences(function: Any) -> None:
    x, w = pair(9)
    along = pair(10)[0][:9]
    found = float(np.vdot(grad(function, backend="native")(x, w), along))

    def at(step: float) -> float:
        return float(function(x.astype(float) + step * along, w.astype(float)))

    slope = (at(1e-5) - at(-1e-5)) / 2e-5
    assert found == pytest.approx(slope, rel=2e-4, abs=1e-4)


def operations(x, y):
    total = np.zeros_like(x)
    products = np.zeros_like(x)
    ratios = np.zeros_like(x)
    roots = np.zeros_like(x)
    for i in range(len(x)):
        total[i] = x[i] + y[i]
        products[i] = x[i] * y[i]
        ratios[i] = x[i] / y[i]
        roots[i] = np.sqrt(abs(x[i])) - y[i]
    return total, products, ratios, roots, x + y, x - y, x * y, x / y, np.sqrt(np.abs(y)), -x


def test_every_operation_is_rounded_once() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, size=(2, 40_000), dtype=np.uint32)
    edges = np.array([1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFF], np.uint32)
    x, y = (np.concatenate([one, edges, edges | 0x80000000]).view(np.float32) for one in bits)
    x, y = x.copy(), np.roll(y, 3)
    kept = np.isfinite(x) & np.isfinite(y) & (y != 0)
    x, y = x[kept], y[kept]
    fast: Any = compiled(operations)
    with np.errstate(all="ignore"):
        assert same(fast(x, y), operations(x, y))
    came = watched(fast, x, y)
    with np.errstate(all="ignore"):
        fast(x, y)
    assert came == [True]


@pytest.mark.parametrize("n", [0, 1, 5, 8, 9, 127, 128, 129, 257, 1000, 5003])
def test_sums_add_as_numpy_does(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)

    def sums(x):
        total = np.zeros(3, np.float32)
        for j in range(3):
            total[j] = np.sum(x[:, j].copy())
        return total, np.sum(x), np.sum(x, axis=0), np.sum(x, axis=1), x.mean(axis=1)

    assert same(compiled(sums)(x), sums(x))


def mixed(x, y, k, a):
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i] * y[i] + a * x[i] + k[i] * x[i]
        z[i] += x[i]
        if x[i] == 0.1 or x[i] > y[i]:
            z[i] += 1.0
    return z, x * y, x + k, x > 0.1, x == y, x.astype(np.float64) * 0.1, y.astype(np.float32) * 0.1


def test_what_meets_longer_numbers() -> None:
    x = np.array([0.1, 0.2, 0.3, -0.7], np.float32)
    y = np.array([0.1, 0.2 + 1e-12, float(np.float32(0.3)), 1.0])
    args = x, y, np.arange(4), np.float64(0.1)
    assert same(compiled(mixed)(*args), mixed(*args))


def started(x, start):
    for value in x:
        start = start + value
    return start


def test_what_no_loop_made_short_is_as_it_was() -> None:
    none, two = np.zeros(0, np.float32), np.array([0.1, 0.2], np.float32)
    for x in (none, two):
        for start in (0.0, 0.1, -1e300 if x is none else 3.5):
            got, expected = compiled(started)(x, start), started(x, start)
            if x is none and start == 0.0:
                assert got == 0.0 and type(got) is np.float32
            else:
                assert same(got, expected)


def of_number(a, x):
    total = a * a
    for value in x:
        total = total + value * a
    return total


def test_numbers_that_are_arguments() -> None:
    a, x = np.float32(0.3), pair(9)[0]
    native = value_and_grad(of_number, argnums=(0, 1), backend="native")
    assert same(native(a, x), value_and_grad(of_number, argnums=(0, 1))(a, x))


FACTOR, TABLE = np.float32(0.3), np.linspace(0.0, 1.0, 5).astype(np.float32)


def outside(x):
    total = FACTOR
    for i in range(len(x)):
        total = total + x[i] * TABLE[i % 5]
    return total


def test_variables_of_modules() -> None:
    x = pair(9)[0]
    native = value_and_grad(outside, backend="native")
    assert same(native(x), value_and_grad(outside)(x))


@pytest.mark.parametrize("bad", [np.inf, np.nan, 3e38, 1e-45, 0.0])
def test_what_is_not_finite(bad: float) -> None:
    x, w = pair(9)
    x[3] = bad

    def root(x, w):
        total = np.float32(0.0)
        for i in range(len(x)):
            total = total + w[i] / x[i] + np.sqrt(np.abs(x[i])) * x[i]
        return total

    with np.errstate(all="ignore"):
        for function in (weighted, root):
            native = value_and_grad(function, backend="native")
            assert same(native(x, w), value_and_grad(function)(x, w))


def test_exp_that_is_too_large_warns() -> None:
    def grown(x):
        total = np.float32(0.0)
        for i in range(len(x)):
            total = total + np.exp(x[i])
        return total

    fast: Any = compiled(grown)
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert fast(np.array([1.0, 100.0], np.float32)) == np.inf


def taken_in_parts(x, w):
    total = np.float32(0.0)
    for i in range(len(x)):
        total = total + np.std(x[: i + 1]) + x[: i + 1] @ w[: i + 1]
    return total


def test_what_has_no_loops_is_called_in_python() -> None:
    x, w = pair(9)
    fast: Any = compiled(taken_in_parts)
    assert same(fast(x, w), taken_in_parts(x, w))
    assert "std" in fast.explain(x, w).backend


def refused(function: Callable[..., Any], *args: Any) -> str:
    """Return what is said of a function that there are no loops for."""
    with pytest.raises(UnsupportedError, match="the native backend has nothing for this") as raised:
        function(*args)
    return str(raised.value)


def test_what_is_refused() -> None:
    x = pair(9)[0]

    def decayed(x):
        total = 1.0
        for i in range(len(x)):
            total = total * 0.5 + x[i]
        return total

    def wider(x):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = x[i] * 0.5
        return np.sum(y)

    for backend in ("native", "auto"):
        for function, said in (
            (decayed, "a number of a precision not known"),
            (wider, "a derivative of what computes with float32 and with float64"),
        ):
            if backend == "native":
                assert said in refused(value_and_grad(function, backend=backend), x)
            else:
                found = value_and_grad(function, backend=backend)(x)
                assert same(found, value_and_grad(function)(x))
    assert same(compiled(wider)(x), wider(x))
    for backend in ("native", "auto"):  # one seed after the other, or in Python
        found = jacobian(products, backend=backend)(x)
        assert near(found, jacobian(products)(x)) and found.dtype == np.float32


def test_a_zero_is_a_zero_in_every_precision() -> None:
    def decayed(x, rate):
        total = 0.0
        for i in range(len(x)):
            total = total * rate / 0.3 + x[i]
        return total

    for n in (0, 1, 9):
        x = pair(9)[0][:n]
        got, expected = compiled(decayed)(x, 0.1), decayed(x, 0.1)
        assert got == expected and (not n or same(got, expected))
        native = grad(decayed, backend="native")
        assert same(native(x, 0.1), grad(decayed)(x, 0.1))


def products(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y
