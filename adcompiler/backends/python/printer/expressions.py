"""The expression half of the emitter: tokens, and parentheses only where the grammar needs them.

`layout` turns the tokens of a statement into lines; `source` prints the statements.
"""

from __future__ import annotations

import ast
from functools import partial

from adcompiler.backends.python.printer.definitions import write_argument, write_parameters
from adcompiler.backends.python.printer.layout import Level
from adcompiler.backends.python.printer.operands import Output
from adcompiler.backends.python.printer.tokens import (
    BRACKETS, COMMA, NO_SPACE, PLAIN_COMMA, SPACE, is_simple, is_simple_power_operand, level_of,
)


def _last_exponent(t: ast.BinOp) -> ast.expr:
    """Return ``c`` of ``a**b**c`` if the bases in between are simple, else one that is not."""
    right = t.right
    while isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow):
        if not is_simple_power_operand(right.left):
            return right.left
        right = right.right
    return right


def _left_level(t: ast.BinOp) -> Level:
    """Return what the left operand of `t` must bind like: ``**`` associates to the right."""
    return Level.AWAIT if isinstance(t.op, ast.Pow) else level_of(t)


class Expressions:
    """Writes operators, calls, attributes and subscripts."""

    def __init__(self, out: Output) -> None:
        self.out = out

    # -- operators ---------------------------------------------------------------------------------
    def _BinOp(self, t: ast.BinOp) -> None:
        # Down the left spine in a loop: a long sum is a deep tree.
        spine = [t]
        while True:
            left = t.left
            if not isinstance(left, ast.BinOp) or level_of(left) < _left_level(t):
                break
            spine.append(left)
            t = left
        self.out.operand(t.left, _left_level(t))
        for node in reversed(spine):
            self._operator_and_right(node)

    def _operator_and_right(self, t: ast.BinOp) -> None:
        level = level_of(t)
        symbol = self.out.binop[type(t.op).__name__]
        if not isinstance(t.op, ast.Pow):
            self.out.write(SPACE[level])
            self.out.write(f"{symbol} ")
            self.out.operand(t.right, level + 1)
            return
        close = is_simple_power_operand(t.left) and is_simple_power_operand(_last_exponent(t))
        close = close and self.out.tokens[-1] != ")"  # a negative base stands in parentheses
        self.out.write(NO_SPACE if close else SPACE[level])
        self.out.write(symbol if close else f"{symbol} ")
        self.out.operand(t.right, Level.FACTOR)

    def _UnaryOp(self, t: ast.UnaryOp) -> None:
        symbol = self.out.unop[type(t.op).__name__]
        self.out.write("not " if symbol == "not" else symbol)
        self.out.operand(t.operand, level_of(t))

    def _BoolOp(self, t: ast.BoolOp) -> None:
        level = level_of(t)
        word = "or " if level is Level.OR else "and "
        for position, value in enumerate(t.values):
            if position:
                self.out.write(SPACE[level])
                self.out.write(word)
            self.out.operand(value, level + 1)

    def _Compare(self, t: ast.Compare) -> None:
        self.out.operand(t.left, Level.COMPARE + 1)
        for operator, comparator in zip(t.ops, t.comparators, strict=True):
            self.out.write(SPACE[Level.COMPARE])
            self.out.write(self.out.cmpops[type(operator).__name__] + " ")
            self.out.operand(comparator, Level.COMPARE + 1)

    def _IfExp(self, t: ast.IfExp) -> None:
        self.out.operand(t.body, Level.OR)
        self.out.write(SPACE[Level.TEST])
        self.out.write("if ")
        self.out.operand(t.test, Level.OR)
        self.out.write(SPACE[Level.TEST])
        self.out.write("else ")
        self.out.test(t.orelse)

    def _Lambda(self, t: ast.Lambda) -> None:
        self.out.write("lambda")
        mark = len(self.out.tokens)
        write_parameters(self.out, t.args, PLAIN_COMMA)
        if len(self.out.tokens) > mark:
            self.out.tokens.insert(mark, " ")
        self.out.write(": ")
        self.out.test(t.body)

    def _NamedExpr(self, t: ast.NamedExpr) -> None:
        self.out.dispatch(t.target)
        self.out.write(" := ")
        self.out.test(t.value)

    def _Await(self, t: ast.Await) -> None:
        self.out.write("await ")
        self.out.atom(t.value)

    def _Yield(self, t: ast.Yield) -> None:
        self.out.write("yield")
        if t.value:
            self.out.write(" ")
            self.out.tuple_or_test(t.value)

    def _YieldFrom(self, t: ast.YieldFrom) -> None:
        self.out.write("yield from ")
        self.out.test(t.value)

    def _Starred(self, t: ast.Starred) -> None:
        self.out.write("*")
        self.out.operand(t.value, Level.BIT_OR)

    # -- trailers ----------------------------------------------------------------------------------
    def _Attribute(self, t: ast.Attribute) -> None:
        value = t.value
        if isinstance(value, ast.Constant) and type(value.value) is int and value.value >= 0:
            self.out.bracketed("(", [value], self.out.dispatch)  # `1.real` is a malformed number
        else:
            self.out.atom(value)
        self.out.write("." + t.attr)

    def _Call(self, t: ast.Call) -> None:
        self.out.atom(t.func)
        arguments = [*t.args, *getattr(t, "keywords", [])]
        if len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            self.out.dispatch(arguments[0])
        else:
            self.out.bracketed("(", arguments, partial(write_argument, self.out))

    def _Subscript(self, t: ast.Subscript) -> None:
        self.out.atom(t.value)
        index = t.slice
        if not isinstance(index, ast.Tuple) or not index.elts:
            self.out.bracketed("[", [index], self.out.named)
            return
        alone = len(index.elts) == 1 and not isinstance(index.elts[0], ast.Starred)
        opening, closing = BRACKETS["["]
        self.out.write(opening)
        self.out.separated(index.elts, self.out.named, COMMA)
        if alone:
            self.out.write(",")
        self.out.write(closing)

    def _Slice(self, t: ast.Slice) -> None:
        air = "" if all(map(is_simple, (t.lower, t.upper, t.step))) else " "
        if t.lower:
            self.out.test(t.lower)
            self.out.write(air)
        self.out.write(":")
        if t.upper:
            self.out.write(air)
            self.out.test(t.upper)
        if t.step:
            self.out.write((air if t.upper else "") + ":" + air)
            self.out.test(t.step)
