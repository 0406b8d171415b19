"""Calls whose result follows from types alone: evaluated when compiling, never emitted."""

from __future__ import annotations

import operator
import types as python_types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adcompiler.analyses.aliasing import IN_PLACE
from adcompiler.analyses.values import CannotStandInError, stand_in
from adcompiler.frontend.parser import _import_module
from adcompiler.frontend.replacements import listed
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Call, Const, Do, Origin, Var, unstar,
)
from adcompiler.runtime import check_bound, dict_of, project, same_length, unbroadcast, unpack
from adcompiler.runtime.shaping import like
from adcompiler.transforms.specialise import Specialiser, simple

Fold = Callable[[Specialiser, list[Any], dict[str, Atom], Origin, str], Atom | None]
FOLDS: dict[Any, Fold] = {}
COMPARISONS = frozenset({
    operator.eq, operator.ne, operator.contains, operator.is_, operator.is_not, operator.lt,
    operator.le, operator.gt, operator.ge, issubclass, isinstance, len, bool, str, repr,
})


def folds(*functions: Any) -> Callable[[Fold], Fold]:
    """Register a compile-time evaluation of calls of ``functions``."""

    def register(fold: Fold) -> Fold:
        for function in functions:
            FOLDS[function] = fold
        return fold

    return register


def class_of(s: Specialiser, atom: Atom) -> type | None:
    """Return the class of an atom's value, None if it is not known."""
    if isinstance(atom, Const):
        return type(atom.value)
    match s.unit.type(atom):
        case t.Scalar(kind, dtype):
            if dtype is not None:
                return np.dtype(dtype).type
            if atom in s.unit.merged and kind != "bool":
                return None
            return {"bool": bool, "int": int, "float": float, "complex": complex}[kind]
        case t.Array():
            return np.ndarray
        case t.Text():
            return str
        case t.Tuple(_, cls):
            return cls
        case t.List():
            return list
        case t.Dict():
            return dict
        case t.Range():
            return range
        case t.SliceType():
            return slice
        case t.Object(cls, _):
            return cls
        case t.Static(value):
            return type(value)
        case t.FunctionType():
            return python_types.FunctionType
    return None


def fold_constants(function: Any, args: list[Any], kwargs: Mapping[str, Atom]) -> Const | None:
    """Evaluate a pure call of plain constants; None if it cannot be, or raises."""
    values = [*args, *kwargs.values()]
    if not all(isinstance(value, Const) and value is not UNDEF for value in values):
        return None
    if any(isinstance(value.value, float) for value in values) and function not in COMPARISONS:
        return None
    plain = all(foldable(value.value) for value in values)
    if not plain and function not in COMPARISONS:
        return None
    try:
        result = function(*(a.value for a in args), **{k: a.value for k, a in kwargs.items()})
    except Exception:
        return None
    if isinstance(result, np.bool_):
        result = bool(result)
    return Const(result) if simple(result) or isinstance(result, (type, np.dtype)) else None


def foldable(value: Any) -> bool:
    """Say whether a constant is small and plain enough to compute with when compiling."""
    return simple(value) or isinstance(value, (type, np.dtype, frozenset))


