"""Calls of NumPy's universal functions and of methods of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.homes import display_name
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.entries import Elementwise, Gathered, Linear, Write
from adcompiler.record.functions import HOOKS, hooked
from adcompiler.record.items import of_array, write
from adcompiler.record.operators import NUMERIC, enter, is_of_objects, note_text
from adcompiler.record.protocols import defined_in_python, method_of, natively
from adcompiler.record.single import recorded
from adcompiler.record.slopes import BINARY, UNARY
from adcompiler.record.tape import NUMBERS, RECORDING, refused

UFUNC_METHODS: dict[str, Callable[..., Any]] = {}
"""The hook for calls, which stands in a module that imports this one."""
BY_OPERATOR: dict[Any, str] = {np.matmul: "matmul"}
"""Functions whose hooks are those of operators."""


def of_ufunc(function: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a universal function."""
    override = overriding((*args, *kwargs.values()))
    if override is not None:
        result = UFUNC_METHODS["call"](override[0], override[1], function, "__call__", *args,
                                       **kwargs)
        return result
    tape = RECORDING.tape
    out = kwargs.get("out")
    if out is None and len(args) > function.nin:
        args, kwargs = args[: function.nin], {**kwargs, "out": args[function.nin :]}
        out = kwargs["out"]
    if out is not None:
        return with_out(function, args, kwargs, out)
    if not any(map(tape.holds, args)):
        return natively(function, *args, **kwargs)
    if REGISTRY.inactive(function) is not None:
        return natively(function, *args, **kwargs)
    args = tuple(gathered(a) if isinstance(a, (list, tuple)) else a for a in args)
    if any(map(is_of_objects, args)):
        raise refused(
            f"`{function.__name__}` of an array of objects, of which one carries a derivative",
            "use an array of floats", "recording")
    if not kwargs and all(map(is_plain, args)):
        if function in BY_OPERATOR:
            return HOOKS[BY_OPERATOR[function]](*args)
        slopes = BINARY.get(function) if len(args) == 2 else None
        one = UNARY.get(function) if len(args) == 1 else None
        if slopes is not None or one is not None:
            r = function(*args)
            enter(Elementwise(function, args, r, slopes or (one,)))  # type: ignore[arg-type]
            return r
    if not REGISTRY.has_rules(function):
        raise refused(f"`{function.__name__}`, which has no rule", "register a rule for it",
                      "missing-rule")
    return recorded(function, args, kwargs)


def is_plain(value: Any) -> bool:
    """Say whether a value is a number, or an array of NumPy's own class."""
    return type(value) is np.ndarray or (
        isinstance(value, NUMERIC) and not defined_in_python(value, NUMERIC))


