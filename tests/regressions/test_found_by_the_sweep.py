"""What the sweep over library functions and their options found: zeros, ties, fewer dimensions."""

import pickle

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse.linalg
import scipy.special

from adcompiler import (
    ADError, MissingRuleError, derivative, grad, hessian, jacrev, value_and_grad, vjp,
)
from adcompiler.errors import UncoveredError
from adcompiler.rulekit import REGISTRY

LINE = np.array([0.3, 0.8, 0.45])


def upper(x):
    return np.sum(np.triu(x, 1) * np.arange(9.0).reshape(3, 3))


def lower(x):
    return np.sum(np.tril(x) * np.arange(9.0).reshape(3, 3))


def test_triangles_of_a_line_repeat_it():
    np.testing.assert_allclose(grad(upper)(LINE), [0.0, 1.0, 7.0])
    np.testing.assert_allclose(grad(lower)(LINE), [9.0, 11.0, 8.0])


def rising(x):
    return scipy.special.poch(x, 3)


def rising_by_fractions(x):
    return scipy.special.poch(x, 0.7)


def test_rising_factorials_have_derivatives_where_they_are_zero():
    np.testing.assert_allclose(derivative(rising)(-2.0), 2.0)
    np.testing.assert_allclose(hessian(rising)(-2.0), -6.0)
    np.testing.assert_allclose(derivative(rising_by_fractions)(0.0), scipy.special.gamma(0.7))


def test_eigenvalues_that_coincide_have_a_vector_each():
    found = jacrev(lambda x: np.linalg.eigvals(x).real)(np.zeros((2, 2)))  # complex in NumPy 2.5
    np.testing.assert_allclose(np.trace(found, axis1=1, axis2=2), [1.0, 1.0])
    np.testing.assert_allclose(np.sum(found, axis=0), np.eye(2))


def lyapunov(x):
    return np.sum(scipy.linalg.solve_continuous_lyapunov(x, 0.3))


def discrete(x):
    return np.sum(scipy.linalg.solve_discrete_lyapunov(x, 0.3))


def riccati(x):
    return np.sum(scipy.linalg.solve_continuous_are(x, 0.3, 0.3, 0.3))


def system(x):
    return np.sum(scipy.linalg.solve(x, 0.3))


def exponential(x):
    return scipy.linalg.expm(x)[0, 0]


@pytest.mark.parametrize("f", [lyapunov, discrete, riccati, system, exponential])
def test_matrix_equations_of_numbers_are_refused(f):
    with pytest.raises(MissingRuleError, match="has a rule for matrices"):
        grad(f)(0.6)


def blocks(x):
    return np.sum(scipy.linalg.block_diag(x))


def triangle(x):
    return np.sum(scipy.linalg.cholesky(x, LINE))


def test_stacks_and_lines_where_one_matrix_and_one_flag_are_meant():
    with pytest.raises(ADError, match="single matrices"):
        grad(blocks)(np.ones((2, 3, 4)))
    with pytest.raises(MissingRuleError, match="one truth value"):
        grad(triangle)(np.eye(3))


def least(x):
    return np.sum(scipy.ndimage.percentile_filter(x, 0, 1, mode="full"))


def test_modes_that_nothing_reads_are_as_in_scipy():
    np.testing.assert_allclose(grad(least)(LINE), 1.0)


def real_of_plane(x, y):
    np.fft.irfft2(x, out=y)
    return np.sum(y * y) + np.sum(x)


def real_of_half(x, y):
    np.fft.hfft(x, out=y)
    return np.sum(y * y) + np.sum(x)


def complex_of_plane(x, y):
    np.fft.ifftn(x, out=y)
    return np.sum(np.real(y * y)) + np.sum(x)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="no out= yet")
@pytest.mark.parametrize(("f", "y"), [
    (real_of_plane, np.zeros((3, 6))), (real_of_half, np.zeros((3, 6))),
    (complex_of_plane, np.zeros((3, 4), complex)),
])
def test_outputs_that_numpy_forgets_are_not_written_into(f, y):
    x = np.linspace(0.2, 0.9, 12).reshape(3, 4)
    try:
        value, _ = value_and_grad(f)(x, y.copy())
    except ADError:
        assert f is not complex_of_plane
    else:
        assert value == pytest.approx(f(x, y.copy()))


WEIGHTS = np.array([0.5, -1.5, 2.5])


def splines(x):
    return np.sum(scipy.ndimage.spline_filter1d(x, 1) * WEIGHTS)


def smooth(x):
    return np.sum(scipy.ndimage.gaussian_filter(x, 0.0) * WEIGHTS)


def means(x):
    return np.sum(scipy.ndimage.uniform_filter(x, 1) * WEIGHTS)


@pytest.mark.parametrize("f", [splines, smooth, means])
def test_gradients_of_filters_that_do_nothing_are_no_globals(f):
    g = grad(f)(LINE)
    np.testing.assert_allclose(g, WEIGHTS)
    assert not np.shares_memory(g, WEIGHTS)


def smallest(x):
    return np.sum(scipy.ndimage.minimum_filter(x, 1, origin=1) * WEIGHTS)


def test_filters_by_one_element_have_no_origin():
    np.testing.assert_allclose(grad(smallest)(LINE), WEIGHTS)


def factors(x):
    return np.sum(scipy.linalg.lu_factor(x)[0])


