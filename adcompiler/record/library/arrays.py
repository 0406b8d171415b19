"""Calls of NumPy's universal functions and of methods of arrays."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.ops.registry import REGISTRY
from adcompiler.record.entries import Elementwise, Gathered, Linear
from adcompiler.record.functions import HOOKS, hooked
from adcompiler.record.items import of_array, write
from adcompiler.record.library.derived import derived, plain, plain_in
from adcompiler.record.library.derived import of_ufunc as of_derived
from adcompiler.record.operators import NUMERIC, SIMPLE, enter, is_of_objects
from adcompiler.record.protocols import (
    defined_in_python, followed, is_derived, method_of, natively,
)
from adcompiler.record.single import recorded
from adcompiler.record.slopes import BINARY, UNARY
from adcompiler.record.tape import NUMBERS, RECORDING, Numeric, refused, refused_text
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

BY_OPERATOR: dict[Any, str] = {np.matmul: "matmul"}
"""Functions whose hooks are those of operators."""


def of_ufunc(function: np.ufunc, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a universal function."""
    if not kwargs and function in SLOPES and len(args) == function.nin and (
        SIMPLE.issuperset(map(type, args))
    ) and not any(map(is_of_objects, args)):
        return elementwise(function, args)
    given = kwargs.get("out")
    if given is not None and not isinstance(given, tuple):
        given = (given,)
    override = overriding((*args, *(given or ())))
    if override is not None:
        if given is not None:
            kwargs = {**kwargs, "out": given}
        result = HOOKS["call"](override[0], override[1], function, "__call__", *args,
                                       **kwargs)
        return result
    return without_override(function, args, kwargs)


def without_override(
    function: np.ufunc, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a universal function as NumPy does it, whatever classes say."""
    tape = RECORDING.tape
    out = kwargs.get("out")
    if out is None and len(args) > function.nin:
        args, kwargs = args[: function.nin], {**kwargs, "out": args[function.nin :]}
        out = kwargs["out"]
    if out is Ellipsis or (isinstance(out, tuple) and out[0] is Ellipsis):  # never a number
        found = HOOKS["call"](function, *args, **{**kwargs, "out": None})
        return found if isinstance(found, np.ndarray) else as_array(found)
    if isinstance(out, tuple) and all(each is None for each in out):
        kwargs, out = {**kwargs, "out": None}, None
    if out is None:
        kwargs.pop("out", None)
    if not any(map(tape.holds, args)) and out is None:
        return natively(function, *args, **kwargs)
    if any(map(is_derived, (*args, *(out if isinstance(out, tuple) else (out,))))):
        return of_derived(without_override, function, args, kwargs)
    if out is not None:
        return with_out(function, args, kwargs, out)
    if REGISTRY.inactive(function) is not None:
        return natively(function, *args, **kwargs)
    args = tuple(gathered(a) if isinstance(a, Sequence) and tape.holds(a) else a for a in args)
    if any(map(is_of_objects, args)):
        raise refused(
            f"`{function.__name__}` of an array of objects, of which one carries a derivative",
            "use an array of floats", "recording")
    if not kwargs and all(map(is_plain, args)):
        if function in BY_OPERATOR:
            return HOOKS[BY_OPERATOR[function]](*args)
        if function in SLOPES:
            return elementwise(function, args)
    if not REGISTRY.has_rules(function):
        raise refused(f"`{function.__name__}`, which has no rule", "register a rule for it",
                      "missing-rule")
    return recorded(function, args, kwargs)


SLOPES: dict[Any, Sequence[Callable[..., Any]]] = {
    **BINARY, **{function: (slope,) for function, slope in UNARY.items()}}


def elementwise(function: np.ufunc, args: tuple[Any, ...]) -> Any:
    """Call a function whose slopes are known, and record it where an argument is active."""
    r = function(*args)
    if any(map(RECORDING.tape.is_active, args)):
        enter(Elementwise(function, args, r, SLOPES[function]))
    return r


def is_plain(value: Any) -> bool:
    """Say whether a value is a number, or an array of NumPy's own class."""
    return type(value) is np.ndarray or (
        isinstance(value, NUMERIC) and not defined_in_python(value, NUMERIC))


def overriding(values: tuple[object, ...]) -> tuple[Any, Any] | None:
    """Return the ``__array_ufunc__`` in Python of an argument, and that; None if there is none."""
    for value in values:
        cls: Any = type(value)
        if cls is np.ndarray or cls.__flags__ & CLASS_KIND != OF_PYTHON:
            continue
        found = method_of(cls, "__array_ufunc__")
        if found is not None:
            return found, value
    return None


def with_out(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object], out: Any
) -> Any:
    """Call a function for a result that is written into an array: a result, then a write."""
    tape = RECORDING.tape
    target = out[0] if isinstance(out, tuple) else out
    if isinstance(out, tuple) and len(out) > 1:
        if any(map(tape.holds, args)) or any(tape.is_held(o) for o in out if o is not None):
            raise refused("several results by `out=`", "assign the results", "recording")
        return natively(function, *args, **kwargs)
    if not any(map(tape.holds, args)) and not tape.is_held(target):
        return natively(function, *args, **kwargs)
    rest = {k: v for k, v in kwargs.items() if k not in ("out", "where", "casting")}
    where: Any = kwargs.get("where", True)
    with np.errstate(all="ignore") if where is not True else nullcontext():
        result = HOOKS["call"](function, *args, **rest)
    if where is not True:
        chosen = np.broadcast_to(where, target.shape)
        result = of_array(broadcast(result, target.shape), chosen)
        write(target, chosen, result)
    else:
        write(target, ..., result)
    return target


