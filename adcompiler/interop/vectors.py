"""Structures of numbers as vectors, and back: what optimisers over vectors are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.runtime.records import is_record, record, state_of

if TYPE_CHECKING:
    from adcompiler.interop.calls import Place


def ravel(tree: Any) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """Return the real numbers in a structure as a vector, and a function that goes back.

    A gradient that ``grad`` returns for the structure has its numbers in the same order.

    Parameters:
        tree: A float, an array of floats, or a tuple, list, dict or instance (a dataclass, say) of
            such and others.

    Returns:
        tuple: The vector, and ``unravel``. The vector is float64, a copy, in the order of items,
        entries and attributes; ``unravel(vector)`` returns the same structure with other numbers,
        arrays in the precision that they had, and everything else (integers, texts, None) as it is.

    Raises:
        TypeError: For complex numbers.
        ValueError: By ``unravel``, for vectors of another length.

    Example:
        >>> import numpy as np
        >>> from adcompiler.interop.vectors import ravel
        >>> vector, unravel = ravel({"scale": 1.0, "rates": np.array([2.0, 3.0])})
        >>> vector, unravel(2.0 * vector)["rates"]
        (array([1., 2., 3.]), array([4., 6.]))
    """
    leaves = list(numbers_in(tree, ()))
    parts = [np.ravel(leaf).astype(float) for leaf in leaves]
    flat = np.concatenate(parts) if parts else np.zeros(0)

    def unravel(vector: Any) -> Any:
        """Return the structure with the numbers of a vector."""
        given = np.asarray(vector, dtype=float)
        if given.shape != flat.shape:
            raise ValueError(f"the vector has shape {given.shape}, not {flat.shape}")
        return filled(tree, iter(np.split(given, np.cumsum([len(part) for part in parts[:-1]]))))

    return flat, unravel


def is_number(value: Any) -> bool:
    """Say whether a part of a structure is a real number or an array of them."""
    if isinstance(value, (complex, np.complexfloating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "c"
    ):
        raise TypeError("complex numbers have no place in a vector of real ones")
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "f")
    return isinstance(value, (float, np.floating))


def parts_of(value: Any) -> dict[Any, Any] | None:
    """Return the parts of a container or an instance by key; None of anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (tuple, list)):
        return dict(enumerate(value))
    return state_of(value) if is_record(value) else None


def numbers_in(value: Place, inside: tuple[int, ...]) -> Iterator[Any]:
    """Yield the numbers and arrays of a structure; ``inside`` are the identities around it."""
    if is_number(value):
        yield value
        return
    if id(value) in inside:
        raise ValueError("the structure holds itself")
    for part in (parts_of(value) or {}).values():
        yield from numbers_in(part, (*inside, id(value)))


def filled(value: Any, numbers: Iterator[np.ndarray]) -> Any:
    """Return a structure with other numbers."""
    if isinstance(value, np.ndarray) and is_number(value):
        return next(numbers).reshape(value.shape).astype(value.dtype)
    if is_number(value):
        return type(value)(next(numbers)[0])
    parts = parts_of(value)
    if parts is None:
        return value
    made = {key: filled(part, numbers) for key, part in parts.items()}
    if isinstance(value, dict):
        return made if type(value) is dict else type(value)(made)
    if hasattr(value, "_fields"):
        return type(value)(*made.values())
    if isinstance(value, (tuple, list)):
        return type(value)(made.values())
    return record(type(value), **made)


__all__ = ["ravel"]
