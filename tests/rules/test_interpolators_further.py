"""Interpolators of FITPACK, on grids and of scattered places, in values and in places."""

import inspect

import numpy as np
import pytest
from scipy import interpolate

from adcompiler import MissingRuleError, grad, hessian, jvp, vjp
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

KNOTS = np.array([0.0, 0.8, 1.7, 2.5, 3.6, 4.4])
ROW = np.array([0.3, -1.2, 0.7, 1.9, 1.1, -0.4])
TABLE = np.outer(ROW, [1.0, 0.4, -0.7, 0.2, 0.9]) + np.cos(np.arange(30.0)).reshape(6, 5)
PLACES = np.array([0.31, 1.13, 2.92])
PAIRS = np.array([[0.3, 0.5], [1.0, 2.0], [3.0, 3.1]])
SCATTERED = np.array([[0.0, 0.1], [3.5, 0.2], [0.3, 3.6], [3.2, 3.4], [1.4, 1.7], [2.6, 0.9]])
ENDS = np.repeat([0.0, 2.0, 4.4], (4, 1, 4))

ROWS = {
    "Akima": lambda v, t: interpolate.Akima1DInterpolator(KNOTS, v)(t),
    "Akima's slope": lambda v, t: interpolate.Akima1DInterpolator(KNOTS, v)(t, 1),
    "Akima beyond": lambda v, t: interpolate.Akima1DInterpolator(
        KNOTS, v, extrapolate=True)(2.0 * t - 1.0),
    "coefficients": lambda v, t: interpolate.CubicSpline(KNOTS, v).c * t[0],
    "antiderivative": lambda v, t: interpolate.CubicSpline(KNOTS, v).antiderivative()(t),
    "UnivariateSpline": lambda v, t: interpolate.UnivariateSpline(KNOTS, v, s=0)(t),
    "its slope": lambda v, t: interpolate.UnivariateSpline(KNOTS, v, s=0)(t, nu=1),
    "zero beyond": lambda v, t: interpolate.UnivariateSpline(KNOTS, v, s=0, ext=1)(2.0 * t - 1.0),
    "constant beyond": lambda v, t: interpolate.UnivariateSpline(
        KNOTS, v, k=5, s=0.0, ext="const")(2.0 * t - 1.0),
    "derivative()": lambda v, t: interpolate.UnivariateSpline(KNOTS, v, s=0).derivative(2)(t),
    "derivatives()": lambda v, t: interpolate.UnivariateSpline(KNOTS, v, s=0).derivatives(t[1]),
    "integral": lambda v, t: interpolate.UnivariateSpline(KNOTS, v, s=0).integral(t[0], t[2]),
    "integral beyond": lambda v, t: interpolate.InterpolatedUnivariateSpline(
        KNOTS, v).integral(-t[0], 2.0 * t[2]),
    "antiderivative()": lambda v, t: interpolate.InterpolatedUnivariateSpline(
        KNOTS, v).antiderivative()(t),
    "get_coeffs": lambda v, t: interpolate.UnivariateSpline(KNOTS, v, s=0).get_coeffs() * t[0],
    "splev": lambda v, t: interpolate.splev(t, interpolate.splrep(KNOTS, v)),
    "splev's slope": lambda v, t: interpolate.splev(t, interpolate.splrep(KNOTS, v, s=0), der=1),
    "splev beyond": lambda v, t: interpolate.splev(
        2.0 * t - 1.0, interpolate.splrep(KNOTS, v, k=1), ext=3),
    "splint": lambda v, t: interpolate.splint(t[0], t[1], interpolate.splrep(KNOTS, v)),
    "splder": lambda v, t: interpolate.splev(
        t, interpolate.splder(interpolate.splrep(KNOTS, v), 2)),
    "splantider": lambda v, t: interpolate.splev(
        t, interpolate.splantider(interpolate.splrep(KNOTS, v))),
    "BSpline.integrate": lambda v, t: interpolate.make_interp_spline(
        KNOTS, v).integrate(t[0], t[2]),
    "within": lambda v, t: interpolate.make_interp_spline(
        KNOTS, v).integrate(-t[0], t[2], extrapolate=False),
    "least squares": lambda v, t: interpolate.make_lsq_spline(KNOTS, v, ENDS)(t),
    "make_smoothing_spline": lambda v, t: interpolate.make_smoothing_spline(KNOTS, v, lam=0.3)(t),
    "cubic": lambda v, t: interpolate.interp1d(KNOTS, v, kind="cubic")(t),
    "quadratic": lambda v, t: interpolate.interp1d(KNOTS, v, "quadratic")(t),
    "slinear": lambda v, t: interpolate.interp1d(KNOTS, v, "slinear")(t),
    "of degree 5": lambda v, t: interpolate.interp1d(KNOTS, v, 5)(t),
    "nearest": lambda v, t: interpolate.interp1d(KNOTS, v, "nearest")(t) * t,
    "nearest-up": lambda v, t: interpolate.interp1d(KNOTS, v, "nearest-up")(t) * t,
    "previous": lambda v, t: interpolate.interp1d(KNOTS, v, "previous")(t) * t,
    "next": lambda v, t: interpolate.interp1d(
        KNOTS, v, "next", fill_value="extrapolate")(t - 0.4) * t,
    "two ends": lambda v, t: interpolate.interp1d(
        KNOTS, v, bounds_error=False, fill_value=(v[0], 0.5))(2.0 * t - 1.0),
    "pchip": lambda v, t: interpolate.RegularGridInterpolator((KNOTS,), v, method="pchip")(t),
    "griddata": lambda v, t: interpolate.griddata(KNOTS, v, t),
    "cubic griddata": lambda v, t: interpolate.griddata(KNOTS, v, t, method="cubic"),
    "Gaussian": lambda v, t: interpolate.RBFInterpolator(
        KNOTS[:, None], v, kernel="gaussian", epsilon=0.7)(t[:, None]),
    "thin plates": lambda v, t: interpolate.RBFInterpolator(KNOTS[:, None], v)(t[:, None]),
    "smoothed": lambda v, t: interpolate.RBFInterpolator(
        KNOTS[:, None], v, smoothing=0.4, kernel="cubic")(t[:, None]),
    "quintic RBF": lambda v, t: interpolate.RBFInterpolator(
        KNOTS[:, None], v, kernel="quintic")(t[:, None]),
    "multiquadric": lambda v, t: interpolate.RBFInterpolator(
        KNOTS[:, None], v, kernel="multiquadric", epsilon=1.2, degree=1)(t[:, None]),
}
TABLES = {
    "Akima's columns": lambda v, t: interpolate.Akima1DInterpolator(
        KNOTS, v, method="makima")(t[:, 0]),
    "rows of interp1d": lambda v, t: interpolate.interp1d(KNOTS[:5], v)(t),
    "columns of interp1d": lambda v, t: interpolate.interp1d(KNOTS, v, "cubic", axis=0)(t),
    "interpn": lambda v, t: interpolate.interpn((KNOTS, KNOTS[:5]), v, t),
    "splinef2d": lambda v, t: interpolate.interpn((KNOTS, KNOTS[:5]), v, t, method="splinef2d"),
    "interpn beyond": lambda v, t: interpolate.interpn(
        (KNOTS, KNOTS[:5]), v, 3.0 * t - 1.0, bounds_error=False, fill_value=0.5),
    "nearest on a grid": lambda v, t: interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:5]), v, method="nearest")(t) * t[:, 0],
    "area": lambda v, t: interpolate.RectBivariateSpline(
        KNOTS, KNOTS[:5], v).integral(t[0, 0], t[2, 0], t[0, 1], t[2, 1]),
    "simplices": lambda v, t: interpolate.LinearNDInterpolator(SCATTERED, v)(t),
    "scattered": lambda v, t: interpolate.griddata(SCATTERED, v[:, 0], (t[:, 0], t[:, 1])),
    "outside": lambda v, t: interpolate.griddata(
        SCATTERED, v, 2.0 * t, fill_value=0.3, rescale=True),
    "nearest point": lambda v, t: interpolate.NearestNDInterpolator(
        SCATTERED, v)(t)[:, 0] * t[:, 1],
    "thin plates in the plane": lambda v, t: interpolate.RBFInterpolator(SCATTERED, v)(t),
}
NEW = {"Akima beyond", "Akima's columns"}
"""What SciPy has from 1.14 on."""


