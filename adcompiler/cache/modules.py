"""Imports emitted modules, so that tracebacks and debuggers show their lines."""

from __future__ import annotations

import hashlib
import linecache
import types
from pathlib import Path

from adcompiler.cache.store import HEADER_LINES

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
        vars(module)["__lines__"] = Lines(file, text)
    else:
        file = str(path)
        text = "\n" * HEADER_LINES + text
        module.__file__ = file
    code = compile(text, file, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module
