"""Elementwise rules at the ends of domains: nothing moves along a zero; facts on slopes hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import jvp, vjp
from adcompiler.derive.slopes import is_steep
from adcompiler.ir.nodes import Const, Var
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule

pytestmark = pytest.mark.filterwarnings("ignore")

ENDS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5)
INFINITE = (math.inf, -math.inf, math.nan)
"""Further ends, at which some functions of SciPy do not come to an end."""
FINITE = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-9, 700.0, -40.0)
SCALARS = ("math.", "cmath.", "adcompiler")


def arity(rule: Rule) -> int:
    """Return how many numbers a function takes, 0 if it does not work element by element."""
    if rule.partials:
        return len(rule.partials)
    return len(rule.domain.intervals) if rule.domain is not None else 0


def elementwise_rules() -> Iterator[tuple[str, Rule, int]]:
    """Yield rules of functions of one or two arrays, element by element."""
    REGISTRY.load_all()
    seen: set[int] = set()
    for rule in REGISTRY.rules():
        name, count = display_name(rule.function), arity(rule)
        if count in (1, 2) and rule.types is None and id(rule.function) not in seen and (
            not name.startswith(SCALARS) and name != "numpy.ldexp"
        ):
            seen.add(id(rule.function))
            yield name, rule, count


RULES = list(elementwise_rules())
"""Those of the packages: what a test registers later is not among them."""


def grid(points: tuple[float, ...], count: int) -> list[np.ndarray]:
    """Return all combinations of points as arrays."""
    return list(map(np.array, zip(*itertools.product(points, repeat=count), strict=True)))


def test_nothing_moves_along_a_zero() -> None:
    """The derivative along zero is zero at whatever point, for rules with steep slopes."""
    checked = 0
    for name, rule, count in RULES:
        if not is_steep(rule, ()):
            continue
        of_scipy = name.startswith("scipy")
        args = grid(ENDS if of_scipy else ENDS + INFINITE, count)
        active = tuple(i for i in range(count) if not rule.partials or (
            rule.partials[i] is not None))
        try:
            rule.function(*args)
        except TypeError:  # of whole numbers
            continue
        value, pullback = vjp(rule.function, *args, argnums=active)
        for x_bar in pullback(np.zeros_like(value)):
            assert not np.any(x_bar), name
        checked += 1
        if not of_scipy:
            tangents = [np.zeros_like(a) if i in active else None for i, a in enumerate(args)]
            assert not np.any(jvp(rule.function, args, tangents)[1]), name
    assert checked > 100


def test_slopes_that_are_said_to_be_finite_are() -> None:
    """Functions of which ``finite`` is said, or implied, have finite slopes at finite points."""
    checked = 0
    for name, rule, count in RULES:
        if is_steep(rule, ()):
            continue
        args = grid(FINITE, count)
        active = tuple(i for i in range(count) if not rule.partials or (
            rule.partials[i] is not None))
        value, pullback = vjp(rule.function, *args, argnums=active)
        for x_bar in pullback(np.ones_like(value)):
            assert np.all(np.isfinite(x_bar)), name
        checked += 1
    assert checked > 20


@pytest.mark.parametrize(("function", "points"), [
    (math.sqrt, (0.0, 1.0)), (math.cbrt, (0.0, -1.0)), (math.asin, (1.0, -1.0, 0.0)),
    (math.acos, (1.0, -1.0, 0.0)), (math.acosh, (1.0, 2.0)), (math.log1p, (0.0, 1.0)),
    (math.pow, (0.0, 1.0)),
])
def test_numbers_do_not_move_along_a_zero(function: Any, points: tuple[float, ...]) -> None:
    for x in points:
        args = (x, 0.5) if function is math.pow else (x,)
        assert not any(vjp(function, *args)[1](0.0)), x
        assert jvp(function, args, (0.0,) * len(args))[1] == 0.0, x


def test_powers_and_quotients_by_known_numbers() -> None:
    """A number that is known tells whether the slope may be infinite."""
    x = Var("x")
    for function, number, steep in (
        (np.power, 2, False), (np.power, 1, False), (np.power, 0, True), (np.power, -1, True),
        (np.power, 0.5, True), (np.divide, 2.0, False), (np.divide, 0.0, True),
        (np.divide, math.inf, True),
    ):
        rule = REGISTRY.find(function)
        assert rule is not None
        assert is_steep(rule, (x, Const(number))) is steep, (function, number)
