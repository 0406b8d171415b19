"""Every rule below a cotangent that is known when compiling: ``grad`` of its value, or of the sum.

The compiler folds what it can compute of constants, so that rules see a plain 1.0 there.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.comparison import kind_difference, numbers, short
from adcompiler.rulekit.testing import rule_function, rule_name, sample_calls
from tests.rules.kinds import draws
from tests.lanes import one_in
from tests.rules.shares import share
from tests.rules.test_compiled_rules import (
    LOST, NOT_COMPILED, Written, cotangent_difference, cotangents_by_parameter, real_call,
)

NO_SAMPLES = ("adcompiler.runtime.containers.append", "adcompiler.runtime.functionals.symmetric")


def total_of(y: Any) -> str | None:
    """Return what makes a real number of a value, as a format; None for what is not differentiated.
    """
    if isinstance(y, np.floating) or type(y) is float:
        return "{}"
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "fc":
        return None
    if y.dtype.kind == "c":
        return "np.sum(np.real({}))"
    return "{}" if y.size == 1 else "np.sum({})"


def problems_of(rule: Any, call: Any) -> list[str]:
    """Return how the gradient of a sample call differs from the rule's pullback of ones."""
    written = Written(rule.function, call)
    y = written.compiled()(*written.values)
    form = total_of(y)
    if form is None:
        return []
    head, body = written.text.split("return ", 1)
    written.text = f"{head}return {form.format(body.strip())}\n"
    expected, pullback = rule_function(rule)(*call.args, **call.kwargs)
    ones = np.ones_like(expected) if isinstance(expected, np.ndarray) else type(expected)(1.0)
    bars = cotangents_by_parameter(rule, call, written, pullback(ones))
    wrt = tuple(i for i, x in enumerate(written.values)
                if bars[i] is not LOST and any(True for _ in numbers(x)))
    if not wrt:
        return []
    found = grad(written.compiled(), argnums=wrt)(*written.values)
    differences = [
        kind_difference(bar, written.values[i], written.names[i])
        or cotangent_difference(bar, bars[i], written.values[i])
        for i, bar in zip(wrt, found, strict=True)
    ]
    return [f"{written.text} for {[short(x) for x in written.values]}: {difference}"
            for difference in differences if difference]


RULES = [
    rule for rule in REGISTRY.rules() if rule_name(rule) not in NO_SAMPLES
    and not rule_name(rule).startswith("adcompiler.runtime.adjoints.kinks.") and not draws(rule)
]


@pytest.mark.parametrize("rule", one_in(4, share(RULES, 24)), ids=rule_name)
def test_gradient_below_a_constant(rule: Any) -> None:
    rng = np.random.default_rng(0)
    problems: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in map(real_call, sample_calls(rule, rng)):
            if NOT_COMPILED.get((rule_name(rule), False), lambda *_: False)(*call.args):
                continue
            try:
                problems += problems_of(rule, call)
            except (TypeError, ValueError, AttributeError, AssertionError) as error:
                problems.append(f"{short(call.args)}: {type(error).__name__}: {error}")
    assert not problems, "\n".join(problems)
