"""Functions of packages for finance, statistics, signals, colour, filters and test problems."""

from __future__ import annotations

import numpy as np

from tests.real.packages.cases import Case, case

FIVE = np.array([0.3, 1.2, 0.7, 2.1, 0.9])
COLOUR = np.array([0.2, 0.3, 0.15])
LAB = (np.array([50.0, 10.0, 20.0]), np.array([52.0, 9.0, 21.0]))
SPD = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.4], [0.1, 0.4, 1.8]])
THREE = np.array([0.3, 0.5, -0.7])
RNG = np.random.default_rng(1)
RETURNS = RNG.normal(size=20) * 0.01 + 0.001
MARKET = RNG.normal(size=20) * 0.01
WALK = np.cumsum(RNG.normal(size=30))
SIGMA_POINTS = RNG.normal(size=(5, 2))
CURVES = (np.array([[0.0, 0.1], [0.4, 0.5], [0.9, 0.7], [1.3, 1.1]]),
          np.array([[0.1, 0.0], [0.5, 0.45], [0.95, 0.8], [1.2, 1.3]]))
SWARM = np.array([[0.3, 0.7], [-0.4, 0.2], [1.1, -0.6]])
FLOWS = np.array([-100.0, 39.0, 59.0, 55.0, 20.0])

FINANCE = (
    case("numpy_financial:pv", 0.05 / 12, 120.0, -100.0, 15692.93),
    case("numpy_financial:fv", 0.05 / 12, 120.0, -100.0, -100.0),
    case("numpy_financial:pmt", 0.075 / 12, 180.0, 200000.0),
    case("numpy_financial:npv", 0.08, np.array([-40.0, 5.0, 8.0, 12.0, 30.0])),
    case("numpy_financial:irr", FLOWS),
    case("numpy_financial:nper", 0.07 / 12, -150.0, 8000.0),
    case("numpy_financial:ppmt", 0.1 / 12, 1, 60.0, 55000.0, at=(0, 2, 3)),
    case("numpy_financial:mirr", FLOWS, 0.1, 0.12),
)

RISK = (
    case("empyrical:sharpe_ratio", RETURNS),
    case("empyrical:max_drawdown", RETURNS),
    case("empyrical:annual_return", RETURNS),
    case("empyrical:value_at_risk", RETURNS),
    case("empyrical:annual_volatility", RETURNS),
    case("empyrical:cum_returns_final", RETURNS),
    case("empyrical:omega_ratio", RETURNS),
    case("empyrical:tail_ratio", RETURNS),
    case("empyrical:beta", RETURNS, MARKET),
)

OPTIONS = (
    case("tests.real.packages.programs:call_price", 1.4565, 1.45, 1.0, 30.0, 20.0),
    case("tests.real.packages.programs:merton_price", 52.0, 50.0, 1.0, 1.5, 30.0, 20.0),
    case("tests.real.packages.programs:call_delta", 1.4565, 1.45, 1.0, 30.0, 20.0),
)

ECONOMICS = (
    case("tests.real.packages.programs:hamilton_cycle", WALK),
    case("quantecon:solve_discrete_lyapunov", SPD * 0.2, SPD),
    case("quantecon:var_quadratic_sum", SPD * 0.2, SPD, SPD, 0.95, THREE),
    case("quantecon:m_quadratic_sum", SPD * 0.2, SPD),
    case("quantecon:shorrocks_index", np.array([[0.6, 0.4], [0.3, 0.7]])),
    case("quantecon:periodogram", WALK),
    case("quantecon:smooth", WALK),
)

FUZZY = tuple(
    case(f"skfuzzy.membership:{name}", FIVE, *given) for name, given in (
        ("gaussmf", (0.5, 0.4)), ("gbellmf", (0.5, 2.0, 0.4)), ("sigmf", (0.5, 2.0)),
        ("trimf", (np.array([0.1, 0.8, 2.0]),)), ("smf", (0.5, 1.6)), ("zmf", (0.5, 1.6)),
        ("pimf", (0.2, 0.6, 1.0, 1.8)), ("dsigmf", (0.2, 2.0, 1.0, 1.8)),
    ))

