"""Ten thousand variables in a chain: a trust region method with a sparse Hessian.

Each variable meets only its neighbours, so that three Hessian-vector products give all nonzeros
of a Hessian that would fill 800 MB.

    python examples/chained_objective.py [FILE]

draws the pattern into FILE.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from adcompiler import grad, sparse_hessian
from adcompiler.plot import save

Array = npt.NDArray[np.float64]


def energy(x: Array, load: float) -> float:
    """Return the energy of a chain of stiffening springs, fixed at both ends, under a load."""
    stretch = x[1:] - x[:-1]
    ends = 0.5 * (x[0] ** 2 + x[-1] ** 2)
    return np.sum(0.5 * stretch**2 + 0.25 * stretch**4) + 0.05 * np.sum(x * x) + ends - (
        load * np.sum(np.sin(x))
    )


gradient = grad(energy)
hessian = sparse_hessian(energy)


def main(path: str | None = None, n: int = 10_000) -> dict[str, Any]:
    """Minimize; draw the pattern."""
    start = np.cos(np.linspace(0.0, 20.0, n))
    structure = hessian.structure(start, 0.02)
    if path is not None:
        save(structure.pattern, path, f"a chain of {n}")

    begun = time.perf_counter()
    found = minimize(
        energy, start, args=(0.02,), jac=gradient, hess=hessian, method="trust-constr",
        options={"gtol": 1e-8, "maxiter": 200},
    )
    seconds = time.perf_counter() - begun
    slope = float(np.max(np.abs(gradient(found.x, 0.02))))
    print(f"{n} variables, {structure.pattern.nnz} nonzeros, {structure.coloring.count} colors")
    print(f"{found.nit} iterations in {seconds:.1f} s, largest slope {slope:.1e}")
    return {"slope": slope, "point": found.x, "nonzeros": structure.pattern.nnz, "path": path,
            "hessian": hessian(found.x, 0.02)}


if __name__ == "__main__":
    main(*sys.argv[1:2])
