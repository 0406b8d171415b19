"""``np.r_[...]`` and ``np.c_[...]``: the arrays that a subscript lists, one after the other.

``np.mgrid[...]`` and ``np.ogrid[...]``: the grids that the slices in a subscript span; ``np.ix_``.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from adcompiler.prelude.along_arrays import dense_grid, evenly_spaced, stepped
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const, Origin, Slice, Star, constants, unstar
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

Rows: Any = type(np.r_)
Columns: Any = type(np.c_)
Grids: Any = type(np.mgrid).__mro__[-2]
OpenGrids: Any = type(np.ogrid)
OPEN_GRID = "tuple" if isinstance(np.ogrid[:1, :1], tuple) else "list"
WEAK = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}


@folds(Rows.__getitem__)
def fold_concatenation(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Vectors are columns of ``np.c_``. Texts such as ``"0,2"`` are not supported."""
    if len(args) != 2 or kwargs:
        return None
    owner = s.unit.type(args[0])
    cls = owner.cls if isinstance(owner, t.Object) else None
    parts = parts_of(s, args[1], origin)
    if cls not in (Rows, Columns) or parts is None:
        return None
    weights = product(*(weights_of(s.unit.type(part)) for part in parts))
    dtype, *others = {np.result_type(*each) for each in weights}
    if others:
        return None
    kind: dict[str, Atom] = {"dtype": Const(dtype)}
    columns = cls is Columns
    arrays = []
    for part in parts:
        type_ = s.unit.type(part)
        if not isinstance(type_, t.Array) or type_.dtype != dtype.name:
            part = s.call(Const(np.asarray), [part], kind, origin, "part")
        ndim = type_.ndim if isinstance(type_, t.Array) else 0
        if columns and ndim == 1:
            part = s.call(Const(np.expand_dims), [part, Const(1)], {}, origin, "column")
        elif ndim == 0:
            shape = Const((1, 1) if columns else (1,))
            part = s.call(Const(np.reshape), [part, shape], {}, origin, "part")
        arrays.append(part)
    whole = s.pack("tuple", tuple(arrays), "parts", origin)
    axis: dict[str, Atom] = {"axis": Const(-1)} if columns else {}
    return s.call(Const(np.concatenate), [whole], axis, origin, name)


def parts_of(s: Operations, key: Atom, origin: Origin) -> list[Atom] | None:
    """Return numbers and arrays for what the subscript lists; None if they are not all known."""
    type_ = s.unit.type(key)
    items = [key]
    if isinstance(type_, t.Tuple):
        items = list(s.unit.elements(key) or (
            s.item(key, Const(i), origin) for i in range(len(type_.items))))
    parts = [part_of(s, item, origin) for item in items]
    known = [part for part in parts if part is not None]
    return known if known and len(known) == len(parts) else None


def part_of(s: Operations, item: Atom, origin: Origin) -> Atom | None:
    """Return a number or an array; a slice is one of ``np.arange``, or of ``np.linspace``."""
    bounds = bounds_of(s.unit, item)
    if bounds is not None:
        start, stop, step = bounds
        if isinstance(step, Const) and isinstance(step.value, complex):
            number: dict[str, Atom] = {"num": Const(int(abs(step.value)))}
            return s.call(Const(np.linspace), [start, stop], number, origin, "grid")
        return s.call(Const(np.arange), [start, stop, step], {}, origin, "grid")
    type_ = s.unit.type(item)
    if isinstance(type_, (t.List, t.Tuple)):
        item = s.call(Const(np.array), [item], {}, origin, "part")
        type_ = s.unit.type(item)
    known = isinstance(type_, t.Scalar) or (isinstance(type_, t.Array) and type_.kind != "other")
    return item if known else None


def bounds_of(unit: Unit, item: Atom) -> tuple[Atom, Atom, Atom] | None:
    """Return start, stop and step of a slice, with defaults for the first and last."""
    found = unit.definition(item)
    if isinstance(item, Const) and isinstance(item.value, slice):
        found = Slice(*map(Const, (item.value.start, item.value.stop, item.value.step)))
    if not isinstance(found, Slice):
        return None
    start, stop, step = (
        Const(instead) if isinstance(one, Const) and one.value is None else one
        for one, instead in ((found.lower, 0), (found.upper, None), (found.step, 1)))
    return start, stop, step


