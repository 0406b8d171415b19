"""Checks of what rules return: always of shapes, and of everything where that is asked for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adcompiler.errors import ADError

FORWARD = "the forward rule of"


class WrongCotangentError(ADError, ValueError):
    """A rule gave a cotangent that is not of the form of its argument."""


class NotFiniteWarning(RuntimeWarning):
    """A value of the function is not finite though what it is computed from is."""


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


def check_cotangent(g: Any, x: Any, rule: str, place: str = "") -> None:
    """Raise WrongCotangentError if ``g`` is not of the form of ``x``, naming its rule and place.

    FloatingPointError, if it is not finite though ``x`` is. Numbers and arrays are looked at.
    """
    if g is None or not is_inexact(x):
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
        first = first_of(found, wanted, "the argument")
        raise FloatingPointError(
            said(place, f"{rule} gives a cotangent that is not finite: {first}"))
    else:
        return
    raise WrongCotangentError(
        said(place, f"{rule} gives a cotangent of {form}, for an argument of {value}"))


def check_tangent(tangent: Any, value: Any, place: str) -> None:
    """Raise FloatingPointError if a tangent is not finite though the value that it is of is."""
    if tangent is None or not is_inexact(value):
        return
    found = np.asarray(tangent)
    if np.all(np.isfinite(value)) and not np.all(np.isfinite(found)):
        first = first_of(found, np.asarray(value), "the value")
        raise FloatingPointError(said(place, f"the tangent is not finite: {first}"))


def check_value(value: Any, place: str, *operands: Any) -> None:
    """Warn if a value is not finite though the operands are, of numbers and arrays."""
    if not is_inexact(value) or np.all(np.isfinite(value)):
        return
    numbers = [np.asarray(x) for x in operands if is_inexact(x)]
    if all(np.all(np.isfinite(x)) for x in numbers):
        found = np.asarray(value)
        first = first_of(found, numbers[0] if numbers else np.empty(0), "the first operand")
        warnings.warn(
            said(place, f"the value is not finite: {first}"), NotFiniteWarning, stacklevel=2)


def is_inexact(x: Any) -> bool:
    """Say whether a value is a number or array of floats, real or complex."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex, np.inexact))


def first_of(found: np.ndarray, of: np.ndarray, what: str) -> str:
    """Return the first of the numbers that are not finite, with its place and what it belongs to.

    ``of``, called ``what``, has an element for each if it has the same shape.
    """
    wrong = np.argwhere(~np.isfinite(found))
    index = tuple(map(int, wrong[0]))
    text = str(found[index])
    if index:
        count = f"{len(wrong)} of {found.size} numbers"
        text += f" at [{', '.join(map(str, index))}] ({count})"
    return f"{text}, where {what} is {of[index]}" if of.shape == found.shape else text


def said(place: str, problem: str) -> str:
    """Return a message of the form of refusals: the place, the problem, the user's expression."""
    where, _, text = place.partition("\n")
    return f"{where}: {problem}\n    {text}" if place else problem
