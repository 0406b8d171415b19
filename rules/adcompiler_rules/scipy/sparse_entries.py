"""Rules for sparse matrices as entries: linear in their values, at places that are constant."""

import numpy as np

from adcompiler.rulekit import call, facts, non_differentiable, rrule
from adcompiler.runtime.sparse.entries import (
    added_places, along_diagonals, coordinates, diagonal_places, entries_of, entries_product,
    entries_solution, entry_factors, filled_coordinates, filled_place, filled_places, filled_size,
    filled_sources, kron_places, moved_sources, of_table, product_places, scattered,
    selected_places, uncompressed, whole,
)
from adcompiler.runtime.sparse.solving import Factors
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal

ROWS, COLUMNS = np.array([0, 1, 2, 2, 0, 1]), np.array([0, 1, 2, 0, 1, 1])
DIAGONAL = np.array([3.0, 2.0, 2.5, 0.5, 0.25, 1.5])


def values_near(rng):
    """Return values of entries of a matrix that is far from singular; two share a place."""
    return DIAGONAL + 0.2 * rng.normal(size=6)


def pairs(dy, x, rows, columns):
    """Return the elements of ``dy x^H`` in some places."""
    if np.ndim(x) == 1:
        return dy[rows] * np.conj(x)[columns]
    return np.sum(dy[rows] * np.conj(x)[columns], axis=1)


@rrule(scattered, wrt=("values",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=6), ROWS, 4),
    call(complex_normal(rng, 6), COLUMNS, 3),
])
def scattered_rule(values, places, n):
    def scattered_pullback(dy):
        return like(dy[places], values)

    return scattered(values, places, n), scattered_pullback


@rrule(entries_product, wrt=("values", "x"), bilinear=(0, 4), domain=lambda rng: [
    call(rng.normal(size=6), ROWS, COLUMNS, (3, 3), rng.normal(size=3)),
    call(rng.normal(size=6), ROWS, COLUMNS, (3, 4), rng.normal(size=(4, 2))),
    call(complex_normal(rng, 6), ROWS, COLUMNS, (3, 3), complex_normal(rng, 3)),
    call(rng.normal(size=6), ROWS, COLUMNS, (3, 3), complex_normal(rng, 3)),
])
def entries_product_rule(values, rows, columns, shape, x):
    y = entries_product(values, rows, columns, shape, x)

    def entries_product_pullback(dy):
        dx = entries_product(np.conj(values), columns, rows, (shape[1], shape[0]), dy)
        return like(pairs(dy, x, rows, columns), values), like(dx, x)

    return y, entries_product_pullback


def systems(rng):
    """Return systems with real and complex values, and their conjugate transposes."""
    a, c = values_near(rng), values_near(rng) + 0.3j * rng.normal(size=6)
    return [
        call(a, ROWS, COLUMNS, (3, 3), rng.normal(size=3)),
        call(a, ROWS, COLUMNS, (3, 3), rng.normal(size=(3, 2)), "H"),
        call(c, ROWS, COLUMNS, (3, 3), complex_normal(rng, 3)),
        call(c, ROWS, COLUMNS, (3, 3), complex_normal(rng, 3, 2), "H"),
        call(a, ROWS, COLUMNS, (3, 3), complex_normal(rng, 3)),
    ]


@rrule(entries_solution, wrt=("values", "b"), domain=systems)
def entries_solution_rule(values, rows, columns, shape, b, trans="N", factors=None):
    """``y = inv(A) b``: ``db = inv(A)^H dy`` and ``dA = -db y^H``, in the places of the entries."""
    kept = entry_factors(values, rows, columns, shape, b) if factors is None else factors
    y = entries_solution(values, rows, columns, shape, b, trans, kept)

    def entries_solution_pullback(dy):
        other = "H" if trans == "N" else "N"
        db = entries_solution(values, rows, columns, shape, dy, other, kept)
        dvalues = pairs(db, y, rows, columns) if trans == "N" else pairs(y, db, rows, columns)
        return like(-dvalues, values), like(db, b)

    return y, entries_solution_pullback


# --- places ---------------------------------------------------------------------------------------

I = np.zeros(2, np.intp)  # noqa: E741
SIZE = (2, 2)

non_differentiable(
    coordinates, uncompressed, along_diagonals, of_table, added_places, product_places, kron_places,
    selected_places, diagonal_places, filled_coordinates, filled_place, filled_places, filled_size,
    filled_sources, moved_sources,
    entry_factors,  # of values, which the solution is given beside
    entries_of,  # of a matrix of SciPy, which carries no derivative
)
facts(coordinates, uncompressed, typed_as=lambda *_, **__: (I, I, SIZE))
facts(along_diagonals, of_table, typed_as=lambda *_, **__: (I, I, SIZE, I))
facts(filled_size, typed_as=lambda *_: SIZE)
facts(filled_place, typed_as=lambda *_: 0)
facts(filled_places, typed_as=lambda *_: [0])
facts(filled_sources, moved_sources, typed_as=lambda *_: I)
facts(added_places, kron_places, filled_coordinates, typed_as=lambda *_, **__: (I, I))
facts(product_places, typed_as=lambda *_, **__: (I, I, I, I, I))
facts(selected_places, typed_as=lambda *_, **__: (I, I, I, SIZE))
facts(diagonal_places, typed_as=lambda *_, **__: (I, I, 0))
facts(scattered, typed_as=lambda values, *_, **__: np.zeros(2, np.asarray(values).dtype))
facts(
    entries_product,
    typed_as=lambda values, rows, columns, shape, x: np.zeros(
        np.shape(x), np.result_type(values, x)),
)
facts(
    entries_solution,
    typed_as=lambda values, rows, columns, shape, b, *_: np.zeros(
        np.shape(b), np.result_type(np.asarray(values), b, np.float32)),
)
facts(entries_of, typed_as=lambda matrix: (np.zeros(2, matrix.dtype), I, I, SIZE))
facts(whole, pure=True, shares="none", writes=(), tried=True, typed_as=lambda cls, values, *_: cls(
    np.ones((3, 3), np.asarray(values).dtype)))
facts(
    scattered, entries_product, entries_solution, coordinates, uncompressed, along_diagonals,
    of_table, added_places, product_places, kron_places, selected_places, diagonal_places,
    entry_factors, entries_of, filled_coordinates, filled_place, filled_places, filled_size,
    filled_sources, moved_sources, shares="none", writes=(), tried=True,
)
facts(entry_factors, fresh=False, typed_as=lambda *_, **__: Factors(None, np.dtype(float)))
facts(entries_product, linear_in="values,x")
facts(entries_solution, linear_in="b")
facts(scattered, linear_in="values")
