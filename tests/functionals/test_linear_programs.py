"""Linear programs: a vertex moves with the constraints that hold there."""

import numpy as np
import pytest
from scipy import optimize

from adcompiler import grad, hessian, jvp

C = np.array([-1.0, -2.0, 0.3])
A = np.array([[1.0, 2.0, 1.0], [3.0, 1.0, -1.0]])
B = np.array([4.0, 5.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])


def solved(c, a, b, total, top):
    return optimize.linprog(
        c, A_ub=a, b_ub=b, A_eq=[[1.0, 1.0, 1.0]], b_eq=[total],
        bounds=[(0, None), (0.0, 3), (None, top)])


def test_every_argument_has_the_derivatives_of_the_equations_that_hold():
    def vertex(c, a, b, total, top):
        return np.sum(WEIGHTS * solved(c, a, b, total, top).x ** 2)

    def exact(c, a, b, total, top):
        rows = np.stack((np.ones(3), a[0], a[1]))
        return np.sum(WEIGHTS * np.linalg.solve(rows, np.array([total, b[0], b[1]])) ** 2)

    args = C, A, B, 2.5, 2.0
    everything = (0, 1, 2, 3, 4)
    found, wanted = (grad(f, argnums=everything)(*args) for f in (vertex, exact))
    for bar, other in zip(found, wanted, strict=True):
        assert np.allclose(bar, other, rtol=1e-9, atol=1e-12)
    v = np.arange(6.0).reshape(2, 3)
    tangent = jvp(lambda a: vertex(C, a, B, 2.5, 2.0), (A,), (v,))[1]
    assert np.isclose(tangent, np.sum(found[1] * v))
    curvature = hessian(lambda s: vertex(C, A * s, B, 2.5, 2.0))(1.1)
    assert np.isclose(curvature, hessian(lambda s: exact(C, A * s, B, 2.5, 2.0))(1.1))


def test_bounds_and_costs():
    def value(c, top):
        return optimize.linprog(c, bounds=[(0, top), (0, 2.0 * top)]).fun

    assert value(np.array([-1.0, -1.5]), 2.0) == -8.0
    c_bar, top_bar = grad(value, argnums=(0, 1))(np.array([-1.0, -1.5]), 2.0)
    assert np.allclose(c_bar, [2.0, 4.0])
    assert np.isclose(top_bar, -4.0)

    def fixed(u):
        found = optimize.linprog([-1, -1.5], A_ub=[[1, 1]], b_ub=[5], bounds=[(u, u), (0, None)])
        return found.x[1] + 10.0 * found.slack[0] + found.x[0]

    assert (fixed(2.0), grad(fixed)(2.0)) == (5.0, 0.0)
    box = np.array([[0.0, 1.0], [0.0, 2.0]])
    box_bar = grad(lambda box: optimize.linprog([1.0, -1.0], bounds=box).fun)(box)
    assert np.array_equal(box_bar, [[1.0, 0.0], [0.0, -1.0]])


UNDETERMINED = {
    "ties": (lambda b: optimize.linprog([-1, -1], A_ub=[[1.0, 1.0]], b_ub=b).x[0], 1.0, "is 0"),
    "ties of costs": (
        lambda b: optimize.linprog([-b[0], -b[0]], A_ub=[[1.0, 1.0]], b_ub=[1.0]).fun, 1.0, "is 0"),
    "too many": (
        lambda b: optimize.linprog(
            [-1, -1.5], A_ub=[[1.0, 1.0], [1, 0], [0, 1]], b_ub=[b[0], 1, 1]).x[0], 2.0,
        "more constraints hold"),
    "infeasible": (
        lambda b: optimize.linprog([1, 1], A_ub=[[1.0, 1.0]], b_ub=b).x.sum(), -1.0, "no solution"),
}


@pytest.mark.parametrize("name", UNDETERMINED)
def test_a_vertex_that_is_not_determined_has_no_derivative(name):
    f, b, words = UNDETERMINED[name]
    with pytest.raises(ValueError, match=words):
        grad(f)(np.array([b]))
    with pytest.raises(ValueError, match=words):
        jvp(f, (np.array([b]),), (np.ones(1),))
