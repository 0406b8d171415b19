"""Adjoints of reading parts of arrays and lists: accumulation in place into one buffer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.errors import ArgumentsError, limitations
from adcompiler.runtime.aliases import buffer_of, storage
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.runtime.structure import add

WHOLE = slice(None)


def add_at(buffer: Any, index: Any, g: Any) -> Any:
    """Add ``g`` to ``buffer[index]`` in place and return ``buffer``; a tuple is made anew.

    None is the zero cotangent of what is of no known structure: ArgumentsError.

    ``buffer`` is an array, list, dict or tuple that the caller owns, or a number, of which all of
    ``g`` is. Repeated indices accumulate.
    The compiler prints the statement that the types of ``buffer`` and ``index`` allow, mostly
    ``buffer[index] += g``.
    """
    if isinstance(buffer, (int, float, complex)):  # ``x[..., None]`` of a NumPy number
        total = np.sum(g)
        return buffer + (total if isinstance(buffer, complex) else np.real(total)).item()
    if isinstance(buffer, np.generic):  # the sum of 0-d arrays
        buffer = np.array(buffer)
    if isinstance(buffer, np.ndarray):
        if buffer.dtype.kind == "f" and np.iscomplexobj(g):
            g = np.real(g)  # what is real has a real cotangent
        if is_basic(index):
            buffer[index] = buffer[index] + g  # a store, whether that is a number or a view
        else:
            accumulate(buffer, index, g)
    elif buffer is None:
        raise ArgumentsError(
            "a value is differentiated here of a class whose items are not followed; pass a list, "
            f"a tuple, a dict or an array\n  see {limitations()}#argument-types"
        )
    elif isinstance(buffer, tuple):
        items = add_at(list(buffer), index, g)
        return type(buffer)(*items) if hasattr(buffer, "_fields") else tuple(items)
    elif isinstance(index, slice):
        positions = range(len(buffer))[index]
        for position, item in zip(positions, g, strict=True):
            buffer[position] = add(buffer[position], item)
    else:
        buffer[index] = add(buffer[index], g)
    return buffer


def is_basic(index: Any) -> bool:
    """Say whether indexing an array by ``index`` is basic: a view without repeated elements."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice))
        for part in parts
    ) and not any(isinstance(part, (bool, np.bool_)) for part in parts)


def scatter(g: Any, index: Any, x: Any) -> Any:
    """Return the cotangent of ``x`` for ``x[index]`` with cotangent ``g``: zero elsewhere."""
    if isinstance(x, np.ndarray):
        return add_at(np.zeros_like(x), index, g)
    raise TypeError(f"cannot scatter into {type(x).__name__}")


MANY = 1_000
"""So many sums take longer than a look at the subscripts."""


def accumulate(array: Any, index: Any, value: Any) -> None:
    """Add ``value`` to ``array[index]``, once for each time that an element is named.

    That is ``np.add.at``, with the same sums in the same order. NumPy is several times as fast
    where array and subscripts have one axis; many sums are brought to this form where they can be.
    """
    places, ahead = index, 0
    if type(index) is tuple and index and all(
        type(part) is slice and part == WHOLE for part in index[:-1]
    ):
        places, ahead = index[-1], len(index) - 1
    if np.size(value) < MANY or not (
        type(places) is np.ndarray and places.dtype.kind in "iu" and places.size
        and type(array) is np.ndarray and array.flags.c_contiguous and array.size
        and array.ndim > ahead
    ) or np.may_share_memory(array, value):
        np.add.at(array, index, value)
        return
    shape, n = array.shape, array.shape[ahead]
    within = math.prod(shape[ahead + 1 :])
    if within != 1:
        if np.any(places < -n) or np.any(places >= n):
            np.add.at(array, index, value)  # which raises
        places = places.reshape(-1, 1).astype(np.intp)
        places = np.where(places < 0, places + n, places) * within + np.arange(within)
    many = np.broadcast_to(
        value, (*shape[:ahead], *np.shape(index[-1] if ahead else index), *shape[ahead + 1 :]))
    many = many.reshape(-1, *many.shape[ahead:])
    for part, added in zip(array.reshape(-1, n * within), many, strict=True):
        np.add.at(part, places.reshape(-1), added.reshape(-1))


