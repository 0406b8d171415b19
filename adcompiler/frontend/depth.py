"""Compiling on a stack of its own, and what is nested too deeply even for that."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from adcompiler.budget import deeply
from adcompiler.errors import Finding, TooLargeError

T = TypeVar("T")

NAMED = {
    ast.For: "loops", ast.While: "loops", ast.If: "branches", ast.Try: "`try` statements",
    ast.With: "`with` statements", ast.BinOp: "operators", ast.Call: "calls",
    ast.IfExp: "conditional expressions", ast.FunctionDef: "functions", ast.Tuple: "displays",
    ast.List: "displays", ast.Dict: "displays", ast.Subscript: "subscripts",
    ast.Attribute: "attributes",
}
"""What several of a kind of node inside of one another are called."""


def compiling(function: Any, work: Callable[[], T]) -> T:
    """Return what compiling ``function`` gives, on a deep stack; what is deeper still is refused.
    """
    def guarded() -> T:
        try:
            return work()
        except RecursionError as error:
            raise TooLargeError([deepest(function)]) from error

    return deeply(guarded)


def deepest(function: Callable[..., Any]) -> Finding:
    """Return what to report of a function that is nested too deeply to be compiled."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = "<unknown>" if code is None else code.co_filename
    line, column, depth, what = 1 if code is None else code.co_firstlineno, 0, 0, "calls"
    text = ""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(inspect.cleandoc("\n" + "".join(lines)))
    except (OSError, TypeError, SyntaxError, RecursionError, MemoryError):
        lines, first, tree = [], line, ast.Module([], [])
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, around = waiting.pop()
        waiting += [(inner, around + 1) for inner in ast.iter_child_nodes(node)]
        if around > depth and type(node) in NAMED and isinstance(node, (ast.stmt, ast.expr)):
            depth, what = around, NAMED[type(node)]
            line, column = first + node.lineno - 1, node.col_offset
            text = lines[node.lineno - 1].rstrip("\n") if node.lineno <= len(lines) else ""
    problem = f"{what} are nested too deeply here to be compiled" if depth > 100 else (
        "what is called here, and calls in turn, is nested too deeply to be compiled")
    return Finding(
        file, line, column if depth > 100 else 0, text, problem,
        "give parts of it names, or write a loop", "budget",
    )
