"""Every operator around every other, and three of them, against closed forms of all orders."""

import functools
import itertools
import math

import numpy as np
import pytest

from adcompiler import (
    derivative, elementwise_grad, fmad, grad, hessian, hvp, jacfwd, jacobian, jacrev, jet, jvp,
    linearize, nth_derivative, value_and_grad, vhp, vjp,
)
from tests.lanes import one_in

# -- functions of a number ------------------------------------------------------------------------


def wave(x):
    return math.sin(x) * x**2


def slope_of_wave(x, order):
    def sine(k):
        return math.sin(x + k * math.pi / 2)

    return x**2 * sine(order) + 2 * order * x * sine(order - 1) + (
        order * (order - 1) * sine(order - 2))


OF_A_NUMBER = {
    "grad": (1, grad),
    "value_and_grad": (1, lambda f: lambda x: value_and_grad(f)(x)[1]),
    "derivative": (1, derivative),
    "elementwise_grad": (1, elementwise_grad),
    "jacobian": (1, jacobian),
    "jacfwd": (1, jacfwd),
    "jacrev": (1, jacrev),
    "fmad": (1, fmad),
    "hessian": (2, hessian),
    "nth_derivative": (2, lambda f: nth_derivative(f, 2)),
    "jet": (3, lambda f: lambda x: jet(f, 3)(x)[3]),
    "vjp": (1, lambda f: lambda x: vjp(f, x)[1](1.0)[0]),
    "jvp": (1, lambda f: lambda x: jvp(f, (x,), (1.0,))[1]),
    "linearize": (1, lambda f: lambda x: linearize(f, x)[1](1.0)),
    "hvp": (2, lambda f: lambda x: hvp(f, x, 1.0)),
    "vhp": (2, lambda f: lambda x: vhp(f, x, 1.0)),
}


@pytest.mark.parametrize("outer", one_in(5, OF_A_NUMBER))
def test_pairs_of_operators_of_a_function_of_a_number(outer):
    order, apply = OF_A_NUMBER[outer]
    for more, inner in OF_A_NUMBER.values():
        expected = slope_of_wave(0.7, order + more)
        assert apply(inner(wave))(0.7) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("outer", OF_A_NUMBER)
def test_pairs_of_operators_inside_a_function(outer):
    order, apply = OF_A_NUMBER[outer]
    names = ("derivative", "jacrev") if order > 1 else ("derivative", "vjp", "linearize", "fmad")

    def product(more):
        return sum(
            math.comb(order, k) * slope_of_wave(0.7, more + order - k) * 3.0 ** k
            for k in range(order + 1)
        ) * math.exp(3.0 * 0.7)

    for more, inner in (OF_A_NUMBER[name] for name in names):
        found = apply(lambda x, inner=inner: math.exp(3.0 * x) * inner(wave)(x))(0.7)
        assert found == pytest.approx(product(more), rel=1e-10)


FIRST = ("grad", "derivative", "jacobian", "jacfwd", "fmad", "elementwise_grad")


@pytest.mark.parametrize("names", [
    *one_in(3, itertools.islice(itertools.product(FIRST, repeat=3), 0, None, 11), whole=True),
    ("hessian", "jacobian", "derivative"), ("jacfwd", "hessian", "grad"),
    ("derivative", "derivative", "derivative"), ("hvp", "jet", "fmad"),
])
def test_three_operators(names):
    f, order = wave, 0
    for name in names:
        more, apply = OF_A_NUMBER[name]
        f, order = apply(f), order + more
    assert f(0.7) == pytest.approx(slope_of_wave(0.7, order), rel=1e-10)


# -- functions of arrays --------------------------------------------------------------------------

A = np.array([[0.4, -1.1, 0.3], [0.9, 0.2, -0.7], [-0.2, 0.8, 1.2]])
W = np.array([0.7, -0.4, 1.1])
X = np.array([0.3, -0.8, 0.5])
M = np.array([[0.3, -0.8, 0.5], [1.1, 0.2, -0.4]])


def square(a):
    return np.sin(A @ a)


def flat(a):
    return np.sin(A[:2] @ a)


def number(a):
    return W @ np.sin(A @ a)


def of_matrix(m):
    return np.sin(m @ W)


def number_of_matrix(m):
    return np.sum(np.sin(m @ W))


def tensor(rows, order):
    """Return the derivatives of ``sin(rows @ a)`` of an order at ``X``."""
    found = np.sin(rows @ X + order * math.pi / 2)
    for _ in range(order):
        found = np.einsum("i...,ij->i...j", found, rows)
    return found


def matrix_tensor(order):
    """Return the derivatives of ``sin(m @ W)`` of an order at ``M``."""
    found = np.sin(M @ W + order * math.pi / 2)
    spread = np.einsum("ip,q->ipq", np.eye(2), W)
    for _ in range(order):
        found = np.einsum("i...,ipq->i...pq", found, spread)
    return found


