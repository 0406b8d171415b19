"""Transfer of Python's own functions: on containers, and of containers of numbers."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.analyses.purity import CHECKS
from adcompiler.ops.classify import of_letters
from adcompiler.runtime import (
    append, apart, check_assigned, check_bound, check_count, check_rebinds, choose,
    dict_keys,
    dict_of,
    dict_values, drop_last, give_back, note_value, noted_value, paired,
    positions, project, put_entry, read_global, record, same_length, stop_gradient, store_global,
    unpack,
)
from adcompiler.runtime.adjoints.sequences import place_of_extreme, sort_order
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.containers import generated
from adcompiler.sparsity.dependences.values import (
    Dependent, Either, Operand, UnknownList, Value, dtype_of, map_dependents,
    shape_of,
)
from adcompiler.sparsity.interpreter.control import note, truth
from adcompiler.sparsity.interpreter.joining import items_of, join, join_all
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import ALWAYS, STRUCTURAL, Refusal, transfer, transfer_of
from adcompiler.sparsity.transfers.elementwise import (
    PLAIN, applied, binary, dense, elementwise, inactive,
)
from adcompiler.sparsity.transfers.indexing import writable
from adcompiler.sparsity.transfers.movement import rows_of
from adcompiler.sparsity.transfers.reductions import extreme, total

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array

STRUCTURAL.update((
    len, zip, enumerate, reversed, list, tuple, dict, iter, next, range, isinstance, issubclass,
    hasattr, getattr, callable, type, id, dict_of, dict_keys, dict_values, unpack, check_count,
    positions, record, generated, apart, paired, noted_value, check_assigned, check_bound,
    check_rebinds, same_length, dict.items, dict.keys, dict.values, dict.get, dict.copy,
    list.copy, dict.pop,
    itertools.chain, itertools.product, itertools.islice, itertools.repeat, itertools.count,
    itertools.combinations, itertools.permutations, itertools.pairwise, itertools.cycle,
    itertools.zip_longest, itertools.chain.from_iterable, slice, operator.concat,
    operator.itemgetter, operator.attrgetter, functools.partial, map, filter,
))


ALWAYS.update((append, drop_last, put_entry, note_value, store_global, read_global))


def nothing(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """A check of values, which raises or does nothing."""


transfer(*CHECKS, give_back)(nothing)


@transfer(check_rebinds)
def rebound(run: Run, function: Callable[..., Any], value: Value, sign: str, place: str) -> None:
    """The check of ``value op= y`` that it makes a new value: it would write into an array."""
    number = value.shape == () if isinstance(value, Dependent) else isinstance(
        value, (np.generic, int, float, complex, str, tuple, bytes))
    if not number:
        raise Refusal(
            f"`{sign}=` may write into a value of which the type is not known when compiling",
            f"write x = x {sign} y, which makes a new one", "array-writes",
        )


@transfer(append)
def appended(run: Run, function: Callable[..., Any], items: Any, value: Any) -> Any:
    """A list with one item more."""
    if isinstance(items, UnknownList):
        return UnknownList(join(items.item, value))
    items = writable(run, items)
    items.append(value)
    return items


@transfer(drop_last)
def shortened(run: Run, function: Callable[..., Any], items: Any) -> Any:
    """A list without its last item."""
    if isinstance(items, UnknownList):
        return items
    items = writable(run, items)
    items.pop()
    return items


@transfer(put_entry)
def with_entry(run: Run, function: Callable[..., Any], table: Value, key: Value, old: Value) -> Any:
    """A dict with one entry changed."""
    return put_entry(writable(run, table), key, old)


@transfer(choose)
def chosen(
    run: Run, function: Callable[..., Any], condition: Dependent | bool, a: Dependent,
    b: Dependent | Array
) -> Any:
    """One of two values."""
    known = truth(run, condition)
    return join(a, b) if known is None else a if known else b


@transfer(note_value)
def noted(run: Run, function: Callable[..., Any], place: list[Value], value: Array) -> None:
    """The value of a variable, noted for handlers."""
    note(run, place, value)


@transfer(store_global)
def stored(
    run: Run, function: Callable[..., Any], owner: Value, name: str, value: Value
) -> None:
    """An assignment to a global variable, of which only this run takes note."""
    if run.owned is not None and not run.local:
        raise Refusal(
            "an assignment to a global variable that depends on the values of the inputs",
            "a local variable that is returned",
        )
    run.stored[id(owner if isinstance(owner, dict) else vars(owner)), name] = value


@transfer(read_global)
def global_value(run: Run, function: Callable[..., Any], owner: Value, name: str) -> Any:
    """The present value of a global variable."""
    table = owner if isinstance(owner, dict) else vars(owner)
    return run.stored.get((id(table), name), table.get(name))


@transfer("len")
def length(run: Run, function: Callable[..., Any], x: Any) -> Any:
    """The number of items."""
    if isinstance(x, UnknownList):
        return Dependent((), int)
    if not isinstance(x, Dependent):
        return len(x)
    return Dependent((), int) if x.shape is None or x.dtype is str else x.shape[0]


@transfer("shape", "ndim", "size", "dtype")
def metadata(run: Run, function: Callable[..., Any], x: Dependent, axis: int | None = None) -> Any:
    """What is known of arrays without their values."""
    if isinstance(x, Dependent) and x.shape is None:
        return Dependent((), int)
    shape = shape_of(x)
    wanted = transfer_of(function)
    if wanted == "ndim":
        return len(shape)
    if wanted == "size":
        return math.prod(shape) if axis is None else shape[axis]
    return shape if wanted == "shape" else np.dtype(dtype_of(x))


@transfer(list, tuple)
def listed(run: Run, function: Callable[..., Any], x: Dependent) -> Any:
    """The items of an array, or of a container."""
    if isinstance(x, Dependent) and x.shape is None:
        return UnknownList(x)
    if isinstance(x, UnknownList) and function is list:
        return x
    rows = rows_of(run, x) if isinstance(x, Dependent) else x
    return list(rows) if function is list else tuple(rows)


@transfer(unpack)
def unpacked(run: Run, function: Callable[..., Any], value: Any, *rest: Any) -> Any:
    """The values that unpacking assigns."""
    return unpack(rows_of(run, value) if isinstance(value, Dependent) else value, *rest)


@transfer("iter", zip, enumerate, reversed, map, filter, itertools.chain, itertools.product,
          itertools.islice, itertools.repeat, itertools.combinations, itertools.permutations,
          itertools.pairwise, itertools.cycle, itertools.zip_longest, itertools.accumulate)
def iterated(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Functions that iterate over what they get."""
    if function in (map, filter, itertools.accumulate):
        raise Refusal(f"{function.__name__}() of values that depend on the inputs",
                      "a loop or a comprehension")
    args = tuple(
        UnknownList(a) if isinstance(a, Dependent) and a.shape is None else a for a in args)
    if any(isinstance(a, UnknownList) for a in args):
        return iterated_unknown(run, function, args)
    first = (rows_of(run, a) if isinstance(a, Dependent) and a.shape else a for a in args)
    return function(*first, **kwargs)


