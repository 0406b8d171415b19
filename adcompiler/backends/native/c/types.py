"""The machine types of the names that loops assign to, which C has to be told."""

from __future__ import annotations

from adcompiler.backends.native.c.runtime import HELPERS
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, Apply, Assign, Binary, Bind, Body, Choose, Element, Expr, Extent, Flat, For,
    LoopFunction, Make, Name, Number, Part, Turn, Unary, Use, View, rows_of,
)
from adcompiler.backends.native.values import Declined

TESTS = frozenset({"<", "<=", ">", ">=", "==", "!=", "and", "or", "|"})


class Types:
    """The dtypes of ``numbers`` and ``arrays`` of a function, in the order in which they occur."""

    def __init__(self, function: LoopFunction) -> None:
        self.numbers: dict[str, str] = {}
        self.arrays: dict[str, str] = {}
        for given in function.parameters:
            (self.numbers if given.ndim is None else self.arrays)[given.name] = given.dtype
        before = None
        while before != self.numbers:
            before = dict(self.numbers)
            self.read(function.body)

    def read(self, body: Body) -> None:
        """Enter what the rows of a body bind."""
        for row in rows_of(body):
            match row:
                case Assign(name, value):
                    found = self.of(value)
                    if {self.numbers.setdefault(name, found), found} == {INT, FLOAT}:
                        self.numbers[name] = FLOAT
                    elif self.numbers[name] != found:
                        raise Declined("a number is a truth value at times")
                case For(name=name):
                    self.numbers[name] = INT
                case Make(name, _, dtype):
                    self.arrays[name] = dtype
                case Bind(name, buffer) | Part(name, buffer) | Turn(name, buffer):
                    self.arrays[name] = self.arrays[buffer]
                case View(name, buffer):
                    of = buffer.buffer if isinstance(buffer, Flat) else buffer
                    self.arrays[name] = self.arrays[of]
                case Use(name, helper, args):
                    self.helper(name, helper, args[0])

    def helper(self, name: str, helper: str, given: object) -> None:
        """Enter what a helper makes."""
        if helper not in HELPERS:
            raise Declined(f"there is no C for `{helper}`")
        _, dtype = HELPERS[helper]
        if dtype is None:
            self.numbers[name] = FLOAT
        else:
            of = given.buffer if isinstance(given, Flat) else str(given)
            self.arrays[name] = dtype or self.arrays[of]

    def of(self, expr: Expr) -> str:
        """Return the machine type of an expression."""
        match expr:
            case Name(name):
                return self.numbers[name]
            case Number(bool()) | Unary("not"):
                return BOOL
            case Number(value):
                return FLOAT if isinstance(value, float) else INT
            case Binary(sign) if sign in TESTS:
                return BOOL
            case Binary("/"):
                return FLOAT
            case Binary(_, left, right) | Choose(_, left, right):
                kinds = {self.of(left), self.of(right)}
                return FLOAT if FLOAT in kinds else INT if INT in kinds else BOOL
            case Unary(_, operand):
                return self.of(operand)
            case Apply(function):
                return {"int": INT, "isfinite": BOOL}.get(function, FLOAT)
            case Element(buffer):
                return self.arrays[buffer]
            case Extent():
                return INT
        raise AssertionError(expr)
