"""Reading and writing parts of arrays, containers and instances."""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.runtime import is_basic
from adcompiler.runtime.adjoints.shaping import laid_out_as
from adcompiler.sparsity.dependences import index_sets
from adcompiler.sparsity.dependences.index_sets import Array, Cells, Shape, count
from adcompiler.sparsity.dependences.layouts import places_in
from adcompiler.sparsity.dependences.sets import EMPTY, Set, union
from adcompiler.sparsity.dependences.values import (
    NOTHING, Dependent, Numbers, PathStep, Relation, UnknownList, Value, all_sets,
    combined, dependents_in, dtype_of, element, end_to_end, gathered, has_dependents,
    map_dependents, moved, private, settled, shape_of, stretched, whole,
)
from adcompiler.sparsity.interpreter.joining import join, join_all
from adcompiler.sparsity.interpreter.run import CONSTANT, Run
from adcompiler.sparsity.interpreter.table import Refusal


def get_item(run: Run, obj: Any, index: Any) -> Any:
    """Return ``obj[index]``."""
    if not isinstance(obj, Dependent):
        if isinstance(obj, UnknownList):
            return obj if isinstance(index, slice) else obj.item
        if has_dependents(index):
            return get_unknown(run, obj, index)
        return obj[index]
    if obj.shape is None or obj.dtype is str or has_dependents(index):
        return get_unknown(run, obj, index)
    value = None if obj.value is None else obj.value[index]
    if is_place(obj.shape, index):
        first, second = element(obj.first, index), element(obj.second, index)
        return run.made((), np.dtype(obj.dtype), first, second, value)
    obj.shared = obj.shared or is_basic(index)  # what is picked otherwise is a copy
    shape = np.broadcast_to(False, obj.shape)[index].shape
    first, second = (
        settled(moved(r, lambda array: np.asarray(array[index])), shape)
        for r in (obj.first, obj.second)
    )
    return run.made(shape, obj.dtype, first, second, value)


def is_place(shape: Shape | None, index: Value) -> bool:
    """Say whether an index names one element; raises IndexError if there is none."""
    if not shape:
        return False
    if type(index) is tuple and len(index) == len(shape):
        for i, extent in zip(index, shape, strict=True):
            if type(i) is not int and not isinstance(i, np.integer):
                return False
            if not -extent <= i < extent:
                raise IndexError(f"index {i} is out of bounds for axis with size {extent}")
        return True
    if len(shape) == 1 and (type(index) is int or isinstance(index, np.integer)):
        if not -shape[0] <= index < shape[0]:
            raise IndexError(f"index {index} is out of bounds for axis with size {shape[0]}")
        return True
    return False


def get_unknown(run: Run, obj: Any, index: Any) -> Any:
    """Return ``obj[index]`` where the index, or the shape, depends on the inputs."""
    run.doubts += 1
    if isinstance(obj, str) or dtype_of(obj) is str:
        return Dependent((), str)
    if isinstance(obj, (list, tuple, dict)):
        found = join_all(obj.values() if isinstance(obj, dict) else obj)
        return UnknownList(found) if isinstance(index, slice) else found
    shape, dtype = shape_after(obj, index), dtype_of(obj)
    if not isinstance(obj, Dependent):
        found = Dependent(shape, dtype)
    else:
        first, second = narrowed(obj, index)
        found = Dependent(shape, dtype, Relation(first, None), Relation(second, None))
    run.note_full(found, (obj,))
    if picks_elements(obj, index):
        for one in (obj, index):
            if isinstance(one, Dependent):
                one.shared = True  # what is written into later is another object
        found.picked = index, obj if isinstance(obj, Dependent) else np.array(obj)
    return found


def picks_elements(obj: Value, index: Value) -> bool:
    """Say whether an index that is not known picks elements, or rows, of an array.

    What is computed of them element by element, and stored at the same index again, depends on the
    elements that are there.
    """
    if not isinstance(index, Dependent) or not isinstance(obj, (Dependent, np.ndarray)):
        return False
    shape = obj.shape
    if not shape or index.shape == ():
        return False
    is_mask = np.dtype(index.dtype).kind == "b"
    return index.shape == shape if is_mask else len(shape) == 1


