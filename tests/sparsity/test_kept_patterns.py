"""Patterns are kept on disk, and found again only while all that they depend on is the same."""

from __future__ import annotations

import functools
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adcompiler.api.sparse.patterns
from adcompiler import (
    classify, hessian, jacobian, lagrangian, sparse_hessian, sparse_jacobian,
    value_and_sparse_jacobian,
)
from adcompiler.api.sparse.structures import Structures
from adcompiler.cache.store import CacheWarning, Store, default_directory
from adcompiler.errors import FullPatternWarning
from adcompiler.ops.classify import DECLARED
from adcompiler.ops.registry import REGISTRY

Finds = list[str]


@pytest.fixture(autouse=True)
def finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Finds:
    """The names of what was looked for: patterns and colorings; each test has its own cache."""
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(REGISTRY, "first_generation", REGISTRY.generation)
    found: Finds = []
    find, color = adcompiler.api.sparse.patterns.found_pattern, Structures.colored

    def counted(*args: Any) -> Any:
        found.append("pattern")
        return find(*args)

    monkeypatch.setattr(adcompiler.api.sparse.patterns, "found_pattern", counted)

    def colored(self: Structures, pattern: Any) -> Any:
        found.append("coloring")
        return color(self, pattern)

    monkeypatch.setattr(Structures, "colored", colored)
    return found


def looked_for(finds: Finds, call: Callable[[], Any]) -> list[str]:
    """Return what one call looked for."""
    before = len(finds)
    call()
    return finds[before:]


U = np.linspace(1.0, 2.0, 12)
STEP = 1
PLACES = np.array([0, 3, 5])
MATRIX = np.tri(12, k=0)
TABLE = {"steps": [1, 2]}


def differences(u, scale=1.0):
    return scale * (u[STEP:] - u[:-STEP] ** 2)


def picked(u):
    return u[PLACES] ** 2


def multiplied(u):
    return MATRIX @ u**2


def from_table(u):
    return u[TABLE["steps"][1] :] * u[: -TABLE["steps"][1]]


def chained(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2)


def spacing(x):
    return (x[2:] - x[:-2]) ** 2


def switched(u, t):
    return u * u[::-1] if t > 1.0 else u**2


def powers(u, n):
    return u[n:] * u[:-n]


def outer_closure(step, mask):
    def closed(u):
        return np.where(mask[step:], u[step:] * u[:-step], 0.0)

    return closed


def test_patterns_and_colorings_are_found_again(finds: Finds) -> None:
    x, v = np.linspace(0.0, 1.0, 8), np.ones(6)
    calls: list[Callable[[], Any]] = [
        lambda: sparse_jacobian(differences)(U), lambda: sparse_hessian(chained)(x),
        lambda: sparse_jacobian(differences, kind="row")(U),
        lambda: value_and_sparse_jacobian(spacing)(x)[1],
        lambda: lagrangian(chained, spacing, triangle="lower").hessian(x, v),
        lambda: sparse_jacobian(powers)(U, 3), lambda: sparse_jacobian(multiplied)(U),
        lambda: sparse_jacobian(outer_closure(2, np.arange(12) % 3 == 0))(U),
    ]
    first = [call() for call in calls]
    assert finds.count("pattern") == len(calls) - 1  # a row coloring is of the same pattern
    assert finds.count("coloring") == len(calls)
    finds.clear()
    again = [call() for call in calls]
    assert finds == []
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.toarray(), b.toarray())
        assert np.array_equal(a.indices, b.indices)


def test_other_numbers_have_the_same_pattern(finds: Finds) -> None:
    sparse_jacobian(differences)(U, 2.0)
    assert looked_for(finds, lambda: sparse_jacobian(differences)(U**2, 0.0)) == []
    assert sparse_jacobian(differences)(U, 0.0).nnz == 22


