"""Functions with rules that tests do not call plainly.

They write into their first argument, draw random numbers, or stand for code that only the compiler
writes.
"""

from __future__ import annotations

from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.functionals import symmetric
from adcompiler.runtime.adjoints.kinks import STAND_INS, first_derivative

from tests.rules.kinds import draws

DESTRUCTIVE = frozenset({symmetric, first_derivative, *STAND_INS}).union(
    rule.function for rule in REGISTRY.rules()
    if REGISTRY.facts(rule.function).updates is True or draws(rule)
)
