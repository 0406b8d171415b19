"""Pictures of patterns show each entry at its place."""

import numpy as np
import pytest
import scipy.sparse as sp

from adcompiler.plot import spy

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
