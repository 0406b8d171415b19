"""The source of functions and classes."""

from __future__ import annotations

import ast
from typing import Any

from adcompiler.backends.python.printer.patterns import PatternEmitter
from adcompiler.backends.python.printer.tokens import BRACKETS, COMMA, PARAMETERS


class DefinitionEmitter(PatternEmitter):
    """Writes definitions and their parameters."""

    def _decorators(self, t: Any) -> None:
        for decorator in t.decorator_list:
            self.fill("@")
            self._named(decorator)

    def _ClassDef(self, t: ast.ClassDef) -> None:
        self._decorators(t)
        self.fill("class " + t.name)
        self._type_parameters(t)
        arguments = [*t.bases, *t.keywords]
        if arguments:
            self._bracketed("(", arguments, self._argument)
        self._block(t, t.body)

    def _FunctionDef(self, t: Any, keyword: str = "def ") -> None:
        self._decorators(t)
        self.fill(keyword + t.name)
        self._type_parameters(t)
        self.write(PARAMETERS)
        self._arguments(t.args)
        self.write(BRACKETS["("][1])
        if t.returns:
            self.write(" -> ")
            self._test(t.returns)
        self._block(t, t.body)

    def _AsyncFunctionDef(self, t: ast.AsyncFunctionDef) -> None:
        self._FunctionDef(t, "async def ")

    def _type_parameters(self, t: Any) -> None:
        if getattr(t, "type_params", None):
            self._bracketed("[", t.type_params, self.dispatch)

    def _TypeVar(self, t: Any, stars: str = "") -> None:
        self.write(stars + t.name)
        if getattr(t, "bound", None):
            self.write(": ")
            self._test(t.bound)
        if getattr(t, "default_value", None):
            self.write(" = ")
            self._test(t.default_value)

    def _TypeVarTuple(self, t: ast.FunctionDef) -> None:
        self._TypeVar(t, "*")

    def _ParamSpec(self, t: ast.FunctionDef) -> None:
        self._TypeVar(t, "**")

    def _arguments(self, t: ast.arguments, comma: str = COMMA) -> None:
        positional = [*t.posonlyargs, *t.args]
        defaults = [None] * (len(positional) - len(t.defaults)) + t.defaults
        parts: list[tuple[str, ast.arg | None, ast.expr | None]] = [
            ("", arg, default) for arg, default in zip(positional, defaults, strict=True)
        ]
        if t.posonlyargs:
            parts.insert(len(t.posonlyargs), ("/", None, None))
        if t.vararg or t.kwonlyargs:
            parts.append(("*", t.vararg, None))
        parts += [("", arg, d) for arg, d in zip(t.kwonlyargs, t.kw_defaults, strict=True)]
        if t.kwarg:
            parts.append(("**", t.kwarg, None))
        self._separated(parts, self._parameter, comma)

    def _parameter(self, part: tuple[str, ast.arg | None, ast.expr | None]) -> None:
        stars, arg, default = part
        self.write(stars)
        if arg is not None:
            self.dispatch(arg)
        if default is not None:
            self.write(" = " if arg is not None and arg.annotation else "=")
            self._test(default)

    def _arg(self, t: ast.arg) -> None:
        self.write(t.arg)
        if t.annotation:
            self.write(": ")
            self._test(t.annotation)
