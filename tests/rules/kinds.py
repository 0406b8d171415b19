"""Of which kinds the rules are, for samples of them: methods of distributions are alike.

SciPy has a hundred distributions with ten methods each, which have their rules by the same few
formulas. A sample has each method of some distributions, and each distribution with some method.
"""

from __future__ import annotations

from collections.abc import Callable

from adcompiler.rulekit import Rule
from adcompiler.rulekit.testing import rule_name

OF_DISTRIBUTIONS = "scipy.stats._distn_infrastructure."


def kinds(every: int, distributions: int = 10) -> Callable[[Rule], tuple[str, int]]:
    """Return what ``some_of_each`` asks: of how many rules one is taken, and of distributions."""

    def kind(rule: Rule) -> tuple[str, int]:
        name = rule_name(rule)
        if name.startswith(OF_DISTRIBUTIONS):
            return name.rpartition(".")[2], distributions
        return "", every

    return kind


def draws(rule: Rule) -> bool:
    """Say whether a rule is of random draws, of which no two are the same: see test_random_draws.
    """
    name = rule_name(rule)
    return name.startswith("random.") or "numpy.random" in name or "random_draws" in name
