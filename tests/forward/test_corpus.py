"""Every program of the corpus has in forward mode the derivative that it has in reverse mode.

``<y_bar, J v> == <J^T y_bar, v>`` for random ``v`` and ``y_bar``. By default a part of the programs
is checked, ``ADCOMPILER_ALL_FORWARD=1`` checks all.
"""

import copy
import os
import zlib

import numpy as np
import pytest

from adcompiler import jvp, vjp
from tests.corpus.program import flat
from tests.corpus.test_corpus import PROGRAMS
from tests.lanes import one_in
from tests.language.check import inner, same

SHARE = 1 if os.environ.get("ADCOMPILER_ALL_FORWARD") else 8
CHOSEN = [p for p in PROGRAMS if zlib.crc32(str(p).encode()) % SHARE == 0]


@pytest.mark.parametrize("program", one_in(2, CHOSEN), ids=str)
def test_dot_product(program):
    case = next(program.cases())
    positions = program.positions
    direction = case.direction(positions, np.random.default_rng(5))
    args = copy.deepcopy(case.args)
    _, pullback = vjp(program.function, *args, argnums=positions)
    bars = pullback(copy.deepcopy(case.weights))
    pushed, given = copy.deepcopy(case.args), copy.deepcopy(direction)
    value, along = jvp(program.function, pushed, given, argnums=positions)
    same(value, case.value, "the value of jvp", exact=False)
    same(given, direction, "the tangents after jvp")
    same(pushed, args, "the arguments after jvp, and after vjp", exact=False)
    expected = sum(inner(d, bar) for d, bar in zip(direction, bars, strict=True))
    size = sum(np.abs(flat(d)) @ np.abs(flat(bar)) for d, bar in zip(direction, bars, strict=True))
    assert abs(inner(case.weights, along) - expected) <= 1e-10 * size + 1e-13
