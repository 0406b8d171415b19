"""Check a rule against its function, without the compiler: values, derivatives, shapes, dtypes.

``check_rule`` tests one rule on one of the calls that ``sample_calls`` draws from its domain. The
derivative is compared with central differences, extrapolated to step zero (C. Ridders, *Accurate
computation of F'(x) and F'(x) F''(x)*, Adv. Eng. Software 4, 1982), in random directions:
``<y_bar, J v> == <x_bar, v>`` with ``<a, b> = sum(real(conj(a) * b))``.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from adcompiler.errors import RuleError
from adcompiler.ops.domains import Call
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.application import cotangents, rule_function
from adcompiler.rulekit.comparison import (
    inner,
    is_inexact,
    kind_difference,
    map_leaves,
    numbers,
    short,
    value_difference,
)
from adcompiler.rulekit.samples import rule_name, sample_calls
from adcompiler.support.signatures import signature as signature_of
from adcompiler.support.structs import dataclass

__all__ = ["check_rule", "rule_function", "rule_name", "sample_calls"]

TOLERANCE = 1e-7
PRIMAL_TOLERANCE = 1e-12
COMPLEX64_TOLERANCE = 5e-7  # np.square(complex64) does not repeat its last bit from call to call
FLOAT32_TOLERANCE = 1e-3
FIRST_STEP = 2e-3
STEPS = 6
ROUNDING = 1e-13


# --- checking one rule on one call ----------------------------------------------------------------


def check_rule(
    rule: Rule,
    call: Call,
    rng: np.random.Generator,
    *,
    tolerance: float = TOLERANCE,
    directions: int = 2,
    precision: bool = True,
) -> None:
    """Raise AssertionError where ``rule`` is wrong for the sample ``call``.

    Checked are: (a) the rule's primal equals the function's value, type and dtype (exactly, or to
    1e-12 relative where the rule has a ``primal_note``); (b) the cotangents agree with central
    differences along ``directions`` random directions per argument, to ``tolerance`` relative to
    ``sum(abs(x_bar * v))``; (c) they have the structure, shape and dtype of the arguments, also
    (with ``precision``) when all, or the first, of the arrays are cast to float32, where they
    agree to 1e-3; (d) the pullback gives the same when called again, and neither it nor the rule
    changes the arguments or ``y_bar``. A rule may not warn where its function does not.

    A cotangent ``None`` means no derivative: zero; arguments whose partial derivative is ``None``
    are not perturbed, as derivatives in them are refused. Integers, booleans and objects are not
    perturbed, and their cotangents need the right shape only. Two-way ties and ``abs`` at 0
    may be sampled: sharing evenly is what a central difference gives. Points where the derivative
    is one-sided belong in a test of their own. For a function that returns an iterator, the rule
    returns the list of the items.
    """
    double = Call(*_cast(call, {"f": np.float64, "c": np.complex128}))
    y, y_bar, x_bars = _check_once(rule, double, rng)
    case = _Case(rule, double)
    undefined = [i for i, partial in enumerate(rule.partials) if partial is None]
    for argument, x_bar in zip(case.arguments, x_bars, strict=True):
        if argument.place in undefined:
            continue
        for _ in range(directions):
            _check_derivative(case, argument, y, y_bar, x_bar, rng, tolerance)
    for template in case.templates:
        _check_template(case, template, y, rng)
    if precision:
        for single in _single_precision_variants(double):
            _check_precision(rule, single, rng, y_bar, x_bars)


def _check_once(
    rule: Rule, call: Call, rng: np.random.Generator, y_bar: Any = None
) -> tuple[Any, Any, tuple[Any, ...]]:
    """Check all but the derivative; return ``y``, the cotangent used and those of the arguments."""
    case = _Case(rule, call)
    before = copy.deepcopy((call.args, call.kwargs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        expected = _items(_value(rule.function, call.args, call.kwargs))
    with warnings.catch_warnings():
        if caught:
            warnings.simplefilter("ignore")
        y, pullback = rule_function(rule)(*call.args, **call.kwargs)
        difference = value_difference(y, expected, _primal_tolerance(rule, expected))
        if difference:
            case.fail(f"the rule's primal differs from the function: {difference}")
        y_before = copy.deepcopy(y)
        y_bar = _random_cotangent(y, rng) if y_bar is None else _like(y_bar, y)
        x_bars = case.cotangents(pullback(y_bar))
        again = case.cotangents(pullback(y_bar))
    for argument, x_bar, other in zip(case.arguments, x_bars, again, strict=True):
        difference = kind_difference(x_bar, argument.value, argument.name)
        if difference:
            case.fail(difference)
        difference = value_difference(other, x_bar, 0.0)
        if difference:
            case.fail(f"the pullback called twice gives different {argument.name}_bar: "
                      f"{difference}")
    if value_difference((call.args, call.kwargs), before, 0.0):
        case.fail("the rule or its pullback changed the arguments")
    if value_difference(y, y_before, 0.0):
        case.fail("the pullback changed the primal value y")
    return y, y_bar, x_bars


def _check_derivative(
    case: _Case, argument: _Argument, y: Any, y_bar: Any, x_bar: Any,
    rng: np.random.Generator, tolerance: float,
) -> None:
    direction = _random_direction(argument.value, rng)
    if not _has_direction(direction):
        return
    expected, problem = _directional_derivative(case, argument, direction, y, y_bar)
    actual = inner(x_bar, direction)
    if not problem and np.isnan(expected) and np.isnan(actual):
        return
    scale = max(inner(x_bar, direction, np.abs), abs(expected))
    limit = tolerance * scale + 1e-11 * inner(y_bar, y, np.abs) + ROUNDING
    if problem or not abs(actual - expected) <= limit:
        case.fail(
            f"wrong derivative in {argument.name}: pullback gives {actual!r}, "
            f"differences give {expected!r} ({problem or f'allowed difference {limit:.1e}'})\n"
            f"  {argument.name} = {short(argument.value)}\n"
            f"  y_bar = {short(y_bar)}\n  {argument.name}_bar = {short(x_bar)}\n"
            f"  direction = {short(direction)}"
        )


def _check_template(
    case: _Case, template: _Argument, y: Any, rng: np.random.Generator
) -> None:
    direction = _random_direction(template.value, rng)
    if not _has_direction(direction):
        return
    moved = case.evaluate(template, _move(template.value, direction, FIRST_STEP))
    difference = value_difference(moved, y, PRIMAL_TOLERANCE)
    if difference:
        case.fail(f"the template {template.name} changes the value: {difference}")


def _check_precision(
    rule: Rule, call: Call, rng: np.random.Generator, y_bar: Any, x_bars: tuple[object, ...]
) -> None:
    _, _, singles = _check_once(rule, call, rng, y_bar)
    case = _Case(rule, call)
    for argument, single, double in zip(case.arguments, singles, x_bars, strict=True):
        size = max((float(np.max(np.abs(leaf), initial=0.0, where=np.isfinite(leaf)))
                    for leaf in numbers(double)), default=0.0)
        for a, b in zip(numbers(single), numbers(double), strict=True):
            if not np.allclose(a, b, rtol=FLOAT32_TOLERANCE, atol=FLOAT32_TOLERANCE * size,
                               equal_nan=True):
                case.fail(f"{argument.name}_bar in float32 is {short(single)}, "
                          f"in float64 {short(double)}")


# --- the rule as a function -----------------------------------------------------------------------


def _primal_tolerance(rule: Rule, expected: Any) -> float:
    """Return how far a rule's value may be from the function's: as a rule, not at all."""
    if any(np.asarray(x).dtype == np.complex64 for x in numbers(expected)):
        return COMPLEX64_TOLERANCE
    return PRIMAL_TOLERANCE if rule.primal_note else 0.0


def _value(
    function: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object]
) -> Any:
    """Call a function, or read the attribute that a descriptor such as ``ndarray.T`` stands for."""
    return function(*args, **kwargs) if callable(function) else function.__get__(args[0])


def _items(y: Any) -> Any:
    """Return ``y``, an iterator as the list of its items."""
    return list(y) if isinstance(y, Iterator) else y


@dataclass(frozen=True, slots=True)
class _Argument:
    """One differentiable argument of a sample call, and where it stands there."""

    name: str
    value: Any
    place: int | slice | str


class _Case:
    """A rule and a sample call: its differentiable arguments, and how to call it with others."""

    def __init__(self, rule: Rule, call: Call) -> None:
        self.rule = rule
        self.call = call
        self.arguments = tuple(self._find_arguments())
        self.templates = () if rule.definition is None else tuple(self._named(rule.templates))

    def _find_arguments(self) -> Iterator[_Argument]:
        if self.rule.definition is None:
            for i, x in enumerate(self.call.args):
                yield _Argument(f"argument {i}", x, i)
        else:
            yield from self._named(self.rule.wrt)

    def _named(self, names: Sequence[str]) -> Iterator[_Argument]:
        """Yield the arguments that the sample call gives for parameters of the rule."""
        args, kwargs = self.call.args, self.call.kwargs
        assert self.rule.definition is not None
        parameters = signature_of(self.rule.definition).parameters
        positions = {name: i for i, name in enumerate(parameters)}
        for name in names:
            name = name.lstrip("*")
            if name not in parameters:
                self.fail(f"wrt or templates names {name!r}, which is not a parameter of the rule")
            if name in kwargs:
                yield _Argument(name, kwargs[name], name)
            elif parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                place = slice(positions[name], None)
                yield _Argument(name, args[place], place)
            elif positions[name] < len(args):
                yield _Argument(name, args[positions[name]], positions[name])
            else:
                yield _Argument(name, None, name)

    def cotangents(self, returned: Any) -> tuple[Any, ...]:
        """Return what a pullback returned as a tuple, one cotangent per differentiable argument."""
        try:
            return cotangents(self.rule, returned, [a.name for a in self.arguments])
        except RuleError as error:
            self.fail(error.findings[0].problem)

    def evaluate(self, argument: _Argument, value: Any) -> Any:
        """Return the function's value with ``value`` in the place of ``argument``."""
        args, kwargs = list(self.call.args), dict(self.call.kwargs)
        if isinstance(argument.place, str):
            kwargs[argument.place] = value
        else:
            args[argument.place] = value
        with np.errstate(all="ignore"):
            return _items(_value(self.rule.function, args, kwargs))

    def fail(self, message: str) -> NoReturn:
        """Raise AssertionError that names the rule and the sample call."""
        shown = [short(x) for x in self.call.args]
        shown += [f"{key}={short(x)}" for key, x in self.call.kwargs.items()]
        definition = self.rule.definition
        where = ""
        if definition is not None:
            code = inspect.unwrap(definition).__code__
            where = f" ({code.co_filename}:{code.co_firstlineno})"
        raise AssertionError(
            f"rule of {rule_name(self.rule)}{where}: {message}\n"
            f"  sample call: {rule_name(self.rule)}({', '.join(shown)})"
        )


