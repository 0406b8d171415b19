"""What the rules of a function, its kind and its module imply about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from adcompiler.ops.facts import ELEMENTWISE, Facts
from adcompiler.ops.qualified_names import is_emitted_home, root_module
from adcompiler.ops.rules import Inactive, Rule
from adcompiler.ops.ufunc_methods import facts_of_ufunc, facts_of_ufunc_method
from adcompiler.support.signatures import signature as signature_of

OUTPUTS = frozenset({"out", "output"})


def implied(
    said: Facts, target: Any, inactive: Inactive | None, rules: Sequence[Rule]
) -> Facts:
    """Return what was said of a function, and what follows from what is registered for it.

    What has a rule, or no derivative, is a function of values: one that is pure, and writes
    into no argument, unless it has a parameter for an array to write into.
    """
    module = str(getattr(target, "__module__", ""))
    if is_emitted_home(module):
        return said.over(Facts(pure=True, writes=(), tried=True))
    if isinstance(target, np.ufunc):
        return said.over(facts_of_ufunc(target))
    if issubclass(type(getattr(target, "__self__", None)), np.ufunc):
        said = said.over(facts_of_ufunc_method(target))
    if inactive is None and not rules:
        return said
    if said.output is None and said.writes is None and takes_output(target):
        return said  # nobody said what becomes of it
    if inactive is not None:
        tried = inactive.pure and checks_arguments(target)
        return said.over(Facts(pure=inactive.pure, writes=(), tried=tried))
    if all(rule.elementwise or rule.opted_out for rule in rules):
        said = said.over(Facts(shares=ELEMENTWISE.shares, elementwise=True))
    return said.over(Facts(pure=True, writes=(), tried=checks_arguments(target)))


def takes_output(function: Callable[..., Any]) -> bool:
    """Say whether a function has a parameter that is named as one that is written into."""
    try:
        return not OUTPUTS.isdisjoint(signature_of(function).parameters)
    except (TypeError, ValueError):
        return False


def checks_arguments(function: Callable[..., Any]) -> bool:
    """Say whether a function with a rule may be called on stand-ins unless something else is said.

    Code that is neither Python's nor that of a library of which the rules are known may rely on
    lengths, or addresses, that nobody checks.
    """
    return isinstance(function, (FunctionType, np.ufunc, type)) or (
        root_module(function) in (*sys.stdlib_module_names, "numpy", "scipy", "adcompiler")
    )
