"""Taylor mode on every rule and on the programs of the corpus, against differences of ``jvp``.

By default a part of them is checked, ``ADCOMPILER_ALL_FORWARD=1`` checks all.
"""

import copy
import os
import warnings
import zlib
from itertools import islice

import numpy as np
import pytest

from adcompiler import ADError, MissingRuleError, UnsupportedError, jvp
from tests.rules.shares import OURS
from tests.rules.updates import DESTRUCTIVE
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.comparison import numbers
from adcompiler.rulekit.testing import _random_direction, rule_name, sample_calls
from tests.corpus.test_corpus import PROGRAMS
from tests.forward.paths import compare
from tests.lanes import one_in, some_of_each
from tests.rules import refused
from tests.rules.kinds import kinds
from tests.rules.test_compiled_rules import Written, real_call

ALL = bool(os.environ.get("ADCOMPILER_ALL_FORWARD"))
SAMPLES = 3 if ALL else 1
LEFT_OUT = (
    "scipy.stats._multivariate.",  # of symmetric matrices: no derivative along other directions
    "scipy.special._basic.diric",  # its rule has the slope 0 at a peak, for the first derivative
)
"""Functions that are not compared."""


def chosen(name, share):
    return ALL or zlib.crc32(f"series {name}".encode()) % share == 0


RULES = [
    rule for rule in REGISTRY.rules()
    if rule.function not in DESTRUCTIVE and not rule_name(rule).startswith(
        (*OURS, *LEFT_OUT))
    and chosen(rule_name(rule), 8)
]
CHOSEN = [program for program in PROGRAMS if chosen(program, 12)]


@pytest.mark.parametrize("rule", some_of_each(kinds(2, 8), RULES), ids=rule_name)
def test_rules(rule):
    rng = np.random.default_rng(zlib.crc32(rule_name(rule).encode()))
    refusals = []
    for sample in islice(sample_calls(rule, rng), SAMPLES):
        call = real_call(sample)
        written = Written(rule.function, call)
        wrt = tuple(i for i, x in enumerate(written.values) if any(True for _ in numbers(x)))
        for positions in dict.fromkeys([wrt, *((i,) for i in wrt if ALL)]):
            if positions:
                refusals.append(check_call(written, positions, rng))
    if refusals and refusals[0] is not None:
        assert refusals[0] == (rule_name(rule) in refused.SERIES)


def check_call(written, wrt, rng):
    """Compare one call; return whether it is refused, None where forward mode refuses it."""
    f = written.compiled()
    directions = [[_random_direction(written.values[i], rng) for i in wrt] for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            jvp(f, copy.deepcopy(written.values), directions[0], argnums=wrt)
        except (ADError, TypeError, ValueError):
            return None
        try:
            compare(f, written.values, wrt, *directions)
        except (UnsupportedError, MissingRuleError):
            return True
        return False


@pytest.mark.parametrize("program", one_in(4, CHOSEN), ids=str)
def test_corpus(program):
    case = next(program.cases())
    positions = program.positions
    rng = np.random.default_rng(5)
    directions = [case.direction(positions, rng) for _ in range(2)]
    try:
        compared = compare(program.function, case.args, positions, *directions)
    except (UnsupportedError, MissingRuleError):
        return
    assert compared
