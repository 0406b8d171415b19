"""Complex numbers: a cotangent of ``z = x + iy`` is ``dL/dx + i dL/dy``, real where the value is."""

import cmath
import math

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp

Z = 1.0 + 2.0j


def by_parts(f, z, h=1e-6):
    """Return ``dL/dx + i dL/dy`` of a real function of a complex number, by differences."""
    return complex((f(z + h) - f(z - h)) / (2 * h), (f(z + 1j * h) - f(z - 1j * h)) / (2 * h))


def rotated(z):
    w = z
    for _ in range(3):
        w = w * (0.6 + 0.8j) + 0.1 * z.conjugate()
    return w


REAL_FUNCTIONS = [
    lambda z: abs(z),
    lambda z: abs(z) ** 2,
    lambda z: z.real * z.imag,
    lambda z: (z * z.conjugate()).real,
    lambda z: (z**2).imag,
    lambda z: abs(z**0.5 + z**-1.5),
    lambda z: abs(z ** (0.5 + 1j)),
    lambda z: abs(2.0**z),
    lambda z: (1.0 / z).real + (z / (1.0 + 2.0 * z)).imag,
    lambda z: abs(cmath.exp(z) + cmath.log(z) * cmath.sqrt(z)),
    lambda z: (cmath.sin(z) / cmath.cosh(z)).real,
    lambda z: cmath.phase(z) * cmath.polar(z)[0],
    lambda z: cmath.rect(abs(z), 0.5).imag,
    lambda z: np.angle(z) + np.abs(np.exp(z)),
    lambda z: np.real(np.sign(z) * 3.0j),
    lambda z: math.hypot(z.real, z.imag) + math.atan2(z.imag, z.real),
    lambda z: abs(complex(z.imag, z.real) + 0.5j),
    lambda z: abs(rotated(z)),
    lambda z: abs(z) if z.real > 0.0 else z.imag,
    lambda z: abs(sum([z, 2.0 * z, 1.0])),
    lambda z: np.sum(np.abs(np.array([z, z * z, 1j]))),
    lambda z: z.real if z == Z else z.imag,
]


@pytest.mark.parametrize("f", REAL_FUNCTIONS, ids=range(len(REAL_FUNCTIONS)))
@pytest.mark.parametrize("z", [Z, np.complex128(-0.5 + 0.7j)], ids=["python", "numpy"])
def test_gradient_of_a_real_function(f, z):
    value, g = value_and_grad(f)(z)
    assert value == f(z)
    assert isinstance(g, complex)
    if f is not REAL_FUNCTIONS[-1]:
        assert g == pytest.approx(by_parts(f, z), rel=1e-6, abs=1e-8)


def test_holomorphic_derivative():
    """The pullback multiplies by the conjugate of the derivative: 2 z of z**2."""
    y, pullback = vjp(lambda z: z**2, Z)
    assert y == -3.0 + 4.0j
    assert pullback(1.0) == (2.0 - 4.0j,)
    assert pullback(1.0)[0].conjugate() == 2.0 + 4.0j
    assert pullback(1j) == (1j * (2.0 - 4.0j),)


@pytest.mark.parametrize(("f", "u", "v"), [
    (lambda z: z.conjugate(), (1.0, 0.0), (0.0, -1.0)),
    (lambda z: z * z, (2.0, -4.0), (4.0, 2.0)),
    (lambda z: z.real * 1j, (0.0, 0.0), (1.0, 0.0)),
    (lambda z: z * abs(z) ** 2, (7.0, 4.0), (4.0, 13.0)),
])
def test_pullback_is_made_of_the_partials_of_both_parts(f, u, v):
    """``u_x + i u_y`` for the cotangent 1, ``v_x + i v_y`` for the cotangent i."""
    _, pullback = vjp(f, Z)
    for part, expected in ((1.0, u), (1j, v)):
        (g,) = pullback(part)
        assert (g.real, g.imag) == pytest.approx(expected)


def test_cotangent_of_a_complex_value_may_be_real_and_that_of_a_real_one_complex():
    _, pullback = vjp(lambda z: 2.0 * z, np.array([Z]))
    assert pullback(np.ones(1))[0].tolist() == [2.0 + 0.0j]
    _, pullback = vjp(lambda x: 2.0 * x, np.array([1.0]))
    (dx,) = pullback(np.array([3.0 + 1.0j]))
    assert dx.dtype == np.float64
    assert dx.tolist() == [6.0]
    assert vjp(lambda x: 2.0 * x, 1.0)[1](3.0 + 1.0j) == (6.0,)


