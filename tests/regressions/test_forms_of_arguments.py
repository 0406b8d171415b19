"""Arguments by position, by name, as lists and of other lengths mean what they mean to the library.
"""

import numpy as np
import pytest
import scipy.stats as st
from adcompiler import grad, hessian, hvp, jvp
from adcompiler.errors import UncoveredError
from adcompiler.rulekit import scalar_rule

SQUARE = np.array([[0.3, 0.7, 1.1], [0.2, 0.5, 0.9], [1.0, 0.1, 0.4]])
KEPT_BY_POSITION = (
    lambda x: np.sum(np.sum(x, 0, None, None, True) ** 2),
    lambda x: np.sum(x.sum(0, None, None, True) ** 2),
    lambda x: np.sum(np.max(x, 0, None, True) ** 2),
    lambda x: np.sum(x.mean(0, None, None, True) ** 2),
    lambda x: np.sum(np.prod(x, 0, None, None, True) ** 2),
    lambda x: np.sum(np.std(x, 0, None, None, 1, True) ** 2),
    lambda x: np.sum(np.median(x, 0, None, False, True) ** 2),
)


def differences(f, x, h=1e-6):
    steps = h * np.eye(np.size(x)).reshape(np.size(x), *np.shape(x))
    found = [(f(x + step) - f(x - step)) / (2.0 * h) for step in steps]
    return np.reshape(found, np.shape(x))


def test_arguments_behind_a_none_are_those_of_their_names():
    for f in KEPT_BY_POSITION:
        assert np.allclose(grad(f)(SQUARE), differences(f, SQUARE), rtol=1e-5, atol=1e-7)
        assert jvp(f, (SQUARE,), (SQUARE,))[1] == pytest.approx(
            np.sum(differences(f, SQUARE) * SQUARE), rel=1e-6)
    f = KEPT_BY_POSITION[0]
    assert np.allclose(hessian(f)(SQUARE).reshape(9, 9), np.kron(np.ones((3, 3)), 2.0 * np.eye(3)))


def longer(x):
    y = x * 1.0
    np.fill_diagonal(y, np.array([x[0, 0] ** 2, x[0, 1], x[1, 0], 5.0, 6.0]))
    return np.sum(y**2)


def shorter(x):
    y = x * 1.0
    np.fill_diagonal(y, [x[0, 1], 2.0])
    return np.sum(y**2)


def wrapped(x):
    y = np.ones((5, 2)) * x[0, 0]
    np.fill_diagonal(y, [x[0, 1] ** 2, 3.0, x[0, 2]], wrap=True)
    return np.sum(y * np.arange(10.0).reshape(5, 2))


def test_values_of_a_diagonal_are_repeated_and_cut_off():
    for f in (longer, shorter, wrapped):
        assert np.allclose(grad(f)(SQUARE), differences(f, SQUARE), rtol=1e-5, atol=1e-7)


def area(width, height=2.0):
    return width * height


scalar_rule(area, lambda width, height: height, lambda width, height: width)


def test_functions_of_partial_derivatives_are_called_by_name():
    assert grad(lambda x: area(height=x, width=3.0))(5.0) == 3.0
    assert grad(lambda x: area(x, height=3.0))(5.0) == 3.0
    assert grad(lambda x: area(width=x))(5.0) == 2.0
    assert jvp(lambda x: area(height=x, width=3.0), (5.0,), (1.0,))[1] == 3.0


def test_distributions_take_data_as_lists():
    for f in (
        lambda s: np.sum(st.norm.logpdf([0.4, 0.5], 0, s)),
        lambda s: np.sum(st.norm.pdf((0.4, 0.5), s)),
        lambda s: np.sum(st.norm.logpdf([s, 0.5], [0.1, s], 1.0)),
        lambda s: np.sum(st.gamma.logpdf([0.4, 0.5], s)),
        lambda s: np.sum(st.beta.cdf([0.4, 0.5], 2.0, 3.0, 0.0, s)),
        lambda s: np.sum(st.poisson.logpmf([1, 2], s)),
        lambda s: np.sum(st.norm(0, s).logpdf([0.4, 0.5])),
        lambda s: st.multivariate_normal.logpdf([0.4, 0.5], [0.0, s], [[1.0, 0.1], [0.1, 2.0]]),
        lambda s: st.dirichlet.logpdf([0.4, 0.6], [s, 2.0]),
    ):
        wanted = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
        assert grad(f)(1.3) == pytest.approx(wanted, rel=1e-6)


def test_second_derivatives_of_determinants_of_singular_matrices_are_refused():
    at = SQUARE + np.eye(3)
    along = (grad(np.linalg.det)(at + 1e-6 * SQUARE) - grad(np.linalg.det)(at)) / 1e-6
    assert np.allclose(hvp(np.linalg.det, at, SQUARE), along, rtol=1e-4)
    for singular in (np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 2.0, 0.0])):
        assert np.allclose(grad(np.linalg.det)(singular), differences(np.linalg.det, singular))
        with pytest.raises(UncoveredError, match="det"):
            hessian(np.linalg.det)(singular)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
def test_signs_of_products_of_plane_vectors_are_constant():
    def turned(x):
        return np.sign(np.cross(x[:2], x[1:])) * x[0] ** 2

    x = np.array([0.3, 0.7, 1.1])
    assert np.allclose(grad(turned)(x), [-0.6, 0.0, 0.0])
    assert np.allclose(hessian(turned)(x), np.diag([-2.0, 0.0, 0.0]))
