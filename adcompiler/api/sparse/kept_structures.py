"""Structures that a sparse derivative keeps, by what they depend on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, replace
from typing import Any, TypeVar

from adcompiler.api.sparse.structure import Structure
from adcompiler.api.sparse.watched_patterns import Point, Watched
from adcompiler.sparsity.dependences.fingerprints import fingerprint, shape_of
from adcompiler.sparsity.dependences.structures import structure_of
from adcompiler.support.structs import dataclass

K = TypeVar("K")
V = TypeVar("V")
MAX_KEPT = 16


@dataclass(eq=False)
class OfShapes:
    """The structures for arguments of the same shapes.

    ``looked`` are the positions of the other arguments whose values they depend on.
    """

    looked: frozenset[int] = frozenset()
    structures: dict[Any, Structure] = field(default_factory=dict)


class KeptStructures:
    """The structures that were used last: by the values of all other arguments, and by shapes."""

    def __init__(self) -> None:
        self.by_values: OrderedDict[Any, Structure] = OrderedDict()
        self.by_shapes: OrderedDict[Any, OfShapes] = OrderedDict()

    def clear(self) -> None:
        """Forget all structures."""
        self.by_values.clear()
        self.by_shapes.clear()

    def last(self) -> Structure | None:
        """Return the structure that was used last, None if there is none."""
        return next(reversed(self.by_values.values()), None)

    def structure(
        self, at: Point, others: Mapping[int, Any], is_local: bool,
        find: Callable[[frozenset[int]], Watched], make: Callable[[Watched], Structure],
    ) -> Structure:
        """Return the structure for arguments; ``others`` are those that are not differentiated.

        ``find`` looks for the pattern, given the positions of those whose values are known to
        decide something; ``make`` makes a structure of it.
        """
        values = fingerprint(list(others.values()))
        point = fingerprint(at.wanted) if is_local else ()
        key = shape_of(at.wanted), values, point
        found = self.by_values.get(key)
        if found is None or not found.watched.holds():
            shapes = shape_of(at.wanted), shape_of(list(others.values()))
            kept = self.by_shapes.pop(shapes, None) or OfShapes()
            found = self.by_values[key] = self.found(kept, others, point, find, make)
            self.by_shapes[shapes] = kept
            shorten(self.by_values)
            shorten(self.by_shapes)
        self.by_values.move_to_end(key)
        return found.used_for(values)

    @staticmethod
    def found(
        kept: OfShapes, others: Mapping[int, Any], point: Hashable,
        find: Callable[[frozenset[int]], Watched], make: Callable[[Watched], Structure],
    ) -> Structure:
        """Return the structure for other arguments of new values: one that is kept, or a new one.

        Where their values decide something the pattern is found anew, and a local one at each
        ``point``. If it is one that is kept, or a part of it, that is kept.
        """
        def key() -> Any:
            return point, fingerprint([
                value if i in kept.looked or point else structure_of(value)
                for i, value in others.items()])

        found = kept.structures.get(key())
        if found is not None and found.watched.holds():
            return found
        watched = find(kept.looked)
        if not watched.looked <= kept.looked:
            kept.looked |= watched.looked
            kept.structures.clear()
        found = next((
            replace(one, watched=watched) for one in reversed(kept.structures.values())
            if one.covers(watched.pattern)), None)
        found = kept.structures[key()] = make(watched) if found is None else found
        shorten(kept.structures)
        return found


def shorten(kept: dict[K, V]) -> None:
    """Drop the oldest entries of what is too long."""
    while len(kept) > MAX_KEPT:
        del kept[next(iter(kept))]


__all__ = ["KeptStructures"]
