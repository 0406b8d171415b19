"""The pullback of every rule, differentiated: against finite differences of the pullback.

Of each rule one sample call is checked where the function is smooth, and all of them, with numbers
of Python and of NumPy, in the second lane: formulas may hold for some values and classes only. That
is done for one in twelve of the rules, chosen by name; ``ADCOMPILER_ALL_RULES=1`` checks all.
"""

import dataclasses
import math
import os
import warnings
import zlib

import numpy as np
import pytest
import scipy.special as sc

from adcompiler import ADError, MissingRuleError, UnsupportedError, grad, vjp
from tests.lanes import one_in, some_of_each
from tests.rules.shares import OURS
from tests.rules.updates import DESTRUCTIVE
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.comparison import inner
from adcompiler.rulekit.testing import (
    _move, _random_cotangent, _random_direction, rule_name, sample_calls,
)
from adcompiler.runtime.external import call_external
from adcompiler.testing import check_grads
from tests.rules import refused
from tests.rules.kinds import kinds
from tests.rules.pulled import pulled, second_order

EVERY = 1 if os.environ.get("ADCOMPILER_ALL_RULES") else 12
STEPS = (1e-3, 1e-4, 1e-5)
TOLERANCE = 1e-5


def seed(rule):
    return zlib.crc32(rule_name(rule).encode())


RAISE_THERE = {
    "math.pow", "numpy.linalg.det", "scipy.linalg._basic.det",  # at zero, of singular matrices
    "builtins.sum[ndarray]", "numpy.geomspace", "numpy.logspace",  # of mixed numbers and arrays
}
"""Rules with samples at which the second derivative raises."""

NOT_CALLED = {call_external}
"""What calls become only where they are not refused: see ``tests/functionals/test_external.py``."""

RULES = [
    rule for rule in REGISTRY.rules()
    if rule.function not in DESTRUCTIVE | NOT_CALLED and callable(rule.function)
    and seed(rule) % EVERY == 0
]


def slopes(found, weights, direction):
    """Return finite differences of several steps of the pullback, contracted with weights."""

    def along(t):
        moved = (_move(x, d, t) for x, d in zip(found.values, direction, strict=True))
        return inner(weights, found.function(*moved))

    return [(along(h) - along(-h)) / (2.0 * h) for h in STEPS]


def agree(values, size):
    return max(values) - min(values) <= 1e-3 * (1.0 + size)


def forms(rule, rng):
    """Yield sample calls of a rule, and those again that have floats of Python, with NumPy's."""
    calls = list(sample_calls(rule, rng))
    yield from calls
    for call in calls:
        if any(type(x) is float for x in call.args):
            args = tuple(np.float64(x) if type(x) is float else x for x in call.args)
            yield dataclasses.replace(call, args=args)


def differences(rule):
    """Yield, for sample calls where the pullback is smooth, its derivative and finite differences.

    Raises ADError where the pullback cannot be differentiated.
    """
    rng = np.random.default_rng(seed(rule))
    for call in forms(rule, rng):
        found = pulled(rule, call, lambda y: _random_cotangent(y, rng))
        if found is None:
            continue
        weights = tuple(_random_cotangent(bar, rng) for bar in found.cotangents)
        direction = tuple(_random_direction(x, rng) for x in found.values)
        wanted = slopes(found, weights, direction)
        if not np.all(np.isfinite(wanted)) or not agree(wanted[:2], max(map(abs, wanted))):
            continue  # a kink, or an edge of the domain
        _, pullback = vjp(found.function, *found.values, argnums=found.argnums)
        yield inner(direction, pullback(weights)), wanted, call


