"""Calls of packages of estimation, transport, signals, time series and control."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real.packages.cases import Case, case
from tests.record.packages.calls import of_module

A = np.array([0.3, 1.2, 0.7, 2.1, 0.9, 1.6, 0.4, 1.1])
B = np.array([0.5, 0.9, 1.1, 1.8, 1.3, 1.2, 0.8, 0.7])
XY = np.array([[0.1, 0.4], [1.1, 0.3], [0.5, 1.2]])
UV = np.array([[0.3, 0.2], [0.8, 0.9], [1.4, 0.6]])
COST = np.array([[0.1, 0.8, 1.2], [0.7, 0.2, 0.9], [1.1, 0.6, 0.15]])
HALVES = np.array([0.3, 0.3, 0.4])
RNG = np.random.default_rng(5)
WALK = np.cumsum(RNG.normal(size=60))
SPEECH = np.sin(np.arange(800) * 0.37) + 0.1 * RNG.normal(size=800)
here = of_module("learning")


def kalman(transition: Any) -> Any:
    from pykalman import KalmanFilter

    return KalmanFilter(transition_matrices=transition, observation_matrices=[[1.0, 0.2]],
                        initial_state_mean=[0.1, 0.2])


def kalman_filter(transition: Any, z: Any) -> Any:
    return kalman(transition).filter(z)[0]


def kalman_em(z: Any) -> Any:
    from pykalman import KalmanFilter

    return KalmanFilter(initial_state_mean=[0.1], n_dim_obs=1).em(z, n_iter=2).initial_state_mean


def kalman_filter_update(transition: Any, z: Any) -> Any:
    mean, covariance = kalman(transition).filter_update(
        np.array([0.1, 0.2]), np.eye(2), observation=z[0])
    return mean @ covariance


def kalman_smooth(transition: Any, z: Any) -> Any:
    return kalman(transition).smooth(z)[0]


def kalman_loglikelihood(transition: Any, z: Any) -> Any:
    return kalman(transition).loglikelihood(z)


def cholesky_loglikelihood(transition: Any, z: Any) -> Any:
    from pykalman.sqrt import CholeskyKalmanFilter

    return CholeskyKalmanFilter(transition_matrices=transition, observation_matrices=[[1.0, 0.2]],
                                initial_state_mean=[0.1, 0.2]).loglikelihood(z)


def cholesky_smooth(transition: Any, z: Any) -> Any:
    from pykalman.sqrt import CholeskyKalmanFilter

    return CholeskyKalmanFilter(transition_matrices=transition, observation_matrices=[[1.0, 0.2]],
                                initial_state_mean=[0.1, 0.2]).smooth(z)[0]


MOVE = np.array([[1.0, 0.1], [-0.1, 0.9]])
SEEN = np.array([[0.3], [0.7], [0.4]])
PYKALMAN = (
    *(here(name, MOVE, SEEN) for name in (
        "kalman_filter", "kalman_filter_update", "kalman_smooth", "kalman_loglikelihood",
        "cholesky_loglikelihood", "cholesky_smooth")),
    here("kalman_em", SEEN),
)

ANTROPY = (
    case("antropy:higuchi_fd", WALK), case("antropy:hjorth_params", WALK),
    case("antropy:detrended_fluctuation", WALK), case("antropy:svd_entropy", WALK),
    case("antropy:katz_fd", WALK), case("antropy:spectral_entropy", WALK, 100, at=(0,)),
)


def kernel_of_points(x: Any) -> Any:
    from ot.utils import kernel

    return kernel(x, UV, sigma=0.7)


def sinkhorn(cost: Any) -> Any:
    from ot.bregman import sinkhorn

    return sinkhorn(HALVES, HALVES[::-1].copy(), cost, 0.5)


def barycenter(cost: Any) -> Any:
    from ot.bregman import barycenter

    return barycenter(np.array([[0.2, 0.5], [0.3, 0.3], [0.5, 0.2]]), cost, 0.5)


def sliced_on_the_sphere(x: Any) -> Any:
    import ot

    points = np.stack([x[:, 0], x[:, 1], x[:, 0] * x[:, 1] + 0.3], 1)
    points = points / np.sqrt(np.sum(points ** 2, 1, keepdims=True))
    return ot.sliced_wasserstein_sphere(points, points[::-1] * [1.0, -1.0, 1.0], seed=0,
                                        n_projections=3)


PD = np.array([[1.5, 0.3], [0.3, 0.8]])
POT = (
    case("ot.utils:cost_normalization", COST), here("kernel_of_points", XY),
    case("ot.utils:exp_bures", PD, np.array([[0.1, 0.05], [0.05, 0.2]])),
    case("ot.utils:euclidean_distances", XY, UV),
    case("ot.gaussian:bures_wasserstein_distance", XY[0], UV[0], PD, PD @ PD),
    case("ot.gaussian:empirical_bures_wasserstein_distance", XY, UV),
    case("ot.bregman:projR", COST, HALVES), here("barycenter", COST), here("sinkhorn", COST),
    case("ot:wasserstein_1d", A, B), here("sliced_on_the_sphere", XY),
)


def transposed(a: Any) -> Any:
    import pylops

    return pylops.Transpose((2, 4), (1, 0)) @ a


def ricker(f0: float) -> Any:
    import pylops

    return pylops.utils.wavelets.ricker(np.arange(5) * 0.01, f0)[0]


def gradient(a: Any, step: float) -> Any:
    import pylops

    return pylops.Gradient((2, 4), sampling=(step, 1.0)) @ a


def regularized(a: Any) -> Any:
    from pylops.optimization.leastsquares import regularized_inversion
    import pylops

    return regularized_inversion(
        pylops.MatrixMult(np.diag(B)), a, [pylops.SecondDerivative(8)], epsRs=[0.1],
        iter_lim=20)[0]


def roll(a: Any) -> Any:
    import pylops

    return pylops.Roll(8, shift=2) @ a


def conjugate_gradient(matrix: Any) -> Any:
    import pylops
    from pylops.optimization.basic import cg

    return cg(pylops.MatrixMult(matrix), np.array([1.0, 2.0]), niter=2)[0]


def gaussian_wavelet(std: float) -> Any:
    import pylops

    return pylops.utils.wavelets.gaussian(np.arange(5) * 0.1, std)[0]


PYLOPS = (
    here("transposed", A), here("ricker", 20.0), here("gradient", A, 0.7), here("regularized", A),
    here("roll", A), here("conjugate_gradient", PD), here("gaussian_wavelet", 0.7),
)


def arch_recursion(parameters: Any, resids: Any) -> Any:
    from arch.univariate.recursions_python import arch_recursion_python

    sigma2 = np.zeros(8)
    return arch_recursion_python(parameters, resids, sigma2, 2, 8, 0.5, BOUNDS)


def garch_recursion(parameters: Any, resids: Any) -> Any:
    from arch.univariate.recursions_python import garch_recursion_python

    return garch_recursion_python(parameters, np.abs(resids) ** 2, np.sign(resids), np.zeros(8),
                                  1, 0, 1, 8, 0.5, BOUNDS)


def kpss(a: Any) -> Any:
    from arch.unitroot import KPSS

    return KPSS(a, lags=2).stat


def normal_loglikelihood(resids: Any, sigma2: Any) -> Any:
    from arch.univariate import Normal

    return Normal().loglikelihood(np.empty(0), resids, sigma2, individual=True)


def normal_partial_moment(z: float) -> Any:
    from arch.univariate import Normal

    return Normal().partial_moment(1, z)


BOUNDS = np.tile([1e-6, 1e6], (8, 1))
ARCH = (
    here("arch_recursion", np.array([0.1, 0.3, 0.2]), A),
    case("arch.univariate.recursions_python:bounds_check_python", 0.7, BOUNDS[0], at=(0,)),
    here("garch_recursion", np.array([0.1, 0.3, 0.2]), A - 0.95), here("kpss", A),
    here("normal_loglikelihood", A, B), here("normal_partial_moment", 0.7),
)


def stepped(name: str, state: Any, action: Any) -> Any:
    from gymnasium.envs import classic_control

    environment = getattr(classic_control, name)()
    environment.reset(seed=0)
    environment.state = state
    environment.step(action)
    return np.asarray(environment.state)


FOUR = np.array([0.3, -0.4, 0.2, 0.1])
GYMNASIUM = (
    here("stepped", "AcrobotEnv", FOUR, 1, at=(1,)),
    here("stepped", "PendulumEnv", FOUR[:2].copy(), np.array([0.5])),
    here("stepped", "CartPoleEnv", FOUR * 0.1, 1, at=(1,)),
    here("stepped", "MountainCarEnv", FOUR[:2] * 0.1, 2, at=(1,)),
)


def objectives(name: str, variables: list[float]) -> Any:
    from platypus import problems
    from platypus.core import Solution

    made = getattr(problems, name)
    problem = made(2) if name.startswith("WFG") else made(len(variables))
    solution = Solution(problem)
    solution.variables[:] = variables
    problem.evaluate(solution)
    return list(solution.objectives)


VARIABLES = [0.31, 0.62, 0.43, 0.74, 0.25, 0.56, 0.87, 0.38, 0.49, 0.66, 0.71]
PLATYPUS = tuple(here("objectives", name, VARIABLES) for name in (
    "WFG9", "WFG7", "CF1", "CF10", "WFG5", "WFG4"))


def segment_cost(name: str, signal: Any) -> Any:
    from ruptures import costs

    return getattr(costs, name)().fit(signal).error(0, 8)


RUPTURES = tuple(here("segment_cost", name, np.stack([A, B, A * B], 1)) for name in (
    "CostCosine", "CostL1", "CostNormal", "CostLinear", "CostCLinear", "CostRbf"))


def distance_matrix(a: Any, b: Any) -> Any:
    from dtaidistance import dtw

    return dtw.distance_matrix([a, b, a * b], use_c=False)[0, 1:]


def warping_paths(a: Any, b: Any) -> Any:
    from dtaidistance import dtw

    return dtw.warping_paths(a, b)[1][1:, 1:]


DTW = (
    here("distance_matrix", A, B), here("warping_paths", A, B),
    case("dtaidistance.ed:distance", A, B),
    case("dtaidistance.dtw_ndim:distance", XY, UV),
    case("dtaidistance.dtw:distance", A, B),
)


def restricted_mean(durations: Any) -> Any:
    import pandas as pd
    from lifelines.utils import restricted_mean_survival_time

    survival = pd.DataFrame({"S": np.array([1.0, 0.8, 0.5, 0.3])}, index=durations)
    return restricted_mean_survival_time(survival, t=2.0)


LIFELINES = (
    here("restricted_mean", np.array([0.0, 0.4, 1.1, 1.9])),
    case("lifelines.statistics:power_under_cph", 20, 30, 0.4, 0.3, 1.5, at=(2, 3, 4)),
)


def gaussian_density(means: Any, x: Any) -> Any:
    from hmmlearn.stats import log_multivariate_normal_density

    return log_multivariate_normal_density(x, means, np.ones((2, 2)) * 0.7, "diag")


def hidden_states(means: Any, x: Any) -> Any:
    from hmmlearn.hmm import GaussianHMM

    model = GaussianHMM(2)
    model.startprob_ = np.array([0.6, 0.4])
    model.transmat_ = np.array([[0.7, 0.3], [0.4, 0.6]])
    model.means_ = means
    model.covars_ = np.ones((2, 2)) * 0.7
    return model.predict_proba(x)


HMM = (here("gaussian_density", UV[:2].copy(), XY), here("hidden_states", UV[:2].copy(), XY))


def energy_of_frames(signal: Any) -> Any:
    from python_speech_features import fbank

    return fbank(signal, 8000, nfft=256)[1]


def cepstrum(signal: Any) -> Any:
    from python_speech_features import mfcc

    return mfcc(signal, 8000, nfft=256)


def centroids(signal: Any) -> Any:
    from python_speech_features import ssc

    return ssc(signal, 8000, nfft=256)


SPEECH_FEATURES = (
    case("python_speech_features:delta", COST, 2, at=(0,)),
    case("python_speech_features:mel2hz", 700.0), here("cepstrum", SPEECH),
    here("centroids", SPEECH), here("energy_of_frames", SPEECH),
    case("python_speech_features.sigproc:framesig", A, 4.0, 2.0, at=(0,)),
    case("python_speech_features.sigproc:preemphasis", A, 0.9),
    case("python_speech_features.sigproc:powspec", COST, 4, at=(0,)),
    case("python_speech_features.sigproc:logpowspec", COST, 4, 0, at=(0,)),
)

def poly2rc(rest: Any, error: float) -> Any:
    from spectrum.linear_prediction import poly2rc

    return poly2rc(np.concatenate([[1.0], rest]), error)


REFLECTION = np.array([0.3, -0.4, 0.2])
SPECTRUM = (
    case("spectrum.linear_prediction:rc2lar", REFLECTION),
    case("spectrum.linear_prediction:rc2ac", REFLECTION, 1.3),
    case("spectrum.linear_prediction:rc2is", REFLECTION),
    here("poly2rc", REFLECTION, 0.7),
    case("spectrum.window:window_kaiser", 8, 3.3, at=(1,)),
    case("spectrum.window:window_gaussian", 8, 2.3, at=(1,)),
    case("spectrum.window:window_poisson_hanning", 8, 2.3, at=(1,)),
    case("spectrum.window:window_tukey", 8, 0.6, at=(1,)),
    case("spectrum:arma_estimate", WALK, 2, 2, 8, at=(0,)), case("spectrum:mag2db", 0.7),
    case("spectrum:centerdc_2_twosided", A),
)


def autocorrelation_time(x: Any) -> Any:
    from emcee.autocorr import integrated_time

    return integrated_time(x, quiet=True, has_walkers=False)


EMCEE = (here("autocorrelation_time", WALK), case("emcee.autocorr:function_1d", WALK))


def ranked(weights: Any) -> Any:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        [("a", "b", weights[0]), ("b", "c", weights[1]), ("c", "a", weights[2]),
         ("a", "c", weights[3])])
    return graph


def google_matrix(weights: Any) -> Any:
    import networkx as nx

    return nx.google_matrix(ranked(weights))


def hits(weights: Any) -> Any:
    import networkx as nx

    return nx.hits(ranked(weights))[0]


def laplacian_spectrum(weights: Any) -> Any:
    import networkx as nx

    return nx.laplacian_spectrum(ranked(weights).to_undirected())


def modularity_matrix(weights: Any) -> Any:
    import networkx as nx

    return nx.directed_modularity_matrix(ranked(weights), weight="weight")


def modularity_spectrum(weights: Any) -> Any:
    import networkx as nx

    return nx.modularity_matrix(ranked(weights).to_undirected(), weight="weight")


def shortest_paths(weights: Any) -> Any:
    import networkx as nx

    return nx.single_source_dijkstra(ranked(weights), "b")[0]


NETWORKX = tuple(here(name, np.array([0.3, 1.2, 0.7, 2.1])) for name in (
    "hits", "google_matrix", "laplacian_spectrum", "modularity_matrix", "modularity_spectrum",
    "shortest_paths"))

GROUPS: dict[str, tuple[Case, ...]] = {
    "pykalman": PYKALMAN, "antropy": ANTROPY, "POT": POT, "pylops": PYLOPS, "arch": ARCH,
    "gymnasium": GYMNASIUM, "platypus-opt": PLATYPUS, "ruptures": RUPTURES, "dtaidistance": DTW,
    "lifelines": LIFELINES, "hmmlearn": HMM, "python_speech_features": SPEECH_FEATURES,
    "spectrum": SPECTRUM, "emcee": EMCEE, "networkx": NETWORKX,
}
