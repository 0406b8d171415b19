"""A few functions of the sweep; a whole slice with ``ADCOMPILER_SWEEP=3/20``."""

import os

import pytest

from tests.sweep.cells import Cell, cells_of, functions
from tests.sweep.listed import reason
from tests.sweep.products import Outcome, check

PART = os.environ.get("ADCOMPILER_SWEEP", "")
ALWAYS = [("numpy", "conjugate"), ("numpy", "hypot"), ("scipy.ndimage", "shift")]


def chosen():
    """Return the functions of this run."""
    if not PART:
        return ALWAYS
    part, parts = map(int, PART.split("/"))
    return functions()[part - 1 :: parts]


@pytest.mark.parametrize(("module", "name"), chosen())
def test_every_cell_is_right_or_refused(module, name):
    cells = list(cells_of(module, name))[: None if PART else 1]
    found = {cell.shown: (cell, check(cell)) for cell in cells}
    bad = {k: o for k, (cell, o) in found.items()
           if o.status in ("wrong", "raw") and not reason(cell)}
    assert bad == {}
    if not PART:
        assert any(o.status == "right" for _, o in found.values())


def test_a_wrong_value_is_found(monkeypatch):
    cell = Cell("numpy", "sin", (0.6,))
    monkeypatch.setattr("tests.sweep.products.slope", lambda f, values, i, v: 7.0 * v)
    assert check(cell).status == "wrong"
    assert isinstance(check(cell), Outcome)
