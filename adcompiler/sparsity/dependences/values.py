"""Values that depend on the inputs: what they are is not known, only what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from adcompiler.ir.atoms import Origin
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.sparsity.dependences import index_sets
from adcompiler.sparsity.dependences.index_sets import Array, Bag, Cells, Own, Shape, count
from adcompiler.sparsity.dependences.sets import EMPTY, Positions, Set, union, union_all


class Relation(NamedTuple):
    """A set of columns for each element of an array: ``common`` to all, and of its ``own``.

    A number has no sets of its own: everything is in ``common``.
    """

    common: Set
    own: Own


NOTHING = Relation(EMPTY, None)


class DecisionError(TypeError):
    """A function that is called as it is wants to know a value that depends on the inputs."""

    def __init__(self) -> None:
        super().__init__("a decision, or a key, that depends on the values of the inputs")
        self.origins: list[Origin] = []


class Dependent:
    """A number or array whose value depends on those of the inputs.

    ``first`` says which inputs each element depends on, by a derivative that may be nonzero;
    ``second`` which nonlinear operations went into it (see ``hessian``). ``shape`` is None if it
    is not known: then every element depends on everything in ``common``. ``value`` is the value
    itself where a local pattern is computed, else None. Where no derivative flows both relations
    are empty, and only the value is not known.

    ``zeros`` says which elements are zero whatever the inputs are, None if nothing is known of
    that. ``picked`` are an index that is not known, and the array whose elements it picked.
    ``token`` says who may write into the
    object (see ``updates``); ``shared`` that something else
    refers to its arrays; ``in_c_order`` that the array is known to lie in memory in C order, which
    only runs of programs whose meaning depends on it keep track of (see ``layouts``).
    """

    __slots__ = (
        "dtype", "first", "in_c_order", "picked", "second", "shape", "shared", "token", "value",
        "zeros",
    )

    def __init__(
        self, shape: Shape | None, dtype: DType, first: Relation = NOTHING,
        second: Relation = NOTHING, value: Value = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.first = first
        self.second = second
        self.value: Any = value
        self.token = -1
        self.shared = False
        self.in_c_order = False
        self.zeros: Array | None = None
        self.picked: tuple[Dependent, Any] | None = None

    @property
    def is_active(self) -> bool:
        """Whether a derivative flows through it."""
        return self.first != NOTHING or self.second != NOTHING

    def __bool__(self) -> bool:
        raise DecisionError

    def __hash__(self) -> int:
        raise DecisionError

    def __eq__(self, other: object) -> Any:
        raise DecisionError

    def __repr__(self) -> str:
        return f"Dependent({self.shape}, {self.dtype})"


Operand = Dependent | Array | complex
"""What arithmetic is done with: a number or array, known or one that depends on the inputs."""
Numbers = Operand | list[Any] | tuple[Any, ...]
"""What functions of arrays take: lists of numbers too."""
DType = np.dtype[Any] | type
"""What decides the dtypes of results: a dtype, or the class of a Python number."""
Axis = int | tuple[int, ...] | None
"""The axes that a function of arrays works along."""
PathStep = tuple[str, str, tuple[Any, ...], dict[str, Any], Callable[..., Any]]
"""A step from a value to a part of it: kind, name, arguments and function, as of an update."""


class Either:
    """One of two values that nothing describes together: an error only if it is used."""

    def __repr__(self) -> str:
        return "one of two values of different kinds"


class UnknownList:
    """A list whose length depends on the inputs; ``item`` is what is known of each of its items."""

    def __init__(self, item: Value) -> None:
        self.item = item


class UnknownShape:
    """The shape of an array that depends on the values of the inputs."""

    def __getitem__(self, index: Dependent) -> Any:
        return Dependent((), int)


Value = (
    Operand | Either | UnknownList | UnknownShape | str | bytes | slice | range | list[Any]
    | tuple[Any, ...] | dict[Any, Any] | np.dtype[Any] | type | None
)
"""What a variable of a pattern program is, objects of the user's own apart."""


class UnknownLengthError(Exception):
    """A number of elements, or of keys, depends on the values of the inputs."""


def shape_of(value: Any) -> Shape:
    """Return the shape of a number or array."""
    shape = value.shape if isinstance(value, Dependent) else np.shape(value)
    if shape is None:
        raise UnknownLengthError
    return shape


