"""Source-to-source automatic differentiation for plain Python and NumPy."""

from adcompiler.api import Derivative, grad, source, value_and_grad, vjp
from adcompiler.directions import jvp, linearize
from adcompiler.errors import (
    ADError, InternalError, MissingRuleError, SourceNotFoundError, UnsupportedError,
)
from adcompiler.rulekit import alias, non_differentiable, rrule, scalar_rule

__version__ = "0.1.0"

__all__ = [
    "ADError", "Derivative", "InternalError", "MissingRuleError", "SourceNotFoundError",
    "UnsupportedError", "alias", "grad", "jvp", "linearize", "non_differentiable", "rrule",
    "scalar_rule", "source", "value_and_grad", "vjp",
]
