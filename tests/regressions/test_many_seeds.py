"""Rows of Jacobians of functions in which numbers and arrays meet."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.polynomial.polynomial import polyval

from adcompiler import grad, hessian, jacfwd, jacobian, jacrev, sparse_jacobian, vjp
from adcompiler.api.seeds import batched_jvp, batched_vjp

x = np.array([0.7, 1.2, 2.1])
MODES = ("fwd_adj", "fwd_fwd", "adj_fwd", "adj_adj")


def with_a_sum(a):
    return np.array([np.sum(a * a - 2.0 * a), a[0], a[1]])


def of_two(a):
    return np.array([np.sum(a * a - 2.0 * a), a[1]])


def of_quotients(a):
    return np.array([np.sum(-a / 3.0 - a * a), np.sum(2.0 * a + 2.0 * a * a), a[2], a[0]])


@pytest.mark.parametrize("operator", [
    jacobian, jacrev, jacfwd, lambda f: lambda a: sparse_jacobian(f, kind="row")(a).toarray(),
])
def test_a_sum_of_products_beside_elements(operator):
    assert operator(with_a_sum)(x) == pytest.approx(
        np.array([2.0 * x - 2.0, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    assert operator(of_two)(x) == pytest.approx(np.array([2.0 * x - 2.0, [0.0, 1.0, 0.0]]))
    assert operator(of_quotients)(x) == pytest.approx(np.array([
        -1.0 / 3.0 - 2.0 * x, 2.0 + 4.0 * x, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))


@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
def test_cotangents_of_a_sum_of_products(seeds):
    drawn = np.random.default_rng(0).normal(size=(seeds, 3))
    (found,) = batched_vjp(with_a_sum, x)[1](drawn)
    for i in range(seeds):
        assert found[i] == pytest.approx(vjp(with_a_sum, x)[1](drawn[i])[0])


def of_a_list_that_grew(a):
    items = [v for v in ()]  # noqa: C416
    items.append(a[0] * a[0])
    return items[0] * a[1]


def of_a_dict_that_grew(a):
    table = {k: 1.0 for k in ()}  # noqa: C420
    table["first"] = a[0] * a[0]
    return table["first"] * a[1]


@pytest.mark.parametrize("function", [of_a_list_that_grew, of_a_dict_that_grew])
def test_tangents_of_containers_that_grow(function):
    """The zeros that a tangent begins with are those of the container before it grew."""
    wanted = [2.0 * x[0] * x[1], x[0] * x[0], 0.0]
    assert jacfwd(function)(x) == pytest.approx(wanted)
    assert grad(function)(x) == pytest.approx(wanted)
    for mode in MODES:
        assert hessian(function, mode=mode)(x) == pytest.approx(np.array([
            [2.0 * x[1], 2.0 * x[0], 0.0], [2.0 * x[0], 0.0, 0.0], [0.0, 0.0, 0.0]]))


CUBIC = Polynomial([1.0, 2.0, 0.5, -0.3])


def of_a_polynomial(a):
    """Horner's scheme begins with an operand that is stretched; it is compiled on its own."""
    return np.sum(CUBIC(a))


def of_another(a):
    return np.sum(polyval(np.sin(a), CUBIC.coef) ** 2)


@pytest.mark.parametrize("f", [of_a_polynomial, of_another])
def test_general_code_gets_as_many_seeds_as_it_takes(f):
    """The code that takes seeds one by one is replaced by code that took many of them at once."""
    h = 1e-5
    wanted = np.array([(grad(f)(x + h * e) - grad(f)(x - h * e)) / (2.0 * h) for e in np.eye(3)])
    for mode in MODES:
        assert hessian(f, mode=mode)(x) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert jacfwd(grad(f))(x) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert jacrev(grad(f))(x) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    for count in (1, 2, 3, 4):
        drawn = np.random.default_rng(0).normal(size=(count, 3))
        value, along = batched_jvp(grad(f), (x,), (drawn,))
        assert np.array_equal(value, grad(f)(x))
        assert along == pytest.approx(drawn @ wanted, rel=1e-6, abs=1e-6)
