"""Interpolators that are made of values which are differentiated."""

import numpy as np
import pytest
from scipy import interpolate

from adcompiler import MissingRuleError, grad, vjp
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

KNOTS = np.array([0.0, 0.8, 1.7, 2.5, 3.6, 4.4])
ROW = np.array([0.3, -1.2, 0.7, 1.9, 1.1, -0.4])
TABLE = np.outer(ROW, [1.0, 0.4, -0.7, 0.2, 0.9]) + np.cos(np.arange(30.0)).reshape(6, 5)
PLACES = np.array([0.31, 1.13, 2.92])
PAIRS = np.array([[0.3, 0.5], [1.0, 2.0], [3.0, 3.1]])
FULL = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0])

ROWS = {
    "CubicSpline": lambda v, t: interpolate.CubicSpline(KNOTS, v)(t),
    "natural": lambda v, t: interpolate.CubicSpline(KNOTS, v, bc_type="natural")(t, 1),
    "clamped": lambda v, t: interpolate.CubicSpline(KNOTS, v, 0, "clamped", False)(t, 2),
    "third": lambda v, t: interpolate.CubicSpline(KNOTS, v)(t, nu=3),
    "derivative": lambda v, t: interpolate.CubicSpline(KNOTS, v).derivative()(t),
    "integrate": lambda v, t: interpolate.CubicSpline(KNOTS, v).integrate(t[0], t[2]),
    "backwards": lambda v, t: interpolate.PchipInterpolator(KNOTS, v).integrate(t[2] + 3.0, t[0]),
    "PchipInterpolator": lambda v, t: interpolate.PchipInterpolator(KNOTS, v)(t),
    "of two": lambda v, t: interpolate.PchipInterpolator(KNOTS[:2], v[:2])(t),
    "CubicHermiteSpline": lambda v, t: interpolate.CubicHermiteSpline(KNOTS, v, v**2)(t),
    "make_interp_spline": lambda v, t: interpolate.make_interp_spline(KNOTS, v)(t),
    "quadratic": lambda v, t: interpolate.make_interp_spline(KNOTS, v, 2)(t, 1),
    "with ends": lambda v, t: interpolate.make_interp_spline(KNOTS, v, bc_type="natural")(t),
    "BSpline": lambda v, t: interpolate.BSpline(FULL, v, 3)(t * 0.9),
    "FITPACK": lambda v, t: interpolate.InterpolatedUnivariateSpline(KNOTS, v)(t),
    "linear": lambda v, t: interpolate.InterpolatedUnivariateSpline(KNOTS, v, k=1)(t),
    "interp1d": lambda v, t: interpolate.interp1d(KNOTS, v)(t),
    "beyond": lambda v, t: interpolate.interp1d(KNOTS, v, fill_value="extrapolate")(2.0 * t - 1.0),
    "filled": lambda v, t: interpolate.interp1d(
        KNOTS, v, bounds_error=False, fill_value=0.5)(2.0 * t - 1.0),
    "in any order": lambda v, t: interpolate.interp1d(KNOTS[::-1], v)(t),
    "one number": lambda v, t: interpolate.CubicSpline(KNOTS, v)(t[1]),
    "one axis": lambda v, t: interpolate.RegularGridInterpolator((KNOTS,), v)(t),
}
TABLES = {
    "columns": lambda v, t: interpolate.CubicSpline(KNOTS, v)(t[:, 0]),
    "columns of Pchip": lambda v, t: interpolate.PchipInterpolator(KNOTS, v)(t[:, 0]),
    "grid": lambda v, t: interpolate.RegularGridInterpolator((KNOTS, KNOTS[:5]), v)(t),
    "grid of one place": lambda v, t: interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:5]), v)((t[0, 0], t[0, 1])),
    "grid beyond": lambda v, t: interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:5]), v, bounds_error=False, fill_value=None)(3.0 * t - 1.0),
    "rectangle": lambda v, t: interpolate.RectBivariateSpline(
        KNOTS, KNOTS[:5], v)(t[:, 0], t[:, 1], dx=1),
    "rectangle at places": lambda v, t: interpolate.RectBivariateSpline(
        KNOTS, KNOTS[:5], v).ev(t[:, 0], t[:, 1]),
    "outside of the rectangle": lambda v, t: interpolate.RectBivariateSpline(
        KNOTS, KNOTS[:5], v, kx=1)(t[:, 0] * 3.0 - 1.0, t[:, 1], grid=False),
}


