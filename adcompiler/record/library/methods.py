"""Calls of methods of arrays, and of methods of NumPy's universal functions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.entries import Linear
from adcompiler.record.functions import HOOKS
from adcompiler.record.items import kept_index, of_array, position, write
from adcompiler.record.library.arrays import (
    converted, copied, of_ufunc, overriding, refuse_objects, renewed,
    without_override,
)
from adcompiler.record.library.derived import derived, holds_derived, plain, plain_in, through
from adcompiler.record.library.outputs import into, is_recorded, without_out
from adcompiler.record.operators import NUMERIC, enter, is_of_objects, note_text
from adcompiler.record.protocols import natively
from adcompiler.record.single import recorded
from adcompiler.record.tape import RECORDING, Numeric, refused, refused_text


def of_array_method(
    function: Callable[..., Any], array: Any, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a method of an array, or of a number of NumPy."""
    name, tape = function.__name__, RECORDING.tape
    special = METHODS.get(name)
    if special is not None and isinstance(array, np.ndarray):
        return special(array, *args, **kwargs)
    descriptor = getattr(np.ndarray if isinstance(array, np.ndarray) else type(array), name)
    inputs, named, out = without_out(descriptor, (array, *args), kwargs)
    if is_recorded(inputs, named, out):
        return into(out, HOOKS["call"](function, *inputs[1:], **named))
    is_inert = name in INERT_METHODS or REGISTRY.inactive(
        getattr(np.ndarray, name, descriptor)) is not None
    if not is_inert and name not in TEXT_METHODS and holds_derived((array, *args)) and any(
        map(tape.holds, (array, *args, *kwargs.values()))
    ):
        return through(getattr(np.ndarray, name), (array, *args), kwargs)
    given = (array, *args, *kwargs.values())
    if not any(map(tape.holds, given)):
        if tape.texts and name == "astype" and array.dtype.kind in "USV":
            raise refused_text("numbers read from text")
        return natively(function, *args, **kwargs)
    if is_of_objects(array):
        if name in ("copy", "reshape", "ravel", "flatten", "transpose", "squeeze", "tolist",
                    "item", "swapaxes", "view", "repeat", "take", "astype"):
            return refuse_objects(array, function(*args, **kwargs)) if name == "astype" else (
                function(*args, **kwargs))
        raise refused(f"`.{name}` of an array of objects, of which one carries a derivative",
                      "use an array of floats", "recording")
    if isinstance(array, np.generic) and name in (
            "item", "astype", "copy", "__copy__", "__deepcopy__", "real"):
        return renewed(function(*args, **kwargs), array)
    if name == "view" and not isinstance(array, np.ndarray):
        made = viewed(HOOKS["as_array"](array), *args, **kwargs)
        return made if type(made) is not np.ndarray else of_array(made, ())
    if name in TEXT_METHODS:
        note_text(array)
        return function(*args, **kwargs)
    if is_inert:
        return natively(function, *args, **kwargs)
    if isinstance(array, np.ndarray):
        result = view_of(function, name, args, kwargs)
        if result is not None:
            return result
    if not REGISTRY.has_rules(descriptor) and isinstance(array, np.generic):
        plain = getattr(np, name, None)
        descriptor = plain if plain is not None and REGISTRY.has_rules(plain) else descriptor
    if not REGISTRY.has_rules(descriptor):
        raise refused(f"`.{name}` of a value that carries a derivative", "use a function of NumPy",
                      "missing-rule")
    own = OWN.get(name)
    if own is not None and isinstance(array, np.ndarray) and len(args) <= 1:
        result = own(array, *args, **kwargs)
        if result is not None:
            return result
    return recorded(descriptor, (array, *args), kwargs)


VIEWS = frozenset({
    "reshape", "ravel", "transpose", "swapaxes", "squeeze", "view", "diagonal", "astype",
    "__array__", "newbyteorder",
})
"""Methods whose results may be views: of these nothing is recorded."""


