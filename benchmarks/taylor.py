"""Derivatives of high order: truncated power series beside forward mode inside of forward mode.

Both give all derivatives of a function of one number up to an order, and have to agree first. What
is compiled once for all orders is here compared when it has been compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Measurement, measure

from adcompiler import jet
from adcompiler.api.taylor import nested

ORDERS = (2, 4, 6, 8)


def formula(x: float) -> float:
    """Return a small formula of elementary functions."""
    return math.exp(math.sin(x)) * x / (1.0 + x * x) + math.sqrt(1.0 + x)


def pendulum(x: float) -> float:
    """Return the angle after twenty steps of a pendulum."""
    angle, speed = x, 0.0
    for _ in range(20):
        speed = speed - 0.1 * math.sin(angle)
        angle = angle + 0.1 * speed
    return angle


def waves(x: float) -> Any:
    """Return the sum of a thousand damped waves."""
    k = np.linspace(0.0, 1.0, 1000)
    return np.sum(np.exp(-k * x) * np.sin(k * x) / (1.0 + x))


def compare(case: str, function: Callable[..., Any], x: float, order: int) -> Measurement:
    """Check the derivatives of all orders, then time both ways to them."""
    forward = [nested(function, k) for k in range(order + 1)]
    contenders = {
        "jet": jet(function, order),
        "nested": lambda x: tuple(derivative(x) for derivative in forward),
    }
    found, wanted = (np.array(contender(x)) for contender in contenders.values())
    assert np.allclose(found, wanted, rtol=1e-8), case
    return Measurement(f"{case}, order {order}", measure(contenders, (x,)), {})


def main() -> list[Measurement]:
    """Return the measurements, by function and order."""
    cases = [("formula", formula, 0.7), ("pendulum", pendulum, 0.7), ("waves", waves, 0.7)]
    return [compare(*case, order) for case in cases for order in ORDERS]
