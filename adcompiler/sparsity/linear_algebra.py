"""Transfer of linear algebra: stacks of matrices, systems, products with sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.sparsity.elementwise import as_numbers, dense, stand_in_result
from adcompiler.sparsity.index_sets import count
from adcompiler.sparsity.products import contraction, unknown
from adcompiler.sparsity.reductions import groups, reduced
from adcompiler.sparsity.run import Run, transfer
from adcompiler.sparsity.values import (
    NOTHING, Dependent, Relation, combined, dtype_of, is_float, moved, shape_of, stretched,
)

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
CLASSES = tuple(getattr(sp, f"{form}_{kind}") for form in FORMATS for kind in ("array", "matrix"))


def methods(name: str) -> tuple[Any, ...]:
    """Return the functions that define a method of sparse arrays and matrices."""
    return tuple(dict.fromkeys(getattr(cls, name) for cls in CLASSES))


@transfer(*methods("__matmul__"), *methods("dot"))
def sparse_product(run: Run, function: Any, matrix: Any, x: Any, *rest: Any) -> Any:
    """A constant sparse matrix times a vector or matrix: what its stored entries connect."""
    return connected(run, function, matrix, (matrix, x, *rest), x)


@transfer(*methods("__rmatmul__"))
def product_with_sparse(run: Run, function: Any, matrix: Any, x: Any) -> Any:
    """A vector or matrix times a constant sparse matrix: ``x @ M`` is ``(M.T @ x.T).T``."""
    if unknown(x) or not isinstance(x, Dependent):
        return dense(run, function, matrix, x)
    value = run.value(function, (matrix, x), {})
    turned = connected(run, None, matrix.T, (), run.call(np.transpose, (x,), {}))
    found = run.call(np.transpose, (turned,), {}) if isinstance(turned, Dependent) else turned
    if isinstance(found, Dependent):
        found.value = value
        return found
    return value if run.local else found


def connected(run: Run, function: Any, matrix: Any, args: tuple[Any, ...], x: Any) -> Any:
    """Return the product of a sparse matrix and an array; its value is a call of ``function``."""
    if not isinstance(x, Dependent) or x.shape is None or not x.shape:
        return dense(run, function, *args)
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
    value = run.value(function, args, {}) if function is not None else x.value
    return run.made(shape, dtype, first, second, value)


@transfer(np.linalg.solve)
def solution(run: Run, function: Any, a: Any, b: Any) -> Any:
    """``np.linalg.solve``: linear in the right-hand side, column by column."""
    a, b = as_numbers(run, (a, b))
    if isinstance(a, Dependent) or unknown(a, b) or len(shape_of(b)) > 2 or np.ndim(a) != 2:
        return dense(run, function, a, b)
    letters = "kj" if len(shape_of(b)) == 2 else "k"
    everywhere = np.ones(np.shape(a))
    return contraction(
        run, function, ((a, b), {}), ("ik", letters), (everywhere, b), "i" + letters[1:]
    )


@transfer(
    np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.pinv,
    np.linalg.eigh, np.linalg.eigvalsh, np.linalg.qr, np.linalg.svd, np.linalg.svdvals,
)
def matrix_by_matrix(run: Run, function: Any, a: Any, *rest: Any, **kwargs: Any) -> Any:
    """Functions of one matrix, or of each in a stack: all depends on all of the same matrix."""
    (a,) = as_numbers(run, (a,))
    if not isinstance(a, Dependent) or a.shape is None or len(a.shape) < 3:
        return dense(run, function, a, *rest, **kwargs)
    a.shared = True
    value = run.value(function, (a, *rest), kwargs)
    shown = value if run.local else stand_in_result(function, (a, *rest), kwargs)
    stack, positions = groups(a.shape, (-2, -1), False)
    first, second = (reduced(r, a.shape, stack, positions) for r in (a.first, a.second))
    if run.second and first != NOTHING:
        second = run.note(stack, [second], [(first, first)])
    if isinstance(shown, tuple):
        items = [spread(run, item, stack, first, second) for item in shown]
        return type(shown)(*items) if hasattr(shown, "_fields") else tuple(items)
    return spread(run, shown, stack, first, second)


def spread(run: Run, shown: Any, stack: Any, first: Relation, second: Relation) -> Any:
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
