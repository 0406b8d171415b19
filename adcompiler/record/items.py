"""Hooks for items, attributes, iteration and unpacking."""

from __future__ import annotations

import array
import functools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.record.entries import Gather, Write
from adcompiler.record.functions import HOOKS, hooked, is_followed
from adcompiler.record.library import buffers
from adcompiler.record.library.derived import derived, plain, plain_in
from adcompiler.record.operators import enter, truth
from adcompiler.record.parts import parts_of
from adcompiler.record.protocols import (
    CONTAINERS, PLAIN, followed, items_of, managed, method_of, native_operator, natively,
    watched,
)
from adcompiler.record.tape import ESCAPED, NUMBERS, RECORDING, Index, refused

@hooked
def getitem(obj: Any, index: Any) -> Any:
    """Return ``obj[index]``."""
    cls: Any = type(obj)
    if cls is list or cls is tuple:
        return obj[index if type(index) in (int, str) else position(index)]
    if cls is dict:
        if type(index) in PLAIN:
            return obj[index]
        return natively(dict.__getitem__, obj, index)
    if cls is np.ndarray:
        return of_array(obj, position(index))
    method = followed(obj, "__getitem__")
    if method is not None:
        return method(obj, index)
    if isinstance(obj, type):  # as list[float]
        return natively(operator.getitem, obj, index)
    if isinstance(obj, dict):
        missing = followed(obj, "__missing__")
        if missing is not None:
            return dict.__getitem__(obj, index) if index in obj else missing(obj, index)
        factory = getattr(obj, "default_factory", None)
        if factory is not None and index not in obj:
            made = obj[index] = HOOKS["call"](factory)
            return made
    if isinstance(obj, np.ndarray):
        return of_array(obj, position(index))
    if isinstance(obj, np.generic) and RECORDING.tape.is_active(obj):
        return of_array(HOOKS["as_array"](obj), index)
    if isinstance(obj, np.flatiter) and RECORDING.tape.is_active(obj.base):
        return of_array(flat_of(obj), index)
    if isinstance(obj, array.array):
        return buffers.item(obj, position(index))
    if isinstance(obj, (*CONTAINERS, types.MappingProxyType)):
        return natively(operator.getitem, obj, index)
    return native_operator(operator.getitem, obj, index)


def position(index: Any) -> Any:
    """Return a subscript with what ``__index__`` in Python gives in the place of instances."""
    if type(index) in PLAIN and type(index) not in (tuple, slice):
        return index
    if type(index) is tuple:
        return tuple(map(position, index))
    if type(index) is slice:
        return slice(position(index.start), position(index.stop), position(index.step))
    method = followed(index, "__index__")
    return index if method is None else method(index)


def flat_of(obj: np.flatiter[np.ndarray]) -> np.ndarray:
    """Return the array that ``.flat`` runs over, as a view of one axis."""
    array: np.ndarray = plain(obj.base)
    flat = array.reshape(-1)
    if not np.may_share_memory(flat, array) and array.size:
        raise refused("`.flat` of an array that is not contiguous", "use .ravel()", "recording")
    return flat


def of_array(array: np.ndarray, index: Index) -> Any:
    """Return an item, a view or a selection of an array."""
    tape = RECORDING.tape
    if type(array) is not np.ndarray:
        if not tape.is_marked(array) and not ESCAPED:
            return natively(np.ndarray.__getitem__, array, index)
        found = of_array(plain(array), plain(index))
        return derived(found, type(array), array) if isinstance(found, np.ndarray) else found
    result = array[index]
    if ESCAPED:
        tape.check_read(array, index)
    if not tape.is_marked(array):
        return result
    if isinstance(result, np.ndarray):
        if result.dtype.kind not in "fc" or tape.is_active_array(result):
            return result
        if array.dtype.hasobject:
            return result
    elif not isinstance(result, NUMBERS) or array.dtype.hasobject:
        return result
    tape.hold(array)
    enter(Gather(array, kept_index(index), result))
    return result


