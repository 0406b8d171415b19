"""Functions that call themselves: each is a function of loops of its own, which others call.

Such a function returns whether it came to its end, then numbers and arrays that share no storage
with what it was given. How deep calls go is counted, and how much of the stack they take is seen by
the address of a local variable: beyond Python's limit, or a part of the stack, loops give up. What
an augmented primal keeps for its pullback is a record (``records.py``). Where there is no room for
one, the outermost call is made again, with more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    FLOAT, INT, KINDS, Assign, Binary, Body, Break, Element, Expr, Extent, Forever, Leave,
    LoopFunction, Make, Name, Number, Output, Parameter, Part, Reserve, Row, Store, Unary, Use,
    rows_of,
)
from adcompiler.backends.native.lower.branch_results import as_number
from adcompiler.backends.native.lower.records import (
    FLOATS_TOP, INTS_TOP, SHORT, STATES, Buffers, Layout, Records, layout_of,
)
from adcompiler.backends.native.passes.buffer_capacity import with_room, with_rooms_ahead
from adcompiler.backends.native.passes.table import RECURSIVE, improved
from adcompiler.backends.native.reading import bound_by
from adcompiler.backends.native.values import EXACT, Buffer, Declined, Num, Record, Several, Value
from adcompiler.derive.primal_and_pullback import CalleePart
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Function, Let, Pack, Var, unstar
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee

ZERO, ONE = Number(0), Number(1)
KEEPING = {"augmented": "augmented", "pullback": "augmented"}
"""The roles of functions that write or read records, and the role of that which writes these."""
ROOM, MORE = Number(64), Number(4)
"""How long the buffers of records are at first, and how many times longer if they are full."""
STACK_ADDRESS = "stack_address"
"""The function that tells where a call's variables stand in the stack."""
UNKNOWN = ("a function that calls itself gives what is not known to be a number, an array or a "
           "tuple of such")
LIMITS = ("recursion_limit()", "stack_room()")
"""What loops that call such functions are given: how deep calls go, what they take of the stack."""


@dataclass(slots=True)
class Frame:
    """What a function hands on to those that it calls: limits, and the buffers of records."""

    left: Expr
    bottom: str
    buffers: Buffers | None
    outermost: bool = False


@dataclass(eq=False, slots=True)
class Called:
    """A function that calls itself: what it takes and gives, and its loops once they are written.

    ``kept`` tells how the records lie that it writes; ``lifted`` are the positions of arrays among
    the arguments that are kept as they are, in no record: who calls gives them to the pullback.
    ``wanted`` are those of which this was found out while the loops were written.
    """

    name: str
    takes: tuple[Any, ...]
    gives: tuple[Any, ...]
    keeps: bool
    lifted: tuple[int, ...] = ()
    kept: Layout | None = None
    loops: LoopFunction | None = None
    wanted: tuple[int, ...] = ()
    calls: set[Called] = field(default_factory=set)


