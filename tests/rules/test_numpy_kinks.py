"""What NumPy's rules return where the derivative does not exist, and where NumPy is extreme."""

import numpy as np
import pytest

from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.testing import rule_function

INF = np.inf
SIGN_IS_PHASE = bool(np.sign(1j) == 1j)


def cotangents(function, *args, dy=1.0, **kwargs):
    """Return the cotangents of the arguments for the cotangent ``dy`` of every result."""
    y, pullback = rule_function(REGISTRY.find(function))(*args, **kwargs)
    found = pullback(np.full_like(y, dy) if np.ndim(y) else dy)
    if type(found) is not tuple:
        return found
    return tuple(one() if callable(one) else one for one in found)


@pytest.mark.parametrize(("function", "args", "expected"), [
    (np.absolute, (0.0,), 0.0),
    (np.absolute, (0j,), 0.0),
    (np.sign, (0.0,), 0.0),
    *([(np.sign, (0j,), 0.0)] if SIGN_IS_PHASE else []),
    (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    (np.arctan2, (0.0, 0.0), (0.0, 0.0)),
    (np.maximum, (1.0, 1.0), (0.5, 0.5)),
    (np.minimum, (1.0, 1.0), (0.5, 0.5)),
    (np.maximum, (INF, INF), (0.5, 0.5)),
    (np.fmax, (np.nan, 2.0), (0.0, 1.0)),
    (np.fmin, (2.0, np.nan), (1.0, 0.0)),
    (np.power, (0.0, 0.5), (INF, 0.0)),
    (np.power, (0.0, 0.0), (0.0, 0.0)),
    (np.angle, (0j,), 0.0),
    (np.sinc, (0.0,), 0.0),
    (np.i0, (0.0,), 0.0),
])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_scalar(function, args, expected):
    assert cotangents(function, *args) == expected


@pytest.mark.parametrize("function", [np.sqrt, np.cbrt])
def test_root_at_zero_is_infinitely_steep(function):
    with np.errstate(divide="ignore"):
        assert cotangents(function, np.float64(0.0)) == INF


def test_clip_at_a_bound_passes_the_cotangent_to_its_argument():
    da, dlow, dhigh, _, _ = cotangents(np.clip, np.array([-1.0, 1.0]), -1.0, 1.0)
    assert np.array_equal(da, [1.0, 1.0])
    assert (dlow, dhigh) == (0.0, 0.0)


@pytest.mark.parametrize("function", [np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin])
def test_ties_share_evenly(function):
    assert np.array_equal(cotangents(function, np.array([2.0, 2.0, 2.0, 2.0])), [0.25] * 4)


def test_the_maximum_of_nan_and_of_a_larger_initial_value_has_derivative_zero():
    assert np.array_equal(cotangents(np.max, np.array([1.0, np.nan])), [0.0, 0.0])
    assert np.array_equal(cotangents(np.max, np.array([1.0, 2.0]), initial=5.0), [0.0, 0.0])


@pytest.mark.parametrize("order", [None, 1, 2, 3, 1.5, INF, -INF])
def test_norm_of_zero_has_derivative_zero(order):
    assert np.array_equal(cotangents(np.linalg.norm, np.zeros(3), order)[0], np.zeros(3))
    if hasattr(np.linalg, "vector_norm"):
        assert np.array_equal(cotangents(np.linalg.vector_norm, np.zeros(3),
                                         ord=2 if order is None else order)[0], np.zeros(3))


def test_equal_elements_of_a_maximum_norm_share_evenly():
    x = np.array([[2.0, -2.0, 1.0], [3.0, 0.5, -1.0]])
    wanted = [[0.5, -0.5, 0.0], [1.0, 0.0, 0.0]]
    assert np.array_equal(cotangents(np.linalg.norm, x, INF, 1)[0], wanted)
    if hasattr(np.linalg, "vector_norm"):
        assert np.array_equal(cotangents(np.linalg.vector_norm, x, axis=1, ord=INF)[0], wanted)


def test_std_of_equal_elements_has_derivative_zero():
    da, _ = cotangents(np.std, np.full(3, 1.5))
    assert np.array_equal(da, np.zeros(3))


def test_nan_to_num_gives_nothing_to_what_it_replaces():
    x = np.array([1.5, np.nan, INF, -INF])
    assert np.array_equal(cotangents(np.nan_to_num, x), [1.0, 0.0, 0.0, 0.0])


def test_product_that_underflows_keeps_its_derivative():
    da, _ = cotangents(np.prod, np.array([1e-200, 1e-200]))
    assert np.array_equal(da, [1e-200, 1e-200])


def test_interp_outside_and_at_a_knot():
    dx, _, dfp, _, _ = cotangents(
        np.interp, np.array([-1.0, 1.0, 9.0]), np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 5.0])
    )
    assert np.array_equal(dx, [0.0, 4.0, 0.0])
    assert np.array_equal(dfp, [1.0, 1.0, 1.0])


@pytest.mark.skipif(not SIGN_IS_PHASE, reason="NumPy 1 gives the sign of the real part")
def test_sign_of_a_complex_number_moves_at_right_angles_to_it():
    z = 3.0 + 4.0j
    assert cotangents(np.sign, z, dy=z / 5.0) == 0.0
    assert cotangents(np.sign, z, dy=1j * z / 5.0) == pytest.approx(1j * z / 25.0)


def test_logaddexp_does_not_overflow():
    assert cotangents(np.logaddexp, 1000.0, -1000.0) == (1.0, 0.0)


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
def test_logarithm_of_a_sum_of_nothing_has_derivative_zero(function):
    assert cotangents(function, -INF, -INF) == (0.0, 0.0)
    assert cotangents(function, -INF, 1.5) == (0.0, 1.0)
