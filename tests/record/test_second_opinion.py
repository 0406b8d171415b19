"""Both engines say the same of the corpus, of library functions, and of random programs."""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, rrule, vjp
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.library.outputs import OF_METHODS, names_of
from tests.corpus.test_corpus import PROGRAMS
from tests.lanes import one_in
from tests.properties.checking import Skip, made, primal
from tests.properties.programs import EVERYTHING, WRITING, random_program
from tests.real.test_shipped import TABLE, installed
from tests.record.opinions import opinions

RANDOM = [(weights, first) for first in range(0, 2000, 10) for weights in (EVERYTHING, WRITING)]


@pytest.mark.parametrize("program", one_in(25, PROGRAMS), ids=str)
def test_programs_of_the_corpus(program: Any) -> None:
    args = program.samples(np.random.default_rng(0))
    assert opinions(program.function, args, program.positions) in ("same", "recorded")


@pytest.mark.parametrize("case", one_in(10, TABLE), ids=lambda case: case.label)
def test_functions_as_shipped(case: Any) -> None:
    if not installed(case):
        pytest.skip(f"{case.label} is not installed")
    function = functools.partial(case.function, **case.keywords)
    found = opinions(function if case.keywords else case.function, case.arguments, case.at)
    assert found in ("same", "recorded", "refused")


@pytest.mark.parametrize(
    ("weights", "first"), one_in(101, RANDOM), ids=lambda v: str(v) if isinstance(v, int) else "")
def test_random_programs(weights: Any, first: int) -> None:
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + 10):
        program = random_program(seed, weights=weights)
        try:
            function = made(program)
            primal(function, program.args)
        except Skip:
            continue
        found = opinions(function, program.args, tuple(program.argnums))
        assert found in ("same", "recorded", "refused"), f"{seed}: {found}\n{program.source}"
        counts[found] += 1
    assert counts["refused"] <= 0.3 * sum(counts.values()), counts


def test_results_that_are_written_into_arrays_given_by_position() -> None:
    def wanted(x):
        out = np.zeros(2)
        return (np.sum(np.clip(x, -0.5, 0.5)) + np.sum(x.max(0) * x.sum(1)[:2])
                + np.sum(np.cumsum(x[0])) + np.sum(x.mean(0)) + np.sum(out))

    def written(x):
        clipped, most, sums, running = np.ones((3, 2)), np.ones(2), np.ones(3), np.ones(2)
        means, added = np.ones(2), np.ones(2)
        np.clip(x, -0.5, 0.5, clipped)
        x.max(0, most)
        np.add.reduce(x, 1, None, sums)
        np.cumsum(x[0], 0, None, running)
        x.mean(0, None, means)
        np.zeros((3, 2)).max(0, added)
        return (np.sum(clipped) + np.sum(most * sums[:2]) + np.sum(running) + np.sum(means)
                + np.sum(added))

    x = np.random.default_rng(1).normal(size=(3, 2))
    assert written(x) == wanted(x)
    assert np.allclose(grad(written, backend="record")(x), grad(wanted)(x), rtol=1e-12)


def test_a_result_over_what_an_entry_reads_is_undone_by_the_sweep() -> None:
    def function(x, kept):
        y = x * kept
        np.ones((3, 2)).max(0, kept)
        return np.sum(y * kept)

    x, kept = np.array([0.3, 0.7]), np.array([2.0, 5.0])
    _, pullback = vjp(function, x, kept, argnums=(0, 1), backend="record")
    by_x, by_kept = pullback(1.0)
    assert np.array_equal(by_x, [2.0, 5.0]) and np.array_equal(by_kept, x)
    with pytest.raises(ValueError, match="shape"):
        grad(lambda x: np.sum(x.max(0, np.ones(3))), backend="record")(np.ones((3, 2)))


def test_results_whose_elements_overlap_count_once() -> None:
    def spread(x):
        wide = np.broadcast_to(x * 2.0, (3,))
        return np.sum(wide * np.array([1.0, 2.0, 3.0])) + wide[1]

    def windows(x):
        a = np.array([x, 2.0 * x, 3.0 * x, 4.0 * x])
        seen = np.lib.stride_tricks.sliding_window_view(a, 2)
        return np.sum(seen * np.arange(6.0).reshape(3, 2))

    def copied(x):
        np.copyto(x, x[0], where=np.array([True, False, True]))
        return np.sum(x * np.array([1.0, 10.0, 100.0]))

    assert grad(spread, backend="record")(0.3) == 14.0
    assert grad(windows, backend="record")(0.3) == grad(windows)(0.3) == 47.0
    assert np.array_equal(grad(copied, backend="record")(np.ones(3)), [101.0, 10.0, 0.0])


def test_where_out_stands_is_what_numpy_says() -> None:
    found = {}
    for owner in (np.ndarray, np.ufunc):
        for name in OF_METHODS.keys() & set(dir(owner)):
            try:
                names = names_of.__wrapped__(getattr(owner, name))
            except (TypeError, ValueError):
                continue
            behind = owner is np.ufunc and names[:1] == ("self",)
            found[name] = names.index("out") - behind
    assert found == {name: OF_METHODS[name] for name in found} and len(found) == len(OF_METHODS)



def test_what_users_call_out_is_theirs() -> None:
    def mine(x, out):
        return x * out

    given = np.full(2, 5.0)
    rrule(mine)(lambda x, out: (x * out, lambda g: (g * out, g * x)))
    try:
        for call in (lambda x: np.sum(mine(x, given)), lambda x: np.sum(mine(x, out=given))):
            assert np.array_equal(grad(call, backend="record")(np.ones(2)), given)
    finally:
        REGISTRY.remove(mine)
    assert np.array_equal(given, np.full(2, 5.0))
