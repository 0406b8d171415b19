"""Shape classes: which arrays have equal shapes, whatever the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any


from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Rhs, Star, Update, Var, operands
from adcompiler.ops.facts import FILLED, KEPT, Facts
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.structs import dataclass
from adcompiler.typed.variables import Variables

ShapeClass = Any
"""Equal for two arrays only if their shapes are equal whenever the code runs."""

SCALAR_SHAPE: ShapeClass = ()
BACKWARDS = slice(None, None, -1)
DERIVED = ("dropped", "reduced", "suffix", "window", "widened")  # each of one other class


@dataclass(eq=False)
class Shapes(Variables):
    """The shape classes of variables; ``equal_shapes`` those that were checked to be equal.

    ``assume_equal_shapes`` says that arrays that meet are expected to be of one shape, here.
    """

    assume_equal_shapes: bool = True
    shapes: dict[Var, ShapeClass] = field(default_factory=dict)
    equal_shapes: dict[ShapeClass, ShapeClass] = field(default_factory=dict)

    def shape_class(self, atom: Atom) -> ShapeClass:
        """Return the shape class of a number or array."""
        type_ = self.type(atom)
        if not isinstance(type_, t.Array) or type_.ndim == 0:
            return SCALAR_SHAPE
        if not isinstance(atom, Var):
            return ("const", atom)
        return self.canonical(self.shapes.get(atom, ("of", atom)))

    def canonical(self, shape: ShapeClass) -> ShapeClass:
        """Return the representative of the shape classes that were checked to be equal."""
        if not self.equal_shapes or not isinstance(shape, tuple) or not shape:
            return shape
        while shape in self.equal_shapes:
            shape = self.equal_shapes[shape]
        if shape[0] in DERIVED:
            return (shape[0], self.canonical(shape[1]), *shape[2:])
        if shape[0] == "broadcast":
            parts = without_parts_of_others(set(map(self.canonical, shape[1])))
            return next(iter(parts)) if len(parts) == 1 else ("broadcast", parts)
        return shape

    def made_equal(self, shape: ShapeClass, representative: ShapeClass) -> bool:
        """Let a shape class stand for one that was checked to be equal, unless it is part of it."""
        if self.leads_to(representative, shape):
            return False
        self.equal_shapes[shape] = representative
        return True

    def leads_to(self, shape: ShapeClass, goal: ShapeClass) -> bool:
        """Return whether finding the representative of a class comes across another class."""
        if shape == goal:
            return True
        following = list(parts_of(shape))
        if shape in self.equal_shapes:
            following.append(self.equal_shapes[shape])
        return any(self.leads_to(other, goal) for other in following)

    def record(self, var: Var, rhs: Rhs, type_: t.Type) -> None:
        """Enter a new variable into the tables."""
        self.set_type(var, type_, isinstance(rhs, (Item, Attribute)))
        self.defs[var] = rhs
        if isinstance(type_, t.Array):
            found = self._shape_of(rhs, type_)
            if found is not None:
                self.shapes[var] = found

    def _shape_of(self, rhs: Rhs, type_: t.Array) -> ShapeClass | None:
        if isinstance(rhs, Item):
            return self.window(rhs) or self.gathered(rhs)
        if isinstance(rhs, Update):
            return self.shape_class(rhs.obj)
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
            return None
        if any(isinstance(arg, Star) for arg in rhs.args):
            return None
        known = REGISTRY.facts(rhs.func.value)
        return self.said_shape(known, list(rhs.args), dict(rhs.kwargs)) or (
            self.kept_shape(known, rhs.args[0], type_) if rhs.args else None)

    def kept_shape(self, known: Facts, first: Any, type_: t.Array) -> ShapeClass | None:
        """Return the shape class of a result that has the shape of an argument, and its axes."""
        of = self.type(first)
        if known.shape == KEPT and isinstance(of, t.Array) and of.ndim == type_.ndim:
            return self.shape_class(first)
        return None

    def said_shape(
        self, known: Facts, args: list[Any], kwargs: dict[str | None, Atom]
    ) -> ShapeClass | None:
        """Return the shape class of a result by what is said of the function called."""
        if known.shape is not None and args and not isinstance(
            self.type(args[0]), (t.Array, t.Scalar)
        ):
            return None  # a list or tuple, which has a shape that is not known
        match known.shape:
            case "reduced" if len(args) == 1:
                return self.reduced(args[0], kwargs)
            case _ if kwargs or not args:
                return None
            case "counted" if len(args) == 1:
                size = self.definition(args[0])
                if isinstance(size, Attribute) and size.name == "size" and getattr(
                    self.type(size.obj), "ndim", 0
                ) == 1:
                    return self.shape_class(size.obj)
            case "expanded" if len(args) == 2 and isinstance(args[1], Const):
                return self.restored(self.shape_class(args[0]), args[1].value)
            case "given" if len(args) == 2:
                shape = self.definition(args[1])
                if isinstance(shape, Attribute) and shape.name == "shape":
                    return self.shape_class(shape.obj)
            case "first" | "filled" if len(args) <= 1 + (known.shape == FILLED):
                return self.shape_class(args[0])
        return self.broadcast_class(args) if known.elementwise else None

    def reduced(self, of: Any, kwargs: dict[str | None, Atom]) -> ShapeClass | None:
        """Return the shape class of a reduction that keeps its axes, with extent 1."""
        keep, axis = kwargs.get("keepdims", Const(False)), kwargs.get("axis")
        if not isinstance(keep, Const) or not isinstance(axis, Const):
            return None
        axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
        if not isinstance(self.type(of), t.Array) or not all(type(a) is int for a in axes):
            return None
        where = tuple(sorted(axes))
        if keep.value is not True and where == tuple(range(len(where))):
            return ("suffix", self.shape_class(of), len(where))
        return ("reduced" if keep.value is True else "dropped", self.shape_class(of), where)

    @staticmethod
    def restored(shape: ShapeClass, axis: Any) -> ShapeClass | None:
        """Return the shape class of a reduction whose dropped axis is put back."""
        if shape[:1] == ("dropped",) and shape[2] == (axis,):
            return ("reduced", *shape[1:])
        if shape[:1] == ("suffix",) and shape[2] == 1 and axis == 0:
            return ("reduced", shape[1], (0,))
        return None

    def same_shape_operand(self, atom: Var, type_: t.Type | None = None) -> Var | None:
        """Return an operand of the expression for ``atom`` that has its shape (and ``type_``)."""
        made = self.definition(atom)
        if made is None or not isinstance(self.type(atom), t.Array):
            return None
        shape = self.shape_class(atom)
        found = list(operands(made))
        if isinstance(made, Item):
            found += self.elements(made.index) or ()
        for operand in found:
            if isinstance(operand, Var) and isinstance(self.type(operand), t.Array) and (
                type_ in (None, self.type(operand)) and self.shape_class(operand) == shape
            ):
                return operand
        return None

    def shape_source(self, atom: Var) -> Var:
        """Return the first value that ``atom`` is known, by now, to have its shape from."""
        while (closer := self.same_shape_operand(atom)) is not None:
            atom = closer
        return atom

    def gathered(self, rhs: Item) -> ShapeClass | None:
        """Return the shape class of elements picked by one index array for each axis."""
        parts = self.elements(rhs.index)
        type_ = self.type(rhs.obj)
        if parts is None or not isinstance(type_, t.Array) or len(parts) != type_.ndim:
            return None
        kinds = [self.type(part) for part in parts]
        if all(isinstance(k, t.Array) and k.kind == "int" for k in kinds):
            return self.broadcast_class(list(parts))
        return None

    def window(self, rhs: Item) -> ShapeClass | None:
        """Return the shape class of a part of an array cut out by constant subscripts.

        ``x[1:]`` and ``x[:-1]`` have one shape, whatever the extent of x: it is the number of
        elements left away that counts.
        """
        type_ = self.type(rhs.obj)
        if not isinstance(rhs.index, Const) or not isinstance(type_, t.Array):
            return None
        value = rhs.index.value
        parts = value if isinstance(value, tuple) else (value,)
        if None in parts and all(p is None or p == slice(None) for p in parts):
            base = self.shape_class(rhs.obj)
            found = self.restored(base, parts.index(None)) if parts.count(None) == 1 else None
            return found or ("widened", base, tuple(p is None for p in parts))
        left: list[int | None] = []
        for part in parts:
            away = left_away(part)
            if away is None:
                return None
            left.append(None if away < 0 else away)
        left += [0] * (type_.ndim - len(left))
        base = self.shape_class(rhs.obj)
        return base if not any(n is None or n for n in left) else ("window", base, tuple(left))

    def broadcast_class(self, atoms: list[Any]) -> ShapeClass | None:
        """Return the shape class of an elementwise result of ``atoms``."""
        classes: set[ShapeClass] = set()
        for atom in atoms:
            if not isinstance(self.type(atom), (t.Array, t.Scalar)):
                return None
            shape = self.shape_class(atom)
            if isinstance(shape, tuple) and shape[:1] == ("broadcast",):
                classes |= shape[1]
            elif shape != SCALAR_SHAPE:
                classes.add(shape)
        whole = without_parts_of_others(classes)
        if len(whole) == 1:
            return next(iter(whole))
        return ("broadcast", whole) if whole else None


def without_parts_of_others(classes: set[ShapeClass]) -> frozenset[ShapeClass]:
    """Return shape classes but those stretched to what they were reduced from, or which ends so."""
    return frozenset(
        shape for shape in classes
        if shape[:1] not in (("reduced",), ("suffix",)) or shape[1] not in classes
    )


def parts_of(shape: ShapeClass) -> Iterable[ShapeClass]:
    """Return the shape classes that a class is made of."""
    if shape[:1] == ("broadcast",):
        return frozenset(shape[1])
    return (shape[1],) if shape[:1] and shape[0] in DERIVED else ()


def left_away(part: Any) -> int | None:
    """Return how many elements a constant subscript leaves away, -1 for an int, else None."""
    if type(part) is int:
        return -1
    if part == BACKWARDS:
        return 0
    if not isinstance(part, slice) or part.step not in (None, 1):
        return None
    start, stop = part.start or 0, part.stop or 0
    if type(start) is not int or type(stop) is not int or start < 0 or stop > 0:
        return None
    return None if part.stop == 0 else start - stop


def is_elementwise(function: Any) -> bool:
    """Say whether a function's array result has the broadcast shape of its arguments."""
    return hashable(function) and REGISTRY.facts(function).elementwise is True
