"""Copies of random generators, which draw what the generators will draw."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np


def copied_generator(generator: np.random.Generator) -> np.random.Generator:
    """Return a generator in the same state."""
    return copy.deepcopy(generator)


def copied_random_state(generator: np.random.RandomState) -> np.random.RandomState:
    """Return a generator in the same state."""
    return copy.deepcopy(generator)


def copied_random(generator: random.Random) -> random.Random:
    """Return a generator in the same state."""
    return copy.deepcopy(generator)


NUMPYS = (np.random.Generator, np.random.RandomState)
"""The classes of generators whose methods are written in C."""
COPIES: dict[type, Callable[..., Any]] = {
    np.random.Generator: copied_generator, np.random.RandomState: copied_random_state,
    random.Random: copied_random,
}
"""What copies the generators of a class."""


DISCRETE = frozenset({
    "binomial", "choice", "geometric", "hypergeometric", "integers", "logseries", "multinomial",
    "multivariate_hypergeometric", "negative_binomial", "permutation", "permuted", "poisson",
    "randint", "shuffle", "zipf",
})
"""Methods that draw whole numbers, or what is there already."""


def undifferentiated(name: str) -> tuple[str, str]:
    """Return that a draw has no derivative in its parameters, and what to write instead."""
    if name in DISCRETE:
        return (
            f"`.{name}()` draws from what is discrete, which does not move with its parameters",
            "use the score function: average a value times the derivative of the logarithm of the "
            "probability of what was drawn; or draw with parameters that are not differentiated")
    return (
        f"`.{name}()` draws from a distribution of which the draws have no derivative here",
        "draw standard numbers and transform them, or draw from one that has: normal, uniform, "
        "exponential, gamma, beta, ...")
