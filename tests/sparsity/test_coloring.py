"""A22: colorings are valid, small on patterns with known answers, and decompress exactly."""

import numpy as np
import pytest
import scipy.sparse as sp
from adcompiler.sparsity.coloring import KINDS, ORDERS, color, entries, is_alone
from adcompiler.sparsity.decompression import Decompression


def banded(n, *offsets):
    return sp.diags_array([np.ones(n - abs(k)) for k in offsets], offsets=offsets, shape=(n, n))


def arrow(n):
    pattern = np.eye(n, dtype=bool)
    pattern[0] = pattern[:, 0] = True
    return pattern


def random_patterns(symmetric):
    rng = np.random.default_rng(3)
    for _ in range(40):
        m, n = rng.integers(0, 15, 2)
        pattern = rng.random((n if symmetric else m, n)) < rng.uniform(0.05, 0.6)
        yield pattern | pattern.T if symmetric else pattern


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_are_recovered_from_their_compressed_products(kind, order):
    rng = np.random.default_rng(5)
    symmetric = kind in ("star", "acyclic")
    for pattern in random_patterns(symmetric):
        matrix = rng.normal(size=pattern.shape) * pattern
        if symmetric:
            matrix = matrix + matrix.T
        coloring = color(pattern, kind, order)
        forward = coloring.column_seeds() @ matrix.T
        reverse = coloring.row_seeds() @ matrix
        found = Decompression(coloring).matrix(forward, reverse)
        assert np.allclose(found.toarray(), matrix, rtol=1e-12, atol=1e-12)
        assert found.nnz == pattern.sum()


@pytest.mark.parametrize("order", ORDERS)
def test_columns_of_a_color_do_not_meet(order):
    for pattern in random_patterns(False):
        coloring = color(pattern, "column", order)
        sums = coloring.column_seeds() @ pattern.T
        assert sums.max(initial=0.0) <= 1.0
        if order == "natural" and pattern.size:
            assert coloring.count >= pattern.sum(1).max()


@pytest.mark.parametrize("order", ORDERS)
def test_star_colorings_show_each_nonzero_or_its_mirror_image(order):
    for pattern in random_patterns(True):
        coloring = color(pattern, "star", order)
        row, column = entries(coloring.pattern)
        colors = coloring.columns
        direct = is_alone(row, colors[column], coloring.count)
        mirrored = is_alone(column, colors[row], coloring.count)
        assert np.all(direct | mirrored)


def test_banded_patterns_need_as_many_colors_as_the_band_is_wide():
    # 2 for a bidiagonal Jacobian, 3 for the tridiagonal Hessian of the same size
    assert color(banded(200, 0, 1)).count == 2
    assert color(banded(200, -1, 0, 1), "star").count == 3
    assert color(banded(200, -1, 0, 1), "acyclic").count == 2
    assert color(banded(200, -2, -1, 0, 1, 2)).count == 5
    assert color(np.ones((4, 7))).count == 7
    assert color(np.ones((4, 7)), "row").count == 4
    assert color(np.zeros((3, 4))).count == 1  # one derivative, of nothing
    assert color(np.zeros((0, 0))).count == 0


def test_an_arrow_needs_few_colors_in_both_directions():
    assert color(arrow(50)).count == 50
    assert color(arrow(50), "bidirectional").count == 3
    assert color(arrow(50), "star").count == 2


def test_a_periodic_stencil():
    n = 30
    pattern = np.eye(n) + np.roll(np.eye(n), 1, 1) + np.roll(np.eye(n), -1, 1)
    assert color(pattern).count == 3
    assert color(pattern[:, ::-1].copy(), "row").count == 3


def test_seeds_are_the_indicators_of_the_colors():
    coloring = color(banded(5, 0, 1))
    assert np.array_equal(coloring.column_seeds().sum(0), np.ones(5))
    assert coloring.column_seeds(np.float32).dtype == np.float32
    assert coloring.row_seeds().shape == (0, 5)


def test_words_and_patterns_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="kind is one of"):
        color(np.eye(2), "diagonal")
    with pytest.raises(ValueError, match="order is one of"):
        color(np.eye(2), "column", "random")
    with pytest.raises(ValueError, match="symmetric"):
        color(np.triu(np.ones((3, 3))), "star")


def test_native_kernels_give_the_same_colors(monkeypatch):
    pytest.importorskip("numba")
    from adcompiler.sparsity import kernels

    rng = np.random.default_rng(1)
    pattern = rng.random((40, 40)) < 0.1
    pattern |= pattern.T
    plain = {kind: color(pattern, kind) for kind in KINDS}
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    for kind in KINDS:
        native = color(pattern, kind)
        assert np.array_equal(native.columns, plain[kind].columns)
        assert np.array_equal(native.rows, plain[kind].rows)
