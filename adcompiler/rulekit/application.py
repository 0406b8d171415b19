"""Rules as plain functions: the value and a pullback, without the compiler."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.problems import name_of, rule_error
from adcompiler.runtime import project, zeros_like
from adcompiler.support.signatures import signature as signature_of

Pulled = tuple[Any, ...]


def apply_rrule(
    function: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Any, Callable[[Any], Pulled]] | None:
    """Return ``function(*args, **kwargs)`` and its pullback, by the rule registered for it.

    For those who build on the rules: a derivative of a program comes from ``grad`` and ``vjp``.

    Parameters:
        function (callable): A function with a rule.
        args, kwargs: Its arguments.

    Returns:
        tuple or None: The value, and the pullback: it takes a cotangent of the value and returns a
        tuple: one cotangent for each of ``args``, None where there is no derivative. None instead
        if no rule covers the function with arguments of these classes; for a function whose results
        carry no derivative, the pullback gives None for all.

    Example:
        >>> import math
        >>> from adcompiler import apply_rrule
        >>> y, pullback = apply_rrule(math.hypot, 3.0, 4.0)
        >>> y, pullback(1.0)
        (5.0, (0.6, 0.8))
    """
    rule = REGISTRY.find(function, tuple(map(type, args)))
    if rule is not None and rule.reverses:
        y, pullback = rule_function(rule)(*args, **kwargs)
        return y, _by_argument(rule, pullback, args, kwargs)
    if rule is None and REGISTRY.inactive(function) is not None:
        return function(*args, **kwargs), lambda y_bar: (None,) * len(args)
    return None


def apply_frule(
    function: Callable[..., Any], primals: Sequence[object], tangents: Sequence[object],
    **kwargs: Any,
) -> tuple[Any, Any] | None:
    """Return ``function(*primals, **kwargs)`` and its tangent, by the rule registered for it.

    Parameters:
        function (callable): A function with a rule.
        primals (sequence): The positional arguments.
        tangents (sequence): One for each of ``primals``, None for zero.
        kwargs: Keyword arguments.

    Returns:
        tuple or None: The value, and its tangent, None where that is zero. None instead of the pair
        where no rule gives pushforwards as it stands: by a forward rule, by partial derivatives, as
        the function is linear in what has a tangent, or by the pullback of a function that works
        element by element, of real arguments of one shape.

    Example:
        >>> import math
        >>> from adcompiler import apply_frule
        >>> apply_frule(math.sin, (0.0,), (2.0,))
        (0.0, 2.0)
    """
    rule = REGISTRY.find(function, tuple(map(type, primals)))
    if rule is None:
        inactive = REGISTRY.inactive(function)
        return None if inactive is None else (function(*primals, **kwargs), None)
    if rule.forward is not None:
        pair: tuple[Any, Any] = rule.forward(tuple(primals), tuple(tangents), **kwargs)
        return pair
    if rule.elementwise:
        y = rule.function(*primals)
        return y, _total([
            _partial(partial, tuple(primals), y) * tangent
            for partial, tangent in zip(rule.partials, tangents, strict=True)
            if partial is not None and tangent is not None
        ])
    moved = {i for i, tangent in enumerate(tangents) if tangent is not None}
    groups = [rule.linear] if rule.linear else [(i,) for i in rule.bilinear]
    if not groups or not moved <= {i for group in groups for i in group}:
        return _by_pullback(rule, tuple(primals), tangents, kwargs)
    return function(*primals, **kwargs), _total([
        function(*(_along(i, x, tangents, group) for i, x in enumerate(primals)), **kwargs)
        for group in groups if moved & set(group)
    ])


def has_forward(rule: Rule) -> bool:
    """Say whether ``apply_frule`` may follow a rule."""
    return bool(
        rule.forward is not None or rule.elementwise or rule.linear or rule.bilinear
        or (rule.reverses and REGISTRY.facts(rule.function).elementwise)
    )


def _by_pullback(
    rule: Rule, primals: tuple[object, ...], tangents: Sequence[object],
    kwargs: Mapping[str, object],
) -> tuple[Any, Any] | None:
    """Return value and tangent of an elementwise function: cotangents of ones are the partials.

    None for other functions, for complex numbers, and where arguments are broadcast.
    """
    if kwargs or not rule.reverses or not REGISTRY.facts(rule.function).elementwise:
        return None
    y, pullback = rule_function(rule)(*primals)
    if any(np.shape(x) != np.shape(y) or np.iscomplexobj(x) for x in (*primals, y)):
        return None
    one = np.ones_like(y) if isinstance(y, np.ndarray) else 1.0
    partials = _by_argument(rule, pullback, primals, {})(one)
    return y, _total([
        partial * tangent for partial, tangent in zip(partials, tangents, strict=True)
        if partial is not None and tangent is not None
    ])


def _along(i: int, x: Any, tangents: Sequence[object], group: tuple[int, ...]) -> Any:
    """Return what stands in place of an argument where a function is applied to tangents."""
    if i not in group:
        return x
    return zeros_like(x) if tangents[i] is None else tangents[i]


def _total(terms: list[Any]) -> Any:
    """Return the sum of tangents, None of none."""
    return functools.reduce(operator.add, terms) if terms else None


def rule_function(rule: Rule) -> Callable[..., Any]:
    """Return ``rule`` as a function of the arguments that returns ``(y, pullback)``."""
    if rule.definition is not None:
        return rule.definition

    def from_partials(*args: Any) -> Any:
        y = rule.function(*args)

        def pullback(dy: Any) -> Any:
            if len(args) > len(rule.partials):
                raise AssertionError(f"{name_of(rule.function)} has {len(rule.partials)} partials, "
                                     f"but the call has {len(args)} arguments")
            cotangents = tuple(
                None if partial is None else project(_conj(_partial(partial, args, y)) * dy, x)
                for partial, x in zip(rule.partials, args, strict=False)
            )
            return cotangents if len(cotangents) != 1 else cotangents[0]

        return y, pullback

    return from_partials


def cotangents(rule: Rule, returned: Any, names: Sequence[str]) -> Pulled:
    """Return what a pullback returned as a tuple with one cotangent for each of ``names``.

    Those given as functions are computed. Raises RuleError where their number is wrong.
    """
    if len(names) == 1:
        returned = (returned,)
    elif not isinstance(returned, tuple) or len(returned) != len(names):
        raise rule_error(
            rule.definition or rule.function,
            f"the pullback of {name_of(rule.function)} must return a tuple of {len(names)} "
            f"cotangents ({', '.join(names)}), not {returned!r}",
            f"return {', '.join(f'd{name}' for name in names)}",
        )
    return tuple(part() if inspect.isroutine(part) else part for part in returned)


def _by_argument(
    rule: Rule, pullback: Callable[..., Any], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Callable[[Any], Pulled]:
    """Return a pullback that gives one cotangent for each positional argument."""
    if rule.definition is None:
        names = [f"x{i}" for i in range(len(rule.partials))]
        places: list[int | slice | None] = list(range(len(names)))
    else:
        names = [name.lstrip("*") for name in rule.wrt]
        parameters = list(signature_of(rule.definition).parameters.values())
        places = [_place(parameters, name, len(args)) for name in names]

    def pulled(y_bar: Any) -> Pulled:
        found: list[Any] = [None] * len(args)
        for place, part in zip(places, cotangents(rule, pullback(y_bar), names), strict=True):
            if isinstance(place, slice):
                found[place] = [None] * (len(args) - place.start) if part is None else part
            elif place is not None:
                found[place] = part
        return tuple(found)

    return pulled


def _place(
    parameters: list[inspect.Parameter], name: str, count: int
) -> int | slice | None:
    """Return where the argument for a parameter stands among ``count``; None if it is not there."""
    position = [p.name for p in parameters].index(name)
    kind = parameters[position].kind
    if kind is inspect.Parameter.VAR_POSITIONAL:
        return slice(position, None)
    return position if kind is not inspect.Parameter.KEYWORD_ONLY and position < count else None


def _partial(partial: Any, args: tuple[object, ...], y: Any) -> Any:
    if not callable(partial):
        return partial
    wanted = len(signature_of(partial).parameters)
    return partial(*args, y) if wanted == len(args) + 1 else partial(*args)


def _conj(value: Any) -> Any:
    return np.conj(value) if np.iscomplexobj(value) else value
