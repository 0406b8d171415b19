"""A22: colorings are valid, small on patterns with known answers, and decompress exactly."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from adcompiler.sparsity.coloring import kernels
from adcompiler.sparsity.coloring.coloring import (
    KINDS, ORDERS, as_pattern, color, entries, is_alone, residues, without_diagonal,
)
from adcompiler.sparsity.coloring.decompression import Decompression
from adcompiler.sparsity.coloring.python_kernels import dynamic_order, greedy_colors


def banded(n, *offsets):
    diagonals = [np.ones(n - abs(k)) for k in offsets]
    return sp.csr_array(sp.diags(diagonals, offsets=offsets, shape=(n, n)))


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
    pytest.importorskip("llvmlite")
    rng = np.random.default_rng(1)
    pattern = rng.random((40, 40)) < 0.1
    pattern |= pattern.T
    plain = {kind: color(pattern, kind) for kind in KINDS}
    monkeypatch.setattr(kernels, "WORTH_COMPILING", 0)
    for kind in KINDS:
        native = color(pattern, kind)
        assert np.array_equal(native.columns, plain[kind].columns)
        assert np.array_equal(native.rows, plain[kind].rows)


def graph_of(pattern):
    """Return a symmetric pattern without its diagonal as CSR index arrays."""
    return without_diagonal(as_pattern(pattern | pattern.T))


@pytest.mark.parametrize("smallest_last", [True, False])
def test_orders_of_the_interpreter_are_those_of_the_compiled_form(smallest_last):
    rng = np.random.default_rng(2)
    written = inspect.unwrap(kernels.dynamic_order_kernel)
    for n in (0, 1, 2, 5, 30, 60):
        for density in (0.0, 0.05, 0.3, 1.0):
            graph = [part.tolist() for part in graph_of(rng.random((n, n)) < density)]
            found = dynamic_order(*graph, smallest_last)
            assert found == list(written(*graph, smallest_last))
            assert sorted(found) == list(range(n))


def test_colors_of_the_interpreter_are_those_of_the_compiled_form():
    rng = np.random.default_rng(4)
    written = inspect.unwrap(kernels.partial_distance_two_kernel)
    for shape in ((0, 0), (0, 3), (3, 0), (1, 9), (9, 1), (20, 30), (70, 90)):
        pattern = as_pattern(rng.random(shape) < 0.2)
        columns = pattern.tocsc()
        parts = (pattern.indptr, pattern.indices, columns.indptr, columns.indices)
        given = [part.tolist() for part in (*parts, rng.permutation(shape[1]))]
        assert greedy_colors(*given) == list(written(*given))


def test_an_order_is_smallest_last():
    rng = np.random.default_rng(6)
    indptr, indices = graph_of(rng.random((40, 40)) < 0.1)
    order = dynamic_order(indptr.tolist(), indices.tolist(), True)
    dense = sp.csr_array((np.ones(indices.size), indices, indptr), shape=(40, 40)).toarray()
    for last in range(40, 0, -1):
        left = order[:last]
        degrees = dense[np.ix_(left, left)].sum(axis=1)
        assert degrees[-1] == degrees.min()


@pytest.mark.parametrize("offsets", [
    (0,), (3,), (-1, 0, 1), (0, 1, 5), (-4, 0, 7), (-2, -1, 0, 1, 2), (-9, -1, 0, 1, 9), (-30, 25),
])
@pytest.mark.parametrize("shape", [(40, 40), (40, 33), (29, 40), (3, 40)])
def test_residues_are_colors_or_are_not_taken(offsets, shape):
    pattern = as_pattern(sum(np.eye(*shape, k) for k in offsets))
    least = int(np.diff(pattern.indptr).max(initial=0))
    for count in range(max(least, 1), 14):
        found = residues(pattern, (count,))
        if found is None:
            continue
        seeds = np.arange(found.max() + 1)[:, None] == found
        assert (seeds @ pattern.T.astype(int)).max(initial=0) <= 1
        assert found.max() < count
    coloring = color(pattern)
    assert (coloring.column_seeds() @ pattern.T).max(initial=0.0) <= 1.0


@pytest.mark.parametrize(("n", "count"), [(7, 5), (8, 5), (12, 5), (13, 5), (6, 7), (10, 7)])
def test_five_points_on_a_grid_are_colored_by_residues(n, count):
    line = banded(n, -1, 0, 1)
    pattern = as_pattern(sp.kron(line, np.eye(n)) + sp.kron(np.eye(n), line))
    coloring = color(pattern)
    assert coloring.count <= count
    assert (coloring.column_seeds() @ pattern.T).max() == 1.0


def test_a_star_coloring_with_a_vertex_in_the_middle_takes_linear_time():
    n = 20_000
    spokes = np.arange(1, n)
    hub = np.zeros(n - 1, int)
    ends = np.concatenate([hub, spokes, spokes]), np.concatenate([spokes, hub, spokes[::-1]])
    pattern = sp.csr_array((np.ones(3 * (n - 1)), ends), shape=(n, n))
    for kind in ("star", "acyclic"):
        coloring = color(pattern, kind)
        row, column = entries(coloring.pattern)
        colors = coloring.columns
        assert coloring.count == 3
        if kind == "star":
            alone = is_alone(row, colors[column], coloring.count)
            assert np.all(alone | is_alone(column, colors[row], coloring.count))


def test_bands_are_colored_by_residues():
    for width in (1, 2, 4):
        band = banded(50, *range(-width, width + 1))
        assert np.array_equal(color(band).columns, np.arange(50) % (2 * width + 1))
    assert np.array_equal(color(banded(50, -1, 1), "star").columns, np.arange(50) % 3)
    assert color(banded(2, -1, 0, 1), "star").count == 2
    assert color(np.eye(6), "star").count == 1
    assert color(np.kron(np.eye(4), np.ones((2, 2))), "star").count == 2


def test_a_full_row_needs_a_color_for_each_column_and_a_sparse_rest_none():
    pattern = np.eye(30)
    pattern[7] = 1.0
    assert np.array_equal(color(pattern).columns, np.arange(30))
    pattern[7, 11] = 0.0
    coloring = color(pattern)
    assert coloring.count == 29
    assert (coloring.column_seeds() @ pattern.T).max() == 1.0


def test_other_orders_are_tried_only_where_colors_may_be_saved(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "adcompiler.sparsity.coloring.coloring.dynamic_order_kernel",
        lambda indptr, *rest: asked.append(rest) or np.arange(indptr.size - 1))
    assert color(np.triu(np.ones((6, 6)))[:, :5]).count == 5  # the natural order needs no more
    assert not asked
    crossed = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 1, 1]])
    assert color(crossed).count == 3
    assert len(asked) == 1