def known(programs):
    """Return the programs that this SciPy runs."""
    new = "method" in inspect.signature(interpolate.Akima1DInterpolator).parameters
    return {name: f for name, f in programs.items() if new or name not in NEW}


@pytest.mark.parametrize(("f", "v", "t"), one_in(4, [
    *(pytest.param(f, ROW, PLACES, id=name) for name, f in known(ROWS).items()),
    *(pytest.param(f, TABLE, PAIRS, id=name) for name, f in known(TABLES).items()),
]))
def test_values_and_places(f, v, t):
    found, wanted = vjp(f, v, t)[0], f(v, t)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    agrees(lambda v: np.sum(f(v, t) ** 2), v, order=1, h=1e-6)
    agrees(lambda t: np.sum(f(v, t) ** 2), t, order=1, h=1e-6, tol=1e-5)


@pytest.mark.parametrize("name", one_in(3, [
    "UnivariateSpline", "Akima", "splev", "thin plates", "Gaussian", "integral", "cubic",
    "antiderivative", "least squares",
]))
def test_second_derivatives(name):
    f = ROWS[name]
    agrees(lambda t: np.sum(f(ROW * t[0], t) ** 2), PLACES, tol=1e-5)


SPLINES = {
    1: lambda v, t: interpolate.RegularGridInterpolator((KNOTS, KNOTS), v, method="slinear")(t),
    3: lambda v, t: interpolate.RegularGridInterpolator((KNOTS, KNOTS), v, method="cubic")(t),
    5: lambda v, t: interpolate.RegularGridInterpolator((KNOTS, KNOTS), v, method="quintic")(t),
}


