"""Every registered rule, checked against its function on samples of its domain."""

import zlib
from importlib.metadata import entry_points

import numpy as np
import pytest
import scipy.special as sc

from tests.lanes import some_of_each
from tests.rules.kinds import kinds
from tests.rules.updates import DESTRUCTIVE
from adcompiler.ops.qualified_names import ENTRY_POINT_GROUP
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.testing import check_rule, rule_name, sample_calls


# What writes into its argument is tested where it is used: in the loops of compiled code.
RULES = [
    rule for rule in REGISTRY.rules() if rule.function not in DESTRUCTIVE]


def inverts(function: object) -> bool:
    """Say whether an inverse of ``chndtr`` is one to double precision.

    Before SciPy 1.15 it is searched for to nine digits, too few for differences.
    """
    p, df, nc = np.linspace(0.1, 0.9, 9), 2.8, 3.6
    x = sc.chndtrix(p, df, nc)
    found = nc if function is sc.chndtrix else sc.chndtrinc(x, df, p)
    return bool(np.all(abs(sc.chndtr(x, df, found) - p) < 1e-13))


@pytest.mark.parametrize("rule", some_of_each(kinds(3, 10), RULES), ids=rule_name)
def test_rule_agrees_with_differences(rule):
    if rule.function in (sc.chndtrix, sc.chndtrinc) and not inverts(rule.function):
        pytest.skip("SciPy computes this inverse to nine digits here")
    rng = np.random.default_rng(zlib.crc32(rule_name(rule).encode()))
    for call in sample_calls(rule, rng):
        check_rule(rule, call, rng)


@pytest.mark.parametrize("package", sorted(entry_points(group=ENTRY_POINT_GROUP).names))
def test_rule_package_loads(package):
    (point,) = entry_points(group=ENTRY_POINT_GROUP, name=package)
    assert point.load().__doc__
