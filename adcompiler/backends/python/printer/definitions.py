"""The source of functions and classes."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from adcompiler.backends.python.printer.operands import Block, Output
from adcompiler.backends.python.printer.tokens import BRACKETS, COMMA, PARAMETERS


def write_type_parameters(out: Output, t: Any) -> None:
    """Print the type parameters of a definition, if it has any."""
    if getattr(t, "type_params", None):
        out.bracketed("[", t.type_params, out.dispatch)


def write_argument(out: Output, node: ast.expr | ast.keyword) -> None:
    """Print an argument of a call."""
    if isinstance(node, ast.keyword):
        out.write("**" if node.arg is None else f"{node.arg}=")
        out.test(node.value)
    else:
        out.named(node)


def write_parameters(out: Output, t: ast.arguments, comma: str = COMMA) -> None:
    """Print the parameters of a function."""
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
    out.separated(parts, partial(write_parameter, out), comma)


def write_parameter(out: Output, part: tuple[str, ast.arg | None, ast.expr | None]) -> None:
    """Print a parameter: its stars, its name, its default."""
    stars, arg, default = part
    out.write(stars)
    if arg is not None:
        out.dispatch(arg)
    if default is not None:
        out.write(" = " if arg is not None and arg.annotation else "=")
        out.test(default)


class Definitions:
    """Writes definitions; ``block`` writes their statements."""

    def __init__(self, out: Output, block: Block) -> None:
        self.out, self._block = out, block

    def _decorators(self, t: Any) -> None:
        for decorator in t.decorator_list:
            self.out.fill("@")
            self.out.named(decorator)

    def _ClassDef(self, t: ast.ClassDef) -> None:
        self._decorators(t)
        self.out.fill("class " + t.name)
        write_type_parameters(self.out, t)
        arguments = [*t.bases, *t.keywords]
        if arguments:
            self.out.bracketed("(", arguments, partial(write_argument, self.out))
        self._block(t, t.body)

    def _FunctionDef(self, t: Any, keyword: str = "def ") -> None:
        self._decorators(t)
        self.out.fill(keyword + t.name)
        write_type_parameters(self.out, t)
        self.out.write(PARAMETERS)
        write_parameters(self.out, t.args)
        self.out.write(BRACKETS["("][1])
        if t.returns:
            self.out.write(" -> ")
            self.out.test(t.returns)
        self._block(t, t.body)

    def _AsyncFunctionDef(self, t: ast.AsyncFunctionDef) -> None:
        self._FunctionDef(t, "async def ")

    def _TypeVar(self, t: Any, stars: str = "") -> None:
        self.out.write(stars + t.name)
        if getattr(t, "bound", None):
            self.out.write(": ")
            self.out.test(t.bound)
        if getattr(t, "default_value", None):
            self.out.write(" = ")
            self.out.test(t.default_value)

    def _TypeVarTuple(self, t: ast.FunctionDef) -> None:
        self._TypeVar(t, "*")

    def _ParamSpec(self, t: ast.FunctionDef) -> None:
        self._TypeVar(t, "**")

    def _arg(self, t: ast.arg) -> None:
        self.out.write(t.arg)
        if t.annotation:
            self.out.write(": ")
            self.out.test(t.annotation)
