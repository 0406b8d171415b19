"""Types of live values, and stand-in values of types: how call results are typed by trying.

A pure function is called on stand-ins of two sizes; where kind, dtype and ndim agree they are the
result's type. No table of result types is needed, and none can go out of date.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import types as python_types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ops.facts import Undecided, Untyped
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import as_cotangent, as_gradient, as_tangent, project
from adcompiler.runtime.reading import RAISED, attempted, unless_it_raises
from adcompiler.runtime.records import dict_of, is_record_class, state_of
from adcompiler.runtime.tables import is_table
from adcompiler.support.budget import quiet
from adcompiler.typed.derivatives import is_derivative

STATIC_CLASSES = (
    python_types.ModuleType, python_types.FunctionType, python_types.BuiltinFunctionType,
    python_types.MethodType, type, np.ufunc, np.dtype, functools.partial, type(Ellipsis),
    type(NotImplemented), python_types.GenericAlias,
    type(np.ndarray.sum), type(np.ndarray.T),
    type(str.join), type(list.__setitem__), type("".__len__), type(np.sum),
    type(functools.lru_cache(lambda: 0)),
    type(np._NoValue),
    np.vectorize, operator.itemgetter, operator.attrgetter, operator.methodcaller,
)
SIZES = ((3, 4), (12, 24))
"""Extents of stand-ins; the larger ones where functions refuse the small, as a split in five."""
MAX_FIELDS = 64


def is_drawing(value: Callable[..., Any]) -> bool:
    """Say whether a value is of the class of NumPy's functions of random numbers.

    They are imported when somebody first asks for them: until then there are none.
    """
    return "numpy.random" in sys.modules and isinstance(value, type(np.random.default_rng))


def is_foreign(cls: type) -> bool:
    """Say whether operators of an array class mean something else than those of arrays.

    ``numpy.ma`` takes long to import: a value can be of its class only where somebody else did.
    """
    return issubclass(cls, np.matrix) or (
        "numpy.ma" in sys.modules and issubclass(cls, np.ma.MaskedArray))


def by_numba_vectorize(value: Callable[..., Any]) -> bool:
    """Say whether a value is made by ``numba.vectorize``; nothing is imported for that."""
    return type_name(value) == "numba.np.ufunc.dufunc.DUFunc"


def is_made_elsewhere(value: Callable[..., Any]) -> bool:
    """Say whether a value is a function of a class of another package, such as ``numba.njit``'s."""
    return str(type(value).__module__).startswith("_cython_") or type_name(value) in (
        "uarray._Function",  # those of scipy.fft
        "numba.np.ufunc.dufunc.DUFunc", "numba.core.registry.CPUDispatcher",
    )


def type_name(value: Callable[..., Any]) -> str:
    """Return the full name of the class of a value."""
    cls = type(value)
    return f"{cls.__module__}.{cls.__name__}"


def type_of(value: Any, depth: int = 0, inside: tuple[int, ...] = ()) -> t.Type:
    """Return the type of a live value, as code is specialised on it.

    ``inside`` holds the identities of the instances around it, which are not looked into again.
    Reading an object that is somebody else's may raise anything: its type is not known then.
    """
    try:
        plain = _PLAIN.get(type(value))
        return _type_read(value, depth, inside) if plain is None else plain
    except RecursionError:
        raise
    except Exception:
        return t.UNKNOWN


