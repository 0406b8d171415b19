"""What stages ask about right-hand sides: what does the function that is called there mean?"""

from __future__ import annotations

from adcompiler.ir.nodes import Call, Const, Rhs
from adcompiler.ops.registry import REGISTRY


def meaning(rhs: Rhs | None) -> str | None:
    """Return the word for what a right-hand side calls, None if nothing is known of that."""
    match rhs:
        case Call(Const(function)):
            return REGISTRY.facts(function).means
    return None
