"""One record of facts for each library function: what a call of it does beside giving a value.

Whatever is not said of a function is taken to be the worst: its calls have effects, it may write
into all that it is given, its result may share storage with each argument, and it is not called
when compiling.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adcompiler.ops.qualified_names import findable
from adcompiler.ops.meanings import MEANINGS
from adcompiler.support.structs import dataclass

VIEW = "view"
LAYOUT = "layout"
SAME = "same"
MAY = "may"
HOLDS = "holds"
CONTENTS = "contents"
ITEMS = "items"
KINDS = (VIEW, LAYOUT, SAME, MAY, HOLDS, CONTENTS, ITEMS)


@dataclass(frozen=True, slots=True)
class Option:
    """An argument that decides whether a result shares storage: it does for one of ``values``.

    ``default`` is what holds where the argument is not given; ``position`` counts arguments.
    """

    name: str
    values: tuple[Any, ...]
    default: Any = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Shares:
    """How a result, or what is in it, may share storage with arguments.

    - ``"view"``: the result is a view of the first argument, whatever the layout in memory;
    - ``"layout"``: it is one where the layout allows that, and otherwise a copy;
    - ``"same"``: it is the first argument, or a view, if that is already what is wanted;
    - ``"may"``: no more is known than that it may share storage;
    - ``"holds"``: it is a new object that refers to the arguments themselves;
    - ``"contents"``: it holds, or is, something that the arguments hold, or are;
    - ``"items"``: a container holds what containers among the arguments hold; an array has storage
      of its own.

    ``of`` lists the positions of the arguments concerned, all where it is empty. With ``when`` a
    result shares storage only where all of these options have one of their values; with ``ndim``
    only for a first argument of as many axes, or an unknown number; with ``kinds`` only for one
    whose elements are of these kinds (``"complex"``); with ``most`` only in a call of no more
    positional arguments. What is ``"same"`` has at least as many axes as ``least``: with fewer, it
    is a view.
    """

    how: str
    of: tuple[int, ...] = ()
    when: tuple[Option, ...] = ()
    ndim: int | None = None
    kinds: tuple[str, ...] = ()
    most: int | None = None
    least: int = 0

    def __post_init__(self) -> None:
        if self.how not in KINDS:
            raise ValueError(f"shares={self.how!r}: one of {', '.join(map(repr, KINDS))}")


OWN: tuple[Shares, ...] = ()
"""What ``shares`` is for results that have storage of their own."""
ANYTHING: tuple[Shares, ...] = (Shares(MAY),)


NUMBERS = "numbers"
ARRAYS = "arrays"
VALUES = "values"
ITERABLES = "iterables"
INTEGERS = "integers"
PLAIN = "plain"
ANY = "anything"
ARGUMENTS = (NUMBERS, ARRAYS, VALUES, ITERABLES, INTEGERS, PLAIN, ANY)
"""Classes of arguments for which a function may be said to be total.

