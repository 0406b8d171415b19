"""Functions compiled as they are, without a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from adcompiler.api.derivative import Derivative, P
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.api.keywords import suggesting
from adcompiler.dispatch import Options


R = TypeVar("R")


@overload
def compiled(
    function: None = None, *, backend: str = "native", parallel: bool = False
) -> Callable[[Callable[P, R]], Derivative[P, R]]: ...
@overload
def compiled(
    function: Callable[P, R], *, backend: str = "native", parallel: bool = False
) -> Derivative[P, R]: ...
@suggesting
def compiled(
    function: Callable[..., Any] | None = None, *, backend: str = "native", parallel: bool = False
) -> Any:
    """Return ``function`` compiled for the types of the arguments of each call.

    Derivatives of the result are those of ``function``. Can be used as a decorator, with or without
    arguments.

    Parameters:
        function (callable): A function that writes into none of its arguments.
        backend (str): That of ``grad``: native loops, or with ``"python"`` the function as it is
            specialised.
        parallel (bool): As for ``grad``.

    Returns:
        Derivative: A function of the same arguments, which returns the same.

    Raises:
        UnsupportedError: At the first call, before anything runs, for what cannot be compiled, such
            as a function that writes into its arguments.

    Example:
        >>> from adcompiler import compiled
        >>> compiled(lambda x: x * x + 1.0, backend="python")(3.0)
        10.0
    """
    if function is None:
        return lambda f: compiled(f, backend=backend, parallel=parallel)
    return EmittedDerivative(
        function, Options("primal", (), backend=backend, parallel=parallel))


__all__ = ["compiled"]
