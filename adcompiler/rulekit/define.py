"""What a rule author writes: ``rrule``, ``frule``, ``linear``, ``replacement``, ..."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from types import FunctionType
from typing import Any, TypeVar

from adcompiler.ops.domains import Domain, as_domain
from adcompiler.ops.facts import stated
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Inactive, Rule
from adcompiler.rulekit.assemble import function_from, lines, parameters_of, unused
from adcompiler.rulekit.problems import name_of, rule_error
from adcompiler.support.signatures import signature as signature_of

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def rrule(
    *functions: Any,
    wrt: Sequence[str] | None = None,
    templates: Sequence[str] = (),
    types: Sequence[object] | None = None,
    linear: Sequence[int] = (),
    bilinear: Sequence[int] = (),
    domain: Domain | Any = None,
    kink: str = "",
    primal_note: str = "",
    **known: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the reverse rule of each of ``functions``.

    The rule takes the arguments of the function it covers and returns ``(y, pullback)``. The
    compiler inlines it: statements of the body go to the augmented primal, the body of the nested
    ``pullback`` to the pullback, and the names it captures become residuals.

    Parameters:
        functions (callable): What the rule covers; later registrations win.
        wrt (sequence of str): The parameters that the pullback returns cotangents for, in order; by
            default every parameter without a default value. With one such parameter the pullback
            returns the bare cotangent, otherwise a tuple. A variadic ``*parameter`` receives one
            tuple. A cotangent may be None (no derivative), or a function without parameters that
            computes it: it is called only if the argument carries a derivative.
        templates (sequence of str): Parameters of which small changes do not change the result, as
            they only give a shape, a type or a choice; a value that carries a derivative is refused
            in any other parameter.
        types (sequence): Python classes of arguments that the rule is restricted to (``None``:
            any), position by position, so that one function may have several rules.
        linear, bilinear (sequence of int): Positions in which the function is jointly linear; the
            two in each of which it is linear.
        domain (Domain): How the rule is tested.
        kink (str): What it returns where the derivative does not exist.
        primal_note (str): That (and how) the augmented primal differs from the function's own
            algorithm.
        known: Facts about the functions, as ``facts`` takes them: ``shares="view"`` says that a
            result is a view.

    Returns:
        callable: A decorator, which returns the rule.

    Raises:
        RuleError: For names in ``wrt`` or ``templates`` that are not parameters, and for rules of
            another form, at the latest when they are first used.

    Example:
        >>> from adcompiler import grad, rrule
        >>> def cube(x):
        ...     return x * x * x
        >>> @rrule(cube)
        ... def cube_rule(x):
        ...     def cube_pullback(dy):
        ...         return dy * 3.0 * x * x
        ...     return x * x * x, cube_pullback
        >>> grad(lambda x: cube(x))(2.0)
        12.0
    """

    said = stated(**known)

    def register(definition: Callable[..., Any]) -> Callable[..., Any]:
        names = differentiable(definition, wrt)
        check_names(definition, functions, (*names, *templates))
        REGISTRY.add_facts(functions, said)
        for function in functions:
            REGISTRY.add(Rule(
                function=function, definition=definition, wrt=names,
                templates=tuple(templates), types=tuple(types) if types is not None else None,
                linear=tuple(linear), bilinear=tuple(bilinear), domain=as_domain(domain),
                kink=kink, primal_note=primal_note,
            ))
        return definition

    return register


