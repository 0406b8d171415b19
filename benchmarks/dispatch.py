"""What a warm gradient costs over calling the emitted function itself, on three floats."""

from __future__ import annotations

from timing import Difference, measure

from adcompiler import grad

ARGUMENTS = (1.5, 2.5, 3.5)
LIMIT = 0.3e-6


def product(x: float, y: float, z: float) -> float:
    """Return a function of three floats that takes little time itself."""
    return x * y + z


def main() -> list[Difference]:
    """Return the timing."""
    gradient = grad(product, argnums=(0, 1, 2))
    assert gradient(*ARGUMENTS) == (2.5, 1.5, 1.0)
    emitted = gradient.compiled_for(*ARGUMENTS)
    assert emitted(*ARGUMENTS) == (2.5, 1.5, 1.0)
    best = measure({"wrapper": gradient, "emitted": emitted}, ARGUMENTS)
    return [Difference("grad(f)(x, y, z)", best["wrapper"], best["emitted"], LIMIT)]
