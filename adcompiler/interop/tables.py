"""Derivatives by the values of tables, which get the labels of pandas or xarray back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.derivative import Derivative
from adcompiler.runtime.tables import described_table, is_table, library_of
from adcompiler.support.signatures import signature

MODES = ("grad", "value_and_grad", "hessian", "jacobian")


def labelled(derivative: Derivative[..., Any]) -> Callable[..., Any]:
    """Return a derivative that takes tables and gives its results their labels.

    The arguments that are differentiated are handed to the function as arrays, so that what meets
    what goes by position, not by labels; other arguments, tables too, stay as they are.

    Parameters:
        derivative (Derivative): ``grad(f)``, ``value_and_grad(f)``, ``hessian(f)`` or
            ``jacobian(f)``, by one argument or, the first two, by several.

    Returns:
        callable: It takes a Series, DataFrame or DataArray of numbers for an argument that is
        differentiated. A gradient is a table with the labels of the argument; the Hessian by a
        Series is a DataFrame with its labels on both sides; the Jacobian of a vector by a Series a
        DataFrame with its labels as columns. Arguments that are no tables give what they always do.

    Raises:
        TypeError: For other derivatives, for tables of anything but numbers, and for Hessians and
            Jacobians by other tables.

    Example:
        >>> import numpy as np, pandas as pd
        >>> from adcompiler import grad
        >>> from adcompiler.interop.tables import labelled
        >>> weights = pd.Series([0.5, 2.0], index=["stocks", "bonds"])
        >>> labelled(grad(lambda w: np.sum(w**2)))(weights).to_dict()
        {'stocks': 1.0, 'bonds': 4.0}
    """
    mode = getattr(getattr(derivative, "options", None), "mode", None)
    if mode not in MODES:
        raise TypeError(f"labels are given back by {', '.join(MODES)}; got {derivative!r}")
    asked = derivative.options.argnums
    places = asked if isinstance(asked, tuple) else (asked,)
    if mode in ("hessian", "jacobian") and isinstance(asked, tuple):
        raise TypeError(f"labels are given to the {mode} by one argument")
    takes = signature(derivative.primal)
    parameters = list(takes.parameters)
    names = [parameters[one] if isinstance(one, int) else one for one in places]

    @functools.wraps(derivative.primal)
    def of_tables(*args: Any, **kwargs: Any) -> Any:
        bound = takes.bind(*args, **kwargs)
        tables = [bound.arguments.get(name) for name in names]
        for name, table in zip(names, tables, strict=True):
            if is_table(type(table)):
                bound.arguments[name] = values_of(table)
        found = derivative(*bound.args, **bound.kwargs)
        value, slope = found if mode == "value_and_grad" else (None, found)
        give = {"hessian": by_both, "jacobian": by_columns}.get(mode, like)
        if isinstance(asked, tuple):
            slope = tuple(map(give, tables, slope))
        else:
            slope = give(tables[0], slope)
        return (value, slope) if mode == "value_and_grad" else slope

    return of_tables


def values_of(table: Any) -> np.ndarray:
    """Return the numbers of a table as an array of its own."""
    if not hasattr(table, "to_numpy"):
        raise TypeError(f"{described_table(type(table))} is no array; give one of its variables")
    values = np.array(table.to_numpy())
    if values.dtype.kind not in "fciu":
        raise TypeError(f"{described_table(type(table))} of dtype {values.dtype} has no "
                        "derivative; give its columns of numbers")
    return values


def like(table: Any, values: Any) -> Any:
    """Return values with the labels of a table of their shape."""
    if not is_table(type(table)):
        return values
    if library_of(type(table)) == "xarray":
        return table.copy(data=values)
    if np.ndim(values) == 1:
        return type(table)(values, index=table.index, name=table.name)
    return type(table)(values, index=table.index, columns=table.columns)


def by_both(table: Any, values: Any) -> Any:
    """Return a matrix with the labels of a Series on both sides."""
    return framed(table, values, index=True)


def by_columns(table: Any, values: Any) -> Any:
    """Return a matrix with the labels of a Series as its columns."""
    return framed(table, values, index=False)


def framed(table: Any, values: Any, index: bool) -> Any:
    """Return a matrix as a DataFrame with the labels of a Series."""
    if not is_table(type(table)):
        return values
    if not hasattr(table, "to_frame") or library_of(type(table)) != "pandas" or (
        np.ndim(values) != 2
    ):
        raise TypeError("labels of a matrix are those of a Series, and of a vector as the result; "
                        f"got {described_table(type(table))} and {np.ndim(values)} axes")
    frame = type(table.to_frame())
    return frame(values, index=table.index if index else None, columns=table.index)


__all__ = ["labelled"]
