"""``with`` statements: contexts of NumPy, of the standard library, and the user's own."""

import contextlib
import io
import math
import threading
import warnings

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, 1.5, 2.0])
LOCK = threading.Lock()
LOG = []


class Logged:
    def __init__(self, name, swallow=False):
        self.name = name
        self.swallow = swallow

    def __enter__(self):
        LOG.append(f"enter {self.name}")
        return len(self.name)

    def __exit__(self, kind, error, traceback):
        LOG.append(f"exit {self.name} {kind.__name__ if kind else None}")
        return self.swallow


@contextlib.contextmanager
def doubled(n):
    yield 2 * n


@programs(1.3, V)
def errstate(x, v):
    with np.errstate(all="ignore"):
        y = np.log(v) * x
        z = y * y
    return np.sum(z * y) * x


@programs(1.3)
def returns(x):
    with np.errstate(divide="ignore"):
        if x > 1.0:
            return x * x
        y = np.sin(x)
    return y * x


@programs(1.3, 4, argnums=(0,))
def in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        with Logged("loop") as length, LOCK:
            if i == 2:
                continue
            y = x * (i + length)
            total = total + y * math.sin(x)
            if total > 30.0:
                break
        total = total * y
    return total


@programs(1.3)
def several(x):
    with doubled(3) as n, contextlib.nullcontext(5) as m:
        y = x**n
        with Logged("inner") as k:
            z = y * m * k
    return y + z * n


@programs(1.3, 4, argnums=(0,))
def recursive(x, n):
    with np.errstate(all="ignore"):
        if n == 0:
            return x
        y = recursive(x * 1.1, n - 1)
    return y * x


@programs(1.3)
def in_an_inner_function(x):
    def scaled(t):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return t * x

    return scaled(x) * scaled(2.0)


@programs(1.3)
def arrays_and_tuples(x):
    with Logged("pair"):
        pair = (x * x, np.array([x, 2.0 * x]))
        table = {"a": pair[0], "b": 3.0}
    a, b = pair
    return a * np.sum(b) * table["a"] + table["b"]


@programs(2.0)
@programs(-2.0)
def suppresses(x):
    y = x * x
    with contextlib.suppress(ValueError, ZeroDivisionError):
        return math.sqrt(x) * y
    return y * x


@programs(V)
@programs(-V)
def suppresses_after_writes(v):
    a = v * 1.0
    for i in range(3):
        with contextlib.suppress(ValueError), np.errstate(all="ignore"):
            a[i] = a[0] * math.sqrt(v[i])
    with contextlib.suppress(IndexError, ValueError) as nothing:
        a[0] = a[1] * a[2]
        a[1] = math.sqrt(v[0])
        a[7] = 1.0
    assert nothing is None
    return np.sum(a * a)


@programs(1.5)
def nothing_around(x):
    with contextlib.nullcontext(x) as y, contextlib.nullcontext():
        z = y * y
        if z > 5.0:
            return z
    return z * x


@programs(V)
def an_array_for_a_context(v):
    a = v * 1.0
    with contextlib.nullcontext(enter_result=a) as b:
        b[0] = v[1] * v[2]
        a[1] *= 2.0
    return np.sum(a * a) + np.sum(b)


@pytest.mark.parametrize("case", programs, ids=str)
def test_program(case):
    programs.check(case)


def test_the_body_runs_inside_and_the_sweep_outside():
    def logged(x):
        with Logged("a"):
            y = math.sin(x)
        LOG.append("after")
        return y * y

    def appended(x):
        with Logged("a") as n:
            y = math.sin(x) * n
        return y * y

    LOG.clear()
    assert abs(grad(appended)(0.5) - 2 * math.sin(0.5) * math.cos(0.5)) < 1e-12
    assert LOG == ["enter a", "exit a None"]
    value, pullback = vjp(appended, 0.5)
    pullback(1.0)
    assert LOG == ["enter a", "exit a None"] * 2
    source = grad(appended).source_for(0.5)
    body, _, sweep = source.partition("# reverse of")
    assert "with passing_on(" in body
    assert "with passing_on(" not in sweep


def test_error_handling_of_numpy_holds_for_the_sweep_too():
    def root(v):
        with np.errstate(all="ignore"):
            y = np.sqrt(v) * np.log(v)
        return np.sum(y)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not np.isfinite(grad(root)(np.array([0.0, 1.0])))[0]
        value, pullback = vjp(root, np.array([0.0, 1.0]))
        assert not np.isfinite(pullback(1.0)[0][0])
    source = grad(root).source_for(V)
    rows = [row.strip() for row in source.splitlines()]
    assert rows.count('with np.errstate(all="ignore"):') == 2


def test_operands_may_be_stretched_inside():
    def stretched(v, w):
        with np.errstate(all="ignore"), Logged("s"):
            y = v * w
        with np.errstate(all="ignore"):
            z = v + w
        return np.sum(y * z)

    v, w = np.array([[1.0, 2.0, 3.0]]), np.array([[2.0], [3.0]])
    derivative = grad(stretched, argnums=(0, 1))
    for a, b in ((v, v), (v, w)):
        LOG.clear()
        bars = derivative(a, b)
        assert LOG == ["enter s", "exit s None"]
        assert np.allclose(bars[0], np.broadcast_to(2 * a * b + b * b, (2, 3) if b is w else (1, 3))
                           .sum(axis=0, keepdims=b is w).reshape(a.shape))


def test_an_exception_leaves_the_context_as_in_python():
    def raising(x):
        with Logged("b"):
            y = math.sqrt(x)
        return y

    LOG.clear()
    with pytest.raises(ValueError, match="math domain error"):
        grad(raising)(-1.0)
    assert LOG == ["enter b", "exit b ValueError"]


def test_output_is_redirected():
    def talking(x):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print(f"{x:.1f}")
        return x * len(out.getvalue())

    assert value_and_grad(talking)(2.0) == (8.0, 4.0)


def test_a_context_that_swallows_an_exception_is_an_error():
    def swallowed(x):
        y = x
        with Logged("c", swallow=True):
            y = math.sqrt(x)
        return y

    assert abs(grad(swallowed)(4.0) - 0.25) < 1e-12
    with pytest.raises(RuntimeError, match="Logged swallowed an exception"):
        grad(swallowed)(-1.0)


def suppresses_what_a_variable_holds(x):
    with contextlib.suppress(*(ValueError, TypeError)):
        return math.sqrt(x)


def gives_a_value(x):
    with contextlib.closing(x) as y:
        z = y * y
    return z


@pytest.mark.parametrize("function", [suppresses_what_a_variable_holds, gives_a_value])
def test_what_cannot_be_followed_is_refused(function):
    with pytest.raises(UnsupportedError) as caught:
        grad(function)(2.0)
    assert {finding.anchor for finding in caught.value.findings} == {"with"}
