"""Derivatives passed to SciPy's solvers as they are, or in the shapes that these ask for."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, sparse

from adcompiler import (
    derivative, grad, hessian, hvp, jacobian, sparse_hessian, sparse_jacobian, value_and_grad,
)
from adcompiler.interop.scipy import fit_jacobian, pointwise_jacobian, value_and_jacobian

START = np.array([1.2, 0.7, 1.1])


def decay(t: Any, a: Any, b: Any, c: Any) -> Any:
    return a * np.exp(-b * t) + c


def equations(x: Any) -> Any:
    return np.array([x[0] ** 2 + x[1] - 1.0, x[0] - x[1] ** 2])


ROOT = optimize.root(equations, [0.5, 0.5], tol=1e-13).x


def pendulum(t: float, y: Any, mu: float) -> Any:
    return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


def bratu(x: Any, y: Any) -> Any:
    return np.vstack((y[1], -np.exp(y[0])))


def ends(ya: Any, yb: Any) -> Any:
    return np.array([ya[0], yb[0]])


def sturm(x: Any, y: Any, p: Any) -> Any:
    return np.vstack((y[1], -(p[0] ** 2) * y[0]))


def sturm_ends(ya: Any, yb: Any, p: Any) -> Any:
    return np.array([ya[0], yb[0], ya[1] - p[0]])


# --- shapes of their own ----------------------------------------------------------------------


def test_curve_fit() -> None:
    t = np.linspace(0.0, 4.0, 30)
    data = decay(t, 2.5, 1.3, 0.5)
    found, covariance = optimize.curve_fit(decay, t, data, p0=[1, 1, 1], jac=fit_jacobian(decay))
    assert np.allclose(found, [2.5, 1.3, 0.5], rtol=1e-8)
    matrix = fit_jacobian(decay)(t, 2.5, 1.3, 0.5)
    wanted = np.stack([np.exp(-1.3 * t), -2.5 * t * np.exp(-1.3 * t), np.ones(30)], axis=1)
    assert matrix.shape == (30, 3) and np.allclose(matrix, wanted, rtol=1e-13)
    bounded, _ = optimize.curve_fit(
        decay, t, data, p0=[1, 1, 1], jac=fit_jacobian(decay), bounds=(0, 5), method="trf")
    assert np.allclose(bounded, [2.5, 1.3, 0.5], rtol=1e-6)
    assert covariance.shape == (3, 3)


def test_curve_fit_of_one_parameter_and_one_point() -> None:
    assert fit_jacobian(lambda t, a: a * t)(np.array([2.0]), 3.0).tolist() == [[2.0]]


def test_solve_bvp() -> None:
    x = np.linspace(0.0, 1.0, 5)
    found = integrate.solve_bvp(
        bratu, ends, x, np.zeros((2, 5)), fun_jac=pointwise_jacobian(bratu),
        bc_jac=jacobian(ends, argnums=(0, 1)), tol=1e-8)
    assert found.success and abs(found.sol(0.5)[0] - 0.1405392142) < 1e-8
    y = np.random.default_rng(0).normal(size=(2, 5))
    matrix = pointwise_jacobian(bratu)(x, y)
    wanted = np.zeros((2, 2, 5))
    wanted[0, 1] = 1.0
    wanted[1, 0] = -np.exp(y[0])
    assert np.allclose(matrix, wanted, rtol=1e-15, atol=0.0)


def test_solve_bvp_with_parameters() -> None:
    x = np.linspace(0.0, 1.0, 5)
    y = np.zeros((2, 5))
    y[0, 1], y[0, 3] = 1.0, -1.0
    found = integrate.solve_bvp(
        sturm, sturm_ends, x, y, p=[6.0], fun_jac=pointwise_jacobian(sturm),
        bc_jac=jacobian(sturm_ends, argnums=(0, 1, 2)), tol=1e-6)
    assert found.success and found.p[0] == pytest.approx(2 * np.pi, rel=1e-6)
    by_y, by_p = pointwise_jacobian(sturm)(x, y, np.array([3.0]))
    assert by_y.shape == (2, 2, 5) and by_p.shape == (2, 1, 5)
    assert np.allclose(by_p[1, 0], -6.0 * y[0]) and not by_p[0].any()


def test_root_with_the_value() -> None:
    both = value_and_jacobian(equations)
    found = optimize.root(both, [0.5, 0.5], jac=True)
    assert np.allclose(found.x, ROOT, rtol=1e-10)
    value, matrix = both(ROOT)
    assert np.array_equal(value, equations(ROOT))
    assert np.allclose(matrix, [[2 * ROOT[0], 1.0], [1.0, -2 * ROOT[1]]], rtol=1e-15)


def test_they_are_pickled() -> None:
    for made in (fit_jacobian(decay), pointwise_jacobian(bratu), value_and_jacobian(equations)):
        again = pickle.loads(pickle.dumps(made))
        assert repr(again) == repr(made)
    assert np.array_equal(
        pickle.loads(pickle.dumps(value_and_jacobian(equations)))(ROOT)[0], equations(ROOT))


# --- as they are ------------------------------------------------------------------------------


@pytest.mark.parametrize(("jac", "options"), [
    (jacobian(equations), {}),
    (sparse_jacobian(equations), {"tr_solver": "lsmr"}),
    (jacobian(equations).as_linear_operator, {"tr_solver": "lsmr"}),
], ids=["dense", "sparse", "operator"])
def test_least_squares(jac: Any, options: dict[str, Any]) -> None:
    found = optimize.least_squares(equations, [0.5, 0.5], jac=jac, xtol=1e-12, **options)
    assert np.allclose(found.x, ROOT, rtol=1e-7)


@pytest.mark.parametrize(("method", "hess"), [
    ("trust-exact", hessian(optimize.rosen)),
    ("trust-constr", sparse_hessian(optimize.rosen)),
    ("trust-constr", hessian(optimize.rosen).as_linear_operator),
    ("Newton-CG", hessian(optimize.rosen)),
], ids=["dense", "sparse", "operator", "newton"])
def test_minimize_with_hessians(method: str, hess: Any) -> None:
    found = optimize.minimize(
        optimize.rosen, START, jac=grad(optimize.rosen), hess=hess, method=method)
    assert np.allclose(found.x, 1.0, rtol=1e-5)


def test_minimize_with_value_and_gradient() -> None:
    assert np.allclose(
        optimize.minimize(value_and_grad(optimize.rosen), START, jac=True).x, 1.0, rtol=1e-5)
    found, _, _ = optimize.fmin_l_bfgs_b(value_and_grad(optimize.rosen), START)
    assert np.allclose(found, 1.0, rtol=1e-4)


def test_minimize_with_products_of_the_hessian() -> None:
    found = optimize.minimize(
        optimize.rosen, START, jac=grad(optimize.rosen), method="trust-ncg",
        hessp=lambda x, p: hvp(optimize.rosen, x, p))
    assert np.allclose(found.x, 1.0, rtol=1e-5)


def constraint(x: Any) -> Any:
    return x[1:] * x[:-1] - 1.5


def test_sparse_jacobians_of_constraints() -> None:
    def weighted(x: Any, v: Any) -> Any:
        return constraint(x) @ v

    bounds = optimize.NonlinearConstraint(
        constraint, 0.0, np.inf, jac=sparse_jacobian(constraint), hess=sparse_hessian(weighted))
    found = optimize.minimize(
        optimize.rosen, START * 1.5, jac=grad(optimize.rosen), hess=sparse_hessian(optimize.rosen),
        method="trust-constr", constraints=bounds)
    dense = optimize.minimize(
        optimize.rosen, START * 1.5, method="SLSQP",
        constraints={"type": "ineq", "fun": constraint})
    assert sparse.issparse(sparse_jacobian(constraint)(START))
    assert np.allclose(found.x, dense.x, rtol=1e-3) and (constraint(found.x) > -1e-6).all()


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_stiff_equations(method: str) -> None:
    exact = integrate.solve_ivp(
        pendulum, (0, 20), [2.0, 0.0], args=(50.0,), method="Radau", rtol=1e-10, atol=1e-12)
    kinds = [jacobian(pendulum, argnums=1)]
    kinds += [] if method == "LSODA" else [sparse_jacobian(pendulum, argnums=1)]
    for jac in kinds:
        found = integrate.solve_ivp(
            pendulum, (0, 20), [2.0, 0.0], args=(50.0,), method=method, jac=jac, rtol=1e-6,
            atol=1e-8)
        assert found.success and np.allclose(found.y[:, -1], exact.y[:, -1], rtol=1e-3)


def test_roots_of_numbers() -> None:
    def cube(x: float) -> float:
        return x**3 - 2.0

    second = derivative(derivative(cube))
    found = optimize.newton(cube, 1.0, fprime=derivative(cube), fprime2=second)
    assert found == pytest.approx(2 ** (1 / 3), rel=1e-12)
    assert optimize.root_scalar(
        cube, x0=1.0, fprime=grad(cube)).root == pytest.approx(2 ** (1 / 3), rel=1e-12)
    assert np.allclose(
        optimize.fsolve(equations, [0.5, 0.5], fprime=jacobian(equations)), ROOT, rtol=1e-8)