def narrowed(obj: Dependent, index: Value) -> tuple[Any, Any]:
    """Return everything that ``obj[index]`` may depend on: known parts of the index narrow it."""
    parts = index if isinstance(index, tuple) else (index,)
    if obj.shape is None or any(p is Ellipsis or p is None for p in parts):
        return whole(obj.first), whole(obj.second)
    if any(isinstance(p, (list, np.ndarray)) for p in parts) or any(
        isinstance(p, Dependent) and p.dtype in (bool, np.dtype(bool)) for p in parts
    ):
        return whole(obj.first), whole(obj.second)
    known = tuple(slice(None) if has_dependents(p) else p for p in parts)
    positions = np.arange(count(obj.shape)).reshape(obj.shape)[known]
    first, second = (
        whole(gathered(moved(r, np.ravel), np.asarray(positions))) for r in (obj.first, obj.second)
    )
    return first, second


def shape_after(obj: Numbers, index: Value) -> Shape | None:
    """Return the shape of ``obj[index]``, None if it depends on the inputs."""
    shape = obj.shape if isinstance(obj, Dependent) else np.shape(obj)
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, slice) and has_dependents(part):
            return None
        if any(d.shape is None or d.dtype in (bool, np.dtype(bool)) for d in dependents_in(part)):
            return None
    if shape is None:
        return None
    zeros = map_dependents(lambda d: np.zeros(d.shape or (), int)[()], index)
    found: Shape = np.broadcast_to(False, shape)[zeros].shape
    return found


# -- writing ---------------------------------------------------------------------------------------


def updated(run: Run, obj: Any, steps: Sequence[PathStep], value: Any, adds: bool) -> Any:
    """Return ``obj`` with the part that ``steps`` lead to replaced, or increased, by ``value``."""
    kind, name, args, *_ = steps[0]
    if isinstance(obj, (Dependent, np.ndarray)):
        return updated_array(run, obj, steps, value, adds)
    if kind == "attr":
        part = getattr(obj, name)
    elif kind == "item":
        part = None
        if len(steps) > 1 or adds:
            part = get_item(run, obj, args[0])
    else:
        raise Refusal("a write through a call of a method of a container", 'mode="local"')
    if len(steps) > 1:
        value = updated(run, part, steps[1:], value, adds)
    elif adds:
        value = added(run, part, value)
    if kind == "item" and (has_dependents(args[0]) or isinstance(obj, UnknownList)):
        return written_somewhere(run, obj, args[0], value)
    if isinstance(obj, tuple):
        items = list(obj)
        items[args[0]] = value
        return type(obj)(*items) if hasattr(obj, "_fields") else tuple(items)
    obj = writable(run, obj)
    if kind == "attr":
        object.__setattr__(obj, name, value)
    else:
        obj[args[0]] = value
    return obj


def written_somewhere(run: Run, obj: Value, index: Value, value: Value) -> Any:
    """Return a list in which any item may have been replaced."""
    if isinstance(obj, UnknownList):
        return UnknownList(join(obj.item, value))
    if not isinstance(obj, list) or not isinstance(index, Dependent):
        raise Refusal("a key that depends on the inputs", 'mode="local"')
    return [join(item, value) for item in obj]


WHOLE: Any = Ellipsis
FEW = 32
"""A part of an array of less than one element in so many is written in place."""


def added(run: Run, part: Value, value: Array) -> Any:
    """Return the sum of two values of one structure."""
    return run.call(np.add if isinstance(part, np.ndarray) else _plus, (part, value), {})


_plus = operator.add


def writable(run: Run, obj: Value) -> Any:
    """Return an object that may be written into: a copy, if another arm of a branch has it too."""
    if run.owned is None or id(obj) in run.owned:
        return obj
    made = copy.copy(obj)
    run.owned[id(made)] = made
    return made


