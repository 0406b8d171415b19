"""Jacobians of which workers compute columns, rows, or colors, some at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np

from adcompiler.api.emitted import Argnums, EmittedDerivative
from adcompiler.api.jacobians import Jacobian
from adcompiler.api.sparse.operators import SparseJacobian
from adcompiler.api.sparse.structures import Settings
from adcompiler.dispatch.written import Written
from adcompiler.dispatch.trees import check_real, size_of, unit_batches
from adcompiler.parallel.running import AHEAD, in_order
from adcompiler.runtime import own
from adcompiler.runtime.progress import counted, watching
from adcompiler.sparsity.coloring.coloring import indicators
from adcompiler.sparsity.coloring.flattening import flat, is_column, is_row, real_dtype, unflat

GROUPS = 8
"""In how many groups columns, rows or colors are computed, unless that is said."""


def jacobian(
    function: Callable[..., Any], executor: Executor, *, argnums: Argnums = 0,
    mode: str = "forward", at_once: int | None = None, ahead: int = AHEAD, progress: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``function`` in groups of columns or rows.

    ``mode`` is ``"forward"`` (columns) or ``"reverse"`` (rows), ``at_once`` how many are computed
    in one sweep, by default an eighth of them. The result is that of ``jacobian``, of the same
    structure; it depends on ``at_once``, as NumPy may round products of other sizes otherwise, and
    on nothing else. With ``progress`` a terminal shows how many groups are done.
    """
    if mode not in ("forward", "reverse"):
        raise ValueError(f"mode {mode!r} is neither forward nor reverse")
    whole: Jacobian[...] = Jacobian(function, argnums, mode, False, None, "python")
    name = getattr(function, "__qualname__", function)

    def found(*args: Any, **kwargs: Any) -> Any:
        """Return the Jacobian at the arguments."""
        values = whole.pushed.differentiated(*args, **kwargs)
        check_real(values, "an argument", False)
        forward = mode == "forward"
        value = function(*own(args), **own(kwargs))
        check_real(value, "the result", False)
        of = values if forward else value
        number = at_once or max(1, math.ceil(size_of(of) / GROUPS))
        tasks = ((whole.pushed if forward else whole.pulled, forward, args, kwargs, seeds)
                 for seeds in unit_batches(of, number))
        with watching(progress, f"Jacobian of {name}"):
            groups = in_order(executor, along, tasks, ahead)
            parts = list(counted(groups, "groups", -(-size_of(of) // number)))
        return whole.assembled(value, values, parts, by_rows=not forward)

    return found


def along(
    derivative: EmittedDerivative[..., Any], forward: bool, args: tuple[Any, ...], kwargs: Any,
    seeds: Any,
) -> Any:
    """Return derivatives along some tangents, or of some cotangents."""
    if forward:
        return derivative(*args, **kwargs)(*seeds)[1]
    return derivative(*own(args), **own(kwargs))[1](seeds)


def sparse_jacobian(
    function: Callable[..., Any], executor: Executor, *, argnums: Argnums = 0,
    kind: str = "auto", order: str = "smallest_last", at_once: int | None = None,
    ahead: int = AHEAD, progress: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian as ``sparse_jacobian``, in groups of colors.

    Pattern and coloring are found here, and kept; ``at_once`` colors are computed in one sweep, by
    default an eighth of them. With ``progress`` a terminal shows how many groups are done.
    """
    whole: SparseJacobian[...] = SparseJacobian(
        function, argnums, Settings(kind, order))
    name = getattr(function, "__qualname__", function)

    def found(*args: Any, **kwargs: Any) -> Any:
        """Return the Jacobian at the arguments, a CSR array."""
        call = Written(args, kwargs)
        derivative: SparseJacobian[...] = whole.form(call)
        point = derivative.find.point(call)
        structure = derivative.find.at(point)
        coloring = structure.coloring

        def swept(of_rows: bool, colors: np.ndarray, count: int) -> np.ndarray | None:
            number = at_once or max(1, math.ceil(count / GROUPS))
            tasks = (
                (derivative, of_rows, indicators(
                    colors, start, min(start + number, count), np.bool_), call)
                for start in range(0, count, number)
            )
            with watching(progress, f"Jacobian of {name}"):
                groups = in_order(executor, colored, tasks, ahead)
                parts = list(counted(groups, "groups of colors", -(-count // number)))
            return np.concatenate(parts) if parts else None

        columns = swept(False, coloring.columns, coloring.column_count)
        rows = swept(True, coloring.rows, coloring.row_count)
        return structure.decompression.matrix(columns, rows, None, point.dtype)

    return found


def colored(
    derivative: SparseJacobian[...], of_rows: bool, seeds: np.ndarray, call: Written
) -> np.ndarray:
    """Return the sums of rows, or of columns, of some colors."""
    point = derivative.find.point(call)
    wanted, dtype = point.wanted, point.dtype
    if of_rows:
        value, pull = call.given_to(derivative.reverse)
        cotangents = unflat(seeds.astype(real_dtype(value, is_row)), value, is_row)
        back = derivative.several(pull(cotangents))
        return flat(back, wanted, len(seeds), dtype, is_column)
    push = call.given_to(derivative.forward)
    value, derivatives = push(*unflat(seeds.astype(dtype), wanted, is_column))
    real_dtype(value, is_row)
    return flat(derivatives, value, len(seeds), dtype, is_row)
