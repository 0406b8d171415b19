"""The text of native loops as LLVM IR, for given types of arguments: the way in."""

from __future__ import annotations

from typing import Any

from adcompiler.backends.native.emit.program import Emitted, Program
from adcompiler.backends.native.emit.types import ArrayType, Type


def llvm_ir(text: str, name: str, key: tuple[Any, ...]) -> Emitted:
    """Return the LLVM IR of a function of a module's text, and of what it calls.

    ``key`` has for each argument the name of a machine type, or the dtype of an array, the number
    of its axes, and whether it lies in C order. Raises NotEmitted.
    """
    types: list[Type] = [one if isinstance(one, str) else ArrayType(*one) for one in key]
    return Program(text).emitted(name, types)
