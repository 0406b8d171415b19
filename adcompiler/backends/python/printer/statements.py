"""The source of statements that hold no others."""

from __future__ import annotations

import ast
from typing import Any

from adcompiler.backends.python.printer.definitions import DefinitionEmitter
from adcompiler.backends.python.printer.tokens import COMMA, PLAIN_COMMA


class StatementEmitter(DefinitionEmitter):
    """Writes simple statements."""

    def _Expr(self, t: ast.Expr) -> None:
        self.fill()
        self._soft(t.value, self._value)

    def _Import(self, t: ast.Import) -> None:
        self.fill("import ")
        self._separated(t.names, self.dispatch, PLAIN_COMMA)

    def _ImportFrom(self, t: ast.ImportFrom) -> None:
        self.fill("from " + "." * (t.level or 0) + (t.module or "") + " import ")
        if t.names[0].name == "*":
            self.write("*")
        else:
            self._soft(t.names, lambda names: self._separated(names, self.dispatch, COMMA))

    def _Assign(self, t: ast.Assign) -> None:
        self.fill()
        for target in t.targets:
            self._soft(target, self._tuple_or_test)
            self.write(" = ")
        self._soft(t.value, self._value)

    def _AugAssign(self, t: ast.AugAssign) -> None:
        self.fill()
        self._atom(t.target)
        self.write(f" {self.binop[type(t.op).__name__]}= ")
        self._soft(t.value, self._yield_or_test)

    def _AnnAssign(self, t: ast.AnnAssign) -> None:
        self.fill()
        if isinstance(t.target, ast.Name) and not t.simple:
            self._bracketed("(", [t.target], self.dispatch)
        else:
            self._atom(t.target)
        self.write(": ")
        self._test(t.annotation)
        if t.value:
            self.write(" = ")
            self._soft(t.value, self._yield_or_test)

    def _yield_or_test(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            self._test(node)
        else:
            self._value(node)

    def _TypeAlias(self, t: Any) -> None:
        self.fill("type ")
        self.dispatch(t.name)
        self._type_parameters(t)
        self.write(" = ")
        self._soft(t.value, self._test)

    def _Return(self, t: ast.Return) -> None:
        self.fill("return")
        if t.value:
            self.write(" ")
            self._soft(t.value, self._tuple_or_test)

    def _Delete(self, t: ast.Delete) -> None:
        self.fill("del ")
        self._separated(t.targets, self._atom, PLAIN_COMMA)

    def _Assert(self, t: ast.Assert) -> None:
        self.fill("assert ")
        self._soft(t.test, self._test)
        if t.msg:
            self.write(", ")
            self._soft(t.msg, self._test)

    def _Raise(self, t: ast.Raise) -> None:
        self.fill("raise")
        if t.exc:
            self.write(" ")
            self._soft(t.exc, self._test)
        if t.cause:
            self.write(" from ")
            self._soft(t.cause, self._test)
