"""Functions of installed packages, as they are shipped, against central differences.

`TABLE` says what is called and what is differentiated; packages that are not installed are skipped.
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate._ivp.rk import RK23, RK45
from scipy.optimize import rosen, rosen_der, rosen_hess_prod

from adcompiler import ADError, MissingRuleError, UnsupportedError, grad, vjp
from tests.lanes import one_in
from tests.real.shipped import Case, check

RNG = np.random.default_rng(2024)


def n(*shape: int) -> Any:
    """Return normal numbers."""
    return RNG.normal(size=shape)


def p(*shape: int) -> Any:
    """Return positive numbers."""
    return RNG.uniform(0.3, 1.5, size=shape)


def grid(size: int) -> Any:
    """Return increasing numbers, not equally spaced."""
    return np.cumsum(RNG.uniform(0.5, 1.5, size=size))


def spd(size: int) -> Any:
    """Return a symmetric positive definite matrix."""
    root = RNG.normal(size=(size, size))
    return root @ root.T + np.eye(size)


def pendulum(t: float, y: Any) -> Any:
    return np.array([y[1], -np.sin(y[0]) - 0.1 * t * y[1]])


POLY = "numpy.polynomial"
LSQ = "scipy.optimize._lsq.common"
LINESEARCH = "scipy.optimize._linesearch"
FRECHET = "scipy.linalg._expm_frechet"
MIXTURE = "sklearn.mixture._gaussian_mixture"
NETWORK = "sklearn.neural_network._base"
KERNELS = "statsmodels.nonparametric.kernels"
MEASURES = "statsmodels.tools.eval_measures"
MOMENTS = "statsmodels.stats.moment_helpers"
SERIES = "statsmodels.tsa.tsatools"
STATIONARY = "statsmodels.tsa.statespace.tools"

TABLE = [
    # scipy.optimize
    Case("scipy.optimize:rosen", (n(6),)),
    Case("scipy.optimize:rosen_der", (n(6),)),
    Case("scipy.optimize:rosen_der", (n(5, 3),)),
    Case("scipy.optimize._optimize:vecnorm", (n(6), 3)),
    Case(f"{LINESEARCH}:_cubicmin", (0.0, 1.0, -1.0, 2.0, 0.8, 1.0, 0.4), tuple(range(7))),
    Case(f"{LINESEARCH}:_quadmin", (0.0, 1.0, -1.0, 2.0, 0.8), tuple(range(5))),
    Case(f"{LSQ}:intersect_trust_region", (0.1 * n(4), n(4), 2.0), (0, 1, 2)),
    Case(f"{LSQ}:evaluate_quadratic", (n(5, 4), n(4), n(4)), (0, 1, 2)),
    Case(f"{LSQ}:build_quadratic_1d", (n(5, 4), n(4), n(4)), (0, 1, 2)),
    Case(f"{LSQ}:minimize_quadratic_1d", (2.0, -1.0, -3.0, 3.0), (0, 1)),
    Case(f"{LSQ}:step_size_to_bound", (0.1 * n(4), n(4), -2.0 * p(4), 2.0 * p(4)), (0, 1, 2, 3)),
    Case(f"{LSQ}:make_strictly_feasible", (0.1 * n(4), -2.0 * p(4), 2.0 * p(4)), (0, 1, 2)),
    Case(f"{LSQ}:CL_scaling_vector", (0.1 * n(4), n(4), -2.0 * p(4), 2.0 * p(4)), (0, 1, 2, 3)),
    Case(f"{LSQ}:reflective_transformation", (2.0 * n(4), -2.0 * p(4), 2.0 * p(4)), (0, 1, 2)),
    Case(f"{LSQ}:compute_jac_scale", (n(5, 4),)),
    Case(f"{LSQ}:right_multiply", (n(5, 4), n(4)), (0, 1)),
    Case(f"{LSQ}:left_multiply", (n(5, 4), n(5)), (0, 1)),
    Case(f"{LSQ}:left_multiply", (n(5, 4), n(5), False), (0, 1)),
    Case(f"{LSQ}:scale_for_robust_loss_function", (n(5, 4), n(5), p(3, 5)), (0, 1, 2)),
    # scipy.integrate
    Case("scipy.integrate:trapezoid", (n(7), grid(7)), (0, 1)),
    Case("scipy.integrate:simpson", (n(3, 9),), keywords={"dx": 0.3}),
    Case("scipy.integrate._quadrature:_cumulative_simpson_equal_intervals", (n(9), p(8)), (0, 1)),
    Case("scipy.integrate._quadrature:_cumulative_simpson_unequal_intervals", (n(9), p(8)), (0, 1)),
    Case("scipy.integrate._ivp.common:norm", (n(5),)),
    Case(
        "scipy.integrate._ivp.rk:rk_step",
        (pendulum, 0.1, n(2), n(2), 0.2, RK45.A, RK45.B, RK45.C, np.zeros((7, 2))), (2, 3, 4),
    ),
    Case(
        "scipy.integrate._ivp.rk:rk_step",
        (pendulum, 0.1, n(2), n(2), 0.2, RK23.A, RK23.B, RK23.C, np.zeros((4, 2))), (2, 3, 4),
    ),
    Case("scipy.integrate._ivp.radau:predict_factor", (0.1, 0.2, 0.3, 0.4), (0, 1, 2, 3)),
    Case("scipy.integrate._ivp.bdf:compute_R", (4, 0.7), (1,)),
    Case("scipy.integrate._ivp.bdf:change_D", (n(6, 3), 3, 0.7), (0, 2)),
    # scipy.interpolate, scipy.signal
    Case(
        "scipy.interpolate._cubic:PchipInterpolator._find_derivatives", (grid(6), n(6), np), (0, 1)
    ),
    Case("scipy.signal:iirnotch", (0.3, 20.0), (0, 1)),
    Case("scipy.signal:iirpeak", (0.3, 20.0), (0, 1)),
    *(
        Case("scipy.signal:chirp", (p(6), 1.0, 2.0, 3.0), (0, 1, 2, 3), {"method": method})
        for method in ("linear", "quadratic", "logarithmic", "hyperbolic")
    ),
    Case("scipy.signal:gausspulse", (p(6), 1.0), (0, 1)),
    Case("scipy.signal.windows:gaussian", (7, 1.3), (1,)),
    Case("scipy.signal.windows:general_gaussian", (7, 1.3, 1.1), (1, 2)),
    Case("scipy.signal.windows:general_hamming", (7, 0.6), (1,)),
    Case("scipy.signal.windows:general_cosine", (7, [0.6, 0.3, 0.1]), (1,)),
    Case("scipy.signal.windows:tukey", (7, 0.4), (1,)),
    Case("scipy.signal.windows:exponential", (7, None, 1.4), (2,)),
    *(Case(f"scipy.signal._arraytools:{name}_ext", (n(7), 3)) for name in ("odd", "even", "const")),
    # scipy.linalg, scipy.special, scipy.stats
    Case("scipy.linalg:companion", (p(4),)),
    Case("scipy.linalg:fiedler_companion", (p(4),)),
    Case(f"{FRECHET}:_diff_pade3", (n(3, 3), n(3, 3), np.eye(3)), (0, 1)),
    Case(f"{FRECHET}:_diff_pade7", (n(3, 3), n(3, 3), np.eye(3)), (0, 1)),
    Case(f"{FRECHET}:vec", (n(3, 3),)),
    Case("scipy.special:softmax", (n(6),)),
    Case("scipy.special:softplus", (n(6),)),
    Case("scipy.stats._stats_py:_unequal_var_ttest_denom", (1.0, 5, 2.0, 6), (0, 2)),
    Case("scipy.stats._stats_py:_equal_var_ttest_denom", (1.0, 5, 2.0, 6), (0, 2)),
    *(
        Case(f"scipy.stats._entropy:{name}", (np.sort(n(1, 9)), 2), keywords={"xp": np})
        for name in ("_vasicek_entropy", "_correa_entropy", "_ebrahimi_entropy")
    ),
    # scipy.spatial and others
    Case(
        "scipy.spatial._geometric_slerp:_geometric_slerp",
        (np.array([1.0, 0.0, 0.0]), np.array([0.6, 0.8, 0.0]), p(3)), (0, 1, 2),
    ),
    Case("scipy.spatial.distance:mahalanobis", (n(3), n(3), spd(3)), (0, 1, 2)),
    Case("scipy.spatial.distance:canberra", (p(3), p(3)), (0, 1)),
    Case("scipy.spatial.distance:cityblock", (p(3), p(3)), (0, 1)),
    Case("scipy.spatial.distance:chebyshev", (p(3), p(3)), (0, 1)),
    Case("scipy.constants:convert_temperature", (p(3), "Celsius", "Fahrenheit")),
    Case("scipy.constants:lambda2nu", (p(3),)),
    Case("scipy.fft:fftshift", (n(5),)),
    # numpy
    Case(f"{POLY}.polynomial:polyval", (0.4, n(5)), (0, 1)),
    Case(f"{POLY}.polynomial:polyvalfromroots", (0.3, n(5)), (0, 1)),
    *(
        Case(f"{POLY}.{basis}val", (n(3), n(5)), (0, 1))
        for basis in (
            "chebyshev:cheb", "legendre:leg", "hermite:herm", "hermite_e:herme", "laguerre:lag",
        )
    ),
    *(
        Case(f"{POLY}.{basis}{action}", (n(6),))
        for basis in (
            "polynomial:poly", "chebyshev:cheb", "legendre:leg", "hermite:herm",
            "hermite_e:herme", "laguerre:lag",
        )
        for action in ("der", "int")
    ),
    Case(f"{POLY}.chebyshev:chebder", (n(6), 2, 1.5), (0, 2)),
    *(
        Case(f"{POLY}.{basis}vander", (n(5), 4))
        for basis in (
            "polynomial:poly", "chebyshev:cheb", "legendre:leg", "hermite:herm", "laguerre:lag",
        )
    ),
    Case(f"{POLY}.chebyshev:chebweight", (0.1 * n(6),)),
    Case(f"{POLY}.polyutils:mapparms", ([0.1, 0.5], [0.7, 2.0]), (0, 1)),
    Case(f"{POLY}.polyutils:mapdomain", (n(4), [0.1, 0.5], [0.7, 2.0]), (0, 1, 2)),
    Case("numpy:poly", (n(4),)),
    Case("numpy:polyder", (n(4),)),
    Case("numpy:polydiv", (n(4), p(2)), (0, 1)),
    Case("numpy:polyadd", (n(4), p(2)), (0, 1)),
    # sklearn
    Case("sklearn.utils.extmath:row_norms", (n(3, 4),)),
    Case(f"{MIXTURE}:_compute_log_det_cholesky", (np.stack([spd(3), spd(3)]), "full", 3)),
    Case(
        f"{MIXTURE}:_estimate_log_gaussian_prob",
        (n(5, 3), n(2, 3), np.stack([spd(3), spd(3)]), "full"), (0, 1, 2),
    ),
    Case(
        f"{MIXTURE}:_estimate_gaussian_covariances_diag",
        (p(5, 2), n(5, 3), p(2), n(2, 3), 1e-6), (0, 1, 2, 3),
    ),
    *(Case(f"{NETWORK}:inplace_{name}", (n(3, 3),)) for name in ("tanh", "softmax", "relu")),
    *(
        Case(f"{NETWORK}:inplace_{name}_derivative", (n(3, 3), n(3, 3)), (0, 1))
        for name in ("tanh", "logistic")
    ),
    Case(f"{NETWORK}:squared_loss", (n(3, 3), n(3, 3)), (0, 1)),
    # statsmodels
    *(
        Case(f"{KERNELS}:{name}", (x, 0.1 * n(5), 0.3), (0, 1, 2))
        for name, x in (("gaussian", 0.7), ("gaussian_convolution", 0.7), ("tricube", 2.7))
    ),
    *(Case(f"{MEASURES}:{name}", (p(5), n(5)), (0, 1)) for name in ("mse", "rmse", "rmspe")),
    *(Case(f"{MEASURES}:{name}", (1.3, 20, 3)) for name in ("aic", "aicc", "bic")),
    *(Case(f"{MOMENTS}:{name}", (p(4),)) for name in ("mc2mnc", "mnc2mc", "cum2mc")),
    Case(f"{MOMENTS}:cov2corr", (spd(3),)),
    Case(f"{MOMENTS}:corr2cov", (np.eye(3) + 0.1 * n(3, 3), p(3)), (0, 1)),
    *(Case(f"{SERIES}:{name}", (n(3, 3),)) for name in ("vec", "vech")),
    Case(f"{SERIES}:unvec", (n(9),)),
    *(
        Case(f"{SERIES}:_{kind}_{direction}params", (0.3 * np.tanh(n(4)),))
        for kind in ("ar", "ma") for direction in ("trans", "invtrans")
    ),
    Case(f"{SERIES}:detrend", (n(6),), keywords={"order": 0}),
    Case("statsmodels.stats.stattools:durbin_watson", (n(6),)),
    Case(f"{STATIONARY}:constrain_stationary_univariate", (0.5 * n(3),)),
    Case(f"{STATIONARY}:unconstrain_stationary_univariate", (0.2 * np.tanh(n(3)),)),
]


def installed(case: Case) -> bool:
    """Say whether the package of a case is there; NumPy and SciPy must be."""
    package = case.target.partition(":")[0].partition(".")[0]
    return package in ("numpy", "scipy") or importlib.util.find_spec(package) is not None


@pytest.mark.parametrize("case", one_in(2, TABLE), ids=lambda case: case.label)
def test_function_as_shipped(case: Case) -> None:
    if not installed(case):
        pytest.skip(f"{case.label} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages' own
        check(case)


def test_the_documentation_lists_the_functions() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "real-code.md"
    listed = set()
    for line in page.read_text().splitlines():
        cells = re.match(r"\| `([\w.]+)` \| (.*) \|$", line)
        if cells:
            listed |= {f"{cells[1]}:{name}" for name in re.findall(r"`([\w.]+)`", cells[2])}
    assert listed == {case.target for case in TABLE}


# -- SciPy's derivatives of the Rosenbrock function ------------------------------------------------


@pytest.mark.parametrize("size", [3, 4, 7, 30, 200])
def test_the_pullback_of_rosen_der_is_the_product_with_the_hessian(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(3):
        x, direction = rng.normal(size=size), rng.normal(size=size)
        value, pullback = vjp(rosen_der, x)
        np.testing.assert_array_equal(value, rosen_der(x))
        wanted = rosen_hess_prod(x, direction)
        np.testing.assert_allclose(
            pullback(direction)[0], wanted, rtol=1e-10, atol=1e-10 * np.max(np.abs(wanted))
        )


@pytest.mark.parametrize("size", [2, 3, 10, 100])
def test_the_gradient_of_rosen_is_rosen_der(size: int) -> None:
    x = np.random.default_rng(size).normal(size=size)
    np.testing.assert_allclose(grad(rosen)(x), rosen_der(x), rtol=1e-10, atol=1e-10)


# -- refused, before anything runs -----------------------------------------------------------------

REFUSED: list[tuple[Case, type[ADError], str]] = [
    (Case("scipy.optimize:rosen_hess", (n(4),)), MissingRuleError, "_optimize.py"),
    (Case("scipy.stats:kstat", (p(5),)), MissingRuleError, r"kstat\(\) has no rule"),
    (
        Case("scipy.interpolate:barycentric_interpolate", (grid(4), n(4), 2.0), (0, 1)),
        UnsupportedError, r"BarycentricInterpolator\(\) has no rule",
    ),
    (
        Case(f"{MIXTURE}:_estimate_gaussian_covariances_full",
             (p(5, 2), n(5, 3), p(2), n(2, 3), 1e-6), (0, 1)),
        UnsupportedError, r"_add_to_diagonal\(\) has no rule, and may write",
    ),
]


@pytest.mark.parametrize(("case", "error", "match"), one_in(3, REFUSED), ids=lambda part: getattr(
    part, "label", ""))
def test_function_is_refused_before_it_runs(
    case: Case, error: type[ADError], match: str
) -> None:
    if not installed(case):
        pytest.skip(f"{case.label} is not installed")
    with pytest.raises(error, match=match) as caught:
        vjp(case.function, *case.arguments, argnums=case.at)
    assert "instead:" in str(caught.value)
    assert "see docs/limitations.md#" in str(caught.value)
