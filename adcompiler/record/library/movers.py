"""Functions in C that hand on what they are given: containers, iterators, sorting, picking.

What they iterate over is given as recorded items; functions in Python that they call are rewritten.
"""

from __future__ import annotations

import array
import bisect
import collections
import functools
import heapq
import itertools
import operator
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from adcompiler.record.functions import HOOKS, is_followed
from adcompiler.record.items import iterate, spread
from adcompiler.record.protocols import followed, natively, watched
from adcompiler.record.tape import users_module
from adcompiler.record.untracked_values import Watch


def wrapped(function: Any) -> Any:
    """Return a function for C to call, which calls a function as the hook does."""
    if function is None:
        return None
    call = HOOKS["call"]

    def called(*args: Any, **kwargs: Any) -> Any:
        watch = sys.getprofile()
        if watch is None:
            return call(function, *args, **kwargs)
        sys.setprofile(None)  # what the hook does is seen
        if isinstance(watch, Watch):
            watch.known.clear()  # it may store anything anywhere
        try:
            return call(function, *args, **kwargs)
        finally:
            sys.setprofile(watch)

    return called


def over(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a mover of what its arguments iterate over."""
    each = spread if function in ASKING else iterate

    def apply(*args: Any, **kwargs: Any) -> Any:
        key = kwargs.get("key")
        if key is not None:
            kwargs["key"] = wrapped(key)
        return natively(function, *map(each, args), **kwargs)

    return apply


ASKING = (list, tuple, sorted, itertools.product, itertools.permutations, itertools.combinations,
          itertools.combinations_with_replacement)
"""Functions that ask what they iterate over for its length first."""


def apply_reversed(value: object) -> Any:
    """Return an iterator from the end."""
    method = followed(value, "__reversed__")
    if method is not None:
        return method(value)
    if isinstance(value, (np.ndarray, array.array)) or (
        followed(value, "__getitem__") is not None and followed(value, "__len__") is not None
    ):
        return from_end(value, HOOKS["call"](len, value))
    return natively(reversed, value)


def from_end(value: object, count: int) -> Iterator[Any]:
    """Iterate over the items of a sequence from its end."""
    for index in range(count - 1, -1, -1):
        yield HOOKS["getitem"](value, index)


def first_called(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a mover that calls its first argument with items of the others."""

    def apply(called: Callable[..., Any], *args: Any) -> Any:
        return function(wrapped(called), *map(iterate, args))

    return apply


def plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a mover of its arguments themselves."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        return natively(function, *args, **kwargs)

    return apply


def apply_next(iterator: Iterator[object], *default: Any) -> Any:
    """Return the next item."""
    step = getattr(type(iterator), "__next__", None)
    if isinstance(step, types.FunctionType):
        try:
            return HOOKS["call"](step, iterator)
        except StopIteration:
            if default:
                return default[0]
            raise
    return next(iterate(iterator), *default)


def apply_iter(value: object, *sentinel: Any) -> Any:
    """Return an iterator."""
    if sentinel:
        return iter(wrapped(value), *sentinel)
    found = getattr(type(value), "__iter__", None)
    if isinstance(found, types.FunctionType):
        return HOOKS["call"](found, value)
    return iter(iterate(value))


def apply_reduce(function: Callable[..., Any], items: Iterable[object], *start: Any) -> Any:
    """Do what ``functools.reduce`` does."""
    return functools.reduce(wrapped(function), iterate(items), *start)


def apply_accumulate(
    items: Iterable[object], func: Callable[..., Any] | None = None, *, initial: Any = None
) -> Any:
    """Do what ``itertools.accumulate`` does."""
    return itertools.accumulate(
        iterate(items), wrapped(func) if func is not None else HOOKS["add"], initial=initial)


def apply_chain(iterables: Iterable[Iterable[object]]) -> Any:
    """Do what ``itertools.chain.from_iterable`` does."""
    for each in iterate(iterables):
        yield from iterate(each)


def apply_filter(function: Callable[..., Any], items: Iterable[object]) -> Any:
    """Do what ``filter`` does."""
    call, truth = HOOKS["call"], HOOKS["truth"]
    for item in iterate(items):
        if truth(item if function is None else call(function, item)):
            yield item


def apply_compress(items: Iterable[object], chosen: Iterable[object]) -> Any:
    """Do what ``itertools.compress`` does."""
    for item, test in zip(iterate(items), iterate(chosen), strict=False):
        if HOOKS["truth"](test):
            yield item


def apply_starmap(function: Callable[..., Any], rows: Iterable[Iterable[object]]) -> Any:
    """Do what ``itertools.starmap`` does."""
    called = wrapped(function)
    return (called(*spread(row)) for row in iterate(rows))


def apply_namedtuple(*args: Any, **kwargs: Any) -> Any:
    """Return a class of named tuples, of the module that makes it."""
    kwargs.setdefault("module", users_module())
    return collections.namedtuple(*args, **kwargs)


def apply_groupby(items: Iterable[object], key: Any = None) -> Any:
    """Do what ``itertools.groupby`` does."""
    return itertools.groupby(iterate(items), wrapped(key))


def of_table(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes a dict of a class of Python's own."""

    def apply(*args: Any, **kwargs: object) -> Any:
        if not args or isinstance(args[0], dict):
            return make(*args, **kwargs)
        found = HOOKS["mapping"](args[0])
        given = iterate(args[0]) if found is args[0] else found
        return make(given if hasattr(given, "keys") else map(pair_of, given), **kwargs)

    return apply


def pair_of(pair: np.ndarray | Iterable[object]) -> Any:
    """Return the key and the value of an entry that is given as an array, each one recorded."""
    return tuple(iterate(pair)) if isinstance(pair, np.ndarray) else pair


MOVERS: dict[Any, Callable[..., Any]] = {
    **{f: over(f) for f in (
        list, tuple, set, frozenset, zip, enumerate, sorted, any, all,
        itertools.cycle, itertools.islice,
        itertools.product, itertools.permutations, itertools.combinations,
        itertools.zip_longest, itertools.tee, itertools.pairwise,
        itertools.combinations_with_replacement,
        collections.deque,
    )},
    **{f: first_called(f) for f in (
        map, itertools.takewhile, itertools.dropwhile,
        itertools.filterfalse,
    )},
    **{f: plainly(f) for f in (
        itertools.repeat, property, staticmethod, classmethod, slice, range,
        id, callable, globals, weakref.ref, object.__init__, BaseException.__init__,
        Exception.__init__,
        operator.itemgetter, operator.attrgetter, operator.methodcaller,
        types.SimpleNamespace, types.MappingProxyType, functools.partial, heapq.heappush,
        heapq.heappop, heapq.heapify, *(
            getattr(heapq, name) for name in ("_heapify_max", "_heappop_max", "_heapreplace_max")
            if hasattr(heapq, name)), heapq.heappushpop, heapq.heapreplace, bisect.bisect,
        bisect.bisect_left, bisect.bisect_right, bisect.insort, bisect.insort_left,
        bisect.insort_right, object,
        collections.defaultdict, types.MethodType, functools.cmp_to_key,
        functools._lru_cache_wrapper,
    )},
    filter: apply_filter, itertools.compress: apply_compress,
    itertools.chain: lambda *args: apply_chain(args),
    itertools.chain.from_iterable: apply_chain, itertools.starmap: apply_starmap,
    reversed: apply_reversed, next: apply_next, iter: apply_iter, functools.reduce: apply_reduce,
    itertools.accumulate: apply_accumulate, itertools.groupby: apply_groupby, dict: of_table(dict),
    collections.OrderedDict: of_table(collections.OrderedDict),
    dict.fromkeys: lambda keys, value=None: dict.fromkeys(iterate(keys), value),
    collections.namedtuple: apply_namedtuple,
}
"""Movers by function."""
moved = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
"""Objects that pick items and attributes of what they are called with."""


def of_method(name: str) -> Callable[..., Any]:
    """Return what calls a method of a built-in container."""
    iterates = name in ITERATING
    compares = name in COMPARING

    def apply(method: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("key") is not None:
            kwargs["key"] = wrapped(kwargs["key"])
        if iterates:
            args = tuple(map(spread if name == "extend" else iterate, args))
        elif name == "__setitem__" and args and isinstance(args[0], slice):
            args = (args[0], *map(iterate, args[1:]))
        elif name == "update":
            args = tuple(arg if hasattr(arg, "keys") else paired(method, arg) for arg in args)
        if name in REDUCING or (name in RESUMING and not is_known(method.__self__)):
            return watched(method, args, kwargs)
        if compares or kwargs or name == "sort":
            return natively(method, *args, **kwargs)
        return method(*args, **kwargs)

    return apply


def paired(method: types.BuiltinMethodType, items: Iterable[object]) -> Any:
    """Return what ``update`` of a set or a table is given, as its items."""
    found = iterate(items)
    return map(pair_of, found) if isinstance(method.__self__, dict) else found


RESUMING = frozenset({"send", "throw", "close", "__next__"})
REDUCING = frozenset({"__reduce__", "__reduce_ex__", "__getstate__"})


def is_known(value: object) -> bool:
    """Say whether a value is no generator, or one that is recorded."""
    code = getattr(value, "gi_code", None)
    return code is None or is_followed(code)


ITERATING = frozenset({
    "extend", "__init__", "extendleft", "union", "intersection", "difference", "__iadd__",
    "symmetric_difference", "issubset", "issuperset", "isdisjoint", "intersection_update",
    "difference_update", "symmetric_difference_update",
})
COMPARING = frozenset({
    "index", "count", "remove", "insert", "rotate", "add", "discard", "get", "pop", "setdefault",
    "update",
    "__contains__", "__eq__", "__ne__", "__setitem__", "__getitem__",
})
CONTAINERS: tuple[Any, ...] = (
    list, tuple, dict, set, frozenset, collections.deque, collections.OrderedDict,
    collections.defaultdict, type({}.items()), type({}.keys()), type({}.values()),
)
OF_METHODS: dict[Any, Callable[..., Any]] = {
    (cls, name): of_method(name)
    for cls in CONTAINERS
    for name in dir(cls) if callable(getattr(cls, name, None))
}
"""Movers by built-in class and name."""
OF_METHODS |= {(object, name): of_method(name) for name in REDUCING}
OF_METHODS |= {
    (types.GeneratorType, name): of_method(name)
    for name in ("send", "throw", "close", "__next__", "__iter__")
}