@pytest.mark.parametrize("rule", some_of_each(kinds(8, 100), RULES), ids=rule_name)
def test_the_derivative_of_a_pullback_agrees_with_differences(rule):
    name = rule_name(rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = next(differences(rule), None)
        except ADError:
            assert name in refused.TWICE or name.startswith(OURS)
            return  # second derivatives that are refused are not wrong
    if found is None:
        assert name in refused.UNTRIED or name.startswith(OURS)
        return
    assert name not in refused.TWICE
    got, wanted, call = found
    error = min(abs(got - slope) for slope in wanted)
    assert error <= TOLERANCE * (1.0 + abs(got)), f"{call}: {got!r}, differences {wanted}"


@pytest.mark.parametrize("rule", one_in(10**6, RULES), ids=rule_name)
def test_pullbacks_of_all_samples_agree_with_differences(rule):
    if rule_name(rule) in RAISE_THERE:
        return  # for some samples
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for got, wanted, call in differences(rule):
                error = min(abs(got - slope) for slope in wanted)
                assert error <= 1e-4 * (1.0 + abs(got)), f"{call}: {got!r}, differences {wanted}"
        except (UnsupportedError, MissingRuleError):
            return  # for this sample: what is refused is not wrong


SUPPORTED = [
    np.sin, np.exp, np.log, np.sqrt, np.tanh, np.multiply, np.true_divide, np.power, np.matmul,
    np.dot, np.einsum, np.sum, np.mean, np.prod, np.cumsum, np.cumprod, np.where, np.concatenate,
    np.stack, np.reshape, np.transpose, np.take, np.linalg.inv, np.linalg.solve, np.linalg.det,
    np.linalg.cholesky, np.linalg.eigh, np.linalg.norm, math.sin, math.exp, math.log, math.sqrt,
    math.hypot, sum, max, sorted,
]


@pytest.mark.parametrize("function", SUPPORTED, ids=lambda f: f.__name__)
def test_pullbacks_of_the_common_rules_can_be_differentiated(function):
    rng = np.random.default_rng(0)
    assert "yes" in {second_order(rule, rng) for rule in REGISTRY.rules_of(function)}


@pytest.mark.parametrize("x", [0.0, 1e-6, 0.3, -1.7, 6.0])
def test_derivatives_of_sinc_of_any_order(x):
    u = math.pi * x
    wanted = -math.pi**2 / 3 * (1 - u * u * 3 / 10) if abs(u) < 1e-3 else (
        math.pi**2 * ((2 / u**3 - 1 / u) * math.sin(u) - 2 / u**2 * math.cos(u)))
    assert grad(grad(np.sinc))(x) == pytest.approx(wanted, rel=1e-10)
    fourth = grad(grad(grad(grad(np.sinc))))
    h = 1e-3
    second = grad(grad(np.sinc))
    moved = (second(x + h) - 2.0 * second(x) + second(x - h)) / h**2
    assert fourth(x) == pytest.approx(moved, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("function", "args"), [
    (lambda a: np.multiply.reduceat(a, [0, 3]), (np.array([1.5, 0.0, 2.5, 0.0, 0.0, 1.5]),)),
    (lambda a: np.multiply.reduceat(a, [0, 2], axis=1), (
        np.array([[1.5, 0.0, 0.5], [0.0, 2.0, 0.0]]),)),
    (lambda a, b: multiplied(a, b, [0, 0, 0, 1]), (
        np.array([1.5, 0.0]), np.array([0.5, 0.0, 2.5, 0.0]))),
    (lambda a, b: multiplied(a, b, [0, 0, 1]), (np.array([1.5, 2.0]), 0.0)),
    (lambda n, k: sc.binom(n, k), (np.array([-1.5, -2.4]), 2.0)),
    (lambda n, k: sc.binom(n, k), (np.array([-1.5, -2.4]), np.float64(2.0))),
    (lambda x: sc.diric(x, 5), (np.array([0.1, 0.3, 2 * np.pi + 0.1]),)),
], ids=["reduceat", "reduceat-axis", "at", "at-number", "binom", "binom-numpy", "diric"])
def test_formulas_that_hold_for_some_values_only(function, args):
    """Where factors are zero or arguments whole: the slope of a special formula is another."""
    found = check_grads(function, args, order=2, rtol=1e-6)
    assert len(found) == 6


def multiplied(a, b, places):
    a = a * 1.0
    np.multiply.at(a, places, b)
    return a


def test_the_second_derivative_of_diric_at_its_peaks():
    for n in (2, 5):
        second = grad(grad(lambda x, n=n: sc.diric(x, n)))
        assert second(0.0) == pytest.approx(-(n * n - 1) / 12, rel=1e-12)
        assert second(1e-3) == pytest.approx(-(n * n - 1) / 12, rel=1e-4)
