"""The source of displays and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adcompiler.backends.python.printer.layout import Level
from adcompiler.backends.python.printer.operands import OperandEmitter
from adcompiler.backends.python.printer.tokens import COMMA, DISPLAYS, SPACE


class DisplayEmitter(OperandEmitter):
    """Writes lists, tuples, sets and dicts."""

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

    def _comprehended(
        self, bracket: str, element: Callable[[], None], generators: Sequence[ast.comprehension]
    ) -> None:
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
