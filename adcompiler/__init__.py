"""Source-to-source automatic differentiation for plain Python and NumPy."""

from adcompiler.api import Derivative, grad, source, value_and_grad, vjp
from adcompiler.directions import jvp, linearize
from adcompiler.errors import (
    ADError, InternalError, MissingRuleError, SourceNotFoundError, UnsupportedError,
)
from adcompiler.rulekit import alias, non_differentiable, rrule, scalar_rule
from adcompiler.runtime.checkpoints import checkpoint, checkpoint_loop
from adcompiler.runtime.external import ExternalFunction, bump, external

__version__ = "0.1.0"

__all__ = [
    "ADError", "Derivative", "ExternalFunction", "InternalError", "MissingRuleError",
    "SourceNotFoundError", "UnsupportedError", "alias", "bump", "checkpoint", "checkpoint_loop",
    "external", "grad", "jvp", "linearize", "non_differentiable", "rrule", "scalar_rule", "source",
    "value_and_grad", "vjp",
]
