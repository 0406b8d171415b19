"""Sparse Jacobians and Hessians: pattern and coloring once, compressed derivatives each time.

The pattern comes from abstract interpretation, a coloring says which columns (rows) share one
derivative, all of which are evaluated in one sweep over many seeds, and every nonzero is read from
the result.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adcompiler.api import Argnums, Derivative
from adcompiler.dispatch import Options
from adcompiler.patterns import hessian_sparsity, jacobian_sparsity
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.sparsity.coloring import Coloring, color
from adcompiler.sparsity.decompression import Decompression

MAX_KEPT = 16
MAX_NUMBERS = 1 << 24
"""Numbers in the seeds of one sweep: more seeds are taken in several sweeps."""

REVERSE_COST = 2.0
"""What one cotangent costs, in tangents, when the kind of coloring is chosen."""

MANY = 24
"""Colors from which it is worth to try both directions together."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What stays the same for arguments of these shapes: pattern, coloring, places of nonzeros."""

    coloring: Coloring
    decompression: Decompression

    @property
    def pattern(self) -> Any:
        """The pattern, a CSR array of bool."""
        return self.coloring.pattern


class SparseDerivative:
    """Base of sparse Jacobians and Hessians: keeps structures by what they depend on."""

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, kind: str, order: str
    ) -> None:
        functools.update_wrapper(self, function)
        self.primal = function
        self.argnums = tuple(argnums) if isinstance(argnums, list) else argnums
        self.kind = kind
        self.order = order
        self.kept: OrderedDict[Any, Structure] = OrderedDict()
        self.form = Derivative(function, Options("vjp", self.argnums))

    def structure(self, *args: Any, **kwargs: Any) -> Structure:
        """Return the pattern and coloring for arguments like these; found once, then kept.

        They depend on the shapes of what is differentiated, and on the values of everything else.
        """
        values, wrt = self.arguments(args, kwargs)
        key = self.key(values, wrt)
        found = self.kept.get(key)
        if found is None:
            coloring = self.colored(args, kwargs)
            found = self.kept[key] = Structure(coloring, Decompression(coloring))
            while len(self.kept) > MAX_KEPT:
                self.kept.popitem(last=False)
        else:
            self.kept.move_to_end(key)
        return found

    def prepare(self, *args: Any, **kwargs: Any) -> SparseDerivative:
        """Find the structure for arguments like these ahead of the first evaluation."""
        self.structure(*args, **kwargs)
        return self

    def colored(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Coloring:
        """Return the coloring of the pattern; that of the derivative in question."""
        raise NotImplementedError

    def arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """Return the values of all parameters, and the positions of those differentiated."""
        s = self.form.specialisations
        if any(s.parts):
            raise TypeError("sparse derivatives are with respect to whole arguments")
        return s.values(self.form.bound(*args, **kwargs)), s.wrt

    def key(self, values: tuple[Any, ...], wrt: tuple[int, ...]) -> Any:
        """Return what the structure depends on, as something to look it up by."""
        shapes = tuple(shape_of(values[i]) for i in wrt)
        others = [value for i, value in enumerate(values) if i not in wrt]
        return shapes, digest([*others, *surroundings(self.form.specialisations.target.function)])

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance, as methods do."""
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the sparse derivative at the arguments."""
        raise NotImplementedError


class SparseJacobian(SparseDerivative):
    """A function's Jacobian as a sparse matrix; see ``sparse_jacobian``."""

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, kind: str, order: str
    ) -> None:
        super().__init__(function, argnums, kind, order)
        self.forward = Derivative(function, Options("forward", self.argnums, batched=True))
        self.reverse = Derivative(function, Options("vjp", self.argnums, batched=True))

    def colored(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Coloring:
        pattern = jacobian_sparsity(self.primal, *args, argnums=self.argnums, **kwargs)
        if self.kind != "auto":
            return color(pattern, self.kind, self.order)
        by_column, by_row = (color(pattern, kind, self.order) for kind in ("column", "row"))
        cost = {by_column: by_column.count, by_row: REVERSE_COST * by_row.count}
        if min(cost.values()) > MANY:
            both = color(pattern, "bidirectional", self.order)
            cost[both] = both.column_count + REVERSE_COST * both.row_count
        return min(cost, key=lambda coloring: cost[coloring])

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Return the Jacobian at the arguments, a CSR array, written into ``out`` if given."""
        found = self.structure(*args, **kwargs)
        coloring = found.coloring
        values, wrt = self.arguments(args, kwargs)
        wanted = [values[i] for i in wrt]
        dtype = dtype_of(wanted)
        columns = rows = None
        if coloring.column_count or not coloring.row_count:
            push = self.forward(*args, **kwargs)
            columns = swept(
                coloring.column_seeds(dtype),
                lambda seeds: flat_of_each(push(*unflat_of_each(seeds, wanted))[1], len(seeds)),
                coloring.pattern.shape[0],
            )
        if coloring.row_count:
            value, pull = self.reverse(*args, **kwargs)
            rows = swept(
                coloring.row_seeds(dtype_of([value])),
                lambda seeds: flat_of_each(
                    pull(unflat_of_each(seeds, [value])[0]), len(seeds)
                ),
                coloring.pattern.shape[1],
            )
        return found.decompression.matrix(columns, rows, out)


class SparseHessian(SparseDerivative):
    """A function's Hessian as a sparse matrix; see ``sparse_hessian``."""

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, kind: str, order: str
    ) -> None:
        super().__init__(function, argnums, kind, order)
        s = self.form.specialisations
        positions = tuple(i - len(s.target.first) for i in s.wrt)
        gradient = Derivative(function, Options("grad", positions))
        self.products = Derivative(gradient, Options("forward", positions, batched=True))

    def colored(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Coloring:
        pattern = hessian_sparsity(self.primal, *args, argnums=self.argnums, **kwargs)
        return color(pattern, self.kind, self.order)

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Return the Hessian at the arguments, a CSR array, written into ``out`` if given."""
        found = self.structure(*args, **kwargs)
        values, wrt = self.arguments(args, kwargs)
        wanted = [values[i] for i in wrt]
        push = self.products(*args, **kwargs)
        products = swept(
            found.coloring.column_seeds(dtype_of(wanted)),
            lambda seeds: flat_of_each(push(*unflat_of_each(seeds, wanted))[1], len(seeds)),
            found.pattern.shape[0],
        )
        return found.decompression.matrix(products, products, out)


def sparse_jacobian(
    function: Callable[..., Any] | None = None, argnums: Argnums = 0, *, kind: str = "auto",
    order: str = "smallest_last",
) -> Any:
    """Return a function that computes the Jacobian of ``function`` as a ``scipy.sparse.csr_array``.

    It has a row for each number in the result and a column for each real number in the arguments
    ``argnums``, as ``jacobian_sparsity`` orders them. Every call for arguments of the same shapes
    gives a matrix of the same structure, in which zeros may be stored; ``out=`` takes such a matrix
    to be filled. ``kind`` is ``"column"`` (forward mode), ``"row"`` (reverse mode),
    ``"bidirectional"``, or ``"auto"``: what needs the fewest sweeps; ``order`` that of the greedy
    coloring. The pattern depends on the values of other arguments and of captured variables:
    it is found anew where these change. ``prepare(*args)`` finds it ahead.

    Can be used as a decorator. Raises UnsupportedError for code that cannot be followed.
    """
    if function is None:
        return lambda f: sparse_jacobian(f, argnums, kind=kind, order=order)
    return SparseJacobian(function, argnums, kind, order)


def sparse_hessian(
    function: Callable[..., Any] | None = None, argnums: Argnums = 0, *, kind: str = "star",
    order: str = "smallest_last",
) -> Any:
    """Return a function that computes the Hessian of ``function`` as a ``scipy.sparse.csr_array``.

    ``function`` returns one real number. ``kind`` is ``"star"`` (every entry is read from a
    product with the Hessian), ``"acyclic"`` (fewer products, entries by substitution) or
    ``"column"`` (symmetry is not used). Everything else is as for ``sparse_jacobian``.
    """
    if function is None:
        return lambda f: sparse_hessian(f, argnums, kind=kind, order=order)
    if kind not in ("star", "acyclic", "column"):
        raise ValueError(f"kind is one of star, acyclic, column, not {kind!r}")
    return SparseHessian(function, argnums, kind, order)


# --- seeds ----------------------------------------------------------------------------------------


def swept(seeds: np.ndarray, sweep: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    """Return the derivatives along all seeds, in as few sweeps as memory allows."""
    if not len(seeds):
        return np.zeros((0, size), seeds.dtype)
    at_once = max(1, MAX_NUMBERS // max(seeds.shape[1], size, 1))
    found = [sweep(seeds[i : i + at_once]) for i in range(0, len(seeds), at_once)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def leaves(value: Any) -> list[Any]:
    """Return the real numbers and arrays in a value, in order; what carries none is left out."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, np.ndarray):
        return [value] if value.dtype.kind in "fiu" else []
    if isinstance(value, (float, int, np.floating, np.integer)) and not isinstance(value, bool):
        return [value]
    if is_record(value):
        return [leaf for item in state_of(value).values() for leaf in leaves(item)]
    return []


def dtype_of(values: Sequence[Any]) -> Any:
    """Return the float dtype that holds the numbers of some values."""
    found = [np.asarray(leaf).dtype for leaf in leaves(list(values))]
    return np.result_type(*found, np.float32) if found else np.float64


def unflat_of_each(seeds: np.ndarray, like: Sequence[Any]) -> list[Any]:
    """Return rows of numbers as tangents of the structure of ``like``, with the axis of rows."""
    position = 0

    def taken(value: Any) -> Any:
        nonlocal position
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(taken, value))
        if isinstance(value, (tuple, list)):
            return type(value)(map(taken, value))
        if isinstance(value, dict):
            return {key: taken(item) for key, item in value.items()}
        if is_record(value) and not isinstance(value, np.ndarray):
            return record(**{name: taken(item) for name, item in state_of(value).items()})
        if not leaves(value):
            return None
        shape = np.shape(value)
        size = int(np.prod(shape, dtype=np.int64))
        part = seeds[:, position : position + size].reshape(len(seeds), *shape)
        position += size
        return part

    return [taken(value) for value in like]


