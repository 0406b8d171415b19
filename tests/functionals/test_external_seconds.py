"""Second derivatives of external functions that fill arrays, or whose derivative is external."""

import numpy as np
import pytest

from adcompiler import (
    ExternalFunction, UnsupportedError, bump, external, grad, hessian, hvp, jacobian, jvp,
)
from tests.lanes import one_in


def fill(x, scale, out):
    for i in range(len(x)):
        out[i] = scale**2 * x[i] ** 3


def of_fill(dy, x, scale):
    return dy * 3.0 * scale**2 * x**2, np.sum(dy * 2.0 * scale * x**3)


class Filling(ExternalFunction):
    fills = True

    def forward(self, x, scale, out):
        self.at = x, scale
        fill(x, scale, out)

    def adjoint(self, y_bar):
        return of_fill(y_bar, *self.at)

    def adjoint_at(self, y_bar, x, scale):
        return y_bar * 3.0 * scale**2 * x**2, np.sum(y_bar * 2.0 * scale * x**3)


FILLING = {
    "vjp": external(fill, vjp=of_fill, fills=True),
    "jac": external(fill, fills=True, jac=lambda x, scale: (
        np.diag(3.0 * scale**2 * x**2), 2.0 * scale * x**3)),
    "class": Filling(),
}


@pytest.mark.parametrize("form", FILLING)
@pytest.mark.parametrize("size", one_in(3, [3, 1, 0]))
def test_second_derivatives_of_functions_that_fill_an_array(form, size):
    filling = FILLING[form]

    def program(x, scale):
        y = np.zeros(len(x))
        filling(x, scale, y)
        filling(y, scale, y)
        return np.sum(y * x)

    def plain(x, scale):
        y = scale**2 * (scale**2 * x**3) ** 3
        return np.sum(y * x)

    x, v = np.array([0.3, -0.5, 1.1])[:size], np.array([1.0, 2.0, -1.0])[:size]
    found, wanted = hessian(program, (0, 1))(x, 1.2), hessian(plain, (0, 1))(x, 1.2)
    for row, other in zip(found, wanted, strict=True):
        for one, its in zip(row, other, strict=True):
            np.testing.assert_allclose(one, its, rtol=1e-12)
    np.testing.assert_allclose(
        jvp(lambda x: grad(program)(x, 1.2), (x,), (v,))[1], wanted[0][0] @ v, rtol=1e-12)
    np.testing.assert_allclose(
        grad(lambda x: jvp(lambda x: program(x, 1.2), (x,), (v,))[1])(x), wanted[0][0] @ v,
        rtol=1e-12)


def test_the_array_that_is_filled_may_be_of_single_precision():
    filling = FILLING["vjp"]

    def program(x):
        y = np.zeros_like(x)
        filling(x, np.float32(1.2), y)
        return np.sum(y * x)

    x = np.array([0.3, -0.5, 1.1], np.float32)
    found = hessian(program)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.diag(12.0 * 1.44 * x**2), rtol=1e-5)


def cube(x):
    return x**3


def pulled(y_bar, x):
    return 3.0 * y_bar * x * x


PULLED = external(
    pulled, vjp=lambda z_bar, y_bar, x: (3.0 * z_bar * x * x, 6.0 * z_bar * y_bar * x))
"""The derivative of ``cube``, which is not compiled, with a derivative of its own."""


@pytest.mark.parametrize("x", [np.array([1.0, -2.0, 0.5]), 0.7], ids=["array", "number"])
def test_the_derivative_may_be_external_and_have_one_of_its_own(x):
    cubed = external(cube, vjp=PULLED)

    def program(x):
        return np.sum(cubed(x) * x)

    np.testing.assert_allclose(grad(program)(x), 4.0 * x**3, rtol=1e-14)
    second = 12.0 * x**2
    np.testing.assert_allclose(
        hessian(program)(x), np.diag(second) if np.ndim(x) else second, rtol=1e-14)
    np.testing.assert_allclose(hvp(program, x, np.ones_like(x)), second, rtol=1e-14)
    third = grad(lambda x: np.sum(hessian(program)(x)))(x)
    np.testing.assert_allclose(third, 24.0 * x, rtol=1e-13)


def test_the_derivative_that_is_external_may_be_that_of_a_function_that_fills():
    def cube_into(x, out):
        out[:] = x**3

    filling = external(cube_into, vjp=PULLED, fills=True)

    def values(x):
        y = np.empty(len(x))
        filling(x, y)
        return y * x

    x = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(jacobian(values)(x), np.diag(4.0 * x**3), rtol=1e-14)
    np.testing.assert_allclose(
        hessian(lambda x: np.sum(values(x)))(x), np.diag(12.0 * x**2), rtol=1e-14)


def test_an_external_derivative_by_differences_has_none_of_its_own():
    cubed = external(cube, vjp=external(pulled, derivative=bump()))
    x = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(grad(lambda x: np.sum(cubed(x)))(x), 3.0 * x**2, rtol=1e-14)
    with pytest.raises(UnsupportedError, match="second derivative of this external function"):
        hessian(lambda x: np.sum(cubed(x)))(x)