def _type_read(value: Any, depth: int, inside: tuple[int, ...]) -> t.Type:
    """As ``type_of``, by reading what the value holds."""
    cls: Any = type(value)
    if cls is InstanceStandIn:
        stood_for: t.Type = value.type
        return stood_for
    if cls is np.ndarray:
        plain_dtype = value.dtype.isnative and value.dtype.kind not in "SUV"
        return t.Array(value.dtype.name, value.ndim) if plain_dtype else t.UNKNOWN
    if isinstance(value, np.generic):
        kind = t.kind_of_dtype(value.dtype)
        return t.UNKNOWN if kind == "other" else t.Scalar(kind, value.dtype.name)
    if value is None or isinstance(value, STATIC_CLASSES) or is_drawing(value) or (
        is_derivative(value) or is_made_elsewhere(value) or type(value).__name__ == "fortran"
    ):
        return t.Static(value)
    if depth > 8 or id(value) in inside:
        return t.UNKNOWN
    depth += 1
    if isinstance(value, tuple):
        return t.Tuple(tuple(type_of(item, depth, inside) for item in value), cls)
    if cls is list:
        items = tuple(type_of(i, depth, inside) for i in value[: MAX_FIELDS + 1])
        if len(items) > MAX_FIELDS:
            return t.List(joined(type_of(i, depth, inside) for i in value))
        return t.List(joined(items), items if are_told_apart(items) else ())
    if cls is dict:
        if all(isinstance(key, (str, int)) for key in value) and len(value) <= MAX_FIELDS:
            values = tuple(type_of(item, depth, inside) for item in value.values())
            return t.Dict(tuple(value), values)
        return t.Dict(None, (joined(type_of(i, depth, inside) for i in value.values()),))
    if REGISTRY.has_methods(value):
        twin = REGISTRY.twin(value)
        return t.Static(value if twin is None else twin)
    if isinstance(value, (np.ndarray, float, complex, list, dict)) or is_table(cls):
        return t.Object(cls, ())  # what else it holds may not make it a constant
    fields = state_of(value) if is_record_class(cls) else dict_of(value)
    inside = (*inside, id(value))
    return t.Object(cls, tuple(
        (name, type_of(item, depth, inside)) for name, item in list(fields.items())[:MAX_FIELDS]
    ))


DATA = (t.Scalar, t.Array, t.Tuple, t.List, t.Dict)
MAX_MIXED = 16
"""The longest lists of which code is compiled for the items that they have."""


def are_told_apart(items: tuple[t.Type, ...]) -> bool:
    """Say whether what is called of the items of a list depends on which of them it is.

    Or nothing could be said of an item: they are arrays of several numbers of axes, say.
    """
    if any(map(t.has_functions_inside, items)) or are_mixed(items):
        return True
    classes = {item.cls for item in items if isinstance(item, t.Object)}
    return len(classes) > 1


def are_mixed(items: tuple[t.Type, ...]) -> bool:
    """Say whether a few arrays, or containers of data, are of known types with none in common."""
    return (
        len(items) <= MAX_MIXED and all(isinstance(item, DATA) for item in items)
        and not all(isinstance(item, t.Scalar) for item in items)
        and isinstance(joined(items), t.Unknown)
    )


def with_options(type_: t.Type, value: Any, classes: tuple[type, ...]) -> t.Type:
    """Return the type of ``value`` with the values of options in it: what is of ``classes``."""
    if type(value) in classes:
        return t.Static(value)
    match type_:
        case t.Tuple(items, cls):
            parts = zip(items, value, strict=True)
            return t.Tuple(tuple(with_options(*part, classes) for part in parts), cls)
        case t.Dict(keys, items) if keys is not None:
            parts = zip(items, value.values(), strict=True)
            return t.Dict(keys, tuple(with_options(*part, classes) for part in parts))
        case t.Object(cls, fields) if fields and is_record_class(cls):
            state = state_of(value)
            return t.Object(cls, tuple(
                (name, with_options(field, state[name], classes)) for name, field in fields
            ))
    return type_


def is_of_type(value: Any, type_: t.Type) -> bool:
    """Say whether a value is of a type, in which the values of options may be given."""
    match type_:
        case t.Static(wanted) if type(wanted) in t.OPTIONS:
            return t.same_static(wanted, value)
        case t.Tuple(items, cls):
            parts: Any = value
            return type(value) is cls and len(items) == len(parts) and all(
                map(is_of_type, parts, items)
            )
        case t.Dict(keys, items) if keys is not None:
            return type(value) is dict and tuple(value) == keys and all(
                map(is_of_type, value.values(), items)
            )
        case t.Object(cls, fields) if fields and is_record_class(cls):
            state = state_of(value) if type(value) is cls else {}
            return tuple(state)[:MAX_FIELDS] == tuple(name for name, _ in fields) and all(
                is_of_type(state[name], field) for name, field in fields
            )
    return type_of(value) == type_


