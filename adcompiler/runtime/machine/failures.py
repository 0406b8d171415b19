"""What LLVM does not compile: an error tells so, at each call, without another try."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping
from typing import Any

from adcompiler.errors import Finding, NotCompiledError

TRANSIENT = (MemoryError, OSError)
"""What is no property of loops: memory is short, or machine code cannot be kept on disk."""
SHOWN = 200

Work = Callable[[], Any]


def at_once(work: Work) -> Any:
    """Return what work gives, on the stack at hand."""
    return work()


class Machine:
    """How loops of a name come to be machine code.

    ``function`` is the user's function that they belong to, ``source`` what they are compiled from;
    ``deeply`` does work on a larger stack.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.function: Any = None
        self.source: Any = None
        self.deeply: Callable[[Work], Any] = at_once

    def deep_or_not(self, work: Work) -> Any:
        """Return what work gives, done on a stack of its own where Python's is too short."""
        try:
            return work()
        except RecursionError:
            return self.deeply(work)

    def error(self, reason: str) -> NotCompiledError:
        """Return the error that tells why there is no machine code."""
        code = getattr(self.function, "__code__", None)
        file, line = (self.__name__, 1) if code is None else (code.co_filename, code.co_firstlineno)
        return NotCompiledError([Finding(
            file, line, 0, linecache.getline(file, line).rstrip("\n"),
            f"the native backend has nothing for this: LLVM does not compile it ({reason})",
            'use backend="auto", which keeps such functions in Python', "native",
        )])


def reason_of(error: Exception) -> str:
    """Return the class of an error, and how its message begins."""
    first = " ".join(str(error).split())
    shown = first if len(first) <= SHOWN else f"{first[:SHOWN]}..."
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def belong_to(
    names: Mapping[str, Any], function: Any, deeply: Callable[[Work], Any], source: Any = None
) -> None:
    """Let the loops of a module be those of a user's function, at which errors point.

    What is too much for Python's stack is done by ``deeply``; ``source`` is compiled.
    """
    for loops in list(names.values()):
        if isinstance(loops, Machine):
            loops.function, loops.deeply, loops.source = function, deeply, source
