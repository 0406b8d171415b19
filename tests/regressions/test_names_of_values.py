"""Values that no import reaches have names of their own in emitted code."""

import pytest
import scipy.special as sc

from adcompiler import grad, vjp


def absent(x, n):
    found = NotImplemented if n > 1 else None
    NotImplementedType_ = x * 3.0
    return NotImplementedType_ * x if found is NotImplemented else NotImplementedType_


def test_a_local_variable_does_not_take_the_name_of_a_bound_value():
    assert grad(absent)(1.0, 2) == 6.0
    assert grad(absent)(1.0, 1) == 3.0


COTANGENT = (1.0, 2.0, 3.0 + 1j, 4.0)


def kelvin(x):
    return sc.kelvin(x)


def pulled(x):
    return vjp(kelvin, x)[1](COTANGENT)[0]


def test_the_conjugate_of_an_imaginary_constant_is_a_constant():
    h = 1e-5
    slope = (pulled(1.3 + h) - pulled(1.3 - h)) / (2 * h)
    assert vjp(pulled, 1.3)[1](1.0)[0] == pytest.approx(slope, rel=1e-8)
