"""Many seeds at once give what each seed gives by itself, forward and reverse."""

import copy
import os
import zlib

import numpy as np
import pytest
from adcompiler import jvp, vjp
from adcompiler.api.seeds import batched_jvp, batched_vjp
from adcompiler.dispatch.trees import leaves
from adcompiler.runtime.batches import seed_of, stacked

from tests.corpus.program import is_scalar, random_like
from tests.corpus.test_corpus import PROGRAMS
from tests.lanes import one_in

SHARE = 1 if os.environ.get("ADCOMPILER_ALL_SEEDS") else 10
CHOSEN = [p for p in PROGRAMS if zlib.crc32(str(p).encode()) % SHARE == 0]


def numbers_of_seeds(*trees):
    """Return several numbers of seeds: that of no axis, and those of up to two axes."""
    axes = {n for leaf in leaves(trees) for n in np.shape(leaf)}
    other = next(n for n in range(2, 99) if n not in axes)
    return sorted({other, *sorted(axes & set(range(2, 12)))[:2]})


def agree(found, wanted):
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            agree(a, b)
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key in wanted:
            agree(found[key], wanted[key])
    elif isinstance(wanted, (float, complex, np.number, np.ndarray)):
        scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
        assert np.shape(found) == np.shape(wanted)
        assert np.allclose(found, wanted, rtol=1e-8, atol=1e-9 * scale)


@pytest.mark.parametrize("program", one_in(4, CHOSEN), ids=str)
def test_pullback_of_many_cotangents(program):
    case = next(program.cases())
    rng = np.random.default_rng(3)
    counts = numbers_of_seeds(case.args, case.value)
    weights = [
        float(rng.normal()) if is_scalar(case.value) else random_like(case.value, rng)
        for _ in range(max(counts))
    ]
    _, pullback = vjp(program.function, *copy.deepcopy(case.args), argnums=program.positions)
    wanted = [pullback(w) for w in weights]
    value, of_each = batched_vjp(
        program.function, *copy.deepcopy(case.args), argnums=program.positions
    )
    agree(value, case.value)
    for seeds in (*counts, counts[0]):
        found = of_each(stacked(weights[:seeds]))
        for i in range(seeds):
            agree(seed_of(found, i), wanted[i])


@pytest.mark.parametrize("program", one_in(2, CHOSEN), ids=str)
def test_pushforward_of_many_tangents(program):
    case = next(program.cases())
    rng = np.random.default_rng(4)
    counts = numbers_of_seeds(case.args, case.value)
    tangents = [case.direction(program.positions, rng) for _ in range(max(counts))]
    positions = program.positions
    wanted = [
        jvp(program.function, copy.deepcopy(case.args), d, argnums=positions)[1] for d in tangents
    ]
    for seeds in counts:
        value, found = batched_jvp(
            program.function, copy.deepcopy(case.args), stacked(tangents[:seeds]), argnums=positions
        )
        agree(value, case.value)
        for i in range(seeds):
            agree(seed_of(found, i), wanted[i])
