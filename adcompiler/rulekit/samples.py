"""Sample calls of a rule's function, drawn from the rule's domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.ops.domains import Call, Domain, Interval
from adcompiler.ops.qualified_names import qualified_name, ufunc_module
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.probing import domain1, domain2

SCALAR_MODULES = ("math", "cmath")
ARRAYS_REFUSED = (TypeError, ValueError, AttributeError)
SHAPES_1: tuple[tuple[Any, ...], ...] = ((3,), (2, 3), (1, 2), (0,))
SHAPES_2: tuple[tuple[Any, ...], ...] = (
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((1,), (3,)), ((3,), (1,)),
    ((2, 3), ()), ((), (2, 3)), ((0,), (0,)), ((0,), (1,)),
)


def rule_name(rule: Rule) -> str:
    """Return ``module.name`` of the covered function, with the classes a rule is limited to."""
    function = rule.function
    module = getattr(function, "__module__", None) or ""
    name = qualified_name(function)
    ufunc = getattr(function, "__self__", function)
    if isinstance(ufunc, np.ufunc) and not module:
        module = ufunc_module(ufunc)
    text = f"{module}.{name or repr(function)}".removeprefix("_").removeprefix(".")
    if rule.types is None:
        return text
    return f"{text}[{','.join('any' if t is None else t.__name__ for t in rule.types)}]"


def sample_calls(rule: Rule, rng: np.random.Generator) -> list[Call]:
    """Draw the calls that test ``rule``, from its domain.

    Elementwise rules of one or two arguments that have no domain are tested where the function is
    found to be defined. Intervals give Python scalars, NumPy scalars, 0-d, 1-d, 2-d, empty and
    non-contiguous arrays, axes of size one broadcast against others, and the same in complex
    numbers; those that the function refuses are left out (``math`` takes Python scalars only).
    Sample calls are used as they are.
    """
    domain = rule.domain or found_domain(rule)
    if domain is None:
        raise AssertionError(
            f"the rule of {rule_name(rule)} has no domain: give an open interval per argument, "
            "domain=(-2.0, 2.0) or domain=((0.1, 3.0), (-2.0, 2.0)), or sample calls, "
            "domain=lambda rng: [call(rng.normal(size=(2, 3)), axis=0)]"
        )
    calls = list(domain.calls(rng)) if domain.calls is not None else []
    if domain.intervals:
        drawn = _interval_calls(domain.intervals, rng)
        if getattr(rule.function, "__module__", None) in SCALAR_MODULES:
            drawn = [c for c in drawn if all(type(x) is float for x in c.args)]
        accepted = [c for c in drawn if _accepts(rule, c)]
        if not accepted:
            raise AssertionError(f"{rule_name(rule)} refuses every sample of its intervals")
        calls += accepted
    if not calls:
        raise AssertionError(f"the domain of the rule of {rule_name(rule)} gives no sample calls")
    return calls


def found_domain(rule: Rule) -> Domain | None:
    """Return where an elementwise function of one or two numbers is found to be defined."""
    if not rule.elementwise or len(rule.partials) > 2:
        return None
    if len(rule.partials) == 1:
        interval = domain1(rule.function)
        return None if interval is None else Domain((interval,))
    rectangle = domain2(rule.function)
    return None if rectangle is None else Domain(rectangle)


def _accepts(rule: Rule, call: Call) -> bool:
    if not rule.accepts(tuple(type(x) for x in call.args)):
        return False
    try:
        with np.errstate(all="ignore"):
            rule.function(*call.args, **call.kwargs)
    except ARRAYS_REFUSED:
        return False
    return True


def _interval_calls(intervals: Sequence[Interval], rng: np.random.Generator) -> list[Call]:
    def real(shape: tuple[int, ...]) -> list[Any]:
        return [_inside(interval, rng, shape) for interval in intervals]

    def complex_(shape: tuple[int, ...]) -> list[Any]:
        return [x + 1j * rng.uniform(0.1, 0.6, shape) for x in real(shape)]

    count = len(intervals)
    calls: list[list[Any]] = [
        [float(x) for x in real(())],
        [float(x) for x in real(())],
        [np.float64(x) for x in real(())],
        [np.asarray(x) for x in real(())],
        [x[::2].T for x in real((4, 3))],
        [complex(x) for x in complex_(())],
        complex_((2, 3)),
    ]
    if count == 1:
        calls += [[_inside(intervals[0], rng, shape)] for shape in SHAPES_1]
    else:
        for shapes in SHAPES_2:
            calls.append([_inside(interval, rng, shapes[i % 2])
                          for i, interval in enumerate(intervals)])
        calls += [
            [float(real(())[0]), *real((3,))[1:]],
            [*real((3,))[:-1], float(real(())[-1])],
            [complex_((3,))[0], *real((2, 3))[1:]],
            [*real((2, 3))[:-1], complex_((3,))[-1]],
        ]
    return [Call(tuple(arguments)) for arguments in calls]


def _inside(interval: Interval, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw from the interval, away from its ends, so that differences stay within it."""
    low, high = interval
    return rng.uniform(low + 0.06 * (high - low), high - 0.06 * (high - low), shape)