@pytest.mark.parametrize("degree", SPLINES)
def test_splines_on_a_grid(degree):
    """SciPy solves for the coefficients by iteration, to fewer digits."""
    f, values = SPLINES[degree], np.sin(TABLE @ TABLE.T)

    def exact(v, t):
        last = interpolate.make_interp_spline(KNOTS, v, degree, axis=1)
        return np.array([
            interpolate.make_interp_spline(KNOTS, last(y), degree)(x) for x, y in t])

    found, pull = vjp(f, values, PAIRS)
    np.testing.assert_allclose(found, f(values, PAIRS), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found, exact(values, PAIRS), rtol=1e-9, atol=1e-9)
    dv, dt = pull(np.array([1.0, -2.0, 0.5]))
    rng, h = np.random.default_rng(1), 1e-6
    for _ in range(3):
        v, t = rng.normal(size=(6, 6)), rng.normal(size=(3, 2))
        slope = (exact(values + h * v, PAIRS + h * t) - exact(values - h * v, PAIRS - h * t))
        wanted = np.sum(slope / (2 * h) * [1.0, -2.0, 0.5])
        np.testing.assert_allclose(np.sum(dv * v) + np.sum(dt * t), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", ["linear", "slinear", "cubic", "nearest"])
def test_places_of_a_grid_that_was_there_before(method):
    grid = interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:5]), TABLE, method=method, bounds_error=False, fill_value=0.2)

    def f(t):
        return np.sum(grid(t) ** 2 * t[:, 0])

    agrees(f, np.concatenate((PAIRS, [[-0.5, 1.1]])), tol=1e-5)


def test_the_points_that_values_are_given_at():
    def radial(x):
        return np.sum(interpolate.RBFInterpolator(x, ROW)(PAIRS) ** 2)

    def simplices(x):
        return np.sum(interpolate.LinearNDInterpolator(x, ROW)(PAIRS) ** 2)

    agrees(radial, SCATTERED, order=1)
    agrees(simplices, SCATTERED, order=1)


def test_places_at_points_have_the_slope_of_the_smooth_part():
    f = interpolate.RBFInterpolator

    def at_a_point(t):
        return f(KNOTS[:, None], ROW, kernel="cubic")(t)[0]

    agrees(at_a_point, KNOTS[2:3, None], order=1, h=1e-6)


def test_smoothing_splines_have_derivatives_in_places():
    def f(t):
        return np.sum(interpolate.UnivariateSpline(KNOTS, ROW, s=0.5)(t) ** 2)

    agrees(f, PLACES, tol=1e-5)
    curve = interpolate.splrep(KNOTS, ROW, s=0.5)
    agrees(lambda t: np.sum(interpolate.splev(t, curve) ** 2), PLACES, tol=1e-5)
    for g in (
        lambda v: interpolate.UnivariateSpline(KNOTS, np.sin(v), s=0.5)(1.0),
        lambda v: interpolate.UnivariateSpline(KNOTS, ROW, 1.0 + v**2, s=0.5)(1.0),
        lambda v: interpolate.UnivariateSpline(KNOTS, ROW, s=v[0])(1.0),
        lambda v: interpolate.UnivariateSpline(v, ROW, s=0).get_knots()[1],
        lambda v: interpolate.make_interp_spline(v, ROW).t[4],
        lambda v: interpolate.splev(1.0, interpolate.splrep(v, ROW)),
        lambda v: interpolate.make_smoothing_spline(KNOTS, v)(1.0),
    ):
        with pytest.raises(MissingRuleError):
            grad(g)(KNOTS)


@pytest.mark.parametrize("f", [
    lambda v: interpolate.griddata(SCATTERED, v, PAIRS, method="cubic")[0],
    lambda v: interpolate.RBFInterpolator(SCATTERED, v, neighbors=3)(PAIRS)[0],
    lambda v: interpolate.interp1d(KNOTS, v, kind="zero")(1.0),
    lambda v: interpolate.RegularGridInterpolator((KNOTS,), v)(PLACES, method="cubic")[0],
    lambda v: interpolate.splev(1.0, interpolate.splder(interpolate.splrep(KNOTS, v), 3)),
])
def test_what_is_not_known(f):
    with pytest.raises((UncoveredError, MissingRuleError)):
        grad(f)(ROW)


@pytest.mark.parametrize("name", ["Akima", "UnivariateSpline", "cubic", "thin plates", "splev"])
def test_single_precision(name):
    f, row = ROWS[name], ROW.astype(np.float32)
    found, pull = vjp(lambda v: f(v, PLACES), row)
    assert found.dtype == f(row, PLACES).dtype
    g = pull(np.ones(3))[0]
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, grad(lambda v: np.sum(f(v, PLACES)))(ROW), rtol=2e-5, atol=2e-5)


def test_curvature_of_a_spline_is_its_second_derivative():
    spline = interpolate.UnivariateSpline(KNOTS, ROW, s=0)

    def f(t):
        return interpolate.UnivariateSpline(KNOTS, ROW, s=0)(t)

    np.testing.assert_allclose(hessian(f)(1.1), spline(1.1, 2), rtol=1e-10)
    np.testing.assert_allclose(jvp(f, (1.1,), (1.0,))[1], spline(1.1, 1), rtol=1e-10)