def has_options(type_: t.Type) -> bool:
    """Say whether the values of options are given in a type."""
    match type_:
        case t.Static(value):
            return type(value) in t.OPTIONS
        case t.Tuple(items) | t.Dict(_, items):
            return any(map(has_options, items))
        case t.Object(_, fields):
            return any(has_options(field) for _, field in fields)
    return False


def foreign_array(type_: t.Type) -> type | None:
    """Return the foreign class of arrays that a value is of, or holds in a container."""
    match type_:
        case t.Object(cls):
            return cls if is_foreign(cls) else None
        case t.Tuple(items) | t.Dict(_, items):
            return next((found for item in items if (found := foreign_array(item))), None)
        case t.List(item):
            return foreign_array(item)
    return None


def joined(types: Iterable[t.Type]) -> t.Type:
    """Return the join of all of ``types``."""
    found: t.Type = t.BOTTOM
    for type_ in types:
        found = t.join(found, type_)
    return found


_PLAIN: dict[type, t.Type] = {
    bool: t.BOOL, int: t.INT, float: t.FLOAT, complex: t.COMPLEX, str: t.TEXT, range: t.RANGE,
    slice: t.SLICE, Untyped: t.UNKNOWN,
}


def type_of_static(value: Any) -> t.Type:
    """Return the type of a value that the compiler itself knows."""
    if isinstance(value, slice):
        return t.SLICE
    return type_of(value)


@unless_it_raises(False)
def simple(value: Any) -> bool:
    """Say whether a compile-time value is a plain literal, whose copies are all alike."""
    if isinstance(value, (tuple, slice)):
        parts = value if isinstance(value, tuple) else (value.start, value.stop, value.step)
        return all(map(simple, parts))
    return value is None or value is Ellipsis or type(value) in (int, bool, str, float)


class CannotStandInError(Exception):
    """No stand-in value exists for a type."""


class InstanceStandIn:
    """Stands for an instance of any class; nothing can be done with it but hand it on."""

    __slots__ = ("type",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, type_: t.Type) -> None:
        self.type = type_

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise CannotStandInError(str(self.type))

    __bool__ = __eq__ = __ne__ = __len__ = __getitem__ = __iter__ = __array__ = __str__ = _refuse
    __repr__ = __format__ = _refuse


def stand_in(type_: t.Type, n: int) -> Any:
    """Return a value of ``type_`` with arrays of extent ``n``; raise if there is none."""
    match type_:
        case t.Scalar(kind, dtype):
            value = {"bool": True, "int": 1, "float": 0.5, "complex": 0.5 + 0.25j}[kind]
            return value if dtype is None else np.dtype(dtype).type(value)
        case t.Array(dtype, ndim):
            if type_.kind == "other":
                raise CannotStandInError(str(type_))
            if ndim == 0:
                return np.asarray(stand_in(t.Scalar(type_.kind), n), dtype)
            if ndim == 1:
                return (slope(n) if type_.kind == "float" else np.ones(n)).astype(dtype)
            matrix = definite(n) * 4.0 if type_.kind in ("int", "bool") else definite(n)
            try:
                return repeated(matrix, n, ndim).astype(dtype)
            except MemoryError as error:
                raise CannotStandInError(str(type_)) from error
        case t.Text():
            return "a"
        case t.Tuple(items, cls):
            values = [stand_in(item, n) for item in items]
            return tuple(values) if cls is tuple else made_by(cls, *values)
        case t.List(item):
            return [stand_in(item, n) for _ in range(n)] if item != t.BOTTOM else []
        case t.Dict(keys, items) if keys is not None:
            return dict(zip(keys, (stand_in(item, n) for item in items), strict=True))
        case t.Range():
            return range(n)
        case t.SliceType():
            return slice(None)
        case t.Static(value):
            return value
        case t.Object(cls):
            if str(cls.__module__).startswith("scipy.sparse.") and hasattr(cls, "tocsr"):
                return sparse_stand_in(type_, n)
            return InstanceStandIn(type_)
    raise CannotStandInError(str(type_))


