"""Entries of a tape for arrays and complex numbers, and what they pull back and push forward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adcompiler.dispatch.trees import children
from adcompiler.record.shadows import Entry, Sweep, Tangents
from adcompiler.record.tape import NUMBERS, Index, Number, Numeric
from adcompiler.runtime.adjoints.indexing import accumulate
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON


def times(g: Numeric, slope: Numeric) -> Any:
    """Return a cotangent or tangent times a slope; zero stays zero where the slope is infinite."""
    if type(slope) is float and slope - slope == 0:
        return g if slope == 1.0 else g * slope
    found = g * slope
    if isinstance(found, np.ndarray):
        some = np.add.reduce(found, None)
        if some - some != 0:
            found = np.where((g == 0) & ~np.isnan(slope), 0.0, found)
    elif found != found and g == 0 and slope == slope:
        return 0.0
    return found


def conjugate(slope: Numeric) -> Any:
    """Return the conjugate of a slope, itself if it is real."""
    if type(slope) is float:
        return slope
    return np.conj(slope) if isinstance(slope, (complex, np.complexfloating)) or (
        isinstance(slope, np.ndarray) and slope.dtype.kind == "c") else slope


def plain(value: Any) -> Any:
    """Return a number of a derived class as one of the class that it derives from."""
    cls = type(value)
    if cls is np.ndarray or cls is float or cls.__flags__ & CLASS_KIND != OF_PYTHON or (
        issubclass(cls, np.ndarray)
    ):
        return value
    if isinstance(value, float):
        return float.__mul__(value, 1.0)
    if isinstance(value, int):
        return int.__add__(value, 0)
    return complex.__mul__(value, 1.0) if isinstance(value, complex) else value


def pairs(value: Any, tree: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over the numbers and arrays of a value, each with what stands in a tree for it.

    Where the tree has None there is nothing.
    """
    if tree is None:
        return
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        for place in np.ndindex(value.shape):
            yield from pairs(value[place], np.asarray(tree)[place])
    elif isinstance(value, (np.ndarray, *NUMBERS)):
        yield value, tree
    else:
        beside = children(tree)
        for key, part in children(value).items():
            yield from pairs(part, beside.get(key))


def leaves(value: Any) -> Iterator[Any]:
    """Iterate over the numbers and arrays of a value."""
    for leaf, _ in pairs(value, value):
        yield leaf


def mapped(function: Callable[..., Any], value: Any) -> Any:
    """Return lists, tuples and dicts with a function of what they hold, however deep."""
    cls = type(value)
    if cls is list or cls is tuple:
        return cls([mapped(function, item) for item in value])
    if cls is dict:
        return {key: mapped(function, item) for key, item in value.items()}
    return function(value)


class Made(Entry):
    """An operation with one ``result``, a number or an array of its own.

    ``args`` are what the sweep reads beside it.
    """

    __slots__ = ("result",)
    args: tuple[Numeric, ...] = ()
    result: Numeric | None

    def made(self) -> list[Number]:
        return [] if isinstance(self.result, np.ndarray | None) else [self.result]

    def taken(self, sweep: Sweep, slot: int) -> Any:
        """Return the cotangent of the result, None if it is zero."""
        if isinstance(self.result, np.ndarray):
            return sweep.take(self.result)
        g = sweep.take_number(slot)
        return None if g == 0 else g

    def give(self, tangents: Tangents, slot: int, d: Numeric) -> None:
        """Set the tangent of the result."""
        if isinstance(self.result, np.ndarray):
            tangents.put(self.result, d)
        else:
            tangents.numbers[slot] = d


def tangent_of(tangents: Tangents, value: Numeric) -> Any:
    """Return the tangent of a number or array, None if it is not active."""
    tape = tangents.tape
    if isinstance(value, np.ndarray):
        return tangents.beside(value) if value.dtype.kind in "fc" and tape.is_marked(
            value) else None
    slot = tape.slot(value)
    return None if slot is None else tangents.numbers[slot]


class Elementwise(Made):
    """A function of numbers or arrays, element by element, with known slopes."""

    __slots__ = ("args", "function", "slopes")

    def __init__(
        self, function: Callable[..., Any], args: tuple[Numeric, ...], result: Numeric,
        slopes: Sequence[Callable[..., Any]],
    ) -> None:
        self.function, self.args, self.result, self.slopes = function, args, result, slopes

    def pull(self, sweep: Sweep, slot: int) -> None:
        g = self.taken(sweep, slot)
        if g is None:
            return
        tape = sweep.tape
        for arg, slope in zip(self.args, self.slopes, strict=True):
            if isinstance(arg, np.ndarray):
                if arg.dtype.kind in "fc" and tape.is_marked(arg):
                    sweep.add_to_array(arg, times(g, conjugate(slope(*self.given))))
            elif id(arg) in tape.ids:
                sweep.add(arg, times(g, conjugate(slope(*self.given))))

    @property
    def given(self) -> tuple[Any, ...]:
        """What slopes take: the arguments and the result, as numbers of plain classes."""
        return *map(plain, self.args), plain(self.result)

    def push(self, tangents: Tangents, slot: int) -> None:
        total: Any = 0.0
        with np.errstate(all="ignore"):
            for arg, slope in zip(self.args, self.slopes, strict=True):
                d = tangent_of(tangents, arg)
                if d is not None:
                    total = total + times(d, slope(*self.given))
        self.give(tangents, slot, total)

    def shown(self) -> str:
        return getattr(self.function, "__name__", "operation")


