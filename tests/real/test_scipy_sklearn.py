"""Programs and functions as people wrote and shipped them, against derivatives known otherwise."""

from __future__ import annotations

import colorsys
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, legendre
from scipy import special
from scipy.optimize import minimize, rosen, rosen_der
from scipy.spatial import distance
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from adcompiler import grad, value_and_grad, vjp

# -- SciPy's Rosenbrock function ------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 4, 7, 30, 200, 1000])
def test_rosen_has_the_gradient_that_scipy_ships(size: int) -> None:
    rng = np.random.default_rng(size)
    gradient = grad(rosen)
    for _ in range(5):
        x = rng.normal(size=size)
        wanted = rosen_der(x)
        assert np.max(np.abs(gradient(x) - wanted)) <= 1e-12 * np.max(np.abs(wanted))


def test_rosen_of_an_integer_array_and_of_a_list_of_columns() -> None:
    x = np.array([2, -1, 3])
    np.testing.assert_allclose(grad(rosen)(x), rosen_der(x.astype(float)), rtol=1e-12)
    columns = np.random.default_rng(0).normal(size=(4, 3))
    _, pullback = vjp(rosen, columns)
    (bars,) = pullback(np.ones(3))
    np.testing.assert_allclose(bars, rosen_der(columns), rtol=1e-12, atol=1e-12)


def test_minimize_finds_the_minimum_of_rosen() -> None:
    start = np.random.default_rng(1).normal(size=10)
    found = minimize(value_and_grad(rosen), start, jac=True, method="BFGS", options={"gtol": 1e-8})
    theirs = minimize(rosen, start, jac=rosen_der, method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found.x, np.ones(10), atol=1e-6)
    assert found.nit == theirs.nit


# -- scikit-learn's breast-cancer data ------------------------------------------------------------


def penalised_loss(parameters: Any, X: Any, signs: Any, strength: float) -> Any:
    weights, intercept = parameters[:-1], parameters[-1]
    margins = signs * (X @ weights + intercept)
    return strength * np.sum(np.logaddexp(0.0, -margins)) + 0.5 * np.sum(weights * weights)


@pytest.mark.parametrize("strength", [0.1, 1.0])
def test_logistic_regression_reaches_scikit_learns_optimum(strength: float) -> None:
    features, labels = load_breast_cancer(return_X_y=True)
    X, signs = StandardScaler().fit_transform(features), np.where(labels == 1, 1.0, -1.0)
    found = minimize(
        value_and_grad(penalised_loss), np.zeros(X.shape[1] + 1), args=(X, signs, strength),
        jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 1e-15, "maxiter": 2000},
    )  # fmt: skip
    model = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(X, labels)
    theirs = np.append(model.coef_[0], model.intercept_)
    assert found.fun == pytest.approx(penalised_loss(theirs, X, signs, strength), rel=1e-10)
    np.testing.assert_allclose(found.x, theirs, atol=1e-4)


# -- scalar programs ------------------------------------------------------------------------------


