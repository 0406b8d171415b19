"""A call option's price and its sensitivities, on Python floats and ``math.erf``.

The gradient of the price is compared with the closed forms of delta, vega, rho and theta.
"""

from __future__ import annotations

import math

from adcompiler import value_and_grad


def normal_cdf(x: float) -> float:
    """Return the distribution function of the standard normal distribution."""
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@value_and_grad(argnums=("spot", "volatility", "rate", "maturity"))
def call_price(
    spot: float, strike: float, volatility: float, rate: float, maturity: float
) -> float:
    """Return the Black-Scholes price of a European call option."""
    deviation = volatility * math.sqrt(maturity)
    d1 = math.log(spot / strike) / deviation + rate * maturity / deviation + 0.5 * deviation
    d2 = d1 - deviation
    return spot * normal_cdf(d1) - strike * math.exp(-rate * maturity) * normal_cdf(d2)


def closed_forms(
    spot: float, strike: float, volatility: float, rate: float, maturity: float
) -> dict[str, float]:
    """Return delta, vega, rho and the derivative by maturity, from their textbook formulas."""
    deviation = volatility * math.sqrt(maturity)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / deviation
    d2 = d1 - deviation
    density = math.exp(-0.5 * d1 * d1) / math.sqrt(2.0 * math.pi)
    discounted = strike * math.exp(-rate * maturity)
    return {
        "delta": normal_cdf(d1),
        "vega": spot * density * math.sqrt(maturity),
        "rho": maturity * discounted * normal_cdf(d2),
        "minus theta": spot * density * volatility / (2.0 * math.sqrt(maturity))
        + rate * discounted * normal_cdf(d2),
    }


def main() -> dict[str, tuple[float, float]]:
    """Print and return ``(compiled, closed form)`` for each sensitivity."""
    arguments = (100.0, 105.0, 0.2, 0.03, 0.75)
    price, sensitivities = call_price(*arguments)
    expected = closed_forms(*arguments)
    print(f"price        {price:.12f}")
    results = {}
    for (name, closed), compiled in zip(expected.items(), sensitivities, strict=True):
        print(f"{name:12s} {compiled:.12f}   closed form {closed:.12f}")
        results[name] = (compiled, closed)
    return results


if __name__ == "__main__":
    main()