def broadcast(value: object, shape: tuple[int, ...]) -> Any:
    """Return an array of the shape, recorded if it must be made."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return value
    return recorded(np.broadcast_to, (value, shape), {})


# -- arrays that are made --------------------------------------------------------------------------


@hooked
def gathered(value: object, dtype: type | None = None, **options: Any) -> Any:
    """Return the array of numbers and arrays in a container, recorded."""
    tape = RECORDING.tape
    value = listed(plain_in(value), dtype is not None and np.dtype(dtype).kind in "fc")
    if tape.texts and holds_text(value) and dtype is not None:
        raise refused_text("numbers read from text")
    result = natively(np.array, value, dtype, **options)
    if not tape.holds(value) or result.dtype.hasobject:
        return result
    if result.dtype.kind not in "fc":
        return result
    leaves: list[tuple[tuple[int, ...], Any]] = []
    skip = max(options.get("ndmin", 0) - depth_of(value), 0)
    find_leaves(value, (0,) * skip, leaves)
    for _, leaf in leaves:
        if isinstance(leaf, np.ndarray):
            tape.hold(leaf)
    enter(Gathered(leaves, result))
    return result


def depth_of(value: Any) -> int:
    """Return how many axes an array of a value has."""
    return int(np.ndim(value))


def holds_text(value: object) -> bool:
    """Say whether a list holds text."""
    if isinstance(value, list):
        return any(map(holds_text, value))
    return isinstance(value, (str, bytes))


def listed(value: object, numbers: bool = False) -> Any:
    """Return what C would iterate over as lists; what says how to be a number as ``numbers``."""
    if isinstance(value, (list, tuple)):
        return [listed(item, numbers) for item in value]
    if isinstance(value, (np.ndarray, *NUMBERS, int, str, bytes)) or value is None:
        return plain(value)
    like = followed(value, "__array__")
    if like is not None:
        return like(value)
    if numbers and followed(value, "__float__") is not None:
        return HOOKS["call"](float, value)
    found = HOOKS["iterate"](value)
    if found is value and not isinstance(value, Sequence):
        return value
    return [listed(item, numbers) for item in found]


def find_leaves(
    value: object, place: tuple[int, ...], leaves: list[tuple[tuple[int, ...], Any]]
) -> None:
    """Collect the active numbers and arrays of a container, with their places."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            find_leaves(item, (*place, i), leaves)
    elif RECORDING.tape.is_active(value):
        leaves.append((place, value))