def dtype_of(value: Value) -> Any:
    """Return what decides the dtypes of results: a dtype, or the class of a Python number."""
    if isinstance(value, Dependent):
        return value.dtype
    return value.dtype if isinstance(value, (np.ndarray, np.generic)) else type(value)


def is_float(dtype: DType) -> bool:
    """Say whether numbers of a dtype carry derivatives."""
    if isinstance(dtype, type) and not issubclass(dtype, np.generic):
        return issubclass(dtype, (float, complex))
    return np.dtype(dtype).kind in "fcO"


def is_complex(dtype: DType) -> bool:
    """Say whether numbers of a dtype, or Python class, are complex, as far as is known."""
    return np.dtype(dtype).kind not in "fiub"


def primal(value: Value) -> Any:
    """Return a value with what depends on the inputs replaced by what it is here."""
    return map_dependents(lambda d: d.value, value)


# -- containers -------------------------------------------------------------------------------


def has_dependents(value: Any, inside: tuple[int, ...] = ()) -> bool:
    """Say whether a value is or contains a ``Dependent``, or something known even less.

    ``inside`` are the identities of the instances around it, which it may refer to.
    """
    if isinstance(value, (Dependent, Either, UnknownList, UnknownShape)):
        return True
    if isinstance(value, (list, tuple)):
        return any(has_dependents(item, inside) for item in value)
    if isinstance(value, dict):
        return any(has_dependents(item, inside) for item in value.values())
    if isinstance(value, slice):
        return has_dependents((value.start, value.stop, value.step))
    return is_record(value) and id(value) not in inside and any(
        has_dependents(item, (*inside, id(value))) for item in state_of(value).values())