LINES = tuple(
    case(f"lmfit.lineshapes:{name}", FIVE, *given) for name, given in (
        ("gaussian", (1.0, 0.5, 0.3)), ("voigt", (1.0, 0.5, 0.3, 0.2)),
        ("pearson7", (1.0, 0.5, 0.3, 1.2)), ("skewed_gaussian", (1.0, 0.5, 0.3, 0.4)),
        ("lognormal", (1.0, 0.5, 0.3)), ("doniach", (1.0, 0.5, 0.3, 0.1)),
        ("breit_wigner", (1.0, 0.5, 0.3, 0.7)), ("thermal_distribution", (1.0, 0.1, 1.2)),
        ("step", (1.0, 0.5, 0.3, "erf")), ("rectangle", (1.0, 0.5, 0.3, 1.0, 0.2, "logistic")),
        ("moffat", (1.0, 0.5, 0.3, 1.3)), ("damped_oscillator", (1.0, 0.5, 0.3)),
    ))

PEAKS = (
    case("peakutils.peak:gaussian", FIVE, 1.0, 0.5, 0.3),
    case("peakutils.peak:centroid", FIVE, FIVE[::-1].copy()),
    case("peakutils.baseline:baseline", WALK, step=1e-6),
    case("peakutils.prepare:scale", FIVE),
)

KALMAN = (
    case("tests.real.packages.programs:kalman", np.array([[1.0, 0.1], [0.0, 1.0]]),
         np.array([1.0, 2.0, 3.0])),
    case("filterpy.kalman:predict", np.array([1.0, 2.0]), np.eye(2),
         np.array([[1.0, 0.1], [0.0, 1.0]]), np.eye(2) * 0.1),
    case("filterpy.kalman:update", np.array([1.0, 2.0]), np.eye(2), np.array([1.3]),
         np.eye(1) * 0.5, np.array([[1.0, 0.0]])),
    case("filterpy.stats:gaussian", 0.5, 0.1, 2.0),
    case("filterpy.stats:mul", 1.0, 2.0, 3.0, 4.0),
    case("filterpy.common:Q_discrete_white_noise", 2, 0.1, 0.5, at=(1, 2)),
    case("filterpy.common:van_loan_discretization", np.array([[0.0, 1.0], [-1.0, 0.2]]),
         np.array([[0.0], [2.0]]), 0.1),
    case("filterpy.kalman:unscented_transform", SIGMA_POINTS, np.ones(5) / 5, np.ones(5) / 5),
    case("filterpy.stats:logpdf", THREE, THREE * 0.5, SPD),
    case("filterpy.stats:mahalanobis", THREE, THREE * 0.5, SPD),
)

SIMD = (
    case("simdkalman.primitives:predict", np.array([[1.0], [2.0]]), np.eye(2),
         np.array([[1.0, 0.1], [0.0, 1.0]]), np.eye(2) * 0.1),
    case("simdkalman.primitives:update", np.array([[1.0], [2.0]]), np.eye(2),
         np.array([[1.0, 0.0]]), np.array([[0.5]]), np.array([[1.3]])),
    case("simdkalman.primitives:ddot", SPD, THREE[:, None]),
    case("simdkalman.primitives:dinv", SPD),
)

ADAPTIVE = (
    case("tests.real.packages.programs:adaptive_filter", WALK[:8].copy(), 0.1),
    case("padasip.preprocess.standardize:standardize", WALK),
    case("padasip.misc.error_evaluation:MSE", FIVE, FIVE[::-1].copy()),
    case("padasip.misc.error_evaluation:RMSE", FIVE, FIVE[::-1].copy()),
)

CURVE = (
    case("similaritymeasures:frechet_dist", *CURVES),
    case("similaritymeasures:dtw", *CURVES),
    case("similaritymeasures:area_between_two_curves", *CURVES),
    case("similaritymeasures:curve_length_measure", *CURVES),
    case("similaritymeasures:pcm", *CURVES, step=1e-5),
    case("similaritymeasures:mae", *CURVES),
    case("similaritymeasures:poly_area", np.array([0.0, 1.0, 1.2, 0.1]),
         np.array([0.0, 0.2, 1.3, 0.9])),
)

BENCHMARKS = tuple(
    case(f"deap.benchmarks:{name}", [0.3, 0.7]) for name in (
        "rastrigin", "ackley", "schaffer", "griewank", "himmelblau", "bohachevsky", "schwefel",
        "rosenbrock"))

SWARMS = tuple(
    case(f"pyswarms.utils.functions.single_obj:{name}", SWARM) for name in (
        "ackley", "beale", "booth", "goldstein", "himmelblau", "levi", "matyas", "rastrigin",
        "rosenbrock", "threehump"))

EVOLUTION = (
    case("cma.fitness_functions:elli", FIVE),
    case("cma.fitness_functions:sphere", FIVE),
    *(case(f"cma.fitness_functions:ff.{name}", FIVE) for name in (
        "rosen", "tablet", "cigar", "ellirot", "diffpow")),
)