def view_of(
    function: Any, name: str, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Return a view of an active array, or a copy that is laid out anew; None for other methods."""
    if name not in VIEWS:
        return None
    array: np.ndarray = function.__self__
    result = natively(function, *args, **kwargs)
    tape = RECORDING.tape
    if not isinstance(result, np.ndarray) or (
        tape.is_active_array(result) and result.dtype.kind in "fc"
    ):
        return result
    if name == "view" or result.dtype.hasobject:
        raise refused(f"`.{name}` of floats that carry a derivative as {result.dtype}",
                      "keep an array of floats", "disguised-numbers")
    if result.dtype.kind not in "fc":
        tape.texts = tape.texts or result.dtype.kind in "USV"
        return result
    if name == "astype":
        enter(converted(array, result))
        return result
    return recorded(getattr(np.ndarray, name), (array, *args), kwargs, lambda: result)


def viewed(array: np.ndarray, *args: Any, **kwargs: Any) -> Any:
    """Return a view of an array: as numbers of other types, or as an array of a class."""
    names = dict(zip(("dtype", "type"), args, strict=False)) | kwargs
    dtype, cls = names.get("dtype"), names.get("type", type(array))
    if isinstance(dtype, type) and issubclass(dtype, np.ndarray):
        dtype, cls = None, dtype
    result = plain(array).view() if dtype is None else plain(array).view(dtype)
    if dtype is not None and RECORDING.tape.is_active(array):
        result = view_of(plain(array).view, "view", (dtype,), {})
    return derived(result, cls, array)


def array_ufunc(
    array: np.ndarray, function: np.ufunc, method: str, *args: Any, **kwargs: Any
) -> Any:
    """Do what ``ndarray.__array_ufunc__`` does: call the function, if nothing overrides it."""
    given = kwargs.get("out", ())
    if overriding((*args, *(given if isinstance(given, tuple) else (given,)))) is not None:
        return NotImplemented
    if method == "__call__":
        return without_override(function, args, kwargs)
    return ufunc_method(method, function, args, kwargs)


def array_function(
    array: np.ndarray, function: Any, types: Iterable[type], args: tuple[object, ...],
    kwargs: dict[str, object],
) -> Any:
    """Do what ``ndarray.__array_function__`` does: call the implementation."""
    if not all(issubclass(cls, np.ndarray) for cls in types):
        return NotImplemented
    return HOOKS["call"](function._implementation, *args, **kwargs)


def array_wrap(
    array: np.ndarray, made: Any, context: object = None, return_scalar: bool = False
) -> Any:
    """Do what ``ndarray.__array_wrap__`` does."""
    if type(array) is np.ndarray:
        return made[()] if return_scalar and np.ndim(made) == 0 else made
    return derived(plain(made), type(array), array)


def tolist(array: np.ndarray) -> Any:
    """Return the numbers of an array in lists, recorded."""
    array = plain(array)
    if not RECORDING.tape.is_active(array) or is_of_objects(array):
        return array.tolist()
    if array.ndim == 0:
        return renewed(array.item(), array)
    return [tolist(item) if isinstance(item, np.ndarray) else renewed(item.item(), item)
            for item in (of_array(array, i) for i in range(len(array)))]


def item(array: np.ndarray, *index: Any) -> Any:
    """Return one element of an array as a number of Python, recorded."""
    array = plain(array)
    if not RECORDING.tape.is_active(array) or is_of_objects(array):
        return array.item(*index)
    made = array.item(*index)
    place = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    if len(place) == 1 and array.ndim != 1:
        place = np.unravel_index(place[0], array.shape)
    if not place:
        place = (0,) * array.ndim
    number = of_array(array, tuple(map(int, place)))
    return renewed(made, number)


def fill(array: np.ndarray, value: object) -> None:
    """Fill an array."""
    write(array, ..., value)


def ordered(name: str) -> Callable[..., Any]:
    """Return what sorts an array in place, as a function of that name sorts a copy."""

    def method(array: np.ndarray, *args: Any, **kwargs: Any) -> None:
        array = plain(array)
        if not RECORDING.tape.is_held(array):
            getattr(array, name)(*args, **kwargs)
        else:
            write(array, ..., HOOKS["call"](getattr(np, name), copied(array), *args, **kwargs))

    return method


Axis = int | tuple[int, ...] | None


def total(array: np.ndarray, axis: Any = None, **kwargs: Any) -> Any:
    """Return the sum of an array's elements, recorded; None for calls that have their rule."""
    if kwargs or array.dtype.kind not in "fc" or not is_axis(axis):
        return None
    made = array.sum(axis)
    enter(Linear("sum", array, made, lambda d: d.sum(axis), lambda g: spread(g, axis, array)))
    return made


def is_axis(axis: object) -> bool:
    """Say whether a value is an axis, or several, or none."""
    return axis is None or type(axis) is int or (
        type(axis) is tuple and all(type(one) is int for one in axis))


def spread(g: Numeric, axis: Axis, array: np.ndarray) -> np.ndarray:
    """Return a cotangent with the axes that a sum has removed."""
    if axis is not None and isinstance(g, np.ndarray):
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, array.shape)


def average(array: np.ndarray, axis: Any = None, **kwargs: Any) -> Any:
    """Return the mean of an array's elements, recorded; None for calls that have their rule."""
    if array.dtype.itemsize < 8 or not array.size:
        return None
    made = total(array, axis, **kwargs)
    return None if made is None else HOOKS["truediv"](made, array.size / max(np.size(made), 1))


