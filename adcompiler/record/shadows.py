"""What entries do, and the cotangents and tangents that they move: beside numbers and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.record.tape import (
    Index, Number, Numeric, Step, Tape, bounds, overlaps, refuse_escaped,
)


class Entry:
    """One operation that is no operation of real numbers: those are tuples, see ``Tape``.

    ``pull`` moves cotangents from what it made to what it was made of, and gives what it wrote over
    its former content; ``push`` moves tangents the other way.
    """

    __slots__ = ()

    def pull(self, sweep: Sweep, slot: int) -> None:
        """Pull cotangents back."""
        raise NotImplementedError

    def push(self, tangents: Tangents, slot: int) -> None:
        """Push tangents forward."""
        raise NotImplementedError

    def again(self) -> None:
        """Do once more what ``pull`` has undone."""

    def made(self) -> list[Number]:
        """Return the numbers that the operation made."""
        return []

    def shown(self) -> str:
        """Return what the entry is, for people."""
        return type(self).__name__.lower()


class Shadows:
    """Numbers beside those of a tape: ``numbers`` by slot, and arrays beside its arrays.

    Beside an array that is read and written as a whole stands an array, ``whole``; none is zero,
    and none is changed. Once a view is asked for, bytes stand beside the allocation, laid out as it
    is, so that each view of an array has a view of these; that of a real part is the real part.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.numbers: list[Any] = []
        self.whole: dict[int, np.ndarray] = {}
        self.bytes: dict[int, tuple[np.ndarray, int]] = {}
        self.roots: dict[int, np.ndarray] = {}

    def is_whole(self, array: np.ndarray) -> bool:
        """Say whether no view was asked for in the memory of an array, which it owns."""
        key = id(array)
        return array.base is None and key not in self.bytes and key not in self.tape.groups

    def view(self, array: np.ndarray) -> np.ndarray:
        """Return the view beside an array of floats."""
        found = self.roots.get(id(array))
        if found is not None:
            return found
        root = self.tape.root(array)
        if id(root) not in self.bytes:
            self.lay_out(root)
        return self.roots[id(array)] if root is array else self.seen_from(root, array)

    def lay_out(self, root: np.ndarray) -> None:
        """Put bytes beside an allocation."""
        group = self.tape.groups.get(id(root))
        low, high = bounds(root) if group is None else (group.low, group.high)
        self.bytes[id(root)] = np.zeros(max(high - low, 1), np.uint8), low
        self.roots[id(root)] = found = self.seen_from(root, root)
        before = self.whole.pop(id(root), None)
        if before is not None:
            found[...] = before

    def seen_from(self, root: np.ndarray, array: np.ndarray) -> np.ndarray:
        """Return the view beside an array that lies where ``root`` does, of the bytes of that."""
        if not array.size:
            return np.zeros(array.shape, array.dtype)
        memory, low = self.bytes[id(root)]
        first = array.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, memory.data, first - low, array.strides)

    def put(self, array: np.ndarray, value: Numeric) -> None:
        """Put something beside an array, in the place of what stood there."""
        if self.is_whole(array):
            self.whole[id(array)] = np.array(np.broadcast_to(value, array.shape), array.dtype)
        else:
            self.view(array)[...] = value

    def beside(self, array: np.ndarray) -> np.ndarray:
        """Return what stands beside an array, which is not to be changed."""
        if self.is_whole(array):
            found = self.whole.get(id(array))
            return np.zeros(array.shape, array.dtype) if found is None else found
        return self.view(array)

    # -- what pullbacks do ---------------------------------------------------------------------

    def add(self, value: Numeric, g: Numeric | None) -> None:
        """Add to what stands beside a number or array; it is summed over broadcast axes."""
        if g is None:
            return
        tape = self.tape
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "fc" and tape.is_marked(value):
                self.add_to_array(value, g)
            return
        slot = tape.ids.get(id(value))
        if slot is not None:
            self.add_to_slot(slot, g, isinstance(value, (complex, np.complexfloating)))

    def add_to_slot(self, slot: int, g: Numeric, is_complex: bool = False) -> None:
        """Add to what stands beside a number."""
        if slot < 0:
            refuse_escaped()
        if isinstance(g, np.ndarray):
            g = g.sum()
        if not is_complex and isinstance(g, (complex, np.complexfloating)):
            g = g.real
        self.numbers[slot] += g

    def add_to_array(self, array: np.ndarray, g: Numeric) -> None:
        """Add to what stands beside an array, element by element or where elements overlap."""
        g = fitted(g, array)
        if self.is_whole(array):
            if g.dtype is not array.dtype:
                g = g.astype(array.dtype)
            before = self.whole.get(id(array))
            self.whole[id(array)] = g if before is None else np.asarray(before + g)
            return
        place = self.view(array)
        if overlaps(array):
            place, g = apart(place, g)
            if place is None:
                return
        if place.ndim:
            place += g
        else:
            place[()] += g

    def take(self, array: np.ndarray) -> np.ndarray | None:
        """Return what stands beside an array, and put zeros there; None for zeros."""
        if self.is_whole(array):
            return self.whole.pop(id(array), None)
        g: Any = None
        for place in self.views(array):
            g = place.copy() if g is None else g + place
            place[...] = 0
        if not g.any():
            return None
        return once(g, array) if overlaps(array) else g

    def views(self, array: np.ndarray) -> list[np.ndarray]:
        """Return what stands beside the memory of an array: for each argument that lies there."""
        root = self.tape.root(array)
        found = [self.view(array)]
        group = self.tape.groups.get(id(root))
        if group is not None:
            for member in group.members:
                if member is not root:
                    self.view(member)
                    found.append(self.seen_from(member, array))
        return found

    def take_number(self, slot: int) -> Any:
        """Return what stands beside a number, and put zero there."""
        g, self.numbers[slot] = self.numbers[slot], 0.0
        return g


