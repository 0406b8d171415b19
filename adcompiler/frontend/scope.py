"""Where the free names of a Python function are found."""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

from adcompiler.support.structs import dataclass

MISSING = object()


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Where the free names of a Python function are looked up, live.

    ``path`` says how the function is reached from the one being compiled (see ``Path``); code that
    was ``emitted`` for a derivative inside of another has none.
    """

    function: types.FunctionType
    path: Any = None
    emitted: bool = False

    @property
    def is_rule(self) -> bool:
        """Whether the function is a rule, whose names are of no interest to readers."""
        return self.path is None and not self.emitted

    @property
    def module(self) -> str:
        """The name of the function's module, or "" if no imported module has its globals."""
        name = self.function.__globals__.get("__name__", "")
        module = sys.modules.get(name)
        if module is not None and vars(module) is self.function.__globals__:
            return str(name)
        return ""

    def lookup(self, name: str) -> tuple[str, Any]:
        """Return where a free name is found (cell, global, builtin, missing) and its value."""
        names = self.function.__code__.co_freevars
        if name in names and self.function.__closure__ is not None:
            try:
                return "cell", self.function.__closure__[names.index(name)].cell_contents
            except ValueError:
                return "missing", MISSING
        if name in self.function.__globals__:
            return "global", self.function.__globals__[name]
        value = getattr(builtins, name, MISSING)
        return ("missing", MISSING) if value is MISSING else ("builtin", value)
