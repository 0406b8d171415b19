"""Refusals of rules that depend on what is known only when the code runs, such as shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adcompiler.errors import UncoveredError, place_text
from adcompiler.frontend.sources.places import is_users
from adcompiler.ir.nodes import Block, Call, Const, Let, Origin, Statement
from adcompiler.ir.visit import blocks_of, with_blocks


def saying_where(definition: Any, statements: list[Statement], origin: Origin) -> list[Statement]:
    """Return statements of a rule in which a NotImplementedError names the line that it is for.

    It is raised as an ``UncoveredError``, one of those too.
    """
    file = definition.__code__.co_filename
    at = users(origin)
    place = Const(place_text(at.file, at.line, at.column, short=True)), Const(at.text.strip())

    def told(statement: Statement) -> Statement:
        if isinstance(statement, Let):
            made = statement.rhs
            if not isinstance(made, Call) or statement.origin.file != file:
                return statement
            if not isinstance(made.func, Const) or made.func.value is not NotImplementedError:
                return statement
            return replace(statement, rhs=Call(Const(UncoveredError), (*made.args, *place)))
        return with_blocks(statement, within) if blocks_of(statement) else statement

    def within(block: Block) -> Block:
        found = tuple(map(told, block.statements))
        changed = any(a is not b for a, b in zip(found, block.statements, strict=True))
        return replace(block, statements=found) if changed else block

    return list(map(told, statements))


def users(origin: Origin) -> Origin:
    """Return the user's line through which a place is reached."""
    return origin.via if origin.via is not None and not is_users(origin.file) else origin


def place_of(origin: Origin) -> str:
    """Return a place and, on a line of its own, the user's expression there."""
    at = users(origin)
    expression = at.text[at.column : at.column + at.width] or at.text.strip()
    return f"{place_text(at.file, at.line, at.column, short=True)}\n{expression}"
