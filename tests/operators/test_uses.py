"""Operators as users write them in what is differentiated: on methods, in loops, on trees."""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from adcompiler import (
    UnsupportedError, batched_vjp, derivative, elementwise_grad, fmad, grad, hessian, hvp, jacfwd,
    jacobian, jacrev, jet, linearize, nth_derivative, sparse_jacobian, taylor, value_and_grad,
)
from tests.lanes import one_in

X = np.array([0.7, 1.2, 2.1])


def same(found, expected):
    assert np.shape(found) == np.shape(expected)
    assert np.allclose(found, expected, rtol=1e-11, atol=1e-13), found


def cubes(a):
    return a**3


# -- which variable is meant ----------------------------------------------------------------------

OPERATORS = (derivative, elementwise_grad, grad, jacobian, jacfwd, jacrev, fmad)


@pytest.mark.parametrize("outer", OPERATORS)
def test_outer_variables_are_constants_of_inner_derivatives(outer):
    for inner in OPERATORS:
        def sums(x, inner=inner):
            return x * inner(lambda y: x + y)(1.0)

        def same_point(x, inner=inner):
            return x * inner(lambda y: x * y * y)(x)

        def three(x, inner=inner):
            return inner(lambda y: x * inner(lambda z: x * y * z * z)(x * y))(x)

        same(outer(sums)(1.0), 1.0)
        same(outer(same_point)(3.0), 6.0 * 9.0)
        same(outer(three)(2.0), 16.0 * 8.0)


@pytest.mark.parametrize("outer", [jacobian, jacfwd, jacrev])
def test_outer_arrays_are_constants_of_inner_derivatives(outer):
    def rows(a):
        return outer(lambda b: a * np.sum(outer(lambda c: c * a * b)(a)))(a)

    same(rows(X), np.outer(X, X))
    expected = np.einsum("ik,j->ijk", np.eye(3), X) + np.einsum("i,jk->ijk", X, np.eye(3))
    same(jacobian(rows)(X), expected)


# -- where operators stand ------------------------------------------------------------------------


@grad
def decorated(a):
    return np.sum(np.sin(a) * a)


@hessian(argnums=1)
def decorated_with_options(k, a):
    return k * np.sum(a**3)


def test_decorators():
    same(jacobian(decorated)(X), np.diag(2 * np.cos(X) - X * np.sin(X)))
    same(grad(lambda k: np.sum(decorated_with_options(k, X)))(2.0), np.sum(6 * X))


@pytest.mark.parametrize(("found", "expected"), [
    (lambda: derivative(derivative(math.sin))(0.3), -math.sin(0.3)),
    (lambda: grad(derivative(np.sin))(0.3), -math.sin(0.3)),
    (lambda: jacobian(jacobian(np.sum))(X), np.zeros((3, 3))),
    (lambda: jacobian(grad(np.linalg.norm))(X),
     np.eye(3) / np.sqrt(X @ X) - np.outer(X, X) / (X @ X) ** 1.5),
])
def test_functions_of_libraries(found, expected):
    same(found(), expected)


class Model:
    def __init__(self, w):
        self.w = w

    def energy(self, a):
        return np.sum(np.sin(a * self.w))

    def laplacian(self, a):
        return np.trace(hessian(self.energy)(a))


def test_methods():
    model = Model(np.array([1.0, 2.0, 3.0]))
    same(jacobian(grad(model.energy))(X), np.diag(-model.w**2 * np.sin(X * model.w)))
    same(grad(model.laplacian)(X), -model.w**3 * np.cos(X * model.w))


def scaled_cubes(k, a):
    return k * a**3


ROWS = functools.partial(jacobian, scaled_cubes)
SLOPES = functools.partial(grad(lambda k, a: k * np.sum(a**3), argnums=1), 2.0)
TABLE = {"jacobian": jacobian, "grad": grad}


def test_partial_calls_tables_and_arguments():
    same(grad(lambda k: np.sum(ROWS(argnums=1)(k, X)))(2.0), np.sum(3 * X**2))
    same(jacobian(SLOPES)(X), np.diag(12 * X))

    def by_name(a, name):
        return np.sum(TABLE[name](lambda b: np.sum(b**3))(a))

    def applied(a, operator):
        return np.sum(operator(lambda b: np.sum(b**3))(a))

    same(grad(lambda a: by_name(a, "jacobian") + by_name(a, "grad"))(X), 12 * X)
    for operator in (jacobian, jacfwd, jacrev, grad, fmad):
        same(grad(lambda a, operator=operator: applied(a, operator))(X), 6 * X)