def repeated(array: np.ndarray, n: int, ndim: int) -> np.ndarray:
    """Return an array along axes of extent ``n``; raise if these are dozens."""
    try:
        return np.broadcast_to(array, (n,) * ndim)
    except ValueError as error:
        raise CannotStandInError(f"{ndim} axes") from error


@functools.cache
def slope(n: int) -> np.ndarray:
    """Return a vector of floats, of which stand-ins are copies."""
    return np.linspace(0.25, 0.75, n)


@functools.cache
def definite(n: int) -> np.ndarray:
    """Return a positive definite matrix: no factorisation refuses it."""
    return 0.25 + 0.5 * np.eye(n)


def sparse_stand_in(type_: t.Object, n: int) -> Any:
    """Return a square array of SciPy's sparse class, with elements of the dtype of its data."""
    data = type_.field("data")
    if not isinstance(data, t.Array):
        raise CannotStandInError(str(type_))
    return made_by(type_.cls, stand_in(t.Array(data.dtype, 2), n))


def made_by(cls: type, *values: Any) -> Any:
    """Return a stand-in that a class of a library or of the program makes of others."""
    made = attempted(cls, *values)
    if made is RAISED:
        raise CannotStandInError(cls.__name__)
    return made


def on_stand_ins(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what is called on stand-ins to type the results of ``function``."""
    with contextlib.suppress(TypeError):  # not hashable
        return TYPED_AS.get(function) or REGISTRY.facts(function).typed_as or function
    return function


def try_types(
    function: Callable[..., Any], arguments: Callable[[int], tuple[tuple[Any, ...], dict[str, Any]]]
) -> t.Type:
    """Return the type of ``function``'s result on stand-ins; unknown where sizes disagree.

    ``arguments`` gives positional and keyword stand-ins for an extent.
    """
    tried = on_stand_ins(function)
    with quiet(), np.errstate(all="ignore"):
        for sizes in SIZES:
            found: list[t.Type] = []
            for n in sizes:
                try:
                    args, kwargs = arguments(n)
                except CannotStandInError:
                    return t.UNKNOWN
                result = attempted(tried, *args, **kwargs)
                if result is RAISED:
                    break
                found.append(type_of(result))
            else:
                return found[0] if found[0] == found[1] else t.UNKNOWN
    return t.UNKNOWN


@functools.lru_cache(maxsize=4096)
def type_of_arithmetic(function: Callable[..., Any], *operands: t.Type) -> t.Type:
    """Return the type of ``function`` of numbers and arrays; unknown if one is something else."""
    if not all(isinstance(type_, (t.Scalar, t.Array)) for type_ in operands):
        return t.UNKNOWN
    return try_types(function, lambda n: (tuple(stand_in(type_, n) for type_ in operands), {}))


# -- functions that are typed by calling another ---------------------------------------------------


def _in_form_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the runtime that looks into instances, which stand-ins do not allow."""

    def typed(g: Any, x: Any) -> Any:
        if holds_instance(g) or holds_instance(x):
            raise Undecided
        return function(g, x)

    return typed


def holds_instance(value: Any) -> bool:
    """Say whether a stand-in is that of an instance, or a container of some."""
    if isinstance(value, (tuple, list)):
        return any(map(holds_instance, value))
    if isinstance(value, dict):
        return any(map(holds_instance, value.values()))
    return isinstance(value, InstanceStandIn)


TYPED_AS: dict[Any, Callable[..., Any]] = {
    f: _in_form_of(f) for f in (as_cotangent, as_gradient, as_tangent, project)
}
"""What is called on stand-ins in place of functions of the runtime, which refuse these."""
