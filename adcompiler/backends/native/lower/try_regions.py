"""Lowers ``try``: loops go to a handler themselves where it is known which exception Python raises.

Tests that leave the loops say so (``Leave.raises``). What else may go wrong in the body of a
``try`` is left to Python, as everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeGuard

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    INT, Assign, Binary, Body, Break, Expr, For, Forever, Leave, Name, Number, Row, When,
)
from adcompiler.backends.native.ops.scalars import NOTHING, OF_MATH
from adcompiler.backends.native.values import EXACT, Declined, Failure, Num
from adcompiler.backends.native.writer import Raising
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Format, Handler, Let, Pack, Raise, Try, Var, unstar,
)

SEALED = 0
"""In place of the number of a class: Python is to run the handler."""
DIVISIONS = ("divide", "floor_divide", "remainder")
"""What means a division of numbers."""


class Attempts:
    """Writes the ``try`` of a function that ``low`` lowers; ``regions`` are its regions."""

    def __init__(self, low: Context, regions: Any) -> None:
        self.low = low
        self.regions = regions

    def attempt(self, node: Try) -> None:
        """Write a ``try``: its body in a loop that runs once, which exceptions break off."""
        low, w = self.low, self.low.w
        caught = [self.classes(handler.exception) for handler in node.handlers]
        w.attempts.append(frozenset(w.taken))
        body, values = self.arm(node.body)
        w.attempts.pop()
        flag = w.fresh("raised")
        arms = [self.handled(handler, flag) for handler in node.handlers]
        numbers: list[list[int]] = [[] for _ in arms]

        def number_of(raised: type[BaseException]) -> int | None:
            for i, classes in enumerate(caught):
                if issubclass(raised, classes):
                    if arms[i][1] is None:
                        return None if only_raises(node.handlers[i].body) else SEALED
                    number = self.number(raised)
                    numbers[i] += [number] if number not in numbers[i] else []
                    return number
            return None

        if not broken_off(body, number_of, flag):
            w.body.rows += body.rows
        else:
            handlers = [(found, *arm) for found, arm in zip(numbers, arms, strict=True) if found]
            other, right = self.chosen(node.results, flag, handlers)
            w.write(Assign(flag, Number(0)))
            values = right if values is None else self.merged(
                node.results, (body, values), (other, right))
            body.rows.append(Break(Number(True)))
            w.write(Forever(body))
            w.write(When(Binary("!=", Name(flag), Number(0)), other, Body()))
        for var, value in zip(node.results, values or [], strict=False):
            low.values[var] = value

    def number(self, raised: type[BaseException]) -> int:
        """Return the number of a class of exceptions."""
        known: list[type[BaseException]] = self.low.w.exceptions
        if raised not in known:
            known.append(raised)
        return known.index(raised) + 1

    def arm(self, block: Block) -> tuple[Body, list[Any] | None]:
        """Return the statements of a block, and what it yields: None if it raises."""
        low = self.low
        with low.w.inside(Body()) as body:
            if raised := raised_in(low, block):
                low.w.write(Leave(None, raised))
            else:
                low.block(block)
            low.arrays.settle()
            values = None if block.diverges else [low.value(atom) for atom in block.yields]
        return body, values

    def handled(self, handler: Handler, flag: str) -> tuple[Body, list[Any] | None]:
        """Return what a handler does; one that raises again, or has no loops, is for Python."""
        if handler.body.diverges:
            return Body(), None
        if handler.name is not None:
            self.low.values[handler.name] = Failure(Num(Name(flag), INT, EXACT))
        try:
            return self.arm(handler.body)
        except Declined:
            return Body(), None

    def chosen(
        self, results: Sequence[Var], flag: str, arms: list[tuple[list[int], Body, Any]]
    ) -> tuple[Body, list[Any]]:
        """Return the statements of the handler that a flag tells, and what it yields."""
        (numbers, body, values), *rest = arms
        if not rest:
            return body, values
        other, right = self.chosen(results, flag, rest)
        merged = self.merged(results, (body, values), (other, right))
        tests: list[Expr] = [Binary("==", Name(flag), Number(number)) for number in numbers]
        test = functools.reduce(lambda a, b: Binary("or", a, b), tests)
        return Body([When(test, body, other)]), merged

    def merged(
        self, results: Sequence[Var], left: tuple[Body, list[Any]], right: tuple[Body, list[Any]]
    ) -> list[Any]:
        """Return the values that one of two arms gives."""
        unit, found = self.low.unit, []
        for var, a, b in zip(results, left[1], right[1], strict=True):
            hint = unit.naming.names.get(var, var.name)
            found.append(self.regions.merged(hint, unit.type(var), (left[0], a), (right[0], b)))
        return found

    def classes(self, exception: Atom) -> tuple[type[BaseException], ...]:
        """Return the classes that a handler catches."""
        found: list[type[BaseException]] = []
        match self.low.makers.get(exception) if isinstance(exception, Var) else None:
            case (Let(rhs=Pack("tuple", items)), _):
                for item in items:
                    found += self.classes(unstar(item))
                return tuple(found)
        if isinstance(exception, Const) and is_class(exception.value):
            return (exception.value,)
        raise Declined("a handler of exceptions that are not known")


def broken_off(
    body: Body, number_of: Callable[[type[BaseException]], int | None], flag: str
) -> bool:
    """Go to handlers where Python raises what they catch; say whether that may happen.

    A ``flag`` is set to the number of the class, and the loops around are ended.
    """
    rows: list[Any] = []
    found = False
    for row in body.rows:
        match row:
            case Leave(test, raised) if raised is not None and (
                number := number_of(raised)
            ) is not None:
                if number == SEALED:
                    rows.append(Leave(test))
                    continue
                found = True
                ends: list[Row] = [Assign(flag, Number(number)), Break(Number(True))]
                rows += ends if test is None else [When(test, Body(ends), Body())]
                continue
            case When(_, then, orelse):
                inner = [broken_off(one, number_of, flag) for one in (then, orelse)]
                found = found or any(inner)
            case For() | Forever():
                if broken_off(row.body, number_of, flag):
                    found = True
                    rows += [row, Break(Binary("!=", Name(flag), Number(0)))]
                    continue
        rows.append(row)
    body.rows[:] = rows
    return found


def write_raise(low: Context, statement: Raise) -> None:
    """Write ``raise``: of a class that is known, or of what a handler caught.

    Each of the classes that this may be of is tested.
    """
    value = low.values.get(statement.exception)
    if made := raised_in(low, Block((statement,), ())):
        low.w.write(Leave(None, made))
    elif isinstance(value, Failure):
        code = low.w.named("failure", low.ready(value.number).expr)
        for i, raised in enumerate(low.w.exceptions):
            low.w.write(Leave(Binary("==", code, Number(i + 1)), raised))
    low.w.write(Leave())


def only_raises(block: Block) -> bool:
    """Say whether a handler does nothing but raise what it caught."""
    match block.statements:
        case (Raise(Const(None), Const(None)),):
            return True
    return False


def raised_in(low: Context, block: Block) -> type[BaseException] | None:
    """Return the class of what a block raises that does nothing else; None if that is not known."""
    *before, last = block.statements or (None,)
    if not isinstance(last, Raise) or not all(
        isinstance(one, Let) and is_message(low, one) for one in before
    ):
        return None
    raised = last.exception
    match low.makers.get(raised) if isinstance(raised, Var) else None:
        case (Let(rhs=Call(Const(made))), _) if is_exception(made):
            return made
    made = raised.value if isinstance(raised, Const) else None
    return made if is_exception(made) else None


def is_message(low: Context, statement: Let) -> bool:
    """Say whether a statement makes a text of what is known, or an exception: it raises nothing."""
    match statement.rhs:
        case Format(parts):
            return all(
                isinstance(part, str) or (
                    isinstance(part[2], Const) and part[2].value is None
                    and isinstance(low.unit.type(part[0]), (t.Scalar, t.Static)))
                for part in parts)
        case Call(Const(made), _, ()):
            return is_exception(made)
    return False


def is_class(value: object) -> TypeGuard[type[BaseException]]:
    """Say whether a value is a class of exceptions that are caught without more ado."""
    return type(value) is type and issubclass(value, BaseException)


def is_exception(value: object) -> TypeGuard[type[BaseException]]:
    """Say whether a value is a class of exceptions that are made without more ado."""
    return is_class(value) and not issubclass(value, (UnicodeError, ImportError)) and not any(
        isinstance(vars(base).get(name), (FunctionType, staticmethod))
        for base in value.__mro__ for name in ("__init__", "__new__")
    )


def raised_by(key: Any, function: Callable[..., Any], types: Sequence[t.Type]) -> Raising:
    """Return what a function of numbers raises; ``key`` is where the table of these has it."""
    if key in DIVISIONS:
        of_python = all(isinstance(one, t.Scalar) and one.exact and one.dtype is None and
                        one.kind in ("int", "float", "bool") for one in types)
        return Raising(zero=ZeroDivisionError if of_python else None)
    if getattr(function, "__module__", None) == "math":
        return OF_MATH.get(key, NOTHING)
    return NOTHING
