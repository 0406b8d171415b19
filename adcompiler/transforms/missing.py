"""The finding for a function without a rule: where it is called and what would register one."""

from __future__ import annotations

from typing import Any

from adcompiler.errors import Finding
from adcompiler.ir.nodes import Origin
from adcompiler.rulekit.registry import root_module


def missing_rule(origin: Origin, name: str, function: Any) -> Finding:
    """Return the finding that a differentiable value reaches ``function``, which has no rule."""
    spelled = spelling(function) or "function"
    hint = (
        f"register a rule:\n"
        f"      @adcompiler.rrule({spelled})\n"
        f"      def rule(x):\n"
        f"          def pullback(dy):\n"
        f"              return ...  # the cotangent of x\n"
        f"          return {spelled}(x), pullback"
    )
    return origin.finding(
        f"{name} has no rule, and its source cannot be compiled", hint, "missing-rule"
    )


def spelling(function: Any) -> str:
    """Return how a function would be written in source, e.g. ``numpy.sort``."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or root_module(function)
    if not name:
        return ""
    return name if module in ("builtins", "", None) else f"{module}.{name}"
