"""What derivative code holds when its sweep starts, and how large that is."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adcompiler.runtime.kept_bytes import size_in_bytes
from adcompiler.support.structs import dataclass


Where = tuple[int, int]
"""A line of the emitted text, and a column in bytes."""


@dataclass(frozen=True)
class Saved:
    """A value that is held for the sweep: its name in the code, what it is, its size in bytes.

    ``of`` tells whose it is if it takes no memory of its own: the caller's, or part of another one.
    """

    name: str
    what: str
    size: int
    of: str = ""


def all_described(held: Iterable[tuple[str, Any]], args: Iterable[Any]) -> list[Saved]:
    """Return what is shown of values, by name; arguments, and parts of them, are the caller's."""
    given = [part for value in args for part in parts_of(value)]
    values = list(held)
    inside = {
        id(part): name for name, value in values if isinstance(value, list | tuple | dict)
        for part in parts_of(value) if isinstance(part, np.ndarray)
    }
    found = []
    for name, value in values:
        of = f"part of {inside[id(value)]}" if id(value) in inside else ""
        found.append(described(name, value, "the caller's" if is_among(value, given) else of))
    return found


def described(name: str, value: Any, of: str = "") -> Saved:
    """Return what is shown of a value."""
    return Saved(name, what_it_is(value), size_in_bytes(value), of)


def is_among(value: Any, given: Sequence[Any]) -> bool:
    """Say whether a value is one of those that are given, or a view of one."""
    return any(value is one for one in given) or (
        isinstance(value, np.ndarray) and value.base is not None
        and any(np.may_share_memory(value, one) for one in given if isinstance(one, np.ndarray)))


def parts_of(value: Any, depth: int = 4) -> Iterator[Any]:
    """Yield a value, and what containers and instances hold, some levels deep."""
    yield value
    inside: Iterable[Any] = ()
    if isinstance(value, dict):
        inside = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    elif not isinstance(value, FunctionType | ModuleType | type):
        inside = getattr(value, "__dict__", {}).values()
    for part in inside if depth else ():
        yield from parts_of(part, depth - 1)


def what_it_is(value: Any) -> str:
    """Return the kind, shape or length of a value."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} array of shape {value.shape}"
    if isinstance(value, list | tuple):
        entries = "entry" if len(value) == 1 else "entries"
        return f"{type(value).__name__} of {len(value)} {entries}"
    return type(value).__name__


# -- of a split pair -------------------------------------------------------------------------------


def names_of_residuals(text: str, second: str) -> tuple[str, ...]:
    """Return the names that the second function of a pair gives to what the first one saves."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef) or node.name != second:
            continue
        residuals = node.args.args[0].arg
        for statement in node.body:
            match statement:
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Name(id=read)) if (
                    read == residuals
                ):
                    return tuple(one.id for one in names if isinstance(one, ast.Name))
    return ()


# -- of a function in one piece --------------------------------------------------------------------


def held_for_sweep(
    function: ast.FunctionDef, is_reverse: Callable[[int], bool]
) -> dict[str, list[Where]]:
    """Return what the sweep of a function reads that comes from before it: names, and where."""
    wanted: dict[str, list[Where]] = defaultdict(list)
    read_first(function.body, is_reverse, set(), wanted)
    bound = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return {name: where for name, where in wanted.items() if name in bound}


def read_first(
    body: Iterable[ast.stmt], is_reverse: Callable[[int], bool], assigned: set[str],
    wanted: dict[str, list[Where]],
) -> None:
    """Add the names to ``wanted`` that statements of the sweep read before they assign them.

    ``assigned`` are those that the sweep has assigned for sure.
    """
    for statement in body:
        inner = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        inner += [handler.body for handler in getattr(statement, "handlers", [])]
        heads = [
            part for name, part in ast.iter_fields(statement)
            if name not in ("body", "orelse", "finalbody", "handlers")
        ]
        stored: set[str] = set()
        if is_reverse(statement.lineno):
            for node in names_in(heads):
                if isinstance(node.ctx, ast.Store):
                    stored.add(node.id)
                elif node.id not in assigned:
                    wanted[node.id].append((node.lineno, node.col_offset))
            match statement:
                case ast.AugAssign(target=ast.Name(id=name)) if name not in assigned:
                    wanted[name].append((statement.lineno, statement.col_offset))
        if not any(inner):
            assigned |= stored
            continue
        for part in inner:
            read_first(part, is_reverse, assigned | stored, wanted)


def names_in(parts: Iterable[Any]) -> list[ast.Name]:
    """Return the names in fields of a statement."""
    flat = [node for part in parts for node in (part if isinstance(part, list) else [part])]
    return [
        node for one in flat if isinstance(one, ast.AST) for node in ast.walk(one)
        if isinstance(node, ast.Name)
    ]


def values_at(
    function: Callable[..., Any], args: tuple[Any, ...], is_reverse: Callable[[int], bool],
    take: Callable[[Mapping[str, Any]], None],
) -> None:
    """Run a function, and call ``take`` with its variables when the sweep starts.

    ``is_reverse`` says of lines, counted from that of ``def``, whether they are of the sweep.
    """
    code: CodeType = function.__code__
    waiting = [True]

    def at_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and waiting[0] and is_reverse(frame.f_lineno - code.co_firstlineno):
            waiting[0] = False
            take(dict(frame.f_locals))
        return at_line if waiting[0] else None

    def at_call(frame: FrameType, event: str, _: Any) -> Any:
        return at_line if frame.f_code is code and waiting[0] else None

    before = sys.gettrace()
    sys.settrace(at_call)
    try:
        function(*args)
    finally:
        sys.settrace(before)
