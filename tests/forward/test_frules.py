"""Forward rules: alone, beside reverse rules, and pushforwards derived from pullbacks."""

import math

import numpy as np
import pytest

from adcompiler import MissingRuleError, frule, grad, jvp, rrule, source
from adcompiler.rulekit import REGISTRY


@pytest.fixture
def forget():
    functions = []
    yield functions.append
    for function in functions:
        REGISTRY.remove(function)


def test_value_and_tangent_share_what_they_have_in_common(forget):
    def tilted(x, slope):
        return math.sqrt(x * x + slope)

    @frule(tilted)
    def tilted_forward(primals, tangents):
        (x, slope), (dx, dslope) = primals, tangents
        root = math.sqrt(x * x + slope)
        d = 0.0 if dx is None else x * dx
        if dslope is not None:
            d = d + 0.5 * dslope
        return root, d / root

    forget(tilted)

    def f(x, s):
        return tilted(x, s) * 2.0

    assert jvp(f, (3.0, 16.0), (1.0, None)) == (10.0, 1.2)
    assert jvp(f, (3.0, 16.0), (1.0, 2.0)) == (10.0, 1.6)
    assert source(f, 3.0, 16.0, mode="forward").count("math.sqrt") == 1
    with pytest.raises(MissingRuleError):
        grad(f)(3.0, 16.0)


def test_beside_a_reverse_rule(forget):
    def cube(x):
        return x**3

    @rrule(cube)
    def cube_rule(x):
        def cube_pullback(dy):
            return 3.0 * x * x * dy

        return x**3, cube_pullback

    @frule(cube)
    def cube_forward(primals, tangents):
        (x,), (dx,) = primals, tangents
        square = x * x
        return square * x, 300.0 * square * dx  # tells that it is this rule

    forget(cube)
    assert jvp(lambda x: cube(x), (2.0,), (1.0,)) == (8.0, 1200.0)
    assert grad(lambda x: cube(x))(2.0) == 12.0


def test_keywords_and_containers(forget):
    def scaled(xs, factor=1.0):
        return [factor * x for x in xs]

    @frule(scaled)
    def scaled_forward(primals, tangents, factor=1.0):
        (xs,), (dxs,) = primals, tangents
        return [factor * x for x in xs], [factor * d for d in dxs]

    forget(scaled)
    value, along = jvp(lambda x: scaled([x, 2.0], factor=3.0)[0], (5.0,), (1.0,))
    assert (value, along) == (15.0, 3.0)


def test_a_pushforward_is_derived_from_a_pullback(forget):
    def solve(A, b):
        return np.linalg.solve(A, b)

    @rrule(solve)
    def solve_rule(A, b):
        inverse = np.linalg.inv(A)
        x = inverse @ b

        def solve_pullback(dx):
            db = inverse.T @ dx
            return -np.outer(db, x), db

        return x, solve_pullback

    forget(solve)
    rng = np.random.default_rng(0)
    A, b, dA, db = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=(3, 3)), np.ones(3)
    value, along = jvp(lambda A, b: solve(A, b), (A, b), (dA, db))
    assert np.allclose(along, np.linalg.solve(A, db - dA @ value))
    text = source(lambda A, b: solve(A, b), A, b, mode="forward", argnums=(0, 1))
    assert text.count("np.linalg.inv") == 1


def test_a_pullback_that_is_not_linear_is_refused(forget):
    def odd(x):
        return 2.0 * x

    @rrule(odd)
    def odd_rule(x):
        def odd_pullback(dy):
            return 2.0 * dy * dy

        return 2.0 * x, odd_pullback

    forget(odd)
    with pytest.raises(MissingRuleError, match="not linear in the cotangent"):
        jvp(lambda x: odd(x), (1.0,), (1.0,))
