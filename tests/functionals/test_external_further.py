"""External functions: second derivatives, arrays that are filled, and stated patterns."""

import math

import numpy as np
import pytest

from adcompiler import (
    ADError, ExternalFunction, UnsupportedError, bump, external, grad, hessian, hessian_sparsity,
    jacobian, jacobian_sparsity, jvp, sparse_jacobian, value_and_grad,
)
from tests.lanes import one_in


# --- second derivatives of nonlinear functions ------------------------------------------------


def plain_norm(x):
    return math.sqrt(sum(v * v for v in x))


class Norm(ExternalFunction):
    def forward(self, x):
        self.x = x
        return plain_norm(x)

    def adjoint(self, y_bar):
        return y_bar * self.x / plain_norm(self.x)

    def adjoint_at(self, y_bar, x):
        return y_bar * x / np.sqrt(np.sum(x * x))


NORMS = {
    "jac": external(plain_norm, jac=lambda x: x / np.sqrt(np.sum(x * x)), returns=0.0),
    "vjp": external(plain_norm, vjp=lambda y_bar, x: y_bar * x / np.sqrt(np.sum(x * x))),
    "adjoint_at": Norm(),
    "returns": external(
        plain_norm, vjp=lambda y_bar, x: y_bar * x / np.sqrt(np.sum(x * x)), returns=0.0),
}


@pytest.mark.parametrize("form", one_in(2, NORMS))
def test_c5_second_derivatives_of_a_nonlinear_external_function(form):
    norm, x, v = NORMS[form], np.array([3.0, 4.0, 1.0]), np.array([1.0, -2.0, 0.5])

    def cubed(x):
        return norm(x) ** 3

    wanted = hessian(lambda x: np.sum(x * x) ** 1.5)(x)
    rounding = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(hessian(cubed)(x), wanted, **rounding)
    np.testing.assert_allclose(jvp(grad(cubed), (x,), (v,))[1], wanted @ v, **rounding)
    np.testing.assert_allclose(
        grad(lambda x: jvp(cubed, (x,), (v,))[1])(x), wanted @ v, **rounding)
    np.testing.assert_allclose(
        jvp(lambda x: jvp(cubed, (x,), (v,))[1], (x,), (v,))[1], v @ wanted @ v, **rounding)
    if form == "jac":
        return  # in two orders
    third = grad(lambda x: np.sum(hessian(lambda x: np.sum(x * x) ** 1.5)(x)))(x)
    np.testing.assert_allclose(grad(lambda x: np.sum(hessian(cubed)(x)))(x), third, rtol=1e-12)


@pytest.mark.parametrize("form", ["jac", "vjp"])
def test_c5_second_derivatives_in_two_arguments(form):
    given = {
        "jac": lambda a, b: (2.0 * a * np.sin(b), np.diag(a**2 * np.cos(b))),
        "vjp": lambda dy, a, b: (np.sum(dy * 2.0 * a * np.sin(b)), dy * a**2 * np.cos(b)),
    }[form]
    waves = external(lambda a, b: a**2 * np.sin(b), **{form: given}, returns=np.empty(0))

    def total(a, b):
        return np.sum(waves(a, b) ** 2)

    def plain(a, b):
        return np.sum((a**2 * np.sin(b)) ** 2)

    b = np.array([0.3, 0.5, 1.1])
    for found, wanted in zip(
        hessian(total, (0, 1))(1.5, b), hessian(plain, (0, 1))(1.5, b), strict=True
    ):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def test_c5_a_derivative_of_the_wrong_shape_is_found_in_second_derivatives_too():
    squares = external(lambda x: x * x, vjp=lambda y_bar, x: np.outer(y_bar * 2.0 * x, x))
    with pytest.raises(ValueError, match="shape"):
        hessian(lambda x: np.sum(squares(x)))(np.ones(3))


def test_c5_second_derivatives_by_differences_are_refused():
    bumped = external(plain_norm, derivative=bump())
    pushed = external(plain_norm, jvp=lambda x, dx: x[0] @ dx[0] / plain_norm(x[0]))
    for function in (bumped, pushed):
        with pytest.raises(UnsupportedError, match="second derivative of this external function"):
            hessian(lambda x, f=function: f(x))(np.ones(2))