Python's numbers; arrays of numbers, all of one shape; arrays and numbers; lists, tuples, dicts,
ranges, texts and arrays with axes; Python's integers; numbers, texts and containers; and whatever
there is.
"""

TEXT, READ = "text", "numbers"
FORMS = (TEXT, READ)
REDUCED, FIRST, FILLED = "reduced", "first", "filled"
COUNTED, EXPANDED, GIVEN, KEPT = "counted", "expanded", "given", "kept"
SHAPES = (REDUCED, FIRST, FILLED, COUNTED, EXPANDED, GIVEN, KEPT)

IN_C = "C"
ORDERS = (IN_C, KEPT)
NEVER_NEGATIVE, LARGEST, FIRST_WINS = "never negative", "largest", "first"
SIGNS = (NEVER_NEGATIVE, KEPT, LARGEST, FIRST_WINS)
OF_ARRAY, OF_CONTAINER = "array", "container"
CHANGES = (OF_ARRAY, OF_CONTAINER)

LINEAR, PIECEWISE, CURVED = "linear", "piecewise", "curved"
ALONG = (LINEAR, PIECEWISE, CURVED)

TRANSFERS = (
    "moves", "moves all", "roll", "joins", "append", "array", "copy", "astype", "full", "full_like",
    "zeros_like", "pad", "insert", "take", "picks", "compress", "select", "interp", "bincount",
    "where", "clip", "pow", "add", "mul", "concat", "contains", "equal", "compare", "is",
    "sum", "mean", "average", "max", "min", "ptp", "median", "var", "prod", "norm", "trace",
    "trace of each", "cumsum", "cumprod", "sort", "partition", "sorted", "diff", "ediff1d",
    "gradient", "matmul", "dot", "inner", "vdot", "outer", "vecdot", "tensordot", "einsum",
    "multi_dot", "matrix_power", "kron", "convolve", "correlate", "cross", "polyval",
    "matrices", "matrix", "inverse", "solve", "solve_triangular", "cholesky", "factor",
    "quantile", "numbers",
    "len", "shape", "ndim", "size", "dtype", "iter", "isinstance", "print",
    "sum of items", "prod of items", "max of items", "min of items", "mean of items",
    "hypot", "dist", "log",
)
"""Words for how elements of results depend on those of arguments.

What ``"moves"`` has the elements of its first argument as those of its result, what ``"moves all"``
those of all arguments; it ``"joins"`` the arrays in its first argument, ``"picks"`` elements of the
first one by a condition; it works on ``"numbers"``, each by itself, or on each ``"matrix"`` of a
stack, or several (``"matrices"``). The others are done as by NumPy's or Python's function of that
name, with the parameters of that.
"""


EACH, ALIKE, ALONG_ONE, ALONG_ALL, VECTORS = "each", "alike", "along", "along all", "vectors"
IN_ORDER, JOINS, IN_ROWS, COLUMNS = "in order", "joins", "rows", "columns"
AXES = (EACH, ALIKE, ALONG_ONE, ALONG_ALL, IN_ORDER, JOINS, IN_ROWS, COLUMNS, VECTORS)
"""Words for what a function makes of one more axis in front.

