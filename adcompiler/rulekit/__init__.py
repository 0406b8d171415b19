"""What a rule author imports."""

from adcompiler.rulekit.define import alias, non_differentiable, replacement, rrule, scalar_rule
from adcompiler.rulekit.domains import Call, Domain, call
from adcompiler.rulekit.functionals import function_of, gradient_of, implied, passive, steady, typed
from adcompiler.rulekit.registry import REGISTRY, Rule

__all__ = [
    "REGISTRY", "Call", "Domain", "Rule", "alias", "call", "function_of", "gradient_of", "implied",
    "non_differentiable", "passive", "replacement", "rrule", "scalar_rule",
    "steady", "typed",
]
