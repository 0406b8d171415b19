"""Failures of the compiler itself: where they become an error that users can report."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adcompiler.errors import ADError, InternalError
from adcompiler.ir.atoms import Origin

REPORT = (
    "this is a defect of adcompiler, not of your code: please report it with this message and the "
    "function; moving the line into a function with a rule of its own goes round it"
)


@contextmanager
def reported(function: Callable[..., Any], *passing: type[Exception]) -> Iterator[None]:
    """Turn whatever goes wrong while ``function`` is compiled into an InternalError with a line.

    Refusals are no failures, nor are exceptions of the classes ``passing``, nor is what is nested
    too deeply: that is refused by whoever has the stack.
    """
    try:
        yield
    except InternalError as error:
        if error.located:
            raise
        raise located(error, function) from error
    except Exception as error:
        if isinstance(error, (ADError, RecursionError, *passing)):
            raise
        raise located(error, function) from error


def located(error: Exception, function: Callable[..., Any]) -> InternalError:
    """Return the error that is reported in place of ``error``."""
    origin = innermost_origin(error) or start_of(function)
    name = getattr(function, "__qualname__", None) or type(function).__name__
    what = f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
    problem = f"compiling the derivative of {name} failed ({what})"
    return InternalError(origin.finding(problem, REPORT).render(), located=True)


def innermost_origin(error: BaseException) -> Origin | None:
    """Return the place in the user's source that was worked on when ``error`` was raised."""
    found: Origin | None = None
    traceback = error.__traceback__
    while traceback is not None:
        found = origin_in(traceback.tb_frame) or found
        traceback = traceback.tb_next
    return found


def origin_in(frame: types.FrameType) -> Origin | None:
    """Return the place that the variables of a frame tell of, None if none does."""
    for name in ("origin", "statement", "node"):
        value = frame.f_locals.get(name)
        value = getattr(value, "origin", value)
        if isinstance(value, Origin):
            return value.via or value
    return None


def start_of(function: Callable[..., Any]) -> Origin:
    """Return the line on which a function starts."""
    code = getattr(function, "__code__", None)
    if code is None:
        return Origin("<unknown>", 1, 0, "")
    return Origin(code.co_filename, code.co_firstlineno, 0, "")
