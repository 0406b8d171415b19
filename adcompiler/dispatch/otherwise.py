"""Loops under ``backend="auto"``: Python takes over for good where they turn out not to compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.errors import NotCompiledError


class NativeOrPython:
    """Calls the function that calls loops, or the Python product; ``reason`` tells why that."""

    def __init__(self, python: Callable[..., Any], native: Callable[..., Any]) -> None:
        self.python, self.run = python, native
        self.reason = ""

    def __call__(self, *args: Any) -> Any:
        """Return what the product returns."""
        try:
            return self.run(*args)
        except NotCompiledError as error:
            if self.run is self.python:
                raise
            _, _, why = error.findings[0].problem.partition(": ")
            self.run, self.reason = self.python, f"stays in Python: {why}"
        return self.python(*args)
