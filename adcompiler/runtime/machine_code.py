"""What numba does not compile: an error tells so, at each call, without another try."""

from __future__ import annotations

import functools
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
    """How loops came to be machine code, by the types of what they are given.

    ``refused`` holds why they did not; ``function`` is the user's function that they belong to.
    ``deeply`` does work on a larger stack; ``source`` is what LLVM compiles them from.
    """

    def __init__(
        self, name: str, compile_for: Callable[..., Any], typed: Callable[..., Any]
    ) -> None:
        self.name = name
        self.compile_for = compile_for
        self.typed = typed
        self.refused: dict[tuple[Any, ...], str] = {}
        self.function: Any = None
        self.source: Any = None
        self.by = "numba"
        self.deeply: Callable[[Work], Any] = at_once

    def __call__(self, *args: Any) -> Any:
        """Return machine code for arguments. Raises NotCompiledError."""
        types = tuple(map(self.typed, args))
        if types not in self.refused:
            try:
                return self.on_any_stack(args)
            except TRANSIENT:
                raise
            except Exception as error:
                self.refused[types] = reason_of(error)
        raise self.error(self.refused[types])

    def on_any_stack(self, args: tuple[Any, ...]) -> Any:
        """Return machine code, compiled on a stack of its own where Python's is too short."""
        return self.deep_or_not(lambda: self.compile_for(*args))

    def deep_or_not(self, work: Work) -> Any:
        """Return what work gives, done on a stack of its own where Python's is too short."""
        try:
            return work()
        except RecursionError:
            return self.deeply(work)

    def error(self, reason: str) -> NotCompiledError:
        """Return the error that tells why there is no machine code."""
        code = getattr(self.function, "__code__", None)
        file, line = (self.name, 1) if code is None else (code.co_filename, code.co_firstlineno)
        return NotCompiledError([Finding(
            file, line, 0, linecache.getline(file, line).rstrip("\n"),
            f"the native backend has nothing for this: {self.by} does not compile it ({reason})",
            'use backend="auto", which keeps such functions in Python', "native",
        )])


def reason_of(error: Exception) -> str:
    """Return the class of an error, and how its message begins."""
    first = " ".join(str(error).split())
    shown = first if len(first) <= SHOWN else f"{first[:SHOWN]}..."
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def guarded(loops: Any) -> Callable[..., Any]:
    """Let what numba made of a function raise NotCompiledError where it does not compile it."""
    if hasattr(loops, "_compile_for_args"):
        loops._compile_for_args = loops.machine = Machine(
            loops.__name__, loops._compile_for_args, loops.typeof_pyval)
    found: Callable[..., Any] = loops
    return found


def never_compiled(function: Callable[..., Any], error: Exception) -> Callable[..., Any]:
    """Return what raises NotCompiledError in place of loops: numba cannot be imported."""
    machine = Machine(function.__name__, function, type)

    @functools.wraps(function)
    def loops(*args: Any) -> Any:
        raise machine.error(reason_of(error))

    vars(loops)["machine"] = machine
    return loops


def belong_to(
    names: Mapping[str, Any], function: Any, deeply: Callable[[Work], Any], source: Any = None
) -> None:
    """Let the loops of a module be those of a user's function, at which errors point.

    What is too much for Python's stack is done by ``deeply``; LLVM compiles ``source``.
    """
    for loops in list(names.values()):
        machine = getattr(loops, "machine", None)
        if isinstance(machine, Machine):
            machine.function, machine.deeply, machine.source = function, deeply, source