It works on ``"each"`` element by itself, of one argument or of several that are broadcast, or does
for the array, its only argument, what it does for one without (``"alike"``). Its parameter ``axis``
counts one more (``"along"``); without one, it works on all axes (``"along all"``), or on the
numbers ``"in order"``. It ``"joins"`` the arrays in its first argument along an axis, runs over the
``"rows"`` of its arguments, or solves a system for each of the ``"columns"`` of its second one;
or it works on ``"vectors"`` along the last axes of its arguments, which are broadcast.
"""

ARRAY, COMPLEX, REAL = "array", "complex", "real"
GIVEN_TO_SERIES = ("x", "dx", "dx?", "y", "dy", "dy?", "axis", "args", "d", "result")


@dataclass(frozen=True, slots=True)
class Recurrence:
    """What gives the coefficients of a function's Taylor series: a function of those of arguments.

    ``given`` tells what it is called with, one word for each: ``x`` and ``y`` are the values of the
    first and second argument, ``dx`` and ``dy`` their coefficients, ``result`` is the value of the
    function; what is no text stands for itself. An argument whose coefficients are not given must
    not vary, one whose are must, or, with a question mark, may (None is given where it does not).
    ``axis`` is an argument of that name, or the second one, which has to be known. ``args`` are all
    arguments, of which that at ``place`` alone varies, and ``d`` its coefficients. ``first`` says
    that the first argument is an ``"array"``, or holds ``"complex"`` numbers, or that no argument
    does (``"real"``).
    """

    series: Callable[..., Any]
    given: tuple[Any, ...] = ("x", "dx", "result")
    first: str = ""
    place: int = 0

    def __post_init__(self) -> None:
        for word in self.given:
            if isinstance(word, str) and word not in GIVEN_TO_SERIES:
                raise ValueError(f"given={word!r}: one of {', '.join(GIVEN_TO_SERIES)}")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one function; None where nothing was said."""

    pure: bool | None = None
    """A call does nothing but give its value, apart from ``output`` and ``writes``."""
    shares: tuple[Shares, ...] | None = None
    """What the result shares with arguments."""
    output: tuple[str, int | None] | None = None
    """The parameter that takes an array for the result, with its position: a call with one is a
    call without it, whose result is stored there."""
    writes: tuple[str, ...] | None = None
    """Other parameters that are written into; those of an empty tuple are none."""
    tried: bool | None = None
    """The function may be called on small made-up arguments when compiling: it is public, and
    checks what it is given."""
    updates: bool | None = None
    """It is called by emitted code, writes into its first argument, which that code owns, and
    returns it."""
    fresh: bool | None = None
    """Two calls give two objects that must be kept apart, since one may be written into or run
    through; False: one object may stand for both."""
    total: tuple[str, ...] | None = None
    """The classes of arguments (``ARGUMENTS``) that the function never raises for."""
    classes: bool | None = None
    """The classes of numbers decide the type of the result, whatever their values."""
    elementwise: bool | None = None
    """An array that it returns has the shape that its arguments are broadcast to, and each element
    is computed from those at its place."""
    shape: str | None = None
    """A result that is an array has the shape of the ``"first"`` argument, in a call without
    others, or ``"filled"``: with no more than a second one, or ``"kept"``: whatever the others are,
    if it has as many axes. It is that shape ``"reduced"`` over the second argument, ``axis``, where
    ``keepdims`` may be given by name; ``"expanded"`` by that axis; ``"given"`` as the second
    argument; or ``"counted"``: as many as the argument says."""
    parts: bool | None = None
    """The result holds parts of the first argument, which do not overlap."""
    changes: str | None = None
    """It changes its first argument, an ``"array"`` or a ``"container"``, in a way that is not
    followed."""
    order: str | None = None
    """Results that are arrays lie in C order: always, ``"C"``, or where all arguments do,
    ``"kept"``."""
    reads_layout: bool | None = None
    """How its arrays lie in memory decides what it gives, whatever the ``order`` asked for."""
    sign: str | None = None
    """Of real numbers: a finite result is ``"never negative"``; it is not if no argument is
    (``"kept"``), if one is not (``"largest"``), or if the first one is not (``"first"``)."""
    defaults: tuple[tuple[str, Any], ...] | None = None
    """Parameters with the values that they have if nothing is given, beside what the signature
    says."""
    typed_as: Callable[..., Any] | None = None
    """What is called on stand-ins in its place, to type its results: it raises ``Undecided`` where
    types do not decide, and returns ``UNTYPED`` for a part of which no type is known."""
    written_as: Callable[..., Any] | None = None
    """The Python function that is compiled in its place, which does the same."""
    supposed_as: Callable[..., Any] | None = None
    """The one that is compiled in place of a call with arrays by position, where shapes are as
    expected: it raises ``StretchedError`` where they are not."""
    iterates: bool | None = None
    """It runs through its arguments at once, or gives what runs through them when asked."""
    passes_on: bool | None = None
    """It makes a context manager that lets exceptions pass."""
    exhausts: bool | None = None
    """It asks an iterator for all items that it has, and does nothing else meanwhile."""
    form: tuple[str, ...] | None = None
    """It gives numbers in another form, as ``"text"`` or bits, or writes them somewhere; or it
    makes ``"numbers"`` of such."""

    means: str | None = None
    """What the function is, by one of the words of ``ops.meanings``."""
    transfer: str | None = None
    """How the elements of a result depend on those of arguments: one of ``TRANSFERS``."""
    along: tuple[str, Any, str] | None = None
    """The parameter that says along which axes the function works, its default, and how: it is
    ``LINEAR``, ``PIECEWISE`` linear, or ``CURVED``. Lines do not depend on one another."""
    linear_in: tuple[str, ...] | None = None
    """Groups of parameters in which the function is linear jointly, beside those of its rule."""
    rounded: bool | None = None
    """What is zero in exact arithmetic, for a linear function, may not be zero in floats."""
    pattern: Any = None
    """Which numbers of the result depend on which of the arguments: a matrix, or a function of the
    shapes of arguments that returns one. It goes before what a rule or ``transfer`` says."""
    axes: str | None = None
    """What the function does for arrays with one more axis in front: one of ``AXES``."""
    recurrence: tuple[Recurrence, ...] | None = None
    """What gives the coefficients of Taylor series of results: the first one that fits a call."""
    of_form: bool | None = None
    """Of arguments no more is read than their structure, shapes and dtypes."""
    read_only: bool | None = None
    """A view that it gives may refuse to be written into, whoever owns the storage."""
    sized: bool | None = None
    """The values of arguments, not their shapes alone, decide how many numbers a result has."""
    unwraps: bool | None = None
    """It makes plain arrays of all that it is given, whatever their classes, and computes with
    these."""

    finite: bool | None = None
    """Its derivatives are finite wherever its arguments and its value are: no slope of it is
    infinite."""
    bounded: bool | None = None
    """Its value is finite wherever its arguments are, or it raises; as that of one with finite
    slopes is."""

    def over(self, other: Facts) -> Facts:
        """Return these facts, with those of ``other`` where nothing is said here."""
        if other is UNKNOWN:
            return self
        return Facts(*(
            theirs if mine is None else mine
            for mine, theirs in zip(FIELDS(self), FIELDS(other), strict=True)
        ))

    @property
    def is_pure(self) -> bool:
        """Whether calls do nothing but give a value, for sure."""
        return self.pure is True

    @property
    def may_be_tried(self) -> bool:
        """Whether the function may be called on stand-ins."""
        return self.tried is True

    @property
    def owns_result(self) -> bool:
        """Whether results never share storage with an argument."""
        return self.shares == OWN

    @property
    def gives_own_arrays(self) -> bool:
        """Whether results that are arrays never share storage with an argument."""
        return self.shares is not None and all(shares.how == ITEMS for shares in self.shares)

    @property
    def sharing(self) -> tuple[Shares, ...]:
        """How results may share storage with arguments."""
        return ANYTHING if self.shares is None else self.shares

    @property
    def gives_views(self) -> bool:
        """Whether a result is a view of an argument, whatever the layout in memory."""
        return any(shares.how == VIEW for shares in self.shares or ())

    @property
    def writes_nothing(self) -> bool:
        """Whether no argument is written into, but the array for a result."""
        return self.writes == () or (self.writes is None and self.is_pure)

    def is_total_for(self, arguments: str) -> bool:
        """Say whether the function never raises for arguments of one class."""
        return self.total is not None and (arguments in self.total or ANY in self.total)

    def has_form(self, form: str) -> bool:
        """Say whether the function gives numbers as ``TEXT``, or makes numbers of such (READ)."""
        return self.form is not None and form in self.form