def overriding(values: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the ``__array_ufunc__`` in Python of an argument, and that; None if there is none."""
    for value in values:
        cls: Any = type(value)
        if cls is np.ndarray or not cls.__flags__ & 1 << 9:
            continue
        found = method_of(cls, "__array_ufunc__")
        if found is not None:
            return found, value
        if isinstance(value, np.ndarray):
            refuse_class(value)
    return None


def refuse_class(value: Any) -> None:
    """Refuse arrays of other classes that carry a derivative."""
    if RECORDING.tape.is_active(value):
        raise refused(
            f"an array of the class `{type(value).__name__}`, which carries a derivative",
            "use a plain array: np.asarray(...)", "array-classes")


def with_out(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
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
    where = kwargs.get("where", True)
    result = UFUNC_METHODS["call"](function, *args, **rest)
    if where is not True:
        chosen = np.broadcast_to(where, target.shape)
        result = of_array(broadcast(result, target.shape), chosen)
        write(target, chosen, result)
    else:
        write(target, ..., result)
    return target


def broadcast(value: Any, shape: tuple[int, ...]) -> Any:
    """Return an array of the shape, recorded if it must be made."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return value
    return recorded(np.broadcast_to, (value, shape), {})


# -- arrays that are made --------------------------------------------------------------------------


@hooked
def gathered(value: Any, dtype: Any = None, **options: Any) -> Any:
    """Return the array of numbers and arrays in a container, recorded."""
    tape = RECORDING.tape
    value = listed(value)
    result = np.array(value, dtype, **options)
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


def listed(value: Any) -> Any:
    """Return what C would iterate over as lists."""
    if isinstance(value, (list, tuple)):
        return [listed(item) for item in value]
    if isinstance(value, (np.ndarray, *NUMBERS, int, str, bytes)) or value is None:
        return value
    found = HOOKS["iterate"](value)
    return value if found is value else [listed(item) for item in found]


def find_leaves(value: Any, place: tuple[int, ...], leaves: list[Any]) -> None:
    """Collect the active numbers and arrays of a container, with their places."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            find_leaves(item, (*place, i), leaves)
    elif RECORDING.tape.is_active(value):
        leaves.append((place, value))


@hooked
def copied(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array, recorded."""
    made = array.copy()
    if RECORDING.tape.is_active(array):
        enter(Linear("copy", array, made, lambda d: d, lambda g: g))
    return made


@hooked
def renewed(made: Any, number: Any) -> Any:
    """Return a number that was made of another one, recorded as equal to that."""
    if made is not number and isinstance(made, NUMBERS) and RECORDING.tape.is_active(number):
        if isinstance(number, np.ndarray):
            enter(Linear("item", number, made, lambda d: d.reshape(()),
                         lambda g: np.full(number.shape, g)))
        else:
            enter(Linear("number", number, made, lambda d: d, lambda g: g))
    return made


def as_array(
    value: Any, dtype: Any = None, *args: Any, copy: Any = None, always: bool = False,
    **options: Any,
) -> Any:
    """Return what ``np.array``, with ``always``, or ``np.asarray`` gives."""
    own = np.array if always else np.asarray
    if copy is not None:
        options["copy"] = copy
    tape = RECORDING.tape
    if args or not tape.holds(value):
        return natively(own, value, dtype, *args, **options)
    if isinstance(value, np.ndarray):
        refuse_subclass(value)
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
        return as_array(UFUNC_METHODS["call"](like, value), dtype, always=always, **options)
    options.pop("subok", None)
    return gathered(value, dtype, **options)


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


def refuse_subclass(value: np.ndarray) -> None:
    """Refuse arrays of derived classes whose views run code."""
    if type(value) is not np.ndarray:
        refuse_class(value)


# -- methods ---------------------------------------------------------------------------------------


def of_array_method(
    function: Any, array: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a method of an array, or of a number of NumPy."""
    name, tape = function.__name__, RECORDING.tape
    special = METHODS.get(name)
    if special is not None and isinstance(array, np.ndarray):
        return special(array, *args, **kwargs)
    given = (array, *args, *kwargs.values())
    if not any(map(tape.holds, given)):
        return natively(function, *args, **kwargs)
    if isinstance(array, np.ndarray):
        refuse_subclass(array)
    if is_of_objects(array):
        if name in ("copy", "reshape", "ravel", "flatten", "transpose", "squeeze", "tolist",
                    "item", "swapaxes", "view", "repeat", "take", "astype"):
            return refuse_objects(array, function(*args, **kwargs)) if name == "astype" else (
                function(*args, **kwargs))
        raise refused(f"`.{name}` of an array of objects, of which one carries a derivative",
                      "use an array of floats", "recording")
    if isinstance(array, np.generic) and name in ("item", "astype", "copy", "__copy__", "real"):
        return renewed(function(*args, **kwargs), array)
    if name in INERT_METHODS:
        return natively(function, *args, **kwargs)
    if name in TEXT_METHODS:
        note_text(array)
        return function(*args, **kwargs)
    if isinstance(array, np.ndarray):
        result = view_of(function, name, args, kwargs)
        if result is not None:
            return result
    descriptor = getattr(np.ndarray if isinstance(array, np.ndarray) else type(array), name)
    out = kwargs.pop("out", None)
    if not REGISTRY.has_rules(descriptor) and isinstance(array, np.generic):
        plain = getattr(np, name, None)
        descriptor = plain if plain is not None and REGISTRY.has_rules(plain) else descriptor
    if REGISTRY.inactive(descriptor) is not None:
        return natively(function, *args, **kwargs)
    if not REGISTRY.has_rules(descriptor):
        raise refused(f"`.{name}` of a value that carries a derivative", "use a function of NumPy",
                      "missing-rule")
    own = OWN.get(name)
    if own is not None and isinstance(array, np.ndarray):
        result = own(array, *args, **kwargs)
        if result is not None:
            return out_of(result, out)
    return out_of(recorded(descriptor, (array, *args), kwargs), out)


def out_of(result: Any, out: Any) -> Any:
    """Return a result, written into an array if that is asked for."""
    if out is None:
        return result
    write(out, ..., result)
    return out


VIEWS = frozenset({
    "reshape", "ravel", "transpose", "swapaxes", "squeeze", "view", "diagonal", "astype",
    "__array__", "newbyteorder",
})
"""Methods whose results may be views: of these nothing is recorded."""


def view_of(
    function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return a view of an active array, or a copy that is laid out anew; None for other methods."""
    if name not in VIEWS:
        return None
    array: np.ndarray = function.__self__
    result = function(*args, **kwargs)
    tape = RECORDING.tape
    if not isinstance(result, np.ndarray) or tape.is_active_array(result):
        return result
    if result.dtype.kind not in "fc":
        return result
    if name == "astype":
        enter(converted(array, result))
        return result
    if name in ("ravel", "reshape"):
        order = kwargs.get("order", args[0] if name == "ravel" and args else "C")
        places = np.arange(array.size).reshape(array.shape)
        laid = np.empty_like(array, np.intp)
        laid[...] = places
        flat = laid.ravel(order).ravel() if order != "K" else ravelled(array, laid)
        shape = array.shape

        def adjoint(g: np.ndarray) -> np.ndarray:
            back = np.empty(g.size, g.dtype)
            back[flat] = g.ravel() if name == "ravel" else g.ravel(
                order if order in ("C", "F") else "C")
            return back.reshape(shape)

        enter(Linear(name, array, result, lambda d: d.reshape(-1)[flat].reshape(
            result.shape, order=order if order in ("C", "F") else "C"), adjoint))
        return result
    return recorded(getattr(np.ndarray, name), (array, *args), kwargs, lambda: result)


def ravelled(array: np.ndarray, laid: np.ndarray) -> np.ndarray:
    """Return positions in the order in which an array lies in memory."""
    order = sorted(range(array.ndim), key=lambda i: -abs(array.strides[i]))
    return laid.transpose(order).ravel()


def tolist(array: np.ndarray) -> Any:
    """Return the numbers of an array in lists, recorded."""
    if not RECORDING.tape.is_active(array) or is_of_objects(array):
        return array.tolist()
    if array.ndim == 0:
        return renewed(array.item(), array)
    return [tolist(item) if isinstance(item, np.ndarray) else renewed(item.item(), item)
            for item in (of_array(array, i) for i in range(len(array)))]


def item(array: np.ndarray, *index: Any) -> Any:
    """Return one element of an array as a number of Python, recorded."""
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


def fill(array: np.ndarray, value: Any) -> None:
    """Fill an array."""
    write(array, ..., value)


def sort(array: np.ndarray, *args: Any, **kwargs: Any) -> None:
    """Sort an array in place."""
    tape = RECORDING.tape
    if not tape.is_held(array):
        array.sort(*args, **kwargs)
        return
    write(array, ..., UFUNC_METHODS["call"](np.sort, copied(array), *args, **kwargs))


def partition(array: np.ndarray, *args: Any, **kwargs: Any) -> None:
    """Partition an array in place."""
    tape = RECORDING.tape
    if not tape.is_held(array):
        array.partition(*args, **kwargs)
        return
    write(array, ..., UFUNC_METHODS["call"](np.partition, copied(array), *args, **kwargs))


def total(array: np.ndarray, axis: Any = None, **kwargs: Any) -> Any:
    """Return the sum of an array's elements, recorded; None for calls that have their rule."""
    if kwargs or array.dtype.kind not in "fc":
        return None
    made = array.sum(axis)
    enter(Linear("sum", array, made, lambda d: d.sum(axis), lambda g: spread(g, axis, array)))
    return made


def spread(g: Any, axis: Any, array: np.ndarray) -> np.ndarray:
    """Return a cotangent with the axes that a sum has removed."""
    if axis is not None and isinstance(g, np.ndarray):
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, array.shape)


def average(array: np.ndarray, axis: Any = None, **kwargs: Any) -> Any:
    """Return the mean of an array's elements, recorded; None for calls that have their rule."""
    if kwargs or array.dtype.kind not in "fc" or array.dtype.itemsize < 8 or not array.size:
        return None
    made = array.mean(axis)
    count = array.size / max(np.size(made), 1)
    enter(Linear("mean", array, made, lambda d: d.mean(axis),
                 lambda g: spread(g, axis, array) / count))
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
    "tolist": tolist, "item": item, "fill": fill, "sort": sort, "partition": partition,
    **{name: changed(name) for name in ("put", "resize", "itemset", "setfield", "byteswap")},
    "__getitem__": of_array, "__setitem__": lambda a, i, v: write(a, i, v),
}
OWN = {"sum": total, "mean": average}
INERT_METHODS = frozenset({
    "argmax", "argmin", "argsort", "argpartition", "searchsorted", "nonzero", "any", "all",
    "setflags", "__len__", "__bool__", "is_integer", "__index__", "__int__", "__hash__",
    "__contains__",
})
TEXT_METHODS = frozenset({
    "tobytes", "tofile", "dump", "dumps", "hex", "__str__", "__repr__", "__format__",
    "as_integer_ratio", "__reduce__", "__reduce_ex__",
})


