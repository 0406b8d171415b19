"""Tests of whether a loop leaves its arrays are made once, in front of it.

A subscript that is a loop's position and a constant is largest, or least, in the first or the last
iteration. Where that one is out of bounds the loop would give up there; so it does before.
"""

from __future__ import annotations

from dataclasses import replace

from adcompiler.backends.native.loops import (
    Binary, Body, Element, Expr, Extent, For, Leave, Name, Number, Row, When, children,
    rows_of,
)
from adcompiler.backends.native.reading import bound_by, has_break, names_in
from adcompiler.backends.native.writer import Writer


def with_tests_in_front(w: Writer, loop: For, changing: frozenset[str]) -> tuple[list[Row], For]:
    """Return statements in front of a loop, and the loop without the tests that they make.

    ``changing`` are the names that several statements give a value.
    """
    if has_break(loop.body):
        return [], loop
    bound = {loop.name, *(name for row in rows_of(loop.body) if (name := bound_by(row)))}
    tests: dict[Expr, None] = {}
    kept: list[Row] = []
    for row in loop.body.rows:
        test = None
        if isinstance(row, Leave) and row.test is not None:
            test = worst(w, loop, row.test, bound, changing)
        if test is None:
            kept.append(row)
        else:
            tests[test] = None
    if not tests:
        return [], loop
    runs = Binary("<", loop.start, loop.stop)
    made = Body([Leave(test) for test in tests if not is_false(w, test)])
    front: list[Row] = [When(runs, made, Body())] if made.rows else []
    return front, replace(loop, body=Body(kept))


def worst(
    w: Writer, loop: For, test: Expr, bound: set[str], changing: frozenset[str]
) -> Expr | None:
    """Return whether a test holds in any iteration, if there is a test in front that tells."""
    if not names_in(test) & bound and not has_elements(test):
        return test
    match test:
        case Binary("<" | ">=" as sign, index, limit) if not names_in(limit) & bound and (
            isinstance(limit, (Number, Name, Extent))
        ):
            base, more = w.affine(index)
            if base == Name(loop.name):
                end = shifted(loop.stop, more - 1) if sign == ">=" else shifted(loop.start, more)
                return Binary(sign, end, limit)
            if base is None or (isinstance(base, (Name, Extent)) and not (
                names_in(base) & (bound | changing)
            )):
                return Binary(sign, shifted(base, more), limit)
    return None


def is_false(w: Writer, test: Expr) -> bool:
    """Say whether a test never holds for sure."""
    match test:
        case Binary(">=", index, limit):
            return w.is_below(index, limit)
        case Binary("<", index, Number(0)):
            least = w.least(index)
            return least is not None and least >= 0
    return False


def has_elements(expr: Expr) -> bool:
    """Say whether elements of arrays are read in an expression."""
    return isinstance(expr, Element) or any(map(has_elements, children(expr)))


def shifted(base: Expr | None, more: int) -> Expr:
    """Return an integer with a constant added to it."""
    if base is None:
        return Number(more)
    if isinstance(base, Number):
        return Number(int(base.value) + more)
    if more == 0:
        return base
    return Binary("+", base, Number(more)) if more > 0 else Binary("-", base, Number(-more))
