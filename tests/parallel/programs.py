"""Functions that workers import."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np


def loss(w: Any, X: Any, y: Any) -> Any:
    """Return the negative log-likelihood of a logistic regression."""
    return np.sum(np.logaddexp(0.0, -y * (X @ w)))


def of_structure(p: Any, X: Any) -> Any:
    """Return a sum that depends on a dict of arrays and numbers."""
    return np.sum(np.tanh(X @ p["w"] + p["b"][0]) * p["scale"])


def failing(w: Any, X: Any) -> Any:
    """Return a sum, but of data with a negative number."""
    if X[0] < 0.0:
        raise ArithmeticError("negative data")
    return np.sum(w * X)


def killing(w: Any, X: Any, flag: str) -> Any:
    """Return a sum; the process that first comes to the third part kills itself."""
    if X[0] == 3.0:
        once(flag)
    return np.sum(np.sin(X * w))


def once(flag: str) -> None:
    """Kill this process, the first time."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def field(u: Any, rate: float = 0.5) -> Any:
    """Return an array that depends on neighbours in an array."""
    return rate * (u[2:] - 2.0 * u[1:-1] + u[:-2]) + np.sin(u[1:-1]) * u[:-2]


def tall(u: Any) -> Any:
    """Return few numbers of many, each of which depends on all."""
    return np.array([np.sum(u * u), np.prod(np.cos(u))])


def of_two(a: Any, b: Any) -> Any:
    """Return a pair that depends on two arguments."""
    return a * b[0], np.sin(b) * a


def payoff(spot: float, volatility: float, normals: Any) -> Any:
    """Return the mean payoff of a call on paths."""
    ends = spot * np.exp(volatility * normals - 0.5 * volatility**2)
    return np.mean(np.maximum(ends - 100.0, 0.0))


def normals(rng: np.random.Generator, count: int) -> Any:
    """Return one normal number for each path."""
    return rng.standard_normal(count)


def wavy(x: Any, tilt: float) -> Any:
    """Return a function with many minima."""
    return np.sum(np.cos(3.0 * x) + tilt * x * x)
