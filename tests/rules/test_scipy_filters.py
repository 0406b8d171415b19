"""Filters of SciPy: derivatives that the samples of the rules cannot move along, and adjoints."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.ndimage
import scipy.signal
import scipy.sparse

from adcompiler import MissingRuleError, UnsupportedError, grad, vjp


def slope_of(f, x, v):
    return (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6


@pytest.mark.parametrize("with_state", [False, True])
def test_coefficients_of_second_order_sections(with_state):
    rng = np.random.default_rng(0)
    sos = np.array([[0.5, 0.3, -0.2, 1.0, -0.4, 0.3], [0.7, 0.1, 0.2, 1.0, 0.2, -0.1]])
    x, zi = rng.normal(size=7), rng.normal(size=(2, 2))
    v = rng.normal(size=sos.shape) * [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]

    def f(sos):
        if not with_state:
            return np.sum(np.sin(scipy.signal.sosfilt(sos, x)))
        y, zf = scipy.signal.sosfilt(sos, x, zi=zi)
        return np.sum(np.sin(y)) + np.sum(zf**2)

    assert np.sum(grad(f)(sos) * v) == pytest.approx(slope_of(f, sos, v), rel=1e-7)


@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "wrap", "constant"])
@pytest.mark.parametrize("smooth", [
    lambda x, mode: scipy.ndimage.gaussian_filter(x, 1.5, mode=mode),
    lambda x, mode: scipy.ndimage.uniform_filter(x, 5, mode=mode),
    lambda x, mode: scipy.ndimage.sobel(x, 0, mode=mode),
    lambda x, mode: scipy.ndimage.gaussian_laplace(x, 0.9, mode=mode),
])
def test_adjoint_of_a_linear_filter_is_its_transposed_matrix(smooth, mode):
    shape = (2, 3)
    matrix = np.stack([smooth(e.reshape(shape), mode).ravel() for e in np.eye(6)], 1)
    _, pullback = vjp(lambda x: smooth(x, mode), np.zeros(shape))
    transposed = np.stack([pullback(e.reshape(shape))[0].ravel() for e in np.eye(6)], 1)
    np.testing.assert_allclose(transposed, matrix.T, atol=1e-14)


def test_impulse_response_runs_backwards_in_time():
    b, a, x = np.array([1.0]), np.array([1.0, -0.5]), np.zeros(4)
    _, pullback = vjp(lambda x: scipy.signal.lfilter(b, a, x), x)
    assert pullback(np.array([0.0, 0.0, 0.0, 1.0]))[0].tolist() == [0.125, 0.25, 0.5, 1.0]


def test_elements_that_tie_in_a_window_share():
    x = np.array([1.0, 2.0, 2.0, 0.0])
    _, pullback = vjp(lambda x: scipy.ndimage.maximum_filter(x, 3), x)
    assert pullback(np.array([0.0, 1.0, 0.0, 0.0]))[0].tolist() == [0.0, 0.5, 0.5, 0.0]


@pytest.mark.parametrize(("f", "error", "message"), [
    (lambda x: scipy.ndimage.gaussian_filter(x, 1.0, output=np.float32), MissingRuleError,
     "no output="),
    (lambda x: scipy.signal.filtfilt([1.0], [1.0, 0.1], x, method="gust"), MissingRuleError,
     "method='pad'"),
    (lambda x: scipy.signal.upfirdn([1.0, 2.0], x, mode="wrap"), MissingRuleError,
     "zeros beyond the ends"),
    (lambda x: scipy.interpolate.KroghInterpolator(np.arange(4.0), x)(1.5),
     UnsupportedError, "KroghInterpolator"),
])
def test_what_has_no_rule_is_refused_before_running(f, error, message):
    with pytest.raises(error, match=message) as caught:
        vjp(f, np.ones(4))
    assert "test_scipy_filters.py:" in str(caught.value)


def test_spline_made_of_constants_inside():
    knots, x = np.linspace(0.0, 3.0, 7), np.array([0.3, 1.1])
    spline = scipy.interpolate.CubicSpline(knots, np.sin(knots))
    inside = grad(lambda x: np.sum(scipy.interpolate.CubicSpline(knots, np.sin(knots))(x)))(x)
    np.testing.assert_allclose(inside, spline(x, 1), rtol=1e-13)
    np.testing.assert_array_equal(grad(lambda x: np.sum(spline(x)))(x), spline(x, 1))


def test_products_with_transposed_and_converted_sparse_arrays():
    dense = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 1.0, 5.0]])
    a, x = scipy.sparse.csr_array(dense), np.array([1.0, 2.0, 3.0])
    for form in (lambda x, a: a @ x, lambda x, a: a.tocsc() @ x, lambda x, a: a.T.T @ x):
        np.testing.assert_array_equal(grad(lambda x, f=form: np.sum(f(x, a)))(x), dense.sum(0))
    np.testing.assert_array_equal(grad(lambda x: np.sum(x @ a))(x), dense.sum(1))
    np.testing.assert_array_equal(grad(lambda x: np.sum(a.T @ x))(x), dense.sum(1))
