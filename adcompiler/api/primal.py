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

    It takes the same arguments and returns the same. ``backend`` is that of ``grad``: native loops,
    or with ``"python"`` the function as it is specialised; so is ``parallel``. Derivatives of the
    result are those of ``function``.

    Can be used as a decorator, with or without arguments. Raises UnsupportedError at the first
    call, before anything runs, for what cannot be compiled, such as a function that writes into
    its arguments.
    """
    if function is None:
        return lambda f: compiled(f, backend=backend, parallel=parallel)
    return EmittedDerivative(
        function, Options("primal", (), backend=backend, parallel=parallel))


__all__ = ["compiled"]
