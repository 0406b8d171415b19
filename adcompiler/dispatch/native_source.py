"""What LLVM compiles the loops of a module from, where it does that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adcompiler.runtime.native import has_compiler


def native_source(text: str, path: Path | None) -> Any:
    """Return the source of a module's loops, None if LLVM does not compile them."""
    if not has_compiler():
        return None
    from adcompiler.cache.objects import Objects
    from adcompiler.runtime.machine.loops import Source

    return Source(text, emit, None if path is None else Objects(path))


def emit(text: str, name: str, key: tuple[Any, ...]) -> Any:
    """Return the LLVM IR of a function; processes that find machine code load no emitter."""
    from adcompiler.backends.native.emit.llvm import llvm_ir

    return llvm_ir(text, name, key)
