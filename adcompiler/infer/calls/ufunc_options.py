"""``dtype=`` of ufuncs: the plain call of operands that are converted as NumPy converts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin, Star
from adcompiler.infer.interface import Operations
from adcompiler.typed.unit import Unit

PYTHON_NUMBERS = {"bool": np.dtype(bool), "int": int, "float": float, "complex": complex}
IMPLIED = {"casting": "same_kind", "order": "K", "subok": True}
"""Options of ufuncs, with the values that they have where nothing is said."""


def computed_in(
    s: Operations, ufunc: np.ufunc, args: list[Atom], kwargs: dict[str, Atom], origin: Origin
) -> tuple[list[Atom], dict[str, Atom]]:
    """Return a call without options that only say how it is computed.

    Operands are converted to the dtypes of the loop that NumPy takes for ``dtype=``. A call of
    which that is not known is returned as it is.
    """
    named = {
        key: value for key, value in kwargs.items()
        if not (key in IMPLIED and isinstance(value, Const) and value.value == IMPLIED[key])
    }
    dtype = wanted_dtype(named.get("dtype"))
    if "dtype" not in named or dtype is None or "where" in named or "casting" in named:
        return list(args), named
    if isinstance(named["dtype"], Const) and named["dtype"].value is None:
        del named["dtype"]
        return list(args), named
    loop = loop_for(s.unit, ufunc, args, dtype)
    if loop is None:
        return list(args), named
    del named["dtype"]
    return [
        converted(s, arg, wanted, origin) for arg, wanted in zip(args, loop, strict=True)
    ], named


def wanted_dtype(atom: Atom | None) -> np.dtype[Any] | None:
    """Return the dtype that an argument names, None if it is not known."""
    if not isinstance(atom, Const):
        return None
    try:
        found: np.dtype[Any] = np.dtype(atom.value)
    except TypeError:
        return None
    return found


def loop_for(
    unit: Unit, ufunc: np.ufunc, args: Sequence[Atom | Star], dtype: np.dtype[Any]
) -> tuple[np.dtype[Any], ...] | None:
    """Return the dtypes of operands in the loop whose result has a dtype, None if not known.

    The ufunc of such operands has to choose the same loop.
    """
    given = [None if isinstance(arg, Star) else number_type(unit.type(arg)) for arg in args]
    if ufunc.nout != 1 or len(given) != ufunc.nin or any(kind is None for kind in given):
        return None
    asked = (*(None for _ in given), dtype)
    try:
        *operands, result = ufunc.resolve_dtypes((*given, None), signature=asked)
        again = ufunc.resolve_dtypes((*operands, None))
    except TypeError:
        return None
    return tuple(operands) if again == (*operands, result) and result == dtype else None


def number_type(type_: t.Type) -> Any:
    """Return the dtype of an array or number, or the class of a number of Python."""
    match type_:
        case t.Array(dtype) if type_.kind != "other":
            return np.dtype(dtype)
        case t.Scalar(kind, dtype) if type_.exact:
            return PYTHON_NUMBERS[kind] if dtype is None else np.dtype(dtype)
    return None


def converted(s: Operations, arg: Atom, dtype: np.dtype[Any], origin: Origin) -> Atom:
    """Write an operand in another dtype; as it is where it has that already."""
    type_ = s.unit.type(arg)
    if isinstance(type_, t.Array):
        if np.dtype(type_.dtype) == dtype:
            return arg
        method = s.attribute(arg, "astype", origin, "astype")
        return s.call(method, [Const(dtype)], {}, origin, "operand")
    assert isinstance(type_, t.Scalar)
    if type_.dtype is not None and np.dtype(type_.dtype) == dtype:
        return arg
    return s.call(Const(dtype.type), [arg], {}, origin, "operand")
