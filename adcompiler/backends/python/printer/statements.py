"""The source of statements that hold no others."""

from __future__ import annotations

import ast
from typing import Any

from adcompiler.backends.python.printer.definitions import write_type_parameters
from adcompiler.backends.python.printer.operands import Output
from adcompiler.backends.python.printer.tokens import PLAIN_COMMA


class Statements:
    """Writes simple statements."""

    def __init__(self, out: Output) -> None:
        self.out = out

    def _Expr(self, t: ast.Expr) -> None:
        self.out.fill()
        self.out.soft(t.value, self.out.value)

    def _Import(self, t: ast.Import) -> None:
        self.out.fill("import ")
        self.out.separated(t.names, self.out.dispatch, PLAIN_COMMA)

    def _ImportFrom(self, t: ast.ImportFrom) -> None:
        self.out.fill("from " + "." * (t.level or 0) + (t.module or "") + " import ")
        if t.names[0].name == "*":
            self.out.write("*")
        else:
            self.out.soft(t.names, self.out.listed)

    def _Assign(self, t: ast.Assign) -> None:
        self.out.fill()
        for target in t.targets:
            self.out.soft(target, self.out.tuple_or_test)
            self.out.write(" = ")
        self.out.soft(t.value, self.out.value)

    def _AugAssign(self, t: ast.AugAssign) -> None:
        self.out.fill()
        self.out.atom(t.target)
        self.out.write(f" {self.out.binop[type(t.op).__name__]}= ")
        self.out.soft(t.value, self._yield_or_test)

    def _AnnAssign(self, t: ast.AnnAssign) -> None:
        self.out.fill()
        if isinstance(t.target, ast.Name) and not t.simple:
            self.out.bracketed("(", [t.target], self.out.dispatch)
        else:
            self.out.atom(t.target)
        self.out.write(": ")
        self.out.test(t.annotation)
        if t.value:
            self.out.write(" = ")
            self.out.soft(t.value, self._yield_or_test)

    def _yield_or_test(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            self.out.test(node)
        else:
            self.out.value(node)

    def _TypeAlias(self, t: Any) -> None:
        self.out.fill("type ")
        self.out.dispatch(t.name)
        write_type_parameters(self.out, t)
        self.out.write(" = ")
        self.out.soft(t.value, self.out.test)

    def _Return(self, t: ast.Return) -> None:
        self.out.fill("return")
        if t.value:
            self.out.write(" ")
            self.out.soft(t.value, self.out.tuple_or_test)

    def _Delete(self, t: ast.Delete) -> None:
        self.out.fill("del ")
        self.out.separated(t.targets, self.out.atom, PLAIN_COMMA)

    def _Assert(self, t: ast.Assert) -> None:
        self.out.fill("assert ")
        self.out.soft(t.test, self.out.test)
        if t.msg:
            self.out.write(", ")
            self.out.soft(t.msg, self.out.test)

    def _Raise(self, t: ast.Raise) -> None:
        self.out.fill("raise")
        if t.exc:
            self.out.write(" ")
            self.out.soft(t.exc, self.out.test)
        if t.cause:
            self.out.write(" from ")
            self.out.soft(t.cause, self.out.test)