def flat_of_each(value: Any, count: int) -> np.ndarray:
    """Return derivatives along many seeds as rows of numbers."""
    parts = [np.reshape(leaf, (count, -1)) for leaf in leaves(value)]
    if not parts:
        return np.zeros((count, 0))
    return np.asarray(parts[0]) if len(parts) == 1 else np.concatenate(parts, axis=1)


# --- what a structure depends on ------------------------------------------------------------------


def shape_of(value: Any) -> Any:
    """Return the structure and shapes of a value, without its numbers."""
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(shape_of, value))
    if isinstance(value, dict):
        return dict, tuple((key, shape_of(item)) for key, item in value.items())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape
    if is_record(value):
        return type(value), tuple((n, shape_of(v)) for n, v in state_of(value).items())
    return type(value)


def surroundings(function: Callable[..., Any]) -> list[Any]:
    """Return the values of the captured variables and global data that a function names."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if holds(cell)]
    named = function.__code__.co_names
    table = function.__globals__
    return cells + [
        table[name] for name in named
        if isinstance(table.get(name), (np.ndarray, float, int, complex, tuple, list, dict))
    ]


def holds(cell: Any) -> bool:
    """Say whether a closure cell has been given a value."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def digest(values: Sequence[Any]) -> bytes:
    """Return a fingerprint of the contents of some values."""
    found = hashlib.blake2b(digest_size=16)

    def add(value: Any) -> None:
        found.update(type(value).__qualname__.encode())
        if isinstance(value, np.ndarray) and value.dtype != object:
            found.update(f"{value.dtype.str}{value.shape}".encode())
            found.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, (tuple, list, set, frozenset)):
            found.update(str(len(value)).encode())
            for item in value:
                add(item)
        elif isinstance(value, dict):
            add(list(value.items()))
        elif isinstance(value, (int, float, complex, str, bytes, type(None), np.generic)):
            found.update(repr(value).encode())
        elif isinstance(value, (types.FunctionType, types.ModuleType, type)):
            found.update(repr(id(value)).encode())
        else:
            try:
                found.update(pickle.dumps(value))
            except Exception:
                found.update(repr(id(value)).encode())

    add(list(values))
    return found.digest()


__all__ = [
    "SparseDerivative", "SparseHessian", "SparseJacobian", "Structure", "sparse_hessian",
    "sparse_jacobian",
]
