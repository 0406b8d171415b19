"""Fourier transforms as programs use them."""

import numpy as np
import pytest
import scipy.fft

from adcompiler import grad, rrule, vjp
from adcompiler.rulekit import REGISTRY


def differences(f, x):
    step = 1e-6
    unit = np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([(f(x + step * d) - f(x - step * d)) / (2.0 * step) for d in unit]).reshape(
        x.shape)


def low_pass(x):
    spectrum = np.fft.rfft(x)
    spectrum[3:] = 0.0
    return np.sum(np.fft.irfft(spectrum, n=len(x)) ** 3)


def power(x):
    plane = np.fft.fftshift(np.fft.fft2(x, norm="ortho"), axes=0)
    return np.sum(np.abs(plane) ** 2 * np.fft.fftfreq(x.shape[1], d=0.5) ** 2)


def cosines(x):
    return np.sum(scipy.fft.dct(x, type=3, norm="ortho", overwrite_x=True) ** 3 * np.arange(len(x)))


@pytest.mark.parametrize("f", [low_pass, cosines, lambda x: power(x.reshape(3, 3))])
def test_gradient_agrees_with_differences(f):
    x = np.sin(np.arange(9.0)) + 0.1
    np.testing.assert_allclose(grad(f)(x), differences(f, x), rtol=1e-7, atol=1e-7)


def test_parseval():
    x = np.arange(5.0)
    np.testing.assert_allclose(
        grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(x), 10.0 * x, rtol=1e-13)


def test_second_transform_of_an_axis():
    x = np.ones((2, 3))
    with pytest.raises(NotImplementedError, match=r"twice over one axis \(axes=\(0, 0\)\)"):
        grad(lambda x: np.sum(np.fft.rfftn(x, axes=(0, 0)).real))(x)
    twice = grad(lambda x: np.sum(np.fft.fftn(x, axes=(0, 0)).real * np.arange(3.0)))(x)
    once_more = grad(
        lambda x: np.sum(np.fft.fft(np.fft.fft(x, axis=0), axis=0).real * np.arange(3.0)))(x)
    np.testing.assert_allclose(twice, once_more, rtol=1e-13, atol=1e-13)


def test_array_that_scipy_may_overwrite_is_kept():
    def f(x, weights):
        y = weights * x
        return np.sum(y) + np.sum(np.abs(scipy.fft.fft(weights, overwrite_x=True)))

    weights = np.arange(4.0) + 0.5j
    _, pullback = vjp(lambda x: f(x, weights).real, np.ones(4))
    np.testing.assert_array_equal(pullback(1.0)[0], np.arange(4.0))


def test_rules_made_by_a_function_may_be_in_terms_of_each_other():
    def double(x):
        return 2.0 * x

    def half(x):
        return 0.5 * x

    def linear(f, adjoint):
        @rrule(f)
        def rule(x):
            def pullback(dy):
                return 4.0 * adjoint(dy)

            return f(x), pullback

    linear(double, half)
    linear(half, double)
    try:
        assert grad(lambda x: double(x) + half(x))(1.0) == 2.0 + 8.0
    finally:
        REGISTRY.remove(double)
        REGISTRY.remove(half)
