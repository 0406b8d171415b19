"""Ten thousand variables in a chain: a trust region method with a sparse Hessian.

Each variable meets only its neighbours, so that three Hessian-vector products give all nonzeros
of a Hessian that would fill 800 MB.

    python examples/chained_objective.py [FILE]

draws the pattern, and how the time of a Hessian grows with the chain, into FILE.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from adcompiler import grad, sparse_hessian
from adcompiler.plot import spy

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
    times = timed([n // 16, n // 4, n])
    if path is not None:
        draw(structure.pattern, times, path)

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
            "times": times, "hessian": hessian(found.x, 0.02)}


def timed(sizes: list[int]) -> dict[int, float]:
    """Return the seconds that a Hessian takes, for chains of several lengths; the best of five."""
    times = {}
    for size in sizes:
        x = np.cos(np.linspace(0.0, 20.0, size))
        hessian(x, 0.02)  # finds the pattern and its colors, once
        best = np.inf
        for _ in range(5):
            begun = time.perf_counter()
            hessian(x, 0.02)
            best = min(best, time.perf_counter() - begun)
        times[size] = best
    return times


def draw(pattern: Any, times: dict[int, float], path: str) -> None:
    """Draw the pattern, and times by length beside a line of slope 1."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    spy(pattern, left)
    sizes = list(times)
    right.loglog(sizes, list(times.values()), "o-", label="sparse Hessian")
    last = sizes[-1]
    right.loglog(sizes, [times[last] * n / last for n in sizes], "--", label="in proportion to n")
    right.set_xlabel("variables")
    right.set_ylabel("seconds")
    right.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:2])