def normal_cdf(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def call_price(spot: float, strike: float, volatility: float, rate: float, time: float) -> float:
    deviation = volatility * math.sqrt(time)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / deviation
    d2 = d1 - deviation
    return spot * normal_cdf(d1) - strike * math.exp(-rate * time) * normal_cdf(d2)


@pytest.mark.parametrize("spot", [80.0, 100.0, 130.0])
@pytest.mark.parametrize("volatility", [0.1, 0.35])
def test_black_scholes_has_the_textbook_sensitivities(spot: float, volatility: float) -> None:
    strike, rate, time = 105.0, 0.03, 0.75
    delta, vega, rho = grad(call_price, argnums=("spot", "volatility", "rate"))(
        spot, strike, volatility, rate, time
    )
    deviation = volatility * math.sqrt(time)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / deviation
    density = math.exp(-0.5 * d1 * d1) / math.sqrt(2.0 * math.pi)
    assert delta == pytest.approx(normal_cdf(d1), rel=1e-12)
    assert vega == pytest.approx(spot * density * math.sqrt(time), rel=1e-12)
    discounted = strike * math.exp(-rate * time)
    assert rho == pytest.approx(time * discounted * normal_cdf(d1 - deviation), rel=1e-12)
    assert {type(bar) for bar in (delta, vega, rho)} == {float}


def newton_root(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@pytest.mark.parametrize("a", [1e-3, 0.5, 2.0, 1e6])
def test_newtons_square_root(a: float) -> None:
    value, slope = value_and_grad(newton_root)(a)
    assert value == newton_root(a)
    assert slope == pytest.approx(0.5 / math.sqrt(a), rel=1e-10)


def power(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def ackermann_like(x: float, n: int) -> float:
    return x if n <= 0 else math.sin(other(x, n - 1))


def other(x: float, n: int) -> float:
    return x * x if n <= 0 else ackermann_like(x, n - 1) * x


def test_recursion() -> None:
    for n in (0, 1, 5, 10):
        assert grad(power)(1.3, n) == pytest.approx(n * 1.3 ** (n - 1), rel=1e-13)


def test_mutual_recursion() -> None:
    wanted = difference(lambda x: ackermann_like(x, 5), 0.7)
    assert grad(ackermann_like)(0.7, 5) == pytest.approx(wanted, rel=1e-8)


# -- a recurrent network over a list of inputs ----------------------------------------------------


def network_loss(parameters: dict[str, Any], inputs: list[Any], targets: list[float]) -> Any:
    state = np.zeros(parameters["b"].shape)
    total = 0.0
    for x, target in zip(inputs, targets, strict=True):
        state = np.tanh(parameters["W"] @ state + parameters["U"] @ x + parameters["b"])
        error = parameters["out"] @ state - target
        total = total + error * error
    return total / len(inputs)


def hand_written(parameters: dict[str, Any], inputs: list[Any], targets: list[float]) -> Any:
    """Return the gradient of ``network_loss``: backpropagation through time, as in textbooks."""
    W, U, b, out = (parameters[name] for name in ("W", "U", "b", "out"))
    states = [np.zeros(b.shape)]
    for x in inputs:
        states.append(np.tanh(W @ states[-1] + U @ x + b))
    bars = {name: np.zeros(value.shape) for name, value in parameters.items()}
    state_bar = np.zeros(b.shape)
    for t in reversed(range(len(inputs))):
        error_bar = 2.0 * (out @ states[t + 1] - targets[t]) / len(inputs)
        bars["out"] += error_bar * states[t + 1]
        inner_bar = (state_bar + error_bar * out) * (1.0 - states[t + 1] ** 2)
        bars["W"] += np.outer(inner_bar, states[t])
        bars["U"] += np.outer(inner_bar, inputs[t])
        bars["b"] += inner_bar
        state_bar = W.T @ inner_bar
    return bars


def test_a_recurrent_network() -> None:
    rng = np.random.default_rng(0)
    shapes = {"W": (5, 5), "U": (5, 2), "b": (5,), "out": (5,)}
    parameters = {name: rng.normal(size=shape) / 2.0 for name, shape in shapes.items()}
    inputs = [rng.normal(size=2) for _ in range(8)]
    targets = [float(value) for value in rng.normal(size=8)]
    value, gradient = value_and_grad(network_loss)(parameters, inputs, targets)
    assert value == pytest.approx(network_loss(parameters, inputs, targets), rel=1e-14)
    wanted = hand_written(parameters, inputs, targets)
    assert list(gradient) == list(parameters)
    for name in parameters:
        np.testing.assert_allclose(gradient[name], wanted[name], rtol=1e-11, atol=1e-13)


def test_a_network_refuses_lists_of_different_lengths() -> None:
    parameters = {"W": np.eye(1), "U": np.eye(1), "b": np.zeros(1), "out": np.ones(1)}
    with pytest.raises(ValueError, match="argument 2 is shorter than argument 1"):
        grad(network_loss)(parameters, [np.ones(1), np.ones(1)], [1.0])


# -- functions that come with installed packages --------------------------------------------------


def difference(function: Callable[[float], float], x: float, step: float = 1e-6) -> float:
    """Return a central difference of fourth order."""
    near = function(x + step) - function(x - step)
    far = function(x + 2.0 * step) - function(x - 2.0 * step)
    return (8.0 * near - far) / (12.0 * step)


def along(function: Callable[[Any], Any], x: Any, direction: Any) -> float:
    """Return the derivative of ``function`` at ``x`` in a direction, by differences."""
    return difference(lambda t: float(function(x + t * direction)), 0.0, 1e-4)


Y = np.random.default_rng(10).normal(size=6)
SHIPPED: dict[str, Callable[[Any], Any]] = {
    "scipy.special.softmax": lambda x: np.sum(special.softmax(x) * Y),
    "scipy.spatial.distance.cosine": lambda x: distance.cosine(x, Y),
    "scipy.spatial.distance.correlation": lambda x: distance.correlation(x, Y),
    "scipy.spatial.distance.minkowski": lambda x: distance.minkowski(x, Y, 3),
    "scipy.spatial.distance.sqeuclidean": lambda x: distance.sqeuclidean(x, Y),
    "scipy.spatial.distance.braycurtis": lambda x: distance.braycurtis(x, Y),
    "numpy.polyval": lambda x: np.polyval(x, 0.7),
    "numpy.polynomial.chebyshev.chebval": lambda x: chebyshev.chebval(0.3, x),
    "numpy.polynomial.legendre.legval": lambda x: legendre.legval(0.3, x),
    "numpy.cov": lambda x: np.cov(np.stack([x, Y]))[0, 1],
    "numpy.gradient": lambda x: np.sum(np.gradient(x) ** 2),
    "numpy.average": lambda x: np.average(x, weights=np.abs(Y)),
    "numpy.vander": lambda x: np.sum(np.vander(x, 3) * Y[:, np.newaxis]),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_array_functions_as_shipped(name: str) -> None:
    function = SHIPPED[name]
    rng = np.random.default_rng(3)
    for _ in range(3):
        x, direction = rng.normal(size=6), rng.normal(size=6)
        gradient = grad(function)(x)
        assert gradient.shape == x.shape
        assert gradient @ direction == pytest.approx(along(function, x, direction), rel=1e-8)


@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize("channel", range(3))
@pytest.mark.parametrize(
    "convert", [colorsys.rgb_to_hsv, colorsys.rgb_to_hls, colorsys.hsv_to_rgb, colorsys.hls_to_rgb]
)
def test_colour_conversions_as_shipped(convert: Any, channel: int, position: int) -> None:
    def one(a: float, b: float, c: float) -> Any:
        return convert(a, b, c)[channel]

    for color in ((0.2, 0.35, 0.6), (0.7, 0.25, 0.45)):
        def moved(t: float, color: tuple[float, ...] = color) -> float:
            changed = list(color)
            changed[position] = t
            return one(*changed)

        wanted = difference(moved, color[position], 1e-5)
        assert grad(one, argnums=position)(*color) == pytest.approx(wanted, rel=1e-8, abs=1e-9)


def test_median_as_shipped() -> None:
    assert grad(statistics.median)([1.0, 4.0, 2.5]) == [0.0, 0.0, 1.0]
    assert grad(statistics.median)([1.0, 4.0, 2.5, 3.5]) == [0.0, 0.0, 0.5, 0.5]
