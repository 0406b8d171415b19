"""What is said to mean a function of NumPy computes what that computes."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.meanings import MEANINGS, OF_NUMBERS
from adcompiler.rulekit import REGISTRY, facts, rrule
from tests.together import each

POINTS = ((0.5,), (1.5,), (2.5, 0.75), (-1.5, 2.0), (-0.5,), (3, 2), (-7, 3))
OTHERS = (
    ((2, 3),), (np.eye(2),), (np.eye(2), 1), (np.eye(2), (2, 2)), (np.eye(2), int),
    (np.array(True), 1.0, 2.0),
    (np.eye(2) + 1.0, np.array([2.0, 3.0])), ([np.eye(2), np.eye(2)],),
)
ARRAYS = (np.array([0.5, 1.5, 0.25]), np.array([2, -3, 1]))


def reference(word: str) -> Any:
    """Return the function that a word names."""
    if word in OF_NUMBERS.split():
        return getattr(np, word)
    home = np.linalg if word in ("norm", "solve") else np
    home = np.ndarray if word == "astype" else home  # NumPy 2.1 has a function of that name
    return getattr(home, word, None) or getattr(math, word.removeprefix("int_"))


def meant() -> list[tuple[str, Any]]:
    """Return every function of which a meaning is known, with the word for it."""
    return sorted(
        ((known.means, function) for function, known in REGISTRY.all_facts() if known.means),
        key=lambda pair: (pair[0], display_name(pair[1])),
    )


def value(function: Any, args: tuple[Any, ...]) -> Any:
    """Return what a call gives, None where it gives nothing."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)
    except (TypeError, ValueError, ArithmeticError, AttributeError, np.exceptions.AxisError):
        return None


@each("word, function", meant(), ids=lambda x: x if isinstance(x, str) else display_name(x)
)
def test_functions_compute_what_they_are_said_to_mean(word: str, function: Any) -> None:
    compared = 0
    arrays = [(a,) for a in ARRAYS] + [(a, b) for a in ARRAYS for b in ARRAYS]
    for args in (*POINTS, *arrays, *OTHERS):
        found, wanted = value(function, args), value(reference(word), args)
        if found is None or wanted is None or isinstance(found, complex) or not np.all(
            np.isfinite(wanted)
        ) or word.startswith("empty"):
            continue
        compared += 1
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    assert compared or word.startswith(("empty", "swapaxes", "einsum"))


def test_every_word_is_that_of_a_function() -> None:
    assert {word for word, _ in meant()} == set(MEANINGS)


def test_a_word_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="means='plus': one of 'add'"):
        facts(math.dist, means="plus")


def greatest(z: Any) -> Any:
    """Return the largest element of a vector."""
    return np.sort(z)[-1]


def log_of_sum(z: Any) -> Any:
    """Return log(sum(exp(z)))."""
    m = greatest(z)
    return m + np.log(np.sum(np.exp(z - m)))


def test_what_is_said_to_mean_a_maximum_cancels_as_one_does() -> None:
    z = np.array([0.5, 1.5, 1.0])

    @rrule(greatest, shares="none")
    def greatest_rule(z):
        def greatest_pullback(dy):
            return dy * (z == greatest(z))

        return greatest(z), greatest_pullback

    try:
        before, wanted = grad(log_of_sum).source_for(z), grad(log_of_sum)(z)
        facts(greatest, means="max")
        assert "the rule of greatest" in before
        assert "the rule of greatest" not in grad(log_of_sum).source_for(z)
        assert np.allclose(grad(log_of_sum)(z), wanted)
    finally:
        REGISTRY.remove(greatest)