# --- functions that fill an array ----------------------------------------------------------------


def fill_squares(x, scale, out):
    for i in range(len(x)):
        out[i] = scale * x[i] * x[i]


class FillSquares(ExternalFunction):
    fills = True

    def forward(self, x, scale, out):
        self.x, self.scale = x, scale
        fill_squares(x, scale, out)

    def adjoint(self, y_bar):
        return y_bar * 2.0 * self.scale * self.x, np.sum(y_bar * self.x**2)


def of_squares(dy, x, scale):
    return dy * 2.0 * scale * x, np.sum(dy * x * x)


@pytest.mark.parametrize("fill", [
    FillSquares(), external(fill_squares, vjp=of_squares, fills=True),
    external(fill_squares, derivative=bump(), fills=True),
    external(fill_squares, fills=True, jvp=lambda x, dx: (
        2.0 * x[1] * x[0] * dx[0] + dx[1] * x[0] ** 2)),
], ids=["class", "vjp", "bump", "jvp"])
def test_external_functions_may_fill_an_array(fill):
    def program(x, scale):
        y = np.zeros(len(x))
        for _ in range(2):
            fill(x, scale, y)
            x = x + y
        return np.sum(y * x)

    def plain(x, scale):
        for _ in range(2):
            y = scale * x * x
            x = x + y
        return np.sum(y * x)

    x, v = np.array([0.3, 0.5, 1.1]), (np.array([1.0, 2.0, -1.0]), 0.5)
    assert program(x, 1.5) == pytest.approx(plain(x, 1.5), rel=1e-14)
    value, found = value_and_grad(program, argnums=(0, 1))(x, 1.5)
    wanted = grad(plain, argnums=(0, 1))(x, 1.5)
    assert value == pytest.approx(plain(x, 1.5), rel=1e-14)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-8)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-8)
    _, along = jvp(program, (x, 1.5), v)
    np.testing.assert_allclose(along, wanted[0] @ v[0] + wanted[1] * v[1], rtol=1e-8)


def test_what_is_not_filled_is_not_a_number():
    half = external(lambda x, out: out.__setitem__(0, x[0]), vjp=lambda dy, x: dy, fills=True)

    def program(x):
        y = np.zeros(2)
        half(x, y)
        return y[0] + y[1]

    assert np.isnan(value_and_grad(program)(np.ones(2))[0])


# --- patterns -----------------------------------------------------------------------------------


def test_patterns_of_external_functions():
    def differences(x, rate):
        return rate * (x[1:] - x[:-1]) * x[1:]

    def bands(x_shape, rate_shape):
        count = x_shape[0]
        pattern = np.zeros((count - 1, count + 1), bool)
        pattern[:, -1] = True
        for i in range(count - 1):
            pattern[i, i : i + 2] = True
        return pattern

    def of_differences(dy, x, rate):
        inner = np.zeros(len(x))
        inner[1:] += rate * dy * (2.0 * x[1:] - x[:-1])
        inner[:-1] -= rate * dy * x[1:]
        return inner, np.sum(dy * (x[1:] - x[:-1]) * x[1:])

    known = external(differences, vjp=of_differences, pattern=bands)
    unknown = external(differences, vjp=of_differences)
    x = np.linspace(1.0, 2.0, 6)

    def program(x, f):
        return f(x**2, 0.5) * x[0]

    pattern = jacobian_sparsity(lambda x: program(x, known), x)
    assert pattern.nnz == 14
    assert jacobian_sparsity(lambda x: program(x, known), x, mode="local").nnz == 14
    assert jacobian_sparsity(lambda x: program(x, unknown), x).nnz == 30
    J = sparse_jacobian(lambda x: program(x, known))(x)
    np.testing.assert_allclose(
        J.toarray(), jacobian(lambda x: program(x, differences))(x), rtol=1e-12)
    second = hessian_sparsity(lambda x: np.sum(known(x, 0.5)), x)
    assert second.nnz == 16
    matrix = external(differences, vjp=of_differences, pattern=bands((6,), ()))
    assert jacobian_sparsity(lambda x: matrix(x, 0.5), x).nnz == 10
    with pytest.raises(ADError, match="shape"):
        jacobian_sparsity(lambda x: matrix(x[1:], 0.5), x)
