"""D22: derivatives of functions of complex numbers."""

import numpy as np
import pytest

from adcompiler import complex_jacobian, holomorphic_derivative, rrule


def test_D22_holomorphic_derivatives():
    assert holomorphic_derivative(lambda z: z**2, 1.0 + 2.0j) == pytest.approx(2.0 + 4.0j)
    z = np.array([1.0 + 2.0j, -0.5 + 0.25j])
    np.testing.assert_allclose(
        holomorphic_derivative(lambda z, a: np.exp(a * z) / z, z, 2.0),
        np.exp(2.0 * z) * (2.0 / z - 1.0 / z**2), rtol=1e-13)


def test_D22_functions_that_are_not_holomorphic():
    z = 1.0 + 2.0j
    np.testing.assert_allclose(complex_jacobian(np.conj, z), [[1.0, 0.0], [0.0, -1.0]])
    np.testing.assert_allclose(complex_jacobian(lambda z: abs(z) ** 2, z), [[2.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(
        complex_jacobian(lambda z: z.real * z, z), [[2.0, 0.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="is not holomorphic at"):
        holomorphic_derivative(np.conj, z)
    with pytest.raises(TypeError, match="needs an elementwise function"):
        complex_jacobian(np.sum, np.array([z, z]))


def test_D22_a_rule_gives_real_and_imaginary_parts_their_derivatives():
    def stretched(z):
        return 2.0 * z.real + 3j * z.imag + z.imag

    @rrule(stretched)
    def stretched_rule(z):
        def stretched_pullback(dw):
            u_bar, v_bar = np.real(dw), np.imag(dw)
            return 2.0 * u_bar + 1j * (u_bar + 3.0 * v_bar)

        return stretched(z), stretched_pullback

    np.testing.assert_allclose(complex_jacobian(stretched, 1.0 + 2.0j), [[2.0, 1.0], [0.0, 3.0]])
