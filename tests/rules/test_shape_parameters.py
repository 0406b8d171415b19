"""Incomplete gamma and beta functions, and distributions of them, in their shape parameters."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import special, stats

from adcompiler import grad, hessian, jvp
from adcompiler_rules.kernels.random_draws import trigamma


def limit(f, x, h):
    """Return the derivative by central differences, extrapolated three times."""
    rows = [(f(x + h / 2**k) - f(x - h / 2**k)) / (2 * h / 2**k) for k in range(4)]
    for order in (4.0, 16.0, 64.0):
        rows = [(order * b - a) / (order - 1.0) for a, b in pairwise(rows)]
    return rows[0]


FUNCTIONS = {
    "gammainc": (lambda a: special.gammainc(a, 1.7), 2.3),
    "gammaincc": (lambda a: special.gammaincc(a, 9.0), 0.4),
    "gammaincinv": (lambda a: special.gammaincinv(a, 0.3), 2.3),
    "gammainccinv": (lambda a: special.gammainccinv(a, 0.3), 40.0),
    "betainc a": (lambda a: special.betainc(a, 1.2, 0.4), 2.3),
    "betainc b": (lambda b: special.betainc(1.2, b, 0.4), 30.0),
    "betaincinv a": (lambda a: special.betaincinv(a, 1.2, 0.4), 2.3),
    "betaincinv b": (lambda b: special.betaincinv(3.0, b, 0.4), 0.7),
    "chdtr": (lambda v: special.chdtr(v, 1.4) * special.chdtrc(v, 2.0), 2.3),
    "chdtri": (lambda v: special.chdtri(v, 0.4), 2.3),
    "gamma": (lambda a: stats.gamma.cdf(1.7, a) + stats.gamma.logsf(2.0, a), 2.3),
    "gamma quantile": (lambda a: stats.gamma.ppf(0.7, a, 1.0, 2.0), 0.8),
    "beta": (lambda a: stats.beta.cdf(0.4, a, 1.3) * stats.beta.sf(0.4, 1.3, a), 2.3),
    "beta quantile": (lambda b: stats.beta.ppf(0.4, 1.3, b), 2.3),
    "t": (lambda v: stats.t.cdf(0.4, v) - stats.t.logcdf(-1.4, v), 4.3),
    "t quantile": (lambda v: stats.t.ppf(0.7, v) * stats.t.isf(0.9, v), 4.3),
    "chi2": (lambda v: stats.chi2.cdf(1.4, v) + stats.chi2.ppf(0.4, v), 2.3),
    "f": (lambda v: stats.f.cdf(1.4, v, 3.3) * stats.f.sf(1.4, 2.0, v), 2.3),
    "f quantile": (lambda v: stats.f.ppf(0.4, 3.2, v) + stats.f.ppf(0.4, v, 3.0), 2.3),
    "invgamma": (lambda a: stats.invgamma.cdf(0.4, a), 2.3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives(name):
    f, x = FUNCTIONS[name]
    slope = grad(f)(x)
    assert slope == pytest.approx(limit(f, x, 0.02 * x), rel=1e-8)
    assert jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)
    assert hessian(f)(x) == pytest.approx(limit(grad(f), x, 0.02 * x), rel=1e-7)


def test_in_both_arguments():
    def beta(a, x):
        return special.betainc(a, 1.4, x)

    for f, a, x in ((special.gammainc, 2.3, 1.1), (beta, 2.3, 0.6)):
        mixed = grad(lambda a, x, f=f: grad(f, argnums=1)(a, x))(a, x)
        other = grad(lambda x, a, f=f: grad(f)(a, x))(x, a)
        assert mixed == pytest.approx(other, rel=1e-9)
        assert mixed == pytest.approx(limit(lambda a, x=x, f=f: grad(f, argnums=1)(a, x), a, 0.02))


@pytest.mark.parametrize("a", [1e-2, 0.3, 2.3, 300.0])
def test_far_into_the_tails(a):
    for q in (1e-6, 0.1, 0.5, 0.9, 1.0 - 1e-6):
        x = float(special.gammaincinv(a, q))
        if x > 1e-280:
            part = special.gammainc if q < 0.5 else special.gammaincc
            wanted = limit(lambda a, x=x, part=part: part(a, x), a, 0.02 * min(a, np.sqrt(a)))
            assert grad(lambda a, x=x, part=part: part(a, x))(a) == pytest.approx(wanted, rel=1e-7)


def test_edges_arrays_and_what_is_not_there():
    x = np.array([0.0, 1.0, np.inf])
    slopes = grad(lambda a: np.sum(special.gammainc(a, x)))(np.full(3, 0.5))
    assert slopes[[0, 2]].tolist() == [0.0, 0.0]
    wanted = limit(lambda a: special.gammainc(a, 1.0), 0.5, 0.01)
    assert slopes[1] == pytest.approx(wanted, rel=1e-8)
    edges = grad(lambda a: np.sum(special.betainc(a, 0.5, np.array([0.0, 1.0]))))(np.full(2, 0.5))
    assert edges.tolist() == [0.0, 0.0]
    assert np.isnan(grad(lambda a: special.gammainc(a, np.nan))(0.5))
    assert grad(lambda a: stats.gamma.cdf(-1.0, a))(2.0) == 0.0
    assert grad(lambda v: stats.t.cdf(0.0, v))(2.0) == 0.0
    np.testing.assert_allclose(
        trigamma(np.array([0.1, 1.0, 7.5])), special.polygamma(1, [0.1, 1.0, 7.5]), rtol=1e-13)
