"""Functions made by exec with linecache, in notebooks, as lambdas; several threads at once."""

import linecache
import math
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from adcompiler import ADError, grad, value_and_grad, vjp
from tests.language.check import check


def made_in(filename, text, namespace=None):
    """Run ``text`` as if it came from ``filename``, known to linecache as IPython does it."""
    namespace = {"__name__": "__main__", "np": np, "math": math} if namespace is None else namespace
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = (len(text), None, lines, filename)
    exec(compile(text, filename, "exec"), namespace)
    return namespace


def test_exec_with_linecache():
    made = made_in("<made by a test>", "def cube(x):\n    y = x * x\n    return y * x\n")
    check(made["cube"], 1.5)


def test_a_notebook():
    cells = {"__name__": "__main__", "np": np}
    made_in("<ipython-input-1-abc>", "SCALE = 2.0\ndef square(x):\n    return SCALE * x * x\n", cells)
    made_in("<ipython-input-2-def>", "def loss(x):\n    return np.sum(square(x))\n", cells)
    g = grad(cells["loss"])
    x = np.array([1.0, 2.0])
    assert np.array_equal(g(x), 4.0 * x)
    made_in("<ipython-input-3-abc>", "SCALE = 3.0\n", cells)
    assert np.array_equal(g(x), 6.0 * x)
    made_in("<ipython-input-4-abc>", "def square(x):\n    return x * x * x\n", cells)
    assert np.array_equal(g(x), 3.0 * x * x)
    made_in("<ipython-input-5-abc>", "def loss(x):\n    return np.sum(x)\n", cells)
    assert np.array_equal(grad(cells["loss"])(x), np.ones(2))


def test_without_source_the_error_names_the_remedy():
    namespace = {}
    exec("def f(x):\n    return x * x\n", namespace)
    with pytest.raises(ADError, match="rule"):
        grad(namespace["f"])(1.0)


def test_lambdas_on_one_line():
    f, g, h = lambda x: x * x, lambda x: x * x * x, lambda x, y=3.0: x * y
    assert (grad(f)(2.0), grad(g)(2.0), grad(h)(2.0)) == (4.0, 12.0, 3.0)
    table = {"a": lambda x: x + x, "b": [lambda x: 4.0 * x, lambda x: (lambda y: y * x)(x)]}
    assert [grad(k)(2.0) for k in (table["a"], *table["b"])] == [2.0, 4.0, 4.0]


def test_lambdas_over_lines():
    f = (lambda x:
         x * x
         + 1.0)
    check(f, 1.5)


def test_same_text_in_two_places_stays_apart():
    first = made_in("<place 1>", "K = 2.0\ndef f(x):\n    return K * x\n")
    second = made_in("<place 2>", "K = 3.0\ndef f(x):\n    return K * x\n")
    assert grad(first["f"])(1.0) == 2.0
    assert grad(second["f"])(1.0) == 3.0
    assert grad(first["f"])(1.0) == 2.0


def test_a_function_in_a_module_of_its_own():
    module = types.ModuleType("made_module")
    made_in("<made_module>", "C = 2.0\ndef f(x):\n    return C * x * x\n", module.__dict__)
    assert grad(module.f)(3.0) == 12.0


def busy(x, n):
    total = 0.0
    for i in range(n):
        total = total + np.sum(np.sin(x * i))
    return total


def busy_slope(x, n):
    return sum((i * np.cos(x * i) for i in range(n)), np.zeros_like(x))


def test_threads_share_a_derivative():
    g = grad(busy)
    start = threading.Barrier(8)

    def run(seed):
        start.wait()
        x = np.random.default_rng(seed).normal(size=4 if seed % 2 else 3)
        return all(
            np.allclose(g(x, 5 + k), busy_slope(x, 5 + k), rtol=1e-12) for k in range(20)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(8)))


def test_threads_share_a_derivative_that_changes_specialisation():
    g = value_and_grad(lambda x: x * x if np.ndim(x) == 0 else np.sum(x * x))
    start = threading.Barrier(8)

    def run(k):
        start.wait()
        good = True
        for _ in range(50):
            if k % 2:
                good &= g(3.0) == (9.0, 6.0)
            else:
                value, slope = g(np.array([1.0, 2.0]))
                good &= value == 5.0 and np.array_equal(slope, [2.0, 4.0])
        return good

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(8)))


def test_threads_share_a_pullback():
    x = np.linspace(0.0, 1.0, 50)
    _, pullback = vjp(busy, x, 6, argnums=(0,))
    wanted = pullback(1.0)[0]
    start = threading.Barrier(8)

    def run(k):
        start.wait()
        return all(np.array_equal(pullback(float(k))[0], wanted * k) for _ in range(30))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, (1, 2, 4, 8, 1, 2, 4, 8)))


def test_a_pullback_keeps_what_it_needs():
    x = np.ones(3)
    _, pullback = vjp(lambda x: np.sum(x * x), x)
    first = pullback(1.0)[0].copy()
    first_again = pullback(1.0)[0]
    first_again[:] = -1.0
    assert np.array_equal(pullback(1.0)[0], first)
