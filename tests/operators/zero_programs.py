"""Programs that multiply a zero derivative by an infinite slope, with what is known of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def roots(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def above(x: Any) -> Any:
    return np.sum(np.triu(np.sqrt(x.reshape(2, 2)), 1))


def beside(x: Any) -> Any:
    return np.sum(np.sqrt(x.reshape(2, 2)) * (1.0 - np.eye(2)))


def inverted(x: Any) -> Any:
    r = np.sqrt(x)
    r[r > 0.0] = 1.0 / r[r > 0.0]
    return np.sum(np.where(x > 0.0, r, 0.0))


def entropy(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, x * np.log(x), 0.0))


def reciprocal(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, 1.0 / x, 0.0))


def power(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, x**1.5, 0.0))


def inverse_power(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, x**-1.0, 0.0))


def powers(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, x ** np.full(2, 0.5), 0.0))


def arcs(x: Any) -> Any:
    return np.sum(np.where(x < 1.0, np.arcsin(x), 0.0))


def cubic(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, np.cbrt(x), 0.0))


def loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += math.sqrt(x[i]) * (x[i] > 0.0)
    return total


def picked(x: Any) -> Any:
    return np.sum(np.sqrt(x)[x > 0.0])


def distances(x: Any) -> Any:
    d = x[:, None] - x[None, :]
    return np.sum(np.sqrt(d * d)[np.triu_indices(len(x), 1)])


def norms(x: Any) -> Any:
    r = np.linalg.norm(x.reshape(2, 2), axis=1)
    return np.sum(np.where(r > 0.0, 2.0 * r, 0.0))


def helper(x: Any, n: int) -> Any:
    if n == 0:
        return x
    return helper(np.where(x > 0.0, np.sqrt(x), 0.0), n - 1)


def recursive(x: Any) -> Any:
    return np.sum(helper(x, 2))


def deviations(x: Any) -> Any:
    s = np.std(x.reshape(2, 2), axis=1)
    return np.sum(np.where(s > 0.0, s, 0.0))


def overflowing(x: Any) -> Any:
    return np.sum(np.where(x > 5.0, x, np.exp(x)))


def diagonal(*values: float) -> np.ndarray:
    return np.diag(np.array(values))


TWO = np.array([0.0, 4.0])
FOUR = np.array([0.0, 4.0, 9.0, 0.0])
E1 = math.exp(1.0)
PROGRAMS: list[tuple[Any, np.ndarray, list[float], np.ndarray]] = [
    (roots, TWO, [0.0, 0.25], diagonal(0.0, -1 / 32)),
    (above, FOUR, [0.0, 0.25, 0.0, 0.0], diagonal(0.0, -1 / 32, 0.0, 0.0)),
    (beside, FOUR, [0.0, 0.25, 1 / 6, 0.0], diagonal(0.0, -1 / 32, -1 / 108, 0.0)),
    (inverted, TWO, [0.0, -1 / 16], diagonal(0.0, 3 / 128)),
    (entropy, TWO, [0.0, math.log(4.0) + 1.0], diagonal(0.0, 0.25)),
    (reciprocal, TWO, [0.0, -1 / 16], diagonal(0.0, 1 / 32)),
    (power, TWO, [0.0, 3.0], diagonal(0.0, 0.375)),
    (inverse_power, TWO, [0.0, -1 / 16], diagonal(0.0, 1 / 32)),
    (powers, TWO, [0.0, 0.25], diagonal(0.0, -1 / 32)),
    (arcs, np.array([1.0, 0.6]), [0.0, 1.25], diagonal(0.0, 0.6 / 0.512)),
    (cubic, np.array([0.0, 8.0]), [0.0, 1 / 12], diagonal(0.0, -1 / 144)),
    (loop, TWO, [0.0, 0.25], diagonal(0.0, -1 / 32)),
    (picked, TWO, [0.0, 0.25], diagonal(0.0, -1 / 32)),
    (distances, np.array([0.0, 1.0, 3.0]), [-2.0, 0.0, 2.0], np.zeros((3, 3))),
    (norms, np.array([0.0, 0.0, 3.0, 4.0]), [0.0, 0.0, 1.2, 1.6], np.array([
        [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.256, -0.192],
        [0.0, 0.0, -0.192, 0.144]])),
    (recursive, np.array([0.0, 16.0]), [0.0, 1 / 32], diagonal(0.0, -3 / 2048)),
    (deviations, np.array([1.0, 1.0, 0.0, 2.0]), [0.0, 0.0, -0.5, 0.5], np.zeros((4, 4))),
    (overflowing, np.array([1000.0, 1.0]), [1.0, E1], diagonal(0.0, E1)),
]
"""Programs, each with a point, and the gradient and the Hessian there."""

FEW = [row for row in PROGRAMS if row[0] in (beside, entropy, recursive)]
