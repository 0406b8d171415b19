"""The functions in C below SciPy's sparse matrices: they move, sum and multiply stored numbers.

They write what they compute into arrays that they are given. Which number goes where follows from
the arrays of indices; the numbers are moved again by operations that are recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.record.functions import HOOKS
from adcompiler.record.items import write
from adcompiler.record.protocols import natively
from adcompiler.record.tape import RECORDING, Index

Tool = Callable[..., Any]


def rows_of(pointers: np.ndarray) -> np.ndarray:
    """Return the row of each stored element."""
    return np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))


def unless_constant(function: Tool, follow: Tool) -> Tool:
    """Return the hook of a function, which follows it where active values are given."""

    def apply(*args: Any) -> Any:
        tape = RECORDING.tape
        if any(map(tape.holds, args)) or any(
            isinstance(arg, np.ndarray) and tape.is_held(arg) for arg in args
        ):
            return follow(function, *args)
        return natively(function, *args)

    return apply


def moving(source: int, target: int, drops: bool = False) -> Tool:
    """Return what follows a function that only moves numbers, by positions of its arguments.

    It ``drops`` zeros, or moves them as well.
    """

    def follow(function: Tool, *args: Any) -> Any:
        data = args[source]
        copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        count = np.arange(1.0, data.size + 1.0).reshape(data.shape)
        copies[source] = np.where(data == 0, 0.0, count) if drops else count
        if target != source:
            copies[target] = np.zeros(args[target].shape)
        made = function(*copies)
        places = copies[target].astype(np.intp)
        values = HOOKS["getitem"](data.reshape(-1), np.maximum(places - 1, 0))
        if not places.all():
            values = HOOKS["mul"](values, (places > 0).astype(data.dtype))
        for old, new in zip(args, copies, strict=True):
            if isinstance(old, np.ndarray) and old is not args[target] and old is not data:
                old[...] = new
        write(args[target], ..., values)
        return made

    return follow


def to_dense(
    _: Tool, rows: int, columns: int, pointers: np.ndarray, indices: np.ndarray, data: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add a matrix to a dense one."""
    add_at(out, (rows_of(pointers), indices), data, (int(rows), int(columns)))


def add_at(
    out: np.ndarray, index: Index, data: np.ndarray, shape: tuple[int, int] | None = None
) -> None:
    """Add numbers to elements, recorded."""
    view = out if shape is None else out.reshape(shape)
    HOOKS["call"](np.add.at, view, index, data)


def coordinates_to_dense(
    _: Tool, rows: int, columns: int, count: int, row: np.ndarray, column: np.ndarray,
    data: np.ndarray, out: np.ndarray, by_columns: bool,
) -> None:
    """Add a matrix given by coordinates to a dense one, in the order of its memory."""
    places = column * np.int64(rows) + row if by_columns else row * np.int64(columns) + column
    add_at(out, places, data)


def diagonal(
    _: Tool, k: int, rows: int, columns: int, pointers: np.ndarray, indices: np.ndarray,
    data: np.ndarray, out: np.ndarray,
) -> None:
    """Write the elements of a diagonal."""
    row = rows_of(pointers)
    chosen = np.flatnonzero(indices - row == k)
    write(out, ..., np.zeros(out.shape, out.dtype))
    add_at(out, row[chosen] + min(int(k), 0), HOOKS["getitem"](data, chosen))


def times_vector(by_rows: bool) -> Tool:
    """Return what follows the product of a matrix, stored by rows or columns, with a vector."""

    def follow(
        _: Tool, rows: int, columns: int, pointers: np.ndarray, indices: np.ndarray,
        data: np.ndarray, x: np.ndarray, out: np.ndarray,
    ) -> None:
        along = rows_of(pointers)
        read, written = (indices, along) if by_rows else (along, indices)
        add_at(out, written, HOOKS["mul"](data, HOOKS["getitem"](x, read)))

    return follow


def times_vectors(by_rows: bool) -> Tool:
    """Return what follows the product of a matrix with several vectors."""

    def follow(
        _: Tool, rows: int, columns: int, count: int, pointers: np.ndarray, indices: np.ndarray,
        data: np.ndarray, x: np.ndarray, out: np.ndarray,
    ) -> None:
        along = rows_of(pointers)
        read, written = (indices, along) if by_rows else (along, indices)
        given = HOOKS["getitem"](x.reshape(int(columns), int(count)), read)
        scaled = HOOKS["mul"](HOOKS["getitem"](data, (slice(None), None)), given)
        add_at(out, written, scaled, (int(rows), int(count)))

    return follow


def sum_duplicates(
    function: Tool, rows: int, columns: int, pointers: np.ndarray, indices: np.ndarray,
    data: np.ndarray,
) -> None:
    """Sum the numbers that are stored at one place."""
    before = keys(pointers, indices, columns)
    natively(function, rows, columns, pointers, indices, np.zeros(data.size))
    after = keys(pointers, indices[: pointers[-1]], columns)
    order = np.argsort(after)
    made = np.zeros(len(after), data.dtype)
    add_at(made, order[np.searchsorted(after, before, sorter=order)], HOOKS["copied"](data))
    write(data, slice(0, len(after)), made)


def keys(pointers: np.ndarray, indices: np.ndarray, columns: int) -> np.ndarray:
    """Return a number for the place of each stored element."""
    found: np.ndarray = rows_of(pointers) * np.int64(columns) + indices[: pointers[-1]]
    return found


def combined(hook: str) -> Tool:
    """Return what follows a sum or difference, or a product element by element."""

    def follow(function: Tool, rows: int, columns: int, *given: Any) -> None:
        pa, ia, a, pb, ib, b, pc, ic, c = given
        natively(function, rows, columns, *given)
        found = keys(pc, ic, columns)
        parts = []
        order = np.argsort(found)
        for pointers, indices, data in ((pa, ia, a), (pb, ib, b)):
            own = keys(pointers, indices, columns)
            places = np.searchsorted(found, own, sorter=order) if len(found) else own * 0
            there = places < len(found)
            there[there] = found[order[places[there]]] == own[there]
            made = np.zeros(len(found), c.dtype)
            add_at(made, order[places[there]], HOOKS["getitem"](data, np.flatnonzero(there)))
            parts.append(made)
        write(c, slice(0, len(found)), HOOKS[hook](*parts))

    return follow


FOLLOWED: dict[str, Tool] = {
    "coo_tocsr": moving(5, 8), "csr_tocsc": moving(4, 7), "csr_sort_indices": moving(3, 3),
    "dia_tocsr": moving(5, 7, drops=True), "csr_sum_duplicates": sum_duplicates,
    "csr_todense": to_dense,
    "coo_todense": coordinates_to_dense, "csr_diagonal": diagonal,
    "csr_matvec": times_vector(True), "csc_matvec": times_vector(False),
    "csr_matvecs": times_vectors(True), "csc_matvecs": times_vectors(False),
    "csr_plus_csr": combined("add"), "csr_minus_csr": combined("sub"),
    "csr_elmul_csr": combined("mul"),
}
"""What follows each function, by its name."""


def hook_of(function: Callable[..., Any]) -> Tool | None:
    """Return the hook of a function, None if it is not followed."""
    follow = FOLLOWED.get(function.__name__)
    return None if follow is None else unless_constant(function, follow)