def changed(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    monkeypatch.setitem(globals(), name, value)


CHANGES: dict[str, tuple[Callable[..., Any], str, Any]] = {
    "an integer": (differences, "STEP", 2),
    "indices": (picked, "PLACES", np.array([0, 3, 6])),
    "as many indices elsewhere": (picked, "PLACES", np.array([1, 3, 5])),
    "zeros of a matrix": (multiplied, "MATRIX", np.tri(12, k=-1)),
    "an item deep inside": (from_table, "TABLE", {"steps": [1, 3]}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_global_variable_has_another_pattern(
    what: str, finds: Finds, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, name, value = CHANGES[what]
    before = globals()[name]
    assert looked_for(finds, lambda: sparse_jacobian(function)(U)) == ["pattern", "coloring"]
    changed(monkeypatch, name, value)
    derivative = sparse_jacobian(function)
    assert "pattern" in looked_for(finds, lambda: derivative(U))
    assert np.array_equal(derivative(U).toarray(), jacobian(function)(U))
    assert np.array_equal(derivative.pattern(U).toarray(), jacobian(function)(U) != 0.0)
    with monkeypatch.context() as back:
        back.setitem(globals(), name, before)
        assert looked_for(finds, lambda: sparse_jacobian(function)(U)) == []


def test_closures_arguments_and_settings_are_told_apart(finds: Finds) -> None:
    mask = np.arange(12) % 3 == 0
    base: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
        (outer_closure(2, mask), (U,), {}), (powers, (U, 3), {}), (differences, (U,), {})]
    others: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
        (outer_closure(3, mask), (U,), {}), (outer_closure(2, ~mask), (U,), {}),
        (powers, (U, 2), {}), (powers, (U[:8], 3), {}), (differences, (U.astype("f4"),), {}),
        (differences, (U, 2.0), {"argnums": (0, 1)}),
    ]
    for function, args, named in [*base, *others]:
        derivative = sparse_jacobian(function, **named)
        assert "pattern" in looked_for(finds, lambda d=derivative, a=args: d(*a))
        dense = jacobian(function, **named)(*args)
        if named:
            dense = np.column_stack(dense)
        assert np.allclose(derivative(*args).toarray(), dense, rtol=1e-6)
    assert "pattern" in looked_for(finds, lambda: sparse_hessian(chained)(U))
    assert np.allclose(sparse_hessian(chained)(U).toarray(), hessian(chained)(U))


def test_an_argument_that_decides_is_looked_at(finds: Finds) -> None:
    early = sparse_jacobian(switched)(U, 0.5)
    assert early.nnz == 12
    assert looked_for(finds, lambda: sparse_jacobian(switched)(U**2, 0.5)) == []
    late = sparse_jacobian(switched)
    assert "pattern" in looked_for(finds, lambda: late(U, 2.0))
    assert np.array_equal(late(U, 2.0).toarray(), jacobian(switched)(U, 2.0))
    assert looked_for(finds, lambda: sparse_jacobian(switched)(U, 2.0)) == []
    for t in np.linspace(3.0, 4.0, 9):
        sparse_jacobian(switched)(U, float(t))
    kept = list(default_directory().rglob("pattern_of_switched_*.py"))  # type: ignore[union-attr]
    assert len(kept) == 4


def test_a_local_pattern_is_not_kept(finds: Finds) -> None:
    for _ in range(2):
        assert looked_for(
            finds, lambda: sparse_jacobian(differences, mode="local")(U)) == ["pattern", "coloring"]
    assert not list(default_directory().rglob("pattern_of_*"))  # type: ignore[union-attr]


class Numbers(list):  # type: ignore[type-arg]
    """A list that pickles as an empty one."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Numbers, ()


def picked_at(u, where):
    return u[where[0] :] * u[: len(u) - where[0]]


def sorted_by(u):
    order = sorted(range(len(u)), key=rank)
    return u[order[0]] * u[1:]


RANKS = list(range(12))


def rank(i):
    return RANKS[i]


def read_from_file(u):
    return u[np.load(FILE)] ** 2


def mapped_from_file(u):
    return u[np.memmap(FILE, dtype=np.int64, offset=128)] ** 2


FILE = ""


def test_a_list_of_a_class_of_its_own(finds: Finds) -> None:
    assert sparse_jacobian(picked_at)(U, Numbers([1])).nnz == 22
    assert sparse_jacobian(picked_at)(U, Numbers([2])).nnz == 20


def test_what_a_function_given_to_another_reads_counts(
    finds: Finds, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse_jacobian(sorted_by)(U)
    monkeypatch.setitem(globals(), "RANKS", RANKS[::-1])
    derivative = sparse_jacobian(sorted_by)
    finds.clear()
    assert np.array_equal(derivative(U).toarray(), jacobian(sorted_by)(U))
    assert "pattern" in finds


@pytest.mark.parametrize("function", [read_from_file, mapped_from_file])
def test_what_is_read_from_files_is_read_again(
    function: Any, finds: Finds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "FILE", str(tmp_path / "places.npy"))
    np.save(FILE, np.array([0, 1, 2]))
    sparse_jacobian(function)(U)
    np.save(FILE, np.array([3, 5, 7]))
    derivative = sparse_jacobian(function)
    finds.clear()
    assert np.array_equal(derivative(U).toarray(), jacobian(function)(U))
    assert "pattern" in finds


def unknown(x):
    return x if x > 0.0 else 0.0


def test_a_process_that_declares_something_finds_patterns_anew(finds: Finds) -> None:
    first = sparse_hessian(chained)
    first(U)
    classify(unknown, "1-1", "f")
    try:
        assert looked_for(finds, lambda: sparse_hessian(chained)(U)) == ["pattern"]
        assert looked_for(finds, lambda: first(U)) == ["pattern"]  # it may be another one now
    finally:
        del DECLARED[unknown]


def indexed(u, places):
    return u[places] ** 2


class Picking:
    def __init__(self, places: Any) -> None:
        self.places = places

    def __call__(self, u: Any) -> Any:
        return u[self.places] ** 2


def around(places):
    def inner(u):
        return u[places] ** 2

    def outer(u):
        return 2.0 * inner(u)

    return outer


LONG = np.linspace(1.0, 2.0, 3000)


@pytest.mark.parametrize("make", [
    lambda places: functools.partial(indexed, places=places),
    lambda places: functools.partial(functools.partial(indexed), places=places),
    Picking, lambda places: Picking(places).__call__, around,
    lambda places: lambda u: np.take(u, places) ** 2,
], ids=["partial", "partial of a partial", "instance", "method", "closure", "lambda"])
def test_long_arrays_that_differ_in_one_place_are_told_apart(make: Any, finds: Finds) -> None:
    first, other = np.arange(2000), np.arange(2000)
    other[1000] = 2500  # which numpy's repr leaves out
    for wanted in (["pattern"], []):
        for places in (first, other):
            derivative = sparse_jacobian(make(places))
            done = looked_for(finds, lambda d=derivative: d(LONG))
            assert [one for one in done if one == "pattern"] == wanted
            assert np.array_equal(np.sort(derivative(LONG).indices), np.sort(places))


# -- files and processes ---------------------------------------------------------------------------


def entries(name: str) -> list[Path]:
    """Return the files of the patterns of a function."""
    directory = default_directory()
    assert directory is not None
    return sorted(directory.rglob(f"pattern_of_{name}_*.py"))


def test_a_damaged_entry_is_refused_and_written_again(finds: Finds) -> None:
    sparse_jacobian(differences)(U)
    (entry,) = entries("differences")
    content = entry.read_bytes()
    for at in (len(content) // 2, len(content) - 3, 20):
        broken = bytearray(content)
        broken[at] ^= 1
        entry.write_bytes(bytes(broken))
        assert looked_for(finds, lambda: sparse_jacobian(differences)(U)) == ["pattern"]
        assert entry.read_bytes() == content
    entry.write_bytes(content[: len(content) // 2])
    assert looked_for(finds, lambda: sparse_jacobian(differences)(U)) == ["pattern"]


def test_an_entry_of_another_cache_is_refused(
    finds: Finds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse_jacobian(differences)(U)
    (foreign,) = entries("differences")
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "other"))
    sparse_jacobian(differences)(U)
    (own,) = entries("differences")
    assert own.name == foreign.name  # the same bytes, but for the checksum
    shutil.copyfile(foreign, own)
    assert looked_for(finds, lambda: sparse_jacobian(differences)(U)) == ["pattern"]


@pytest.mark.parametrize("change", [
    {"indices": "x"}, {"size": 3}, {"shape": [11, 3]}, {"reads": [["cell", [], 7]]}, {"looked": 1},
    {"full": None}, {"facts": [[["free", "gone"], "", None]]}, {"values": None}])
def test_an_entry_that_says_something_else_is_found_anew(
    change: dict[str, Any], finds: Finds
) -> None:
    sparse_jacobian(differences)(U)
    (entry,) = entries("differences")
    key = entry.read_text().partition('"key": "')[2].partition('"')[0]
    store = Store(default_directory())
    (found,) = store.candidates(key)
    store.discard(found)
    store.write(key, "pattern_of_differences", "", {**found.manifest, **change})
    assert looked_for(finds, lambda: sparse_jacobian(differences)(U)) == ["pattern"]
    assert sparse_jacobian(differences)(U).nnz == 22


def test_a_directory_that_cannot_be_written(
    finds: Finds, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse_jacobian(differences)(U)

    def full(*args: Any, **kwargs: Any) -> Any:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("adcompiler.cache.store.write_whole", full)
    monkeypatch.setattr("adcompiler.cache.store._warning", threading.Lock())
    assert looked_for(finds, lambda: sparse_jacobian(differences)(U)) == []
    with pytest.warns(CacheWarning, match="cannot be written"):
        assert sparse_jacobian(multiplied)(U).nnz == 78
    assert looked_for(
        finds, lambda: sparse_jacobian(multiplied)(U)) == ["pattern", "coloring"]


def test_without_a_cache_nothing_is_kept(finds: Finds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    for _ in range(2):
        assert looked_for(
            finds, lambda: sparse_jacobian(differences)(U)) == ["pattern", "coloring"]


def test_what_there_is_no_room_for_is_not_kept(
    finds: Finds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_LIMITS", "0.01")
    for _ in range(2):
        assert looked_for(
            finds, lambda: sparse_jacobian(differences)(U)) == ["pattern", "coloring"]


def summed(u):
    return u * np.sum(u)


def test_a_warning_comes_again_and_names_the_line(finds: Finds) -> None:
    u = np.ones(1000)
    for wanted in (["pattern", "coloring"], []):
        with pytest.warns(FullPatternWarning, match=r"u \* np.sum\(u\)"):
            assert looked_for(finds, lambda: sparse_jacobian(summed, kind="row")(u)) == wanted
