"""The source of displays and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adcompiler.backends.python.printer.layout import Level
from adcompiler.backends.python.printer.operands import Output
from adcompiler.backends.python.printer.tokens import COMMA, DISPLAYS, SPACE


class Displays:
    """Writes lists, tuples, sets and dicts."""

    def __init__(self, out: Output) -> None:
        self.out = out

    def _List(self, t: ast.List) -> None:
        self.out.displayed("[", t.elts, self.out.named)

    def _Tuple(self, t: ast.Tuple) -> None:
        opening, closing = DISPLAYS["("]
        self.out.write(opening)
        self.out.separated(t.elts, self.out.named, COMMA)
        if len(t.elts) == 1:
            self.out.write(",")
        self.out.write(closing)

    def _Set(self, t: ast.Set) -> None:
        if t.elts:
            self.out.displayed("{", t.elts, self.out.named)
        else:
            self.out.write("{*()}")

    def _Dict(self, t: ast.Dict) -> None:
        self.out.displayed("{", zip(t.keys, t.values, strict=True), self._dict_item)

    def _dict_item(self, item: tuple[ast.expr | None, ast.expr]) -> None:
        key, value = item
        if key is None:
            self.out.write("**")
            self.out.operand(value, Level.BIT_OR)
        else:
            self.out.test(key)
            self.out.write(": ")
            self.out.test(value)

    def _comprehended(
        self, bracket: str, element: Callable[[], None], generators: Sequence[ast.comprehension]
    ) -> None:
        opening, closing = DISPLAYS[bracket]
        self.out.write(opening)
        element()
        for generator in generators:
            self.out.dispatch(generator)
        self.out.write(closing)

    def _ListComp(self, t: ast.ListComp) -> None:
        self._comprehended("[", lambda: self.out.named(t.elt), t.generators)

    def _SetComp(self, t: ast.SetComp) -> None:
        self._comprehended("{", lambda: self.out.named(t.elt), t.generators)

    def _GeneratorExp(self, t: ast.GeneratorExp) -> None:
        self._comprehended("(", lambda: self.out.named(t.elt), t.generators)

    def _DictComp(self, t: ast.DictComp) -> None:
        self._comprehended("{", lambda: self._dict_item((t.key, t.value)), t.generators)

    def _comprehension(self, t: ast.comprehension) -> None:
        self.out.write(SPACE[Level.NAMED])
        self.out.write("async for " if t.is_async else "for ")
        self.out.target(t.target)
        self.out.write(" in ")
        self.out.operand(t.iter, Level.OR)
        for condition in t.ifs:
            self.out.write(SPACE[Level.NAMED])
            self.out.write("if ")
            self.out.operand(condition, Level.OR)
