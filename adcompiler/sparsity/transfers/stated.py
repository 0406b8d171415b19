"""Transfer of functions of which the pattern is stated: external ones, and by ``facts``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.external import call_external
from adcompiler.sparsity.dependences.index_sets import Array, count
from adcompiler.sparsity.dependences.values import (
    Dependent, Value, combined, dependents_in, dtype_of, is_float, moved,
    shape_of, unite,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import STATED, Refusal, transfer


@transfer(STATED)
def stated(
    run: Run, function: Callable[..., Any], args: tuple[Dependent | Array, ...],
    kwargs: Mapping[str, Value], shown: Array
) -> Any:
    """Return the result of a call by the pattern that is stated of its function.

    ``shown`` is a result, or one of its structure. None if nothing is stated.
    """
    if function is call_external:
        owner, *rest = args
        rest = rest[: len(rest) - bool(getattr(owner, "fills", False))]
        pattern, linear = getattr(owner, "pattern", None), bool(getattr(owner, "linear", False))
    else:
        rest, rule = list(args), REGISTRY.find(function)
        pattern = REGISTRY.facts(function).pattern
        linear = rule is not None and set(rule.linear) >= set(range(len(args)))
    if pattern is None:
        return None
    name = getattr(function if function is not call_external else owner, "__name__", "function")
    if any(dependents_in(dict(kwargs))):
        raise Refusal(f"the pattern stated for {name}() is for arguments by position")
    shapes = [shape_of(x) for x in rest if is_number(x)]
    given = pattern(*shapes) if callable(pattern) else pattern
    matrix = sp.coo_array(sp.csr_array(given, dtype=bool))
    if not isinstance(shown, (np.ndarray, np.generic, float, int, complex)):
        raise Refusal(f"the pattern stated for {name}(), which returns no number or array")
    wanted = count(np.shape(shown)), sum(map(count, shapes))
    if matrix.shape != wanted:
        raise Refusal(
            f"the pattern stated for {name}() has shape {matrix.shape}, and its result and "
            f"arguments {wanted[0]} and {wanted[1]} numbers", f"a pattern of shape {wanted}",
            "sparsity-patterns")
    return connected(run, matrix, [x for x in rest if is_number(x)], shown, linear)


def is_number(x: Value) -> bool:
    """Say whether an argument has columns in a pattern that is stated: a real number or array."""
    if not isinstance(x, (Dependent, np.ndarray, np.generic, float, int)) or isinstance(x, bool):
        return False
    return np.dtype(dtype_of(x)).kind in "fciu"


def connected(
    run: Run, matrix: sp.csr_array, args: Sequence[Value], shown: Array, linear: bool,
) -> Any:
    """Return the result whose elements depend on those of arguments that a matrix names."""
    shape, start = np.shape(shown), 0
    parts = []
    for x in args:
        size = count(shape_of(x))
        there = (matrix.col >= start) & (matrix.col < start + size) & matrix.data
        if isinstance(x, Dependent) and x.is_active:
            x.shared = True
            parts.append((x, matrix.row[there].astype(np.int64),
                          matrix.col[there].astype(np.int64) - start))
        start += size
    value = shown if run.local else None
    if not parts or not is_float(dtype_of(shown)):
        return run.made(shape, dtype_of(shown), value=value)
    first, second = (
        unite([
            combined(moved(getattr(x, which), np.ravel), rows, columns, shape)
            for x, rows, columns in parts
        ], shape) for which in ("first", "second")
    )
    if run.second and not linear:
        second = run.note(shape, [second], [(first, first)])
    return run.made(shape, dtype_of(shown), first, second, value)
