"""Further arguments of functions that SciPy calls, taken from arrays and lists by ``tuple(k)``."""

import numpy as np
import pytest
from scipy import integrate, optimize

from adcompiler import ADError, grad

K = np.array([2.0, 0.5])


def cubic(x, a, b):
    return x**3 + b * x - a


def root(k):
    return optimize.brentq(cubic, 0.0, 5.0, args=tuple(k))


def root_of_newton(k):
    return optimize.newton(cubic, 1.0, args=tuple(k))


def roots(k):
    return optimize.fsolve(cubic, np.array([1.0]), args=tuple(k))[0]


def fitted(k):
    return optimize.least_squares(cubic, np.array([1.0]), args=tuple(k)).x[0]


def root_by_one_array(k):
    return optimize.brentq(lambda x, k: cubic(x, k[0], k[1]), 0.0, 5.0, args=k)


def area(k):
    return integrate.quad(lambda x, a, b: a * x**2 + b, 0.0, 1.0, args=tuple(k))[0]


def decay(k):
    t = np.linspace(0.0, 1.0, 5)
    return np.sum(integrate.odeint(lambda y, t, a, b: -a * y + b, 1.0, t, args=tuple(k)))


def test_derivatives_through_further_arguments():
    for f in (root, root_of_newton, roots, fitted, root_by_one_array, area, decay):
        moved = [(f(K + 1e-5 * e) - f(K - 1e-5 * e)) / 2e-5 for e in np.eye(2)]
        np.testing.assert_allclose(grad(f)(K), moved, rtol=1e-5, err_msg=f.__name__)
    np.testing.assert_allclose(grad(root)([2.0, 0.5]), grad(root)(K))


def any_number(x, *k):
    return x**3 + k[1] * x - k[0]


def test_how_many_there_are_has_to_be_known():
    def shown(k):
        return optimize.brentq(any_number, 0.0, 5.0, args=(*k,))

    with pytest.raises(ADError, match=r"(?s)how many arguments.*args=\(k\[0\], k\[1\]\)"):
        grad(shown)(K)
