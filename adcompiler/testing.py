"""Checks of derivatives for those who write rules: directional derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adcompiler.api.grad import vjp
from adcompiler.rulekit.comparison import inner, map_leaves, short
from adcompiler.rulekit.containers import one_like, randn_like, zero_like
from adcompiler.rulekit.probing import domain1, domain2, in_domain
from adcompiler.rulekit.sensitivities import Sensitivities, rule_of
from adcompiler.rulekit.testing import check_rule, ridders, sample_calls

__all__ = [
    "Directional", "check_errs", "check_rule", "directional_derivatives", "domain1", "domain2",
    "in_domain", "one_like", "randn_like", "sample_calls", "zero_like",
]


@dataclass(frozen=True)
class Directional:
    """The derivative of ``<y_bar, f(x)>`` in one direction, computed in three ways.

    ``allocating`` is by the compiled pullback, ``in_place`` by adding to cotangents that are there
    already, ``differences`` by central differences extrapolated to step zero.
    """

    allocating: float
    in_place: float
    differences: float


def directional_derivatives(
    f: Callable[..., Any], y_bar: Any, x: Any, v: Any
) -> Directional:
    """Return the derivative of ``<y_bar, f(x)>`` at ``x`` in direction ``v``, in three ways.

    ``x`` is the argument of ``f``, a tuple of its arguments where there are several, and ``v`` is
    like ``x``. The inner product is ``sum(real(conj(a) * b))``.
    """
    args, directions = (x, v) if isinstance(x, tuple) else ((x,), (v,))
    value, pullback = vjp(f, *args)
    x_bars = pullback(y_bar)

    def slope(step: float) -> float:
        plus, minus = (
            f(*map_leaves(lambda a, d, s=sign: a + s * step * d, args, directions))
            for sign in (1.0, -1.0)
        )
        return inner(y_bar, plus, minus=minus) / (2.0 * step)

    return Directional(
        along(x_bars, directions), along(added(f, value, y_bar, args, x_bars), directions),
        ridders(slope),
    )


def check_errs(
    f: Callable[..., Any], y_bar: Any, x: Any, v: Any, eps_abs: float = 1e-10,
    eps_rel: float = 1e-7,
) -> bool:
    """Check the derivative of ``f`` at ``x`` in direction ``v`` against central differences.

    Checked are the compiled pullback and the accumulation into cotangents that are there already,
    for which in-place sensitivities are called, scaled by the cotangent ``y_bar``. ``x`` is the
    argument, a tuple of them where there are several. Returns True; raises AssertionError, with
    the numbers, where the difference exceeds ``eps_abs + eps_rel * abs(derivative)``.
    """
    found = directional_derivatives(f, y_bar, x, v)
    allowed = eps_abs + eps_rel * abs(found.differences)
    for name, number in (("allocating", found.allocating), ("in-place", found.in_place)):
        if not abs(number - found.differences) <= allowed:
            raise AssertionError(
                f"wrong derivative of {getattr(f, '__name__', f)} ({name}): {number!r}, "
                f"differences give {found.differences!r} (allowed difference {allowed:.1e})\n"
                f"  x = {short(x)}\n  v = {short(v)}\n  y_bar = {short(y_bar)}"
            )
    return True


def along(x_bars: tuple[Any, ...], directions: tuple[Any, ...]) -> float:
    """Return the inner product of the cotangents of all arguments with a direction."""
    return sum((inner(g, d) for g, d in zip(x_bars, directions, strict=True)), 0.0)


def added(
    f: Callable[..., Any], value: Any, y_bar: Any, args: tuple[Any, ...], x_bars: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the cotangents as they are added to others, less these.

    An argument with an in-place sensitivity is given to that. For the others, the arguments are
    results of the function too, so that their cotangents are there before those of ``f``.
    """
    before = randn_like(np.random.default_rng(0), args)

    def used_again(*xs: Any) -> Any:
        return f(*xs), xs

    after = list(vjp(used_again, *args)[1]((y_bar, before)))
    rule = rule_of(f)
    if rule is not None:
        parts: Sensitivities = rule.parts
        for i, definition in parts.in_place.items():
            p = None if parts.preprocess is None else parts.preprocess(value, y_bar, *args)
            own = map_leaves(np.copy, before[i])
            returned = definition(own, p, value, y_bar, *args)
            after[i] = own if returned is None else returned
    return tuple(map_leaves(np.subtract, tuple(after), before))
