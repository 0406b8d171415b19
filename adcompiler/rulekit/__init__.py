"""What a rule author imports."""

from adcompiler.rulekit.define import alias, non_differentiable, rrule, scalar_rule
from adcompiler.rulekit.domains import Call, Domain, call
from adcompiler.rulekit.registry import REGISTRY, Rule

__all__ = [
    "REGISTRY", "Call", "Domain", "Rule", "alias", "call", "non_differentiable", "rrule",
    "scalar_rule",
]