def iterated_unknown(run: Run, function: Callable[..., Any], args: Any) -> Any:
    """Functions that iterate over lists of unknown lengths."""
    items = [a.item if isinstance(a, UnknownList) else join_all(
        rows_of(run, a) if isinstance(a, Dependent) else a) for a in args]
    if function is zip:
        return UnknownList(tuple(items))
    if function is enumerate:
        return UnknownList((Dependent((), int), items[0]))
    if transfer_of(function) == "iter" or function in (reversed, itertools.chain, itertools.islice):
        return UnknownList(join_all(items[:1] if function is not itertools.chain else items))
    raise Refusal(f"{function.__name__}() of a list whose length depends on the inputs",
                  'mode="local"')


@transfer("isinstance")
def is_instance(
    run: Run, function: Callable[..., Any], x: Operand, classes: type | tuple[type, ...],
) -> Any:
    """Whether a value is of a class, by its dtype and shape."""
    if not isinstance(x, Dependent):
        return isinstance(x, classes)
    shown = np.empty(x.shape or (1,), x.dtype) if x.shape != () else (
        x.dtype(0) if isinstance(x.dtype, type) else np.zeros((), x.dtype)[()])
    return isinstance(shown, classes)


@transfer("is")
def identical(run: Run, function: Callable[..., Any], a: Dependent, b: Dependent | Array) -> Any:
    """Whether two values are one object: a number is none of the constants."""
    if isinstance(a, Either) or isinstance(b, Either):
        return Dependent((), bool)
    return function(a, b)


