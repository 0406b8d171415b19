"""The pattern of every rule has every entry where differences are not zero.

Each sample call is a function of all its real numbers; patterns are found in every way there is.
In the default run that is done for one in thirty of the rules, chosen by name;
``ADCOMPILER_ALL_RULES=1`` checks all.
"""

import os
import warnings

import numpy as np
import pytest
from adcompiler import ADError, Global, Local, hessian_sparsity, jacobian_sparsity
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.samples import rule_name, sample_calls

from tests.rules.shares import OURS
from tests.rules.test_second_order import DESTRUCTIVE, NOT_CALLED, seed
from tests.sparsity.sweep import first_derivatives, samples, second_derivatives

EVERY = 1 if os.environ.get("ADCOMPILER_ALL_RULES") else 30
WAYS = (
    {"mode": "global"}, {"mode": "local"}, {"detector": Global(tracers=True)},
    {"detector": Local(tracers=True)},
)
ALWAYS = ("numpy.sinc", "numpy.geomspace", "numpy.absolute", "jv", "gammainc", "betainc")
RULES = [
    rule for rule in REGISTRY.rules()
    if rule.function not in DESTRUCTIVE | NOT_CALLED and callable(rule.function)
    and not rule_name(rule).startswith(OURS)  # emitted code calls those, not the user's
    and (seed(rule) % EVERY == 0 or rule_name(rule).endswith(ALWAYS))
]


def missing(find, function, sample, wanted, way):
    """Return where a pattern misses what is not zero; nothing where it is refused."""
    try:
        found = find(function, *sample.moved(), argnums=sample.all, **way).toarray()
    except ADError:
        return []
    assert found.shape == wanted.shape
    return np.argwhere(wanted & ~found).tolist()


@pytest.mark.parametrize("rule", RULES, ids=rule_name)
def test_patterns_have_what_differences_find(rule):
    calls = sample_calls(rule, np.random.default_rng(seed(rule)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for sample in samples(rule, calls, 2):
            first, second = first_derivatives(sample), second_derivatives(sample)
            for way in WAYS:
                assert missing(jacobian_sparsity, sample.called, sample, first, way) == [], way
                assert missing(hessian_sparsity, sample.total, sample, second, way) == [], way
