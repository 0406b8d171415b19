"""Ten thousand steps of the heat equation: gradients with the whole tape, and with checkpoints.

Beside the time it prints the highest memory in use (``tracemalloc``), in states of the loop.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from timing import Measurement, measure

from adcompiler import checkpoint_loop, grad

Array = npt.NDArray[np.float64]
STEPS, SIZE = 10_000, 400
SLOTS = 40


def heat(u: Array, rate: float) -> Array:
    """Return one explicit step of the heat equation with a nonlinear sink."""
    return u + rate * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 1e-4 * u**3


def energy(u: Array, rate: float) -> float:
    """Return the energy after all steps."""
    for _ in range(STEPS):
        u = heat(u, rate)
    return np.sum(u * u)


def energy_in_blocks(u: Array, rate: float) -> float:
    """Return the energy; blocks of a hundred steps are run again."""
    return np.sum(checkpoint_loop(lambda u: heat(u, rate), u, STEPS, every=100) ** 2)


def energy_in_slots(u: Array, rate: float) -> float:
    """Return the energy; forty states are kept."""
    return np.sum(checkpoint_loop(lambda u: heat(u, rate), u, STEPS, slots=SLOTS) ** 2)


def energy_within(u: Array, rate: float) -> float:
    """Return the energy; as many states are kept as fit into 128 kB."""
    return np.sum(
        checkpoint_loop(lambda u: heat(u, rate), u, STEPS, memory_limit=128_000) ** 2
    )


def peak(function: Callable[..., Any], *args: Any) -> int:
    """Return the highest memory in use during a call, in bytes."""
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main() -> Sequence[Measurement]:
    """Print the memory, and measure the times."""
    u = np.cos(np.linspace(0.0, 6.0, SIZE)) + 1.0
    contenders = {
        "whole tape": grad(energy), "every=100": grad(energy_in_blocks),
        f"slots={SLOTS}": grad(energy_in_slots), "memory_limit=128 kB": grad(energy_within),
    }
    wanted = contenders["whole tape"](u, 0.2)
    for name, gradient in contenders.items():
        np.testing.assert_allclose(gradient(u, 0.2), wanted, rtol=1e-9)
        used = peak(gradient, u, 0.2)
        print(f"{name:22} {used / 1e6:8.2f} MB   {used / u.nbytes:9.1f} states")
    bars = {f"{name} / whole tape": ("<", limit) for name, limit in (
        ("every=100", 2.5), (f"slots={SLOTS}", 4.0), ("memory_limit=128 kB", 4.0),
    )}
    seconds = measure({**contenders, "the loop itself": energy}, (u, 0.2), rounds=3)
    return [Measurement(f"heat equation, {STEPS} steps", seconds, bars)]
