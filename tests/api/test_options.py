"""Arguments that choose what is done: code is compiled for their values where it has to be."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, jvp, vjp

X = 0.3


class Steps:
    def __init__(self, kind="p"):
        self.kind = kind

    def _square(self, x):
        return x * x

    def _double(self, x):
        return x + x

    def run(self, x, suffix):
        return getattr(self, "_" + suffix)(x)

    def of_kind(self, x):
        return getattr(self, "_" + self.kind)(x)


def by_name(x, name):
    return getattr(np, name)(x) * x


def of_two_types(x, flag):
    y = {True: np.ones(3), False: None}[flag]
    if y is None:
        return x * x
    y += x
    return np.sum(y * y)


def counted(x, n):
    return [np.sin, np.cos][n](x)


def test_code_for_each_value():
    gradient = grad(by_name)
    assert gradient(X, "sin") == np.cos(X) * X + np.sin(X)
    np.testing.assert_allclose(gradient(X, "cos"), np.cos(X) - np.sin(X) * X)
    assert gradient(X, name="sin") == np.cos(X) * X + np.sin(X)
    table = gradient.specialisations.table
    assert len(table) == 2 and all(len(found) == 1 for found in table.values())


def test_methods_and_attributes():
    assert grad(Steps().run)(X, "square") == 2.0 * X
    assert grad(Steps().run)(X, "double") == 2.0
    steps = Steps("square")
    gradient = grad(steps.of_kind)
    assert gradient(X) == 2.0 * X
    steps.kind = "double"
    assert gradient(X) == 2.0


def test_forward_and_pairs():
    value, pullback = vjp(by_name, X, "exp", argnums=0)
    assert value == np.exp(X) * X
    np.testing.assert_allclose(pullback(1.0), np.exp(X) * (X + 1.0))
    np.testing.assert_allclose(
        jvp(by_name, (X, "exp"), (2.0, None))[1], 2.0 * np.exp(X) * (X + 1.0))


def test_flags_and_numbers():
    gradient = grad(of_two_types)
    assert gradient(X, False) == 2.0 * X
    np.testing.assert_allclose(gradient(X, True), 6.0 * (1.0 + X))
    assert grad(counted)(X, 1) == -np.sin(X)


def test_what_needs_no_values_is_compiled_once():
    def scaled(x, name, n):
        return x**n * len(name)

    gradient = grad(scaled)
    assert [gradient(2.0, name, n) for name, n in (("a", 2), ("bb", 2), ("a", 3))] == [
        4.0, 8.0, 12.0
    ]
    assert len(gradient.specialisations.table) == 1


def test_the_first_refusal_is_reported():
    def refused(x, name):
        return float(f"{x:.3f}") * len(name)

    with pytest.raises(UnsupportedError, match="text"):
        grad(refused)(X, "a")
