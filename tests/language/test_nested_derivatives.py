"""Derivatives inside of what is differentiated, against closed forms and finite differences."""

import math

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp
from tests.language.check import check

SIZES = np.array([0.3, 0.4, 1.5])
DIRECTION = np.array([1.0, 2.0, -1.0])


def wave(x):
    return math.sin(x) * x


def energy(x):
    return np.sum(np.sin(x) ** 2 * x)


def energy_hessian(x):
    """Return the diagonal of the Hessian of ``energy``, which has nothing besides it."""
    return 2.0 * x * np.cos(2.0 * x) + 2.0 * np.sin(2.0 * x)


slope = grad(energy)


def test_derivatives_of_any_order_of_a_function_of_one_number():
    x = 1.3
    second = grad(grad(wave))
    assert second(x) == pytest.approx(2 * math.cos(x) - x * math.sin(x), rel=1e-14)
    assert grad(second)(x) == pytest.approx(-3 * math.sin(x) - x * math.cos(x), rel=1e-14)
    assert grad(grad(second))(x) == pytest.approx(-4 * math.cos(x) + x * math.sin(x), rel=1e-13)


def test_a_global_derivative_is_followed():
    assert np.allclose(grad(lambda x, v: slope(x) @ v)(SIZES, DIRECTION),
                       energy_hessian(SIZES) * DIRECTION, rtol=1e-13)


def test_the_pullback_of_a_gradient_is_the_hessian_times_a_vector():
    value, pullback = vjp(slope, SIZES)
    assert np.array_equal(value, slope(SIZES))
    assert np.allclose(pullback(DIRECTION)[0], energy_hessian(SIZES) * DIRECTION, rtol=1e-13)


@pytest.mark.parametrize(("function", "wanted"), [
    (lambda x: x * grad(lambda y: x + y)(x), lambda x: 1.0),
    (lambda x: x * grad(lambda y: x * y * y)(x), lambda x: 6.0 * x**2),
    (lambda x: grad(lambda y: grad(lambda z: x * y**2 * z**3)(y))(x), lambda x: 48.0 * x**3),
    (lambda x: grad(lambda y: y * grad(lambda z: y * z * x)(y))(x), lambda x: 4.0 * x),
    (lambda x: value_and_grad(lambda y: x * y * y)(x)[0], lambda x: 3.0 * x**2),
    (lambda x: grad(lambda a, b: a * b * b * x, argnums=1)(x, x), lambda x: 6.0 * x**2),
    (lambda x: sum(grad(lambda a, b: a * b * b, argnums=(0, 1))(x, x)), lambda x: 6.0 * x),
])
def test_perturbations_are_kept_apart(function, wanted):
    """As in Siskind and Pearlmutter, *Perturbation Confusion and Referential Transparency*."""
    assert grad(function)(2.0) == pytest.approx(wanted(2.0), rel=1e-14)


def stepped(f, x):
    """Take a step of Newton's method for a zero of ``f``."""
    return x - f(x) / grad(f)(x)


def newton(x, a):
    for _ in range(4):
        x = stepped(lambda t: t * t - a, x)
    return x


def decorated(x):
    @grad
    def cube(y):
        return x * y**3

    return cube(x)


def with_options(x):
    return grad(lambda scale, y: scale * y * y, argnums="y")(scale=x, y=2.0 * x)


def with_aux(x):
    slope, aux = grad(lambda y: (x * y * y, x * y), has_aux=True)(x)
    return slope * aux


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        total = total + grad(lambda y, k=k: y**k * x)(x + k)
    return total


def in_a_branch(x):
    if x[1] > 0.0:
        return np.sum(vjp(lambda t: t * np.exp(t), x)[1](x)[0])
    return np.sum(x)


def pulled_back(x, c):
    y, pullback = vjp(np.sin, x)
    return y * pullback(c)[0] + pullback(2.0 * c)[0]


