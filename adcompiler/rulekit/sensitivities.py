"""Rules argument by argument: ``intercept``, ``preprocess``, ``sensitivity``.

The notation of Nabla (https://github.com/invenia/Nabla.jl). The parts given for one function are
assembled into one ordinary rule, whose pullback returns a function per argument: only those of
arguments that carry a derivative are called, after what they share was computed once.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.assemble import Parameters, function_from, lines, parameters_of, unused
from adcompiler.rulekit.define import AnyFunction
from adcompiler.rulekit.problems import name_of, rule_error
from adcompiler.runtime import zeros_like
from adcompiler.support.signatures import signature as signature_of
from adcompiler.support.structs import dataclass

LOCALS = ("y", "y_bar", "p", "x_bar")


@dataclass(frozen=True)
class Sensitivities:
    """The parts of a rule in this notation: what was declared for one function so far.

    ``is_node`` says for each positional argument whether it may carry a derivative, ``keywords``
    holds the default values of keyword arguments; None is what is not known. ``by_argument`` and
    ``in_place`` map positions to the sensitivities of the two forms.
    """

    function: Any
    types: tuple[Any, ...] | None = None
    is_node: tuple[bool, ...] | None = None
    keywords: Mapping[str, Any] | None = None
    preprocess: Any = None
    by_argument: Mapping[int, Any] = field(default_factory=dict)
    in_place: Mapping[int, Any] = field(default_factory=dict)

    @property
    def positions(self) -> list[int]:
        """The positions of arguments that a sensitivity is known for."""
        return sorted({*self.by_argument, *self.in_place})


@dataclass(frozen=True)
class Intercepted:
    """What ``intercept`` has declared: the signatures intercepted, and the source of the rule.

    A signature says for each positional argument whether it carries a derivative.
    """

    function: Any
    signatures: tuple[tuple[bool, ...], ...]
    source: str


def intercept(
    function: Callable[..., Any], types: Sequence[object] | None = None,
    is_node: Sequence[bool] | None = None, kwargs: Mapping[str, object] | None = None
) -> Intercepted:
    """Make ``function`` a unit whose derivatives are its sensitivities; its source is not read.

    Parameters:
        function (callable): The function.
        types (sequence): A class for each positional argument (``None``: any), to which the rule is
            limited.
        is_node (sequence of bool): Which of the arguments are differentiated (all, if it is not
            given): a derivative that reaches another one is an error.
        kwargs (mapping): The keyword arguments of the function with their default values, which are
            handed to the sensitivities too.

    Returns:
        Intercepted: The unit, for ``check_errs``.

    Raises:
        RuleError: Where sensitivities are missing or do not fit.

    Example:
        >>> from adcompiler import grad, intercept, sensitivity
        >>> def half(x):
        ...     return x / 2.0
        >>> @sensitivity(half, arg=0)
        ... def half_in_x(p, y, y_bar, x):
        ...     return 0.5 * y_bar
        >>> unit = intercept(half)
        >>> grad(lambda x: half(x))(3.0)
        0.5
    """
    parts = replace(
        parts_of(function),
        types=None if types is None else tuple(types),
        is_node=None if is_node is None else tuple(map(bool, is_node)),
        keywords=None if kwargs is None else dict(kwargs),
    )
    counts = {len(given) for given in (parts.types, parts.is_node) if given is not None}
    if len(counts) > 1:
        raise rule_error(
            function, f"intercept({name_of(function)}, ...): types and is_node differ in length",
            "one class and one bool for each positional argument",
        )
    rule = register(parts)
    nodes = parts.is_node or (True,) * len(positional(parts))
    signatures = tuple(
        signature for signature in itertools.product((True, False), repeat=len(nodes))
        if any(signature) and all(n or not s for n, s in zip(nodes, signature, strict=True))
    )
    return Intercepted(function, signatures, rule.definition.__doc__ or "")


def sensitivity(
    function: Callable[..., Any], arg: int, *, inplace: bool = False
) -> Callable[[AnyFunction], AnyFunction]:
    """Register the decorated function as the cotangent of argument ``arg`` of ``function``.

    The decorated function takes ``(p, y, y_bar, *xs, **kwargs)``: what ``preprocess`` returned
    (None without one), the result, its cotangent, and the arguments; and returns the cotangent of
    argument ``arg``.

    Parameters:
        function (callable): The function.
        arg (int): The argument, by position.
        inplace (bool): The decorated function takes what has been accumulated before these, and
            returns it with the cotangent added: ``(x_bar, p, y, y_bar, *xs)``. If both forms are
            there, the first is used in emitted code, which accumulates by itself, and
            ``check_errs`` compares them.

    Returns:
        callable: A decorator, which returns what it is given.

    Example:
        >>> from adcompiler import grad, intercept, sensitivity
        >>> def square(x):
        ...     return x * x
        >>> @sensitivity(square, arg=0)
        ... def square_in_x(p, y, y_bar, x):
        ...     return 2.0 * x * y_bar
        >>> unit = intercept(square)
        >>> grad(lambda x: square(x))(3.0)
        6.0
    """

    def register_part(definition: AnyFunction) -> AnyFunction:
        parts = parts_of(function)
        if parts.is_node is not None and not (
            0 <= arg < len(parts.is_node) and parts.is_node[arg]
        ):
            raise rule_error(
                definition,
                f"argument {arg} of {name_of(function)} is not differentiated: intercept() said "
                f"is_node={list(parts.is_node)}",
                f"a sensitivity of another argument, or is_node[{arg}] = True",
            )
        if inplace:
            parts = replace(parts, in_place={**parts.in_place, arg: definition})
        else:
            parts = replace(parts, by_argument={**parts.by_argument, arg: definition})
        register(check_arity(parts, definition, arg, 4 if inplace else 3))
        return definition

    return register_part


def preprocess(function: Callable[..., Any]) -> Callable[[AnyFunction], AnyFunction]:
    """Register the decorated function as the work that sensitivities of ``function`` share.

    Parameters:
        function (callable): The function. The decorated one takes ``(y, y_bar, *xs, **kwargs)``;
            what it returns is ``p``, the first argument of each sensitivity. It runs once in a
            reverse sweep, however many arguments are differentiated.

    Returns:
        callable: A decorator, which returns what it is given.

    Example:
        >>> from adcompiler import grad, intercept, preprocess, sensitivity
        >>> def product(x, y):
        ...     return x * y
        >>> @preprocess(product)
        ... def product_shared(z, z_bar, x, y):
        ...     return 1.0 * z_bar
        >>> @sensitivity(product, arg=0)
        ... def product_in_x(p, z, z_bar, x, y):
        ...     return p * y
        >>> unit = intercept(product, is_node=(True, False))
        >>> grad(lambda x: product(x, 5.0))(2.0)
        5.0
    """

    def register_part(definition: AnyFunction) -> AnyFunction:
        register(replace(parts_of(function), preprocess=definition))
        return definition

    return register_part


# --- putting the rule together --------------------------------------------------------------------


def rule_of(function: Callable[..., Any]) -> Rule | None:
    """Return the rule that was assembled for ``function``, if there is one."""
    for rule in REGISTRY.rules_of(function):
        if isinstance(rule.parts, Sensitivities):
            return rule
    return None


def parts_of(function: Callable[..., Any]) -> Sensitivities:
    """Return the parts declared for ``function`` so far."""
    rule = rule_of(function)
    return Sensitivities(function) if rule is None else rule.parts


def register(parts: Sensitivities) -> Rule:
    """Assemble the rule of the parts, in the place of the one before."""
    definition, parameters = assembled(parts)
    rule = Rule(
        function=parts.function, definition=definition, types=parts.types, parts=parts,
        wrt=tuple(parameters.names[i] for i in parts.positions),
    )
    REGISTRY.replace(rule_of(parts.function), rule)
    return rule


def check_arity(
    parts: Sensitivities, definition: Callable[..., Any], arg: int, before: int
) -> Sensitivities:
    """Return the parts; RuleError if a sensitivity takes too few arguments for the function."""
    given = signature_of(definition).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in given):
        return parts
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in given)
    names = positional(parts)
    if count != before + len(names) or not 0 <= arg < len(names):
        first = "x_bar, p, y, y_bar" if before == 4 else "p, y, y_bar"
        raise rule_error(
            definition,
            f"the sensitivity of argument {arg} of {name_of(parts.function)} takes {count} "
            f"arguments, for the {len(names)} of the function",
            f"def sensitivity({', '.join((first, *names))}):, for an argument from 0 to "
            f"{len(names) - 1}",
        )
    return parts


def positional(parts: Sensitivities) -> list[str]:
    """Return names for the positional arguments of the function."""
    return [p.name for p in own_parameters(parts) if p.kind is not p.KEYWORD_ONLY]


def own_parameters(parts: Sensitivities) -> list[inspect.Parameter]:
    """Return the parameters of the function: as declared, as its own, as a sensitivity's."""
    declared = parts.types or parts.is_node
    try:
        given = list(signature_of(parts.function).parameters.values())
    except (TypeError, ValueError):
        given = from_sensitivity(parts)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in given if p.kind in kinds]
    if declared is not None:
        names = names[: len(declared)] if len(names) >= len(declared) else [
            f"x{i}" for i in range(len(declared))
        ]
        given = [p for p in given if p.name in names or p.kind is p.KEYWORD_ONLY]
        if not any(p.name in names for p in given):
            given = [inspect.Parameter(n, kinds[1]) for n in names] + [
                p for p in given if p.kind is p.KEYWORD_ONLY]
    if parts.keywords is not None:
        given = [p for p in given if p.kind in kinds and p.name not in parts.keywords] + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
            for name, value in parts.keywords.items()
        ]
    return given


