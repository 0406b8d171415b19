"""What variables of the typed IR are in loops: numbers, buffers, and what is taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from adcompiler.backends.native.loops import BOOL, FLOAT, INT, SINGLE, Expr, Name, Number
from adcompiler.errors import Declined as Declined
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Var
from adcompiler.support.structs import dataclass


class Again(Declined):
    """A number that a loop carries turns out to be a short float: loops are to be written again."""

    def __init__(self, var: Var) -> None:
        super().__init__("a variable is a number of different kinds")
        self.var = var


WIDE = 2**63
"""No int64 is larger than this."""
EXACT = 2**53
"""Integers up to this are numbers of float64."""
LENGTH = 2**47
"""Axes are at most this long: longer ones are left to Python."""
POSITION = 2**61
"""Subscripts and the ends of ranges are at most this large."""


@dataclass(frozen=True, slots=True)
class Num:
    """A number; an integer is at most ``bound`` in size.

    ``isset`` is a test of whether any assignment has reached it; None for sure. Until then it may
    be handed on and kept, but not computed with.
    """

    expr: Expr
    dtype: str
    bound: int = WIDE
    isset: Expr | None = None


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number. In the layout of a tape its parts are slots."""

    re: Any
    im: Any


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array: the name of its buffer, and the lengths of its axes.

    ``isset`` is a test of whether any assignment has reached it, as that of a number is. What is
    ``borrowed`` stands on a tape: it is copied before it is written into or outlives an iteration.
    """

    name: str
    dtype: str
    shape: tuple[Expr, ...]
    isset: Expr | None = None
    borrowed: bool = False

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


@dataclass(slots=True, eq=False)
class Fused:
    """An array that is computed in the loop that reads it, element by element.

    ``write`` writes what an element takes and returns it, given those of ``operands``; ``leaves``
    are the names of the buffers that it reads. As many as ``left`` places are to read it yet, some
    of them all of it at once if it ``lasts``; it is ``shared`` if there were several at first.
    ``buffer`` holds it once a loop has stored it. With ``at`` it is its only operand, an array,
    whose element ``at`` some other position is read: that costs nothing, and is not stored.
    """

    dtype: str
    shape: tuple[Expr, ...]
    write: Callable[..., Num]
    operands: tuple[Buffer | Fused | Num, ...]
    leaves: frozenset[str]
    hint: str
    order: int
    left: int = 0
    lasts: bool = False
    shared: bool = False
    buffer: Buffer | None = None
    at: Callable[[tuple[Expr, ...]], tuple[Expr, ...]] | None = None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that a handler may have caught: the number of its class, 0 if it has none."""

    number: Num


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple: nothing but what is in it."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Keyed:
    """A dict or an instance (``is_record``): its parts by keys, and their types.

    ``position`` is that of the argument that it is, or that it is the gradient of; ``made`` tells
    that it is no argument, ``cls`` the class of an instance that the function makes.
    """

    parts: dict[Any, Any]
    is_record: bool
    types: dict[Any, t.Type]
    position: int | None = None
    made: bool = False
    cls: type | None = None

    def part(self, key: Any) -> Any:
        """Return a part; raise Declined if there is none, or none that loops have."""
        found = self.parts.get(key)
        if found is None or isinstance(found, Declined):
            raise found or Declined("a key that there is not")
        return found


@dataclass(frozen=True, slots=True)
class Span:
    """A range; a step that is not known when compiling is positive.

    In the layout of a tape its parts are slots.
    """

    start: Any
    stop: Any
    step: Any = 1


@dataclass(frozen=True, slots=True)
class Backwards:
    """``reversed(of)``."""

    of: Any


@dataclass(frozen=True, slots=True)
class Cut:
    """``lower:upper:step`` in a subscript; None where an end, or a step of 1, is left out.

    In the layout of a tape its parts are slots.
    """

    lower: Any
    upper: Any
    step: Any = None


@dataclass(frozen=True, slots=True)
class Endless:
    """The integers from ``start`` on."""

    start: Num