class Undecided(Exception):
    """Types of arguments do not decide the type of a result."""


class Untyped:
    """The class of ``UNTYPED``, which stands for a value of which no type is known."""


UNTYPED = Untyped()
Entry = tuple[Iterable[Any], Facts]
"""Functions, and what is said of them."""
UNKNOWN = Facts()
FIELDS = operator.attrgetter(*Facts.__dataclass_fields__)
"""Returns all fields of a record, in order."""
ELEMENTWISE = Facts(
    pure=True, shares=OWN, writes=(), tried=True, fresh=False, elementwise=True,
)
"""Facts about ufuncs, and about rules that consist of partial derivatives."""


def as_shares(given: Any) -> tuple[Shares, ...] | None:
    """Return what a rule gives as ``shares``: a kind, None (own storage), a Shares, or several."""
    if given is None:
        return None
    if isinstance(given, str):
        return OWN if given == "none" else (
            Shares(given, (0,) if given in (VIEW, LAYOUT, SAME) else ()),
        )
    if isinstance(given, Shares):
        return (given,)
    return tuple(given)


def stated(
    *, shares: Any = None, output: str | tuple[str, int | None] | None = None,
    writes: Sequence[str] | None = None, total: str | Sequence[str] | None = None,
    form: str | Sequence[str] | None = None, shape: str | None = None,
    transfer: str | None = None, along: tuple[str, Any, str] | None = None,
    linear_in: str | None = None, recurrence: Any = None, axes: str | None = None,
    means: str | None = None, order: str | None = None, sign: str | None = None,
    changes: str | None = None, defaults: Mapping[str, Any] | None = None, pattern: Any = None,
    **plain: Any,
) -> Facts:
    """Return the record of what is said of a function; see ``Facts``.

    Raises TypeError for a fact that there is not, ValueError for a word that means nothing.
    """
    if isinstance(output, str):
        output = (output, None)
    return Facts(
        shares=as_shares(shares), output=output, writes=None if writes is None else tuple(writes),
        total=words("total", total, ARGUMENTS), form=words("form", form, FORMS),
        shape=word("shape", shape, SHAPES), transfer=word("transfer", transfer, TRANSFERS),
        along=None if along is None else (*along[:2], word("along", along[2], ALONG)),
        linear_in=None if linear_in is None else tuple(linear_in.split(",")),
        recurrence=as_recurrences(recurrence), axes=word("axes", axes, AXES),
        means=word("means", means, MEANINGS), order=word("order", order, ORDERS),
        sign=word("sign", sign, SIGNS), changes=word("changes", changes, CHANGES),
        defaults=None if defaults is None else tuple(defaults.items()),
        pattern=pattern if pattern is None or callable(pattern) else lambda *shapes: pattern,
        **plain,
    )


