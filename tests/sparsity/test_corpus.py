"""Programs of the corpus: no nonzero of their derivatives is missing from their patterns."""

import copy
import itertools

import numpy as np
import pytest

from adcompiler import UnsupportedError, jacobian_sparsity
from tests.lanes import one_in
from tests.corpus.test_corpus import PROGRAMS
from tests.sparsity.check import dense_jacobian, missing

QUICK = PROGRAMS[5::20]
ROWS = 12
BY_VALUE = {"longstaff_schwartz", "cell_list_density"}
"""Programs with arrays, or keys of dicts, whose number depends on the values."""


@pytest.mark.parametrize(
    "program, mode", one_in(3, itertools.product(QUICK, ["global", "local"])), ids=str)
def test_nothing_is_missing(program, mode):
    args = program.samples(np.random.default_rng(0))
    if mode == "global" and str(program) in BY_VALUE:
        with pytest.raises(UnsupportedError, match="depends on"):
            jacobian_sparsity(program.function, *args, argnums=program.positions)
        return
    dense = dense_jacobian(program.function, args, program.positions, ROWS)
    pattern = jacobian_sparsity(
        program.function, *copy.deepcopy(args), argnums=program.positions, mode=mode)
    assert missing(pattern, dense) == []
