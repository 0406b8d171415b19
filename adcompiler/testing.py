"""Checks of derivatives: of a function in all modes and orders, and of those who write rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adcompiler.api.derivative import Derivative
from adcompiler.api.emitted import kept_derivative
from adcompiler.api.fallback import because
from adcompiler.api.grad import vjp
from adcompiler.dispatch import differentiated_by_default
from adcompiler.errors import ADError, RecordedWarning, not_one_of
from adcompiler.interop.calls import Call, call_of
from adcompiler.rulekit.comparison import inner, is_inexact, map_leaves, short
from adcompiler.rulekit.containers import one_like, randn_like, zero_like
from adcompiler.rulekit.probing import domain1, domain2, in_domain
from adcompiler.rulekit.sensitivities import Sensitivities, rule_of
from adcompiler.rulekit.testing import check_rule, ridders, sample_calls
from adcompiler.support.budget import quiet
from adcompiler.support.structs import dataclass

__all__ = [
    "Directional", "GradCheck", "GradChecks", "assert_compiled", "check_errs", "check_grads",
    "check_rule", "directional_derivatives", "domain1", "domain2", "in_domain", "one_like",
    "randn_like", "sample_calls", "zero_like",
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


def assert_compiled(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Assert that the derivative for these arguments runs compiled code.

    ``f`` is a derivative, as ``grad`` and the like return it, or a function: then it is about what
    ``vjp(f, *args, **kwargs)`` runs. Raises AssertionError, with the line and the reason, where the
    derivative is recorded or refused.
    """
    derivative: Derivative[..., Any] = f if isinstance(f, Derivative) else kept_derivative(
        f, "vjp", differentiated_by_default(f, args))
    name = getattr(f, "__name__", repr(f))
    try:
        with quiet(RecordedWarning):
            why = derivative.why_recorded(*args, **kwargs)
    except ADError as error:
        raise AssertionError(
            f"the derivative of {name} is refused: {because(error)}") from error
    if why is not None:
        raise AssertionError(f"the derivative of {name} is recorded: {why}")


LEAST_SLOPE = 1e-5
"""Derivatives are compared to so many digits of the values that they are derivatives of."""


@dataclass(frozen=True)
class GradCheck:
    """One derivative beside differences: ``<w, J v>`` for random directions ``v`` and ``w``.

    ``mode`` says how it was computed, the outermost first: ``"forward of reverse"`` is forward mode
    through the pullback. ``size`` is the sum of the absolute values of what ``<w, f(x)>`` adds up.
    """

    mode: str
    derivative: float
    differences: float
    size: float

    @property
    def error(self) -> float:
        """The difference of the two, relative to the larger one.

        A derivative below 1e-5 of ``size`` counts as one of that size: differences of a function
        have no more digits than its values leave them.
        """
        if self.derivative == self.differences:
            return 0.0
        size = max(LEAST_SLOPE * self.size, abs(self.derivative), abs(self.differences))
        error = abs(self.derivative - self.differences) / size
        return error if error == error else float("inf")


class GradChecks(list[GradCheck]):
    """The rows of ``check_grads``, which print as a table."""

    def __repr__(self) -> str:
        rows = [f"{'mode':32}{'derivative':>24}{'differences':>24}{'error':>10}"]
        rows += [f"{row.mode:32}{row.derivative:24.16g}{row.differences:24.16g}{row.error:10.1e}"
                 for row in self]
        return "\n".join(rows)


MODES = ("forward", "reverse")


def check_grads(
    function: Callable[..., Any], args: Sequence[Any], *, order: int = 1,
    modes: Sequence[str] = MODES, rtol: float = 1e-6, seed: int = 0,
) -> GradChecks:
    """Check the derivatives of ``function(*args)`` up to an order against differences.

    All floats in numbers, arrays, tuples and dicts among the arguments are moved together in a
    random direction; integers, texts and instances stay. ``modes`` are ``"forward"`` and
    ``"reverse"``, in every combination for higher orders. Differences are central ones,
    extrapolated to step zero (Ridders, Advances in Engineering Software 4, 1982).

    Returns a row for each combination; they print as a table. Raises AssertionError with that table
    where an error is above ``rtol``, ADError for what the compiler refuses, ValueError for other
    modes, and where no argument holds a float.
    """
    if unknown := [mode for mode in modes if mode not in MODES]:
        raise ValueError(not_one_of("mode", unknown[0], MODES))
    if order < 1:
        raise ValueError(f"the order of a derivative to check is 1, 2, ...; got {order!r}")
    call, operands = call_of(function, tuple(args), is_inexact, is_inexact)
    if not operands:
        raise ValueError("no argument holds a float: there is no derivative to check")
    rng = np.random.default_rng(seed)
    found = GradChecks(checked(call, operands, order, tuple(modes), rng, ""))
    if any(row.error > rtol for row in found):
        name = getattr(function, "__name__", repr(function))
        raise AssertionError(f"derivatives of {name} differ from differences\n{found!r}")
    return found


def checked(
    call: Call, operands: list[Any], order: int, modes: tuple[str, ...], rng: np.random.Generator,
    inner_modes: str,
) -> Iterator[GradCheck]:
    """Yield the checks of a call, and of those that are its derivatives."""
    values, result, pull = call.value_and_pullback(operands)
    floats = [value for value, on in zip(values, result.floats, strict=True) if on]
    v, w = (list(randn_like(rng, tuple(like))) for like in (operands, floats))

    def slope(step: float) -> float:
        plus, minus = (
            call.value([x + s * step * d for x, d in zip(operands, v, strict=True)])[0]
            for s in (1.0, -1.0))
        pairs = zip(plus, minus, result.floats, strict=True)
        difference = [a - b for a, b, on in pairs if on]
        return inner(tuple(w), tuple(difference)) / (2.0 * step)

    differences = ridders(slope)
    size = sum(float(np.sum(np.abs(a * b))) for a, b in zip(w, floats, strict=True))
    for mode in modes:
        if mode == "forward":
            other, seeds = call.push, v
            tangents = other.value([*operands, *v])[0]
            derivative = inner(
                tuple(w), tuple(d for d, on in zip(tangents, result.floats, strict=True) if on))
        else:
            other, seeds = call.pull(result), w
            derivative = inner(tuple(pull(w)), tuple(v))
        name = f"{mode} of {inner_modes}" if inner_modes else mode
        yield GradCheck(name, derivative, differences, size)
        if order > 1:
            yield from checked(other, [*operands, *seeds], order - 1, modes, rng, name)
