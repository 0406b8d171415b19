"""Exceptions in the middle of a derivative: arguments, iterators, and what the next call gives."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from adcompiler import external, grad, rrule, value_and_grad, vjp
from adcompiler.cache.store import Store, default_directory
from adcompiler.ops.registry import REGISTRY


class Broken(Exception):
    """What is raised here, and nowhere else."""


def writing(a, n):
    a[0] = a[0] * 2.0
    for _ in range(n):
        a[1] = math.sqrt(a[1] - 1.0)
    return a[0] * a[1]


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def of_attributes(p):
    p.x = p.x * 2.0
    p.y = math.sqrt(p.y)
    return p.x * p.y


def appending(x, out):
    out.append(x * 2.0)
    y = math.sqrt(x)
    out.append(y)
    return y * out[0]


def of_iterator(x, numbers):
    s = 0.0
    for v in numbers:
        s = s + x * v
        if v > 2.0:
            raise Broken(v)
    return s


@pytest.mark.parametrize("operator", [grad, value_and_grad, vjp])
def test_arguments_stay_as_they_were(operator: Any) -> None:
    """Python leaves half of what is written; derivatives write into copies, as is documented."""

    def call(function: Any, *args: Any) -> Any:
        return vjp(function, *args) if operator is vjp else operator(function)(*args)

    a = np.array([1.0, 1.5])
    with pytest.raises(ValueError, match="domain"):
        call(writing, a, 3)
    np.testing.assert_array_equal(a, [1.0, 1.5])
    p = Point(1.0, -1.0)
    with pytest.raises(ValueError, match="domain"):
        call(of_attributes, p)
    assert vars(p) == {"x": 1.0, "y": -1.0}
    out: list[float] = []
    with pytest.raises(ValueError, match="domain"):
        call(appending, -1.0, out)
    assert out == []


@pytest.mark.parametrize("operator", ["grad", "vjp"])
def test_iterators_stand_where_python_leaves_them(operator: str) -> None:
    numbers = iter([1.0, 3.0, 4.0, 5.0])
    with pytest.raises(Broken):
        grad(of_iterator)(2.0, numbers) if operator == "grad" else vjp(of_iterator, 2.0, numbers)
    assert list(numbers) == [4.0, 5.0]


def test_a_note_names_the_users_line() -> None:
    with pytest.raises(ValueError, match="domain") as caught:
        grad(writing)(np.array([1.0, 1.5]), 3)
    (note,) = caught.value.__notes__
    assert f'File "{__file__}", line {writing.__code__.co_firstlineno + 3}' in note
    assert "a[1] = math.sqrt(a[1] - 1.0)" in note
    assert "a_1[1] - 1.0" in "".join(traceback.format_exception(caught.value))


def test_the_next_call_is_right() -> None:
    derivative = grad(writing)
    for _ in range(3):
        with pytest.raises(ValueError, match="domain"):
            derivative(np.array([1.0, 1.5]), 3)
        slope = 2.0 * math.sqrt(4.0), 2.0 / (2.0 * math.sqrt(4.0))
        np.testing.assert_allclose(derivative(np.array([1.0, 5.0]), 1), slope)


# --- pullbacks, rules, external functions, solvers ------------------------------------------------


@pytest.fixture
def failing_rule() -> Iterator[tuple[Any, list[bool]]]:
    """Return a function of which the rule's pullback raises while that is said."""
    said = [True]

    def steep(x: float) -> float:
        return x * x * x

    def fail() -> None:
        if said[0]:
            raise Broken("in the rule")

    before = len(REGISTRY.log)

    @rrule(steep)
    def steep_rule(x):
        value = x * x * x

        def steep_pullback(dy):
            fail()
            return 3.0 * x * x * dy

        return value, steep_pullback

    yield steep, said
    for rule in REGISTRY.log[before:]:
        REGISTRY.withdraw(rule)


def test_pullbacks_of_rules_that_raise(failing_rule: tuple[Any, list[bool]]) -> None:
    steep, said = failing_rule

    def f(x, out):
        out[0] = steep(x) * 2.0
        return out[0] + x

    derivative, out = grad(f), np.zeros(1)
    value, pullback = vjp(f, 2.0, out, argnums=0)
    for _ in range(2):
        said[0] = True
        with pytest.raises(Broken, match="in the rule"):
            derivative(2.0, out)
        with pytest.raises(Broken, match="in the rule"):
            pullback(1.0)
        said[0] = False
        assert derivative(2.0, out) == 25.0
    assert value == 18.0


class Meter:
    """A function that counts its calls and raises where it is told to."""

    def __init__(self) -> None:
        self.calls, self.raising = 0, True

    def value(self, x: float) -> float:
        self.calls += 1
        if self.raising:
            raise Broken("outside")
        return math.exp(x)


def test_external_functions_that_raise() -> None:
    meter = Meter()
    outside = external(lambda x: meter.value(x), jvp=lambda x, dx: math.exp(x) * dx)

    def f(x):
        return outside(x) * 2.0

    with pytest.raises(Broken, match="outside"):
        vjp(f, 0.5)
    assert meter.calls == 1
    meter.raising = False
    value, _ = vjp(f, 0.5)
    assert value == 2.0 * math.exp(0.5)


def residual(x, a):
    if a < 0.0:
        raise Broken("negative")
    return x * x - a


def root(a):
    return brentq(residual, 0.0, 10.0, args=(a,))


def test_functions_that_raise_within_solvers() -> None:
    derivative = grad(root)
    for _ in range(2):
        with pytest.raises(Broken, match="negative"):
            derivative(-4.0)
        assert derivative(4.0) == pytest.approx(0.25, rel=1e-9)


# --- what the compiler keeps ----------------------------------------------------------------------


def test_a_compile_that_is_interrupted_leaves_nothing_half(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adcompiler.compile import pipeline

    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path))
    real, generation = pipeline.compile_request, REGISTRY.generation

    def interrupted(request: Any) -> Any:
        real(request)
        raise KeyboardInterrupt

    derivative = grad(writing)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "compile_request", interrupted)
        with pytest.raises(KeyboardInterrupt):
            derivative(np.array([1.0, 5.0]), 1)
    assert Store(default_directory()).info().count == 0
    assert REGISTRY.generation == generation
    np.testing.assert_allclose(derivative(np.array([1.0, 5.0]), 1), (4.0, 0.5))
    assert Store(default_directory()).info().count == 1
