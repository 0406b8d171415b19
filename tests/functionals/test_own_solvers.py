"""``implicit``: solvers of one's own have the derivatives of the equation that they solve."""

import math

import numpy as np
import pytest
from scipy import optimize

from adcompiler import (
    derivative, grad, hessian, implicit, jacfwd, jacobian, jvp, nth_derivative, vmap,
)

A = np.random.default_rng(0).normal(size=(3, 3)) + 4.0 * np.eye(3)
B = np.array([0.3, -1.0, 2.0])


def cubic(y, p):
    return y**3 + p * y - 2.0


@implicit(cubic)
def cubic_root(p):
    """Return the root, by a fixed number of steps."""
    y = 1.0
    for _ in range(50):
        y = y - cubic(y, p) / (3 * y * y + p)
    return y


def system(y, A, b):
    return A @ y + 0.1 * np.tanh(y) - b


@implicit(system, returns=np.empty(0))
def by_library(A, b):
    found = {}
    exec("from scipy.optimize import root", found)  # nothing that compiles
    return found["root"](lambda y: system(y, A, b), np.zeros(3), tol=1e-14).x


def by_rule(A, b):
    return optimize.root(lambda y: system(y, A, b), np.zeros(3), tol=1e-14).x


def test_it_is_the_solver_when_it_is_called():
    assert cubic_root.__doc__ == "Return the root, by a fixed number of steps."
    assert cubic(cubic_root(1.5), 1.5) == pytest.approx(0.0, abs=1e-15)
    assert np.allclose(system(by_library(A, B), A, B), 0.0)


def test_derivatives_of_a_number_in_all_modes_and_orders():
    y = cubic_root(1.5)
    slope = -y / (3 * y * y + 1.5)
    for found in (
        grad(cubic_root)(1.5), jvp(cubic_root, (1.5,), (1.0,))[1], derivative(cubic_root)(1.5),
    ):
        assert math.isclose(found, slope, rel_tol=1e-13)
    h = 1e-4
    second = (grad(cubic_root)(1.5 + h) - grad(cubic_root)(1.5 - h)) / (2 * h)
    assert math.isclose(grad(grad(cubic_root))(1.5), second, rel_tol=1e-6)
    third = (grad(grad(cubic_root))(1.5 + h) - grad(grad(cubic_root))(1.5 - h)) / (2 * h)
    assert math.isclose(nth_derivative(cubic_root, 3)(1.5), third, rel_tol=1e-5)
    p = np.array([1.5, 2.0])
    assert np.allclose(vmap(grad(cubic_root))(p), [grad(cubic_root)(q) for q in p], rtol=1e-14)


def test_derivatives_of_a_system_are_those_of_a_solver_with_a_rule():
    y = by_library(A, B)
    exact = np.linalg.inv(A + 0.1 * np.diag(1 - np.tanh(y) ** 2))
    assert np.allclose(jacobian(by_library, 1)(A, B), exact, rtol=1e-12)
    assert np.allclose(jacfwd(by_library, 1)(A, B), exact, rtol=1e-12)
    A_bar = grad(lambda A: np.sum(by_library(A, B) ** 2))(A)
    assert np.allclose(A_bar, -np.outer(exact.T @ (2 * y), y), rtol=1e-11)
    second, known = (hessian(lambda b, f=f: np.sum(f(A, b) ** 3))(B) for f in (by_library, by_rule))
    assert np.allclose(second, known, rtol=1e-8)


def test_derivatives_go_to_what_the_residual_captures_and_to_parts_of_parameters():
    def root_of_product(c):
        @implicit(lambda y, p: y * y - p * c)
        def root(p):
            return math.sqrt(p * c)

        return root(2.0)

    assert math.isclose(grad(root_of_product)(3.0), math.sqrt(2.0 / 3.0) / 2, rel_tol=1e-14)

    @implicit(lambda y, p, n: y - p["a"] * n, returns=0.0)
    def scaled(p, n):
        return np.float64(p["a"] * n)

    assert grad(lambda p: scaled(p, 3))({"a": 2.0}) == {"a": 3.0}
    assert type(scaled({"a": 2.0}, 3)) is float


def test_what_solves_nothing_has_no_derivative():
    @implicit(system, returns=np.empty(0))
    def wrong(A, b):
        return np.zeros(3)

    loose = implicit(system, rtol=10.0, returns=np.empty(0))(lambda A, b: np.zeros(3))
    for run in (
        lambda: grad(lambda b: np.sum(wrong(A, b)))(B),
        lambda: jvp(lambda b: wrong(A, b), (B,), (B,)),
    ):
        with pytest.raises(ValueError, match="leads farther than `rtol`"):
            run()
    exact = np.linalg.inv(A + 0.1 * np.eye(3))
    assert np.allclose(jacobian(lambda b: loose(A, b))(B), exact)
    with pytest.raises(ValueError, match="has not found a solution"):  # the slope there is 0
        grad(implicit(lambda y, p: y * y - p)(lambda p: 0.0 * p))(0.0)
    with pytest.raises(TypeError, match="1 axes, but `returns` has 0"):
        implicit(lambda y, p: y - p, returns=0.0)(lambda p: np.array([p]))(3.0)
    for returns in (0, np.zeros(1, int), True):  # what is between them would be cut off
        with pytest.raises(TypeError, match="`returns` is a float, a complex number"):
            implicit(lambda y, p: y - p, returns=returns)
        with pytest.raises(TypeError, match="`returns` is a float, a complex number"):
            grad(lambda p, r=returns: np.sum(implicit(lambda y, p: y - p, returns=r)(
                lambda p: p + np.zeros(np.shape(r)))(p)))(2.5)
    with pytest.raises(TypeError, match="same_kind"):
        implicit(lambda y, p: y - p, returns=0.0)(lambda p: p + 1j)(3.0)
    with pytest.raises(TypeError, match="a number or an array"):
        grad(lambda p: implicit(lambda y, p: y[0] - p)(lambda p: (p,))(p)[0])(3.0)
    with pytest.raises(ValueError, match="2 equations in 3 unknowns"):
        grad(lambda b: np.sum(implicit(lambda y, b: (A @ y - b)[:2])(
            lambda b: np.linalg.solve(A, b))(b)))(B)


def coupled(y, p):
    return 3.0 * y + 0.1 * np.roll(y, 1) + 0.1 * y**3 - p


def iterated(p, times):
    y = np.zeros(p.size)
    for _ in range(times):
        y = (p - 0.1 * np.roll(y, 1) - 0.1 * y**3) / 3.0
    return y


@implicit(coupled)
def many_unknowns(p):
    return iterated(p, 60)


@implicit(coupled)
def stopped(p):
    return iterated(p, 2)


def test_more_unknowns_than_are_written_out():
    p, v, h = np.linspace(0.1, 1.0, 450), np.cos(np.arange(450)), 1e-5

    def f(p):
        return np.sum(many_unknowns(p) ** 2)

    assert np.isclose(grad(f)(p) @ v, (f(p + h * v) - f(p - h * v)) / (2 * h), rtol=1e-7)
    with pytest.raises(ValueError, match="farther than"):
        grad(lambda p: np.sum(stopped(p) ** 2))(p)
