"""Shapes of results, from the shapes of arguments and what is said of functions.

``None`` stands for an axis of which nothing is known, and for a result of which nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Rhs, Slice, Star, Update, unstar
from adcompiler.ops.facts import COLUMNS, COUNTED, EXPANDED, FILLED, FIRST, GIVEN, KEPT, REDUCED
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.typed import extents
from adcompiler.typed.extents import ONE, Extent, Shape

Found = Sequence[Extent | None] | None
Options = Mapping[str | None, Atom]

WITHOUT_EFFECT = frozenset({"dtype", "order", "copy"})
"""Options of functions that leave the shape of the result as it is."""


class Known(Protocol):
    """What is known of values: the table ``Shapes``, as far as it is asked here."""

    def type(self, atom: Atom) -> t.Type: ...
    def definition(self, atom: Atom) -> Rhs | None: ...
    def elements(self, atom: Atom) -> tuple[Atom, ...] | None: ...
    def shape(self, atom: Atom) -> Shape: ...
    def extent(self, atom: Atom) -> Extent | None: ...
    def extents_of(self, atom: Atom) -> list[Extent | None] | None: ...
    def is_natural(self, number: Extent) -> bool: ...


def shape_of_result(of: Known, rhs: Rhs, type_: t.Array) -> Found:
    """Return the shape of the array of type ``type_`` that an expression gives."""
    match rhs:
        case Item(obj, index) if isinstance(of.type(obj), t.Array):
            return shape_of_part(of, of.shape(obj), index)
        case Update():
            return of.shape(rhs.obj)
        case Attribute(obj, "T"):
            return of.shape(obj)[::-1]
        case Attribute(obj, "real" | "imag"):
            return of.shape(obj)
        case Call(Const(function), args, kwargs) if args and hashable(function) and not any(
            isinstance(arg, Star) for arg in args
        ):
            return shape_of_call(of, function, list(map(unstar, args)), dict(kwargs), type_)
    return None


def shape_of_call(
    of: Known, function: Any, args: Sequence[Atom], kwargs: Options, type_: t.Array
) -> Found:
    """Return the shape of what a function gives."""
    known = REGISTRY.facts(function)
    numeric = isinstance(of.type(args[0]), (t.Array, t.Scalar))
    options = kwargs.keys() - WITHOUT_EFFECT
    if numeric and (known.shape == REDUCED or known.means == "norm"):
        at = 2 if known.means == "norm" else 1
        named = kwargs.keys() <= {"axis", "keepdims", "ord", "ddof", "initial", "where", "dtype"}
        return reduced(
            of.shape(args[0]), option(args, kwargs, "axis", at, None),
            option(args, kwargs, "keepdims", at + 1 if at == 2 else len(args), False),
        ) if named and len(args) <= (4 if at == 2 else 2) else None
    if known.shape == EXPANDED and numeric:
        return widened(of.shape(args[0]), option(args, kwargs, "axis", 1, None))
    if known.shape == KEPT and len(of.shape(args[0])) == type_.ndim:
        return of.shape(args[0])
    if known.axes == COLUMNS and len(args) == 2 and len(of.shape(args[1])) == type_.ndim <= 2:
        return of.shape(args[1])
    if options and known.means not in ("concatenate", "stack", "diff"):
        return None
    if known.shape == COUNTED and len(args) == 1:
        size = of.extent(args[0])
        return None if size is None else (extents.cut_off(size),)
    if known.shape == GIVEN and len(args) == 2:
        return sizes(of, args[1])
    if numeric and known.shape in (FIRST, FILLED) and len(args) <= 1 + (known.shape == FILLED):
        return of.shape(args[0])
    if known.elementwise and all(
        isinstance(of.type(arg), (t.Array, t.Scalar)) for arg in args
    ):
        return extents.broadcast(map(of.shape, args))
    found = BY_MEANING.get(known.means or "")
    return None if found is None else found(of, args, kwargs)


def option(args: Sequence[Atom], kwargs: Options, name: str, at: int, default: Any) -> Any:
    """Return the value of an argument by name or position, ``...`` if it is not known."""
    atom = kwargs.get(name, args[at] if len(args) > at else Const(default))
    return atom.value if isinstance(atom, Const) else ...


def reduced(shape: Shape, axis: Any, keep: Any) -> Found:
    """Return the shape of a reduction over axes, all for None."""
    where = axis if isinstance(axis, tuple) else (axis,)
    if axis is None:
        where = tuple(range(len(shape)))
    if keep is ... or not all(type(i) is int and -len(shape) <= i < len(shape) for i in where):
        return None
    gone = {i % len(shape) for i in where}
    if keep:
        return [ONE if i in gone else extent for i, extent in enumerate(shape)]
    return [extent for i, extent in enumerate(shape) if i not in gone]


def widened(shape: Shape, axis: Any) -> Found:
    """Return a shape with an axis of one element more."""
    if type(axis) is not int:
        return None
    at = axis % (len(shape) + 1)
    return (*shape[:at], ONE, *shape[at:])


def sizes(of: Known, atom: Atom) -> Found:
    """Return the shape that an argument asks for, which none of its items can fail to give."""
    found = of.extents_of(atom)
    return None if found is None else [
        None if extent is None else extents.cut_off(extent) for extent in found]


# -- functions by what they mean -----------------------------------------------------------------


def made(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``zeros(shape)`` and its like."""
    return sizes(of, args[0])


