"""Stencils on grids of any size are colored with as few colors as there are points in them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler import color, jacobian, sparse_hessian, sparse_jacobian
from adcompiler.sparsity.coloring.coloring import Coloring


def stencil(
    shape: Sequence[int], offsets: Sequence[Sequence[int]], periodic: bool = False,
    fields: int = 1, interleaved: bool = False,
) -> Any:
    """Return the pattern of a stencil on a grid, of several fields that are all coupled."""
    size = int(np.prod(shape))
    here = np.stack(np.unravel_index(np.arange(size), shape), -1)
    rows, columns = [], []
    for offset in offsets:
        there = here + np.array(offset)
        if periodic:
            there %= np.array(shape)
        inside = np.all((there >= 0) & (there < np.array(shape)), axis=1)
        rows.append(np.flatnonzero(inside))
        columns.append(np.ravel_multi_index(tuple(there[inside].T), tuple(shape)))
    r, c = np.concatenate(rows), np.concatenate(columns)
    pairs = list(itertools.product(range(fields), repeat=2))
    place = (lambda k, f: k * fields + f) if interleaved else (lambda k, f: f * size + k)
    r, c = (np.concatenate([place(k, pair[i]) for pair in pairs]) for i, k in enumerate((r, c)))
    return sp.csr_array((np.ones(r.size, bool), (r, c)), shape=(size * fields,) * 2)


def plus(axes: int) -> list[tuple[int, ...]]:
    return [(0,) * axes, *(
        tuple(s if i == k else 0 for i in range(axes)) for k in range(axes) for s in (1, -1))]


def box(axes: int) -> list[tuple[int, ...]]:
    return list(itertools.product((-1, 0, 1), repeat=axes))


def test_as_few_colors_as_the_stencil_has_points() -> None:
    for shape in ((20, 20), (31, 17), (7, 50)):
        for pattern, points in (
            (stencil(shape, plus(2)), 5), (stencil(shape, box(2)), 9),
            (stencil(shape, plus(2), fields=3), 15),
            (stencil(shape, plus(2), fields=3, interleaved=True), 15),
        ):
            for kind in ("column", "star"):
                assert color(pattern, kind).count == points, (shape, points, kind)
    for shape in ((8, 9, 10), (7, 5, 6)):
        for pattern, points in ((stencil(shape, plus(3)), 7), (stencil(shape, box(3)), 27)):
            for kind in ("column", "star"):
                assert color(pattern, kind).count == points, (shape, points, kind)
    assert color(stencil((20, 25), plus(2), periodic=True)).count == 5
    assert color(stencil((31, 17), plus(2), periodic=True)).count <= 9


def is_readable(coloring: Coloring) -> bool:
    """Say whether columns of one color have no nonzero in a common row."""
    dense = coloring.pattern.toarray()
    return all(
        dense[:, coloring.columns == one].sum(axis=1).max() <= 1
        for one in range(coloring.column_count))


def test_formulas_are_tested_on_patterns_that_are_almost_grids() -> None:
    rng = np.random.default_rng(0)
    for shape, offsets in (((12, 13), plus(2)), ((9, 14), box(2)), ((5, 6, 7), plus(3))):
        pattern = sp.lil_array(stencil(shape, offsets))
        for _ in range(3):
            i, j = rng.integers(pattern.shape[0], size=2)
            pattern[i, j] = True
            coloring = color(pattern)
            assert is_readable(coloring)
            assert len(offsets) <= coloring.least <= coloring.count


def test_a_star_coloring_has_no_more_colors_than_columns_apart() -> None:
    rng = np.random.default_rng(1)
    for density in (0.02, 0.1, 0.4):
        half = sp.random_array((60, 60), density=density, random_state=rng)
        pattern = sp.csr_array(half + half.T + sp.eye_array(60)) != 0
        star, column = color(pattern, "star"), color(pattern, "column")
        assert star.least <= star.count <= column.count


def laplacian(u):
    grid = u.reshape(9, 11)
    return np.sum((grid[1:] - grid[:-1]) ** 4) + np.sum((grid[:, 1:] - grid[:, :-1]) ** 4)


def test_hessians_on_grids() -> None:
    derivative, u = sparse_hessian(laplacian), np.cos(np.arange(99.0))
    assert derivative.structure(u).coloring.count == 5
    dense = jacobian(lambda x: sparse_gradient(x))(u)
    assert np.allclose(derivative(u).toarray(), dense)


def sparse_gradient(u):
    grid = u.reshape(9, 11)
    down, right = 4.0 * (grid[1:] - grid[:-1]) ** 3, 4.0 * (grid[:, 1:] - grid[:, :-1]) ** 3
    found = np.zeros((9, 11))
    found[1:] += down
    found[:-1] -= down
    found[:, 1:] += right
    found[:, :-1] -= right
    return found.ravel()


def rocket(z, n):
    h, v, m, u, final = z[:n], z[n : 2 * n], z[2 * n : 3 * n], z[3 * n : 4 * n], z[4 * n]
    step = 0.5 * final / n
    rates = (v, (u - v * v * np.exp(-h)) / m - 1.0 / h**2, -u)
    return np.concatenate([
        y[1:] - y[:-1] - step * (rate[1:] + rate[:-1]) for y, rate in zip(
            (h, v, m), rates, strict=True)])


def test_both_directions_where_that_pays() -> None:
    derivative, z = sparse_jacobian(rocket), np.linspace(1.0, 2.0, 41)
    coloring = derivative.structure(z, 10).coloring
    assert (coloring.column_count, coloring.row_count) == (1, 4)
    assert np.allclose(derivative(z, 10).toarray(), jacobian(rocket)(z, 10))


def test_explanations_have_the_colors_and_a_bound() -> None:
    u = np.cos(np.arange(99.0))
    assert "99 x 99, 455 nonzeros; 5 colors of columns (star), at least 3" in str(
        sparse_hessian(laplacian).explain(u))


def test_periodic_grids_whose_sizes_are_no_multiples() -> None:
    for shape, offsets, most in (
        ((11,), plus(1), 4), ((16, 18), plus(2), 6), ((21, 23), plus(2), 8), ((20, 20), box(2), 10),
        ((8, 8, 8), box(3), 64),
    ):
        found = color(stencil(shape, offsets, periodic=True))
        assert len(offsets) <= found.count <= most, (shape, found.count)
        assert found.least == len(offsets)
        assert f"at least {len(offsets)}" in str(found)
        for kept in (sp.csr_array(found.pattern.astype(int) @ seeds[:, None]) for seeds in (
            found.column_seeds())):
            assert kept.max() <= 1  # no two columns of a color have a nonzero in one row
