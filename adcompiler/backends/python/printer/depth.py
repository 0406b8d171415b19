"""Keeps emitted code within the indentation that Python takes, a hundred levels."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import count

MAX_DEPTH = 80


def shallow(body: Iterable[ast.stmt], taken: set[str]) -> list[ast.stmt]:
    """Return a function's body with branches that end branches moved behind these where too deep.

    Which arm of them is to be taken is noted in a variable, with a name that is not ``taken``.
    """
    names = (name for n in count() if (name := f"way_{n}") not in taken)
    return list(within(body, 1, names))


def within(body: Iterable[ast.stmt], depth: int, names: Iterator[str]) -> Iterator[ast.stmt]:
    """Yield the statements of a block that is indented ``depth`` times."""
    for statement in body:
        if depth >= MAX_DEPTH and isinstance(statement, ast.If) and any(
            arm and isinstance(arm[-1], ast.If) for arm in (statement.body, statement.orelse)
        ):
            yield from within(moved_behind(statement, next(names)), depth, names)
            continue
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list):
                setattr(statement, field, list(within(inner, depth + 1, names)))
        for handler in getattr(statement, "handlers", ()):
            handler.body = list(within(handler.body, depth + 1, names))
        yield statement


def moved_behind(node: ast.If, name: str) -> Iterator[ast.stmt]:
    """Yield a branch whose arms only say which arms of the last branch in them are taken."""
    yield ast.Assign([ast.Name(name, ast.Store())], ast.Constant(0))
    ways = count(1)
    behind: list[ast.stmt] = []
    for arm in (node.body, node.orelse):
        last = arm[-1] if arm else None
        if not isinstance(last, ast.If):
            continue
        way = ast.IfExp(last.test, ast.Constant(next(ways)), ast.Constant(next(ways)))
        for number, rest in ((way.body, last.body), (way.orelse, last.orelse)):
            test = ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [number])
            if rest:
                behind.append(ast.If(test, rest, []))
        arm[-1] = ast.Assign([ast.Name(name, ast.Store())], way)
    yield node
    yield from behind
