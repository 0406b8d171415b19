"""The shapes of the arrays of a line of the user's, told where it raises for want of equal ones."""

from __future__ import annotations

import ast
import textwrap
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from adcompiler.frontend.depth import lines_of

MOST = 4
"""So many arrays are told of."""


def shapes_told(frame: types.FrameType, text: str, code: types.CodeType | None) -> str:
    """Return the shapes of the arrays that a line reads, as the frame of emitted code has them.

    Extents that the function gave a name, as by ``n, d = X.shape``, are told with it.
    """
    values = frame.f_locals
    known = () if code is None else (*code.co_varnames, *code.co_freevars)
    found = {
        name: value for name in names_in(text)
        if name in known and isinstance(value := values.get(name), np.ndarray)
    }
    if code is None or not found:
        return ""
    named = extents_named(code, values)
    told = [
        f"{name}: ({shape_text(value.shape, named.get(name, {}))})"
        for name, value in list(found.items())[:MOST]
    ]
    return f"where shapes are {', '.join(told)}"


def shape_text(shape: tuple[int, ...], names: dict[int, str]) -> str:
    """Return the extents of a shape, with the names of those that have one."""
    parts = [f"{names[i]} = {size}" if i in names else str(size) for i, size in enumerate(shape)]
    return ", ".join(parts) + ("," if len(parts) == 1 else "")


def names_in(text: str) -> list[str]:
    """Return the names that a line reads, in the order of its text; none of half a statement."""
    try:
        tree = ast.parse(text.strip().removesuffix(":"))
    except SyntaxError:
        return []
    reads = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    ]
    reads.sort(key=lambda node: node.col_offset)
    return list(dict.fromkeys(node.id for node in reads))


def extents_named(
    code: types.CodeType, values: Mapping[str, Any]
) -> dict[str, dict[int, str]]:
    """Return the names that the user's code gives extents, by array and axis, if they hold.

    ``values`` are those of the variables that emitted code has.
    """
    try:
        tree = ast.parse(textwrap.dedent("".join(lines_of(code))))
    except SyntaxError:
        return {}
    assigned = {
        node.id for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    found: dict[str, dict[int, str]] = {}
    for name, array, axis in readings(tree):
        value = values.get(array)
        if isinstance(value, np.ndarray) and axis < value.ndim and (
            values[name] == value.shape[axis] if name in values else array not in assigned
        ):
            found.setdefault(array, {})[axis] = name
    return found


def readings(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Yield the names, arrays and axes of assignments that read extents."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                [ast.Tuple(targets)], ast.Attribute(ast.Name(array), "shape")
            ):
                for axis, target in enumerate(targets):
                    if isinstance(target, ast.Name):
                        yield target.id, array, axis
            case ast.Assign(
                [ast.Name(name)], ast.Call(ast.Name("len"), [ast.Name(array)], [])
            ):
                yield name, array, 0
            case ast.Assign(
                [ast.Name(name)],
                ast.Subscript(ast.Attribute(ast.Name(array), "shape"), ast.Constant(int(axis))),
            ):
                yield name, array, axis
