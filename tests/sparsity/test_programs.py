"""Patterns of programs: as derived by hand, and never less than the dense derivative has."""

import numpy as np
import pytest

from adcompiler import grad, hessian_sparsity, jacobian_sparsity
from tests.sparsity import (  # noqa: F401  (they enter their programs)
    programs_arrays, programs_control, programs_grids, programs_optimisation,
)
from tests.sparsity.check import dense_jacobian, missing, rows
from tests.sparsity.programs import PROGRAMS

POINTS = 3


def pattern_of(program, args, mode="global"):
    if program.second:
        return hessian_sparsity(program.function, *args, mode=mode)
    return jacobian_sparsity(program.function, *args, argnums=program.argnums, mode=mode)


def moved(value, rng):
    """Return an argument at another point."""
    if isinstance(value, float):
        return value * rng.uniform(0.7, 1.3)
    if isinstance(value, np.ndarray):
        return value * rng.uniform(0.7, 1.3, value.shape)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(item, rng) for item in value)
    if isinstance(value, dict):
        return {key: moved(item, rng) for key, item in value.items()}
    return value


def points(program):
    """Yield the arguments of a program at several points."""
    yield program.args
    rng = np.random.default_rng(len(str(program)))
    for _ in range(POINTS - 1):
        yield tuple(moved(arg, rng) for arg in program.args)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_pattern(program):
    found = rows(pattern_of(program, program.args))
    wanted = list(program.rows())
    if program.exact:
        assert found == wanted
    else:
        assert len(found) == len(wanted)
        assert all(row >= other for row, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_nothing_is_missing(program):
    everywhere = pattern_of(program, program.args)
    for args in points(program):
        dense = dense_derivative(program, args)
        assert missing(everywhere, dense) == []
        assert missing(pattern_of(program, args, "local"), dense) == []


def dense_derivative(program, args):
    if program.second:
        return curvature(program, args)
    if program.argnums == 1:
        return dense_jacobian(written_by(program.function), args[1:], (0,))
    return dense_jacobian(program.function, args, (0,))


def written_by(function):
    """Return a function that returns what ``function`` writes into its first argument."""
    def returning(x):
        y = np.zeros_like(x)
        function(y, x)
        return y

    return returning


def curvature(program, args):
    """Return a Hessian by differences of gradients, with what is noise made zero."""
    gradient = grad(program.function)
    (x,) = args
    columns = []
    for k in range(x.size):
        step = np.zeros(x.size)
        step[k] = 1e-5
        step = step.reshape(x.shape)
        columns.append((gradient(x + step) - gradient(x - step)).ravel() / 2e-5)
    found = np.array(columns)
    return np.where(np.abs(found) > 1e-5 * np.abs(found).max(initial=1e-6), found, 0.0)


def test_nine_in_ten_patterns_are_exact():
    exact = sum(program.exact for program in PROGRAMS)
    assert len(PROGRAMS) >= 100 and exact >= 0.9 * len(PROGRAMS)


def test_recursion_as_deep_as_pythons_own() -> None:
    def repeated(x: np.ndarray, n: int) -> np.ndarray:
        return x if n == 0 else repeated(x * np.sin(x), n - 1)

    pattern = jacobian_sparsity(repeated, np.ones(3), 400)
    np.testing.assert_array_equal(pattern.toarray(), np.eye(3, dtype=bool))
