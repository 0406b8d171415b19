"""NumPy functions that take functions or iterators, and NumPy's iterators in loops."""

import math

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.array([[0.5, -1.5], [2.0, 0.25], [1.0, -0.75]])
C = np.arange(12.0).reshape(2, 3, 2) / 5.0 - 1.1


def kinked(v, slope=2.0):
    if v > 0.0:
        return v * v
    return slope * v


@np.vectorize
def decorated(a, b):
    return a * b if a > b else a - b * b


sine = np.vectorize(math.sin)
typed = np.vectorize(kinked, otypes=[float])


@programs(V)
def vectorize_lambda(x):
    return np.sum(np.vectorize(lambda v: v**2 if v > 0.0 else -v)(x))


@programs(M)
def vectorize_matrix(m):
    return np.sum(np.vectorize(kinked)(m) * m)


@programs(V)
def vectorize_of_the_module(x):
    return np.sum(sine(x) * typed(x)) + np.sum(decorated(x, 0.75))


@programs(M, np.array([0.6, -1.4]))
def vectorize_stretched(m, v):
    return np.sum(decorated(m, v) ** 2)


@programs(V)
def vectorize_result(x):
    return typed(x)


@programs(M)
def vectorize_matrix_result(m):
    return typed(m)


@programs(V, 1.5)
def vectorize_with_excluded(x, s):
    f = np.vectorize(kinked, otypes=[float], excluded=["slope"])
    g = np.vectorize(lambda v, w: v * w[0] + w[1], excluded={1})
    return np.sum(f(x, slope=s)) + np.sum(g(x, [s, x[0]]))


@programs(V, 1.5)
def vectorize_of_captured(x, s):
    def scaled(v):
        return math.exp(v) * s

    return np.sum(np.vectorize(scaled)(x))


@programs(V)
def vectorize_of_several_results(x):
    a, b = np.vectorize(lambda v: (v * v, math.sin(v)))(x)
    return np.sum(a * b)


@programs(M)
def vectorize_with_signature(m):
    f = np.vectorize(lambda r: np.sum(r * r), signature="(n)->()")
    g = np.vectorize(lambda r: r[::-1] * r[0], signature="(n)->(n)")
    return np.sum(f(m) * m[:, 0]) + np.sum(g(m) * m)


@programs(M)
def apply_along_axes(m):
    return np.sum(np.apply_along_axis(lambda r: r @ r, 1, m) ** 2) + np.sum(
        np.apply_along_axis(lambda r: r * r[0], 0, m) * m
    )


@programs(C)
def apply_along_axis_of_three(c):
    return np.sum(np.apply_along_axis(np.linalg.norm, 1, c) ** 3) + np.sum(
        np.apply_along_axis(lambda r: r[::-1] * r[0], 1, c) * c
    ) + np.sum(np.apply_along_axis(np.sum, -1, c) ** 2)


@programs(M)
def apply_along_axis_of_lists_and_matrices(m):
    return np.sum(np.apply_along_axis(sorted, 1, m) * m) + np.sum(
        np.apply_along_axis(lambda r: np.outer(r, r), 0, m) ** 2
    ) + np.sum(np.apply_along_axis(np.cumsum, 0, m) * m)


@programs(1.5)
def vectorize_of_a_number(x):
    return float(np.vectorize(math.exp)(x)) * float(np.array(x * x))


@programs(C)
def apply_over_axes(c):
    return np.sum(np.apply_over_axes(np.sum, c, [0, 2]) ** 2)


@programs(V)
def apply_along_axis_with_arguments(x):
    def power_sum(r, p, scale=1.0):
        return np.sum(r**p) * scale

    return np.apply_along_axis(power_sum, 0, x, 2, scale=x[0])


@programs(V)
def fromiter(x):
    return np.sum(np.fromiter((v * v for v in x), dtype=float) * x) + np.sum(
        np.fromiter([v for v in x], float, count=4) ** 3
    )