CASES = {
    "square": (square, X, functools.partial(tensor, A)),
    "flat": (flat, X, functools.partial(tensor, A[:2])),
    "number": (number, X, lambda order: np.tensordot(W, tensor(A, order), 1)),
    "of_matrix": (of_matrix, M, matrix_tensor),
    "number_of_matrix": (number_of_matrix, M, lambda order: matrix_tensor(order).sum(0)),
}
JACOBIANS = (jacobian, jacfwd, jacrev)
GRADIENTS = {
    "grad": (1, grad), "fmad": (1, fmad), "hessian": (2, hessian),
    "value_and_grad": (1, lambda f: lambda a: value_and_grad(f)(a)[1]),
    "vjp": (1, lambda f: lambda a: vjp(f, a)[1](1.0)[0]),
    **{f"hessian {mode}": (2, functools.partial(hessian, mode=mode))
       for mode in ("fwd_adj", "adj_adj", "adj_fwd", "fwd_fwd")},
}


@pytest.mark.parametrize("case, outer", one_in(2, itertools.product(CASES, JACOBIANS)))
def test_jacobians_of_jacobians(case, outer):
    f, at, exact = CASES[case]
    weights = np.cos(np.arange(exact(1).size)).reshape(exact(1).shape)
    slopes = np.tensordot(weights, exact(2), weights.ndim)
    for inner in JACOBIANS:
        assert np.allclose(outer(inner(f))(at), exact(2), rtol=1e-12, atol=1e-14)
        found = grad(lambda a, inner=inner: np.sum(weights * inner(f)(a)))(at)
        assert np.allclose(found, slopes, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("inner", GRADIENTS)
@pytest.mark.parametrize("case", ["number", "number_of_matrix"])
def test_jacobians_of_gradients_and_hessians(case, inner):
    f, at, exact = CASES[case]
    order, apply = GRADIENTS[inner]
    for outer in JACOBIANS:
        found = outer(apply(f))(at)
        assert found.shape == exact(order + 1).shape
        assert np.allclose(found, exact(order + 1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("outer", ["grad", "fmad", "hessian"])
def test_gradients_of_what_uses_jacobians(outer):
    order, apply = GRADIENTS[outer]
    for inner in (*JACOBIANS, grad, fmad):
        def inside(a, inner=inner):
            return np.sum(inner(number)(a)) + np.sum(inner(number)(2.0 * a - X))

        expected = (1.0 + 2.0**order) * CASES["number"][2](order + 1).sum(0)
        assert np.allclose(apply(inside)(X), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("names", [
    ("jacobian", "jacfwd", "jacrev"), ("jacrev", "jacrev", "jacobian"),
    ("jacfwd", "jacfwd", "jacfwd"), ("jacrev", "jacfwd", "jacfwd"),
])
def test_third_derivatives_of_arrays(names):
    made = {"jacobian": jacobian, "jacfwd": jacfwd, "jacrev": jacrev}
    for case in ("flat", "of_matrix"):
        f, at, exact = CASES[case]
        for name in names:
            f = made[name](f)
        assert np.allclose(f(at), exact(3), rtol=1e-11, atol=1e-13)


def test_products_with_directions():
    v, third = np.array([0.5, 1.5, -2.0]), CASES["number"][2](3)
    for product in (hvp, vhp, *(functools.partial(hvp, mode=m) for m in (
        "fwd_adj", "adj_adj", "adj_fwd"
    ))):
        found = jacobian(lambda a, product=product: product(number, a, v))(X)
        assert np.allclose(found, third @ v, rtol=1e-12)
        found = grad(lambda v, product=product: product(number, X, v) @ W)(v)
        assert np.allclose(found, CASES["number"][2](2) @ W, rtol=1e-12)
    found = jacobian(lambda a: linearize(square, a)[1](v))(X)
    assert np.allclose(found, tensor(A, 2) @ v, rtol=1e-12)
    assert np.allclose(jacfwd(lambda a: linearize(square, a)[0])(X), tensor(A, 1), rtol=1e-12)
    found = jacobian(lambda a: vjp(square, a)[1](v)[0])(X)
    assert np.allclose(found, np.tensordot(v, tensor(A, 2), 1), rtol=1e-12)


def test_derivatives_element_by_element():
    second = jacobian(elementwise_grad(np.sin))(X)
    assert np.allclose(second, np.diag(-np.sin(X)), rtol=1e-14)
    assert np.allclose(elementwise_grad(elementwise_grad(np.sin))(X), -np.sin(X), rtol=1e-14)
    assert np.allclose(jacobian(derivative(lambda t: np.sin(t * X)))(0.5),
                       -np.sin(0.5 * X) * X**2, rtol=1e-14)


def test_derivatives_that_have_no_meaning_are_told():
    with pytest.raises(TypeError, match="grad needs a scalar result"):
        grad(jacobian(square))(X)
    with pytest.raises(TypeError, match="grad needs a scalar result"):
        jacobian(grad(square))(X)
    with pytest.raises(TypeError, match="grad needs a scalar result, but square returned"):
        jacobian(fmad(square))(X)
    with pytest.raises(TypeError, match="derivative needs a real number"):
        derivative(jacobian(square))(X)
    with pytest.raises(TypeError, match="hessian needs real"):
        hessian(lambda p: jacobian(number)(p["a"])[0])({"a": X})
