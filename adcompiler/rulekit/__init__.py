"""What a rule author imports."""

from adcompiler.rulekit.application import apply_frule, apply_rrule
from adcompiler.rulekit.define import (
    alias, bilinear, linear, non_differentiable, opt_out, rrule, unionise,
)
from adcompiler.rulekit.domains import Call, Domain, call
from adcompiler.rulekit.hooks import (
    Signature, clear_new_rule_hooks, on_new_rule, refresh_rules,
)
from adcompiler.rulekit.memory import augmented_primal, pullback_at
from adcompiler.rulekit.registry import REGISTRY, Rule
from adcompiler.rulekit.scalar import scalar_rule
from adcompiler.rulekit.sensitivities import intercept, preprocess, sensitivity
from adcompiler.rulekit.tangents import NoTangent, PullbackMemory, ZeroTangent, project_to

__all__ = [
    "REGISTRY", "Call", "Domain", "NoTangent", "PullbackMemory", "Rule", "Signature",
    "ZeroTangent", "alias", "apply_frule", "apply_rrule", "augmented_primal", "bilinear", "call",
    "clear_new_rule_hooks", "intercept", "linear", "non_differentiable", "on_new_rule", "opt_out",
    "preprocess", "project_to", "pullback_at", "refresh_rules", "rrule", "scalar_rule",
    "sensitivity", "unionise",
]