@pytest.mark.parametrize(("f", "v", "t"), one_in(3, [
    *(pytest.param(f, ROW, PLACES, id=name) for name, f in ROWS.items()),
    *(pytest.param(f, TABLE, PAIRS, id=name) for name, f in TABLES.items()),
]))
def test_values_and_places(f, v, t):
    found, wanted = vjp(f, v, t)[0], f(v, t)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    agrees(lambda v: np.sum(f(v, t) ** 2), v, order=1, h=1e-6)
    agrees(lambda t: np.sum(f(v, t) ** 2), t, order=1, h=1e-6, tol=1e-5)


@pytest.mark.parametrize("name", one_in(3, ["CubicSpline", "PchipInterpolator", "FITPACK"]))
def test_second_derivatives(name):
    f = ROWS[name]
    agrees(lambda t: np.sum(f(ROW * t[0], t) ** 2), PLACES, tol=1e-5)


def test_places_of_knots():
    def f(x):
        return np.sum(interpolate.PchipInterpolator(x, ROW)(PLACES) ** 2)

    agrees(f, KNOTS, order=1)
    with pytest.raises(MissingRuleError, match="argument `x`"):
        grad(lambda x: interpolate.CubicSpline(x, ROW)(1.0))(KNOTS)
    with pytest.raises(MissingRuleError, match="argument `x`"):
        grad(lambda x: interpolate.make_interp_spline(x, ROW)(1.0))(KNOTS)


def test_a_period():
    def f(v):
        w = np.concatenate((v, v[:1]))
        return interpolate.CubicSpline(KNOTS, w, bc_type="periodic")(KNOTS[-1] + 1.1) ** 2

    agrees(f, ROW[:5], order=1)


def test_an_instance_counts_as_one_of_scipys():
    def f(v):
        spline = interpolate.CubicSpline(KNOTS, v)
        return spline(1.0) if isinstance(spline, interpolate.CubicSpline) else 0.0 * v[0]

    assert f(ROW) != 0.0
    assert np.any(grad(f)(ROW))


@pytest.mark.parametrize("f", [
    lambda v: interpolate.CubicSpline(KNOTS, v, bc_type=((1, 0.0), (2, 0.0)))(1.0),
    lambda v: interpolate.CubicSpline(KNOTS, v)(1.0, 4),
    lambda v: interpolate.interp1d(KNOTS, v, kind="zero")(1.0),
    lambda v: interpolate.InterpolatedUnivariateSpline(KNOTS, v, k=2)(1.0),
])
def test_what_is_not_known(f):
    with pytest.raises((UncoveredError, MissingRuleError)):
        grad(f)(ROW)


def test_places_that_are_out_of_bounds_raise():
    with pytest.raises(ValueError, match="out of bounds"):
        grad(lambda v: interpolate.RegularGridInterpolator((KNOTS,), v)(np.array([9.0]))[0])(ROW)
    with pytest.raises(ValueError, match="outside"):
        grad(lambda v: interpolate.interp1d(KNOTS, v)(9.0))(ROW)


@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator", "FITPACK", "interp1d"])
def test_single_precision(name):
    f, row = ROWS[name], ROW.astype(np.float32)
    found, pull = vjp(lambda v: f(v, PLACES), row)
    assert found.dtype == f(row, PLACES).dtype
    g = pull(np.ones(3))[0]
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, grad(lambda v: np.sum(f(v, PLACES)))(ROW), rtol=2e-5, atol=2e-5)
