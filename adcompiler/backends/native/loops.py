"""The loop IR: numbers of machine types, buffers, loops over positions, stores.

Every expression is of a number; arrays are names of buffers. What Python would do in a way of its
own (raise, take integers of any size, return a complex number) is one statement here, ``Leave``:
the loops give up, and the Python product runs in their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from adcompiler.support.structs import dataclass

FLOAT, INT, BOOL = "float64", "int64", "bool"
KINDS = {"float": FLOAT, "int": INT, "bool": BOOL}
"""The machine type of the numbers of each kind."""
SINGLE = "float32"
"""The machine type of short floats: float64 with no more digits than these have, and its arrays."""
EITHER, NAUGHT = "float", "float32 or 0"
"""Those of what a run makes a short float or a number of Python's, in float64 as it is; or zero."""
SHORT = (SINGLE, EITHER, NAUGHT)
ARRAYS = (FLOAT, INT, BOOL, SINGLE)
"""The dtypes of arrays that are computed with."""
CARRIED = ("int32", "complex64", "complex128")
"""Other numbers of arrays, which only calls in Python make and take."""


@dataclass(frozen=True, slots=True)
class Name:
    """A number that was assigned to."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A literal."""

    value: float | int | bool


@dataclass(frozen=True, slots=True)
class Binary:
    """An arithmetic operator, a comparison, ``and``, ``or`` or ``|``, which asks both."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Unary:
    """``-`` or ``not``."""

    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the C library, or a conversion: ``float``, ``int``."""

    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """``then`` where the test holds, else ``orelse``."""

    test: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a buffer; negative indices count from the end."""

    buffer: str
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """The length of an axis of a buffer."""

    buffer: str
    axis: int


Expr = Name | Number | Binary | Unary | Apply | Choose | Element | Extent


@dataclass(frozen=True, slots=True)
class Assign:
    """``name = value``."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Bind:
    """Another name for a buffer."""

    name: str
    buffer: str


@dataclass(frozen=True, slots=True)
class Make:
    """A new buffer; ``fill`` is its value everywhere, None leaves it unset."""

    name: str
    shape: tuple[Expr, ...]
    dtype: str
    fill: Expr | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """``buffer[indices] = value``, or ``+=`` with ``adds``."""

    buffer: str
    indices: tuple[Expr, ...]
    value: Expr
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Flat:
    """The elements of a buffer in a row, as an argument of a helper."""

    buffer: str


@dataclass(frozen=True, slots=True)
class Use:
    """What a helper makes of numbers and buffers, under a name; ``writes`` are those of the buffers
    that it writes into."""

    name: str
    helper: str
    args: tuple[Expr | Flat | str, ...]
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ends:
    """A slice of an axis; None is left out."""

    lower: Expr | None = None
    upper: Expr | None = None
    step: Expr | None = None


Place = Expr | Ends | None
"""A position on an axis, a slice of it, or (None) a new axis of length 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a buffer that shares its storage."""

    name: str
    buffer: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A buffer with its axes in another order; it shares the storage."""

    name: str
    buffer: str
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A part of a flat buffer, from ``start`` on, as an array of so many axes."""

    name: str
    buffer: str | Flat
    start: Expr
    shape: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Reserve:
    """Makes a flat buffer at least ``size`` long, keeping what is in it.

    ``ahead`` is how many more numbers the loops around are likely to ask for, with these.
    """

    buffer: str
    size: Expr
    ahead: Expr | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """Gives up: the Python product runs from the start. With a test, only where it holds.

    If it is known that Python then raises an exception, ``raises`` is the class of that.
    """

    test: Expr | None = None
    raises: type[BaseException] | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """Ends the innermost loop where the test holds."""

    test: Expr


@dataclass(frozen=True, slots=True)
class Note:
    """A comment: a line of the user's."""

    text: str


@dataclass(slots=True)
class Body:
    """Statements in order."""

    rows: list[Row] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class When:
    """A branch."""

    test: Expr
    then: Body
    orelse: Body


