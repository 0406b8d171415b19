"""The expression half of the emitter: tokens, and parentheses only where the grammar needs them.

`layout` turns the tokens of a statement into lines; `source` prints the statements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

import astunparse

from adcompiler.backends.python.printer.layout import INDENT, WIDTH, Break, Close, Level, Open, wrap
from adcompiler.backends.python.printer.literals import canonical
from adcompiler.errors import InternalError

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


class ExpressionEmitter(astunparse.Unparser):  # type: ignore[misc]  # astunparse has no types
    """Writes the source of `tree` to `file`, lines no wider than `width` where possible."""

    def __init__(self, tree: ast.AST, file: TextIO, width: int = WIDTH) -> None:
        # The base class prints from its constructor, straight to the file; here lines come first.
        self.f = file
        self.future_imports: list[str] = []
        self._indent = 0
        self._width = width
        self._lines: list[str] = []
        self._tokens: list[str] = []
        self._line_indent = 0
        self._quotes: Sequence[str] | None = None  # inside an f-string: the quotes left to use
        self.dispatch(tree)
        self._end_line()
        file.write("".join(line + "\n" for line in self._lines))

    # -- lines and tokens --------------------------------------------------------------------------
    def dispatch(self, tree: Any) -> None:
        method = getattr(self, "_" + type(tree).__name__, None)
        if method is None or not isinstance(tree, ast.AST):
            raise InternalError(f"cannot print {type(tree).__name__}: {tree!r}")
        method(tree)

    def write(self, text: str) -> None:
        self._tokens.append(text)

    def fill(self, text: str = "") -> None:
        self._end_line()
        self._line_indent = self._indent
        self._tokens.append(text)

    def _end_line(self) -> None:
        if self._tokens:
            self._lines += wrap(self._tokens, INDENT * self._line_indent, self._width)
            self._tokens = []

    def _raw_line(self, text: str) -> None:
        """Add a line that is not made of tokens: a comment or a docstring."""
        self._end_line()
        self._lines.append(" " * (INDENT * self._indent) + text)

    def _separated(self, items: Iterable[Any], each: Callable[[Any], None], comma: str) -> None:
        for position, item in enumerate(items):
            if position:
                self.write(comma)
            each(item)

    def _bracketed(self, bracket: str, items: Iterable[Any], each: Callable[[Any], None]) -> None:
        opening, closing = BRACKETS[bracket]
        self.write(opening)
        self._separated(items, each, COMMA)
        self.write(closing)

    def _displayed(self, bracket: str, items: Iterable[Any], each: Callable[[Any], None]) -> None:
        opening, closing = DISPLAYS[bracket]
        self.write(opening)
        self._separated(items, each, COMMA)
        self.write(closing)

    def _soft(self, node: Any, each: Callable[[Any], None]) -> None:
        """Print `node`, in parentheses only if it needs several lines."""
        self.write(SOFT_OPEN)
        each(node)
        self.write(SOFT_CLOSE)

    # -- which expressions need parentheses where --------------------------------------------------
    def _operand(self, node: ast.expr, level: int) -> None:
        """Print `node` where the grammar wants something that binds at least as `level` does."""
        if type(node) is ast.Constant:
            node = canonical(node)
        if level_of(node) >= level:
            self.dispatch(node)
            return
        opening, closing = BRACKETS["("]
        self.write(opening)
        self.dispatch(node)
        self.write(closing)

    def _test(self, node: ast.expr) -> None:
        self._operand(node, Level.TEST)

    def _named(self, node: ast.expr) -> None:
        self._operand(node, Level.NAMED)

    def _atom(self, node: ast.expr) -> None:
        self._operand(node, Level.ATOM)

    def _tuple_or_test(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            self._separated(node.elts, self._test, COMMA)
        else:
            self._test(node)

    def _value(self, node: ast.expr) -> None:
        """Print the right-hand side of an assignment: tuples and yields stand bare."""
        if isinstance(node, ast.Yield | ast.YieldFrom):
            self.dispatch(node)
        else:
            self._tuple_or_test(node)

    def _target(self, node: ast.expr) -> None:
        """Print what a loop assigns to; no line may end inside."""
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            self._separated(node.elts, self._atom, PLAIN_COMMA)
        else:
            self._atom(node)

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
    def _List(self, t: ast.List) -> None:
        self._displayed("[", t.elts, self._named)

    def _Tuple(self, t: ast.Tuple) -> None:
        opening, closing = DISPLAYS["("]
        self.write(opening)
        self._separated(t.elts, self._named, COMMA)
        if len(t.elts) == 1:
            self.write(",")
        self.write(closing)

    def _Set(self, t: ast.Set) -> None:
        if t.elts:
            self._displayed("{", t.elts, self._named)
        else:
            self.write("{*()}")

    def _Dict(self, t: ast.Dict) -> None:
        self._displayed("{", zip(t.keys, t.values, strict=True), self._dict_item)

    def _dict_item(self, item: tuple[ast.expr | None, ast.expr]) -> None:
        key, value = item
        if key is None:
            self.write("**")
            self._operand(value, Level.BIT_OR)
        else:
            self._test(key)
            self.write(": ")
            self._test(value)

    def _comprehended(self, bracket: str, element: Callable[[], None], generators: Any) -> None:
        opening, closing = DISPLAYS[bracket]
        self.write(opening)
        element()
        for generator in generators:
            self.dispatch(generator)
        self.write(closing)

    def _ListComp(self, t: ast.ListComp) -> None:
        self._comprehended("[", lambda: self._named(t.elt), t.generators)

    def _SetComp(self, t: ast.SetComp) -> None:
        self._comprehended("{", lambda: self._named(t.elt), t.generators)

    def _GeneratorExp(self, t: ast.GeneratorExp) -> None:
        self._comprehended("(", lambda: self._named(t.elt), t.generators)

    def _DictComp(self, t: ast.DictComp) -> None:
        self._comprehended("{", lambda: self._dict_item((t.key, t.value)), t.generators)

    def _comprehension(self, t: ast.comprehension) -> None:
        self.write(SPACE[Level.NAMED])
        self.write("async for " if t.is_async else "for ")
        self._target(t.target)
        self.write(" in ")
        self._operand(t.iter, Level.OR)
        for condition in t.ifs:
            self.write(SPACE[Level.NAMED])
            self.write("if ")
            self._operand(condition, Level.OR)
