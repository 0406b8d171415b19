"""Every rule in forward mode: ``<y_bar, J v> == <J^T y_bar, v>``, with ``J^T`` by the rule itself.

Each sample call is written as a small function, as ``tests/rules/test_compiled_rules.py`` does, and
``jvp`` of it is compared with the rule's pullback run as plain Python. By default the first samples
of a part of the rules are checked, ``ADCOMPILER_ALL_FORWARD=1`` checks all, in all precisions.
"""

import os
import warnings
import zlib
from itertools import islice

import numpy as np
import pytest

from adcompiler import MissingRuleError, jvp
from tests.lanes import some_of_each
from tests.rules.shares import OURS
from tests.rules.updates import DESTRUCTIVE
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.comparison import inner, kind_difference, numbers
from adcompiler.rulekit.testing import (
    _random_cotangent, _random_direction, _single_precision_variants, rule_function, rule_name,
    sample_calls,
)
from tests.rules import refused
from tests.rules.kinds import kinds
from tests.rules.test_compiled_rules import LOST, Written, cotangents_by_parameter, real_call

ALL = bool(os.environ.get("ADCOMPILER_ALL_FORWARD"))
SAMPLES = None if ALL else 2

MAY_BE_REFUSED = (*OURS, "scipy.", "numpy.gradient")
"""Where pullbacks call what has no rule: such a rule has no pushforward, which is told by name."""

PARTLY_REFUSED = {
    "adcompiler_rules.kernels.products.einsum_lists_adjoints",
    "adcompiler_rules.kernels.shaping.meshgrid_adjoint",
    "adcompiler.runtime.adjoints.shaping.viewed",
}
"""Adjoints of which some samples are refused, by the compiler or when running."""

LEFT_OUT = {
    "numpy.linalg.pinv": lambda a, *rest: isinstance(a, list),
    "adcompiler_rules.kernels.scipy_quadrature.settled": lambda *_: True,  # raises unless equal
}
"""Samples left out, by rule."""

RULES = [
    rule for rule in REGISTRY.rules()
    if rule.function not in DESTRUCTIVE and rule.reverses
    and rule_name(rule) not in PARTLY_REFUSED
    and (ALL or zlib.crc32(rule_name(rule).encode()) % 4 == 0)
]


@pytest.mark.parametrize("rule", some_of_each(kinds(3, 20), RULES), ids=rule_name)
def test_pushforward_agrees_with_pullback(rule):
    rng = np.random.default_rng(zlib.crc32(rule_name(rule).encode()))
    name, refusals = rule_name(rule), []
    left_out = LEFT_OUT.get(name, lambda *args: False)
    for call in islice(sample_calls(rule, rng), SAMPLES):
        for variant in (call, *(_single_precision_variants(call) if ALL else ())):
            if left_out(*variant.args):
                continue
            try:
                compare(rule, variant, rng)
                refusals.append(False)
            except MissingRuleError as error:
                underivable = "cannot be derived from its rule" in str(error)
                if not (underivable and name.startswith(MAY_BE_REFUSED)):
                    raise
                refusals.append(True)
    if refusals and not name.startswith(OURS):
        assert refusals[0] == (name in refused.FORWARD)



def compare(rule, call, rng):
    """Compare one compiled pushforward with the pullback of the rule."""
    call = real_call(call)
    written = Written(rule.function, call)
    f = written.compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y, pullback = rule_function(rule)(*call.args, **call.kwargs)
        y_bar = _random_cotangent(y, rng)
        bars = cotangents_by_parameter(rule, call, written, pullback(y_bar))
        wrt = [i for i, x in enumerate(written.values)
               if bars[i] is not LOST and any(True for _ in numbers(x))]
        if not wrt:
            return
        directions = [_random_direction(written.values[i], rng) for i in wrt]
        value, along = jvp(f, written.values, directions, argnums=tuple(wrt))
    if any(True for _ in numbers(value)) and not isinstance(value, (list, tuple, dict)):
        assert not kind_difference(along, value, "y_dot")
    pairs = [(bars[i], d) for i, d in zip(wrt, directions, strict=True) if bars[i] is not None]
    expected = sum(inner(bar, d) for bar, d in pairs)
    size = sum(inner(bar, d, np.abs) for bar, d in pairs)
    found = inner(y_bar, along)
    if np.isnan(expected) and np.isnan(found):
        return
    tolerance = 1e-3 if any(
        np.asarray(x).dtype in (np.float32, np.complex64) for x in numbers((written.values, value))
    ) else 1e-10
    assert abs(found - expected) <= tolerance * size + 1e-12, written.text