@dataclass(frozen=True, slots=True)
class Together:
    """``zip(parts)``; ``enumerate(x)`` is one with None, which stands for the position."""

    parts: tuple[Any, ...]
    first: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a part of what a tape keeps stands: a flat buffer of numbers."""

    buffer: str
    dtype: str
    bound: int
    isset: Slot | None = None


@dataclass(eq=False, slots=True)
class Tape:
    """What a loop collects, flat: one buffer for each number, all filled up to ``top``.

    ``layout`` has the structure of what is collected, with slots for numbers.
    """

    top: str
    slots: list[Slot] = field(default_factory=list)
    layout: Any = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A list that a loop collected: so many items of its tape, from ``start`` on.

    Or one that stands in another list, which is ``held`` there, as it is now.
    """

    tape: Tape
    start: Expr
    length: Expr
    held: Held | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """A list: a flat buffer for each number of an item, filled up to ``length``.

    ``layout`` has the structure of an item, with slots for numbers; None if nothing is known of
    items, as the list is empty.
    """

    layout: Any
    length: Expr


@dataclass(frozen=True, slots=True)
class HeldForm:
    """The form of items that are lists, of items of a form."""

    item: Any


@dataclass(eq=False, slots=True)
class Heap:
    """All lists of one form that stand in lists, each known by its number.

    ``objects`` has where the items of each one begin, how many there are, and whether more than one
    place holds it; ``data`` has the items.
    """

    form: Any
    objects: Tape
    data: Tape


@dataclass(frozen=True, slots=True)
class Held:
    """A list that stands in another one: its number. In a layout that is a slot.

    Nobody else holds one that is ``new``.
    """

    heap: Heap
    at: Any
    new: bool = False


@dataclass(frozen=True, slots=True)
class Inner:
    """The layout of a list within what is collected: where it starts, and how long it is."""

    tape: Tape
    start: Slot
    length: Slot


@dataclass(frozen=True, slots=True)
class Flattened:
    """The layout of an array within what is collected: its elements are on a tape of their own."""

    data: Tape
    start: Slot
    shape: tuple[Slot, ...]
    isset: Slot | None = None
    carried: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """What a call of the augmented primal ``of`` kept: its place among the records of all calls.

    ``arrays`` are those of its arguments that it keeps as they are, which are not in the record. In
    the layout of a tape the place is a slot. 0 is the place of none.
    """

    of: str
    at: Any
    arrays: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Carried:
    """An array of numbers that loops have not: only calls made in Python take it."""

    name: str
    dtype: str
    ndim: int


@dataclass(frozen=True, slots=True)
class Known:
    """A value known to the compiler that is no number."""

    value: Any


Value = (
    Num | Complex | Buffer | Fused | Failure | Several | Keyed | Span | Backwards | Cut | Endless
    | Together | Kept | Rows | Held | Record | Carried | Known
)
"""What a variable of the typed IR may be in loops."""

Layout = (
    Slot | Complex | Several | Keyed | Span | Backwards | Cut | Held | Inner | Flattened | Record
    | Known
)
"""What the structure of a value is told by on a tape or in a list: slots in place of numbers."""
Key = str | Callable[..., Any]
"""What tables have a function under: what it means, or itself."""

Args = Sequence[Value]
Named = dict[str, Value]
"""What a call is given by position, and by name."""

UNSET = Known("a variable that was not assigned to")


def literal(value: Any) -> Num | None:
    """Return a Python number as a literal; None if it is none that machines have."""
    if type(value) is bool:
        return Num(Number(value), BOOL)
    if type(value) is int and abs(value) < WIDE:
        return Num(Number(value), INT, abs(value))
    if type(value) is float:
        return Num(Number(value), FLOAT)
    if type(value) is np.float32:
        return Num(Number(float(value)), SINGLE)
    return None


def number_of(value: Value) -> Num:
    """Return a value that is a number; raise Declined if it is none."""
    if not isinstance(value, Num):
        raise Declined("what is no number is read as one")
    return value


def list_of(value: Value) -> Kept | Rows:
    """Return a value that is a list; raise Declined if it is none."""
    if not isinstance(value, (Kept, Rows)):
        raise Declined("what is no list is read as one")
    return value


def integer(value: Value) -> int | None:
    """Return an integer that is known when compiling, None for other values."""
    number = value.expr if isinstance(value, Num) else None
    found = number.value if isinstance(number, Number) else None
    return found if type(found) is int else None


def number_parts(value: Any) -> tuple[Any, Any] | None:
    """Return the parts of a number, complex or not; None of what is no number."""
    if isinstance(value, Complex):
        return value.re, value.im
    return (value, zero(FLOAT)) if isinstance(value, Num) else None


def zero(dtype: str) -> Num:
    """Return what stands for a value that is never read."""
    return Num(Number({INT: 0, BOOL: False}.get(dtype, 0.0)), dtype, 0)


def is_simple(expr: Expr) -> bool:
    """Say whether an expression costs nothing to write twice."""
    return isinstance(expr, (Name, Number))
