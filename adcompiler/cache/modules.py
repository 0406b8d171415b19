"""Imports emitted modules, so that tracebacks and debuggers show their lines."""

from __future__ import annotations

import builtins
import hashlib
import linecache
import sys
import threading
import types
import weakref
from pathlib import Path
from typing import Any

from adcompiler.cache.store import HEADER_LINES
from adcompiler.ops.forks import across_forks
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.support.budget import is_deep

EMITTED = "adcompiler_emitted."
"""How the names of emitted modules start."""


class Lines:
    """The lines of a module that is in no file, in linecache as long as its code lives."""

    def __init__(self, file: str, text: str) -> None:
        lines = text.splitlines(keepends=True)
        self.file = file
        self.entry = (len(text), None, lines, file)  # no time: never out of date
        linecache.cache[file] = self.entry

    def __del__(self) -> None:
        """Take the lines out again, unless those of the same text are there by now."""
        cache = getattr(linecache, "cache", None)  # none when the interpreter ends
        if cache is not None and cache.get(self.file) is self.entry:
            cache.pop(self.file, None)


_lines: weakref.WeakValueDictionary[str, Lines] = weakref.WeakValueDictionary()
_noting = threading.Lock()
across_forks(lambda: [_noting])


def noted(file: str, text: str) -> Lines:
    """Return the lines of a module that is in no file, which modules of one text have in common."""
    with _noting:
        found = _lines.get(file)
        if found is None or linecache.cache.get(file) is not found.entry:
            found = _lines[file] = Lines(file, text)
    return found


def load_module(path: Path | None, text: str, module_name: str) -> types.ModuleType:
    """Run the text as a new module and return it; tracebacks and debuggers show its lines.

    ``path`` is the entry's file, below whose header the text stands; without one the text is
    given to linecache under a pseudo file name. The module is not put into ``sys.modules``.

    The text is compiled each time: 5 microseconds a line (CPython 3.11), too little to keep
    bytecode as well, a second file per entry that would have to be checked like the first.
    """
    module = types.ModuleType(module_name)
    if path is None:
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        file = f"<adcompiler {module_name} {digest}>"
        # In the module's names, which its functions keep.
        vars(module)["__lines__"] = noted(file, text)
    else:
        file = str(path)
        text = "\n" * HEADER_LINES + text
        module.__file__ = file
    code = compile(text, file, "exec", dont_inherit=True)
    if is_deep() and any(map(is_being_imported, list(sys.modules.values()))):
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": taken_or_imported}
    exec(code, module.__dict__)
    return module


@unless_it_raises(False)
def is_being_imported(module: types.ModuleType) -> bool:
    """Say whether a module is locked by a thread that imports it."""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def taken_or_imported(
    name: str, names: Any = None, variables: Any = None, wanted: Any = (), level: int = 0
) -> Any:
    """``__import__`` in a thread that compiles: takes a module that is there as it is.

    Who waits for the thread may be importing that module, and holds its lock.
    """
    found = sys.modules.get(name) if level == 0 else None
    if found is None or not all(hasattr(found, part) for part in wanted or ()):
        return __import__(name, names, variables, wanted, level)
    return found if wanted else sys.modules[name.partition(".")[0]]
