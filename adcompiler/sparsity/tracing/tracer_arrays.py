"""Arrays of tracers: NumPy's own arrays of objects, with functions that know of tracers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.errors import MissingPrimalError
from adcompiler.ops.classify import DECLARED
from adcompiler.ops.registry import REGISTRY
from adcompiler.sparsity.dependences.values import Axis, DType, Dependent
from adcompiler.sparsity.interpreter.table import transfer_of
from adcompiler.sparsity.tracing.predicates import is_classified
from adcompiler.sparsity.tracing.tracers import (
    ARRAY_FUNCTION, ARRAY_UFUNC, OVERLOADS, Dual, Plain, Traced, Tracer, apply, blank, combined,
    primal, tracer,
)
from adcompiler.sparsity.transfers.stand_ins import stand_in

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array


class TracerArray(np.ndarray[Any, Any]):
    """An array of numbers and tracers.

    Views, indices and assignments are NumPy's. Elementwise functions and reductions go element by
    element; what has compiled code for numbers only (``np.linalg``) depends on everything.
    """

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Apply a ufunc, or one of its methods, to arrays of tracers."""
        return array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Iterable[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Call a NumPy function on arrays of tracers."""
        return array_function(func, tuple(args), dict(kwargs), super().__array_function__)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write numbers; one of an array without axes, not that array as an object."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        super().__setitem__(index, value)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a copy; as integers or bools it depends on nothing."""
        if np.dtype(dtype).kind in "fcO":
            return self.copy()
        return each(lambda x: without_derivative(np.dtype(dtype).type, x), self)

    @property  # type: ignore[misc]  # there is nothing to write into
    def real(self) -> Any:
        """The real part."""
        return array_ufunc(np.real, "__call__", (self,), {})

    @property  # type: ignore[misc]
    def imag(self) -> Any:
        """The imaginary part."""
        return array_ufunc(np.imag, "__call__", (self,), {})


def plain(value: Traced) -> Any:
    """Return an array as NumPy's own; lists, numbers and tracers as arrays of objects."""
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if isinstance(value, (list, tuple)):
        return np.array(value, object)
    found = np.empty((), object)
    found[()] = value
    return found


def made(values: Traced) -> Any:
    """Return an array of objects as an array of tracers; one without tracers as of numbers."""
    if not isinstance(values, np.ndarray):
        return values
    if values.dtype != object:
        return values
    if any(isinstance(value, np.ndarray) for value in values.flat):
        values = np.frompyfunc(unboxed, 1, 1)(values)
        if not isinstance(values, np.ndarray):
            return values
    if any(isinstance(value, Tracer) for value in values.flat):
        return values.view(TracerArray)
    return np.array(values.tolist()).reshape(values.shape) if values.size else values.astype(float)


def unboxed(value: Array) -> Any:
    """Return the number in an array without axes, which NumPy stores as an object in others."""
    while isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return value


def each(function: Callable[..., Any], *arrays: Any) -> Any:
    """Return what a function of numbers gives for each element."""
    return made(np.frompyfunc(function, len(arrays), 1)(*map(plain, arrays)))


def without_derivative(convert: Callable[[Traced], Traced], value: Traced) -> Any:
    """Return a number converted to one that carries no derivative."""
    known = tracer(value)
    if known is None or isinstance(value, Dual):
        return convert(primal(value))
    return blank(known)


# -- ufuncs ---------------------------------------------------------------------------------------


def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Apply a ufunc, or one of its methods, to arrays of tracers."""
    out = kwargs.pop("out", None)
    if method == "__call__" and not kwargs.keys() - {"dtype", "casting", "order", "subok"}:
        found = called(ufunc, inputs)
    elif method == "reduce" and kwargs.get("where", True) is True:
        found = reduced(ufunc, *inputs, **kwargs)
    elif method == "accumulate":
        found = accumulated(ufunc, *inputs, **kwargs)
    elif method == "at":
        array, indices, *rest = inputs
        return ufunc.at(plain(array), indices, *map(plain, rest))
    elif method == "outer":
        a, b = map(np.asanyarray, inputs)
        found = called(ufunc, (a.reshape(a.shape + (1,) * b.ndim), b))
    else:
        return NotImplemented
    if out is None:
        return found
    for target, values in zip(out, found if isinstance(found, tuple) else (found,), strict=True):
        if target is not None:
            target[...] = values
    return out[0] if len(out) == 1 else out




def called(ufunc: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Return what an elementwise function gives for each element."""
    if not any(isinstance(value, (np.ndarray, list, tuple)) for value in inputs):
        return apply(ufunc, *inputs)
    if getattr(ufunc, "signature", None) is not None:
        return made(ufunc(*map(plain, inputs)))
    if getattr(ufunc, "__name__", "") == "clip":
        x, low, high = inputs
        found = x if low is None else called(np.maximum, (x, low))
        return found if high is None else called(np.minimum, (found, high))
    outputs = getattr(ufunc, "nout", len(DECLARED.get(ufunc, "1")))
    elements = np.frompyfunc(functools.partial(apply, ufunc), len(inputs), outputs)
    found = elements(*map(plain, inputs))
    return tuple(map(made, found)) if outputs > 1 else made(found)


def reduced(
    ufunc: np.ufunc, array: Array, axis: Axis = 0, dtype: DType | None = None,
    keepdims: bool = False, initial: Any = np._NoValue, where: bool = True,
) -> Any:
    """Return the reduction of an array, the elements along the axes one after the other."""
    array = plain(np.asanyarray(array))
    axes = tuple(range(array.ndim)) if axis is None else np.atleast_1d(axis)
    axes = tuple(int(i) % max(array.ndim, 1) for i in axes)
    front = np.moveaxis(array, axes, range(len(axes)))
    items = list(front.reshape(-1, *front.shape[len(axes):]))
    if initial is not np._NoValue and initial is not None:
        items.insert(0, initial)
    if not items:
        if ufunc.identity is None:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__}")
        items = [np.full(front.shape[len(axes):], ufunc.identity, object)]
    found = functools.reduce(lambda a, b: called(ufunc, (a, b)), items)
    if keepdims:
        found = np.expand_dims(plain(found), axes)
    return made(found) if np.ndim(found) else plain(found)[()]