@hooked
def copied(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array, recorded."""
    if type(array) is not np.ndarray:
        made = derived(copied(plain(array)), type(array), array)
        return made  # type: ignore[no-any-return]
    made = array.copy()
    if RECORDING.tape.is_active(array):
        enter(Linear("copy", array, made, lambda d: d, lambda g: g))
    return made


@hooked
def renewed(made: Any, number: Numeric) -> Any:
    """Return a number that was made of another one, recorded as equal to that."""
    if made is not number and isinstance(made, NUMBERS) and RECORDING.tape.is_active(number):
        if isinstance(number, np.ndarray):
            enter(Linear("item", number, made, lambda d: d.reshape(()),
                         lambda g: np.full(number.shape, g)))
        else:
            enter(Linear("number", number, made, lambda d: d, lambda g: g))
    return made


def as_array(
    value: Any, dtype: DTypeLike | None = None, *args: Any, copy: Any = "default",
    always: bool = False, own: Callable[..., Any] | None = None, subok: bool = False,
    **options: Any,
) -> Any:
    """Return what ``np.array``, with ``always``, or ``np.asarray`` gives, or ``own`` does."""
    own = own or (np.array if always else np.asarray)
    if copy != "default":
        options["copy"] = copy
    tape = RECORDING.tape
    if args or not tape.holds(value):
        if subok and always:
            options["subok"] = True
        return natively(own, value, dtype, *args, **options)
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray:
            return as_array_of_derived(value, dtype, subok, own, {**options, "always": always})
        result = own(value, dtype, **options)
        if is_of_objects(value) or is_of_objects(result) or result.dtype.kind not in "fc":
            return refuse_objects(value, result)
        if not tape.is_active_array(result):
            enter(converted(value, result))
        return result
    options.pop("copy", None)
    if isinstance(value, NUMBERS):
        result = np.array(value, dtype, **options)
        if result.dtype.kind in "fc":
            enter(Linear("array", value, result, lambda d: d, lambda g: g.reshape(())[()]))
        return result
    cls: Any = type(value)
    like = method_of(cls, "__array__")
    if like is not None:
        return as_array(HOOKS["call"](like, value), dtype, always=always, **options)
    if not isinstance(value, (list, tuple)):
        view = natively(np.asarray, value)
        if tape.is_active_array(view):  # it shows its memory
            return as_array(view, dtype, always=always, **options)
        if isinstance(value, collections.deque):
            value = list(value)
        elif HOOKS["iterate"](value) is value:
            raise refused(
                f"an array made of a `{cls.__name__}`, which carries a derivative",
                "make it of a list", "recording")
    return gathered(value, dtype, **options)


def as_array_of_derived(
    value: Any, dtype: DTypeLike | None, keeps: bool, own: Callable[..., Any],
    options: dict[str, Any],
) -> Any:
    """Return what ``own``, one of NumPy's, makes of an array of a derived class."""
    always = options["always"] and options.get("copy", True) is not False
    if keeps and not always and (dtype is None or np.dtype(dtype) == value.dtype):
        return value
    result = as_array(plain(value), dtype, own=own, **options)
    return derived(result, type(value), value) if keeps else result


def refuse_objects(value: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Return the result of a conversion from or to objects or integers, or refuse it."""
    if result.dtype.kind in "iub":
        return result
    if is_of_objects(result) and not is_of_objects(value):
        raise refused("an array of objects made of one that carries a derivative",
                      "keep an array of floats", "recording")
    if is_of_objects(value) and result.dtype.kind in "fc":
        leaves = [(place, value[place]) for place in np.ndindex(value.shape)]
        enter(Gathered([p for p in leaves if RECORDING.tape.is_active(p[1])], result))
    return result


def converted(value: np.ndarray, result: np.ndarray) -> Linear:
    """Return the entry of a conversion to another precision, shape or layout."""
    shape = value.shape
    return Linear("asarray", value, result, lambda d: d.reshape(result.shape).astype(
        result.dtype), lambda g: g.reshape(shape))


HOOKS["as_array"] = as_array
