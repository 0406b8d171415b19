"""Before anything is timed: every contender's gradient against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def assert_gradients(
    primal: Callable[..., Any],
    contenders: dict[str, Callable[..., Any]],
    arguments: Sequence[Any],
    argnums: Sequence[int],
) -> None:
    """Raise AssertionError unless each contender returns the gradients of ``primal``.

    They are compared along a random direction of each differentiated argument.
    """
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=np.shape(arguments[position])) for position in argnums]
    wanted = [
        difference(primal, arguments, position, direction)
        for position, direction in zip(argnums, directions, strict=True)
    ]
    for name, contender in contenders.items():
        gradients = contender(*arguments)
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        for position, gradient, direction, value in zip(
            argnums, gradients, directions, wanted, strict=True
        ):
            got = float(np.sum(gradient * direction))
            assert np.shape(gradient) == np.shape(arguments[position]), (name, position)
            assert abs(got - value) <= 1e-6 * (1.0 + abs(value)), (name, position, got, value)


def difference(
    primal: Callable[..., Any], arguments: Sequence[Any], position: int, direction: Any
) -> float:
    """Return the central difference of ``primal`` along ``direction`` in one argument."""

    def moved(step: float) -> Any:
        trial = list(arguments)
        trial[position] = trial[position] + step * direction
        return primal(*trial)

    x = arguments[position]
    step = 1e-5 * max(1.0, float(np.max(np.abs(x))))
    direction = float(direction) if isinstance(x, float) else direction
    return float((moved(step) - moved(-step)) / (2.0 * step))