def apart(place: np.ndarray, g: np.ndarray) -> tuple[Any, Any]:
    """Return a view without axes of stride 0, and the sums along them; (None, None) once added.

    Elements that overlap in other ways get their parts one by one.
    """
    axes = tuple(
        i for i, stride in enumerate(place.strides) if stride == 0 and place.shape[i] != 1)
    if axes:
        g = g.sum(axes, keepdims=True)
        place = place[tuple(slice(0, 1) if i in axes else slice(None) for i in range(place.ndim))]
    if overlaps(place):
        for index in np.ndindex(place.shape):
            place[index] += g[index]
        return None, None
    return place, g


def once(g: np.ndarray, array: np.ndarray) -> np.ndarray:
    """Return a cotangent without those of elements that lie where an earlier one does."""
    places = sum(np.ix_(*(
        np.arange(n) * stride for n, stride in zip(array.shape, array.strides, strict=True))))
    _, first = np.unique(np.broadcast_to(places, array.shape), return_index=True)
    kept = np.zeros(array.size, bool)
    kept[first] = True
    return np.where(kept.reshape(array.shape), g, 0)


def fitted(cotangent: Numeric, like: np.ndarray) -> np.ndarray:
    """Return a cotangent in the shape of what was broadcast, real where that is."""
    g: np.ndarray = np.asarray(cotangent)
    if g.dtype is like.dtype and g.shape == like.shape:
        return g
    if g.dtype.kind == "c" and like.dtype.kind == "f":
        g = g.real
    shape = like.shape
    if g.shape != shape:
        extra = g.ndim - len(shape)
        if extra > 0:
            g = g.sum(tuple(range(extra)))
        axes = tuple(
            i for i, (n, m) in enumerate(zip(g.shape, shape, strict=False)) if m == 1 and n != 1)
        if axes and extra >= 0:
            g = g.sum(axes, keepdims=True)
        if g.shape != shape:
            g = np.broadcast_to(g, shape)
    return g


class Sweep(Shadows):
    """The cotangents of one sweep over a tape, from its end to its start."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        self.numbers = [0.0] * len(tape.entries)

    def run(self) -> None:
        """Pull all cotangents back; what the run wrote is there again afterwards."""
        with np.errstate(all="ignore"):  # as slopes divide by zero
            self.run_all()

    def run_all(self) -> None:
        """Pull all cotangents back."""
        entries, numbers = self.tape.entries, self.numbers
        slot = len(entries)
        try:
            while slot:
                slot -= 1
                entry = entries[slot]
                if type(entry) is not tuple:
                    entry.pull(self, slot)
                    continue
                g = numbers[slot]
                if g == 0 or len(entry) == 1:  # zero stays zero through an infinite slope
                    continue
                _, i, di, j, dj, _ = entry
                if (i is not None and i < 0) or (j is not None and j < 0):
                    refuse_escaped()
                if i is not None:
                    numbers[i] += g * di
                if j is not None:
                    numbers[j] += g * dj
        finally:
            for entry in entries[slot:]:
                if type(entry) is not tuple:
                    entry.again()


class Tangents(Shadows):
    """The tangents of what a tape holds.

    ``kept`` has those of what was written over, by the identity of the entry, for second
    derivatives.
    """

    def __init__(self, tape: Tape, second: bool = False) -> None:
        super().__init__(tape)
        self.numbers = [0.0] * len(tape.entries)
        self.second = second
        self.kept: dict[int, list[tuple[np.ndarray, Any, np.ndarray]]] = {}

    def keep(self, entry: Entry, view: np.ndarray, index: Index, old: Numeric) -> None:
        """Keep the tangents of what an entry writes over."""
        if self.second:
            self.kept.setdefault(id(entry), []).append((view, index, np.array(old)))

    def push(self, entry: Entry | Step | tuple[Number], slot: int) -> None:
        """Push tangents through an operation."""
        if isinstance(entry, Entry):
            entry.push(self, slot)
        elif len(entry) > 1:
            _, i, di, j, dj, _ = entry
            d = 0.0
            for k, slope in ((i, di), (j, dj)):
                if k is not None and self.numbers[k] != 0:
                    d += self.numbers[k] * slope
            self.numbers[slot] = d
