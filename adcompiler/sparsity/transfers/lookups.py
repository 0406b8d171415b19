"""Transfer of functions that choose among values, look them up, or count them into bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.sparsity.dependences.values import (
    Dependent, Value, combined, dtype_of, has_dependents,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import transfer
from adcompiler.sparsity.transfers.elementwise import as_numbers, dense


@transfer("select")
def selected(
    run: Run, function: Callable[..., Any], condlist: Sequence[Value], choicelist: Sequence[Value],
    default: Value = 0,
) -> Any:
    """``np.select``: for each condition, from the last to the first, a choice of two."""
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = run.call(np.where, (condition, choice, found), {})
    return found


@transfer("interp")
def interpolated(
    run: Run, function: Callable[..., Any], x: Dependent, xp: Value, fp: Value, **kwargs: Any
) -> Any:
    """``np.interp`` in a constant table: piecewise linear, element by element."""
    (x,) = as_numbers(run, (x,))
    if has_dependents((xp, fp, kwargs)):
        return dense(run, function, x, xp, fp, **kwargs)
    x.shared = True
    value = run.value(function, (x, xp, fp), kwargs)
    dtype = np.result_type(np.float64, np.asarray(fp).dtype)
    return run.made(x.shape, dtype, x.first, x.second, value)


@transfer("bincount")
def binned(
    run: Run, function: Callable[..., Any], x: Dependent, weights: Value = None, minlength: int = 0
) -> Any:
    """``np.bincount``: each bin depends on the weights that go into it."""
    (weights,) = as_numbers(run, (weights,))
    if not isinstance(weights, Dependent) or weights.shape is None or has_dependents(
        (x, minlength)
    ):
        return dense(run, function, x, weights, minlength)
    weights.shared = True
    bins = np.asarray(x)
    shape = (max(int(bins.max(initial=-1)) + 1, minlength),)
    places = np.arange(len(bins))
    first, second = (
        combined(r, bins.astype(np.int64), places, shape) for r in (weights.first, weights.second)
    )
    value = run.value(function, (x, weights, minlength), {})
    return run.made(shape, np.result_type(float, np.dtype(dtype_of(weights))), first, second, value)