def updated_array(run: Run, obj: Any, steps: Sequence[PathStep], value: Any, adds: bool) -> Any:
    """Return an array with a part of it replaced."""
    unknown = has_dependents([step[2] for step in steps])
    if not isinstance(obj, Dependent) and not has_dependents(value) and not unknown:
        made = writable(run, obj)
        part = followed(made, steps[:-1])
        kind, _, args, _, _ = steps[-1]
        if kind != "item":
            part, index = followed(part, steps[-1:]), WHOLE
        else:
            index = args[0]
        if adds:
            np.add.at(part, index, value)
        else:
            part[index] = value
        return made
    run.doubts += 1
    obj = own_dependent(run, obj)
    if obj.value is not None:
        write_value(obj, steps, value, adds)
    if isinstance(value, (list, tuple)):
        value = run.call(np.asarray, (value,), {})
    at_elements = stored_at_elements(obj, steps, value)
    if at_elements is not None:
        places = np.arange(count(obj.shape)).reshape(obj.shape)
        for which in ("first", "second"):
            new = getattr(at_elements, which, NOTHING)
            setattr(obj, which, replaced(getattr(obj, which), obj.shape, places, new, True))
        obj.zeros = None
        return obj
    if unknown or obj.shape is None or (isinstance(value, Dependent) and value.shape is None):
        obj.zeros = None
        first, second = all_sets(dependents_in(value))
        common = Relation(union(obj.first.common, first), obj.first.own)
        obj.first = common
        obj.second = Relation(union(obj.second.common, second), obj.second.own)
        return obj
    last = steps[-1]
    if len(steps) == 1 and last[0] == "item" and is_place(obj.shape, last[2][0]):
        given = value if isinstance(value, Dependent) else CONSTANT
        if obj.zeros is not None:
            obj.zeros[last[2][0]] = False
        obj.first = put(obj.first, obj.shape, last[2][0], whole(given.first), adds)
        obj.second = put(obj.second, obj.shape, last[2][0], whole(given.second), adds)
        return obj
    places, in_part = places_of(obj, steps)
    if obj.zeros is not None:
        obj.zeros.reshape(-1)[np.ravel(places)] = False
    for which in ("first", "second"):
        new = stretched(getattr(value, which, NOTHING), shape_of(value), np.shape(places))
        setattr(obj, which, replaced(getattr(obj, which), obj.shape, places, new, adds or in_part))
    return obj


def stored_at_elements(obj: Dependent, steps: Sequence[PathStep], value: Value) -> Any:
    """Return what of an array of the same shape is stored at an index that is not known.

    None if that is not known either. Some elements may stay as they are.
    """
    kind, _, args, *_ = steps[0]
    if len(steps) != 1 or kind != "item" or not picks_elements(obj, args[0]):
        return None
    if not isinstance(value, Dependent):
        return CONSTANT
    if value.picked is None or value.picked[0] is not args[0]:
        return None
    whole_array = value.picked[1]
    if shape_of(whole_array) != obj.shape:
        return None
    return whole_array if isinstance(whole_array, Dependent) else CONSTANT


def places_of(obj: Dependent, steps: Sequence[PathStep]) -> tuple[Any, bool]:
    """Return the positions of the elements that steps lead to, and whether to a part of each.

    The real part of a complex number, say, is a part: the others are still in the element after a
    store. What a view of another dtype shows is found in memory that has positions as its bits.
    """
    places = places_in(obj, steps)
    dtype = np.dtype(obj.dtype)
    if all(step[0] == "item" for step in steps):
        return followed(places, steps), False
    shown = followed(laid_out_as(np.zeros(places.shape, dtype), places), steps).dtype
    if shown == dtype:
        return followed(places, steps), False
    if dtype.kind != "c" or shown != np.zeros((), dtype).real.dtype or shown.itemsize > 8:
        raise Refusal(
            f"a store into an array of dtype {dtype} through a view of dtype {shown}",
            f"make the array with .astype({shown.name!r}), which is a copy, and store into that")
    bits = places.astype(f"i{shown.itemsize}").view(shown)
    marked = laid_out_as(np.zeros(places.shape, dtype), places)
    marked.real, marked.imag = bits, bits
    found = np.ascontiguousarray(followed(marked, steps))
    return found.view(f"i{shown.itemsize}").reshape(found.shape), True


