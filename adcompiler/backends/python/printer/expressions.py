"""The expression half of the emitter: tokens, and parentheses only where the grammar needs them.

`layout` turns the tokens of a statement into lines; `source` prints the statements.
"""

from __future__ import annotations

import ast

from adcompiler.backends.python.printer.displays import DisplayEmitter
from adcompiler.backends.python.printer.layout import Level
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


class ExpressionEmitter(DisplayEmitter):
    """Writes the source of `tree` to `file`, lines no wider than `width` where possible."""

    # -- which expressions need parentheses where --------------------------------------------------

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
        self._operand(t.left, _left_level(t))
        for node in reversed(spine):
            self._operator_and_right(node)

    def _operator_and_right(self, t: ast.BinOp) -> None:
        level = level_of(t)
        symbol = self.binop[type(t.op).__name__]
        if not isinstance(t.op, ast.Pow):
            self.write(SPACE[level])
            self.write(f"{symbol} ")
            self._operand(t.right, level + 1)
            return
        close = is_simple_power_operand(t.left) and is_simple_power_operand(_last_exponent(t))
        close = close and self._tokens[-1] != ")"  # a negative base stands in parentheses
        self.write(NO_SPACE if close else SPACE[level])
        self.write(symbol if close else f"{symbol} ")
        self._operand(t.right, Level.FACTOR)

    def _UnaryOp(self, t: ast.UnaryOp) -> None:
        symbol = self.unop[type(t.op).__name__]
        self.write("not " if symbol == "not" else symbol)
        self._operand(t.operand, level_of(t))

    def _BoolOp(self, t: ast.BoolOp) -> None:
        level = level_of(t)
        word = "or " if level is Level.OR else "and "
        for position, value in enumerate(t.values):
            if position:
                self.write(SPACE[level])
                self.write(word)
            self._operand(value, level + 1)

    def _Compare(self, t: ast.Compare) -> None:
        self._operand(t.left, Level.COMPARE + 1)
        for operator, comparator in zip(t.ops, t.comparators, strict=True):
            self.write(SPACE[Level.COMPARE])
            self.write(self.cmpops[type(operator).__name__] + " ")
            self._operand(comparator, Level.COMPARE + 1)

    def _IfExp(self, t: ast.IfExp) -> None:
        self._operand(t.body, Level.OR)
        self.write(SPACE[Level.TEST])
        self.write("if ")
        self._operand(t.test, Level.OR)
        self.write(SPACE[Level.TEST])
        self.write("else ")
        self._test(t.orelse)

    def _Lambda(self, t: ast.Lambda) -> None:
        self.write("lambda")
        mark = len(self._tokens)
        self._arguments(t.args, PLAIN_COMMA)
        if len(self._tokens) > mark:
            self._tokens.insert(mark, " ")
        self.write(": ")
        self._test(t.body)

    def _NamedExpr(self, t: ast.NamedExpr) -> None:
        self.dispatch(t.target)
        self.write(" := ")
        self._test(t.value)

    def _Await(self, t: ast.Await) -> None:
        self.write("await ")
        self._atom(t.value)

    def _Yield(self, t: ast.Yield) -> None:
        self.write("yield")
        if t.value:
            self.write(" ")
            self._tuple_or_test(t.value)

    def _YieldFrom(self, t: ast.YieldFrom) -> None:
        self.write("yield from ")
        self._test(t.value)

    def _Starred(self, t: ast.Starred) -> None:
        self.write("*")
        self._operand(t.value, Level.BIT_OR)

    # -- trailers ----------------------------------------------------------------------------------
    def _Attribute(self, t: ast.Attribute) -> None:
        value = t.value
        if isinstance(value, ast.Constant) and type(value.value) is int and value.value >= 0:
            self._bracketed("(", [value], self.dispatch)  # `1.real` is a malformed number
        else:
            self._atom(value)
        self.write("." + t.attr)

    def _Call(self, t: ast.Call) -> None:
        self._atom(t.func)
        arguments = [*t.args, *getattr(t, "keywords", [])]
        if len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            self.dispatch(arguments[0])
        else:
            self._bracketed("(", arguments, self._argument)

    def _argument(self, node: ast.expr | ast.keyword) -> None:
        if isinstance(node, ast.keyword):
            self.write("**" if node.arg is None else f"{node.arg}=")
            self._test(node.value)
        else:
            self._named(node)

    def _Subscript(self, t: ast.Subscript) -> None:
        self._atom(t.value)
        index = t.slice
        if not isinstance(index, ast.Tuple) or not index.elts:
            self._bracketed("[", [index], self._named)
            return
        alone = len(index.elts) == 1 and not isinstance(index.elts[0], ast.Starred)
        opening, closing = BRACKETS["["]
        self.write(opening)
        self._separated(index.elts, self._named, COMMA)
        if alone:
            self.write(",")
        self.write(closing)

    def _Slice(self, t: ast.Slice) -> None:
        air = "" if all(map(is_simple, (t.lower, t.upper, t.step))) else " "
        if t.lower:
            self._test(t.lower)
            self.write(air)
        self.write(":")
        if t.upper:
            self.write(air)
            self._test(t.upper)
        if t.step:
            self.write((air if t.upper else "") + ":" + air)
            self._test(t.step)

    # -- displays and comprehensions ---------------------------------------------------------------
