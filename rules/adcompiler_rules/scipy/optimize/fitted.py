"""Fits of models to data: ``scipy.optimize.curve_fit``, least squares in the parameters.

The parameters are where the gradient of the sum of squares is 0. Their covariance is ``inv(J^T J)``
with the Jacobian ``J`` of the residuals there, times the variance of the residuals unless
``absolute_sigma`` (Nocedal and Wright, *Numerical Optimization*, section 10.3); its value is that
of the library, its derivative that of the formula.
"""

from __future__ import annotations

import inspect

import numpy as np
import scipy.linalg
from scipy import optimize

from adcompiler.rulekit import (
    count_of_parameters, function_of, non_differentiable, passive, pushed, replacement,
    typed,
)
from adcompiler.runtime import stop_gradient
from adcompiler_rules.scipy.optimize.minima import at_bounds, ends_around, stationary


def fit(model, slope, xdata, ydata, start, options):
    """Return what ``curve_fit`` finds, for a model of the vector of parameters.

    ``start`` says how many these are.
    """
    def by_parameters(x, *p):
        return model(np.array(p))

    names = ["x", *(f"p{k}" for k in range(start.size))]
    signature = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    vars(by_parameters)["__signature__"] = signature
    chosen = {name: value for name, value in options.items() if value is not None}
    if slope is not None:
        chosen["jac"] = slope if isinstance(slope, str) else lambda x, *p: slope(np.array(p))
    return optimize.curve_fit(by_parameters, xdata, ydata, **chosen)


non_differentiable(fit)


@replacement(optimize.curve_fit)
def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, check_finite=None,
    bounds=None, method=None, jac=None, *, ftol=None, xtol=None, gtol=None,
    maxfev=None, max_nfev=None, epsfcn=None, factor=None, diag=None, x_scale=None,
):
    x = np.asarray(xdata) * 1.0 if isinstance(xdata, (list, tuple, np.ndarray)) else xdata
    y = np.asarray(ydata) * 1.0
    count = count_of_parameters(f) - 1
    start = np.ones(max(count, 1)) if p0 is None else np.ravel(np.asarray(p0)) * 1.0

    def model(p):
        if count > 0:
            return np.asarray(f(x, *[p[k] for k in range(count)]))
        return np.asarray(f(x, *p))

    def residual(p):
        return scaled_by(sigma, np.ravel(model(p) - y))

    def half_squares(p):
        r = residual(p)
        return 0.5 * np.sum(r * r)

    given = None if jac is None or isinstance(jac, str) else (lambda p: jac(x, *p))
    found = passive(
        fit, function_of(model, (start,), ()),
        jac if given is None else function_of(given, (start,), ()), x, y,
        start,
        passive(
            dict, p0=p0, sigma=sigma, absolute_sigma=absolute_sigma, check_finite=check_finite,
            bounds=bounds, method=method, ftol=ftol, xtol=xtol, gtol=gtol, maxfev=maxfev,
            max_nfev=max_nfev, epsfcn=epsfcn, factor=factor, diag=diag, x_scale=x_scale),
    )
    if bounds is None:
        p = stationary(half_squares, (), typed(found[0], start), True, "")
    else:
        ends = ends_around(bounds, start)
        p = at_bounds(half_squares, (), typed(found[0], start), ends, True, "")
    slopes = np.zeros((np.size(p), np.size(y)))
    for k in range(np.size(p)):
        slopes[k] = pushed(residual, (p,), (np.eye(np.size(p))[k],))[1]
    covariance = np.linalg.inv(slopes @ slopes.T)
    if not absolute_sigma:
        r = residual(p)
        freedom = np.size(r) - np.size(p)
        covariance = covariance * (np.sum(r * r) / freedom if freedom > 0 else 0.0)  # inf: constant
    value = typed(found[1], np.zeros((1, 1)))
    return p, value + (covariance - stop_gradient(covariance))


def scaled_by(sigma, r):
    """Return residuals in units of their deviations, or of their covariance."""
    if sigma is None:
        return r
    deviations = np.asarray(sigma) * 1.0
    if deviations.ndim == 2:
        return scipy.linalg.solve_triangular(
            scipy.linalg.cholesky(deviations, lower=True), r, lower=True)
    return r / deviations
