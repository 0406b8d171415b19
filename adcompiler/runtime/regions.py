"""What ``try`` and ``with`` of emitted code take with them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from adcompiler.errors import ADError
from adcompiler.runtime.adjoints.indexing import own


class ContextError(ADError, RuntimeError):
    """A context does what the compiled code around it does not expect."""


def stop_gradient(x: Any) -> Any:
    """Return ``x`` as a value that carries no derivative.

    Parameters:
        x: A number, an array, or a container of these.

    Returns:
        The same; a copy, of arrays and containers.

    Example:
        >>> from adcompiler import grad, stop_gradient
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    return own(x)


class Undifferentiated(contextlib.nullcontext[None]):
    """What ``no_grad()`` returns."""


def told(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Call a function of which nobody reads the result: it logs or warns."""
    function(*args, **kwargs)


def no_grad() -> Undifferentiated:
    """Return a context in which nothing carries a derivative: ``with no_grad(): ...``.

    Values computed in the block count as constants, also after it. Has to stand in the ``with``
    statement itself.

    Returns:
        A context manager, which does nothing where no derivative is taken.

    Example:
        >>> from adcompiler import grad, no_grad
        >>> def scaled(x):
        ...     with no_grad():
        ...         scale = x * x
        ...     return scale * x
        >>> grad(scaled)(3.0)
        9.0
    """
    return Undifferentiated()


def evaluated(value: Any) -> None:
    """Do nothing: what evaluating the argument raises is what the call is written for."""


def called(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function with arguments that it does not take, for what Python says of that."""
    return function(*args, **kwargs)


def note_value(place: list[Any], value: Any) -> None:
    """Note the value that a variable has got, for handlers of exceptions."""
    place[0] = value


def noted_value(place: list[Any]) -> Any:
    """Return the value that a variable had when an exception was raised."""
    return place[0]


class passing_on:
    """A context manager like another one, which must not swallow exceptions.

    The code after a ``with`` block counts on the block having been completed. Raises RuntimeError
    if the other context manager swallows an exception.
    """

    def __init__(self, manager: Any) -> None:
        if isinstance(manager, Undifferentiated):
            raise ContextError(
                "no_grad() was made elsewhere than in the with statement of a function that is "
                "differentiated; write `with no_grad():`"
            )
        self.manager = manager
        self.exit = type(manager).__exit__
        self.enter = type(manager).__enter__

    def __enter__(self) -> Any:
        return self.enter(self.manager)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self.exit(self.manager, kind, error, traceback) and kind is not None:
            raise ContextError(
                f"{type(self.manager).__name__} swallowed an exception inside a function that is "
                "differentiated; write try and except instead"
            ) from error