@dataclass(frozen=True, slots=True)
class For:
    """A loop of ``name`` from ``start`` to before ``stop``; backwards with ``down``.

    If it and the loops inside of it visit all elements of arrays, ``visits`` is the shape of these:
    an array of which an element is read or stored at the position of the loops has that shape.
    """

    name: str
    start: Expr
    stop: Expr
    body: Body
    down: bool = False
    visits: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Forever:
    """A loop that only ``Break`` and ``Leave`` end."""

    body: Body


@dataclass(frozen=True, slots=True)
class BlockFunction:
    """A function of some iterations of a loop: those from ``first`` to before ``last``.

    It takes ``parameters`` beside these, and returns whether it came to the end, then ``sums``.
    """

    name: str
    place: str
    first: str
    last: str
    parameters: tuple[str, ...]
    body: Body
    sums: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """Runs a loop from ``start`` to before ``stop`` in ``blocks`` of iterations, at the same time.

    ``ended`` is a buffer that tells of each block whether it came to the end, ``terms`` are those
    of its sums; ``parts`` tells where a block has a buffer of its own for one that is added to.
    """

    function: BlockFunction
    start: Expr
    stop: Expr
    blocks: str
    ended: str
    terms: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]


Row = (
    Assign | Bind | Make | Part | View | Turn | Store | Use | Reserve | Leave | Break | Note
    | When | For | Forever | Spread
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: a number (``ndim`` None) or a buffer, and its position among the user's.

    ``part`` tells how to get it from the user's, whose name stands for ``{}``.
    """

    name: str
    dtype: str
    ndim: int | None
    position: int
    part: str = "{}"


@dataclass(frozen=True, slots=True)
class Output:
    """What is returned: a buffer or a number, and the class that a number has in Python.

    ``part`` tells what is made of it, which ``{}`` stands for.
    """

    value: Expr | str
    dtype: str
    ndim: int | None = None
    numpy: bool = False
    part: str = "{}"


@dataclass(frozen=True, slots=True)
class ListForm:
    """A list of which the items are of a form; outputs in it are flat buffers."""

    item: Form


@dataclass(frozen=True, slots=True)
class HeldForms:
    """Lists that are items of one: the output of their lengths, and the form of all their items."""

    lengths: int
    item: Form


@dataclass(frozen=True, slots=True)
class ComplexForm:
    """A complex number: the outputs of its parts, and whether it is NumPy's."""

    re: int
    im: int
    numpy: bool


@dataclass(frozen=True, slots=True)
class KeyedForm:
    """A dict, or attributes of an instance; ``of`` is the argument that it is the gradient of."""

    parts: tuple[tuple[Any, Form], ...]
    is_record: bool
    of: int | None


Form = int | tuple["Form", ...] | ListForm | HeldForms | ComplexForm | KeyedForm | None


@dataclass(frozen=True, slots=True)
class LoopFunction:
    """A function of machine loops; it returns whether it came to the end, then its outputs.

    ``form`` is what Python's function returns: the position of an output, a tuple of forms, or
    None.
    ``apart`` lists positions of parameters of the user's, and which of these share no storage with
    the others. ``given_back`` lists positions of those that take what the loops made of them, and
    the forms of that. ``called`` are functions that call themselves, which it calls.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Body
    outputs: tuple[Output, ...]
    form: Form
    apart: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    given_back: tuple[tuple[int, Form], ...] = ()
    called: tuple[LoopFunction, ...] = ()


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the expressions inside one."""
    match expr:
        case Binary(_, left, right):
            return (left, right)
        case Unary(_, operand):
            return (operand,)
        case Apply(_, args) | Element(_, args):
            return args
        case Choose(test, then, orelse):
            return (test, then, orelse)
    return ()


def rows_of(body: Body) -> Iterator[Row]:
    """Yield every statement of a body, inner ones after what holds them."""
    for row in body.rows:
        yield row
        for block in blocks_in(row):
            yield from rows_of(block)


def blocks_in(row: Row) -> tuple[Body, ...]:
    """Return the blocks in a statement."""
    match row:
        case When(_, then, orelse):
            return (then, orelse)
        case For(body=inner) | Forever(inner):
            return (inner,)
        case Spread(function):
            return (function.body,)
    return ()
