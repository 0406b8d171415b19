"""Expressions and statements of the loop IR with other expressions in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Apply, Assign, Binary, Body, Choose, Element, Expr, Flat, For, Leave, Name, Row, Store,
    Unary, Use, When,
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


def with_exprs(row: Row, new: Callable[[Expr], Expr]) -> Row:
    """Return a statement of a loop with what ``new`` makes of the expressions in it."""
    match row:
        case Assign(name, value):
            return Assign(name, new(value))
        case Store(buffer, indices, value, adds):
            return Store(buffer, tuple(map(new, indices)), new(value), adds)
        case Leave(test, raises) if test is not None:
            return Leave(new(test), raises)
        case When(test, then, orelse):
            return When(new(test), *(
                Body([with_exprs(one, new) for one in part.rows]) for part in (then, orelse)))
    return row


def with_exprs_inside(row: Row, new: Callable[[Expr], Expr]) -> Row:
    """Return a statement with what ``new`` makes of the expressions in it, and in those inside."""
    match row:
        case For(_, start, stop, body):
            return replace(row, start=new(start), stop=new(stop), body=Body(
                [with_exprs_inside(one, new) for one in body.rows]))
        case When(test, then, orelse):
            return When(new(test), *(
                Body([with_exprs_inside(one, new) for one in part.rows])
                for part in (then, orelse)))
        case Use(name, helper, args):
            return Use(name, helper, tuple(
                arg if isinstance(arg, (str, Flat)) else new(arg) for arg in args))
    return with_exprs(row, new)


__all__ = [
    "replaced", "with_children", "with_elements", "with_exprs", "with_exprs_inside", "with_names",
]
