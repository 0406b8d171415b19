"""The public functions ``grad``, ``value_and_grad``, ``vjp``, ``source``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from adcompiler.api.argnums import Asked, of_call, stated
from adcompiler.api.derivative import Derivative, P
from adcompiler.api.emitted import EmittedDerivative, kept_derivative
from adcompiler.api.keywords import needs_arguments, suggesting
from adcompiler.compile.modes import ROWS, named
from adcompiler.dispatch import Options, differentiated_by_default
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.linear_maps import Pullback, PullbackOfSome
from adcompiler.dispatch.source_text import SourceText
from adcompiler.dispatch.written import Written
from adcompiler.typed.derivatives import MAKERS

R = TypeVar("R")


@overload
def grad(
    function: None = None, *, argnums: Asked = 0, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
    debug: bool = False, fallback: str = "record", progress: bool = False,
) -> Callable[[Callable[P, Any]], Derivative[P, Any]]: ...
@overload
def grad(
    function: Callable[P, Any], argnums: Asked = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
    debug: bool = False, fallback: str = "record", progress: bool = False,
) -> Derivative[P, Any]: ...
@suggesting
def grad(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
    debug: bool = False, fallback: str = "record", progress: bool = False,
) -> Any:
    """Return a function that computes the gradient of ``function``.

    Some rules compute the value by another algorithm than the function, which may differ in
    rounding (``explain`` lists them). Where the compiler refuses the function for what only a run
    knows, it is recorded in each call, with a ``RecordedWarning``. Can be used as a decorator, with
    or without arguments.

    Parameters:
        function (callable): A function that returns a real number, or an array of size 1.
        argnums (int, str or tuple): The argument that the gradient is with respect to: a position
            or a name; a tuple of them gives a tuple of gradients, as do None and ``...`` for all.
            Positions reach into ``*args``, names into ``**kwargs``; ``"params.w"`` names an entry,
            item or attribute of the argument ``params``.
        has_aux (bool): The function returns ``(value, aux)``, the derivative ``(gradient, aux)``.
        strict_primal (bool): The function itself gives the value.
        backend (str): ``"python"``; ``"native"``: machine loops by LLVM, through llvmlite, which
            the extra ``native`` installs; what there are no such loops for is refused. ``"auto"``
            keeps that in Python, and all without llvmlite; ``"record"`` records any function.
        parallel (bool): Loops whose iterations are proved independent run in threads: ``explain``
            tells which, and why others do not.
        debug (bool): The code checks shape, dtype and finiteness of every cotangent, and raises
            FloatingPointError or ValueError with the user's line and expression at the first that
            is wrong; it gives a ``NotFiniteWarning`` at each value that is not finite, computed
            from such as are.
        fallback (str): ``"record"``, or ``"refuse"``: nothing is recorded.
        progress (bool): A terminal shows in each call which loop of forward pass or sweep runs, and
            how far it is; ``ADCOMPILER_QUIET=1`` turns that off.

    Returns:
        Derivative: A function of the same arguments. The gradient has the structure, shape and
        float precision of the argument; integers count as floats, but not those in instances.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, before anything runs, for code that
            cannot be differentiated.
        TypeError: For results that are not real scalars, and arguments that have no derivative.

    Example:
        >>> import numpy as np
        >>> from adcompiler import grad
        >>> grad(lambda x, k: k * np.sum(x**2))(np.array([1.0, 2.0]), 3.0)
        array([ 6., 12.])
    """
    return _derivative(
        "grad", function, argnums, has_aux=has_aux, strict_primal=strict_primal, backend=backend,
        parallel=parallel, debug=debug, fallback=fallback, progress=progress)


@overload
def value_and_grad(
    function: None = None, *, argnums: Asked = 0, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
    debug: bool = False, fallback: str = "record", progress: bool = False,
) -> Callable[[Callable[P, R]], Derivative[P, tuple[R, Any]]]: ...
@overload
def value_and_grad(
    function: Callable[P, R], argnums: Asked = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
    debug: bool = False, fallback: str = "record", progress: bool = False,
) -> Derivative[P, tuple[R, Any]]: ...
@suggesting
def value_and_grad(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False,
    strict_primal: bool = False, backend: str = "python", parallel: bool = False,
    debug: bool = False, fallback: str = "record", progress: bool = False,
) -> Any:
    """Return a function that computes the value of ``function`` and its gradient, as a pair.

    Parameters:
        function, argnums, strict_primal, backend, parallel, debug, fallback, progress: As for
            ``grad``.
        has_aux (bool): The function returns ``(value, aux)``, the derivative
            ``((value, aux), gradient)``.

    Returns:
        Derivative: A function of the same arguments, for which it returns ``(value, gradient)``.

    Raises:
        UnsupportedError, MissingRuleError, TypeError: As ``grad``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import value_and_grad
        >>> value, slope = value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
        >>> float(value), slope
        (5.0, array([2., 4.]))
    """
    return _derivative(
        "value_and_grad", function, argnums, has_aux=has_aux, strict_primal=strict_primal,
        backend=backend, parallel=parallel, debug=debug, fallback=fallback, progress=progress)


def _derivative(
    mode: str, function: Callable[..., Any] | None, argnums: Asked, **options: Any
) -> Any:
    if function is None:
        return lambda f: _derivative(mode, f, argnums, **options)
    return EmittedDerivative(function, Options(mode, stated(function, argnums), **options))


@with_users_frames
def vjp(
    function: Callable[..., R], *args: Any, argnums: Asked = None,
    strict_primal: bool = False, backend: str = "python", debug: bool = False,
    fallback: str = "record", **kwargs: Any,
) -> tuple[R, Pullback]:
    """Return ``function(*args, **kwargs)`` and its pullback there.

    Parameters:
        function (callable): A function of ``args`` and ``kwargs``, which may return any structure.
        args, kwargs: Its arguments.
        argnums (int, str or tuple): The arguments that the pullback is with respect to; by default
            all positional ones.
        strict_primal, debug, fallback: As for ``grad``.
        backend (str): That of ``grad``; native loops compute the value again in each pullback.

    Returns:
        tuple: The value, and the pullback. That takes a cotangent of the value, of its structure
        and shapes (None inside of it means zero), and returns the cotangents of the arguments: a
        tuple for several or by default, one cotangent for a single position or name. By default it
        has None for an argument that holds no float (integers, unless none does), and for one of a
        function with a rule that gives none there (a shape, an axis, a text). It may be called any
        number of times, from any thread.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, for code that cannot be
            differentiated.
        TypeError, ValueError: By the pullback, for a cotangent that does not fit the value.

    Example:
        >>> import numpy as np
        >>> from adcompiler import vjp
        >>> value, pullback = vjp(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0]))
        >>> pullback(np.array([1.0, 0.0]))
        (array([2., 1., 0.]),)
    """
    needs_arguments("vjp", function, Written(args, kwargs))
    default = None
    asked = of_call(argnums, args)
    if asked is None:
        asked = default = differentiated_by_default(function, args)
    pair = kept_derivative(
        function, "vjp", asked, strict_primal, backend=backend, debug=debug,
        fallback=fallback)
    value, pullback = pair(*args, **kwargs)
    if default is not None and len(default) < len(args):
        return value, PullbackOfSome(pullback, default, len(args))
    return value, pullback


@with_users_frames
def source(
    function: Callable[..., Any], *args: Any, mode: str = "grad", argnums: Asked = 0,
    batched: bool = False, **kwargs: Any,
) -> SourceText:
    """Return the text of the module emitted for ``function`` at these arguments.

    Parameters:
        function (callable): The function that is differentiated.
        args, kwargs: Arguments, whose types the text is for. Without any, annotations give the
            types, and code for the rest is generic.
        mode (str): ``"grad"`` (or ``"reverse"``), ``"value_and_grad"``, ``"vjp"`` (the augmented
            primal and the pullback), ``"forward"`` (the pushforward), ``"taylor"`` (Taylor
            coefficients from those of arguments), ``"linearize"`` (the primal, and the derivative
            along tangents there), ``"jacobian"``, ``"hessian"`` or ``"hvp"`` (the Hessian's product
            with a tangent).
        argnums (int, str or tuple): As for ``grad``.
        batched (bool): ``"vjp"`` and ``"forward"`` are for many seeds at once.

    Returns:
        SourceText: The text, a ``str`` that notebooks highlight.

    Raises:
        UnsupportedError, MissingRuleError: For code that cannot be differentiated.
        ValueError: For an unknown mode, and for many seeds of a mode that takes one.

    Example:
        >>> from adcompiler import source
        >>> "def <lambda>" in source(lambda x: x * x, 2.0), "x_bar" in source(lambda x: x * x, 2.0)
        (False, True)
    """
    mode = named(mode)
    several = [row.name for row in ROWS if row.batches]
    if batched and mode not in several:
        raise ValueError(
            f"many seeds at once are for the modes {' and '.join(several)}; got {mode!r}")
    derivative: EmittedDerivative[..., Any] = EmittedDerivative(
        function, Options(mode, stated(function, argnums), batched=batched))
    return derivative.source_for(*args, **kwargs) if args or kwargs else derivative.source


MAKERS.update({grad: "grad", value_and_grad: "value_and_grad", vjp: "vjp"})

__all__ = ["grad", "source", "value_and_grad", "vjp"]
