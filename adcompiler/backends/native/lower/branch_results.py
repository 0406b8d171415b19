"""What two arms of a branch give as one value: numbers, arrays, tuples, lists that both assign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    EITHER, FLOAT, INT, NAUGHT, SHORT, SINGLE, Apply, Assign, Bind, Body, Expr, Extent, Make,
    Name, Number, Unary,
)
from adcompiler.backends.native.lower.tapes import is_placeholder
from adcompiler.backends.native.ops import lists
from adcompiler.backends.native.ops.held import held
from adcompiler.backends.native.ops.singles import dtype_of, is_naught, short_of
from adcompiler.backends.native.values import (
    UNSET, Buffer, Complex, Declined, Failure, Heap, Held, Kept, Keyed, Num, Record, Rows, Several,
    Span, Tape, Value, number_parts, zero,
)
from adcompiler.backends.native.writer import Writer
from adcompiler.ir import types as t

ZERO = Number(0)
TAKEN = {(EITHER, SINGLE), (EITHER, NAUGHT), (EITHER, FLOAT), (NAUGHT, SINGLE)}
"""Which machine types of floats take numbers of which other ones as they are."""


class Merging:
    """Writes what arms of control flow hand on, in a function that ``low`` lowers."""

    def __init__(self, low: Context) -> None:
        self.low = low
        self.w: Writer = low.w

    def merged(
        self, hint: str, type_: t.Type, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Any:
        """Return one value for what two arms give."""
        (then, a), (orelse, b) = left, right
        if a == b:
            return a
        if is_placeholder(a) and is_placeholder(b):
            return UNSET if UNSET in (a, b) else a
        pattern = next((one for one in (a, b) if isinstance(one, (Held, Complex))),
                       b if is_placeholder(a) else a)
        match pattern:
            case Complex():
                both = zip(("re", "im"), *(
                    self.complex_parts(value, type_, body)
                    for body, value in (left, right)), strict=True)
                return Complex(*(self.merged_numbers(
                    f"{hint}_{name}", t.Scalar("float"), (then, x), (orelse, y))
                    for name, x, y in both))
            case Held(heap):
                return self.merged_held(hint, heap, left, right)
            case Num():
                return self.merged_numbers(hint, type_, left, right)
            case Failure():
                return self.merged_failures(hint, left, right)
            case Span() if isinstance(type_, t.Range) and UNSET not in (a, b):
                return self.merged_ranges(hint, pattern, left, right)
            case Record():
                return self.merged_records(hint, pattern, left, right)
            case Several(items):
                pairs = [self.parts(value, len(items)) for value in (a, b)]
                types_ = type_.items if isinstance(type_, t.Tuple) else (t.UNKNOWN,) * len(items)
                return Several(tuple(
                    self.merged(hint, inner, (then, x), (orelse, y))
                    for inner, x, y in zip(types_, *pairs, strict=True)
                ))
            case Keyed():
                return self.merged_keyed(hint, pattern, left, right)
            case Kept(tape) if not isinstance(a, Rows) and not isinstance(b, Rows):
                return self.merged_tapes(hint, tape, left, right)
            case Rows() | Kept():
                return lists.merged(self.low, hint, type_, left, right)
            case Buffer():
                return self.merged_buffers(hint, left, right)
        raise Declined("the arms of a branch give what is of different kinds")

    def parts(self, value: Value, count: int) -> list[Any]:
        """Return the items of a tuple, or as many placeholders."""
        if is_placeholder(value):
            return [value] * count
        if not isinstance(value, Several) or len(value.items) != count:
            raise Declined("the arms of a branch give tuples of different lengths")
        return list(value.items)

    def merged_numbers(
        self, hint: str, type_: t.Type, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Num:
        """Return a number that both arms assign."""
        given = [value for _, value in (left, right)]
        dtypes = {value.dtype for value in given if isinstance(value, Num)}
        dtype = short_of(type_, *given) or common(dtypes, type_)
        name = self.w.fresh(hint)
        numbers = []
        for body, value in (left, right):
            with self.w.inside(body):
                numbers.append(as_number(self.w, value, dtype, isinstance(type_, t.Scalar)))
                self.w.write(Assign(name, numbers[-1].expr))
        bound = max(number.bound for number in numbers)
        if all(number.isset is None for number in numbers):
            return Num(Name(name), dtype, bound)
        flag = self.w.fresh(f"{hint}_is_set")
        for (body, _), number in zip((left, right), numbers, strict=True):
            body.rows.append(Assign(flag, is_set(number)))
        return Num(Name(name), dtype, bound, Name(flag))

    def merged_tapes(
        self, hint: str, tape: Tape, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Kept:
        """Return a list that one arm collected, empty in the other."""
        start, length = self.w.fresh(f"{hint}_start"), self.w.fresh(f"{hint}_length")
        for body, value in (left, right):
            if isinstance(value, Kept) and value.tape is not tape:
                raise Declined("two loops collect the same list")
            if not isinstance(value, Kept) and not is_placeholder(value):
                raise Declined("a list that no loop collected")
            kept = value if isinstance(value, Kept) else Kept(tape, ZERO, ZERO)
            with self.w.inside(body):
                self.w.write(Assign(start, kept.start))
                self.w.write(Assign(length, kept.length))
        return Kept(tape, Name(start), Name(length))

    def complex_parts(self, value: Value, type_: t.Type, body: Body) -> tuple[Any, Any]:
        """Return the parts of a complex number, or of a float that stands for one of Python's.

        NumPy divides floats in other steps, and infinite ones have other products.
        """
        if is_placeholder(value):
            return value, value
        found = number_parts(value)
        if found is None:
            raise Declined("a variable is a complex number at times, and something else at others")
        with self.w.inside(body):
            if isinstance(value, Num) and value.expr not in (Number(0.0), ZERO):
                if not isinstance(type_, t.Scalar) or any(dtype for _, dtype in type_.classes):
                    raise Declined("a variable is a float at times, and a complex one at others")
                self.w.leave_if(Unary("not", Apply("isfinite", (self.w.as_float(value).expr,))))
            return self.w.as_float(found[0]), found[1]

    def merged_held(
        self, hint: str, heap: Heap, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Held:
        """Return the list that stands in others of two arms, or that of one as if it did."""
        arms = [(body, self.as_held(heap, value, body)) for body, value in (left, right)]
        return Held(heap, self.merged_numbers(hint, t.UNKNOWN, *arms))

    def as_held(self, heap: Heap, value: Value, body: Body) -> Any:
        """Return the number of a list as one that stands in others."""
        if is_placeholder(value):
            return value
        if not isinstance(value, (Held, Rows, Kept)):
            raise Declined("a variable is a list at times, and something else at others")
        with self.w.inside(body):
            return held(self.low, heap, value).at

    def merged_buffers(
        self, hint: str, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Buffer:
        """Return a name for the array that one of two arms gives."""
        given = [value for _, value in (left, right) if isinstance(value, Buffer)]
        name, like = self.w.fresh(hint), given[0]
        for body, value in (left, right):
            with self.w.inside(body):
                self.w.write(Bind(name, self.as_buffer(value, like).name))
        if len(given) == 2 and all(value.isset is None for value in given):
            return renamed(name, like)
        flag = self.w.fresh(f"{hint}_is_set")
        for body, value in (left, right):
            body.rows.append(Assign(flag, buffer_is_set(value)))
        return replace(renamed(name, like), isset=Name(flag))

    def as_buffer(self, value: Value, like: Buffer) -> Buffer:
        """Return a value as an array like another one; what is never read as an empty one."""
        if is_placeholder(value):
            name = self.w.fresh("nothing")
            self.w.write(Make(name, (ZERO,) * like.ndim, like.dtype))
            return Buffer(name, like.dtype, (ZERO,) * like.ndim)
        if not isinstance(value, Buffer) or (value.dtype, value.ndim) != (like.dtype, like.ndim):
            raise Declined("a variable is an array of different kinds")
        mine: Buffer = self.low.arrays.own(value)
        return mine

    def merged_keyed(
        self, hint: str, like: Keyed, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Keyed:
        """Return the dict or the instance that one of two arms gives, part by part."""
        (then, a), (orelse, b) = left, right
        parts = {}
        for key, x, y in pairs_of(like, a, b):
            lost = next((one for one in (x, y) if isinstance(one, Declined)), None)
            parts[key] = lost or self.merged(
                f"{hint}_{key}", like.types.get(key, t.UNKNOWN), (then, x), (orelse, y))
        return replace(like, parts=parts, made=all(
            one.made for one in (a, b) if isinstance(one, Keyed)))

    def merged_ranges(
        self, hint: str, like: Span, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Span:
        """Return the range that one of two arms gives; None is never read of what is one."""
        if not isinstance(like.step, int) or any(
            isinstance(one, Span) and one.step != like.step for _, one in (left, right)
        ):
            raise Declined("a variable is a range of different steps")

        def end(name: str) -> Num:
            return self.merged_numbers(hint, t.Scalar("int"), *(
                (body, getattr(one, name) if isinstance(one, Span) else one)
                for body, one in (left, right)))

        return Span(end("start"), end("stop"), like.step)

    def merged_records(
        self, hint: str, like: Record, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Record:
        """Return the place of the record that one of two arms gives."""
        if any(isinstance(one, Record) and one.of != like.of for _, one in (left, right)):
            raise Declined("a variable is what several functions keep")
        places = [(body, one.at if isinstance(one, Record) else one) for body, one in (left, right)]
        arrays = []
        for i, array in enumerate(like.arrays):
            mine = [(body, one.arrays[i] if isinstance(one, Record) else one)
                    for body, one in (left, right)]
            known = array.name in self.w.given and all(
                one == array or is_placeholder(one) for _, one in mine)
            arrays.append(array if known else self.merged_buffers(hint, *mine))
        return Record(like.of, self.merged_numbers(hint, t.Scalar("int"), *places), tuple(arrays))

    def merged_failures(
        self, hint: str, left: tuple[Body, Value], right: tuple[Body, Value]
    ) -> Failure:
        """Return the exception that one of two arms gives, if it does."""
        numbers = [(body, failure_number(value)) for body, value in (left, right)]
        return Failure(self.merged_numbers(hint, t.Scalar("int"), *numbers))


def as_number(w: Writer, value: Value, dtype: str, is_number: bool = True) -> Num:
    """Return a value as a number of a machine type; what is never read as zero.

    None is never read of what ``is_number`` by its type. Else it is the user's, and Python
    tells what comes of computing with it, as with a variable without a value.
    """
    if is_placeholder(value):
        held = zero(dtype)
        unset = value is UNSET or not is_number
        return replace(held, isset=Number(False)) if unset else held
    if not isinstance(value, Num):
        raise Declined("a variable is a number at times, and something else at others")
    if dtype in (FLOAT, EITHER) and value.dtype == INT:
        return replace(w.as_float(value), isset=value.isset, dtype=dtype)
    if value.dtype != dtype:
        if (dtype, value.dtype) not in TAKEN and not (dtype == NAUGHT and is_naught(value)):
            raise Declined("a variable is a number of different kinds")
        return replace(value, dtype=dtype)
    return value


def is_set(number: Num) -> Expr:
    """Return a test of whether a number was assigned to."""
    return Number(True) if number.isset is None else number.isset


def buffer_is_set(value: Value) -> Expr:
    """Return a test of whether an array was assigned to."""
    if not isinstance(value, Buffer):
        return Number(False)
    return Number(True) if value.isset is None else value.isset


def common(dtypes: set[str], type_: t.Type) -> str:
    """Return the machine type of a number that is of one of these."""
    if len(dtypes) == 1:
        return next(iter(dtypes))
    if isinstance(type_, t.Scalar) and (dtypes == {FLOAT, INT} or dtype_of(type_) == EITHER):
        return EITHER if dtypes & {*SHORT} else FLOAT
    raise Declined("a variable is a number of different kinds")


def renamed(name: str, like: Buffer) -> Buffer:
    """Return an array under another name, of which only its lengths now are known."""
    return Buffer(name, like.dtype, tuple(Extent(name, axis) for axis in range(like.ndim)))


def pairs_of(like: Keyed, a: Any, b: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the keys of dicts or instances of one structure, and the parts of both there."""
    for one in (a, b):
        if not is_placeholder(one) and not (
            isinstance(one, Keyed) and list(one.parts) == list(like.parts)
            and (one.is_record, one.cls) == (like.is_record, like.cls)
        ):
            raise Declined("a variable is a dict or an instance of different kinds")
    for key in like.parts:
        yield (key, *(one.parts[key] if isinstance(one, Keyed) else one for one in (a, b)))


def failure_number(value: Value) -> Num:
    """Return the number of the class of an exception; 0 if there is none."""
    if is_placeholder(value):
        return zero(INT)
    if not isinstance(value, Failure):
        raise Declined("a variable is an exception at times, and something else at others")
    return value.number