def reshaped(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``reshape(x, shape)``, where -1 stands for what is left."""
    if len(args) != 2:
        return None
    found = of.extents_of(args[1])
    return None if found is None else [
        extent if extent is not None and extent.never_negative() else None for extent in found]


def flattened(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``ravel(x)``."""
    shape = of.shape(args[0])
    return shape if len(shape) == 1 else None


def turned(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``transpose(x, axes)``."""
    shape = of.shape(args[0])
    if len(args) == 1:
        return shape[::-1]
    order = args[1].value if isinstance(args[1], Const) else None
    if not isinstance(order, tuple) or not all(type(i) is int for i in order) or (
        sorted(i % len(shape) for i in order) != list(range(len(shape)))
    ):
        return None
    return [shape[i] for i in order]


def multiplied(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of a product of matrices and vectors."""
    if len(args) != 2:
        return None
    a, b = map(of.shape, args)
    if not a or not b:
        return None
    rows = a[-2:-1]
    columns = b[-1:] if len(b) > 1 else ()
    return (*extents.broadcast((a[:-2], b[:-2])), *rows, *columns)


def dotted(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``dot(a, b)``."""
    shapes = list(map(of.shape, args))
    if len(shapes) == 2 and not all(shapes):
        return extents.broadcast(shapes)
    return multiplied(of, args, kwargs) if all(len(shape) <= 2 for shape in shapes) else None


def outer(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of the outer product of two vectors."""
    shapes = list(map(of.shape, args))
    return tuple(shape[0] for shape in shapes) if all(len(s) == 1 for s in shapes) else None


def joined(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``concatenate(arrays, axis)``."""
    parts, axis = of.elements(args[0]), option(args, kwargs, "axis", 1, 0)
    if len(args) > 2 or not parts or kwargs.keys() - {"axis", "dtype"}:
        return None
    shapes = list(map(of.shape, parts))
    if type(axis) is not int or len(set(map(len, shapes))) != 1 or not shapes[0]:
        return None
    return along(shapes, axis % len(shapes[0]))


def stacked(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``stack(arrays, axis)``."""
    parts, axis = of.elements(args[0]), option(args, kwargs, "axis", 1, 0)
    if len(args) > 2 or not parts or kwargs.keys() - {"axis", "dtype"} or type(axis) is not int:
        return None
    shape = of.shape(parts[0])
    at = axis % (len(shape) + 1)
    return (*shape[:at], extents.number(len(parts)), *shape[at:])


def in_rows(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``vstack(arrays)``, of vectors as rows or of matrices."""
    return side_by_side(of, args, 0, 0)


def in_a_row(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``hstack(arrays)``."""
    return side_by_side(of, args, 1, None)


def in_columns(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``column_stack(arrays)``, of vectors as columns or of matrices."""
    return side_by_side(of, args, 1, 1)


def side_by_side(of: Known, args: Sequence[Atom], axis: int, new: int | None) -> Found:
    """Return the shape of arrays along an axis; vectors are given a ``new`` one if it says so."""
    shapes = [of.shape(part) for part in of.elements(args[0]) or ()]
    if len(args) > 1 or not shapes or len(set(map(len, shapes))) != 1 or not shapes[0]:
        return None
    if len(shapes[0]) == 1 and new is not None:
        shapes = [(*shape[:new], ONE, *shape[new:]) for shape in shapes]
    return along(shapes, min(axis, len(shapes[0]) - 1))


def along(shapes: Sequence[Shape], axis: int) -> Shape:
    """Return the shape of arrays one behind the other along an axis."""
    total = extents.number(0)
    for shape in shapes:
        total = total.plus(shape[axis])
    return (*shapes[0][:axis], total, *shapes[0][axis + 1 :])


def solved(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``solve(a, b)`` of one matrix."""
    matrix, right = map(of.shape, args[:2])
    return right if len(matrix) == 2 and len(right) in (1, 2) else None


def summed(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``einsum(subscripts, *arrays)`` without an ellipsis."""
    text = args[0].value if isinstance(args[0], Const) else None
    if not isinstance(text, str) or "." in text:
        return None
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")
    shapes = list(map(of.shape, args[1:]))
    if list(map(len, terms)) != list(map(len, shapes)):
        return None
    if not arrow:
        alone = (letter for letter in set(left) - {","} if left.count(letter) == 1)
        right = "".join(sorted(alone))
    met: dict[str, list[Extent]] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for letter, extent in zip(term, shape, strict=True):
            met.setdefault(letter, []).append(extent)
    return [extents.met(met[letter]) for letter in right] if met.keys() >= set(right) else None


def square(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``eye(n)``."""
    size = of.extent(args[0])
    return None if size is None or len(args) > 1 else (extents.cut_off(size),) * 2


def on_diagonal(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``diag(x)``, of a vector or a matrix."""
    shape = of.shape(args[0])
    if len(args) != 1 or not shape:
        return None
    return shape * 2 if len(shape) == 1 else (extents.least(*shape),)


def differences(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``diff(x, axis=axis)``."""
    shape, axis = of.shape(args[0]), option(args, kwargs, "axis", 2, -1)
    if len(args) > 1 or kwargs.keys() - {"axis"} or type(axis) is not int or not shape:
        return None
    at = axis % len(shape)
    return (*shape[:at], extents.cut_off(shape[at].plus(ONE, -1)), *shape[at + 1 :])


def spaced(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``linspace(first, last, count)`` between numbers."""
    if len(args) != 3 or any(of.shape(end) for end in args[:2]):
        return None
    size = of.extent(args[2])
    return None if size is None else (extents.cut_off(size),)


def as_array(of: Known, args: Sequence[Atom], kwargs: Options) -> Found:
    """Return the shape of ``array(x)``: of an array, or of lists of numbers or arrays."""
    if isinstance(of.type(args[0]), t.Array):
        return of.shape(args[0])
    return of_items(of, args[0]) if len(args) == 1 else None


def of_items(of: Known, atom: Atom) -> Found:
    """Return the shape of the array that a value becomes: a number, an array, or a list of them."""
    if isinstance(of.type(atom), (t.Scalar, t.Array)):
        return of.shape(atom)
    items = of.elements(atom)
    shape = of_items(of, items[0]) if items else None
    return None if shape is None or items is None else (extents.number(len(items)), *shape)


BY_MEANING: dict[str, Callable[[Any, Sequence[Any], Options], Found]] = {
    "zeros": made, "ones": made, "empty": made, "full": made, "eye": square, "reshape": reshaped,
    "ravel": flattened, "transpose": turned, "matmul": multiplied, "dot": dotted, "outer": outer,
    "concatenate": joined, "stack": stacked, "vstack": in_rows, "hstack": in_a_row,
    "column_stack": in_columns, "einsum": summed, "solve": solved, "diag": on_diagonal,
    "diff": differences, "linspace": spaced,
    "array": as_array, "asarray": as_array,
}
"""The shape of what functions give that mean the same, by the word for what they are."""


def combined(means: str | None, a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the sum, difference, or product with a number, of two integers."""
    if a is None or b is None:
        return None
    match means:
        case "add":
            return a.plus(b)
        case "subtract":
            return a.plus(b, -1)
        case "multiply" if a.number is not None:
            return extents.number(0).plus(b, a.number)
        case "multiply" if b.number is not None:
            return extents.number(0).plus(a, b.number)
    return None


# -- parts of arrays -----------------------------------------------------------------------------


def shape_of_part(of: Known, shape: Shape, index: Atom) -> Found:
    """Return the shape of ``x[index]``, for an array of shape ``shape``."""
    items = of.elements(index) if isinstance(of.type(index), t.Tuple) or (
        isinstance(index, Const) and isinstance(index.value, tuple)) else (index,)
    if items is None:
        return None
    kinds = [kind_of_index(of, item) for item in items]
    if None in kinds:
        return None
    used = sum(kind in ("at", "cut", "array") for kind in kinds)
    if used > len(shape):
        return None
    arrays = kinds.count("array")
    if arrays > 1 or (arrays and "at" in kinds):
        return extents.broadcast(map(of.shape, items)) if used == len(items) == len(shape) and (
            "cut" not in kinds) else None
    found: list[Extent | None] = []
    left = list(shape)
    for item, kind in zip(items, kinds, strict=True):
        if kind == "new":
            found.append(ONE)
        elif kind == "all":
            count = len(shape) - used
            found += left[:count]
            del left[:count]
        else:
            extent = left.pop(0)
            if kind == "cut":
                found.append(cut(of, extent, item))
            elif kind == "array":
                found += of.shape(item)
    return [*found, *left]


def kind_of_index(of: Known, item: Atom) -> str | None:
    """Return what a subscript does to an axis, None if that is not known."""
    value = item.value if isinstance(item, Const) else ...
    if isinstance(item, Const) and value in (None, ...):
        return "new" if value is None else "all"
    if isinstance(item, Const) and isinstance(value, slice):
        return "cut"
    match of.type(item):
        case t.Scalar(kind="int", among=()):
            return "at"
        case t.Array(kind="int") as type_ if type_.ndim:
            return "array"
    return "cut" if isinstance(of.definition(item), Slice) else None


def cut(of: Known, extent: Extent, item: Atom) -> Extent | None:
    """Return the extent of an axis cut out by a slice."""
    made = of.definition(item)
    if isinstance(made, Slice):
        start, stop, step = made.lower, made.upper, made.step
    elif isinstance(item, Const):
        start, stop, step = map(Const, (item.value.start, item.value.stop, item.value.step))
    else:
        return None
    if is_one_of(step, -1) and is_one_of(start, None) and is_one_of(stop, None):
        return extent
    first = extents.number(0) if is_one_of(start, None) else of.extent(start)
    last = extent if is_one_of(stop, None) else of.extent(stop)
    if not is_one_of(step, None, 1) or first is None or last is None:
        return None
    negative = last.number is not None and last.number < 0
    if extent.number is None and first.number is not None and first.number >= 0 and (
        last == extent or negative
    ):
        away = first.number - (last.constant if negative else 0)
        return extents.cut_off(extent.plus(extents.number(-away)))
    if not of.is_natural(first) or not of.is_natural(last.plus(first, -1)):
        return None
    if of.is_natural(extent.plus(last, -1)):
        return last.plus(first, -1)
    return extents.least(last, extent) if first.number == 0 else None


def is_one_of(atom: Atom, *values: Any) -> bool:
    """Say whether an end or the step of a slice is known to be one of some values."""
    return isinstance(atom, Const) and any(
        type(atom.value) is type(value) and atom.value == value for value in values)
