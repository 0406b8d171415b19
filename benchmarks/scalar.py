"""Gradients of code on Python floats, against autograd and against adjoints written by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import peers
from checks import assert_gradients
from timing import Measurement, measure

from adcompiler import grad

OPTION = (100.0, 105.0, 0.2, 0.03, 0.75)
BARS = {"autograd / adcompiler": (">", 100.0)}


def normal_cdf(x: float) -> float:
    """Return the distribution function of the standard normal distribution."""
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def call_price(
    spot: float, strike: float, volatility: float, rate: float, maturity: float
) -> float:
    """Return the Black-Scholes price of a European call option."""
    deviation = volatility * math.sqrt(maturity)
    d1 = math.log(spot / strike) / deviation + rate * maturity / deviation + 0.5 * deviation
    d2 = d1 - deviation
    return spot * normal_cdf(d1) - strike * math.exp(-rate * maturity) * normal_cdf(d2)


def call_price_gradient(
    spot: float, strike: float, volatility: float, rate: float, maturity: float
) -> tuple[float, float, float, float, float]:
    """Return the gradient of ``call_price``: its adjoint, written by hand."""
    root = math.sqrt(maturity)
    deviation = volatility * root
    drift = math.log(spot / strike) + rate * maturity
    d1 = drift / deviation + 0.5 * deviation
    d2 = d1 - deviation
    n1 = 0.5 * (1.0 + math.erf(d1 / 1.4142135623730951))
    n2 = 0.5 * (1.0 + math.erf(d2 / 1.4142135623730951))
    discounted = strike * math.exp(-rate * maturity)

    d2_bar = -discounted * 0.3989422804014327 * math.exp(-0.5 * d2 * d2)
    d1_bar = d2_bar + spot * 0.3989422804014327 * math.exp(-0.5 * d1 * d1)
    drift_bar = d1_bar / deviation
    deviation_bar = d1_bar * 0.5 - d2_bar - drift_bar * drift / deviation
    exponent_bar = discounted * n2 + drift_bar
    spot_bar = n1 + drift_bar / spot
    strike_bar = -(discounted * n2 + drift_bar) / strike
    volatility_bar = deviation_bar * root
    maturity_bar = exponent_bar * rate + deviation_bar * volatility * 0.5 / root
    return spot_bar, strike_bar, volatility_bar, exponent_bar * maturity, maturity_bar


def newton_root(a: float) -> float:
    """Return the square root of ``a`` by Newton's iteration."""
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def newton_root_gradient(a: float) -> float:
    """Return the derivative of ``newton_root``: its adjoint, written by hand."""
    x = a
    tape = []
    while abs(x * x - a) > 1e-12:
        tape.append(x)
        x = 0.5 * (x + a / x)
    x_bar = 1.0
    a_bar = 0.0
    for x in reversed(tape):
        q_bar = 0.5 * x_bar / x
        a_bar += q_bar
        x_bar = 0.5 * x_bar - q_bar * a / x
    return a_bar + x_bar


def call_price_for(np: ModuleType, special: ModuleType) -> Callable[..., Any]:
    """Return ``call_price`` in terms of a peer's ``numpy`` and ``special``."""

    def cdf(x: Any) -> Any:
        return 0.5 * (1.0 + special.erf(x / math.sqrt(2.0)))

    def price(spot: Any, strike: Any, volatility: Any, rate: Any, maturity: Any) -> Any:
        deviation = volatility * np.sqrt(maturity)
        d1 = np.log(spot / strike) / deviation + rate * maturity / deviation + 0.5 * deviation
        d2 = d1 - deviation
        return spot * cdf(d1) - strike * np.exp(-rate * maturity) * cdf(d2)

    return price


def compare(
    case: str,
    primal: Callable[..., Any],
    contenders: dict[str, Callable[..., Any]],
    arguments: tuple[float, ...],
) -> Measurement:
    """Check the contenders' gradients with respect to all arguments, then time them."""
    assert_gradients(primal, contenders, arguments, range(len(arguments)))
    return Measurement(case, measure(contenders, arguments), BARS)


def main() -> list[Measurement]:
    """Return the timings."""
    every = (0, 1, 2, 3, 4)
    option: dict[str, Callable[..., Any]] = {
        "adcompiler": grad(call_price, argnums=every),
        "hand-written": call_price_gradient,
    }
    newton: dict[str, Callable[..., Any]] = {
        "adcompiler": grad(newton_root),
        "hand-written": newton_root_gradient,
    }
    if peer := peers.autograd():
        option["autograd"] = peer["grad"](call_price_for(peer["numpy"], peer["special"]), every)
        newton["autograd"] = peer["grad"](newton_root)
    return [
        compare("Black-Scholes, 5 derivatives", call_price, option, OPTION),
        compare("Newton's square root", newton_root, newton, (7.0,)),
    ]