def pulled_back_pair(x, y):
    (product, total), pullback = vjp(lambda a, b: (a * b, a + b), x, y)
    x_bar, y_bar = pullback((product, 3.0))
    return x_bar * y_bar + total


def written(x):
    def doubled(y):
        y[0] = y[0] * x[1]
        return np.sum(y**2)

    return np.sum(grad(doubled)(x + 1.0)) + x[0]


def whole_numbers(x):
    return grad(lambda n: x * n**3)(2) + np.sum(grad(lambda n: np.sum(x * n**2))(np.arange(3)))


def factorised(x):
    return np.sum(grad(lambda a: np.sum(np.linalg.inv(a) ** 2))(np.outer(x, x) + np.eye(3)))


def mapped(x):
    return sum(map(grad(wave), [x, 2.0 * x]))


def partly(x):
    from functools import partial

    return grad(partial(lambda a, b: a * b * b * a, x))(2.0 * x)


PROGRAMS = [
    (newton, 1.5, 2.0), (decorated, 1.5), (with_options, 1.5), (with_aux, 1.5), (in_a_loop, 0.7),
    (in_a_branch, SIZES), (pulled_back, SIZES, DIRECTION), (pulled_back_pair, 1.5, 0.5),
    (written, SIZES), (whole_numbers, 1.5), (factorised, SIZES), (mapped, 0.4), (partly, 1.5),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0].__name__)
def test_programs_that_take_derivatives(program):
    function, *args = program
    check(function, *args)


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return 0.5 * self.stiffness * x * x

    def force(self, x):
        return -grad(self.energy)(x)


def test_methods_and_instances():
    spring = Spring(3.0)
    assert grad(spring.force)(2.0) == -3.0
    assert grad(grad(spring.energy))(2.0) == 3.0


def test_float32_stays_float32():
    x = SIZES.astype(np.float32)
    found = vjp(slope, x)[1](DIRECTION.astype(np.float32))[0]
    assert found.dtype == np.float32
    assert np.allclose(found, energy_hessian(SIZES) * DIRECTION, rtol=1e-5)


def test_operands_that_are_stretched():
    def product(a, b):
        return np.sum((a * b) ** 2)

    a, b = np.array([[1.0], [2.0]]), SIZES
    second = grad(lambda a, b: np.sum(grad(product)(a, b) ** 2))
    assert np.allclose(second(a, b), 8.0 * a * np.sum(b * b) ** 2, rtol=1e-13)


def test_a_derivative_of_a_changed_function_is_compiled_anew():
    def outer(x):
        return slope_of(x) * x

    slope_of = grad(lambda y: y**2)
    assert grad(outer)(3.0) == 12.0
    slope_of = grad(lambda y: y**3)
    assert grad(outer)(3.0) == 81.0


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="cannot differentiate with respect to y"):
        grad(lambda x: x * grad(lambda y: x if y else 1.0)(True))(2.0)
    with pytest.raises(TypeError, match="needs a scalar result|needs a real result"):
        grad(lambda x: x * grad(lambda y: (y, y))(x))(2.0)
    with pytest.raises(ValueError, match="has no argument 1"):
        grad(lambda x: grad(lambda y: y, argnums=1)(x))(2.0)
    with pytest.raises(ValueError, match="has shape"):
        grad(lambda x: np.sum(vjp(np.sin, x)[1](np.ones(2))[0]))(SIZES)


def test_options_that_depend_on_data_are_refused():
    with pytest.raises(UnsupportedError, match="which derivative this asks for"):
        grad(lambda x, n: grad(lambda a, b: a * b, argnums=n)(x, x))(2.0, 1)


def test_writes_into_surroundings_are_refused():
    def outer(x):
        seen = np.zeros(1)

        def inner(y):
            seen[0] = y
            return y * y

        return grad(inner)(x) + seen[0]

    with pytest.raises(UnsupportedError, match="writes into"):
        grad(outer)(2.0)
