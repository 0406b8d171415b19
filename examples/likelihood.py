"""Standard errors of a model of counts, from derivatives of its likelihood.

The Hessian of the log-likelihood at its maximum gives standard errors; the scores, rows of a
Jacobian, those that hold if the model is wrong as well.

    python examples/likelihood.py [FILE]

draws the estimates into FILE, with intervals of two standard errors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import gammaln

from adcompiler import hessian, jacobian, value_and_grad

Array = npt.NDArray[np.float64]
TRUE = np.array([0.5, 0.3, -0.2, np.log(2.0)])
NAMES = ("constant", "first slope", "second slope", "log of the size")


def drawn(n: int) -> tuple[Array, Array]:
    """Return covariates, and counts with more spread than Poisson's."""
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    size = np.exp(TRUE[3])
    return x, rng.poisson(rng.gamma(size, np.exp(x @ TRUE[:3]) / size)).astype(float)


def log_densities(theta: Array, x: Array, y: Array) -> Array:
    """Return the log-density of each count: negative binomial with mean ``mu`` and size ``r``."""
    mu, r = np.exp(x @ theta[:3]), np.exp(theta[3])
    return (gammaln(y + r) - gammaln(r) - gammaln(y + 1.0)
            + r * np.log(r / (r + mu)) + y * np.log(mu / (r + mu)))


def loss(theta: Array, x: Array, y: Array) -> float:
    """Return the negative log-likelihood."""
    return -np.sum(log_densities(theta, x, y))


def main(path: str | None = None, n: int = 2000) -> dict[str, Any]:
    """Estimate, and return the estimates with both kinds of standard errors."""
    data = drawn(n)
    found = minimize(
        value_and_grad(loss), np.zeros(4), args=data, jac=True, hess=hessian(loss),
        method="trust-exact", options={"gtol": 1e-6},
    )
    covariance = np.linalg.inv(hessian(loss)(found.x, *data))
    scores = jacobian(log_densities)(found.x, *data)
    robust = covariance @ (scores.T @ scores) @ covariance
    errors, robust_errors = np.sqrt(np.diag(covariance)), np.sqrt(np.diag(robust))
    print(f"{'':16s} {'estimate':>8s} {'error':>7s} {'robust':>7s}   true")
    for row in zip(NAMES, found.x, errors, robust_errors, TRUE, strict=True):
        print("{:16s} {:8.4f} {:7.4f} {:7.4f} {:6.2f}".format(*row))
    if path is not None:
        draw(found.x, errors, path)
    return {"estimates": found.x, "errors": errors, "robust": robust_errors,
            "slope": float(np.max(np.abs(found.jac)))}


def draw(estimates: Array, errors: Array, path: str) -> None:
    """Draw estimates with their intervals, and what is true."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 2.6), layout="constrained")
    axes = figure.add_subplot()
    rows = np.arange(len(NAMES))[::-1]
    axes.errorbar(estimates, rows, xerr=2.0 * errors, fmt="o", capsize=3, label="estimate")
    axes.plot(TRUE, rows, "|", color="black", markersize=14, zorder=3, label="true")
    axes.set_yticks(rows, NAMES)
    axes.set_ylim(-0.6, len(NAMES) - 0.4)
    axes.axvline(0.0, color="gray", linewidth=0.5)
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:2])
