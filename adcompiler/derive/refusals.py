"""Refusals of rules that depend on what is known only when the code runs, such as shapes."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from adcompiler.errors import UncoveredError
from adcompiler.frontend.places import is_users
from adcompiler.ir.nodes import Block, Call, Const, Let, Origin, Statement
from adcompiler.ir.visit import blocks_of, with_blocks


def saying_where(definition: Any, statements: list[Statement], origin: Origin) -> list[Statement]:
    """Return statements of a rule in which a NotImplementedError names the line that it is for.

    It is raised as an ``UncoveredError``, one of those too.
    """
    file = definition.__code__.co_filename
    at = origin.via if origin.via is not None and not is_users(origin.file) else origin
    place = Const(f"{os.path.basename(at.file)}:{at.line}:{at.column + 1}"), Const(at.text.strip())

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
