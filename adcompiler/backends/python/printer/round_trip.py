"""Printed source must parse back to the tree that was meant."""

from __future__ import annotations

import ast
from typing import Any

from adcompiler.backends.python.printer.layout import BlankLine, Comment
from adcompiler.backends.python.printer.literals import canonical
from adcompiler.errors import InternalError

# Fields that the text does not express: the role of a name follows from where it stands.
_NOT_PRINTED = {"ctx", "type_comment", "type_ignores"}
_OPTIONAL = {"conversion": -1, "level": 0, "is_async": 0}
_BLOCKS = {"body", "orelse", "finalbody"}
_AS_THEY_ARE = {str, ast.Name, ast.Call, ast.Attribute, ast.BinOp, ast.Load, ast.Store}
_SHOWN = 300  # characters of each tree in an error message


def check_round_trip(tree: ast.AST, text: str, mode: str = "exec") -> None:
    """Check that `text` parses to `tree`, which may hold comments, blank lines and any constant.

    Both trees are compared in the form the printer gives them: constants without a literal are
    the expressions of `literals.canonical`, neighbouring texts of an f-string are one, and a
    block without statements is ``pass``. Raises InternalError naming the first difference,
    and RecursionError where Python cannot parse so many levels.
    """
    try:
        parsed = ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, (RecursionError, MemoryError)) or "too many" in str(error):
            raise RecursionError(f"emitted source is nested too deeply: {error}") from error
        where = _line(text, getattr(error, "lineno", None))
        raise InternalError(f"emitted source does not parse: {error}\n{where}") from error
    difference = first_difference(tree, parsed)
    if difference is not None:
        meant, found = difference
        line = getattr(found, "lineno", None)
        raise InternalError(
            f"emitted source does not mean what it should\n  meant: {_shown(meant)}\n"
            f"  found: {_shown(found)}\n{_line(text, line)}"
        )


def _line(text: str, line: int | None) -> str:
    lines = text.splitlines()
    if line is None or not 0 < line <= len(lines):
        return ""
    return f"  line {line}: {lines[line - 1].strip()}"


def _shown(node: Any) -> str:
    text = ast.dump(node) if isinstance(node, ast.AST) else repr(node)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def first_difference(meant: Any, found: Any) -> tuple[Any, Any] | None:
    """Return the first pair of nodes, in source order, that differ, or None."""
    # A stack instead of recursion: sums of a thousand terms are trees a thousand deep.
    stack: list[tuple[Any, Any, ast.AST, ast.AST]] = [(meant, found, meant, found)]
    while stack:
        left, right, left_owner, right_owner = stack.pop()
        if isinstance(left, ast.AST):
            left, right = comparable(left), comparable(right)
            if type(left) is not type(right):
                return left, right
            for field in reversed(left._fields):
                if field in _NOT_PRINTED:
                    continue
                one, other = getattr(left, field, None), getattr(right, field, None)
                if type(one) not in _AS_THEY_ARE or type(other) not in _AS_THEY_ARE:
                    one, other = _field(left, field), _field(right, field)
                if one is not other and not (type(one) is str is type(other) and one == other):
                    stack.append((one, other, left, right))
        elif isinstance(left, list):
            if not isinstance(right, list) or len(left) != len(right):
                return left_owner, right_owner
            pairs = zip(reversed(left), reversed(right), strict=True)
            stack.extend((one, other, left_owner, right_owner) for one, other in pairs)
        elif type(left) is not type(right) or left != right:
            return left_owner, right_owner
    return None


def _field(node: ast.AST, field: str) -> Any:
    """Return a field's value; absent, None and empty are the same."""
    value = getattr(node, field, None)
    if isinstance(value, list):
        return (block(node, field, value) if field in _BLOCKS else value) or None
    if field == "body" and value is None:
        return block(node, field, [])
    return _OPTIONAL.get(field) if value is None else value


def block(node: ast.AST, field: str, body: list[Any]) -> list[Any]:
    """Return the statements of a block without its comments; one that has to be is ``pass``."""
    statements = [item for item in body if not isinstance(item, Comment | BlankLine)]
    needed = bool(body) or field == "body"
    if not statements and needed and not isinstance(node, ast.Module):
        return [ast.Pass()]
    return statements


def comparable(node: Any) -> Any:
    """Return the form in which the printer writes `node`, of which there is only one."""
    kind = type(node)
    if kind is ast.Name:
        return node  # most nodes
    if kind is ast.Constant:
        return canonical(node)
    if kind is ast.JoinedStr:
        parts = fstring_parts(node.values)
        return ast.JoinedStr([ast.Constant(p) if isinstance(p, str) else p for p in parts])
    if kind is ast.Set and not node.elts:
        return ast.Set([ast.Starred(ast.Tuple([], ast.Load()), ast.Load())])
    return node


def fstring_parts(values: list[ast.expr]) -> list[str | ast.expr]:
    """Return the texts and fields of an f-string; neighbouring texts are one, empty ones none."""
    parts: list[str | ast.expr] = []
    for value in values:
        if not isinstance(value, ast.Constant):
            parts.append(value)
        elif not isinstance(value.value, str):
            raise InternalError(f"an f-string cannot hold {value.value!r}")
        elif parts and isinstance(parts[-1], str):
            parts[-1] += value.value
        elif value.value:
            parts.append(value.value)
    return parts
