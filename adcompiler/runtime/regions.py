"""What ``try`` and ``with`` of emitted code take with them."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.runtime.indexing import own


class WrongCotangentError(ADError, ValueError):
    """A rule gave a cotangent that is not of the form of its argument."""


class ContextError(ADError, RuntimeError):
    """A context does what the compiled code around it does not expect."""


def stop_gradient(x: Any) -> Any:
    """Return ``x`` as a value that carries no derivative: a copy, of arrays and containers."""
    return own(x)


class Undifferentiated(contextlib.nullcontext[None]):
    """What ``no_grad()`` returns."""


def no_grad() -> Undifferentiated:
    """Return a context in which nothing carries a derivative: ``with no_grad(): ...``.

    Values computed in the block count as constants, also after it. Has to stand in the ``with``
    statement itself.
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


FORWARD = "the forward rule of"


def check_cotangent(g: Any, x: Any, rule: str) -> None:
    """Raise WrongCotangentError if ``g`` is not of the form of ``x``, naming its rule.

    FloatingPointError, if it is not finite though ``x`` is. Numbers and arrays are looked at.
    """
    inexact = isinstance(x, (float, complex, np.inexact, np.ndarray))
    if g is None or not inexact or (isinstance(x, np.ndarray) and x.dtype.kind not in "fc"):
        return
    found, wanted = np.asarray(g), np.asarray(x)
    exact = isinstance(x, (np.ndarray, np.inexact))
    if found.shape != wanted.shape:
        form, value = f"shape {found.shape}", f"shape {wanted.shape}"
    elif found.dtype.kind == "c" and wanted.dtype.kind != "c":
        form, value = "complex numbers", "real ones"
    elif exact and found.dtype != wanted.dtype and found.dtype.kind in "fc":
        form, value = f"dtype {found.dtype}", f"dtype {wanted.dtype}"
    elif np.all(np.isfinite(wanted)) and not np.all(np.isfinite(found)):
        raise FloatingPointError(f"{rule} gives a cotangent that is not finite: {g!r}, at {x!r}")
    else:
        return
    raise WrongCotangentError(f"{rule} gives a cotangent of {form}, for an argument of {value}")


def check_shape(g: Any, shape: tuple[int, ...], rule: str) -> None:
    """Raise WrongCotangentError if a cotangent has another shape than its argument.

    Or the tangent of a forward rule has another one than its value.
    """
    if g is not None and np.shape(g) != shape:
        forward = rule.startswith(FORWARD)
        made, of = ("tangent", "a value") if forward else ("cotangent", "an argument")
        raise WrongCotangentError(
            f"{rule} gives a {made} of shape {np.shape(g)}, for {of} of shape {shape}"
        )


def check_shape_each(g: Any, shape: tuple[int, ...], rule: str) -> None:
    """Do as ``check_shape`` for cotangents of several seeds, along the first axis of ``g``."""
    if g is not None and len(g):
        check_shape(g[0], shape, rule)


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