def test_loops_and_comprehensions():
    def loop(a):
        total = 0.0
        for operator in (jacobian, grad, jacfwd):
            for i in range(3):
                total = total + i * np.sum(operator(lambda b: np.sum(b**3 * i))(a))  # noqa: B023
        return total

    def comprehension(a):
        return sum([np.sum(jacobian(lambda b: b**3 * k)(a)) for k in range(3)])  # noqa: B023

    same(grad(loop)(X), 3 * 5 * 6 * X)
    same(grad(comprehension)(X), 3 * 6 * X)


def test_functions_of_a_comprehension_that_outlive_their_item_are_refused():
    def f(x):
        made = [lambda: x * k for k in (1.0, 2.0)]  # noqa: B023
        return made[0]()

    assert f(1.0) == 2.0
    with pytest.raises(UnsupportedError, match="is kept, and reads a variable"):
        grad(f)(1.0)


# -- what is differentiated -----------------------------------------------------------------------


def in_place(a):
    b = a.copy()
    b[0] = b[1] * b[2]
    b *= 2.0
    return b


def branch(a):
    if a[0] > 0.5:
        return a**2
    return a**3


def overwriting(a):
    a[0] = a[1] ** 2
    return a * a


def recursive(a, n):
    return a if n == 0 else np.sin(recursive(a, n - 1))


def attempted(a):
    try:
        b = np.linalg.solve(np.diag(a), np.ones(3))
    except np.linalg.LinAlgError:
        b = a
    return b * b


@pytest.mark.parametrize("operator", one_in(3, [jacobian, jacfwd, jacrev]))
def test_functions_with_writes_branches_recursion_and_try(operator):
    second = np.zeros((3, 3, 3))
    second[0, 1, 2] = second[0, 2, 1] = 2.0
    same(jacobian(operator(in_place))(X), second)
    same(grad(lambda a: np.sum(operator(branch)(a)))(X), np.full(3, 2.0))
    same(jacfwd(lambda a: np.sum(operator(overwriting)(a.copy())))(X),
         np.array([0.0, 12 * X[1] ** 2 + 2, 2.0]))
    curvature = nth_derivative(lambda t: math.sin(math.sin(t)), 2)(X[1])
    same(operator(operator(lambda a: recursive(a, 2)))(X)[1, 1, 1], curvature)
    same(jacobian(operator(attempted))(X)[1, 1, 1], 6 / X[1] ** 4)


@dataclass
class Pair:
    u: np.ndarray
    k: float


class Parts(NamedTuple):
    a: np.ndarray
    b: float


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_trees(operator):
    def of_dict(p):
        return {"u": p["w"] * p["b"], "v": (np.sum(p["w"] ** 2), p["b"] ** 3)}

    def rows(q):
        return operator(of_dict)({"w": q, "b": 2.0})

    same(jacobian(lambda q: rows(q)["v"][0]["w"])(X), 2 * np.eye(3))
    same(jacobian(lambda q: rows(q)["u"]["b"])(X), np.eye(3))
    same(grad(lambda b: rows(X * b)["u"]["w"].sum())(2.0), 0.0)
    same(jacobian(lambda q: operator(lambda q: [2 * q * q, np.sum(q)])(q)[0])(X),
         4 * np.einsum("ij,jk->ijk", np.eye(3), np.eye(3)))
    same(jacobian(lambda q: operator(lambda q: Parts(q, np.sum(q**3)))(q).b)(X), np.diag(6 * X))
    same(jacobian(lambda q: operator(lambda p: p.a**2 * p.b)(Parts(q, 2.0)).b)(X), np.diag(2 * X))
    if operator is not jacfwd:
        found = jacobian(lambda q: operator(lambda q: Pair(2 * q, np.sum(q**3)))(q).k)(X)
        same(found, np.diag(6 * X))
    parts = operator(lambda a: (a * a, None, "text"))
    same(grad(lambda q: parts(q)[0])(2.0), 2.0)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_arguments_and_options(operator):
    both = jacobian(lambda k: operator(scaled_cubes, argnums=(0, 1))(k, X))(2.0)
    same(both[0], np.zeros(3))
    same(both[1], np.diag(3 * X**2))
    by_name = operator(scaled_cubes, argnums="a")
    same(grad(lambda k: np.sum(by_name(a=X, k=k)))(2.0), np.sum(3 * X**2))
    part = operator(lambda p: p["w"] ** 3, argnums="p.w")
    same(grad(lambda q: np.sum(part({"w": q, "name": "text"})))(X), 6 * X)
    starred = operator(lambda *a: a[0] * a[1] ** 2, argnums=1)
    same(grad(lambda q: np.sum(starred(q, X)))(2.0), np.sum(2 * X))
    z = np.array([1 + 2j, 0.3 - 1j])
    analytic = operator(lambda z, t: z**2 * t, holomorphic=True)
    same(grad(lambda t: np.sum(analytic(z, t)).imag)(2.0), np.sum(2 * z).imag)
    same(jacobian(lambda t: operator(lambda y: y**3 * t)(np.array([1, 2])))(3.0),
         np.diag([3.0, 12.0]))
    found = grad(lambda t: np.sum(operator(cubes)(t)))(X.astype(np.float32))
    assert found.dtype == np.float32 and np.allclose(found, 6 * X, rtol=1e-5)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_shapes_without_axes_and_without_elements(operator):
    same(jacobian(lambda q: operator(cubes)(np.zeros(0)) * q)(1.0), np.zeros((0, 0)))
    same(jacobian(lambda q: operator(cubes)(np.array(q)))(2.0), 12.0)
    same(jacobian(lambda q: operator(lambda a: 3.0)(q))(2.0), 0.0)
    same(jacobian(lambda q: operator(lambda a: np.ones(2))(q))(X), np.zeros((2, 3, 3)))


