"""The behaviour wanted of modes, example by example; the ids are those of the specification."""

import math

import numpy as np
import pytest

from adcompiler import (
    batched_jvp, batched_vjp, fmad, frule, grad, hessian, hvp, jacobian, jvp, source, vhp, vjp,
)
from adcompiler.rulekit import REGISTRY
from tests.api.test_higher_order import COMBINATIONS, POINT, SECOND_POINT, WAVES, sample, waves

GRADIENT = (0.21204952808156374, -16.20933932255229, 24.86807512084561, 14.425336805009167)
SECOND_GRADIENT = (
    0.15287789268687801, -12.727274581337959, 20.169822226463346, 11.700000000000001,
)
FIRST_ROW = (-0.32732611678460644, -3.213519328160318, 0.34261332420563, 0.1987412604929414)


def exactly(expected):
    return pytest.approx(expected, rel=1e-13, abs=1e-15)


def two_outputs(x0, x1, x2, x3):
    a = math.sin(x0) * math.cos(x1)
    b = x2 * x3 - math.tan(x1 - x2)
    c = a + 2 * b
    return c * c, 4 * c + b


# --- B21: gradients in forward mode ---------------------------------------------------------------


def test_b21_fmad_is_the_gradient():
    everything = (0, 1, 2, 3)
    assert fmad(sample, everything)(*POINT) == exactly(GRADIENT)
    assert fmad(sample, everything)(*POINT) == exactly(grad(sample, everything)(*POINT))
    assert np.allclose(fmad(waves)(SECOND_POINT), grad(waves)(SECOND_POINT), rtol=1e-14)
    assert fmad(lambda x, y: x * y + math.sin(x), (0, 1))(2.0, 3.0) == exactly(
        (3.0 + math.cos(2.0), 2.0))


# --- C11: forward, adjoint, both for vectors, and second order ------------------------------------


def test_c11_forward():
    for i in range(4):
        direction = tuple(float(i == j) for j in range(4))
        value, along = jvp(sample, POINT, direction)
        assert value == exactly(7.6956487403088785)
        assert along == exactly(GRADIENT[i])
        assert jvp(two_outputs, POINT, direction)[1] == exactly((GRADIENT[i], SECOND_GRADIENT[i]))


def test_c11_adjoint():
    value, pullback = vjp(two_outputs, *POINT)
    assert value[0] == exactly(7.6956487403088785)
    assert pullback((1.0, 0.0)) == exactly(GRADIENT)
    assert pullback((0.0, 1.0)) == exactly(SECOND_GRADIENT)


def test_c11_vector_adjoint():
    value, pullback = batched_vjp(two_outputs, *POINT)
    assert value[0] == exactly(7.6956487403088785)
    bars = pullback((np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    assert np.allclose(np.transpose(bars), [GRADIENT, SECOND_GRADIENT], rtol=1e-13)


def test_c11_vector_forward():
    value, (first, second) = batched_jvp(two_outputs, POINT, tuple(np.eye(4)))
    assert value[0] == exactly(7.6956487403088785)
    assert np.allclose(first, GRADIENT, rtol=1e-13)
    assert np.allclose(second, SECOND_GRADIENT, rtol=1e-13)


@pytest.mark.parametrize("mode", COMBINATIONS)
def test_c11_second_order(mode):
    rows = hessian(sample, (0, 1, 2, 3), mode=mode)(*POINT)
    assert rows[0] == pytest.approx(FIRST_ROW, rel=1e-12)
    assert np.allclose(rows, np.transpose(rows), rtol=1e-12)


@pytest.mark.parametrize("mode", ["fwd_adj", "adj_adj", "adj_fwd"])
def test_c11_second_order_along_a_direction(mode):
    def of_array(x):
        return sample(x[0], x[1], x[2], x[3])

    x, first = np.array(POINT), np.array([1.0, 0.0, 0.0, 0.0])
    assert hvp(of_array, x, first, mode=mode) == pytest.approx(np.array(FIRST_ROW), rel=1e-12)
    assert vhp(of_array, x, first) == pytest.approx(np.array(FIRST_ROW), rel=1e-12)


# --- C12: Hessians --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", COMBINATIONS)
def test_c12_hessian(mode):
    assert np.allclose(hessian(waves, mode=mode)(SECOND_POINT), WAVES, rtol=1e-13, atol=1e-15)
    H = np.empty((4, 4))
    assert hessian(waves, mode=mode, out=H)(SECOND_POINT) is H
    assert np.allclose(H, WAVES, rtol=1e-13, atol=1e-15)


# --- C13: Jacobians -------------------------------------------------------------------------------


def sums(p):
    x, y, z, w = p
    return np.array([np.sin(x + y), np.sin(y + z), np.cos(z + w), np.cos(w + x)])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_c13_jacobian(mode):
    a, b, c, d = (
        -0.8011436155469337, -0.9422223406686581, -0.5984721441039565, -0.8084964038195901,
    )
    expected = [[a, a, 0.0, 0.0], [0.0, b, b, 0.0], [0.0, 0.0, c, c], [d, 0.0, 0.0, d]]
    found = jacobian(sums, mode=mode)(SECOND_POINT)
    assert np.allclose(found, expected, rtol=1e-14, atol=0.0)
    assert np.count_nonzero(found) == 8


# --- D6: forward rules share work -----------------------------------------------------------------


def test_d6_sine_and_cosine_are_computed_together():
    def sine(x):
        return math.sin(x)

    def sincos(x):
        return math.sin(x), math.cos(x)

    @frule(sine)
    def sine_forward(primals, tangents):
        (x,), (dx,) = primals, tangents
        s, c = sincos(x)
        return s, c * dx

    try:
        def wave(x):
            return sine(x) * sine(x)

        value, along = jvp(wave, (0.7,), (2.0,))
        assert value == exactly(math.sin(0.7) ** 2)
        assert along == exactly(4.0 * math.sin(0.7) * math.cos(0.7))
        text = source(wave, 0.7, mode="forward")
        assert text.count("math.sin(") == 1 and text.count("math.cos(") == 1
    finally:
        REGISTRY.remove(sine)


# --- D20: what is written into has a tangent that is written into ---------------------------------


def test_d20_writes_are_made_in_value_and_tangent():
    def scaled(a):
        a *= 2.0
        a[1] = 5.0
        b = a[:2]
        b[0] = a[2] * a[0]
        return a

    a, a_dot = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    value, along = jvp(scaled, (a,), (a_dot,))
    assert np.array_equal(value, [12.0, 5.0, 6.0]) and np.array_equal(a, value)
    assert np.array_equal(along, [2.0 * 60.0 + 6.0 * 20.0, 0.0, 60.0])
    assert np.array_equal(a_dot, [10.0, 20.0, 30.0])


def test_d20_a_tangent_is_aliased_as_its_value_is():
    def doubled(a):
        a *= 2.0
        b = 5.0
        return a + b

    def twice(a):
        view = a[1:]
        doubled(a)
        return np.sum(view)

    value, along = jvp(twice, (np.array([1.0, 2.0, 3.0]),), (np.array([1.0, 1.0, 10.0]),))
    assert (value, along) == (10.0, 22.0)