def write_value(obj: Dependent, steps: Sequence[PathStep], value: Array, adds: bool) -> None:
    """Do to the value of an array at the point what is done to its dependences."""
    part = followed(obj.value, steps[:-1])
    kind, _, args, _, _ = steps[-1]
    if kind != "item":
        part, index = followed(part, steps[-1:]), WHOLE
    else:
        index = args[0]
    known = map_dependents(lambda d: d.value, value)
    if adds:
        np.add.at(part, index, known)
    else:
        part[index] = known


def followed(array: Array, steps: Sequence[PathStep]) -> Any:
    """Return the part of an array that steps lead to."""
    for kind, name, args, kwargs, function in steps:
        if kind == "item":
            array = array[args[0]]
        elif kind == "attr":
            array = getattr(array, name)
        else:
            array = function(array, *args, **kwargs)
    return array


def own_dependent(run: Run, obj: Dependent | Array) -> Dependent:
    """Return an array that depends on the inputs and may be written into."""
    if not isinstance(obj, Dependent):
        value = np.array(obj) if run.local else None
        made = Dependent(np.shape(obj), dtype_of(obj), NOTHING, NOTHING, value)
        made.zeros = zeros_in(obj)
    elif obj.token == run.token and not obj.shared:
        return obj
    else:
        value = None if obj.value is None else np.array(obj.value)
        if obj.shape is None:
            made = Dependent(None, obj.dtype, obj.first, obj.second, value)
        else:
            first, second = (private(r, obj.shape) for r in (obj.first, obj.second))
            made = Dependent(obj.shape, obj.dtype, first, second, value)
            made.zeros = None if obj.zeros is None else np.array(obj.zeros, order="C")
    made.token = run.token
    made.in_c_order = obj.in_c_order if isinstance(obj, Dependent) else (
        np.asarray(obj).flags.c_contiguous)
    return made


def zeros_in(array: Array) -> Any:
    """Return where an array of two axes or more is zero, as that tells of a matrix; else None."""
    if np.ndim(array) < 2 or np.asarray(array).dtype.kind not in "iufcb":
        return None
    zeros = np.ascontiguousarray(np.asarray(array) == 0)
    return zeros if zeros.any() else None


def put(relation: Relation, shape: Shape, index: Any, new: Set, adds: bool) -> Relation:
    """Return a relation, written into, with the set of one element replaced or added to."""
    own = relation.own
    if not isinstance(own, Cells) or relation.common:
        if not new and own is None and not relation.common:
            return relation
        own = index_sets.cells_of(own, relation.common, shape)
    own.array[index] = union(own.array[index], new) if adds else new
    return Relation(EMPTY, own)


def replaced(
    relation: Relation, shape: Shape, places: Value, new: Relation, adds: bool
) -> Relation:
    """Return a relation with the sets of several elements replaced or added to."""
    size = count(shape)
    places = np.asarray(places)
    if not places.size or (new == NOTHING and (adds or relation == NOTHING)):
        return relation
    if places.size * FEW < size and not relation.common:
        own = index_sets.written(
            relation.own, shape, places.ravel(), moved(new, np.ravel).own, new.common, adds)
        if own is not None:
            return Relation(EMPTY, own)
    flat = moved(relation, np.ravel)
    new = moved(new, np.ravel)
    if adds:
        targets = np.concatenate([np.arange(size), places.ravel()])
        joined = end_to_end([flat, new], [(size,), (places.size,)])
        return combined(joined, targets, np.arange(size + places.size), shape)
    positions = np.arange(size)
    positions[places.ravel()] = size + np.arange(places.size)
    joined = end_to_end([flat, new], [(size,), (places.size,)])
    return gathered(joined, positions.reshape(shape))
