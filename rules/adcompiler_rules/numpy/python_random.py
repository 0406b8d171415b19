"""Draws of ``random``, in the parameters of their distributions: by reparametrisation.

As those of NumPy (``numpy.random``): the numbers are those that the generator makes, drawn once,
and derivatives are those of the smooth formula that makes them of standard ones.
"""

import math
import random

from adcompiler.rulekit import facts, rrule
from adcompiler_rules.kernels.random_draws import generator_before, standard_of

DRAWS = """
    betavariate expovariate gammavariate gauss getrandbits getstate lognormvariate normalvariate
    paretovariate randbytes randint random randrange triangular uniform vonmisesvariate
    weibullvariate
"""
facts(*(getattr(random.Random, name) for name in DRAWS.split()), shares="none", writes=())
facts(random.Random, shares="none", writes=())


@rrule(random.Random.gauss, wrt=("mu", "sigma"), pure=False)
def gauss(self, mu=0.0, sigma=1.0):
    before = generator_before(self, mu, sigma)
    y = self.gauss(mu, sigma)
    z = standard_of(before, "gauss", (0.0, 1.0), y, mu, sigma)

    def gauss_pullback(dy):
        return dy, dy * z

    return y, gauss_pullback


@rrule(random.Random.normalvariate, wrt=("mu", "sigma"), pure=False)
def normalvariate(self, mu=0.0, sigma=1.0):
    before = generator_before(self, mu, sigma)
    y = self.normalvariate(mu, sigma)
    z = standard_of(before, "normalvariate", (0.0, 1.0), y, mu, sigma)

    def normalvariate_pullback(dy):
        return dy, dy * z

    return y, normalvariate_pullback


@rrule(random.Random.lognormvariate, wrt=("mu", "sigma"), pure=False)
def lognormvariate(self, mu=0.0, sigma=1.0):
    before = generator_before(self, abs(mu) + 1.0, sigma)
    y = self.lognormvariate(mu, sigma)
    z = standard_of(before, "normalvariate", (0.0, 1.0), math.log(y), mu, sigma)

    def lognormvariate_pullback(dy):
        return dy * y, dy * y * z

    return y, lognormvariate_pullback


@rrule(random.Random.uniform, wrt=("a", "b"), pure=False)
def uniform(self, a, b):
    before = generator_before(self, a, b - a)
    y = self.uniform(a, b)
    z = standard_of(before, "uniform", (0.0, 1.0), y, a, b - a)

    def uniform_pullback(dy):
        return dy * (1.0 - z), dy * z

    return y, uniform_pullback


@rrule(random.Random.triangular, wrt=("low", "high", "mode"), pure=False)
def triangular(self, low=0.0, high=1.0, mode=None):
    """Below the mode ``(y - low)^2 / ((high - low) (mode - low))`` stays, above it its mirror."""
    y = self.triangular(low, high, mode)
    top = 0.5 * (low + high) if mode is None else mode
    width = high - low

    def triangular_pullback(dy):
        if y < top:
            moved = 0.5 * dy * (y - low)
            at_top = moved / (top - low)
            at_low, at_high = dy - moved / width - at_top, moved / width
        else:
            moved = 0.5 * dy * (high - y)
            at_top = moved / (high - top) if high > top else 0.0
            at_low, at_high = moved / width, dy - moved / width - at_top
        if mode is None:
            return at_low + 0.5 * at_top, at_high + 0.5 * at_top, None
        return at_low, at_high, at_top

    return y, triangular_pullback


@rrule(random.Random.expovariate, wrt=("lambd",), pure=False)
def expovariate(self, lambd=1.0):
    y = self.expovariate(lambd)

    def expovariate_pullback(dy):
        return -dy * y / lambd

    return y, expovariate_pullback


@rrule(random.Random.paretovariate, wrt=("alpha",), pure=False)
def paretovariate(self, alpha):
    y = self.paretovariate(alpha)

    def paretovariate_pullback(dy):
        return -dy * y * math.log(y) / alpha

    return y, paretovariate_pullback


@rrule(random.Random.weibullvariate, wrt=("alpha", "beta"), pure=False)
def weibullvariate(self, alpha, beta):
    y = self.weibullvariate(alpha, beta)

    def weibullvariate_pullback(dy):
        return dy * y / alpha, -dy * y * math.log(y / alpha) / beta

    return y, weibullvariate_pullback


@rrule(
    random.Random.gammavariate, random.Random.betavariate, random.Random.vonmisesvariate,
    wrt="*params", pure=False, shares="none", writes=(),
)
def accepted(self, *params):
    """Python's own draws are loops that end by what the parameters are: no derivative is theirs."""
    raise NotImplementedError(
        "what random draws of a gamma, beta or von Mises distribution has no derivative; "
        "numpy.random.Generator draws gamma and beta variates that have")
