import math


def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes(spot, strike, rate, volatility, maturity):
    spread = volatility * math.sqrt(maturity)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / spread
    return spot * normal_cdf(d1) - strike * math.exp(-rate * maturity) * normal_cdf(d1 - spread)


call(black_scholes, 100.0, 95.0, 0.01, 0.2, 0.5, argnums=(0, 2, 3))
# output
import math


def black_scholes_grad(spot, strike, rate, volatility, maturity):
    """Return the gradient of `black_scholes` with respect to spot, rate, volatility."""
    # black_scholes.py:9  spread = volatility * math.sqrt(maturity)
    sqrt_1 = math.sqrt(maturity)
    spread = volatility * sqrt_1
    # black_scholes.py:10  d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / spread
    quotient_2 = spot / strike
    d1 = (math.log(quotient_2) + (rate + 0.5 * volatility**2) * maturity) / spread
    # black_scholes.py:11  return spot * normal_cdf(d1) - strike * math.exp(-rate * maturity) * normal_cdf(d1 - spread)
    sqrt = math.sqrt(2.0)
    quotient_1 = d1 / sqrt
    exp = math.exp(-(rate * maturity))
    quotient = (d1 - spread) / sqrt

    # reverse of black_scholes.py:11
    product = strike * exp * 0.5 * (1.1283791670955126 * math.exp(-(quotient * quotient))) / sqrt
    d1_bar = (
        spot * 0.5 * (1.1283791670955126 * math.exp(-(quotient_1 * quotient_1))) / sqrt - product
    )
    # reverse of black_scholes.py:10
    total_bar_1 = d1_bar / spread
    spread_bar = product - total_bar_1 * d1
    total_bar = total_bar_1 * maturity
    rate_bar = 0.5 * (1.0 + math.erf(quotient)) * strike * exp * maturity + total_bar
    volatility_bar = total_bar * 0.5 * (2 * volatility)
    spot_bar = 0.5 * (1.0 + math.erf(quotient_1)) + total_bar_1 / quotient_2 / strike
    # reverse of black_scholes.py:9
    volatility_bar = volatility_bar + spread_bar * sqrt_1
    return spot_bar, rate_bar, volatility_bar
