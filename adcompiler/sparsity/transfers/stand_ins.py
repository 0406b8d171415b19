"""Ordinary values in place of what depends on the inputs: what tells the shapes of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.sparsity.dependences.values import (
    Dependent, Value, dependents_in, is_float, map_dependents,
)
from adcompiler.sparsity.interpreter.run import called
from adcompiler.sparsity.interpreter.table import Refusal
from adcompiler.support.budget import quiet

if TYPE_CHECKING:
    pass


def of_one_form(
    function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value],
) -> Any:
    """Return a result for ordinary values, refused where other values change its shape.

    Numbers are tried in two sizes; integers and booleans, which may be lengths, positions or
    options, in many.
    """
    given = list(dependents_in([list(args), dict(kwargs)]))
    shown = None
    if any(not is_float(d.dtype) for d in given):
        shown, *others = results_for_integers(function, args, kwargs)
        if any(shapes_of(other) != shapes_of(shown) for other in others):
            raise unknown_number(function)
    else:
        shown = graded_result(function, args, kwargs)
    if not any(d.shape == () and is_float(d.dtype) for d in given):
        return shown
    try:
        other = stand_in_result(function, args, kwargs, 29.0)
    except Refusal:
        return shown  # outside of the domain
    if shapes_of(other) != shapes_of(shown):
        raise unknown_number(function)
    return shown


def graded_result(
    function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value],
) -> Any:
    """Return a result for ordinary values, or for arrays whose first or last rows are larger.

    A function that wants a definite matrix, by its diagonals, takes one of these.
    """
    failure = None
    for grade in (0.0, -1.0, 1.0):
        try:
            return stand_in_result(function, args, kwargs, grade=grade)
        except Refusal as refusal:
            failure = failure or refusal
    assert failure is not None
    raise failure


INTEGERS = (1, 0, 2, 3, -1, 4, 5, 8)
"""What integers are tried: first all alike, then a mixture of them."""


def results_for_integers(
    function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value],
) -> list[Any]:
    """Return the results of a call for several values of the integers and booleans in it.

    Raises Refusal if there are fewer than two: then nothing tells what their values decide.
    """
    found, failure = [], None
    for seed in range(2 * len(INTEGERS)):
        try:
            found.append(stand_in_result(function, args, kwargs, integers=seed))
        except Refusal as refusal:
            failure = failure or refusal
    if len(found) < 2:
        raise failure or unknown_number(function)
    return found


def integers_in(d: Dependent, seed: int, rng: np.random.Generator) -> Any:
    """Return integers, or booleans, in place of those that depend on the inputs."""
    if seed < len(INTEGERS):
        made = np.full(d.shape or (), INTEGERS[seed])
    else:
        made = rng.choice(INTEGERS, d.shape or ())
    if np.dtype(d.dtype).kind == "b":
        made = made % 2
    if d.shape == ():
        return d.dtype(made) if isinstance(d.dtype, type) else made.astype(d.dtype)[()]
    return made.astype(d.dtype)


def shapes_of(value: Value) -> Any:
    """Return the shapes of the arrays and numbers in a result."""
    if isinstance(value, (list, tuple)):
        return tuple(map(shapes_of, value))
    return value.shape if isinstance(value, np.ndarray) else ()


def stand_in(d: Dependent, rng: np.random.Generator | None = None) -> Any:
    """Return an ordinary value of the shape and dtype of one that depends on the inputs."""
    rng = np.random.default_rng(0) if rng is None else rng
    if d.shape is None:
        raise Refusal(
            "the shape of an array depends on the values of the inputs",
            'mode="local", or masks (np.where) in place of selections',
        )
    if d.shape == ():
        number = rng.uniform(0.5, 1.5) if is_float(d.dtype) else 1
        return d.dtype(number) if isinstance(d.dtype, type) else np.array(number, d.dtype)[()]
    made = rng.uniform(0.5, 1.5, d.shape)
    if len(d.shape) > 1 and d.shape[-1] == d.shape[-2]:
        made = 0.5 * (made + np.swapaxes(made, -1, -2)) + 2.0 * d.shape[-1] * np.eye(d.shape[-1])
    return made.astype(d.dtype)


def stand_in_result(
    function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value],
    scale: float = 1.0, integers: int = 0, grade: float = 0.0,
) -> Any:
    """Return the result of a call with ordinary values in place of what depends on the inputs.

    Numbers among them are multiplied by ``scale``, rows of arrays by powers of 10 to ``grade``;
    ``integers`` chooses those of no floats.
    """
    rng, of_integers = np.random.default_rng(0), np.random.default_rng(integers)

    def ordinary(d: Dependent) -> Any:
        if d.shape is not None and not is_float(d.dtype):
            return integers_in(d, integers, of_integers)
        value = stand_in(d, rng)
        if grade and np.ndim(value) > 1:
            powers = 10.0 ** (grade * np.arange(len(value)))
            return (value * powers.reshape(-1, *(1,) * (value.ndim - 1))).astype(d.dtype)
        return type(value)(value * scale) if d.shape == () and is_float(d.dtype) else value

    positional, named = map_dependents(ordinary, (tuple(args), dict(kwargs)))
    try:
        with np.errstate(all="ignore"), quiet():
            return called(function, positional, named)
    except Exception as error:
        raise Refusal(
            f"the shape of what {getattr(function, '__name__', function)} returns is not known: "
            f"{type(error).__name__}: {error}", 'mode="local"',
        ) from error


def unknown_number(function: Callable[..., Any]) -> Refusal:
    """Return the refusal of a result whose length depends on values."""
    name = getattr(function, "__name__", function)
    return Refusal(
        f"how many numbers {name}() returns depends on the values of the inputs",
        'mode="local"',
    )
