"""Tokens with the places where a line may end, and how tightly expressions bind."""

from __future__ import annotations

import ast

from adcompiler.backends.python.printer.layout import Break, Close, Level, Open

COMMA = Break(", ", Level.COMMA, end=",")
PLAIN_COMMA = ", "  # where no bracket of our own is open: a `for` target, lambda arguments
SOFT_OPEN, SOFT_CLOSE = Open("", "(", one_each=True), Close("", ")")
BRACKETS = {
    "(": (Open("(", "("), Close(")", ")")),
    "[": (Open("[", "["), Close("]", "]")),
}
# Displays, unlike calls, put each element on its own line as soon as they need more than one.
DISPLAYS = {
    "(": (Open("(", "(", one_each=True), Close(")", ")")),
    "[": (Open("[", "[", one_each=True), Close("]", "]")),
    "{": (Open("{", "{", one_each=True), Close("}", "}")),
}
PARAMETERS = Open("(", "(", first=True)
BINARY_LEVEL: dict[type[ast.operator], Level] = {
    ast.Add: Level.SUM,
    ast.Sub: Level.SUM,
    ast.Mult: Level.TERM,
    ast.MatMult: Level.TERM,
    ast.Div: Level.TERM,
    ast.FloorDiv: Level.TERM,
    ast.Mod: Level.TERM,
    ast.LShift: Level.SHIFT,
    ast.RShift: Level.SHIFT,
    ast.BitOr: Level.BIT_OR,
    ast.BitXor: Level.BIT_XOR,
    ast.BitAnd: Level.BIT_AND,
    ast.Pow: Level.POWER,
}
LEVEL: dict[type[ast.expr], Level] = {
    ast.Yield: Level.YIELD,
    ast.YieldFrom: Level.YIELD,
    ast.NamedExpr: Level.NAMED,
    ast.Lambda: Level.TEST,
    ast.IfExp: Level.TEST,
    ast.Compare: Level.COMPARE,
    ast.Await: Level.AWAIT,
}
SPACE = {level: Break(" ", level) for level in Level}  # a space where the line may end
NO_SPACE = Break("", Level.POWER)


def level_of(node: ast.expr) -> Level:
    """Return how tightly the outermost form of `node` binds."""
    if isinstance(node, ast.BinOp):
        return BINARY_LEVEL[type(node.op)]
    if isinstance(node, ast.UnaryOp):
        return Level.NOT if isinstance(node.op, ast.Not) else Level.FACTOR
    if isinstance(node, ast.BoolOp):
        return Level.OR if isinstance(node.op, ast.Or) else Level.AND
    return LEVEL.get(type(node), Level.ATOM)


def is_simple(node: ast.expr | None) -> bool:
    """Whether `node` is a name, a number or the negative of one: too short to need air."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand if not isinstance(node.op, ast.Not) else node
    return node is None or isinstance(node, ast.Name | ast.Constant)


def is_simple_power_operand(node: ast.expr) -> bool:
    """Whether ``**`` sits close to `node`: a number or a dotted name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return is_simple(node)
