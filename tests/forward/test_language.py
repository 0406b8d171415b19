"""Programs of the accepted language in forward mode: the dot product with reverse mode.

By default a part of the programs of ``tests/language`` is checked, ``ADCOMPILER_ALL_FORWARD=1``
checks all.
"""

import copy
import importlib
import os
import zlib
from pathlib import Path

import numpy as np
import pytest

from adcompiler import MissingRuleError, jvp, vjp
from tests.lanes import one_in
from tests.language.check import Cases, differentiable, inner, items_of, random_like, same

SHARE = 1 if os.environ.get("ADCOMPILER_ALL_FORWARD") else 8


def programs():
    """Return the programs that the modules of ``tests/language`` collect."""
    for path in sorted((Path(__file__).parents[1] / "language").glob("test_*.py")):
        module = importlib.import_module(f"tests.language.{path.stem}")
        for value in vars(module).values():
            if isinstance(value, Cases):
                marks = [pytest.mark.records] if value.records else []
                yield from (pytest.param(case, id=str(case), marks=marks) for case in value)


CHOSEN = [
    case for position, case in enumerate(programs())
    if (zlib.crc32(case.id.encode()) + position) % SHARE == 0
]


REFUSED = {"derivatives_on_a_grid": r"gradient\(\) cannot be derived from its rule"}
"""Programs that have no pushforward, and what the error says."""


def is_single(x):
    """Say whether there are numbers of single precision in a value."""
    items = items_of(x)
    if items is not None:
        return any(map(is_single, items))
    return getattr(x, "dtype", None) in (np.float16, np.float32, np.complex64)


@pytest.mark.parametrize("case", one_in(2, CHOSEN), ids=str)
def test_dot_product(case):
    kwargs = case.options.get("kwargs") or {}
    argnums = case.argnums
    if argnums is None:
        argnums = tuple(i for i, x in enumerate(case.args) if differentiable(x))
    after, pulled, pushed = (copy.deepcopy(case.args) for _ in range(3))
    wanted = copy.deepcopy(case.function(*after, **kwargs))
    rng = np.random.default_rng(11)
    _, pullback = vjp(case.function, *pulled, argnums=argnums, **kwargs)
    cotangent = random_like(wanted, rng)
    bars = pullback(cotangent)
    directions = [random_like(case.args[i], rng) for i in argnums]
    kept = copy.deepcopy(directions)
    if str(case) in REFUSED:
        with pytest.raises(MissingRuleError, match=REFUSED[str(case)]):
            jvp(case.function, pushed, directions, argnums=argnums, **kwargs)
        return
    value, along = jvp(case.function, pushed, directions, argnums=argnums, **kwargs)
    same(value, wanted, "the value of jvp")
    same(pushed, after, "the arguments after jvp")
    same(directions, kept, "the tangents after jvp")
    expected = sum(inner(d, bar) for d, bar in zip(directions, bars, strict=True))
    tolerance = 1e-5 if is_single((case.args, wanted)) else 1e-9
    assert abs(inner(cotangent, along) - expected) <= tolerance * (1.0 + abs(expected))
