"""Reaction and diffusion in two dimensions: a stiff system, integrated with a sparse Jacobian.

The Brusselator (I. Prigogine, R. Lefever, J. Chem. Phys. 48 (1968)) on a periodic grid. BDF solves
linear systems in every step; the sparse Jacobian makes that cheap and exact.

    python examples/brusselator.py [FILE]

draws the pattern into FILE.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.integrate import solve_ivp

from adcompiler import sparse_jacobian
from adcompiler.plot import save

Array = npt.NDArray[np.float64]


def rates(t: float, u: Array, n: int, a: float, b: float, diffusion: float) -> Array:
    """Return how fast the concentrations of both species change, ``n * n`` numbers each."""
    x, y = u[: n * n].reshape(n, n), u[n * n :].reshape(n, n)

    def spread(z: Array) -> Array:
        around = np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1)
        return diffusion * n * n * (around - 4.0 * z)

    dx = a + x * x * y - (b + 1.0) * x + spread(x)
    dy = b * x - x * x * y + spread(y)
    return np.concatenate([dx.ravel(), dy.ravel()])


jacobian = sparse_jacobian(rates, argnums="u")


def main(path: str | None = None, n: int = 16, until: float = 2.0) -> dict[str, Any]:
    """Integrate with the sparse Jacobian and with differences; draw the pattern."""
    grid = np.arange(n) / n
    x = 1.0 + 0.3 * np.sin(2.0 * np.pi * grid)[:, None] * np.ones(n)
    y = 3.0 + 0.3 * np.cos(2.0 * np.pi * grid)[None, :] * np.ones((n, 1))
    start = np.concatenate([x.ravel(), y.ravel()])
    constants = (n, 1.0, 3.0, 0.02)

    structure = jacobian.structure(0.0, start, *constants)
    if path is not None:
        save(structure.pattern, path, f"Brusselator, {n} x {n}")

    options = {"method": "BDF", "args": constants, "rtol": 1e-7, "atol": 1e-9}
    ours = solve_ivp(rates, (0.0, until), start, jac=jacobian, **options)
    theirs = solve_ivp(rates, (0.0, until), start, jac_sparsity=structure.pattern, **options)
    apart = float(np.max(np.abs(ours.y[:, -1] - theirs.y[:, -1])))
    print(f"{2 * n * n} equations, {structure.pattern.nnz} nonzeros, "
          f"{structure.coloring.count} colors")
    print(f"{ours.t.size - 1} steps with {ours.njev} Jacobians; with differences in their place "
          f"{theirs.t.size - 1}, and results that differ by {apart:.1e}")
    return {"apart": apart, "moved": float(np.max(np.abs(ours.y[:, -1] - start))),
            "success": ours.success, "nonzeros": structure.pattern.nnz, "path": path}


if __name__ == "__main__":
    main(*sys.argv[1:2])
