"""Compiling on a stack of its own, and what is nested too deeply even for that."""

from __future__ import annotations

import ast
import inspect
import linecache
import tokenize
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

from adcompiler.errors import Finding, TooLargeError
from adcompiler.support.budget import deeply

T = TypeVar("T")

NAMED = {
    ast.For: "loops", ast.While: "loops", ast.If: "branches", ast.Try: "`try` statements",
    ast.With: "`with` statements", ast.BinOp: "operators", ast.Call: "calls",
    ast.IfExp: "conditional expressions", ast.FunctionDef: "functions", ast.Tuple: "displays",
    ast.List: "displays", ast.Dict: "displays", ast.Subscript: "subscripts",
    ast.Attribute: "attributes",
}
"""What several of a kind of node inside of one another are called."""
NAMED_EXITS = {
    ast.FunctionDef: "function", ast.AsyncFunctionDef: "function", ast.For: "loop",
    ast.While: "loop",
}
MANY_EXITS = 15


def compiling(function: Callable[..., Any], work: Callable[[], T]) -> T:
    """Return what compiling ``function`` gives, on a deep stack; what is deeper still is refused.
    """
    def guarded() -> T:
        try:
            return work()
        except RecursionError as error:
            raise TooLargeError([deepest(function)]) from error

    return deeply(guarded)


def lines_of(code: CodeType) -> list[str]:
    """Return the lines of a function or class, none where its file is not there.

    ``inspect.getsource`` would ask every module that is loaded whether it is that of the file, and
    some of these are proxies that raise.
    """
    lines = linecache.getlines(code.co_filename)[max(code.co_firstlineno - 1, 0):]
    try:
        return inspect.getblock(lines) if lines else []
    except (SyntaxError, tokenize.TokenError):
        return []


def deepest(function: Callable[..., Any]) -> Finding:
    """Return what to report of a function that is nested too deeply to be compiled."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = "<unknown>" if code is None else code.co_filename
    line = first = 1 if code is None else code.co_firstlineno
    column, depth, what = 0, 0, "calls"
    text = ""
    try:
        lines = [] if code is None else lines_of(code)
        tree = ast.parse(inspect.cleandoc("\n" + "".join(lines)))
    except (SyntaxError, RecursionError, MemoryError):
        lines, tree = [], ast.Module([], [])
    exits = most_exits(tree)
    if exits is not None:
        left, count = exits
        return Finding(
            file, first + left.lineno - 1, left.col_offset, lines[left.lineno - 1].rstrip("\n"),
            f"{count} statements leave this {NAMED_EXITS[type(left)]}, and as many branches would "
            "be nested in one another, deeper than Python allows",
            "leave in fewer places: compute what to leave with, or move parts into functions",
            "budget",
        )
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


def most_exits(tree: ast.AST) -> tuple[ast.stmt, int] | None:
    """Return the function or loop that most statements leave early, if these are many."""
    found: tuple[ast.stmt, int] | None = None
    waiting: list[tuple[ast.AST, ast.stmt | None]] = [(tree, None)]
    counts: dict[ast.stmt, int] = {}
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, (ast.Return, ast.Break, ast.Continue)) and around is not None:
            counts[around] = counts.get(around, 0) + 1
        inner = node if isinstance(node, ast.stmt) and type(node) in NAMED_EXITS else around
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    for node, count in counts.items():
        if count >= MANY_EXITS and (found is None or count > found[1]):
            found = node, count
    return found