# --- central differences --------------------------------------------------------------------------


def _directional_derivative(
    case: _Case, argument: _Argument, direction: Any, y: Any, y_bar: Any
) -> tuple[float, str]:
    """Return ``d/dt <y_bar, f(x + t * direction)>`` at 0, and what went wrong if anything did."""

    def slope(step: float) -> float:
        plus = case.evaluate(argument, _move(argument.value, direction, step))
        minus = case.evaluate(argument, _move(argument.value, direction, -step))
        for other in (plus, minus):
            difference = kind_difference(other, y, "f(x + t * v)")
            if difference:
                raise ValueError(difference)
        with np.errstate(all="ignore"):
            return (inner(y_bar, plus, minus=minus)) / (2.0 * step)

    try:
        return ridders(slope), ""
    except (ArithmeticError, ValueError, TypeError, np.linalg.LinAlgError) as error:
        return float("nan"), (
            f"the function cannot be evaluated around this point: {error}; sample inside the "
            "domain, and test its edge in a test of its own"
        )


def ridders(slope: Callable[[float], float]) -> float:
    """Return the limit of ``slope(step)`` for step -> 0, whose error is even in the step."""
    best, best_error = float("nan"), float("inf")
    previous: list[float] = []
    for i in range(STEPS):
        row = [slope(FIRST_STEP / 2**i)]
        for j in range(i):
            row.append(row[j] + (row[j] - previous[j]) / (4.0 ** (j + 1) - 1.0))
            error = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - previous[j]))
            if error < best_error:
                best, best_error = row[j + 1], error
        previous = row
    return best


