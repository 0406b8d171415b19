"""Named tuples made inside, lists of functions that are passed on, largest and smallest items."""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import adcompiler.compile.pipeline as pipeline
from adcompiler import grad, hessian, jacobian_sparsity, jvp, source, vjp
from tests.language.check import Cases

X = np.array([0.5, 1.5, 2.5])
programs = Cases()


@programs(X)
def replaced(x):
    P = namedtuple("P", "a b")
    p = P(x[0], b=x[1])
    q = p._replace(a=p.b * 2.0)
    return p.a * p.b * q.a


@programs(X)
def made_in_a_loop(x):
    total = 0.0
    for i in range(3):
        P = namedtuple("P", ["a", "b"])
        p = P(x[i], x[i] * 2.0)
        total += p.a * p.b
    return total


@programs(X)
def written_through(x):
    P = namedtuple("P", ("a", "b"))
    p = P(x * 2.0, x * x)
    p.a[0] = x[1]
    whole = p.a
    whole[1] *= 3.0
    return np.sum(p.a * p.b)


@programs(np.array([]))
def in_an_empty_loop(x):
    P = namedtuple("P", "a")
    best = P(1.0)
    for v in x:
        best = P(best.a * v)
    return best.a + np.sum(x)


def each(functions, x):
    total = 0.0
    for function in functions:
        total += function(x[0])
    return total + functions[1](x[1])


@programs(X)
def functions_of_a_module(x):
    return each([math.sin, math.exp], x)


@programs(X)
def functions_made_here(x):
    k = x[2]
    return each([lambda v: k * v, math.exp, lambda v: v * v], x)


@programs(X)
def largest_and_smallest(x):
    return heapq.nlargest(2, x)[1] * sum(heapq.nsmallest(2, x, key=lambda v: -v))


@programs(X)
def more_than_there_are(x):
    return sum(v * v for v in heapq.nlargest(7, [x[2], x[0]])) + len(heapq.nsmallest(-1, x))


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


@pytest.mark.parametrize("function", [
    replaced, made_in_a_loop, functions_of_a_module, functions_made_here, largest_and_smallest])
def test_second_order_and_patterns(function):
    step = 1e-6
    wanted = [(grad(function)(X + step * e) - grad(function)(X - step * e)) / (2 * step)
              for e in np.eye(3)]
    np.testing.assert_allclose(hessian(function)(X), wanted, atol=1e-7)
    pattern = jacobian_sparsity(function, X).toarray()[0]
    assert np.all(pattern | (grad(function)(X) == 0.0))
    assert "def " in source(function, X)


def test_a_named_tuple_made_inside_is_returned() -> None:
    def pair(x: Any) -> Any:
        P = namedtuple("P", "a b")
        return P(x * 2.0, x * x)

    value, pullback = vjp(pair, X)
    assert value._fields == ("a", "b") and type(value).__name__ == "P"
    np.testing.assert_allclose(pullback(value)[0], 4.0 * X + 2.0 * X**3)
    tangent = jvp(pair, (X,), (X,))[1]
    np.testing.assert_allclose(tangent[1], 2.0 * X * X)


@dataclasses.dataclass
class Spring:
    k: float

    def energy(self, x: Any) -> Any:
        return np.sum(self.k * x * x)

    def __call__(self, x: Any) -> Any:
        return np.sum(self.k * x)


def test_methods_of_what_has_no_hash_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    compile_request = pipeline.compile_request

    def counted(request: Any) -> Any:
        asked.append(request)
        return compile_request(request)

    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "")
    monkeypatch.setattr(pipeline, "compile_request", counted)
    spring = Spring(2.0)
    for function, wanted in ((spring.energy, 4.0), (spring, 2.0)):
        for _ in range(3):
            assert vjp(function, np.ones(2))[1](1.0)[0].tolist() == [wanted, wanted]
    assert len(asked) == 2
    spring.k = 5.0
    assert vjp(spring.energy, np.ones(2))[1](1.0)[0].tolist() == [10.0, 10.0]
    assert vjp(Spring(7.0).energy, np.ones(2))[1](1.0)[0].tolist() == [14.0, 14.0]