@transfer(slice)
def sliced(run: Run, function: Callable[..., Any], *args: Any) -> Any:
    """A slice."""
    return slice(*args)


@transfer("print")
def printed(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Printing: what depends on the inputs is not printed."""


@transfer(float, int, complex, bool)
def converted(run: Run, function: type, x: Dependent, *rest: Any) -> Any:
    """Conversions of numbers."""
    if function in (int, bool):
        value = run.value(function, (x, *rest), {})
        return run.made((), function, value=value)
    if rest:
        return applied(run, function, (x, *rest), of_letters("ffz"))
    found = applied(run, function, (x,), of_letters("f"))
    if isinstance(found, Dependent) and found.shape:
        return run.call(np.reshape, (found, ()), {})
    return found


# -- sums, extremes and products of items ----------------------------------------------------------


@transfer("sum of items")
def summed(run: Run, function: Callable[..., Any], items: Any, start: Any = 0) -> Any:
    """Sums of items, one after the other."""
    if isinstance(items, UnknownList):
        return join(start, binary(run, "+", start, items.item))
    if isinstance(items, Dependent):
        found = total(run, np.sum, items, axis=0)
        return found if isinstance(start, int) and start == 0 else binary(run, "+", start, found)
    return functools.reduce(lambda a, b: binary(run, "+", a, b), items, start)


@transfer("prod of items")
def multiplied(run: Run, function: Callable[..., Any], items: Any, start: int = 1) -> Any:
    """Products of items, one after the other."""
    rows = rows_of(run, items) if isinstance(items, Dependent) else list(items)
    if rows and isinstance(start, int) and start == 1:
        start, rows = rows[0], rows[1:]
    return functools.reduce(lambda a, b: binary(run, "*", a, b), rows, start)


@transfer("max of items", "min of items")
def largest(run: Run, function: Callable[..., Any], *items: Any, **kwargs: Any) -> Any:
    """Largest and smallest of items: at a point those that are equal to the result."""
    is_max = transfer_of(function) == "max of items"
    if kwargs.keys() - {"default"}:
        return largest_by(run, function, items, kwargs)
    if len(items) == 1:
        if isinstance(items[0], UnknownList):
            return items[0].item
        if isinstance(items[0], Dependent):
            return extreme(run, np.max if is_max else np.min, items[0])
        items = tuple(items[0])
    pick = np.maximum if is_max else np.minimum
    if not run.local:
        if all(isinstance(i, (Dependent, int, float, np.generic)) for i in items):
            return functools.reduce(lambda a, b: run.call(pick, (a, b), {}), items)
        return functools.reduce(join, items)
    return functools.reduce(lambda a, b: run.call(pick, (a, b), {}), items)


def largest_by(
    run: Run, function: Callable[..., Any], items: Any, kwargs: Mapping[str, Any],
) -> Any:
    """Return what is known of the largest item by a key."""
    if len(items) == 1:
        items = rows_of(run, items[0]) if isinstance(items[0], Dependent) else list(items[0])
    if run.local and "key" in kwargs:
        values = [run.value(kwargs["key"], (item,), {}) for item in items]
        return items[values.index(function(values))]
    return functools.reduce(join, items)


@transfer("hypot")
def hypotenuse(run: Run, function: Callable[..., Any], *items: Any) -> Any:
    """``math.hypot`` of any number of arguments."""
    letters = "s" * len(items) + "c" if len(items) > 1 else "s"
    return applied(run, function, items, of_letters(letters))


@transfer("dist")
def distance(run: Run, function: Callable[..., Any], p: Any, q: Any) -> Any:
    """``math.dist``: of the differences."""
    rows = [rows_of(run, x) if isinstance(x, Dependent) else list(x) for x in (p, q)]
    parts = [binary(run, "-", *pair) for pair in zip(*rows, strict=True)]
    return hypotenuse(run, math.hypot, *parts) if len(parts) else 0.0


@transfer("log")
def logarithm(run: Run, function: Callable[..., Any], x: Dependent, *base: Any) -> Any:
    """``math.log`` with or without a base."""
    return applied(run, function, (x, *base), of_letters("ssc" if base else "s"))


@transfer("mean of items")
def statistics_mean(
    run: Run, function: Callable[..., Any], data: Any, *rest: Any, **kwargs: Any
) -> Any:
    """Means of lists."""
    if rest or kwargs:
        return dense(run, function, data, *rest, **kwargs)
    rows = rows_of(run, data) if isinstance(data, Dependent) else list(data)
    return binary(run, "/", summed(run, sum, rows), len(rows))


# -- operators that containers have too ------------------------------------------------------------


@transfer("add", "mul", "concat", "contains", "equal", "compare")
def on_containers(run: Run, function: Callable[..., Any], *args: Any) -> Any:
    """Operators: of containers Python's own, of numbers those of their rules."""
    kind = transfer_of(function)
    if any(isinstance(a, UnknownList) for a in args):
        if kind in ("add", "concat"):
            return UnknownList(join_all(item for a in args for item in items_of(a)))
        if kind == "mul":
            return next(a for a in args if isinstance(a, UnknownList))
        return Dependent((), bool)
    if kind == "mul" and any(map(is_sequence, args)) and any(map(is_count, args)):
        items = next(a for a in args if is_sequence(a))
        return UnknownList(join_all(items)) if isinstance(items, list) else Either()
    if any(isinstance(a, (list, tuple, dict, str, set, frozenset)) for a in args) and not any(
        isinstance(a, (Dependent, np.ndarray)) for a in args
    ):
        if kind in ("add", "mul", "concat"):
            return function(*args)
        if kind == "contains" and isinstance(args[0], dict):
            return function(*args)
        return inactive(run, function, *args)
    if kind in PLAIN:
        return elementwise(run, function, *args)
    return compared(run, function, *args)


def is_sequence(value: Array) -> bool:
    """Say whether a value is a list, a tuple or text, which a number repeats."""
    return isinstance(value, (list, tuple, str))


def is_count(value: Value) -> bool:
    """Say whether a value is an integer that depends on the inputs."""
    return isinstance(value, Dependent) and value.shape == () and np.dtype(value.dtype).kind in (
        "iub")


def compared(run: Run, function: Callable[..., Any], *args: Any) -> Any:
    """Comparisons of values: a bool of which nothing is known."""
    if any(isinstance(a, Either) for a in args):
        return Dependent((), bool)
    args = tuple(run.call(np.asarray, (a,), {}) if isinstance(a, (list, tuple)) and any(
        isinstance(b, (Dependent, np.ndarray)) for b in args) else a for a in args)
    return inactive(run, function, *args)


@transfer(stop_gradient)
def stopped(run: Run, function: Callable[..., Any] | None, x: Dependent) -> Any:
    """A value through which no derivative flows."""
    return map_dependents(lambda d: run.made(d.shape, d.dtype, value=d.value), x)


@transfer(project, like)
def projected(run: Run, function: Callable[..., Any], g: Value, x: Dependent, *rest: Any) -> Any:
    """A value as it is: what fits it to the kind of another one changes no dependences."""
    return g


@transfer(sort_order, place_of_extreme)
def order(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The order of the items of a list."""
    if run.local:
        return run.value(function, args, kwargs)
    return [Dependent((), int) for _ in args[0]]


