"""Which slopes may be infinite: those of functions of which nothing says that they are not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adcompiler.ir.nodes import Atom, Call, Const
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.ops.rules import Rule
from adcompiler.support.signatures import signature as signature_of


def is_steep(rule: Rule, args: list[Atom]) -> bool:
    """Say whether a derivative by a rule may be infinite where the arguments are finite."""
    function = REGISTRY.resolve(rule.function)
    known = of_number(function, args)
    if known is not None:
        return known
    return not REGISTRY.facts(function).finite and not is_linear(rule)


def is_gentle(call: Call) -> bool:
    """Say whether the value of a call is finite where the arguments are."""
    function = call.func.value if isinstance(call.func, Const) else None
    if function is None or not hashable(function):
        return False
    steep = of_number(function, call.args)
    if steep is not None:
        return not steep
    known, rules = REGISTRY.facts(function), REGISTRY.rules_of(function)
    return bool(
        known.finite or known.bounded or REGISTRY.inactive(function) is not None
        or (rules and all(map(is_linear, rules)))
    )


def of_number(function: Any, args: Sequence[Any]) -> bool | None:
    """Say whether a power or quotient by a known number is steep; None for other calls."""
    second = number_in(args[1]) if len(args) == 2 else None
    if second is None:
        return None
    means = REGISTRY.facts(function).means
    if means in ("power", "float_power"):
        return not 1 <= second < math.inf
    if means == "divide":
        return bool(second == 0) or not math.isfinite(second)
    return None


def number_in(atom: Any) -> Any:
    """Return the real number that an argument is known to be, None for others."""
    known = isinstance(atom, Const) and type(atom.value) in (int, float)
    return atom.value if known else None


def is_linear(rule: Rule) -> bool:
    """Say whether a rule is of a function linear in each argument that has a derivative."""
    if rule.definition is None:
        return bool(rule.partials) and not any(map(callable, rule.partials))
    places = {*rule.linear, *rule.bilinear}
    if not places:
        return False
    names = list(signature_of(rule.definition).parameters)
    return {names.index(name.lstrip("*")) for name in rule.wrt} <= places
