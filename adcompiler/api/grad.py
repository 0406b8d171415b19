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

    ``function`` returns a real number, or an array of size 1. The gradient with respect to the
    argument ``argnums`` (a position or a name; a tuple of them gives a tuple of gradients, as do
    None and ``...`` for all arguments) has the
    structure, shape and float precision of that argument; integers count as floats, but not those
    in instances. Positions reach into ``*args``, names into ``**kwargs``; ``"params.w"`` names an
    entry, item or attribute of the argument ``params``. With ``has_aux`` the function returns
    ``(value, aux)`` and the derivative ``(gradient, aux)``. Some rules compute the value by another
    algorithm than the function, which may differ in rounding (``explain`` lists them); with
    ``strict_primal`` the function itself gives the value.

    With ``backend="native"`` the code is compiled to machine loops by LLVM, through llvmlite,
    which the extra ``native`` installs. What there are no such loops for is refused; ``"auto"``
    keeps it in Python, and all without llvmlite. With ``parallel`` loops run in threads
    of which the iterations are proved independent: ``explain`` tells which, and why others do not.
    With ``debug`` the code checks shape, dtype and finiteness of every cotangent, and raises
    FloatingPointError or ValueError with the user's line and expression at the first that is wrong;
    it gives a ``NotFiniteWarning`` at each value that is not finite, computed from such as are.
    Where the compiler refuses the function for what only a run knows, the function is recorded in
    each call, with a ``RecordedWarning``; with ``fallback="refuse"`` it is refused.
    ``backend="record"`` records any function. With ``progress`` a terminal shows in each call which
    loop of forward pass or sweep runs, and how far it is; ``ADCOMPILER_QUIET=1`` turns that off.

    Can be used as a decorator, with or without arguments. Raises UnsupportedError or
    MissingRuleError at the first call, before anything runs, for code that cannot be
    differentiated, and TypeError for results that are not real scalars.
    """
    return _derivative(
        "grad", function, argnums, has_aux, strict_primal, backend, parallel, debug, fallback,
        progress)


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

    As ``grad``; with ``has_aux`` the result is ``((value, aux), gradient)``.
    """
    return _derivative(
        "value_and_grad", function, argnums, has_aux, strict_primal, backend, parallel, debug,
        fallback, progress)


def _derivative(
    mode: str, function: Callable[..., Any] | None, argnums: Asked, has_aux: bool,
    strict_primal: bool, backend: str, parallel: bool, debug: bool, fallback: str, progress: bool,
) -> Any:
    if function is None:
        return lambda f: _derivative(
            mode, f, argnums, has_aux, strict_primal, backend, parallel, debug, fallback, progress)
    return EmittedDerivative(function, Options(
        mode, stated(function, argnums), has_aux, strict_primal, backend=backend, parallel=parallel,
        debug=debug, fallback=fallback, progress=progress,
    ))


@with_users_frames
def vjp(
    function: Callable[..., R], *args: Any, argnums: Asked = None,
    strict_primal: bool = False, backend: str = "python", debug: bool = False,
    fallback: str = "record", **kwargs: Any,
) -> tuple[R, Pullback]:
    """Return ``function(*args, **kwargs)`` and its pullback there.

    The pullback takes a cotangent of the result (of its structure and shapes; None inside of it
    means zero; TypeError or ValueError where it does not fit) and returns the cotangents of the
    arguments ``argnums``: a tuple for all positional arguments by default, or for a tuple; one
    cotangent for a single position or name. By default it has None for an argument that holds no
    float (integers, unless none does), and for one of a function with a rule that gives none there
    (a shape, an axis, a text). It may be called any number of
    times, from any thread. ``strict_primal``, ``debug`` and ``fallback`` are
    those of ``grad``, and so is ``backend``: native loops compute the value again in each pullback.
    """
    needs_arguments("vjp", function, args, kwargs)
    default = None
    asked: Any = of_call(argnums, args)
    if asked is None:
        asked = default = differentiated_by_default(function, args)
    elif isinstance(asked, list):
        asked = tuple(asked)
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

    ``mode`` is ``"grad"`` (or ``"reverse"``), ``"value_and_grad"``, ``"vjp"`` (the augmented primal
    and the pullback), ``"forward"`` (the pushforward), ``"taylor"`` (Taylor coefficients from those
    of arguments), ``"linearize"`` (the primal, and the derivative along tangents there),
    ``"jacobian"``, ``"hessian"`` or ``"hvp"`` (the Hessian's product with a tangent). With
    ``batched``, vjp and forward are for many seeds at once.
    Without arguments, annotations give the types, and code for the rest is generic.
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