def test_what_a_rule_does_not_cover_is_told_with_the_line_when_it_runs():
    assert grad(factors)(np.diag(LINE)).shape == (3, 3)
    with pytest.raises(UncoveredError, match="square matrices") as caught:
        grad(factors)(np.ones((2, 3)))
    assert "return np.sum(scipy.linalg.lu_factor(x)[0])" in str(caught.value)
    assert isinstance(caught.value, NotImplementedError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def turned(x):
    return np.sum(np.transpose(x, axes=0) * x)


def test_axes_of_a_line_may_be_a_number():
    np.testing.assert_allclose(grad(turned)(LINE), 2.0 * LINE)


def through_an_operator(x):
    operator = scipy.sparse.linalg.LinearOperator((3, 3), matvec=lambda v: 2.0 * v)
    return np.sum(operator @ x)


def test_functions_that_a_library_keeps_are_refused_where_it_calls_them():
    with pytest.raises(ADError, match="where its derivative was not compiled"):
        grad(through_an_operator)(LINE)


def below_the_cut(x):
    return np.sum(np.imag(np.sqrt(x.astype(complex) * -1)))


def along_the_cut(x):
    z = np.conj(-x.astype(complex) * 1.0) * 1.0
    return np.sum(np.imag(np.sqrt(z)))


@pytest.mark.parametrize("f", [below_the_cut, along_the_cut])
def test_products_of_complex_numbers_keep_the_signs_of_zeros(f):
    value, g = value_and_grad(f)(LINE)
    assert value == pytest.approx(f(LINE))
    np.testing.assert_allclose(g, np.sign(f(LINE)) * 0.5 / np.sqrt(LINE))


def flat_laplace(x):
    return 2.0 * float(scipy.ndimage.gaussian_laplace(x, 0.3)) + 3.0 * scipy.ndimage.laplace(x)


def product(x):
    return scipy.signal.convolve(x, 0.3) + scipy.signal.correlate(0.4, x)


def test_filters_of_numbers():
    assert grad(flat_laplace)(0.6) == pytest.approx(5.0)
    assert grad(product)(0.6) == pytest.approx(0.7)


def structured(x):
    return np.sum(scipy.ndimage.iterate_structure(x, 1) * WEIGHTS)


def test_structures_of_numbers_have_derivatives():
    np.testing.assert_allclose(grad(structured)(LINE), WEIGHTS)


def integrated(x, c):
    return np.sum(x * np.polyint(c, 0))


def differentiated(x, c):
    return np.sum(x * np.polyder(c, 0))


@pytest.mark.parametrize("f", [integrated, differentiated])
def test_polynomials_that_are_not_changed_are_the_argument(f):
    g = grad(f)(LINE, WEIGHTS)
    np.testing.assert_allclose(g, WEIGHTS)
    assert not np.shares_memory(g, WEIGHTS)


def after_a_loop(x, c, n):
    y = c
    for _ in range(n):
        y = y * 2.0
    return np.sum(x * y)


def after_a_branch(x, c, n):
    y = c if n == 0 else c * 2.0
    return np.sum(x * y)


def after_both(x, c, n):
    y = np.asarray(c)
    for _ in range(n):
        if n > 3:
            y = y + 1.0
    return np.sum(x * y)


@pytest.mark.parametrize(("f", "n", "times"), [
    (after_a_loop, 0, 1.0), (after_a_loop, 2, 4.0), (after_a_branch, 0, 1.0),
    (after_a_branch, 2, 2.0), (after_both, 0, 1.0), (after_both, 2, 1.0),
])
def test_gradients_are_no_argument_that_a_region_hands_on(f, n, times):
    _, pullback = vjp(f, LINE, WEIGHTS, n, argnums=0)
    for g in (grad(f)(LINE, WEIGHTS, n), pullback(1.0)):
        np.testing.assert_allclose(g, times * WEIGHTS)
        assert not np.shares_memory(g, WEIGHTS)


def test_select_of_an_array_of_choices():
    conditions, choices = np.array([False, True, True]), np.array([1.0, 2.0, 3.0])
    value, pullback = vjp(np.select, conditions, choices, np.array([5.0, 6.0]), argnums=(1, 2))
    np.testing.assert_array_equal(value, [2.0, 2.0])
    dchoices, ddefault = pullback(np.array([1.0, 10.0]))
    np.testing.assert_array_equal(dchoices, [0.0, 11.0, 0.0])
    np.testing.assert_array_equal(ddefault, [0.0, 0.0])


def test_designs_of_filters_are_not_constant():
    assert np.isclose(grad(scipy.signal.kaiser_atten, 1)(20, 0.3), 2.285 * 19.0 * np.pi)
    slope = (scipy.signal.kaiser_beta(30.0 + 1e-6) - scipy.signal.kaiser_beta(30.0 - 1e-6)) / 2e-6
    assert np.isclose(grad(scipy.signal.kaiser_beta)(30.0), slope)
    with pytest.raises(ADError):
        grad(lambda beta: np.sum(scipy.signal.get_window(("kaiser", beta), 5)))(2.0)
    with pytest.raises(ADError):
        grad(lambda d: np.sum(scipy.signal.savgol_coeffs(5, 2, deriv=1, delta=d)))(0.5)
    window = scipy.signal.get_window("hann", 5)
    np.testing.assert_allclose(
        grad(lambda x: np.sum(x * scipy.signal.get_window("hann", 5)))(np.ones(5)), window)


def test_ends_of_inverses_and_integrals():
    assert grad(scipy.special.chndtrinc)(0.2, 0.3, 0.8) == 0.0
    assert np.isclose(grad(scipy.special.it2struve0)(0.0), -2.0 / np.pi)


def test_no_spline_is_evaluated_on_stand_ins():
    tck = scipy.interpolate.splrep(np.linspace(0.0, 1.0, 7), np.linspace(0.0, 1.0, 7) ** 2)
    assert REGISTRY.facts(scipy.interpolate.splev).may_be_tried is False

    def f(x, tck):
        return np.sum(scipy.interpolate.splev(x, tck))

    np.testing.assert_allclose(grad(f)(np.array([0.3, 0.5]), tck), [0.6, 1.0])
