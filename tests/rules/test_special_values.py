"""Infinities and NaNs among the arguments of a rule, where the value of its function is finite.

``np.fmin`` passes over a NaN, ``min`` over one that comes second, ``np.exp`` takes minus infinity
to 0: the cotangents of the other numbers are what differences say, or NaN, and no other number.
"""

from __future__ import annotations

import itertools
import math
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import SpecialFunctionError

from adcompiler.ops.domains import Call
from adcompiler.ops.rules import Rule
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.application import rule_function
from adcompiler.rulekit.comparison import inner, is_inexact, map_leaves, numbers
from adcompiler.rulekit.samples import rule_name, sample_calls
from adcompiler.rulekit.testing import _Case, _move, _random_cotangent, _random_direction
from tests.lanes import one_in
from tests.rules.shares import OURS
from tests.rules.updates import DESTRUCTIVE
from tests.together import each

SPECIAL = (math.nan, math.inf, -math.inf)
STEPS = (1e-4, 1e-5, 1e-6)
TOLERANCE = 1e-4


def with_one(x: Any, special: float) -> Iterator[Any]:
    """Yield copies of ``x``: the first, or the last, number of one leaf is a special one."""
    leaves = list(numbers(x))
    for k in range(len(leaves)):
        for place in {0, np.size(leaves[k]) - 1}:
            met = iter(range(len(leaves)))

            def put(leaf: Any, k: int = k, place: int = place, met: Any = met) -> Any:
                if not is_inexact(leaf) or next(met) != k or not np.size(leaf):
                    return leaf
                if not isinstance(leaf, np.ndarray):
                    return type(leaf)(special)
                changed = leaf.copy()
                changed.flat[place] = special
                return changed

            yield map_leaves(put, x)


def finite(x: Any) -> bool:
    """Tell whether all numbers of ``x`` are finite."""
    return all(bool(np.all(np.isfinite(leaf))) for leaf in numbers(x))


def still(leaf: Any, direction: Any) -> Any:
    """Return a direction that leaves numbers which are not finite where they are."""
    if direction is None:
        return None
    kept = np.where(np.isfinite(leaf), direction, 0.0)
    return kept.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(kept)


def only_finite(leaf: Any, cotangent: Any) -> Any:
    """Return a cotangent without those of numbers that are not finite."""
    if cotangent is None or not is_inexact(leaf) or np.shape(cotangent) != np.shape(leaf):
        return cotangent
    return np.where(np.isfinite(leaf), cotangent, 0.0)


def found_and_wanted(rule: Rule, call: Call, rng: Any) -> Iterator[tuple[float, float]]:
    """Yield derivatives along a direction in each argument, and what differences give."""
    case = _Case(rule, call)
    y = case.evaluate(case.arguments[0], case.arguments[0].value)
    if not finite(y) or not any(True for _ in numbers(y)):
        return
    primal, pullback = rule_function(rule)(*call.args, **call.kwargs)
    y_bar = _random_cotangent(primal, rng)
    bars = case.cotangents(pullback(y_bar))
    for argument, bar, partial in zip(
        case.arguments, bars, rule.partials or [()] * len(bars), strict=True
    ):
        if bar is None or partial is None:
            continue
        x = argument.value
        v = map_leaves(still, x, _random_direction(x, rng))

        def slope(h: float, argument: Any = argument, x: Any = x, v: Any = v) -> float:
            plus, minus = (case.evaluate(argument, _move(x, v, s)) for s in (h, -h))
            return inner(y_bar, plus, minus=minus) / (2.0 * h)

        slopes = [slope(h) for h in STEPS]
        if not np.all(np.isfinite(slopes)) or max(slopes) - min(slopes) > 1e-5 * (
            1.0 + abs(slopes[0])
        ):
            continue
        yield inner(v, map_leaves(only_finite, x, bar)), slopes[1]


HANG = ("linalg", "ndimage", "signal", "mathieu")
"""Parts of names of functions that run on, or end the process, when they are given such numbers;
some of scipy.special do with infinities."""

OF_ONE_SIZE = "scipy.stats._distn_infrastructure.nbinom.logcdf"
"""In SciPy 1.11 it raises where some values are NaN and others are broadcast: its ``_logcdf`` takes
items of ``k`` by a mask of the shape of all that are given."""

RULES = [
    rule for rule in REGISTRY.rules()
    if rule.function not in DESTRUCTIVE and not rule_name(rule).startswith(OURS)
    and not any(part in rule_name(rule) for part in HANG)
]


@each("rule", one_in(4, RULES), ids=rule_name, parts=2)
def test_what_passes_over_special_values_has_the_derivative_of_the_others(rule: Rule) -> None:
    rng = np.random.default_rng(zlib.crc32(rule_name(rule).encode()))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call in special_calls(rule, rng):
            try:
                pairs = list(found_and_wanted(rule, call, rng))
            except (ArithmeticError, ValueError, TypeError, AttributeError, SpecialFunctionError):
                continue  # as Python's, NumPy's and SciPy's functions do
            except IndexError:
                if rule_name(rule) != OF_ONE_SIZE:
                    raise
                continue
            for found, wanted in pairs:
                assert math.isnan(found) or abs(found - wanted) <= TOLERANCE * (
                    1.0 + abs(wanted)), f"{call}: {found}, differences {wanted}"


def special_calls(rule: Rule, rng: Any) -> Iterator[Call]:
    """Yield sample calls of a rule with one number that is not finite."""
    for sample in itertools.islice(sample_calls(rule, rng), 6):
        for special in SPECIAL:
            for args in with_one(sample.args, special):
                if math.isnan(special) or not (
                    rule_name(rule).startswith("scipy") or rule.function is np.interp  # in order
                ):
                    yield Call(args, sample.kwargs)
