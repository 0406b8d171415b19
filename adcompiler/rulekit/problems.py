"""Errors about rules: where the rule stands, what is wrong with it, what to write."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from typing import Any

from adcompiler.errors import Finding, NotFiniteError, RuleError, UncoveredError

__all__ = ["NotFiniteError", "UncoveredError", "finding_at", "name_of", "rule_error"]


def rule_error(part: Any, problem: str, hint: str) -> RuleError:
    """Return the error that something is wrong with ``part``, a function that belongs to a rule."""
    return RuleError([finding_at(part, problem, hint)])


def finding_at(part: Callable[..., Any], problem: str, hint: str) -> Finding:
    """Return a finding at the ``def`` line of a function; at the package for other callables."""
    code = getattr(inspect.unwrap(part) if callable(part) else part, "__code__", None)
    if code is None:
        return Finding("adcompiler", 1, 0, "", problem, hint)
    file, line = code.co_filename, code.co_firstlineno
    while (text := linecache.getline(file, line).rstrip()).lstrip().startswith("@"):
        line += 1  # past the decorators
    return Finding(
        file, line, len(text) - len(text.lstrip()), text, problem, hint,
        width=len(text.strip()) or 1,
    )


def name_of(function: Callable[..., Any]) -> str:
    """Return what messages and assembled rules call a function."""
    name = str(getattr(function, "__name__", "function"))
    return name if name.isidentifier() else "function"
