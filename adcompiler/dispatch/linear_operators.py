"""Linear maps between structures of numbers as SciPy's linear operators between vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.dispatch.cotangents import Outline, assembled

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


def linear_operator(
    forward: Callable[[Any], Any], domain: Outline | None, codomain: Outline | None,
    backward: Callable[[Any], Any] | None = None,
) -> LinearOperator:
    """Return a linear map as an operator on vectors of the real numbers of its structures.

    ``backward`` is the transposed map. Raises TypeError for complex numbers.
    """
    from scipy.sparse.linalg import LinearOperator

    def matvec(x: Any) -> np.ndarray:
        return numbers(forward(structured(np.ravel(x), domain)), codomain)

    def rmatvec(y: Any) -> np.ndarray:
        assert backward is not None
        return numbers(backward(structured(np.ravel(y), codomain)), domain)

    dtype = np.result_type(np.float32, *(
        np.asarray(leaf.like).dtype for one in (domain, codomain) for leaf in leaves(one)))
    if dtype.kind == "c":
        raise TypeError("a linear operator is of real functions of real numbers")
    return LinearOperator(
        (size(codomain), size(domain)), matvec=matvec,
        rmatvec=None if backward is None else rmatvec, dtype=dtype)


def leaves(structure: Outline | None) -> Iterator[Outline]:
    """Yield what numbers and arrays a structure has, in order."""
    if structure is None:
        return
    if structure.parts is None:
        yield structure
        return
    for part in structure.parts.values():
        yield from leaves(part)


def size(structure: Outline | None) -> int:
    """Return how many numbers a structure has."""
    return sum(int(np.prod(leaf.shape or (), dtype=int)) for leaf in leaves(structure))


def structured(vector: np.ndarray, structure: Outline | None) -> Any:
    """Return the numbers of a vector in a structure; what has no numbers there is None."""
    start = 0

    def taken(wanted: Outline | None) -> Any:
        nonlocal start
        if wanted is None:
            return None
        if wanted.parts is not None:
            return assembled({key: taken(part) for key, part in wanted.parts.items()}, wanted)
        first, start = start, start + size(wanted)
        return vector[first:start].reshape(wanted.shape) if wanted.shape else float(vector[first])

    return taken(structure)


def numbers(value: Callable[..., Any], structure: Outline | None) -> np.ndarray:
    """Return the numbers that a value of a structure has, as a vector; None stands for zeros."""
    parts: list[np.ndarray] = []

    def add(given: Any, wanted: Outline | None) -> None:
        if wanted is None:
            return
        if wanted.parts is None:
            parts.append(np.zeros(size(wanted)) if given is None else np.ravel(given))
            return
        for key, part in wanted.parts.items():
            add(part_of(given, wanted, key), part)

    add(value, structure)
    return np.concatenate(parts) if parts else np.zeros(0)


def part_of(given: Any, wanted: Outline, key: Any) -> Any:
    """Return a part of a value, None where it is not given."""
    if given is None:
        return None
    if issubclass(wanted.cls, (tuple, list, dict)):
        return given[key]
    return getattr(given, key, None)


__all__ = ["linear_operator"]