def put(
    array: np.ndarray, indices: Any, values: Any, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> None:
    """Replace elements by their places in the order of rows."""
    array, values = plain(array), plain_in(values)
    if not RECORDING.tape.is_held(array) and not RECORDING.tape.holds(values):
        array.put(indices, values, mode)
        return
    places = np.take(np.arange(array.size), indices, mode=mode).ravel()
    given = HOOKS["call"](np.asarray, values)
    given = HOOKS["call"](np.resize, given, places.shape)
    write(array, np.unravel_index(places, array.shape), given)


def deep_copied(array: np.ndarray, memo: dict[int, object]) -> Any:
    """Return a copy of an array, and of the objects in it."""
    made: Any = copied(array)
    if made.dtype.hasobject:
        for place in np.ndindex(made.shape):
            made[place] = HOOKS["call"](copy.deepcopy, made[place], memo)
    return made


def changed(name: str) -> Callable[..., Any]:
    """Return what calls a method that changes an array, of which no entry may know."""

    def method(array: np.ndarray, *args: Any, **kwargs: Any) -> Any:
        if RECORDING.tape.is_held(array) or any(map(RECORDING.tape.holds, args)):
            raise refused(f"`.{name}` of an array that is read already", "assign items instead",
                          "recording")
        return getattr(array, name)(*args, **kwargs)

    return method


METHODS: dict[str, Callable[..., Any]] = {
    "view": viewed, "__array_ufunc__": array_ufunc, "__array_function__": array_function,
    "__array_wrap__": array_wrap, "__array_finalize__": lambda *_: None,
    "__copy__": copied, "__deepcopy__": deep_copied, "tolist": tolist, "item": item, "fill": fill,
    "sort": ordered("sort"), "partition": ordered("partition"), "put": put,
    **{name: changed(name) for name in ("resize", "itemset", "setfield", "byteswap")},
    "__getitem__": lambda a, i: of_array(a, position(i)),
    "__setitem__": lambda a, i, v: write(a, i, v),
}
OWN = {"sum": total, "mean": average}
INERT_METHODS = frozenset({
    "setflags", "__len__", "__bool__", "is_integer", "__index__", "__int__", "__hash__",
    "__contains__", "__array_namespace__",
})
TEXT_METHODS = frozenset({
    "tobytes", "tofile", "dump", "dumps", "hex", "__str__", "__repr__", "__format__",
    "as_integer_ratio", "__reduce__", "__reduce_ex__",
})


def added_at(array: np.ndarray, index: int, values: Any) -> np.ndarray:
    """Return an array after values were added to elements of it."""
    np.add.at(array, index, values)
    return array


def multiply_at(function: np.ufunc, args: tuple[Any, ...]) -> Any:
    """Do ``ufunc.at``."""
    args = tuple(map(plain, args))
    array, index = args[0], args[1]
    tape = RECORDING.tape
    if function is np.add and len(args) == 3 and (tape.holds(args) or tape.is_held(array)):
        index, values = kept_index(index), args[2]
        if not isinstance(values, (np.ndarray, *NUMERIC)):
            values = HOOKS["gathered"](values)
        made = added_at(array.copy(), index, values)
        part = added_at(np.zeros_like(array), index, values)
        if tape.is_active(values):
            enter(Linear("add.at", values, part, lambda d: added_at(np.zeros_like(part), index, d),
                         lambda g: g[index]))
        total = HOOKS["add"](array, part)
        np.copyto(total, made)  # in which each element is rounded as Python does it
        write(array, ..., total)
        return None
    if not tape.holds(args) and not tape.is_held(array):
        return function.at(*args)
    every = np.arange(array.size).reshape(array.shape)[plain_in(index)]
    places = np.unravel_index(every.ravel(), array.shape)
    function.at(array.copy(), *args[1:])  # which raises what it raises before anything is written
    operands = [HOOKS["call"](np.ravel, HOOKS["call"](np.broadcast_to, operand, every.shape))
                for operand in args[2:]]
    for k in range(every.size):
        one = tuple(axis[k : k + 1] for axis in places)
        parts = [of_array(operand, slice(k, k + 1)) for operand in operands]
        write(array, one, HOOKS["call"](function, of_array(array, one), *parts))
    return None


def ufunc_method(
    name: str, function: np.ufunc, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call ``np.add.reduce`` and the like."""
    if name == "__call__":
        return of_ufunc(function, args, kwargs)
    override = overriding(args)
    if override is not None:
        out = kwargs.get("out")
        if out is not None and not isinstance(out, tuple):
            kwargs = {**kwargs, "out": (out,)}
        return HOOKS["call"](override[0], override[1], function, name, *args, **kwargs)
    if name == "at":
        return multiply_at(function, args)
    tape = RECORDING.tape
    bound = getattr(function, name)
    plain, named, out = without_out(bound, args, kwargs)
    if is_recorded(plain, named, out):
        return into(out, ufunc_method(name, function, plain, named))
    if not tape.holds(args) and not tape.holds(kwargs):
        return natively(bound, *args, **kwargs)
    if holds_derived(args):
        return through(bound, args, {k: v for k, v in kwargs.items() if k != "out"})
    if REGISTRY.has_rules(bound):
        return recorded(bound, args, kwargs)
    other = {("add", "reduce"): np.sum, ("multiply", "reduce"): np.prod,
             ("maximum", "reduce"): np.max, ("minimum", "reduce"): np.min,
             ("add", "accumulate"): np.cumsum, ("multiply", "accumulate"): np.cumprod,
             ("multiply", "outer"): np.multiply.outer}.get((function.__name__, name))
    if other is not None and name != "outer":
        kwargs = dict(kwargs)
        if name == "reduce" and "axis" not in kwargs and len(args) < 2:
            kwargs["axis"] = 0
        return HOOKS["call"](other, *args, **kwargs)
    raise refused(f"`{display_name(bound)}`, which has no rule", "write a loop", "missing-rule")
