"""Methods that operators stand for, called by their names."""

import numpy as np
import pytest

from adcompiler import ADError, grad, jvp

X = np.array([1.5, 2.0, 3.0])

PROGRAMS = {
    "add": (lambda x: np.sum(x.__add__(x) * x), 4.0 * X),
    "radd": (lambda x: np.sum(x.__radd__(1.0) * x), 2.0 * X + 1.0),
    "rsub": (lambda x: np.sum(x.__rsub__(2.0) * x), 2.0 - 2.0 * X),
    "rtruediv": (lambda x: np.sum(x.__rtruediv__(2.0)), -2.0 / X**2),
    "pow": (lambda x: np.sum(x.__pow__(3)), 3.0 * X**2),
    "rpow": (lambda x: np.sum(x.__rpow__(2.0)), np.log(2.0) * 2.0**X),
    "neg": (lambda x: np.sum(x.__neg__() * x), -2.0 * X),
    "matmul": (lambda x: x.__matmul__(x), 2.0 * X),
    "getitem": (lambda x: x.__getitem__(1) * x.__getitem__(slice(0, 2)).sum(),
                np.array([2.0, 5.5, 0.0])),
    "compared": (lambda x: np.sum(x[x.__gt__(1.7)] ** 2), np.array([0.0, 4.0, 6.0])),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_of_arrays(name):
    function, wanted = PROGRAMS[name]
    np.testing.assert_allclose(grad(function)(X), wanted, rtol=1e-14)
    _, along = jvp(function, (X,), (np.ones(3),))
    np.testing.assert_allclose(along, np.sum(wanted), rtol=1e-14)


def test_methods_of_numbers():
    assert grad(lambda x: x.__mul__(x).__add__(1.0))(3.0) == 6.0
    assert grad(lambda x: x.__rsub__(2.0) * x)(3.0) == -4.0


def test_a_method_that_declines_is_not_taken_for_the_operator():
    with pytest.raises(ADError):
        grad(lambda x: np.sum((2.0).__mul__(x)))(X)