@folds(slice)
def fold_slice(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``slice(a, b)`` is what stands in ``x[a:b]``."""
    if kwargs or not 1 <= len(args) <= 3 or any(isinstance(arg, Star) for arg in args):
        return None
    bounds = [NONE, args[0], NONE] if len(args) == 1 else [*args, NONE][:3]
    known = constants(bounds)
    if known is not None:
        return Const(slice(*known))
    return s.let(Slice(*bounds), t.SLICE, name, origin)


@folds(Grids.__getitem__)
def fold_grid(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """A slice is a vector, several are a grid; a complex step is the number of points."""
    if len(args) != 2 or kwargs:
        return None
    owner, key = s.unit.type(args[0]), s.unit.type(args[1])
    items = [args[1]]
    if isinstance(key, t.Tuple):
        items = list(s.unit.elements(args[1]) or (
            s.item(args[1], Const(i), origin) for i in range(len(key.items))))
    bounds = [one for item in items if (one := bounds_of(s.unit, item)) is not None]
    single = not isinstance(key, t.Tuple)
    dtype = None if len(bounds) != len(items) else dtype_of_grid(s.unit, bounds, single)
    if not isinstance(owner, t.Object) or dtype is None:
        return None
    vectors = []
    for start, stop, step in bounds:
        if isinstance(step, Const) and isinstance(step.value, complex):
            given = [start, stop, Const(int(abs(step.value))), Const(dtype)]
            vectors.append(s.call(Const(evenly_spaced), given, {}, origin, "points"))
        elif single:
            vectors.append(s.call(Const(np.arange), [start, stop, step], {}, origin, "points"))
        else:
            given = [start, stop, step, Const(dtype)]
            vectors.append(s.call(Const(stepped), given, {}, origin, "points"))
    if single:
        return vectors[0]
    if owner.cls is not OpenGrids:
        return s.call(Const(dense_grid), vectors, {}, origin, name)
    return s.pack(OPEN_GRID, crossing(s, vectors, origin), name, origin)


@folds(np.ix_)
def fold_crossing(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Vectors, some of which may carry a derivative, each along an axis of its own."""
    types = [s.unit.type(unstar(arg)) for arg in args]
    if kwargs or any(isinstance(arg, Star) for arg in args) or not any(map(t.may_vary, types)):
        return None
    vectors = []
    for arg, type_ in zip(args, types, strict=True):
        if isinstance(type_, t.List) and t.may_vary(type_):
            arg = s.call(Const(np.array), [arg], {}, origin, "vector")
        elif not t.may_vary(type_):
            arg = s.item(s.call(Const(np.ix_), [arg], {}, origin, "rows"), Const(0), origin, "row")
        type_ = s.unit.type(arg)
        if not isinstance(type_, t.Array) or type_.ndim != 1:
            return None
        vectors.append(arg)
    return s.pack("tuple", crossing(s, vectors, origin), name, origin)


def crossing(s: Operations, vectors: list[Atom], origin: Origin) -> tuple[Atom, ...]:
    """Write vectors as arrays of as many axes as there are vectors, each along its own."""
    every = range(len(vectors))
    return tuple(
        s.call(Const(np.expand_dims), [vector, Const(tuple(set(every) - {k}))], {}, origin, "axis")
        for k, vector in enumerate(vectors)
    )


def dtype_of_grid(
    unit: Unit, bounds: list[tuple[Atom, Atom, Atom]], single: bool
) -> np.dtype[Any] | None:
    """Return the dtype of the points of a grid, None if types do not tell it."""
    weights: list[list[Any]] = [] if single else [[0]]
    for atom in (atom for one in bounds for atom in one):
        if isinstance(atom, Const) and isinstance(atom.value, complex):
            weights.append([abs(atom.value)])
            continue
        type_ = unit.type(atom)
        if not isinstance(type_, t.Scalar):
            return None
        weights.append(weights_of(type_))
    dtype, *others = {np.result_type(*each) for each in product(*weights)}
    return None if others else dtype


def weights_of(type_: t.Type) -> list[Any]:
    """Return what a number or an array may count for in the dtype of the whole."""
    if isinstance(type_, t.Scalar):
        among = type_.among or ((type_.kind, type_.dtype),)
        return [WEAK[kind] if dtype is None else np.dtype(dtype) for kind, dtype in among]
    assert isinstance(type_, t.Array)
    return [np.dtype(type_.dtype)]