def kept_index(index: Index) -> Any:
    """Return an index that stays what it is."""
    if isinstance(index, tuple):
        return tuple(map(kept_index, index))
    if isinstance(index, list):
        return np.array(index) if index else np.array([], np.intp)
    return index.copy() if isinstance(index, np.ndarray) else index


@hooked
def setitem(value: object, obj: Any, index: Any) -> None:
    """Do ``obj[index] = value``."""
    cls: Any = type(obj)
    if cls is list or cls is dict:
        if type(index) is slice:
            value = HOOKS["iterate"](value)
        if cls is list or type(index) in PLAIN:
            obj[index if cls is dict or type(index) is int else position(index)] = value
        else:
            natively(dict.__setitem__, obj, index, value)
        return
    if isinstance(obj, np.ndarray):
        if cls is not np.ndarray and followed(obj, "__setitem__") is not None:
            followed(obj, "__setitem__")(obj, index, value)  # type: ignore[misc]
            return
        write(obj, index, value)
        return
    method = followed(obj, "__setitem__")
    if method is not None:
        method(obj, index, value)
    elif isinstance(obj, np.flatiter):
        write(flat_of(obj), index, value)
    elif isinstance(obj, array.array):
        buffers.stored(obj, position(index), value)
    elif isinstance(obj, (dict, list)):
        natively(type(obj).__setitem__, obj, index, value)
    else:
        if RECORDING.tape.holds(value):
            raise refused(
                f"a value that carries a derivative, stored into a `{cls.__name__}`",
                "store it in a list, a dict or an array", "recording")
        obj[index] = value


@hooked
def setitem_again(value: object, obj: Any, index: int) -> None:
    """Do ``obj[index] = value`` at the end of ``obj[index] += ...``."""
    if type(obj) is np.ndarray and isinstance(value, np.ndarray) and value.base is not None and (
        value.base is obj or value.base is obj.base
    ):
        return  # a view, which was written in place
    setitem(value, obj, index)