class Recursion:
    """The functions that call themselves of one text of loops, called ``base``."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.called: dict[str, Called] = {}
        self.made: list[LoopFunction] = []
        self.frames: dict[Context, Frame] = {}
        self.stack: list[Called] = []
        self.given: list[Parameter] = []
        self.declined: Declined | None = None

    # -- calls ---------------------------------------------------------------------------------

    def call(
        self, low: Context, part: CalleePart | Callee, function: Function, given: Sequence[Any]
    ) -> Any:
        """Write the call of a function that calls itself, and return what it gives."""
        called = self.function(low, part, function)
        given = [low.arrays.settled(one) for one in given]
        if self.stack:
            self.stack[-1].calls.add(called)
        frame = self.frame(low)
        args = [one for pair in zip(called.takes, given, strict=True) for one in handed(low, *pair)]
        args += [frame.left, Name(frame.bottom)]
        w = low.w
        answer = w.fresh("answer")
        if not called.keeps:
            w.write(Use(answer, called.name, tuple(args)))
        else:
            if frame.buffers is None:
                frame.buffers = self.buffers(low)
            of = frame.buffers
            buffers = (of.state, of.floats, of.ints)
            use = Use(answer, called.name, (*args, *buffers), buffers)
            if frame.outermost and any(one.kept for one in (called, *reached(called))):
                self.with_room(low, use, of)
            else:
                w.write(use)
        w.write(Leave(Unary("not", Element(answer, (ZERO,)))))
        return results(low, called, answer, [low.ready(given[at]) for at in called.lifted])

    def with_room(self, low: Context, use: Use, of: Buffers) -> None:
        """Write the outermost call of one that keeps records: again where there is no room."""
        w = low.w
        ints = w.assign("ints_mark", Element(of.state, (INTS_TOP,)))
        floats = w.assign("floats_mark", Element(of.state, (FLOATS_TOP,)))
        again: list[Row] = [use, Break(Binary("==", Element(of.state, (SHORT,)), ZERO))]
        for place, value in ((INTS_TOP, ints), (FLOATS_TOP, floats), (SHORT, ZERO)):
            again.append(Store(of.state, (place,), value))
        for buffer in (of.floats, of.ints):
            again.append(Reserve(buffer, Binary("*", Extent(buffer, 0), MORE)))
        w.write(Forever(Body(again)))

    def buffers(self, low: Context) -> Buffers:
        """Return names for the buffers of records."""
        if not self.frames[low].outermost:
            raise Declined("a function that calls itself calls the derivative of another one")
        return Buffers(*map(low.w.fresh, ("records", "record_floats", "record_ints")))

    def frame(self, low: Context) -> Frame:
        """Return what is handed on to what a function calls."""
        if low not in self.frames:
            w = low.w
            self.given = [
                Parameter(w.fresh(hint), INT, None, 0, part)
                for hint, part in zip(("deepest", "room"), LIMITS, strict=True)
            ]
            self.frames[low] = Frame(
                Name(self.given[0].name), w.fresh("bottom"), None, outermost=True)
        return self.frames[low]

    # -- functions -----------------------------------------------------------------------------

    def function(self, low: Context, part: CalleePart | Callee, function: Function) -> Called:
        """Return a function that calls itself; its loops are written when it is first called."""
        if self.declined is not None:
            raise self.declined
        found = self.called.get(function.name)
        if found is not None:
            return found
        try:
            return self.written(low, part, function)
        except Declined as declined:
            declined.origin = declined.origin or function.origin
            self.declined = declined
            raise

    def written(self, low: Context, part: CalleePart | Callee, function: Function) -> Called:
        """Write the loops of a function: again if it keeps arguments as they are, now known."""
        known, count = dict(self.called), len(self.made)
        called = self.begun(low, part, function, ())
        if called.wanted:
            self.called = known
            del self.made[count:]
            called = self.begun(low, part, function, called.wanted)
        return called

    def begun(
        self, low: Context, part: CalleePart | Callee, function: Function, lifted: tuple[int, ...]
    ) -> Called:
        """Write the loops of a function that keeps these of its arguments as they are."""
        inner = low.apart(function)
        role = part.role if isinstance(part, CalleePart) else ""
        if role not in ("", "pushforward", *KEEPING):
            raise Declined(f"`{function.name}` calls itself")
        if function.body.diverges:
            raise Declined(f"`{function.name}` always raises")
        takes = [form_of(inner, param.var) for param in function.params]
        gives = forms_of(inner, function.body.yields)
        kept = None
        if role in KEEPING:
            kept = Record(f"{part.callee.name}_{KEEPING[role]}{part.suffix}", Num(ZERO, INT, EXACT))  # type: ignore[union-attr]
            if role == "augmented":
                gives[-1] = kept
            else:
                of = self.keeper(kept)
                takes[0] = replace(kept, arrays=tuple(of.takes[at] for at in of.lifted))
        called = Called(f"{self.base}_{function.name}", tuple(takes), tuple(gives),
                        role in KEEPING, lifted)
        self.called[function.name] = called
        inner.w.taken |= {one.name for one in self.called.values()}
        self.stack.append(called)
        called.loops = self.loops(inner, function, called, role)
        self.stack.pop()
        self.made.append(called.loops)
        return called

    def loops(self, inner: Context, function: Function, called: Called, role: str) -> LoopFunction:
        """Return the loops of a function that calls itself."""
        w = inner.w
        parameters: list[Parameter] = []
        values = [taken(w, form, param.var.name, parameters)
                  for form, param in zip(called.takes, function.params, strict=True)]
        buffers = self.head(inner, called, parameters)
        records = None if buffers is None else Records(inner, buffers)
        if role == "pullback":
            assert records is not None
            layout = self.keeper(called.takes[0]).kept
            assert layout is not None
            values[0] = records.read(layout, values[0])
        for param, value in zip(function.params, values, strict=True):
            inner.values[param.var] = value
        inner.block(function.body)
        yields = function.body.yields
        found = [inner.read(atom) for atom in yields[: len(yields) - (role == "augmented")]]
        if role == "augmented":
            assert records is not None
            kept = inner.value(yields[-1])  # some of it may have no value
            arrays = {at: one.name for at, one in enumerate(values) if isinstance(one, Buffer)}
            if not called.lifted:
                called.wanted = tuple(at for at, name in arrays.items() if holds(kept, name))
            called.kept = layout_of(kept, [arrays[at] for at in called.lifted])
            place = records.push(called.kept, kept)
            found.append(Record(called.gives[-1].of, Num(place, INT, EXACT)))
        outputs = Outputs(inner, [p.name for p in parameters if p.ndim is not None])
        for form, value in zip(called.gives, found, strict=True):
            outputs.add(form, value)
        if inner.told_apart:
            raise Declined(f"`{function.name}` writes into arguments that may share storage")
        opening, filled = with_room(inner.tapes.opening, w.body)
        w.body.rows[:] = with_rooms_ahead(Body(opening + filled)).rows
        return improved(w, LoopFunction(
            called.name, tuple(parameters), w.body, tuple(outputs.found), None), RECURSIVE)

    def head(self, inner: Context, called: Called, parameters: list[Parameter]) -> Buffers | None:
        """Write the tests of how deep calls are; return the buffers of records, if there are any.

        What all these functions are given beside what they take is added to the parameters.
        """
        w = inner.w
        left, bottom = w.fresh("left"), w.fresh("bottom")
        parameters += [Parameter(left, INT, None, 0), Parameter(bottom, INT, None, 0)]
        buffers = None
        if called.keeps:
            buffers = Buffers(*map(w.fresh, ("records", "record_floats", "record_ints")))
            parameters += [Parameter(buffers.state, INT, 1, 0),
                           Parameter(buffers.floats, FLOAT, 1, 0),
                           Parameter(buffers.ints, INT, 1, 0)]
        self.frames[inner] = Frame(Binary("-", Name(left), ONE), bottom, buffers)
        here = w.fresh("here")
        w.write(Leave(Binary("<=", Name(left), ZERO)))
        w.write(Use(here, STACK_ADDRESS, ()))
        w.write(Leave(Binary("<", Name(here), Name(bottom))))
        return buffers

    def keeper(self, record: Record) -> Called:
        """Return the augmented primal that wrote a record, which comes before its pullback."""
        found = self.called.get(record.of)
        if found is None or found.kept is None:
            raise Declined("a pullback reads what another function keeps")
        return found

    # -- the whole text ------------------------------------------------------------------------

    def finished(self, low: Context) -> tuple[LoopFunction, ...]:
        """Write what stands at the beginning of the loops that call; return what they call."""
        if self.declined is not None:
            raise self.declined
        frame = self.frames.get(low)
        if frame is None:
            return ()
        w = low.w
        here = w.fresh("here")
        rows: list[Row] = [
            Use(here, STACK_ADDRESS, ()),
            Assign(frame.bottom, Binary("-", Name(here), Name(self.given[1].name))),
        ]
        if (of := frame.buffers) is not None:
            rows += [Make(of.state, (Number(STATES),), INT, ZERO),
                     Make(of.floats, (ROOM,), FLOAT), Make(of.ints, (ROOM,), INT),
                     Store(of.state, (INTS_TOP,), ONE)]
        w.body.rows[:0] = rows
        return tuple(self.made)


class Outputs:
    """What a function that calls itself returns: numbers, and arrays that only it has."""

    def __init__(self, inner: Context, given: Sequence[str]) -> None:
        self.inner = inner
        self.found: list[Output] = []
        self.given = set(given)

    def add(self, form: Any, value: Value) -> None:
        """Add what is returned for a value."""
        for part, one in zip(leaves(form), handed(self.inner, form, value), strict=True):
            if isinstance(part, Buffer):
                assert isinstance(one, str)
                self.found.append(Output(self.own(part, one), part.dtype, part.ndim))
            else:
                self.found.append(Output(one, part.dtype))

    def own(self, form: Buffer, name: str) -> str:
        """Return an array in C order that shares no storage with what is given or returned."""
        w = self.inner.w
        counts = Counter(bound_by(row) for row in rows_of(w.body))
        made = any(isinstance(row, Make) and row.name == name for row in rows_of(w.body))
        if not made or counts[name] > 1 or w.root(name) in map(w.root, self.given):
            shape = tuple(Extent(name, axis) for axis in range(form.ndim))
            name = self.inner.arrays.copy(Buffer(name, form.dtype, shape)).name
        self.given.add(name)
        return name


def reached(one: Called) -> set[Called]:
    """Return the functions that one calls, and that these call."""
    found: set[Called] = set()
    waiting = [one]
    while waiting:
        for other in waiting.pop().calls - found:
            found.add(other)
            waiting.append(other)
    return found


# -- forms: values that stand for what functions take and give -------------------------------------


def forms_of(low: Context, yields: Sequence[Atom]) -> list[Any]:
    """Return the forms of what a function gives."""
    return [form_of(low, atom) for atom in yields]


def form_of(low: Context, atom: Atom) -> Any:
    """Return the form of a value; None where that is not known."""
    match low.makers.get(atom) if isinstance(atom, Var) else None:
        case (Let(rhs=Pack("tuple", items)), _):
            return Several(tuple(form_of(low, unstar(item)) for item in items))
    return form_of_type(low.unit.type(atom))


def form_of_type(type_: t.Type) -> Any:
    """Return the form of values of a type; None if loops have none."""
    match type_:
        case t.Scalar(kind, dtype) if kind in KINDS and dtype in (None, KINDS[kind]):
            return Num(ZERO, KINDS[kind], EXACT)
        case t.Array(dtype, ndim) if dtype in KINDS.values() and ndim:
            return Buffer("", dtype, (ZERO,) * ndim)
        case t.Tuple(items, cls) if cls is tuple:
            return Several(tuple(map(form_of_type, items)))
    return None


def is_known(form: Any) -> bool:
    """Say whether all of a form is known."""
    return all(map(is_known, form.items)) if isinstance(form, Several) else form is not None


def leaves(form: Any) -> list[Num | Buffer]:
    """Return the numbers and arrays in a form."""
    match form:
        case Several(items):
            return [leaf for item in items for leaf in leaves(item)]
        case Record(_, at, arrays):
            return [at, *(leaf for one in arrays for leaf in leaves(one))]
        case Num() | Buffer():
            return [form]
    raise Declined(UNKNOWN)


def handed(low: Context, form: Any, value: Value) -> list[Any]:
    """Return what is handed over of a value: expressions, and names of arrays."""
    value = low.ready(low.arrays.settled(value))
    match form, value:
        case Several(forms), Several(items) if len(forms) == len(items):
            return [one for pair in zip(forms, items, strict=True) for one in handed(low, *pair)]
        case Record(of, at, forms), Record(other, here, arrays) if (of, len(forms)) == (
            other, len(arrays)):
            pairs = zip((at, *forms), (here, *arrays), strict=True)
            return [one for pair in pairs for one in handed(low, *pair)]
        case Num(_, dtype), Num():
            number = low.w.narrowed(as_number(low.w, value, dtype), EXACT)
            return [number.expr]
        case Buffer(_, dtype, shape), Buffer() if (value.dtype, value.ndim) == (dtype, len(shape)):
            return [value.name]
    raise Declined(UNKNOWN)


def taken(w: Any, form: Any, hint: str, parameters: list[Parameter]) -> Any:
    """Return what a parameter is, having added what it is taken apart into."""
    match form:
        case Several(items):
            return Several(tuple(taken(w, item, hint, parameters) for item in items))
        case Record(of, at, arrays):
            return Record(of, taken(w, at, "record", parameters), tuple(
                taken(w, one, "kept", parameters) for one in arrays))
        case Num(_, dtype, bound):
            name = w.fresh(hint)
            parameters.append(Parameter(name, dtype, None, 0))
            return Num(Name(name), dtype, bound)
        case Buffer(_, dtype, shape):
            name = w.fresh(hint)
            parameters.append(Parameter(name, dtype, len(shape), 0))
            w.given.add(name)
            return Buffer(name, dtype, tuple(Extent(name, i) for i in range(len(shape))),
                          borrowed=True)
    raise Declined(f"a function that calls itself takes `{hint}`, which is not known to be a "
                   "number or an array")


def results(low: Context, called: Called, answer: str, lifted: Sequence[Any]) -> Any:
    """Return what a call gives, read from its answer; a record goes with arrays of arguments."""
    w, position = low.w, 0

    def read(form: Any) -> Any:
        nonlocal position
        if isinstance(form, Several):
            return Several(tuple(map(read, form.items)))
        if isinstance(form, Record):
            return Record(form.of, read(form.at), tuple(lifted))
        position += 1
        at = Number(position)
        if isinstance(form, Num):
            return Num(w.assign("result", Element(answer, (at,))), form.dtype, form.bound)
        name = w.fresh("result")
        w.write(Part(name, answer, (at,)))
        return Buffer(name, form.dtype, tuple(Extent(name, i) for i in range(form.ndim)))

    if any(not is_known(form) for form in called.gives):
        raise Declined(UNKNOWN)
    found = tuple(map(read, called.gives))
    return found[0] if len(found) == 1 else Several(found)



def holds(value: Value, name: str) -> bool:
    """Say whether an array is in what is kept, under this name."""
    match value:
        case Several(parts) | Record(arrays=parts):
            return any(holds(part, name) for part in parts)
    return isinstance(value, Buffer) and value.name == name


__all__ = ["LIMITS", "Recursion"]