def turned(x, n):
    z = x
    for _ in range(n):
        z = z * (1.0 + 1.0j)
    return z.real


def either(x):
    z = x * 1j if x > 1.0 else x
    return (z * (1.0 + 1.0j)).real


def carried_twice(x):
    u = 2.0 * x
    v = (u * 1j).imag
    w = u if x < 5.0 else u * 1j
    return ((w + v) * (1.0 - 2.0j)).real


@pytest.mark.parametrize(("f", "args", "expected"), [
    (lambda x: abs(np.exp(1j * x) * x), (2.0,), 1.0),
    (turned, (2.0, 0), 1.0), (turned, (2.0, 1), 1.0), (turned, (2.0, 2), 0.0),
    (turned, (2.0, 4), -4.0),
    (either, (0.5,), 1.0), (either, (1.5,), -1.0),
    (carried_twice, (1.0,), 4.0), (carried_twice, (6.0,), 6.0),
    (lambda x: abs(x ** (1.0 + 2.0j)), (2.0,), 1.0),
    (lambda x: cmath.rect(x, 0.0).real, (2.0,), 1.0),
    (lambda x: abs(complex(x, 4.0)), (3.0,), 0.6),
    (lambda x: abs(complex(x) ** 0.5), (-4.0,), -0.25),
])
def test_gradient_of_a_real_argument_is_real(f, args, expected):
    g = grad(f)(*args)
    assert type(g) is float
    assert g == pytest.approx(expected, abs=1e-12)


def test_real_and_complex_values_in_one_container():
    def f(x):
        return (x[0] * x[1] * 1j).real

    assert grad(f)([1.5 - 2.0j, 3.0]) == [-3j, 2.0]
    assert type(grad(f)([1.5 - 2.0j, 3.0])[1]) is float
    assert grad(f)((1.5 - 2.0j, 3.0)) == (-3j, 2.0)


def test_arrays_of_both_kinds():
    x, z = np.array([1.0, 2.0]), np.array([1j, 2.0 - 1j])

    def f(x, z):
        return np.sum(np.abs(np.vdot(z, x * z)) + (x @ np.conj(z)).imag)

    dx, dz = grad(f, argnums=(0, 1))(x, z)
    assert (dx.dtype, dz.dtype) == (np.float64, np.complex128)
    h = 1e-6
    for i in range(2):
        step = h * np.eye(2)[i]
        assert dx[i] == pytest.approx((f(x + step, z) - f(x - step, z)) / (2 * h), abs=1e-8)
        assert dz[i].real == pytest.approx((f(x, z + step) - f(x, z - step)) / (2 * h), abs=1e-8)
        assert dz[i].imag == pytest.approx(
            (f(x, z + 1j * step) - f(x, z - 1j * step)) / (2 * h), abs=1e-8)


def test_single_precision():
    z = np.array([3.0 + 4.0j], np.complex64)
    g = grad(lambda z: np.sum(np.abs(z)))(z)
    assert g.dtype == np.complex64
    assert g[0] == pytest.approx(0.6 + 0.8j)
    x = np.array([0.5], np.float32)
    g = grad(lambda x: np.sum((x * (1.0 + 2.0j)).imag))(x)
    assert (g.dtype, g.tolist()) == (np.float32, [2.0])
    scalar = grad(lambda z: np.abs(z))(np.complex64(3.0 + 4.0j))
    assert type(scalar) is np.complex64


@pytest.mark.parametrize(("f", "z"), [
    (lambda z: z * z, Z),
    (lambda z: z * z, np.complex128(Z)),
    (lambda z: np.sum(z * z), np.array([Z, Z])),
    (lambda z: z * z, np.array([Z])),
    (lambda x: x * (1.0 + 2.0j), 3.0),
    (lambda x: cmath.exp(x), 3.0),
])
def test_gradient_of_a_complex_result_is_refused(f, z):
    with pytest.raises(TypeError, match="grad needs a real result"):
        grad(f)(z)
    with pytest.raises(TypeError, match="grad needs a real result"):
        value_and_grad(f)(z)


def test_comparisons_and_orders_of_complex_numbers_are_python_errors():
    with pytest.raises(TypeError):
        grad(lambda z: abs(z) if z > 1.0 else 0.0)(Z)
