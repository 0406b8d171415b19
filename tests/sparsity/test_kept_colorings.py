"""Colorings are kept on disk, by all nonzeros of the pattern, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adcompiler import color, sparse_jacobian
from adcompiler.api.sparse.structures import Structures
from adcompiler.sparsity.coloring.coloring import Coloring
from adcompiler.sparsity.coloring.kept import kept_coloring

TRIDIAGONAL = sp.csr_array(np.tri(100, k=1, dtype=bool) & ~np.tri(100, k=-2, dtype=bool))
CYCLIC = sp.csr_array(TRIDIAGONAL + sp.csr_array(([True], ([0], [99])), shape=(100, 100)))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def found_or_made(pattern: Any, kind: str = "column", word: str = "") -> tuple[Coloring, bool]:
    """Return a coloring, and whether it was made anew."""
    made = []

    def make() -> Coloring:
        made.append(True)
        return color(pattern, kind)

    return kept_coloring(pattern, (kind, word), make), bool(made)


def same(a: Coloring, b: Coloring) -> bool:
    return a.kind == b.kind and np.array_equal(a.columns, b.columns) and np.array_equal(
        a.rows, b.rows) and (a.pattern != b.pattern).nnz == 0


def test_a_coloring_is_found_again() -> None:
    for kind in ("column", "row", "star", "acyclic", "bidirectional"):
        first, made = found_or_made(TRIDIAGONAL, kind)
        assert made
        again, made = found_or_made(TRIDIAGONAL.tocoo(), kind)
        assert not made
        assert same(first, again)


def test_what_differs_is_colored_anew() -> None:
    found_or_made(TRIDIAGONAL)
    for pattern, kind, word in (
        (CYCLIC, "column", ""), (TRIDIAGONAL, "row", ""), (TRIDIAGONAL, "column", "order"),
        (TRIDIAGONAL[:, :99], "column", ""),
    ):
        assert found_or_made(pattern, kind, word)[1]


def test_a_damaged_entry_is_none(own_cache: Path) -> None:
    first, _ = found_or_made(TRIDIAGONAL)
    (entry,) = own_cache.rglob("coloring_*.py")
    content = bytearray(entry.read_bytes())
    content[-20] ^= 1
    entry.write_bytes(bytes(content))
    again, made = found_or_made(TRIDIAGONAL)
    assert made
    assert same(first, again)
    assert not found_or_made(TRIDIAGONAL)[1]


def test_without_a_cache_it_is_colored_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    assert [found_or_made(TRIDIAGONAL)[1] for _ in range(2)] == [True, True]


def scaled_differences(u):
    return SCALE * (u[STEP:] - u[:-STEP] * u[STEP:])


SCALE, STEP = 2.0, 1


def test_a_derivative_of_new_constants_has_its_own_pattern(monkeypatch: Any) -> None:
    u = np.linspace(1.0, 2.0, 50)
    first = sparse_jacobian(scaled_differences)(u)
    monkeypatch.setitem(globals(), "STEP", 3)
    other = sparse_jacobian(scaled_differences)(u)
    assert (first.nnz, other.nnz) == (98, 94)
    assert np.isclose(other[0, 3], 2.0 * (1.0 - u[0]))
    assert np.isclose(other[0, 0], -2.0 * u[3])
    monkeypatch.setattr(Structures, "colored", None)  # which another process need not ask
    again = sparse_jacobian(scaled_differences)(u)
    assert (abs(again - other)).max() == 0.0
