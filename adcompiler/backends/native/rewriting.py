"""Expressions and statements of the loop IR with other expressions in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Apply, Assign, Binary, Body, Choose, Element, Expr, Flat, For, Forever, Leave, Name, Row,
    Spread, Store, Unary, Use, When,
)


def with_children(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return an expression with other ones for those directly inside of it, subscripts too."""
    match expr:
        case Element(buffer, indices):
            return Element(buffer, tuple(map(change, indices)))
        case Binary(sign, left, right):
            return Binary(sign, change(left), change(right))
        case Unary(sign, operand):
            return Unary(sign, change(operand))
        case Apply(function, args):
            return Apply(function, tuple(map(change, args)))
        case Choose(test, then, orelse):
            return Choose(change(test), change(then), change(orelse))
    return expr


def replaced(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return what ``change`` makes of an expression, or of those in it where it leaves that."""
    found = change(expr)
    if found is not expr:
        return found
    return with_children(expr, lambda inner: replaced(inner, change))


def with_elements(expr: Expr, change: Callable[[Element], Expr]) -> Expr:
    """Return an expression with other ones for the elements in it."""
    if isinstance(expr, Element):
        return change(expr)
    return with_children(expr, lambda inner: with_elements(inner, change))


def with_names(expr: Expr, numbers: Mapping[str, Expr]) -> Expr:
    """Return an expression with other ones in place of names."""
    return replaced(
        expr, lambda one: numbers.get(one.name, one) if isinstance(one, Name) else one)


def with_blocks(row: Row, change: Callable[[Body], Body]) -> Row:
    """Return a statement with what ``change`` makes of the blocks in it."""
    match row:
        case When(test, then, orelse):
            return When(test, change(then), change(orelse))
        case For() | Forever():
            return replace(row, body=change(row.body))
        case Spread(function):
            return replace(row, function=replace(function, body=change(function.body)))
    return row


def with_rows(body: Body, change: Callable[[Row], Iterable[Row]]) -> Body:
    """Return a block with what ``change`` makes of its statements, of those inside of one first."""

    def inner(block: Body) -> Body:
        return with_rows(block, change)

    return Body([new for row in body.rows for new in change(with_blocks(row, inner))])


def with_exprs(row: Row, new: Callable[[Expr], Expr]) -> Row:
    """Return a statement with what ``new`` makes of the expressions in it, and in those inside."""
    match row:
        case Assign(name, value):
            return Assign(name, new(value))
        case Store(buffer, indices, value, adds):
            return Store(buffer, tuple(map(new, indices)), new(value), adds)
        case Leave(test, raises) if test is not None:
            return Leave(new(test), raises)
        case Use(args=args):
            return replace(row, args=tuple(
                arg if isinstance(arg, (str, Flat)) else new(arg) for arg in args))
        case For(_, start, stop):
            row = replace(row, start=new(start), stop=new(stop))
        case When(test):
            row = replace(row, test=new(test))
    return with_blocks(row, lambda block: Body([with_exprs(one, new) for one in block.rows]))


__all__ = [
    "replaced", "with_blocks", "with_children", "with_elements", "with_exprs", "with_names",
    "with_rows",
]
