"""Pictures of patterns show each entry at its place."""

import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from adcompiler import (
    grad, hessian_sparsity, jacobian_sparsity, sparse_hessian, sparse_jacobian,
)
from adcompiler.plot import Pattern, spy
from adcompiler.sparsity.coloring.coloring import color

pytest.importorskip("matplotlib")


def shades(ax):
    (image,) = ax.images
    return np.asarray(image.get_array())


def test_entries_are_drawn_at_their_places():
    pattern = sp.csr_matrix(np.array([[1, 0, 1], [0, 1, 0]], bool))
    ax = spy(pattern)
    assert np.array_equal(shades(ax) > 0, pattern.toarray())
    assert ax.get_title() == "2 x 3, 3 nonzeros"
    assert spy(pattern.toarray(), ax=ax, title="again") is ax and ax.get_title() == "again"


def test_single_entries_of_large_patterns_stay_visible():
    pattern = sp.eye(5000, format="csr")
    drawn = shades(spy(pattern))
    assert drawn.shape == (400, 400)
    assert np.array_equal(np.flatnonzero(drawn.sum(axis=1)), np.arange(400))
    assert drawn[0, 200] == 0.0


def test_empty_patterns():
    assert shades(spy(sp.csr_matrix((3, 0), dtype=bool))).sum() == 0.0
    assert shades(spy(sp.csr_matrix((3, 4), dtype=bool))).sum() == 0.0


def chain(x):
    return np.sum((x[1:] - x[:-1]) ** 2 * x[1:])


def steps(x):
    return x[1:] * x[:-1]


def test_patterns_draw_themselves_and_are_csr_arrays():
    pattern = jacobian_sparsity(steps, np.ones(4))
    assert isinstance(pattern, sp.csr_array) and pattern.dtype == bool
    assert np.array_equal(shades(pattern.plot()) > 0, pattern.toarray())
    shown = pattern._repr_html_()
    assert shown.startswith('<img alt="3 x 4, 6 nonzeros" src="data:image/png;base64,')
    assert isinstance(hessian_sparsity(chain, np.ones(4)), Pattern)
    for derivative in (sparse_jacobian(steps), sparse_hessian(chain), grad(chain)):
        assert derivative.pattern(np.ones(4)).plot().get_xlabel() == "input"
    again = pickle.loads(pickle.dumps(pattern))
    assert np.array_equal(again.toarray(), pattern.toarray())


def test_patterns_are_matrices_in_functions_that_are_differentiated():
    pattern = jacobian_sparsity(steps, np.ones(4))
    plain = sp.csr_array(pattern)
    x = np.arange(1.0, 5.0)
    found = grad(lambda x: np.sum(np.sin(pattern @ x)))(x)
    assert found == pytest.approx(grad(lambda x: np.sum(np.sin(plain @ x)))(x))
    assert found == pytest.approx(plain.T @ np.cos(plain @ x))


def colors_drawn(coloring):
    image = shades(coloring.plot())
    return np.ma.filled(np.ma.masked_invalid(image), -1.0)


def test_nonzeros_have_the_color_of_their_column():
    coloring = sparse_jacobian(steps).colors(np.ones(5))
    drawn = colors_drawn(coloring)
    pattern = coloring.pattern.toarray()
    assert np.array_equal(drawn >= 0, pattern)
    wanted = np.where(pattern, coloring.columns[None, :], -1)
    assert np.array_equal(drawn, wanted)
    assert f"{coloring.count} colors" in coloring._repr_html_()
    assert colors_drawn(sparse_hessian(chain).colors(np.ones(5))).max() == 2.0


def test_rows_have_colors_of_their_own():
    arrow = np.eye(6, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    both = color(arrow, "bidirectional")
    drawn = colors_drawn(both)
    i, j = np.nonzero(arrow)
    wanted = np.where(both.columns[j] >= 0, both.columns[j], both.rows[i] + both.column_count)
    assert np.array_equal(drawn[i, j], wanted)
    many = color(np.ones((3, 30), bool))
    assert len(np.unique(colors_drawn(many))) == 30
    assert colors_drawn(color(np.zeros((3, 2), bool))).max() == -1.0


def test_without_matplotlib_patterns_are_told_in_words(monkeypatch):
    pattern = jacobian_sparsity(steps, np.ones(4))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert pattern._repr_html_() == "<code>3 x 4, 6 nonzeros</code>"
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install adcompiler\[plot\]"):
        pattern.plot()