class Linear(Made):
    """An operation given by what it does to tangents, and its adjoint."""

    __slots__ = ("adjoint", "along", "arg", "name")

    def __init__(
        self, name: str, arg: Numeric, result: Numeric, along: Callable[..., Numeric],
        adjoint: Callable[..., Numeric],
    ) -> None:
        self.name, self.arg, self.result = name, arg, result
        self.along, self.adjoint = along, adjoint

    def pull(self, sweep: Sweep, slot: int) -> None:
        g = self.taken(sweep, slot)
        if g is not None:
            sweep.add(self.arg, self.adjoint(g))

    def push(self, tangents: Tangents, slot: int) -> None:
        d = tangent_of(tangents, self.arg)
        self.give(tangents, slot, 0.0 if d is None else self.along(d))

    def shown(self) -> str:
        return self.name


class Product(Made):
    """A matrix product of arrays of one or two axes."""

    __slots__ = ("a", "b")

    def __init__(self, a: np.ndarray, b: np.ndarray, result: Numeric) -> None:
        self.a, self.b, self.result = a, b, result

    def pull(self, sweep: Sweep, slot: int) -> None:
        g = self.taken(sweep, slot)
        if g is None:
            return
        a, b = self.a, self.b
        if sweep.tape.is_active(a):
            other = conjugate(b.T)
            sweep.add(a, g @ other if b.ndim == 2 else (
                np.multiply.outer(g, other) if a.ndim == 2 else g * other))
        if sweep.tape.is_active(b):
            other = conjugate(a.T)
            sweep.add(b, other @ g if a.ndim == 2 else (
                np.multiply.outer(other, g) if b.ndim == 2 else g * other))

    def push(self, tangents: Tangents, slot: int) -> None:
        da, db = tangent_of(tangents, self.a), tangent_of(tangents, self.b)
        total: Any = 0.0
        if da is not None:
            total = total + da @ self.b
        if db is not None:
            total = total + self.a @ db
        self.give(tangents, slot, total)

    def shown(self) -> str:
        return "matmul"


class Gather(Made):
    """Elements of an array, picked by indices into an array of their own; or one number."""

    __slots__ = ("array", "index")

    def __init__(self, array: np.ndarray, index: Index, result: Numeric) -> None:
        self.array, self.index, self.result = array, index, result

    def pull(self, sweep: Sweep, slot: int) -> None:
        g = self.taken(sweep, slot)
        if g is not None:
            place = sweep.view(self.array)
            if isinstance(self.result, np.ndarray):
                accumulate(place, self.index, g)
            else:
                place[self.index] += g

    def push(self, tangents: Tangents, slot: int) -> None:
        self.give(tangents, slot, tangents.beside(self.array)[self.index])

    def shown(self) -> str:
        return "getitem"


class Gathered(Made):
    """An array made of the numbers and arrays in containers, in order."""

    __slots__ = ("leaves",)
    result: np.ndarray

    def __init__(self, leaves: list[tuple[tuple[int, ...], Numeric]], result: np.ndarray) -> None:
        self.leaves, self.result = leaves, result

    def pull(self, sweep: Sweep, slot: int) -> None:
        g = self.taken(sweep, slot)
        if g is not None:
            for place, leaf in self.leaves:
                part = g[place]
                if part.any():
                    sweep.add(leaf, part)

    def push(self, tangents: Tangents, slot: int) -> None:
        view = tangents.view(self.result)
        view[...] = 0
        for place, leaf in self.leaves:
            d = tangent_of(tangents, leaf)
            if d is not None:
                view[place] = d

    def shown(self) -> str:
        return "array"


class Write(Entry):
    """A value written into an array, or a part of it; ``old`` is what stood there.

    ``value`` is None where what is written is not active. ``last`` says, of an index that names an
    element more than once, which of the values stays.
    """

    __slots__ = ("array", "index", "last", "old", "value")

    def __init__(
        self, array: np.ndarray, index: Index, old: np.ndarray, value: Numeric | None,
        last: np.ndarray | None,
    ) -> None:
        self.array, self.index, self.old, self.value, self.last = array, index, old, value, last

    def pull(self, sweep: Sweep, slot: int) -> None:
        self.again()
        if not sweep.tape.is_marked(self.array) or self.array.dtype.kind not in "fc":
            return
        g: Any = 0.0
        for place in sweep.views(self.array):
            g = g + place[self.index]
            place[self.index] = 0
        if self.value is not None:
            sweep.add(self.value, g if self.last is None else g * self.last)

    def again(self) -> None:
        now = np.array(self.array[self.index])
        writable = self.array.flags.writeable
        if not writable:
            self.array.flags.writeable = True
        self.array[self.index] = self.old
        self.old = now
        if not writable:
            self.array.flags.writeable = False

    def push(self, tangents: Tangents, slot: int) -> None:
        if not tangents.tape.is_marked(self.array) or self.array.dtype.kind not in "fc":
            return
        d = None if self.value is None else tangent_of(tangents, self.value)
        for view in tangents.views(self.array):
            tangents.keep(self, view, self.index, view[self.index])
            view[self.index] = 0 if d is None else d

    def shown(self) -> str:
        return "setitem"
