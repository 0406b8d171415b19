"""Transfer of linear algebra: stacks of matrices, systems, products with sparse matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.runtime.sparse.entries import entries_product, entries_solution
from adcompiler.runtime.sparse.solving import Factors
from adcompiler.sparsity.dependences.index_sets import Array, Shape, count
from adcompiler.sparsity.dependences.values import (
    NOTHING, Dependent, Relation, Value, combined, dtype_of, has_dependents, is_float,
    moved, shape_of, stretched,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import SYSTEM, transfer
from adcompiler.sparsity.transfers.blocks import by_entries, in_blocks
from adcompiler.sparsity.transfers.elementwise import as_numbers, binary, dense
from adcompiler.sparsity.transfers.indexing import get_item
from adcompiler.sparsity.transfers.reductions import groups, reduced
from adcompiler.sparsity.transfers.stand_ins import of_one_form

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
CLASSES = tuple(getattr(sp, f"{form}_{kind}") for form in FORMATS for kind in ("array", "matrix"))


def methods(name: str) -> tuple[Any, ...]:
    """Return the functions that define a method of sparse arrays and matrices."""
    return tuple(dict.fromkeys(getattr(cls, name) for cls in CLASSES))


@transfer(*methods("__matmul__"), *methods("dot"))
def sparse_product(
    run: Run, function: Callable[..., Any], matrix: sp.csr_array, x: Dependent, *rest: Any
) -> Any:
    """A constant sparse matrix times a vector or matrix: what its stored entries connect."""
    if is_unconnected(x):
        return dense(run, function, matrix, x, *rest)
    return connected(run, matrix, x, run.value(function, (matrix, x, *rest), {}))


@transfer(*methods("__rmatmul__"))
def product_with_sparse(
    run: Run, function: Callable[..., Any], matrix: sp.csr_array, x: Dependent,
) -> Any:
    """A vector or matrix times a constant sparse matrix: ``x @ M`` is ``(M.T @ x.T).T``."""
    if is_unconnected(x):
        return dense(run, function, matrix, x)
    value = np.transpose(run.value(function, (matrix, x), {})) if run.local else None
    turned = connected(run, matrix.T, run.call(np.transpose, (x,), {}), value)
    return run.call(np.transpose, (turned,), {})


def is_unconnected(x: Dependent) -> bool:
    """Say whether an operand is no array of known shape whose elements can be followed."""
    return not isinstance(x, Dependent) or not x.shape


def connected(run: Run, matrix: Any, x: Any, value: Value) -> Any:
    """Return the product of a sparse matrix and an array; at a point it has the ``value``."""
    entries = sp.coo_array(matrix)
    there = entries.data != 0
    to, of = entries.row[there].astype(np.int64), entries.col[there].astype(np.int64)
    width = count(x.shape[1:])
    across = np.arange(width)
    targets = (to[:, None] * width + across).ravel()
    positions = (of[:, None] * width + across).ravel()
    shape = (matrix.shape[0], *x.shape[1:])
    dtype = np.result_type(matrix.dtype, np.dtype(x.dtype))
    x.shared = True
    first, second = (
        combined(moved(r, np.ravel), targets, positions, shape) for r in (x.first, x.second)
    )
    return run.made(shape, dtype, first, second, value)


@transfer(entries_product)
def product_of_entries(
    run: Run, function: Callable[..., Any], values: Dependent, rows: Array, columns: Array,
    shape: Shape, x: Dependent
) -> Any:
    """A sparse matrix of entries times a vector or matrix: sums of products, one for each entry."""
    args = values, rows, columns, shape, x
    if has_dependents((rows, columns, shape)) or any(
        isinstance(one, Dependent) and one.shape is None for one in (values, x)
    ):
        return dense(run, function, *args)
    value = run.value(function, args, {})
    width = count(shape_of(x)[1:])
    if len(shape_of(x)) > 1:
        values = run.call(np.reshape, (values, (-1, *(1 for _ in shape_of(x)[1:]))), {})
    terms = binary(run, "*", values, get_item(run, x, np.asarray(columns)))
    if not isinstance(terms, Dependent):
        return value
    found = (int(shape[0]), *shape_of(x)[1:])
    targets = (np.asarray(rows, np.int64)[:, None] * width + np.arange(width)).ravel()
    first, second = (
        combined(moved(r, np.ravel), targets, np.arange(targets.size), found)
        for r in (terms.first, terms.second)
    )
    return run.made(found, terms.dtype, first, second, value)


@transfer("matrices")
def matrix_by_matrix(
    run: Run, function: Callable[..., Any], a: Dependent, *rest: Any, **kwargs: Any
) -> Any:
    """Functions of one matrix, or of each in a stack: all depends on all of the same matrix."""
    (a,) = as_numbers(run, (a,))
    if not isinstance(a, Dependent) or a.shape is None or len(a.shape) < 3:
        return dense(run, function, a, *rest, **kwargs)
    a.shared = True
    value = run.value(function, (a, *rest), kwargs)
    shown = value if run.local else of_one_form(function, (a, *rest), kwargs)
    stack, positions = groups(a.shape, (-2, -1), False)
    first, second = (reduced(r, a.shape, stack, positions) for r in (a.first, a.second))
    if run.second and first != NOTHING:
        second = run.note(stack, [second], [(first, first)])
    if isinstance(shown, tuple):
        items = [spread(run, item, stack, first, second) for item in shown]
        return type(shown)(*items) if hasattr(shown, "_fields") else tuple(items)
    return spread(run, shown, stack, first, second)


def spread(run: Run, shown: Array, stack: Shape, first: Relation, second: Relation) -> Any:
    """Return a stack of results of which each depends on what stands at its place."""
    shape, value = np.shape(shown), shown if run.local else None
    if not is_float(dtype_of(shown)):
        return run.made(shape, dtype_of(shown), value=value)
    thin = (*stack, *(1 for _ in shape[len(stack) :]))
    first, second = (
        stretched(moved(r, lambda array: array.reshape(thin)), thin, shape)
        for r in (first, second)
    )
    return run.made(shape, dtype_of(shown), first, second, value)


# -- systems and factors ---------------------------------------------------------------------------


@transfer(SYSTEM)
def system(
    run: Run, what: str, args: Sequence[Dependent | Array], kwargs: Mapping[str, Value],
    shown: Array,
) -> Any:
    """Return the solution of a system, or a factor, by what each of its elements comes from.

    ``what`` is the word for its transfer: a ``factor`` is upper unless ``lower`` says otherwise, a
    ``cholesky`` factor without options lower. None if the arguments are of another kind than these.
    """
    arrays = as_numbers(run, tuple(args[:2]))
    if not is_float(dtype_of(shown)) or not isinstance(shown, np.ndarray):
        return None
    if what in ("cholesky", "factor"):
        lower = kwargs.get("lower", args[1] if len(args) > 1 else False)
        is_lower = what == "cholesky"
        if has_dependents((args[1:], kwargs)) or (is_lower and (kwargs or args[1:])):
            return None
        return factor(run, arrays[0], is_lower or bool(lower), shown)
    if len(arrays) != 2:
        return None
    if what == "solve":
        return solved(run, *arrays, shown, not args[2:] and not kwargs)
    return solved_triangular(run, *arrays, {**TRIANGULAR, **named_options(args, kwargs)}, shown)


TRIANGULAR = {"trans": 0, "lower": False, "unit_diagonal": False}


def named_options(args: Sequence[Dependent | Array], kwargs: Mapping[str, Value]) -> dict[str, Any]:
    """Return the options of ``solve_triangular`` by name."""
    return {**dict(zip(TRIANGULAR, args[2:], strict=False)), **kwargs}


def composed(run: Run, shown: Array, first: Dependent, is_curved: bool = True) -> Any:
    """Return a result with the dependences of a value that was put together, itself not known."""
    relation = first.first if isinstance(first, Dependent) else NOTHING
    second = first.second if isinstance(first, Dependent) else NOTHING
    if run.second and is_curved and relation != NOTHING:
        second = run.note(np.shape(shown), [second], [(relation, relation)])
    value = shown if run.local else None
    return run.made(np.shape(shown), dtype_of(shown), relation, second, value)


def anywhere(run: Run, x: Dependent | Array) -> Any:
    """Return an argument as one whose dependences are wanted, and no values."""
    if not isinstance(x, Dependent):
        return np.zeros(np.shape(x))
    x.shared = True
    return Dependent(x.shape, np.dtype(float), x.first, x.second)


@contextmanager
def without_values(run: Run) -> Iterator[Run]:
    """Let a run put dependences together that have no values, also at a point."""
    local, run.local = run.local, False
    try:
        yield run
    finally:
        run.local = local


def cumulated(run: Run, x: Dependent, axis: int) -> Any:
    """Return the running sums of an array along an axis."""
    return run.call(np.cumsum, (x,), {"axis": axis})


def solved(run: Run, a: Dependent, b: Dependent | Array, shown: Array, as_it_is: bool) -> Any:
    """Return the solution of a system, or of each in a stack: dense in each right-hand side.

    Of a matrix that falls into blocks an unknown depends on its own block, if the system is that of
    the matrix ``as_it_is``, not of its triangle or transpose.
    """
    apart = in_blocks(a, b) if as_it_is and len(shape_of(a)) == 2 else None
    if apart is not None and apart.shape == np.shape(shown):
        return composed(run, shown, apart)
    with without_values(run) as inner:
        columns = len(shape_of(b)) > 1
        of_matrix = inner.call(
            np.sum, (anywhere(run, a),), {"axis": (-2, -1), "keepdims": columns or True})
        of_side = anywhere(run, b)
        of_side = inner.call(np.sum, (of_side,), {"axis": -2 if columns else -1, "keepdims": True})
        if not columns:
            of_matrix = inner.call(np.squeeze, (of_matrix,), {"axis": -1})
        both = binary(inner, "+", of_matrix, of_side)
        both = inner.call(np.broadcast_to, (both, np.shape(shown)), {})
    return composed(run, shown, both)


@transfer(entries_solution)
def solved_by_entries(
    run: Run, function: Callable[..., Any], values: Dependent, rows: Array, columns: Array,
    shape: Shape, b: Dependent | Array, trans: str = "N", factors: Factors | None = None
) -> Any:
    """The solution of a system of entries: of one that falls into blocks each by itself."""
    args = values, rows, columns, shape, b, trans, factors
    places = rows, columns, shape, trans
    if not has_dependents(places) and shape[0] == shape[1] and shape_of(b) is not None and (
        shape_of(values) is not None
    ):
        row, column = (rows, columns) if trans == "N" else (columns, rows)
        row, column = np.asarray(row, np.int64), np.asarray(column, np.int64)
        apart = by_entries(values, row, column, np.arange(row.size), int(shape[0]), b)
        if apart is not None:
            dtype = np.result_type(dtype_of(values), dtype_of(b), np.float32)
            shown = run.value(function, args, {}) if run.local else np.zeros(shape_of(b), dtype)
            return composed(run, shown, apart)
    return dense(run, function, *args)


@transfer("inverse")
def inverted(
    run: Run, function: Callable[..., Any], a: Dependent, *rest: Any, **kwargs: Any
) -> Any:
    """The inverse of a matrix: of one that falls into blocks it falls into the same ones."""
    (a,) = as_numbers(run, (a,))
    apart = in_blocks(a, None)
    if apart is None:
        return matrix_by_matrix(run, function, a, *rest, **kwargs)
    shown = run.value(function, (a, *rest), kwargs) if run.local else (
        of_one_form(function, (a, *rest), kwargs))
    made = composed(run, shown, apart)
    if isinstance(made, Dependent):
        made.zeros = apart.zeros
    return made


def solved_triangular(
    run: Run, a: Dependent, b: Dependent | Array, given: Mapping[str, Value], shown: Array
) -> Any:
    """Return the solution of a triangular system: of the equations up to its own."""
    if len(shape_of(a)) != 2 or has_dependents(dict(given)):
        return None
    if not given["unit_diagonal"] and given["trans"] in (0, "N"):
        apart = in_blocks(a, b)
        if apart is not None and apart.shape == np.shape(shown):
            return composed(run, shown, apart)
    with without_values(run) as inner:
        lower, trans = bool(given["lower"]), given["trans"] not in (0, "N")
        triangle = inner.call(
            np.tril if lower else np.triu,
            (anywhere(run, a), (-1 if lower else 1) * bool(given["unit_diagonal"])), {})
        if trans:
            triangle, lower = inner.call(np.transpose, (triangle,), {}), not lower
        rows = inner.call(np.sum, (triangle,), {"axis": 1})
        of_side = anywhere(run, b)
        for _ in shape_of(b)[1:]:
            rows = inner.call(np.expand_dims, (rows, -1), {})
        both = binary(inner, "+", rows, of_side)
        if not lower:
            both = inner.call(np.flip, (both, 0), {})
        both = cumulated(inner, both, 0)
        if not lower:
            both = inner.call(np.flip, (both, 0), {})
    return composed(run, shown, both)


def factor(run: Run, a: Dependent, lower: bool, shown: Array) -> Any:
    """Return a Cholesky factor: ``L[i, j]`` comes from the rows up to i and columns up to j."""
    with without_values(run) as inner:
        triangle = anywhere(run, a)
        if not lower:
            triangle = inner.call(np.swapaxes, (triangle, -1, -2), {})
        along = cumulated(inner, inner.call(np.tril, (triangle,), {}), -1)
        both = inner.call(np.tril, (cumulated(inner, along, -2),), {})
        if not lower:
            both = inner.call(np.swapaxes, (both, -1, -2), {})
    return composed(run, shown, both)
