"""Tests through the other engine: ``pytest --engine=record`` records what else is compiled.

Values, effects and derivatives have to be the same; tests of emitted text, of refusals and of
compiling fail then, or are skipped.
"""

from __future__ import annotations

from typing import Any

from adcompiler.api.emitted import EmittedDerivative
from adcompiler.record.entry import MODES, recorded
from adcompiler.typed.derivatives import is_derivative


def record_all() -> None:
    """Let derivatives of functions be recorded, but those that the recorder itself compiles."""
    compiled = EmittedDerivative._slow

    def slow(self: Any, bound: tuple[Any, ...]) -> Any:
        s = self.specialisations
        code = getattr(s.target.function, "__code__", None)
        own = code is not None and code.co_filename.startswith("<recorded call")
        if own or s.options.mode not in MODES or is_derivative(s.function):
            return compiled(self, bound)
        return recorded(s, s.values(bound))

    EmittedDerivative._slow = slow  # type: ignore[method-assign]

