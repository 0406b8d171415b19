"""Scores and Hessians of likelihoods of statsmodels, beside its differences and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

sm = pytest.importorskip("statsmodels.api")
from scipy import stats  # noqa: E402
from statsmodels.base.model import GenericLikelihoodModel  # noqa: E402

from adcompiler import grad, hessian  # noqa: E402
from adcompiler.interop.statsmodels import Derivatives  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(5)
X = sm.add_constant(RNG.normal(size=(80, 2)))
Y = (X @ np.array([0.2, 0.5, -0.3]) + RNG.normal(size=80) > 0.0).astype(float)
COUNTS = RNG.poisson(np.exp(X @ np.array([0.4, 0.3, -0.2]))).astype(float)


class Probit(Derivatives, GenericLikelihoodModel):
    def loglikeobs(self, params: Any) -> Any:
        sign = 2.0 * self.endog - 1.0
        return stats.norm.logcdf(sign * (self.exog @ params))


class NegativeBinomial(Derivatives, GenericLikelihoodModel):
    def nloglikeobs(self, params: Any) -> Any:
        mean, spread = np.exp(self.exog @ params[:-1]), params[-1]
        return -stats.nbinom.logpmf(self.endog, 1.0 / spread, 1.0 / (1.0 + spread * mean))


class Poisson(Derivatives, GenericLikelihoodModel):
    def loglike(self, params: Any) -> Any:
        return np.sum(stats.poisson.logpmf(self.endog, np.exp(self.exog @ params)))


@pytest.mark.parametrize(("model", "params"), [
    (Probit(Y, X), np.array([0.1, 0.2, 0.3])),
    (NegativeBinomial(COUNTS, X), np.array([0.1, 0.2, 0.3, 0.8])),
    (Poisson(COUNTS, X), np.array([0.1, 0.2, 0.3])),
], ids=lambda one: type(one).__name__)
def test_beside_differences(model: Any, params: np.ndarray) -> None:
    plain = GenericLikelihoodModel
    np.testing.assert_allclose(model.score(params), plain.score(model, params), rtol=1e-6)
    np.testing.assert_allclose(
        model.hessian(params), plain.hessian(model, params), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.hessian(params), model.hessian(params).T, rtol=1e-12)
    if not isinstance(model, Poisson):
        np.testing.assert_allclose(
            model.score_obs(params), plain.score_obs(model, params), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(
            model.score_obs(params).sum(axis=0), model.score(params), rtol=1e-12)


@pytest.mark.parametrize("method", ["newton", "bfgs"])
def test_fits_and_standard_errors(method: str) -> None:
    found = Probit(Y, X).fit(start_params=np.zeros(3), method=method, disp=False)
    known = sm.Probit(Y, X).fit(disp=False)
    np.testing.assert_allclose(found.params, known.params, rtol=1e-4)
    np.testing.assert_allclose(found.bse, known.bse, rtol=1e-4)
    robust = Probit(Y, X).fit(start_params=np.zeros(3), method=method, disp=False, cov_type="HC0")
    wanted = sm.Probit(Y, X).fit(disp=False, cov_type="HC0")
    np.testing.assert_allclose(robust.bse, wanted.bse, rtol=1e-3)


def test_two_models_of_one_class_have_their_own_data() -> None:
    one, other = Poisson(COUNTS, X), Poisson(COUNTS[:40], X[:40])
    at = np.array([0.1, 0.0, 0.0])
    for model in (one, other, one):
        wanted = model.exog.T @ (model.endog - np.exp(model.exog @ at))
        np.testing.assert_allclose(model.score(at), wanted, rtol=1e-12)


def log_likelihood(params: Any) -> Any:
    return np.sum(stats.poisson.logpmf(COUNTS, np.exp(X @ params)))


def test_functions_in_place_of_methods() -> None:
    given = GenericLikelihoodModel(
        COUNTS, X, loglike=log_likelihood, score=grad(log_likelihood),
        hessian=hessian(log_likelihood)).fit(start_params=np.zeros(3), method="newton", disp=False)
    known = sm.Poisson(COUNTS, X).fit(disp=False)
    np.testing.assert_allclose(given.params, known.params, rtol=1e-6)

    class Given(Derivatives, GenericLikelihoodModel):
        pass

    model = Given(COUNTS, X, loglike=log_likelihood)
    np.testing.assert_allclose(model.score(np.zeros(3)), X.T @ (COUNTS - 1.0), rtol=1e-12)


class Shaped(Derivatives, GenericLikelihoodModel):
    """Some of its parameters may be fixed."""

    def loglikeobs(self, params: Any) -> Any:
        if self.fixed_params is not None:
            params = self.expandparams(params)
        mean, spread = np.exp(self.exog @ params[:-1]), params[-1]
        return stats.nbinom.logpmf(self.endog, 1.0 / spread, 1.0 / (1.0 + spread * mean))


def test_fixed_parameters() -> None:
    model = Shaped(COUNTS, X)
    model.fixed_params, model.fixed_paramsmask = None, None
    full = model.score(np.array([0.1, 0.2, 0.3, 0.5]))
    model.fixed_params = np.array([np.nan, np.nan, np.nan, 0.5])
    model.fixed_paramsmask = np.isnan(model.fixed_params)
    np.testing.assert_allclose(model.score(np.array([0.1, 0.2, 0.3])), full[:3], rtol=1e-10)
