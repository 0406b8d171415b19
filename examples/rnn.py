"""A small recurrent network over a list of inputs, and a check of its gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from adcompiler import value_and_grad

Array = npt.NDArray[np.float64]


def cell(state: Array, x: Array, W: Array, U: Array, b: Array) -> Array:
    """Return the state after seeing ``x``."""
    return np.tanh(W @ state + U @ x + b)


def loss(
    W: Array, U: Array, b: Array, readout: Array, inputs: Sequence[Array], targets: Sequence[float]
) -> float:
    """Return the mean squared error of the network's outputs, one for each input.

    Shapes: ``W`` (n, n), ``U`` (n, k), ``b`` and ``readout`` (n,), each input (k,).
    """
    state = np.zeros(b.shape)
    total = 0.0
    for x, target in zip(inputs, targets, strict=True):
        state = cell(state, x, W, U, b)
        error = readout @ state - target
        total = total + error * error
    return total / len(inputs)


loss_and_gradient = value_and_grad(loss, argnums=(0, 1, 2, 3))


def main() -> list[tuple[float, float]]:
    """Print and return ``(compiled, finite difference)`` along a direction in each parameter."""
    rng = np.random.default_rng(0)
    size, width, length = 6, 3, 12
    parameters = [
        rng.normal(size=shape) / np.sqrt(size)
        for shape in ((size, size), (size, width), (size,), (size,))
    ]
    inputs = [rng.normal(size=width) for _ in range(length)]
    targets = [float(np.sin(0.5 * step)) for step in range(length)]
    value, gradients = loss_and_gradient(*parameters, inputs, targets)
    assert value == loss(*parameters, inputs, targets)
    print(f"loss {value:.12f}")

    results = []
    for position, name in enumerate(("W", "U", "b", "readout")):
        direction = rng.normal(size=parameters[position].shape)

        def moved(step: float, position: int = position, direction: Array = direction) -> float:
            trial = list(parameters)
            trial[position] = trial[position] + step * direction
            return loss(*trial, inputs, targets)

        compiled = float(np.sum(gradients[position] * direction))
        difference = (moved(1e-5) - moved(-1e-5)) / 2e-5
        print(f"{name:8s} compiled {compiled:+.12f}   finite difference {difference:+.12f}")
        results.append((compiled, difference))
    return results


if __name__ == "__main__":
    main()