def is_basic(index: Index) -> bool:
    """Say whether an index picks a view, or one element."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        (isinstance(part, (int, np.integer, slice)) and not isinstance(part, (bool, np.bool_)))
        or part is None or part is Ellipsis for part in parts)


def write(array: np.ndarray, index: Index, value: Any) -> None:
    """Do ``array[index] = value`` for an array."""
    tape, index = RECORDING.tape, position(index)
    array, value, index = plain(array), plain_in(value), plain(index)
    store: Any = functools.partial(np.ndarray.__setitem__, array)
    if array.dtype.hasobject:
        store(index, value)
        return
    if not isinstance(value, (np.ndarray, *NUMBERS)) and followed(value, "__float__") is not None:
        value = HOOKS["call"](float, value)
    active = tape.holds(value)
    if not active and not tape.is_held(array):
        natively(store, index, value)
        tape.note_written(array, index)
        return
    if isinstance(value, np.ndarray):
        tape.is_active_array(value)
    if active and array.dtype.kind not in "fc":
        raise refused(
            "a value that carries a derivative, written into an array of integers, which rounds it",
            "make an array of floats", "recording")
    if active and not isinstance(value, (np.ndarray, *NUMBERS)):
        value = HOOKS["gathered"](value)
    if isinstance(value, np.ndarray) and np.may_share_memory(array, value):
        value = HOOKS["copied"](value)
    index = kept_index(index)
    old = np.array(array[index])
    tape.count(old.nbytes)
    last = None if is_basic(index) else which_last(array, index)
    natively(store, index, value)
    tape.note_written(array, index)
    if active:
        tape.activate(array)
        if isinstance(value, np.ndarray):
            tape.hold(value)
    tape.entries.append(Write(array, index, old, value if active else None, last))


def which_last(array: np.ndarray, index: Index) -> np.ndarray | None:
    """Return where an index that repeats elements stands at the last of each; None: nowhere."""
    order = np.full(array.shape, -1, np.intp)
    shape = order[index].shape
    count = np.arange(int(np.prod(shape, dtype=np.intp))).reshape(shape)
    order[index] = count
    found = order[index] == count
    return None if found.all() else found


@hooked
def log(array: np.ndarray, old: np.ndarray) -> None:
    """Note that an array which entries read was written over with constants."""
    RECORDING.tape.note_written(array, ...)
    RECORDING.tape.entries.append(Write(array, ..., old, None, None))


@hooked
def delitem(obj: Any, index: int) -> None:
    """Do ``del obj[index]``."""
    method = followed(obj, "__delitem__")
    if method is not None:
        method(obj, index)
    else:
        del obj[index]


class Broadcast:
    """Stands for a ``np.broadcast`` of active arrays, which nobody iterates over."""

    def __init__(self, *args: Any) -> None:
        self.shape, self.numiter = np.broadcast_shapes(*map(np.shape, args)), len(args)
        self.nd = self.ndim = len(self.shape)
        self.size = int(np.prod(self.shape))


# -- iteration -------------------------------------------------------------------------------------


@hooked
def iterate(value: Any) -> Any:
    """Return what a loop over a value runs over: recorded items of arrays, else itself.

    Whether an item carries a derivative is asked when it is taken: an array of constants may have
    been written into by then.
    """
    cls = type(value)
    if cls in PLAIN:
        return value
    if isinstance(value, np.ndarray):
        if cls is not np.ndarray and (followed(value, "__iter__") or followed(
                value, "__getitem__")):
            return items_of(value)
        return items_of_array(value) if value.dtype.kind in "fcO" else value
    if isinstance(value, types.GeneratorType):
        return value if is_followed(value.gi_code) else stepped(value)
    if isinstance(value, array.array):
        return buffers.items(value)
    if cls is Broadcast or isinstance(value, np.broadcast):
        return items_of_broadcast(value)
    if isinstance(value, np.flatiter):
        return items_of_flat(value)
    if followed(value, "__iter__") is not None or (
        followed(value, "__getitem__") is not None and not hasattr(cls, "__iter__")
    ):
        return items_of(value)
    return value


@hooked
def spread(value: object) -> Any:
    """Return what is iterated over by what asks for its length first, as ``*value`` does."""
    if type(value) not in PLAIN:
        for name in ("__len__", "__length_hint__"):
            method = followed(value, name)
            if method is not None:
                method(value)
                break
    return iterate(value)


def items_of_array(array: np.ndarray) -> Iterator[Any]:
    """Iterate over an array, its items recorded."""
    for i in range(len(array)):
        yield of_array(array, i)


def items_of_flat(flat: np.flatiter[np.ndarray]) -> Iterator[Any]:
    """Iterate over what is left of ``array.flat``, its items recorded."""
    while flat.index < flat.base.size:
        place = flat.coords
        next(flat)
        yield getitem(flat.base, place)


def items_of_broadcast(value: Any) -> Iterator[Any]:
    """Iterate over a ``np.broadcast``, of which no array is active."""
    while True:
        if isinstance(value, Broadcast) or any(
            RECORDING.tape.is_active(each.base) for each in value.iters
        ):
            raise refused("the items of `np.broadcast` of arrays that carry a derivative",
                          "use np.broadcast_arrays", "recording")
        try:
            item = next(value)
        except StopIteration:
            return
        yield item


def stepped(generator: Iterator[object]) -> Iterator[Any]:
    """Iterate over a generator that was started outside of what is recorded, and is watched."""
    while True:
        try:
            item = watched(next, (generator,), {})
        except StopIteration:
            return
        yield item


@hooked
def unpacked(value: object, pattern: tuple[object, ...]) -> Iterator[Any]:
    """Iterate over a value, with items unpacked as the target of a loop wants."""
    for item in iterate(value):
        yield unpack(item, pattern)


@hooked
def unpack(value: Any, pattern: tuple[object, ...]) -> Any:
    """Return a value as items that Python unpacks into a target."""
    if type(value) not in (list, tuple):
        value = iterate(value)
    if not any(isinstance(part, tuple) for part in pattern):
        return value
    items = list(value)
    if "*" in pattern:
        first = pattern.index("*")
        after = len(pattern) - first - 1
        parts = pattern[:first] + (None,) * (len(items) - first - after) + pattern[first + 1 :]
    else:
        parts = pattern
    if len(parts) != len(items):
        return items  # Python says how many there are
    return [item if part is None else unpack(item, part)
            for item, part in zip(items, parts, strict=True)]


@hooked
def mapping(value: Any) -> Any:
    """Return what ``**value`` takes."""
    if type(value) is dict or followed(value, "keys") is None:
        return value
    keys = HOOKS["call"](HOOKS["attribute"](value, "keys"))
    return {key: getitem(value, key) for key in iterate(keys)}


UNMATCHED = frozenset({bool, int, float, complex, str, bytes, type(None), np.ndarray})
"""Classes of values whose parts patterns do not look at by code of a user."""


@hooked
def matched(value: object, names: tuple[str, ...], by_position: bool, compares: bool) -> Any:
    """Return the subject of a ``match``, whose parts patterns compare or read attributes of."""
    seen: set[int] = set()
    waiting = [value] if names or by_position or compares else []
    while waiting:
        part = waiting.pop()
        cls: Any = type(part)
        if id(part) in seen or cls in UNMATCHED:
            continue
        seen.add(id(part))
        wanted = (*names, *(getattr(cls, "__match_args__", ()) if by_position else ()))
        computed = [name for name in wanted if is_computed(cls, name)]
        eq = method_of(cls, "__eq__") if compares else None
        if eq is not None and eq.__code__.co_filename != "<string>":  # that of a data class
            computed.append("__eq__")
        if computed or method_of(cls, "__getattr__") is not None:
            raise refused(
                f"a pattern that reads {f'`.{computed[0]}`' if computed else 'attributes'} of a "
                f"`{cls.__name__}`, which a method computes", "read the attributes before",
                "recording")
        waiting += parts_of(part)
    return value


@hooked
def coroutine(name: str) -> None:
    """Refuse a coroutine that runs."""
    raise refused(f"the coroutine `{name}`", "write it without", "recording")


@hooked
def hashed(key: Callable[..., Any]) -> Any:
    """Return a key of a display; code in Python that is run to hash it is refused."""
    if type(key) not in PLAIN:
        natively(hash, key)
    return key


NAMED = ("functools", "dataclasses")
"""Modules whose descriptors only keep the name that a class tells them."""


@hooked
def made_class(cls: type) -> None:
    """Refuse a class that told its attributes their names, unseen."""
    for name, value in vars(cls).items():
        kind: Any = type(value)
        if method_of(kind, "__set_name__") is not None and kind.__module__ not in NAMED:
            raise refused(f"the attribute `{name}`, whose `__set_name__` a class statement calls",
                          "define the class outside of the function", "recording")


def is_computed(cls: type, name: str) -> bool:
    """Say whether code in Python gives an attribute of instances."""
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    kind: Any = type(found)
    return isinstance(found, property) or method_of(kind, "__get__") is not None


@hooked
def formatted(value: object, conversion: int, spec: str) -> str:
    """Return what an f-string shows: text carries no derivative."""
    function = {115: str, 114: repr, 97: ascii}.get(conversion)
    if function is not None:
        value = HOOKS["call"](function, value)
    made: str = HOOKS["call"](format, value, spec)
    return made


HOOKS.update(managed=managed, truth=truth, slice=slice)
