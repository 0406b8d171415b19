"""Tests, spreads, distances and densities of samples, compiled as Python written for them."""

import numpy as np
import pytest
from scipy import stats

from adcompiler import grad, vjp
from adcompiler.errors import UncoveredError
from tests.lanes import one_in
from tests.rules.agreement import agrees

RNG = np.random.default_rng(3)
ROW = RNG.uniform(0.3, 2.0, 9)
OTHER = RNG.uniform(0.3, 2.0, 9)
TABLE = RNG.uniform(0.3, 2.0, (4, 5))

ROWS = {
    "pearsonr": lambda x: stats.pearsonr(x, OTHER)[0],
    "p of pearsonr": lambda x: stats.pearsonr(OTHER, x).pvalue,
    "both": lambda x: np.stack(stats.pearsonr(x, OTHER)),
    "linregress": lambda x: np.stack(tuple(stats.linregress(x, OTHER))),
    "slope": lambda x: stats.linregress(OTHER, x).slope,
    "less": lambda x: stats.linregress(OTHER, x, alternative="less").pvalue,
    "ttest_1samp": lambda x: np.stack(tuple(stats.ttest_1samp(x, x[0]))),
    "greater": lambda x: stats.ttest_1samp(x, 0.9, alternative="greater")[1],
    "ttest_rel": lambda x: stats.ttest_rel(x, OTHER).statistic,
    "ttest_ind": lambda x: np.stack(tuple(stats.ttest_ind(x, OTHER[:5]))),
    "chisquare": lambda x: np.stack(tuple(stats.chisquare(x))),
    "expected": lambda x: stats.chisquare(OTHER / np.sum(OTHER), x / np.sum(x), ddof=1)[1],
    "zmap": lambda x: stats.zmap(x[:4], x, ddof=1),
    "variation": lambda x: stats.variation(x, ddof=1),
    "iqr": lambda x: stats.iqr(x, rng=(10, 80), scale="normal"),
    "median_abs_deviation": lambda x: stats.median_abs_deviation(x, scale="normal"),
    "tmean": lambda x: stats.tmean(x, (0.5, 1.8)),
    "tvar": lambda x: stats.tvar(x, (None, 1.8), (True, False)),
    "tstd": lambda x: stats.tstd(x),
    "trim_mean": lambda x: stats.trim_mean(x, 0.2),
    "gstd": lambda x: stats.gstd(x),
    "circmean": lambda x: stats.circmean(x, high=2.5, low=-1.0),
    "circvar": lambda x: stats.circvar(x),
    "circstd": lambda x: stats.circstd(x, high=5.0),
    "wasserstein": lambda x: stats.wasserstein_distance(x, OTHER[:6]),
    "energy": lambda x: stats.energy_distance(x[:5], OTHER),
    "kde": lambda x: stats.gaussian_kde(x)(OTHER),
    "silverman": lambda x: stats.gaussian_kde(OTHER, "silverman").pdf(x),
    "weights": lambda x: stats.gaussian_kde(OTHER, weights=x).logpdf(x[:3]),
    "width": lambda x: stats.gaussian_kde(OTHER, x[0]).evaluate(1.3),
    "interval": lambda x: stats.gaussian_kde(x).integrate_box_1d(0.3, 1.2),
    "covariance": lambda x: stats.gaussian_kde(x).covariance,
}
TABLES = {
    "rows of ttest_1samp": lambda x: np.stack(tuple(stats.ttest_1samp(x, 1.0, axis=1))),
    "rows of ttest_ind": lambda x: stats.ttest_ind(x, x[::-1] ** 2, axis=1)[0],
    "columns of chisquare": lambda x: stats.chisquare(x)[0],
    "rows of iqr": lambda x: stats.iqr(x, axis=1, keepdims=True),
    "columns of variation": lambda x: stats.variation(x),
    "all": lambda x: stats.tmean(x),
    "columns of tvar": lambda x: stats.tvar(x),
    "rows of trim_mean": lambda x: stats.trim_mean(x, 0.25, axis=1),
    "rows of circmean": lambda x: stats.circmean(x, axis=1),
    "kde in the plane": lambda x: stats.gaussian_kde(x[:2])(x[2:, :3]),
    "one point": lambda x: stats.gaussian_kde(x[:2]).logpdf(x[:2, 0]),
}


@pytest.mark.parametrize(("f", "x"), one_in(3, [
    *(pytest.param(f, ROW, id=name) for name, f in ROWS.items()),
    *(pytest.param(f, TABLE, id=name) for name, f in TABLES.items()),
]))
def test_values_and_derivatives(f, x):
    found, wanted = vjp(f, x)[0], f(x)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    agrees(lambda x: np.sum(f(x) * weights), x, order=1, h=1e-6, tol=2e-6)


@pytest.mark.parametrize("name", one_in(3, ["pearsonr", "linregress", "kde", "circstd", "weights"]))
def test_second_derivatives(name):
    f = ROWS[name]
    agrees(lambda x: np.sum(np.sin(f(x))), ROW, tol=1e-5)


@pytest.mark.parametrize("f", [
    lambda x: stats.variation(x, nan_policy="omit"),
    lambda x: stats.pearsonr(x, OTHER, alternative="less")[0],
    lambda x: stats.ttest_ind(x, OTHER, equal_var=False)[0],
    lambda x: stats.median_abs_deviation(x, center=np.mean),
    lambda x: stats.wasserstein_distance(x, OTHER, u_weights=OTHER),
    lambda x: stats.gaussian_kde(x, lambda kde: 0.3)(1.0)[0],
])
def test_what_is_not_known(f):
    with pytest.raises(UncoveredError):
        grad(f)(ROW)


def test_far_from_the_data_a_density_has_a_logarithm():
    f = stats.gaussian_kde(ROW).logpdf
    slope = grad(lambda x: stats.gaussian_kde(ROW).logpdf(x)[0])(60.0)
    np.testing.assert_allclose(slope, (f(60.001) - f(59.999))[0] / 0.002, rtol=1e-6)


@pytest.mark.parametrize("method", ["evaluate", "logpdf", "pdf", "__call__"])
def test_a_density_that_was_there_before(method):
    f = getattr(stats.gaussian_kde(OTHER), method)
    agrees(lambda x: np.sum(f(x) ** 2), ROW)


@pytest.mark.parametrize("name", ["tmean", "tvar", "zmap", "kde", "pearsonr", "circmean"])
def test_single_precision(name):
    f, row = ROWS[name], ROW.astype(np.float32)
    found, pull = vjp(f, row)
    assert found.dtype == f(row).dtype
    g = pull(np.ones_like(found))[0]
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, grad(lambda x: np.sum(f(x)))(ROW), rtol=2e-3, atol=2e-3)