def accumulated(ufunc: np.ufunc, array: Array, axis: int = 0, dtype: DType | None = None) -> Any:
    """Return the running reductions of an array."""
    items = list(np.moveaxis(plain(np.asanyarray(array)), axis, 0))
    found: list[Any] = []
    for item in items:
        found.append(called(ufunc, (found[-1], item)) if found else item)
    result = np.empty((len(items), *np.shape(items[0])) if items else np.shape(array), object)
    for i, item in enumerate(found):
        result[i] = item
    return made(np.moveaxis(result, 0, axis))


def for_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function written in C, or a classified one, for tracers and arrays of them."""

    def knowing(*args: Any) -> Any:
        if any(isinstance(arg, (list, tuple)) for arg in args) and not any(
            isinstance(arg, (np.ndarray, Tracer)) for arg in args
        ) and getattr(function, "__module__", "") == "_operator":
            return function(*args)  # lists and tuples are put together
        if is_classified(function) or function in OVERLOADS:
            return called(function, args)
        if tracers_in(args)[1] is None:
            return function(*args)
        return dense(function, args, {})

    return knowing


# -- functions ------------------------------------------------------------------------------------

LIKE = {"zeros_like": 0.0, "empty_like": 0.0, "ones_like": 1.0, "full_like": None}
ELEMENT_BY_ELEMENT = ("norm", "matrix_power", "multi_dot")


def array_function(
    func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
    itself: Callable[..., Any],
) -> Any:
    """Call a NumPy function: as written for objects, or as one that depends on everything."""
    means = REGISTRY.facts(func).means
    if means in LIKE:
        return filled_like(*args, value=LIKE[means], **kwargs)
    if transfer_of(func) == "where" and len(args) == 3:
        return each(choice, *args)
    if means in ("real", "imag"):
        return each(functools.partial(apply, func), *args)
    duals, known = tracers_in((args, kwargs))
    if known is None:
        return func(*map_arrays(primals, args), **map_arrays(primals, kwargs))
    if REGISTRY.inactive(func) is not None and duals and transfer_of(func) not in SHAPES:
        return func(*map_arrays(primals, args), **map_arrays(primals, kwargs))
    by_element = transfer_of(func) in ELEMENT_BY_ELEMENT
    if func.__module__ == "numpy.linalg" and not by_element:
        return dense(func, args, kwargs)
    if not kwargs and is_classified(func) and REGISTRY.has_rules(func):
        return called(func, args)  # NumPy's text of it may leave out what is special, as at zero
    if not duals and REGISTRY.facts(func).sized:
        known.space.missing = func.__name__
        raise MissingPrimalError(f"{func.__name__}()")
    try:
        return func(*map_arrays(plain_of_tracers, args), **map_arrays(plain_of_tracers, kwargs))\
            if by_element else itself(func, (TracerArray,), args, kwargs)
    except (MissingPrimalError, TypeError):
        if not REGISTRY.rules_of(func) or not REGISTRY.facts(func).writes_nothing:
            raise
        known.space.missing = ""
        return dense(func, args, kwargs)


def scalar_function(
    func: Callable[..., Any], args: Sequence[Traced], kwargs: dict[str, Traced],
) -> Any:
    """Call a NumPy function on tracers that are not in arrays, as arrays without axes."""

    def boxed(value: Traced) -> Any:
        return plain(value).view(TracerArray) if isinstance(value, Tracer) else value

    found = func(*map_arrays(boxed, args), **map_arrays(boxed, kwargs))
    return found[()] if isinstance(found, TracerArray) and found.ndim == 0 else found


SHAPES = ("shape", "ndim", "size")


def plain_of_tracers(value: Array) -> Any:
    """Return an array of tracers as NumPy's own."""
    return value.view(np.ndarray) if isinstance(value, TracerArray) else value


