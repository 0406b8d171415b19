"""A conductivity found from one temperature: the adjoint of two thousand steps, within memory.

``checkpoint_loop`` keeps some of the states, and runs steps again to get at the others. SciPy's
quasi-Newton method asks for the gradient with respect to a number between each pair of points.
Where the temperature stays flat, as at its top, it tells nothing of the conductivity.

    python examples/heat_adjoint.py [FILE]

draws what was found, and how the misfit fell, into FILE.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult, minimize

from adcompiler import checkpoint_loop, value_and_grad

Array = npt.NDArray[np.float64]


def step(u: Array, k: Array) -> Array:
    """Return the temperatures one step later; ``k`` is the conductivity between points."""
    v = u.copy()
    v[1:-1] += np.diff(k * np.diff(u))
    return v


def final(k: Array, steps: int) -> Array:
    """Return the temperatures of a rod in the end, which was warm in the middle."""
    start = np.exp(-40.0 * (np.linspace(0.0, 1.0, k.size + 1) - 0.45) ** 2)
    return checkpoint_loop(lambda u: step(u, k), start, steps, memory_limit=50_000)


@value_and_grad
def misfit(k: Array, steps: int, measured: Array) -> float:
    """Return how far the temperatures are from those measured; smooth fields are preferred."""
    return np.sum((final(k, steps) - measured) ** 2) + 0.01 * np.sum(np.diff(k, 2) ** 2)


def main(path: str | None = None, points: int = 60, steps: int = 2000) -> dict[str, Any]:
    """Find the conductivity that explains the temperatures."""
    places = np.linspace(0.0, 1.0, points - 1)
    true = 0.2 + 0.1 * np.sin(6.0 * places)
    measured = final(true, steps)
    guess = np.full(points - 1, 0.2)
    before, slope = misfit(guess, steps, measured)
    history = [before]

    def note(intermediate_result: OptimizeResult) -> None:
        history.append(float(intermediate_result.fun))

    found = minimize(
        misfit, guess, args=(steps, measured), jac=True, method="L-BFGS-B",
        bounds=[(0.05, 0.45)] * guess.size, callback=note,
        options={"maxiter": 40, "ftol": 0.0, "gtol": 1e-9},
    )
    print(f"misfit {before:.2e} before, {found.fun:.2e} after {found.nfev} gradients of "
          f"{steps} steps each")
    if path is not None:
        draw(places, true, guess, found.x, history, path)
    return {"before": before, "after": found.fun, "found": found.x, "true": true, "slope": slope,
            "history": history}


def draw(
    places: Array, true: Array, guess: Array, found: Array, history: list[float], path: str
) -> None:
    """Draw conductivities along the rod, and the misfit by iteration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axes, falling = figure.subplots(1, 2)
    falling.semilogy(history, ".-")
    falling.set_xlabel("iteration")
    falling.set_ylabel("misfit")
    axes.plot(places, true, color="black", label="true")
    axes.plot(places, guess, "--", color="gray", label="guess")
    axes.plot(places, found, label="found")
    axes.set_xlabel("place in the rod")
    axes.set_ylabel("conductivity")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:2])