def as_recurrences(given: Any) -> tuple[Recurrence, ...] | None:
    """Return what is given as ``recurrence``: a function of x, dx and result, or Recurrences."""
    if given is None or isinstance(given, tuple):
        return given
    return (given if isinstance(given, Recurrence) else Recurrence(given),)


def words(fact: str, given: str | Sequence[str] | None, known: tuple[str, ...]) -> Any:
    """Return what is given for a fact, one word or several, as a tuple of known words."""
    if given is None:
        return None
    found = (given,) if isinstance(given, str) else tuple(given)
    for word in found:
        if word not in known:
            raise ValueError(f"{fact}={word!r}: one of {', '.join(map(repr, known))}")
    return found


def word(fact: str, given: str | None, known: tuple[str, ...]) -> Any:
    """Return what is given for a fact: a known word, or nothing."""
    return None if given is None else words(fact, given, known)[0]


class FactTable:
    """Facts by function.

    ``first`` gives what is said from the start: it is asked when anything is looked up, or said.
    """

    def __init__(self) -> None:
        self._table: dict[Any, Facts] = {}
        self.first: Callable[[], Iterable[Entry]] | None = None
        self.lock = threading.RLock()

    def open(self) -> None:
        """Enter what is said from the start; other threads wait until all of it is there."""
        with self.lock:
            if self.first is not None:
                for functions, facts in self.first():
                    self.enter(functions, facts)
                self.first = None

    def add(self, functions: Iterable[Any], facts: Facts) -> None:
        """Enter facts about functions; what was said of one before, and is not now, still holds."""
        if self.first is not None:
            self.open()
        if facts != UNKNOWN:
            self.enter(functions, facts)

    def enter(self, functions: Iterable[Any], facts: Facts) -> None:
        """Enter facts about functions over what was said before."""
        both: dict[int, tuple[Facts, Facts]] = {}  # of what was said of several functions alike
        for function in functions:
            before = self._table.get(findable(function), UNKNOWN)
            if id(before) not in both:
                both[id(before)] = before, facts.over(before)
            self._table[function] = both[id(before)][1]

    def get(self, function: Any) -> Facts:
        """Return what was said of a function itself."""
        if self.first is not None:
            self.open()
        return self._table.get(function, UNKNOWN)

    def items(self) -> list[tuple[Any, Facts]]:
        """Return all functions of which something was said."""
        if self.first is not None:
            self.open()
        return list(self._table.items())

    def remove(self, function: Callable[..., Any]) -> None:
        """Forget what was said of a function."""
        if self.first is not None:
            self.open()
        self._table.pop(function, None)
