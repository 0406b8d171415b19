"""Over what a ``for`` runs: ranges, arrays, tapes, and these together or backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import INT, Binary, Body, Choose, Expr, Name, Number
from adcompiler.backends.native.ops.held import shared
from adcompiler.backends.native.ops.indexing import read
from adcompiler.backends.native.values import (
    LENGTH, POSITION, Backwards, Buffer, Declined, Endless, Kept, Num, Rows, Several, Span,
    Together, Value,
)
from adcompiler.backends.native.writer import Writer

ZERO, ONE = Number(0), Number(1)


class Source:
    """Over what a ``for`` runs: positions from ``start`` to ``stop``, and items at each."""

    def __init__(
        self, low: Context, given: Sequence[Value], down: bool,
        hints: list[str]
    ) -> None:
        self.low, self.down = low, down
        w: Writer = low.w
        body = w.body
        first = next((one for one in given if isinstance(one, Span) and one.step == 1), None)
        outside = Body()
        w.body = outside
        lengths = [length for one in given for length in lengths_of(w, one)]
        if not lengths:
            raise Declined("a loop over what is neither a range, an array nor a tape")
        self.count = lengths[0]
        for length in lengths[1:]:
            if not w.same_length(length, self.count):
                w.leave_if(Binary("!=", length, self.count))
        w.body = body
        self.outside = outside
        if first is not None:
            self.start, self.stop = first.start.expr, first.stop.expr
            self.name = w.fresh(hints[given.index(first)])
        else:
            self.start, self.stop = ZERO, self.count
            self.name = w.fresh("at")
        w.spans[self.name] = (self.start, self.stop)
        here: Expr = Name(self.name)
        if self.start != ZERO and any(one is not first for one in given):
            here = w.assign("at", Binary("-", here, self.start))
        self.items = [
            Num(Name(self.name), INT, max(first.start.bound, first.stop.bound))
            if one is first and first is not None else self.item(one, here, hint)
            for one, hint in zip(given, hints, strict=True)
        ]

    def item(self, one: Any, here: Expr, hint: str) -> Any:
        """Return the item at a position."""
        low = self.low
        w: Writer = low.w
        match one:
            case None:
                return Num(here, INT, LENGTH)
            case Backwards(of):
                turned = w.assign("at", Binary("-", Binary("-", self.count, ONE), here))
                return self.item(of, turned, hint)
            case Span(start, _, step):
                by = Number(step) if isinstance(step, int) else step
                scaled = here if step == 1 else Binary("*", here, by)
                sum_ = scaled if start.expr == ZERO else Binary("+", start.expr, scaled)
                return Num(w.named(hint, sum_), INT, POSITION)
            case Endless(start):
                return Num(w.named(hint, Binary("+", start.expr, here)), INT, POSITION + LENGTH)
            case Kept(tape, start, _):
                place = w.named("at", here if start == ZERO else Binary("+", start, here))
                return shared(low, low.tapes.item(tape.layout, place, hint))
            case Rows(layout) if layout is not None:
                return shared(low, low.tapes.item(layout, here, hint))
            case Buffer():
                return read(low, one, Num(here, INT, LENGTH), hint)
            case Several(items):
                return chosen(w, items, here, hint)
            case Together(parts):
                return Several(tuple(self.item(part, here, hint) for part in parts))
        raise Declined("a loop over what is neither a range, an array nor a tape")


def chosen(w: Writer, items: tuple[Any, ...], here: Expr, hint: str) -> Num:
    """Return the number of a short tuple at a position: the loop is one that compilers unroll."""
    numbers = [item for item in items if isinstance(item, Num) and item.isset is None]
    if not items or len(numbers) < len(items) or len({item.dtype for item in numbers}) > 1:
        raise Declined("a loop over a tuple of what are no numbers of one kind")
    found: Expr = numbers[-1].expr
    for at in reversed(range(len(items) - 1)):
        found = Choose(Binary("==", here, Number(at)), numbers[at].expr, found)
    return Num(w.assign(hint, found), numbers[0].dtype, max(item.bound for item in numbers))


def lengths_of(w: Writer, one: Any) -> list[Expr]:
    """Return how many items there are, once for each part of what is run over together."""
    match one:
        case Backwards(of):
            return lengths_of(w, of)
        case Span(start, stop, 1):
            least = w.least(stop.expr)
            if start.expr == ZERO and least is not None and least >= 0:
                return [stop.expr]
            size: Expr = stop.expr
            if start.expr != ZERO:
                size = Binary("-", stop.expr, start.expr)
            return [w.assign("count", Choose(Binary(">", size, ZERO), size, ZERO))]
        case Span(start, stop, step):
            by: Expr = step if not isinstance(step, int) else Number(abs(step))
            downwards = isinstance(step, int) and step < 0
            low, high = (stop, start) if downwards else (start, stop)
            less = Number(abs(step) - 1) if isinstance(step, int) else Binary("-", by, ONE)
            size = w.assign("count", Binary("//", Binary(
                "+", Binary("-", high.expr, low.expr), less), by))
            return [w.assign("count", Choose(Binary(">", size, ZERO), size, ZERO))]
        case Kept(length=length) | Rows(length=length):
            return [length]
        case Endless():
            return []
        case Buffer() if one.ndim:
            return [one.shape[0]]
        case Several(items):
            return [Number(len(items))]
        case Together(parts):
            return [length for part in parts if part is not None for length in lengths_of(w, part)]
    raise Declined("a loop over what is neither a range, an array nor a tape")