def dependents_in(value: Value) -> Iterator[Dependent]:
    """Yield every ``Dependent`` in a value."""
    if isinstance(value, Dependent):
        yield value
    elif isinstance(value, UnknownList):
        yield from dependents_in(value.item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from dependents_in(item)
    elif isinstance(value, dict):
        yield from dependents_in(list(value.values()))
    elif isinstance(value, slice):
        yield from dependents_in((value.start, value.stop, value.step))
    elif is_record(value):
        yield from dependents_in(list(state_of(value).values()))


def map_dependents(change: Callable[[Dependent], Value], value: Value) -> Any:
    """Return a value with each ``Dependent`` in it replaced; the same object if there is none."""
    if isinstance(value, Dependent):
        return change(value)
    if isinstance(value, UnknownList):
        return UnknownList(map_dependents(change, value.item))
    if isinstance(value, (list, tuple)):
        items = [map_dependents(change, item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        changed = {key: map_dependents(change, item) for key, item in value.items()}
        return changed if any(changed[k] is not value[k] for k in value) else value
    if isinstance(value, slice) and has_dependents(value):
        parts = (value.start, value.stop, value.step)
        return slice(*(map_dependents(change, part) for part in parts))
    if is_record(value):
        state = state_of(value)
        fields = {name: map_dependents(change, item) for name, item in state.items()}
        if any(fields[name] is not state[name] for name in state):
            return record(type(value), **fields)
    return value


# -- relations --------------------------------------------------------------------------------


def settled(relation: Relation, shape: Shape | None) -> Relation:
    """Return a relation in which numbers, and arrays of unknown shape, have no own sets."""
    if relation.own is None or shape:
        return relation
    return Relation(union(relation.common, index_sets.everything(relation.own)), None)


def whole(relation: Relation) -> Set:
    """Return the union of all sets."""
    return union(relation.common, index_sets.everything(relation.own))


def unite(relations: Sequence[Relation], shape: Shape | None) -> Relation:
    """Return the union of relations of arrays of one shape, element by element."""
    if len(relations) == 1:
        return relations[0]
    common = union_all(r.common for r in relations)
    owns = [r.own for r in relations if r.own is not None]
    if not owns:
        return Relation(common, None)
    assert shape is not None
    return Relation(common, index_sets.union_of(owns, shape))


def moved(relation: Relation, change: Callable[[Array], Array]) -> Relation:
    """Return a relation after a movement of elements that leaves no gaps."""
    if relation.own is None:
        return relation
    return Relation(relation.common, index_sets.move(relation.own, change))


def stretched(relation: Relation, shape: Shape, wanted: Shape) -> Relation:
    """Return a relation broadcast to another shape."""
    if relation.own is None or shape == wanted:
        return relation
    if not shape:
        return Relation(whole(relation), None)
    return moved(relation, lambda array: np.broadcast_to(array, wanted))


def gathered(relation: Relation, positions: Positions) -> Relation:
    """Return, for each position (-1: an element that depends on nothing), the set there."""
    if not relation.common or not positions.size or positions.min() >= 0:
        common, kept = relation.common, None
    else:
        common, kept = EMPTY, index_sets.spread(relation.common, positions >= 0)
    own = index_sets.gather(relation.own, positions)
    if kept is not None:
        own = index_sets.union_of([own, kept], positions.shape)
    return settled(Relation(common, own), positions.shape)


def combined(
    relation: Relation, targets: Positions, positions: Positions, shape: Shape
) -> Relation:
    """Return sets for an array of ``shape``: those of all ``positions`` that go to a target."""
    own = index_sets.combine(relation.own, targets, positions, shape)
    if relation.common and len(targets):
        keep = np.zeros(count(shape), bool)
        keep[targets] = True
        if keep.all():
            return settled(Relation(relation.common, own), shape)
        kept = index_sets.spread(relation.common, keep.reshape(shape))
        own = index_sets.union_of([own, kept], shape)
    return settled(Relation(EMPTY, own), shape)


def masked(relation: Relation, keep: Array | bool, shape: Shape | None) -> Relation:
    """Return a relation with the sets of elements where ``keep`` is false made empty."""
    if np.all(keep):
        return relation
    if not np.any(keep):
        return NOTHING
    assert shape is not None
    keep = np.broadcast_to(keep, shape)
    own = index_sets.masked(relation.own, keep)
    kept = index_sets.spread(relation.common, keep)
    return Relation(EMPTY, index_sets.union_of([own, kept], shape))


def end_to_end(relations: Sequence[Relation], shapes: Sequence[Shape]) -> Relation:
    """Return the relation of arrays made flat and put one after the other."""
    sizes = [count(shape) for shape in shapes]
    common = relations[0].common
    if any(r.common != common for r in relations):
        owns = [
            index_sets.union_of([
                index_sets.move(r.own, np.ravel), index_sets.spread(r.common, np.ones(size, bool))
            ], (size,)) for r, size in zip(relations, sizes, strict=True)
        ]
        return Relation(EMPTY, index_sets.join_end_to_end(owns, sizes))
    owns = [index_sets.move(r.own, np.ravel) for r in relations]
    return Relation(common, index_sets.join_end_to_end(owns, sizes))


def element(relation: Relation, index: Dependent) -> Relation:
    """Return the relation of one element."""
    if relation.own is None:
        return relation
    return Relation(union(relation.common, index_sets.at(relation.own, index)), None)


def equal(a: Relation, b: Relation, shape: Shape | None) -> bool:
    """Say whether two relations are the same."""
    if a is b or (a.own is None and b.own is None):
        return a.common == b.common
    if a.common == b.common:
        return index_sets.equal(a.own, b.own, shape or ())
    everywhere = [index_sets.cells_of(r.own, r.common, shape or ()) for r in (a, b)]
    return bool(np.all(everywhere[0].array == everywhere[1].array))


def all_sets(values: Iterable[Dependent]) -> tuple[Set, Set]:
    """Return the unions of everything that values depend on, first and second."""
    first: Set = EMPTY
    second: Set = EMPTY
    for value in values:
        first = union(first, whole(value.first))
        second = union(second, whole(value.second))
    return first, second


def identity(start: int, shape: Shape) -> Relation:
    """Return the relation of an array whose elements are columns of their own, from ``start``."""
    if not shape:
        return Relation(frozenset([start]), None)
    return Relation(EMPTY, Bag((np.arange(start, start + count(shape)).reshape(shape),)))


def private(relation: Relation, shape: Shape) -> Relation:
    """Return a relation of the same sets whose arrays nothing else refers to."""
    match relation.own:
        case Bag(members):
            return Relation(relation.common, Bag(tuple(member.copy() for member in members)))
        case Cells(array):
            return Relation(relation.common, Cells(array.copy()))
    return relation