NAMED = tuple(
    case(f"tests.real.packages.programs:opfunu_{name}", np.array([0.3, 0.7])) for name in (
        "ackley", "beale", "booth"))

SUITES = (
    case("tests.real.packages.programs:hypersphere", [0.3, 0.7, -0.4]),
    case("tests.real.packages.programs:griewank", [0.3, 0.7, -0.4]),
    case("tests.real.packages.programs:martin_gaddy", [0.3, 0.7]),
)

SENSITIVITY = (
    case("SALib.test_functions.Ishigami:evaluate", np.array([[0.3, 0.5, -0.7], [1.1, 0.2, 0.4]])),
    case("SALib.test_functions.Sobol_G:evaluate", np.array([[0.3, 0.1, 0.7], [0.6, 0.2, 0.4]]),
         np.array([0.5, 1.0, 3.0])),
    case("SALib.test_functions.linear_model_1:evaluate", np.array([[0.3, 0.1], [0.6, 0.2]])),
)

STATSMODELS = (
    case("statsmodels.tools.eval_measures:mse", FIVE, FIVE[::-1].copy()),
    case("statsmodels.tools.eval_measures:rmspe", FIVE, FIVE[::-1].copy()),
    case("statsmodels.tools.eval_measures:stde", FIVE, FIVE[::-1] * 1.1),
    case("statsmodels.stats.moment_helpers:cov2corr", SPD),
    case("statsmodels.stats.moment_helpers:cum2mc", (1.0, 0.5, 0.3, 0.2)),
    case("statsmodels.stats.stattools:durbin_watson", FIVE),
    case("statsmodels.stats.weightstats:_zstat_generic", 0.5, 0.2, 0.7, "two-sided", 0.1),
    case("statsmodels.tsa.tsatools:detrend", WALK),
    case("statsmodels.regression.linear_model:yule_walker", WALK, 2, at=(0,)),
)

COLOURS = (
    *(case(f"colour:{name}", COLOUR) for name in (
        "XYZ_to_Lab", "XYZ_to_xyY", "XYZ_to_Luv", "Lab_to_XYZ", "RGB_to_HSV", "XYZ_to_sRGB",
        "XYZ_to_Oklab", "RGB_to_HSL", "CMY_to_RGB", "XYZ_to_Hunter_Lab")),
    case("colour.difference:delta_E_CIE1976", *LAB),
    case("colour.difference:delta_E_CIE2000", *LAB),
    case("colour:lightness", 10.0),
)

SPACES = (
    case("colorspacious.basics:sRGB1_to_sRGB1_linear", COLOUR),
    case("colorspacious.basics:sRGB1_linear_to_sRGB1", COLOUR),
    case("colorspacious.basics:XYZ_to_xyY", COLOUR),
    case("colorspacious.basics:XYZ100_to_CIELab", COLOUR * 100.0, np.array([95.0, 100.0, 108.9])),
    case("colorspacious.basics:CIELab_to_XYZ100", LAB[0], np.array([95.0, 100.0, 108.9])),
    case("colorspacious.basics:CIELab_to_CIELCh", LAB[0]),
    case("colorspacious:cspace_convert", COLOUR, "sRGB1", "CIELab"),
    case("colorspacious:deltaE", COLOUR, COLOUR[::-1].copy()),
)

METRICS = tuple(
    case("tests.real.packages.programs:regression_metric", FIVE, FIVE[::-1] * 1.1, name)
    for name in (
        "mean_squared_error", "nash_sutcliffe_efficiency", "kling_gupta_efficiency"))

EXAMPLES = (
    case("numdifftools.example_functions:darccos", 0.3),
    case("numdifftools.example_functions:ddarccos", 0.3),
    case("numdifftools.example_functions:darcsin", 0.3),
    case("numdifftools.extrapolation:dea3", np.array([1.0]), np.array([1.3]), np.array([1.42])),
)

GROUPS: dict[str, tuple[Case, ...]] = {
    "numpy-financial": FINANCE, "empyrical": RISK, "mibian": OPTIONS, "quantecon": ECONOMICS,
    "scikit-fuzzy": FUZZY, "lmfit": LINES, "PeakUtils": PEAKS, "filterpy": KALMAN,
    "simdkalman": SIMD, "padasip": ADAPTIVE, "similaritymeasures": CURVE, "deap": BENCHMARKS,
    "pyswarms": SWARMS, "cma": EVOLUTION, "opfunu": NAMED, "benchmark_functions": SUITES,
    "SALib": SENSITIVITY, "statsmodels": STATSMODELS, "colour-science": COLOURS,
    "colorspacious": SPACES, "permetrics": METRICS, "numdifftools": EXAMPLES,
}
