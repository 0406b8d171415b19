"""The pullback of every rule, differentiated: against finite differences of the pullback.

Of each rule one sample call is checked where the function is smooth. In the default run that is
done for one in twelve of the rules, chosen by name; ``ADCOMPILER_ALL_RULES=1`` checks all.
"""

import math
import os
import warnings
import zlib

import numpy as np
import pytest

from adcompiler import ADError, grad, vjp
from tests.lanes import one_in
from tests.rules.updates import DESTRUCTIVE
from adcompiler.api.second_order import pulled, second_order
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.comparison import inner
from adcompiler.rulekit.testing import (
    _move, _random_cotangent, _random_direction, rule_name, sample_calls,
)
from adcompiler.runtime.external import call_external
from tests.rules import refused

EVERY = 1 if os.environ.get("ADCOMPILER_ALL_RULES") else 12
STEPS = (1e-3, 1e-4, 1e-5)
TOLERANCE = 1e-5


def seed(rule):
    return zlib.crc32(rule_name(rule).encode())


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


def differences(rule):
    """Yield, for sample calls where the pullback is smooth, its derivative and finite differences.

    Raises ADError where the pullback cannot be differentiated.
    """
    rng = np.random.default_rng(seed(rule))
    for call in sample_calls(rule, rng):
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


@pytest.mark.parametrize("rule", one_in(2, RULES), ids=rule_name)
def test_the_derivative_of_a_pullback_agrees_with_differences(rule):
    name = rule_name(rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = next(differences(rule), None)
        except ADError:
            assert name in refused.TWICE or name.startswith("adcompiler.")
            return  # second derivatives that are refused are not wrong
    if found is None:
        assert name in refused.UNTRIED or name.startswith("adcompiler.")
        return
    assert name not in refused.TWICE
    got, wanted, call = found
    error = min(abs(got - slope) for slope in wanted)
    assert error <= TOLERANCE * (1.0 + abs(got)), f"{call}: {got!r}, differences {wanted}"


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
