"""Recurrences give the coefficients of polynomials that interpolate functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adcompiler import scalar_rule, source, taylor
from adcompiler.ops.qualified_names import display_name
from adcompiler.rulekit import REGISTRY, Recurrence, facts
from adcompiler_rules.kernels.series import exp_series
from tests.ops.test_facts_of_results import said

KNOWN = said("recurrence")
OF_MATRICES = {
    "numpy.linalg.cholesky", "numpy.linalg.det", "numpy.linalg.solve", "scipy.linalg.det",
}
MATRIX = np.array([[2.0, 0.5], [0.5, 1.5]])


def program(name: str, function, varying: tuple[int, ...]):
    """Return a function of a number that calls ``function``, and what of it varies."""
    if name in OF_MATRICES:
        turn = np.array([[0.2, 0.1], [0.1, 0.3]])
        if name.endswith("solve"):
            return lambda t: np.sum(function(MATRIX + math.sin(t) * turn, np.ones(2) * t))
        return lambda t: np.sum(function(MATRIX + math.sin(t) * turn))
    if name.endswith(("prod", "cumprod")):
        return lambda t: np.sum(function(np.array([t, t * t, 2.0]), axis=0))
    if name == "numpy.polyval":
        return lambda t: function(np.array([1.0, 2.0, t]), t * t)
    known = REGISTRY.facts(function).recurrence[0]
    if "args" in known.given:
        others = (2,) * known.place
        return lambda t: function(*others, 0.5 * t * t)
    if known.first == "complex":
        return lambda t: function(t * (1.0 + 0.5j) + 0.25j)
    if varying == (0,):
        return lambda t: function(0.5 * t * t)
    if varying == (0, 1):
        return lambda t: function(1.0 + t * t, 0.5 * t)
    return lambda t: function(t * t, 1.5) if varying == (2,) else function(1.5, t * t)


def counts(function) -> list[tuple[int, ...]]:
    """Return which arguments may vary in calls of a function."""
    given = {word for known in REGISTRY.facts(function).recurrence for word in known.given}
    return [(0, 1), (1,), (2,)] if "y" in given else [(0,)]


@pytest.mark.parametrize(
    ("name", "varying"), [(name, v) for name, f in KNOWN.items() for v in counts(f)])
def test_coefficients_are_those_of_a_polynomial(name, varying):
    run = program(name, KNOWN[name], varying)
    value, found = taylor(run, (0.7,), (np.array([1.0, 0.0, 0.0]),))
    nodes = 0.1 * np.cos(np.pi * (np.arange(16) + 0.5) / 16)
    wanted = np.linalg.solve(np.vander(nodes / 0.1, increasing=True),
                             np.array([run(0.7 + h) for h in nodes]))
    for k, coefficient in enumerate([value, *np.ravel(found)]):
        assert np.isclose(coefficient, wanted[k] / 0.1**k, rtol=1e-6, atol=1e-8)


def test_a_rule_may_bring_its_own():
    def grown(x):
        return math.exp(x)

    scalar_rule(grown, lambda x, y: y)
    facts(grown, recurrence=exp_series)
    try:
        assert "exp_series(" in source(lambda x: grown(x), 0.5, mode="taylor")
        _, found = taylor(grown, (0.5,), (np.array([1.0, 0.0, 0.0]),))
        assert np.allclose(found, math.exp(0.5) / np.array([1.0, 2.0, 6.0]))
    finally:
        REGISTRY.remove(grown)


def test_words_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="given='dz'"):
        Recurrence(exp_series, ("x", "dz"))


def test_functions_that_have_one_have_a_rule():
    assert [n for n, f in KNOWN.items() if not REGISTRY.has_rules(f)] == []
    assert {display_name(f) for f in (math.exp, np.exp, np.prod)} <= set(KNOWN)
