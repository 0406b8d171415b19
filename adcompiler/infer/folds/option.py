"""Calls of NumPy functions that some options make other functions: ``np.pad``, ``np.interp``.

``np.pad`` by statistics of the array is compiled as code that pads axis after axis, ``np.interp``
with a period as one without, of more points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.prelude import along_arrays
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const, Origin, Star
from adcompiler.infer.folds.iterator import is_none, options, run
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.interface import Operations

STATISTICS = {"maximum": np.max, "minimum": np.min, "median": np.median}


@folds(np.pad)
def fold_pad(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """Other modes are linear, and have a rule; "empty" leaves open what it pads with: zeros."""
    if any(isinstance(arg, Star) for arg in args) or len(args) > 3:
        return None
    given = {**dict(zip(("array", "pad_width", "mode"), args, strict=False)), **kwargs}
    mode = given.pop("mode", None)
    if not isinstance(mode, Const) or not {"array", "pad_width"} <= given.keys():
        return None
    array, width = given.pop("array"), given.pop("pad_width")
    if mode.value == "empty" and not given:
        return s.call(Const(np.pad), [array, width, Const("constant")], {}, origin, name)
    if mode.value not in STATISTICS or given.keys() - {"stat_length"}:
        return None
    statistic = Const(STATISTICS[mode.value])
    length = given.get("stat_length", NONE)
    return run(s, along_arrays.padded, [statistic, array, width, length], origin, name)


@folds(np.interp)
def fold_interp(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """With a period, what is left and right of the points does not matter."""
    given = options(("x", "xp", "fp", "left", "right", "period"), args, kwargs)
    if given is None or not {"x", "xp", "fp"} <= given.keys():
        return None
    period = given.get("period")
    if period is None or is_none(period) or not isinstance(s.unit.type(period), t.Scalar):
        return None
    x = given["x"]
    if isinstance(s.unit.type(x), (t.List, t.Tuple)):
        x = s.call(Const(np.array), [x], {}, origin, "x")
    points = [x, given["xp"], given["fp"], period]
    return run(s, along_arrays.interp_periodic, points, origin, name)
