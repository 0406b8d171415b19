"""Rules for ``scipy.optimize``: solutions have their derivatives from the equations they satisfy.

The library solves as it always does; no derivative goes through its iterations. Starting points and
brackets only choose the solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

import adcompiler_rules.scipy.optimize.fitted
import adcompiler_rules.scipy.optimize.least_squares
import adcompiler_rules.scipy.optimize.linear_programs
import adcompiler_rules.runtime.own_solvers  # noqa: F401 (registers its rule)
from adcompiler.rulekit import (
    function_of, implied, non_differentiable, passive, replacement, typed,
)
from adcompiler_rules.scipy.optimize.constrained import each_of, for_library, minimum_under
from adcompiler_rules.followed import followed_fixed_point, followed_root
from adcompiler_rules.implicit import fixed_point_pullback, interior, root_pullback, solved
from adcompiler_rules.scipy.optimize.minima import (
    at_bounds, ends_around, ends_of, everywhere, stationary,
)
from adcompiler_rules.scipy.facts import state_facts

non_differentiable(root_pullback, fixed_point_pullback)
RTOL = float(4 * np.finfo(float).eps)


@dataclass
class Solution:
    """What ``root`` and the minimisers return, with derivatives of ``x`` and ``fun``."""

    x: Any
    fun: Any
    success: bool
    status: int
    message: str
    nfev: int


@dataclass
class ScalarRoot:
    """What ``root_scalar`` returns, with derivatives of ``root``."""

    root: float
    iterations: int
    function_calls: int
    converged: bool
    flag: str


def as_tuple(args):
    return args if isinstance(args, tuple) else (args,)


# -- roots of one variable -------------------------------------------------------------------------


def bracketed(solver, f, a, b, args, **options):
    def residual(x, *args):
        return f(x, *args)

    function = function_of(residual, (0.0,), args)
    root = typed(passive(solver, function, a, b, **options), 0.0)
    return implied(root_pullback, residual, (0.0,), args, root, followed=followed_root)


@replacement(optimize.brentq)
def brentq(f, a, b, args=(), xtol=2e-12, rtol=RTOL, maxiter=100, *, disp=True):
    return bracketed(
        optimize.brentq, f, a, b, as_tuple(args), xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp
    )


@replacement(optimize.brenth)
def brenth(f, a, b, args=(), xtol=2e-12, rtol=RTOL, maxiter=100, *, disp=True):
    return bracketed(
        optimize.brenth, f, a, b, as_tuple(args), xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp
    )


@replacement(optimize.bisect)
def bisect(f, a, b, args=(), xtol=2e-12, rtol=RTOL, maxiter=100, *, disp=True):
    return bracketed(
        optimize.bisect, f, a, b, as_tuple(args), xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp
    )


@replacement(optimize.ridder)
def ridder(f, a, b, args=(), xtol=2e-12, rtol=RTOL, maxiter=100, *, disp=True):
    return bracketed(
        optimize.ridder, f, a, b, as_tuple(args), xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp
    )


@replacement(optimize.toms748)
def toms748(f, a, b, args=(), k=1, xtol=2e-12, rtol=RTOL, maxiter=100, *, disp=True):
    return bracketed(
        optimize.toms748, f, a, b, as_tuple(args), k=k, xtol=xtol, rtol=rtol, maxiter=maxiter,
        disp=disp,
    )


@replacement(optimize.newton)
def newton(
    func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None, x1=None, rtol=0.0, *,
    disp=True,
):
    def residual(x, *args):
        return func(x, *args)

    given = as_tuple(args)
    like = number(x0)
    function = function_of(residual, (like,), given)
    first = None if fprime is None else function_of(fprime, (like,), given)
    second = None if fprime2 is None else function_of(fprime2, (like,), given)
    found = passive(
        optimize.newton, function, x0, fprime=first, tol=tol, maxiter=maxiter, fprime2=second,
        x1=x1, rtol=rtol, disp=disp,
    )
    return implied(
        root_pullback, residual, (like,), given, typed(found, like), followed=followed_root
    )


def number(x0):
    """Return a starting point as the library makes it: a NumPy number for a Python one."""
    if isinstance(x0, (int, float)):
        return np.float64(x0)
    if isinstance(x0, complex):
        return np.complex128(x0)
    return np.asarray(x0) * 1.0


@replacement(optimize.root_scalar)
def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, xtol=None,
    rtol=None, maxiter=None, options=None,
):
    def residual(x, *args):
        return f(x, *args)

    given = as_tuple(args)
    function = function_of(residual, (0.0,), given)
    first = None if fprime is None else function_of(fprime, (0.0,), given)
    second = None if fprime2 is None else function_of(fprime2, (0.0,), given)
    found = passive(
        optimize.root_scalar, function, method=method, bracket=bracket, fprime=first,
        fprime2=second, x0=x0, x1=x1, xtol=xtol, rtol=rtol, maxiter=maxiter, options=options,
    )
    root = implied(
        root_pullback, residual, (0.0,), given, typed(passive(float, found.root), 0.0),
        operands=(typed(found.converged, True), typed(found.flag, "")), followed=followed_root,
    )
    return ScalarRoot(
        root, typed(found.iterations, 0), typed(found.function_calls, 0),
        typed(found.converged, True), typed(found.flag, ""),
    )


@replacement(optimize.fixed_point)
def fixed_point(func, x0, args=(), xtol=1e-8, maxiter=500, method="del2"):
    def step(x, *args):
        return func(x, *args)

    given = as_tuple(args)
    like = number(x0)
    function = function_of(step, (like,), given)
    found = passive(
        optimize.fixed_point, function, x0, xtol=xtol, maxiter=maxiter, method=method
    )
    if isinstance(like, np.ndarray):
        x = typed(found, like)
    else:
        x = typed(passive(np.float64, found), like)
    return implied(
        fixed_point_pullback, step, (like,), given, x, followed=followed_fixed_point
    )


# -- systems of equations --------------------------------------------------------------------------


@replacement(optimize.fsolve)
def fsolve(
    func, x0, args=(), fprime=None, *, col_deriv=0, xtol=1.49012e-8, maxfev=0, band=None,
    epsfcn=None, factor=100, diag=None,
):
    def residual(x, *args):
        return np.ravel(np.asarray(func(x, *args)))

    given = as_tuple(args)
    start = np.ravel(np.asarray(x0, dtype=float))
    function = function_of(residual, (start,), given)
    jacobian = None if fprime is None else function_of(fprime, (start,), given)
    found = passive(
        solved, function, start, fprime=jacobian, col_deriv=col_deriv, xtol=xtol, maxfev=maxfev,
        band=band, epsfcn=epsfcn, factor=factor, diag=diag,
    )
    return implied(
        root_pullback, residual, (start,), given, typed(found[0], start),
        operands=(typed(found[1], True), typed(found[2], "")), followed=followed_root,
    )


@replacement(optimize.root)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, *, options=None):
    both = isinstance(jac, bool) and jac

    def residual(x, *args):
        return np.asarray(fun(x, *args)[0] if both else fun(x, *args))

    given = as_tuple(args)
    start = np.asarray(x0, dtype=float)
    if method == "hybr" or method == "lm" or start.ndim == 0:
        start = np.ravel(start)
    function = function_of(fun if both else residual, (start,), given)
    slope = jac if jac is None or isinstance(jac, bool) else function_of(jac, (start,), given)
    found = passive(
        optimize.root, function, start, method=method, jac=slope, tol=tol, options=options
    )
    x = implied(
        root_pullback, residual, (start,), given, typed(found.x, start),
        operands=(typed(found.success, True), typed(found.message, "")), followed=followed_root,
    )
    return Solution(
        x, residual(x, *given), typed(found.success, True), typed(getattr(found, "status", 0), 0),
        typed(found.message, ""),
        typed(getattr(found, "nfev", -1), 0),  # SciPy 1.11 does not count those of all methods
    )


# -- minima ----------------------------------------------------------------------------------------


@replacement(optimize.minimize)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(),
    tol=None, *, options=None,
):
    both = isinstance(jac, bool) and jac

    def objective(x, *args):
        value = fun(x, *args)[0] if both else fun(x, *args)
        return value if isinstance(value, float) else np.asarray(value).sum()

    given = as_tuple(args)
    start = np.atleast_1d(np.asarray(x0, dtype=float))
    function = function_of(fun if both else objective, (start,), given)
    slope = jac if jac is None or isinstance(jac, (bool, str)) else function_of(
        jac, (start,), given)
    curvature = hess if hess is None or isinstance(hess, str) else function_of(
        hess, (start,), given)
    product = None if hessp is None else function_of(hessp, (start, start), given)
    ends = None if bounds is None else ends_of(bounds)
    limits = each_of(constraints)
    for_solver = [for_library(one, start) for one in limits] if len(limits) > 0 else ()
    found = passive(
        optimize.minimize, function, start, method=method, jac=slope, hess=curvature,
        hessp=product, bounds=bounds, constraints=for_solver, tol=tol, options=options,
    )
    success, message = typed(found.success, True), typed(found.message, "")
    if len(limits) > 0:
        around = everywhere(start) if ends is None else ends
        x = minimum_under(limits, objective, given, typed(found.x, start), around)
    elif ends is None:
        x = stationary(objective, given, typed(found.x, start), success, message)
    else:
        x = at_bounds(objective, given, typed(found.x, start), ends, success, message)
    return Solution(
        x, objective(x, *given), typed(found.success, True), typed(getattr(found, "status", 0), 0),
        typed(found.message, ""), typed(found.nfev, 0),
    )


@replacement(optimize.minimize_scalar)
def minimize_scalar(
    fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None
):
    def objective(x, *args):
        return fun(x, *args)

    given = as_tuple(args)
    function = function_of(objective, (0.0,), given)
    found = passive(
        optimize.minimize_scalar, function, bracket=bracket, bounds=bounds, method=method,
        tol=tol, options=options,
    )
    inside = passive(interior, passive(float, found.x), bounds)
    success, message = typed(found.success, True), typed(found.message, "")
    x = stationary(objective, given, typed(inside, 0.0), success, message)
    return Solution(
        x, objective(x, *given), typed(found.success, True), 0, typed(found.message, ""),
        typed(found.nfev, 0),
    )


def fewest_squares(function, start, bounds, x_scale, **options):
    """Return what ``least_squares`` finds; what is None is left to it."""
    chosen = {"bounds": bounds, "x_scale": x_scale}
    options |= {name: value for name, value in chosen.items() if value is not None}
    return optimize.least_squares(function, start, **options)


@replacement(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=None, method="trf", ftol=1e-8, xtol=1e-8, gtol=1e-8,
    x_scale=None, *, max_nfev=None, args=(),
):
    def residual(x, *args):
        return np.ravel(np.asarray(fun(x, *args)))

    def half_squares(x, *args):
        r = residual(x, *args)
        return 0.5 * np.sum(r * r)

    given = as_tuple(args)
    start = np.atleast_1d(np.asarray(x0, dtype=float))
    function = function_of(residual, (start,), given)
    slope = jac if isinstance(jac, str) else function_of(jac, (start,), given)
    found = passive(
        fewest_squares, function, start, jac=slope, bounds=bounds, method=method, ftol=ftol,
        xtol=xtol, gtol=gtol, x_scale=x_scale, max_nfev=max_nfev,
    )
    success, message = typed(found.success, True), typed(found.message, "")
    if bounds is None:
        x = stationary(half_squares, given, typed(found.x, start), success, message)
    else:
        x = at_bounds(
            half_squares, given, typed(found.x, start), ends_around(bounds, start), success,
            message)
    return Solution(
        x, residual(x, *given), typed(found.success, True), typed(getattr(found, "status", 0), 0),
        typed(found.message, ""), typed(found.nfev, 0),
    )

state_facts("scipy.optimize")
