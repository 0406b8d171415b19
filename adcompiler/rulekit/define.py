"""What a rule author writes: ``rrule``, ``scalar_rule``, ``non_differentiable``, ``alias``.

For functions that take functions: ``replacement``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.rulekit.domains import Domain, as_domain
from adcompiler.rulekit.registry import REGISTRY, Inactive, Rule

Partial = Callable[..., Any] | int | float | complex | None


def rrule(
    *functions: Any,
    wrt: Sequence[str] | None = None,
    templates: Sequence[str] = (),
    types: Sequence[Any] | None = None,
    linear: Sequence[int] = (),
    bilinear: Sequence[int] = (),
    domain: Domain | Any = None,
    kink: str = "",
    primal_note: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the reverse rule of each of ``functions``.

    The rule takes the arguments of the function it covers and returns ``(y, pullback)``. The
    compiler inlines it: statements of the body go to the augmented primal, the body of the nested
    ``pullback`` to the pullback, and the names it captures become residuals.

    ``wrt`` names the parameters that the pullback returns cotangents for, in order; by default
    every parameter without a default value. With one such parameter the pullback returns the bare
    cotangent, otherwise a tuple. A variadic ``*parameter`` receives one tuple. ``templates`` names
    parameters of which small changes do not change the result, as they only give a shape, a type
    or a choice; a value that carries a derivative is refused in any other parameter.

    ``types`` restricts the rule to arguments of these Python classes (``None``: any), position by
    position, so that one function may have several rules; later registrations win.
    ``linear`` lists positions in which the function is jointly linear, ``bilinear`` the two
    positions in each of which it is linear. ``domain`` says how the rule is tested, ``kink`` what
    it returns where the derivative does not exist, ``primal_note`` that (and how) the augmented
    primal differs from the function's own algorithm.
    """

    def register(definition: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(definition).parameters.values()
        names = tuple(wrt) if wrt is not None else tuple(
            p.name for p in parameters
            if p.default is p.empty and p.kind is not p.VAR_KEYWORD
        )
        for function in functions:
            REGISTRY.add(Rule(
                function=function, definition=definition, wrt=names,
                templates=tuple(templates), types=tuple(types) if types is not None else None,
                linear=tuple(linear), bilinear=tuple(bilinear), domain=as_domain(domain),
                kink=kink, primal_note=primal_note,
            ))
        return definition

    return register


def scalar_rule(
    functions: Any,
    *partials: Partial,
    domain: Domain | Any = None,
    kink: str = "",
    types: Sequence[Any] | None = None,
) -> None:
    """Register an elementwise function by its partial derivatives, one per argument.

    A partial is a number (a constant derivative), ``None`` (no derivative in that argument), or a
    function of the arguments, followed by the result when it takes one parameter more:
    ``scalar_rule(np.tanh, lambda x, y: 1.0 - y * y)``. For complex arguments a partial is the
    holomorphic derivative; the pullback multiplies by its conjugate. Broadcasting, real parts and
    float precision are handled by the compiler. ``functions`` is one function or a tuple of them.
    """
    for function in functions if isinstance(functions, tuple) else (functions,):
        REGISTRY.add(Rule(
            function=function, partials=partials, elementwise=True,
            types=tuple(types) if types is not None else None,
            domain=as_domain(domain), kink=kink,
        ))


def non_differentiable(*functions: Any, pure: bool = True) -> None:
    """Declare that the results of ``functions`` carry no derivative.

    ``pure`` functions may be evaluated once for several equal calls, or not at all when nobody
    reads their result; impure ones (printing, random draws) run exactly where they stand.
    """
    for function in functions:
        REGISTRY.add_inactive(Inactive(function, pure))


def alias(other: Any, function: Any) -> None:
    """Declare that ``other(x, ...)`` means ``function(x, ...)`` and follows its rule.

    Used for methods and attributes of arrays: ``alias(np.ndarray.sum, np.sum)``.
    """
    REGISTRY.add_alias(other, function)


def replacement(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as what is compiled in place of each of ``functions``.

    It takes their arguments and is written in the language that the compiler accepts. This is how
    functions that take functions are differentiated: ``function_of(f, variables, args)`` gives the
    compiled ``f`` to a library, ``passive`` calls the library, and ``implied`` says which pullback
    belongs to the value found.
    """

    def register(definition: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            REGISTRY.add_replacement(Rule(function=function, definition=definition))
        return definition

    return register
