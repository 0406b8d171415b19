"""The types of optimised code follow from those of its operands."""

import inspect
import itertools
import operator
import os
import zlib

import numpy as np
import pytest
from adcompiler.compile.pipeline import Request, stages
from adcompiler.ir import types as t
from adcompiler.typed.options import Options
from tests.evaluation.consistency import misfits
from adcompiler.typed.values import type_of, type_of_arithmetic

from tests.lanes import one_in
from tests.corpus.test_corpus import PROGRAMS

SHARE = 1 if os.environ.get("ADCOMPILER_ALL_SEEDS") else 12
CHOSEN = [p for p in PROGRAMS if zlib.crc32(str(p).encode()) % SHARE == 1 % SHARE]


def misfits_of(function, args, wrt, mode):
    """Return what does not fit its operands after the sweep is written and when optimised."""
    defaults = [p.default for p in inspect.signature(function).parameters.values()]
    given = (*args, *defaults[len(args) :])
    request = Request(function, tuple(type_of(a) for a in given), wrt, Options(mode, 0))
    return [
        (name, statement.target.name, str(type_))
        for name, unit, result in stages(request) if name in ("reverse", "optimise")
        for part in result for statement, type_ in misfits(part.body, unit)
    ]


@pytest.mark.parametrize(
    "program, mode", one_in(3, itertools.product(CHOSEN, ["vjp", "forward"])), ids=str)
def test_arithmetic_of_the_corpus(program, mode):
    case = next(program.cases())
    assert misfits_of(program.function, case.args, program.positions, mode) == []


@pytest.mark.parametrize("function", [
    lambda a: np.array([np.sum(a * a - 2.0 * a), a[0], a[1]]),
    lambda a: np.sum(-a * 2.0) * a, lambda a: np.sum(a / 3.0 - a * 3.0) - a,
    lambda a: np.sum(2.0 * a + 2.0 * a * a) * a[0], lambda a: (a @ a - 2.0 * a.sum()) * a[:2],
    lambda a: np.mean(2.0 * a - a) + np.max(a) * a,
])
def test_rewritten_products_of_numbers_and_arrays(function):
    for dtype in (np.float64, np.float32):
        assert misfits_of(function, (np.ones(3, dtype),), (0,), "vjp") == []


def test_a_number_times_a_number_is_no_array():
    assert type_of_arithmetic(operator.mul, t.FLOAT, t.FLOAT) == t.FLOAT
    assert type_of_arithmetic(operator.mul, t.FLOAT, t.Array("float32", 2)) == t.Array("float32", 2)
    assert type_of_arithmetic(operator.add, t.UNKNOWN, t.FLOAT) == t.UNKNOWN
    assert type_of_arithmetic(operator.truediv, t.INT, t.INT) == t.FLOAT
