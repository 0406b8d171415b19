"""Rules in two functions: ``augmented_primal`` keeps what ``pullback_at`` reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.ops.registry import hashable
from adcompiler.rulekit.assemble import function_from, lines, parameters_of, unused
from adcompiler.rulekit.define import AnyFunction, rrule
from adcompiler.rulekit.problems import name_of, rule_error
from adcompiler.support.signatures import signature as signature_of

_augmented: dict[Any, Callable[..., Any]] = {}


def augmented_primal(function: Callable[..., Any]) -> Callable[[AnyFunction], AnyFunction]:
    """Declare how ``function`` is computed where a pullback will be wanted.

    It takes effect with the ``pullback_at(function)`` that follows.

    Parameters:
        function (callable): The function. The decorated one takes its arguments and returns the
            value and a memory: a ``PullbackMemory``, tuple, dict or object with what the pullback
            reads.

    Returns:
        callable: A decorator, which returns what it is given.

    Example:
        >>> from adcompiler import augmented_primal, grad, pullback_at
        >>> def cube(x):
        ...     return x * x * x
        >>> @augmented_primal(cube)
        ... def cube_augmented(x):
        ...     square = x * x
        ...     return square * x, (square,)
        >>> @pullback_at(cube)
        ... def cube_pullback(memory, dy):
        ...     return 3.0 * memory[0] * dy
        >>> grad(lambda x: cube(x))(2.0)
        12.0
    """

    def register(definition: AnyFunction) -> AnyFunction:
        _augmented[function] = definition
        return definition

    return register


def pullback_at(
    function: Callable[..., Any], **options: Any
) -> Callable[[AnyFunction], AnyFunction]:
    """Register the decorated function as the pullback of ``function``.

    After ``augmented_primal(function)`` it takes ``(memory, y_bar)``, or ``(x, y, y_bar, memory)``:
    the arguments, the result, the cotangent and what was kept. Without one it takes the arguments
    of the function, its result and the cotangent: ``(x, y, y_bar)``. What it reads of them is what
    is kept. It returns one cotangent for each parameter without a default value, a bare one if
    there is one such parameter.

    Parameters:
        function (callable): The function.
        options: Those of ``rrule``.

    Returns:
        callable: A decorator, which returns what it is given.

    Raises:
        RuleError: Where the pullback takes other arguments.

    Example:
        >>> import math
        >>> from adcompiler import grad, pullback_at
        >>> def power(x):
        ...     return math.exp(x)
        >>> @pullback_at(power)
        ... def power_pullback(x, y, dy):
        ...     return y * dy
        >>> grad(lambda x: power(x))(0.0)
        1.0
    """

    def register(definition: AnyFunction) -> AnyFunction:
        augmented = _augmented.get(function) if hashable(function) else None
        rule = inputs_and_outputs(function, definition) if augmented is None else with_memory(
            function, augmented, definition)
        rrule(function, **options)(rule)
        return definition

    return register


def with_memory(
    function: Callable[..., Any], augmented: Callable[..., Any], pullback: Callable[..., Any]
) -> Any:
    """Return the definition of a rule from an augmented primal and a pullback of its memory."""
    count = len(signature_of(pullback).parameters)
    found = parameters_of(signature_of(augmented).parameters.values())
    name = name_of(function)
    y, memory, y_bar = (unused(part, found.names) for part in ("y", "memory", "y_bar"))
    passed = {2: f"{memory}, {y_bar}"}
    if found.names:
        passed[len(found.names) + 3] = f"{', '.join(found.names)}, {y}, {y_bar}, {memory}"
    if count not in passed:
        raise rule_error(
            pullback, f"the pullback of {name_of(function)} takes {count} arguments",
            "def pullback(memory, y_bar): as augmented_primal gives it a memory; or all of the "
            f"arguments, the result, its cotangent and that: ({passed[max(passed)]})",
        )
    text = lines(
        f"def {name}_rule({found.declared}):",
        f"    {y}, {memory} = augmented_primal({found.passed})",
        "",
        f"    def {name}_pullback({y_bar}):",
        f"        return pullback_at({passed[count]})",
        "",
        f"    return {y}, {name}_pullback",
        "",
    )
    parts = {"augmented_primal": augmented, "pullback_at": pullback, **found.defaults}
    return function_from(text, f"{name}_rule", parts)


def inputs_and_outputs(function: Callable[..., Any], pullback: Callable[..., Any]) -> Any:
    """Return the definition of a rule whose pullback reads the arguments and the result."""
    given = list(signature_of(pullback).parameters.values())
    if len(given) < 3:
        raise rule_error(
            pullback, f"the pullback of {name_of(function)} takes {len(given)} arguments",
            "def pullback(x, y, y_bar): with the arguments, the result and its cotangent; or "
            "declare what it gets as memory by @augmented_primal(f) first",
        )
    found = parameters_of(given[:-2])
    y, y_bar = given[-2].name, given[-1].name
    name = name_of(function)
    primal = unused(name, (*found.names, y, y_bar))
    text = lines(
        f"def {name}_rule({found.declared}):",
        f"    {y} = {primal}({found.passed})",
        "",
        f"    def {name}_pullback({y_bar}):",
        f"        return pullback_at({', '.join(filter(None, (found.passed, y, y_bar)))})",
        "",
        f"    return {y}, {name}_pullback",
        "",
    )
    parts = {primal: function, "pullback_at": pullback, **found.defaults}
    return function_from(text, f"{name}_rule", parts)
