"""Taylor coefficients of random programs in their first argument, a number.

The first ones are the tangent, the second those of differences of the tangent.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, jvp, taylor
from tests.lanes import one_in
from tests.properties.checking import flat, made, quiet
from tests.properties.fuzz import program_of

STEP = 1e-4


def coefficients_agree(seed: int) -> bool | None:
    """Compare the coefficients of a program; None if it raises or is refused."""
    program = program_of(seed)
    function, (x, *rest) = made(program), program.args
    if not isinstance(x, float):
        return None

    def tangent(at: float) -> tuple[Any, Any]:
        value, along = jvp(function, (at, *copy.deepcopy(rest)), (1.0,), argnums=(0,))
        return flat(value), flat(along)

    with quiet():
        try:
            value, along = tangent(x)
            ends = [tangent(x + k * STEP)[1] for k in (-2, -1, 1, 2)]
            found = taylor(
                function, (x, *copy.deepcopy(rest)), (np.array([1.0, 0.0]),), argnums=(0,))
        except (ADError, ArithmeticError, ValueError, IndexError, KeyError):
            return None
    curvature = (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12.0 * STEP)
    size = float(np.max(np.abs(curvature), initial=1.0))
    first, second = (flat(parts(found[1], k)) for k in (0, 1))
    return bool(
        np.allclose(flat(found[0]), value, rtol=1e-10, atol=1e-12, equal_nan=True)
        and np.allclose(first, along, rtol=1e-9, atol=1e-10, equal_nan=True)
        and np.allclose(2.0 * second, curvature, rtol=1e-5, atol=1e-5 * size, equal_nan=True)
    )


def parts(series: Any, order: int) -> Any:
    """Return the coefficients of one order."""
    if isinstance(series, (tuple, list)):
        return [parts(item, order) for item in series]
    if isinstance(series, dict):
        return {key: parts(item, order) for key, item in series.items()}
    return series[order]


@pytest.mark.parametrize("first", one_in(3, [100, 1000, 1120]))
def test_random_programs(first: int) -> None:
    verdicts = {seed: coefficients_agree(seed) for seed in range(first, first + 10)}
    assert [seed for seed, agrees in verdicts.items() if agrees is False] == []
    assert list(verdicts.values()).count(True) >= 3