@programs(1.5)
def fromfunction(x):
    return np.sum(np.fromfunction(lambda i, j: (i + 2 * j) * x + x**2, (2, 3)))


@programs(V)
def piecewise(x):
    return np.sum(np.piecewise(x, [x < 0.0, x >= 1.0], [lambda v: -v, lambda v: v * v, 2.0]))


@programs(V)
def piecewise_of_constants(x):
    return np.sum(np.piecewise(x, [x < 0.0, x >= 0.0], [-1.0, lambda v: np.exp(v)]) * x)


@programs(V)
def select(x):
    return np.sum(np.select([x < 0.0, x < 1.0], [-x, x * x], default=3.0) * x) + np.sum(
        np.select([x < 0.0], [x * 2.0], x**3)
    )


@programs(M)
def ndindex_loop(m):
    total = 0.0
    for i, j in np.ndindex(3, 2):
        total += m[i, j] ** 2 * (i + 1)
    for index in np.ndindex(m.shape):
        total = total * 0.5 + m[index] * index[1]
    return total


@programs(M)
def ndenumerate_loop(m):
    total = 0.0
    for (i, j), v in np.ndenumerate(m):
        total = total * 0.5 + v * v * (i + 2 * j)
    for index, v in np.ndenumerate(m):
        total += v * m[index]
    return total


@programs(V)
def ndenumerate_of_vector(x):
    return sum(v * x[i[0]] for i, v in np.ndenumerate(x))


@programs(M)
def flat_loop(m):
    total = 0.0
    for v in m.flat:
        total = total * 0.5 + v * v
    return total + m.flat[2] * sum(m.T.flat)


@programs(M)
def raveled_loop(m):
    return sum(v * i for i, v in enumerate(m.ravel())) + sum(v * v for row in m for v in row)


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


# -- what is refused, and when ---------------------------------------------------------------------


@pytest.mark.parametrize("function", [
    lambda m: sum(float(v) for v in np.nditer(m)),
    lambda m: np.frompyfunc(math.sin, 1, 1)(m),
    lambda m: np.sum(np.vectorize(kinked)(m, slope=m)),
    lambda m: np.sum(np.vectorize(lambda v: [v, v], otypes=[object])(m)),
], ids=["nditer", "frompyfunc", "array for a keyword", "lists"])
def test_refused(function):
    with pytest.raises(UnsupportedError, match="functions-along-arrays"):
        grad(function)(M)


def test_results_of_a_higher_kind_than_the_first_raise():
    def mixed(x):
        return np.sum(np.vectorize(lambda v: 0 if v > 0.0 else v)(x))

    assert mixed(V) == -1.0  # cut down to integers
    with pytest.raises(TypeError, match="return one type, or give `otypes=`"):
        grad(mixed)(V)
    assert np.array_equal(grad(mixed)(-np.abs(V)), np.ones(4))
    assert np.array_equal(
        grad(lambda x: np.sum(np.vectorize(lambda v: 0 if v > 0.0 else v, [float])(x)))(V),
        [0.0, 1.0, 0.0, 0.0],
    )


def test_an_empty_array_needs_otypes_as_in_numpy():
    empty = np.zeros(0)
    with pytest.raises(ValueError, match="size 0 inputs"):
        grad(lambda x: np.sum(np.vectorize(kinked)(x)))(empty)
    assert grad(lambda x: np.sum(typed(x)))(empty).shape == (0,)


def test_too_few_items_for_fromiter():
    with pytest.raises(ValueError, match="iterator too short"):
        grad(lambda x: np.sum(np.fromiter([v for v in x], float, count=5)))(V)


def test_a_vectorized_function_is_a_comprehension():
    gradient = grad(lambda x: np.sum(sine(x)))
    assert np.allclose(gradient(V), np.cos(V), rtol=1e-15)
    assert "math.cos(" in gradient.source and "vectorize" not in gradient.source