def filled_like(
    like: Any, fill: Any = None, dtype: DType | None = None, *rest: Any, value: Traced = None,
    **kwargs: Any,
) -> Any:
    """Return an array like another, to be written into."""
    shape = kwargs.get("shape")
    shape = np.shape(like) if shape is None else shape
    if value is None:
        value = kwargs.get("fill_value", fill)
    else:
        dtype = fill
    dtype = kwargs.get("dtype", dtype)
    if dtype is not None and np.dtype(dtype).kind not in "fcO":
        return np.full(shape, value, dtype)
    return np.full(shape, value, object).view(TracerArray)


def choice(condition: Traced, a: Traced, b: Traced) -> Any:
    """Return one of two numbers; what depends on both where the condition is not known."""
    if not isinstance(condition, Tracer) or isinstance(condition, Dual):
        return a if condition else b
    there = [t for t in map(tracer, (a, b)) if t is not None]
    return blank_of(condition) if not there else combined(
        there, lambda *arguments: len(arguments) == 2)


def blank_of(value: Traced) -> Plain:
    """Return a tracer that depends on nothing."""
    known = tracer(value)
    assert known is not None
    return blank(known)


def map_arrays(change: Callable[[Any], Any], value: Any) -> Any:
    """Return a value with the numbers and arrays in it changed."""
    if isinstance(value, (list, tuple)):
        return type(value)([map_arrays(change, item) for item in value])
    if isinstance(value, dict):
        return {key: map_arrays(change, item) for key, item in value.items()}
    return change(value)


def primals(value: Array) -> Any:
    """Return a number or array without tracers."""
    if isinstance(value, TracerArray):
        found = np.asarray(np.frompyfunc(primal, 1, 1)(plain(value)))
        return np.array(found.tolist()).reshape(value.shape) if value.size else (
            np.zeros(value.shape))
    return primal(value)


def stand_ins(value: Array) -> Any:
    """Return a number or array with ordinary values in the place of tracers."""
    if isinstance(value, (TracerArray, Tracer)):
        shape = value.shape
        if not isinstance(value, TracerArray) or any(isinstance(v, Tracer) for v in value.flat):
            return stand_in(Dependent(shape, np.dtype(float)))
    return primals(value)


def tracers_in(value: Traced) -> tuple[bool, Plain | None]:
    """Return whether there are dual numbers in a value, and a function of all tracers in it."""
    found: list[Any] = []

    def collect(item: Traced) -> None:
        if isinstance(item, np.ndarray) and item.dtype == object:
            found.extend(v for v in item.flat if isinstance(v, Tracer))
        elif isinstance(item, Tracer):
            found.append(item)

    map_arrays(collect, value)
    tracers = [t for t in map(tracer, found) if t is not None]
    together = combined(tracers, lambda *arguments: len(arguments) == 2) if tracers else None
    return any(isinstance(item, Dual) for item in found), together


def dense(func: Callable[..., Any], args: Sequence[Traced], kwargs: dict[str, Traced]) -> Any:
    """Return a result all numbers of which depend on all that flows in."""
    duals, together = tracers_in((args, kwargs))
    assert together is not None
    known = combined((together,), lambda *_: False)
    if REGISTRY.inactive(func) is not None:
        known = blank(together)
    change = primals if duals else stand_ins
    with np.errstate(all="ignore"):
        shown = func(*map_arrays(change, args), **map_arrays(change, kwargs))
    return dependent(shown, known, duals)


def dependent(shown: Traced, known: Plain, duals: bool) -> Any:
    """Return a value with the numbers in it made tracers."""
    if isinstance(shown, (list, tuple)):
        items = [dependent(item, known, duals) for item in shown]
        return type(shown)(*items) if hasattr(shown, "_fields") else type(shown)(items)
    if isinstance(shown, np.ndarray):
        known.space.complex = known.space.complex or shown.dtype.kind == "c"
        return each(lambda v: Dual(v, known) if duals else known, shown)
    known.space.saw((shown,))
    return Dual(shown, known) if duals else known


ARRAY_UFUNC.append(array_ufunc)
ARRAY_FUNCTION.append(scalar_function)