def differentiable(
    definition: Callable[..., Any], wrt: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the names of the parameters that a pullback returns cotangents for."""
    if wrt is not None:
        return (wrt,) if isinstance(wrt, str) else tuple(wrt)
    return tuple(
        p.name for p in signature_of(definition).parameters.values()
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD
    )


def frule(
    *functions: Any, types: Sequence[object] | None = None, domain: Domain | Any = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the forward rule of each of ``functions``.

    The compiler inlines the rule: what value and tangent have in common is computed once. Beside a
    reverse rule for the same ``types`` it takes the place of the pushforward that is derived from
    that; alone, it leaves the function without a reverse rule.

    Parameters:
        functions (callable): What the rule covers. The rule takes two tuples, the positional
            arguments of a call and their tangents, and returns ``(y, y_dot)``; keyword arguments
            follow as such. A tangent is None where it is zero.
        types, domain: As for ``rrule``.

    Returns:
        callable: A decorator, which returns the rule.

    Raises:
        RuleError: For rules of another form.

    Example:
        >>> from adcompiler import frule, jvp
        >>> def cube(x):
        ...     return x * x * x
        >>> @frule(cube)
        ... def cube_pushed(primals, tangents):
        ...     (x,), (x_dot,) = primals, tangents
        ...     return x * x * x, 3.0 * x * x * x_dot
        >>> jvp(lambda x: cube(x), (2.0,), (1.0,))
        (8.0, 12.0)
    """

    def register(definition: Callable[..., Any]) -> Callable[..., Any]:
        wanted = tuple(types) if types is not None else None
        for function in functions:
            REGISTRY.add_forward(function, wanted, definition, as_domain(domain))
        return definition

    return register


def check_names(
    definition: Callable[..., Any], functions: Sequence[Callable[..., Any]], names: Sequence[str]
) -> None:
    """Raise RuleError for a name that is not a parameter of a rule."""
    parameters = parameter_names(definition)
    for name in names:
        if name.lstrip("*") not in parameters:
            raise rule_error(
                definition,
                f"the rule of {' and '.join(map(name_of, functions))} names `{name}` in wrt= or "
                "templates=, but has no such parameter",
                f"one of its parameters: {', '.join(parameters) or 'it has none'}",
            )


def parameter_names(definition: Callable[..., Any]) -> Collection[str]:
    """Return the names of the parameters of a function."""
    plain = isinstance(definition, FunctionType) and not vars(definition)
    if not plain:
        return signature_of(definition).parameters
    code = definition.__code__
    count = code.co_argcount + code.co_kwonlyargcount  # hundreds of rules are checked at an import
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    names: tuple[str, ...] = code.co_varnames[: count + stars]
    return names


def linear(
    function: Callable[..., Any], transpose: Callable[..., Any] | None = None, *,
    argnums: Sequence[int] = (0,), **options: Any
) -> Any:
    """Declare that ``function`` is jointly linear in its arguments ``argnums``, with its transpose.

    As a decorator, ``@linear(f)`` stands above the transpose.

    Parameters:
        function (callable): The function.
        transpose (callable): ``transpose(y_bar, *args)`` has, after the cotangent of the result,
            the parameters of the function, and returns one cotangent for each of ``argnums``; it
            may read the shape of linear arguments but not their values. ``linear(f, f)`` declares
            ``f`` to be its own transpose.
        argnums (sequence of int): The arguments.
        options: Those of ``rrule``.

    Returns:
        callable: The transpose, or a decorator for it.

    Raises:
        RuleError: For transposes of another form.

    Example:
        >>> import numpy as np
        >>> from adcompiler import grad, linear
        >>> def running(x):
        ...     return np.cumsum(x)
        >>> @linear(running)
        ... def running_transpose(dy, x):
        ...     return np.cumsum(dy[::-1])[::-1]
        >>> grad(lambda x: np.sum(running(x)))(np.ones(3))
        array([3., 2., 1.])
    """
    if transpose is None:
        return lambda definition: linear(function, definition, argnums=argnums, **options)
    own = transpose is function
    definition, names = with_transpose(function, transpose, 0 if own else 1, own)
    wrt = chosen(transpose, names, argnums)
    rrule(function, wrt=wrt, linear=tuple(argnums), **options)(definition)
    return transpose


def bilinear(
    function: Callable[..., Any], transposes: Callable[..., Any] | None = None, *,
    argnums: tuple[int, int] = (0, 1), **options: Any,
) -> Any:
    """Declare that ``function`` is linear in each of two arguments, with its two transposes.

    As a decorator, ``@bilinear(f)`` stands above the transposes.

    Parameters:
        function (callable): The function.
        transposes (callable): ``transposes(y_bar, *args)`` has, after the cotangent of the result,
            the parameters of the function, and returns the two cotangents.
        argnums (tuple of int): The two arguments.
        options: Those of ``rrule``.

    Returns:
        callable: The transposes, or a decorator for them.

    Raises:
        RuleError: For transposes of another form.

    Example:
        >>> import numpy as np
        >>> from adcompiler import bilinear, grad
        >>> def contract(A, v):
        ...     return A @ v
        >>> @bilinear(contract)
        ... def contract_transposes(dy, A, v):
        ...     return np.outer(dy, v), A.T @ dy
        >>> grad(lambda v: np.sum(contract(np.diag([1.0, 2.0]), v)))(np.ones(2))
        array([1., 2.])
    """
    if transposes is None:
        return lambda definition: bilinear(function, definition, argnums=argnums, **options)
    definition, names = with_transpose(function, transposes, 1, False)
    wrt = chosen(transposes, names, argnums)
    rrule(function, wrt=wrt, bilinear=tuple(argnums), **options)(definition)
    return transposes


def with_transpose(
    function: Callable[..., Any], transpose: Callable[..., Any], skipped: int, own: bool
) -> tuple[Any, list[str]]:
    """Return the definition of a rule whose pullback calls ``transpose``, and its parameters.

    ``skipped`` is the number of the transpose's parameters before those of the function; a
    function that is its ``own`` transpose gets the cotangent in the place of its first argument.
    """
    given = list(signature_of(transpose).parameters.values())
    if len(given) <= skipped:
        raise rule_error(
            transpose, f"the transpose of {name_of(function)} takes no arguments",
            "def transpose(y_bar, x, ...): with the cotangent, then the arguments of the function",
        )
    found = parameters_of(given[skipped:])
    name = name_of(function)
    y, y_bar = unused("y", found.names), unused("y_bar", found.names)
    _, _, others = found.passed.partition(", ")
    passed = (f"{y_bar}, {others}" if others else y_bar) if own else f"{y_bar}, {found.passed}"
    primal = unused(name, (*found.names, y, y_bar))
    text = lines(
        f"def {name}_rule({found.declared}):",
        f"    {y} = {primal}({found.passed})",
        "",
        f"    def {name}_pullback({y_bar}):",
        f"        return transpose({passed})",
        "",
        f"    return {y}, {name}_pullback",
        "",
    )
    parts = {primal: function, "transpose": transpose, **found.defaults}
    return function_from(text, f"{name}_rule", parts), found.names


def chosen(
    part: Callable[..., Any], names: Sequence[str], argnums: Sequence[int]
) -> tuple[str, ...]:
    """Return the names of the parameters ``argnums``; RuleError if there are not so many."""
    if any(not 0 <= i < len(names) for i in argnums):
        raise rule_error(
            part, f"argnums {tuple(argnums)} counts arguments that are not there",
            f"positions from 0 to {len(names) - 1}, of {', '.join(names)}",
        )
    return tuple(names[i] for i in argnums)


def facts(*functions: Any, **known: Any) -> None:
    """State what is known of ``functions``, whether they have rules or not.

    What is not said is taken to be the worst. Facts given later take the place of earlier ones.

    Parameters:
        functions (callable): The functions.
        known: ``pure=True``: a call does nothing but give a value; it may be left out where nobody
            reads that. ``shares`` tells what the result shares with arguments: ``"none"``, that it
            has storage of its own; ``"view"``, ``"layout"``, ``"same"``, ``"may"``, ``"holds"``, or
            a ``Shares``. ``output="out"`` names the parameter that takes an array for the result,
            ``writes=("work",)`` others that are written into, ``writes=()`` that there are none.
            ``tried=True``: the function checks what it is given, and may be called on small arrays
            when compiling. Others are those of ``Facts``: ``fresh``, ``elementwise``, ``shape``,
            ``classes``, ``total``, ``exhausts``, ``form``, ``means``, ``transfer``, ``along``,
            ``linear_in``, ``rounded``, ``sized``, ``pattern``, ``unwraps``, ``recurrence``,
            ``parts``, ``changes``, ``order``, ``reads_layout``, ``sign``, ``defaults``,
            ``typed_as``, ``written_as``, ``supposed_as``, ``iterates``, ``passes_on``, ``finite``,
            ``bounded``.

    Raises:
        TypeError: For names of facts that there are not.
        ValueError: For an unknown kind.

    Example:
        >>> from adcompiler import facts
        >>> def noisy(x):
        ...     return x + 1.0
        >>> facts(noisy, pure=True, shares="none", writes=())
    """
    REGISTRY.add_facts(functions, stated(**known))


def non_differentiable(*functions: Any, pure: bool = True, **known: Any) -> None:
    """Declare that the results of ``functions`` carry no derivative.

    Parameters:
        functions (callable): The functions. None writes into an argument, unless ``writes=`` or
            ``output=`` names it.
        pure (bool): They may be evaluated once for several equal calls, or not at all when nobody
            reads their result; impure ones (printing, random draws) run exactly where they stand.
        known: Further facts about the functions, as ``facts`` takes them.

    Raises:
        TypeError, ValueError: As ``facts``.

    Example:
        >>> from adcompiler import grad, non_differentiable
        >>> def level(x):
        ...     return float(int(x))
        >>> non_differentiable(level)
        >>> grad(lambda x: level(x) * x)(3.5)
        3.0
    """
    REGISTRY.add_facts(functions, stated(**known))
    for function in functions:
        REGISTRY.add_inactive(Inactive(function, pure))


def opt_out(function: Callable[..., Any], types: Sequence[object] | None = None) -> None:
    """Declare that ``function`` has no rule for arguments of these classes: its source is read.

    Earlier rules keep covering other arguments, later registrations win. Hooks do not see
    signatures that are opted out.

    Parameters:
        function (callable): The function.
        types (sequence): A class for each positional argument (``None``: any); without it, the
            function is looked into whatever its arguments are.

    Example:
        >>> from adcompiler import grad, opt_out, scalar_rule
        >>> def square(x):
        ...     return x * x
        >>> scalar_rule(square, 0.0)
        >>> opt_out(square)
        >>> grad(lambda x: square(x))(2.0)
        4.0
    """
    REGISTRY.add(Rule(
        function=function, types=None if types is None else tuple(types), opted_out=True
    ))


def unionise(function: AnyFunction) -> AnyFunction:
    """Declare that derivatives go through the source of ``function``, whatever it is annotated.

    A decorator. Functions are looked into anyway; this also sets aside rules registered before.

    Parameters:
        function (callable): The function.

    Returns:
        callable: The function.

    Example:
        >>> from adcompiler import grad, unionise
        >>> @unionise
        ... def square(x):
        ...     return x * x
        >>> grad(lambda x: square(x))(2.0)
        4.0
    """
    if REGISTRY.has_rules(function):
        opt_out(function)
    return function


def alias(other: Any, function: Callable[..., Any]) -> None:
    """Declare that ``other(x, ...)`` means ``function(x, ...)`` and follows its rule.

    Parameters:
        other, function (callable): The functions; also methods and attributes of arrays:
            ``alias(np.ndarray.sum, np.sum)``.

    Raises:
        ValueError: If ``function`` is ``other``, or another spelling of that.

    Example:
        >>> import numpy as np
        >>> from adcompiler import alias, grad
        >>> def my_sine(x):
        ...     return np.sin(x)
        >>> alias(my_sine, np.sin)
        >>> float(grad(lambda x: my_sine(x))(0.0))
        1.0
    """
    REGISTRY.add_alias(other, function)


def twins(instance: Any, attributes: Sequence[str]) -> None:
    """Declare that copies of ``instance`` have methods that mean the same, and follow its rules.

    Copies are instances of its class that are equal to it in ``attributes``.
    """
    REGISTRY.add_twins(instance, tuple(attributes))


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
