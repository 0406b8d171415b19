"""``np.multiply.outer(a, b)`` and its like: the ufunc of arrays whose axes are set apart."""

from __future__ import annotations

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin, Star
from adcompiler.infer.folds.table import FOLDS, Fold
from adcompiler.infer.interface import Operations


def _outer(ufunc: np.ufunc) -> Fold:
    def fold(
        s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        """Give the first array an axis of length one for each of the second."""
        if len(args) != 2 or any(isinstance(arg, Star) for arg in args):
            return None
        if kwargs.keys() - {"dtype"}:
            return None
        arrays = []
        for arg in args:
            listed = isinstance(s.unit.type(arg), (t.List, t.Tuple))
            arrays.append(s.call(Const(np.array), [arg], {}, origin, "array") if listed else arg)
        ndims = []
        for array in arrays:
            type_ = s.unit.type(array)
            if not isinstance(type_, (t.Array, t.Scalar)):
                return None
            ndims.append(type_.ndim if isinstance(type_, t.Array) else 0)
        first, second = arrays
        if ndims[0] and ndims[1]:
            axes = Const(tuple(range(ndims[0], sum(ndims))))
            first = s.call(Const(np.expand_dims), [first, axes], {}, origin, "column")
        return s.call(Const(ufunc), [first, second], kwargs, origin, name)

    return fold


for _ufunc in vars(np).values():
    if isinstance(_ufunc, np.ufunc) and _ufunc.nin == 2 and _ufunc.signature is None:
        FOLDS[_ufunc.outer] = _outer(_ufunc)