def from_sensitivity(parts: Sensitivities) -> list[inspect.Parameter]:
    """Return the parameters of a function without a signature as its sensitivities name them."""
    for table, before in ((parts.by_argument, 3), (parts.in_place, 4)):
        for definition in table.values():
            return list(signature_of(definition).parameters.values())[before:]
    return []


def assembled(parts: Sensitivities) -> tuple[Any, Parameters]:
    """Return the definition of the rule, and the parameters of the function.

    Its docstring is its source.
    """
    found = parameters_of(own_parameters(parts))
    name = name_of(parts.function)
    y, y_bar, p, x_bar = (unused(local, found.names) for local in LOCALS)
    primal = unused(name, (*found.names, y, y_bar, p, x_bar))
    closure: dict[str, Any] = {primal: parts.function, **found.defaults}
    rows = []
    if parts.preprocess is not None:
        closure["preprocess"] = parts.preprocess
        rows.append(f"        {p} = preprocess({y}, {y_bar}, {found.passed})")
    shared = p if parts.preprocess is not None else "None"
    thunks = []
    for i in parts.positions:
        given = f"{shared}, {y}, {y_bar}, {found.passed}"
        x = found.names[i]
        thunk = f"{x}_sensitivity"
        rows += ["", f"        def {thunk}():"]
        if i in parts.by_argument:
            closure[f"sensitivity_{i}"] = parts.by_argument[i]
            rows.append(f"            return sensitivity_{i}({given})")
        else:
            closure[f"add_sensitivity_{i}"] = parts.in_place[i]
            closure["zeros_like"] = zeros_like
            closure["accumulated"] = accumulated
            rows += [
                f"            {x_bar} = zeros_like({x})",
                f"            return accumulated({x_bar}, add_sensitivity_{i}({x_bar}, {given}))",
            ]
        thunks.append(thunk)
    returned = thunks[0] if len(thunks) == 1 else f"({', '.join(thunks)})"
    text = lines(
        f"def {name}_rule({found.declared}):",
        f"    {y} = {primal}({found.passed})",
        "",
        f"    def {name}_pullback({y_bar}):",
        *rows[rows[:1] == [""] :],
        *([""] if rows else []),
        f"        return {returned}",
        "",
        f"    return {y}, {name}_pullback",
        "",
    )
    definition = function_from(text, f"{name}_rule", closure)
    definition.__doc__ = text
    return definition, found


def accumulated(x_bar: Any, returned: Any) -> Any:
    """Return what an in-place sensitivity has accumulated: what it returns, or what it got."""
    return x_bar if returned is None else returned
