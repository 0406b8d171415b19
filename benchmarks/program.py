"""What a benchmark is: a program, arguments of several sizes, and what is differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CLASSES = {
    "scalars": "scalar formulas",
    "loops": "loops over elements",
    "stencils": "stencils and time steppers",
    "arrays": "arrays",
    "matrices": "Jacobians and Hessians",
    "sparse": "sparse Jacobians and Hessians",
}
"""The classes of programs, and what reports call them; each is a module of ``programs``."""


@dataclass(frozen=True)
class Program:
    """One program: its function, and how to make arguments of a size.

    ``wrt`` are the positions of what is differentiated, all of which the first derivative of
    ``derivative`` is taken with respect to. ``same_text`` tells that peers run the text as it is,
    with their own ``np`` and ``math``; else they get what ``peers`` has of that name, if anything.
    """

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    sizes: tuple[int, ...]
    wrt: tuple[int, ...] = (0,)
    derivative: str = "gradient"
    same_text: bool = False

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    def at(self, size: int) -> tuple[Any, ...]:
        """Return arguments of a size, the same ones every time."""
        return self.arguments(np.random.default_rng(0), size)


@dataclass(frozen=True)
class Result:
    """A sparse matrix of a peer, converted only to be compared."""

    matrix: Callable[[], Any]

    def tocsr(self) -> Any:
        """Return it as SciPy has it."""
        return self.matrix().tocsr()


def normal(*scales: float) -> Callable[[np.random.Generator, int], tuple[Any, ...]]:
    """Return a maker of as many normal vectors as there are ``scales``."""
    return lambda rng, n: tuple(scale * rng.normal(size=n) for scale in scales)


def numbers(*values: float) -> Callable[[np.random.Generator, int], tuple[Any, ...]]:
    """Return a maker of these numbers, and of the size as the last argument."""
    return lambda _, n: (*values, n)


def flat(result: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return all numbers of a derivative in a row, those of sparse matrices with their places."""
    if isinstance(result, (tuple, list)):
        return np.concatenate([flat(part) for part in result]) if result else np.zeros(0)
    if hasattr(result, "tocsr"):
        matrix = result.tocsr().copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return np.concatenate([matrix.indptr, matrix.indices, matrix.data]).astype(float)
    return np.ravel(np.asarray(result, float))


def agree(found: Any, wanted: Any) -> bool:
    """Say whether two derivatives are the same, to what rounding leaves of double precision."""
    a, b = flat(found), flat(wanted)
    scale = float(np.max(np.abs(b), initial=0.0)) or 1.0
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-6, atol=1e-8 * scale))


def differs_from_differences(program: Program, args: Sequence[Any], found: Any) -> str:
    """Return what is wrong with a gradient, along one random direction; empty if nothing is."""
    rng = np.random.default_rng(1)
    directions = {i: rng.normal(size=np.shape(args[i])) for i in program.wrt}

    def along(step: float) -> float:
        moved = [
            arg + step * directions[i] if i in directions else arg for i, arg in enumerate(args)
        ]
        moved = [float(a) if isinstance(b, float) else a for a, b in zip(moved, args, strict=True)]
        return float(program.function(*moved))

    h = 1e-6
    wanted = (along(h) - along(-h)) / (2.0 * h)
    got = float(flat(found) @ np.concatenate([np.ravel(d) for d in directions.values()]))
    size = abs(float(program.function(*args)))
    if abs(got - wanted) <= 1e-5 * (abs(wanted) + abs(got)) + 1e-7 * (1.0 + size):
        return ""
    return f"{got} where differences give {wanted}"