def own(value: Any, copy: Callable[[Any], Any] | None = None) -> Any:
    """Return a copy of ``value`` that shares no storage with it: of arrays and what holds them.

    Axes of arrays keep their order in memory, unless ``copy`` copies them.
    """
    if isinstance(value, np.ndarray):
        return value.copy("K") if copy is None else copy(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(own(item, copy) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(own(item, copy) for item in value)
    if isinstance(value, dict):
        return {key: own(item, copy) for key, item in value.items()}
    if is_record(value):
        state = {name: own(item, copy) for name, item in state_of(value).items()}
        return record(type(value), **state)
    return value


def handed_out(
    value: Any, *copies: list[tuple[Any, Any]], kept: tuple[Any, ...] = ()
) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return what ``give_back`` takes, in storage of its own: a sweep restores what ``value`` has.

    In the copy one object is one object, wherever ``value`` holds it, and a view one of the copy.
    What the caller holds and the program did not write into, ``kept``, stays what it is.
    """
    made: dict[int, Any] = {id(part): part for part in storage(kept)}
    owners = {id(buffer_of(part)) for part in made.values() if isinstance(part, np.ndarray)}

    def copied(item: Any) -> Any:
        if id(item) in made:
            return made[id(item)]
        if isinstance(item, np.ndarray):
            new: Any = copied_array(item)
        elif isinstance(item, list):
            new = made[id(item)] = []
            new.extend(map(copied, item))
        elif isinstance(item, dict):
            new = made[id(item)] = {}
            new.update((key, copied(entry)) for key, entry in item.items())
        elif isinstance(item, tuple):
            items = map(copied, item)
            new = type(item)(*items) if hasattr(item, "_fields") else tuple(items)
        elif is_record(item):
            new = record(type(item), **{k: copied(part) for k, part in state_of(item).items()})
        else:
            return item
        made[id(item)] = new
        return new

    def copied_array(item: np.ndarray[Any, Any]) -> Any:
        owner = buffer_of(item)
        if id(owner) in owners:
            return item
        if owner is item or not isinstance(owner, np.ndarray):
            return item.copy("K")
        view = view_in(copied(owner), item, owner)
        return item.copy("K") if view is None else view

    found = copied(value)
    return found, [
        (original, made.get(id(copy), copy)) for pairs in copies for original, copy in pairs
    ]


def view_in(
    owner: np.ndarray[Any, Any], view: np.ndarray[Any, Any], other: np.ndarray[Any, Any]
) -> Any:
    """Return the part of ``owner`` that ``view`` is of ``other``, an array of the same layout.

    None if the elements of ``owner`` do not lie in memory as those of ``other`` do.
    """
    flat = owner.ravel("K")
    if owner.strides != other.strides or owner.dtype != other.dtype or not (
        np.may_share_memory(flat, owner)
    ):
        return None
    start = view.__array_interface__["data"][0] - other.__array_interface__["data"][0]
    return np.ndarray(view.shape, view.dtype, flat, start, view.strides)


def give_back(target: Any, value: Any, *copies: list[tuple[Any, Any]]) -> None:
    """Make ``target``, which belongs to the caller, what the program has made of it: ``value``.

    Of a container ``copies`` pairs what it held with the copies that the program worked on: where
    one of these is left, the caller's own object takes its content and its place. What is made
    anew for ``value`` is entered there, for other objects that hold it too.
    """
    if target is value:
        return
    if isinstance(target, np.ndarray):
        target[...] = value
        return
    mine = {id(copy): original for pairs in copies for original, copy in pairs}
    parts = {
        id(copy): (original, copy) for pairs in copies for original, copy in pairs
        if isinstance(copy, np.ndarray)
    }

    def caller_s(item: Any) -> Any:
        """Return the caller's object for what the program holds."""
        original = mine.pop(id(item), None)
        if original is None:
            return newly_held(item)
        fill(original, item)
        mine[id(item)] = original
        return original

    def newly_held(item: Any) -> Any:
        if isinstance(item, np.ndarray) and (pair := parts.get(id(buffer_of(item)))):
            view = view_in(pair[0], item, pair[1])
            return item if view is None else view
        if type(item) not in (list, tuple):
            return item
        new = mine[id(item)] = type(item)(map(caller_s, item))
        if copies and type(item) is list:
            copies[0].append((new, item))
        return new

    def fill(original: Any, item: Any) -> None:
        if isinstance(original, np.ndarray):
            if original is not item:
                original[...] = item
        elif isinstance(original, list):
            original[:] = list(map(caller_s, item))
        elif isinstance(original, dict):
            entries = {key: caller_s(entry) for key, entry in item.items()}
            original.clear()
            original.update(entries)
        elif isinstance(original, tuple):  # whose parts stay the objects that they are
            for old, entry in zip(original, item, strict=True):
                if id(entry) in mine:
                    caller_s(entry)
                else:
                    fill(old, entry)
        elif is_record(original):
            for name, entry in state_of(item).items():
                object.__setattr__(original, name, caller_s(entry))

    fill(target, value)


def paired(original: Any, copy: Any) -> list[tuple[Any, Any]]:
    """Return what a container holds, arrays and containers, each with its copy in ``copy``."""
    pairs: list[tuple[Any, Any]] = []

    def enter(one: Any, two: Any) -> None:
        if isinstance(one, np.ndarray):
            pairs.append((one, two))
        elif isinstance(one, (list, tuple)):
            if isinstance(one, list):
                pairs.append((one, two))
            for item, other in zip(one, two, strict=True):
                enter(item, other)
        elif isinstance(one, dict):
            pairs.append((one, two))
            for key, item in one.items():
                enter(item, two[key])
        elif is_record(one):
            pairs.append((one, two))
            others = state_of(two)
            for name, item in state_of(one).items():
                enter(item, others[name])

    enter(original, copy)
    return pairs


def last_written(g: Any, index: Any, x: Any) -> Any:
    """Return ``g``, the cotangent of ``x[index]``, as that of the values that are stored there.

    Where ``index`` names an element several times only the value stored last took effect: the
    others get zero.
    """
    if not isinstance(x, np.ndarray):
        return g  # keys and positions of containers name one item
    if is_basic(index):
        return np.array(g)
    g = np.asarray(g)
    order = np.full(x.shape, -1, np.intp)
    positions = np.arange(g.size).reshape(g.shape)
    order[index] = positions
    return np.where(order[index] == positions, g, np.zeros((), g.dtype))
