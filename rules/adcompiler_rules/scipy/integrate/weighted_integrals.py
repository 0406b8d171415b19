"""Integrals with an oscillating weight: ``scipy.integrate.quad(weight=)``."""

import math

import numpy as np
from scipy import integrate

from adcompiler.rulekit import function_of, implied, non_differentiable, passive, typed
from adcompiler.rulekit.problems import UncoveredError
from adcompiler_rules.followed import followed_integral
from adcompiler_rules.scipy.integrate.trajectories import integral_pullback


def weighted_quad(func, a, b, given, tolerances, weight, wvar, series):
    """Return ``quad`` with a sine or cosine as weight, which is a factor of what is differentiated.
    """
    epsabs, epsrel, limit = tolerances

    def integrand(x, *args):
        return func(x, *args)

    def weighted(x, *args):
        if weight == "cos":
            return func(x, *args) * math.cos(wvar * x)
        return func(x, *args) * math.sin(wvar * x)

    places = passive(periods_of_weight, weight, wvar, a, b)
    found = passive(
        integrate.quad, function_of(integrand, (0.0,), given), a, b, epsabs=epsabs, epsrel=epsrel,
        limit=limit, weight=weight, wvar=wvar, maxp1=series[0], limlst=series[1],
    )
    options = epsabs, epsrel, limit + 2 * int(passive(len, places)), places
    value = implied(
        integral_pullback, weighted, (0.0,), given, typed(found[0], 0.0),
        operands=(a, b, options), active=(False,), followed=followed_integral, most=1,
    )
    return value, typed(found[1], 0.0)


def periods_of_weight(weight, wvar, a, b):
    """Return where the periods of a weight end; raise for weights that are not known."""
    if weight not in ("cos", "sin") or not (np.isfinite(a) and np.isfinite(b)):
        raise UncoveredError(
            "quad() with a weight has a derivative for weight='cos' and 'sin', between finite "
            "limits: write the weight into the integrand")
    count = math.ceil(abs(wvar * (b - a)) / (2.0 * math.pi))
    return np.linspace(a, b, count + 1)[1:-1]


non_differentiable(periods_of_weight)
