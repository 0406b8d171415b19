"""What statements of the loop IR read, and which names they give a value."""

from __future__ import annotations

from typing import Any

from adcompiler.backends.native.loops import (
    Apply, Assign, Bind, Body, Break, Element, Ends, Expr, Extent, Flat, For, Forever, Leave, Make,
    Name, Part, Reserve, Row, Spread, Store, Turn, Use, View, When, children, rows_of,
)

CHEAP = ("float", "int", "isfinite", "fabs", "np.float32")


def names_in(*exprs: Expr) -> set[str]:
    """Return the names of numbers and buffers in expressions."""
    found: set[str] = set()
    for expr in exprs:
        match expr:
            case Name(name) | Extent(name):
                found.add(name)
            case Element(buffer, indices):
                found |= {buffer} | names_in(*indices)
            case _:
                found |= names_in(*children(expr))
    return found


def read_by(row: Row) -> set[str]:
    """Return the names that a statement reads itself, not those that what is inside of it reads."""
    found = names_in(*exprs_of(row))
    match row:
        case Bind(_, buffer) | Turn(_, buffer) | Part(_, buffer) | View(_, buffer) | (
            Store(buffer)) | Reserve(buffer):
            found.add(buffer.buffer if isinstance(buffer, Flat) else buffer)
        case Use(_, _, args):
            found |= {arg.buffer if isinstance(arg, Flat) else arg
                      for arg in args if isinstance(arg, (str, Flat))}
        case Spread():
            found |= {row.blocks, *written_by(row)}
    return found


def written_by(row: Row) -> tuple[str, ...]:
    """Return the buffers that a statement writes into itself; not those that it makes."""
    match row:
        case Store(buffer) | Reserve(buffer):
            return (buffer,)
        case Use():
            return row.writes
        case Spread(function):
            return (*function.parameters, row.ended, *row.terms, *(part for _, part in row.parts))
    return ()


def bound_by(row: Row) -> str | None:
    """Return the name that a statement gives a number or a buffer, if it is one that does."""
    match row:
        case Assign(name) | Bind(name) | Make(name) | Part(name) | View(name) | Turn(name) | (
            Use(name)) | For(name):
            return name
        case Reserve(buffer):
            return buffer
    return None


def exprs_of(row: Row) -> list[Expr]:
    """Return the expressions that a statement holds itself."""
    found: list[Any] = []
    match row:
        case Assign(_, value):
            found = [value]
        case Store(_, indices, value):
            found = [*indices, value]
        case Make(_, shape, _, fill):
            found = [*shape, fill]
        case View(_, _, start, shape):
            found = [start, *shape]
        case Use(_, _, args):
            found = [arg for arg in args if not isinstance(arg, (str, Flat))]
        case Part(_, _, places):
            for place in places:
                found += [place.lower, place.upper, place.step] if isinstance(place, Ends) else [
                    place]
        case Reserve(_, size, ahead):
            found = [size, ahead]
        case Leave(test) | Break(test) | When(test):
            found = [test]
        case For(_, start, stop) | Spread(_, start, stop):
            found = [start, stop]
    return [expr for expr in found if expr is not None]


def elements_of(row: Row) -> list[Element]:
    """Return the elements that a statement reads."""
    found: list[Element] = []
    waiting = exprs_of(row)
    while waiting:
        expr = waiting.pop()
        found += [expr] if isinstance(expr, Element) else []
        waiting += children(expr)
    return found


def has_break(body: Body) -> bool:
    """Say whether statements may end the loop that they are in."""
    return any(
        isinstance(row, Break)
        or (isinstance(row, When) and (has_break(row.then) or has_break(row.orelse)))
        for row in body.rows
    )


def is_worth_it(loop: For) -> bool:
    """Say whether an iteration takes long: there is a loop in it, or a function of the library."""
    return any(
        isinstance(row, (For, Forever)) or any(map(is_costly, exprs_of(row)))
        for row in rows_of(loop.body)
    )


def is_costly(expr: Expr) -> bool:
    """Say whether a function of the C library is called in an expression."""
    return (isinstance(expr, Apply) and expr.function not in CHEAP) or any(
        map(is_costly, children(expr)))
