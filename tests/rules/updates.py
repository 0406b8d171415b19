"""Functions with rules that write into their first argument, which tests do not call plainly."""

from __future__ import annotations

from adcompiler.ops.registry import REGISTRY

DESTRUCTIVE = frozenset(
    rule.function for rule in REGISTRY.rules()
    if REGISTRY.facts(rule.function).updates is True
)
