"""SciPy's solvers with exact derivatives, beside the differences they take by default.

Each row solves one problem twice: with differences (``2-point``, or what the solver does without a
Jacobian), and with a derivative that adcompiler writes, passed as it is. It prints how often the
function was evaluated, the least time of three runs (derivatives compiled before), and the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy import integrate, optimize

from adcompiler import grad, hvp, jacobian, sparse_hessian, sparse_jacobian, value_and_grad
from adcompiler.interop.scipy import fit_jacobian, pointwise_jacobian, value_and_jacobian

RNG = np.random.default_rng(0)


def peaks(t, a, b, c, d, e, f):
    return a * np.exp(-((t - b) ** 2) / c) + d * np.exp(-((t - e) ** 2) / f)


T = np.linspace(0.0, 10.0, 2000)
TRUE = np.array([2.0, 3.0, 0.5, 1.0, 7.0, 1.5])
DATA = peaks(T, *TRUE) + RNG.normal(scale=1e-3, size=T.size)
FIT = optimize.curve_fit(
    peaks, T, DATA, p0=TRUE, jac=fit_jacobian(peaks), xtol=1e-14, ftol=1e-14)[0]
GUESS = TRUE * 1.1


def broyden(x):
    """Return the residuals of Broyden's tridiagonal equations."""
    y = (3.0 - 2.0 * x) * x + 1.0
    y[1:] -= x[:-1]
    y[:-1] -= 2.0 * x[1:]
    return y


def chained(x):
    """Return the chained Rosenbrock function."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def distances(x):
    return x[1:] ** 2 + x[:-1] ** 2


def robertson(t, y):
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return np.array([b - a, a - b - c, c])


def bratu(x, y):
    return np.vstack((y[1], -np.exp(y[0])))


def ends(ya, yb):
    return np.array([ya[0], yb[0]])


class Counted:
    """Counts the points at which a function is evaluated."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.count = 0

    def __call__(self, *args: Any) -> Any:
        self.count += 1
        return self.function(*args)


@dataclass
class Problem:
    """One problem: how to solve it, with differences and with derivatives."""

    name: str
    function: Callable[..., Any]
    solve: Callable[..., Any]
    differences: dict[str, Any]
    exact: dict[str, Any]
    solution: Any


def minimized(method: str, start: np.ndarray) -> Callable[..., Any]:
    return lambda f, **given: optimize.minimize(f, start, method=method, **given).x


SPAN = (0.0, 1e4)
STIFF = integrate.solve_ivp(
    robertson, SPAN, [1.0, 0.0, 0.0], method="Radau", rtol=1e-11, atol=1e-13,
    jac=jacobian(robertson, argnums=1)).y[:, -1]
FAR = np.full(400, -1.0)
ROOT = optimize.root(broyden, FAR, jac=jacobian(broyden), tol=1e-13).x
FEASIBLE = optimize.NonlinearConstraint(distances, -np.inf, 1.0)
FEASIBLE_EXACT = optimize.NonlinearConstraint(
    distances, -np.inf, 1.0, jac=sparse_jacobian(distances),
    hess=sparse_hessian(lambda x, v: distances(x) @ v))
INSIDE = optimize.minimize(
    chained, np.zeros(30), jac=grad(chained), method="SLSQP", options={"ftol": 1e-14},
    constraints={"type": "ineq", "fun": lambda x: 1.0 - distances(x)}).x
MESH = np.linspace(0.0, 1.0, 9)

PROBLEMS = [
    Problem(
        "curve_fit", peaks,
        lambda f, **given: optimize.curve_fit(f, T, DATA, p0=GUESS, **given)[0],
        {}, {"jac": fit_jacobian(peaks)}, FIT),
    Problem(
        "least_squares, sparse", broyden,
        lambda f, **given: optimize.least_squares(f, FAR, xtol=1e-12, **given).x,
        {"jac": "2-point"}, {"jac": sparse_jacobian(broyden), "tr_solver": "lsmr"}, ROOT),
    Problem(
        "root", broyden, lambda f, **given: optimize.root(f, FAR, **given).x,
        {}, {"jac": jacobian(broyden)}, ROOT),
    Problem(
        "minimize, BFGS", chained, minimized("BFGS", np.full(60, 1.2)),
        {}, {"jac": grad(chained)}, 1.0),
    Problem(
        "minimize, Newton-CG", chained, minimized("Newton-CG", np.full(60, 1.2)),
        {"jac": grad(chained)},
        {"jac": grad(chained), "hessp": lambda x, p: hvp(chained, x, p)}, 1.0),
    Problem(
        "trust-constr, sparse", chained,
        lambda f, constraints, **given: optimize.minimize(
            f, np.zeros(30), method="trust-constr", constraints=constraints, **given).x,
        {"jac": "2-point", "constraints": FEASIBLE},
        {"jac": grad(chained), "hess": sparse_hessian(chained), "constraints": FEASIBLE_EXACT},
        INSIDE),
    Problem(
        "solve_ivp, Radau", robertson,
        lambda f, **given: integrate.solve_ivp(
            f, SPAN, [1.0, 0.0, 0.0], method="Radau", rtol=1e-6, atol=1e-10, **given).y[:, -1],
        {}, {"jac": jacobian(robertson, argnums=1)}, STIFF),
    Problem(
        "solve_bvp", bratu,
        lambda f, **given: integrate.solve_bvp(
            f, ends, MESH, np.zeros((2, 9)), tol=1e-9, **given).sol(0.5)[0],
        {}, {"fun_jac": pointwise_jacobian(bratu), "bc_jac": jacobian(ends, argnums=(0, 1))},
        0.14053921440053),
]


def measured(problem: Problem, given: dict[str, Any], runs: int) -> tuple[int, float, float]:
    """Return the number of evaluations, the time, and the error of a solution."""
    problem.solve(problem.function, **given)  # compiles
    counted = Counted(problem.function)
    found = problem.solve(counted, **given)
    times = []
    for _ in range(runs):
        start = perf_counter()
        problem.solve(problem.function, **given)
        times.append(perf_counter() - start)
    return counted.count, min(times), float(np.max(np.abs(found - problem.solution)))


def main(runs: int = 3) -> dict[str, list[tuple[int, float, float]]]:
    """Print a table of the best of so many runs, and return its numbers."""
    print(f"{'':24}{'differences':^32}{'derivatives':^32}")
    head = f"{'evaluations':>12}{'ms':>8}{'error':>10}  "
    print(f"{'':24}{head}{head}")
    found = {}
    for problem in PROBLEMS:
        row = found[problem.name] = [
            measured(problem, given, runs) for given in (problem.differences, problem.exact)]
        print(f"{problem.name:24}", *(
            f"{count:11}{seconds * 1e3:8.1f}{error:10.1e} " for count, seconds, error in row))

    both = optimize.root(value_and_jacobian(broyden), FAR, jac=True)
    again = optimize.minimize(value_and_grad(chained), np.full(60, 1.2), jac=True)
    assert np.allclose(both.x, ROOT) and np.allclose(again.x, 1.0, atol=1e-3)
    return found


if __name__ == "__main__":
    main()
