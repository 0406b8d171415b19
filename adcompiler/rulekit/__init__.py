"""What a rule author imports."""

from adcompiler.ops.domains import Call, Domain, call, complexes
from adcompiler.ops.facts import (
    CONTENTS, HOLDS, LAYOUT, MAY, SAME, UNTYPED, VIEW, Option, Recurrence, Shares, Undecided,
)
from adcompiler.ops.qualified_names import found_in
from adcompiler.ops.meanings import MEANINGS
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.application import apply_frule, apply_rrule
from adcompiler.rulekit.define import (
    alias, bilinear, facts, frule, linear, non_differentiable, opt_out, replacement, rrule,
    twins, unionise,
)
from adcompiler.rulekit.functionals import (
    copied, count_of_parameters, function_of, gradient_of, implied, jacobian_of, passive, pulled,
    pushed, steady, typed,
)
from adcompiler.rulekit.hooks import (
    Signature, clear_new_rule_hooks, on_new_rule, refresh_rules,
)
from adcompiler.rulekit.memory import augmented_primal, pullback_at
from adcompiler.rulekit.scalar import scalar_rule
from adcompiler.rulekit.sensitivities import intercept, preprocess, sensitivity
from adcompiler.rulekit.tangents import NoTangent, PullbackMemory, ZeroTangent, project_to

__all__ = [
    "CONTENTS",
    "HOLDS",
    "LAYOUT",
    "MAY",
    "MEANINGS",
    "REGISTRY",
    "SAME",
    "UNTYPED",
    "VIEW",
    "Call",
    "Domain",
    "NoTangent",
    "Option",
    "PullbackMemory",
    "Recurrence",
    "Rule",
    "Shares",
    "Signature",
    "Undecided",
    "ZeroTangent",
    "alias",
    "apply_frule",
    "apply_rrule",
    "augmented_primal",
    "bilinear",
    "call",
    "clear_new_rule_hooks",
    "complexes",
    "copied",
    "count_of_parameters",
    "facts",
    "found_in",
    "frule",
    "function_of",
    "gradient_of",
    "implied",
    "intercept",
    "jacobian_of",
    "linear",
    "non_differentiable",
    "on_new_rule",
    "opt_out",
    "passive",
    "preprocess",
    "project_to",
    "pullback_at",
    "pulled",
    "pushed",
    "refresh_rules",
    "replacement",
    "rrule",
    "scalar_rule",
    "sensitivity",
    "steady",
    "twins",
    "typed",
    "unionise",
]
