"""Rules for ``scipy.optimize``: solutions have their derivatives from the equations they satisfy.

The library solves as it always does; no derivative goes through its iterations. Starting points and
brackets only choose the solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

import adcompiler_rules.least_squares
import adcompiler_rules.own_solvers  # noqa: F401 (registers its rule)
from adcompiler.rulekit import (
    function_of, gradient_of, implied, non_differentiable, passive, replacement, typed,
)
from adcompiler_rules.constrained import each_of, for_library, minimum_under
from adcompiler_rules.followed import followed_fixed_point, followed_root, kept
from adcompiler_rules.implicit import (
    active_bounds, fixed_point_pullback, interior, root_pullback, solved,
)
from adcompiler_rules.scipy_facts import state_facts

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
    x = kept(found, like) if isinstance(like, np.ndarray) else typed(found, like)
    return implied(root_pullback, residual, (like,), given, x, followed=followed_root)


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
    x = kept(found, like) if isinstance(like, np.ndarray) else (
        typed(passive(np.float64, found), like))
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
        root_pullback, residual, (start,), given, kept(found[0], start),
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
        root_pullback, residual, (start,), given, kept(found.x, start),
        operands=(typed(found.success, True), typed(found.message, "")), followed=followed_root,
    )
    return Solution(
        x, residual(x, *given), typed(found.success, True), typed(getattr(found, "status", 0), 0),
        typed(found.message, ""),
        typed(getattr(found, "nfev", -1), 0),  # SciPy 1.11 does not count those of all methods
    )


# -- minima ----------------------------------------------------------------------------------------


def stationary(objective, args, x, success, message):
    """Return a minimum as what it is for its derivative: a root of the gradient."""

    def slope(x, *args):
        return gradient_of(objective)(x, *args)

    return implied(
        root_pullback, slope, (x,), args, x, operands=(success, message), followed=followed_root
    )


def at_bounds(objective, args, x, ends, success, message):
    """Return a minimum between bounds as a root: of the slope, or of the distance to a bound."""
    low, high = ends
    slope = passive(function_of(gradient_of(objective), (x,), args), x)
    active = np.zeros((2, np.size(x)), bool)
    active[:] = passive(active_bounds, x, slope, low, high)

    def condition(x, low, high, active, *args):
        slope = gradient_of(objective)(x, *args)
        return np.where(active[0], x - low, np.where(active[1], x - high, slope))

    return implied(
        root_pullback, condition, (x,), (low, high, active, *args), x,
        operands=(success, message), followed=followed_root,
    )


def ends_of(bounds):
    """Return lower and upper bounds as arrays."""
    if isinstance(bounds, optimize.Bounds):
        return bounds.lb, bounds.ub
    if isinstance(bounds, np.ndarray):
        return bounds[:, 0], bounds[:, 1]
    low = np.array([-np.inf if pair[0] is None else pair[0] for pair in bounds])
    high = np.array([np.inf if pair[1] is None else pair[1] for pair in bounds])
    return low, high


def everywhere(start):
    """Return bounds that bound nothing."""
    return np.full_like(start, -np.inf), np.full_like(start, np.inf)


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
        x = minimum_under(limits, objective, given, kept(found.x, start), around)
    elif ends is None:
        x = stationary(objective, given, kept(found.x, start), success, message)
    else:
        x = at_bounds(objective, given, kept(found.x, start), ends, success, message)
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


@replacement(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", *, method="trf", ftol=1e-8, xtol=1e-8, gtol=1e-8, max_nfev=None, args=()
):
    def residual(x, *args):
        return np.atleast_1d(np.asarray(fun(x, *args)))

    def half_squares(x, *args):
        r = residual(x, *args)
        return 0.5 * np.sum(r * r)

    given = as_tuple(args)
    start = np.atleast_1d(np.asarray(x0, dtype=float))
    function = function_of(residual, (start,), given)
    slope = jac if isinstance(jac, str) else function_of(jac, (start,), given)
    found = passive(
        optimize.least_squares, function, start, jac=slope, method=method, ftol=ftol, xtol=xtol,
        gtol=gtol, max_nfev=max_nfev,
    )
    success, message = typed(found.success, True), typed(found.message, "")
    x = stationary(half_squares, given, kept(found.x, start), success, message)
    return Solution(
        x, residual(x, *given), typed(found.success, True), typed(getattr(found, "status", 0), 0),
        typed(found.message, ""), typed(found.nfev, 0),
    )

state_facts("scipy.optimize")
