"""What stages ask about right-hand sides: what does the function that is called there mean?"""

from __future__ import annotations

from types import MethodDescriptorType
from typing import Any

import numpy as np

from adcompiler.ir.nodes import Call, Const, Rhs
from adcompiler.ops.facts import UNKNOWN, Facts
from adcompiler.ops.registry import REGISTRY


def meaning(rhs: Rhs | None) -> str | None:
    """Return the word for what a right-hand side calls, None if nothing is known of that."""
    return known(rhs).means


def known(rhs: Rhs | None) -> Facts:
    """Return what is known of the function that a right-hand side calls."""
    match rhs:
        case Call(Const(function)):
            return REGISTRY.facts(function)
    return UNKNOWN


NUMERIC = (np.ndarray, np.generic, int, float, complex)


def numeric_method(function: Any) -> str | None:
    """Return the name of a method of arrays or numbers, None for other functions.

    The call of a method of an array is that of the function that its class has, which is another
    spelling of one of NumPy's, or does what none does: there is one form of calls. Only who writes
    text asks for this.
    """
    known = type(function) is MethodDescriptorType and issubclass(function.__objclass__, NUMERIC)
    return function.__name__ if known else None
