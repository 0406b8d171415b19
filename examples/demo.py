"""A tour: a function, the source of its gradient, a check of it, and two optimisations."""

from __future__ import annotations

import inspect
from typing import Any

import logistic_regression
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, rosen, rosen_der

from adcompiler import grad, value_and_grad

Array = npt.NDArray[np.float64]


def loss(w: Array, b: float, X: Array, y: Array) -> float:
    p = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n=== {text} ===\n")


def gradient_and_check() -> tuple[float, float]:
    """Print ``loss``, its gradient's source, and both sides of a finite-difference check."""
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(50, 4)), rng.normal(size=4), 0.3
    y = (rng.random(50) > 0.5) * 1.0
    gradient = grad(loss, argnums=(0, 1))
    w_bar, b_bar = gradient(w, b, X, y)

    heading("A function")
    print(inspect.getsource(loss))
    heading("The gradient that was compiled from it")
    print(gradient.source)
    print(f"(this is the file {gradient.module_path})")

    heading("Against central differences, along a random direction")
    dw, db, step = rng.normal(size=4), rng.normal(), 1e-5
    forward = loss(w + step * dw, b + step * db, X, y)
    backward = loss(w - step * dw, b - step * db, X, y)
    compiled = float(w_bar @ dw + b_bar * db)
    difference = float((forward - backward) / (2.0 * step))
    print(f"compiled            {compiled:+.12f}")
    print(f"finite difference   {difference:+.12f}")
    return compiled, difference


def rosenbrock() -> tuple[float, float]:
    """Minimise SciPy's own Rosenbrock function; return distances of gradient and minimum."""
    start = np.random.default_rng(1).normal(size=20)
    gradient = grad(rosen)(start)
    wanted = rosen_der(start)
    apart = float(np.max(np.abs(gradient - wanted)) / np.max(np.abs(wanted)))
    found = minimize(
        value_and_grad(rosen), start, jac=True, method="BFGS", options={"maxiter": 1000}
    )
    heading("scipy.optimize.rosen as shipped, 20 variables")
    print(f"grad(rosen) against rosen_der: largest relative difference {apart:.1e}")
    print(f"minimize(value_and_grad(rosen), x0, jac=True): {found.message}")
    print(f"value {found.fun:.1e} after {found.nit} iterations")
    return apart, float(np.max(np.abs(found.x - 1.0)))


def main() -> dict[str, Any]:
    """Run the tour and return its numbers."""
    check = gradient_and_check()
    rosen_results = rosenbrock()
    heading("Logistic regression on the breast-cancer data, against scikit-learn")
    logistic = logistic_regression.main()
    return {"check": check, "rosen": rosen_results, "logistic": logistic}


if __name__ == "__main__":
    main()
