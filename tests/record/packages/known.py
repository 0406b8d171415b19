"""Functions not tried before of packages that were: estimators, models, results, systems."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tests.real.packages.cases import Case, case
from tests.record.packages.calls import of_module

RNG = np.random.default_rng(7)
X = RNG.normal(size=(24, 3))
Y = X @ [1.0, -0.5, 0.3] + 0.1 * RNG.normal(size=24)
LABELS = (Y > 0).astype(int)
NEW = RNG.normal(size=(3, 3)) * 0.7
A = np.array([0.3, 1.2, 0.7])
here = of_module("known")


@functools.cache
def estimator(name: str) -> Any:
    """Return an estimator of scikit-learn, fitted on numbers that nobody differentiates."""
    import sklearn.utils

    made = dict(sklearn.utils.all_estimators())[name]
    options = {"MLPRegressor": {"max_iter": 30, "random_state": 0},
               "MLPClassifier": {"max_iter": 30, "random_state": 0},
               "KMeans": {"n_clusters": 3, "random_state": 0, "n_init": 1},
               "GaussianMixture": {"n_components": 2, "random_state": 0},
               "RBFSampler": {"random_state": 0}, "FastICA": {"random_state": 0},
               "Nystroem": {"random_state": 0, "n_components": 4},
               "FactorAnalysis": {"n_components": 2}}.get(name, {})
    target = LABELS if name in CLASSIFIERS else Y
    return made(**options).fit(X, target)


def predicted(name: str, new: Any) -> Any:
    return estimator(name).predict(new)


def transformed(name: str, new: Any) -> Any:
    return estimator(name).transform(new)


def probabilities(name: str, new: Any) -> Any:
    return estimator(name).predict_proba(new)


def decided(name: str, new: Any) -> Any:
    return estimator(name).decision_function(new)


def scored(name: str, new: Any) -> Any:
    return estimator(name).score_samples(new)


CLASSIFIERS = ("LogisticRegression", "GaussianNB", "LinearDiscriminantAnalysis",
               "QuadraticDiscriminantAnalysis", "RidgeClassifier", "LinearSVC", "MLPClassifier",
               "GaussianProcessClassifier")
SKLEARN = (
    *(here("predicted", name, NEW) for name in (
        "Ridge", "BayesianRidge", "KernelRidge", "PLSRegression", "GaussianProcessRegressor",
        "HuberRegressor", "TheilSenRegressor")),
    here("predicted", "MLPRegressor", NEW, step=1e-5),
    *(here("transformed", name, NEW) for name in (
        "PCA", "StandardScaler", "MinMaxScaler", "RobustScaler", "PowerTransformer",
        "PolynomialFeatures", "Normalizer", "FactorAnalysis", "RBFSampler", "Nystroem",
        "FastICA", "KernelPCA", "KMeans", "QuantileTransformer", "SplineTransformer")),
    *(here("probabilities", name, NEW) for name in (
        "LogisticRegression", "GaussianNB", "LinearDiscriminantAnalysis",
        "GaussianMixture")),
    here("probabilities", "MLPClassifier", NEW, step=1e-5),
    *(here("decided", name, NEW) for name in (
        "RidgeClassifier", "LinearSVC", "EllipticEnvelope", "QuadraticDiscriminantAnalysis")),
    *(here("scored", name, NEW) for name in ("KernelDensity", "GaussianMixture")),
    case("sklearn.metrics:mean_gamma_deviance", A, A[::-1].copy()),
    case("sklearn.metrics:d2_tweedie_score", A, A[::-1].copy()),
    case("sklearn.metrics:log_loss", np.array([0, 1, 1]), np.array([0.2, 0.7, 0.6]), at=(1,)),
    case("sklearn.metrics.pairwise:cosine_similarity", NEW, NEW[::-1].copy()),
    case("sklearn.metrics.pairwise:rbf_kernel", NEW, NEW[::-1].copy()),
    case("sklearn.covariance:ledoit_wolf_shrinkage", NEW),
)


def model(name: str, x: Any, parameters: Any) -> Any:
    from astropy.modeling import models

    return getattr(models, name)(*parameters)(x)


def compound_model(x: Any, amplitude: float) -> Any:
    from astropy.modeling import models

    both = models.Gaussian1D(amplitude, 0.2, 0.5) + models.Const1D(amplitude)
    return (both | models.Scale(2.0))(x)


def separation(ra: float, dec: float) -> Any:
    from astropy import units
    from astropy.coordinates import SkyCoord

    one = SkyCoord(ra * units.deg, dec * units.deg)
    return one.separation(SkyCoord(10.0 * units.deg, 20.0 * units.deg)).degree


def galactic(ra: float, dec: float) -> Any:
    from astropy import units
    from astropy.coordinates import SkyCoord

    found = SkyCoord(ra * units.deg, dec * units.deg, frame="icrs").galactic
    return [found.l.degree, found.b.degree]


def earth_location(longitude: float, latitude: float) -> Any:
    from astropy import units
    from astropy.coordinates import EarthLocation

    found = EarthLocation.from_geodetic(longitude * units.deg, latitude * units.deg)
    return found.x.to_value("km")


def quantity(a: Any) -> Any:
    from astropy import units

    speed = a * units.km / (2.0 * units.hour)
    return (speed.to("m/s") * np.sqrt(speed / speed[0])).value


ASTROPY = (
    *(here("model", name, A, parameters) for name, parameters in (
        ("Gaussian1D", [1.0, 0.5, 0.3]), ("Lorentz1D", [1.0, 0.5, 0.3]),
        ("Sersic1D", [1.0, 0.5, 2.0]), ("KingProjectedAnalytic1D", [1.0, 0.5, 4.0]),
        ("PowerLaw1D", [1.0, 0.5, 1.3]), ("Drude1D", [1.0, 0.5, 0.3]),
        ("Sine1D", [1.0, 0.5, 0.3]))),
    here("compound_model", A, 0.7), here("separation", 12.0, 21.0), here("galactic", 12.0, 21.0),
    here("earth_location", 12.0, 51.0), here("quantity", A),
)


@functools.cache
def fitted(name: str) -> Any:
    """Return the results of a model of statsmodels, fitted on numbers of no derivative."""
    import statsmodels.api as sm

    if name == "OLS":
        return sm.OLS(Y, sm.add_constant(X)).fit()
    if name == "Poisson":
        return sm.GLM(LABELS, X, family=sm.families.Poisson()).fit()
    return sm.Logit(LABELS, X + 0.5 * RNG.normal(size=X.shape)).fit(disp=0)


def predictions(name: str, new: Any) -> Any:
    rows = np.concatenate([np.ones((3, 1)), new], 1) if name == "OLS" else new
    return fitted(name).predict(rows)


def loglikelihood(name: str, params: Any) -> Any:
    return fitted(name).model.loglike(params)


def score(name: str, params: Any) -> Any:
    return fitted(name).model.score(params)


def least_squares(y: Any) -> Any:
    import statsmodels.api as sm

    return sm.OLS(y, X[:, :2]).fit().bse


def autocorrelations(y: Any) -> Any:
    from statsmodels.tsa.stattools import acf

    return acf(y, nlags=3)


STATSMODELS = (
    here("predictions", "OLS", NEW), here("predictions", "Poisson", NEW),
    here("predictions", "Logit", NEW),
    here("loglikelihood", "OLS", np.array([0.1, 1.0, -0.5, 0.3])),
    here("loglikelihood", "Poisson", A * 0.3), here("score", "Logit", A * 0.3),
    here("least_squares", Y), here("autocorrelations", Y),
)


def step_response(pole: float) -> Any:
    import control

    system = control.tf([1.0], [1.0, pole])
    return control.step_response(system, T=np.linspace(0.0, 2.0, 5)).outputs


def series_gain(pole: float) -> Any:
    import control

    return abs(control.series(control.tf([pole], [1.0, pole]), control.tf([2.0], [1.0, 3.0]))(0.7j))


def lqr_gain(q: Any) -> Any:
    import control

    return control.lqr(np.array([[0.0, 1.0], [-1.0, -0.3]]), np.array([[0.0], [1.0]]), np.diag(q),
                       np.eye(1))[0]


def poles(A: Any) -> Any:
    import control

    return np.abs(control.ss(A, np.ones((2, 1)), np.ones((1, 2)), 0.0).poles())


def gramian_of_feedback(k: float) -> Any:
    import control

    loop = control.feedback(control.tf([k], [1.0, 2.0, 1.0]), 1)
    return np.real(loop(0.0))


CONTROL = (
    here("step_response", 0.7), here("series_gain", 0.7), here("lqr_gain", A[:2].copy()),
    here("poles", np.array([[0.1, 1.0], [-1.2, -0.3]])), here("gramian_of_feedback", 0.7),
)

GROUPS: dict[str, tuple[Case, ...]] = {
    "scikit-learn": SKLEARN, "astropy": ASTROPY, "statsmodels": STATSMODELS, "control": CONTROL,
}
