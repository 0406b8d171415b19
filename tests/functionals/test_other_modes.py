"""Checkpoints, solutions and external functions: batches, second order, forward mode, patterns."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize

from adcompiler import (
    ExternalFunction, MissingRuleError, UnsupportedError, checkpoint, checkpoint_loop, grad,
    jacobian_sparsity, jvp, value_and_grad,
)
from adcompiler.api.seeds import batched_vjp

X = np.array([1.1, 1.2, 1.3])


class Square(ExternalFunction):
    returns = np.empty(0)

    def forward(self, x):
        self.x = x
        return x * x

    def adjoint(self, y_bar):
        return 2.0 * self.x * y_bar


square = Square()


def step(x):
    return np.sin(x) * x[::-1]


def checkpointed(x):
    return checkpoint(step, x) * x


def external(x):
    return square(x) * x


def revolved(x):
    return checkpoint_loop(step, x, 4, slots=2)


def roots(p):
    return optimize.root(lambda x: x**3 - p, np.ones(3), tol=1e-13).x


def trajectory(x):
    return integrate.solve_ivp(
        lambda t, y: -y * x, (0.0, 1.0), x, rtol=1e-10, atol=1e-12).y[:, -1]


@pytest.mark.parametrize("f", [checkpointed, external, revolved, roots, trajectory])
def test_many_cotangents_at_once(f):
    _, pullback = batched_vjp(f, X)
    columns = [(f(X + d) - f(X - d)) / 2e-5 for d in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(pullback(np.eye(3))[0], np.stack(columns, 1), atol=1e-7)


def four(x):
    for _ in range(4):
        x = math.sin(x)
    return x


@pytest.mark.parametrize("f", [
    lambda x: checkpoint(four, x) * x, lambda x: checkpoint_loop(math.sin, x, 6, every=2),
])
def test_checkpoints_in_second_order_and_forward_mode(f):
    h = 1e-5
    wanted = (grad(f)(1.3 + h) - grad(f)(1.3 - h)) / (2 * h)
    assert grad(grad(f))(1.3) == pytest.approx(wanted, rel=1e-8)
    assert jvp(f, (1.3,), (2.0,))[1] == pytest.approx(2.0 * grad(f)(1.3), rel=1e-13)


@pytest.mark.parametrize("f", [
    lambda p: integrate.quad(lambda x: math.exp(-p * x), 0.0, 1.0)[0],
    lambda p: checkpoint_loop(math.sin, p, 6, slots=2),
])
def test_second_derivatives_of_solutions_are_refused(f):
    with pytest.raises(UnsupportedError, match="second derivative of this solution"):
        grad(grad(f))(1.3)
    with pytest.raises(UnsupportedError, match="second derivative of this solution"):
        grad(lambda p: value_and_grad(f)(p)[0])(1.3)


def test_tangents_of_loops_with_slots_are_refused():
    with pytest.raises(MissingRuleError, match="not known in forward mode"):
        jvp(lambda p: checkpoint_loop(math.sin, p, 6, slots=2), (1.3,), (1.0,))


def test_patterns():
    found = jacobian_sparsity(checkpointed, X).toarray()
    assert found.astype(int).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert jacobian_sparsity(external, X).toarray().all()
    for f in (roots, revolved, trajectory):
        with pytest.raises(UnsupportedError):
            jacobian_sparsity(f, X)