def multiply_at(function: Any, args: tuple[Any, ...]) -> Any:
    """Do ``ufunc.at``."""
    array, index = args[0], args[1]
    tape = RECORDING.tape
    if function is np.add and len(args) == 3 and (tape.holds(args) or tape.is_held(array)):
        old = array.copy()
        np.add.at(array, index, args[2])
        if tape.holds(args[2]) or tape.is_active(array):
            tape.activate(array)
            tape.entries.append(AddedAt(array, index, old, args[2]))
        else:
            HOOKS["log"](array, old)
        return None
    if tape.holds(args) or tape.is_held(array):
        raise refused(f"`np.{function.__name__}.at` with values that carry a derivative",
                      "use np.add.at, or a loop", "recording")
    return function.at(*args)


class AddedAt(Write):
    """``np.add.at(array, index, value)``."""

    __slots__ = ()

    def __init__(self, array: np.ndarray, index: Any, old: np.ndarray, value: Any) -> None:
        super().__init__(array, index, old, value, None)

    def pull(self, sweep: Any, slot: int) -> None:
        self.again()
        if sweep.tape.holds(self.value):
            g = np.array(sweep.view(self.array)[self.index])
            sweep.add(self.value, g)

    def again(self) -> None:
        now = self.array.copy()
        self.array[...] = self.old
        self.old = now

    def push(self, tangents: Any, slot: int) -> None:
        from adcompiler.record.entries import tangent_of

        d = tangent_of(tangents, self.value)
        if d is not None:
            view = tangents.view(self.array)
            tangents.keep(self, view, ..., view)
            np.add.at(view, self.index, d)

    def shown(self) -> str:
        return "add.at"


def ufunc_method(
    name: str, function: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call ``np.add.reduce`` and the like."""
    if name == "at":
        return multiply_at(function, args)
    tape = RECORDING.tape
    bound = getattr(function, name)
    if not tape.holds(args) and not tape.holds(kwargs):
        return natively(bound, *args, **kwargs)
    if REGISTRY.has_rules(bound):
        return recorded(bound, args, kwargs)
    plain = {("add", "reduce"): np.sum, ("multiply", "reduce"): np.prod,
             ("maximum", "reduce"): np.max, ("minimum", "reduce"): np.min,
             ("add", "accumulate"): np.cumsum, ("multiply", "accumulate"): np.cumprod,
             ("multiply", "outer"): np.multiply.outer}.get((function.__name__, name))
    if plain is not None and name != "outer":
        kwargs = dict(kwargs)
        if name == "reduce" and "axis" not in kwargs and len(args) < 2:
            kwargs["axis"] = 0
        return UFUNC_METHODS["call"](plain, *args, **kwargs)
    raise refused(f"`{display_name(bound)}`, which has no rule", "write a loop", "missing-rule")