@folds(_import_module)
def fold_import(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """``import module`` inside a function: the module is a compile-time value."""
    try:
        return Const(_import_module(*(arg.value for arg in args)))
    except ImportError as error:
        return s.reject(origin, str(error), "import a module that is installed", "imports")


@folds(isinstance)
def fold_isinstance(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    cls = class_of(s, args[0]) if len(args) == 2 else None
    wanted = static_classes(s, args[1]) if len(args) == 2 else None
    if cls is None or wanted is None:
        return None
    try:
        return Const(issubclass(cls, wanted))
    except TypeError:
        return None


def static_classes(s: Specialiser, atom: Atom) -> Any:
    """Return the class, union or tuple of classes that ``atom`` is known to be."""
    if isinstance(atom, Const):
        return atom.value
    elements = s.unit.elements(atom)
    if elements is None:
        return None
    parts = [static_classes(s, element) for element in elements]
    return None if any(part is None for part in parts) else tuple(parts)


@folds(type)
def fold_type(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    cls = class_of(s, args[0]) if len(args) == 1 else None
    return None if cls is None else Const(cls)


@folds(len)
def fold_len(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    elements = s.unit.elements(args[0])
    if elements is not None:
        return Const(len(elements))
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Tuple):
        return Const(len(type_.items))
    if isinstance(type_, t.Dict) and type_.keys is not None:
        return Const(len(type_.keys))
    if isinstance(type_, t.Unknown):
        return s.let(Call(Const(len), (args[0],)), t.INT, name, origin)
    return None


@folds(hasattr)
def fold_hasattr(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    if len(args) != 2 or not isinstance(args[1], Const):
        return None
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Object):
        return Const(type_.field(args[1].value) is not None or hasattr(type_.cls, args[1].value))
    try:
        return Const(hasattr(stand_in(type_, 3), args[1].value))
    except CannotStandInError:
        return None


@folds(getattr)
def fold_getattr(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    if len(args) < 2 or not isinstance(args[1], Const):
        return None
    if len(args) == 3:
        present = fold_hasattr(s, args[:2], {}, origin, name)
        if present is None:
            return None
        if not present.value:
            return args[2]
    return s.attribute(args[0], args[1].value, origin, name)


@folds(callable)
def fold_callable(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    if isinstance(args[0], Const):
        return Const(callable(args[0].value))
    type_ = s.unit.type(args[0])
    if isinstance(type_, (t.FunctionType, t.Method)):
        return Const(True)
    return Const(False) if isinstance(type_, (t.Scalar, t.Array, t.Text, t.Tuple)) else None


@folds(np.ndim)
def fold_ndim(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Array):
        return Const(type_.ndim)
    return Const(0) if isinstance(type_, t.Scalar) else None


@folds(np.shape)
def fold_shape(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Array):
        return s.attribute(args[0], "shape", origin, name)
    return Const(()) if isinstance(type_, t.Scalar) else None


@folds(np.size)
def fold_size(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    type_ = s.unit.type(args[0])
    if len(args) == 1 and isinstance(type_, t.Array):
        return s.attribute(args[0], "size", origin, name)
    return Const(1) if len(args) == 1 and isinstance(type_, t.Scalar) else None


@folds(np.iterable)
def fold_iterable(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    match s.unit.type(args[0]):
        case t.Array(_, ndim):
            return Const(ndim > 0)
        case t.Scalar():
            return Const(False)
        case t.Tuple() | t.List() | t.Dict() | t.Text() | t.Range():
            return Const(True)
    return None


def _real(s: Specialiser, args: list[Any], kwargs: dict[str, Atom]) -> bool:
    type_ = s.unit.type(args[0])
    return (
        len(args) == 1 and not kwargs and isinstance(type_, (t.Array, t.Scalar))
        and type_.kind in ("bool", "int", "float")
    )


@folds(np.conj, np.real)
def fold_conj(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """The conjugate and the real part of a real number are the number.

    Outside rules the result keeps its class: ``np.conj`` of a float is a NumPy scalar.
    """
    if not _real(s, args, kwargs):
        return None
    type_ = s.unit.type(args[0])
    same_class = isinstance(type_, t.Array) and type_.ndim > 0 and type_.kind == "float"
    rule = s.unit.active_calls[-1] if s.unit.active_calls else None
    own = getattr(rule, "function", None) in (np.conjugate, np.real)  # the primal of that rule
    return args[0] if same_class or (s.in_rule and not own) else None


@folds(np.iscomplexobj)
def fold_iscomplexobj(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Array) and type_.kind == "other":
        return None
    return Const(type_.kind == "complex") if isinstance(type_, (t.Array, t.Scalar)) else None


@folds(np.isrealobj)
def fold_isrealobj(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    found = fold_iscomplexobj(s, args, kwargs, origin, name)
    return None if found is None else Const(not found.value)


@folds(np.asarray, np.asanyarray, np.ascontiguousarray)
def fold_asarray(
    s: Specialiser, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """``asarray`` of an array of the wanted dtype returns that very array."""
    type_ = s.unit.type(args[0]) if args else t.UNKNOWN
    if not isinstance(type_, t.Array) or len(args) > 2 or type_.kind == "other":
        return None
    wanted = {**kwargs, **({"dtype": args[1]} if len(args) == 2 else {})}
    for key, value in wanted.items():
        if not isinstance(value, Const):
            return None
        if key == "dtype" and value.value is not None:
            try:
                if np.dtype(value.value) != np.dtype(type_.dtype):
                    return None
            except TypeError:
                return None
        elif value.value is not None:
            return None
    return args[0]


@folds(float)
def fold_float(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """``float`` of a Python float is the float itself."""
    if len(args) == 1 and isinstance(args[0], Var) and class_of(s, args[0]) is float:
        return args[0]
    return None


def _sequence(kind: str) -> Fold:
    def fold(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
        """A sequence of known elements is rebuilt from them."""
        made = s.unit.definition(args[0]) if len(args) == 1 else None
        if isinstance(made, Call) and isinstance(made.func, Const) and made.func.value in (
            zip, enumerate, dict.items
        ):
            items = s.call(Const(listed), args, {}, origin, name)
            return items if kind == "list" else s.call(Const(tuple), [items], {}, origin, name)
        elements = s.unit.elements(args[0]) if len(args) == 1 else ()
        if elements is None or kwargs:
            return None
        return s.pack(kind, elements, name, origin)

    return fold


FOLDS[tuple] = _sequence("tuple")
FOLDS[list] = _sequence("list")


@folds(dict)
def fold_dict(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """A dict of keywords, or of a dict with known keys, is a display."""
    entries: list[tuple[Atom, Atom]] = []
    if len(args) == 1:
        opened = opened_dict(s, args[0], origin)
        if opened is None:
            return None
        entries += opened
    entries += [(Const(key), value) for key, value in kwargs.items()]
    return s.pack_dict(entries, origin, name)


def opened_dict(s: Specialiser, table: Atom, origin: Origin) -> list[tuple[Atom, Atom]] | None:
    """Return the entries of a dict, None if its keys are not known."""
    type_ = s.unit.type(table)
    if not isinstance(type_, t.Dict) or type_.keys is None:
        return None
    return [(Const(k), s.item(table, Const(k), origin, str(k))) for k in type_.keys]


@folds(operator.or_)
def fold_or(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """``|`` of two dicts is a display of both."""
    if not any(isinstance(s.unit.type(arg), t.Dict) for arg in args):
        return None
    parts = [opened_dict(s, arg, origin) for arg in args]
    if None in parts:
        return s.reject(
            origin, "`|` of dicts whose keys are not known when compiling",
            "write the entries out", "star-arguments",
        )
    return s.pack_dict([entry for part in parts for entry in part or ()], origin, name)


@folds(reversed)
def fold_reversed(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    if isinstance(s.unit.type(args[0]), (t.Array, t.List, t.Tuple, t.Range)):
        return s.item(args[0], Const(slice(None, None, -1)), origin, name)
    return None


@folds(zip)
def fold_zip(
    s: Specialiser, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """``strict=True`` becomes a comparison of lengths where the iterator is made."""
    strict = kwargs.get("strict", Const(False))
    if not isinstance(strict, Const):
        return s.reject(
            origin, "zip() with `strict=` that is not known when compiling", "write strict=True or strict=False",
            "call-arguments",
        )
    if strict.value:
        made = [s.unit.definition(unstar(arg)) for arg in args]
        if any(isinstance(rhs, Call) and isinstance(rhs.func, Const)
               and rhs.func.value in (zip, enumerate, iter, map, filter) for rhs in made):
            return s.reject(
                origin, "zip() with `strict=True` of iterators, whose length is not known",
                "zip lists, or leave `strict=` away", "call-arguments",
            )
        s.out.append(Do(Call(Const(same_length), tuple(args)), origin))
    return s.let(Call(Const(zip), tuple(args)), t.UNKNOWN, name, origin)


@folds(enumerate)
def fold_enumerate(
    s: Specialiser, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """An iterator that the loop over it takes apart."""
    return s.let(Call(Const(enumerate), tuple(args), tuple(kwargs.items())), t.UNKNOWN, name, origin)


@folds(dict_of)
def fold_dict_of(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """The type of a dict comprehension: its keys are not known when compiling."""
    type_ = s.unit.type(args[1])
    item = type_.item if isinstance(type_, t.List) else t.UNKNOWN
    return s.let(Call(Const(dict_of), tuple(args)), t.Dict(None, (item,)), name, origin)


@folds(operator.is_)
def fold_is(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    left, right = args
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(left.value is right.value)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and not isinstance(
            s.unit.type(other), (t.Unknown, t.Static, t.Bottom)
        ) and not isinstance(one.value, bool):
            return Const(False)
    return None


@folds(operator.is_not)
def fold_is_not(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    same = fold_is(s, args, kwargs, origin, name)
    return None if same is None else Const(not same.value)


@folds(operator.not_)
def fold_not(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    truth = s.truth(args[0], origin)
    return Const(not truth.value) if isinstance(truth, Const) else None


@folds(unpack)
def fold_unpack(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    value, count, star = args[0], args[1].value, args[2].value
    elements = s.unit.elements(value)
    type_ = s.unit.type(value)
    if elements is None and isinstance(type_, t.Tuple):
        elements = tuple(s.item(value, Const(i), origin, "part") for i in range(len(type_.items)))
    if elements is None:
        item = s.item_type(type_)
        kinds: list[t.Type] = [item] * count
        if star >= 0:
            kinds[star] = t.List(item)
        parts = t.Tuple(tuple(kinds))
        made = s.let(Call(Const(unpack), tuple(args)), parts, name, origin)
        s.unit.opened[made] = count
        return made
    if (star < 0 and len(elements) != count) or len(elements) < count - 1:
        return s.let(Call(Const(unpack), tuple(args)), t.UNKNOWN, name, origin)
    if star >= 0:
        end = len(elements) - (count - star - 1)
        middle = s.pack("list", elements[star:end], "rest", origin)
        elements = (*elements[:star], middle, *elements[end:])
    return s.pack("tuple", elements, name, origin)


@folds(check_bound)
def fold_check_bound(
    s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str
) -> Any:
    """A variable that has a value wherever types tell needs no check; nor can None be told from it."""
    if args[0] in s.unit.unsure and not isinstance(s.unit.type(args[0]), t.Unknown):
        return None
    return None if args[0] is UNDEF else NONE


SIGNS: dict[Any, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.matmul: "@",
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.lshift: "<<",
    operator.rshift: ">>",
}
WRITTEN: dict[type, tuple[str, str]] = {
    t.Array: ("array", "array-writes"), t.List: ("list", "in-place-containers"),
    t.Dict: ("dict", "in-place-containers"),
}
"""What `op=` writes into, by type, and the section of docs/limitations.md about it."""


def _in_place(function: Any, plain: Any) -> Fold:
    def fold(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
        """``x op= y`` of an immutable value rebinds the name; of others it writes into them.

        Whether anything else sees the write is checked when the whole function is known.
        """
        type_ = s.unit.type(args[0])
        if isinstance(type_, (t.Scalar, t.Text, t.Tuple, t.Static, t.Range, t.Bottom)):
            return s.call(Const(plain), args, {}, origin, name)
        found = s.type_of_call(plain, args, {})
        fits = found == type_ or isinstance(found, t.Unknown) and not (
            isinstance(type_, t.Array) and type_.dtype not in ("float64", "complex128")
        )
        if isinstance(type_, t.Dict) or (isinstance(type_, (t.Array, t.List)) and not fits):
            return refuse_write(s, type_, plain, origin)
        return s.let(Call(Const(function), tuple(args)), found, name, origin)

    return fold


def refuse_write(s: Specialiser, type_: t.Type, plain: Any, origin: Origin) -> Atom:
    """Report an in-place operator that is not the same as making a new value."""
    kind, anchor = WRITTEN.get(type(type_), ("value", "array-writes"))
    sign = SIGNS[plain]
    return s.reject(
        origin, f"`{sign}=` writes into the {kind}, which is not supported yet",
        f"write x = x {sign} y, which makes a new one", anchor,
    )


for _function, _plain in IN_PLACE.items():
    FOLDS[_function] = _in_place(_function, _plain)


@folds(project)
def fold_project(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """What is left of ``project(g, x)`` given the types of a cotangent and its value."""
    g, x = args
    kind, other = s.unit.type(g), s.unit.type(x)
    if isinstance(other, t.Scalar) and isinstance(kind, (t.Scalar, t.Array)):
        return project_scalar(s, g, kind, other, origin, name)
    if isinstance(other, t.Array) and isinstance(kind, (t.Array, t.Scalar)):
        return project_array(s, g, x, kind, other, origin, name)
    return None


def project_scalar(
    s: Specialiser, g: Atom, kind: t.Type, other: t.Scalar, origin: Origin, name: str
) -> Atom | None:
    if isinstance(kind, t.Array):
        g = s.call(s.attribute(g, "sum", origin, "sum"), [], {}, origin, name)
        kind = s.unit.type(g)
    if not isinstance(kind, t.Scalar):
        return None
    if kind.kind == "complex" and other.kind != "complex":
        g = s.attribute(g, "real", origin, name)
        kind = s.unit.type(g)
    if isinstance(kind, t.Scalar) and isinstance(g, Var):
        if other.dtype is None and kind.dtype is not None:
            if other.kind != "complex":
                return s.call(Const(float), [g], {}, origin, name)
            return s.call(Const(complex), [g], {}, origin, name)
        if other.dtype in ("float32", "float16", "complex64") and kind.dtype != other.dtype:
            return s.call(Const(np.dtype(other.dtype).type), [g], {}, origin, name)
    return g


@folds(like)
def fold_like(s: Specialiser, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    """``like(g, x)`` is ``project`` for a cotangent that has the shape of ``x`` already."""
    g, x = args
    kind, other = s.unit.type(g), s.unit.type(x)
    if isinstance(other, t.Scalar) and isinstance(kind, (t.Scalar, t.Array)):
        return project_scalar(s, g, kind, other, origin, name)
    if isinstance(other, t.Array) and isinstance(kind, t.Array) and isinstance(g, Var):
        if kind.ndim == other.ndim:
            s.unit.shapes[g] = s.unit.shape_class(x)
            return project_array(s, g, x, kind, other, origin, name)
    elements = s.unit.elements(x)
    if elements and isinstance(other, (t.List, t.Tuple)) and isinstance(kind, t.Array) and kind.ndim:
        parts: list[Atom] = []
        for i, element in enumerate(elements):
            part = Const(None) if isinstance(element, Const) else s.call(
                Const(like), [s.item(g, Const(i), origin, "part"), element], {}, origin, "part")
            parts.append(part)
        return s.pack("list" if isinstance(other, t.List) else "tuple", tuple(parts), name, origin)
    return None


def project_array(
    s: Specialiser, g: Atom, x: Atom, kind: t.Type, other: t.Array, origin: Origin, name: str
) -> Atom:
    have, wanted = s.unit.shape_class(g), s.unit.shape_class(x)
    if isinstance(wanted, tuple) and wanted[:1] == ("reduced",) and wanted[1] == have:
        axes: Any = wanted[2] if len(wanted[2]) > 1 else wanted[2][0]
        method = s.attribute(g, "sum", origin, "sum")
        g = s.call(method, [], {"axis": Const(axes), "keepdims": Const(True)}, origin, name)
        kind = s.unit.type(g)
        if isinstance(g, Var):
            s.unit.shapes[g] = wanted
    elif isinstance(wanted, tuple) and wanted[:2] == ("suffix", have):
        leading: Any = 0 if wanted[2] == 1 else tuple(range(wanted[2]))
        method = s.attribute(g, "sum", origin, "sum")
        g = s.call(method, [], {"axis": Const(leading)}, origin, name)
        kind = s.unit.type(g)
        if isinstance(g, Var):
            s.unit.shapes[g] = wanted
    elif have != wanted or not isinstance(kind, t.Array):
        shape = s.attribute(x, "shape", origin, "shape")
        result_type = t.Array(getattr(kind, "dtype", None) or "float64", other.ndim)
        g = s.let(Call(Const(unbroadcast), (g, shape)), result_type, name, origin)
        s.unit.shapes[g] = s.unit.shape_class(x)
        kind = result_type
    if other.kind == "float" and kind.kind == "complex":
        g = s.attribute(g, "real", origin, name)
        kind = s.unit.type(g)  # type: ignore[assignment]
    if other.kind in ("float", "complex") and kind.dtype != other.dtype:
        shape_class = s.unit.shape_class(x)
        astype = s.attribute(g, "astype", origin, "astype")
        g = s.call(astype, [Const(np.dtype(other.dtype).type)], {}, origin, name)
        if isinstance(g, Var):
            s.unit.shapes[g] = shape_class
    return g
