"""A cart moved with the least effort: collocation, with sparse derivatives of both orders.

Positions, speeds and forces at many points are the unknowns; the dynamics between neighbours are
constraints, of which Jacobian and Hessian are almost empty. Nobody writes down where they are not.

    python examples/cart.py [FILE]

draws the trajectory into FILE.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import NonlinearConstraint, minimize

from adcompiler import sparse_hessian, sparse_jacobian, value_and_grad

Array = npt.NDArray[np.float64]


def effort(z: Array) -> float:
    """Return the integral of the squared force, by the trapezoidal rule, over one second."""
    u = z.reshape(3, -1)[2]
    return (np.sum(u**2) - 0.5 * (u[0] ** 2 + u[-1] ** 2)) / (u.size - 1)


def defects(z: Array) -> Array:
    """Return what the trapezoidal rule leaves over, and what the ends are off."""
    x, v, u = z.reshape(3, -1)
    a, h = u - 0.5 * v * np.abs(v), 1.0 / (x.size - 1)
    return np.concatenate([
        np.diff(x) - 0.5 * h * (v[1:] + v[:-1]), np.diff(v) - 0.5 * h * (a[1:] + a[:-1]),
        np.array([x[0], v[0], x[-1] - 1.0, v[-1]]),
    ])


def main(path: str | None = None, points: int = 40) -> dict[str, Any]:
    """Move the cart by one unit within a second, from rest to rest, against its drag."""
    jacobian = sparse_jacobian(defects)
    weighted = sparse_hessian(lambda z, weights: defects(z) @ weights)
    start = np.concatenate([np.linspace(0.0, 1.0, points), np.ones(points), np.zeros(points)])
    found = minimize(
        value_and_grad(effort), start, jac=True, hess=sparse_hessian(effort),
        method="trust-constr", options={"gtol": 1e-6, "maxiter": 60},
        constraints=NonlinearConstraint(
            defects, 0.0, 0.0, jac=jacobian, hess=lambda z, weights: weighted(z, weights)),
    )
    nonzeros = jacobian(start).nnz
    left = float(np.max(np.abs(defects(found.x))))
    print(f"{start.size} unknowns, {nonzeros} nonzeros in the Jacobian, "
          f"{jacobian.colors(start).count} colors")
    print(f"effort {found.fun:.4f} after {found.niter} steps, constraints within {left:.1e}")
    x, v, u = found.x.reshape(3, -1)
    if path is not None:
        draw(x, v, u, path)
    return {"left": left, "effort": found.fun, "nonzeros": nonzeros, "force": u, "speed": v}


def draw(x: Array, v: Array, u: Array, path: str) -> None:
    """Draw position, speed and force over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    time = np.linspace(0.0, 1.0, x.size)
    panels = figure.subplots(3, 1, sharex=True)
    for axes, values, name in zip(panels, (x, v, u), ("position", "speed", "force"), strict=True):
        axes.plot(time, values)
        axes.axhline(0.0, color="gray", linewidth=0.5)
        axes.set_ylabel(name)
    panels[-1].set_xlabel("time")
    figure.align_ylabels(panels)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:2])