# --- random cotangents and directions, other precisions -------------------------------------------


def _has_direction(direction: Any) -> bool:
    return any(np.size(leaf) > 0 for leaf in numbers(direction))


def _random_cotangent(y: Any, rng: np.random.Generator) -> Any:
    """Return a random cotangent of ``y``, its arrays read-only; zero where ``y`` is not inexact."""

    def draw(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            values = _draw(leaf, rng) if is_inexact(leaf) else np.zeros(leaf.shape)
            values.flags.writeable = False
            return values
        if isinstance(leaf, (bool, int, np.integer, np.bool_)):
            return 0.0
        return _as_type(_draw(leaf, rng), leaf) if is_inexact(leaf) else None

    return map_leaves(draw, y)


def _like(y_bar: Any, y: Any) -> Any:
    """Return the cotangent ``y_bar`` in the precision of ``y``."""

    def cast(leaf: Any, value: Any) -> Any:
        if isinstance(leaf, np.ndarray) and is_inexact(leaf):
            value = value.astype(leaf.dtype)
            value.flags.writeable = False
            return value
        return _as_type(value, leaf) if is_inexact(leaf) else value

    return map_leaves(cast, y, y_bar)


def _as_type(value: Any, leaf: Any) -> Any:
    return leaf.dtype.type(value) if isinstance(leaf, np.inexact) else type(leaf)(value)


def _draw(leaf: Any, rng: np.random.Generator) -> Any:
    """Return random numbers in (-1, 1), away from zero, of the leaf's shape and kind."""
    values = rng.uniform(0.3, 1.0, np.shape(leaf)) * rng.choice([-1.0, 1.0], np.shape(leaf))
    if np.iscomplexobj(leaf):
        values = values + 1j * rng.uniform(-1.0, 1.0, np.shape(leaf))
    return np.asarray(values, leaf.dtype) if isinstance(leaf, np.ndarray) else values


def _random_direction(x: Any, rng: np.random.Generator) -> Any:
    """Return a random tangent of ``x`` in proportion to its size; None where not inexact."""

    def draw(leaf: Any) -> Any:
        if not is_inexact(leaf):
            return None
        size = np.where(np.isfinite(leaf), np.maximum(np.abs(leaf), 1e-2), 1.0)
        return _draw(leaf, rng) * size if isinstance(leaf, np.ndarray) else _as_type(
            _draw(leaf, rng) * float(size), leaf)

    return map_leaves(draw, x)


def _move(x: Any, direction: Any, step: float) -> Any:
    """Return ``x`` moved along ``direction``; arrays keep their memory layout, also 0-d ones."""

    def move(leaf: Any, v: Any) -> Any:
        if v is None:
            return leaf
        if not isinstance(leaf, np.ndarray):
            return leaf + step * v
        moved = np.empty_like(leaf)
        moved[...] = leaf + step * v
        return moved

    return map_leaves(move, x, direction)


def _cast(call: Call, dtypes: dict[str, type]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with arrays and NumPy scalars of the given kinds in other dtypes."""

    def cast(leaf: Any) -> Any:
        if not isinstance(leaf, (np.ndarray, np.generic)) or leaf.dtype.kind not in dtypes:
            return leaf
        dtype = np.dtype(dtypes[leaf.dtype.kind])
        return leaf if leaf.dtype == dtype else leaf.astype(dtype)

    return map_leaves(cast, call.args), map_leaves(cast, call.kwargs)


def _single_precision_variants(call: Call) -> Iterator[Call]:
    """Yield the call with every, then with only the first, array and NumPy scalar in float32."""
    dtypes = {"f": np.float32, "c": np.complex64}
    everything = Call(*_cast(call, dtypes))
    changed = [i for i, (a, b) in enumerate(zip(call.args, everything.args, strict=True))
               if kind_difference(b, a, "")]
    if changed or kind_difference(everything.kwargs, call.kwargs, ""):
        yield everything
    if len(changed) > 1:
        i = changed[0]
        yield Call(call.args[:i] + (everything.args[i],) + call.args[i + 1:], call.kwargs)
