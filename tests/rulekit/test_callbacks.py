"""D18: rules that ask for derivatives of a function that they are given."""

import functools

import numpy as np
import pytest

from adcompiler import MissingRuleError, grad, jvp, rrule, source, value_and_grad, vjp


def twice(g, x):
    return g(g(x))


def each(g, xs):
    return [g(x) for x in xs]


def folded(g, xs, start):
    return functools.reduce(g, xs, start)


@pytest.fixture
def rules():
    @rrule(twice, wrt=("x",))
    def twice_rule(g, x):
        y, pull_first = vjp(g, x)
        z, pull_second = vjp(g, y)

        def twice_pullback(dz):
            (dy,) = pull_second(dz)
            (dx,) = pull_first(dy)
            return dx

        return z, twice_pullback

    @rrule(each, wrt=("xs",))
    def each_rule(g, xs):
        ys = [g(x) for x in xs]

        def each_pullback(dys):
            return [vjp(g, x)[1](dy)[0] for x, dy in zip(xs, dys, strict=True)]

        return ys, each_pullback

    @rrule(folded, wrt=("xs", "start"))
    def folded_rule(g, xs, start):
        totals = [start]
        for x in xs:
            totals.append(g(totals[-1], x))

        def folded_pullback(dy):
            dxs = [0.0] * len(xs)
            for i in range(len(xs) - 1, -1, -1):
                dy, dxs[i] = vjp(g, totals[i], xs[i])[1](dy)
            return dxs, dy

        return totals[-1], folded_pullback


def test_D18_a_function_applied_twice(rules):
    def f(x):
        return twice(lambda t: t * t + 1.0, x)

    assert value_and_grad(f)(2.0) == (26.0, 40.0)
    assert "vjp" not in source(f, 2.0)  # the derivative asked for is written in place
    assert jvp(f, (2.0,), (1.0,)) == (26.0, 40.0)

    def arrays(x):
        return np.sum(twice(np.sin, x) * x)

    x = np.array([0.5, -1.0])
    s = np.sin(x)
    np.testing.assert_allclose(
        grad(arrays)(x), np.sin(s) + x * np.cos(s) * np.cos(x), rtol=1e-13)


def test_D18_map_and_reduce_as_rules(rules):
    def cubes(x):
        return sum(each(lambda t: t * t * t, [x, 2.0 * x]))

    assert grad(cubes)(2.0) == 3.0 * 4.0 + 2.0 * 3.0 * 16.0

    def horner(x, a, b, c):
        return folded(lambda total, one: total * 3.0 + one, [a, b, c], x)

    assert grad(horner, argnums=(0, 1, 2, 3))(1.0, 2.0, 3.0, 4.0) == (27.0, 9.0, 3.0, 1.0)


def test_D18_a_function_that_carries_a_derivative_itself_is_refused(rules):
    with pytest.raises(MissingRuleError, match="with respect to its argument `g`"):
        grad(lambda x, w: twice(lambda t: t * t * w, x), argnums=(0, 1))(2.0, 3.0)