def test_other_results():
    same(jacobian(lambda q: grad(lambda a: (np.sum(a**3), a), has_aux=True)(q)[0])(X),
         np.diag(6 * X))
    same(jacobian(lambda q: value_and_grad(lambda a: np.sum(a**3))(q)[1])(X), np.diag(6 * X))
    first, second = jacobian(
        lambda q: fmad(lambda a, b: np.sum(a**3) * b, argnums=(0, 1))(q, 2.0))(X)
    same(first, np.diag(12 * X))
    same(second, 3 * X**2)
    same(jacobian(fmad(lambda a: np.sum(a**3).reshape(1)))(X), np.diag(6 * X))
    same(grad(lambda t: sum(jet(lambda y: y**4, 3)(t)))(1.5), 4 * 1.5**3 + 12 * 1.5**2 + 24 * 2.5)
    same(grad(lambda k: nth_derivative(lambda y, k: k * y**4, 3)(1.5, k))(2.0), 24 * 1.5)
    same(grad(lambda t: linearize(lambda p, k: p["a"] * k, {"a": t}, 3.0)[1](None, t))(1.5), 3.0)
    same(grad(lambda t: linearize(lambda p, k: p**k, t, 3)[1](2.0, None))(1.5), 12 * 1.5)
    named = hessian(lambda s, a: s**2 * np.sum(np.sin(a) * s), argnums="a")
    same(grad(lambda s: np.sum(named(s, X)))(1.3), -3 * 1.3**2 * np.sum(np.sin(X)))


# -- what is refused ------------------------------------------------------------------------------


SPARSE = sparse_jacobian(cubes)


def problems(call):
    with pytest.raises(UnsupportedError) as caught:
        call()
    return caught.value.findings


def of_list(a, mode):
    return np.sum(jacobian(lambda b: b**2, mode=mode)(a))


def test_what_is_refused_is_told_of_the_line_that_asks_for_it():
    for call, problem in (
        (lambda: grad(of_list)(X, "reverse"), "which derivative"),
        (lambda: grad(lambda a: np.sum(batched_vjp(cubes, a)[1](np.eye(3))[0]))(X), "batched_vjp"),
        (lambda: grad(lambda t: taylor(cubes, (t,), (np.ones(2),))[1][0])(1.0), "taylor"),
        (lambda: grad(lambda a: np.sum(jacobian(cubes, out=X)(a)))(X), "out="),
        (lambda: grad(lambda a: np.sum(SPARSE(a).data))(X), "sparse_jacobian"),
        (lambda: jacobian(lambda a: derivative(cubes)(a))(X), "derivative() in the argument"),
        (lambda: jacobian(lambda a: hvp(cubes, a, X, mode="fwd_fwd"))(X), "mode='fwd_fwd'"),
        (lambda: jacobian(lambda a: jacobian(np.exp)(a * 1j))(X), "complex numbers"),
    ):
        found = problems(call)
        assert any(problem in one.problem for one in found), found
        assert all(one.file == __file__ for one in found), found
