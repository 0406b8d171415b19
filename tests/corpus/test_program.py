"""The check of programs passes correct derivatives, and fails wrong ones."""

from dataclasses import replace

import numpy as np
import pytest

import adcompiler
import tests.corpus.program as harness
from tests.corpus.program import Program, check, check_smoothness


def energy(x, scale):
    return scale * float(np.sum(x**3))


def shifted(x, scale):
    return scale * x[1:] - x[:-1] ** 2


def at_random(rng):
    return rng.normal(size=5), 1.5


ENERGY = Program(energy, at_random, (0, 1))
SHIFTED = Program(shifted, at_random, (0, 1))
WITH_PAIR = Program(lambda pair, k: k * pair[0] * pair[1][0], lambda rng: ((2.0, [3.0]), 4.0))


@pytest.mark.parametrize("program", [ENERGY, SHIFTED, WITH_PAIR], ids=str)
def test_correct_derivatives_pass(program):
    check_smoothness(program)
    check(program)


class Altered:
    """Stands for ``value_and_grad`` and ``vjp``, and changes what they return."""

    def __init__(self, value=lambda y: y, gradient=lambda bars: bars, argument=lambda x: None):
        self.value, self.gradient, self.argument = value, gradient, argument

    def value_and_grad(self, function, argnums):
        derivative = adcompiler.value_and_grad(function, argnums=argnums)

        def altered(*args):
            value, bars = derivative(*args)
            self.argument(args[0])
            return self.value(value), self.gradient(bars)

        return altered

    def vjp(self, function, *args, argnums):
        value, pullback = adcompiler.vjp(function, *args, argnums=argnums)
        return self.value(value), lambda bar: self.gradient(pullback(bar))


def alter(monkeypatch, altered, *names):
    for name in names:
        monkeypatch.setattr(harness, name, getattr(altered, name))


def slightly_wrong(bars):
    wrong = bars[0].copy()
    wrong[2] *= 1.00001
    return wrong, bars[1]


def drifting():
    """Return a change of gradients that grows with each call."""
    calls = []

    def change(bars):
        calls.append(bars)
        return bars[0] * (1.0 + 1e-9 * len(calls)), bars[1]

    return change


WRONG = {
    "one element": (slightly_wrong, "finite differences"),
    "sign": (lambda bars: (bars[0], -bars[1]), "finite differences"),
    "not a number": (lambda bars: (bars[0] * np.nan, bars[1]), None),
    "shape": (lambda bars: (bars[0][:, None], bars[1]), "argument 0"),
    "precision": (lambda bars: (bars[0].astype(np.float32), bars[1]), "argument 0"),
    "kind": (lambda bars: (bars[0], np.float64(bars[1])), "argument 1"),
    "state": (drifting(), "second call"),
}


@pytest.mark.parametrize("program", [ENERGY, SHIFTED], ids=str)
@pytest.mark.parametrize(("change", "complaint"), WRONG.values(), ids=WRONG)
def test_wrong_gradients_fail(monkeypatch, program, change, complaint):
    alter(monkeypatch, Altered(gradient=change), "value_and_grad", "vjp")
    with pytest.raises(AssertionError, match=complaint):
        check(program)


@pytest.mark.parametrize("name", ["value_and_grad", "vjp"])
def test_wrong_values_fail(monkeypatch, name):
    alter(monkeypatch, Altered(value=lambda y: y * (1.0 + 1e-9)), name)
    with pytest.raises(AssertionError, match=f"the value of {name}"):
        check(ENERGY)


def test_a_wrong_gradient_of_one_product_fails(monkeypatch):
    alter(monkeypatch, Altered(gradient=slightly_wrong), "value_and_grad")
    with pytest.raises(AssertionError, match="value_and_grad and vjp differ"):
        check(ENERGY)


def test_written_arguments_fail(monkeypatch):
    def clear(x):
        x[0] = 0.0

    alter(monkeypatch, Altered(argument=clear), "value_and_grad")
    with pytest.raises(AssertionError, match="arguments after the derivative"):
        check(ENERGY)


def test_kinks_are_noticed():
    kinked = Program(lambda x: abs(x), lambda rng: (1e-4,))
    with pytest.raises(AssertionError, match="of half the step"):
        check_smoothness(kinked)
    check_smoothness(replace(kinked, step=1e-5))


def test_independence_of_an_argument_is_noticed():
    with pytest.raises(AssertionError, match="does not depend on arguments \\(1,\\)"):
        check_smoothness(Program(lambda x, k: x * x, lambda rng: (0.3, 2.0), (0, 1)))
